"""A model none of whose replies can be used is not paid for thousands of them."""

from collections.abc import Sequence

import pytest
from asked_study import (
    ITEMS,
    PRICE,
    AskedStudy,
    always,
    asked_study,
    failure,
    judge,
    model_system,
    plan,
    said,
    verdict,
)
from canned_model import Answer, CannedModel

from hearteval.domain import Assignment, Judgment
from hearteval.models.base import FIRST_QUESTIONS, Message, Reply, Sampling

SYSTEMS = (model_system("one"), model_system("two", family="other"))
N_ITEMS = 20
N_WANTED = 2 * N_ITEMS
PROSE = said("I prefer reply A.\x1b[31m It is warmer.")


@pytest.fixture
def world() -> AskedStudy:
    """Forty judgments to come from each of two judges."""
    raters = [judge("well"), judge("ill")]
    texts = {"one": ["0?"] * N_ITEMS, "two": ["1?"] * N_ITEMS}
    made = asked_study(SYSTEMS, raters, items=ITEMS[:N_ITEMS], texts=texts)
    plan(made)
    return made


def after(n: int, reply: Answer, then: Answer, *, name: str = "ill") -> CannedModel:
    """Answer so many calls so, and all others otherwise."""
    given: list[int] = []

    def answer(_messages: Sequence[Message], _sampling: Sampling, _repeat: int) -> Answer:
        given.append(1)
        return reply if len(given) <= n else then

    return CannedModel(answer, name=name)


@pytest.mark.parametrize("n_at_once", [1, 50])
def test_a_judge_without_one_usable_reply_is_stopped_and_others_go_on(
    world: AskedStudy, n_at_once: int
) -> None:
    ill, well = always(PROSE, name="ill"), always(said(verdict()), name="well")

    counts = world.judge({"ill": ill, "well": well}, n_at_once=n_at_once)

    assert len(ill.calls) == 2 * FIRST_QUESTIONS
    assert counts.n_added == N_WANTED
    assert counts.missing == {"not-json": 8, "not-asked": N_WANTED - 8}
    raters = {a.id: a.rater_id for a in world.store.iter(Assignment, world.study)}
    judged = {raters[one.assignment_id] for one in world.store.iter(Judgment, world.study)}
    assert judged == {judge("well").id}


def test_it_is_said_once_with_fault_reply_cost_and_what_to_do(world: AskedStudy) -> None:
    world.judge({"ill": always(PROSE, name="ill")}, n_at_once=5)

    (words,) = world.told
    assert words.startswith("ill: none of its first 8 questions got a reply that can be used")
    assert "not-json" in words
    assert "I prefer reply A." in words
    assert "\x1b" not in words
    assert f"16 calls were made for ${16 * PRICE:.2f}" in words
    assert "run the same command again" in words


def test_words_of_the_dialogue_are_not_said_again(world: AskedStudy) -> None:
    def repeat_the_seeker(messages: Sequence[Message], _s: Sampling, _repeat: int) -> Answer:
        return said(f"They said: {messages[1].content}")

    world.judge({"ill": CannedModel(repeat_the_seeker, name="ill")})

    assert "They said: […]" in world.told[0]
    assert not [item for item in ITEMS[:N_ITEMS] if item.context[-1].text in world.told[0]]


def test_the_next_run_tries_it_with_a_few_and_goes_on_once_it_is_cured(world: AskedStudy) -> None:
    world.judge({"ill": always(PROSE, name="ill")})
    still_ill, cured = always(PROSE, name="ill"), always(said(verdict()), name="ill")

    world.judge({"ill": still_ill})
    counts = world.judge({"ill": cured})

    assert len(still_ill.calls) == 2 * FIRST_QUESTIONS
    assert (counts.n_added, counts.missing) == (N_WANTED - 16, {"not-json": 16})


def test_one_usable_reply_among_the_first_lets_it_go_on(world: AskedStudy) -> None:
    model = after(15, PROSE, said(verdict()))

    counts = world.judge({"ill": model})

    assert (counts.n_added, counts.missing) == (N_WANTED - 7, {"not-json": 7})
    assert world.told == []


def test_a_judge_that_breaks_later_is_asked_on(world: AskedStudy) -> None:
    model = after(1, said(verdict()), PROSE)

    counts = world.judge({"ill": model})

    assert (counts.n_added, counts.missing) == (1, {"not-json": N_WANTED - 1})
    assert world.told == []


def test_calls_that_fail_are_the_endpoints_matter(world: AskedStudy) -> None:
    model = after(FIRST_QUESTIONS + 4, failure("content-filter"), said(verdict()))

    counts = world.judge({"ill": model}, n_at_once=3)

    assert (counts.n_added, counts.missing) == (N_WANTED - 12, {"content-filter": 12})
    assert world.told == []


@pytest.mark.parametrize(
    ("reply", "fault"), [(said(""), "empty"), (said("", refusal="I cannot."), "refused")]
)
def test_a_system_whose_replies_are_all_empty_or_refused_is_stopped(
    reply: Reply, fault: str
) -> None:
    world = asked_study(SYSTEMS, items=ITEMS[:N_ITEMS])
    ill, well = always(reply, name="ill"), always(said(), name="well")

    counts = world.complete({"one": ill, "two": well}, n_at_once=5)

    assert len(ill.calls) == 2 * FIRST_QUESTIONS
    assert counts.n_added == N_ITEMS
    assert counts.missing == {fault: 8, "not-asked": N_ITEMS - 8}
    assert f"mostly for {fault} (one has no text)" in world.told[0]


def test_at_the_limit_on_spending_nobody_waits_for_a_place(world: AskedStudy) -> None:
    world.limit_usd = 1.0

    counts = world.judge({"ill": always(PROSE, name="ill")}, n_at_once=20)

    assert counts.stopped is not None
