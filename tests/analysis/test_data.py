"""Judgments as rows, and what a study's data answers of itself."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from hearteval.analysis.judgments import (
    JudgmentRow,
    Judgments,
    first_of_two,
    judgment_columns,
    judgments_of,
    last_rows,
)
from hearteval.domain import AXIS_NAMES, CHOICES, Axis, AxisMark
from hearteval.domain.columns import Coded, Ids


def batch_of(choices: tuple[str, ...], strengths: tuple[int | None, ...]) -> dict[str, Any]:
    n = len(choices)
    return {
        "assignment_id": Ids.of([f"a{row}" for row in range(n)]),
        "pair_id": Coded.of([f"p{row % 1}" for row in range(n)]),
        "item_id": Coded.of(["i"] * n),
        "first_system_id": Coded.of(["x"] * n),
        "second_system_id": Coded.of(["y"] * n),
        "first_completion_id": Coded.of(["c"] * n),
        "rater_id": Coded.of(["r"] * n),
        "repeat": np.zeros(n, dtype=np.int64),
        "choice": np.array([CHOICES.index(one) for one in choices]),
        "strength": np.array([one or 0 for one in strengths]),
        "axes": np.zeros((n, len(AXIS_NAMES)), dtype=np.int8),
        "finish_reason": Coded.of([None] * n),
    }


def rows_of(*choices: str) -> Judgments:
    strengths = tuple(None if choice == "tie" else 3 for choice in choices)
    return judgment_columns([batch_of(choices, strengths)])


def test_rows_of_unequal_length_are_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        judgment_columns([batch_of(("first", "tie"), (3,))])


def test_rows_keep_the_order_of_batches_and_their_fields() -> None:
    batches = [batch_of(("first", "tie"), (3, None)), batch_of(("second",), (5,))]

    rows = judgment_columns(batches)

    assert [(row.assignment_id, row.choice, row.strength) for row in rows] == [
        ("a0", "first", 3),
        ("a1", "tie", None),
        ("a0", "second", 5),
    ]
    assert rows[0] == JudgmentRow("a0", "p0", "i", "x", "y", "c", "r", 0, "first", 3, {}, None)


def test_a_text_of_many_rows_is_kept_once() -> None:
    rows = rows_of("first", "first")

    assert [*rows.pair.values] == ["p0"]


def test_batches_may_share_values_that_grow_or_have_their_own() -> None:
    texts, batches = ["u", "z", "y"], []
    sides = [([2, 1, 2], [1, 2, 1]), ([3, 0, 1], [1, 1, 3])]
    for codes in sides:
        batch, places = batch_of(("tie",) * 3, (None,) * 3), np.array(codes, dtype=np.int32)
        batch["first_system_id"] = Coded(texts, places[0])
        batch["second_system_id"] = Coded(texts, places[1])
        batches.append(batch)
    batches.append(batch_of(("first",), (3,)))

    def given() -> Iterator[dict[str, Any]]:
        for batch in batches:
            yield batch
            texts.append("x")

    rows = judgment_columns(given())

    assert [*rows.first_system] == [*"yzy", *"xuz", "x"]
    assert [*rows.second_system] == [*"zyz", *"zzx", "y"]
    assert sorted(set(rows.first_system.values)) == sorted(rows.first_system.values)


def test_pairs_that_nobody_named_beforehand_are_there_too() -> None:
    batch = batch_of(("first", "tie", "second"), (3, None, 1))
    batch["pair_id"] = Coded.of(["p2", "p9", "p1"])

    rows = judgment_columns([batch, batch], Ids.of(["p1", "p2", "p3"]))

    assert [*rows.pair] == ["p2", "p9", "p1"] * 2
    assert sorted(rows.pair.present) == ["p1", "p2", "p9"]


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


def test_marks_come_back_as_they_were() -> None:
    marks: dict[Axis, AxisMark] = {
        "H": AxisMark("first", 5),
        "T": AxisMark("tie", None),
        "C": AxisMark("second", None),
    }
    (row,) = rows_of("first")

    (found,) = judgments_of([row._replace(axes=marks)])

    assert found.axes == marks
    assert judgments_of([found]).axes == ("H", "T", "C")


def test_judgments_of_two_sources_stand_one_after_the_other() -> None:
    rows = [row._replace(rater_id=f"r{k}") for k, row in enumerate(rows_of("first", "tie"))]

    both = judgments_of(rows[1:]) + judgments_of(rows)

    assert list(both) == [rows[1], *rows]
    assert both.rater.values == ("r1", "r0")


def test_the_last_of_equal_keys_is_kept_and_groups_of_two_are_found() -> None:
    group, key = np.array([1, 0, 1, 1, 0]), np.array([5, 7, 6, 5, 7])

    last = last_rows(group, key)

    assert last.tolist() == [4, 3, 2]
    assert first_of_two(group[last]).tolist() == [1]
    assert first_of_two(group[:0]).tolist() == []
