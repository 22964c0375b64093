"""Where the models' lead over people differs: subsets, kinds of rater, emotions, models."""

import functools
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from people_study import BEACON, EMBER, HARBOUR, JUDGES, PEOPLE, PeopleStudy, simulated_study

from hearteval.analysis.columns import JudgmentColumns, to_columns
from hearteval.analysis.data import StudyData
from hearteval.analysis.judgments import judgments_of
from hearteval.domain import Axis, AxisMark, Choice
from hearteval.sections.people.models.leads import LeadContrast, compare_leads
from hearteval.sections.people.models.meetings import Meetings, find_meetings
from hearteval.sections.people.models.shares import (
    StratumAgainstModels,
    compare_by_stratum,
    compare_with_models,
)

EQUAL = {"beacon": 0.0, "ember": 0.0, "harbour": 0.0, "People": 0.0}
AXES: tuple[Axis, ...] = ("H", "E", "A", "R", "T")
STUDIES = 300


def meetings(data: StudyData) -> Meetings:
    return find_meetings(to_columns(data.judgments, data))


def judged(n_regular: int, n_adversarial: int, lost: int) -> PeopleStudy:
    """Have one judge prefer a model, but a person's reply on the first so many items."""
    made = PeopleStudy(n_regular + n_adversarial, JUDGES, n_adversarial=n_adversarial)
    for k, item in enumerate(made.items):
        texts = made.completion(item, BEACON), made.completion(item, PEOPLE, "w1")
        made.judge(JUDGES[0], *texts, "second" if k < lost else "first")
    return made


def test_the_lead_is_compared_between_subsets_by_hand() -> None:
    """Six adversarial items of which the person wins three, ten regular ones that models win."""
    (lead,) = compare_leads(meetings(judged(10, 6, lost=3).data()), level=0.95)
    assert (lead.name, lead.n_regular, lead.n_adversarial) == ("judges", 10, 6)
    assert lead.score is not None
    assert lead.score.value == pytest.approx(0.5)
    # the regular items do not vary: variance 6/5 * 6 * (1/2 / 6)^2, t of 5 degrees of freedom
    half = 2.5705818 * np.sqrt(0.05)
    assert lead.score.df == pytest.approx(5)
    assert lead.score.low == pytest.approx(0.5 - half)
    assert lead.score.high == pytest.approx(0.5 + half)


def test_without_people_the_contrast_is_welch_s_t_test_of_item_means() -> None:
    draw = np.random.default_rng(3)
    data = judged(14, 6, lost=0).data()
    columns = to_columns(data.judgments, data)
    scores = draw.choice([0.0, 0.5, 1.0], len(columns))
    met = find_meetings(replace(columns, score=scores))
    (lead,) = compare_leads(met, level=0.95)
    is_hard = np.array([item.subset == "adversarial" for item in met.names.items])[met.item]
    test = scipy.stats.ttest_ind(met.score[~is_hard], met.score[is_hard], equal_var=False)
    ends = test.confidence_interval(0.95)
    assert lead.score is not None
    assert lead.score.p == pytest.approx(test.pvalue)
    assert (lead.score.low, lead.score.high) == pytest.approx((ends.low, ends.high))


def test_leads_are_told_by_kind_and_adjusted_with_the_study() -> None:
    columns = forty_items()
    leads = compare_leads(find_meetings(columns), level=0.95)
    assert [one.name for one in leads] == ["people", "judges", "people-judges", "all-items"]
    assert [one.q for one in leads] == [None] * 4  # `analysis.planned` adjusts them with others


def test_under_five_items_on_a_side_there_is_no_figure() -> None:
    (lead,) = compare_leads(meetings(judged(10, 4, lost=2).data()), level=0.95)
    assert (lead.n_adversarial, lead.score) == (4, None)
    strata = compare_by_stratum(meetings(judged(10, 4, lost=2).data()), level=0.95)
    by = {(one.by, one.value): one for one in strata}
    assert by["subset", "adversarial"].against is None
    assert by["subset", "adversarial"].n_judgments == 4
    regular = by["subset", "regular"].against
    assert regular is not None
    assert regular.model.rate == 1.0


def test_one_subset_has_nothing_to_compare() -> None:
    met = meetings(judged(8, 0, lost=3).data())
    assert compare_leads(met, level=0.95) == ()
    assert {one.by for one in compare_by_stratum(met, level=0.95)} == set()


def test_strata_are_the_same_shares_as_pandas_counts() -> None:
    made = simulated_study(EQUAL, EQUAL, n_items=24)
    emotions = [
        replace(item, emotion="fear" if k % 3 else "shame", problem="job" if k % 2 else "money")
        for k, item in enumerate(sorted(made.items, key=lambda item: item.id))
    ]
    data = replace(made, items=emotions)
    met = meetings(data)
    frame = pd.DataFrame(
        {
            "emotion": [met.names.items[k].emotion for k in met.item],
            "problem": [met.names.items[k].problem for k in met.item],
            "model": [met.names.systems[k].name for k in met.model],
            "judged_by": np.where(met.is_person, "people", "judges"),
            "score": met.score,
        }
    )
    found = {(one.by, one.value, one.judged_by): one for one in compare_by_stratum(met, level=0.95)}
    for by in ("emotion", "problem", "model"):
        means = frame.groupby(["judged_by", by]).score.mean()
        for (kind, value), score in means.items():
            one = found[by, value, kind]
            assert one.against is not None
            assert one.against.score.rate == pytest.approx(score)
            assert one.is_exploratory
            assert one.from_others is not None
            others = frame[(frame.judged_by == kind) & (frame[by] != value)].score.mean()
            assert one.from_others.score.value == pytest.approx(score - others)
    assert not found["subset", "regular", "people"].is_exploratory
    assert found["subset", "regular", "people"].from_others is None


