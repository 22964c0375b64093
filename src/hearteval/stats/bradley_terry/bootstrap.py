"""Bradley-Terry refits on resampled items, all replicates at once.

Comparisons become points per item and pair of systems; a replicate is a multinomial weight for each
item, so one float32 matrix product gives the points of all replicates. Chord iterations then take
each to its own maximum: Newton steps with the information of the whole fit (Ortega and Rheinboldt
1970), so that all replicates share one matrix. Arrays are float32 with replicates last, as these
steps are bound by memory. What does not arrive in a few steps is fitted alone.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hearteval.errors import NotIdentifiedError
from hearteval.stats import MAP, one_blas_thread
from hearteval.stats.bradley_terry.fit import (
    BradleyTerryFit,
    add_prior,
    centred_inverse,
    fit_win_matrix,
    fix_gauge,
)
from hearteval.stats.bradley_terry.ties import DavidsonFit, fit_davidson
from hearteval.stats.comparisons import (
    TIE_SCORE,
    BoolArray,
    Comparisons,
    FloatArray,
    IntArray,
    number_labels,
    sum_by,
)

SingleArray = NDArray[np.float32]
Expected = Callable[[SingleArray, Sequence[SingleArray]], SingleArray]

CHORD_TOLERANCE = 1e-5
"""Size of the last step, in theta's units. What it leaves may be more: up to 3e-5 was measured,
0.005 Elo, far below the width of any interval."""
MAX_CHORDS = 40
MAX_THETA = 30.0
"""Log-strengths stop here while they move, so that float32 does not overflow."""
MAX_GROUPS = 2_048
"""Above this number of items, items are resampled in so many groups drawn at random."""
BLOCK_CELLS = 1 << 23
"""Pairs of systems, or items, times replicates held at once (32 MiB of float32)."""


class Bootstrap(NamedTuple):
    """Strengths refitted to resampled items."""

    theta: FloatArray
    """(n_replicates, n_systems), mean 0 in each; only replicates that are identified."""
    n_not_identified: int
    """Replicates whose comparisons do not determine the strengths."""


def bootstrap_items(
    comparisons: Comparisons,
    fit: BradleyTerryFit,
    *,
    n_resamples: int,
    rng: np.random.Generator,
    prior: float = 0.0,
) -> Bootstrap:
    """Refit to items drawn with replacement, ties treated as in the fit, raters as given.

    The fit is that of the comparisons with the same prior, as `add_prior`.

    Raises:
        NotIdentifiedError: Under two items.
    """
    group, n_groups = _group_items(comparisons.item, rng)
    if n_groups < 2:
        raise NotIdentifiedError(f"a bootstrap of items needs at least two items, not {n_groups}")
    n_block = max(1, BLOCK_CELLS // max(comparisons.n_systems**2, n_groups))
    sizes = [min(n_block, n_resamples - start) for start in range(0, n_resamples, n_block)]
    blocks = (draw_items(n_groups, size, rng) for size in sizes)
    weight_of_ties = comparisons.total_weight * (comparisons.score == TIE_SCORE)
    ties = np.bincount(group, weights=weight_of_ties, minlength=n_groups).astype(np.float32)
    points = _points_by_pair(comparisons, group, n_groups)
    theta = np.concatenate([*MAP.get()(partial(_refit_to, points, ties, fit, prior), blocks)], 1).T
    return Bootstrap(theta=theta, n_not_identified=n_resamples - len(theta))


def draw_items(n_items: int, n_resamples: int, rng: np.random.Generator) -> SingleArray:
    """Return how often each item is in each replicate, as (n_items, n_resamples)."""
    picks = rng.integers(0, n_items, size=(n_resamples, n_items), dtype=np.uint16)
    cells = picks + (np.arange(n_resamples) * n_items)[:, None]
    drawn = np.bincount(cells.ravel(), minlength=n_items * n_resamples)
    return drawn.reshape(n_resamples, n_items).T.astype(np.float32)


def _group_items(item: IntArray, rng: np.random.Generator) -> tuple[IntArray, int]:
    """Number the items from 0; above `MAX_GROUPS`, put them into groups of equal size."""
    index, n_items = number_labels(item)
    if n_items <= MAX_GROUPS:
        return index, n_items
    return rng.permutation(n_items)[index] % MAX_GROUPS, MAX_GROUPS


def _refit_to(
    points_by_pair: tuple[SingleArray, IntArray],
    ties: SingleArray,
    fit: BradleyTerryFit,
    prior: float,
    block: SingleArray,
) -> FloatArray:
    """Refit to a block of replicates, (groups, replicates); return (systems, those identified)."""
    n = len(fit.theta)
    by_pair, pairs = points_by_pair
    with one_blas_thread():
        points = np.zeros((n * n, block.shape[1]), np.float32)
        points[pairs] = by_pair @ block
        cube = points.reshape(n, n, -1)
        if prior:
            cube += add_prior(np.zeros((n, n)), prior).astype(np.float32)[..., None]
        identified = are_identified(cube)
        n_ties = ties @ block
        if not identified.all():
            cube, n_ties = cube[:, :, identified], n_ties[identified]
        if isinstance(fit, DavidsonFit) and fit.tie > 0:
            return _refit_with_ties(cube, n_ties, fit)
        return _refit(cube, fit)


def _points_by_pair(
    comparisons: Comparisons, group: IntArray, n_groups: int
) -> tuple[SingleArray, IntArray]:
    """Return points as (ordered pairs with any, groups), and the numbers of these pairs."""
    n = comparisons.n_systems
    keys = np.concatenate(
        (comparisons.left * n + comparisons.right, comparisons.right * n + comparisons.left)
    )
    weight = comparisons.total_weight
    points = np.concatenate((weight * comparisons.score, weight * (1 - comparisons.score)))
    pairs = np.flatnonzero(np.bincount(keys, weights=points, minlength=n * n))
    row = np.zeros(n * n, np.int64)
    row[pairs] = np.arange(len(pairs))
    cells = row[keys] * n_groups + np.tile(group, 2)
    table = sum_by(cells, points, len(pairs) * n_groups)
    return table.reshape(len(pairs), n_groups).astype(np.float32), pairs


def _refit(points: SingleArray, fit: BradleyTerryFit) -> FloatArray:
    """Return the strengths of the replicates, as (n_systems, replicates)."""
    n = len(fit.theta)
    inverse = centred_inverse(fit.information[:n, :n]).astype(np.float32)
    theta, late = take_chords(points, points.sum(axis=1), fit.theta, inverse, expected_points)
    return _finish(theta, late, lambda k: fit_win_matrix(points[:, :, k].astype(float)).theta)


def _refit_with_ties(points: SingleArray, n_ties: SingleArray, fit: DavidsonFit) -> FloatArray:
    """Do the same with a tie parameter for each replicate."""
    n = len(fit.theta)
    inverse = np.linalg.inv(fix_gauge(fit.information, slice(0, n))).astype(np.float32)
    start = np.append(fit.theta, np.log(fit.tie))
    observed = np.vstack((points.sum(axis=1), n_ties))
    found, late = take_chords(points, observed, start, inverse, expected_with_ties)

    def fit_alone(k: int) -> FloatArray:
        return fit_davidson(points[:, :, k].astype(float), float(n_ties[k])).theta

    return _finish(found[:n], late, fit_alone)


def _finish(
    theta: SingleArray, late: IntArray, fit_alone: Callable[[int], FloatArray]
) -> FloatArray:
    """Fit the late replicates alone, and leave out those that no strengths fit."""
    finished = theta.astype(np.float64)
    stays = np.ones(theta.shape[1], dtype=np.bool_)
    for k in late.tolist():
        try:
            finished[:, k] = fit_alone(k)
        except NotIdentifiedError:
            stays[k] = False
    finished = finished[:, stays]
    return np.asarray(finished - finished.mean(axis=0))


def take_chords(
    points: SingleArray,
    observed: SingleArray,
    start: FloatArray,
    inverse: SingleArray,
    expected: Expected,
) -> tuple[SingleArray, IntArray]:
    """Move every replicate towards its maximum.

    Args:
        points: Points by pair, (n_systems, n_systems, replicates).
        observed: Sufficient statistics, (n_parameters, replicates).
        start: Where all begin, the full fit.
        inverse: Inverse information there.
        expected: What observed statistics parameters imply.

    Returns:
        Parameters by replicate, and the replicates that did not arrive.
    """
    active = np.arange(points.shape[2])
    found = np.repeat(start.astype(np.float32)[:, None], len(active), axis=1)
    counts = [points[i, i + 1 :] + points[i + 1 :, i] for i in range(len(points))]
    at = found.copy()
    for _ in range(MAX_CHORDS):
        step = inverse @ (observed - expected(at, counts))
        at = np.clip(at + step, -MAX_THETA, MAX_THETA)
        is_late = np.abs(step).max(axis=0) > CHORD_TOLERANCE
        found[:, active[~is_late]] = at[:, ~is_late]
        if is_late.sum() <= len(active) // 2:
            active, at, observed = active[is_late], at[:, is_late], observed[:, is_late]
            counts = [row[:, is_late] for row in counts]
        if not len(active):
            break
    return found, active


def expected_points(theta: SingleArray, counts: Sequence[SingleArray]) -> SingleArray:
    """Return the points that log-strengths imply, both as (n_systems, replicates).

    Counts are, for each system, its comparisons with those after it.
    """
    # P(i beats j) = pi_i / (pi_i + pi_j): one exponential a system instead of one a pair.
    strength = np.exp(theta)
    shares = np.zeros_like(strength)
    for i, row in enumerate(counts):
        share = row / (strength[i + 1 :] + strength[i])
        shares[i] += share.sum(axis=0)
        shares[i + 1 :] += share
    return np.asarray(strength * shares)


def expected_with_ties(at: SingleArray, counts: Sequence[SingleArray]) -> SingleArray:
    """Return the points and, in the last row, the ties that (theta, log nu) imply."""
    root, tie = np.exp(at[:-1] / 2), np.exp(at[-1])
    expected = np.zeros_like(at)
    for i, row in enumerate(counts):
        others = root[i + 1 :]
        both = tie * root[i] * others
        share = row / (root[i] ** 2 + others**2 + both)
        tied = both * share
        expected[i] += (root[i] ** 2 * share + tied / 2).sum(axis=0)
        expected[i + 1 : -1] += others**2 * share + tied / 2
        expected[-1] += tied.sum(axis=0)
    return expected


def are_identified(points: SingleArray) -> BoolArray:
    """Say for each replicate whether wins and ties lead from every system to every other."""
    has_won = points > 0
    return _reach_all(has_won) & _reach_all(has_won.swapaxes(0, 1))


def _reach_all(has_won: BoolArray) -> BoolArray:
    """Say for each replicate whether the first system leads to all others."""
    reached = has_won[0].copy()
    reached[0] = True
    n_before = -1
    while not reached.all() and reached.sum() > n_before:
        n_before = reached.sum()
        for i in range(1, len(has_won)):
            reached |= has_won[i] & reached[i]
    return np.asarray(reached.all(axis=0))
