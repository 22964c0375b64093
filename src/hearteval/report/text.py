"""How text and numbers are written, once for the page and the terminal.

Lines for terminals have at most 80 columns, and nothing in them that a terminal would obey.
Strengths are whole Elo, or one decimal in the detailed tables; shares are percent with one decimal.
What returns a bare number says so.
"""

import re
import textwrap
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from itertools import starmap

from hearteval.notices import Notice

WIDTH = 80
MIN_WIDTH = 40
"""What is narrower is left to the terminal to wrap."""
NO_BREAK_SPACE = "\N{NO-BREAK SPACE}"
MINUS = "\N{MINUS SIGN}"
FEWEST_ITEMS = 5
"""Under which no figure is shown."""
TOO_FEW = "too few items"
NO_VALUE = "\N{EN DASH}"
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
MINE = "\N{BLACK RIGHT-POINTING SMALL TRIANGLE}\N{NO-BREAK SPACE}"
"""What stands before one's own system."""
SERIOUS, ASIDE = "!", "\N{MIDDLE DOT}"
"""What stands before a notice."""
_UNPRINTABLE = "\N{REPLACEMENT CHARACTER}"
_SECOND_COLUMN = "\0"
"""Stands after a character that takes two columns while text is wrapped; no text holds it then."""


def wrapped(text: str, width: int = WIDTH, *, indent: str = "  ", breaks_words: bool = True) -> str:
    """Wrap a paragraph, further lines indented; what a no-break space joins stays together."""
    kept = NO_BREAK_SPACE.join(map(printable, text.split(NO_BREAK_SPACE)))
    spaced = "".join(c + _SECOND_COLUMN * (_columns(c) - 1) for c in kept)
    room = max(width, MIN_WIDTH) - (_SECOND_COLUMN in spaced)  # a line may begin with a second one
    lines = textwrap.fill(
        spaced,
        room,
        subsequent_indent=indent,
        break_on_hyphens=False,
        break_long_words=breaks_words,
    )
    return lines.replace(_SECOND_COLUMN, "").replace(NO_BREAK_SPACE, " ")


_WHOLE = re.compile(r"`[^`]+`|(?:^|(?<=: )|(?<=  ))heart(?: [^\s;,]+)+")
"""What is copied from a sentence: a quoted text, a command after a colon or in a column."""


def fitted(text: str, width: int = WIDTH, *, indent: str = "  ") -> str:
    """Fold lines that are too long, each under its own beginning; paths and commands stay whole."""
    return "\n".join(
        line if display_width(line) <= width else _folded(line, width, indent)
        for line in text.split("\n")
    )


def _folded(line: str, width: int, indent: str) -> str:
    own = line[: len(line) - len(line.lstrip())]
    kept = _WHOLE.sub(lambda found: found[0].replace(" ", NO_BREAK_SPACE), line)
    return wrapped(kept, width, indent=own + indent, breaks_words=False)


def printable(text: str) -> str:
    """Replace characters that a terminal would obey; narrow the spaces that do not break."""
    if text.isprintable():
        return text
    plain = text.replace("\N{NO-BREAK SPACE}", " ")
    return "".join(c if c.isprintable() else _UNPRINTABLE for c in plain)


def html_text(text: str) -> str:
    """Write text for a page, without what a terminal would obey where the page is copied."""
    return escape(printable(text))


def display_width(text: str) -> int:
    """Return the columns of a terminal that a text takes: two for a wide character."""
    return len(text) if text.isascii() else sum(map(_columns, text))


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


def aligned(rows: Sequence[Sequence[str]], *, left: Sequence[int], gap: int = 2) -> str:
    """Align rows of cells in columns, to the right but for the columns named."""
    widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]

    def padded(place: int, cell: str) -> str:
        room = " " * (widths[place] - display_width(cell))
        return cell + room if place in left else room + cell

    lines = ((" " * gap).join(starmap(padded, enumerate(row))) for row in rows)
    return "\n".join(map(str.rstrip, lines))


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


def count(n: int) -> str:
    """Write a count with commas between thousands."""
    return f"{n:,}"


def whole(value: float | None) -> str:
    """Write a strength as a whole number, or a dash where there is none."""
    return NO_VALUE if value is None else f"{value:.0f}"


