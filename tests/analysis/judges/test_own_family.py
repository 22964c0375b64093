"""Own-family preference: against other judges on the same pairs, or not at all."""

from dataclasses import replace

import pytest
from judged_study import CUE, StudyMaker, make_items

from hearteval.analysis.judges.own_family import (
    EXCLUDED,
    NO_SYSTEM,
    NOT_JUDGED,
    OwnFamily,
    own_family_preference,
    warn_of_own_family,
)
from hearteval.domain import Choice, Rater, System
from hearteval.notices import Kind

OURS = System(name="ours", kind="model", family="a")
THEIRS = System(name="theirs", kind="model", family="b")
PLAIN = System(name="plain", kind="baseline", family="baseline")
OF_A, OF_B, OF_C = (
    Rater(name=f"judge {family}", kind="llm", family=family, settings={"model": family})
    for family in ("a", "b", "c")
)
RATERS = [OF_A, OF_B, OF_C, CUE]


def preference(maker: StudyMaker, rater: Rater = OF_A, *, is_excluded: bool = False) -> OwnFamily:
    data = replace(maker.data(), exclude_own_family=is_excluded)
    return own_family_preference(data, rater, level=0.95)


def judged(*answers: tuple[Rater, Choice], n_items: int = 1) -> StudyMaker:
    items = make_items(n_items)
    maker = StudyMaker(items, [OURS, THEIRS, PLAIN], RATERS)
    for item in items:
        for rater, choice in answers:
            maker.judge(item, (OURS, PLAIN), choice, rater=rater)
    return maker


def test_it_is_the_difference_from_judges_of_neither_family() -> None:
    found = preference(judged((OF_A, "first"), (OF_C, "second"), n_items=4))
    assert found.own is not None
    assert found.others is not None
    assert (found.own.rate, found.others.rate, found.own.n_items) == (1.0, 0.0, 4)
    assert found.difference == 1.0
    assert found.low is not None
    assert 0 < found.low < 1 == found.high
    # All four items say 1: the score test of 4 of 4 against one half, z = 2.
    assert found.p_value == pytest.approx(0.0455, abs=1e-4)


def test_a_family_that_everybody_prefers_is_no_bias() -> None:
    found = preference(judged((OF_A, "first"), (OF_C, "first"), n_items=4))
    assert found.difference == 0
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0 < found.high


def test_both_orders_of_a_pair_are_one_value() -> None:
    items = make_items(2)
    maker = StudyMaker(items, [OURS, THEIRS, PLAIN], RATERS)
    backs: list[Choice] = ["first", "second"]
    for item, back in zip(items, backs, strict=True):
        maker.judge(item, (OURS, PLAIN), "first", rater=OF_A)
        maker.judge(item, (PLAIN, OURS), back, rater=OF_A)
        maker.judge(item, (OURS, PLAIN), "tie", rater=OF_C)
    found = preference(maker)
    assert found.own is not None
    # First item: one win of two; second item: both. Others: a tie each.
    assert found.own.rate == pytest.approx(0.75)
    assert found.difference == pytest.approx(0.25)


def test_judges_with_a_family_in_the_pair_and_the_baseline_do_not_count_as_others() -> None:
    items = make_items(1)
    maker = StudyMaker(items, [OURS, THEIRS, PLAIN], RATERS)
    for rater in (OF_A, OF_B, CUE):
        maker.judge(items[0], (OURS, THEIRS), "first", rater=rater)
    found = preference(maker)
    assert found.own is not None
    assert (found.others, found.difference, found.low, found.high) == (None,) * 4


def test_pairs_without_the_family_say_nothing() -> None:
    items = make_items(1)
    maker = StudyMaker(items, [OURS, THEIRS, PLAIN], RATERS)
    maker.judge(items[0], (THEIRS, PLAIN), "first", rater=OF_A)
    assert preference(maker).reason == NOT_JUDGED


def test_why_there_is_none() -> None:
    maker = judged((OF_A, "first"))
    assert preference(maker, is_excluded=True).reason == EXCLUDED
    assert preference(maker, OF_C).reason == NO_SYSTEM
    assert preference(maker).reason is None


def test_judge_of_the_same_family_is_warned_of_where_it_may_judge_it() -> None:
    data = judged((OF_A, "first")).data()
    assert warn_of_own_family(replace(data, exclude_own_family=True)) == []
    (warning,) = warn_of_own_family(replace(data, exclude_own_family=False))
    assert warning.kind is Kind.OWN_FAMILY
    assert warning.kind.is_serious
    assert "ours (by judge a), theirs (by judge b). Judges" in warning
    of_one = [replace(system, family=OF_A.family) for system in data.systems]
    assert warn_of_own_family(replace(data, systems=of_one, exclude_own_family=False)) == []
