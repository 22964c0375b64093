"""A ranking of votes as text for terminals and as a table for notebooks.

Both draw the interval of every system on one scale, and name the interval really used.
"""

from collections.abc import Mapping, Sequence
from html import escape

from heartbench.analysis.vote_results import RankedSystem, VoteRanking
from heartbench.report.numbers import (
    bare_percent,
    count,
    interval,
    level_percent,
    percent,
    plural,
    small,
    whole,
)
from heartbench.report.text import (
    WIDTH,
    aligned,
    display_width,
    html_text,
    printable,
    shortened_names,
    wrapped,
)

MIN_NAME = 8
MIN_BAR_CELLS, MAX_BAR_CELLS = 9, 25
BAR_WIDTH, BAR_HEIGHT = 160, 14
CONDITIONAL = ("item-sandwich", "item-bootstrap")


def ranking_lines(ranking: VoteRanking) -> str:
    """Write a ranking as aligned text of at most 100 columns."""
    parts = [wrapped(counts_words(ranking)), _text_table(ranking.systems)]
    return "\n\n".join([*parts, "\n".join(map(wrapped, _notes(ranking)))])


def ranking_html(ranking: VoteRanking) -> str:
    """Write a ranking as an HTML table with its intervals drawn, for a notebook."""
    systems = ranking.systems
    heads = ["rank", "system", "Elo", "interval", "", *_weighted_heads(systems), "win %", "votes"]
    scale = _scale(systems)
    rows = "".join(
        "<tr>" + "".join(f"<td>{cell}</td>" for cell in _html_cells(row, scale)) + "</tr>"
        for row in systems
    )
    return (
        f"<table><caption>{escape(counts_words(ranking))}</caption>"
        f"<thead><tr>{''.join(f'<th>{head}</th>' for head in heads)}</tr></thead>"
        f"<tbody>{rows}</tbody></table>"
        + "".join(f"<p>{html_text(note)}</p>" for note in _notes(ranking))
    )


def counts_words(ranking: VoteRanking) -> str:
    """Say what the ranking stands on."""
    fit, settings = ranking.fit, ranking.settings
    words = [plural(fit.n_votes, "vote"), plural(fit.n_ties, "tie")]
    if settings.n_items is not None:
        words.append(plural(settings.n_items, "item"))
    if settings.n_raters is not None:
        words.append(plural(settings.n_raters, "rater"))
    return f"{plural(len(ranking.systems), 'system')}: {', '.join(words)}"


def interval_words(ranking: VoteRanking) -> str:
    """Name the interval really used, its level and what it is conditional on."""
    settings = ranking.settings
    words = [settings.interval_used, level_percent(settings.level)]
    if settings.df is not None:
        words.insert(1, t_words(settings.df))
    if settings.interval_used == "item-bootstrap":
        words.insert(1, f"{count(settings.resamples)} resamples, seed {settings.seed}")
    if settings.interval_used in CONDITIONAL:
        words.append("conditional on these raters")
    ties = {"half": "ties half a win each", "davidson": "ties by Davidson", "drop": "ties dropped"}
    prior = f", prior {settings.prior:g} a pair" if settings.prior else ""
    return f"Interval: {', '.join(words)}. Every vote counts once, {ties[settings.ties]}{prior}."


def t_words(df: float) -> str:
    """Name the distribution that an interval is taken from."""
    return f"t with {plural(round(df), 'degree')} of freedom"


def dropped_words(n_dropped: Mapping[str, int]) -> str:
    """Say what was left out and why; nothing where nothing was."""
    reasons = [f"{reason} {count(n)}" for reason, n in n_dropped.items()]
    return f"Left out: {', '.join(reasons)}." if reasons else ""


def _notes(ranking: VoteRanking) -> list[str]:
    notes = [interval_words(ranking), _fit_words(ranking), dropped_words(ranking.fit.n_dropped)]
    notes += [f"Warning: {warning}" for warning in ranking.warnings]
    return [note for note in notes if note]


def _fit_words(ranking: VoteRanking) -> str:
    fit = ranking.fit
    return (
        f"Fit check, predicted against observed wins: {percent(fit.rms_gap)} root mean square over"
        f" pairs of systems, largest {percent(fit.max_gap)}; over systems"
        f" {percent(fit.system_rms_gap)}, largest {percent(fit.system_max_gap)}."
    )


