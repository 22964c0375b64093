"""What several judges say of one pair, and what a study's judges say together.

SPEC sections 5 and 7. Both orders and repeats of one rater are one vote or none; a judge left out
because of its own family is simply not among the raters, so pairs differ in how many judges stand
behind them, and that number is part of the answer. In a ranking every judgment counts. Of a study
only the judges are counted: people are many and sampled, and their majorities are another analysis.
Intervals and chance-corrected agreement are not here either.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Final, NamedTuple

from hearteval.analysis.data import TIE, JudgmentRow
from hearteval.analysis.estimates import PLANNED
from hearteval.domain import Rater, System

FLIP: Final = "flip"
NO_MAJORITY: Final = "no-majority"


class PairMajority(NamedTuple):
    """What raters say of one pair."""

    outcome: str
    """The strict plurality, a system's id or a tie, or ``no-majority``."""
    votes: Mapping[str, int]
    """Raters for each answer, those whose answers contradict each other left out."""
    n_flips: int
    """Raters whose answers contradict each other."""

    @property
    def n_votes(self) -> int:
        """Raters behind the outcome."""
        return sum(self.votes.values())

    @property
    def n_raters(self) -> int:
        """Raters who answered, those whose answers contradict each other among them."""
        return self.n_votes + self.n_flips


@dataclass(frozen=True, slots=True, kw_only=True)
class MajorityCounts:
    """How many pairs have a majority, and how many raters stand behind them."""

    n_pairs: int
    n_no_majority: int
    """Pairs without one; they are left out of agreement."""
    n_ties: int
    """Pairs with a majority that calls them a tie."""
    n_flips: int
    """Flips of all raters over all pairs."""
    n_pairs_by_raters: tuple[tuple[int, int], ...]
    """Number of raters who answered and how many pairs have so many, ascending."""
    n_pairs_by_votes: tuple[tuple[int, int], ...]
    """The same for the votes left when flips are taken out."""


def merge_answers(answers: Sequence[str]) -> str:
    """Merge one rater's answers to one pair: what they all say, or ``flip`` where they differ.

    A single answer stands for itself.

    Raises:
        ValueError: There are none.
    """
    if not answers:
        raise ValueError("a rater without an answer to a pair is not one of its raters")
    return answers[0] if len(set(answers)) == 1 else FLIP


def majority_of(votes: Counter[str]) -> str:
    """Return the vote with strictly more raters than any other, else ``no-majority``."""
    ranked = votes.most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return NO_MAJORITY
    return ranked[0][0]


@lru_cache(maxsize=4_096)
def pair_majority(merged: tuple[str, ...]) -> PairMajority:
    """Count the raters of one pair, from what `merge_answers` says of each.

    The same few answers come again and again, so what they make is shared.
    """
    votes = Counter(merged)
    n_flips = votes.pop(FLIP, 0)
    return PairMajority(majority_of(votes), votes, n_flips)


