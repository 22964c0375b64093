"""Models against people: how often a model's completion is preferred to a person's (SPEC 6).

Every judgment counts once. Which writer's completion a model met is chance, as which item is. The
model's score is its wins and half the ties; 0.5 is parity. What differs between subsets was planned
(HEART 4.5); between emotions, problems, profiles and models it is exploratory, and each is set
against the others of its kind.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from hearteval.analysis.data import StudyData
from hearteval.analysis.estimates import (
    Contrast,
    Side,
    Summed,
    contrast_means,
    interval_name,
    ratio_estimates,
)
from hearteval.analysis.people.meetings import KINDS, PEOPLE, Meetings
from hearteval.stats.comparisons import BoolArray, FloatArray, IntArray
from hearteval.stats.means import false_discovery_q

MIN_ITEMS: Final = 5
"""Of fewer items a stratum has counts and no shares."""
ADVERSARIAL, SUBSET = "adversarial", "subset"
OF_MODELS: Final = ("family", "model")


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeShare:
    """A share of judgments with its interval."""

    rate: float
    low: float | None
    """None under two items."""
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EveryAxis:
    """How often one side wins on every axis, of the judgments that mark all of them."""

    n_judgments: int
    n_items: int
    model: OutcomeShare
    person: OutcomeShare


@dataclass(frozen=True, slots=True, kw_only=True)
class AgainstModels:
    """What one kind of rater says of models' and people's completions of the same items."""

    judged_by: str
    """``people`` or ``judges``."""
    writers: str | None
    """Group of the writers; None for all writers."""
    n_judgments: int
    n_items: int
    n_raters: int
    n_completions: int
    """Completions by people among these."""
    model: OutcomeShare
    """The model's is preferred."""
    tie: OutcomeShare
    person: OutcomeShare
    interval_used: str
    """``two-way`` with five people or more, else ``item-sandwich``, conditional on these raters;
    where nothing varies, Wilson's over items."""
    score: OutcomeShare
    """The model's wins and half the ties."""
    every_axis: EveryAxis | None
    """None where too few items have every axis marked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FromOthers:
    """How far the model's score is from that on the others of a family of strata."""

    score: Contrast
    q: float | None
    """The p of it, adjusted over the family (Benjamini and Hochberg 1995)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StratumAgainstModels:
    """What one kind of rater says on the items of a stratum, or of one model or family."""

    by: str
    """``subset``, ``profile``, ``emotion``, ``problem``, ``family`` or ``model``."""
    value: str
    judged_by: str
    is_exploratory: bool
    n_judgments: int
    n_items: int
    against: AgainstModels | None
    """None where the items are too few."""
    from_others: FromOthers | None
    """None for a subset, see `LeadContrast`, and where too few items are on either side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeadContrast:
    """A planned difference of the model's score: between subsets, or between kinds of rater."""

    name: str
    """``people`` or ``judges``: regular less adversarial items, by these; ``people-judges``: the
    first less the second; ``all-items``: the score by people less that by judges, on all items."""
    n_regular: int
    """Items of the kind of rater with the fewest; of both subsets in ``all-items``."""
    n_adversarial: int
    """0 in ``all-items``."""
    score: Contrast | None
    """None where a side has too few items."""
    interval_used: str


def compare_with_models(
    met: Meetings, data: StudyData, *, level: float
) -> tuple[AgainstModels, ...]:
    """Return wins, ties and losses of models against people, by kind of rater.

    Then, by each group of writers that is not smaller than the smallest.
    """
    groups, known = _writers(met, data)
    among: dict[str | None, Meetings] = {None: met}
    for group in known:
        wrote = np.array([each == group for each in groups], dtype=np.bool_)
        among[group] = met.select(wrote[met.text])
    return tuple(
        _against(of_kind, kind, group, level=level)
        for group, rows in among.items()
        for kind in KINDS
        if len(of_kind := rows.by(kind))
    )


def compare_by_stratum(met: Meetings, *, level: float) -> tuple[StratumAgainstModels, ...]:
    """Return the same by subset, profile, emotion, problem, and by the models and their families.

    Nothing is said of what has one value only.
    """
    found: list[StratumAgainstModels] = []
    for by, label, values in _strata(met):
        for kind in KINDS:
            found += _by_label(met, by, label, values, kind, level=level)
    return tuple(found)


