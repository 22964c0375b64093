import math
import random
from typing import TYPE_CHECKING

import pytest
from ranked_votes import (
    ANN,
    BEN,
    CAT,
    DAN,
    JUDGE,
    PERSON,
    STRESS,
    Vote,
    random_votes,
    rank,
    row_of,
    rows_of,
    three_to_one,
)

from hearteval.analysis.judgments import NO_JUDGMENTS
from hearteval.analysis.ranking.leaderboard import rank_systems
from hearteval.domain import AXES, Axis, AxisMark, Rater
from hearteval.errors import NotIdentifiedError
from hearteval.notices import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping


def ring_of_ties() -> list[Vote]:
    systems = (ANN, BEN, CAT)
    return [
        Vote(item, one, other, "tie")
        for item in ("i1", "i2")
        for one, other in zip(systems, (*systems[1:], ANN), strict=True)
    ]


def test_unweighted_elo_follows_from_the_share_of_wins() -> None:
    board = rank(three_to_one())

    half = 200 * math.log10(3)
    assert row_of(board, ANN).unweighted.elo == pytest.approx(1500 + half)
    assert row_of(board, BEN).unweighted.elo == pytest.approx(1500 - half)
    assert row_of(board, ANN).unweighted.theta == pytest.approx(math.log(3) / 2)


def test_headline_elo_counts_votes_with_their_strength() -> None:
    board = rank(three_to_one())

    assert row_of(board, ANN).weighted.elo == pytest.approx(1500 + 200 * math.log10(12))


def test_intervals_are_item_sandwich_with_published_beside_it() -> None:
    board = rank(three_to_one())
    rating = row_of(board, ANN).unweighted

    per_theta = 400 / math.log(10)
    se = math.sqrt(1 / (4 * 3 * 0.75 * 0.25))
    t_quantile = 3.182446  # 2.5 % point of t with 3 degrees of freedom, from tables
    assert board.interval_used == "item-sandwich"
    assert board.df == 3
    assert rating.se == pytest.approx(se)
    assert rating.low is not None
    assert rating.high is not None
    assert rating.high - rating.elo == pytest.approx(t_quantile * se * per_theta, rel=1e-6)
    assert rating.elo - rating.low == pytest.approx(t_quantile * se * per_theta, rel=1e-6)
    assert rating.published_high - rating.elo == pytest.approx(1.959964 / 2 * per_theta, rel=1e-6)
    assert rating.elo - rating.published_low == pytest.approx(1.959964 / 2 * per_theta, rel=1e-6)


def test_wins_and_ties_are_counted_and_give_the_win_rate() -> None:
    board = rank([*three_to_one(), Vote("i5", ANN, BEN, "tie")])
    ann, ben = row_of(board, ANN), row_of(board, BEN)

    assert (ann.n_comparisons, ann.n_wins, ann.n_ties) == (5, 3, 1)
    assert (ben.n_comparisons, ben.n_wins, ben.n_ties) == (5, 1, 1)
    assert (ann.win_rate, ben.win_rate) == (0.7, 0.3)
    assert (board.n_judgments, board.n_ties, board.n_items, board.n_raters) == (5, 1, 5, 1)


def test_system_whose_rank_changes_without_strengths_is_marked() -> None:
    votes = [
        Vote("i1", ANN, BEN, "first", 1),
        Vote("i2", ANN, BEN, "first", 1),
        Vote("i3", ANN, BEN, "second", 5),
    ]
    board = rank(votes)

    assert [row.system for row in board.rows] == ["Ben", "Ann"]
    assert row_of(board, ANN).unweighted.rank == 1
    assert all(row.rank_differs for row in board.rows)


def test_equal_ratings_share_the_better_rank_and_stand_by_name() -> None:
    board = rank(ring_of_ties(), (CAT, BEN, ANN))

    assert [(row.system, row.weighted.rank) for row in board.rows] == [
        ("Ann", 1),
        ("Ben", 1),
        ("Cat", 1),
    ]


def test_order_of_judgments_systems_and_raters_changes_nothing_to_the_last_digit() -> None:
    votes = random_votes(300)
    board = rank_systems(rows_of(votes), (ANN, BEN, CAT, DAN), [JUDGE, PERSON])

    random.Random(7).shuffle(votes)
    shuffled = rank_systems(rows_of(votes), (DAN, BEN, CAT, ANN), [PERSON, JUDGE])

    assert board == shuffled
    assert set(row_of(board, ANN).axes) == set(AXES)


