"""Models against people: how often a model's completion is preferred to a person's (SPEC 6).

Where people and judges both judged, their shares are of one mix: the models that both judged, each
with the same weight. Judges do not judge their own family, so shares of all judgments would differ
without any difference in taste (decision 0039). Of one kind alone every judgment counts once. Which
writer's completion a model met is chance, as which item is. The model's score is its wins and half
the ties; 0.5 is parity. What differs between subsets was planned
(HEART 4.5); between emotions, problems, profiles and models it is exploratory, and each is set
against the others of its kind.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np

from hearteval.analysis.data import StudyData
from hearteval.analysis.estimates import (
    Contrast,
    Side,
    Summed,
    contrast_means,
    count_people,
    interval_name,
    join,
    ratio_estimates,
)
from hearteval.sections.people.models.meetings import (
    MIN_ITEMS,
    Meetings,
    Mix,
    Tally,
    find_mix,
    tally_meetings,
)
from hearteval.stats.comparisons import BoolArray, FloatArray, IntArray
from hearteval.stats.means import q_where_tested

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
class EveryJudgment:
    """Shares in which every judgment counts once, those of models left out of a mix included."""

    n_judgments: int
    model: float
    tie: float
    person: float


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
    n_writers: int
    """People who wrote these; from five on the interval is over them too."""
    model: OutcomeShare
    """The model's is preferred."""
    tie: OutcomeShare
    person: OutcomeShare
    interval_used: str
    """``three-way`` with five people or more and completions by five writers or more; ``two-way``
    under five writers, conditional on these, and ``item-writer`` under five people, conditional on
    these raters; else ``item-sandwich``. Where nothing varies, Wilson's over items."""
    score: OutcomeShare
    """The model's wins and half the ties."""
    every_axis: EveryAxis | None
    """None where too few items have every axis marked."""
    weighs: str
    """What has equal weight: ``models`` that people and judges both judged, ``judgments`` where one
    kind alone judged or they have no model in common."""
    left_out: tuple[str, ...]
    """Models that did not count, because both kinds did not judge them, on five items or more."""
    every_judgment: EveryJudgment
    """The plain shares, by which the two kinds are not to be compared."""
    parity: Contrast
    """The score less one half, and the test that it is none."""
    q: float | None = None
    """The p of it for all writers and items, adjusted over the planned contrasts of the study
    (`analysis.planned`); None elsewhere."""


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
    found = []
    for name, rows in among.items():
        tallies = tally_meetings(rows)
        mix = find_mix([(tally, None) for tally in tallies])
        found += [
            replace(
                _against(tally, tally.met, mix, tally.part(None, mix), level=level), writers=name
            )
            for tally in tallies
        ]
    return tuple(found)


def compare_by_stratum(met: Meetings, *, level: float) -> tuple[StratumAgainstModels, ...]:
    """Return the same by subset, profile, emotion, problem, and by the models and their families.

    Nothing is said of what has one value only.
    """
    tallies = tally_meetings(met)
    return tuple(
        row
        for by, values, of_item in _families(met)
        for tally in tallies
        for row in _by_value(tally, tallies, _Labels(by, values, of_item), level=level)
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


class _Labels(NamedTuple):
    """What judgments are told apart by, and the value of each item or model; None is no value."""

    by: str
    values: Sequence[str | None]
    of_item: bool

    def of_rows(self, tally: Tally) -> IntArray:
        """Return the item or the model of each row."""
        return tally.item[tally.cell] if self.of_item else tally.model

    def are(self, tally: Tally, name: str | None, *, others: bool = False) -> BoolArray:
        """Return which rows have the value, or which have another one."""
        is_own = np.array([v == name for v in self.values], dtype=np.bool_)
        is_other = np.array([v not in (name, None) for v in self.values], dtype=np.bool_)
        return np.asarray((is_other if others else is_own)[self.of_rows(tally)])


def _by_value(
    tally: Tally, tallies: Sequence[Tally], labels: _Labels, *, level: float
) -> list[StratumAgainstModels]:
    """Return a row for each value that occurs, if there are two."""
    met = tally.met
    found = np.unique(labels.of_rows(tally)).tolist()
    names = sorted({value for k in found if (value := labels.values[k]) is not None})
    if len(names) < 2:
        return []
    rows = []
    for name in names:
        is_own = np.array([v == name for v in labels.values], dtype=np.bool_)
        said = met.select(is_own[met.item if labels.of_item else met.model])
        mix, mix_of_others = (
            find_mix([(each, labels.are(each, name, others=others)) for each in tallies])
            for others in (False, True)
        )
        inside = tally.part(labels.are(tally, name), mix)
        n_items = len(np.unique(said.item))
        against = gap = None
        if len(np.unique(tally.item[inside[0] > 0])) >= MIN_ITEMS:
            against = _against(tally, said, mix, inside, level=level)
        if labels.by != SUBSET:
            others = tally.part(labels.are(tally, name, others=True), mix_of_others)
            gap = _gap(tally, inside, others, of_item=labels.of_item, level=level)
        rows.append(
            StratumAgainstModels(
                by=labels.by,
                value=name,
                judged_by=tally.kind,
                is_exploratory=labels.by != SUBSET,
                n_judgments=len(said),
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
    others = [row.from_others for row in rows]
    adjusted = q_where_tested([None if at is None else at.score.p for at in others])
    return [
        replace(row, from_others=at and replace(at, q=q))
        for row, at, q in zip(rows, others, adjusted, strict=True)
    ]


def _against(
    tally: Tally, said: Meetings, mix: Mix, sums: FloatArray, *, level: float
) -> AgainstModels:
    """Return what is said in some judgments of a tally, which has their sums in that mix."""
    cells = tally.summed(sums)
    score, model, tie, person = _shares(cells, level=level)
    counted = said if mix.judged is None else said.select(mix.judged[said.model])
    won, tied, lost = said.outcomes.mean(axis=0).tolist()
    return AgainstModels(
        judged_by=tally.kind,
        writers=None,
        n_judgments=len(counted),
        n_items=len(np.unique(counted.item)),
        n_raters=len(np.unique(counted.rater)),
        n_completions=len(np.unique(counted.text)),
        n_writers=count_people(counted.writer),
        model=model,
        tie=tie,
        person=person,
        interval_used=interval_name(cells.rater, cells.writer),
        score=score,
        every_axis=_every_axis(tally.summed_marks(sums), level=level),
        weighs="judgments" if mix.judged is None else "models",
        left_out=mix.left_out,
        every_judgment=EveryJudgment(n_judgments=len(said), model=won, tie=tied, person=lost),
        parity=_from_parity(cells, level=level),
    )


def _shares(cells: Summed, *, level: float) -> list[OutcomeShare]:
    found = ratio_estimates(cells, level=level)
    return [OutcomeShare(rate=one.value, low=one.low, high=one.high) for one in found]


def _from_parity(cells: Summed, *, level: float) -> Contrast:
    above = replace(cells, sums=cells.sums - 0.5 * cells.weight[:, np.newaxis])
    everything = Side(np.ones(len(cells.item), dtype=np.bool_), 1.0)
    return contrast_means(above, [everything], level=level)


def _every_axis(marked: Summed, *, level: float) -> EveryAxis | None:
    n_items = len(np.unique(marked.item))
    if n_items < MIN_ITEMS:
        return None
    model, person = _shares(marked, level=level)
    n = round(marked.weight.sum())
    return EveryAxis(n_judgments=n, n_items=n_items, model=model, person=person)
