"""Text for terminals: at most 100 columns, and nothing in it that a terminal would obey."""

import textwrap
from collections.abc import Sequence

WIDTH = 100
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
_UNPRINTABLE = "\N{REPLACEMENT CHARACTER}"


def wrapped(text: str) -> str:
    """Wrap a paragraph, further lines indented."""
    return textwrap.fill(printable(text), WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def printable(text: str) -> str:
    """Replace characters that a terminal would obey; narrow the spaces that do not break."""
    plain = text.replace("\N{NO-BREAK SPACE}", " ")
    return "".join(c if c.isprintable() else _UNPRINTABLE for c in plain)


def shortened(text: str, width: int) -> str:
    """Cut a name to a width, showing that it was cut."""
    return text if len(text) <= width else text[: width - 1] + ELLIPSIS


def aligned(rows: Sequence[Sequence[str]], *, left: Sequence[int]) -> str:
    """Align rows of cells in columns, to the right but for the columns named."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) if i in left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join(lines)
