"""The sum of rows that come as columns: the same however they come, another after any edit."""

from collections.abc import Sequence
from functools import reduce

import numpy as np
import pytest

from hearteval.store.integrity.seal import (
    NOTHING,
    Total,
    Words,
    id_words,
    mix,
    total_of_columns,
)

GAMMA = 0x9E3779B97F4A7C15
SPLITMIX64 = (
    6457827717110365317,
    3203168211198807973,
    9817491932198370423,
    4593380528125082431,
    16408922859458223821,
)
"""The first numbers after the seed 1234567, as Rosetta Code prints them."""
Row = tuple[bytes, bytes, int | None, str]
N_ROWS = 5_000


def made(rng: np.random.Generator) -> list[Row]:
    """Rows with ids of which some come often, and with few values."""
    own, others = ([rng.bytes(16) for _ in range(n)] for n in (N_ROWS, 7))
    strengths = [None, 0, 1, 2]
    return [
        (id_, others[k % 7], strengths[rng.integers(4)], ("first", "second")[rng.integers(2)])
        for k, id_ in enumerate(own)
    ]


def total(rows: Sequence[Row]) -> Total:
    own, others, *values = zip(*rows, strict=True)
    ids = [id_words(column) for column in (own, others)]
    return total_of_columns(ids, values, Words())


@pytest.fixture(name="rows", scope="module")
def fixture_rows() -> list[Row]:
    return made(np.random.default_rng(4))


def test_words_are_mixed_as_splitmix64_does() -> None:
    states = np.uint64(1234567) + np.arange(1, 6, dtype=np.uint64) * np.uint64(GAMMA)
    assert tuple(mix(states).tolist()) == SPLITMIX64


def test_neither_order_nor_pages_change_a_sum(rows: list[Row]) -> None:
    rng = np.random.default_rng(5)
    shuffled = [rows[k] for k in rng.permutation(N_ROWS)]
    pages = [shuffled[:1], shuffled[1:1_234], shuffled[1_234:]]
    assert reduce(Total.and_also, map(total, pages), NOTHING) == total(rows)
    assert total(rows).n == N_ROWS


def edited(rows: list[Row], how: str) -> list[Row]:
    """Rows after an edit by hand."""
    changed = [*rows]
    one = next(k for k, row in enumerate(rows) if row[3] == "first")
    other = next(k for k, row in enumerate(rows) if row[3] == "second")
    (a, b, c, d), (e, f, g, h) = rows[one], rows[other]
    match how:
        case "two rows say what the other said":
            changed[one], changed[other] = (a, b, c, h), (e, f, g, d)
        case "two rows are about what the other was":
            k = next(k for k, row in enumerate(rows) if row[1] != b)
            changed[one], changed[k] = (a, rows[k][1], c, d), (rows[k][0], b, *rows[k][2:])
        case "ids change places":
            changed[one] = (b, a, c, d)
        case "none becomes 0":
            k = next(k for k, row in enumerate(rows) if row[2] is None)
            changed[k] = (*rows[k][:2], 0, rows[k][3])
        case "a bit of an id":
            changed[one] = (bytes([a[0] ^ 1]) + a[1:], b, c, d)
        case "a row twice, another gone":
            changed[other] = rows[one]
    return changed


@pytest.mark.parametrize(
    "how",
    [
        "two rows say what the other said",
        "two rows are about what the other was",
        "ids change places",
        "none becomes 0",
        "a bit of an id",
        "a row twice, another gone",
    ],
)
def test_an_edit_changes_a_sum(rows: list[Row], how: str) -> None:
    changed = edited(rows, how)
    assert changed != rows
    assert total(changed) != total(rows)
    assert total(changed).n == N_ROWS


def test_what_is_no_id_is_refused() -> None:
    with pytest.raises(ValueError, match="reshape"):
        id_words([bytes(16), bytes(8)])
