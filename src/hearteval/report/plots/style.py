"""One style for all figures: sizes, colours and marks.

Colours are those of Okabe and Ito (2008), which colour-blind readers tell apart, and one scale that
runs from orange over white to blue. Nothing is told by colour alone.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Final, NamedTuple

from hearteval.report.figures import HEAT_HIGH, HEAT_LOW, heat_colours
from hearteval.report.text import printable, shortened_names

COLUMN_INCHES: Final = 3.35
"""One column of a two-column page."""
PAGE_INCHES: Final = 6.9
BLUE, ORANGE, GREEN, GREY = "#0072b2", "#d55e00", "#009e73", "#767676"
COLOURS: Final = (BLUE, ORANGE, GREEN, GREY)
MARKS: Final = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">")
MAX_NAME = 26
SHORT_NAME = 16
MOST_IN_A_COLUMN = 9
"""Systems in a matrix of every two, one column wide, in letters of the usual size."""
PALE = 0.3
SETTINGS: Mapping[str, Any] = {
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "lines.linewidth": 1.2,
    "lines.markersize": 4,
    "savefig.dpi": 300,
    "svg.hashsalt": "hearteval",
    "pdf.fonttype": 42,
}
"""Of matplotlib; the salt makes the same figure the same file."""


Interval = tuple[float | None, float | None, float | None]
"""A value with both ends of its interval."""


class Heat(NamedTuple):
    """A share, and whether it is surely above or below what stands in the middle of the scale."""

    share: float
    is_sure: bool
    middle: float = 0.5

    @property
    def colour(self) -> float:
        """Return where it stands on the scale: near the middle where its side is open."""
        return 0.5 + (self.share - self.middle) * (1 if self.is_sure else PALE)


def names_of(systems: Sequence[str], width: int = MAX_NAME) -> list[str]:
    """Return names as labels: cut where they are long, and free of formulas."""
    names = shortened_names([printable(name) for name in systems], width)
    names = [name.replace("$", r"\$") for name in names]
    return [f" {name}" if name.startswith("_") else name for name in names]  # else no legend has it


def heat_map() -> Any:
    """Return the scale of shares from 10 % (orange) over a half (white) to 90 % (blue)."""
    return import_module("matplotlib.colors").ListedColormap(heat_colours("light"))


def draw_heat(
    axes: Any,
    cells: Sequence[Sequence[Heat | None]],
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    size: float = 6,
) -> None:
    """Draw shares as coloured cells, each with its percent; a missing one stays empty."""
    for row, values in enumerate(cells):
        for column, value in enumerate(values):
            if value is not None:
                words = f"{100 * value.share:.0f}"
                axes.text(column, row, words, ha="center", va="center", fontsize=size)
    shown = [
        [float("nan") if value is None else value.colour for value in values] for values in cells
    ]
    axes.imshow(shown, cmap=heat_map(), vmin=HEAT_LOW, vmax=HEAT_HIGH, aspect="auto")
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(rows)), rows)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def draw_heat_of_pairs(
    axes: Any, cells: Sequence[Sequence[Heat | None]], names: Sequence[str]
) -> None:
    """Draw shares of every two; a column bears the number of its row, which always fits."""
    is_dense = len(names) > MOST_IN_A_COLUMN and axes.figure.get_figwidth() < PAGE_INCHES
    shown = names_of(names, SHORT_NAME if is_dense else MAX_NAME)
    numbered = [f"{k} {name}" for k, name in enumerate(shown, 1)]
    columns = [str(k) for k in range(1, len(names) + 1)]
    draw_heat(axes, cells, rows=numbered, columns=columns, size=4 if is_dense else 6)
    if is_dense:
        axes.tick_params(labelsize=5)


def draw_forest(
    axes: Any,
    names: Sequence[str],
    series: Mapping[str, Sequence[Interval | None]],
    *,
    centre: float | None = None,
    apart: float = 0.3,
    colours: Sequence[str] = (BLUE, GREY),
) -> None:
    """Draw estimates with their intervals, a line for each name from the top, one series or more.

    An estimate without an interval is open; a dotted line marks the centre.
    """
    if centre is not None:
        axes.axvline(centre, color=GREY, linewidth=0.8, linestyle=":", zorder=0)
    for k, (label, rows) in enumerate(series.items()):
        shift = (k - (len(series) - 1) / 2) * apart
        shown = [(place + shift, row) for place, row in enumerate(rows) if row is not None]
        for number, (place, (at, low, high)) in enumerate(shown):
            has_interval = low is not None and high is not None
            if has_interval:
                axes.plot([low, high], [place, place], color=colours[k], alpha=0.6)
            face = colours[k] if has_interval else "none"
            style = {"marker": MARKS[k], "color": colours[k], "markerfacecolor": face}
            named = None if number else label or None
            axes.plot([at], [place], label=named, linestyle="none", **style)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)


def rows_height(n: float) -> float:
    """Return how many inches high a figure of so many rows is."""
    return 0.9 + 0.22 * n


def square_height(_: object, width: float) -> float:
    """Return how many inches high a figure of dots is."""
    return min(width, 4.5) * 0.85
