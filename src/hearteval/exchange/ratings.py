"""A long table of ratings -> `CodedRatings`: one row for each unit, rater and value."""

import re
from collections.abc import Mapping, Sequence
from itertools import compress
from typing import Any, NamedTuple

import numpy as np

from hearteval.errors import HeartError, InvalidVotesError, SettingsError
from hearteval.exchange.arguments import check_columns_named, check_roles, read_names
from hearteval.exchange.rater_columns import choose_raters
from hearteval.exchange.tables.columns import (
    Int32Array,
    MissingWords,
    Names,
    Table,
    sort_values,
    warn_of_hidden,
    warn_of_look_alikes,
)
from hearteval.exchange.tables.views import WideTable, join_columns
from hearteval.notices import SIMULATED_WORDS, Kind, Notice
from hearteval.stats.agreement.table import CodedRatings
from hearteval.stats.comparisons import IntArray

_NUMBER = re.compile(r"-?\d+(\.\d+)?")


class ReadRatings(NamedTuple):
    """Ratings as they were read; a missing value stays, as it names a unit and a rater."""

    ratings: CodedRatings
    n_dropped: Mapping[str, int]
    warnings: tuple[str, ...]


class RatingColumns(NamedTuple):
    """Which columns of a table hold what."""

    unit: str
    rater: str
    value: str
    by: str | None = None
    """Whose values part the ratings."""


class PartedRatings(NamedTuple):
    """Ratings by the values of a column, in the order of these; an error where none can be used."""

    groups: Mapping[str, ReadRatings | HeartError]
    n_dropped: Mapping[str, int]
    """Rows that name no value, by reason."""


def read_ratings(table: Table, columns: RatingColumns) -> ReadRatings:
    """Read ratings from the columns named; what a value means is not decided here.

    Where all values are numbers, 3 and 3.0 are one value.

    Raises:
        SettingsError: A column is missing.
        InvalidVotesError: A row is damaged, or none has a unit and a rater.
    """
    rows = _read_rows(table, columns._replace(by=None))
    return _build(table.label, rows, rows.codes)


def read_parted_ratings(table: Table, columns: RatingColumns) -> PartedRatings:
    """Read ratings as `read_ratings` does, apart for each value of the column `columns.by`.

    Raises:
        SettingsError: A column is missing.
        InvalidVotesError: A row is damaged, or none names a value.
    """
    rows = _read_rows(table, columns)
    group, by = rows.codes[-1], rows.names[-1]
    n_missing = int(np.count_nonzero(group < 0))
    if n_missing == len(group):
        problem = f"none of its {len(group):,} rows has a cell in column {columns.by!r}"
        raise InvalidVotesError(f"{table.label}: {problem}")
    groups: dict[str, ReadRatings | HeartError] = {}
    for name in sort_values(by):
        chosen = np.flatnonzero(group == by[name])
        if not len(chosen):
            continue
        label = f"{table.label}, {columns.by} {name!r}"
        try:
            groups[name] = _build(label, rows, [codes[chosen] for codes in rows.codes])
        except InvalidVotesError as error:
            groups[name] = error
    return PartedRatings(groups, {f"missing {columns.by}": n_missing} if n_missing else {})


class _Rows(NamedTuple):
    """All rows, as one column of codes for each of unit, rater, value and what parts them."""

    names: Sequence[Names]
    codes: Sequence[Int32Array]
    warnings: tuple[str, ...]
    """Of the table, and of words for missing cells in it."""


def _read_rows(table: Table, columns: RatingColumns) -> _Rows:
    named = [name for name in columns if name is not None]
    seen = [Names() for _ in named]
    missing_words = MissingWords()
    parts = [[np.zeros(0, np.int32)] * len(named)]
    for batch in table.batches(tuple(dict.fromkeys(named))):
        cells = {name: missing_words.drop(name, batch[name]) for name in set(named)}
        parts.append(
            [codes.translate(cells[name]) for codes, name in zip(seen, named, strict=True)]
        )
    codes = [np.concatenate(column) for column in zip(*parts, strict=True)]
    simulated = [Notice(Kind.SIMULATED, SIMULATED_WORDS)] if table.says_simulated() else []
    return _Rows(seen, codes, (*simulated, *table.warnings, *missing_words.warnings()))


