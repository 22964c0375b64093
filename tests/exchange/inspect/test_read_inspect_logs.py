"""Inspect's logs as replies: what they say is taken over, and nothing is made up."""

import sys
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from inspect_ai.log import EvalError, EvalSample, ProvenanceData
from inspect_ai.log import EvalSampleLimit as Limit
from inspect_ai.model import ContentReasoning, ContentText, GenerateConfig, ModelCall, ModelOutput
from inspect_ai.tool import ToolInfo
from inspect_runs import MODEL, TEXT, WHEN, answered, call, prompt, sample, write_run

from hearteval.completions.prompting import known_briefs, support_messages
from hearteval.errors import SettingsError
from hearteval.exchange.inspect.logs import read_inspect_log
from hearteval.items import load_starter_items
from hearteval.models.base import LoggedReply, ReplyLog, Usage

ITEM, OTHER = load_starter_items()[:2]
CANARY = "sk-canary-0123456789"


def read(folder: Path, *samples: EvalSample) -> ReplyLog:
    return read_inspect_log(write_run(folder / "run.eval", samples))


def only(folder: Path, one: EvalSample) -> LoggedReply:
    (reply,) = read(folder, one).replies
    return reply


@pytest.mark.parametrize("name", ["run.eval", "run.json"])
def test_a_reply_is_what_was_sent_and_what_came(tmp_path: Path, name: str) -> None:
    log = read_inspect_log(write_run(tmp_path / name, [sample(ITEM)]))
    (logged,) = log.replies
    assert (log.model, log.task, log.log_id, log.status) == (
        MODEL,
        "hearteval/completions",
        "run-1",
        "success",
    )
    assert (logged.item_id, logged.repeat, logged.failure) == (ITEM.id, 0, "")
    assert logged.messages == support_messages(ITEM, known_briefs()["paper"])
    assert (logged.reply.text, logged.reply.finish_reason) == (TEXT, "stop")
    assert logged.reply.model == "gpt-test-2026-01-01"


def test_the_end_of_a_reply_is_the_one_that_the_provider_sent(tmp_path: Path) -> None:
    output = answered(stop="unknown")
    event = call(prompt(ITEM), output)
    event.call = ModelCall.create({}, {"choices": [{"finish_reason": "error"}]})
    reply = only(tmp_path, sample(ITEM, output, events=[event])).reply
    assert reply.finish_reason == "error"


def test_cached_tokens_are_part_of_the_prompt(tmp_path: Path) -> None:
    assert only(tmp_path, sample(ITEM)).reply.usage == Usage(
        input_tokens=40, output_tokens=12, reasoning_tokens=5, cached_tokens=30
    )


def test_no_usage_is_unknown_and_not_zero(tmp_path: Path) -> None:
    output = answered().model_copy(update={"usage": None})
    assert only(tmp_path, sample(ITEM, output)).reply.usage == Usage()


def test_the_time_is_that_of_the_call_and_the_first_token_is_unknown(tmp_path: Path) -> None:
    reply = only(tmp_path, sample(ITEM)).reply
    assert (reply.total_ms, reply.first_text_ms, reply.first_reasoning_ms) == (250.0, None, None)


def test_a_reply_from_the_cache_has_no_time(tmp_path: Path) -> None:
    output = answered()
    events = [call(prompt(ITEM), output, cache="read")]
    reply = only(tmp_path, sample(ITEM, output, events=events)).reply
    assert (reply.cached, reply.total_ms) == (True, None)


@pytest.mark.parametrize(
    ("request_body", "effective"),
    [
        ({"max_completion_tokens": 64, "reasoning_effort": "low"}, {"max_tokens": 64}),
        ({"config": {"temperature": 0.5, "maxOutputTokens": 64}}, {"temperature": 0.5}),
        ({"inferenceConfig": {"maxTokens": 64, "topP": 0.9}}, {"max_tokens": 64, "top_p": 0.9}),
    ],
    ids=["openai", "google", "bedrock"],
)
def test_effective_settings_are_those_of_the_request_that_was_sent(
    tmp_path: Path, request_body: dict[str, object], effective: dict[str, object]
) -> None:
    output = answered()
    events = [call(prompt(ITEM), output, request={"messages": [], **request_body})]
    reply = only(tmp_path, sample(ITEM, output, events=events)).reply
    assert effective.items() <= reply.effective.items()
    assert "temperature" not in reply.effective.keys() - effective.keys()
    assert reply.requested == {"temperature": 0.0, "top_p": 1.0, "max_tokens": 1024}


def test_without_the_request_no_setting_is_called_effective(tmp_path: Path) -> None:
    assert only(tmp_path, sample(ITEM)).reply.effective == {}


