"""Judges that rate: what their replies become, repair, blinding, nothing asked twice."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from asked_study import ITEMS, NOW, PRICE, by_call, failure, judge, model_system, said
from canned_model import Answer, CannedCall, CannedModel
from hypothesis import given, settings
from hypothesis import strategies as st
from rated_study import RATING, RatedStudy, rated_study, rating_policy, scores
from sqlalchemy import Connection

from hearteval.domain import AXES, Attempt, Call, Completion, Item, Rater, Rating, System
from hearteval.judgments.form import RATED
from hearteval.judgments.prompt import judge_prompt_hash
from hearteval.judgments.stress_set.injections import injection_texts
from hearteval.models import asking
from hearteval.models.base import Message, Reply, Sampling
from hearteval.protocol import load_protocol
from hearteval.store import sql
from hearteval.store.adding import add
from hearteval.store.records import Record

SYSTEMS = (model_system("one"), model_system("two", family="other"))
TEXTS = {"one": ("What now?", "Which one?"), "two": ("And then?", "Since when?")}
SECRET = "canary zebra"


@pytest.fixture(autouse=True)
def one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let one worker make all calls, so that scripted answers come in order."""
    monkeypatch.setattr(asking, "WORKERS_PER_CALL", 1)


@pytest.fixture
def world() -> Iterator[RatedStudy]:
    made = rated_study(SYSTEMS, [judge("j")], TEXTS, items=ITEMS[:2])
    yield made
    made.store.close()


def ratings(world: RatedStudy) -> list[Rating]:
    return list(world.store.iter(Rating, world.study))


def attempts(world: RatedStudy) -> list[Attempt]:
    found = world.store.iter(Attempt, world.study)
    return sorted(found, key=lambda a: (str(a.completion_id), a.attempt))


def always(reply: Answer, *, name: str = "canned") -> CannedModel:
    return CannedModel(lambda _messages, _sampling, _repeat: reply, name=name)


def shown(call: CannedCall) -> str:
    """Return the text that a judge was asked to rate."""
    text = call.messages[1].content
    code = text.split("The code of the markers is ")[1].split(".")[0]
    return text.split(f"[reply {code}]\n")[1].split(f"\n[end of reply {code}]")[0]


def test_reply_becomes_a_rating_with_all_that_is_known_of_it(world: RatedStudy) -> None:
    text = scores(4, "close")

    counts = world.rate({"j": always(said(text))})

    assert (counts.n_wanted, counts.n_before, counts.n_added, counts.missing) == (4, 0, 4, {})
    first = ratings(world)[0]
    settings_said = {"temperature": 0.0, "top_p": 1.0, "max_tokens": 800, "schema": "heart_rating"}
    assert first == Rating(
        study_id=world.study.id,
        completion_id=first.completion_id,
        rater_id=judge("j").id,
        axes=dict.fromkeys(AXES, 4),
        comments=dict.fromkeys(AXES, "close"),
        seconds=0.25,
        raw=text,
        prompt_hash=judge_prompt_hash(RATED),
        call=Call(
            requested=settings_said,
            effective={**settings_said, "model": "canned"},
            finish_reason="stop",
            usage={"input_tokens": 50, "output_tokens": 20},
            cost=PRICE,
            cached=False,
        ),
        created_at=NOW,
    )


def test_each_completion_is_shown_by_itself_and_scored_as_its_own(world: RatedStudy) -> None:
    by_text = {"What now?": 1, "Which one?": 2, "And then?": 4, "Since when?": 5}

    def answer(messages: Sequence[Message], _sampling: Sampling, _repeat: int) -> Answer:
        call = CannedCall(messages=tuple(messages), sampling=RATING, repeat=0)
        return scores(by_text[shown(call)])

    world.rate({"j": CannedModel(answer)})

    texts = {c.id: c.text for c in world.store.iter(Completion, world.study)}
    assert {texts[r.completion_id]: r.axes["H"] for r in ratings(world)} == by_text


UNUSABLE: dict[str, tuple[Reply, str]] = {
    "empty": (said(""), "empty"),
    "refused": (said(SECRET, refusal=SECRET), "refused"),
    "cut off": (said(scores()[:60] + SECRET, "length"), "truncated"),
    "prose": (said(f"A four. {SECRET}"), "not-json"),
    "score 6": (said(scores(6, SECRET)), "wrong-score"),
    "no comment": (said(scores(3, " ")), "empty-reason"),
    "a verdict": (said(scores()[:-1] + ', "overall": 1}'), "wrong-keys"),
}


