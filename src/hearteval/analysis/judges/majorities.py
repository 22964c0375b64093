"""What several judges say of one pair, and what a study's judges say together.

SPEC sections 5 and 7. Both orders and repeats of one rater are one vote or none; a judge left out
because of its own family is simply not among the raters, so pairs differ in how many judges stand
behind them, and that number is part of the answer. In a ranking every judgment counts. Of a study
only the judges are counted: people are many and sampled, and their majorities are another analysis.
Intervals and chance-corrected agreement are not here either.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, compress
from typing import Final, NamedTuple

import numpy as np

from hearteval.analysis.agreement.pair_votes import (
    ABSENT,
    PairVotes,
    is_vote,
    majorities,
)
from hearteval.analysis.agreement.pair_votes import FLIP as FLIP_VOTE
from hearteval.analysis.agreement.pair_votes import NO_MAJORITY as NO_MAJORITY_VOTE
from hearteval.analysis.agreement.pair_votes import TIE as TIE_VOTE
from hearteval.analysis.columns import JudgmentColumns
from hearteval.analysis.estimates import PLANNED
from hearteval.stats.comparisons import IntArray

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


def count_majorities(votes: IntArray) -> MajorityCounts:
    """Count pairs with and without a majority, by the raters behind them, of `PairVotes.votes`."""
    outcome = majorities(votes)
    n_flips, n_raters = (votes == FLIP_VOTE).sum(axis=1), (votes != ABSENT).sum(axis=1)
    return MajorityCounts(
        n_pairs=len(votes),
        n_no_majority=int((outcome == NO_MAJORITY_VOTE).sum()),
        n_ties=int((outcome == TIE_VOTE).sum()),
        n_flips=int(n_flips.sum()),
        n_pairs_by_raters=_sizes(n_raters),
        n_pairs_by_votes=_sizes(n_raters - n_flips),
    )


def _sizes(n: IntArray) -> tuple[tuple[int, int], ...]:
    """Return each number and how often it is there, ascending."""
    return tuple(zip(*(each.tolist() for each in np.unique(n, return_counts=True)), strict=True))


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
    columns: JudgmentColumns, pair_votes: PairVotes
) -> JudgeMajorities | None:
    """Merge what the judges answered to each pair, and count; None without a judgment by a judge.

    The columns are of first judgments, and the votes are theirs; people's are left out.
    """
    columns = columns.select(~columns.is_person)
    if not len(columns):
        return None
    merged = pair_votes.select(pair_votes.is_judged)
    given = [k for k, votes in enumerate(merged.of_judges.T) if (votes != ABSENT).any()]
    votes, names = merged.of_judges[:, given], [merged.judges[k] for k in given]
    groups = [*combinations(range(len(names)), 2), *([range(len(names))] if len(names) > 2 else [])]
    n_pairs = int(columns.pair.max()) + 1
    cells, n_given = np.unique(columns.rater * n_pairs + columns.pair, return_counts=True)
    n_twice = np.bincount(cells[n_given == 2] // n_pairs, minlength=len(merged.names.raters))
    return JudgeMajorities(
        counts=count_majorities(votes),
        judges=tuple(
            JudgeVotes(
                judge=name,
                n_pairs=int((said != ABSENT).sum()),
                n_both_orders=int(n_twice[given[k]]),
                n_flips=int((said == FLIP_VOTE).sum()),
                n_ties=int((said == TIE_VOTE).sum()),
            )
            for k, (name, said) in enumerate(zip(names, votes.T, strict=True))
        ),
        system_pairs=_system_pairs(merged, votes, names),
        agreement=tuple(_agreement(group, votes, names) for group in groups),
        status=PLANNED,
    )


def _system_pairs(
    merged: PairVotes, votes: IntArray, judges: Sequence[str]
) -> tuple[SystemPairJudges, ...]:
    is_without = majorities(votes) == NO_MAJORITY_VOTE
    names = [system.name for system in merged.names.systems]
    ends = np.sort(merged.systems, axis=1) @ (len(names), 1)
    found = []
    for both in np.unique(ends).tolist():
        rows, (left, right) = ends == both, divmod(both, len(names))
        found.append(
            SystemPairJudges(
                left=names[left],
                right=names[right],
                judges=tuple(compress(judges, (votes[rows] != ABSENT).any(axis=0))),
                n_pairs=int(rows.sum()),
                n_no_majority=int(is_without[rows].sum()),
            )
        )
    return tuple(found)


def _agreement(judges: Sequence[int], votes: IntArray, names: Sequence[str]) -> JudgeAgreement:
    """Compare the votes of some judges, given by their columns."""
    said = votes[:, list(judges)]
    said = said[is_vote(said).all(axis=1)]
    n_all, n_same = len(said), int((said == said[:, :1]).all(axis=1).sum())
    return JudgeAgreement(
        judges=tuple(names[k] for k in judges),
        n_pairs=n_all,
        n_same=n_same,
        rate=n_same / n_all if n_all else None,
    )