def compare_leads(met: Meetings, *, level: float) -> tuple[LeadContrast, ...]:
    """Test whether the models' score differs between subsets, and between people and judges.

    Planned (SPEC section 6). Nothing where neither can differ.
    """
    subsets = np.array([item.subset == ADVERSARIAL for item in met.names.items], dtype=np.bool_)
    cells, label = _sum_cells(met, subsets[met.item].astype(np.int64))
    people = cells.rater >= 0
    kinds = {
        kind: rows
        for kind, rows in zip(KINDS, (people, ~people), strict=True)
        if len(np.unique(label[rows])) > 1
    }
    found = []
    signs = {kind: {kind: 1.0} for kind in kinds}
    if len(kinds) > 1:
        signs["people-judges"] = dict(zip(kinds, (1.0, -1.0), strict=True))
    for name, sign_of in signs.items():
        sides = [
            Side(kinds[kind] & (label == subset), -sign if subset else sign)
            for kind, sign in sign_of.items()
            for subset in (0, 1)
        ]
        found.append(_lead(name, cells, sides, part=label, level=level))
    if people.any() and not people.all():
        sides = [Side(people, 1.0), Side(~people, -1.0)]
        found.append(_lead("all-items", cells, sides, part=None, level=level))
    return tuple(found)


def _lead(
    name: str, cells: Summed, sides: Sequence[Side], *, part: IntArray | None, level: float
) -> LeadContrast:
    sizes = [len(np.unique(cells.item[side.rows])) for side in sides]
    is_enough = min(sizes) >= MIN_ITEMS
    used = np.any([side.rows for side in sides], axis=0)
    return LeadContrast(
        name=name,
        n_regular=min(sizes) if part is None else min(sizes[::2]),
        n_adversarial=0 if part is None else min(sizes[1::2]),
        score=contrast_means(cells, sides, part=part, level=level) if is_enough else None,
        interval_used=interval_name(cells.rater[used]),
    )


def _writers(met: Meetings, data: StudyData) -> tuple[list[str | None], list[str]]:
    """Return the group of each completion's writer, and the groups with writers enough."""
    texts = met.names.completions
    groups = [data.writer_groups.get(text.writer_id or "") for text in texts]
    writers: dict[str, set[str | None]] = {}
    for text, group in zip(texts, groups, strict=True):
        if group is not None:
            writers.setdefault(group, set()).add(text.writer_id)
    found = {groups[k] for k in np.unique(met.text).tolist()}
    known = [
        group
        for group in sorted(writers)
        if group in found and len(writers[group]) >= data.smallest_group
    ]
    return groups, known


def _strata(met: Meetings) -> Iterable[tuple[str, IntArray, Sequence[str]]]:
    """Yield what judgments can be told apart by, the label of each row (-1 for none), the names."""
    items, systems = met.names.items, met.names.systems
    of_items: Mapping[str, list[str | None]] = {
        SUBSET: [item.subset for item in items],
        "profile": [item.profile for item in items],
        "emotion": [item.emotion or None for item in items],
        "problem": [item.problem or None for item in items],
    }
    for by, values in of_items.items():
        yield by, *_number(values, met.item)
    models = np.unique(met.model).tolist()
    if len({systems[k].family for k in models}) < len(models):
        yield "family", *_number([system.family for system in systems], met.model)
    yield "model", *_number([system.name for system in systems], met.model)


def _number(values: Sequence[str | None], index: IntArray) -> tuple[IntArray, list[str]]:
    used = {values[k] for k in np.unique(index).tolist()}
    names = sorted(value for value in used if value is not None)
    place = {value: k for k, value in enumerate(names)}
    numbers = [-1 if value is None else place.get(value, -1) for value in values]
    return np.array(numbers, dtype=np.int64)[index], names


