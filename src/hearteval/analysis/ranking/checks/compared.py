"""Two studies, or two panels of one, side by side: how far they rank alike, what moved, and why.

Both are ranked anew on the systems that they share by name, so that a place means the same in both.
What explains a move is counted, not modelled: other items, other texts under one name, other
raters; and on the pairs that both judged, in the same texts, how often they say the same.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import hypot

import numpy as np

from hearteval.analysis.data import StudyData
from hearteval.analysis.estimates import Contrast, Summed, contrast_means
from hearteval.analysis.estimates import Side as Of
from hearteval.analysis.judges.majorities import NO_MAJORITY, merge_answers, pair_majority
from hearteval.analysis.judgments import TIE, JudgmentRow, Judgments, judgments_of
from hearteval.analysis.ranking.checks.published import Concordance, compare_rankings
from hearteval.analysis.ranking.comparisons import people_among, rank_judgments
from hearteval.analysis.ranking.rank import Ranked
from hearteval.domain import Completion, Rater, display_name
from hearteval.errors import InvalidVotesError, NotIdentifiedError
from hearteval.stats.bradley_terry.fit import ELO_PER_THETA
from hearteval.stats.comparisons import FloatArray
from hearteval.stats.means import q_where_tested
from hearteval.stats.special import stdtrit

SharedPair = tuple[str, frozenset[tuple[str, str]]]
"""An item, and of each of two systems its name and what it says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the two: whose judgments its ranking stands on."""

    name: str
    protocols: Mapping[str, str]
    """By kind of rater."""
    n_items: int
    """Items with a judgment of the systems that both have."""
    n_judgments: int
    raters: tuple[str, ...]
    """Judges by name; people are counted only."""
    n_people: int
    interval_used: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedSystem:
    """One system in both rankings, by the strength-weighted headline."""

    system: str
    first_elo: float
    second_elo: float
    first_rank: int
    second_rank: int
    difference: float
    """Elo of the second less that of the first."""
    low: float | None
    """Of the difference, as if both stood on items and raters of their own; None without one."""
    high: float | None
    is_apart: bool
    """Whether the difference is beyond an interval that allows for all systems (Bonferroni)."""
    n_other_texts: int
    """Items of both on which the system says something else."""
    shared_first: float | None
    """Share of the shared pairs that it won in the first, a tie counting half; None without any."""
    shared_second: float | None
    shared_change: Contrast | None
    """Of these, the second less the first: the same pairs, so what items have in common cancels."""
    shared_q: float | None
    """By Benjamini and Hochberg (1995) over the systems."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What moved between two rankings, and what differs behind them.

    Attributes:
        concordance: How far they rank alike; its numbers are the headline Elo.
        systems: Those of both, the largest difference first.
        n_items_shared: Items that both judged; n_items_only_first and so on, one alone.
        raters_only_first: Judges of the first that the second has not, by name.
        n_pairs_shared: Pairs of the same texts that both judged.
        n_pairs_decided: Of these, with a majority in both.
        n_same_majority: Of these, with the same one.
        on_shared: How far they rank alike by the shared pairs alone; None where these determine no
            ranking. What still differs there is the raters' doing.
        on_shared_problem: Why there is none, else None.
        why: What differs, in words, the plainest first.
    """

    first: Side
    second: Side
    concordance: Concordance
    systems: tuple[MovedSystem, ...]
    n_items_shared: int
    n_items_only_first: int
    n_items_only_second: int
    raters_only_first: tuple[str, ...]
    raters_only_second: tuple[str, ...]
    n_pairs_shared: int
    n_pairs_decided: int
    n_same_majority: int
    on_shared: Concordance | None
    on_shared_problem: str | None
    why: tuple[str, ...]
    level: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One side as it comes in: a study, what to call it, and whose judgments count."""

    name: str
    data: StudyData
    protocols: Mapping[str, str]
    raters: Sequence[Rater]
    """Every rater whose judgments count."""


