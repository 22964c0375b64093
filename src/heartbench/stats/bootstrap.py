"""Bradley-Terry refits on resampled items, all replicates at once.

Comparisons become points per item and pair of systems; a replicate is a multinomial weight for each
item, so one float32 matrix product gives the points of all replicates. Chord iterations then take
each to its own maximum (`heartbench.stats.chords`); what does not arrive is fitted alone.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from heartbench.errors import NotIdentifiedError
from heartbench.stats.bradley_terry import (
    BradleyTerryFit,
    add_prior,
    centred_inverse,
    fit_win_matrix,
)
from heartbench.stats.chords import (
    SingleArray,
    are_identified,
    expected_points,
    expected_with_ties,
    take_chords,
)
from heartbench.stats.comparisons import (
    TIE_SCORE,
    Comparisons,
    FloatArray,
    IntArray,
    number_labels,
    sum_by,
)
from heartbench.stats.davidson import DavidsonFit, fit_davidson
from heartbench.stats.newton import fix_gauge
from heartbench.stats.threads import one_blas_thread

MAX_GROUPS = 2_048
"""Above this number of items, items are resampled in so many groups drawn at random."""
BLOCK_CELLS = 1 << 23
"""Pairs of systems, or items, times replicates held at once (32 MiB of float32)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bootstrap:
    """Strengths refitted to resampled items.

    Attributes:
        theta: (n_replicates, n_systems), mean 0 in each; only replicates that are identified.
        n_not_identified: Replicates whose comparisons do not determine the strengths.
    """

    theta: FloatArray
    n_not_identified: int


def bootstrap_items(
    comparisons: Comparisons,
    fit: BradleyTerryFit | DavidsonFit,
    *,
    n_resamples: int,
    rng: np.random.Generator,
    prior: float = 0.0,
) -> Bootstrap:
    """Refit to items drawn with replacement, ties treated as in the fit, raters as given.

    Args:
        comparisons: The comparisons.
        fit: Their fit, with the same prior.
        n_resamples: Replicates.
        rng: Randomness; the same state gives the same replicates.
        prior: As `heartbench.stats.bradley_terry.add_prior`.

    Raises:
        NotIdentifiedError: Under two items.
    """
    group, n_groups = _group_items(comparisons.item, rng)
    if n_groups < 2:
        raise NotIdentifiedError(f"a bootstrap of items needs at least two items, not {n_groups}")
    n_block = max(1, BLOCK_CELLS // max(comparisons.n_systems**2, n_groups))
    sizes = [min(n_block, n_resamples - start) for start in range(0, n_resamples, n_block)]
    blocks = (draw_items(n_groups, size, rng) for size in sizes)
    kept: list[FloatArray] = []
    with one_blas_thread():
        for sample in _resample(comparisons, group, blocks, n_groups, prior):
            if isinstance(fit, DavidsonFit) and fit.tie > 0:
                kept.append(_refit_with_ties(sample, fit))
            else:
                kept.append(_refit(sample, fit))
    theta = np.concatenate(kept, axis=1).T
    return Bootstrap(theta=theta, n_not_identified=n_resamples - len(theta))


def draw_items(n_items: int, n_resamples: int, rng: np.random.Generator) -> SingleArray:
    """Return how often each item is in each replicate, as (n_items, n_resamples)."""
    picks = rng.integers(0, n_items, size=(n_resamples, n_items), dtype=np.uint16)
    cells = picks + (np.arange(n_resamples) * n_items)[:, None]
    drawn = np.bincount(cells.ravel(), minlength=n_items * n_resamples)
    return drawn.reshape(n_resamples, n_items).T.astype(np.float32)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Sample:
    """A block of replicates.

    Attributes:
        points: What system i took from system j, (n_systems, n_systems, replicates).
        n_ties: Weight of all ties, (replicates,).
    """

    points: SingleArray
    n_ties: SingleArray


def _group_items(item: IntArray, rng: np.random.Generator) -> tuple[IntArray, int]:
    """Number the items from 0; above `MAX_GROUPS`, put them into groups of equal size."""
    index, n_items = number_labels(item)
    if n_items <= MAX_GROUPS:
        return index, n_items
    return rng.permutation(n_items)[index] % MAX_GROUPS, MAX_GROUPS


def _resample(
    comparisons: Comparisons,
    group: IntArray,
    blocks: Iterable[SingleArray],
    n_groups: int,
    prior: float,
) -> Iterator[_Sample]:
    n = comparisons.n_systems
    by_pair, pairs = _points_by_pair(comparisons, group, n_groups)
    weight_of_ties = comparisons.total_weight * (comparisons.score == TIE_SCORE)
    ties = np.bincount(group, weights=weight_of_ties, minlength=n_groups).astype(np.float32)
    added = add_prior(np.zeros((n, n)), prior).astype(np.float32)
    for block in blocks:
        points = np.zeros((n * n, block.shape[1]), np.float32)
        points[pairs] = by_pair @ block
        cube = points.reshape(n, n, -1)
        if prior:
            cube += added[..., None]
        identified = are_identified(cube)
        n_ties = ties @ block
        if not identified.all():
            cube, n_ties = cube[:, :, identified], n_ties[identified]
        yield _Sample(points=cube, n_ties=n_ties)


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


def _refit(sample: _Sample, fit: BradleyTerryFit | DavidsonFit) -> FloatArray:
    """Return the strengths of the replicates, as (n_systems, replicates)."""
    n = len(fit.theta)
    inverse = centred_inverse(fit.information[:n, :n]).astype(np.float32)
    theta, late = take_chords(
        sample.points, sample.points.sum(axis=1), fit.theta, inverse, expected_points
    )
    return _finish(theta, late, lambda k: fit_win_matrix(_one(sample.points, k)).theta)


def _refit_with_ties(sample: _Sample, fit: DavidsonFit) -> FloatArray:
    """Do the same with a tie parameter for each replicate."""
    n = len(fit.theta)
    inverse = np.linalg.inv(fix_gauge(fit.information, slice(0, n))).astype(np.float32)
    start = np.append(fit.theta, np.log(fit.tie))
    observed = np.vstack((sample.points.sum(axis=1), sample.n_ties))
    found, late = take_chords(sample.points, observed, start, inverse, expected_with_ties)

    def fit_alone(k: int) -> FloatArray:
        return fit_davidson(_one(sample.points, k), float(sample.n_ties[k])).theta

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


def _one(points: SingleArray, replicate: int) -> FloatArray:
    return points[:, :, replicate].astype(np.float64)
