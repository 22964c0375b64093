"""A released board that the study continues: which rows were measured when, and by whom alike."""

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, Self

from hearteval.analysis.section import Basis, Chapter, Records, Section
from hearteval.notices import Kind, Notice
from hearteval.report.text import NO_BREAK_SPACE, listed, plural, whole_percent
from hearteval.sections.board.measure import Board, JudgeDrift, MeasuredRow, measure_board

SHOWN = 16
"""Digits of a release's id."""


class Continued(Section[Board]):
    """What is old on this board, and what is new."""

    NAME: ClassVar = "board"
    TITLE: ClassVar = "What was measured when"
    CHAPTER: ClassVar = Chapter.JUDGES
    KEYS: ClassVar = ("board",)
    TABLES: ClassVar = {"board": "which rows of a continued board were measured when"}
    PATHS: ClassVar = {"board": "found.rows"}

    @classmethod
    def find(cls, basis: Basis) -> Self | None:
        """Measure it; None where a study continues no board."""
        found = measure_board(basis.data, level=basis.level)
        return None if found is None else cls(found)

    def measured_words(self) -> str:
        """Say which rows were measured when."""
        old = [row for row in self.found.rows if not row.is_new]
        new = [row for row in self.found.rows if row.is_new]
        words = f"{plural(len(old), 'system')} of release {self.found.release[:SHOWN]}"
        words += f" were measured {_when(old)}"
        if not new:
            return f"{words}; nobody has joined them yet."
        names = listed([row.system for row in new])
        return f"{words}; {names} joined them, measured {_when(new)}."

    def drift_words(self) -> list[str]:
        """Say of each judge whether it still judges as it did."""
        return [drift_words(one) for one in self.found.judges]

    def line(self) -> str:
        """Say what was measured when, and whether the judges still judge alike."""
        return " ".join((self.measured_words(), *self.drift_words()))

    def brief(self) -> Sequence[str]:
        """Return the same for a terminal."""
        return [self.line()]

    def notices(self) -> Sequence[Notice]:
        """Warn of judges that have drifted, and of those whom nobody has asked again."""
        drifted = [one for one in self.found.judges if one.has_drifted]
        said = [Notice(Kind.DRIFTED, drift_words(one)) for one in drifted]
        is_joined = any(row.is_new and row.n_judgments for row in self.found.rows)
        unasked = [one.judge for one in self.found.judges if one.now is None]
        if is_joined and unasked:
            text = (
                f"Nobody has asked {listed(unasked)} again about old pairs, so whether old and new"
                " rows are on one scale is not known."
            )
            said.append(Notice(Kind.NOT_ASKED_AGAIN, text))
        return said

    def of_system(self, name: str) -> Iterator[tuple[str, str]]:
        """Say when a system was measured."""
        for row in self.found.rows:
            if row.system == name:
                yield "Measured", f"{_when([row])}, {'new' if row.is_new else 'of the release'}"

    def records(self, table: str) -> Records:
        """Return a row for each system."""
        del table
        return self.found.rows


def drift_words(found: JudgeDrift) -> str:
    """Say how many of its old verdicts a judge changes now, beside what it changed then."""
    now, then = found.now, found.then
    if now is None:
        return f"{found.judge} was not asked again about old pairs."
    ends = f"95{NO_BREAK_SPACE}% interval {whole_percent(now.low)}\N{EN DASH}{_percent(now.high)}"
    words = f"{found.judge} changes {now.n_changed} of {plural(now.n_pairs, 'old verdict')}"
    words += f" ({_percent(now.share)}, {ends})"
    if then is None:
        return f"{words}; it was not asked again when the board was made."
    words += f"; asked again when the board was made it changed {_percent(then.share)}"
    if found.has_drifted:
        return f"{words}: it judges otherwise now, so old and new rows are not on one scale."
    return f"{words}: it does not surely judge otherwise."


def _percent(share: float) -> str:
    return f"{whole_percent(share)}{NO_BREAK_SPACE}%"


def _when(rows: Iterable[MeasuredRow]) -> str:
    days = sorted(day for row in rows for day in (row.first, row.last) if day is not None)
    if not days:
        return "on no day yet"
    return f"on {days[0]}" if days[0] == days[-1] else f"from {days[0]} to {days[-1]}"
