"""What is sent, without a network."""

import pytest

from hearteval.models.base import Message, Sampling, Schema
from hearteval.models.http import Endpoint, build_body, effective_settings, requested_settings

MESSAGES = [Message(role="system", content="Listen."), Message(role="user", content="Hello.")]
SCHEMA = Schema(name="mark", schema={"type": "object"})


def make_endpoint(**settings: object) -> Endpoint:
    known: dict[str, object] = {
        "name": "tiny",
        "model": "tiny-1",
        "base_url": "https://m.example/v1",
    }
    return Endpoint(**{**known, **settings})  # type: ignore[arg-type]


def test_body_holds_messages_and_default_sampling() -> None:
    body = build_body(MESSAGES, Sampling(is_streamed=False), make_endpoint())
    assert body == {
        "model": "tiny-1",
        "messages": [
            {"role": "system", "content": "Listen."},
            {"role": "user", "content": "Hello."},
        ],
        "temperature": 0.0,
        "top_p": 1.0,
    }


def test_schema_is_nested_and_strict() -> None:
    body = build_body(MESSAGES, Sampling(schema=SCHEMA), make_endpoint())
    assert body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "mark", "strict": True, "schema": {"type": "object"}},
    }


def test_setting_left_to_the_model_is_not_sent() -> None:
    sampling = Sampling(temperature=None, top_p=None)
    assert not {"temperature", "top_p", "seed", "max_tokens"} & (
        build_body(MESSAGES, sampling, make_endpoint()).keys()
    )
    assert requested_settings(sampling) == {}


@pytest.mark.parametrize("refused", ["temperature", "top_p", "max_tokens", "seed"])
def test_refused_setting_is_not_sent_and_not_effective(refused: str) -> None:
    sampling = Sampling(max_tokens=9, seed=3, refuses=frozenset({refused}))
    assert refused not in build_body(MESSAGES, sampling, make_endpoint())
    assert refused not in effective_settings(sampling, make_endpoint())
    assert refused in requested_settings(sampling)


def test_refused_schema_is_not_sent() -> None:
    sampling = Sampling(schema=SCHEMA, refuses=frozenset({"schema"}))
    assert "response_format" not in build_body(MESSAGES, sampling, make_endpoint())
    assert requested_settings(sampling)["schema"] == "mark"


def test_refused_stream_options_leave_the_stream() -> None:
    body = build_body(MESSAGES, Sampling(refuses=frozenset({"stream_options"})), make_endpoint())
    assert body["stream"] is True
    assert "stream_options" not in body


def test_extra_body_is_part_of_the_effective_settings() -> None:
    endpoint = make_endpoint(extra_body={"reasoning": {"effort": "low"}})
    assert build_body(MESSAGES, Sampling(), endpoint)["reasoning"] == {"effort": "low"}
    assert effective_settings(Sampling(), endpoint)["reasoning"] == {"effort": "low"}


@pytest.mark.parametrize(
    ("mark", "how"),
    [("cache_control", {"type": "ephemeral"}), ("prompt_cache_breakpoint", {"mode": "explicit"})],
)
def test_what_every_prompt_begins_with_is_marked_to_be_kept(mark: str, how: object) -> None:
    body = build_body(MESSAGES, Sampling(), make_endpoint(cache_mark=mark, cache_from=2))

    assert body["messages"] == [
        {"role": "system", "content": [{"type": "text", "text": "Listen.", mark: how}]},
        {"role": "user", "content": "Hello."},
    ]


def test_beginning_too_short_to_be_kept_is_sent_as_ever() -> None:
    endpoint = make_endpoint(cache_mark="cache_control", cache_from=1024)

    assert build_body(MESSAGES, Sampling(), endpoint) == build_body(
        MESSAGES, Sampling(), make_endpoint()
    )


def test_openai_is_told_to_keep_nothing_that_is_asked_once() -> None:
    endpoint = make_endpoint(cache_mark="prompt_cache_breakpoint", cache_from=1024)

    body = build_body(MESSAGES, Sampling(), endpoint)

    assert body["prompt_cache_options"] == {"mode": "explicit"}
    assert body["messages"][0]["content"] == "Listen."


def test_no_messages_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="at least one message"):
        build_body([], Sampling(), make_endpoint())


def test_address_holds_no_secret() -> None:
    endpoint = make_endpoint(base_url="https://anna:s3cret-1@m.example:8443/v1/?key=s3cret-2")
    assert endpoint.address == "m.example:8443/v1"
    assert endpoint.secrets == ("s3cret-1", "s3cret-2")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"base_url": "m.example/s3cret"}, "expected http://HOST"),
        ({"base_url": "file:///s3cret"}, "expected http://HOST"),
        ({"base_url": "http://s3cret:x@/v1"}, "expected http://HOST"),
        ({"base_url": "http://m.example:s3cret/v1"}, "expected http://HOST"),
        ({"api_key": "s3cret\n"}, "visible ASCII"),
        ({"api_key": "s3cret “"}, "visible ASCII"),
        ({"api_key": ""}, "visible ASCII"),
        ({"headers": {"X": "s3cret\r\nY: 1"}}, "no visible ASCII: 'X'"),
        ({"headers": {"X": "s3crét"}}, "no visible ASCII: 'X'"),
        ({"extra_body": {"temperature": 1}}, "set temperature through Sampling"),
    ],
)
def test_unusable_endpoint_is_refused_without_its_secret(
    settings: dict[str, object], said: str
) -> None:
    with pytest.raises(ValueError, match=said) as caught:
        make_endpoint(**settings)
    assert "s3cr" not in str(caught.value)
