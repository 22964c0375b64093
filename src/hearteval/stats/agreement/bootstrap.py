"""Percentile intervals from a bootstrap over units, never over single values.

Units are the sampled things: all ratings of a drawn unit come with it. Raters are taken as given.
"""

from collections.abc import Sequence

import numpy as np

from hearteval.errors import NotIdentifiedError
from hearteval.stats import one_blas_thread
from hearteval.stats.agreement.table import Coefficient, RatingTable
from hearteval.stats.comparisons import FloatArray

MAX_UNDEFINED = 0.01
"""Share of samples with an undefined coefficient above which there is no interval."""
BATCH_CELLS = 1 << 21
"""Numbers in the matrix of weights (units by samples) that one batch may hold, 16 MiB."""


def estimate(coefficient: Coefficient, table: RatingTable) -> float:
    """Return the coefficient of the table as it is.

    Raises:
        NotIdentifiedError: Where it is undefined, saying why.
    """
    value = float(coefficient.of_weights(table.count[:, np.newaxis].astype(np.float64))[0])
    if np.isnan(value):
        raise NotIdentifiedError(coefficient.undefined)
    return value


def bootstrap_units(
    coefficients: Sequence[Coefficient],
    table: RatingTable,
    *,
    n_resamples: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Return the coefficients on samples of units, as (coefficients, samples); NaN if undefined.

    Each sample draws as many units as there are, with replacement (Efron and Tibshirani 1993), and
    all coefficients see the same samples. A sample enters as how often it holds each unit.
    """
    size = max(1, BATCH_CELLS // max(table.n_units, len(table.unit)))
    n_units = table.count.sum()
    batches = []
    with one_blas_thread():
        for start in range(0, n_resamples, size):
            n_samples = min(size, n_resamples - start)
            drawn = rng.multinomial(n_units, table.count / n_units, size=n_samples)
            weights = np.ascontiguousarray(drawn.T, dtype=np.float64)
            batches.append(np.stack([each.of_weights(weights) for each in coefficients]))
    return np.concatenate(batches, axis=1)


def percentile_interval(samples: FloatArray, *, level: float) -> tuple[float, float]:
    """Return the percentiles (1 - level) / 2 and (1 + level) / 2 of the defined samples.

    Raises:
        NotIdentifiedError: Where more than `MAX_UNDEFINED` of the samples are undefined.
    """
    is_defined = ~np.isnan(samples)
    n_undefined = int((~is_defined).sum())
    if n_undefined > MAX_UNDEFINED * len(samples):
        raise NotIdentifiedError(
            f"no interval: {n_undefined} of {len(samples)} bootstrap samples leave it undefined"
        )
    low, high = np.quantile(samples[is_defined], ((1 - level) / 2, (1 + level) / 2))
    return float(low), float(high)
