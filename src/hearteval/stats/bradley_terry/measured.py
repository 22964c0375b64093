"""Strengths of systems by people and by judges, with the errors that they share.

People's votes are few here and judges' many: groups of systems that votes do not connect are fitted
each alone. What is made of the strengths is in `anchored`.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np

from hearteval.errors import NotIdentifiedError
from hearteval.stats import one_blas_thread
from hearteval.stats.bradley_terry.clustered_variance import ClusteredVariance, InfluenceOf
from hearteval.stats.bradley_terry.fit import centred_inverse, fit_win_matrix, strong_components
from hearteval.stats.bradley_terry.intervals import own_df, scores_by_cluster
from hearteval.stats.comparisons import (
    Comparisons,
    FloatArray,
    IntArray,
    select_comparisons,
    win_matrix,
)
from hearteval.stats.special import ndtri, stdtrit

Vary = Callable[[InfluenceOf, Comparisons], ClusteredVariance]

TINY: Final = 1e-300


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measured:
    """Strengths by people and by judges, and how far their votes leave them open.

    Attributes:
        people: Mean 0 within each group, 0 where people place none, (systems,).
        group: Systems that people's votes compare both ways share a number; -1 where with none.
        judges: NaN where a judge places none, (systems, judges).
        errors: Covariance of people's strengths, then of each judge's, (1 + judges) times systems
            a side, as votes on the same items err together; 0 where there is no strength.
    """

    people: FloatArray
    group: IntArray
    judges: FloatArray
    errors: FloatArray

    def without_judges(self) -> "Measured":
        """Return the same without a judge: what is gained then is by shrinkage alone."""
        n = len(self.people)
        return replace(self, judges=self.judges[:, :0], errors=self.errors[:n, :n])


def measure(
    people: Comparisons, judges: Sequence[Comparisons], *, vary: Vary, level: float
) -> Measured:
    """Fit strengths to the votes of people and of each judge, and their errors over items.

    People's votes need not connect all systems: each group that they compare both ways is fitted
    alone. Of a judge's groups the largest counts. Errors are over items, numbered alike for all, as
    in `vary_over_items`; what people's strengths vary by beyond that, over raters or writers, is
    added for each system alone. Where a system has few items or raters its variance is widened as t
    widens an interval, so that it weighs less.

    Args:
        people: Their votes.
        judges: The votes of each judge, of as many systems.
        vary: Gives the variance of people's strengths.
        level: Nominal coverage at which few items and raters are allowed for.

    Raises:
        NotIdentifiedError: Somebody compared no two systems both ways, or on under two items.
    """
    placed = [_place(people, only_largest=False)]
    placed += [_place(votes, only_largest=True) for votes in judges]
    theta = np.stack([one.theta for one in placed])
    with one_blas_thread():
        errors = _errors_over_items(placed)
    of_people = np.arange(people.n_systems)
    errors[of_people, of_people] += _beyond_items(placed[0], vary, level)
    return Measured(
        people=np.nan_to_num(theta[0]), group=placed[0].group, judges=theta[1:].T, errors=errors
    )


class _Placed(NamedTuple):
    theta: FloatArray
    group: IntArray
    votes: Comparisons
    """Those within groups."""
    bread: FloatArray

    def influence_of(self, cluster: IntArray) -> FloatArray:
        return scores_by_cluster(self.votes, np.nan_to_num(self.theta), cluster) @ self.bread


def _place(votes: Comparisons, *, only_largest: bool) -> _Placed:
    wins, n = win_matrix(votes), votes.n_systems
    groups = [members for members in strong_components(wins) if len(members) > 1]
    if not groups:
        raise NotIdentifiedError("no two systems were compared so that each won, or tied, once")
    if only_largest:
        groups = [max(groups, key=len)]
    theta, group, bread = np.full(n, np.nan), np.full(n, -1), np.zeros((n, n))
    for number, members in enumerate(groups):
        block = np.ix_(members, members)
        fit = fit_win_matrix(wins[block])
        theta[members], group[members] = fit.theta, number
        bread[block] = centred_inverse(fit.information)
    rows = (group[votes.left] == group[votes.right]) & (group[votes.left] >= 0)
    return _Placed(theta, group, select_comparisons(votes, rows), bread)


def _errors_over_items(placed: Sequence[_Placed]) -> FloatArray:
    """Return the covariance of all strengths over items.

    The fewer items to a system, the more directions it has in which nothing seems to err: for that
    share correlations are those of independent votes, and of people with a judge, or of two judges,
    those of all systems together. Variances stay.
    """
    n = len(placed[0].theta)
    of_items = [_over_items(one) for one in placed]
    share = min(1.0, n / min(len(items) for items, _ in of_items))
    roots = [_root(moved, one.bread) for one, (_, moved) in zip(placed, of_items, strict=True)]
    errors = np.zeros((len(placed) * n, len(placed) * n))
    for i, (items, moved) in enumerate(of_items):
        here = slice(i * n, (i + 1) * n)
        for j, (others, also) in enumerate(of_items):
            _, rows, their_rows = np.intersect1d(items, others, return_indices=True)
            ours, theirs = moved[rows], also[their_rows]
            size = math.sqrt((moved**2).sum() * (also**2).sum())
            alike = (ours * theirs).sum() / max(size, TINY)
            independent = alike * roots[i] @ roots[j].T
            errors[here, j * n : (j + 1) * n] = (1 - share) * ours.T @ theirs + share * independent
    return errors


def _root(moved: FloatArray, bread: FloatArray) -> FloatArray:
    """Return R, R R' the covariance of independent votes with variances as items give them."""
    size, turn = np.linalg.eigh(bread)
    unit = np.sqrt((moved**2).sum(axis=0) / np.maximum(np.diag(bread), TINY))
    return np.asarray(unit[:, None] * turn * np.sqrt(np.maximum(size, 0.0)) @ turn.T)


def _over_items(placed: _Placed) -> tuple[IntArray, FloatArray]:
    """Return the items, and what each does to the strengths, with the root of G/(G - 1)."""
    items = np.unique(placed.votes.item)
    if len(items) < 2:
        raise NotIdentifiedError("how far strengths by votes on one item err is not known")
    moved = placed.influence_of(placed.votes.item)
    return items, moved * math.sqrt(len(items) / (len(items) - 1))


def _beyond_items(placed: _Placed, vary: Vary, level: float) -> FloatArray:
    """Return what is to be added to the variance over items of each system."""
    over = vary(placed.influence_of, placed.votes)
    over_raters, over_writers = over.rater is not None, over.writer is not None
    df = own_df(placed.votes, over.df, over_raters=over_raters, over_writers=over_writers)
    widened = (stdtrit(df, (1 + level) / 2) / ndtri((1 + level) / 2)) ** 2
    beyond = over.of_parameters() * widened - np.diag(over.item)
    # Independent errors of n systems, less their mean, have 1 - 1/n of their variance.
    n = (placed.group[:, None] == placed.group).sum(axis=1)
    return np.where(placed.group >= 0, beyond * n / np.maximum(n - 1, 1), 0.0)
