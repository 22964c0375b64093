"""Every figure of a study as files: SVG, PDF and PNG, one column and one page wide."""

import io
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from typing import Any
from warnings import catch_warnings, filterwarnings

from hearteval.analysis.ranking.leaderboard import Leaderboard
from hearteval.analysis.section import Figure, Section
from hearteval.analysis.study import StudyResults
from hearteval.errors import SettingsError
from hearteval.notices import SIMULATED_WORDS
from hearteval.report.leaderboard import marked_axes, marked_words
from hearteval.report.plots import ranking
from hearteval.report.plots.style import (
    COLUMN_INCHES,
    PAGE_INCHES,
    SETTINGS,
    rows_height,
    square_height,
)
from hearteval.report.radar import elo_arms

FORMATS = ("svg", "pdf", "png")
WIDTHS = {"column": COLUMN_INCHES, "page": PAGE_INCHES}
FILES_A_FIGURE = len(FORMATS) * len(WIDTHS)
MADE_WITHOUT_A_DATE = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
"""So that the same results give the same files."""


def _board_if(holds: Callable[[Leaderboard], object]) -> Callable[[StudyResults], Any]:
    def find(results: StudyResults) -> Any:
        board = results.leaderboard
        return board if board and holds(board) else None

    return find


def _of_rows(board: Any, _width: float) -> float:
    return rows_height(len(board.rows))


FIGURES = (
    Figure(
        "ranking",
        "Elo of every system with its interval; dotted: 1500, the mean.",
        _board_if(lambda board: board.rows),
        ranking.draw_leaderboard,
        _of_rows,
    ),
    Figure(
        "axes",
        "Percent of comparisons won on each axis, ties half; empty where too little was marked.",
        _board_if(marked_axes),
        ranking.draw_axes,
        _of_rows,
    ),
    Figure(
        "radars",
        "Elo on each axis; dashed: 1500, the mean system.",
        _board_if(elo_arms),
        ranking.draw_radars,
        lambda board, width: (width / 3 + 0.1) * -(-len(elo_arms(board)) // 3),
    ),
    Figure(
        "head-to-head",
        "How often the system of a row won against that of a column, percent, ties half.",
        _board_if(lambda board: board.matrix),
        ranking.draw_matrix,
        _of_rows,
    ),
    Figure(
        "fit",
        "Observed against predicted share of wins, a dot for each pair of systems.",
        _board_if(lambda board: board.fit.pairs),
        ranking.draw_fit,
        square_height,
    ),
)
"""In the order in which a paper would show them."""


def _of_section(section: Section[Any], find: Callable[[Any], Any], _results: StudyResults) -> Any:
    return find(section)


def figures_of(results: StudyResults) -> list[Figure]:
    """Return the figures that there is something to draw for."""
    of_sections = [
        figure._replace(find=partial(_of_section, section, figure.find))
        for section in results.sections.values()
        if section is not None
        for figure in section.FIGURES
    ]
    return [one for one in (*FIGURES, *of_sections) if one.find(results) is not None]


def require_matplotlib() -> tuple[Any, Any]:
    """Return matplotlib and what it draws on.

    Raises:
        SettingsError: It is not installed.
    """
    try:
        return import_module("matplotlib"), import_module("matplotlib.figure")
    except ImportError:
        raise SettingsError("figures need matplotlib; pip install 'hearteval[figures]'") from None


def figure_files(
    results: StudyResults, figure: Figure, kinds: Sequence[str] = FORMATS
) -> Iterator[tuple[str, bytes]]:
    """Yield a figure's files of these kinds by name.

    Raises:
        SettingsError: matplotlib is not installed.
    """
    matplotlib, _ = require_matplotlib()
    with matplotlib.rc_context(SETTINGS), catch_warnings():
        filterwarnings("ignore", message="Glyph .* missing from font")  # a box says it well enough
        for width_name, width in WIDTHS.items():
            canvas = lay_out(results, figure, width)
            for kind in kinds:
                out = io.BytesIO()
                canvas.savefig(out, format=kind, metadata=MADE_WITHOUT_A_DATE[kind])
                yield f"{figure.name}-{width_name}.{kind}", out.getvalue()


def lay_out(results: StudyResults, figure: Figure, width: float) -> Any:
    """Return a figure of matplotlib so many inches wide, laid out once for all formats.

    Raises:
        SettingsError: matplotlib is not installed.
    """
    _, drawing = require_matplotlib()
    found = figure.find(results)
    canvas = drawing.Figure(figsize=(width, figure.height(found, width)), layout="constrained")
    figure.draw(found, canvas)
    if footnote := _footnote(results):
        canvas.supxlabel(footnote, fontsize=6, color="#555555", wrap=True)
    for axes in canvas.axes:
        axes.xaxis.label.set_wrap(True)
    canvas.draw_without_rendering()
    canvas.set_layout_engine("none")
    return canvas


def _footnote(results: StudyResults) -> str:
    """Return what must stand on every figure."""
    said = ["Simulated: nothing here was measured."] if results.provenance.simulated else []
    if results.judge_notice:
        said.append("Judged by the offline cue judge, which measures nothing about empathy.")
    return "\n".join(said)


def captions(results: StudyResults) -> str:
    """Say what each figure shows, of which study."""
    made = results.provenance
    lines = [SIMULATED_WORDS] if made.simulated else []
    lines += [f"Figures of {made.study}, version {made.version}, {made.created_at[:10]}."]
    if results.judge_notice:
        lines.append(results.judge_notice)
    who = marked_words(results.leaderboard) if results.leaderboard else ""
    of_axes = dict.fromkeys(("axes", "radars"), f" {who}")
    lines += [f"{f.name}: {f.caption}{of_axes.get(f.name, '')}" for f in figures_of(results)]
    return "\n".join(lines) + "\n"
