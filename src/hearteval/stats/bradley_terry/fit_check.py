"""Does one strength per system explain the wins? Predicted against observed shares of wins.

A gap per pair shows comparisons that no single strength explains; a gap per system shows strengths
that come from other comparisons than the win rates beside them (SPEC section 14). It reports a
mismatch, not its cause.
"""

from dataclasses import dataclass

import numpy as np

from hearteval.stats.comparisons import FloatArray, IntArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Gaps:
    """Observed and predicted shares of wins, 0 to 1, with the comparisons behind each."""

    n: FloatArray
    """Comparisons, above 0."""
    observed: FloatArray
    """Share of wins, a tie counting half."""
    predicted: FloatArray

    @property
    def root_mean_square(self) -> float:
        """Root mean square of observed - predicted, weighted by the number of comparisons."""
        return float(np.sqrt(np.average((self.observed - self.predicted) ** 2, weights=self.n)))

    @property
    def largest(self) -> float:
        """Largest absolute gap."""
        return float(np.abs(self.observed - self.predicted).max())


def predict_win_rates(expected: FloatArray, counts: FloatArray) -> FloatArray:
    """Return the overall win rate each system should have against whom it met.

    From the share of wins system i (row) should have against j, a tie counting half, and the
    comparisons of each pair, symmetric; every system is in at least one.
    """
    return np.asarray((counts * expected).sum(axis=1) / counts.sum(axis=1))


def check_pairs(wins: FloatArray, expected: FloatArray) -> tuple[IntArray, IntArray, Gaps]:
    """Compare shares of wins for each pair of systems that met; the first is the lower index."""
    counts = np.triu(wins + wins.T)
    left, right = np.nonzero(counts)
    n = counts[left, right]
    return left, right, Gaps(n=n, observed=wins[left, right] / n, predicted=expected[left, right])


def check_systems(wins: FloatArray, expected: FloatArray) -> Gaps:
    """Compare overall win rates; without a gap at the plain fit of the same wins."""
    counts = wins + wins.T
    n = counts.sum(axis=1)
    return Gaps(n=n, observed=wins.sum(axis=1) / n, predicted=predict_win_rates(expected, counts))
