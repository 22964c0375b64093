"""Logged replies as completions: checked, compared with our prompt, added once, never replaced."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import pytest
from asked_study import NOW

from hearteval.completions.imported import ImportedReplies, count_imports, import_replies
from hearteval.completions.prompting import known_briefs, support_messages
from hearteval.domain import Attempt, Completion, Item
from hearteval.domain.reasons import NOT_IMPORTED
from hearteval.errors import SettingsError, StoreError
from hearteval.items import load_starter_items
from hearteval.models.base import LoggedReply, Reply, ReplyLog, Usage

PAPER = known_briefs()["paper"]
ITEMS = load_starter_items()[:3]
ONE = ITEMS[0]
SYSTEM = "ab" * 16
REPLY = Reply(
    text=" That is a lot to carry.\n",
    finish_reason="stop",
    model="gpt-test-1",
    usage=Usage(input_tokens=40, output_tokens=12),
    requested={"temperature": 0.0},
    effective={"temperature": 0.0},
    total_ms=250.0,
)


def logged(item: Item = ONE, *, reply: Reply = REPLY, **values: Any) -> LoggedReply:
    made: dict[str, Any] = {
        "item_id": item.id,
        "repeat": 0,
        "messages": support_messages(item, PAPER),
        "tools": (),
        "reply": reply,
        "failure": "",
    }
    return LoggedReply(**{**made, **values})


def log_of(*replies: LoggedReply) -> ReplyLog:
    return ReplyLog(
        name="run.eval",
        sha256="cd" * 32,
        log_id="run-1",
        task="hearteval/completions",
        model="openai/gpt-test",
        status="success",
        replies=replies,
    )


def bring(*replies: LoggedReply, stored: Collection[Completion | Attempt] = ()) -> ImportedReplies:
    return import_replies(log_of(*replies), SYSTEM, ITEMS, stored=stored, now=NOW)


def completion(found: ImportedReplies) -> Completion:
    (record,) = found.records
    assert isinstance(record, Completion)
    return record


def attempt(found: ImportedReplies) -> Attempt:
    (record,) = found.records
    assert isinstance(record, Attempt)
    return record


def test_a_reply_becomes_a_completion_with_all_the_log_says_of_it() -> None:
    made = completion(bring(logged(repeat=1)))
    assert (made.item_id, made.system_id, made.repeat) == (ONE.id, SYSTEM, 1)
    assert made.text == "That is a lot to carry."
    assert made.call.usage == {"input_tokens": 40, "output_tokens": 12}
    assert made.call.effective == {"temperature": 0.0, "model": "gpt-test-1"}
    assert (made.call.finish_reason, made.total_ms, made.first_token_ms) == ("stop", 250.0, None)


def test_where_it_comes_from_is_kept_with_it() -> None:
    assert completion(bring(logged())).call.requested == {
        "temperature": 0.0,
        "imported_from": {"log_id": "run-1", "file": "run.eval", "sha256": "cd" * 32},
    }


def test_what_the_log_cost_is_not_this_study_s_spending() -> None:
    assert completion(bring(logged(reply=replace(REPLY, cost=1.5)))).call.cost is None


def test_our_prompt_is_known_when_just_that_was_sent() -> None:
    found = bring(logged())
    assert completion(found).prompt_hash == PAPER.prompt_hash
    assert found.other_prompt == ()


@pytest.mark.parametrize(
    "sent",
    [
        {"messages": (("system", "Be brief."), *support_messages(ONE, PAPER)[1:])},
        {"messages": support_messages(ITEMS[1], PAPER)},
        {"messages": ()},
        {"tools": ("search",)},
    ],
    ids=["another system message", "another dialogue", "not logged", "with a tool"],
)
def test_another_prompt_is_named_and_never_called_ours(sent: dict[str, Any]) -> None:
    found = bring(logged(**sent))
    assert completion(found).prompt_hash != PAPER.prompt_hash
    assert found.other_prompt == (ONE.id,)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (replace(REPLY, text=" "), "empty"),
        (replace(REPLY, finish_reason="max_tokens"), "cut-off"),
        (replace(REPLY, finish_reason="content_filter"), "refused"),
        (replace(REPLY, text="word " * 200), "over-long"),
        (replace(REPLY, refusal="no"), "refused"),
    ],
)
def test_an_unusable_reply_is_an_attempt_with_its_reason(reply: Reply, reason: str) -> None:
    found = bring(logged(reply=reply))
    made = attempt(found)
    assert (made.reason, made.raw, made.attempt) == (reason, reply.text, 0)
    assert found.unusable == {reason: 1}


def test_a_failure_of_the_log_is_an_attempt_whatever_text_there_is() -> None:
    assert attempt(bring(logged(failure="limit-token"))).reason == "limit-token"


def test_the_same_log_again_adds_nothing() -> None:
    replies = (logged(), logged(ITEMS[1], reply=replace(REPLY, text="")))
    first = bring(*replies)
    second = bring(*replies, stored=first.records)
    assert (len(first.records), second.records) == (2, ())
    assert (second.n_completions, second.n_new, second.unusable) == (1, 0, {"empty": 1})


def test_another_failure_of_the_same_item_is_another_attempt() -> None:
    before = bring(logged(reply=replace(REPLY, text="")))
    made = attempt(bring(logged(failure="error"), stored=before.records))
    assert (made.attempt, made.reason) == (1, "error")
    assert made.id != attempt(before).id


def test_a_later_log_may_bring_what_was_missing() -> None:
    before = bring(logged(reply=replace(REPLY, text="")))
    assert bring(logged(), stored=before.records).n_new == 1


def test_another_text_for_the_same_item_is_refused_by_name() -> None:
    before = bring(logged())
    other = logged(reply=replace(REPLY, text="Something else."))
    with pytest.raises(StoreError, match="completions are never replaced") as caught:
        bring(other, logged(ITEMS[1]), stored=before.records)
    assert caught.value.ids == (ONE.id,)


def test_two_texts_for_one_item_in_one_log_are_refused() -> None:
    with pytest.raises(StoreError, match="another completion"):
        bring(logged(), logged(reply=replace(REPLY, text="Something else.")))


def test_the_same_text_from_another_run_adds_nothing() -> None:
    before = bring(logged())
    again = logged(reply=replace(REPLY, total_ms=999.0))
    assert bring(again, stored=before.records).records == ()


def test_samples_about_nothing_in_the_study_are_named_and_left_out() -> None:
    found = bring(logged(), logged(item_id="maths-17"))
    assert (found.n_new, found.unknown) == (1, ("maths-17",))


def test_a_log_of_another_task_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"none of its 1 samples \(maths-17\)"):
        bring(logged(item_id="maths-17"))


def test_ids_of_another_task_are_named_in_short() -> None:
    with pytest.raises(SettingsError) as caught:
        bring(logged(item_id="x" * 5_000))
    assert len(str(caught.value)) < 400


def test_what_is_missing_is_counted_by_its_reason() -> None:
    stored = bring(logged(), logged(ITEMS[1], reply=replace(REPLY, text=""))).records
    counts = count_imports([SYSTEM], ITEMS, stored)
    assert (counts.n_wanted, counts.n_before) == (3, 1)
    assert counts.missing == {SYSTEM: {"empty": 1, NOT_IMPORTED: 1}}
