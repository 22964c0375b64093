"""Judges that are models: what their replies become, repair, blinding, nothing asked twice."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from asked_study import (
    ITEMS,
    JUDGING,
    NOW,
    PRICE,
    RATING,
    AskedStudy,
    always,
    asked_study,
    by_call,
    failure,
    judge,
    model_system,
    plan,
    said,
    scores,
    verdict,
)
from canned_model import Answer, CannedCall, CannedModel
from hypothesis import given, settings
from hypothesis import strategies as st
from made_records import FULL
from sqlalchemy import Connection

from hearteval.domain import (
    AXES,
    Assignment,
    Attempt,
    AxisMark,
    Call,
    Completion,
    Item,
    Judgment,
    Pair,
    Rater,
    Rating,
    System,
)
from hearteval.judgments.form import RATED
from hearteval.judgments.plan import PlanPolicy
from hearteval.judgments.prompt import judge_prompt_hash
from hearteval.judgments.stress_set.injections import Side, injection_texts
from hearteval.models import asking
from hearteval.models.asking import AskedCounts
from hearteval.models.base import Message, Reply, Sampling
from hearteval.models.failures import Reason
from hearteval.protocol import load_protocol
from hearteval.store import sql
from hearteval.store.adding import add
from hearteval.store.records import Record

SYSTEMS = (model_system("one"), model_system("two", family="other"))
WORDS = "canary zebra"
"""Stands in replies that cannot be used; nothing of them may be said again."""
GOOD = json.loads(verdict(reason=WORDS))


def without(key: str) -> str:
    return json.dumps({k: mark for k, mark in GOOD.items() if k != key})


def marked(**values: object) -> str:
    first = next(iter(GOOD))
    return json.dumps({**GOOD, first: {**GOOD[first], **values}})


PAIR_FAULTS: dict[str, tuple[Reply, str]] = {
    "empty": (said(""), "empty"),
    "refused": (said(WORDS, refusal=WORDS), "refused"),
    "cut off": (said(verdict()[:200] + WORDS, "length"), "truncated"),
    "half of the JSON": (said(verdict(reason=WORDS)[:-40]), "truncated"),
    "too long": (said(verdict(reason=WORDS * 2000)), "too-long"),
    "prose": (said(f"A is better. {WORDS}"), "not-json"),
    "in a code fence": (said(f"```json\n{verdict(reason=WORDS)}\n```"), "not-json"),
    "words after it": (said(f"{verdict()} {WORDS}"), "not-json"),
    "a list": (said(f"[{verdict(reason=WORDS)}]"), "not-an-object"),
    "one key twice": (said(verdict(reason=WORDS)[:-1] + ', "overall": 1}'), "duplicate-keys"),
    "an axis of five": (said(without(next(iter(GOOD)))), "missing-axis"),
    "nothing overall": (said(without("overall")), "wrong-keys"),
    "another key": (said(json.dumps({**GOOD, WORDS: 1})), "wrong-keys"),
    "winner before reason": (
        said(json.dumps({k: dict(reversed(mark.items())) for k, mark in GOOD.items()})),
        "wrong-order",
    ),
    "a tie": (said(marked(winner="tie")), "wrong-winner"),
    "no winner": (said(marked(winner=None)), "wrong-winner"),
    "strength 6": (said(marked(strength=6)), "wrong-strength"),
    "strength in words": (said(marked(strength="3")), "wrong-strength"),
    "strength NaN": (said(marked(strength=float("nan"))), "wrong-strength"),
    "no reason": (said(marked(reason=" ")), "empty-reason"),
}


RATING_FAULTS: dict[str, tuple[Reply, str]] = {
    "empty": (said(""), "empty"),
    "refused": (said(WORDS, refusal=WORDS), "refused"),
    "cut off": (said(scores()[:60] + WORDS, "length"), "truncated"),
    "prose": (said(f"A four. {WORDS}"), "not-json"),
    "score 6": (said(scores(6, WORDS)), "wrong-score"),
    "no comment": (said(scores(3, " ")), "empty-reason"),
    "a verdict": (said(scores()[:-1] + ', "overall": 1}'), "wrong-keys"),
}


@dataclass(frozen=True)
class Way:
    """What judges are asked for, and two replies that say different things."""

    record: type[Judgment] | type[Rating]
    ask: Callable[..., AskedCounts]
    good: str
    other: str

    def answers(self, world: AskedStudy) -> list[Any]:
        return list(world.store.iter(self.record, world.study))


PAIRS = Way(Judgment, AskedStudy.judge, verdict("A"), verdict("B"))
RATINGS = Way(Rating, AskedStudy.rate, scores(5), scores(1))
BOTH = {"pairs": PAIRS, "ratings": RATINGS}
UNUSABLE = {
    f"{way}: {name}": (BOTH[way], reply, reason)
    for way, faults in (("pairs", PAIR_FAULTS), ("ratings", RATING_FAULTS))
    for name, (reply, reason) in faults.items()
}


def judged_study(
    *, raters: Sequence[Rater] = (judge("j"),), n_items: int = 2, policy: PlanPolicy = FULL
) -> AskedStudy:
    """A study with two replies to each item, and everything planned."""
    said_by = {"one": "What now", "two": "And then"}
    texts = {
        name: [f"{words}, number {k}?" for k in range(n_items)] for name, words in said_by.items()
    }
    world = asked_study(SYSTEMS, raters, items=ITEMS[:n_items], texts=texts)
    world.policy = policy
    plan(world)
    return world


@pytest.fixture(autouse=True)
def one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let one worker make all calls, so that scripted answers come in order."""
    monkeypatch.setattr(asking, "WORKERS_PER_CALL", 1)


