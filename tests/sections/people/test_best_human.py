"""The best of people's completions: chosen by some raters, rated by others."""

import functools
import random
from dataclasses import replace

import numpy as np
import pytest
from people_study import (
    BEACON,
    EMBER,
    HARBOUR,
    JUDGES,
    PEOPLE,
    PeopleStudy,
    human_raters,
    simulated_study,
)

from hearteval.analysis.columns import JudgmentColumns, to_columns
from hearteval.analysis.data import StudyData
from hearteval.analysis.judgments import judgments_of
from hearteval.analysis.study import analyze_study
from hearteval.domain import Choice
from hearteval.sections.people import People
from hearteval.sections.people.models.best_human import BestHuman, find_best_humans

EQUAL = {"beacon": 0.0, "ember": 0.0, "harbour": 0.0, "People": 0.0}
STUDIES = 80


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


def test_a_reply_that_met_a_weak_model_is_not_taken_for_a_better_one() -> None:
    """Both tie with one model; w1 met a model that always loses too, w2 one that always wins.

    Against the model that both met, neither is better: choosing gains nothing, whichever it is.
    """
    made = PeopleStudy(4, human_raters(4))
    for item in made.items:
        for rater in made.raters:
            w1, w2 = (made.completion(item, PEOPLE, writer) for writer in ("w1", "w2"))
            for person in (w1, w2):
                made.judge(rater, made.completion(item, BEACON), person, "tie")
            made.judge(rater, made.completion(item, EMBER), w1, "second")
            made.judge(rater, made.completion(item, HARBOUR), w2, "first")
    (found,) = best(made.data())
    assert found.best_human is not None
    assert found.all_but_one is not None
    assert found.same_votes is not None
    assert found.gain is not None
    assert found.gain.value == pytest.approx(0.0)
    assert found.best_human.score.value == pytest.approx(0.5)
    assert found.all_but_one.score.value == pytest.approx(0.5)
    assert found.same_votes.score.value == pytest.approx(0.75)


def test_replies_that_met_no_model_in_common_cannot_be_told_from_their_opponents() -> None:
    made = PeopleStudy(3, human_raters(4))
    for item in made.items:
        for rater in made.raters:
            for writer, model in (("w1", EMBER), ("w2", HARBOUR)):
                person = made.completion(item, PEOPLE, writer)
                made.judge(rater, made.completion(item, model), person, "second")
    (found,) = best(made.data())
    assert (found.n_items, found.n_refused, found.best_human, found.gain) == (0, 3, None, None)
    assert found.problem is not None
    assert "meet the same models" in found.problem


def test_all_but_one_choose_and_the_one_rates_by_hand() -> None:
    """Three raters of two replies: any two of them together prefer w1, so it is chosen each time.

    The one left gives w1 less w2: 1, 1 and -1/2; half of their mean is above all replies.
    """
    (found,) = best(
        two_raters(("second", "first"), ("second", "first"), ("tie", "second"), n_items=1).data()
    )
    assert found.gain_all_but_one is not None
    assert found.all_but_one is not None
    assert found.gain_all_but_one.value == pytest.approx((1 + 1 - 0.5) / 3 / 2)
    assert found.all_but_one.score.value == pytest.approx(3.5 / 6 + 0.25)


def test_a_hash_decides_between_equals_whatever_the_order() -> None:
    made = two_raters(("second", "second"), ("first", "first"), n_items=6)
    mixed = list(made.rows)
    random.Random(1).shuffle(mixed)
    (one,) = best(made.data())
    assert best(replace(made.data(), judgments=judgments_of(mixed))) == (one,)
    assert one.same_choice == 1.0
    assert one.best_human is not None
    assert one.best_human.score.value == pytest.approx(0.5)


def test_items_of_one_rater_are_refused_and_counted() -> None:
    made = two_raters(("second", "first"), ("second", "first"), n_items=3)
    lone = made.items[0].id
    rows = [row for row in made.rows if row.item_id != lone or row.rater_id == made.raters[0].id]
    (found,) = best(replace(made.data(), judgments=judgments_of(rows)))
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
    assert "Let a second person judge each pair." in found.problem


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
    (alone,) = best(replace(data, judgments=judgments_of(rows)))
    assert (alone.judged_by, alone.n_raters, alone.interval_used) == ("judges", 2, "item-sandwich")


def test_without_a_model_that_met_a_person_there_is_none() -> None:
    made = PeopleStudy(3, human_raters(2))
    for item in made.items:
        texts = made.completion(item, BEACON), made.completion(item, EMBER)
        made.judge(made.raters[0], *texts, "first")
    assert best(made.data()) == ()


