"""The best of people's completions: chosen by some raters, rated by others."""

import functools
import random
from dataclasses import replace

import numpy as np
import pytest
from people_study import (
    BEACON,
    EMBER,
    JUDGES,
    PEOPLE,
    PeopleStudy,
    human_raters,
    simulated_study,
)

from hearteval.analysis.columns import JudgmentColumns, to_columns
from hearteval.analysis.data import StudyData
from hearteval.analysis.people.best_human import BestHuman, find_best_humans
from hearteval.analysis.study import analyze_study
from hearteval.domain import Choice

EQUAL = {"beacon": 0.0, "ember": 0.0, "harbour": 0.0, "People": 0.0}
STUDIES = 200


def best(data: StudyData) -> tuple[BestHuman, ...]:
    return find_best_humans(to_columns(data.judgments, data), level=0.95, seed=1)


def two_raters(*choices: tuple[Choice, Choice], n_items: int = 1) -> PeopleStudy:
    """Have each of some people judge a model first against two writers' completions."""
    made = PeopleStudy(n_items, human_raters(len(choices)))
    for item in made.items:
        for rater, by_writer in zip(made.raters, choices, strict=True):
            for writer, choice in zip(("w1", "w2"), by_writer, strict=True):
                person = made.completion(item, PEOPLE, writer)
                made.judge(rater, made.completion(item, BEACON), person, choice)
    return made


def test_one_half_chooses_and_the_other_rates_by_hand() -> None:
    """The first prefers w1 to the model and not w2; the second ties on w1 and prefers w2.

    So the first chooses w1, which the second ties: 1/2; the second chooses w2, which loses: 0. All
    votes together choose w1 and rate it (1 + 1/2) / 2.
    """
    (found,) = best(two_raters(("second", "first"), ("tie", "second")).data())
    assert found.best_human is not None
    assert found.same_votes is not None
    assert found.pooled_human is not None
    assert found.best_human.score.value == pytest.approx(0.25)
    assert found.best_human.person.value == pytest.approx(0.0)
    assert found.best_human.tie.value == pytest.approx(0.5)
    assert found.best_human.model.value == pytest.approx(0.5)
    assert found.same_votes.score.value == pytest.approx(0.75)
    assert found.pooled_human.score.value == pytest.approx(2.5 / 4)
    assert found.optimism is not None
    assert found.optimism.value == pytest.approx(0.5)
    assert found.gain is not None
    assert found.gain.value == pytest.approx(-0.375)
    assert (found.same_choice, found.problem, found.judged_by) == (0.0, None, "people")
    assert (found.n_items, found.n_refused, found.n_raters, found.n_completions) == (1, 0, 2, 2)


def test_a_hash_decides_between_equals_whatever_the_order() -> None:
    made = two_raters(("second", "second"), ("first", "first"), n_items=6)
    mixed = list(made.rows)
    random.Random(1).shuffle(mixed)
    (one,) = best(made.data())
    assert best(replace(made.data(), judgments=mixed)) == (one,)
    assert one.same_choice == 1.0
    assert one.best_human is not None
    assert one.best_human.score.value == pytest.approx(0.5)


def test_items_of_one_rater_are_refused_and_counted() -> None:
    made = two_raters(("second", "first"), ("second", "first"), n_items=3)
    lone = made.items[0].id
    rows = [row for row in made.rows if row.item_id != lone or row.rater_id == made.raters[0].id]
    (found,) = best(replace(made.data(), judgments=rows))
    assert (found.n_items, found.n_refused, found.problem) == (2, 1, None)
    assert found.best_human is not None
    assert found.best_human.score.value == 1.0
    assert found.pooled_human is not None
    assert found.pooled_human.score.value == 0.5


def test_one_rater_everywhere_is_refused_with_what_is_needed() -> None:
    (found,) = best(two_raters(("second", "first"), n_items=3).data())
    assert (found.n_items, found.n_refused, found.best_human) == (0, 3, None)
    assert found.problem is not None
    assert "two people" in found.problem
    assert "Let a second person judge each item." in found.problem


def test_two_people_who_judge_different_replies_choose_nothing() -> None:
    made = PeopleStudy(2, human_raters(2))
    for item in made.items:
        for rater, writer in zip(made.raters, ("w1", "w2"), strict=True):
            person = made.completion(item, PEOPLE, writer)
            made.judge(rater, made.completion(item, BEACON), person, "first")
    (found,) = best(made.data())
    assert (found.n_items, found.n_refused, found.same_votes) == (0, 2, None)


def test_one_reply_an_item_leaves_nothing_to_choose() -> None:
    made = PeopleStudy(4, human_raters(2))
    for item in made.items:
        for rater in made.raters:
            person = made.completion(item, PEOPLE, "w1")
            made.judge(rater, made.completion(item, BEACON), person, "second")
    (found,) = best(made.data())
    assert found.best_human is None
    assert found.problem is not None
    assert "nothing to choose" in found.problem


