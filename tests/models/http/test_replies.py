"""Chunks and bodies as endpoints send them."""

import json

import pytest
from scripted_server import USAGE, chunk, completion

from hearteval.models.base import Reply, Usage
from hearteval.models.failures import FaultError
from hearteval.models.http.replies import ReplyParts, read_usage


def reply_of(*chunks: object) -> Reply:
    parts = ReplyParts(set())
    for ms, piece in enumerate(chunks):
        parts.add_events([json.dumps(piece)], float(ms))
    return parts.to_reply(requested={}, effective={})


def test_pieces_are_joined_and_timed_by_the_first_that_is_not_empty() -> None:
    reply = reply_of(
        chunk({"role": "assistant", "content": ""}),
        chunk({"reasoning_content": "Hm, "}),
        chunk({"reasoning_content": "so."}),
        chunk({"content": "It is "}),
        chunk({"content": "hard."}, "stop"),
    )
    assert (reply.reasoning, reply.text) == ("Hm, so.", "It is hard.")
    assert (reply.first_reasoning_ms, reply.first_text_ms, reply.total_ms) == (1.0, 3.0, 4.0)


def test_reasoning_under_two_names_is_read_once() -> None:
    reply = reply_of(chunk({"reasoning": "Hm.", "reasoning_content": "Hm."}))
    assert reply.reasoning == "Hm."


def test_refusal_is_kept_apart_from_the_text() -> None:
    reply = reply_of(chunk({"refusal": "I cannot "}), chunk({"refusal": "help."}, "stop"))
    assert (reply.text, reply.refusal) == ("", "I cannot help.")


def test_character_cut_into_two_escapes_is_put_together() -> None:
    parts = ReplyParts(set())
    for half in ("\ud83d", "\udc99"):
        parts.add_events([json.dumps(chunk({"content": half}))], 0.0)
    assert parts.to_reply(requested={}, effective={}).text == "💙"


def test_stream_without_finish_or_done_is_not_complete() -> None:
    parts = ReplyParts(set())
    parts.add_events([json.dumps(chunk({"content": "It"}))], 0.0)
    assert not parts.is_complete
    parts.add_events(["[DONE]"], 1.0)
    assert parts.is_complete


def test_raw_of_a_stream_is_the_body_that_it_amounts_to() -> None:
    usage = {"choices": [], "usage": USAGE}
    raw = json.loads(
        reply_of(chunk({"content": "It "}), chunk({"content": "is."}, "stop"), usage).raw
    )
    message = {"role": "assistant", "content": "It is."}
    assert raw["choices"] == [{"index": 0, "message": message, "finish_reason": "stop"}]
    assert raw["usage"] == USAGE
    assert raw["id"] == "c1"


def test_raw_of_a_body_is_the_body() -> None:
    parts, body = ReplyParts(set()), json.dumps(completion("Yes.", refusal=None), indent=1)
    parts.add_body(body, 5.0)
    assert parts.to_reply(requested={}, effective={}).raw == body


def test_last_usage_counts() -> None:
    first = chunk({"content": "a"}, usage={"prompt_tokens": 3, "completion_tokens": 1})
    last = chunk({"content": "b"}, usage={"prompt_tokens": 3, "completion_tokens": 2})
    assert reply_of(first, last).usage == Usage(input_tokens=3, output_tokens=2)


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, Usage()),
        ("many", Usage()),
        ({"prompt_tokens": "3", "completion_tokens": -1}, Usage()),
        ({"prompt_tokens": True, "completion_tokens": 1.5}, Usage()),
        (
            {"prompt_tokens": 9, "prompt_cache_hit_tokens": 4},
            Usage(input_tokens=9, cached_tokens=4),
        ),
        ({"prompt_tokens": 9, "cached_tokens": 0}, Usage(input_tokens=9, cached_tokens=0)),
        ({"prompt_tokens_details": None}, Usage()),
    ],
)
def test_counts_are_counts_or_unknown(usage: object, expected: Usage) -> None:
    assert read_usage(usage) == expected


def test_finish_reason_of_the_wrong_type_is_a_fault() -> None:
    with pytest.raises(FaultError) as caught:
        reply_of(chunk({}) | {"choices": [{"delta": {}, "finish_reason": 1}]})
    assert caught.value.reason == "not-a-completion"


def choice(index: object, text: str) -> dict[str, object]:
    return {"index": index, "delta": {"content": text}, "finish_reason": None}


