"""One table, made of cells and rendered last: as text, as HTML for notebooks and pages, as CSV.

Builders say what stands in the cells; here it is laid out. A page's tables are rendered by the
macro in `table.html.j2`; those that carry figures have templates of their own.
"""

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Literal, NamedTuple, TypeVar

from hearteval.domain.systems import SIMULATED
from hearteval.report.figures import Scale, round_ticks
from hearteval.report.text import (
    MIN_WIDTH,
    WIDTH,
    aligned,
    count,
    display_width,
    html_text,
    printable,
    shortened_names,
    tick,
    wrapped,
)

MIN_NAME, FAIR_NAME = 8, 16
"""Narrowest name; and the name for which other columns go."""
MIN_BAR_CELLS, MAX_BAR_CELLS = 9, 25
LINE, DOT = "\N{BOX DRAWINGS LIGHT HORIZONTAL}", "\N{BLACK CIRCLE}"
CENTRE = "\N{BOX DRAWINGS LIGHT QUADRUPLE DASH VERTICAL}"
BAR_WIDTH, BAR_HEIGHT = 160, 14

Row = TypeVar("Row")


class Bar(NamedTuple):
    """An estimate on the scale of its column, with its interval if it has one."""

    low: float | None
    at: float
    high: float | None
    label: str


class Cell(NamedTuple):
    """Text that a page sorts by something else."""

    text: str
    value: object


def counted(n: int) -> Cell:
    """Return a count that a page sorts by the number."""
    return Cell(count(n), n)


class Column(NamedTuple):
    """A column: its heading and how its cells are laid out.

    A name is cut where a line of text would be too long. A remark is a column in HTML and a line
    below the table in text.
    """

    heading: str
    kind: Literal["num", "name", "text", "bar", "remark"] = "num"
    short: str = ""
    """Heading in text, where it is another."""
    tip: str = ""
    """What a page says of the heading when pointed at."""
    is_sortable: bool = False
    in_text: bool = True
    can_go: bool = False
    """Whether text leaves it out where there is no room; the last such column goes first."""
    max_width: int = WIDTH
    """Of a name, in text."""
    centre: float | None = None
    """Of bars: a value that text marks by a line; round values around it stand below the column."""

    @property
    def text_heading(self) -> str:
        """Return the heading in text."""
        return printable(self.short or self.heading)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Columns and rows of cells: text, a `Cell` or a `Bar`; for CSV, any value."""

    columns: tuple[Column, ...]
    rows: Sequence[Sequence[object]]
    caption: str = ""
    notes: tuple[str, ...] = ()
    """Lines below it; a page's tables have none."""
    too_wide: str = ""
    """Said in its place where it would be wider than the room; empty for one that stays."""

    def text(self, width: int = WIDTH) -> str:
        """Write aligned text, at most so wide as far as bars and names can give way."""
        limit = max(width, MIN_WIDTH)
        places = [k for k, column in enumerate(self.columns) if column.in_text]
        cells = {k: [row[k] for row in self.rows] for k in places}
        places = _places_that_fit(self.columns, cells, limit)
        columns = [self.columns[k] for k in places]
        name_width, n_cells, gap = _share_room(columns, [cells[k] for k in places], limit)
        if not n_cells:
            places = [k for k in places if self.columns[k].kind != "bar"]
        shown = [
            _column_text(self.columns[k], cells[k], name_width=name_width, n_cells=n_cells)
            for k in places
        ]
        height = max(map(len, shown))
        left = [k for k, place in enumerate(places) if self.columns[place].kind != "num"]
        filled = [[*texts, *[""] * (height - len(texts))] for texts in shown]
        body = aligned(list(zip(*filled, strict=True)), left=left, gap=gap)
        if self.too_wide and max(map(display_width, body.splitlines())) > limit:
            return wrapped(self.too_wide, width)
        remarks = [k for k, column in enumerate(self.columns) if column.kind == "remark"]
        said = [f"{row[0]}: {row[k]}." for row in self.rows for k in remarks if row[k]]
        notes = "\n".join(wrapped(note, width) for note in (*said, *self.notes))
        return "\n\n".join(filter(None, (wrapped(self.caption, width), body, notes)))

    def html(self) -> str:
        """Write a plain HTML table, for a notebook."""
        caption = f"<caption>{escape(self.caption)}</caption>" if self.caption else ""
        heads = "".join(f"<th>{html_text(column.heading)}</th>" for column in self.columns)
        scales = [_scale(cells, 4, BAR_WIDTH - 4) for cells in zip(*self.rows, strict=True)]
        rows = "".join(
            "<tr>"
            + "".join(
                f"<td>{_drawn(cell, scale)}</td>" for cell, scale in zip(row, scales, strict=True)
            )
            + "</tr>"
            for row in self.rows
        )
        table = f"<table>{caption}<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
        return table + _paragraphs(self.notes)

    def csv(self) -> str:
        """Write values in full under their headings; a cell of None is empty.

        Text that a spreadsheet would run as a formula begins with an apostrophe.
        """
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(column.heading for column in self.columns)
        writer.writerows([_no_formula(cell) for cell in row] for row in self.rows)
        return out.getvalue()


