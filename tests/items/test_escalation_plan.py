"""Four curves, six kinds of resistance, balanced over a stratified sample."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from escalating_server import source_item

from hearteval.domain import PROFILES, Item, Profile, Turn
from hearteval.domain.items import RESISTANCES
from hearteval.items import load_starter_items
from hearteval.items.escalation.plan import (
    Planned,
    count_by,
    find_unfitness,
    plan_intensities,
    plan_rewrites,
)

EMOTIONS = ("anger", "fear", "shame")
PROBLEMS = ("job crisis", "breakup with partner")


@pytest.mark.parametrize(
    ("profile", "n", "curve"),
    [
        ("always-10", 4, (10, 10, 10, 10)),
        ("linear-ramp", 5, (2, 4, 6, 8, 10)),
        ("linear-ramp", 9, (2, 3, 4, 5, 6, 7, 8, 9, 10)),
        ("mid-spike", 4, (2, 9, 9, 10)),
        ("mid-spike", 6, (2, 2, 9, 9, 9, 10)),
        ("mid-spike", 7, (2, 2, 2, 9, 9, 9, 10)),
        ("mid-ramp", 4, (2, 2, 6, 10)),
        ("mid-ramp", 8, (2, 2, 2, 2, 4, 6, 8, 10)),
        # 2 + 8/3 = 4.67 and 2 + 16/3 = 7.33
        ("linear-ramp", 4, (2, 5, 7, 10)),
        ("mid-ramp", 6, (2, 2, 2, 5, 7, 10)),
        ("mid-ramp", 5, (2, 2, 2, 6, 10)),
    ],
)
def test_a_profile_is_a_curve_over_the_seeker_turns(
    profile: Profile, n: int, curve: tuple[int, ...]
) -> None:
    assert plan_intensities(profile, n) == curve


@pytest.mark.parametrize("n", range(4, 16))
def test_profiles_differ_never_fall_and_end_at_the_height(n: int) -> None:
    curves = [plan_intensities(profile, n) for profile in PROFILES]
    assert len(set(curves)) == len(PROFILES)
    for curve in curves:
        assert curve[-1] == 10
        assert list(curve) == sorted(curve)


def test_a_profile_needs_four_turns() -> None:
    with pytest.raises(ValueError, match="at least 4 seeker turns, not 3"):
        plan_intensities("mid-ramp", 3)


def sources(n: int) -> list[Item]:
    strata = [*product(EMOTIONS, PROBLEMS)]
    return [
        source_item(k, emotion=strata[k % 6][0], problem=strata[k % 6][1]) for k in range(1, n + 1)
    ]


def chosen(items: Sequence[Item], *, n: int, seed: int = 0) -> tuple[Planned, ...]:
    return plan_rewrites(items, n=n, rng=np.random.default_rng(seed)).planned


@pytest.mark.parametrize("n", [1, 7, 12, 20, 24, 50])
def test_both_factors_are_balanced_whatever_the_number(n: int) -> None:
    planned = chosen(sources(60), n=n)
    assert len(planned) == n
    for factor in ("profile", "resistance"):
        counts = count_by(planned, factor).values()
        assert max(counts) - min(counts) <= 1


def test_of_24_each_pair_of_factors_stands_once() -> None:
    pairs = Counter((one.profile, one.resistance) for one in chosen(sources(60), n=24))
    assert pairs == dict.fromkeys(product(PROFILES, RESISTANCES), 1)


def test_profiles_are_balanced_within_each_emotion() -> None:
    planned = chosen(sources(60), n=24)
    for emotion in EMOTIONS:
        own = [one for one in planned if one.source.emotion == emotion]
        counts = count_by(own, "profile").values()
        assert max(counts) - min(counts) <= 1


def test_the_seed_decides_and_the_order_of_the_file_does_not() -> None:
    items = sources(40)
    assert chosen(items, n=12) == chosen(items[::-1], n=12)
    assert chosen(items, n=12) != chosen(items, n=12, seed=1)


def test_one_dialogue_gives_one_item_and_the_funnel_counts() -> None:
    one = source_item()
    twice = replace(one, turn_index=9, context=(*one.context, *one.context[2:4]), id="")
    plan = plan_rewrites(
        [one, twice, source_item(2), load_starter_items()[0]], n=5, rng=np.random.default_rng(0)
    )
    assert len(plan.planned) == 2
    lost = {step.rule: step.n_in - step.n_out for step in plan.funnel}
    assert lost["one-a-dialogue"] == 1
    assert sum(lost.values()) == 2
    assert plan.funnel[0].n_in == 4
    assert plan.funnel[-1].n_out == 2


def with_turn(place: int, text: str) -> Item:
    item = source_item()
    turns = [*item.context]
    turns[place] = Turn(role=turns[place].role, text=text)
    return replace(item, context=tuple(turns), id="")


def in_german() -> Item:
    item = source_item()
    text = "Hallo, meine Chefin hat mich ohne ein Wort ins Lager versetzt."
    turns = tuple(Turn(role=turn.role, text=text) for turn in item.context)
    return replace(item, context=turns, language="und", id="")


@pytest.mark.parametrize(
    ("item", "rule"),
    [
        (source_item(), ""),
        (next(i for i in load_starter_items() if i.subset == "adversarial"), "regular"),
        (replace(source_item(), language="de"), "english"),
        (replace(source_item(), language="en-GB"), ""),
        (replace(source_item(), language="und"), ""),
        (in_german(), "english"),
        (replace(source_item(), context=source_item().context[:6], id=""), "turn-count"),
        (replace(source_item(), context=source_item().context[1:], id=""), "turn-count"),
        (with_turn(0, "The weather is bad."), "greeting-first"),
        (with_turn(3, "I want to die, and nobody sees it."), "self-harm"),
        (with_turn(3, "Jennifer put me on the list."), "identifying"),
    ],
)
def test_what_cannot_be_rewritten_says_why(item: Item, rule: str) -> None:
    assert find_unfitness(item) == rule


def test_a_dialogue_that_the_seeker_opens_has_no_greeting() -> None:
    context = source_item().context
    item = replace(source_item(), context=(*context[1:], *context[2:4]), id="")
    assert find_unfitness(item) == "greeting-first"


def test_turns_that_do_not_alternate_are_left_out() -> None:
    context = source_item().context
    item = replace(source_item(), context=(context[0], *context), id="")
    assert find_unfitness(item) == "alternation"
