"""Leaderboards by kind of item: figures as separate fits give, few items, and an honest test."""

import random
from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm
from people_study import BEACON, EMBER, JUDGES, PeopleStudy, human_raters, simulated_study

from hearteval.analysis.data import StudyData
from hearteval.analysis.judgments import judgments_of
from hearteval.analysis.study import analyze_study
from hearteval.domain import Item
from hearteval.sections.strata import Strata
from hearteval.sections.strata.measure import ALL_ALIKE, StratifiedFactor

THETA = {"beacon": 0.6, "ember": -0.4, "harbour": 0.1, "People": 0.0}


def stratified(data: StudyData) -> dict[str, StratifiedFactor]:
    found = analyze_study(data, sections=[Strata]).found(Strata)
    assert found is not None
    return {one.factor: one for one in found.factors}


def of_judges(data: StudyData) -> StudyData:
    judges = [rater for rater in data.raters if rater.kind == "llm"]
    ids = {rater.id for rater in judges}
    kept = [row for row in data.judgments if row.rater_id in ids]
    return replace(data, raters=judges, judgments=judgments_of(kept))


@pytest.fixture(scope="module")
def data() -> StudyData:
    return simulated_study(THETA, THETA, n_items=24)


def relabelled(data: StudyData, emotions: dict[int, str]) -> StudyData:
    """Give items other emotions; their ids hold none."""
    items = [
        replace(item, emotion=emotions.get(k, item.emotion)) for k, item in enumerate(data.items)
    ]
    return replace(data, items=items)


def weighted_logit(data: StudyData, items: list[Item]) -> dict[str, tuple[float, float]]:
    """Return Elo and cluster-robust SE of systems about their mean, by statsmodels."""
    names = {system.id: system.name for system in data.systems}
    order = sorted(names.values())
    ids = {item.id for item in items}
    rows = [row for row in data.judgments if row.item_id in ids]
    x = np.zeros((len(rows), len(order)))
    for k, row in enumerate(rows):
        x[k, order.index(names[row.first_system_id])] += 1
        x[k, order.index(names[row.second_system_id])] -= 1
    y = np.array([{"first": 1.0, "second": 0.0}[row.choice] for row in rows])
    # A judgment of strength 3 is three rows of one item, which no clustered error minds.
    times = [row.strength or 1 for row in rows]
    groups = np.repeat(np.unique([row.item_id for row in rows], return_inverse=True)[1], times)
    x, y = np.repeat(x, times, axis=0), np.repeat(y, times)
    fit = sm.GLM(y, x[:, 1:], family=sm.families.Binomial()).fit(
        cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False}, tol=1e-12
    )
    to_all = np.vstack((np.zeros(len(order) - 1), np.eye(len(order) - 1)))
    to_all -= to_all.mean(axis=0)
    correction = len(items) / (len(items) - 1)
    covariance = to_all @ fit.cov_params() @ to_all.T * correction
    per_theta = 400 / np.log(10)
    elo = 1500 + per_theta * (to_all @ fit.params)
    return {
        name: (float(elo[k]), float(per_theta * np.sqrt(covariance[k, k])))
        for k, name in enumerate(order)
    }


def test_a_stratum_is_ranked_as_its_items_alone(data: StudyData) -> None:
    judged = of_judges(data)
    rows = [row._replace(strength=1 + k % 5) for k, row in enumerate(judged.judgments)]
    judged = replace(judged, judgments=judgments_of(rows))
    subset = stratified(judged)["subset"]
    regular = subset.strata[0]
    expected = weighted_logit(judged, [one for one in judged.items if one.subset == "regular"])
    reach = 2.109815577833181  # t with 17 degrees of freedom, 97.5 %: qt(.975, 17) of R
    assert (regular.name, regular.n_items, regular.df) == ("regular", 18, 17)
    assert (regular.interval_used, regular.is_wide) == ("item-sandwich", True)
    for one in regular.standings:
        elo, se = expected[one.system]
        assert one.elo == pytest.approx(elo, abs=1e-4)
        assert one.low == pytest.approx(elo - reach * se, abs=1e-3)
        assert one.high == pytest.approx(elo + reach * se, abs=1e-3)
    best = max(regular.standings, key=lambda one: one.elo or 0)
    assert [one.system for one in regular.standings if one.rank == 1] == [best.system]


