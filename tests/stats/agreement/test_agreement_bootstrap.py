"""Bootstrap over units, merged units, and the records: by hand, by a plain loop, by simulation."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from rating_tables import KRIPPENDORFF_C, NAN, random_ratings, rating_table

from hearteval.errors import NotIdentifiedError
from hearteval.stats.agreement.bootstrap import (
    bootstrap_units,
    estimate,
    fisher_interval,
    percentile_interval,
)
from hearteval.stats.agreement.icc import icc_a1, icc_c1
from hearteval.stats.agreement.kappas import fleiss_kappa, gwet_ac1, gwet_ac2, percent_agreement
from hearteval.stats.agreement.krippendorff import krippendorff_alpha
from hearteval.stats.agreement.table import (
    CodedRatings,
    Coefficient,
    RatingTable,
    count_support,
    merge_equal_units,
)
from hearteval.stats.comparisons import FloatArray, IntArray


def all_coefficients(table: RatingTable) -> list[Coefficient]:
    return [
        percent_agreement(table),
        fleiss_kappa(table),
        gwet_ac1(table),
        gwet_ac2(table, level="ordinal"),
        krippendorff_alpha(table, level="nominal"),
        krippendorff_alpha(table, level="ordinal"),
        krippendorff_alpha(table, level="ratio"),
        icc_c1(table),
        icc_a1(table),
    ]


def test_weights_count_units_as_repeated_rows_do() -> None:
    wide = random_ratings(np.random.default_rng(3), n_raters=3, gaps=0.2)
    times = np.random.default_rng(4).integers(0, 3, size=len(wide))
    times[:2] = 1
    table, repeated = rating_table(wide), rating_table(np.repeat(wide, times, axis=0))
    weights = times[:, np.newaxis].astype(np.float64)
    found = [each.of_weights(weights)[0] for each in all_coefficients(table)]
    expected = [estimate(each, repeated) for each in all_coefficients(repeated)]
    assert found == pytest.approx(expected, abs=1e-12)


@given(arrays(np.int64, (9, 3), elements=st.integers(0, 2)))
def test_merged_units_change_no_estimate(wide: IntArray) -> None:
    cells = wide.astype(np.float64)
    cells[wide == 0] = np.nan
    cells[0], cells[1], cells[2] = (1, 1, 2), (2, 2, 2), (1, 1, 1)
    table = rating_table(cells)
    merged = merge_equal_units(table)
    assert merged.n_pairable == table.n_pairable
    found = [estimate(each, merged) for each in all_coefficients(merged)]
    expected = [estimate(each, table) for each in all_coefficients(table)]
    assert found == pytest.approx(expected, abs=1e-12)


def test_equal_units_become_one_with_a_count() -> None:
    merged = merge_equal_units(rating_table([(1, 2), (2, 2), (1, 2)]))
    assert merged.n_units == 2
    assert merged.count.sum() == 3
    assert len(merged.unit) == 4


def test_units_too_wide_for_one_number_stay_apart() -> None:
    table = rating_table(np.ones((2, 64)))
    assert merge_equal_units(table) is table


def test_samples_draw_whole_units_with_replacement() -> None:
    # Agreement is 1 on two units of four: the share of these among four draws.
    table = rating_table([(1, 1), (1, 1), (1, 2), (2, 1)])
    samples = bootstrap_units(
        [percent_agreement(table)], table, n_resamples=4000, rng=np.random.default_rng(0)
    )[0]
    shares = [float(np.mean(samples == k / 4)) for k in range(5)]
    assert shares == pytest.approx([1 / 16, 4 / 16, 6 / 16, 4 / 16, 1 / 16], abs=0.03)


def test_batches_change_nothing_in_what_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    table = rating_table(KRIPPENDORFF_C)
    measures = [fleiss_kappa(table), krippendorff_alpha(table, level="ordinal")]
    at_once = bootstrap_units(measures, table, n_resamples=50, rng=np.random.default_rng(1))
    monkeypatch.setattr("hearteval.stats.agreement.bootstrap.BATCH_CELLS", 300)
    in_parts = bootstrap_units(measures, table, n_resamples=50, rng=np.random.default_rng(1))
    np.testing.assert_allclose(in_parts, at_once, rtol=1e-12)


def test_percentiles_are_those_of_the_defined_samples() -> None:
    samples = np.append(np.arange(1001.0), np.nan)
    assert percentile_interval(samples, level=0.95) == pytest.approx((25, 975))


def test_more_than_one_percent_undefined_gives_no_interval() -> None:
    samples = np.append(np.nan, np.arange(99.0))
    assert percentile_interval(samples, level=0.95) == pytest.approx((2.45, 95.55))
    samples[:2] = np.nan
    with pytest.raises(NotIdentifiedError, match="2 of 100 bootstrap samples"):
        percentile_interval(samples, level=0.95)


def test_samples_that_are_all_the_same_give_no_interval() -> None:
    for interval in (percentile_interval, partial(fisher_interval, 0.5, n_units=20)):
        with pytest.raises(NotIdentifiedError, match="every unit says the same"):
            interval(np.full(100, 0.5), level=0.95)


def test_fisher_interval_is_that_of_z() -> None:
    """By hand: z = .5493, se .1 / .75 * sqrt(20 / 19), t of 19 degrees of freedom 2.0930."""
    samples = np.random.default_rng(0).normal(size=1000)
    samples = 0.5 + 0.1 * (samples - samples.mean()) / samples.std(ddof=1)
    found = fisher_interval(0.5, samples, n_units=20, level=0.95)
    reach = 2.0930 * 0.1 / 0.75 * np.sqrt(20 / 19)
    assert found == pytest.approx(np.tanh([0.54931 - reach, 0.54931 + reach]), abs=1e-4)


def test_fisher_interval_of_a_share_is_that_of_the_logit() -> None:
    samples = np.random.default_rng(0).normal(0.9, 0.03, size=1000)
    found = fisher_interval(0.9, samples, n_units=50, level=0.95, lowest=0)
    reach = 2.0096 * samples.std(ddof=1) / (0.9 * 0.1) * np.sqrt(50 / 49)
    logit = np.log(9) + np.array([-reach, reach])
    assert found == pytest.approx(1 / (1 + np.exp(-logit)), abs=1e-4)
    with pytest.raises(NotIdentifiedError, match="end of the scale"):
        fisher_interval(0, samples, n_units=50, level=0.95, lowest=0)


@pytest.mark.parametrize("value", [-1 + 1e-15, 1 - 1e-15])
def test_end_of_the_scale_but_for_rounding_has_no_interval(value: float) -> None:
    """Else the interval is all of the scale, -1 to 1."""
    with pytest.raises(NotIdentifiedError, match="end of the scale"):
        fisher_interval(value, np.array([value, 0.9 * value]), n_units=20, level=0.95)


def test_fisher_intervals_of_ten_units_cover_where_percentiles_do_not() -> None:
    """Two raters' scores correlate by .5; ten units: .83 of percentiles and .93 measured."""
    n_covered = np.zeros(2)
    for seed in range(200):
        rng = np.random.default_rng(seed)
        cells = np.sqrt(0.5) * (rng.normal(size=(10, 1)) + rng.normal(size=(10, 2)))
        table = rating_table(cells)
        alpha = krippendorff_alpha(table, level="interval")
        samples = bootstrap_units([alpha], table, n_resamples=200, rng=rng)[0]
        intervals = (
            percentile_interval(samples, level=0.95),
            fisher_interval(estimate(alpha, table), samples, n_units=10, level=0.95),
        )
        n_covered += [low <= 0.5 <= high for low, high in intervals]
    assert n_covered[0] / 200 < 0.91 < n_covered[1] / 200


