"""Comparisons row by row, for models in which a row is more than its pair of systems.

The log odds eta of a row add something of its own (length, position, judge) to the difference of
two strengths. Each pair of systems is turned the same way round, equal rows are merged, and the
rest is sorted. So every sum runs in an order that depends on the values alone: the order of rows
changes nothing to the last digit, and two equal rows are one row of double weight.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.special import expit, log_expit

from heartbench.stats.comparisons import Comparisons, FloatArray, IntArray, order_pairs, sum_by

SEPARATION_TOLERANCE = 1e-6
"""Part of the longest move below which a row counts as left where it was."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rows:
    """Distinct rows, sorted by label, first, second and covariates.

    Attributes:
        label: What rows are told apart by besides: a judge, a cluster or both.
        first: The system of the pair with the lower index.
        second: The other system.
        covariates: Differences first minus second, (n_rows, k).
        won: Weight with which first won, ties half.
        lost: Weight with which second won, ties half.
    """

    label: IntArray
    first: IntArray
    second: IntArray
    covariates: FloatArray
    won: FloatArray
    lost: FloatArray

    def log_likelihood(self, eta: FloatArray) -> float:
        """Return the sum of won log p + lost log(1 - p), p = expit(eta)."""
        return float((self.won * log_expit(eta) + self.lost * log_expit(-eta)).sum())

    def residual(self, eta: FloatArray) -> FloatArray:
        """Return the derivative of each row's log-likelihood by eta."""
        # Equal to won - n * p, without its cancellation where one side nearly always wins.
        return np.asarray(self.won * expit(-eta) - self.lost * expit(eta))

    def curvature(self, eta: FloatArray) -> FloatArray:
        """Return the negative second derivative of each row's log-likelihood by eta."""
        return np.asarray((self.won + self.lost) * expit(eta) * expit(-eta))


def merge_rows(comparisons: Comparisons, covariates: FloatArray, label: IntArray) -> Rows:
    """Turn, merge and sort comparisons.

    Args:
        comparisons: n rows.
        covariates: Differences left minus right, (n, k).
        label: Keeps rows apart that may not be merged, (n,).
    """
    first, second, score = order_pairs(comparisons)
    is_turned = comparisons.left > comparisons.right
    turned = np.where(is_turned[:, None], -covariates, covariates)
    keys = (label, first, second, *turned.T)
    order = np.lexsort(keys[::-1])
    is_new = np.zeros(len(order), dtype=np.bool_)
    is_new[:1] = True
    for key in keys:
        is_new[1:] |= np.diff(key[order]) != 0
    group = np.cumsum(is_new) - 1
    rows = order[is_new]
    won = comparisons.total_weight * score
    lost = comparisons.total_weight * (1 - score)
    return Rows(
        label=label[rows],
        first=first[rows],
        second=second[rows],
        covariates=turned[rows],
        won=sum_by(group, won[order], len(rows)),
        lost=sum_by(group, lost[order], len(rows)),
    )


def incidence(rows: Rows, n_systems: int) -> sparse.csr_array:
    """Return D, (n_rows, n_systems): 1 at the first system of a row and -1 at the second."""
    n_rows = len(rows.first)
    columns = np.stack((rows.first, rows.second), axis=1).ravel()
    ends = np.arange(0, 2 * n_rows + 1, 2)
    return sparse.csr_array((np.tile((1.0, -1.0), n_rows), columns, ends), (n_rows, n_systems))


def sum_scores(rows: Rows, eta: FloatArray, derivatives: sparse.csr_array) -> FloatArray:
    """Return the derivative of the log-likelihood of each label, (n_labels, m).

    Args:
        rows: Rows whose labels run from 0 to n_labels - 1.
        eta: Log odds, (n_rows,).
        derivatives: Of eta by each of m parameters, (n_rows, m).
    """
    n_rows = len(eta)
    entries = (rows.residual(eta), (rows.label, np.arange(n_rows)))
    sums = sparse.csr_array(entries, (int(rows.label.max()) + 1, n_rows))
    return np.asarray((sums @ derivatives).toarray())


def is_separated(rows: Rows, move: FloatArray) -> bool:
    """Tell whether a move of eta, (n_rows,), makes every row more likely that it changes at all.

    Where eta is linear in the parameters, such a move can be repeated for ever and no maximum
    exists (Albert and Anderson 1984).
    """
    worse = np.where(rows.won > 0, -move, move)
    worse = np.where((rows.won > 0) & (rows.lost > 0), np.abs(move), worse)
    return bool(worse.max() <= SEPARATION_TOLERANCE * np.abs(move).max())