def _weighted_heads(systems: Sequence[RankedSystem]) -> list[str]:
    return ["Elo, weighted", "interval"] if _is_weighted(systems) else []


def _is_weighted(systems: Sequence[RankedSystem]) -> bool:
    return systems[0].elo_weighted is not None


def _text_table(systems: Sequence[RankedSystem]) -> str:
    weighted = ["weighted", "interval"] if _is_weighted(systems) else []
    others = [["rank", "Elo", "interval", *weighted, "win %", "votes"], *map(_text_cells, systems)]
    name_width, n_cells = _share_room(others, systems)
    names = ["system", *shortened_names([row.system for row in systems], name_width)]
    scale = _scale(systems)
    bars = ["", *(_bar(row, scale, n_cells) for row in systems)]
    rows = [
        [cells[0], name, *cells[1:3], bar, *cells[3:]]
        for cells, name, bar in zip(others, names, bars, strict=True)
    ]
    return aligned(rows, left=(1, 4))


def _text_cells(row: RankedSystem) -> list[str]:
    """Return what is written of a system beside its name and its bar."""
    return [
        _rank(row),
        whole(row.elo),
        interval(row.low, row.high),
        *_weighted_cells(row),
        bare_percent(row.win_rate),
        count(row.n_comparisons),
    ]


def _share_room(
    others: Sequence[Sequence[str]], systems: Sequence[RankedSystem]
) -> tuple[int, int]:
    """Return how wide names and bars may be beside the other columns; bars give way first."""
    widths = [max(map(display_width, column)) for column in zip(*others, strict=True)]
    room = WIDTH - sum(widths) - 2 * (len(widths) + 1)
    longest = max(display_width(printable(row.system)) for row in systems)
    bar_cells = min(max(room - longest, MIN_BAR_CELLS), MAX_BAR_CELLS)
    if room < MIN_NAME + bar_cells:
        return max(room, MIN_NAME), 0
    return room - bar_cells, bar_cells


def _weighted_cells(row: RankedSystem) -> list[str]:
    if row.elo_weighted is None:
        return []
    return [whole(row.elo_weighted), interval(row.low_weighted, row.high_weighted)]


def _rank(row: RankedSystem) -> str:
    if row.rank_low == row.rank_high:
        return str(row.rank_low)
    return f"{row.rank_low}\N{EN DASH}{row.rank_high}"


def _scale(systems: Sequence[RankedSystem]) -> tuple[float, float]:
    low = min(row.elo if row.low is None else row.low for row in systems)
    high = max(row.elo if row.high is None else row.high for row in systems)
    return (low, high) if high > low else (low - 1, high + 1)


def _bar(row: RankedSystem, scale: tuple[float, float], n_cells: int) -> str:
    def cell(value: float) -> int:
        return round((value - scale[0]) / (scale[1] - scale[0]) * (n_cells - 1))

    if not n_cells:
        return ""
    cells = [" "] * n_cells
    if row.low is not None and row.high is not None:
        low, high = cell(row.low), cell(row.high)
        cells[low : high + 1] = "\N{BOX DRAWINGS LIGHT HORIZONTAL}" * (high + 1 - low)
    cells[cell(row.elo)] = "\N{BLACK CIRCLE}"
    return "".join(cells)


def _html_cells(row: RankedSystem, scale: tuple[float, float]) -> list[str]:
    return [
        _rank(row),
        html_text(row.system),
        whole(row.elo),
        interval(row.low, row.high),
        _html_bar(row, scale),
        *_weighted_cells(row),
        bare_percent(row.win_rate),
        count(row.n_comparisons),
    ]


def _html_bar(row: RankedSystem, scale: tuple[float, float]) -> str:
    def at(value: float) -> float:
        share = (value - scale[0]) / (scale[1] - scale[0])
        return round(4 + share * (BAR_WIDTH - 8), 1)

    line = ""
    if row.low is not None and row.high is not None:
        line = (
            f'<line x1="{at(row.low)}" x2="{at(row.high)}" y1="7" y2="7" stroke="currentColor"'
            ' stroke-width="2" opacity=".5"/>'
        )
    return (
        f'<svg width="{BAR_WIDTH}" height="{BAR_HEIGHT}" role="img" aria-label="theta'
        f' {small(row.theta)}">{line}<circle cx="{at(row.elo)}" cy="7" r="4"'
        ' fill="currentColor"/></svg>'
    )
