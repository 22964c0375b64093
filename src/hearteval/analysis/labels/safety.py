"""What screens hold of what people would read, and what they miss, by people who read it too.

A screen, the rules or a model, holds a text or passes it. People have the last word: a text is
unfit where they agree that it must not be shown. What nobody has read says nothing, and people read
first what is held, so a share of what they have read is no share of all (verification bias; Begg
and Greenes 1983): where they have read all that a screen held and a part of what it passed, it
catches at most so much of the unfit and passes at least so much of the fit. Intervals are over
items.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from hearteval.analysis.data import LabelRow, ScreenedText, ScreenedUnit
from hearteval.analysis.estimates import Estimate, mean_estimates
from hearteval.analysis.labels.agreement import Marks, SourceAgreement, Texts, agree, read_marks

PEOPLE = "people"
HELD = "held"
Bound = Literal["exact", "at-most", "at-least", "of-those-read"]
"""What a share of the texts that people have read says of all that a screen has read."""
RULES = "rules"
"""The family of the rule screen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenUse:
    """What one screen does with one sort of text.

    Attributes:
        of: ``completion``, ``reasons``, or ``all``.
        n_read: Texts that it has read; `n_held` of these it held, for `held_for`.
        n_held_read: Of what it held, what people have read.
        n_passed_read: Of what it passed, what people have read; `n_passed` is all that it passed.
        n_unfit: Unfit texts that it has read; `n_caught` of these it held.
        n_fit: Fit ones; `n_let_pass` of these it passed.
        sensitivity: Share of the unfit that it holds; None without one, and where people have read
            nothing that it passed.
        specificity: Share of the fit that it passes; None likewise.
        sensitivity_is: What that share says of all it has read: ``exact`` where people have read
            all of it; ``at-most`` where all that it held and a part of what it passed, ``at-least``
            the other way round; ``of-those-read`` nothing, where a part of both.
        specificity_is: Likewise; the bounds are the other way round.
        is_at_most: Whether `sensitivity_is` ``at-most``.
        missed: What people say of unfit texts that it passed, and how often.
    """

    of: Literal["completion", "reasons", "all"]
    n_read: int
    n_held: int
    held_for: Mapping[str, int]
    n_held_read: int
    n_passed: int
    n_passed_read: int
    n_unfit: int
    n_caught: int
    n_fit: int
    n_let_pass: int
    sensitivity: Estimate | None
    specificity: Estimate | None
    sensitivity_is: Bound
    specificity_is: Bound
    is_at_most: bool
    missed: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """One screen: the rules, or a model."""

    screen: str
    kind: Literal["rules", "model"]
    uses: tuple[ScreenUse, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SafetyResults:
    """What screens hold and miss.

    Attributes:
        n_texts: Texts that a screen or a person has read; people `n_read_by_people` of them.
        n_unfit: Of these, what people agree must not be shown.
        agreement: Of every two screens, and of each with people.
    """

    level: float
    n_texts: int
    n_read_by_people: int
    n_unfit: int
    screens: tuple[Screen, ...]
    agreement: tuple[SourceAgreement, ...]


def measure_screens(
    texts: Sequence[ScreenedText], kinds: Mapping[str, Literal["rules", "model"]], *, level: float
) -> SafetyResults | None:
    """Measure what screens hold and miss; None where none has read anything.

    Args:
        texts: All that was read.
        kinds: Kind of each screen, by its name; they are reported in this order.
        level: Nominal coverage.
    """
    if not any(one.held_by for one in texts):
        return None
    texts = sorted(texts, key=lambda one: (one.item_id, one.id))
    items = {item: k for k, item in enumerate(sorted({one.item_id for one in texts}))}
    read = [one for one in texts if one.is_unfit is not None]
    coded = Texts(
        ids=[one.id for one in texts],
        item=np.array([items[one.item_id] for one in texts], dtype=np.int64),
        system=np.zeros(len(texts), dtype=np.int64),
    )
    marks = {
        name: _marks(name, {t.id: bool(t.held_by[name]) for t in texts if name in t.held_by}, coded)
        for name in kinds
    }
    marks[PEOPLE] = _marks(PEOPLE, {one.id: bool(one.is_unfit) for one in read}, coded)
    return SafetyResults(
        level=level,
        n_texts=len(texts),
        n_read_by_people=len(read),
        n_unfit=sum(bool(one.is_unfit) for one in read),
        screens=tuple(
            Screen(screen=name, kind=kind, uses=_uses(name, texts, items, level=level))
            for name, kind in kinds.items()
            if any(name in one.held_by for one in texts)
        ),
        agreement=tuple(
            row
            for left, right in combinations([*kinds, PEOPLE], 2)
            for row in agree(marks[left], marks[right], {HELD: HELD}, level=level)
            if row.category == HELD
        ),
    )


def _marks(name: str, held: Mapping[str, bool], texts: Texts) -> Marks:
    rows = [
        LabelRow(id_, HELD, "present" if is_held else "absent", name)
        for id_, is_held in held.items()
    ]
    return read_marks(name, [HELD], rows, texts)


def _uses(
    name: str, texts: Sequence[ScreenedText], items: Mapping[str, int], *, level: float
) -> tuple[ScreenUse, ...]:
    """Describe a screen on all texts, and on each sort where it has read two."""
    own = [one for one in texts if name in one.held_by]
    sorts: list[ScreenedUnit] = ["completion", "reasons"]
    parts = {of: [one for one in own if one.of == of] for of in sorts}
    found = [_use(name, "all", own, items, level=level)]
    if all(parts.values()):
        found += [_use(name, of, parts[of], items, level=level) for of in sorts]
    return tuple(found)


def _use(
    name: str,
    of: Literal["completion", "reasons", "all"],
    texts: Sequence[ScreenedText],
    items: Mapping[str, int],
    *,
    level: float,
) -> ScreenUse:
    held = [one for one in texts if one.held_by[name]]
    passed = [one for one in texts if not one.held_by[name]]
    n_held_read, n_passed_read = (
        sum(one.is_unfit is not None for one in part) for part in (held, passed)
    )
    of_unfit, of_fit = _bounds(
        all_held=n_held_read == len(held), all_passed=n_passed_read == len(passed)
    )
    unfit = [one for one in texts if one.is_unfit]
    fit = [one for one in texts if one.is_unfit is False]

    def share(among: Sequence[ScreenedText], *, is_held: bool) -> Estimate | None:
        if not among:
            return None
        values = np.array([[bool(t.held_by[name]) == is_held] for t in among], dtype=np.float64)
        item = np.array([items[one.item_id] for one in among], dtype=np.int64)
        return mean_estimates(values, item, np.full(len(among), -1), level=level)[0]

    return ScreenUse(
        of=of,
        n_read=len(texts),
        n_held=len(held),
        held_for=_counted(reason for one in held for reason in one.held_by[name]),
        n_held_read=n_held_read,
        n_passed=len(passed),
        n_passed_read=n_passed_read,
        n_unfit=len(unfit),
        n_caught=sum(bool(one.held_by[name]) for one in unfit),
        n_fit=len(fit),
        n_let_pass=sum(not one.held_by[name] for one in fit),
        sensitivity=share(unfit, is_held=True) if n_passed_read else None,
        specificity=share(fit, is_held=False) if n_passed_read else None,
        sensitivity_is=of_unfit,
        specificity_is=of_fit,
        is_at_most=of_unfit == "at-most",
        missed=_counted(
            reason for one in unfit if not one.held_by[name] for reason in one.reasons or ("other",)
        ),
    )


def _bounds(*, all_held: bool, all_passed: bool) -> tuple[Bound, Bound]:
    """Say what the shares of the unfit held and of the fit passed are, by what people have read."""
    if all_held and all_passed:
        return "exact", "exact"
    if all_held:
        return "at-most", "at-least"
    return ("at-least", "at-most") if all_passed else ("of-those-read", "of-those-read")


def _counted(words: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(words).items(), key=lambda one: (-one[1], one[0])))
