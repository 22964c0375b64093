"""Does a judge answer the same twice: the other way round, and again."""

from dataclasses import replace

import pytest
from invented_results import section_of
from judged_study import CUE, StudyMaker, make_items, make_systems

from hearteval.analysis.judges import consistency_results
from hearteval.analysis.judgments import judgments_of
from hearteval.analysis.study import analyze_study
from hearteval.domain import Choice
from hearteval.sections.judges import Judges

NAMES = {CUE.id: "cue"}


def judged_twice(*answers: tuple[Choice, Choice]) -> StudyMaker:
    """Judge one pair an item in both orders, with the given answers as shown."""
    items, (one, two) = make_items(len(answers)), make_systems("one", "two")
    maker = StudyMaker(items, [one, two], [CUE])
    for item, (there, back) in zip(items, answers, strict=True):
        maker.judge(item, (one, two), there)
        maker.judge(item, (two, one), back)
    return maker


def test_the_same_winner_in_both_orders_is_consistent() -> None:
    maker = judged_twice(("first", "second"), ("first", "first"), ("tie", "tie"), ("tie", "first"))
    (order,) = consistency_results(maker.judgments, raters=NAMES, level=0.95)
    assert (order.check, order.n_pairs, order.n_items, order.rate) == ("order", 4, 4, 0.5)
    assert 0 <= order.low < 0.5 < order.high <= 1


def test_an_item_is_one_value_however_many_pairs_it_has() -> None:
    items, systems = make_items(2), make_systems("one", "two", "three")
    one, two, three = systems
    maker = StudyMaker(items, systems, [CUE])
    for sides in ((one, two), (one, three), (two, three)):
        maker.judge(items[0], sides, "first")
        maker.judge(items[0], sides[::-1], "first")
    maker.judge(items[1], (one, two), "first")
    maker.judge(items[1], (two, one), "second")
    (order,) = consistency_results(maker.judgments, raters=NAMES, level=0.95)
    assert (order.n_pairs, order.n_items) == (4, 2)
    assert order.rate == pytest.approx(0.5)


def test_a_repeat_is_compared_with_the_first_time_in_its_order() -> None:
    maker = judged_twice(("first", "first"))
    one, two = maker.systems
    maker.judge(maker.items[0], (one, two), "second")
    *first, last = maker.judgments
    again = last._replace(repeat=1)
    order, repeat = consistency_results(judgments_of([*first, again]), raters=NAMES, level=0.95)
    assert (order.check, order.rate) == ("order", 0.0)
    assert (repeat.check, repeat.rate, repeat.n_pairs) == ("repeat", 0.0, 1)
    same = [*first, again._replace(choice="first")]
    assert consistency_results(judgments_of(same), raters=NAMES, level=0.95)[1].rate == 1.0


def test_repeats_never_enter_the_ranking() -> None:
    maker = judged_twice(("first", "second"), ("second", "first"))
    before = analyze_study(maker.data())
    one, two = maker.systems
    maker.judge(maker.items[0], (one, two), "first", strength=5)
    *first, last = maker.judgments
    again = last._replace(repeat=1)
    after = analyze_study(
        replace(maker.data(), judgments=judgments_of([*first, again])), sections=[Judges]
    )
    assert after.leaderboard == before.leaderboard
    assert [result.check for result in section_of(after, Judges).consistency] == ["order", "repeat"]
