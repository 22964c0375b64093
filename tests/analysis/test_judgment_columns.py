from dataclasses import replace

import pytest

from heartbench.analysis.judgment_columns import JudgmentColumns, select_rows, select_systems


def columns_of(choices: tuple[str, ...], strengths: tuple[int | None, ...]) -> JudgmentColumns:
    n = len(choices)
    return JudgmentColumns(
        assignment_id=tuple(f"a{row}" for row in range(n)),
        pair_id=("p",) * n,
        item_id=("i",) * n,
        first_system_id=("x",) * n,
        second_system_id=("y",) * n,
        rater_id=("r",) * n,
        repeat=(0,) * n,
        choice=choices,
        strength=strengths,
        axes=({},) * n,
        finish_reason=(None,) * n,
    )


def test_columns_of_unequal_length_are_refused() -> None:
    with pytest.raises(ValueError, match="'strength': 1"):
        columns_of(("first", "tie"), (3,))


def test_selected_rows_keep_their_order_and_their_fields() -> None:
    columns = columns_of(("first", "tie", "second"), (3, None, 5))

    selected = select_rows(columns, [True, False, True])

    assert selected == JudgmentColumns(
        assignment_id=("a0", "a2"),
        pair_id=("p", "p"),
        item_id=("i", "i"),
        first_system_id=("x", "x"),
        second_system_id=("y", "y"),
        rater_id=("r", "r"),
        repeat=(0, 0),
        choice=("first", "second"),
        strength=(3, 5),
        axes=({}, {}),
        finish_reason=(None, None),
    )


def test_rows_are_kept_if_both_systems_are_wanted() -> None:
    columns = replace(
        columns_of(("first", "tie", "second"), (3, None, 5)),
        first_system_id=("x", "y", "z"),
        second_system_id=("y", "z", "x"),
    )

    assert select_systems(columns, {"x", "y"}).assignment_id == ("a0",)


def test_selection_needs_one_mark_per_judgment() -> None:
    with pytest.raises(ValueError, match="2 judgments need as many flags, not 1"):
        select_rows(columns_of(("first", "tie"), (3, None)), [True])
