"""Agreement of votes on pairs, with intervals that resample items (SPEC section 7).

Shares, kappa and alpha are functions of sums over items, so that a sample of items costs one sum.
Raters are taken as given. Where items are too few, or all say the same, there is no interval and
the reason stands in its place.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from hearteval.analysis.agreement.measures import (
    MIN_UNITS,
    AgreementMeasure,
    measured,
    require_units,
)
from hearteval.analysis.agreement.pair_votes import TIE, count_votes
from hearteval.errors import NotIdentifiedError
from hearteval.stats import one_blas_thread
from hearteval.stats.agreement.bootstrap import fisher_interval
from hearteval.stats.agreement.kappas import NO_PAIRS, beyond_chance, differing_by_chance
from hearteval.stats.agreement.krippendorff import alpha_of_sums, differing_totals
from hearteval.stats.agreement.table import ONE_CATEGORY, divide
from hearteval.stats.comparisons import FloatArray, IntArray, number_labels
from hearteval.stats.means import ROUNDING, wilson_interval
from hearteval.stats.special import stdtr, t_quantile

N_RESAMPLES = 1_000
ALL_SAME = "no interval: every item says the same, which does not show how far others would differ"
OfSums = Callable[[FloatArray], FloatArray]
"""From sums of samples, (samples, columns), to a figure of each; NaN where undefined."""


def measure(
    columns: FloatArray,
    item: IntArray,
    figure: OfSums,
    *,
    level: float,
    seed: int,
    lowest: float = -1.0,
) -> AgreementMeasure:
    """Return a figure of sums over pairs, on a scale from `lowest` to 1.

    Args:
        columns: What each pair adds to the sums, (pairs, columns); at least one pair.
        item: Item of each pair.
        figure: The figure of such sums.
        level: Nominal coverage.
        seed: Of the samples of items.
        lowest: Where the scale starts.
    """
    sums = _sum_by_item(columns, item)
    value = float(figure(sums.sum(axis=0)[np.newaxis])[0])
    if np.isnan(value):
        return AgreementMeasure(reason=ONE_CATEGORY)

    def interval(value: float) -> tuple[float, float]:
        require_units(len(sums), "items or more")
        samples = figure(_resampled(sums, seed))
        return fisher_interval(value, samples, n_units=len(sums), level=level, lowest=lowest)

    return measured(lambda: value, interval)


def measure_share(
    same: FloatArray, item: IntArray, *, level: float, seed: int, undefined: str = NO_PAIRS
) -> AgreementMeasure:
    """Return the mean of values from 0 to 1, NaN left out, such as `pair_votes.agree` gives.

    Where all are the same, at an end, the interval is Wilson's over items, as in `estimates`.
    """
    is_in = ~np.isnan(same)
    if not is_in.any():
        return AgreementMeasure(reason=undefined)
    columns = np.stack((np.ones(int(is_in.sum())), same[is_in]), axis=1)
    found = measure(columns, item[is_in], _ratio, level=level, seed=seed, lowest=0.0)
    n_items = len(np.unique(item[is_in]))
    if found.value not in (0.0, 1.0) or n_items < MIN_UNITS:
        return found
    low, high = wilson_interval(found.value, n_items, level=level)
    return AgreementMeasure(value=found.value, low=low, high=high)


def measure_same(
    same: FloatArray, item: IntArray, *, level: float, seed: int, undefined: str
) -> dict[str, Any]:
    """Return how often two answers to a pair are one, and of how many pairs and items.

    By the names ``n_pairs``, ``n_items`` and ``same`` that records of it have; as `measure_share`.
    """
    is_in = ~np.isnan(same)
    return {
        "n_pairs": int(is_in.sum()),
        "n_items": len(np.unique(item[is_in])),
        "same": measure_share(same, item, level=level, seed=seed, undefined=undefined),
    }


def compare_shares(
    one: FloatArray, other: FloatArray, item: IntArray, *, level: float
) -> tuple[AgreementMeasure, float | None]:
    """Return the mean of `one` less that of `other`, with a t interval, and p that it is none.

    NaN is left out of each. There is no p where there is no interval.

    Both are of the same rows. With d_g what item g does to a mean, the variance is
    sum_g (c_1 d_1g - c_2 d_2g)^2, c^2 = G/(G - 1) of the G items of each side, so that few items
    of one side are not hidden by many of the other; degrees of freedom of Welch and Satterthwaite,
    which take the sides as independent, and items - 1 at most: those of pairs of the same items.
    """
    label, n_items = number_labels(item)
    moved = np.zeros((2, n_items))
    means, sizes = [], []
    for side, values in enumerate((one, other)):
        is_in = ~np.isnan(values)
        if not is_in.any():
            return AgreementMeasure(reason="one of the two has no pair"), None
        means.append(float(values[is_in].mean()))
        sizes.append(len(np.unique(label[is_in])))
        weights = (values[is_in] - means[-1]) / int(is_in.sum())
        moved[side] = np.bincount(label[is_in], weights=weights, minlength=n_items)
    value = means[0] - means[1]
    try:
        require_units(min(sizes), "items or more")
    except NotIdentifiedError as error:
        return AgreementMeasure(value=value, reason=str(error)), None
    n = np.array(sizes, dtype=np.float64)
    moved *= np.sqrt(n / (n - 1))[:, np.newaxis]
    variances = (moved**2).sum(axis=1)
    se = float(np.sqrt(((moved[0] - moved[1]) ** 2).sum()))
    if se <= ROUNDING:
        return AgreementMeasure(value=value, reason=ALL_SAME), None
    n_used = len(np.unique(label[~np.isnan(one) | ~np.isnan(other)]))
    df = min(float(variances.sum() ** 2 / (variances**2 / (n - 1)).sum()), n_used - 1)
    reach = t_quantile(df, level=level) * se
    found = AgreementMeasure(value=value, low=value - reach, high=value + reach)
    return found, 2 * float(stdtr(df, -abs(value) / se))


@dataclass(frozen=True, slots=True, kw_only=True)
class Chance:
    """How raw agreement and Fleiss' kappa go together where ties are an answer (SPEC section 14).

    kappa = (same - by_chance) / (1 - by_chance). The more of the votes are ties, the rarer is
    agreement by chance, so one raw agreement stands for another kappa.
    """

    same: float
    """Raw agreement: share of equal answers of two raters to one pair."""
    ties: float
    """Share of ties among the votes, each pair weighing the same."""
    by_chance: float
    """Agreement that raters with these shares of answers would have by chance."""
    by_chance_of_sides_alike: float
    """The same were both sides chosen equally often: t^2 + (1 - t)^2 / 2 with a share t of ties."""
    kappa: float
    kappa_without_ties: float
    """Kappa that the same raw agreement would mean were there no ties: chance is then 1/2."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coefficients:
    """How far raters agree on the pairs that two of them or more voted on."""

    n_raters: int
    n_pairs: int
    n_items: int
    same: AgreementMeasure
    """Share of equal answers among two raters' answers to a pair; each pair weighs the same."""
    fleiss_kappa: AgreementMeasure
    krippendorff_alpha: AgreementMeasure
    """At nominal level."""
    chance: Chance | None
    """None where kappa is undefined."""