class _Ranked:
    """One side on the systems that both share."""

    def __init__(self, side: Compared, names: Collection[str], *, level: float) -> None:
        self.side, self.level = side, level
        systems = [one for one in side.data.ranked if one.name in names]
        self.systems = sorted(systems, key=lambda one: one.name)
        self.name_of = {one.id: one.name for one in self.systems}
        raters, items = {one.id for one in side.raters}, {one.id for one in side.data.items}
        rows = side.data.judgments.first_ones.by(raters).among(self.name_of)
        self.rows = rows.select(rows.item.is_in(items))
        self.writers = side.data.writers
        self.ranked = self.rank(self.rows)
        self.texts = _texts(side.data.completions, self.name_of)
        self._ends = side.data.pairs.named(self.rows.pair.present).ends

    def rank(self, rows: Judgments) -> Ranked:
        """Rank by some of the judgments.

        Raises:
            NotIdentifiedError: They determine no ranking; the message names the side.
        """
        try:
            if not rows:
                raise NotIdentifiedError("there is no judgment of the systems that both have")
            return rank_judgments(
                rows,
                self.systems,
                use_strength=True,
                rater_ids=people_among(self.side.raters),
                writers=self.writers,
                level=self.level,
            )
        except NotIdentifiedError as error:
            raise NotIdentifiedError(f"{self.side.name}: {error}", ids=error.ids) from error

    def by_shared_pair(self) -> Mapping[SharedPair, list[JudgmentRow]]:
        """Return the judgments of each pair of texts."""
        found: dict[SharedPair, list[JudgmentRow]] = defaultdict(list)
        text_of = {c.id: (self.name_of.get(c.system_id, ""), c.text) for c in self._completions()}
        for row in self.rows:
            one, other = self._ends[row.pair_id]
            found[row.item_id, frozenset((text_of[one], text_of[other]))].append(row)
        return found

    def _completions(self) -> list[Completion]:
        return [c for c in self.side.data.completions if not c.is_withdrawn]

    def majority(self, rows: Sequence[JudgmentRow]) -> str:
        """Return the system that most raters of a pair prefer, by name, or a tie."""
        answers: dict[str, list[str]] = defaultdict(list)
        for row in rows:
            answers[row.rater_id].append(TIE if row.winner == TIE else self.name_of[row.winner])
        merged = tuple(merge_answers(said) for _, said in sorted(answers.items()))
        return pair_majority(merged).outcome

    def describe(self) -> Side:
        """Say whose judgments these are."""
        kinds = {one.id: one for one in self.side.raters}
        who = self.rows.rater.present
        return Side(
            name=self.side.name,
            protocols=dict(self.side.protocols),
            n_items=len(self.items),
            n_judgments=len(self.rows),
            raters=tuple(sorted(kinds[id_].name for id_ in who if kinds[id_].kind == "llm")),
            n_people=sum(kinds[id_].kind == "human" for id_ in who),
            interval_used=self.ranked.interval_used,
        )

    @property
    def items(self) -> set[str]:
        """The items that are judged."""
        return {*self.rows.item.present}