def test_people_are_sampled_where_there_are_five(data: StudyData) -> None:
    subset = stratified(data)["subset"]
    assert [one.interval_used for one in subset.strata] == ["two-way", "two-way"]
    assert subset.test is not None
    assert subset.test.method == "two-way"


def test_few_items_get_no_figure_and_more_are_called_wide(data: StudyData) -> None:
    few = stratified(relabelled(data, {0: "anger", 1: "anger", 2: "anger", 3: "anger"}))
    anger = few["emotion"].strata[1]
    assert (anger.name, anger.n_items, anger.problem) == ("anger", 4, "too few items")
    assert anger.standings == ()
    assert few["emotion"].strata[0].is_wide is False
    assert few["emotion"].test is None
    assert few["emotion"].no_test == "fewer than two kinds have 5 items"


def test_a_system_that_is_missing_in_a_stratum_moves_no_other(data: StudyData) -> None:
    judged = of_judges(data)
    people = next(system for system in judged.systems if system.name == "People")
    adversarial = {item.id for item in judged.items if item.subset == "adversarial"}
    kept = [
        row
        for row in judged.judgments
        if row.item_id not in adversarial
        or people.id not in (row.first_system_id, row.second_system_id)
    ]
    strata = stratified(replace(judged, judgments=judgments_of(kept)))["subset"].strata
    of_stratum = [{one.system: one for one in stratum.standings} for stratum in strata]
    assert "People" in of_stratum[0]
    assert "People" not in of_stratum[1]
    means = [
        np.mean([at[name].elo for name in ("beacon", "ember", "harbour")]) for at in of_stratum
    ]
    assert means[0] == pytest.approx(means[1])


def test_factors_that_do_not_differ_are_left_out(data: StudyData) -> None:
    assert list(stratified(data)) == ["subset"]


def test_the_order_of_judgments_changes_nothing(data: StudyData) -> None:
    mixed = list(data.judgments)
    random.Random(3).shuffle(mixed)
    assert stratified(replace(data, judgments=judgments_of(mixed))) == stratified(data)


@pytest.mark.parametrize("n_people", [5, 0])
def test_where_all_items_say_the_same_there_is_no_test(n_people: int) -> None:
    study = PeopleStudy(12, (*human_raters(n_people), *JUDGES), n_adversarial=6)
    for item in study.items:
        pair = study.completion(item, BEACON), study.completion(item, EMBER)
        for rater in study.raters:
            study.judge(rater, *pair, "tie")
    factor = stratified(study.data())["subset"]
    assert (factor.test, factor.no_test) == (None, ALL_ALIKE)


def test_a_planted_difference_is_found() -> None:
    data = of_judges(simulated_study(THETA, THETA, n_items=48, seed=5))
    other = {**THETA, "beacon": -0.6, "ember": 0.6}
    turned = of_judges(simulated_study(other, other, n_items=48, seed=6))
    adversarial = {item.id for item in data.items if item.subset == "adversarial"}
    rows = [row for row in data.judgments if row.item_id not in adversarial]
    rows += [row for row in turned.judgments if row.item_id in adversarial]
    test = stratified(replace(data, judgments=judgments_of(rows)))["subset"].test
    assert test is not None
    assert test.p == 0.001
    assert test.most_different in ("beacon", "ember")
    assert 150 < test.most_different_elo < 450  # planted: 1.2 and 1.0 of theta, 208 and 174 Elo


def test_adversarial_items_are_sorted_by_how_the_seeker_resists(data: StudyData) -> None:
    n_adversarial = sum(item.subset == "adversarial" for item in data.items)
    items = [
        replace(item, resistance="despair") if item.subset == "adversarial" else item
        for item in data.items
    ]
    one = next(k for k, item in enumerate(items) if item.subset == "adversarial")
    items[one] = replace(items[one], resistance="yes-but")
    found = stratified(replace(of_judges(data), items=items))["resistance"]
    assert found.n_unlabelled == len(items) - n_adversarial
    assert [(s.name, s.n_items) for s in found.strata] == [
        ("despair", n_adversarial - 1),
        ("yes-but", 1),
    ]
