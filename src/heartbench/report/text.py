"""Text for terminals: at most 100 columns, and nothing in it that a terminal would obey."""

import textwrap
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape

WIDTH = 100
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
_UNPRINTABLE = "\N{REPLACEMENT CHARACTER}"
_SECOND_COLUMN = "\0"
"""Stands after a character that takes two columns while text is wrapped; no text holds it then."""


def wrapped(text: str) -> str:
    """Wrap a paragraph, further lines indented."""
    spaced = "".join(c + _SECOND_COLUMN * (_columns(c) - 1) for c in printable(text))
    width = WIDTH - (_SECOND_COLUMN in spaced)  # a line may begin with a second column
    lines = textwrap.fill(spaced, width, subsequent_indent="  ", break_on_hyphens=False)
    return lines.replace(_SECOND_COLUMN, "")


def printable(text: str) -> str:
    """Replace characters that a terminal would obey; narrow the spaces that do not break."""
    plain = text.replace("\N{NO-BREAK SPACE}", " ")
    return "".join(c if c.isprintable() else _UNPRINTABLE for c in plain)


def html_text(text: str) -> str:
    """Write text for a page, without what a terminal would obey where the page is copied."""
    return escape(printable(text))


def display_width(text: str) -> int:
    """Return the columns of a terminal that a text takes: two for a wide character."""
    return sum(map(_columns, text))


def shortened(text: str, width: int) -> str:
    """Cut a name to a width, showing that it was cut."""
    return text if display_width(text) <= width else _head(text, width - 1) + ELLIPSIS


def shortened_names(names: Sequence[str], width: int) -> list[str]:
    """Cut names to a width so that no two look the same.

    Those that would are cut in their middle instead, and numbered if that does not tell them apart.
    """
    plain = list(map(printable, names))
    at_end = [shortened(name, width) for name in plain]
    times = Counter(map(_look, at_end))
    shown: list[str] = []
    taken: set[str] = set()
    for name, cut in zip(plain, at_end, strict=True):
        best = cut if times[_look(cut)] == 1 else _cut_in_middle(name, width)
        unlike = next(each for each in _numbered(best, width) if _look(each) not in taken)
        taken.add(_look(unlike))
        shown.append(unlike)
    return shown


def aligned(rows: Sequence[Sequence[str]], *, left: Sequence[int]) -> str:
    """Align rows of cells in columns, to the right but for the columns named."""
    widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            cell + " " * (width - display_width(cell))
            if i in left
            else " " * (width - display_width(cell)) + cell
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join(lines)


def _columns(character: str) -> int:
    if unicodedata.category(character) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


def _head(text: str, width: int) -> str:
    """Return as much of the start of a text as fits."""
    end = total = 0
    for character in text:
        total += _columns(character)
        if total > width:
            break
        end += 1
    return text[:end]


def _cut_in_middle(text: str, width: int) -> str:
    if display_width(text) <= width:
        return text
    tail = _head(text[::-1], (width - 1) // 2)[::-1]
    return _head(text, width - 1 - display_width(tail)) + ELLIPSIS + tail


def _numbered(text: str, width: int) -> Iterable[str]:
    """Yield a text as it is, then with one number after another."""
    yield text
    number = 2
    while True:
        mark = f" #{number}"
        yield shortened(text, width - len(mark)).rstrip() + mark
        number += 1


def _look(text: str) -> str:
    """Return what is the same for texts that look the same on a page."""
    return " ".join(unicodedata.normalize("NFC", text).split())
