"""Comparisons drawn from known strengths, to test this package's own intervals.

A system's strength departs from its theta on each item and under each rater, by independent normal
amounts, or, under a fixed panel, by given ones. What a fit then estimates is not theta: chances
averaged over items and raters lie nearer to 1/2, so strengths shrink. `population_strengths` gives
their exact limit, the number that an interval has to cover.
"""

import math
from dataclasses import dataclass

import numpy as np
from made_comparisons import made_comparisons

from hearteval.stats.bradley_terry.fit import fit_win_matrix
from hearteval.stats.bradley_terry.ties import pair_probabilities
from hearteval.stats.comparisons import TIE_SCORE, Comparisons, FloatArray, IntArray

N_NODES = 80
"""Of the Gauss-Hermite rule; 40 give the same strengths to 1e-9 for SDs up to 1."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Population:
    """What is true of systems, items and raters, all in theta's units."""

    theta: FloatArray
    """Log-strength of each system on an average item under an average rater."""
    item_sd: float = 0.0
    """SD over items of each system's departure from theta."""
    rater_sd: float = 0.0
    """SD over raters of each system's departure; without effect under a panel."""
    tie: float = 0.0
    """Davidson's tie parameter nu: two equal systems tie with chance nu / (2 + nu)."""
    panel: FloatArray | None = None
    """Departures of a fixed panel, (judges, systems); none if raters are drawn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """Who compares what."""

    n_items: int
    pairs_per_item: int
    """Different pairs of systems compared on each item."""
    n_raters: int
    """Raters in the pool."""
    raters_per_pair: int
    """Different raters of each pair on each item, drawn from the pool."""
    both_orders: bool = False
    """Whether a rater sees each pair a second time, sides exchanged."""


def simulate_comparisons(
    population: Population, design: Design, rng: np.random.Generator
) -> Comparisons:
    """Draw items, raters unless they are a panel, who compares what, and the answers.

    All pairs of systems are compared equally often, to within one.

    Raises:
        ValueError: More pairs per item or raters per pair than there are, or a panel of another
            size than the pool.
    """
    theta = population.theta
    panel = population.panel
    if panel is None:
        panel = rng.normal(0, population.rater_sd, (design.n_raters, len(theta)))
    if len(panel) != design.n_raters:
        raise ValueError(f"the panel has {len(panel)} judges and the design {design.n_raters}")
    on_item = rng.normal(0, population.item_sd, (design.n_items, len(theta)))
    left, right, item, rater = _plan(len(theta), design, rng)
    strength_left = theta[left] + on_item[item, left] + panel[rater, left]
    strength_right = theta[right] + on_item[item, right] + panel[rater, right]
    win, tied = pair_probabilities(strength_left - strength_right, population.tie)
    draw = rng.random(len(left))
    return made_comparisons(
        left,
        right,
        np.where(draw < win, 1.0, np.where(draw < win + tied, TIE_SCORE, 0.0)),
        n_systems=len(theta),
        item=item,
        rater=rater,
    )


def population_strengths(population: Population) -> FloatArray:
    """Return what the Bradley-Terry fit with half-ties tends to as items and raters multiply.

    The chance that i wins, plus half that of a tie, is averaged over items and drawn raters, whose
    difference is normal with variance 2 (item_sd^2 + rater_sd^2) (Gauss-Hermite), or over items and
    the judges of the panel. The strengths are the fit of these averages, all pairs equally often:
    averaged chances are no longer quite Bradley-Terry, so other designs have other limits.
    """
    theta, panel = population.theta, population.panel
    variance = population.item_sd**2 + (population.rater_sd**2 if panel is None else 0)
    if panel is None:
        panel = np.zeros((1, len(theta)))
    node, mass = np.polynomial.hermite_e.hermegauss(N_NODES)
    strength = theta + panel
    difference = strength[:, :, None] - strength[:, None, :]
    win, tied = pair_probabilities(
        difference[..., None] + math.sqrt(2 * variance) * node, population.tie
    )
    points = ((win + tied / 2) @ (mass / mass.sum())).mean(axis=0)
    np.fill_diagonal(points, 0)
    return fit_win_matrix(points).theta


def _plan(
    n_systems: int, design: Design, rng: np.random.Generator
) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Return left, right, item and rater of each comparison."""
    first, second = np.triu_indices(n_systems, 1)
    if design.pairs_per_item > len(first) or design.raters_per_pair > design.n_raters:
        raise ValueError(f"{design} asks for more than {len(first)} pairs or its raters")
    n = design.n_items * design.pairs_per_item
    # One shuffled round of all pairs, again and again: equally often, never twice on an item.
    pair = np.resize(rng.permutation(len(first)), n)
    is_turned = rng.random(n) < 0.5
    left = np.where(is_turned, second[pair], first[pair])
    right = np.where(is_turned, first[pair], second[pair])
    item = np.repeat(np.arange(design.n_items), design.pairs_per_item)
    pool = rng.random((n, design.n_raters)).argsort(axis=1)
    rater = pool[:, : design.raters_per_pair].ravel()
    left, right, item = (np.repeat(a, design.raters_per_pair) for a in (left, right, item))
    if design.both_orders:
        left, right = np.concatenate((left, right)), np.concatenate((right, left))
        item, rater = np.tile(item, 2), np.tile(rater, 2)
    return left, right, item, rater
