"""`he.check` and `he.compare_rankings`: printed tables of Elo against themselves and each other."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import narwhals.stable.v2 as nw

from hearteval.analysis.ranking.checks.published import (
    Concordance,
    SelfCheck,
    check_published,
)
from hearteval.analysis.ranking.checks.published import compare_rankings as measure_concordance
from hearteval.api.shown import Shown
from hearteval.api.votes import Ranking
from hearteval.domain import flat_fields
from hearteval.exchange.arguments import check_columns_named, check_level, read_number
from hearteval.exchange.published import as_shares, read_printed
from hearteval.exchange.tables import open_table
from hearteval.exchange.tables.frames import find_frame_kind
from hearteval.report.files.published import concordance_display, self_check_display
from hearteval.report.table import Display
from hearteval.report.text import plural

if TYPE_CHECKING:
    from hearteval.exchange.tables import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked(SelfCheck, Shown):
    """A printed table against itself; see `hearteval.analysis.ranking.checks.published`.

    Attributes:
        columns: Column by role.
        n_dropped: Rows left out, by reason.
        warnings: What may be wrong with the file.
    """

    schema: ClassVar = "heart.check/1"
    columns: Mapping[str, str]
    n_dropped: Mapping[str, int]
    warnings: tuple[str, ...]
    frame: nw.Implementation = field(repr=False)
    __repr__ = Shown.__repr__

    def _display(self) -> Display:
        display = self_check_display(self)
        n = sum(self.n_dropped.values())
        why = "; ".join(f"{reason}: {n_rows}" for reason, n_rows in self.n_dropped.items())
        left_out = (f"{plural(n, 'row')} left out ({why}).",) if n else ()
        return Display((*display.parts, (*left_out, *self.warnings)))


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRankings(Concordance, Shown):
    """Two rankings side by side; see `hearteval.analysis.ranking.checks.published`.

    Attributes:
        names: What the two are called.
    """

    schema: ClassVar = "heart.rankings/1"
    names: tuple[str, str]
    frame: nw.Implementation = field(repr=False)
    __repr__ = Shown.__repr__

    def _rows(self) -> Sequence[Mapping[str, Any]]:
        return [asdict(move) for move in self.moves]

    def _display(self) -> Display:
        return concordance_display(self, *self.names)


def check(
    table: "Source",
    *,
    system: str | None = None,
    elo: str | None = None,
    win_rate: str | None = None,
    tolerance: float = 0.01,
) -> Checked:
    """Check whether the win rates of a printed table are those that its Elo imply.

    Every system is taken to have met every other equally often.

    Args:
        table: Path of a CSV, JSONL or Parquet file, any dataframe, or a list of dictionaries; a
            row is a system.
        system: Column of their names; found by its own name if it has a usual one.
        elo: Column of Elo; likewise.
        win_rate: Column of win rates, shares or percent; likewise.
        tolerance: Largest gap, as a share, with which the table still agrees with itself.

    Raises:
        InvalidVotesError: A row cannot be read, or names a system again.
        SettingsError: A column is missing, or cannot be told.
        TypeError: An argument is of a wrong kind.
    """
    named = {"system": system, "elo": elo, "win_rate": win_rate}
    check_columns_named(named, optional=tuple(named))
    read = read_printed(open_table(table), named)
    shares = as_shares(read.numbers["win_rate"])
    allowed = read_number("tolerance", tolerance)
    if not 0 <= allowed <= 1:
        raise ValueError(f"tolerance is a share from 0 to 1, not {tolerance!r}")
    found = check_published(read.numbers["elo"], shares, tolerance=allowed)
    return Checked(
        **flat_fields(found),
        columns=read.columns,
        n_dropped=read.n_dropped,
        warnings=read.warnings,
        frame=find_frame_kind(table),
    )


def compare_rankings(
    first: "Ranking | Mapping[str, float] | Source",
    second: "Ranking | Mapping[str, float] | Source",
    *,
    system: str | None = None,
    elo: str | None = None,
    second_elo: str | None = None,
    level: float = 0.95,
) -> ComparedRankings:
    """Compare two rankings: Lin's concordance, Spearman's rho, Kendall's tau-b, who moves.

    Args:
        first: A ranking of `rank`, numbers by system, or a table with a row for each system.
        second: The other; the same table with another `second_elo` for two in one.
        system: Column of the names in a table; found by its own name if it has a usual one.
        elo: Column of the numbers; likewise.
        second_elo: The same in the second table; `elo` by default.
        level: Nominal coverage of the intervals.

    Raises:
        InvalidVotesError: A row cannot be read, or the two share under two systems.
        SettingsError: A column is missing, or cannot be told.
        TypeError: An argument is of a wrong kind.
    """
    rankings = [
        _numbers(first, system=system, elo=elo),
        _numbers(second, system=system, elo=second_elo or elo),
    ]
    found = measure_concordance(*(numbers for _, numbers in rankings), level=check_level(level))
    names = (rankings[0][0] or "the first", rankings[1][0] or "the second")
    if names[0] == names[1]:
        names = (elo or "the first", second_elo or "the second")
    return ComparedRankings(**flat_fields(found), names=names, frame=find_frame_kind(None))


def _numbers(
    source: "Ranking | Mapping[str, float] | Source",
    *,
    system: str | None,
    elo: str | None,
) -> tuple[str, Mapping[str, float]]:
    if isinstance(source, Ranking):
        return "", {row.system: row.elo for row in source.systems}
    if isinstance(source, Mapping):
        return "", {str(name): read_number(str(name), value) for name, value in source.items()}
    named = {"system": system, "elo": elo}
    check_columns_named(named, optional=tuple(named))
    name = Path(source).name if isinstance(source, str | Path) else ""
    return name, read_printed(open_table(source), named).numbers["elo"]
