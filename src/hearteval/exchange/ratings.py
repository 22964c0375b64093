"""A long table of ratings -> `CodedRatings`: one row for each unit, rater and value."""

import re
from collections.abc import Mapping
from itertools import compress
from typing import NamedTuple

import numpy as np

from hearteval.errors import InvalidVotesError
from hearteval.exchange.tables.columns import (
    Int32Array,
    MissingWords,
    Names,
    Table,
    warn_of_hidden,
    warn_of_look_alikes,
)
from hearteval.stats.agreement.table import CodedRatings
from hearteval.stats.comparisons import IntArray

_NUMBER = re.compile(r"-?\d+(\.\d+)?")


class ReadRatings(NamedTuple):
    """Ratings as they were read; a missing value stays, as it names a unit and a rater."""

    ratings: CodedRatings
    n_dropped: Mapping[str, int]
    warnings: tuple[str, ...]


def read_ratings(table: Table, *, unit: str, rater: str, value: str) -> ReadRatings:
    """Read ratings from the columns named; what a value means is not decided here.

    Where all values are numbers, 3 and 3.0 are one value.

    Raises:
        SettingsError: A column is missing.
        InvalidVotesError: A row is damaged, or none has a unit and a rater.
    """
    names = (unit, rater, value)
    seen = [Names() for _ in names]
    missing_words = MissingWords()
    parts = [[np.zeros(0, np.int32)] * len(names)]
    for batch in table.batches(tuple(dict.fromkeys(names))):
        parts.append(
            [codes.translate(batch[name]) for codes, name in zip(seen, names, strict=True)]
        )
        for name in names:
            missing_words.add(name, batch[name])
    units, raters, values = (np.concatenate(column) for column in zip(*parts, strict=True))
    has_unit, has_rater = units >= 0, raters >= 0
    is_kept = has_unit & has_rater
    if not is_kept.any():
        problem = f"none of its {len(units):,} rows has a unit and a rater"
        raise InvalidVotesError(f"{table.label}: {problem}")
    n_dropped = {
        "missing unit": int(np.count_nonzero(~has_unit)),
        "missing rater": int(np.count_nonzero(has_unit & ~has_rater)),
    }
    unit_names, unit_codes = _keep_used(seen[0], units[is_kept])
    rater_names, rater_codes = _keep_used(seen[1], raters[is_kept])
    texts, value_codes = _merge_numbers(*_keep_used(seen[2], values[is_kept]))
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
            *table.warnings,
            *missing_words.warnings(),
            *warn_of_look_alikes("raters", rater_names),
            *warn_of_hidden("units", unit_names),
        ),
    )


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
