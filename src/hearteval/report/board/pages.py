"""The pages of a board: the ranking and its axes under any weights, and a page for each system."""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from markupsafe import Markup

from hearteval.analysis.ranking.axes.weighed import WeighedAxes, WeighedSystem
from hearteval.report.answers.headline import sentence
from hearteval.report.board.badges import badge
from hearteval.report.board.board import Board
from hearteval.report.board.document import document
from hearteval.report.figures import MEAN_ELO, Scale, scale_around
from hearteval.report.page import comparison_html, environment, render_page
from hearteval.report.page.links import INDEX
from hearteval.report.page.replies import Shown
from hearteval.report.page.system import SystemPage, system_pages
from hearteval.report.page.view import View
from hearteval.report.text import plural
from hearteval.stats.bradley_terry.differences import MIN_SE
from hearteval.stats.bradley_terry.fit import ELO_PER_THETA

DOCUMENT = "leaderboard.json"
DIGITS = 10
"""Significant ones of the numbers that a page computes with: Elo is then right to 1e-5."""
MOST_IN_HTML = 40
"""Systems up to which a page weighs the axes anew; more would make it megabytes."""

OVER = {
    "item-sandwich": "over dialogues",
    "item-writer": "over dialogues and the people who write",
    "two-way": "over dialogues and the people who judge",
    "three-way": "over dialogues, the people who judge and those who write",
}


class Weighing(NamedTuple):
    """What the page shows of the axes under equal weights, and computes the others from."""

    found: WeighedAxes
    rows: tuple[WeighedSystem, ...]
    scale: Scale
    data: Markup
    """JSON for the script."""

    @property
    def over(self) -> str:
        """Say over what the intervals are."""
        return OVER[self.found.interval_used]

    @property
    def said(self) -> str:
        """Say who comes first and how much of the order is settled, as the script says it."""
        ranked = [one for one in self.rows if one.place is not None]
        n_first = sum(one.place_low == 1 for one in ranked)
        n_settled = sum((one.place_low or 1) - 1 for one in ranked)
        n_pairs = len(ranked) * (len(ranked) - 1) // 2
        return weighed_words(ranked[0].system, n_first, n_settled, n_pairs)


def weighed_words(first: str, n_first: int, n_settled: int, n_pairs: int) -> str:
    """Say who comes first under some weights; the script has the same words."""
    who = "no other may be first" if n_first == 1 else f"{n_first} systems may be first"
    return f"{first} stands highest; {who}. Settled: {n_settled} of {n_pairs} differences."


def weighing(found: WeighedAxes | None) -> Weighing | None:
    """Return what a page shows of the axes under weights; None where there are too many systems."""
    if found is None or len(found.systems) > MOST_IN_HTML:
        return None
    alone = (one for axis in found.axes for one in found.at({axis: 1}))
    ends = [end for one in alone for end in (one.low, one.elo, one.high)]
    rows = found.at(dict.fromkeys(found.axes, 1))
    return Weighing(found, rows, scale_around(MEAN_ELO, ends), _data(found))


def _data(found: WeighedAxes) -> Markup:
    """Write what a script weighs the axes with: symmetric matrices by their lower triangles."""
    n = len(found.axes) * len(found.systems)
    said = {
        "axes": found.axes,
        "systems": found.systems,
        "theta": _numbers(found.theta),
        "ways": [
            _numbers([way[i, j] for i in range(n) for j in range(i + 1)]) for way in found.ways
        ],
        "quantile": _numbers(found.quantile),
        "quantileOfAll": _numbers(found.quantile_of_all),
        "elo": ELO_PER_THETA,
        "mean": MEAN_ELO,
        "minSe": MIN_SE,
    }
    text = json.dumps(said, separators=(",", ":"), ensure_ascii=False)
    return Markup(text.replace("<", "\\u003c"))  # noqa: S704 - no element can end within


def _numbers(values: Any) -> Any:
    if hasattr(values, "__len__"):
        return [_numbers(one) for one in values]
    return float(f"{values:.{DIGITS}g}") if math.isfinite(values) else None


def site_pages(boards: Sequence[Board]) -> Iterator[tuple[str, str]]:
    """Yield every file of a site: its name and its text; the first of one board is `INDEX`."""
    if len(boards) > 1:
        yield (
            INDEX,
            _render("board_index.html.j2", boards=boards, answers=list(map(_answer, boards))),
        )
    yield (
        DOCUMENT,
        json.dumps(document(boards), ensure_ascii=False, allow_nan=False, indent=1) + "\n",
    )
    for board in boards:
        yield (
            board.page,
            _render(
                "board.html.j2",
                view=View(board.results, Shown(is_public=True), has_replies=False),
                one=board,
                weighing=weighing(board.weighed),
                is_alone=len(boards) == 1,
            ),
        )
        yield board.report_page, render_page(board.results, Shown(is_public=True))
        for page in system_pages(board.results, Shown()):
            if page.system in board.competitors:
                yield board.competitors[page.system].page, _system(board, page)
        for name, place in board.edition.placed.items():
            yield board.competitors[name].badge, _badge(board, name, place.places)


def n_files(boards: Sequence[Board]) -> int:
    """Count the files of a site."""
    n_systems = sum(len(one.competitors) for one in boards)
    return (len(boards) > 1) + 1 + 2 * len(boards) + 2 * n_systems


def _answer(board: Board) -> str:
    return str(sentence(board.results))


def _render(template: str, **values: Any) -> str:
    return environment().get_template(template).render(**values)


def _badge(board: Board, name: str, places: str) -> str:
    """Draw a system's place; what a judge is, and that nobody is among them, stands beside it."""
    n = len(board.edition.placed)
    words = f"place {places} of {n}" if places else f"{plural(n, 'system')}, no place"
    limits = ["cue judge"] * bool(board.results.judge_notice) + ["no people"] * (
        not board.has_people
    )
    title = f"{name} on the HEART board {board.name}, release {board.edition.short_id}: {words}" + (
        f" ({board.results.judge_notice})" if board.results.judge_notice else ""
    )
    return badge("HEART", ", ".join((words, *limits)), title, is_quiet=bool(limits))


def _system(board: Board, page: SystemPage) -> str:
    own, known = board.competitors[page.system], board.competitors
    opponents = tuple(
        (pair, known[pair.right].page if pair.right in known else "") for pair, _ in page.opponents
    )
    shown = Shown(notice=board.notice)
    fates = [
        (title, fate, [comparison_html(board.results, shown, one) for one in fate.readings])
        for title, of in (("Won most clearly", board.won), ("Lost most clearly", board.lost))
        for fate in [of[page.system]]
    ]
    badge_svg = _badge(board, page.system, board.edition.placed[page.system].places)
    return _render(
        "board_system.html.j2",
        results=board.results,
        one=board,
        page=replace(page, opponents=opponents, facts=(*page.facts, *own.facts)),
        competitor=own,
        has_fates=any(fate.readings or fate.left_out for _, fate, _ in fates),
        shown=shown,
        fates=fates,
        has_texts=any(fate.readings for _, fate, _ in fates),
        badge=Markup(badge_svg),  # noqa: S704 - made by us, its words escaped
        judged=list(board.judged(page.system)),
    )
