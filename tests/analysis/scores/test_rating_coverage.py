"""Nominal 95 % intervals of scores cover what they are of, where items differ a lot."""

import numpy as np
import pytest
from rated_records import make_rater, make_system

from hearteval.analysis.scores.scores import (
    OVERALL,
    ScoreRow,
    moments_of,
    normalised,
    score_systems,
)
from hearteval.domain import AXES, EQUAL_WEIGHTS
from hearteval.stats.comparisons import FloatArray

N_ITEMS, N_STUDIES, N_POPULATION = 20, 150, 100_000
SYSTEMS = [make_system(f"s{number}") for number in range(4)]
RATERS = [make_rater(f"r{number}") for number in range(2)]
THETA, SHIFT, SCALE = np.array([-0.6, -0.2, 0.2, 0.6]), np.array([-0.5, 0.5]), np.array([0.8, 1.2])


def draw(rng: np.random.Generator, n: int) -> FloatArray:
    """Return scores, (items, systems, raters)."""
    item = rng.normal(0, 0.8, (n, 1, 1))
    reply = rng.normal(0, 0.5, (n, 4, 1))
    noise = rng.normal(0, 0.4, (n, 4, 2))
    scores = 3 + SHIFT + SCALE * (THETA[None, :, None] + item + reply) + noise
    return np.clip(np.round(scores), 1, 5)


def rows_of(scores: FloatArray) -> list[ScoreRow]:
    rows = [
        ScoreRow(
            rater_id=RATERS[rater].id,
            system_id=SYSTEMS[system].id,
            item_id=str(item),
            completion_id="",
            repeat=0,
            scores=dict.fromkeys((*AXES, OVERALL), float(score)),
            z={},
        )
        for (item, system, rater), score in np.ndenumerate(scores)
    ]
    return normalised(rows, moments_of(rows), weights=EQUAL_WEIGHTS)


def test_intervals_cover() -> None:
    rng = np.random.default_rng(11)
    population = draw(rng, N_POPULATION)
    mean, sd = population.mean(axis=(0, 1)), population.reshape(-1, 2).std(axis=0)
    true_z = dict(zip("0123", ((population - mean) / sd).mean(axis=(0, 2)), strict=True))
    true_mean = dict(zip("0123", population.mean(axis=(0, 2)), strict=True))
    z_covers, mean_covers = [], []
    for _ in range(N_STUDIES):
        rows = rows_of(draw(rng, N_ITEMS))
        for row in score_systems(rows, SYSTEMS, RATERS, weights=EQUAL_WEIGHTS, level=0.95):
            at, key = row.overall, row.system[1:]
            assert at.low is not None
            assert at.high is not None
            assert at.z_low is not None
            assert at.z_high is not None
            z_covers.append(at.z_low <= true_z[key] <= at.z_high)
            mean_covers.append(at.low <= true_mean[key] <= at.high)
    assert np.mean(z_covers) == pytest.approx(0.95, abs=0.03)
    assert np.mean(mean_covers) == pytest.approx(0.95, abs=0.03)