def compare_studies(first: Compared, second: Compared, *, level: float = 0.95) -> Comparison:
    """Rank two studies on the systems that they share, and say what moved and what differs.

    The interval of a difference takes both rankings as standing on items and raters of their own;
    where they share some, it is wider than it need be.

    Raises:
        InvalidVotesError: They share under two systems.
        NotIdentifiedError: One of them determines no ranking of these; it names which.
    """
    every = [{one.name for one in side.data.ranked} for side in (first, second)]
    names = every[0] & every[1]
    if len(names) < 2:
        there = "; ".join(
            f"{side.name} has {', '.join(sorted(own)) or 'none'}"
            for side, own in zip((first, second), every, strict=True)
        )
        raise InvalidVotesError(f"the two share {len(names)} systems, and it takes two: {there}")
    one, other = (_Ranked(side, names, level=level) for side in (first, second))
    sides = one.describe(), other.describe()
    shared = one.by_shared_pair(), other.by_shared_pair()
    both = shared[0].keys() & shared[1].keys()
    said = [(one.majority(shared[0][pair]), other.majority(shared[1][pair])) for pair in both]
    decided = [each for each in said if NO_MAJORITY not in each]
    on_shared, problem = _on_shared(one, other, shared, both)
    moved = _moved(one, other, _won_on_shared((one, other), shared, both))
    return Comparison(
        first=sides[0],
        second=sides[1],
        concordance=compare_rankings(_elo(one.ranked), _elo(other.ranked), level=level),
        systems=moved,
        n_items_shared=len(one.items & other.items),
        n_items_only_first=len(one.items - other.items),
        n_items_only_second=len(other.items - one.items),
        raters_only_first=tuple(name for name in sides[0].raters if name not in sides[1].raters),
        raters_only_second=tuple(name for name in sides[1].raters if name not in sides[0].raters),
        n_pairs_shared=len(both),
        n_pairs_decided=len(decided),
        n_same_majority=sum(a == b for a, b in decided),
        on_shared=on_shared,
        on_shared_problem=problem,
        why=_why(sides, one, other, only=(every[0] - names, every[1] - names), moved=moved),
        level=level,
    )


def _elo(ranked: Ranked) -> dict[str, float]:
    return {name: at.elo for name, at in ranked.by_name.items()}


def _on_shared(
    one: _Ranked,
    other: _Ranked,
    shared: tuple[Mapping[SharedPair, list[JudgmentRow]], ...],
    both: Collection[SharedPair],
) -> tuple[Concordance | None, str | None]:
    if not both:
        return None, "no pair of the same texts was judged in both"
    try:
        rankings = [
            side.rank(
                judgments_of(row for pair, rows in of_side.items() if pair in both for row in rows)
            )
            for side, of_side in zip((one, other), shared, strict=True)
        ]
        return compare_rankings(*map(_elo, rankings), level=one.level), None
    except (NotIdentifiedError, InvalidVotesError) as error:
        return None, str(error)


def _won_on_shared(
    sides: tuple[_Ranked, _Ranked],
    shared: tuple[Mapping[SharedPair, list[JudgmentRow]], ...],
    both: Collection[SharedPair],
) -> Mapping[str, tuple[float, float, Contrast]]:
    """Return what each system won of the shared pairs in either, and how that changed.

    A pair counts as much as another, however many judged it.
    """
    numbers: dict[str | None, int] = defaultdict(lambda: len(numbers))
    people = {one.id for side in sides for one in side.side.raters if one.kind == "human"}
    found: dict[str, list[tuple[float, ...]]] = defaultdict(list)
    for k, (side, of_side) in enumerate(zip(sides, shared, strict=True)):
        for pair in sorted(both, key=lambda pair: (pair[0], sorted(pair[1]))):
            for row in of_side[pair]:
                rater = numbers[row.rater_id] if row.rater_id in people else -1
                wrote = side.writers.get(row.pair_id)
                writer = -1 if wrote is None else numbers[wrote]
                for system in (row.first_system_id, row.second_system_id):
                    won = 0.5 if row.winner == TIE else float(row.winner == system)
                    weight = 1 / len(of_side[pair])
                    found[side.name_of[system]].append(
                        (k, numbers[row.item_id], rater, writer, weight, weight * won)
                    )
    return {system: _change(np.array(rows), sides[0].level) for system, rows in found.items()}


def _change(rows: FloatArray, level: float) -> tuple[float, float, Contrast]:
    """Contrast the rows of the second side with those of the first, as one part of the items."""
    side, item, rater, writer = rows[:, :4].astype(np.int64).T
    summed = Summed(item=item, rater=rater, writer=writer, weight=rows[:, 4], sums=rows[:, 5:])
    shares = [summed.sums[side == k].sum() / summed.weight[side == k].sum() for k in (0, 1)]
    change = contrast_means(
        summed, [Of(side == 1, 1.0), Of(side == 0, -1.0)], part=np.zeros_like(item), level=level
    )
    return float(shares[0]), float(shares[1]), change