def decimal(value: float | None) -> str:
    """Write a strength with one decimal, or a dash where there is none."""
    return NO_VALUE if value is None else f"{value:.1f}"


def small(value: float | None) -> str:
    """Write a log-strength or a coefficient with three decimals, or a dash where there is none."""
    return NO_VALUE if value is None else f"{value:.3f}".replace("-", MINUS)


def q_words(q: float | None) -> str:
    """Return a q-value, or a dash where there is none."""
    if q is None:
        return NO_VALUE
    return "< .001" if q < 0.001 else small(q).lstrip("0")


def hundredths(value: float) -> str:
    """Write a ratio such as a discrimination with two decimals."""
    return f"{value:.2f}".replace("-", MINUS)


def tick(value: float) -> str:
    """Write a value of a scale without needless decimals."""
    return f"{value:g}".replace("-", MINUS)


def pixels(value: float) -> str:
    """Write a coordinate with one decimal at most."""
    return f"{value:.1f}".removesuffix(".0")


def signed(value: float, n_decimals: int = 0) -> str:
    """Write a difference with its sign, or zero without one."""
    text = f"{value:+.{n_decimals}f}"
    return text.replace("-", MINUS) if text.strip("+-0.") else text[1:]


def signed_hundredths(value: float | None) -> str:
    """Write a z-score with its sign and two decimals, or a dash where there is none."""
    return NO_VALUE if value is None else signed(value, 2)


def points(difference: float) -> str:
    """Write a difference of shares in percentage points, with its sign, without the unit."""
    return signed(100 * difference, 1)


def ranks(low: int, high: int) -> str:
    """Write the ranks that are left open, from the best to the worst."""
    return str(low) if low == high else f"{low}{NO_VALUE}{high}"


def interval(
    low: float | None, high: float | None, *, write: Callable[[float], str] = whole
) -> str:
    """Write interval ends in brackets, or a dash where there are none."""
    return NO_VALUE if low is None or high is None else f"[{write(low)}, {write(high)}]"


def fine_interval(low: float | None, high: float | None) -> str:
    """Write interval ends with two decimals."""
    return interval(low, high, write=hundredths)


def bare_percent(share: float) -> str:
    """Write a share of 1 as percent with one decimal, without the sign (a heading names it)."""
    return f"{100 * share:.1f}"


def whole_percent(share: float) -> str:
    """Write a share of 1 as whole percent, without the sign (a heading names it)."""
    return f"{100 * share:.0f}"


def percent(share: float) -> str:
    """Write a share of 1 as percent with one decimal and the sign."""
    return f"{bare_percent(share)}{NO_BREAK_SPACE}%"


def level_percent(level: float) -> str:
    """Write a nominal level such as .95 without needless decimals."""
    return f"{100 * level:.4g}{NO_BREAK_SPACE}%"


def plural(n: int, one: str, many: str | None = None) -> str:
    """Write a count with its noun."""
    return f"{count(n)}{NO_BREAK_SPACE}{one if n == 1 else many or plural_of(one)}"


def plural_of(noun: str) -> str:
    """Return a regular noun's plural: replies of a reply."""
    return re.sub("(?<=[^aeiou])y$", "ie", noun) + "s"


def counts_words(**counts: int | None) -> str:
    """Write counts with their nouns, those that are known."""
    return ", ".join(plural(n, noun) for noun, n in counts.items() if n is not None)


def notice_line(notice: Notice) -> str:
    """Write a notice on a line of its own, a serious one marked."""
    return f"{SERIOUS if notice.kind.is_serious else ASIDE} {notice}"


def listed(names: Sequence[str]) -> str:
    """Write names as a list in a sentence."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def recorded_words(kinds: Mapping[str, str]) -> list[str]:
    """Say which systems, by name and kind, are the replies that the items came with."""
    names = [name for name, kind in kinds.items() if kind == "original"]
    return [f"{listed(names)}: the replies recorded in the items."] if names else []


def reasons(missing: Mapping[str, int]) -> str:
    """Write counts by reason, most frequent first, or a dash where nothing is missing."""
    ordered = sorted(missing.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count(n)}{NO_BREAK_SPACE}{why}" for why, n in ordered if n) or NO_VALUE


def probability(name: str, value: float) -> str:
    """Write a p or a q after its name."""
    return f"{name} < .001" if value < 0.001 else f"{name} = {value:.3f}".replace("0.", ".", 1)
