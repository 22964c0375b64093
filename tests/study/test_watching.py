"""When a study will be done, how long people take, and how far they agree."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from hearteval.analysis.judgments import JudgmentRow
from hearteval.domain import Choice
from hearteval.store.people.persons import WorkDone
from hearteval.store.people.tasks import OpenCount
from hearteval.study.people.watch.work import (
    agree_with_others,
    compare_times,
    count_lately,
    study_left,
    time_left,
)

NOW = datetime(2026, 3, 10, 12, 0, tzinfo=UTC)


def done(*ages_in_hours: float, kind: str = "judge") -> list[WorkDone]:
    times = sorted(NOW - timedelta(hours=age) for age in ages_in_hours)
    return [WorkDone("p", kind, at - timedelta(minutes=1), at, True) for at in times]


def row(pair: str, rater: str, choice: Choice, *, first: str = "a") -> JudgmentRow:
    assignment = f"{pair}-{rater}-{first}"
    return JudgmentRow(assignment, pair, "i", "s", "s", first, rater, 0, choice, None, {}, None)


def test_answers_are_counted_in_whole_days_back_from_now() -> None:
    found = count_lately(done(1, 2, 25, 73), now=NOW)
    assert found == {"judge": [2, 1, 0]}


def test_no_more_than_a_week_says_what_the_pace_is() -> None:
    found = count_lately(done(1, 24 * 20), now=NOW)
    assert found == {"judge": [1, 0, 0, 0, 0, 0, 0]}


def test_equal_days_leave_the_rest_by_division_and_no_range() -> None:
    found = time_left([20, 20, 20], 60)
    assert found == (3.0, 3.0, 3.0, 3)


def test_uneven_days_leave_a_range_by_hand() -> None:
    found = time_left([10, 20, 30], 60)
    assert found is not None
    half = 2.919986 * 10 * (1 / 3 + 1 / 3) ** 0.5
    assert found.days == 3.0
    assert found.low == pytest.approx(60 / (20 + half), rel=1e-6)
    assert found.high is None


@pytest.mark.parametrize("lately", [[], [40, 40], [5, 5, 5]])
def test_too_little_says_no_end(lately: list[int]) -> None:
    assert time_left(lately, 100) is None


def test_the_range_holds_the_end_of_made_up_studies_nine_times_in_ten() -> None:
    rng = np.random.default_rng(3)
    held = []
    for _ in range(600):
        days = rng.poisson(rng.gamma(11, 60 / 11, 60))
        found = time_left(days[:7].tolist(), 400)
        assert found is not None
        ahead = np.cumsum(days[7:])
        whole = int(np.searchsorted(ahead, 400))
        before = ahead[whole - 1] if whole else 0
        end = whole + (400 - before) / (ahead[whole] - before)
        held.append(found.low <= end <= (found.high or np.inf))
    assert 0.85 < np.mean(held) < 0.95


def test_the_slowest_kind_says_when_all_is_done_and_reviews_do_not() -> None:
    counts = [
        OpenCount("judge", 10, 100, 40, 0),
        OpenCount("write", 10, 30, 24, 0),
        OpenCount("review", 2, 2, 0, 0),
    ]
    lately = {"judge": [10, 10, 10], "write": [20, 20, 20]}
    found = study_left(counts, lately)
    assert found is not None
    assert found.days == 6.0
    assert study_left(counts, {"judge": [10, 10, 10]}) is None


def test_a_time_is_held_against_the_median_of_the_others_with_enough_answers() -> None:
    seconds = {
        "a": [10.0] * 10,
        "b": [20.0] * 10,
        "c": [30.0] * 10,
        "d": [40.0] * 10,
        "new": [1.0] * 9,
    }
    found = compare_times(seconds)
    assert found["a"].usual == 30.0
    assert found["a"].ratio == pytest.approx(1 / 3)
    assert found["new"].usual == 25.0
    assert found["new"].ratio is None


def test_three_people_are_too_few_to_compare_a_time_with() -> None:
    found = compare_times({name: [10.0] * 10 for name in "abc"})
    assert found["a"].usual is None


def test_agreement_is_the_mean_share_of_the_others_of_a_pair_who_prefer_the_same() -> None:
    rows = [
        row("p1", "x", "first"),
        row("p1", "y", "second", first="b"),
        row("p1", "z", "second"),
        row("p2", "x", "tie"),
        row("p2", "y", "tie"),
        row("p3", "x", "first"),
    ]
    found = agree_with_others(rows)
    assert found["x"] == (0.75, 2)
    assert found["y"] == (0.75, 2)
    assert found["z"] == (0.0, 1)


def test_nobody_agrees_where_nobody_judged() -> None:
    assert agree_with_others([]) == {}
