"""Length, formatting and position: effects against a logistic regression, and what is left out."""

import random
from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm
from judged_study import CUE, STRESS, StudyMaker, make_items, make_systems

from hearteval.analysis.data import StudyData
from hearteval.analysis.study import analyze_study
from hearteval.domain import Rater
from hearteval.sections.explained import Explained, step_words
from hearteval.sections.explained.measure import Confounders, measure_confounders

NAMES = ("one", "two", "three")
JUDGE = Rater(name="m", kind="llm", family="gpt", settings={"model": "m"})


def audit(records: StudyData) -> Confounders:
    found = analyze_study(records, sections=[Explained]).found(Explained)
    assert found is not None
    return found


def written_study(*, n_items: int = 30, formatted: bool = True) -> StudyMaker:
    """Three systems with texts of all lengths, judged at random in one order or the other."""
    draw = random.Random(4)
    systems = make_systems(*NAMES)
    made = StudyMaker(make_items(n_items), systems, [JUDGE])
    for item in made.items:
        for system in systems:
            marks = "- entry\n" * draw.randint(0, 3) if formatted else ""
            made.write(system, item, f"{marks}{'word ' * draw.randint(3, 40)}{system.name}")
        for _ in range(4):
            first, second = draw.sample(systems, 2)
            made.judge(item, (first, second), draw.choice(("first", "second")), rater=JUDGE)
    return made


def regress(made: StudyMaker) -> list[float]:
    """Return strengths of two systems against the third, then effects, by statsmodels."""

    def counts(system_id: str, item_id: str) -> tuple[int, int]:
        text = made.completions[system_id, item_id].text
        return len(text.split()), text.count("- ")

    def difference(one: int, other: int) -> float:
        return (one - other) / (one + other) if one + other else 0.0

    rows, wins = [], []
    for _, item, first, second, choice, _, _ in made.rows:
        left, right = counts(first.id, item.id), counts(second.id, item.id)
        rows.append(
            [
                *((first.name == name) - (second.name == name) for name in NAMES[:2]),
                *map(difference, left, right),
                1.0,
            ]
        )
        wins.append(choice == "first")
    fit = sm.Logit(np.array(wins, dtype=float), np.array(rows)).fit(disp=0, tol=1e-12)
    return [float(value) for value in fit.params]


def test_effects_and_ratings_are_those_of_a_logistic_regression() -> None:
    made = written_study()
    found = audit(made.data())
    against_three = regress(made)

    theta = np.array([*against_three[:2], 0.0])
    elo = dict(zip(NAMES, 1500 + 400 / np.log(10) * (theta - theta.mean()), strict=True))
    assert [effect.covariate for effect in found.effects] == ["length", "formatting", "position"]
    assert [effect.beta for effect in found.effects] == pytest.approx(against_three[2:], abs=1e-6)
    assert {s.system: s.elo_adjusted for s in found.systems} == pytest.approx(elo, abs=1e-4)
    assert (found.interval_used, found.df) == ("item-sandwich", 29)
    assert found.left_out == {}


def test_shares_are_of_one_step_twice_as_much_or_shown_first() -> None:
    length, formatting, position = audit(written_study().data()).effects

    assert [one.step for one in (length, formatting, position)] == [1 / 3, 1 / 3, 1]
    assert formatting.low is not None
    assert position.high is not None
    assert length.win_rate == pytest.approx(1 / (1 + np.exp(-length.beta / 3)))
    assert formatting.win_rate_low == pytest.approx(1 / (1 + np.exp(-formatting.low / 3)))
    assert position.win_rate_high == pytest.approx(1 / (1 + np.exp(-position.high)))


def test_share_of_length_is_of_a_difference_that_was_compared() -> None:
    draw = random.Random(4)
    systems = make_systems(*NAMES)
    made = StudyMaker(make_items(30), systems, [JUDGE])
    for item in made.items:
        for system, n in zip(systems, draw.sample((18, 20, 22), 3), strict=True):
            made.write(system, item, "word " * n)
        for _ in range(4):
            first, second = draw.sample(systems, 2)
            made.judge(item, (first, second), draw.choice(("first", "second")), rater=JUDGE)

    length, _ = audit(made.data()).effects

    assert length.step == pytest.approx(4 / 40)
    assert step_words("length", length.step) == "having 22\N{NO-BREAK SPACE}% more words"
    assert length.win_rate == pytest.approx(1 / (1 + np.exp(-length.beta * 4 / 40)))


def test_raw_ratings_are_the_unweighted_ones_of_the_leaderboard() -> None:
    results = analyze_study(written_study().data(), sections=[Explained])
    explained = results.found(Explained)
    assert results.leaderboard is not None
    assert explained is not None
    shown = {s.system: (s.elo, s.low, s.high) for s in explained.systems}

    assert {
        row.system: (row.unweighted.elo, row.unweighted.low, row.unweighted.high)
        for row in results.leaderboard.rows
    } == {name: pytest.approx(values) for name, values in shown.items()}