def test_groups_that_are_not_connected_are_named() -> None:
    votes = [
        *three_to_one(),
        *(Vote(item, CAT, DAN, "tie") for item in ("i1", "i2")),
        Vote("i1", ANN, CAT, "first"),
    ]
    with pytest.raises(NotIdentifiedError, match=r"Ann, Ben \| Cat, Dan") as caught:
        rank(votes, (ANN, BEN, CAT, DAN))

    assert caught.value.components == (("Ann", "Ben"), ("Cat", "Dan"))
    assert caught.value.ids == ("Ann", "Ben", "Cat", "Dan")


def test_one_item_is_not_enough_for_a_ranking() -> None:
    votes = [Vote("i1", ANN, BEN, "first"), Vote("i1", ANN, BEN, "second")]

    with pytest.raises(NotIdentifiedError, match="at least two items"):
        rank(votes)


def test_no_judgments_give_no_ranking() -> None:
    with pytest.raises(NotIdentifiedError, match="at least two systems"):
        rank_systems(NO_JUDGMENTS, [ANN, BEN], [JUDGE])


def test_axis_that_is_not_identified_says_so_and_stops_nothing_else() -> None:
    decided: Mapping[Axis, AxisMark] = {"H": AxisMark("first", 2), "E": AxisMark("first", 2)}
    mixed: Mapping[Axis, AxisMark] = {"H": AxisMark("first", 2), "E": AxisMark("second", 2)}
    board = rank(
        [Vote("i1", ANN, BEN, "first", axes=decided), Vote("i2", ANN, BEN, "second", axes=mixed)]
    )
    ann = row_of(board, ANN)

    assert list(board.axis_problems) == ["H"]
    assert "Ann | Ben" in board.axis_problems["H"]
    assert (ann.axes["H"].elo, ann.axes["H"].low, ann.axes["H"].high) == (None, None, None)
    assert (ann.axes["H"].win_rate, ann.axes["H"].percentile) == (1, 100)
    assert ann.axes["E"].elo == pytest.approx(1500)
    assert ann.unweighted.elo == pytest.approx(1500)


def test_axis_elo_is_unweighted_whatever_the_strength_of_its_marks() -> None:
    marks: list[Mapping[Axis, AxisMark]] = [
        {"T": AxisMark("first", 5)},
        {"T": AxisMark("first", None)},
        {"T": AxisMark("first", 5)},
        {"T": AxisMark("second", 1)},
    ]
    votes = [
        Vote(f"i{row}", ANN, BEN, "first" if row else "second", axes=axes)
        for row, axes in enumerate(marks)
    ]
    standing = row_of(rank(votes), ANN).axes["T"]

    assert standing.elo == pytest.approx(1500 + 200 * math.log10(3))
    assert standing.n_comparisons == 4


def test_system_without_marks_on_an_axis_has_no_standing_there_and_is_named() -> None:
    mark: Mapping[Axis, AxisMark] = {"R": AxisMark("tie", None)}
    votes = [Vote(item, ANN, BEN, "tie", axes=mark) for item in ("i1", "i2")]
    board = rank([*votes, *ring_of_ties()], (ANN, BEN, CAT))

    assert row_of(board, CAT).axes == {}
    assert row_of(board, ANN).axes["R"].percentile == 50
    assert any("No difference was marked on R for Cat" in warning for warning in board.warnings)


def test_percentile_is_the_share_of_other_systems_with_a_lower_win_rate() -> None:
    win: Mapping[Axis, AxisMark] = {"A": AxisMark("first", 1)}
    votes = [Vote(item, ANN, BEN, "tie", axes=win) for item in ("i1", "i2")]
    votes += [Vote(item, CAT, BEN, "tie", axes=win) for item in ("i1", "i2")]
    votes += [Vote(item, BEN, DAN, "tie", axes=win) for item in ("i1", "i2")]
    board = rank(votes, (ANN, BEN, CAT, DAN))

    assert {row.system: row.axes["A"].percentile for row in board.rows} == {
        "Ann": pytest.approx(100 * 2.5 / 3),
        "Ben": pytest.approx(100 / 3),
        "Cat": pytest.approx(100 * 2.5 / 3),
        "Dan": 0,
    }


