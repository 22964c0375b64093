"""Scores drawn from known strengths, and what their means tend to."""

from dataclasses import replace

import numpy as np
import pytest

from hearteval.stats.comparisons import FloatArray
from hearteval.stats.simulated_scores import Rated, draw_scores, expected_scores
from hearteval.stats.simulation import Raters, Setting, Systems

N = 3
SYSTEMS = Systems(
    theta=np.array([1.2, 0.0, -1.2]),
    on_axes=np.array([[0.3, -0.3, 0.0], [-0.3, 0.3, 0.0]]),
    on_adversarial=np.array([0.0, 0.0, 0.6]),
    log_words=np.log([20.0, 30.0, 45.0]),
    completion_sd=np.array([0.6, 0.6, 1.2]),
    length=0.8,
    n_completions=np.ones(N, dtype=np.int64),
)
JUDGES = Raters(
    departure=np.array([[0.2, 0.0, -0.2], [0.0, 0.3, 0.0]]),
    position=np.zeros(2),
    own=np.array([[0.5, 0.0, 0.0], [0.0, 0.0, 0.0]]),
    may_judge=np.ones((2, N), dtype=bool),
    is_random=np.zeros(2, dtype=bool),
    has_ties=False,
    tie_size=0.0,
)
LENIENCY = np.array([0.4, -0.3])
SHARE = 0.25


def mean_of_draw(raters: Raters, leniency: FloatArray, rater: int, system: int) -> float:
    n, rng = 60_000, np.random.default_rng(5)
    rated = Rated(
        system=np.full(n, system),
        quality=SYSTEMS.completion_sd[system] * rng.normal(size=n),
        words=np.exp(SYSTEMS.log_words[system] + 0.35 * rng.normal(size=n)),
        is_adversarial=rng.random(n) < SHARE,
        rater=np.full(n, rater),
    )
    return float(draw_scores(rated, SYSTEMS, raters, leniency, rng).mean())


@pytest.mark.parametrize("judge", [0, 1])
@pytest.mark.parametrize("system", range(N))
def test_what_a_judge_gives_tends_to_the_mean_of_a_large_draw(judge: int, system: int) -> None:
    found = expected_scores(SYSTEMS, JUDGES, LENIENCY, Setting(0.0, SHARE))
    drawn = mean_of_draw(JUDGES, LENIENCY, judge, system)
    assert found[judge, system] == pytest.approx(drawn, abs=0.02)


def test_people_are_averaged_over_others_like_them() -> None:
    n, rng = 400, np.random.default_rng(6)
    pool = replace(
        JUDGES,
        departure=0.3 * rng.normal(size=(n, N)),
        own=np.zeros((n, N)),
        position=np.zeros(n),
        may_judge=np.ones((n, N), dtype=bool),
        is_random=np.arange(n) < n // 4,
    )
    leniency = 0.3 * rng.normal(size=n)
    rows = 120_000
    rated = Rated(
        system=np.zeros(rows, dtype=np.int64),
        quality=SYSTEMS.completion_sd[0] * rng.normal(size=rows),
        words=np.exp(SYSTEMS.log_words[0] + 0.35 * rng.normal(size=rows)),
        is_adversarial=np.zeros(rows, dtype=bool),
        rater=rng.integers(n, size=rows),
    )
    drawn = draw_scores(rated, SYSTEMS, pool, leniency, rng).mean()
    found = expected_scores(SYSTEMS, pool, leniency, Setting(0.3, 0.0), leniency_sd=0.3)
    assert found[0, 0] == pytest.approx(drawn, abs=0.04)


def test_scores_are_whole_numbers_from_one_to_five() -> None:
    rated = Rated(
        system=np.repeat(np.arange(N), 50),
        quality=np.zeros(3 * 50),
        words=np.full(150, 30.0),
        is_adversarial=np.zeros(150, dtype=bool),
        rater=np.zeros(150, dtype=np.int64),
    )
    far = replace(SYSTEMS, theta=np.array([9.0, 0.0, -9.0]))
    scores = draw_scores(rated, far, JUDGES, LENIENCY, np.random.default_rng(7))
    assert scores.shape == (2, 150)
    assert set(scores[:, :50].ravel().tolist()) == {5}
    assert set(scores[:, 100:].ravel().tolist()) == {1}