def _by_label(
    met: Meetings, by: str, label: IntArray, values: Sequence[str], kind: str, *, level: float
) -> list[StratumAgainstModels]:
    is_of_kind = (met.is_person if kind == PEOPLE else ~met.is_person) & (label >= 0)
    of_kind, label = met.select(is_of_kind), label[is_of_kind]
    present = np.unique(label).tolist()
    if len(present) < 2:
        return []
    cells, labels = _sum_cells(of_kind, label)
    rows = []
    for k in present:
        here = of_kind.select(label == k)
        n_items = len(np.unique(here.item))
        is_enough = n_items >= MIN_ITEMS
        gap = None
        if by != SUBSET:
            gap = _gap(cells, labels == k, of_items=by not in OF_MODELS, level=level)
        rows.append(
            StratumAgainstModels(
                by=by,
                value=values[k],
                judged_by=kind,
                is_exploratory=by != SUBSET,
                n_judgments=len(here),
                n_items=n_items,
                against=_against(here, kind, None, level=level) if is_enough else None,
                from_others=gap,
            )
        )
    return _with_q(rows)


def _gap(cells: Summed, inside: BoolArray, *, of_items: bool, level: float) -> FromOthers | None:
    sizes = [len(np.unique(cells.item[rows])) for rows in (inside, ~inside)]
    if min(sizes) < MIN_ITEMS:
        return None
    part = inside.astype(np.int64) if of_items else None
    sides = [Side(inside, 1.0), Side(~inside, -1.0)]
    return FromOthers(score=contrast_means(cells, sides, part=part, level=level), q=None)


def _with_q(rows: Sequence[StratumAgainstModels]) -> list[StratumAgainstModels]:
    """Adjust the tests of one family together."""
    p = {
        k: row.from_others.score.p
        for k, row in enumerate(rows)
        if row.from_others is not None and row.from_others.score.p is not None
    }
    tested = [value for value in p.values() if value is not None]
    q = dict(zip(p, false_discovery_q(tested).tolist(), strict=True))
    return [
        replace(row, from_others=replace(row.from_others, q=q[k]))
        if k in q and row.from_others is not None
        else row
        for k, row in enumerate(rows)
    ]


def _against(met: Meetings, kind: str, writers: str | None, *, level: float) -> AgainstModels:
    cells, _ = _sum_cells(met, np.zeros_like(met.item))
    score, model, tie, person = _shares(cells, level=level)
    return AgainstModels(
        judged_by=kind,
        writers=writers,
        n_judgments=len(met),
        n_items=len(np.unique(met.item)),
        n_raters=len(np.unique(met.rater)),
        n_completions=len(np.unique(met.text)),
        model=model,
        tie=tie,
        person=person,
        interval_used=interval_name(cells.rater),
        score=score,
        every_axis=_every_axis(met, level=level),
    )


def _shares(cells: Summed, *, level: float) -> list[OutcomeShare]:
    found = ratio_estimates(cells, level=level)
    return [OutcomeShare(rate=one.value, low=one.low, high=one.high) for one in found]


def _every_axis(met: Meetings, *, level: float) -> EveryAxis | None:
    marked = met.select(met.is_marked)
    n_items = len(np.unique(marked.item))
    if n_items < MIN_ITEMS:
        return None
    taken = np.stack((marked.model_takes_all, marked.person_takes_all), axis=1).astype(np.float64)
    cells, _ = _sum_rows(marked, np.zeros_like(marked.item), taken)
    model, person = _shares(cells, level=level)
    return EveryAxis(n_judgments=len(marked), n_items=n_items, model=model, person=person)


def _sum_cells(met: Meetings, label: IntArray) -> tuple[Summed, IntArray]:
    """Sum score, wins, ties and losses of the model."""
    return _sum_rows(met, label, np.concatenate((met.score[:, None], met.outcomes), axis=1))


def _sum_rows(met: Meetings, label: IntArray, values: FloatArray) -> tuple[Summed, IntArray]:
    """Sum rows of one rater on one item and with one label, and return the labels beside them.

    Strata are cheap then; halves add up exactly, in any order.
    """
    n_raters, n_labels = len(met.names.raters) + 1, int(label.max(initial=0)) + 1
    key = (met.item * n_raters + met.sampled_rater + 1) * n_labels + label
    cells, cell = np.unique(key, return_inverse=True)
    sums = [np.bincount(cell, weights=column, minlength=len(cells)) for column in values.T]
    summed = Summed(
        item=cells // n_labels // n_raters,
        rater=cells // n_labels % n_raters - 1,
        weight=np.bincount(cell, minlength=len(cells)).astype(np.float64),
        sums=np.stack(sums, axis=1),
    )
    return summed, cells % n_labels