def test_judges_vote_where_no_person_did_and_apart_where_both_did() -> None:
    data = simulated_study(EQUAL, EQUAL, n_items=8)
    assert [one.judged_by for one in best(data)] == ["people", "judges"]
    judges = {rater.id for rater in JUDGES}
    rows = [row for row in data.judgments if row.rater_id in judges]
    (alone,) = best(replace(data, judgments=rows))
    assert (alone.judged_by, alone.n_raters, alone.interval_used) == ("judges", 2, "item-sandwich")


def test_without_a_model_that_met_a_person_there_is_none() -> None:
    made = PeopleStudy(3, human_raters(2))
    for item in made.items:
        texts = made.completion(item, BEACON), made.completion(item, EMBER)
        made.judge(made.raters[0], *texts, "first")
    assert best(made.data()) == ()


def test_all_completions_have_the_elo_of_the_ranking_by_that_kind() -> None:
    data = simulated_study({**EQUAL, "People": 0.5}, EQUAL, n_items=12)
    results = analyze_study(data)
    assert results.people is not None
    boards = {one.judged_by: one.leaderboard for one in results.people.rankings}
    assert len(results.people.best_human) == 2
    for found in results.people.best_human:
        board = boards[found.judged_by]
        assert board is not None
        (row,) = [row for row in board.rows if row.system == "People"]
        assert found.pooled_human is not None
        assert found.pooled_human.elo == pytest.approx(row.weighted.elo, abs=1e-6)
        assert found.pooled_human.rank == row.weighted.rank
        assert found.best_human is not None
        assert found.strength is not None
        assert found.best_human.elo == pytest.approx(found.strength.elo, abs=1e-6)
        assert found.best_human.rank == found.strength.rank
        assert found.n_systems == len(board.rows)


def small_study() -> JudgmentColumns:
    """Twelve items, six people, three writers against three models; five votes a pair."""
    data = simulated_study(EQUAL, EQUAL, n_items=12, n_people=6)
    people = {rater.id for rater in data.raters if rater.kind == "human"}
    rows = [row for row in data.judgments if row.rater_id in people]
    return to_columns(rows, replace(data, judgments=rows))


@functools.cache
def drawn(**chance: float) -> list[BestHuman]:
    """Draw studies in which each writer's completion beats a model with a chance of its own."""
    columns = small_study()
    texts, systems = columns.names.completions, columns.names.systems
    is_human = np.array([system.kind == "human" for system in systems])
    first, second = is_human[columns.first], is_human[columns.second]
    text = np.where(first, columns.first_text, columns.second_text)
    wins = np.array([chance.get(one.writer_id or "", 0.5) for one in texts])[text]
    found = []
    for seed in range(STUDIES):
        draw = np.random.default_rng(seed)
        won = draw.random(len(columns)) < wins
        score = np.where(first | second, np.where(first, won, ~won), 0.5)
        (one,) = find_best_humans(replace(columns, score=score), level=0.95, seed=seed)
        found.append(one)
    return found


def values(found: list[BestHuman], name: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array([getattr(one, name).score.value for one in found])


def test_with_equal_writers_the_same_votes_are_optimistic_and_others_are_not() -> None:
    found = drawn(w1=0.4, w2=0.4, w3=0.4)
    error = values(found, "best_human").std() / np.sqrt(STUDIES)
    assert abs(values(found, "best_human").mean() - 0.4) < 3 * error
    assert values(found, "same_votes").mean() - 0.4 > 0.05
    low = [one.optimism.low for one in found if one.optimism and one.optimism.low is not None]
    assert np.mean([end > 0 for end in low]) > 0.9


def test_a_better_writer_is_found_and_not_overrated() -> None:
    found = drawn(w1=0.75, w2=0.35, w3=0.35)
    score = values(found, "best_human")
    assert score.mean() == pytest.approx(0.75, abs=0.05)
    assert score.mean() <= 0.75
    assert values(found, "pooled_human").mean() == pytest.approx(1.45 / 3, abs=0.01)
    assert np.mean([one.gain is not None and (one.gain.low or 0) > 0 for one in found]) > 0.95
    assert np.mean([one.same_choice for one in found]) > 0.7


def test_intervals_hold_the_share_of_equal_writers_as_often_as_they_say() -> None:
    found = drawn(w1=0.4, w2=0.4, w3=0.4)
    ends = [one.best_human.score for one in found if one.best_human]
    held = np.mean([(at.low or 0) <= 0.4 <= (at.high or 1) for at in ends])
    assert held > 0.92
