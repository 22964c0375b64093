"""Many small Bradley-Terry fits at once, by chord iterations from a fit of the whole.

A chord step is a Newton step with the information of the start (Ortega and Rheinboldt 1970), so all
replicates share one matrix. Arrays are float32 with replicates last, as these steps are bound by
memory. Replicates near the start arrive in a few steps; the others are named, never returned.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from heartbench.stats.comparisons import BoolArray, FloatArray, IntArray

SingleArray = NDArray[np.float32]
Expected = Callable[[SingleArray, Sequence[SingleArray]], SingleArray]

CHORD_TOLERANCE = 1e-5
"""Size of the last step, in theta's units. What it leaves may be more: up to 3e-5 was measured,
0.005 Elo, far below the width of any interval."""
MAX_CHORDS = 40
MAX_THETA = 30.0
"""Log-strengths stop here while they move, so that float32 does not overflow."""


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
    """Return the points that log-strengths imply, as (n_systems, replicates).

    Args:
        theta: Log-strengths, (n_systems, replicates).
        counts: For each system its comparisons with those after it.
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