def _build(label: str, rows: _Rows, codes: Sequence[Int32Array]) -> ReadRatings:
    units, raters, values = codes[:3]
    has_unit, has_rater = units >= 0, raters >= 0
    is_kept = has_unit & has_rater
    if not is_kept.any():
        problem = f"none of its {len(units):,} rows has a unit and a rater"
        raise InvalidVotesError(f"{label}: {problem}")
    n_dropped = {
        "missing unit": int(np.count_nonzero(~has_unit)),
        "missing rater": int(np.count_nonzero(has_unit & ~has_rater)),
    }
    unit_names, unit_codes = _keep_used(rows.names[0], units[is_kept])
    rater_names, rater_codes = _keep_used(rows.names[1], raters[is_kept])
    texts, value_codes = _merge_numbers(*_keep_used(rows.names[2], values[is_kept]))
    return ReadRatings(
        ratings=CodedRatings(
            units=unit_names,
            raters=rater_names,
            values=texts,
            unit=unit_codes,
            rater=rater_codes,
            value=value_codes,
        ),
        n_dropped={reason: n for reason, n in n_dropped.items() if n},
        warnings=(
            *rows.warnings,
            *warn_of_look_alikes("raters", rater_names),
            *warn_of_hidden("units", unit_names),
        ),
    )


def find_long(table: Table, roles: Mapping[str, Any]) -> tuple[Table, RatingColumns]:
    """Return a table with one rating a row and its columns, those of the unit as one.

    `roles` says which column or columns are unit, rater, value and by.

    Raises:
        SettingsError: A column is named for two roles, or several for one that takes one.
        TypeError: What names a column is no text.
    """
    units = read_names("unit", roles["unit"])
    others = {role: roles[role] for role in ("rater", "value", "by")}
    if len(read_names("rater", roles["rater"])) > 1:
        raise SettingsError(
            "several columns of raters are those of a wide table, with one column for each: say so"
            " (--wide, in Python wide=True), and name no column of values"
        )
    others["rater"] = next(iter(read_names("rater", roles["rater"])), None)
    named = {"unit": units[0] if units else roles["unit"], **others}
    check_columns_named(named, optional=("by",))
    for unit in units:
        check_roles({"unit": unit, **others})
    table, unit = join_columns(table, units)
    return table, RatingColumns(unit, others["rater"], others["value"], others["by"])


def find_wide(table: Table, roles: Mapping[str, Any]) -> tuple[WideTable, RatingColumns]:
    """Return a table with one column for each rater as one with one rating a row.

    Without columns of raters, all are that are not the unit's and not what parts the table, as far
    as they look alike.

    Raises:
        SettingsError: A column is named for two roles or there is none of it, a column of values is
            named, a column that nobody names looks like no rater, or there are under two raters.
        TypeError: What names a column is no text.
    """
    units, raters = (read_names(role, roles[role]) for role in ("unit", "rater"))
    by = roles["by"]
    check_columns_named({"by": by}, optional=("by",))
    if roles["value"] is not None:
        raise SettingsError("a wide table has its values in the columns of the raters: name none")
    taken = {*units, by}
    table.check_columns([*units, *raters])
    raters = raters or choose_raters(table, taken)
    for rater in raters:
        for part in units or (None,):
            check_roles({"unit": part, "rater": rater, "by": by})
    unit: str | None = None
    if units:
        table, unit = join_columns(table, units)
    wide = WideTable(table, unit, raters)
    return wide, RatingColumns(wide.unit, wide.RATER, wide.VALUE, by)


def _keep_used(names: Names, codes: Int32Array) -> tuple[tuple[str, ...], IntArray]:
    """Return the names that rows use, and the rows as indices into these, -1 staying -1."""
    is_used = np.bincount(codes + 1, minlength=len(names) + 1)[1:] > 0
    places = np.append(np.cumsum(is_used) - 1, -1)
    return tuple(compress(names, is_used)), places[codes]


def _merge_numbers(texts: tuple[str, ...], codes: IntArray) -> tuple[tuple[str, ...], IntArray]:
    """Write 3.0 as 3 if all texts are numbers."""
    if not all(map(_NUMBER.fullmatch, texts)):
        return texts, codes
    merged = Names()
    places = [merged[re.sub(r"\.0+$", "", text)] for text in texts]
    return tuple(merged), np.array([*places, -1], dtype=np.int64)[codes]
