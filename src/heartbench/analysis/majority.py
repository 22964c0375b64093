"""What several raters say of one pair together: orders merged, then a strict plurality.

SPEC sections 5 and 7. Both orders and repeats of one rater are one vote or none; a judge left out
because of its own family is simply not among the raters, so pairs differ in how many judges stand
behind them, and that number is part of the answer. Used for majorities and agreement; in a ranking
every judgment counts.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from heartbench.domain import Choice

Winner = Literal["low", "high", "tie"]
"""Of a pair's sorted completion ids the one preferred, or a tie."""
WINNERS: tuple[Winner, ...] = get_args(Winner)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairMajority:
    """What raters say of one pair.

    Attributes:
        outcome: The strict plurality, or ``no-majority``.
        n_low: Raters for the completion with the lower id.
        n_high: Raters for the other.
        n_tie: Raters who call it a tie.
        n_flips: Raters whose answers contradict each other; they have no vote.
    """

    outcome: Winner | Literal["no-majority"]
    n_low: int
    n_high: int
    n_tie: int
    n_flips: int

    @property
    def n_votes(self) -> int:
        """Raters behind the outcome."""
        return self.n_low + self.n_high + self.n_tie

    @property
    def n_raters(self) -> int:
        """Raters who answered, those whose answers contradict each other among them."""
        return self.n_votes + self.n_flips


@dataclass(frozen=True, slots=True, kw_only=True)
class MajorityCounts:
    """How many pairs have a majority, and how many raters stand behind them.

    Attributes:
        n_pairs: Pairs in all.
        n_no_majority: Of these without one; they are left out of agreement.
        n_ties: Of these with a majority that calls it a tie.
        n_flips: Flips of all raters over all pairs.
        n_pairs_by_raters: Number of raters who answered and how many pairs have so many, ascending.
        n_pairs_by_votes: The same for the votes left when flips are taken out.
    """

    n_pairs: int
    n_no_majority: int
    n_ties: int
    n_flips: int
    n_pairs_by_raters: tuple[tuple[int, int], ...]
    n_pairs_by_votes: tuple[tuple[int, int], ...]


def winner_of_pair(choice: Choice, *, first_is_low: bool) -> Winner:
    """Return which of a pair's sorted completions a judgment prefers, whatever was shown first."""
    if choice == "tie":
        return "tie"
    return "low" if (choice == "first") == first_is_low else "high"


def merge_answers(answers: Sequence[Winner]) -> Winner | Literal["flip"]:
    """Merge one rater's answers to one pair: what they all say, or ``flip`` where they differ.

    A single answer stands for itself.

    Raises:
        ValueError: There are none.
    """
    if not answers:
        raise ValueError("a rater without an answer to a pair is not one of its raters")
    return answers[0] if len(set(answers)) == 1 else "flip"


def majority_of(votes: Iterable[Winner]) -> Winner | Literal["no-majority"]:
    """Return the vote with strictly more raters than any other, else ``no-majority``."""
    ranked = Counter(votes).most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return "no-majority"
    return ranked[0][0]


def pair_majority(answers: Mapping[str, Sequence[Winner]]) -> PairMajority:
    """Merge each rater's answers to one pair, then count the raters.

    Args:
        answers: By rater, all answers to the pair: both orders, repeats.
    """
    merged = [merge_answers(given) for given in answers.values()]
    votes = [vote for vote in merged if vote != "flip"]
    counts = Counter(votes)
    return PairMajority(
        outcome=majority_of(votes),
        n_low=counts["low"],
        n_high=counts["high"],
        n_tie=counts["tie"],
        n_flips=len(merged) - len(votes),
    )


def count_majorities(majorities: Iterable[PairMajority]) -> MajorityCounts:
    """Count pairs with and without a majority, by the raters behind them."""
    pairs = list(majorities)
    return MajorityCounts(
        n_pairs=len(pairs),
        n_no_majority=sum(pair.outcome == "no-majority" for pair in pairs),
        n_ties=sum(pair.outcome == "tie" for pair in pairs),
        n_flips=sum(pair.n_flips for pair in pairs),
        n_pairs_by_raters=tuple(sorted(Counter(pair.n_raters for pair in pairs).items())),
        n_pairs_by_votes=tuple(sorted(Counter(pair.n_votes for pair in pairs).items())),
    )
