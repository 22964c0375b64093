"""The table of numbers by system that a study file may name: `[analysis] covariates`."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

from hearteval.errors import SettingsError

SYSTEM = "system"
MOST = 1e100
"""Larger numbers have no square."""


def read_covariates(path: Path | None) -> Mapping[str, Mapping[str, float]]:
    """Read the columns that hold numbers, by name: value by system; empty without a path.

    An empty cell is a value that is not known; a column of words only is left out.

    Raises:
        SettingsError: The file cannot be read, has no column ``system`` or no column of numbers,
            names a system twice, or holds a word among the numbers of a column.
    """
    if path is None:
        return {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [[cell.strip() for cell in row] for row in csv.reader(file) if any(row)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        why = getattr(error, "strerror", None) or "it is no table in UTF-8"
        raise SettingsError(f"{path}: analysis.covariates cannot be read: {why}") from error
    head = rows[0] if rows else []
    if SYSTEM not in head:
        raise SettingsError(f"{path}: analysis.covariates needs a column {SYSTEM!r}")
    doubled = sorted({column for column in head if column and head.count(column) > 1})
    if doubled:
        raise SettingsError(f"{path}: the column {doubled[0]!r} stands there twice")
    of_names = head.index(SYSTEM)
    names = [row[of_names] if of_names < len(row) else "" for row in rows[1:]]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise SettingsError(f"{path}: the system {twice[0]!r} stands there twice", ids=twice[:1])
    found = {
        column: values
        for place, column in enumerate(head)
        if place != of_names and column
        for values in [_numbers(path, column, names, [row[place : place + 1] for row in rows[1:]])]
        if values
    }
    if not found:
        raise SettingsError(f"{path}: analysis.covariates needs a column of numbers")
    return found


def _numbers(
    path: Path, column: str, names: Sequence[str], cells: Sequence[Sequence[str]]
) -> dict[str, float]:
    """Return the numbers of a column; none where all of it is words."""
    given = {name: cell[0] for name, cell in zip(names, cells, strict=True) if cell and cell[0]}
    values: dict[str, float] = {}
    for name, text in given.items():
        try:
            value = float(text)
        except ValueError:
            continue
        if abs(value) <= MOST:  # which nan is not
            values[name] = value
    wrong = sorted(set(given) - set(values))
    if values and wrong:
        raise SettingsError(
            f"{path}: column {column!r} holds {given[wrong[0]]!r} for {wrong[0]!r}; expected a"
            " number, or nothing where it is not known",
            ids=wrong,
        )
    return values