@pytest.mark.parametrize("index", [0, 1, None, "0"])
def test_only_choice_is_read_whatever_its_number(index: object) -> None:
    reply = reply_of({"choices": [choice(index, "It is ")]}, {"choices": [choice(index, "hard.")]})
    assert reply.text == "It is hard."


def test_of_two_choices_one_is_the_answer() -> None:
    pieces = [choice(0, "It is "), choice(1, "Cheer "), choice(1, "up!"), choice(0, "hard.")]
    assert reply_of(*[{"choices": [piece]} for piece in pieces]).text == "It is hard."
    assert reply_of({"choices": [pieces[1], pieces[0]]}, {"choices": pieces[2:]}).text == (
        "It is hard."
    )


# As the providers' own pages have them: OpenAI's guide to prompt caching, before GPT-5.6 and since,
# OpenRouter's usage accounting, xAI's usage and pricing; and a Gemini reply quoted in any-llm issue
# 1290, as Google's OpenAI-compatible endpoint counts it: what was thought is in the total alone.
OPENAI = {"prompt_tokens": 2006, "completion_tokens": 300, "total_tokens": 2306}
DOCUMENTED = {
    "openai": (
        OPENAI | {"prompt_tokens_details": {"cached_tokens": 1920}},
        Usage(input_tokens=2006, output_tokens=300, cached_tokens=1920),
    ),
    "openai writes": (
        OPENAI | {"prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 1920}},
        Usage(input_tokens=2006, output_tokens=300, cached_tokens=0, cache_write_tokens=1920),
    ),
    "openrouter": (
        {
            "completion_tokens": 2,
            "completion_tokens_details": {"reasoning_tokens": 0},
            "prompt_tokens": 194,
            "prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 100},
            "total_tokens": 196,
        },
        Usage(
            input_tokens=194,
            output_tokens=2,
            reasoning_tokens=0,
            cached_tokens=0,
            cache_write_tokens=100,
        ),
    ),
    "xai": (
        {
            "prompt_tokens": 125,
            "completion_tokens": 48,
            "total_tokens": 173,
            "prompt_tokens_details": {"cached_tokens": 98},
            "completion_tokens_details": {"reasoning_tokens": 0},
        },
        Usage(input_tokens=125, output_tokens=48, reasoning_tokens=0, cached_tokens=98),
    ),
    "gemini": (
        {"prompt_tokens": 20, "completion_tokens": 198, "total_tokens": 623},
        Usage(input_tokens=20, output_tokens=603, reasoning_tokens=405),
    ),
}


@pytest.mark.parametrize(
    ("usage", "expected"), [pytest.param(*one, id=name) for name, one in DOCUMENTED.items()]
)
def test_caches_and_thoughts_are_counted_as_each_provider_reports_them(
    usage: object, expected: Usage
) -> None:
    assert read_usage(usage) == expected


@pytest.mark.parametrize("count", [10**400, -5, 1.5, "7", True, None])
def test_count_that_is_none_is_not_taken_for_one(count: object) -> None:
    assert read_usage({"prompt_tokens": count, "completion_tokens": 12}) == Usage(output_tokens=12)


def test_content_in_parts_is_joined_and_its_thinking_kept_apart() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    content = [thinking, {"type": "text", "text": "Ye"}, {"type": "text", "text": "s."}]
    parts = ReplyParts(())
    parts.add_body(json.dumps({"choices": [{"message": {"content": content}}]}), 1.0)
    reply = parts.to_reply(requested={}, effective={})
    assert (reply.text, reply.reasoning) == ("Yes.", "hm")


def test_content_in_parts_of_a_stream_is_joined_and_its_thinking_timed_apart() -> None:
    reply = reply_of(
        chunk({"content": [{"type": "thinking", "thinking": "h"}]}),
        chunk({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "m"}]}]}),
        chunk({"content": [{"type": "text", "text": "Ye"}]}),
        chunk({"content": "s."}, "stop"),
    )
    assert (reply.text, reply.reasoning) == ("Yes.", "hm")
    assert (reply.first_reasoning_ms, reply.first_text_ms) == (0.0, 2.0)


@pytest.mark.parametrize("part", ["Yes.", {"type": "image_url"}, {"type": "text", "text": 1}])
def test_part_of_the_content_that_is_no_text_is_a_fault(part: object) -> None:
    with pytest.raises(FaultError) as fault:
        ReplyParts(()).add_body(json.dumps({"choices": [{"message": {"content": [part]}}]}), 1.0)
    assert fault.value.reason == "not-a-completion"
