"""How replies are worded: by hand; planted templates are found, and none where there is none."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from planted_words import GPT, PEOPLE, WAYS, by_template, drawn, freely, items, said
from scipy.stats import ttest_1samp

from hearteval.analysis.data import StudyData
from hearteval.analysis.words import words_of
from hearteval.domain import System
from hearteval.domain.systems import WITHDRAWN
from hearteval.sections.wording.measure import (
    MEASURES,
    Measure,
    SystemWording,
    WordingDifference,
    measure_wording,
)


def of_system(data: StudyData, system: System) -> SystemWording:
    found = measure_wording(data, level=0.95)
    assert found is not None
    return next(one for one in found.systems if one.system == system.name)


def one_system(texts: Sequence[str], *, language: str = "en") -> SystemWording:
    made = items(len(texts), language)
    replies = [said(item, GPT, text) for item, text in zip(made, texts, strict=True)]
    return of_system(StudyData(items=made, systems=[GPT], completions=replies), GPT)


def test_words_are_what_stands_between_signs() -> None:
    assert words_of("I\N{RIGHT SINGLE QUOTATION MARK}m *so* sorry — don't_go!") == [
        "i'm",
        "so",
        "sorry",
        "don't",
        "go",
    ]


def test_a_template_recurs_by_hand() -> None:
    """Ten replies open alike and go on alone; one shares nothing: so 10 of 10 others are drawn."""
    own = [f"a{k} b{k} c{k} d{k}" for k in range(11)]
    found = one_system([f"it sounds like {own[k]}" if k else own[0] for k in range(11)])
    # Of seven words four sequences: none of four words is whole in another; openings of ten recur.
    assert found.measures["recurring-phrases"].value == 0.0
    assert found.measures["recurring-openings"].value == pytest.approx(10 / 11)
    longer = one_system([f"it sounds like you {own[k]}" if k else own[0] for k in range(11)])
    # Of five sequences one recurs in ten replies; the eleventh has one, which does not.
    assert longer.measures["recurring-phrases"].value == pytest.approx(10 / 5 / 11)
    assert (longer.n_completions, longer.n_items) == (11, 11)
    assert longer.n_words == pytest.approx((10 * 8 + 4) / 11)


def test_the_rate_of_words_for_feelings_is_a_mean_over_items_with_its_t_interval() -> None:
    texts = ["You are sad, and so angry!", "No.", "Hopeful I am, yes.", "It is a pity to say."]
    found = one_system(texts).measures["emotion-words"]
    rates = [100 * 2 / 6, 0, 100 / 4, 0]
    assert found.value == pytest.approx(np.mean(rates))
    interval = ttest_1samp(rates, 0).confidence_interval()
    assert found.high == pytest.approx(interval.high)
    assert found.low == max(0.0, interval.low)


def test_two_writers_of_an_item_weigh_as_one() -> None:
    made = items(2)
    texts = [said(made[0], PEOPLE, "So sad.", "a"), said(made[0], PEOPLE, "Oh well.", "b")]
    texts.append(said(made[1], PEOPLE, "Joy to you, friend."))
    found = of_system(StudyData(items=made, systems=[PEOPLE], completions=texts), PEOPLE)
    assert found.measures["emotion-words"].value == pytest.approx((25 + 25) / 2)
    assert (found.n_completions, found.n_items) == (3, 2)


def test_different_words_for_feelings_are_of_ten_drawn() -> None:
    varied = "sad angry lonely ashamed happy calm proud hurt tired stressed worried grateful"
    assert one_system(["sad " * 12]).measures["different-emotion-words"].value == pytest.approx(1)
    found = one_system([varied, "Never"]).measures["different-emotion-words"].value
    assert found == pytest.approx(10)


def test_where_there_is_too_little_there_is_no_figure() -> None:
    found = one_system(["I am sad."] * 10)
    assert set(found.measures) == {"emotion-words", "different-emotion-words"}
    assert set(one_system(["One, two."]).measures) == {"emotion-words"}
    assert measure_wording(StudyData(systems=[GPT], items=items(1)), level=0.95) is None


def test_a_list_of_english_words_says_nothing_of_another_language() -> None:
    found = one_system(["Du bist so sad."] * 15, language="de")
    assert set(found.measures) == {"different-words", "recurring-phrases", "recurring-openings"}
    assert "emotion-words" in one_system(["You are sad."], language="en-GB").measures


def test_withdrawn_texts_are_not_read() -> None:
    made = items(2)
    gone = said(made[0], PEOPLE, WITHDRAWN)
    texts = [gone, said(made[1], PEOPLE, "Well now.")]
    found = of_system(StudyData(items=made, systems=[PEOPLE], completions=texts), PEOPLE)
    assert (found.n_completions, found.measures["emotion-words"].value) == (1, 0.0)


def compared(data: StudyData, group: str = "models") -> dict[Measure, WordingDifference]:
    found = measure_wording(data, level=0.95)
    assert found is not None
    return {one.measure: one for one in found.differences if one.group == group}


def test_a_planted_template_and_a_narrow_vocabulary_are_found() -> None:
    found = compared(drawn(1, by_template, n_items=40))
    assert set(found) == {*MEASURES}
    q = {measure: one.q for measure, one in found.items() if one.q is not None and one.q < 0.05}
    assert {*q} == {*MEASURES} - {"emotion-words"}
    signs = {measure: found[measure].difference > 0 for measure in q}
    assert signs == {
        "different-words": False,
        "different-emotion-words": False,
        "recurring-phrases": True,
        "recurring-openings": True,
    }
    one = found["recurring-openings"]
    assert (round(one.models, 9), one.n_items) == (1.0, 40)
    assert one.difference == pytest.approx(one.models - one.people)
    # A person's reply opens in one of eight ways.
    assert one.people == pytest.approx(float(WAYS @ (1 - (1 - WAYS) ** 10)), abs=0.08)


def test_where_nobody_differs_few_tests_say_so() -> None:
    """Models have one text an item, people two: being more makes nobody more varied."""
    p = [
        one.p
        for seed in range(20)
        for measure, one in compared(drawn(seed, freely, n_items=25)).items()
    ]
    assert len(p) == 100
    assert 0.01 <= np.mean([value is not None and value < 0.05 for value in p]) <= 0.09


def test_each_family_meets_people_and_order_means_nothing() -> None:
    data = drawn(2, by_template, n_items=12)
    turned = replace(data, completions=data.completions[::-1], systems=data.systems[::-1])
    found = measure_wording(data, level=0.95)
    assert found is not None
    assert {(one.comparison, one.group) for one in found.differences} == {
        ("models-people", "models"),
        ("family-people", "gpt"),
        ("family-people", "kimi"),
    }
    again = measure_wording(turned, level=0.95)
    assert again is not None
    for one, other in zip(found.differences, again.differences, strict=True):
        assert (one.measure, one.group) == (other.measure, other.group)
        assert one.difference == pytest.approx(other.difference, abs=1e-12)


def test_differences_are_on_items_that_both_have() -> None:
    data = drawn(3, freely, n_items=12)
    last = data.items[-1].id
    left = [t for t in data.completions if t.system_id != PEOPLE.id or t.item_id != last]
    found = compared(replace(data, completions=left))
    without = [text for text in left if text.item_id != last]
    assert found["different-words"].n_items == 11
    same = compared(replace(data, completions=without, items=data.items[:-1]))
    assert found["different-words"].difference == same["different-words"].difference
