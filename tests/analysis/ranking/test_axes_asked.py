"""An axis counts the judgments that asked about it, and no other."""

from collections.abc import Mapping, Sequence

import pytest
from ranked_votes import ANN, BEN, JUDGE, PEOPLE, PERSON, Vote, row_of, rows_of

from hearteval.analysis.ranking.axes.tables import axes_asked
from hearteval.analysis.ranking.leaderboard import Leaderboard, rank_systems
from hearteval.domain import AXES, Axis, AxisMark, Choice, Rater

ITEMS = tuple(f"i{k}" for k in range(12))
OPTIONAL = Rater(
    name="gpt", kind="llm", family="gpt", settings={"protocol": "pairs", "marks": "optional"}
)
H: Mapping[Axis, AxisMark] = {"H": AxisMark("first", None)}


def votes_of(
    raters: Sequence[Rater], marks: Mapping[Axis, AxisMark], *, items: Sequence[str] = ITEMS
) -> list[Vote]:
    """Ann wins two thirds of her items; every rater says the same and marks the same axes."""
    sides: tuple[Choice, ...] = ("first", "second", "first")
    return [
        Vote(item, ANN, BEN, sides[k % 3], rater=rater, axes=marks)
        for k, item in enumerate(items)
        for rater in raters
    ]


def by_judge_and_people(*, asks_people: bool = False) -> Leaderboard:
    """One judge marks all axes; five people answer on five points, which asks about none."""
    all_axes: dict[Axis, AxisMark] = {axis: AxisMark("first", 2) for axis in AXES}
    votes = votes_of([JUDGE], all_axes) + votes_of(PEOPLE[:5], {})
    # Marks that go either way have an order on every axis.
    votes += [Vote("i99", BEN, ANN, "first", rater=JUDGE, axes=all_axes)]
    raters = [JUDGE, *PEOPLE]
    return rank_systems(rows_of(votes), [ANN, BEN], raters, asks_people=asks_people)


def test_people_whom_no_axis_was_asked_of_stand_in_no_count_of_it() -> None:
    board = by_judge_and_people()
    ann = row_of(board, ANN)
    assert (ann.n_comparisons, ann.axes["H"].n_comparisons, ann.axes["H"].n_asked) == (73, 13, 13)
    asked = board.axes_asked["H"]
    assert (asked.n_judgments, asked.n_marked) == (13, 13)
    assert (asked.n_people, asked.judges) == (0, ("judge",))


def test_nobody_is_told_that_people_marked_little_who_were_not_asked() -> None:
    said = " ".join(by_judge_and_people().warnings)
    assert "people marked" not in said
    assert "A difference was marked" not in said


def test_people_whose_page_asks_for_marks_were_asked_though_they_mark_none() -> None:
    board = by_judge_and_people(asks_people=True)
    assert row_of(board, ANN).axes["H"].n_asked == 73
    assert board.axes_asked["H"].n_people == 5
    said = " ".join(board.warnings)
    assert "Fewer than 5 people marked H" in said
    assert "A difference was marked on H in 18 %" in said


@pytest.mark.parametrize(
    ("raters", "marks", "expected"),
    [
        pytest.param([JUDGE], {}, frozenset(), id="a judge that marks nothing"),
        pytest.param([JUDGE], H, frozenset("H"), id="a judge of imported marks"),
        pytest.param([OPTIONAL], H, frozenset(AXES), id="a judge to whom marks are left"),
        pytest.param([PERSON], {}, frozenset(), id="a person on five points"),
        pytest.param([PERSON], H, frozenset("H"), id="a person of imported marks"),
    ],
)
def test_a_rater_was_asked_what_is_marked_or_what_its_settings_ask(
    raters: list[Rater], marks: Mapping[Axis, AxisMark], expected: frozenset[Axis]
) -> None:
    rows = rows_of(votes_of(raters, marks))
    assert axes_asked(rows, raters, asks_people=False) == {raters[0].id: expected}


def test_who_marked_once_was_asked_about_all_that_people_marked() -> None:
    one, other, third = PEOPLE[:3]
    rows = rows_of(
        [
            *votes_of([one], H, items=["i1"]),
            *votes_of([one, third], {}, items=["i2"]),
            *votes_of([other], {"T": AxisMark("tie", None)}, items=["i1"]),
        ]
    )
    found = axes_asked(rows, PEOPLE, asks_people=False)
    assert found == {one.id: frozenset("HT"), other.id: frozenset("HT"), third.id: frozenset()}
