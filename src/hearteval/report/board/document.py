"""``leaderboard.json``: every board of a site for programs, as ``heart.board/1``."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from hearteval.report.answers.headline import results_notices, sentence, votes_words
from hearteval.report.board.board import Board, Edition
from hearteval.version import __version__

SCHEMA = "heart.board/1"
MEASURES = {True: "elo_anchored", False: "elo"}


def document(boards: Sequence[Board]) -> dict[str, Any]:
    """Return all boards as what JSON can write."""
    return {
        "schema": SCHEMA,
        "heart_version": __version__,
        "boards": [_board(one) for one in boards],
    }


def _board(board: Board) -> dict[str, Any]:
    results = board.results
    leaderboard, ratings = results.leaderboard, results.ratings
    level = leaderboard.level if leaderboard else ratings.level if ratings else None
    return {
        "name": board.name,
        "page": board.page,
        "report": board.report_page,
        "release": _edition(board.edition),
        "answer": str(sentence(results)),
        "without_people": board.without_people,
        "judge_notice": results.judge_notice,
        "notices": [{"kind": str(one.kind), "text": str(one)} for one in results_notices(results)],
        "measure": "z" if leaderboard is None else MEASURES[results.leading is not None],
        "level": level,
        "judged_by": leaderboard.judged_by if leaderboard else None,
        "votes": votes_words(results),
        "axes": {str(axis): name for axis, name in results.axis_names.items()},
        "systems": list(_systems(board)),
        "weights": _weights(board),
        "history": [_edition(one) | {"systems": _placed(one)} for one in board.editions],
    }


def _edition(edition: Edition) -> dict[str, Any]:
    said = edition._asdict()
    del said["placed"]
    return said


def _placed(edition: Edition) -> list[dict[str, Any]]:
    return [one._asdict() for one in edition.placed.values()]


def _systems(board: Board) -> Iterable[dict[str, Any]]:
    leaderboard, ratings = board.results.leaderboard, board.results.ratings
    ranked: Mapping[str, Any] = {row.system: row for row in leaderboard.rows} if leaderboard else {}
    rated: Mapping[str, Any] = {row.system: row for row in ratings.systems} if ratings else {}
    for name, at in board.edition.placed.items():
        one, row = board.competitors[name], ranked.get(name) or rated.get(name)
        yield {
            **at._asdict(),
            "kind": one.kind,
            "family": one.family,
            "open_weights": one.has_open_weights,
            "usd_per_million_in": one.price[0] if one.price else None,
            "usd_per_million_out": one.price[1] if one.price else None,
            "win_rate": getattr(row, "win_rate", None),
            "axes": {str(axis): asdict(each) for axis, each in row.axes.items()} if row else {},
            "page": one.page,
            "badge": one.badge,
        }


def _weights(board: Board) -> dict[str, Any] | None:
    """Return the systems by equal weights, and how far other weights would move them."""
    if board.weighed is None:
        return None
    return {
        "axes": [*board.weighed.axes],
        "interval_used": board.weighed.interval_used,
        "equal": [one._asdict() for one in board.weighed.at(dict.fromkeys(board.weighed.axes, 1))],
        "any": {name: one._asdict() for name, one in board.reaches.items()},
    }
