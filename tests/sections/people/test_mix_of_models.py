"""People and judges are compared on one mix of models, whichever each kind was asked about."""

from dataclasses import replace

import pytest
from people_study import BEACON, EMBER, HARBOUR, JUDGES, PEOPLE, PeopleStudy, human_raters

from hearteval.analysis.columns import to_columns
from hearteval.analysis.data import StudyData
from hearteval.analysis.judgments import judgments_of
from hearteval.domain import AXIS_NAMES, AxisMark, Choice, System
from hearteval.sections.people.models.leads import LeadContrast, compare_leads
from hearteval.sections.people.models.meetings import Meetings, find_meetings
from hearteval.sections.people.models.shares import compare_by_stratum, compare_with_models

STRONG, WEAK, OTHER = EMBER, HARBOUR, BEACON


def meetings(data: StudyData) -> Meetings:
    return find_meetings(to_columns(data.judgments, data))


def lead(data: StudyData, name: str) -> LeadContrast:
    return next(one for one in compare_leads(meetings(data), level=0.95) if one.name == name)


def one_truth(*, n_items: int = 12, n_adversarial: int = 0) -> PeopleStudy:
    """Have the strong model always win and the weak one always lose, whoever judges.

    The first judge is of the strong model's family and judges the weak one only.
    """
    made = PeopleStudy(n_items, [*human_raters(2), *JUDGES], n_adversarial=n_adversarial)
    for item in made.items:
        person = made.completion(item, PEOPLE, "w1")
        told: tuple[tuple[System, Choice], ...] = ((STRONG, "first"), (WEAK, "second"))
        for model, choice in told:
            for rater in made.raters:
                if (rater, model) != (JUDGES[0], STRONG):
                    made.judge(rater, made.completion(item, model), person, choice)
    return made


def judge_alone(made: PeopleStudy, model: System, *, n_items: int) -> None:
    """Have the first person like a model on so many items that no judge judges."""
    for item in made.items[:n_items]:
        texts = made.completion(item, model), made.completion(item, PEOPLE, "w1")
        made.judge(made.raters[0], *texts, "first")


def test_people_and_judges_of_one_truth_do_not_differ() -> None:
    """Pooled, judges would give models 12 of 36 and people half: 17 points of mix alone."""
    found = lead(one_truth().data(), "all-items")
    assert found.score is not None
    assert found.score.value == 0
    assert found.left_out == ()


def test_shares_are_the_mean_over_models_and_the_plain_ones_stand_beside() -> None:
    data = one_truth().data()
    people, judges = compare_with_models(meetings(data), data, level=0.95)
    assert (people.model.rate, judges.model.rate, judges.score.rate) == (0.5, 0.5, 0.5)
    assert (people.weighs, judges.weighs) == ("models", "models")
    assert judges.every_judgment.model == pytest.approx(1 / 3)
    assert (judges.n_judgments, judges.every_judgment.n_judgments) == (36, 36)


def test_a_model_of_one_kind_alone_is_left_out_and_named() -> None:
    made = one_truth()
    judge_alone(made, OTHER, n_items=12)
    data = made.data()
    found = lead(data, "all-items")
    assert found.score is not None
    assert (found.score.value, found.left_out) == (0, ("beacon",))
    people, judges = compare_with_models(meetings(data), data, level=0.95)
    assert people.left_out == judges.left_out == ("beacon",)
    assert (people.model.rate, people.n_judgments) == (0.5, 48)
    assert people.every_judgment.n_judgments == 60
    assert people.every_judgment.model == pytest.approx(36 / 60)


def test_a_model_on_four_items_is_left_out_and_named() -> None:
    """With the weight of the others, what four items say would be most of the error."""
    made = one_truth()
    for item in made.items[:4]:
        texts = made.completion(item, OTHER), made.completion(item, PEOPLE, "w1")
        for rater in (made.raters[0], JUDGES[1]):
            made.judge(rater, *texts, "first")
    data = made.data()
    assert lead(data, "all-items").left_out == ("beacon",)
    for found in compare_with_models(meetings(data), data, level=0.95):
        assert (found.model.rate, found.left_out) == (0.5, ("beacon",))


