"""One table as LaTeX with booktabs, in parts one below the other where it is wider than a page."""

from collections.abc import Sequence

from hearteval.report.table import Bar, Column, Table, text_of
from hearteval.report.text import printable

PAGE = 100
"""Characters across a page of 6.5 inches, with the room between columns as `GAP` each."""
GAP = 2.5
WIDEST = 40
"""Characters of a column; longer ones are broken into lines."""

_TEX = {
    "\\": r"\textbackslash{}",
    **{sign: rf"\{sign}" for sign in "&%$#_{}"},
    "[": "{[}",  # after the end of a row it would begin an argument
    "]": "{]}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "\N{NO-BREAK SPACE}": "~",
    "\N{THIN SPACE}": r"\,",
    "\N{MINUS SIGN}": r"$-$",
    "\N{PLUS-MINUS SIGN}": r"$\pm$",
    "\N{NOT EQUAL TO}": r"$\neq$",
    "\N{EN DASH}": "--",
    "\N{MIDDLE DOT}": r"$\cdot$",
}
TEX_DIGITS = 4
"""Significant digits of a number that no table has written as text."""
TEX_WHOLE = 1_000
"""From here on numbers are whole."""


def _tex(text: str) -> str:
    return "".join(_TEX.get(character, character) for character in printable(text))


def _is_words(column: Column, cells: Sequence[object]) -> bool:
    return column.kind in ("name", "text") or any(
        isinstance(cell, str) and not any(character.isdigit() for character in cell)
        for cell in cells
    )


def _shown(cell: object) -> str:
    if cell is None or cell == "":
        return "--"
    if isinstance(cell, float):
        return f"{cell:.0f}" if abs(cell) >= TEX_WHOLE else f"{cell:.{TEX_DIGITS}g}"
    return cell.label if isinstance(cell, Bar) else text_of(cell)


def latex(table: Table, label: str) -> str:
    """Write a table of LaTeX; numbers are rounded, a cell of None is a dash.

    Where it is too wide, each part repeats the columns that say what a row is.
    """
    caption = (
        [rf"\caption{{{_tex(table.caption[0].upper() + table.caption[1:])}}}"]
        if table.caption
        else []
    )
    notes = [rf"\par\footnotesize {_tex(note)}" for note in table.notes]
    parts = [_tabular(table, places) for places in _parts(table)]
    lines = [
        "% needs \\usepackage{booktabs}",
        r"\begin{table}",
        r"\centering\small",
        *caption,
        rf"\label{{tab:{label}}}",
        *parts[0],
        *(line for part in parts[1:] for line in (r"\par\medskip", *part)),
        *notes,
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _tabular(table: Table, places: Sequence[int]) -> list[str]:
    """Write some of the columns."""
    spec = "".join(_spec(table.columns[k], _cells(table, k)) for k in places)
    heads = " & ".join(_tex(table.columns[k].heading) for k in places)
    rows = [" & ".join(_tex(_shown(row[k])) for k in places) + r" \\" for row in table.rows]
    return [
        rf"\begin{{tabular}}{{{spec}}}",
        r"\toprule",
        rf"{heads} \\",
        r"\midrule",
        *rows,
        r"\bottomrule",
        r"\end{tabular}",
    ]


def _parts(table: Table) -> list[list[int]]:
    """Return the places of the columns of each part."""
    n = len(table.columns)
    widths = [GAP + min(_longest(table.columns[k], _cells(table, k)), WIDEST) for k in range(n)]
    if sum(widths) <= PAGE:
        return [list(range(n))]
    said = [_is_words(table.columns[k], _cells(table, k)) for k in range(n)]
    n_keys = 1
    while n_keys < n and said[n_keys] and sum(widths[: n_keys + 1]) <= PAGE / 2:
        n_keys += 1
    keys = list(range(n_keys))
    parts = [list(keys)]
    for k in range(n_keys, n):
        if len(parts[-1]) > n_keys and sum(widths[j] for j in (*parts[-1], k)) > PAGE:
            parts.append(list(keys))
        parts[-1].append(k)
    return parts


def _cells(table: Table, place: int) -> list[object]:
    return [row[place] for row in table.rows]


def _longest(column: Column, cells: Sequence[object]) -> int:
    return max(map(len, (column.heading, *map(_shown, cells))))


def _spec(column: Column, cells: Sequence[object]) -> str:
    if _longest(column, cells) > WIDEST:
        return rf"p{{{WIDEST / PAGE:.2f}\linewidth}}"
    return "l" if _is_words(column, cells) else "r"