def test_stress_systems_are_never_ranked() -> None:
    votes = [*three_to_one(), Vote("i9", ANN, STRESS, "first")]

    assert rank(votes, (ANN, BEN, STRESS)) == rank(three_to_one())


def test_system_without_judgments_is_named_and_left_out() -> None:
    board = rank(three_to_one(), (ANN, BEN, CAT))

    assert [row.system for row in board.rows] == ["Ann", "Ben"]
    assert any("fewer than 2 items compare them: Cat" in warning for warning in board.warnings)


def test_cycle_of_wins_shows_in_the_fit_check_of_pairs_only() -> None:
    votes = [
        Vote(item, winner, loser, "first")
        for item in ("i1", "i2")
        for winner, loser in ((ANN, BEN), (BEN, CAT), (CAT, ANN))
    ]
    fit = rank(votes, (ANN, BEN, CAT)).fit

    assert (fit.rms_gap, fit.max_gap) == pytest.approx((0.5, 0.5))
    assert (fit.system_rms_gap, fit.system_max_gap) == pytest.approx((0, 0))
    assert [(pair.left, pair.right, pair.n, pair.observed) for pair in fit.pairs] == [
        ("Ann", "Ben", 2, 1),
        ("Ann", "Cat", 2, 0),
        ("Ben", "Cat", 2, 1),
    ]
    assert [(system.system, system.n, system.observed) for system in fit.systems] == [
        ("Ann", 4, 0.5),
        ("Ben", 4, 0.5),
        ("Cat", 4, 0.5),
    ]


def test_a_system_on_one_item_has_no_interval_and_is_left_out() -> None:
    votes = [*three_to_one(), Vote("i1", CAT, ANN, "first"), Vote("i1", CAT, BEN, "second")]
    board = rank(votes, (ANN, BEN, CAT))

    assert [row.system for row in board.rows] == ["Ann", "Ben"]
    assert board.n_judgments == 4
    assert board.rows == rank(three_to_one()).rows
    assert any("fewer than 2 items compare them: Cat" in warning for warning in board.warnings)


def test_systems_on_few_items_are_named_with_their_number() -> None:
    board = rank(three_to_one())

    assert any(
        "fewer than 10 items, so that intervals are too narrow: Ann (4), Ben (4)." in warning
        for warning in board.warnings
    )


def test_an_axis_on_one_item_has_a_win_rate_and_no_elo() -> None:
    mark: Mapping[Axis, AxisMark] = {"R": AxisMark("first", 1)}
    votes = [*three_to_one(), Vote("i1", ANN, BEN, "tie", axes=mark)]
    standing = row_of(rank(votes), ANN).axes["R"]

    assert (standing.win_rate, standing.elo, standing.n_items) == (1.0, None, 1)


def test_intervals_without_width_are_called_out() -> None:
    votes = [
        Vote(item, one, other, "first")
        for item in ("i1", "i2", "i3")
        for one, other in ((ANN, BEN), (BEN, ANN))
    ]
    board = rank(votes)

    assert board.rows[0].weighted.low == board.rows[0].weighted.high
    assert any("that is no precision" in warning for warning in board.warnings)


@pytest.mark.parametrize(
    ("raters", "source", "n_warnings"),
    [
        ([JUDGE] * 4, "judges", 2),
        ([PERSON] * 4, "people", 3),
        ([JUDGE, JUDGE, PERSON, PERSON], "both", 4),
    ],
)
def test_source_of_the_votes_and_what_the_intervals_leave_out_are_named(
    raters: list[Rater], source: str, n_warnings: int
) -> None:
    votes = [
        Vote(vote.item, vote.first, vote.second, vote.choice, vote.strength, rater)
        for vote, rater in zip(three_to_one(), raters, strict=True)
    ]
    board = rank(votes)

    assert board.judged_by == source
    assert any(warning.kind is Kind.GIVEN_RATERS for warning in board.warnings)
    assert len(board.warnings) == n_warnings


def test_judgment_of_a_system_that_was_not_given_is_refused() -> None:
    with pytest.raises(ValueError, match=f"systems that were not given.*{BEN.id}"):
        rank(three_to_one(), (ANN, CAT))


def test_judgment_by_a_rater_that_was_not_given_is_refused() -> None:
    with pytest.raises(ValueError, match=f"raters that were not given.*{JUDGE.id}"):
        rank_systems(rows_of(three_to_one()), [ANN, BEN], [PERSON])
