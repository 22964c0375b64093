"""Cells of axes that are called clear of the mean: one family a table, with two systems too."""

import functools
from itertools import combinations

import numpy as np
import pytest
import scipy.stats
from judged_study import StudyMaker, make_items, make_systems

from hearteval.analysis.judgments import judgments_of
from hearteval.analysis.ranking.leaderboard import Leaderboard, rank_systems
from hearteval.domain import AXES, Axis, AxisMark, Choice, Rater

JUDGE = Rater(name="judge", kind="llm", family="x", settings={})


@functools.cache
def board(n_systems: int, seed: int = 3, n_items: int = 25) -> Leaderboard:
    """Rank systems whose axis marks are drawn by coins, the first a little better on H."""
    draw = np.random.default_rng(seed)
    systems = make_systems(*"abcd"[:n_systems])
    made = StudyMaker(make_items(n_items), systems, [JUDGE])
    marks: list[dict[Axis, AxisMark]] = []
    for item in made.items:
        for pair in combinations(systems, 2):
            better = 0.75 if pair[0] is systems[0] else 0.5
            sides: list[Choice] = [
                "first" if draw.random() < (better if axis == "H" else 0.5) else "second"
                for axis in AXES
            ]
            made.judge(item, pair, sides[1], rater=JUDGE)
            marks.append({a: AxisMark(side, 2) for a, side in zip(AXES, sides, strict=True)})
    rows = [row._replace(axes=own) for row, own in zip(made.judgments, marks, strict=True)]
    return rank_systems(judgments_of(rows), systems, [JUDGE])


def test_p_is_that_of_the_interval() -> None:
    found = board(4)
    for row in found.rows:
        for axis, at in row.axes.items():
            assert at.elo is not None
            assert at.low is not None
            df = found.axis_intervals[axis].df
            se = (at.elo - at.low) / scipy.stats.t.ppf(0.975, df)
            assert at.p == pytest.approx(2 * scipy.stats.t.sf(abs(at.elo - 1500) / se, df))


def test_q_is_over_all_cells_of_the_table() -> None:
    cells = [at for row in board(4).rows for at in row.axes.values()]
    p = [at.p for at in cells if at.p is not None]
    assert len(p) == 4 * len(AXES)
    q = scipy.stats.false_discovery_control(p)
    assert [at.q for at in cells] == pytest.approx(q.tolist())


def test_two_systems_are_one_test_an_axis() -> None:
    one, other = board(2).rows
    once = scipy.stats.false_discovery_control([one.axes[axis].p for axis in AXES])
    for axis, q in zip(AXES, once.tolist(), strict=True):
        assert one.axes[axis].p == pytest.approx(other.axes[axis].p)
        assert one.axes[axis].q == pytest.approx(q)
        assert other.axes[axis].q == pytest.approx(q)


def test_of_tables_without_any_difference_few_have_a_cell_clear_of_the_mean() -> None:
    n_by_p = n_by_q = 0
    for seed in range(60):
        cells = [at for row in board(2, seed, 40).rows for at in row.axes.values()][1:5]
        n_by_p += any(at.p is not None and at.p <= 0.05 for at in cells)
        n_by_q += any(at.q is not None and at.q <= 0.05 for at in cells)
    assert n_by_q < n_by_p
