"""The ranking by people alone and the one by judges alone, beside that of both (SPEC section 5)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hearteval.analysis.judgments import Judgments
from hearteval.analysis.ranking.comparisons import people_among
from hearteval.analysis.ranking.leaderboard import Leaderboard, rank_systems
from hearteval.analysis.ranking.rank import EloEstimate
from hearteval.domain import Rater, System
from hearteval.errors import NotIdentifiedError
from hearteval.notices import Kind, Notice

WHOSE = {
    "people": "at the top is by people alone",
    "judges": "at the top is by judges alone",
    "both": "by both is the answer of neither",
    "anchored": "at the top is people's, helped by judges",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class KindRanking:
    """The ranking by one kind of rater."""

    judged_by: str
    """``people`` or ``judges``."""
    leaderboard: Leaderboard | None
    """As the combined one, from the judgments of this kind only; its Elo is about the mean of the
    systems that this kind ranks."""
    problem: str | None
    """Why there is none, else None."""


def rank_by_kind(
    judgments: Judgments,
    systems: Sequence[System],
    raters: Sequence[Rater],
    *,
    writers: Mapping[str, str] | None = None,
    level: float,
) -> tuple[KindRanking, ...]:
    """Rank by people alone, then by judges alone; nothing unless both kinds judged.

    `writers` are by pair, as `StudyData.writers` has them.

    Raises:
        ValueError: A judgment names a system or a rater that was not given.
    """
    people = people_among(raters)
    by_kind = {
        "people": judgments.by(people),
        "judges": judgments.select(~judgments.rater.is_in(people)),
    }
    if not all(by_kind.values()):
        return ()
    return tuple(
        rank_rows(kind, rows, systems, raters, writers=writers, level=level)
        for kind, rows in by_kind.items()
    )


def rank_rows(
    kind: str,
    rows: Judgments,
    systems: Sequence[System],
    raters: Sequence[Rater],
    *,
    writers: Mapping[str, str] | None = None,
    level: float,
) -> KindRanking:
    """Rank by some judgments alone, under the name of those who gave them."""
    try:
        board = rank_systems(rows, systems, raters, writers=writers, level=level)
    except NotIdentifiedError as error:
        return KindRanking(judged_by=kind, leaderboard=None, problem=str(error))
    return KindRanking(judged_by=kind, leaderboard=board, problem=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankDifference:
    """A system's rank by people and by judges, among the systems that both rank."""

    system: str
    by_people: int
    by_judges: int
    is_apart: bool
    """Whether the places that people leave open and those that judges do have none in common;
    never where they rank other systems, and places are of two fields."""


def compare_ranks(rankings: Sequence[KindRanking]) -> tuple[RankDifference, ...]:
    """Compare the ranks by people and by judges, by name; nothing unless both rank."""
    boards = {one.judged_by: one.leaderboard for one in rankings if one.leaderboard is not None}
    if len(boards) < 2:
        return ()
    people, judges = (
        {row.system: row.weighted for row in boards[by].rows} for by in ("people", "judges")
    )
    names = sorted(people.keys() & judges.keys())
    is_one_field = people.keys() == judges.keys()
    return tuple(
        RankDifference(
            system=name,
            by_people=_rank_among(people, name, names),
            by_judges=_rank_among(judges, name, names),
            is_apart=is_one_field and _is_apart(people[name], judges[name]),
        )
        for name in names
    )


def warn_of_difference(differences: Sequence[RankDifference], headline: str) -> list[Notice]:
    """Name the systems that people and judges place differently, beyond what intervals leave.

    `headline` says by whose votes the ranking at the top is.
    """
    apart = [one.system for one in differences if one.is_apart]
    if not apart:
        return []
    text = (
        f"People alone and judges alone place {', '.join(apart)} differently, beyond what the"
        f" intervals leave open: the ranking {WHOSE[headline]}."
    )
    return [Notice(Kind.KINDS_DIFFER, text)]


def _rank_among(strengths: Mapping[str, EloEstimate], name: str, names: Sequence[str]) -> int:
    return 1 + sum(strengths[other].rank < strengths[name].rank for other in names)


def _is_apart(one: EloEstimate, other: EloEstimate) -> bool:
    return one.rank_high < other.rank_low or other.rank_high < one.rank_low
