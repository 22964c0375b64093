"""The head-to-head matrix: how often each system won directly against each other one.

A cell is a share of wins with a colour that fades where so few items could show it by chance. It
leads to replies of its two systems where the page holds some.
"""

from collections.abc import Mapping
from typing import NamedTuple

from hearteval.analysis.ranking.head_to_head import HeadToHead, find_departures
from hearteval.analysis.ranking.leaderboard import Leaderboard
from hearteval.analysis.ranking.warnings import FEW_ITEMS
from hearteval.report.figures import half_width, heat_step
from hearteval.report.page.first_screen import shade
from hearteval.report.text import percent, plural, points


class Cell(NamedTuple):
    """Two systems, seen from the one of the row."""

    text: str
    """Percent of comparisons won, ties half; empty where the two never met."""
    shade: str
    departs: bool
    """Whether it departs from what strengths expect, by more than chance explains."""
    n: int
    words: str
    link: str
    """Where replies of the two are; empty without any."""


def matrix_rows(
    board: Leaderboard, links: Mapping[tuple[str, str], str]
) -> dict[str, list[Cell | None]]:
    """Return the cells of each system in the order of the ranking; None against itself.

    Args:
        board: The ranking and its direct comparisons.
        links: Where to read replies, by the names of two systems in order.
    """
    met = {(pair.left, pair.right): pair for pair in board.matrix}
    names = [row.system for row in board.rows]
    off = {(pair.left, pair.right) for pair in departures(board)}
    return {
        name: [
            _cell(met, links, name, other, departs=bool(off & {(name, other), (other, name)}))
            for other in names
        ]
        for name in names
    }


def departures(board: Leaderboard) -> list[HeadToHead]:
    """Return the pairs that depart from what strengths expect, the surest first."""
    found = find_departures(board.matrix, board.fit.lack_of_fit)
    return sorted(found, key=lambda pair: (pair.q or 0.0, pair.left, pair.right))


def _cell(
    met: Mapping[tuple[str, str], HeadToHead],
    links: Mapping[tuple[str, str], str],
    name: str,
    other: str,
    *,
    departs: bool,
) -> Cell | None:
    if name == other:
        return None
    found = met.get((name, other)) or met.get((other, name))
    link = links.get((min(name, other), max(name, other)), "")
    if found is None:
        return Cell("", "", departs=False, n=0, words="never compared", link=link)
    pair = found.seen_from(name)
    won, expected = pair.observed, pair.expected
    n_items = pair.n if pair.n_items is None else pair.n_items
    half = half_width(n_items)
    shown = shade(heat_step(won), won - half, won + half, middle=0.5, is_few=n_items < FEW_ITEMS)
    words = (
        f"{name} won {percent(won)} of {plural(pair.n, 'comparison')} with {other};"
        f" expected {percent(expected)}"
    )
    if departs:
        words += f": {points(won - expected)} points apart, more than chance explains"
    return Cell(f"{100 * won:.0f}", shown, departs=departs, n=pair.n, words=words, link=link)
