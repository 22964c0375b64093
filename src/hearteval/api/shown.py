"""What every result of the Python interface does where it is looked at or passed on."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, ClassVar, cast

import narwhals.stable.v2 as nw

from hearteval.domain.systems import SIMULATED
from hearteval.errors import first_few
from hearteval.exchange.tables.frames import make_frame
from hearteval.notices import simulated_line
from hearteval.report.table import Display, Table
from hearteval.report.text import WIDTH, html_text, printable, shortened, wrapped

SHORT_COLUMNS = ("elo_adjusted", "elo_weighted", "elo", "mean", "value", "win_rate")
MAX_SHORT, MAX_SHORT_NAME = 3, 40
"""Of the main table, what the short form of a result holds."""


class Shown(ABC):
    """What every result does: become an object for JSON, a dataframe, and a table to look at."""

    __slots__ = ()
    schema: ClassVar[str]
    frame: nw.Implementation

    def to_dict(self) -> dict[str, Any]:
        """Return everything as what JSON can write."""
        values = asdict(cast("Any", self))
        del values["frame"]
        said = {SIMULATED: True} if self.is_simulated else {}
        return {"schema": self.schema, **said, **values}

    def to_frame(self) -> Any:
        """Return the rows of the main table as a dataframe: of the input's kind, if it was one."""
        return make_frame(self._rows(), self.frame)

    def to_text(self, width: int = WIDTH) -> str:
        """Return what is shown as text, at most so many columns wide."""
        first = (wrapped(words, width, indent="") for words in self._first_line())
        return "\n\n".join((*first, self._display().text(width)))

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        short = [words for row in self._rows() for words in _short(row)]
        return f"<{type(self).__name__}: {first_few(short, MAX_SHORT)}; print it for the table>"

    def _repr_html_(self) -> str:
        first = "".join(f"<p><b>{html_text(words)}</b></p>" for words in self._first_line())
        return first + self._display().html()

    @property
    def is_simulated(self) -> bool:
        """Whether it rests on data that `heart simulate` made."""
        return bool(self._simulated_line())

    def _first_line(self) -> tuple[str, ...]:
        return self._simulated_line()

    def _simulated_line(self) -> tuple[str, ...]:
        return simulated_line(getattr(self, "warnings", ()))

    def _rows(self) -> Sequence[Mapping[str, Any]]:
        rows: Sequence[Mapping[str, Any]] = self.to_dict()["systems"]
        return rows

    @abstractmethod
    def _display(self) -> Table | Display:
        """Return what is shown."""


def _short(row: Mapping[str, Any]) -> list[str]:
    """Write the name and the first figure of a row; nothing where it has none."""
    figures = [row[name] for name in SHORT_COLUMNS if row.get(name) is not None]
    name = shortened(printable(str(next(iter(row.values())))), MAX_SHORT_NAME)
    return [f"{name} {figures[0]:.4g}"] if figures else []
