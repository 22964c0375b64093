"""Judges that are models: what their replies become, repair, blinding, nothing asked twice."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from asked_study import (
    ITEMS,
    JUDGING,
    NOW,
    PRICE,
    AskedStudy,
    asked_study,
    by_call,
    failure,
    judge,
    model_system,
    plan,
    said,
    verdict,
)
from canned_model import Answer, CannedCall, CannedModel
from hypothesis import given, settings
from hypothesis import strategies as st
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
    System,
)
from hearteval.judgments.prompt import judge_prompt_hash
from hearteval.judgments.stress_set.injections import Side, injection_texts
from hearteval.models import asking
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


UNUSABLE: dict[str, tuple[Reply, str]] = {
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


def completion(item: Item, system: System, text: str, *, writer: str | None = None) -> Completion:
    return Completion(
        item_id=item.id, system_id=system.id, text=text, writer_id=writer, created_at=NOW
    )


def judged_study(
    *, raters: Sequence[Rater] = (judge("j"),), n_items: int = 2, repeat_pairs: int = 0
) -> AskedStudy:
    """A study with two replies to each item, and everything planned."""
    items = ITEMS[:n_items]
    world = asked_study(SYSTEMS, raters, items=items)
    world.store.add(
        [
            completion(item, system, f"{words}, number {number}?")
            for number, item in enumerate(items)
            for system, words in zip(SYSTEMS, ("What now", "And then"), strict=True)
        ]
    )
    plan(world, repeat_pairs=repeat_pairs)
    return world


@pytest.fixture(autouse=True)
def one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let one worker make all calls, so that scripted answers come in order."""
    monkeypatch.setattr(asking, "WORKERS_PER_CALL", 1)


@pytest.fixture
def world() -> Iterator[AskedStudy]:
    made = judged_study()
    yield made
    made.store.close()


def judgments(world: AskedStudy) -> list[Judgment]:
    return list(world.store.iter(Judgment, world.study))


def attempts(world: AskedStudy) -> list[Attempt]:
    found = world.store.iter(Attempt, world.study)
    return sorted(found, key=lambda a: (str(a.assignment_id), a.attempt))


def always(reply: Answer, *, name: str = "canned") -> CannedModel:
    return CannedModel(lambda _messages, _sampling, _repeat: reply, name=name)


def user_text(call: CannedCall) -> str:
    assert [message.role for message in call.messages] == ["system", "user"]
    return call.messages[1].content


def shown(call: CannedCall, part: str) -> str:
    """Return what stands between the markers of a part, as the judge saw it."""
    text = user_text(call)
    code = text.split("The code of the markers is ")[1].split(".")[0]
    return text.split(f"[{part} {code}]\n")[1].split(f"\n[end of {part} {code}]")[0]


def test_reply_becomes_a_judgment_with_all_that_is_known_of_it(world: AskedStudy) -> None:
    text = verdict("B", 4, "closer")

    counts = world.judge({"j": always(said(text))})

    assert (counts.n_wanted, counts.n_before, counts.n_added, counts.missing) == (4, 0, 4, {})
    first = judgments(world)[0]
    settings_said = {"temperature": 0.0, "top_p": 1.0, "max_tokens": 800}
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
        call=Call(
            requested={**settings_said, "schema": "heart_judgment"},
            effective={**settings_said, "schema": "heart_judgment", "model": "canned"},
            finish_reason="stop",
            usage={"input_tokens": 50, "output_tokens": 20},
            cost=PRICE,
            cached=False,
        ),
        created_at=NOW,
    )


def test_both_orders_are_asked_and_read_as_shown(world: AskedStudy) -> None:
    def prefer_now(messages: Sequence[Message], _sampling: Sampling, _repeat: int) -> Answer:
        text = messages[1].content
        return verdict("A" if text.index("What now") < text.index("And then") else "B")

    world.judge({"j": CannedModel(prefer_now)})

    texts = {c.id: c.text for c in world.store.iter(Completion, world.study)}
    assignments = {a.id: a for a in world.store.iter(Assignment, world.study)}
    found = set()
    for one in judgments(world):
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


