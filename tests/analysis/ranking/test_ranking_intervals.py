"""Which interval a study's ranking gets, and what its differences and ranks say."""

import math
from collections.abc import Mapping
from itertools import combinations

import pytest
from ranked_votes import (
    ANN,
    BEN,
    CAT,
    DAN,
    PEOPLE,
    Vote,
    random_votes,
    rank,
    row_of,
    rows_of,
    three_to_one,
)
from scipy.stats import t as student_t

from hearteval.analysis.ranking.leaderboard import Leaderboard, rank_systems
from hearteval.domain import Axis, AxisMark, Rater
from hearteval.notices import Kind


def kinds(board: Leaderboard) -> list[Kind]:
    return [warning.kind for warning in board.warnings]


def votes_of_people(n_people: int, *, axes: Mapping[Axis, AxisMark] | None = None) -> list[Vote]:
    """Every person compares Ann with Ben on two items; 4 of 5 and 2 of 5 prefer Ann."""
    wins = {"i1": (1, 1, 1, 1, 0), "i2": (1, 1, 0, 0, 0)}
    return [
        Vote(item, ANN, BEN, "first" if won else "second", rater=person, axes=axes or {})
        for item, row in wins.items()
        for person, won in list(zip(PEOPLE, row, strict=False))[:n_people]
    ]


def test_five_people_on_two_items_give_a_two_way_interval() -> None:
    board = rank(votes_of_people(5))
    rating = row_of(board, ANN).unweighted

    # p = .6, npq = 2.4. Sums of y - p: items 1, -1; people .8, .8, -.2, -.2, -1.2; cells .4, -.6.
    over_items, over_people, over_cells = 2 * 2 / 1, 2.8 * 5 / 4, 2.4 * 10 / 9
    se = math.sqrt(over_items + over_people - over_cells) / 2.4 / 2
    t_quantile = 12.7062  # 2.5 % point of t with 1 degree of freedom, from tables
    assert (board.interval_used, board.df, board.n_people) == ("two-way", 1, 5)
    assert rating.se == pytest.approx(se)
    assert rating.high is not None
    assert rating.high - rating.elo == pytest.approx(t_quantile * se * 400 / math.log(10), rel=1e-5)
    assert Kind.GIVEN_RATERS not in kinds(board)


def test_under_five_people_the_interval_is_over_items_and_says_so() -> None:
    board = rank(votes_of_people(4))

    assert (board.interval_used, board.df, board.n_people) == ("item-sandwich", 1, 4)
    assert {Kind.GIVEN_RATERS, Kind.FEW_RATERS} <= set(kinds(board))
    assert any("4 of them have judged, fewer than 5" in warning for warning in board.warnings)


def test_judges_are_a_fixed_panel_and_never_sampled_raters() -> None:
    panel = [Rater(name=f"J{k}", kind="llm", family=f"j{k}", settings={"k": k}) for k in range(6)]
    votes = [
        Vote(vote.item, vote.first, vote.second, vote.choice, rater=judge)
        for vote in three_to_one()
        for judge in panel
    ]
    board = rank_systems(rows_of(votes), [ANN, BEN], panel)

    assert (board.interval_used, board.df, board.n_raters, board.n_people) == (
        *("item-sandwich", 3),
        *(6, 0),
    )


def test_judges_beside_five_people_are_given_and_the_people_sampled() -> None:
    votes = [*votes_of_people(5), *three_to_one()]
    board = rank(votes)

    assert (board.judged_by, board.interval_used) == ("both", "two-way")
    assert board.df == 3  # items i1 to i4 against 5 people
    *_, given, combined = board.warnings
    assert "with other items and other people, not with other judges" in given
    assert "the same total weight within each pair" in combined
    assert "14 of 14 pairs were judged by one kind only" in combined


def test_axis_marked_by_too_few_people_names_its_own_interval() -> None:
    mark: Mapping[Axis, AxisMark] = {"R": AxisMark("tie", None)}
    votes = [*votes_of_people(5), *votes_of_people(3, axes=mark)]
    board = rank(votes)

    assert board.interval_used == "two-way"
    assert board.axis_intervals["R"].interval_used == "item-sandwich"
    assert any("Fewer than 5 people marked R" in warning for warning in board.warnings)


def nine_to_one() -> list[Vote]:
    """Ann wins 18 items of 20 against Ben."""
    return [Vote(f"i{k}", ANN, BEN, "second" if k < 2 else "first", 1) for k in range(20)]


def test_difference_has_an_interval_and_a_t_test() -> None:
    (difference,) = rank(nine_to_one()).differences

    se = math.sqrt((18 * 0.01 + 2 * 0.81) * 20 / 19) / (20 * 0.9 * 0.1)
    per_theta = 400 / math.log(10)
    assert (difference.system, difference.other) == ("Ann", "Ben")
    assert difference.elo == pytest.approx(400 * math.log10(9))
    assert difference.p == pytest.approx(2 * student_t.sf(math.log(9) / se, df=19))
    assert difference.low == pytest.approx(difference.elo - 2.093024 * se * per_theta, rel=1e-6)
    assert difference.high == pytest.approx(difference.elo + 2.093024 * se * per_theta, rel=1e-6)


def test_differences_are_of_the_headline_best_first_with_q_over_all_of_them() -> None:
    board = rank(random_votes(300), (ANN, BEN, CAT, DAN))
    elo = {row.system: row.weighted.elo for row in board.rows}
    names = [row.system for row in board.rows]
    p = sorted(difference.p for difference in board.differences)
    stepped = [min(6 / (k + 1) * p[k] for k in range(first, 6)) for first in range(6)]

    assert [(d.system, d.other) for d in board.differences] == list(combinations(names, 2))
    assert [d.elo for d in board.differences] == pytest.approx(
        [elo[d.system] - elo[d.other] for d in board.differences]
    )
    assert sorted(d.q for d in board.differences) == pytest.approx(stepped)


def test_ranks_are_closed_by_a_clear_difference_and_left_open_by_none() -> None:
    clear, open_ = rank(nine_to_one()), rank(three_to_one())

    assert [(row.weighted.rank_low, row.weighted.rank_high) for row in clear.rows] == [
        (1, 1),
        (2, 2),
    ]
    assert [(row.unweighted.rank_low, row.unweighted.rank_high) for row in open_.rows] == [
        (1, 2),
        (1, 2),
    ]


def test_difference_that_no_item_contradicts_is_unbounded() -> None:
    votes = [
        Vote(item, one, other, "first")
        for item in ("i1", "i2", "i3")
        for one, other in ((ANN, BEN), (BEN, ANN))
    ]
    (difference,) = rank(votes).differences

    assert (difference.low, difference.high, difference.p, difference.q) == (None, None, 1, 1)


def test_fit_of_the_headline_compares_it_with_unweighted_wins() -> None:
    board = rank(three_to_one())
    (pair,) = board.fit_weighted.pairs

    assert (board.fit.ratings, board.fit_weighted.ratings) == ("unweighted", "weighted")
    assert (pair.n, pair.observed) == (4, 0.75)
    assert pair.predicted == pytest.approx(12 / 13)
    assert board.fit_weighted.max_gap == pytest.approx(12 / 13 - 0.75)
    assert board.fit_weighted.system_rms_gap == pytest.approx(12 / 13 - 0.75)
    assert board.fit.max_gap == pytest.approx(0)
