"""Judges who differ: what each is like, and the ranking by each alone."""

import math

import pytest
from ranked_votes import ANN, BEN, CAT, PEOPLE, PERSON, Vote, rank, row_of, rows_of

from hearteval.domain import Rater, System
from hearteval.sections.explained.measure import JudgePanel, compare_judges

BLUNT, SHARP = (
    Rater(name=name, kind="llm", family=name, settings={"model": name})
    for name in ("blunt", "sharp")
)


def both_orders(judge: Rater, n_won: int, n_lost: int) -> list[Vote]:
    """Ann wins and loses so many items against Ben, in both orders alike."""
    outcomes = [True] * n_won + [False] * n_lost
    return [
        Vote(f"i{k}", *sides, "first" if won == (sides[0] is ANN) else "second", rater=judge)
        for k, won in enumerate(outcomes)
        for sides in ((ANN, BEN), (BEN, ANN))
    ]


def panel_of(votes: list[Vote], systems: tuple[System, ...] = (ANN, BEN)) -> JudgePanel:
    panel = compare_judges(rows_of(votes), systems, [SHARP, BLUNT, *PEOPLE], level=0.95)
    assert panel is not None
    return panel


def test_discrimination_is_a_judges_log_odds_relative_to_the_mean() -> None:
    panel = panel_of([*both_orders(BLUNT, 6, 2), *both_orders(SHARP, 9, 1)])
    assert panel.judge_aware is not None
    blunt, sharp = panel.judge_aware.judges
    ann = panel.judge_aware.systems[0]

    assert (blunt.judge, sharp.judge) == ("blunt", "sharp")
    assert blunt.discrimination == pytest.approx(2 / 3)
    assert sharp.discrimination == pytest.approx(4 / 3)
    assert (blunt.n_comparisons, sharp.n_comparisons) == (16, 20)
    assert blunt.position_bias == pytest.approx(0, abs=1e-9)
    assert ann.elo_adjusted == pytest.approx(1500 + 200 / math.log(10) * 1.5 * math.log(3))


def test_each_judge_alone_gives_its_own_headline() -> None:
    votes = both_orders(BLUNT, 6, 2)
    blunt, sharp = panel_of([*votes, *both_orders(SHARP, 9, 1)]).alone
    board = rank([Vote(v.item, v.first, v.second, v.choice) for v in votes])

    assert (blunt.judge, blunt.n_judgments, blunt.problem) == ("blunt", 16, None)
    assert blunt.ratings["Ann"] == row_of(board, ANN).weighted
    assert sharp.ratings["Ann"].elo == pytest.approx(1500 + 200 * math.log10(9))


def test_judge_that_always_chooses_one_side_is_a_named_problem() -> None:
    one_sided = [
        Vote(v.item, v.first, v.second, "first", rater=SHARP) for v in both_orders(BLUNT, 4, 4)
    ]
    panel = panel_of([*both_orders(BLUNT, 6, 2), *one_sided])

    assert panel.judge_aware is None
    assert "sharp" in str(panel.problem)
    assert "blunt" not in str(panel.problem)
    assert [alone.judge for alone in panel.alone] == ["blunt", "sharp"]


def test_judge_whose_votes_give_no_ranking_says_so() -> None:
    panel = panel_of([*both_orders(BLUNT, 6, 2), *both_orders(SHARP, 5, 0)])
    blunt, sharp = panel.alone

    assert blunt.problem is None
    assert sharp.ratings == {}
    assert "Ann | Ben" in str(sharp.problem)


def test_judge_left_without_a_ranked_system_does_not_shift_the_others() -> None:
    votes = [*both_orders(BLUNT, 6, 2), *both_orders(SHARP, 9, 1)]
    newcomer = Rater(name="a newcomer", kind="llm", family="n", settings={"model": "n"})
    votes.append(Vote("i1", CAT, ANN, "first", rater=newcomer))
    panel = compare_judges(rows_of(votes), (ANN, BEN, CAT), [SHARP, BLUNT, newcomer], level=0.95)
    assert panel is not None
    assert panel.judge_aware is not None

    assert [judge.judge for judge in panel.judge_aware.judges] == ["blunt", "sharp"]
    assert "compared on one item only" in str(panel.alone[0].problem)


def test_people_are_not_judges_of_the_panel() -> None:
    votes = [*both_orders(BLUNT, 6, 2), *both_orders(PERSON, 9, 1)]

    assert compare_judges(rows_of(votes), (ANN, BEN), [BLUNT, PERSON], level=0.95) is None


def test_ratings_of_a_panel_are_exploratory() -> None:
    panel = panel_of([*both_orders(BLUNT, 6, 2), *both_orders(SHARP, 9, 1)])

    assert panel.status_of_ratings == "exploratory"
