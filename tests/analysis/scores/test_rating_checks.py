"""What ratings say of the judges: the stress set, asking again, and what a reader must know."""

import pytest
from rated_records import RatingMaker

from hearteval.analysis.judges import StressResult
from hearteval.analysis.scores.checks import stress_warnings
from hearteval.domain import AXES
from hearteval.stats.means import wilson_interval


@pytest.fixture
def maker() -> RatingMaker:
    """One rater that scores a reference and a hostile reply to three items."""
    made = RatingMaker()
    for item, reference, hostile in (("a", 5, 1), ("b", 4, 1), ("c", 3, 3)):
        made.rate("r", "reference", item, reference)
        made.rate("r", "hostile", item, hostile)
        made.rate("r", "good", item, 4)
    return made


def test_stress_texts_have_mean_scores_of_their_own(maker: RatingMaker) -> None:
    results, _ = maker.analyze()
    assert {row.kind: row.mean for row in results.stress} == pytest.approx(
        {"hostile": 5 / 3, "reference": 4}
    )
    assert {(row.rater, row.n_items) for row in results.stress} == {("r", 3)}
    assert [row.system for row in results.systems] == ["good"]


def test_equal_scores_count_half_for_the_reference(maker: RatingMaker) -> None:
    _, (preference,) = maker.analyze()
    assert (preference.rater, preference.kind, preference.n_items) == ("r", "hostile", 3)
    assert preference.reference_rate == pytest.approx(2.5 / 3)
    expected = wilson_interval(2.5 / 3, 3, level=0.95)
    assert (preference.low, preference.high) == pytest.approx(expected)


def test_stress_text_without_its_reference_says_nothing_of_it() -> None:
    made = RatingMaker()
    made.rate("r", "hostile", "a", 1)
    made.rate("r", "reference", "b", 5)
    results, preferences = made.analyze()
    assert preferences == ()
    assert len(results.stress) == 2


def test_repeatability_is_the_share_of_equal_scores(maker: RatingMaker) -> None:
    maker.rate("r", "good", "a", 4, repeat=1)
    maker.rate("r", "good", "b", dict.fromkeys(AXES, 4) | {"H": 1, "E": 3}, repeat=1)
    results, _ = maker.analyze()
    (again,) = results.repeatability
    assert (again.rater, again.n_completions, again.n_items) == ("r", 2, 2)
    assert again.same == pytest.approx((1 + 3 / 5) / 2)
    assert again.difference == pytest.approx((3 + 1) / 5 / 2)


def test_second_rating_without_a_first_is_no_repetition(maker: RatingMaker) -> None:
    maker.rate("late", "good", "a", 4, repeat=1)
    assert maker.analyze()[0].repeatability == ()


def test_few_items_are_named(maker: RatingMaker) -> None:
    assert any("Rated on fewer than 10 items: good (3)" in w for w in maker.analyze()[0].warnings)


def test_rater_that_skipped_a_system_is_named(maker: RatingMaker) -> None:
    maker.rate("other", "good", "a", 2)
    maker.rate("other", "weak", "a", 1)
    warnings = maker.analyze()[0].warnings
    assert any(w.startswith("r did not rate weak:") for w in warnings)
    assert not any(w.startswith("other did not rate") for w in warnings)


def test_without_a_rating_there_is_nothing_to_warn_of() -> None:
    made = RatingMaker()
    made.want("r", "good", "a")
    results, _ = made.analyze()
    assert (results.systems, results.warnings, results.n_ratings) == ((), (), 0)


def stress_result(rate: float, *, kind: str = "hostile", n_items: int = 20) -> StressResult:
    low, high = wilson_interval(rate, n_items, level=0.95)
    return StressResult(
        rater="j", kind=kind, n_items=n_items, reference_rate=rate, low=low, high=high
    )


def test_judge_that_scores_a_hostile_reply_as_high_as_the_reference_is_named() -> None:
    (warning,) = stress_warnings([stress_result(0.5)], level=0.95)

    assert warning == (
        "Tests find fault with j: it too seldom scores the reference reply above a hostile reply"
        " (50 %)."
    )


def test_judge_that_tells_them_apart_is_not_named() -> None:
    assert stress_warnings([stress_result(0.85)], level=0.95) == ()


def test_few_items_are_no_fault_of_a_judge() -> None:
    assert stress_warnings([stress_result(0.5, n_items=3)], level=0.95) == ()


def test_one_doubtful_kind_among_many_is_no_fault() -> None:
    doubtful = stress_result(0.53, kind="padded")
    others = [stress_result(1.0, kind=f"kind {n}") for n in range(4)]

    assert stress_warnings([doubtful], level=0.95) != ()
    assert stress_warnings([doubtful, *others], level=0.95) == ()
