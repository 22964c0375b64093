"""One table, made of cells and rendered last: as text, as HTML for notebooks and pages, as CSV.

Builders say what stands in the cells; here it is laid out. A page's tables are rendered by the
macro in `table.html.j2`; those that carry figures have templates of their own.
"""

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal, NamedTuple, TypeVar

from hearteval.report.figures import Scale
from hearteval.report.text import (
    WIDTH,
    aligned,
    count,
    display_width,
    html_text,
    printable,
    shortened_names,
    wrapped,
)

MIN_NAME = 8
MIN_BAR_CELLS, MAX_BAR_CELLS = 9, 25
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
    max_width: int = WIDTH
    """Of a name, in text."""

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

    def text(self) -> str:
        """Write aligned text, at most 100 columns wide as far as bars and names can give way."""
        places = [k for k, column in enumerate(self.columns) if column.in_text]
        columns = [self.columns[k] for k in places]
        cells = [[row[k] for row in self.rows] for k in places]
        name_width, n_cells, gap = _share_room(columns, cells)
        shown = []
        for column, below in zip(columns, cells, strict=True):
            if column.kind == "bar":
                texts = _drawn_bars(below, n_cells)
            elif column.kind == "name":
                texts = shortened_names(list(map(_text, below)), name_width)
            else:
                texts = list(map(_text, below))
            shown.append([column.text_heading, *texts])
        left = [k for k, column in enumerate(columns) if column.kind != "num"]
        body = aligned(list(zip(*shown, strict=True)), left=left, gap=gap)
        remarks = [k for k, column in enumerate(self.columns) if column.kind == "remark"]
        said = [f"{row[0]}: {row[k]}." for row in self.rows for k in remarks if row[k]]
        notes = "\n".join(map(wrapped, [*said, *self.notes]))
        return "\n\n".join(filter(None, (wrapped(self.caption), body, notes)))

    def html(self) -> str:
        """Write a plain HTML table, for a notebook."""
        caption = f"<caption>{escape(self.caption)}</caption>" if self.caption else ""
        heads = "".join(f"<th>{html_text(column.heading)}</th>" for column in self.columns)
        scales = [_scale(cells, 4, BAR_WIDTH - 4) for cells in zip(*self.rows, strict=True)]
        rows = "".join(
            "<tr>"
            + "".join(
                f"<td>{_svg(cell, scale) if isinstance(cell, Bar) else html_text(_text(cell))}</td>"
                for cell, scale in zip(row, scales, strict=True)
            )
            + "</tr>"
            for row in self.rows
        )
        table = f"<table>{caption}<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
        return table + _paragraphs(self.notes)

    def csv(self) -> str:
        """Write values in full under their headings; a cell of None is empty."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(column.heading for column in self.columns)
        writer.writerows(self.rows)
        return out.getvalue()


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

    def text(self) -> str:
        """Write text for a terminal, a blank line between the parts."""
        texts = [
            part.text() if isinstance(part, Table) else "\n".join(map(wrapped, part))
            for part in self.parts
        ]
        return "\n\n".join(filter(None, texts))

    def html(self) -> str:
        """Write HTML for a notebook."""
        return "".join(
            part.html() if isinstance(part, Table) else _paragraphs(part) for part in self.parts
        )


def _paragraphs(lines: Sequence[str]) -> str:
    return "".join(f"<p>{html_text(line)}</p>" for line in lines)


def _text(cell: object) -> str:
    return printable(cell.text if isinstance(cell, Cell) else str(cell))


def _share_room(
    columns: Sequence[Column], cells: Sequence[Sequence[object]]
) -> tuple[int, int, int]:
    """Return the width of a name, of a bar, and of the gap between columns.

    Beside the other columns bars give way first, then gaps, then names.
    """
    fixed = longest = 0
    for column, below in zip(columns, cells, strict=True):
        width = max(map(display_width, [column.text_heading, *map(_text, below)]))
        if column.kind == "name":
            longest = min(width, column.max_width)
        elif column.kind != "bar":
            fixed += width
    n_gaps = len(columns) - 1
    room = WIDTH - fixed - 2 * n_gaps
    if any(column.kind == "bar" for column in columns):
        n_cells = min(max(room - longest, MIN_BAR_CELLS), MAX_BAR_CELLS)
        if room < MIN_NAME + n_cells:
            return max(room, MIN_NAME), 0, 2
        return room - n_cells, n_cells, 2
    gap = 2 if longest <= room else 1
    return max(min(longest, WIDTH - fixed - gap * n_gaps), MIN_NAME), 0, gap


def _scale(cells: Sequence[object], start: float, end: float) -> Scale:
    """Return the scale that the bars of a column share."""
    bars = [cell for cell in cells if isinstance(cell, Bar)]
    low = min((bar.at if bar.low is None else bar.low for bar in bars), default=0.0)
    high = max((bar.at if bar.high is None else bar.high for bar in bars), default=0.0)
    low, high = (low, high) if high > low else (low - 1, high + 1)
    return Scale(low=low, high=high, start=start, end=end, ticks=())


def _drawn_bars(bars: Sequence[object], n_cells: int) -> list[str]:
    """Draw bars in characters; without room, nothing."""
    scale = _scale(bars, 0, n_cells - 1)
    drawn = []
    for bar in bars:
        cells = [" "] * n_cells
        if n_cells and isinstance(bar, Bar):
            if bar.low is not None and bar.high is not None:
                start, end = round(scale.place(bar.low)), round(scale.place(bar.high)) + 1
                cells[start:end] = "\N{BOX DRAWINGS LIGHT HORIZONTAL}" * (end - start)
            cells[round(scale.place(bar.at))] = "\N{BLACK CIRCLE}"
        drawn.append("".join(cells))
    return drawn


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
