"""Every table of a report as CSV, with every digit: records of the results, a row each.

One mechanism for all: the fields of a record are its columns, those of records inside it
``outer_inner``; lists become text.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from hearteval.analysis.ranking.leaderboard import Leaderboard
from hearteval.analysis.scores.study import RatingResults
from hearteval.analysis.study import StudyResults
from hearteval.report.judges import audit_rows
from hearteval.report.table import Column, Table


def all_tables(results: StudyResults) -> Mapping[str, Table]:
    """Return every table that has a row, by the name of its file; the caption says what it is."""
    named: list[tuple[str, str, Iterable[object]]] = [
        ("warnings", "what limits the numbers", _warnings(results)),
        *(_of_board(results.leaderboard) if results.leaderboard else ()),
        *(_of_ratings(results.ratings) if results.ratings else ()),
        ("win-rates", "how often each system won", results.win_rates),
        ("coverage-of-systems", "replies by system", results.coverage.systems),
        ("coverage-of-raters", "judgments or ratings by rater", results.coverage.judges),
        *_of_judges(results),
        *_of_explanations(results),
        ("item-selection", "candidates at each rule", results.funnel),
    ]
    made = {name: _table(records, caption) for name, caption, records in named}
    return {name: table for name, table in made.items() if table.rows}


Named = list[tuple[str, str, Iterable[object]]]


def _warnings(results: StudyResults) -> list[Mapping[str, str]]:
    of_ranking = results.leaderboard.warnings if results.leaderboard else ()
    of_scores = results.ratings.warnings if results.ratings else ()
    return [
        {"kind": notice.kind.value, "text": str(notice)}
        for notice in (*results.warnings, *of_ranking, *of_scores)
    ]


def _of_board(board: Leaderboard) -> Named:
    return [
        (
            "axes",
            "standing of each system on each axis",
            [
                {"system": row.system, "kind": row.kind, "axis": axis, **_flat(at)}
                for row in board.rows
                for axis, at in row.axes.items()
            ],
        ),
        ("head-to-head", "observed and expected wins of every two systems", board.matrix),
        ("differences", "difference of every two systems, with p and q", board.differences),
        ("fit-of-pairs", "predicted wins by pair, every judgment once", board.fit.pairs),
        ("fit-of-pairs-weighted", "the same, weighted by strength", board.fit_weighted.pairs),
        ("fit-of-systems", "predicted wins by system, every judgment once", board.fit.systems),
        ("fit-of-systems-weighted", "the same, weighted by strength", board.fit_weighted.systems),
    ]


def _of_ratings(ratings: RatingResults) -> Named:
    return [
        ("stress-scores", "scores of the stress set by judge", ratings.stress),
        ("rated-again", "how far judges give the same scores again", ratings.repeatability),
    ]


def _of_judges(results: StudyResults) -> Named:
    audits = results.judge_audits.judges if results.judge_audits else ()
    together = results.majorities
    return [
        (
            "judge-audit",
            "what each judge does with texts whose right answer is known",
            [
                {"judge": audit.judge, "check": row.name.strip(), "share": row.value}
                | {"interval": row.ends, "n_items": row.n_items, "reading": row.verdict}
                for audit in audits
                for row in audit_rows(audit)
            ],
        ),
        ("stress-set", "reference put first, by judge and kind", results.stress),
        ("consistency", "same winner twice, by judge", results.consistency),
        ("asked-again", "rankings of repeats beside the first", results.rank_stability),
        ("judges-together", "votes by judge", together.judges if together else ()),
        (
            "judges-by-pair",
            "judges of every two systems",
            together.system_pairs if together else (),
        ),
        ("judges-agreement", "same answer, by judges", together.agreement if together else ()),
    ]


def _of_explanations(results: StudyResults) -> Named:
    bias, panel = results.bias_audit, results.judge_panel
    aware = panel.judge_aware if panel else None
    alone = [
        {"judge": judge.judge, "system": system, **_flat(at)}
        for judge in (panel.alone if panel else ())
        for system, at in judge.ratings.items()
    ]
    return [
        ("effects", "effects of length, formatting and position", bias.effects if bias else ()),
        ("held-equal", "strengths with these held equal", bias.systems if bias else ()),
        ("words-and-formatting", "words and marks of each system", bias.texts if bias else ()),
        ("judge-traits", "what each judge is like", aware.judges if aware else ()),
        ("judge-aware", "strengths that allow for it", aware.systems if aware else ()),
        ("by-judge-alone", "the ranking by each judge alone", alone),
    ]


def _table(records: Iterable[object], caption: str) -> Table:
    rows = [_flat(record) for record in records]
    headings = list(dict.fromkeys(name for row in rows for name in row))
    return Table(
        columns=tuple(map(Column, headings)),
        rows=[[row.get(name) for name in headings] for row in rows],
        caption=caption,
    )


def _flat(record: object, prefix: str = "") -> dict[str, Any]:
    """Return the fields of a record, those of records and mappings inside it under joined names."""
    if isinstance(record, Mapping):
        inside: Mapping[str, object] = record
    elif is_dataclass(record):
        inside = {each.name: getattr(record, each.name) for each in fields(record)}
    else:
        return {prefix.rstrip("_"): _cell(record)}
    flat: dict[str, Any] = {}
    for name, value in inside.items():
        flat |= _flat(value, f"{prefix}{name}_")
    return flat


def _cell(value: object) -> object:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "; ".join(map(str, value))
    return value
