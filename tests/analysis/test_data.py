"""Judgments as rows, and what a study's data answers of itself."""

import pytest

from hearteval.analysis.data import JudgmentRow, assigned, judgment_rows
from hearteval.domain import Assignment, Pair


def batch_of(choices: tuple[str, ...], strengths: tuple[int | None, ...]) -> dict[str, object]:
    n = len(choices)
    return {
        "assignment_id": [f"a{row}" for row in range(n)],
        "pair_id": [f"p{row % 1}" for row in range(n)],
        "item_id": ["i"] * n,
        "first_system_id": ["x"] * n,
        "second_system_id": ["y"] * n,
        "first_completion_id": ["c"] * n,
        "rater_id": ["r"] * n,
        "repeat": [0] * n,
        "choice": list(choices),
        "strength": list(strengths),
        "axes": [{}] * n,
        "finish_reason": [None] * n,
    }


def rows_of(*choices: str) -> list[JudgmentRow]:
    strengths = tuple(None if choice == "tie" else 3 for choice in choices)
    return judgment_rows([batch_of(choices, strengths)])  # type: ignore[list-item]


def test_rows_of_unequal_length_are_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        judgment_rows([batch_of(("first", "tie"), (3,))])  # type: ignore[list-item]


def test_rows_keep_the_order_of_batches_and_their_fields() -> None:
    batches = [batch_of(("first", "tie"), (3, None)), batch_of(("second",), (5,))]

    rows = judgment_rows(batches)  # type: ignore[arg-type]

    assert [(row.assignment_id, row.choice, row.strength) for row in rows] == [
        ("a0", "first", 3),
        ("a1", "tie", None),
        ("a0", "second", 5),
    ]
    assert rows[0] == JudgmentRow("a0", "p0", "i", "x", "y", "c", "r", 0, "first", 3, {}, None)


def test_a_text_of_many_rows_is_kept_once() -> None:
    one, other = rows_of("first", "first")

    assert one.pair_id is other.pair_id


def test_the_winner_is_a_system_or_a_tie() -> None:
    assert [row.winner for row in rows_of("first", "second", "tie")] == ["x", "y", "tie"]


def test_the_winner_does_not_depend_on_the_order_shown() -> None:
    shown = rows_of("first", "second", "tie")
    turned = [
        row._replace(first_system_id="y", second_system_id="x")
        for row in rows_of("second", "first", "tie")
    ]

    assert [row.winner for row in turned] == [row.winner for row in shown]


def test_a_row_is_among_systems_if_both_are() -> None:
    (row,) = rows_of("first")

    assert row.is_among({"x", "y", "z"})
    assert not row.is_among({"x", "z"})
    assert not row.is_among({"y", "z"})


def test_what_was_asked_is_what_is_judged_and_what_is_open() -> None:
    pair = Pair(item_id="i", completion_ids=("c", "d"))
    open_one = Assignment(study_id="s", pair_id=pair.id, rater_id="r", first_completion_id="c")
    judged, meanwhile = rows_of("first", "tie")
    meanwhile = meanwhile._replace(assignment_id=open_one.id)

    assert [one.id for one in assigned([judged], [open_one])] == ["a0", open_one.id]
    asked = assigned([judged, meanwhile], [open_one])
    assert [(one.id, one.first_completion_id, one.check) for one in asked] == [
        ("a0", "c", None),
        (open_one.id, "c", None),
    ]
