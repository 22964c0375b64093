"""Models against people: how often a model's completion is preferred to a person's (SPEC 6).

Every judgment counts once. Which writer's completion a model met is chance, as which item is. The
model's score is its wins and half the ties; 0.5 is parity. What differs between subsets was planned
(HEART 4.5); between emotions, problems, profiles and models it is exploratory, and each is set
against the others of its kind.
"""

from collections.abc import Iterable, Sequence
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
    join,
    ratio_estimates,
)
from hearteval.analysis.people.meetings import MIN_ITEMS, Meetings, Tally, tally_meetings
from hearteval.stats.comparisons import BoolArray, FloatArray
from hearteval.stats.means import false_discovery_q

SUBSET: Final = "subset"


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
    """None for a subset, see `leads`, and where too few items are on either side."""


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
        replace(_against(tally, None, level=level), writers=group)
        for group, rows in among.items()
        for tally in tally_meetings(rows)
    )


def compare_by_stratum(met: Meetings, *, level: float) -> tuple[StratumAgainstModels, ...]:
    """Return the same by subset, profile, emotion, problem, and by the models and their families.

    Nothing is said of what has one value only.
    """
    tallies = tally_meetings(met)
    return tuple(
        row
        for by, values, of_item in _families(met)
        for tally in tallies
        for row in _by_value(tally, by, values, of_item=of_item, level=level)
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


def _families(met: Meetings) -> Iterable[tuple[str, Sequence[str | None], bool]]:
    """Yield what judgments can be told apart by, its values by item or model, and by which."""
    items, systems = met.names.items, met.names.systems
    yield SUBSET, [item.subset for item in items], True
    yield "profile", [item.profile for item in items], True
    yield "emotion", [item.emotion or None for item in items], True
    yield "problem", [item.problem or None for item in items], True
    models = np.unique(met.model).tolist()
    if len({systems[k].family for k in models}) < len(models):
        yield "family", [system.family for system in systems], False
    yield "model", [system.name for system in systems], False


def _by_value(
    tally: Tally, by: str, values: Sequence[str | None], *, of_item: bool, level: float
) -> list[StratumAgainstModels]:
    """Return a row for each value that occurs, if there are two; None is no value."""
    met = tally.met
    index, raw = (tally.item[tally.cell], met.item) if of_item else (tally.model, met.model)
    names = sorted({v for k in np.unique(index).tolist() if (v := values[k]) is not None})
    if len(names) < 2:
        return []
    place = {name: k for k, name in enumerate(names)}
    number = np.array([place.get(v, -1) if v is not None else -1 for v in values], dtype=np.int64)
    label, of_judgment = number[index], number[raw]
    everything = tally.part(label >= 0)
    rows = []
    for k, name in enumerate(names):
        inside = tally.part(label == k)
        n_items = len(np.unique(tally.item[inside[0] > 0]))
        against = gap = None
        if n_items >= MIN_ITEMS:
            against = _against(tally, of_judgment == k, sums=inside, level=level)
        if by != SUBSET:
            gap = _gap(tally, inside, everything - inside, of_item=of_item, level=level)
        rows.append(
            StratumAgainstModels(
                by=by,
                value=name,
                judged_by=tally.kind,
                is_exploratory=by != SUBSET,
                n_judgments=int(inside[0].sum()),
                n_items=n_items,
                against=against,
                from_others=gap,
            )
        )
    return _with_q(rows)


def _gap(
    tally: Tally, inside: FloatArray, others: FloatArray, *, of_item: bool, level: float
) -> FromOthers | None:
    one, rest = tally.summed(inside), tally.summed(others)
    if min(len(np.unique(rows.item)) for rows in (one, rest)) < MIN_ITEMS:
        return None
    both = join((one, rest))
    is_one = np.arange(len(both.item)) < len(one.item)
    score = contrast_means(
        both,
        [Side(is_one, 1.0), Side(~is_one, -1.0)],
        part=is_one.astype(np.int64) if of_item else None,
        level=level,
    )
    return FromOthers(score=score, q=None)


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


def _against(
    tally: Tally, judgments: BoolArray | None, *, sums: FloatArray | None = None, level: float
) -> AgainstModels:
    """Return what is said in some of the judgments, of which the sums may be given."""
    sums = tally.part(None) if sums is None else sums
    cells = tally.summed(sums)
    score, model, tie, person = _shares(cells, level=level)
    text = tally.met.text if judgments is None else tally.met.text[judgments]
    return AgainstModels(
        judged_by=tally.kind,
        writers=None,
        n_judgments=int(sums[0].sum()),
        n_items=len(np.unique(cells.item)),
        n_raters=len(np.unique(tally.rater[sums[0] > 0])),
        n_completions=int(np.count_nonzero(np.bincount(text))),
        model=model,
        tie=tie,
        person=person,
        interval_used=interval_name(cells.rater),
        score=score,
        every_axis=_every_axis(tally.summed_marks(sums), level=level),
    )


def _shares(cells: Summed, *, level: float) -> list[OutcomeShare]:
    found = ratio_estimates(cells, level=level)
    return [OutcomeShare(rate=one.value, low=one.low, high=one.high) for one in found]


def _every_axis(marked: Summed, *, level: float) -> EveryAxis | None:
    n_items = len(np.unique(marked.item))
    if n_items < MIN_ITEMS:
        return None
    model, person = _shares(marked, level=level)
    n = int(marked.weight.sum())
    return EveryAxis(n_judgments=n, n_items=n_items, model=model, person=person)
