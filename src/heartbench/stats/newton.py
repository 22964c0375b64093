"""Damped Newton steps up a concave log-likelihood of logistic kind."""

import math
from collections.abc import Callable

import numpy as np

from heartbench.errors import NotIdentifiedError
from heartbench.stats.comparisons import FloatArray

STEP_TOLERANCE = 1e-10
MAX_ITERATIONS = 1_000

Derivatives = Callable[[FloatArray], tuple[FloatArray, FloatArray]]


def climb(
    derivatives: Derivatives, start: FloatArray, *, gauge: slice
) -> tuple[FloatArray, FloatArray, int]:
    """Return the maximum, the information there and the steps taken.

    Args:
        derivatives: Gradient and information (negative second derivative) at a point.
        start: Where to begin.
        gauge: Parameters of which only differences matter; they are kept at mean 0.

    Raises:
        NotIdentifiedError: The steps do not converge.
    """
    at: FloatArray = start
    for n_iterations in range(1, MAX_ITERATIONS + 1):
        gradient, information = derivatives(at)
        try:
            step = np.asarray(np.linalg.solve(fix_gauge(information, gauge), gradient))
        except np.linalg.LinAlgError:
            break
        # Damped as log(1 + r) / r, which cannot overshoot a logistic likelihood (Bach 2010) and
        # becomes a full Newton step near the maximum: no line search is needed.
        length = _reach(step, gauge)
        at = at + step * (math.log1p(length) / length if length > 0 else 1.0)
        at[gauge] -= at[gauge].mean()
        if length <= STEP_TOLERANCE * (1 + _reach(at, gauge)):
            return at, derivatives(at)[1], n_iterations
    raise NotIdentifiedError(f"the fit did not converge in {MAX_ITERATIONS} steps")


def fix_gauge(information: FloatArray, gauge: slice) -> FloatArray:
    """Return the information made invertible where only differences matter."""
    fixed = information.copy()
    fixed[gauge, gauge] += mean_curvature(information[gauge, gauge])
    return fixed


def mean_curvature(information: FloatArray) -> float:
    """Return a number of the matrix's size; added to every entry, it makes it invertible."""
    return float(np.trace(information)) / len(information) ** 2


def _reach(step: FloatArray, gauge: slice) -> float:
    """Return how far a step can move the log-odds of an outcome."""
    free = np.abs(step).sum() - np.abs(step[gauge]).sum()
    return float(np.ptp(step[gauge]) + free)
