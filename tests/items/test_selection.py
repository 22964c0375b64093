import math
from collections import Counter
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hearteval.domain import Role, Screening, Turn
from hearteval.items.esconv import Dialogue, couplet_item, enumerate_couplets
from hearteval.items.screening import Topics, screening_rules
from hearteval.items.selection import (
    FUNNEL_RULES,
    SELECTION_RULES,
    BuildResult,
    Stratum,
    build_items,
    funnel_from_screenings,
    screen_dialogues,
    select_items,
    square_root_quotas,
)

OPEN_TURN = "I feel so lost since it ended and I cannot sleep, so what should I do now, honestly?"
STRONG_TURN = f"{OPEN_TURN} I am scared of tomorrow, and they are ignoring me, and I am crying."
DULL_TURN = "I went to the shop and we bought a red lamp for the kitchen and a green one too."
ROLES: tuple[Role, Role] = ("seeker", "supporter")


def made_dialogue(
    number: int,
    *,
    n_open: int = 1,
    problem: str = "job crisis",
    emotion: str = "fear",
    last: str = OPEN_TURN,
) -> Dialogue:
    texts = ["Hello.", "Hello, what brings you here?", DULL_TURN, "And how was that?"]
    for k in range(n_open):
        texts += [last if k == n_open - 1 else OPEN_TURN, f"That sounds heavy, number {k}."]
    return Dialogue(
        corpus="esconv",
        dialogue_id=f"made-{number:04d}",
        emotion=emotion,
        problem=problem,
        situation="",
        turns=tuple(Turn(role=ROLES[k % 2], text=text) for k, text in enumerate(texts)),
    )


def made_corpus(n: int) -> list[Dialogue]:
    problems, emotions = ("job crisis", "breakup"), ("fear", "sadness", "anger")
    return [
        made_dialogue(k, n_open=k % 4, problem=problems[k % 2], emotion=emotions[k % 3])
        for k in range(n)
    ]


def build(dialogues: list[Dialogue], n: int, seed: int = 7) -> BuildResult:
    return build_items(dialogues, n=n, rng=np.random.default_rng(seed))


def test_same_seed_gives_the_same_result() -> None:
    assert build(made_corpus(30), 12) == build(made_corpus(30), 12)


def test_another_seed_gives_another_selection() -> None:
    assert build(made_corpus(30), 12, seed=1).items != build(made_corpus(30), 12, seed=2).items


def test_order_of_dialogues_changes_nothing() -> None:
    corpus = made_corpus(30)
    assert build(corpus, 12) == build(corpus[::-1], 12)


@settings(max_examples=20)
@given(st.permutations(range(20)), st.integers(1, 30))
def test_order_of_candidates_changes_nothing(order: list[int], n: int) -> None:
    candidates = screen_dialogues(made_corpus(20)).items
    shuffled = [candidates[k] for k in order if k < len(candidates)]
    shuffled += [item for item in candidates if item not in shuffled]
    one = select_items(candidates, n=n, rng=np.random.default_rng(3))
    assert one == select_items(shuffled, n=n, rng=np.random.default_rng(3))


@settings(max_examples=20)
@given(st.integers(1, 40), st.integers(1, 60), st.integers(0, 2**32 - 1))
def test_at_most_two_turns_a_dialogue(n_dialogues: int, n: int, seed: int) -> None:
    result = build(made_corpus(n_dialogues), n, seed)
    counts = Counter(item.dialogue_id for item in result.items)
    assert max(counts.values(), default=0) <= 2


def test_turns_with_most_potential_stay() -> None:
    result = build([made_dialogue(0, n_open=4, last=STRONG_TURN)], 2)
    assert STRONG_TURN in {item.context[-1].text for item in result.items}


def test_shortfall_is_reported_and_not_filled() -> None:
    result = build([made_dialogue(k) for k in range(3)], 10)
    assert (len(result.items), result.n_requested, result.shortfall) == (3, 10, 7)
    assert result.funnel[-1].n_out == 3


def test_no_shortfall_when_enough_qualify() -> None:
    result = build([made_dialogue(k) for k in range(5)], 4)
    assert (len(result.items), result.shortfall) == (4, 0)


def test_empty_corpus_is_all_shortfall() -> None:
    result = build([], 5)
    assert (result.items, result.screenings, result.shortfall) == ((), (), 5)


def test_n_must_be_positive() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        build(made_corpus(3), 0)


def test_items_are_sorted_by_dialogue_and_turn() -> None:
    places = [(item.dialogue_id, item.turn_index) for item in build(made_corpus(30), 12).items]
    assert places == sorted(places)


def test_every_couplet_is_selected_or_has_one_reason() -> None:
    corpus = made_corpus(30)
    result = build(corpus, 12)
    selected = {item.id for item in result.items}
    reasons = Counter(s.item_id for s in result.screenings if s.verdict == "fail")
    everything = {
        couplet_item(couplet).id for dialogue in corpus for couplet in enumerate_couplets(dialogue)
    }
    assert set(reasons) == everything - selected
    assert set(reasons.values()) == {1}