def mark_simulated(table: Table) -> Table:
    """Return a table whose first column says of every row that it is simulated."""
    rows = [("true", *row) for row in table.rows]
    return replace(table, columns=(Column(SIMULATED), *table.columns), rows=rows)


def _no_formula(cell: object) -> object:
    is_one = isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r"))
    return f"'{cell}" if is_one else cell


def tabulate(
    rows: Iterable[Row],
    columns: Iterable[tuple[str | Column, Callable[[Row], object]]],
    *,
    caption: str = "",
    notes: Iterable[str] = (),
) -> Table:
    """Return a table with a line for each row, each column being a heading and what makes its cell.

    A bare heading is one of numbers. Of the notes below the table empty ones are left out.
    """
    pairs = [(Column(head) if isinstance(head, str) else head, cell) for head, cell in columns]
    return Table(
        columns=tuple(column for column, _ in pairs),
        rows=[[cell(row) for _, cell in pairs] for row in rows],
        caption=caption,
        notes=tuple(filter(None, notes)),
    )


@dataclass(frozen=True, slots=True)
class Display:
    """What a result shows where it is displayed, from top to bottom: tables and lines between."""

    parts: tuple[Table | tuple[str, ...], ...]

    def text(self, width: int = WIDTH) -> str:
        """Write text for a terminal, a blank line between the parts."""
        texts = [
            part.text(width)
            if isinstance(part, Table)
            else "\n".join(wrapped(line, width) for line in part)
            for part in self.parts
        ]
        return "\n\n".join(filter(None, texts))

    def naming(self, study_file: str) -> "Display":
        """Return the same with the study's file, as a shell takes it, in the commands of lines."""
        named = (
            part
            if isinstance(part, Table)
            else tuple(line.replace("STUDY.toml", study_file) for line in part)
            for part in self.parts
        )
        return Display(tuple(named))

    def html(self) -> str:
        """Write HTML for a notebook."""
        return "".join(
            part.html() if isinstance(part, Table) else _paragraphs(part) for part in self.parts
        )


def _paragraphs(lines: Sequence[str]) -> str:
    return "".join(f"<p>{html_text(line)}</p>" for line in lines)


def _drawn(cell: object, scale: Scale) -> str:
    return _svg(cell, scale) if isinstance(cell, Bar) else html_text(text_of(cell))


def text_of(cell: object) -> str:
    """Return what stands in a cell."""
    return printable(cell.text if isinstance(cell, Cell) else str(cell))


def _column_text(
    column: Column, cells: Sequence[object], *, name_width: int, n_cells: int
) -> list[str]:
    """Return the heading of a column and its cells, under bars their ticks."""
    if column.kind == "bar":
        ticks = [] if column.centre is None else [_ticks_below(cells, n_cells, column.centre)]
        return [column.text_heading, *_drawn_bars(cells, n_cells, column.centre), *ticks]
    texts = list(map(text_of, cells))
    return [
        column.text_heading,
        *(shortened_names(texts, name_width) if column.kind == "name" else texts),
    ]


def _width(column: Column, cells: Sequence[object]) -> int:
    """Return the widest of a column: a bar as narrow as it may be, a name not cut."""
    if column.kind == "bar":
        return max(MIN_BAR_CELLS, display_width(column.text_heading))
    width = max(map(display_width, [column.text_heading, *map(text_of, cells)]))
    return min(width, column.max_width) if column.kind == "name" else width


