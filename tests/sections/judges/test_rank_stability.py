"""The ranking by a repeat beside the ranking by the first answers."""

from dataclasses import replace

import pytest
from ranked_votes import ANN, BEN, Vote, rank, row_of, rows_of, three_to_one

from hearteval.sections.judges.stability import RankStability, rank_stability


def stability(votes: list[Vote], *again: list[Vote]) -> tuple[RankStability, ...]:
    rows = rows_of(votes)
    for number, repeated in enumerate(again, start=1):
        rows += rows_of(repeated, repeat=number)
    return rank_stability(rows, [BEN, ANN], people=[], level=0.95)


def other_way_round(vote: Vote) -> Vote:
    return replace(vote, choice="second" if vote.choice == "first" else "first")


def test_same_answers_give_the_same_ranking() -> None:
    (found,) = stability(three_to_one(), three_to_one())

    assert (found.n_judgments, found.n_same_choice) == (4, 4)
    assert found.kendall_tau == pytest.approx(1)
    assert found.max_elo_gap == 0


def test_opposite_answers_turn_the_ranking_round() -> None:
    (found,) = stability(three_to_one(), [other_way_round(vote) for vote in three_to_one()])

    assert found.n_same_choice == 0
    assert found.kendall_tau == pytest.approx(-1)
    assert found.first == pytest.approx(found.again[::-1])
    assert found.max_elo_gap == pytest.approx(abs(found.first[0] - found.first[1]))
    assert found.rms_elo_gap == pytest.approx(found.max_elo_gap)


def test_both_ratings_are_the_headlines_own() -> None:
    (found,) = stability(three_to_one(), three_to_one())
    board = rank(three_to_one())

    assert found.systems == ("Ann", "Ben")
    assert found.first == pytest.approx([row_of(board, s).weighted.elo for s in (ANN, BEN)])


def test_only_what_was_answered_both_times_is_compared() -> None:
    votes = three_to_one()
    more = [*votes, Vote("i5", ANN, BEN, "second", 5)]

    (found,) = stability(more, votes)

    assert found.n_judgments == 4
    assert found.first == found.again


def test_every_repeat_stands_by_itself() -> None:
    votes = three_to_one()
    turned = [other_way_round(vote) for vote in votes]

    found = stability(votes, votes, turned)

    assert [(one.repeat, one.n_same_choice) for one in found] == [(1, 4), (2, 0)]


def test_repeat_that_determines_no_ranking_is_left_out() -> None:
    assert stability(three_to_one(), three_to_one()[:1]) == ()


def test_few_pairs_asked_again_are_no_repeat_of_the_ranking() -> None:
    votes = [*three_to_one(), *three_to_one(), *three_to_one()]

    assert stability(votes, three_to_one()) == ()


def test_nothing_asked_again_is_no_repeat() -> None:
    assert stability(three_to_one()) == ()
