"""The axes under weights of a reader's own: for the public board, which weighs them in the page."""

from dataclasses import dataclass
from typing import ClassVar, Self

from hearteval.analysis.ranking.axes.tables import axis_tables
from hearteval.analysis.ranking.axes.weighed import WeighedAxes, weigh_axes
from hearteval.analysis.ranking.leaderboard import marked_judgments
from hearteval.analysis.section import Basis, Chapter, Section


@dataclass(frozen=True, slots=True)
class Weighed(Section[WeighedAxes]):
    """What any weighting of the axes is computed from; no part of a study's own results."""

    NAME: ClassVar = "weighed"
    TITLE: ClassVar = "Weigh the axes yourself"
    CHAPTER: ClassVar = Chapter.METHODS
    KEYS: ClassVar = ()

    @classmethod
    def find(cls, basis: Basis) -> Self | None:
        """Fit each axis again, as the ranking did; None without a ranking, and of two systems."""
        data, board = basis.data, basis.board
        if board is None:
            return None
        names = {row.system for row in board.rows}
        field = sorted((one for one in data.ranked if one.name in names), key=lambda s: s.name)
        among = {system.id for system in field}
        others = basis.rows.select(~basis.rows.rater.is_in(basis.voted.rater.present))
        tables = axis_tables(
            marked_judgments(basis.voted.among(among), others.among(among)),
            field,
            data.raters,
            asks_people=data.asks_people_axes,
            writers=data.writers,
            level=basis.level,
        )
        found = weigh_axes([*tables], level=basis.level)
        return None if found is None else cls(found)

    @property
    def is_shown(self) -> bool:
        """No: a report stands still."""
        return False
