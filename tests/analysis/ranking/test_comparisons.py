from collections.abc import Mapping

import pytest

from hearteval.analysis.judgments import JudgmentRow, Judgments, judgments_of
from hearteval.analysis.ranking.comparisons import to_comparisons
from hearteval.domain import Axis, AxisMark, Choice

Vote = tuple[str, str, str, str, Choice, int | None, Mapping[Axis, AxisMark]]

VOTES: list[Vote] = [
    ("i2", "x", "y", "r2", "first", 4, {"H": AxisMark("second", 2)}),
    ("i1", "z", "y", "r1", "second", 2, {}),
    ("i2", "y", "z", "r1", "tie", None, {"H": AxisMark("first", None)}),
]


def rows_of(votes: list[Vote]) -> Judgments:
    return judgments_of(
        JudgmentRow(
            assignment_id=f"a{number}",
            pair_id="p",
            item_id=item,
            first_system_id=first,
            second_system_id=second,
            first_completion_id="c",
            rater_id=rater,
            repeat=0,
            choice=choice,
            strength=strength,
            axes=axes,
            finish_reason=None,
        )
        for number, (item, first, second, rater, choice, strength, axes) in enumerate(votes)
    )


def test_choices_become_scores_of_the_completion_shown_first() -> None:
    comparisons = to_comparisons(rows_of(VOTES), use_strength=False, system_ids=["x", "y", "z"])

    assert comparisons.left.tolist() == [0, 2, 1]
    assert comparisons.right.tolist() == [1, 1, 2]
    assert comparisons.score.tolist() == [1, 0, 0.5]
    assert comparisons.weight.tolist() == [1, 1, 1]


def test_items_are_numbered_in_sorted_order() -> None:
    comparisons = to_comparisons(rows_of(VOTES), use_strength=False, system_ids=["x", "y", "z"])

    assert comparisons.item.tolist() == [1, 0, 1]


def test_raters_that_are_not_named_are_a_fixed_panel() -> None:
    comparisons = to_comparisons(
        rows_of(VOTES), use_strength=False, system_ids=["x", "y", "z"], rater_ids=["r9", "r2"]
    )

    assert comparisons.rater.tolist() == [1, -1, -1]


def test_strength_weighs_decided_votes_and_a_tie_has_weight_one() -> None:
    comparisons = to_comparisons(rows_of(VOTES), use_strength=True, system_ids=["x", "y", "z"])

    assert comparisons.weight.tolist() == [4, 2, 1]


def test_axis_takes_its_marks_and_leaves_out_judgments_without_one() -> None:
    comparisons = to_comparisons(
        rows_of(VOTES), axis="H", use_strength=False, system_ids=["x", "y", "z"]
    )

    assert comparisons.left.tolist() == [0, 1]
    assert comparisons.score.tolist() == [0, 1]


def test_judgments_of_other_systems_are_left_out() -> None:
    comparisons = to_comparisons(rows_of(VOTES), use_strength=False, system_ids=["y", "z"])

    assert len(comparisons) == 2
    assert comparisons.n_systems == 2


def test_axis_without_marks_gives_no_comparisons() -> None:
    comparisons = to_comparisons(
        rows_of(VOTES), axis="T", use_strength=False, system_ids=["x", "y", "z"]
    )

    assert len(comparisons) == 0


def test_decided_vote_without_strength_cannot_be_weighted() -> None:
    with pytest.raises(ValueError, match=r"assignment a2: .*needs a strength"):
        to_comparisons(rows_of(VOTES), axis="H", use_strength=True, system_ids=["x", "y", "z"])
