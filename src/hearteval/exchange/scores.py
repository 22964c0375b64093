"""A table of comparisons with one candidate -> its score on each unit and axis."""

from typing import Any, Final, NamedTuple

import numpy as np

from hearteval.errors import InvalidVotesError
from hearteval.exchange.arguments import check_columns_named, check_roles
from hearteval.exchange.tables.columns import Int32Array, Names, Table
from hearteval.stats.comparisons import FloatArray

OVERALL: Final = "overall"
"""What a cell of the axis reads where it says something overall; an empty one does too."""


class ReadScores(NamedTuple):
    """Scores as they were read, units in their order of appearance."""

    axes: tuple[str | None, ...]
    """Of each column, None overall, which is the first where it is there."""
    shares: FloatArray
    """(units, axes): the mean of all rows of a unit and axis, 0 to 1; NaN where there is none."""


def read_scores(table: Table, *, unit: Any, score: Any, axis: Any = None) -> ReadScores:
    """Read what a candidate won: 1 (true), 0 (false), .5 for a tie, or any share, one a row.

    A row without a score makes its unit known, so that it counts as missing.

    Raises:
        SettingsError: A column is missing or named twice.
        InvalidVotesError: A row names no unit, or a score is no number from 0 to 1.
        TypeError: What names a column is no text.
    """
    roles = {"unit": unit, "score": score, "axis": axis}
    check_columns_named(roles, optional=("axis",))
    check_roles(roles)
    seen, codes = _read_codes(table, [name for name in roles.values() if name is not None])
    units = codes[unit]
    if not len(units):
        raise InvalidVotesError(f"{table.label} has no rows")
    if (units < 0).any():
        where = table.place(int(np.argmax(units < 0)) + 1)
        raise InvalidVotesError(f"{table.label}: {where} has nothing in column {unit!r}")
    texts = list(seen[score])
    values = np.full(len(texts) + 1, np.nan)
    for code in np.unique(codes[score][codes[score] >= 0]):
        values[code] = _read_share(table.label, score, texts[code])
    given = values[codes[score]]
    axes: tuple[str | None, ...] = (None,)
    places = np.zeros_like(units)
    if axis is not None:
        names = [None if name.casefold() == OVERALL else name for name in (*seen[axis], OVERALL)]
        used = [names[code] for code in np.unique(codes[axis]).tolist()]
        axes = tuple(sorted(dict.fromkeys(used), key=lambda name: name is not None))
        places = np.array([axes.index(name) if name in axes else 0 for name in names])[codes[axis]]
    cells = (units * len(axes) + places)[~np.isnan(given)]
    n_cells = len(seen[unit]) * len(axes)
    total = np.bincount(cells, given[~np.isnan(given)], n_cells)
    count = np.bincount(cells, minlength=n_cells)
    shares = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return ReadScores(axes, shares.reshape(-1, len(axes)))


def _read_codes(table: Table, named: list[str]) -> tuple[dict[str, Names], dict[str, Int32Array]]:
    """Return the texts of some columns, and each cell as an index into them, -1 where missing."""
    seen = {name: Names() for name in named}
    parts = {name: [np.zeros(0, np.int32)] for name in named}
    for batch in table.batches(named):
        for name in named:
            parts[name].append(seen[name].translate(batch[name]))
    return seen, {name: np.concatenate(found) for name, found in parts.items()}


def _read_share(label: str, column: str, text: str) -> float:
    try:
        share = float({"true": 1, "false": 0}.get(text, text))
    except ValueError:
        share = np.nan
    if not 0 <= share <= 1:
        raise InvalidVotesError(
            f"{label}: {text!r} in column {column!r} is no score; expected 1 where the candidate"
            " won, 0 where it lost, 0.5 for a tie, or a share between"
        )
    return share
