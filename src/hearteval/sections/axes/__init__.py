"""Elo in full, and how systems stand on each axis."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from hearteval.analysis.ranking.leaderboard import Leaderboard
from hearteval.analysis.section import Basis, Chapter, Records, Section
from hearteval.domain import Axis, flat_fields
from hearteval.report import leaderboard, radar
from hearteval.report.coverage.people import raters_words
from hearteval.report.figures import MANY
from hearteval.report.page.links import system_links
from hearteval.report.page.replies import Shown
from hearteval.report.text import plural


@dataclass(frozen=True, slots=True)
class Axes(Section[Leaderboard]):
    """The ranking of a study whose judges compare, in every number."""

    NAME: ClassVar = "axes"
    TITLE: ClassVar = "Elo and axes in full"
    CHAPTER: ClassVar = Chapter.METHODS
    KEYS: ClassVar = ()
    TABLES: ClassVar = {"axes": "standing on each axis"}
    MANY: ClassVar = MANY
    interval_words = staticmethod(leaderboard.interval_words)
    marked_words = staticmethod(leaderboard.marked_words)
    elo_frame = staticmethod(radar.elo_frame)
    elo_radars = staticmethod(radar.elo_radars)
    who: str
    """Who voted, in words."""

    @classmethod
    def find(cls, basis: Basis) -> Self | None:
        """Take the ranking; None where there is none."""
        board = basis.board
        return None if board is None else cls(board, raters_words(basis.coverage, board.judged_by))

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes that are marked."""
        return leaderboard.marked_axes(self.found)

    def line(self) -> str:
        """Say whose votes these are, and which intervals."""
        board = self.found
        judges = "people and judges" if board.judged_by == "both" else board.judged_by
        n, ties = plural(board.n_judgments, "judgment"), plural(board.n_ties, "tie")
        return (
            f"Votes by {judges}: {self.who}. {n} ({ties}) on {plural(board.n_items, 'item')}."
            f" Interval: {leaderboard.interval_words(board)}. {leaderboard.marked_words(board)}"
        )

    def records(self, table: str) -> Records:
        """Return a row for each system on each axis."""
        del table
        return [
            {"system": row.system, "kind": row.kind, "axis": axis, **flat_fields(at)}
            for row in self.found.rows
            for axis, at in row.axes.items()
        ]

    def pages(self, shown: Shown) -> Mapping[str, str]:
        """Return the page of each system; none where there is no folder."""
        return system_links(shown, (row.system for row in self.found.rows))
