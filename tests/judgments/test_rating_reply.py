import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hearteval.domain import AXES, AXIS_NAMES, axis_key
from hearteval.errors import InvalidReplyError
from hearteval.judgments.form import JudgeForm
from hearteval.judgments.prompt import judge_schema
from hearteval.judgments.reply import RatingVerdict, read_rating

KEYS = ("human_alignment", "empathic_responsiveness", "attunement", "resonance", "task_following")


def scored(**changes: Any) -> dict[str, Any]:
    return {"comment": "Takes up the loss.", "score": 4} | changes


def rating(**changes: Any) -> dict[str, Any]:
    return {key: scored() for key in KEYS} | changes


def fault(value: Any, *, finish_reason: str = "stop", refusal: str | None = None) -> str:
    with pytest.raises(InvalidReplyError) as caught:
        read_rating(json.dumps(value), finish_reason=finish_reason, refusal=refusal)
    return caught.value.reason


def test_a_rating_holds_a_score_and_a_comment_for_each_axis() -> None:
    text = json.dumps(rating(resonance=scored(score=1, comment="Goes nowhere.")))
    assert read_rating(text) == RatingVerdict(
        axes={"H": 4, "E": 4, "A": 4, "R": 1, "T": 4},
        comments=dict.fromkeys(AXES, "Takes up the loss.") | {"R": "Goes nowhere."},
    )


@given(st.lists(st.integers(1, 5), min_size=6, max_size=6))
def test_every_rating_that_was_asked_for_is_read(scores: list[int]) -> None:
    keys = [axis_key(axis) for axis in AXIS_NAMES]
    assert keys == judge_schema(JudgeForm(axes=tuple(AXIS_NAMES), protocol="rating"))["required"]
    text = json.dumps({k: scored(score=score) for k, score in zip(keys, scores, strict=True)})
    assert (
        list(
            read_rating(
                text, form=JudgeForm(axes=tuple(AXIS_NAMES), protocol="rating")
            ).axes.values()
        )
        == scores
    )


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (rating(overall=scored()), "wrong-keys"),
        ({key: scored() for key in KEYS[:3]}, "missing-axis"),
        (rating(attunement=4), "not-an-object"),
        (rating(attunement={"score": 4, "comment": "So."}), "wrong-order"),
        (rating(attunement={"score": 4}), "wrong-keys"),
        (rating(attunement=scored(comment=" ")), "empty-reason"),
        (rating(attunement=scored(score=0)), "wrong-score"),
        (rating(attunement=scored(score=6)), "wrong-score"),
        (rating(attunement=scored(score="4")), "wrong-score"),
        (rating(attunement=scored(score=4.0)), "wrong-score"),
        (rating(attunement=scored(score=True)), "wrong-score"),
        (rating(attunement=scored(score=float("nan"))), "wrong-score"),
    ],
)
def test_a_rating_that_was_not_asked_for_is_refused(value: Any, reason: str) -> None:
    assert fault(value) == reason


def test_a_rating_that_was_cut_off_is_never_read() -> None:
    assert fault(rating(), finish_reason="length") == "truncated"


def test_a_refused_rating_is_refused() -> None:
    assert fault("", refusal="No.") == "refused"