@pytest.mark.parametrize(("reply", "reason"), UNUSABLE.values(), ids=UNUSABLE)
def test_unusable_reply_gets_one_repair_request_then_is_missing(
    world: AskedStudy, reply: Reply, reason: str
) -> None:
    model = always(reply)

    counts = world.judge({"j": model})

    assert (counts.n_added, counts.missing) == (0, {reason: 4})
    assert judgments(world) == []
    assert {(a.reason, a.raw, a.call.cost) for a in attempts(world)} == {
        (reason, reply.text[:20_000], PRICE)
    }
    assert [a.attempt for a in attempts(world)] == [0, 1] * 4
    assert len(model.calls) == 8
    assert world.judge({"j": model}).missing == {reason: 4}
    assert len(model.calls) == 8


@pytest.mark.parametrize(("reply", "reason"), UNUSABLE.values(), ids=UNUSABLE)
def test_repair_request_names_the_fault_and_quotes_nothing(
    world: AskedStudy, reply: Reply, reason: str
) -> None:
    model = by_call(reply, after=said(verdict()))

    counts = world.judge({"j": model})

    assert (counts.n_added, counts.missing) == (4, {})
    question, repair = model.calls[:2]
    note = user_text(repair).removeprefix(user_text(question))
    assert load_protocol("judge_prompt")["repair"]["errors"][reason] in note
    assert repair.messages[0] == question.messages[0]
    assert repair.sampling == question.sampling == JUDGING
    assert "canary" not in user_text(repair)
    assert [a.reason for a in attempts(world)] == [reason]


def test_repair_after_a_crash_is_the_same_question(world: AskedStudy) -> None:
    world.judge({"j": by_call(said("no"), *[failure("bad-key")] * 4)})
    model = by_call(after=said(verdict()))

    world.judge({"j": model})

    assert len(model.calls) == 4
    notes = [call for call in model.calls if "could not be used" in user_text(call)]
    assert len(notes) == 1
    assert {a.reason for a in attempts(world)} == {"not-json", "bad-key"}


@pytest.mark.parametrize("reason", ["timeout", "overloaded", "cut-off-stream", "content-filter"])
def test_failed_call_is_made_again_in_the_next_run(world: AskedStudy, reason: Reason) -> None:
    counts = world.judge({"j": by_call(failure(reason), after=said(verdict()))})

    assert (counts.n_added, counts.missing) == (3, {reason: 1})
    assert [a.reason for a in attempts(world)] == [reason]
    model = by_call(after=said(verdict()))
    assert world.judge({"j": model}).n_added == 1
    assert len(model.calls) == 1


def test_second_run_asks_nothing(world: AskedStudy) -> None:
    world.judge({"j": always(said(verdict()))})

    counts = world.judge({"j": CannedModel([])})

    assert (counts.n_before, counts.n_added) == (4, 0)


class Crash(KeyboardInterrupt):
    """The process ends, in the middle of a transaction."""


