"""Intervals from a bootstrap over units, never over single values.

Units are the sampled things: all ratings of a drawn unit come with it. Raters are taken as given.
"""

import math
from collections.abc import Sequence

import numpy as np

from hearteval.errors import NotIdentifiedError
from hearteval.stats import one_blas_thread
from hearteval.stats.agreement.table import Coefficient, RatingTable
from hearteval.stats.comparisons import FloatArray, IntArray
from hearteval.stats.special import t_quantile

MAX_UNDEFINED = 0.01
"""Share of samples with an undefined coefficient above which there is no interval."""
MIN_WIDTH = 1e-9
"""Width of all samples up to which it is rounding: every unit then says the same; so near an end of
the scale an estimate is at it."""
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
    cluster: IntArray | None = None,
) -> FloatArray:
    """Return the coefficients on samples of units, as (coefficients, samples); NaN if undefined.

    Each sample draws as many units as there are, with replacement (Efron and Tibshirani 1993), and
    all coefficients see the same samples. A sample enters as how often it holds each unit. Where
    units are of clusters (`cluster` numbers them from 0), clusters are drawn, with all their units.
    """
    size = max(1, BATCH_CELLS // max(table.n_units, len(table.unit)))
    sizes = table.count if cluster is None else np.ones(int(cluster.max()) + 1, dtype=np.int64)
    n_drawn = sizes.sum()
    batches = []
    with one_blas_thread():
        for start in range(0, n_resamples, size):
            n_samples = min(size, n_resamples - start)
            drawn = rng.multinomial(n_drawn, sizes / n_drawn, size=n_samples)
            if cluster is not None:
                drawn = drawn[:, cluster] * table.count
            weights = np.ascontiguousarray(drawn.T, dtype=np.float64)
            batches.append(np.stack([each.of_weights(weights) for each in coefficients]))
    return np.concatenate(batches, axis=1)


def percentile_interval(samples: FloatArray, *, level: float) -> tuple[float, float]:
    """Return the percentiles (1 - level) / 2 and (1 + level) / 2 of the defined samples.

    Raises:
        NotIdentifiedError: As `defined_samples`.
    """
    defined = defined_samples(samples)
    low, high = np.quantile(defined, ((1 - level) / 2, (1 + level) / 2))
    return float(low), float(high)


def fisher_interval(
    value: float, samples: FloatArray, *, n_units: int, level: float, lowest: float = -1.0
) -> tuple[float, float]:
    """Return tanh(atanh(value) +- t se / (1 - value^2)), se the samples' standard deviation.

    Fisher's z (1915) stretches the ends of the scale, the delta method carries the standard error
    there, and t has n_units - 1 degrees of freedom, with se times sqrt(n / (n - 1)) for the same
    reason. A scale that starts elsewhere than at -1 is first stretched to -1 to 1; from 0, as for a
    share, this is the interval of the logit.

    Args:
        value: The estimate.
        samples: The coefficient on samples of units, NaN where undefined.
        n_units: How many units the coefficient rests on, 2 or more.
        level: Nominal coverage.
        lowest: Where the scale starts; it ends at 1.

    Raises:
        NotIdentifiedError: As `defined_samples`, or where the estimate is an end of the scale.
    """
    half = (1 - lowest) / 2
    scaled = (value - lowest) / half - 1
    se = float(np.std(defined_samples(samples), ddof=1)) / half
    if not abs(scaled) < 1 - MIN_WIDTH:
        raise NotIdentifiedError(f"no interval: {value:g} is at or past the end of the scale")
    t = t_quantile(n_units - 1, level=level)
    reach = t * math.sqrt(n_units / (n_units - 1)) * se / (1 - scaled**2)
    low, high = (math.tanh(math.atanh(scaled) + end) for end in (-reach, reach))
    return lowest + half * (low + 1), lowest + half * (high + 1)


def defined_samples(samples: FloatArray) -> FloatArray:
    """Return the samples on which the coefficient is defined.

    Raises:
        NotIdentifiedError: More than `MAX_UNDEFINED` of the samples are undefined, or all the same.
    """
    is_defined = ~np.isnan(samples)
    n_undefined = int((~is_defined).sum())
    if n_undefined > MAX_UNDEFINED * len(samples):
        raise NotIdentifiedError(
            f"no interval: {n_undefined} of {len(samples)} bootstrap samples leave it undefined"
        )
    defined = samples[is_defined]
    if np.ptp(defined) <= MIN_WIDTH:
        raise NotIdentifiedError(
            "no interval: every unit says the same, which does not show how far others would differ"
        )
    return defined