@pytest.fixture(params=BOTH.values(), ids=[*BOTH])
def way(request: pytest.FixtureRequest) -> Way:
    found: Way = request.param
    return found


@pytest.fixture
def world() -> AskedStudy:
    return judged_study()


def attempts(world: AskedStudy) -> list[Attempt]:
    found = world.store.iter(Attempt, world.study)
    return sorted(found, key=lambda a: (str(a.assignment_id or a.completion_id), a.attempt))


def user_text(call: CannedCall) -> str:
    assert [message.role for message in call.messages] == ["system", "user"]
    return call.messages[1].content


def shown(call: CannedCall, part: str) -> str:
    """Return what stands between the markers of a part, as the judge saw it."""
    text = user_text(call)
    code = text.split("The code of the markers is ")[1].split(".")[0]
    return text.split(f"[{part} {code}]\n")[1].split(f"\n[end of {part} {code}]")[0]


def call_of(messages: Sequence[Message]) -> CannedCall:
    return CannedCall(messages=tuple(messages), sampling=JUDGING, repeat=0)


def test_reply_becomes_a_judgment_with_all_that_is_known_of_it(world: AskedStudy) -> None:
    text = verdict("B", 4, "closer")

    counts = world.judge({"j": always(said(text))})

    assert (counts.n_wanted, counts.n_before, counts.n_added, counts.missing) == (4, 0, 4, {})
    first = PAIRS.answers(world)[0]
    assert first == Judgment(
        assignment_id=first.assignment_id,
        choice="second",
        strength=4,
        axes=dict.fromkeys(AXES, AxisMark("second", 4)),
        reasons=dict.fromkeys(AXES, "closer"),
        rationale="closer",
        seconds=0.25,
        raw=text,
        prompt_hash=judge_prompt_hash(),
        call=call_with("heart_judgment"),
        created_at=NOW,
    )


def test_reply_becomes_a_rating_with_all_that_is_known_of_it(world: AskedStudy) -> None:
    text = scores(4, "close")

    counts = world.rate({"j": always(said(text))})

    assert (counts.n_wanted, counts.n_before, counts.n_added, counts.missing) == (4, 0, 4, {})
    first = RATINGS.answers(world)[0]
    assert first == Rating(
        study_id=world.study.id,
        completion_id=first.completion_id,
        rater_id=judge("j").id,
        axes=dict.fromkeys(AXES, 4),
        comments=dict.fromkeys(AXES, "close"),
        seconds=0.25,
        raw=text,
        prompt_hash=judge_prompt_hash(RATED),
        call=call_with("heart_rating"),
        created_at=NOW,
    )


