"""How often a model's completion is preferred to a person's."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from people_study import BEACON, EMBER, JUDGES, PEOPLE, PeopleStudy, human_raters, simulated_study

from hearteval.analysis.columns import to_columns
from hearteval.analysis.data import StudyData
from hearteval.domain import Choice
from hearteval.sections.people.models.meetings import Meetings, find_meetings
from hearteval.sections.people.models.shares import AgainstModels, compare_with_models

LIKED = {"beacon": 0.9, "ember": -0.6, "harbour": 0.2, "People": 0.0}


def against(data: StudyData) -> tuple[AgainstModels, ...]:
    return compare_with_models(meetings(data), data, level=0.95)


def meetings(data: StudyData) -> Meetings:
    return find_meetings(to_columns(data.judgments, data))


def study(*choices: Choice, n_people: int = 2) -> PeopleStudy:
    """Have each person in turn choose between a model (first) and a person, an item a choice."""
    made = PeopleStudy(len(choices), [*human_raters(n_people), *JUDGES])
    for k, (item, choice) in enumerate(zip(made.items, choices, strict=True)):
        model, person = made.completion(item, BEACON), made.completion(item, PEOPLE, f"w{k % 2}")
        made.judge(made.raters[k % n_people], model, person, choice)
    return made


def test_wins_ties_and_losses_of_models_are_shares_of_judgments() -> None:
    made = study("first", "first", "tie", "second")
    item = made.items[3]
    shown = made.completion(item, PEOPLE, "w1"), made.completion(item, BEACON)
    made.judge(made.raters[0], *shown, "first")  # the person, shown first
    (found,) = against(made.data())
    assert (found.model.rate, found.tie.rate, found.person.rate) == (0.4, 0.2, 0.4)
    assert (found.judged_by, found.writers) == ("people", None)
    assert (found.n_judgments, found.n_items, found.n_raters, found.n_completions) == (5, 4, 2, 4)
    assert found.interval_used == "item-sandwich"


def test_baselines_and_two_models_are_no_models_against_people() -> None:
    made = study("first", "second")
    item = made.items[0]
    made.judge(made.raters[0], made.completion(item, BEACON), made.completion(item, EMBER), "first")
    made.judge(
        *(made.raters[0], made.completion(item, PEOPLE, "w0"), made.completion(item, PEOPLE, "w1")),
        "first",
    )
    (found,) = against(made.data())
    assert found.n_judgments == 2


def test_people_and_judges_are_apart_and_writers_by_their_group() -> None:
    made = study("first", "second", "first")
    item = made.items[0]
    texts = made.completion(item, BEACON), made.completion(item, PEOPLE, "w0")
    made.judge(JUDGES[0], *texts, "first")
    groups = {"w0": "clinician", "w1": "crowd"}
    data = replace(made.data(), writer_groups=groups, smallest_group=1)
    rows = [(one.judged_by, one.writers, one.n_judgments, one.model.rate) for one in against(data)]
    assert rows == [
        ("people", None, 3, pytest.approx(2 / 3)),
        ("judges", None, 1, 1.0),
        ("people", "clinician", 2, 1.0),
        ("judges", "clinician", 1, 1.0),
        ("people", "crowd", 1, 0.0),
    ]


def test_one_item_has_no_interval_and_no_variation_has_wilson_s() -> None:
    (one,) = against(study("first").data())
    assert (one.model.rate, one.model.low, one.model.high) == (1.0, None, None)
    (same,) = against(study("first", "first", "first").data())
    assert same.model.low == pytest.approx(0.4385, abs=1e-3)
    assert same.model.high == 1.0


def test_five_people_give_an_interval_over_items_and_people() -> None:
    """The mean over models of each one's share, as statsmodels has it for two groups."""
    data = simulated_study(LIKED, LIKED)
    people, judges = against(data)
    assert people.interval_used == "two-way"
    assert judges.interval_used == "item-sandwich"
    kinds = {system.id: system.kind for system in data.systems}
    raters = {rater.id for rater in data.raters if rater.kind == "human"}
    rows = [
        (row.item_id, row.rater_id, model, float(row.winner == model))
        for row in data.judgments
        for model in (row.first_system_id, row.second_system_id)
        if row.rater_id in raters and kinds[model] == "model"
        if {kinds[row.first_system_id], kinds[row.second_system_id]} == {"human", "model"}
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "model", "won"])
    codes = np.stack([frame[name].astype("category").cat.codes for name in ("item", "rater")], 1)
    # Sums to zero over models: the constant is the mean of their shares.
    fit = smf.ols("won ~ C(model, Sum)", frame).fit()
    by_both = fit.get_robustcov_results("cluster", groups=codes, df_correction=False)
    assert people.model.rate == pytest.approx(float(fit.params.iloc[0]))
    assert people.model.high is not None
    t = 2.364624  # of 7 degrees of freedom, for 8 people
    half = (people.model.high - people.model.rate) / t
    assert half == pytest.approx(float(by_both.bse[0]), rel=0.03)


def test_intervals_hold_the_planted_share_about_as_often_as_they_say() -> None:
    """Of 60 small studies by eight people; a binomial of 95 % gives fewer than 53 once in 100."""
    held = 0
    for seed in range(60):
        data = simulated_study(dict.fromkeys(LIKED, 0.0), LIKED, n_items=10, seed=seed)
        people = against(data)[0]
        assert people.model.low is not None
        assert people.model.high is not None
        held += people.model.low <= 0.4 <= people.model.high
    assert held >= 53
