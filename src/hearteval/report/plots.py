"""A ranking drawn with matplotlib: this draws on axes that somebody else has made."""

from typing import Any

from hearteval.analysis.ranking.votes import VoteRanking
from hearteval.report.figures import MEAN_ELO
from hearteval.report.text import level_percent, printable, shortened_names

MAX_NAME = 40
BLUE, GREY = "#0072b2", "#767676"
"""Of the Okabe-Ito palette, which colour-blind readers tell apart; and of what stands behind."""


def draw_ranking(ranking: VoteRanking, axes: Any) -> None:
    """Draw each system with its interval on axes of matplotlib, the best on top.

    A system whose votes determine no interval is an open dot.
    """
    rows = ranking.systems
    names = shortened_names([printable(row.system) for row in rows], MAX_NAME)
    axes.axvline(MEAN_ELO, color=GREY, linewidth=0.8, linestyle=":", zorder=0)
    for place, row in enumerate(rows):
        has_interval = row.low is not None and row.high is not None
        if has_interval:
            axes.plot([row.low, row.high], [place, place], color=BLUE, linewidth=2, alpha=0.6)
        face = BLUE if has_interval else "none"
        axes.plot([row.elo], [place], marker="o", color=BLUE, markerfacecolor=face)
    # A dollar sign would begin a formula.
    axes.set_yticks(range(len(rows)), [name.replace("$", r"\$") for name in names])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    level = level_percent(ranking.settings.level)
    axes.set_xlabel(f"Elo, {level} interval ({ranking.settings.interval_used})")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