def call_with(schema: str) -> Call:
    """What is kept of a call that asked for a schema."""
    requested = {"temperature": 0.0, "top_p": 1.0, "max_tokens": 800, "schema": schema}
    return Call(
        requested=requested,
        effective={**requested, "model": "canned"},
        finish_reason="stop",
        usage={"input_tokens": 50, "output_tokens": 20},
        cost=PRICE,
        cached=False,
    )


def test_both_orders_are_asked_and_read_as_shown(world: AskedStudy) -> None:
    def prefer_now(messages: Sequence[Message], _sampling: Sampling, _repeat: int) -> Answer:
        text = messages[1].content
        return verdict("A" if text.index("What now") < text.index("And then") else "B")

    world.judge({"j": CannedModel(prefer_now)})

    texts = {c.id: c.text for c in world.store.iter(Completion, world.study)}
    assignments = {a.id: a for a in world.store.iter(Assignment, world.study)}
    found = set()
    for one in PAIRS.answers(world):
        assignment = assignments[one.assignment_id]
        is_first = texts[assignment.first_completion_id].startswith("What now")
        assert one.choice == ("first" if is_first else "second")
        found.add((assignment.pair_id, is_first))
    assert len(found) == 4


def test_each_order_shows_the_texts_of_its_assignment(world: AskedStudy) -> None:
    model = always(said(verdict()))

    world.judge({"j": model})

    seen = [(shown(call, "reply A"), shown(call, "reply B")) for call in model.calls]
    expected = [(f"What now, number {i}?", f"And then, number {i}?") for i in range(2)]
    assert sorted(seen) == sorted(expected + [(b, a) for a, b in expected])


def test_each_completion_is_shown_by_itself_and_scored_as_its_own(world: AskedStudy) -> None:
    texts = {c.id: c.text for c in world.store.iter(Completion, world.study)}
    by_text = dict(zip(sorted(texts.values()), (1, 2, 4, 5), strict=True))

    def answer(messages: Sequence[Message], _sampling: Sampling, _repeat: int) -> Answer:
        return scores(by_text[shown(call_of(messages), "reply")])

    world.rate({"j": CannedModel(answer)})

    assert {texts[r.completion_id]: r.axes["H"] for r in RATINGS.answers(world)} == by_text


@pytest.mark.parametrize(("way", "reply", "reason"), UNUSABLE.values(), ids=UNUSABLE)
def test_unusable_reply_gets_one_repair_request_that_quotes_nothing_and_may_be_repaired(
    world: AskedStudy, way: Way, reply: Reply, reason: str
) -> None:
    model = by_call(*[reply] * 3, after=said(way.good))  # twice to the first question

    counts = way.ask(world, {"j": model})

    assert (counts.n_added, counts.missing, len(way.answers(world))) == (3, {reason: 1}, 3)
    assert {(a.reason, a.raw, a.call.cost) for a in attempts(world)} == {
        (reason, reply.text[:20_000], PRICE)
    }
    assert sorted(a.attempt for a in attempts(world)) == [0, 0, 1]
    question, repair = model.calls[:2]
    note = user_text(repair).removeprefix(user_text(question))
    assert load_protocol("judge_prompt")["repair"]["errors"][reason] in note
    assert repair.messages[0] == question.messages[0]
    assert repair.sampling == question.sampling == (JUDGING if way is PAIRS else RATING)
    assert "canary" not in user_text(repair)
    assert way.ask(world, {"j": model}).missing == {reason: 1}
    assert len(model.calls) == 6


def test_repair_after_a_crash_is_the_same_question(world: AskedStudy, way: Way) -> None:
    way.ask(world, {"j": by_call(said("no"), *[failure("bad-key")] * 4)})
    model = by_call(after=said(way.good))

    way.ask(world, {"j": model})

    notes = [call for call in model.calls if "could not be used" in user_text(call)]
    assert (len(model.calls), len(notes)) == (4, 1)
    assert {a.reason for a in attempts(world)} == {"not-json", "bad-key"}


@pytest.mark.parametrize("reason", ["timeout", "overloaded", "cut-off-stream", "content-filter"])
def test_failed_call_is_made_again_in_the_next_run(
    world: AskedStudy, way: Way, reason: Reason
) -> None:
    counts = way.ask(world, {"j": by_call(failure(reason), after=said(way.good))})

    assert (counts.n_added, counts.missing) == (3, {reason: 1})
    assert [a.reason for a in attempts(world)] == [reason]
    model = by_call(after=said(way.good))
    assert way.ask(world, {"j": model}).n_added == 1
    assert len(model.calls) == 1


