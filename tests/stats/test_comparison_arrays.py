import math
from dataclasses import replace

import numpy as np
import pytest
from made_comparisons import made_comparisons

from hearteval.stats.comparisons import (
    FEW_ROWS,
    Comparisons,
    count_comparisons,
    keep_compared,
    number_labels,
    packed_columns,
    select_comparisons,
    sum_by,
    sum_scores,
    win_matrix,
    with_columns,
)

Row = tuple[int, int, float, float]


def comparisons_of(rows: list[Row], n_systems: int) -> Comparisons:
    left, right, score, weight = np.array(rows, dtype=np.float64).reshape(-1, 4).T
    item = np.arange(len(rows))
    return made_comparisons(left, right, score, n_systems=n_systems, weight=weight, item=item)


def test_win_matrix_gives_half_a_tie_to_each_side() -> None:
    comparisons = comparisons_of([(0, 1, 1, 3), (1, 0, 0.5, 1), (2, 1, 0, 2)], 3)

    expected = [[0, 3.5, 0], [0.5, 0, 2], [0, 0, 0]]
    np.testing.assert_array_equal(win_matrix(comparisons), expected)


def test_comparisons_are_counted_without_their_weights() -> None:
    comparisons = comparisons_of([(0, 1, 1, 5), (1, 0, 0.5, 1), (2, 1, 0, 2)], 4)

    assert count_comparisons(comparisons).tolist() == [2, 3, 1, 0]


def test_no_rows_give_an_empty_win_matrix() -> None:
    assert win_matrix(comparisons_of([], 0)).shape == (0, 0)


def test_sums_do_not_depend_on_the_order_of_values() -> None:
    values = np.array([1e16, 1.0, -1e16, 0.1, 0.2, 0.3])
    keys = np.zeros(6, dtype=np.int64)
    forwards, backwards = sum_by(keys, values, 1), sum_by(keys, values[::-1], 1)

    assert forwards.tolist() == backwards.tolist()
    assert np.bincount(keys, values).tolist() != np.bincount(keys, values[::-1]).tolist()


def test_systems_without_a_row_are_dropped_and_the_others_renumbered() -> None:
    compact, kept = keep_compared(comparisons_of([(4, 1, 1, 1), (1, 3, 0, 1)], 6))

    assert kept.tolist() == [1, 3, 4]
    assert compact.left.tolist() == [2, 0]
    assert compact.right.tolist() == [0, 1]
    assert compact.n_systems == 3


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ((0, 2, 1, 1), "names no system"),
        ((-1, 1, 1, 1), "names no system"),
        ((1, 1, 1, 1), "with itself"),
        ((0, 1, 0.7, 1), "score"),
        ((0, 1, float("nan"), 1), "score"),
        ((0, 1, 1, 0), "weight"),
        ((0, 1, 1, float("inf")), "weight"),
    ],
)
def test_bad_row_is_refused_by_its_index(row: Row, problem: str) -> None:
    with pytest.raises(ValueError, match=rf"row 1 .*{problem}.*1 such"):
        comparisons_of([(0, 1, 1, 1), row], 2)


def test_columns_of_unequal_length_are_refused() -> None:
    indices = np.array([0, 1])
    with pytest.raises(ValueError, match="one length"):
        Comparisons(
            left=indices,
            right=indices[:1],
            score=np.ones(2),
            weight=np.ones(2),
            count=np.ones(2, dtype=np.int64),
            item=indices,
            rater=indices,
            n_systems=2,
        )


@pytest.mark.parametrize("n", [FEW_ROWS - 1, FEW_ROWS])
def test_many_rows_lie_in_few_bytes_and_are_wide_whenever_they_are_read(n: int) -> None:
    rng = np.random.default_rng(2)
    given = {
        "left": rng.integers(0, 9, n),
        "right": rng.integers(9, 18, n),
        "score": rng.integers(0, 3, n) / 2,
        "weight": rng.integers(1, 6, n) / 3,
        "count": rng.integers(1, 2**40, n),
        "item": rng.integers(0, 70_000, n),
        "rater": rng.integers(-1, 200, n),
        "writer": rng.integers(-1, 3, n),
    }

    made = select_comparisons(Comparisons(n_systems=18, **given), np.arange(n)[::-1])  # type: ignore[arg-type]

    for name, column in given.items():
        read = getattr(made, name)
        assert read.dtype == (np.float64 if name in ("score", "weight") else np.int64)
        assert read.tolist() == column[::-1].tolist()
    n_bytes = sum(column.nbytes for column in packed_columns(made).values()) / n
    assert n_bytes == (1 + 1 + 4 + 8 + 8 + 4 + 2 + 1 if n == FEW_ROWS else 8 * len(given))


def test_sums_of_scores_do_not_depend_on_the_order_of_rows() -> None:
    rng = np.random.default_rng(4)
    keys, scores = rng.integers(0, 7, 5_000), rng.normal(0, 1, 5_000)
    order = rng.permutation(5_000)

    sums = sum_scores(keys, scores, 7)

    assert sums.tolist() == sum_scores(keys[order], scores[order], 7).tolist()
    expected = [math.fsum(scores[keys == key]) for key in range(7)]
    np.testing.assert_allclose(sums, expected, atol=1e-9)


def test_scores_that_are_all_zero_sum_to_zero() -> None:
    assert sum_scores(np.array([0, 1]), np.zeros(2), 2).tolist() == [0, 0]


def test_sums_of_halves_are_exact_without_sorting() -> None:
    keys = np.array([0, 0, 1])

    assert sum_by(keys, np.array([0.5, 2.0, 1.5]), 2).tolist() == [2.5, 1.5]


def test_labels_are_numbered_in_their_order() -> None:
    numbers, n = number_labels(np.array([7, 2, 7, 9]))

    assert (numbers.tolist(), n) == ([1, 0, 1, 2], 3)


def test_row_that_stands_for_no_comparison_is_refused() -> None:
    once = comparisons_of([(0, 1, 1.0, 1.0)], 2)

    with pytest.raises(ValueError, match="stands for no comparison"):
        replace(once, count=np.zeros(1, dtype=np.int64))


def test_columns_that_stay_are_shared() -> None:
    rng = np.random.default_rng(1)
    n = 2 * FEW_ROWS
    item = rng.integers(0, n, n)
    comparisons = made_comparisons(np.zeros(n), np.ones(n), np.ones(n), n_systems=2, item=item)

    other = with_columns(comparisons, weight=np.full(n, 2.0))

    before, after = packed_columns(comparisons), packed_columns(other)
    assert all(np.shares_memory(before[name], after[name]) for name in before if name != "weight")
    assert other.weight.tolist() == [2.0] * n