def _places_that_fit(
    columns: Sequence[Column], cells: Mapping[int, Sequence[object]], limit: int
) -> list[int]:
    """Leave out columns that can go, the last first, until the others have room without bars."""
    places = list(cells)
    while True:
        widths = {k: _width(columns[k], cells[k]) for k in places if columns[k].kind != "bar"}
        least = [min(w, FAIR_NAME) if columns[k].kind == "name" else w for k, w in widths.items()]
        can_go = [k for k in places if columns[k].can_go]
        if not can_go or sum(least) + len(least) - 1 <= limit:
            return places
        places.remove(can_go[-1])


def _share_room(
    columns: Sequence[Column], cells: Sequence[Sequence[object]], limit: int
) -> tuple[int, int, int]:
    """Return the width of a name, of a bar, and of the gap between columns.

    Beside the other columns bars give way first, then gaps, then names, then bars altogether.
    """
    widths = [_width(column, below) for column, below in zip(columns, cells, strict=True)]
    by_kind = list(zip((column.kind for column in columns), widths, strict=True))
    longest = sum(width for kind, width in by_kind if kind == "name")
    least = sum(width for kind, width in by_kind if kind == "bar")
    fixed = sum(widths) - longest - least
    n_gaps = len(columns) - 1
    if least:
        for gap in (2, 1):
            room = limit - fixed - gap * n_gaps
            if room >= min(longest, FAIR_NAME) + least:
                n_cells = min(max(room - longest, least), MAX_BAR_CELLS)
                return min(longest, room - n_cells), n_cells, gap
        n_gaps -= 1
    gap = 2 if longest <= limit - fixed - 2 * n_gaps else 1
    return max(min(longest, limit - fixed - gap * n_gaps), MIN_NAME), 0, gap


def _scale(cells: Sequence[object], start: float, end: float, centre: float | None = None) -> Scale:
    """Return the scale that the bars of a column share, and the centre with them."""
    bars = [cell for cell in cells if isinstance(cell, Bar)]
    middle = [] if centre is None or not bars else [centre]
    low = min((*middle, *(bar.at if bar.low is None else bar.low for bar in bars)), default=0.0)
    high = max((*middle, *(bar.at if bar.high is None else bar.high for bar in bars)), default=0.0)
    low, high = (low, high) if high > low else (low - 1, high + 1)
    return Scale(low=low, high=high, start=start, end=end, ticks=())


def _drawn_bars(bars: Sequence[object], n_cells: int, centre: float | None) -> list[str]:
    """Draw bars in characters; without room, nothing."""
    scale = _scale(bars, 0, n_cells - 1, centre)
    drawn = []
    for bar in bars:
        cells = [" "] * n_cells
        if n_cells and isinstance(bar, Bar):
            if centre is not None:
                cells[round(scale.place(centre))] = CENTRE
            if bar.low is not None and bar.high is not None:
                start, end = round(scale.place(bar.low)), round(scale.place(bar.high)) + 1
                cells[start:end] = LINE * (end - start)
            cells[round(scale.place(bar.at))] = DOT
        drawn.append("".join(cells))
    return drawn


def _ticks_below(bars: Sequence[object], n_cells: int, centre: float) -> str:
    """Write the centre and round values around it where they belong, as far as they fit."""
    scale = _scale(bars, 0, n_cells - 1, centre)
    values = [
        centre + gap for gap in round_ticks(scale.low - centre, scale.high - centre, n_most=4)
    ]
    line = [" "] * n_cells
    for value in sorted(values, key=lambda value: abs(value - centre)):
        label = tick(value)
        start = round(scale.place(value)) - len(label) // 2
        start = min(max(start, 0), n_cells - len(label))
        around = line[max(start - 1, 0) : start + len(label) + 1]
        if start >= 0 and not "".join(around).strip():
            line[start : start + len(label)] = label
    return "".join(line)


def _svg(bar: Bar, scale: Scale) -> str:
    line = ""
    if bar.low is not None and bar.high is not None:
        x1, x2 = round(scale.place(bar.low), 1), round(scale.place(bar.high), 1)
        line = (
            f'<line x1="{x1}" x2="{x2}" y1="7" y2="7" stroke="currentColor" stroke-width="2"'
            ' opacity=".5"/>'
        )
    return (
        f'<svg width="{BAR_WIDTH}" height="{BAR_HEIGHT}" role="img"'
        f' aria-label="{escape(bar.label)}">{line}<circle cx="{round(scale.place(bar.at), 1)}"'
        ' cy="7" r="4" fill="currentColor"/></svg>'
    )