@pytest.mark.parametrize(("reply", "reason"), UNUSABLE.values(), ids=UNUSABLE)
def test_unusable_reply_gets_one_repair_request_then_is_missing(
    world: RatedStudy, reply: Reply, reason: str
) -> None:
    model = always(reply)

    counts = world.rate({"j": model})

    assert (counts.n_added, counts.missing, ratings(world)) == (0, {reason: 4}, [])
    assert {(a.reason, a.raw, a.call.cost) for a in attempts(world)} == {
        (reason, reply.text, PRICE)
    }
    assert [a.attempt for a in attempts(world)] == [0, 1] * 4
    assert world.rate({"j": model}).missing == {reason: 4}
    assert len(model.calls) == 8


@pytest.mark.parametrize(("reply", "reason"), UNUSABLE.values(), ids=UNUSABLE)
def test_repair_request_names_the_fault_and_quotes_nothing(
    world: RatedStudy, reply: Reply, reason: str
) -> None:
    model = by_call(reply, after=said(scores()))

    counts = world.rate({"j": model})

    assert (counts.n_added, counts.missing) == (4, {})
    question, repair = model.calls[:2]
    note = repair.messages[1].content.removeprefix(question.messages[1].content)
    assert load_protocol("judge_prompt")["repair"]["errors"][reason] in note
    assert "canary" not in note
    assert repair.messages[0] == question.messages[0]
    assert [a.reason for a in attempts(world)] == [reason]


def test_repair_after_a_crash_is_the_same_question(world: RatedStudy) -> None:
    world.rate({"j": by_call(said("no"), *[failure("bad-key")] * 4)})
    model = by_call(after=said(scores()))

    world.rate({"j": model})

    notes = [call for call in model.calls if "could not be used" in call.messages[1].content]
    assert (len(model.calls), len(notes)) == (4, 1)
    assert {a.reason for a in attempts(world)} == {"not-json", "bad-key"}


def test_failed_call_is_made_again_in_the_next_run(world: RatedStudy) -> None:
    counts = world.rate({"j": by_call(failure("timeout"), after=said(scores()))})

    assert (counts.n_added, counts.missing) == (3, {"timeout": 1})
    model = by_call(after=said(scores()))
    assert world.rate({"j": model}).n_added == 1
    assert len(model.calls) == 1


def test_second_run_asks_nothing(world: RatedStudy) -> None:
    world.rate({"j": always(said(scores()))})

    counts = world.rate({"j": CannedModel([])})

    assert (counts.n_before, counts.n_added) == (4, 0)


class Crash(KeyboardInterrupt):
    """The process ends, in the middle of a transaction."""


