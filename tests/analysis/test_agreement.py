"""From rows of text to measures: what counts, what is refused, what changes nothing."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rating_tables import FLEISS_1971, KRIPPENDORFF_C, coded_ratings, from_counts, long_rows

from hearteval.analysis.agreement.measures import AgreementMeasure, AgreementSettings
from hearteval.analysis.agreement.ratings import Agreement, measure_agreement
from hearteval.errors import InvalidVotesError, SettingsError
from hearteval.notices import Kind
from hearteval.stats.agreement.table import CodedRatings, Level

NUMBERS_ONLY = (
    "cohen_kappa_weighted_value",
    "cohen_kappa_weighted_index",
    "gwet_ac2",
    "icc_c1",
    "icc_a1",
    "icc_1",
    "icc_ck",
    "icc_ak",
    "cronbach_alpha",
)
Row = tuple[str, str, str | None]


def measure(ratings: CodedRatings, **settings: Any) -> Agreement:
    return measure_agreement(ratings, AgreementSettings(**settings))


def measures(agreement: Agreement) -> dict[str, AgreementMeasure]:
    found = {field.name: getattr(agreement, field.name) for field in dataclasses.fields(agreement)}
    return {name: each for name, each in found.items() if isinstance(each, AgreementMeasure)}


def two_raters(*pairs: tuple[str | None, str | None]) -> list[Row]:
    return [
        (f"u{i}", rater, cell)
        for i, pair in enumerate(pairs)
        for rater, cell in zip("xy", pair, strict=True)
    ]


def test_table_with_gaps_gives_the_published_values() -> None:
    found = measure(coded_ratings(long_rows(KRIPPENDORFF_C)), level="ordinal", resamples=200)
    assert (found.n_units, found.n_raters, found.n_values) == (12, 4, 41)
    assert found.excluded == {"missing": 7}
    values = {
        name: round(each.value, 3)
        for name, each in measures(found).items()
        if each.value is not None
    }
    assert (
        values.items()
        >= {
            "percent_agreement": 0.818,
            "fleiss_kappa": 0.761,
            "krippendorff_alpha": 0.815,
            "gwet_ac1": 0.775,
            "gwet_ac2": 0.899,
        }.items()
    )
    assert found.cohen_kappa.reason == "needs exactly two raters, not 4"
    assert any("8 of 12 units that all 4 raters rated" in text for text in found.warnings)
    assert any("1 of 12 units have fewer than two values" in text for text in found.warnings)


def test_intervals_hold_the_value_and_come_from_the_seed() -> None:
    ratings = coded_ratings(long_rows(from_counts(FLEISS_1971)))
    found = measure(ratings, level="nominal", resamples=300, seed=7)
    kappa = found.fleiss_kappa
    assert kappa.low is not None
    assert kappa.high is not None
    assert kappa.low < 0.430 < kappa.high
    assert found == measure(ratings, level="nominal", resamples=300, seed=7)
    assert kappa != measure(ratings, level="nominal", resamples=300).fleiss_kappa


def test_names_have_no_weighted_measure() -> None:
    rows = two_raters(("yes", "yes"), ("no", "no"), ("yes", "no"))
    found = measures(measure(coded_ratings(rows), level="nominal", resamples=50))
    refused = {name for name, each in found.items() if each.value is None}
    assert refused == set(NUMBERS_ONLY)
    assert all("nominal level" in (found[name].reason or "") for name in refused)


def test_unevenly_spaced_values_tell_the_weighted_kappas_apart() -> None:
    rows = two_raters(("1", "1"), ("1", "2"), ("7", "2"))
    found = measure(coded_ratings(rows), level="interval", resamples=50)
    assert found.cohen_kappa_weighted_value.value == pytest.approx(1 - 26 / 30)
    assert found.cohen_kappa_weighted_index.value == pytest.approx(1 - 6 / 10)


def test_texts_of_one_number_are_one_category_except_as_names() -> None:
    rows = coded_ratings(two_raters(("1", "1.0"), ("2", " 2"), ("3e0", "3")))
    assert measure(rows, level="ordinal", resamples=9).percent_agreement.value == 1
    assert measure(rows, level="nominal", resamples=9).percent_agreement.value == 0


def test_cells_that_do_not_count_are_counted_by_reason() -> None:
    rows = two_raters(
        ("1", "1"), ("2", "good"), ("3", None), ("9", "nan"), ("inf", "1_0"), ("4", "5"), ("0", "2")
    )
    found = measure(coded_ratings(rows), level="interval", min=1, max=5, resamples=9)
    assert found.excluded == {"missing": 1, "unparsable": 4, "out of range": 2}
    assert found.n_values == 7
    assert found.n_values + sum(found.excluded.values()) == len(rows)


def test_limits_are_part_of_the_range() -> None:
    found = measure(
        coded_ratings(two_raters(("1", "1"), ("5", "5"))), level="ordinal", min=1, max=5
    )
    assert found.excluded == {}


@pytest.mark.parametrize("second", ["3", "4", "x", "99"])
def test_a_rater_who_rates_a_unit_twice_is_an_error(second: str) -> None:
    rows = [*two_raters(("3", "4"), ("1", "2")), ("u1", "y", second)]
    with pytest.raises(InvalidVotesError, match="rater 'y' rates unit 'u1' 2 times") as caught:
        measure(coded_ratings(rows), level="interval", max=5)
    assert caught.value.ids == ("u1", "y")


def test_a_missing_cell_beside_a_value_is_no_second_rating() -> None:
    rows = [*two_raters(("3", "4"), ("1", "2")), ("u1", "y", None)]
    found = measure(coded_ratings(rows), level="interval", resamples=9)
    assert (found.n_values, found.excluded) == (4, {"missing": 1})


def test_ratio_level_refuses_negative_values_unless_they_are_out_of_range() -> None:
    ratings = coded_ratings(two_raters(("-1", "2"), ("1", "1"), ("3", "2")))
    with pytest.raises(InvalidVotesError, match="rater 'x' gives unit 'u0'"):
        measure(ratings, level="ratio")
    found = measure(ratings, level="ratio", min=0, resamples=9)
    assert found.excluded == {"out of range": 1}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": "cardinal"}, "nominal, ordinal, interval, ratio"),
        ({"level": "nominal", "min": 1}, "min and max need numbers"),
        ({"level": "ordinal", "min": 5, "max": 1}, "in that order"),
        ({"level": "ordinal", "max": float("nan")}, "finite"),
        ({"level": "ordinal", "resamples": 0}, "resamples must be 1 or more"),
        ({"level": "ordinal", "seed": -1}, "seed must be 0 or more"),
    ],
)
def test_options_that_cannot_be_are_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        measure(coded_ratings(two_raters(("1", "1"))), **options)


def test_one_category_has_percent_agreement_and_nothing_else() -> None:
    found = measures(
        measure(
            coded_ratings(two_raters(("2", "2"), ("2", "2"), ("2", "2"))),
            level="interval",
            resamples=50,
        )
    )
    percent = found.pop("percent_agreement")
    assert (percent.value, percent.low, percent.high) == (1, None, None)
    assert all(each.value is None for each in found.values())
    assert found["fleiss_kappa"].reason is not None
    assert found["fleiss_kappa"].reason.startswith("only one category")
    assert found["icc_a1"].reason == "the variances it compares add up to 0"


def test_one_unit_has_percent_agreement_without_an_interval() -> None:
    found = measures(measure(coded_ratings(two_raters(("1", "2"))), level="interval", resamples=50))
    percent = found.pop("percent_agreement")
    assert (percent.value, percent.low, percent.high) == (0, None, None)
    assert percent.reason == "no interval: it takes 6 units with two values or more, and there is 1"
    assert all(each.value is None and each.reason for each in found.values())


def test_no_value_that_can_be_used_is_an_error() -> None:
    with pytest.raises(InvalidVotesError, match="none of 2 values can be used at ordinal level"):
        measure(coded_ratings(two_raters(("x", "y"))), level="ordinal")


@pytest.mark.parametrize("level", ["nominal", "ordinal"])
def test_table_without_a_value_has_reasons_and_no_numbers(level: Level) -> None:
    found = measure(coded_ratings(two_raters((None, None), (None, None))), level=level)
    assert found.n_values == 0
    assert all(each.value is None and each.reason for each in measures(found).values())
    assert found.warnings[0].startswith("No unit has two values")


def test_undefined_samples_take_the_interval_away_or_are_named() -> None:
    rare = two_raters(*[("a", "a")] * 9, ("b", "b"))
    found = measure(coded_ratings(rare), level="nominal", resamples=500)
    assert found.fleiss_kappa.value == 1
    assert found.fleiss_kappa.low is None
    assert "of 500 bootstrap samples" in (found.fleiss_kappa.reason or "")
    often = two_raters(*[("a", "a")] * 14, *[("b", "b")] * 5, ("a", "b"))
    named = measure(coded_ratings(often), level="nominal", resamples=2000)
    assert named.fleiss_kappa.low is not None
    assert any("fleiss_kappa" in text and "leave it undefined" in text for text in named.warnings)


def test_few_units_are_warned_about() -> None:
    few = measure(coded_ratings(two_raters(("1", "2"), ("2", "2"))), level="ordinal", resamples=9)
    assert any(text.startswith("Only 2 units have two values") for text in few.warnings)
    many = measure(
        coded_ratings(two_raters(*[("1", "2"), ("2", "2")] * 15)), level="ordinal", resamples=9
    )
    assert many.warnings == ()


def test_icc_from_few_complete_units_is_warned_about() -> None:
    """Sixty units carry pairs, 29 or 30 of them complete."""
    for n_complete, is_few in ((29, True), (30, False)):
        rows = [
            *two_raters(*[("1", "2"), ("2", "2")] * 30),
            *((f"u{i}", "z", "2") for i in range(n_complete)),
        ]
        found = measure(coded_ratings(rows), level="interval", resamples=9)
        (text,) = (w for w in found.warnings if w.startswith("The ICCs use"))
        assert f"the {n_complete} of 60 units" in text
        assert ("too narrow" in text) == is_few


def test_a_rater_without_a_value_is_named_and_leaves_two() -> None:
    rows = [*two_raters(("1", "2"), ("2", "2")), ("u0", "z", None)]
    found = measure(coded_ratings(rows), level="ordinal", resamples=9)
    assert found.n_raters == 3
    assert found.cohen_kappa.value is not None
    assert "1 of 3 raters have no value that counts." in found.warnings


def test_huge_values_do_not_overflow() -> None:
    rows = two_raters(("1e300", "1e300"), ("-1e308", "1e308"), ("0", "0"))
    scaled = two_raters(("1e-8", "1e-8"), ("-1", "1"), ("0", "0"))
    found = measures(measure(coded_ratings(rows), level="interval", resamples=9))
    expected = measures(measure(coded_ratings(scaled), level="interval", resamples=9))
    for name, each in found.items():
        assert each.value == pytest.approx(expected[name].value), name


@settings(max_examples=20)
@given(st.permutations(long_rows(KRIPPENDORFF_C)))
def test_order_of_rows_changes_no_digit(rows: list[Row]) -> None:
    expected = measure(coded_ratings(long_rows(KRIPPENDORFF_C)), level="ratio", resamples=20)
    assert measure(coded_ratings(rows), level="ratio", resamples=20) == expected


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
def test_perfect_agreement_is_one(level: Level) -> None:
    answers = np.random.default_rng(0).integers(1, 6, size=40)
    rows = two_raters(*((str(a), str(a)) for a in answers))
    found = measures(measure(coded_ratings(rows), level=level, resamples=50))
    values = [each.value for each in found.values() if each.value is not None]
    assert len(values) == (5 if level == "nominal" else 14)
    assert values == pytest.approx([1] * len(values))


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
@pytest.mark.parametrize("n_units", [2, 3, 4, 5])
def test_few_units_have_no_interval(n_units: int, level: Level) -> None:
    """With 2 to 5 units intervals of alpha cover .21 to .89."""
    some = two_raters(*[("1", "1"), ("2", "3"), ("3", "3"), ("4", "4"), ("2", "1"), ("5", "5")])
    few = measure(coded_ratings(some[: 2 * n_units]), level=level, resamples=200)
    for name, found in measures(few).items():
        assert (found.low, found.high) == (None, None), name
        assert found.reason, name
    assert few.krippendorff_alpha.value is not None
    assert few.warnings[0].kind == Kind.NO_INTERVAL
    assert few.notes == ()
    enough = measure(coded_ratings(some), level=level, resamples=200)
    assert enough.percent_agreement.low is not None
    assert "the same 2 raters" in enough.notes[0]


@pytest.mark.parametrize("cells", [("same", "same"), ("one", "other")])
def test_units_that_all_say_the_same_have_no_interval(cells: tuple[str, str]) -> None:
    rows = two_raters(*[cells] * 40)
    percent = measure(coded_ratings(rows), level="nominal", resamples=100).percent_agreement
    assert percent.value == (cells[0] == cells[1])
    assert (percent.low, percent.high) == (None, None)
    assert "every unit says the same" in (percent.reason or "")


def test_agreement_without_any_exception_has_no_interval_in_any_measure() -> None:
    rows = two_raters(*[("1", "1"), ("2", "2"), ("4", "4")] * 20)
    for name, found in measures(measure(coded_ratings(rows), level="interval")).items():
        assert found.value == pytest.approx(1), name
        assert (found.low, found.high) == (None, None), name
        assert found.reason, name


@pytest.mark.parametrize(
    ("pairs", "n_said"),
    [
        ([("a", "a")] * 92 + [("b", "b")] * 4 + [("a", "b")] * 4, 2),  # both few
        ([("a", "a")] * 50 + [("b", "b")] * 41 + [("a", "b")] * 9, 1),  # they seldom differ
        ([("a", "a")] * 90 + [("a", "b")] * 10, 0),
        # A rare category beside two common ones: .94 to .96 measured.
        ([("a", "a"), ("b", "b"), ("a", "b")] * 30 + [("c", "c")], 0),
    ],
)
def test_few_cases_are_said(pairs: list[tuple[str, str]], n_said: int) -> None:
    found = measure(coded_ratings(two_raters(*pairs)), level="nominal", resamples=100)
    said = [notice for notice in found.warnings if notice.kind == Kind.FEW_CASES]
    assert sum("too narrow" in text for text in said) == n_said


def test_percentiles_are_kept_as_a_choice() -> None:
    ratings = coded_ratings(long_rows(from_counts(FLEISS_1971)))
    narrow = measure(ratings, level="nominal", interval="percentile").fleiss_kappa
    wide = measure(ratings, level="nominal").fleiss_kappa
    assert narrow.value == wide.value
    assert (narrow.low, narrow.high) != (wide.low, wide.high)
    with pytest.raises(SettingsError, match="fisher-z, percentile"):
        measure(ratings, level="nominal", interval="bca")


def test_ac2_on_a_scale_without_ends_has_no_interval() -> None:
    """Its weights rest on the range in use; on five categories it has one."""
    scores = np.random.default_rng(0).normal(size=(60, 1)) + np.random.default_rng(1).normal(
        size=(60, 2)
    )
    fine = measure(coded_ratings(long_rows(scores.round(2).tolist())), level="interval")
    assert fine.gwet_ac2.value is not None
    assert fine.gwet_ac2.low is None
    assert "another measure" in (fine.gwet_ac2.reason or "")
    assert fine.krippendorff_alpha.low is not None
    coarse = np.clip(scores.round(), -1, 1)
    assert measure(coded_ratings(long_rows(coarse.tolist())), level="interval").gwet_ac2.low