def test_tests_of_one_family_are_adjusted_together() -> None:
    met = meetings(simulated_study({**EQUAL, "beacon": 1.0}, EQUAL, n_items=20))
    found = [
        one.from_others
        for one in compare_by_stratum(met, level=0.95)
        if (one.by, one.judged_by) == ("model", "people")
    ]
    p = [one.score.p for one in found if one is not None]
    expected = scipy.stats.false_discovery_control([value for value in p if value is not None])
    assert [one.q for one in found if one is not None] == pytest.approx(list(expected))
    assert len(p) == 3


def test_families_are_shown_where_one_has_several_models() -> None:
    made = judged(6, 0, lost=0)
    for item in made.items:
        person = made.completion(item, PEOPLE, "w1")
        made.judge(JUDGES[0], made.completion(item, EMBER), person, "second")
        made.judge(JUDGES[0], made.completion(item, HARBOUR), person, "first")
    data = made.data()
    alike = [
        replace(system, family="beacon") if system.name == "ember" else system
        for system in data.systems
    ]
    strata = compare_by_stratum(meetings(replace(data, systems=alike)), level=0.95)
    rates = {
        (one.by, one.value): one.against.model.rate for one in strata if one.against is not None
    }
    assert rates["family", "beacon"] == 0.5
    assert rates["family", "harbour"] == rates["model", "harbour"] == 1.0
    assert ("family", "ember") not in rates
    assert "family" not in {one.by for one in compare_by_stratum(meetings(data), level=0.95)}


def test_winning_every_axis_counts_judgments_that_mark_them_all() -> None:
    made = judged(8, 0, lost=2)
    all_of: list[Choice] = ["first"] * 5
    marks: list[list[Choice]] = [all_of, all_of, ["second"] * 5]
    marks += [[*all_of[:4], "tie"], [*all_of[:4], "second"], ["first"], all_of]
    rows = [
        row._replace(
            axes={
                axis: AxisMark(choice, None if choice == "tie" else 2)
                for axis, choice in zip(AXES, each, strict=False)
            }
        )
        for row, each in zip(made.rows, marks, strict=False)
    ]
    # Empathic containment, marked once, is no axis of the five.
    rows[0] = rows[0]._replace(axes={**rows[0].axes, "C": AxisMark("second", 2)})
    data = replace(made.data(), judgments=judgments_of([*rows, made.rows[-1]]))
    (found,) = compare_with_models(meetings(data), data, level=0.95)
    assert found.every_axis is not None
    assert (found.every_axis.n_judgments, found.every_axis.n_items) == (6, 6)
    assert found.every_axis.model.rate == pytest.approx(3 / 6)
    assert found.every_axis.person.rate == pytest.approx(1 / 6)


@functools.cache
def forty_items() -> JudgmentColumns:
    """Thirty regular and ten adversarial items, eight people and two judges."""
    data = simulated_study(EQUAL, EQUAL)
    return to_columns(data.judgments, data)


def drawn_leads(gain: float) -> Iterator[dict[str, LeadContrast]]:
    """Draw studies in which people judge people `gain` better on adversarial items.

    Items and people differ in how much they like models.
    """
    columns = forty_items()
    names, n = columns.names, len(columns)
    is_model = np.array([system.kind == "model" for system in names.systems])
    is_hard = np.array([item.subset == "adversarial" for item in names.items])[columns.item]
    side = is_model[columns.first].astype(float) - is_model[columns.second]
    for seed in range(STUDIES):
        draw = np.random.default_rng(seed)
        lead = 0.3 + draw.normal(0, 0.6, len(names.items))[columns.item]
        lead += draw.normal(0, 0.4, len(names.raters))[columns.rater]
        lead -= gain * (is_hard & columns.is_person)
        won = draw.random(n) < 1 / (1 + np.exp(-lead * side))
        score = np.where(draw.random(n) < 0.15, 0.5, won)
        leads = compare_leads(find_meetings(replace(columns, score=score)), level=0.95)
        yield {one.name: one for one in leads}


def shares_found(gain: float) -> dict[str, float]:
    """Return how often each contrast is found at p < .05."""
    found = [
        {name: one.score is not None and (one.score.p or 1) < 0.05 for name, one in leads.items()}
        for leads in drawn_leads(gain)
    ]
    return {name: float(np.mean([each[name] for each in found])) for name in found[0]}


def test_a_person_who_is_better_on_adversarial_items_is_found() -> None:
    found = shares_found(1.0)
    assert found["people"] > 0.9
    assert found["people-judges"] > 0.8
    assert found["judges"] < 0.09


def test_where_nobody_is_better_the_test_finds_it_about_once_in_twenty() -> None:
    """Of 300 studies; a binomial of 5 % gives a share over .085 or under .02 once in a hundred."""
    found = shares_found(0.0)
    for name in ("people", "judges", "people-judges"):
        assert 0.02 <= found[name] <= 0.085, name


def test_nothing_was_said_twice() -> None:
    """A stratum appears once for each kind of rater."""
    strata: tuple[StratumAgainstModels, ...] = compare_by_stratum(
        meetings(simulated_study(EQUAL, EQUAL, n_items=20)), level=0.95
    )
    keys = [(one.by, one.value, one.judged_by) for one in strata]
    assert len(keys) == len(set(keys)) > 0