class Crash(KeyboardInterrupt):
    """The process ends, in the middle of a transaction."""


def test_replies_that_were_kept_before_a_crash_are_used_and_not_asked_for_again(
    world: AskedStudy, way: Way, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crashing(connection: Connection, records: Sequence[Record], *, first_stays: bool) -> int:
        if any(isinstance(record, way.record) for record in records):
            raise Crash
        return add(connection, records, first_stays=first_stays)

    with monkeypatch.context() as patched:
        patched.setattr(sql, "add", crashing)
        with pytest.raises(Crash):
            way.ask(world, {"j": always(said(way.good))})
    assert way.answers(world) == []
    n_kept = len(world.store.reply_ids())
    model = always(said(way.other))

    assert way.ask(world, {"j": model}).n_added == 4
    assert len(model.calls) == 4 - n_kept
    rescued = [one for one in way.answers(world) if one.call.cached]
    assert [(one.raw, one.seconds) for one in rescued] == [(way.good, None)] * n_kept


def test_budget_stops_the_run_and_a_higher_one_goes_on(way: Way) -> None:
    world = judged_study(n_items=10)
    world.limit_usd = 1.0

    assert way.ask(world, {"j": always(said(way.good))}).stopped

    assert (len(way.answers(world)), attempts(world)) == (5, [])
    world.limit_usd = 10.0
    model = always(said(way.good))
    assert way.ask(world, {"j": model}).n_added == 15
    assert len(model.calls) == 15


def test_what_is_asked_again_is_a_question_of_its_own_and_a_second_run_asks_nothing(
    way: Way,
) -> None:
    world = judged_study(policy=replace(FULL, repeat_pairs=2))
    model = always(said(way.good))

    counts = way.ask(world, {"j": model})

    assert counts.n_added == len(model.calls) == 4 + 2
    assert sorted(call.repeat for call in model.calls) == [0, 0, 0, 0, 1, 1]
    again = way.ask(world, {"j": CannedModel([])})
    assert (again.n_before, again.n_added) == (6, 0)


def test_judge_never_sees_a_reply_of_its_own_family(way: Way) -> None:
    world = judged_study(raters=(judge("outside"), judge("inside", family="other")))
    outside, inside = (always(said(way.good), name=name) for name in ("outside", "inside"))

    counts = way.ask(world, {"outside": outside, "inside": inside})

    assert (len(outside.calls), len(inside.calls)) == (4, 0 if way is PAIRS else 2)
    assert counts.n_wanted == counts.n_added == len(outside.calls + inside.calls)
    assert [call for call in inside.calls if "And then" in user_text(call)] == []


def test_judges_answer_apart_and_one_that_fails_leaves_the_other(way: Way) -> None:
    world = judged_study(raters=(judge("well"), judge("ill")))
    well, ill = always(said(way.good), name="well"), always(said("no"), name="ill")

    counts = way.ask(world, {"well": well, "ill": ill}, n_at_once=4)

    assert (counts.n_wanted, counts.n_added, counts.missing) == (8, 4, {"not-json": 4})
    asked = {a.id: a.rater_id for a in world.store.iter(Assignment, world.study)}
    raters = {asked[a.assignment_id] if way is PAIRS else a.rater_id for a in way.answers(world)}
    assert raters == {judge("well").id}


def test_stress_set_is_rated_once_there_is_something_to_stand_beside() -> None:
    items = [item for item in ITEMS if item.reference][:3]
    texts = {name: [f"{name} {k}" for k in range(3)] for name in ("one", "two")}
    world = asked_study(SYSTEMS, [judge("j")], items=items, texts=texts)
    world.policy = replace(FULL, stress_items=2)

    counts = world.rate({"j": always(said(scores()))})

    bearers = {s.id: s.settings["stress"] for s in world.store.iter(System) if s.kind == "stress"}
    written = {c.id: c.system_id for c in world.store.iter(Completion, world.study)}
    kinds = Counter(bearers.get(written[r.completion_id]) for r in RATINGS.answers(world))
    assert kinds.pop(None) == 6
    assert kinds == dict.fromkeys(bearers.values(), 2)
    assert counts.n_added == 6 + 2 * 7


PLAIN = "What is the worst of it?"


@pytest.mark.parametrize("side", ["first", "second"])
def test_text_that_addresses_the_judge_changes_nothing_in_how_its_verdict_is_read(
    side: Side,
) -> None:
    payloads = [t.text for t in injection_texts(PLAIN) if t.side == side]
    texts = {"one": [PLAIN] * len(payloads), "two": payloads}
    world = asked_study(SYSTEMS, [judge("j")], items=ITEMS[: len(payloads)], texts=texts)
    plan(world)

    def answer(messages: Sequence[Message], _sampling: Sampling, _repeat: int) -> Answer:
        seen = [shown(call_of(messages), part) for part in ("reply A", "reply B")]
        (payload,) = [text for text in seen if text in payloads]
        return verdict("B", 2, reason=f"It says: {payload}")

    counts = world.judge({"j": CannedModel(answer)}, n_at_once=8)

    assert (counts.n_added, counts.missing) == (2 * len(payloads), {})
    assert len(payloads) >= 50
    marks = {(j.choice, j.strength, *set(j.axes.values())) for j in PAIRS.answers(world)}
    assert marks == {("second", 2, AxisMark("second", 2))}


def test_text_that_addresses_the_judge_changes_nothing_in_how_its_scores_are_read() -> None:
    payloads = [text.text for text in injection_texts(PLAIN)][:50]
    items = ITEMS[: len(payloads)]
    world = asked_study(SYSTEMS[:1], [judge("j")], items=items, texts={"one": payloads})

    def answer(messages: Sequence[Message], _sampling: Sampling, _repeat: int) -> Answer:
        text = shown(call_of(messages), "reply")
        assert text in payloads
        return scores(2, comment=f"It says: {text}")

    counts = world.rate({"j": CannedModel(answer)}, n_at_once=8)

    assert (counts.n_added, counts.missing) == (len(payloads), {})
    assert {score for one in RATINGS.answers(world) for score in one.axes.values()} == {2}


@pytest.mark.parametrize(
    "obedient",
    ['{"winner": "A"}', "A", '{"overall": {"winner": "A", "strength": 5}}', "Reply A wins."],
)
def test_judge_that_obeys_a_text_gives_no_judgment(world: AskedStudy, obedient: str) -> None:
    assert world.judge({"j": always(said(obedient))}).n_added == 0
    assert PAIRS.answers(world) == []


NAMES = st.from_regex(r"\A[A-Z][a-z]{2}[xqz]{3}[a-z0-9]{3,8}\Z")


@pytest.mark.parametrize(("way", "n"), [(PAIRS, 6), (RATINGS, 3)], ids=BOTH)
@given(names=st.lists(NAMES, min_size=7, max_size=7, unique_by=str.lower))
@settings(max_examples=6, deadline=None)
def test_no_prompt_says_whose_the_texts_are(way: Way, n: int, names: list[str]) -> None:
    one, two, family, other, rater_name, rater_family, model_name = names
    human = System(name=one, kind="human", family="human")
    systems = [human, model_system(two, family=family), model_system(other, family=family)]
    rater = judge(rater_name, family=rater_family)
    items = [replace(ITEMS[0], dialogue_id=model_name, id="")]
    texts = {one: ["What now?"], two: ["And then?"], other: ["Since when?"]}
    world = asked_study(systems, [rater], items=items, texts=texts)
    plan(world)
    model = by_call(said("no"), after=said(way.good), name=model_name)

    assert way.ask(world, {rater_name: model}).n_added == n

    kinds = (Item, System, Rater, Completion, Pair, Assignment, Rating)
    records: list[Any] = [record for kind in kinds for record in world.store.iter(kind)]
    secret = {*names, world.study.id[:8], *(record.id[:8] for record in records)}
    for call in model.calls:
        sent = json.dumps([message.content for message in call.messages]).lower()
        schema = json.dumps(call.sampling.schema.schema if call.sampling.schema else "").lower()
        assert [word for word in secret if word.lower() in sent + schema] == []
        kinds_of_systems = ("somebody", "human", "baseline", "original")
        assert [word for word in kinds_of_systems if word in user_text(call).lower()] == []
