"""The ranking by people alone and the one by judges alone, beside that of both (SPEC section 5)."""

from collections.abc import Sequence
from dataclasses import dataclass

from hearteval.analysis.data import JudgmentRow
from hearteval.analysis.ranking.comparisons import people_among
from hearteval.analysis.ranking.leaderboard import Leaderboard, rank_systems
from hearteval.domain import Rater, System
from hearteval.errors import NotIdentifiedError


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
    judgments: Sequence[JudgmentRow],
    systems: Sequence[System],
    raters: Sequence[Rater],
    *,
    level: float,
) -> tuple[KindRanking, ...]:
    """Rank by people alone, then by judges alone; nothing unless both kinds judged.

    Raises:
        ValueError: A judgment names a system or a rater that was not given.
    """
    people = set(people_among(raters))
    by_kind = {
        "people": [row for row in judgments if row.rater_id in people],
        "judges": [row for row in judgments if row.rater_id not in people],
    }
    if not all(by_kind.values()):
        return ()
    return tuple(_rank(kind, rows, systems, raters, level=level) for kind, rows in by_kind.items())


def _rank(
    kind: str,
    rows: Sequence[JudgmentRow],
    systems: Sequence[System],
    raters: Sequence[Rater],
    *,
    level: float,
) -> KindRanking:
    try:
        board = rank_systems(rows, systems, raters, level=level)
    except NotIdentifiedError as error:
        return KindRanking(judged_by=kind, leaderboard=None, problem=str(error))
    return KindRanking(judged_by=kind, leaderboard=board, problem=None)