def _moved(
    one: _Ranked, other: _Ranked, won: Mapping[str, tuple[float, float, Contrast]]
) -> tuple[MovedSystem, ...]:
    rows = [side.ranked.by_name for side in (one, other)]
    dfs = [side.ranked.df_by_name for side in (one, other)]
    names = sorted(rows[0].keys() & rows[1].keys())
    no_share = (None, None, None)
    shares = {name: won.get(name, no_share) for name in names}
    q = q_where_tested([change.p if change else None for _, _, change in shares.values()])
    ends = 1 - (1 - one.level) / 2, 1 - (1 - one.level) / (2 * len(names))
    moved = []
    for name, shared_q in zip(names, q, strict=True):
        df = min(of[name] for of in dfs)
        reach, far = (float(stdtrit(df, end)) for end in ends)
        a, b = rows[0][name], rows[1][name]
        difference, low, high, is_apart = b.elo - a.elo, None, None, False
        if a.se is not None and b.se is not None:
            se = ELO_PER_THETA * hypot(a.se, b.se)
            low, high = difference - reach * se, difference + reach * se
            is_apart = abs(difference) > far * se
        texts, others = one.texts.get(name, {}), other.texts.get(name, {})
        moved.append(
            MovedSystem(
                system=name,
                first_elo=a.elo,
                second_elo=b.elo,
                first_rank=a.rank,
                second_rank=b.rank,
                difference=difference,
                low=low,
                high=high,
                is_apart=is_apart,
                n_other_texts=sum(texts[k] != others[k] for k in texts.keys() & others.keys()),
                shared_first=shares[name][0],
                shared_second=shares[name][1],
                shared_change=shares[name][2],
                shared_q=shared_q,
            )
        )
    return tuple(sorted(moved, key=lambda each: (-abs(each.difference), each.system)))


def _texts(
    completions: Sequence[Completion], name_of: Mapping[str, str]
) -> dict[str, dict[str, frozenset[str]]]:
    """Return what each system says to each item, by its name."""
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for one in completions:
        if one.system_id in name_of and not one.is_withdrawn:
            found[name_of[one.system_id]][one.item_id].add(one.text)
    return {
        name: {item: frozenset(said) for item, said in by_item.items()}
        for name, by_item in found.items()
    }


def _why(
    sides: tuple[Side, Side],
    one: _Ranked,
    other: _Ranked,
    *,
    only: tuple[Collection[str], Collection[str]],
    moved: Sequence[MovedSystem],
) -> tuple[str, ...]:
    first, second = sides
    why = []
    judges = [sorted(Counter(a.raters) - Counter(b.raters)) for a, b in (sides, sides[::-1])]
    for side, names in zip(sides, judges, strict=True):
        if names:
            why.append(f"Judges of {side.name} only: {', '.join(names)}.")
    if first.n_people != second.n_people:
        why.append(
            f"People who judged: {first.n_people} in {first.name}, {second.n_people} in"
            f" {second.name}."
        )
    if first.protocols != second.protocols:
        asked = [", ".join(f"{k}: {v}" for k, v in sorted(s.protocols.items())) for s in sides]
        why.append(f"Asked in other ways: {first.name} {asked[0]}; {second.name} {asked[1]}.")
    shown = [display_name(side.side.data.display) for side in (one, other)]
    if shown[0] != shown[1]:
        why.append(f"Replies were shown {shown[0]} in {first.name}, {shown[1]} in {second.name}.")
    n_only = len(one.items - other.items), len(other.items - one.items)
    if any(n_only):
        why.append(
            f"Items of {first.name} only: {n_only[0]}; of {second.name} only: {n_only[1]}; of both:"
            f" {len(one.items & other.items)}."
        )
    for side, systems in zip(sides, only, strict=True):
        if systems:
            why.append(f"Systems of {side.name} only, left out here: {', '.join(sorted(systems))}.")
    texts = [f"{each.system} to {each.n_other_texts} items" for each in moved if each.n_other_texts]
    if texts:
        why.append(f"Says something else under the same name: {', '.join(texts)}.")
    return tuple(why) or ("Nothing differs behind them but what the same raters said.",)