def test_replies_that_were_kept_before_a_crash_are_used_and_not_asked_for_again(
    world: AskedStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crashing(connection: Connection, records: Sequence[Record], *, first_stays: bool) -> int:
        if any(isinstance(record, Judgment) for record in records):
            raise Crash
        return add(connection, records, first_stays=first_stays)

    with monkeypatch.context() as patched:
        patched.setattr(sql, "add", crashing)
        with pytest.raises(Crash):
            world.judge({"j": always(said(verdict()))})
    assert judgments(world) == []
    n_kept = len(world.store.reply_ids())
    model = always(said(verdict("B")))

    assert world.judge({"j": model}).n_added == 4
    assert len(model.calls) == 4 - n_kept
    rescued = [one for one in judgments(world) if one.call.cached]
    assert [(one.choice, one.seconds) for one in rescued] == [("first", None)] * n_kept


def test_budget_stops_the_run_and_a_higher_one_goes_on() -> None:
    world = judged_study(n_items=10)
    world.limit_usd = 1.0

    assert world.judge({"j": always(said(verdict()))}).stopped

    assert (len(judgments(world)), attempts(world)) == (5, [])
    world.limit_usd = 10.0
    model = always(said(verdict()))
    assert world.judge({"j": model}).n_added == 15
    assert len(model.calls) == 15


def test_pairs_asked_again_are_questions_of_their_own() -> None:
    world = judged_study(repeat_pairs=2)
    model = always(said(verdict()))

    counts = world.judge({"j": model})

    assert counts.n_added == len(model.calls) == 4 + 2
    assert sorted(call.repeat for call in model.calls) == [0, 0, 0, 0, 1, 1]


def test_judge_never_sees_a_reply_of_its_own_family() -> None:
    raters = (judge("outside"), judge("inside", family="other"))
    world = judged_study(raters=raters)
    outside = always(said(verdict()), name="outside")

    counts = world.judge({"outside": outside, "inside": CannedModel([], name="inside")})

    assert (counts.n_wanted, counts.n_added) == (4, 4)


def test_judges_answer_apart_and_one_that_fails_leaves_the_other() -> None:
    world = judged_study(raters=(judge("well"), judge("ill")))
    well, ill = always(said(verdict()), name="well"), always(said("no"), name="ill")

    counts = world.judge({"well": well, "ill": ill}, n_at_once=4)

    assert (counts.n_wanted, counts.n_added, counts.missing) == (8, 4, {"not-json": 4})
    raters = {a.id: a.rater_id for a in world.store.iter(Assignment, world.study)}
    assert {raters[one.assignment_id] for one in judgments(world)} == {judge("well").id}


@pytest.mark.parametrize("side", ["first", "second"])
def test_text_that_addresses_the_judge_changes_nothing_in_how_its_reply_is_read(
    side: Side,
) -> None:
    payloads = [t.text for t in injection_texts("What is the worst of it?") if t.side == side]
    items = ITEMS[: len(payloads)]
    world = asked_study(SYSTEMS, [judge("j")], items=items)
    for item, text in zip(items, payloads, strict=True):
        plain = completion(item, SYSTEMS[0], "What is the worst of it?")
        world.store.add([plain, completion(item, SYSTEMS[1], text)])
    plan(world)

    def answer(messages: Sequence[Message], _sampling: Sampling, _repeat: int) -> Answer:
        call = CannedCall(messages=tuple(messages), sampling=JUDGING, repeat=0)
        texts = [shown(call, part) for part in ("reply A", "reply B")]
        (payload,) = [text for text in texts if text in payloads]
        return verdict("B", 2, reason=f"It says: {payload}")

    counts = world.judge({"j": CannedModel(answer)}, n_at_once=8)

    assert (counts.n_added, counts.missing) == (2 * len(payloads), {})
    assert len(payloads) >= 50
    marks = {(j.choice, j.strength, *set(j.axes.values())) for j in judgments(world)}
    assert marks == {("second", 2, AxisMark("second", 2))}


@pytest.mark.parametrize(
    "obedient",
    ['{"winner": "A"}', "A", '{"overall": {"winner": "A", "strength": 5}}', "Reply A wins."],
)
def test_judge_that_obeys_a_text_gives_no_judgment(world: AskedStudy, obedient: str) -> None:
    assert world.judge({"j": always(said(obedient))}).n_added == 0
    assert judgments(world) == []


NAMES = st.from_regex(r"\A[A-Z][a-z]{2}[xqz]{3}[a-z0-9]{3,8}\Z")


@given(names=st.lists(NAMES, min_size=8, max_size=8, unique_by=str.lower))
@settings(max_examples=12, deadline=None)
def test_no_prompt_says_whose_the_texts_are(names: list[str]) -> None:
    one, two, family, other, writer, rater_name, rater_family, model_name = names
    human = System(name=one, kind="human", family="human")
    systems = [human, model_system(two, family=family), model_system(other, family=family)]
    rater = judge(rater_name, family=rater_family)
    items = [replace(ITEMS[0], dialogue_id=model_name, id="")]
    world = asked_study(systems, [rater], items=items)
    world.store.add(
        [
            completion(items[0], human, "What now?", writer=writer),
            completion(items[0], systems[1], "And then?"),
            completion(items[0], systems[2], "Since when?"),
        ]
    )
    plan(world)
    model = by_call(said("no"), after=said(verdict()), name=model_name)

    assert world.judge({rater_name: model}).n_added == 6

    kinds: tuple[type[Record], ...] = (Item, System, Rater, Completion, Pair, Assignment)
    records = [record for kind in kinds for record in world.store.iter(kind)]
    secret = {*names, world.study.id[:8], *(record.id[:8] for record in records)}
    for call in model.calls:
        sent = json.dumps([message.content for message in call.messages]).lower()
        schema = json.dumps(call.sampling.schema.schema if call.sampling.schema else "").lower()
        assert [word for word in secret if word.lower() in sent + schema] == []
    world.store.close()
