"""Every table of a report as CSV, with every digit: records of the results, a row each.

One mechanism for all: the fields of a record are its columns, those of records inside it
``outer_inner``; lists of words become text, lists of records have tables of their own.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass, replace
from typing import Any

from hearteval.analysis.section import Records, rows_at
from hearteval.analysis.study import StudyResults
from hearteval.domain import flat_fields
from hearteval.report.answers.headline import results_notices
from hearteval.report.leaderboard import paper_board
from hearteval.report.table import Column, Table, mark_simulated


def all_tables(results: StudyResults) -> Mapping[str, Table]:
    """Return every table that has a row, by the name of its file; the caption says what it is."""
    made = {
        name: _table(rows_at(results, find) if isinstance(find, str) else find(results), what)
        for name, (what, find) in TABLES.items()
    }
    of_sections: defaultdict[tuple[str, str], list[object]] = defaultdict(list)
    for section in results.sections.values():
        if section is not None:
            for table in section.TABLES.items():
                of_sections[table] += section.records(table[0])
    made |= {name: _table(rows, what) for (name, what), rows in of_sections.items()}
    found = {name: table for name, table in made.items() if table.rows}
    if not results.provenance.simulated:
        return found
    return {name: mark_simulated(table) for name, table in found.items()}


def paper_tables(results: StudyResults) -> Mapping[str, Table]:
    """Return the tables that a paper prints, the others with every column of theirs."""
    board = results.leaderboard
    first = {} if board is None else {"leaderboard": paper_board(board, results.axis_names)}
    return first | dict(all_tables(results))


def _warnings(results: StudyResults) -> Records:
    return [{"kind": each.kind.value, "text": str(each)} for each in results_notices(results)]


def _missing(results: StudyResults) -> Records:
    of_systems = [(row.system, cause) for row in results.coverage.systems for cause in row.causes]
    of_raters = [(row.rater, cause) for row in results.coverage.judges for cause in row.causes]
    return [{"name": name, **_flat(cause)} for name, cause in (*of_systems, *of_raters)]


def _counts(words: Mapping[str, int]) -> str:
    return "; ".join(f"{name} {n}" for name, n in words.items())


def _screens(results: StudyResults) -> Records:
    return [
        {
            "screen": screen.screen,
            "kind": screen.kind,
            **_flat(replace(use, held_for={}, missed={})),
            **{name: _counts(getattr(use, name)) for name in ("held_for", "missed")},
        }
        for screen in (results.safety.screens if results.safety else ())
        for use in screen.uses
    ]


TABLES: Mapping[str, tuple[str, str | Callable[[StudyResults], Records]]] = {
    "warnings": ("what limits the numbers", _warnings),
    "planned-contrasts": ("tests of what was planned, one family", "planned"),
    "head-to-head": ("wins of every two systems", "leaderboard.matrix"),
    "differences": ("Elo between every two systems", "leaderboard.differences"),
    "fit-of-pairs": ("predicted wins of pairs", "leaderboard.fit.pairs"),
    "fit-of-systems": ("predicted wins of systems", "leaderboard.fit.systems"),
    "fit-of-pairs-weighted": ("the same, weighted by strength", "leaderboard.fit_weighted.pairs"),
    "fit-of-systems-weighted": (
        "the same, weighted by strength",
        "leaderboard.fit_weighted.systems",
    ),
    "times-of-people": ("how long each person took to judge", "pace.people"),
    "coverage-of-writers": ("replies by people", "coverage.people.writers"),
    "screens": ("what screens hold, and miss by people who read it too", _screens),
    "screens-agreement": ("screens with each other, and with people", "safety.agreement"),
    "win-rates": ("wins of each system", "win_rates"),
    "coverage-of-systems": ("replies by system", "coverage.systems"),
    "coverage-of-raters": ("answers by rater", "coverage.judges"),
    "missing": ("causes of what is missing", _missing),
    "models": ("models, their routes, settings and names", "spending.models"),
    "costs": ("cost by model and step", "spending.steps"),
    "item-selection": ("candidates at each rule", "funnel"),
}
"""Name of the file -> what it holds, and where its records are in the results, or their maker."""


def _table(records: Records, caption: str) -> Table:
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
        inside = flat_fields(record)
    else:
        return {} if record is None and not prefix else _cell(prefix.rstrip("_"), record)
    flat: dict[str, Any] = {}
    for name, value in inside.items():
        flat |= _flat(value, f"{prefix}{name}_")
    return flat


def _cell(name: str, value: object) -> dict[str, Any]:
    if isinstance(value, Sequence) and not isinstance(value, str):
        if any(map(is_dataclass, value)):
            return {}
        return {name: "; ".join(map(str, value))}
    return {name: value}