def test_keys_and_error_texts_are_left_in_the_log(tmp_path: Path) -> None:
    output = answered()
    config = GenerateConfig(extra_headers={"Authorization": CANARY}, temperature=0.0)
    request = {"api_key": CANARY, "extra_headers": {"x-key": CANARY}, "temperature": 0}
    error = EvalError(message=CANARY, traceback=CANARY, traceback_ansi=CANARY)
    events = [call(prompt(ITEM), output, config=config, request=request, error=CANARY)]
    log = read(tmp_path, sample(ITEM, output, events=events, error=error))
    assert CANARY not in repr(log)
    assert log.replies[0].failure == "error"


def test_a_scorer_s_own_call_is_not_the_reply_s(tmp_path: Path) -> None:
    output = answered()
    judging = call(prompt(OTHER), answered("GRADE: C"), config=GenerateConfig(temperature=1.0))
    logged = only(tmp_path, sample(ITEM, output, events=[call(prompt(ITEM), output), judging]))
    assert logged.messages == support_messages(ITEM, known_briefs()["paper"])
    assert logged.reply.requested["temperature"] == 0.0


def test_without_events_the_conversation_says_what_was_sent(tmp_path: Path) -> None:
    logged = only(tmp_path, sample(ITEM, events=[]))
    assert logged.messages == support_messages(ITEM, known_briefs()["paper"])
    assert logged.reply.requested == {}


def test_tools_that_were_given_are_named(tmp_path: Path) -> None:
    output = answered()
    event = call(prompt(ITEM), output)
    event.tools = [ToolInfo(name="search", description="looks things up")]
    assert only(tmp_path, sample(ITEM, output, events=[event])).tools == ("search",)


def test_epochs_are_repeats(tmp_path: Path) -> None:
    log = read(tmp_path, sample(ITEM), sample(ITEM, epoch=2))
    assert [reply.repeat for reply in log.replies] == [0, 1]


def test_reasoning_is_no_part_of_the_text(tmp_path: Path) -> None:
    output = answered([ContentReasoning(reasoning="hm"), ContentText(text=TEXT)])
    assert only(tmp_path, sample(ITEM, output)).reply.text == TEXT


def test_a_refusal_is_one_where_the_endpoint_says_so(tmp_path: Path) -> None:
    output = answered([ContentText(text="I cannot.", refusal=True)])
    assert only(tmp_path, sample(ITEM, output)).reply.refusal == "I cannot."


def test_a_text_of_inspect_s_own_is_no_reply(tmp_path: Path) -> None:
    output = answered("No completions generated")
    event = call(prompt(ITEM), output, request={})
    assert event.call is not None
    event.call.response = {"candidates": []}
    assert only(tmp_path, sample(ITEM, output, events=[event])).failure == "no-output"


@pytest.mark.parametrize(
    ("values", "failure"),
    [
        ({"limit": Limit(type="token", limit=5)}, "limit-token"),
        ({"invalidation": ProvenanceData(timestamp=WHEN, author="a")}, "invalidated"),
        ({"output": ModelOutput(model=MODEL), "events": []}, "no-output"),
    ],
    ids=["limit", "invalidated", "no output"],
)
def test_a_sample_without_a_whole_reply_says_why(
    tmp_path: Path, values: dict[str, Any], failure: str
) -> None:
    assert only(tmp_path, sample(ITEM, **values)).failure == failure


def test_a_log_without_samples_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="holds no samples"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        ("run.eval", None, "cannot be read"),
        ("run.txt", b"{}", r"ends in .eval or .json"),
        ("run.eval", b"", "no whole log"),
        ("run.eval", b"PK\x03\x04 cut", "no whole log"),
        ("run.json", b"{}", "no whole log"),
        ("run.json", b"[1]", "no whole log"),
        ("run.json", b'{"version": 2', "no whole log"),
        ("run.json", b"\xff\xfe", "no whole log"),
    ],
)
def test_a_file_that_is_no_log_is_named(
    tmp_path: Path, name: str, content: bytes | None, fault: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(SettingsError, match=fault):
        read_inspect_log(tmp_path / name)


def test_an_archive_of_something_else_is_no_log(tmp_path: Path) -> None:
    with ZipFile(tmp_path / "other.eval", "w") as archive:
        archive.writestr("hello.txt", "hello")
    with pytest.raises(SettingsError, match="no whole log"):
        read_inspect_log(tmp_path / "other.eval")


def test_a_log_cut_short_is_no_whole_log(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run.eval", [sample(ITEM)])
    path.write_bytes(path.read_bytes()[:-300])
    with pytest.raises(SettingsError, match="no whole log"):
        read_inspect_log(path)


def test_a_log_with_a_damaged_sample_is_no_whole_log(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run.eval", [sample(ITEM)])
    with ZipFile(path) as archive:
        place = archive.getinfo(f"samples/{ITEM.id}_epoch_1.json").header_offset + 120
    content = bytearray(path.read_bytes())
    content[place : place + 40] = bytes(40)
    path.write_bytes(content)
    with pytest.raises(SettingsError, match="no whole log"):
        read_inspect_log(path)


def test_without_the_extra_the_error_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    with pytest.raises(SettingsError, match=r"pip install 'hearteval\[inspect\]'"):
        read_inspect_log(tmp_path / "run.eval")
