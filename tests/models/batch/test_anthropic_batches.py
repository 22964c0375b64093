"""What is sent to Anthropic's own interface, and what its results say."""

import json
from dataclasses import replace
from typing import Any

import pytest

from hearteval.models.base import Message, Sampling, Schema, Usage
from hearteval.models.batch.providers import AnthropicBatches, build_message_body
from hearteval.models.failures import FaultError
from hearteval.models.http import Endpoint
from hearteval.models.http.client import Client, Timeouts

ENDPOINT = Endpoint(name="m", model="claude-x", base_url="http://127.0.0.1/v1", api_key="k-012345")
SPOKEN = (
    Message(role="system", content="Be kind."),
    Message(role="user", content="Hello?"),
    Message(role="assistant", content="No."),
    Message(role="user", content="Again."),
)


def read(result: object, sampling: Sampling | None = None) -> Any:
    client = Client(session=None, timeouts=Timeouts(), proxy=None, trust_env=False)  # type: ignore[arg-type]
    batches = AnthropicBatches(ENDPOINT, client)
    line = json.dumps({"custom_id": "a", "result": result})
    return batches.read(line, sampling or Sampling(max_tokens=9))


def succeeded(**values: object) -> dict[str, object]:
    message = {"model": "claude-x", "content": [], "stop_reason": "end_turn", **values}
    return {"type": "succeeded", "message": message}


def test_system_message_stands_beside_the_others() -> None:
    body = build_message_body(SPOKEN, Sampling(max_tokens=9), ENDPOINT)

    assert body["system"] == "Be kind."
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user"]


def test_settings_that_are_refused_or_unknown_are_not_sent() -> None:
    sampling = Sampling(max_tokens=9, seed=3, refuses=frozenset({"top_p"}))

    body = build_message_body(SPOKEN, sampling, ENDPOINT)

    assert body.keys() == {"model", "max_tokens", "messages", "system", "temperature"}


def test_schema_is_asked_for_in_output_config() -> None:
    schema = Schema(name="s", schema={"type": "object"})

    body = build_message_body(SPOKEN, Sampling(max_tokens=9, schema=schema), ENDPOINT)

    assert body["output_config"] == {
        "format": {"type": "json_schema", "schema": {"type": "object"}}
    }


def test_limit_on_tokens_is_needed() -> None:
    with pytest.raises(ValueError, match="max_tokens"):
        build_message_body(SPOKEN, Sampling(), ENDPOINT)


def test_text_is_whole_and_reasoning_apart() -> None:
    reply = read(
        succeeded(
            content=[
                {"type": "thinking", "thinking": "Hm."},
                {"type": "text", "text": "I am "},
                {"type": "text", "text": "here."},
            ]
        )
    )

    assert (reply.text, reply.reasoning) == ("I am here.", "Hm.")


@pytest.mark.parametrize("end", ["max_tokens", "refusal"])
def test_end_of_a_reply_is_what_the_provider_says(end: str) -> None:
    assert read(succeeded(stop_reason=end)).finish_reason == end


def test_prompt_tokens_count_what_went_through_the_cache() -> None:
    usage = {
        "input_tokens": 10,
        "cache_read_input_tokens": 5,
        "cache_creation_input_tokens": 2,
        "output_tokens": 7,
        "output_tokens_details": {"thinking_tokens": 3},
    }

    found = read(succeeded(usage=usage)).usage

    assert found == Usage(
        input_tokens=17, output_tokens=7, reasoning_tokens=3, cached_tokens=5, cache_write_tokens=2
    )


def test_what_every_call_begins_with_is_marked_to_be_kept() -> None:
    keeping = replace(ENDPOINT, cache_mark="cache_control", cache_from=2)

    assert build_message_body(SPOKEN, Sampling(max_tokens=9), keeping)["system"] == [
        {"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral"}}
    ]


def test_tokens_that_were_not_counted_are_none() -> None:
    assert read(succeeded()).usage == Usage()


def test_effective_settings_name_the_batch_and_leave_out_the_seed() -> None:
    reply = read(succeeded(), Sampling(max_tokens=9, seed=3, refuses=frozenset({"top_p"})))

    assert reply.effective == {"temperature": 0.0, "max_tokens": 9, "batch": True}
    assert reply.requested["seed"] == 3


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        ({"type": "expired"}, "batch-expired"),
        ({"type": "canceled"}, "batch-cancelled"),
        ({"type": "errored", "error": {"error": {"type": "overloaded_error"}}}, "overloaded"),
        ({"type": "errored", "error": {"error": {"type": "not_found_error"}}}, "unknown-model"),
        ({"type": "errored", "error": {"error": {"type": "timeout_error"}}}, "server-error"),
        ({"type": "errored"}, "server-error"),
        ({"type": "succeeded", "message": {"content": "text"}}, "not-a-completion"),
        ({"type": "succeeded"}, "not-a-completion"),
        (succeeded(stop_reason={"end": "turn"}), "not-a-completion"),
        (succeeded(stop_reason=7), "not-a-completion"),
        (None, "not-a-completion"),
    ],
)
def test_result_without_a_message_says_why(result: object, reason: str) -> None:
    with pytest.raises(FaultError) as caught:
        read(result)

    assert caught.value.reason == reason
