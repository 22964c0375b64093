"""Scores of single completions drawn from known strengths, and what their means tend to.

A rater sees a completion at

    x = 3 + SCALE (q + length (w - 30) / (w + 30) + own family) + leniency + normal noise,

q being its strength on the axis, and says the nearest of 1 to 5.
"""

from dataclasses import dataclass

import numpy as np

from hearteval.stats.bradley_terry.covariates import relative_difference
from hearteval.stats.comparisons import BoolArray, FloatArray, IntArray
from hearteval.stats.simulation import WORDS_SD, Raters, Setting, Systems
from hearteval.stats.special import ndtr, ndtri

SCALE, MIDDLE, LOWEST, HIGHEST = 0.8, 3.0, 1, 5
USUAL_WORDS = 30
NOISE_SD = 0.6


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rated:
    """What is rated, a row each time: a completion by a rater."""

    system: IntArray
    quality: FloatArray
    """Its own departure from the strength of its system."""
    words: FloatArray
    is_adversarial: BoolArray
    rater: IntArray


def draw_scores(
    rated: Rated,
    systems: Systems,
    raters: Raters,
    leniency: FloatArray,
    rng: np.random.Generator,
) -> IntArray:
    """Draw scores from 1 to 5, (axes, rows); `leniency` is each rater's."""
    s, r = rated.system, rated.rater
    seen = (
        systems.theta[s]
        + systems.on_axes[:, s]
        + rated.quality
        + (raters.departure + raters.own)[r, s]
        + rated.is_adversarial * systems.on_adversarial[s]
        + systems.length * relative_difference(rated.words, np.full(len(s), USUAL_WORDS))
    )
    x = MIDDLE + SCALE * seen + leniency[r] + NOISE_SD * rng.normal(size=seen.shape)
    scores = np.clip(np.rint(x), LOWEST, HIGHEST)
    at_random = rng.integers(LOWEST, HIGHEST + 1, size=seen.shape)
    return np.where(raters.is_random[r], at_random, scores).astype(np.int64)


def expected_scores(
    systems: Systems,
    raters: Raters,
    leniency: FloatArray,
    setting: Setting,
    *,
    leniency_sd: float = 0.0,
) -> FloatArray:
    """Return each rater's mean score of each system over all axes, (raters, systems).

    With people, who are sampled (`setting.rater_sd`), all rows are the mean over others like them.
    """
    people = setting.rater_sd > 0
    spread = WORDS_SD * ndtri((np.arange(setting.nodes.words) + 0.5) / setting.nodes.words)
    words = np.exp(systems.log_words[:, None] + spread)
    longer = systems.length * relative_difference(words, np.full(words.shape, USUAL_WORDS))
    hidden = SCALE**2 * (systems.completion_sd**2 + setting.rater_sd**2)
    sd = np.sqrt(hidden + leniency_sd**2 + NOISE_SD**2)[:, None, None]
    own = np.zeros_like(raters.own) if people else raters.departure + raters.own
    found = np.zeros(own.shape)
    share = setting.adversarial
    for part, extra in ((1 - share, 0.0), (share, systems.on_adversarial)):
        seen = (systems.theta + systems.on_axes + extra)[:, None, :] + own
        x = MIDDLE + SCALE * (seen[..., None] + longer)
        if not people:
            x = x + leniency[None, :, None, None]
        edges = np.arange(LOWEST + 1, HIGHEST + 1) - 0.5
        above = ndtr((x[..., None] - edges) / sd)
        found += part * (LOWEST + above.sum(axis=-1)).mean(axis=(0, 3))
    if people:
        found += raters.is_random.mean() * (MIDDLE - found)
    return found