def test_all_completions_have_the_elo_of_the_ranking_by_that_kind() -> None:
    data = simulated_study({**EQUAL, "People": 0.5}, EQUAL, n_items=12)
    results = analyze_study(data, sections=[People])
    people = results.found(People)
    assert people is not None
    boards = {one.judged_by: one.leaderboard for one in people.rankings}
    assert len(people.best_human) == 2
    for found in people.best_human:
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
    return to_columns(judgments_of(rows), replace(data, judgments=judgments_of(rows)))


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
    rest = values(found, "all_but_one")
    assert abs(rest.mean() - 0.4) < 3 * rest.std() / np.sqrt(STUDIES)
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
    rest = values(found, "all_but_one")
    assert score.mean() < rest.mean() <= 0.75


@functools.cache
def equal_replies(*, is_balanced: bool) -> list[BestHuman]:
    """Draw studies in which models and their completions differ, and people's replies do not.

    Each person likes some replies more than others; where the design is balanced, each reply meets
    about half of the models.
    """
    columns = small_study()
    texts, systems = columns.names.completions, columns.names.systems
    at = {system.id: k for k, system in enumerate(systems)}
    system_of = np.array([at[one.system_id] for one in texts])
    is_human = np.array([system.kind == "human" for system in systems])[system_of]
    spread = np.where([system.kind == "human" for system in systems], 0, [-0.8, 0.0, 0.8, 0.0])
    found: list[BestHuman] = []
    for seed in range(STUDIES):
        draw = np.random.default_rng(seed)
        pairs = draw.random(int(columns.pair.max()) + 1) < (0.6 if is_balanced else 1.0)
        rows = columns.select(pairs[columns.pair])
        merit = spread[system_of] + draw.normal(0, 0.6, len(texts)) * ~is_human
        taste = draw.normal(0, 0.5, (len(rows.names.raters), len(texts)))
        first, second = (
            merit[text] + taste[rows.rater, text] for text in (rows.first_text, rows.second_text)
        )
        won = draw.random(len(rows)) < 1 / (1 + np.exp(second - first))
        drawn_rows = replace(rows, score=won.astype(float))
        found += find_best_humans(drawn_rows, level=0.95, seed=seed)
    return found


@pytest.mark.parametrize("is_balanced", [False, True])
@pytest.mark.parametrize("name", ["gain", "gain_all_but_one"])
def test_choosing_among_equal_replies_gains_nothing(*, is_balanced: bool, name: str) -> None:
    found = [getattr(one, name) for one in equal_replies(is_balanced=is_balanced)]
    gains = np.array([one.value for one in found])
    assert len(gains) == STUDIES
    assert abs(gains.mean()) < 3 * gains.std() / np.sqrt(STUDIES)
    assert np.mean([(one.low or 0.0) > 0 for one in found]) <= 0.07


def test_the_strength_of_the_best_moves_by_its_gain_and_not_by_its_opponents() -> None:
    for found in equal_replies(is_balanced=True)[:20]:
        assert found.best_human is not None
        assert found.pooled_human is not None
        assert found.gain is not None
        assert found.best_human.elo is not None
        assert found.pooled_human.elo is not None
        # Near the middle a point of score is about 7 Elo; strengths are those of all votes.
        rise = found.best_human.elo - found.pooled_human.elo
        assert rise == pytest.approx(700 * found.gain.value, rel=0.6, abs=12)


def test_intervals_hold_the_share_of_equal_writers_as_often_as_they_say() -> None:
    found = drawn(w1=0.4, w2=0.4, w3=0.4)
    ends = [one.best_human.score for one in found if one.best_human]
    held = np.mean([(at.low or 0) <= 0.4 <= (at.high or 1) for at in ends])
    assert held > 0.92


def test_pairs_that_no_split_parts_are_refused_and_no_number_is_made_up() -> None:
    """Two raters on each of two pairs, no rater on both: few splits part both pairs at once."""
    made = PeopleStudy(1, human_raters(4))
    one, other, third, fourth = made.raters
    for raters, writer in (((one, other), "w1"), ((third, fourth), "w2")):
        for rater in raters:
            person = made.completion(made.items[0], PEOPLE, writer)
            made.judge(rater, made.completion(made.items[0], BEACON), person, "tie")
    data = made.data()
    for seed in range(40):
        (found,) = find_best_humans(to_columns(data.judgments, data), level=0.95, seed=seed)
        assert (found.problem is None) == (found.gain is not None)
        if found.gain is not None:
            assert found.gain.value == pytest.approx(0.0)