def test_people_and_judges_are_compared_on_the_items_that_both_judged() -> None:
    """People see no adversarial item, where models lose: that is no difference in taste."""
    made = PeopleStudy(12, [*human_raters(2), *JUDGES], n_adversarial=6)
    for item in made.items:
        texts = made.completion(item, STRONG), made.completion(item, PEOPLE, "w1")
        is_hard = item.subset == "adversarial"
        for rater in made.raters[2 if is_hard else 0 :]:
            made.judge(rater, *texts, "second" if is_hard else "first")
    found = lead(made.data(), "all-items")
    assert found.score is not None
    assert (found.score.value, found.n_regular) == (0, 6)


def test_the_change_between_subsets_is_of_the_models_that_all_judged_in_both() -> None:
    """The third model, liked by one person on regular items alone, moves no lead."""
    made = one_truth(n_items=14, n_adversarial=6)
    for item in made.items[6:]:
        texts = made.completion(item, OTHER), made.completion(item, PEOPLE, "w1")
        for rater in (made.raters[0], JUDGES[1]):
            made.judge(rater, *texts, "first")
    data = made.data()
    for name in ("people", "judges", "people-judges"):
        found = lead(data, name)
        assert found.score is not None
        assert (found.score.value, found.left_out) == (0, ("beacon",)), name
    # On all items the third model counts: both kinds judged it.
    assert lead(data, "all-items").left_out == ()


def test_each_subset_has_a_mix_of_its_own() -> None:
    data = one_truth(n_items=14, n_adversarial=6).data()
    rows = [one for one in compare_by_stratum(meetings(data), level=0.95) if one.by == "subset"]
    scores = {(one.value, one.judged_by): one.against for one in rows}
    assert len(scores) == 4
    for (value, judged_by), found in scores.items():
        assert found is not None
        assert found.score.rate == 0.5, (value, judged_by)


def test_winning_every_axis_is_of_the_models_that_both_kinds_marked() -> None:
    made = one_truth()
    rows = [
        row._replace(axes=dict.fromkeys(AXIS_NAMES, AxisMark(row.choice, 2))) for row in made.rows
    ]
    data = replace(made.data(), judgments=judgments_of(rows))
    for found in compare_with_models(meetings(data), data, level=0.95):
        assert found.every_axis is not None
        assert (found.every_axis.model.rate, found.every_axis.person.rate) == (0.5, 0.5)


def test_marks_of_judges_alone_are_on_the_mix_of_choices_too() -> None:
    made = one_truth()
    rows = [
        row._replace(axes=dict.fromkeys(AXIS_NAMES, AxisMark(row.choice, 2)))
        if row.rater_id in {judge.id for judge in JUDGES}
        else row
        for row in made.rows
    ]
    data = replace(made.data(), judgments=judgments_of(rows))
    people, judges = compare_with_models(meetings(data), data, level=0.95)
    assert people.every_axis is None
    assert judges.every_axis is not None
    assert (judges.every_axis.model.rate, judges.every_axis.person.rate) == (0.5, 0.5)


def test_without_a_model_in_common_there_is_no_comparison() -> None:
    """People judge the strong model and judges the weak one: every share is of its own mix."""
    made = PeopleStudy(8, [*human_raters(2), *JUDGES])
    for item in made.items:
        person = made.completion(item, PEOPLE, "w1")
        made.judge(made.raters[0], made.completion(item, STRONG), person, "first")
        made.judge(JUDGES[0], made.completion(item, WEAK), person, "second")
    data = made.data()
    found = lead(data, "all-items")
    assert (found.score, found.left_out) == (None, ("ember", "harbour"))
    people, judges = compare_with_models(meetings(data), data, level=0.95)
    assert (people.model.rate, people.weighs) == (1.0, "judgments")
    assert (judges.model.rate, judges.weighs) == (0.0, "judgments")


def test_one_kind_alone_counts_every_judgment() -> None:
    made = one_truth()
    judge_alone(made, OTHER, n_items=3)
    people = [row for row in made.rows if row.rater_id in {r.id for r in made.raters[:2]}]
    data = replace(made.data(), judgments=judgments_of(people))
    (found,) = compare_with_models(meetings(data), data, level=0.95)
    assert found.model.rate == pytest.approx(27 / 51)
    assert (found.weighs, found.left_out) == ("judgments", ())
