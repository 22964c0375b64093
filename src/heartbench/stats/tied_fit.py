"""One fit of pairwise comparisons under a declared treatment of ties, with what intervals need.

Ties count half a win for each side, or have a parameter of their own (Davidson). Dropping ties is
leaving rows out, which is the caller's.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from heartbench.stats.bradley_terry import (
    BradleyTerryFit,
    add_prior,
    fit_win_matrix,
    win_probabilities,
)
from heartbench.stats.clustered_variance import ClusteredVariance, InfluenceOf, vary_over_votes
from heartbench.stats.comparisons import (
    TIE_SCORE,
    Comparisons,
    FloatArray,
    order_pairs,
    win_matrix,
)
from heartbench.stats.davidson import (
    DavidsonFit,
    davidson_scores,
    fit_davidson,
    influence_on_theta,
    pair_probabilities,
    tie_probabilities,
)
from heartbench.stats.intervals import independent_votes, influence_on_strengths

TieModel = Literal["half", "davidson"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TiedFit:
    """Strengths, what they predict, and how clusters of votes move them.

    Attributes:
        fit: The fit, with its tie parameter under Davidson.
        comparisons: What it was fitted to.
        points: Points system i (row) took from j: a win 1, a tie 1/2, by weight; no prior in it.
    """

    fit: BradleyTerryFit | DavidsonFit
    comparisons: Comparisons
    points: FloatArray

    @property
    def theta(self) -> FloatArray:
        """Log-strengths, mean 0."""
        return self.fit.theta

    @property
    def expected_points(self) -> FloatArray:
        """Points a comparison gives system i (row) against j, P(win) + P(tie) / 2."""
        if isinstance(self.fit, DavidsonFit):
            win, tied = tie_probabilities(self.fit.theta, self.fit.tie)
            return win + tied / 2
        return win_probabilities(self.fit.theta)

    @property
    def influence_of(self) -> InfluenceOf:
        """What gives the influence of clusters on theta - mean theta."""
        fit, comparisons = self.fit, self.comparisons
        if isinstance(fit, DavidsonFit):
            bread = influence_on_theta(fit)
            return lambda cluster: davidson_scores(comparisons, fit, cluster) @ bread
        return influence_on_strengths(comparisons, fit)

    def vary_over_votes(self) -> ClusteredVariance:
        """Return the variance if every vote is independent of the others."""
        if isinstance(self.fit, BradleyTerryFit):
            return independent_votes(self.comparisons, self.fit)
        low, high, score = order_pairs(self.comparisons)
        win, tied = pair_probabilities(self.theta[low] - self.theta[high], self.fit.tie)
        weight = self.comparisons.weight
        return vary_over_votes(
            self.comparisons,
            weight * (score - win - tied / 2),
            influence_on_theta(self.fit),
            ties=weight * ((score == TIE_SCORE) - tied),
        )


def fit_ties(comparisons: Comparisons, *, ties: TieModel, prior: float = 0.0) -> TiedFit:
    """Fit strengths under a treatment of ties.

    Args:
        comparisons: The comparisons.
        ties: ``half`` or ``davidson``.
        prior: Half-won comparisons added to every pair, as `add_prior`. They count as decided ones:
            under ``davidson`` they lower the share of ties.

    Raises:
        NotIdentifiedError: As `fit_win_matrix` and `fit_davidson`.
    """
    points = win_matrix(comparisons)
    with_prior = add_prior(points, prior)
    if ties == "half":
        return TiedFit(fit=fit_win_matrix(with_prior), comparisons=comparisons, points=points)
    is_tie = comparisons.score == TIE_SCORE
    n_ties = float(np.sort(comparisons.total_weight[is_tie]).sum())
    return TiedFit(fit=fit_davidson(with_prior, n_ties), comparisons=comparisons, points=points)
