"""The ablation finds a planted halo, and none where there is none."""

import numpy as np
import pytest

from hearteval.analysis.judges.halo import AxisHalo, PairMarks, measure_halo
from hearteval.domain import AXES, Axis, Choice

SIDES: tuple[Choice, Choice] = ("first", "second")


def asked(n_items: int, *, halo: float, again: float = 0.1, seed: int = 1) -> list[PairMarks]:
    """Marks of a judge that copies its verdict with probability `halo` where axes are together.

    Of marks that are its own, a share `again` is another one whenever it is asked anew.
    """
    rng = np.random.default_rng(seed)

    def says(own: dict[Axis, Choice], overall: Choice, copies: float) -> dict[Axis, Choice]:
        found: dict[Axis, Choice] = {}
        for axis in AXES:
            said = SIDES[rng.integers(2)] if rng.random() < again else own[axis]
            found[axis] = overall if rng.random() < copies else said
        return found

    pairs = []
    for number in range(2 * n_items):
        overall = SIDES[rng.integers(2)]
        own = {axis: SIDES[rng.integers(2)] for axis in AXES}
        marks = [says(own, overall, copies) for copies in (halo, halo, 0.0)]
        pairs.append(PairMarks(f"item {number // 2}", overall, *marks))
    return pairs


def halo_of(pairs: list[PairMarks]) -> AxisHalo:
    overall, axes = measure_halo(pairs, AXES, level=0.95)
    assert overall is not None
    assert [one.axis for one in axes] == list(AXES)
    return overall


def test_a_planted_halo_is_recovered() -> None:
    # Own marks are a coin's, so half of them are the verdict without any halo.
    found = halo_of(asked(200, halo=0.6))
    assert found.low <= 0.3 <= found.high
    assert found.high - found.low < 0.1
    assert found.p_value < 1e-6
    assert found.together == pytest.approx(0.8, abs=0.03)
    assert found.alone == pytest.approx(0.5, abs=0.03)


def test_a_judge_without_one_is_named_seldom_however_often_it_changes_its_mind() -> None:
    found = [halo_of(asked(30, halo=0.0, again=0.5, seed=seed)) for seed in range(200)]
    n_named = sum(one.low > 0 or one.high < 0 for one in found)
    assert n_named <= 20  # one in twenty expected; more than 20 of 200 by chance once in 1,000


def test_what_a_judge_says_otherwise_when_asked_again_is_no_halo() -> None:
    """A verdict that follows from the judge's own marks holds less of what it says anew."""
    rng = np.random.default_rng(3)
    pairs = []
    for number in range(400):
        own = {axis: SIDES[rng.integers(2)] for axis in AXES}
        overall = max(SIDES, key=lambda side: sum(mark == side for mark in own.values()))
        anew = [
            {a: SIDES[rng.integers(2)] if rng.random() < 0.3 else own[a] for a in AXES}
            for _ in range(2)
        ]
        pairs.append(PairMarks(f"item {number}", overall, own, anew[0], anew[1]))
    found = halo_of(pairs)
    assert found.together - found.alone > 0.05
    assert found.low < 0 < found.high


def test_a_pair_that_lacks_a_mark_counts_where_it_has_them_all() -> None:
    whole, lacking = asked(1, halo=0.5)
    lacking = lacking._replace(alone={"H": "first"})
    overall, axes = measure_halo([whole, lacking], AXES, level=0.95)
    assert overall is not None
    assert overall.n_pairs == 1
    assert {one.axis: one.n_pairs for one in axes} == {"H": 2, "E": 1, "A": 1, "R": 1, "T": 1}
    assert measure_halo([lacking], AXES, level=0.95)[0] is None