def test_support_counts_units_that_differ_and_that_hold_another_value() -> None:
    table = rating_table([(1, 1), (1, 2), (1, 1), (1, 1), (2, 2), (3, NAN)])
    assert count_support(table) == count_support(merge_equal_units(table)) == (1, 2)


def test_intervals_cover_the_true_kappa() -> None:
    # Three raters see a fair coin and err with chance .1 each: p_a .82, p_e .5, kappa .64.
    n_covered = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        coin = rng.integers(0, 2, size=(100, 1))
        cells = (coin ^ (rng.random((100, 3)) < 0.1)).astype(np.float64)
        table = merge_equal_units(rating_table(cells))
        samples = bootstrap_units([fleiss_kappa(table)], table, n_resamples=400, rng=rng)[0]
        low, high = percentile_interval(samples, level=0.95)
        n_covered += low <= 0.64 <= high
    assert 0.91 <= n_covered / 300 <= 0.98


def coded(value: list[int], *, values: tuple[str, ...] = ("a", "b")) -> CodedRatings:
    index: IntArray = np.zeros(2, dtype=np.int64)
    return CodedRatings(
        units=("u",), raters=("r",), values=values, unit=index, rater=index, value=np.array(value)
    )


def test_coded_ratings_take_a_missing_cell() -> None:
    assert len(coded([-1, 1])) == 2


@pytest.mark.parametrize(
    ("value", "message"), [([0, 2], "row 1 has a value"), ([-2, 0], "row 0"), ([0], "one length")]
)
def test_coded_ratings_refuse_indices_of_nothing(value: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        coded(value)


def test_coded_ratings_refuse_a_name_twice() -> None:
    with pytest.raises(ValueError, match="must be distinct"):
        coded([0, 1], values=("a", "a"))


def test_no_coefficient_is_clipped() -> None:
    wide: FloatArray = np.array([(1.0, 2.0), (2.0, 1.0)] * 2)
    table = rating_table(wide)
    assert all(estimate(each, table) < 0 for each in all_coefficients(table)[1:])