def measure_votes(
    votes: IntArray, item: IntArray, *, level: float, seed: int
) -> Coefficients | None:
    """Measure agreement of raters, (pairs, raters); None where no pair has two votes.

    Fleiss' kappa in Gwet's form for gaps (2014) and Krippendorff's alpha (2011), as in
    `stats.agreement`, from sums over pairs.
    """
    counts = count_votes(votes)
    n_votes = counts.sum(axis=1)
    is_in = n_votes >= 2
    if not is_in.any():
        return None
    of_raters, counts, item = votes[is_in], counts[is_in].astype(np.float64), item[is_in]
    n = n_votes[is_in].astype(np.float64)
    differing = (n**2 - (counts**2).sum(axis=1)) / (n * (n - 1))
    shares = counts / n[:, np.newaxis]
    columns = np.column_stack((np.ones(len(n)), 1 - differing, shares, n * differing, counts))

    def made(figure: OfSums, *, lowest: float = -1.0) -> AgreementMeasure:
        return measure(columns, item, figure, level=level, seed=seed, lowest=lowest)

    few = AgreementMeasure(reason=f"needs two units with two values each, not {len(n)}")
    kappa = made(_kappa) if len(n) >= 2 else few
    return Coefficients(
        n_raters=int((of_raters >= 0).any(axis=0).sum()),
        n_pairs=len(n),
        n_items=len(np.unique(item)),
        same=made(_ratio, lowest=0.0),
        fleiss_kappa=kappa,
        krippendorff_alpha=made(_alpha) if len(n) >= 2 else few,
        chance=None if kappa.value is None else _chance(columns.sum(axis=0)),
    )


def _chance(sums: FloatArray) -> Chance:
    same, shares = float(sums[1] / sums[0]), sums[2:5] / sums[0]
    by_chance, ties = float((shares**2).sum()), float(shares[TIE])
    return Chance(
        same=same,
        ties=ties,
        by_chance=by_chance,
        by_chance_of_sides_alike=ties**2 + (1 - ties) ** 2 / 2,
        kappa=(same - by_chance) / (1 - by_chance),
        kappa_without_ties=2 * same - 1,
    )


def _ratio(sums: FloatArray) -> FloatArray:
    return divide(sums[:, 1], sums[:, 0])


def _kappa(sums: FloatArray) -> FloatArray:
    return beyond_chance(_ratio(sums), differing_by_chance((sums[:, 2:5] / sums[:, :1]).T))


def _alpha(sums: FloatArray) -> FloatArray:
    totals = sums[:, 6:9].T
    return alpha_of_sums(sums[:, 5], differing_totals(totals), totals)


def _sum_by_item(columns: FloatArray, item: IntArray) -> FloatArray:
    label, n_items = number_labels(item)
    sums = [np.bincount(label, weights=column, minlength=n_items) for column in columns.T]
    return np.stack(sums, axis=1)


def _resampled(sums: FloatArray, seed: int) -> FloatArray:
    with one_blas_thread():
        return np.asarray(_draws(len(sums), seed) @ sums)


@lru_cache(maxsize=16)
def _draws(n_items: int, seed: int) -> FloatArray:
    """Return how often each item is in each sample, (samples, items)."""
    drawn = np.random.default_rng(seed).integers(n_items, size=(N_RESAMPLES, n_items))
    cells = drawn + n_items * np.arange(N_RESAMPLES)[:, np.newaxis]
    counts = np.bincount(cells.ravel(), minlength=N_RESAMPLES * n_items)
    return counts.reshape(N_RESAMPLES, n_items).astype(np.float64)
