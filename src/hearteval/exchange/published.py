"""A table of results, one system a row -> numbers by system."""

import math
import re
from collections.abc import Mapping
from typing import NamedTuple

from hearteval.analysis.agreement.ratings import finite_number
from hearteval.errors import InvalidVotesError, SettingsError
from hearteval.exchange.tables.columns import MissingWords, Table, list_hidden, list_names

KNOWN_COLUMNS = {
    "system": ("system", "model", "name", "player", "modelname"),
    "elo": ("elo", "rating", "elorating", "arenascore", "arenaelo", "score"),
    "win_rate": (
        "winrate",
        "winpct",
        "winpercent",
        "winpercentage",
        "win",
        "wins",
        "overallwinrate",
    ),
}
"""Names of columns that have a role, without what is no letter, by role."""


class PrintedNumbers(NamedTuple):
    """Numbers by system, one mapping for each column of numbers, and what was left out."""

    columns: Mapping[str, str]
    """Column by role."""
    numbers: Mapping[str, Mapping[str, float]]
    """By role: numbers by system."""
    n_dropped: Mapping[str, int]
    warnings: tuple[str, ...]


def read_printed(table: Table, named: Mapping[str, str | None]) -> PrintedNumbers:
    """Read the columns of some roles; of those not named, the ones of a known name.

    A percent sign and white space about a number are left out. A row that lacks its name or one of
    the numbers is left out and counted.

    Raises:
        SettingsError: A column is missing, or none is named or known for a role.
        InvalidVotesError: A cell is no number, a system stands twice, or no row can be used.
    """
    columns = _find(table, named)
    roles = [role for role in columns if role != "system"]
    rows: list[tuple[str | None, ...]] = []
    words = MissingWords()
    for batch in table.batches(tuple(dict.fromkeys(columns.values()))):
        batch = {name: words.drop(name, column) for name, column in batch.items()}  # noqa: PLW2901 - the same cells
        cells = [
            [batch[name].values[code] if code >= 0 else None for code in batch[name].codes.tolist()]
            for name in (columns["system"], *(columns[role] for role in roles))
        ]
        rows += zip(*cells, strict=True)
    numbers: dict[str, dict[str, float]] = {role: {} for role in roles}
    n_dropped = {"missing system": 0, "missing number": 0}
    for place, (system, *texts) in enumerate(rows, start=1):
        if system is None or None in texts:
            n_dropped["missing system" if system is None else "missing number"] += 1
            continue
        if system in numbers[roles[0]]:
            raise InvalidVotesError(
                f"{table.label}: {table.place(place)} names {system!r} again; one row a system",
                ids=(system,),
            )
        for role, text in zip(roles, texts, strict=True):
            numbers[role][system] = _number(str(text), table, columns[role], place)
    names = list(numbers[roles[0]])
    if not names:
        raise InvalidVotesError(f"{table.label}: none of its {len(rows):,} rows can be used")
    hidden = list_hidden(names)
    if hidden is not None:
        raise InvalidVotesError(f"systems that look the same {hidden}; write them alike")
    return PrintedNumbers(
        columns, numbers, {why: n for why, n in n_dropped.items() if n}, table.warnings
    )


def as_shares(win_rates: Mapping[str, float]) -> dict[str, float]:
    """Return win rates as shares: where any is above 1, all are percent.

    Raises:
        InvalidVotesError: One is below 0 or above 100 %.
    """
    in_percent = max(win_rates.values()) > 1
    shares = {name: rate / 100 if in_percent else rate for name, rate in win_rates.items()}
    for name, share in shares.items():
        if not 0 <= share <= 1:
            raise InvalidVotesError(
                f"the win rate of {name!r} is {win_rates[name]:g}; win rates are shares from 0 to 1"
                " or percent from 0 to 100",
                ids=(name,),
            )
    return shares


def _find(table: Table, named: Mapping[str, str | None]) -> dict[str, str]:
    there_are = table.column_names
    plain = {re.sub(r"[^a-z]", "", name.casefold()): name for name in reversed(there_are)}
    found = {
        role: name or next((plain[word] for word in KNOWN_COLUMNS[role] if word in plain), None)
        for role, name in named.items()
    }
    absent = [f"--{role.replace('_', '-')}" for role, name in found.items() if name is None]
    if absent:
        raise SettingsError(
            f"name the columns of {table.label}: {', '.join(absent)};"
            f" there are {list_names(there_are)}",
            ids=absent,
        )
    columns = {role: name for role, name in found.items() if name is not None}
    if len(set(columns.values())) < len(columns):
        raise SettingsError(f"one column has two roles: {columns}; name another for one of them")
    return columns


def _number(text: str, table: Table, column: str, row: int) -> float:
    number = finite_number(text.strip().removesuffix("%").strip().replace("\N{MINUS SIGN}", "-"))
    if math.isnan(number):
        raise InvalidVotesError(
            f"{table.label}: {table.place(row)} has {text!r} in column {column!r}; expected a"
            " number"
        )
    return number