def test_selected_item_has_a_pass_for_every_rule() -> None:
    result = build(made_corpus(30), 12)
    for item in result.items:
        own = [s for s in result.screenings if s.item_id == item.id]
        rules = screening_rules("paper")
        assert [(s.rule, s.verdict) for s in own] == [(rule, "pass") for rule in rules]


def test_rejected_couplet_has_nothing_but_its_reason() -> None:
    result = build(made_corpus(30), 12)
    selected = {item.id for item in result.items}
    counts = Counter(s.item_id for s in result.screenings if s.item_id not in selected)
    assert set(counts.values()) == {1}


def test_screening_ids_are_unique() -> None:
    screenings = build(made_corpus(30), 12).screenings
    assert len({screening.id for screening in screenings}) == len(screenings)


def test_selection_rules_are_named_in_the_reasons() -> None:
    failed = {s.rule for s in build(made_corpus(30), 5).screenings if s.verdict == "fail"}
    assert {"two-a-dialogue", "quota"} <= failed


def test_second_screen_fits_between_screening_and_selection() -> None:
    candidates = screen_dialogues(made_corpus(30)).items
    kept = [item for item in candidates if item.emotion == "anger"]
    chosen = select_items(kept, n=100, rng=np.random.default_rng(1)).items
    assert chosen
    assert {item.emotion for item in chosen} == {"anger"}


@pytest.mark.parametrize("topics", ["paper", "cautious"])
def test_funnel_has_the_rules_of_its_topics(topics: Topics) -> None:
    rng = np.random.default_rng(7)
    result = build_items(made_corpus(30), n=12, rng=rng, topics=topics)
    rules = (*screening_rules(topics), *SELECTION_RULES)
    assert tuple(step.rule for step in result.funnel) == rules
    assert funnel_from_screenings(result.screenings) == result.funnel
    assert set(rules) <= set(FUNNEL_RULES)


def test_funnel_steps_follow_on_each_other() -> None:
    result = build(made_corpus(30), 12)
    assert all(
        one.n_out == next_one.n_in
        for one, next_one in zip(result.funnel, result.funnel[1:], strict=False)
    )
    assert result.funnel[0].n_in == len({s.item_id for s in result.screenings})
    assert result.funnel[-1].n_out == len(result.items)


def test_funnel_counts_each_reason() -> None:
    def screening(item_id: str, rule: str, verdict: Literal["pass", "fail"]) -> Screening:
        return Screening(item_id=item_id, rule=rule, verdict=verdict, evidence="", version="1")

    steps = funnel_from_screenings(
        [
            screening("a", "history-length", "fail"),
            screening("b", "quota", "fail"),
            screening("c", "history-length", "pass"),
            screening("c", "turn-length", "pass"),
        ]
    )
    assert (steps[0].n_in, steps[0].n_out) == (3, 2)
    assert (steps[-1].rule, steps[-1].n_in, steps[-1].n_out) == ("quota", 2, 1)


def test_funnel_refuses_a_rule_it_does_not_know() -> None:
    stray = Screening(item_id="a", rule="taste", verdict="fail", evidence="", version="1")
    with pytest.raises(ValueError, match="taste"):
        funnel_from_screenings([stray])


def test_quotas_follow_the_square_root() -> None:
    counts = {("a", "x"): 100, ("b", "x"): 25, ("c", "x"): 4}
    assert square_root_quotas(counts, n=17) == {("a", "x"): 10, ("b", "x"): 5, ("c", "x"): 2}


def test_largest_remainder_gets_what_is_left() -> None:
    # Roots 3 : 2 : 1, shares 2.0, 1.33, 0.67 of 4.
    counts = {("a", "x"): 9, ("b", "x"): 4, ("c", "x"): 1}
    assert square_root_quotas(counts, n=4) == {("a", "x"): 2, ("b", "x"): 1, ("c", "x"): 1}


def test_what_a_stratum_cannot_use_goes_to_the_others() -> None:
    # Equal shares by root would give 5.45 : 0.55 of 6, then 10.9 : 1.09 of 12: c has only one.
    counts = {("a", "x"): 100, ("c", "x"): 1}
    assert square_root_quotas(counts, n=12) == {("a", "x"): 11, ("c", "x"): 1}


@given(
    st.dictionaries(
        st.tuples(st.sampled_from("abcdef"), st.sampled_from("xyz")), st.integers(0, 60)
    ),
    st.integers(1, 400),
)
def test_quotas_fit_their_strata_and_sum_to_what_there_is(
    counts: dict[Stratum, int], n: int
) -> None:
    quotas = square_root_quotas(counts, n=n)
    assert all(0 <= quota <= counts[stratum] for stratum, quota in quotas.items())
    assert sum(quotas.values()) == min(n, sum(counts.values()))


@given(
    st.dictionaries(
        st.tuples(st.sampled_from("abcdef"), st.sampled_from("xyz")),
        st.integers(50, 90),
        min_size=2,
    ),
    st.integers(1, 40),
)
def test_quotas_stay_within_one_of_the_square_root_share(
    counts: dict[Stratum, int], n: int
) -> None:
    total = sum(math.sqrt(count) for count in counts.values())
    quotas = square_root_quotas(counts, n=n)
    assert all(
        abs(quotas[stratum] - n * math.sqrt(count) / total) < 1 for stratum, count in counts.items()
    )