def count_majorities(majorities: Iterable[PairMajority]) -> MajorityCounts:
    """Count pairs with and without a majority, by the raters behind them."""
    pairs = list(majorities)
    return MajorityCounts(
        n_pairs=len(pairs),
        n_no_majority=sum(pair.outcome == NO_MAJORITY for pair in pairs),
        n_ties=sum(pair.outcome == TIE for pair in pairs),
        n_flips=sum(pair.n_flips for pair in pairs),
        n_pairs_by_raters=tuple(sorted(Counter(pair.n_raters for pair in pairs).items())),
        n_pairs_by_votes=tuple(sorted(Counter(pair.n_votes for pair in pairs).items())),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeVotes:
    """How one judge voted, both orders of a pair being one vote or none."""

    judge: str
    n_pairs: int
    n_both_orders: int
    """Of these, answered in both orders; only there it can contradict itself."""
    n_flips: int
    """Of these, where its two answers contradict each other; it has no vote there."""
    n_ties: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemPairJudges:
    """Who judged the pairs of two systems, which stand by name."""

    left: str
    right: str
    judges: tuple[str, ...]
    """Judges that answered any of these pairs."""
    n_pairs: int
    """Pairs of their completions that any judge answered."""
    n_no_majority: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeAgreement:
    """How often some judges say the same."""

    judges: tuple[str, ...]
    """Two of them, or all."""
    n_pairs: int
    """Pairs on which each of them has a vote."""
    n_same: int
    """Of these with one answer by all; a tie is an answer."""
    rate: float | None
    """Their share; None without such a pair."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeMajorities:
    """What the judges say together; repeats and the stress set are left out."""

    counts: MajorityCounts
    """Pairs with and without a majority, and the judges behind them."""
    judges: tuple[JudgeVotes, ...]
    system_pairs: tuple[SystemPairJudges, ...]
    agreement: tuple[JudgeAgreement, ...]
    """Of every two judges, and with three judges or more of all."""
    status: str


def count_judges_together(
    judgments: Sequence[JudgmentRow], systems: Sequence[System], raters: Sequence[Rater]
) -> JudgeMajorities | None:
    """Merge what the judges answered to each pair, and count; None without a judgment by a judge.

    Repeats, people's judgments, and those of other systems than these are left out.
    """
    judges = {rater.id: rater.name for rater in raters if rater.kind == "llm"}
    names_of = {system.id: system.name for system in systems}
    rows = [
        row
        for row in judgments
        if row.repeat == 0 and row.rater_id in judges and row.is_among(names_of)
    ]
    if not rows:
        return None
    answers: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        answers[row.pair_id][judges[row.rater_id]].append(row.winner)
    votes = {
        pair_id: {judge: merge_answers(said) for judge, said in given.items()}
        for pair_id, given in answers.items()
    }
    majorities = {pair_id: pair_majority(tuple(given.values())) for pair_id, given in votes.items()}
    names = sorted({judge for given in votes.values() for judge in given})
    by_judge = {judge: [given.get(judge, FLIP) for given in votes.values()] for judge in names}
    groups = [*combinations(names, 2), *([tuple(names)] if len(names) > 2 else [])]
    return JudgeMajorities(
        counts=count_majorities(majorities.values()),
        judges=tuple(_votes_of(judge, answers.values()) for judge in names),
        system_pairs=_system_pairs(rows, votes, majorities, names_of),
        agreement=tuple(_agreement(group, by_judge) for group in groups),
        status=PLANNED,
    )


def _votes_of(judge: str, answers: Iterable[Mapping[str, Sequence[str]]]) -> JudgeVotes:
    said = [given[judge] for given in answers if judge in given]
    votes = Counter(map(merge_answers, said))
    return JudgeVotes(
        judge=judge,
        n_pairs=len(said),
        n_both_orders=sum(len(given) == 2 for given in said),
        n_flips=votes[FLIP],
        n_ties=votes[TIE],
    )


def _system_pairs(
    rows: Sequence[JudgmentRow],
    votes: Mapping[str, Mapping[str, str]],
    majorities: Mapping[str, PairMajority],
    names: Mapping[str, str],
) -> tuple[SystemPairJudges, ...]:
    ends_of = {row.pair_id: (row.first_system_id, row.second_system_id) for row in rows}
    pairs: dict[tuple[str, str], list[str]] = defaultdict(list)
    for pair_id, ends in ends_of.items():
        left, right = sorted(names[system_id] for system_id in ends)
        pairs[left, right].append(pair_id)
    return tuple(
        SystemPairJudges(
            left=left,
            right=right,
            judges=tuple(sorted({judge for pair_id in pair_ids for judge in votes[pair_id]})),
            n_pairs=len(pair_ids),
            n_no_majority=sum(majorities[pair_id].outcome == NO_MAJORITY for pair_id in pair_ids),
        )
        for (left, right), pair_ids in sorted(pairs.items())
    )


def _agreement(judges: tuple[str, ...], votes: Mapping[str, Sequence[str]]) -> JudgeAgreement:
    """Compare the votes of some judges, given by judge and in the same order of pairs."""
    together = zip(*(votes[judge] for judge in judges), strict=True)
    is_same = Counter(len(set(given)) == 1 for given in together if FLIP not in given)
    n_all, n_same = is_same.total(), is_same[True]
    return JudgeAgreement(
        judges=judges, n_pairs=n_all, n_same=n_same, rate=n_same / n_all if n_all else None
    )