def test_replies_that_were_kept_before_a_crash_are_used_and_not_asked_for_again(
    world: RatedStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crashing(connection: Connection, records: Sequence[Record], *, first_stays: bool) -> int:
        if any(isinstance(record, Rating) for record in records):
            raise Crash
        return add(connection, records, first_stays=first_stays)

    with monkeypatch.context() as patched:
        patched.setattr(sql, "add", crashing)
        with pytest.raises(Crash):
            world.rate({"j": always(said(scores(5)))})
    assert ratings(world) == []
    n_kept = len(world.store.reply_ids())
    model = always(said(scores(1)))

    assert world.rate({"j": model}).n_added == 4
    assert len(model.calls) == 4 - n_kept
    rescued = [one for one in ratings(world) if one.call.cached]
    assert [(one.axes["H"], one.seconds) for one in rescued] == [(5, None)] * n_kept


def test_budget_stops_the_run_and_a_higher_one_goes_on(world: RatedStudy) -> None:
    world.limit_usd = 0.6

    assert world.rate({"j": always(said(scores()))}).stopped

    n_first = len(ratings(world))
    world.limit_usd = 10.0
    assert 0 < n_first < 4
    assert world.rate({"j": always(said(scores()))}).n_added == 4 - n_first


def test_judge_is_never_asked_about_its_own_family() -> None:
    raters = [judge("outside"), judge("inside", family="other")]
    world = rated_study(SYSTEMS, raters, TEXTS, items=ITEMS[:2])
    inside = always(said(scores()), name="inside")

    counts = world.rate({"outside": always(said(scores())), "inside": inside})

    assert counts.n_added == 4 + 2
    assert {shown(call) for call in inside.calls} == set(TEXTS["one"])
    world.store.close()


def test_judges_answer_apart_and_one_that_fails_leaves_the_other() -> None:
    world = rated_study(SYSTEMS, [judge("well"), judge("ill")], TEXTS, items=ITEMS[:2])

    counts = world.rate(
        {"well": always(said(scores()), name="well"), "ill": always(said("no"), name="ill")},
        n_at_once=4,
    )

    assert (counts.n_wanted, counts.n_added, counts.missing) == (8, 4, {"not-json": 4})
    assert {one.rater_id for one in ratings(world)} == {judge("well").id}
    world.store.close()


def test_stress_set_is_rated_once_there_is_something_to_stand_beside() -> None:
    items = [item for item in ITEMS if item.reference][:3]
    texts = {name: [f"{name} {k}" for k in range(3)] for name in ("one", "two")}
    rule = rating_policy(stress_items=2)
    world = rated_study(SYSTEMS, [judge("j")], texts, items=items, policy=rule)

    counts = world.rate({"j": always(said(scores()))})

    bearers = {s.id: s.settings["stress"] for s in world.store.iter(System) if s.kind == "stress"}
    written = {c.id: c.system_id for c in world.store.iter(Completion, world.study)}
    kinds = Counter(bearers.get(written[r.completion_id]) for r in ratings(world))
    assert kinds.pop(None) == 6
    assert kinds == dict.fromkeys(bearers.values(), 2)
    assert counts.n_added == 6 + 2 * 7
    world.store.close()


def test_completions_rated_again_are_questions_of_their_own() -> None:
    rule = rating_policy(repeat_pairs=3)
    world = rated_study(SYSTEMS, [judge("j")], TEXTS, items=ITEMS[:2], policy=rule)
    model = always(said(scores()))

    counts = world.rate({"j": model})

    assert counts.n_added == len(model.calls) == 4 + 3
    assert sorted(call.repeat for call in model.calls) == [0] * 4 + [1] * 3
    assert world.rate({"j": CannedModel([])}).n_before == 7
    world.store.close()


def test_text_that_addresses_the_judge_changes_nothing_in_how_its_reply_is_read() -> None:
    payloads = [text.text for text in injection_texts("What is the worst of it?")][:50]
    items = ITEMS[: len(payloads)]
    world = rated_study(SYSTEMS[:1], [judge("j")], {"one": payloads}, items=items)

    def answer(messages: Sequence[Message], _sampling: Sampling, _repeat: int) -> Answer:
        call = CannedCall(messages=tuple(messages), sampling=RATING, repeat=0)
        assert shown(call) in payloads
        return scores(2, comment=f"It says: {shown(call)}")

    counts = world.rate({"j": CannedModel(answer)}, n_at_once=8)

    assert (counts.n_added, counts.missing) == (len(payloads), {})
    assert {score for one in ratings(world) for score in one.axes.values()} == {2}
    world.store.close()


NAMES = st.from_regex(r"\A[A-Z][a-z]{2}[xqz]{3}[a-z0-9]{3,8}\Z")


@given(names=st.lists(NAMES, min_size=6, max_size=6, unique_by=str.lower))
@settings(max_examples=12, deadline=None)
def test_no_prompt_says_whose_the_text_is(names: list[str]) -> None:
    one, two, family, rater_name, rater_family, model_name = names
    systems = [System(name=one, kind="human", family="human"), model_system(two, family=family)]
    rater = judge(rater_name, family=rater_family)
    items = [replace(ITEMS[0], dialogue_id=model_name, id="")]
    texts = {one: ["What now?"], two: ["And then?"]}
    world = rated_study(systems, [rater], texts, items=items)
    model = by_call(said("no"), after=said(scores()), name=model_name)

    assert world.rate({rater_name: model}).n_added == 2

    kinds: tuple[type[Record], ...] = (Item, System, Rater, Completion, Rating)
    records = [record for kind in kinds for record in world.store.iter(kind)]
    written = ["somebody", "human", "baseline", "original"]
    secret = {*names, *written, world.study.id[:8], *(record.id[:8] for record in records)}
    for call in model.calls:
        user = call.messages[1].content.lower()
        sent = json.dumps([message.content for message in call.messages]).lower()
        ids = secret - set(written)
        assert [word for word in ids if word.lower() in sent] == []
        assert [word for word in secret if word.lower() in user] == []
    world.store.close()