def test_effects_are_planned_and_ratings_exploratory() -> None:
    found = audit(written_study().data())

    assert (found.status_of_effects, found.status_of_ratings) == ("planned", "exploratory")


def test_texts_are_described_by_their_means() -> None:
    items, systems = make_items(2), make_systems("one", "two")
    made = StudyMaker(items, [*systems, *STRESS], [CUE])
    for item, text in zip(items, ("a b c", "- d\n- **e** f"), strict=True):
        made.write(systems[0], item, text)
        made.judge(item, (systems[0], systems[1]), "first")
        made.judge(item, (systems[0], systems[1]), "second")
    one, two = audit(made.data()).texts

    assert (one.system, one.n_completions, one.words, one.formatting) == ("one", 2, 4, 1.5)
    assert (two.system, two.words, two.formatting) == ("two", 2, 0)


def test_formatting_that_never_differs_is_left_out_and_the_rest_controlled() -> None:
    found = audit(written_study(formatted=False).data())

    assert list(found.left_out) == ["formatting"]
    assert "no two replies" in found.left_out["formatting"]
    assert [effect.covariate for effect in found.effects] == ["length", "position"]


def test_position_that_goes_with_the_systems_is_left_out_by_name() -> None:
    items, (one, two) = make_items(12), make_systems("one", "two")
    made = StudyMaker(items, [one, two], [JUDGE])
    for number, item in enumerate(items):
        made.write(one, item, "word " * (number % 5 + 1))
        made.judge(item, (one, two), "first" if number % 3 else "second", rater=JUDGE)
    found = audit(made.data())

    assert set(found.left_out) == {"formatting", "position"}
    assert "not determined" in found.left_out["position"]
    assert [effect.covariate for effect in found.effects] == ["length"]


def test_judge_that_ignores_the_order_has_no_position_effect_at_all() -> None:
    draw = random.Random(5)
    items, systems = make_items(20), make_systems(*NAMES)
    made = StudyMaker(items, systems, [JUDGE])
    for item in items:
        first, second = draw.sample(systems, 2)
        made.write(first, item, "word " * draw.randint(3, 40))
        is_won = draw.random() < 0.5
        made.judge(item, (first, second), "first" if is_won else "second", rater=JUDGE)
        made.judge(item, (second, first), "second" if is_won else "first", rater=JUDGE)
    position = audit(made.data()).effects[-1]

    assert position.covariate == "position"
    assert (position.beta, position.low, position.high) == (0, None, None)
    assert (position.win_rate, position.win_rate_low, position.win_rate_high) == (0.5, None, None)


def test_nothing_to_control_for_is_no_problem_and_no_rating() -> None:
    items, (one, two) = make_items(4), make_systems("one", "two")
    made = StudyMaker(items, [one, two], [JUDGE])
    for number, item in enumerate(items):
        made.judge(item, (one, two), "first" if number % 2 else "second", rater=JUDGE)
    found = audit(made.data())

    assert set(found.left_out) == {"length", "formatting", "position"}
    assert (found.effects, found.systems, found.problem) == ((), (), None)


def test_strengths_that_are_not_determined_are_a_named_problem() -> None:
    items, (one, two) = make_items(4), make_systems("one", "two")
    made = StudyMaker(items, [one, two], [JUDGE])
    for number, item in enumerate(items):
        made.write(one, item, "word " * (number + 1))
        made.judge(item, (one, two), "first", rater=JUDGE)
    records = made.data()
    found = measure_confounders(records.judgments, [one, two], records, people=[], level=0.95)

    assert "one | two" in str(found.problem)
    assert (found.effects, found.systems) == ((), ())


def test_five_people_give_two_way_intervals_here_too() -> None:
    draw = random.Random(6)
    people = [Rater(name=f"P{k}", kind="human", family="human") for k in range(5)]
    items, systems = make_items(10), make_systems(*NAMES)
    made = StudyMaker(items, systems, people)
    for item in items:
        for system in systems:
            made.write(system, item, f"{'word ' * draw.randint(3, 40)}{system.name}")
        for person in people:
            first, second = draw.sample(systems, 2)
            made.judge(item, (first, second), draw.choice(("first", "second")), rater=person)
    found = audit(made.data())

    assert (found.interval_used, found.df) == ("two-way", 4)


def test_order_of_records_changes_nothing_to_the_last_digit() -> None:
    made = written_study()
    expected = audit(made.data())
    random.Random(1).shuffle(made.rows)
    records = made.data()
    shuffled = replace(
        records, systems=records.systems[::-1], completions=records.completions[::-1]
    )

    assert audit(shuffled) == expected


def test_study_without_a_ranking_has_no_audit() -> None:
    made = StudyMaker(make_items(1), make_systems("one", "two"), [CUE])

    assert analyze_study(made.data(), sections=[Explained]).found(Explained) is None
