"""Counting rows gives what a dictionary would, whatever the order and the way of counting."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_comparisons import made_comparisons

from hearteval.stats import tally as tally_module
from hearteval.stats.comparisons import Comparisons
from hearteval.stats.tally import Tally, count_equal

ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 40)), min_size=1, max_size=60)


def counted(tally: Tally) -> dict[tuple[int, ...], int]:
    columns, counts = tally.rows()
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return dict(zip(rows, counts.tolist(), strict=True))


def columns_of(rows: list[tuple[int, int]]) -> list[np.ndarray[tuple[int], np.dtype[np.int32]]]:
    return [np.array(column, dtype=np.int32) for column in zip(*rows, strict=True)]


@given(ROWS, st.integers(1, 7), st.sampled_from([1, 1 << 24]))
@settings(max_examples=60)
def test_counts_are_those_of_a_dictionary(
    rows: list[tuple[int, int]], batch_rows: int, max_cells: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tally_module, "BATCH_ROWS", batch_rows)
        patch.setattr(tally_module, "MAX_CELLS", max_cells)
        tally = Tally(2)
        for row in rows:
            tally.add(*columns_of([row]))
        assert counted(tally) == Counter(rows)


@given(ROWS)
def test_rows_come_sorted(rows: list[tuple[int, int]]) -> None:
    tally = Tally(2)
    tally.add(*columns_of(rows))

    columns, _ = tally.rows()

    assert list(zip(*(column.tolist() for column in columns), strict=True)) == sorted(set(rows))


def test_rows_that_become_equal_are_counted_together() -> None:
    tally = Tally(2)
    tally.add(*columns_of([(0, 5), (1, 5), (2, 5), (2, 6)]))

    tally.relabel(0, np.array([7, 7, 1]))

    assert counted(tally) == {(1, 5): 1, (1, 6): 1, (7, 5): 2}


def test_nothing_added_is_no_row() -> None:
    columns, counts = Tally(3).rows()

    assert [len(column) for column in columns] == [0, 0, 0]
    assert len(counts) == 0


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="2 columns of one length"):
        Tally(2).add(np.array([1, 2]), np.array([1]))


def test_rows_of_any_number_of_possible_values_are_counted() -> None:
    big = 2**31 - 1
    tally = Tally(3)
    tally.add(*[np.array([big, 0, big, 4])] * 3)
    tally.add(*[np.array([4, big])] * 3)

    assert counted(tally) == {(0, 0, 0): 1, (4, 4, 4): 2, (big, big, big): 3}
    tally.add(*[np.array([4])] * 3)
    assert counted(tally) == {(0, 0, 0): 1, (4, 4, 4): 3, (big, big, big): 3}


@given(ROWS, st.sampled_from([1, 1 << 24]), st.booleans())
@settings(max_examples=40)
def test_equal_comparisons_are_counted_as_one(
    rows: list[tuple[int, int]], max_cells: int, has_writers: bool
) -> None:
    item, kind = (np.array(column, dtype=np.int64) for column in zip(*rows, strict=True))
    comparisons = made_comparisons(
        kind % 2,
        1 + kind % 2,
        (kind % 3) / 2,
        n_systems=3,
        weight=np.where(kind > 20, 2 / 3, 1.5),
        count=1 + kind % 4,
        item=item,
        rater=kind % 5 - 1,
        writer=kind // 5 % 3 - 1 if has_writers else None,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tally_module, "MAX_CELLS", max_cells)
        found = count_equal(comparisons)

    expected: Counter[tuple[float, ...]] = Counter()
    for row, n in zip(_values(comparisons), comparisons.count.tolist(), strict=True):
        expected[row] += n
    assert list(zip(_values(found), found.count.tolist(), strict=True)) == sorted(expected.items())


def _values(comparisons: Comparisons) -> list[tuple[float, ...]]:
    c = comparisons
    columns = [c.left, c.right, c.score, c.weight, c.item, c.rater]
    columns += [] if c.writer is None else [c.writer]
    return list(zip(*(column.tolist() for column in columns), strict=True))
