"""Ratings and failed tries at them: rules, and what names them."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from hearteval.domain import Attempt, Call, Rating, RatingTarget, record_id
from hearteval.errors import InvalidRecordError

NOW = datetime(2026, 1, 1, tzinfo=UTC)
RATING = Rating(
    study_id="s",
    completion_id="c",
    rater_id="r",
    axes={"H": 1, "C": 5},
    comments={"H": "flat"},
    created_at=NOW,
)
TARGET: dict[str, Any] = {"study_id": "s", "completion_id": "c", "rater_id": "r"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"repeat": -1}, "repeat is -1"),
        ({"axes": {}}, "no axis has a score"),
        ({"axes": {"Q": 3}}, "axis 'Q' is not one of"),
        ({"axes": {"H": 0}}, "axis H: score must be 1 to 5, not 0"),
        ({"axes": {"H": 6}}, "axis H: score must be 1 to 5, not 6"),
        ({"comments": {"Q": "x"}}, "a comment names no known axis"),
        ({"created_at": NOW.replace(tzinfo=None)}, "created_at has no time zone"),
    ],
)
def test_rating_that_breaks_a_rule_is_refused_by_name(
    changes: dict[str, object], message: str
) -> None:
    with pytest.raises(InvalidRecordError, match="rating of completion c by rater r") as caught:
        replace(RATING, **changes)  # type: ignore[arg-type]
    assert message in str(caught.value)


def test_rating_is_named_by_study_completion_rater_and_repeat() -> None:
    same = replace(RATING, axes={"H": 5}, call=Call(cost=1.0), id="")
    others = [
        replace(RATING, **{name: value}, id="")  # type: ignore[arg-type]
        for name, value in {
            "study_id": "x",
            "completion_id": "x",
            "rater_id": "x",
            "repeat": 1,
        }.items()
    ]
    assert same.id == RATING.id
    assert len({RATING.id, *(other.id for other in others)}) == 5


def test_missing_rating_has_the_id_that_it_will_have() -> None:
    assert RatingTarget("s", "c", "r", 0).id == RATING.id
    assert RATING.target == RatingTarget("s", "c", "r", 0)


def test_attempts_at_completions_and_judgments_keep_their_ids() -> None:
    nothing = {"item_id": None, "system_id": None, "assignment_id": None}
    at_completion = Attempt(item_id="i", system_id="y", attempt=1, reason="x", created_at=NOW)
    at_judgment = Attempt(assignment_id="a", repeat=1, reason="x", created_at=NOW)
    assert at_completion.id == record_id(
        "attempt", {**nothing, "item_id": "i", "system_id": "y", "repeat": 0, "attempt": 1}
    )
    assert at_judgment.id == record_id(
        "attempt", {**nothing, "assignment_id": "a", "repeat": 1, "attempt": 0}
    )
    assert at_judgment.id == "096486ff7d609870a234180e2a869f4a"


def test_attempt_at_a_rating_is_named_by_its_target_repeat_and_number() -> None:
    first = Attempt(**TARGET, reason="x", created_at=NOW)
    assert first.id == Attempt(**TARGET, reason="y", raw="z", created_at=NOW).id
    others = [Attempt(**{**TARGET, name: "x"}, reason="x", created_at=NOW).id for name in TARGET]
    again = Attempt(**TARGET, attempt=1, reason="x", created_at=NOW).id
    repeat = Attempt(**TARGET, repeat=1, reason="x", created_at=NOW).id
    assert len({first.id, *others, again, repeat}) == 6


@pytest.mark.parametrize("missing", TARGET)
def test_attempt_at_half_a_rating_is_refused(missing: str) -> None:
    rest = {name: value for name, value in TARGET.items() if name != missing}
    with pytest.raises(InvalidRecordError, match="a study, a rater and one completion"):
        Attempt(**rest, reason="x", created_at=NOW)


def test_attempt_at_two_things_is_refused() -> None:
    with pytest.raises(InvalidRecordError, match="must name an item"):
        Attempt(**TARGET, assignment_id="a", reason="x", created_at=NOW)
