"""How far people agree with each other, and people's majorities with those of judges (SPEC 7).

A pair of completions is the unit, and an answer is one of its two sides or a tie. Which side is
which a hash decides, and not the systems: with many systems, names would make agreement by chance
look rare, and raters who toss coins would seem to agree. It is a hash of what the completions are
of, no id, so that a study of imported records gives the same figures. Intervals resample items with
all their pairs; raters are taken as given.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from hearteval.analysis.agreement import AgreementMeasure
from hearteval.analysis.agreement_support import MIN_UNITS
from hearteval.analysis.columns import pair_sides
from hearteval.analysis.data import TIE, JudgmentRow, StudyData
from hearteval.analysis.judges.majorities import FLIP, NO_MAJORITY, merge_answers, pair_majority
from hearteval.analysis.ranking.comparisons import people_among
from hearteval.errors import NotIdentifiedError
from hearteval.stats.agreement.bootstrap import bootstrap_units, estimate, fisher_interval
from hearteval.stats.agreement.kappas import fleiss_kappa, percent_agreement
from hearteval.stats.agreement.krippendorff import krippendorff_alpha
from hearteval.stats.agreement.table import Coefficient, RatingTable
from hearteval.stats.comparisons import FloatArray, IntArray

SIDES: Final = ("one", "other")
"""The two completions of a pair, in the order in which it names them."""
N_RESAMPLES = 1_000
Votes = Mapping[str, str]
"""One pair's answers by rater: a side or a tie; who contradicts themselves has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleAgreement:
    """How far people agree with each other about pairs that two of them or more judged."""

    n_people: int
    n_pairs: int
    n_items: int
    same: AgreementMeasure
    """Share of equal answers among two people's answers to a pair, a tie being an answer; each pair
    weighs the same."""
    fleiss_kappa: AgreementMeasure
    krippendorff_alpha: AgreementMeasure
    """At nominal level."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MajoritiesAgreement:
    """How often the majority of the judges is that of the people, where both have one."""

    n_pairs_both: int
    """Pairs that people and judges judged."""
    n_no_majority_people: int
    """Of these, without a majority of the people; they are left out."""
    n_no_majority_judges: int
    n_pairs: int
    """Of these, with a majority of both kinds."""
    n_items: int
    """Items these are of."""
    n_people_tie: int
    """Of these, where the people's majority is a tie, which judges who must choose never say."""
    same: AgreementMeasure
    """Share of the pairs with one majority; a tie is an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementPart:
    """Agreement on all items, or on those of one subset."""

    subset: str | None
    """None for all items."""
    people: PeopleAgreement | None
    """None where no pair was judged by two people."""
    majorities: MajoritiesAgreement | None
    """None where no pair was judged by both kinds."""


class _Pair(NamedTuple):
    item_id: str
    people: Votes
    judges: Votes


def measure_people(
    judgments: Sequence[JudgmentRow], data: StudyData, *, level: float, seed: int
) -> tuple[AgreementPart, ...]:
    """Measure agreement on all items, then on each subset where there are several.

    Repeats are left out. Nothing where no person judged.
    """
    pairs = _votes_of_pairs(judgments, data)
    if not any(pair.people for pair in pairs):
        return ()
    subset_of = {item.id: item.subset for item in data.items}
    subsets = sorted({subset_of[pair.item_id] for pair in pairs}, reverse=True)
    parts: dict[str | None, Sequence[_Pair]] = {None: pairs}
    if len(subsets) > 1:
        parts |= {s: [p for p in pairs if subset_of[p.item_id] == s] for s in subsets}
    return tuple(
        AgreementPart(
            subset=subset,
            people=_agreement_of_people(part, level=level, seed=seed),
            majorities=_agreement_of_majorities(part, level=level, seed=seed),
        )
        for subset, part in parts.items()
    )


def _votes_of_pairs(judgments: Sequence[JudgmentRow], data: StudyData) -> list[_Pair]:
    """Return what people and judges said of each pair, both orders merged, in an order of content.

    Sums of fractions depend on their order in the last digit.
    """
    sides = pair_sides(data)
    people = frozenset(people_among(data.raters))
    answers: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    item_of = {}
    for row in judgments:
        if row.repeat == 0:
            answers[row.pair_id][row.rater_id].append(_side(row, sides[row.pair_id][0][1]))
            item_of[row.pair_id] = row.item_id
    pairs = []
    for pair_id, given in sorted(answers.items(), key=lambda one: sides[one[0]]):
        votes = {rater: merge_answers(said) for rater, said in sorted(given.items())}
        by_people = {rater: vote for rater, vote in votes.items() if rater in people}
        by_judges = {rater: vote for rater, vote in votes.items() if rater not in people}
        pairs.append(_Pair(item_of[pair_id], by_people, by_judges))
    return pairs


def _side(row: JudgmentRow, one: str) -> str:
    if row.choice == TIE:
        return TIE
    is_one = (row.choice == "first") == (row.first_completion_id == one)
    return SIDES[0] if is_one else SIDES[1]


def _agreement_of_people(
    pairs: Sequence[_Pair], *, level: float, seed: int
) -> PeopleAgreement | None:
    votes = [
        (pair.item_id, {rater: vote for rater, vote in pair.people.items() if vote != FLIP})
        for pair in pairs
    ]
    paired = [(item, given) for item, given in votes if len(given) > 1]
    if not paired:
        return None
    table, item = _table(paired)
    builders = {
        "same": lambda: percent_agreement(table),
        "fleiss_kappa": lambda: fleiss_kappa(table),
        "krippendorff_alpha": lambda: krippendorff_alpha(table, level="nominal"),
    }
    return PeopleAgreement(
        n_people=table.n_raters,
        n_pairs=table.n_units,
        n_items=int(item.max()) + 1,
        **_measures(builders, table, item, level=level, seed=seed),
    )


def _agreement_of_majorities(
    pairs: Sequence[_Pair], *, level: float, seed: int
) -> MajoritiesAgreement | None:
    both = [
        (pair.item_id, _majority(pair.people), _majority(pair.judges))
        for pair in pairs
        if pair.people and pair.judges
    ]
    if not both:
        return None
    compared = [
        (item, {"people": people, "judges": judges})
        for item, people, judges in both
        if NO_MAJORITY not in (people, judges)
    ]
    same = AgreementMeasure(value=None, low=None, high=None, reason="no pair has both majorities")
    if compared:
        table, item = _table(compared)
        builders = {"same": lambda: percent_agreement(table)}
        same = _measures(builders, table, item, level=level, seed=seed)["same"]
    return MajoritiesAgreement(
        n_pairs_both=len(both),
        n_no_majority_people=sum(people == NO_MAJORITY for _, people, _ in both),
        n_no_majority_judges=sum(judges == NO_MAJORITY for _, _, judges in both),
        n_pairs=len(compared),
        n_items=len({item_id for item_id, _ in compared}),
        n_people_tie=sum(given["people"] == TIE for _, given in compared),
        same=same,
    )


def _majority(votes: Votes) -> str:
    return pair_majority(tuple(votes.values())).outcome


def _table(pairs: Sequence[tuple[str, Votes]]) -> tuple[RatingTable, IntArray]:
    """Return the answers to pairs as a table, and the item of each pair as a number."""
    rows = [
        (unit, rater, vote)
        for unit, (_, votes) in enumerate(pairs)
        for rater, vote in votes.items()
    ]
    raters, rater = np.unique([row[1] for row in rows], return_inverse=True)
    values, category = np.unique([row[2] for row in rows], return_inverse=True)
    unit = np.array([row[0] for row in rows], dtype=np.int64)
    _, item = np.unique([item_id for item_id, _ in pairs], return_inverse=True)
    order = np.lexsort((rater, unit))
    table = RatingTable(
        unit=unit[order],
        rater=rater[order],
        category=category[order],
        count=np.ones(len(pairs), dtype=np.int64),
        values=np.arange(len(values), dtype=np.float64),
        n_units=len(pairs),
        n_raters=len(raters),
    )
    return table, item


def _measures(
    builders: Mapping[str, Callable[[], Coefficient]],
    table: RatingTable,
    item: IntArray,
    *,
    level: float,
    seed: int,
) -> dict[str, AgreementMeasure]:
    """Return coefficients with intervals over items; a reason where there is none."""
    measures: dict[str, AgreementMeasure] = {}
    for name, build in builders.items():
        try:
            coefficient = build()
            value = estimate(coefficient, table)
        except NotIdentifiedError as error:
            measures[name] = AgreementMeasure(value=None, low=None, high=None, reason=str(error))
            continue
        low, high, reason = None, None, None
        samples = bootstrap_units(
            [coefficient],
            table,
            cluster=item,
            n_resamples=N_RESAMPLES,
            rng=np.random.default_rng(seed),
        )
        lowest = 0.0 if name == "same" else -1.0
        try:
            low, high = _interval(value, samples[0], item, level=level, lowest=lowest)
        except NotIdentifiedError as error:
            reason = str(error)
        measures[name] = AgreementMeasure(value=value, low=low, high=high, reason=reason)
    return measures


def _interval(
    value: float, samples: FloatArray, item: IntArray, *, level: float, lowest: float
) -> tuple[float, float]:
    n_items = int(item.max()) + 1
    if n_items < MIN_UNITS:
        raise NotIdentifiedError(
            f"no interval: it takes {MIN_UNITS} items or more, and there are {n_items}"
        )
    return fisher_interval(value, samples, n_units=n_items, level=level, lowest=lowest)
