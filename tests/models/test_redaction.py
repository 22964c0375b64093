"""Secrets and dialogue in what endpoints say."""

from base64 import b64encode, urlsafe_b64encode

import pytest

from hearteval.models.base import Reply
from hearteval.models.failures import (
    LONGEST_EXCERPT,
    TEXTS,
    FaultError,
    call_failure,
    excerpt,
    hide_secrets,
    hide_speech,
    redact_reply,
)
from hearteval.models.http import Endpoint

ENDPOINT = Endpoint(name="m", model="m", base_url="http://127.0.0.1/v1")
SECRET = "canary-4f1d-key-9b7e"
AROUND = [("", ""), ("u:", ""), ("x", "yz"), ("Bearer ", ", ok"), ("four", "")]
SPOKEN = "Nobody at home knows that I lost my job."


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        (f"key {SECRET}.", "key [hidden]."),
        (f'{{"key":"{SECRET}"}}', '{"key":"[hidden]"}'),
        (f"key {SECRET[:10]}...", "key [hidden]"),
        (f"{SECRET}{SECRET}", "[hidden][hidden]"),
        ("Incorrect API key provided: sk-proj-abcd1234", "Incorrect API key provided: [hidden]"),
        ("can******9b7e is wrong", "[hidden] is wrong"),
        ("Authorization: Bearer other-key", "Authorization: [hidden]"),
        ("at https://anna:pass@host/v1", "at https://[hidden]@host/v1"),
        ("nothing secret here", "nothing secret here"),
    ],
)
def test_secrets_are_hidden_whole_and_cut(text: str, hidden: str) -> None:
    assert hide_secrets(text, [SECRET, ""]) == hidden


WITH_SIGNS = "a/b+c=d&e f-0123456789"


@pytest.mark.parametrize(
    "spelled",
    [
        WITH_SIGNS,
        WITH_SIGNS.replace("/", r"\/"),
        "a%2Fb%2Bc%3Dd%26e%20f-0123456789",
        "a%2fb%2bc%3dd%26e%20f-0123456789",
        "".join(c if c.isalnum() else f"\\u{ord(c):04x}" for c in WITH_SIGNS),
        "".join(c if c.isalnum() else f"\\u{ord(c):04X}" for c in WITH_SIGNS),
        "a&#47;b+c&#61;d&e f-0123456789",
        "a&#x2F;b+c&#x3D;d&e f-0123456789",
        "a/b&#43;c=d&e f-0123456789",
        "a&#x2f;b&#x2b;c&#x3d;d&#x26;e&#x20;f-0123456789",
        *(b64encode(f"{before}{WITH_SIGNS}{after}".encode()).decode() for before, after in AROUND),
        *(urlsafe_b64encode(f"{b}{WITH_SIGNS}{a}".encode()).decode() for b, a in AROUND),
    ],
)
def test_secrets_are_hidden_however_they_are_written(spelled: str) -> None:
    hidden = hide_secrets(f'{{"said": "{spelled}"}}', [WITH_SIGNS])
    assert "[hidden]" in hidden
    assert not any(spelled[k : k + 14] in hidden for k in range(len(spelled) - 13))
    assert "0123456789" not in hidden


@pytest.mark.parametrize("form", [r"\u{:04x}", r"\u{:04X}", r"\\u{:04x}"])
@pytest.mark.parametrize("every", [1, 2, 3])
def test_secrets_in_escapes_are_hidden_in_what_is_kept_and_shown(form: str, every: int) -> None:
    escaped = (form.format(ord(c)) if k % every == 0 else c for k, c in enumerate(SECRET))
    body = f'{{"said": "{"".join(escaped)}, no key"}}'
    hidden = '{"said": "[hidden], no key"}'
    assert redact_reply(Reply(text="", raw=body), [SECRET]).raw == hidden
    assert hide_secrets(body, [SECRET]) == hidden


@pytest.mark.parametrize("form", [r"\u{:04x}", r"\\u{:04X}"])
@pytest.mark.parametrize("every", [1, 2, 3])
def test_what_looks_like_a_key_in_escapes_is_hidden(form: str, every: int) -> None:
    key = "sk-proj-0123abcd"
    escaped = (form.format(ord(c)) if k % every == 0 else c for k, c in enumerate(key))
    body = f'{{"error": "Incorrect API key: {"".join(escaped)}, \\u00e4hm"}}'
    assert hide_secrets(body, []) == '{"error": "Incorrect API key: [hidden], \\u00e4hm"}'


@pytest.mark.parametrize("field", TEXTS)
def test_secrets_are_hidden_in_every_text_of_a_reply(field: str) -> None:
    texts: dict[str, str] = {"text": "fine", field: f"so {SECRET}"}
    reply = Reply(**texts)  # type: ignore[arg-type]
    assert getattr(redact_reply(reply, [SECRET]), field) == "so [hidden]"
    failure = call_failure(FaultError("timeout"), reply, [], endpoint=ENDPOINT, secrets=[SECRET])
    assert SECRET not in repr(failure.reply)


def test_secrets_in_escapes_are_hidden_where_they_are_cut() -> None:
    cut = "".join(f"\\u{ord(c):04x}" for c in SECRET[:12])
    assert hide_secrets(f"key {cut}...", [SECRET]) == "key [hidden]"


def test_keys_in_a_reply_are_replaced_and_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    reply = Reply(text=f"Your key is {SECRET}.", raw=f'{{"text": "Your key is {SECRET}."}}')
    redacted = redact_reply(reply, [SECRET])
    assert redacted.text == "Your key is [hidden]."
    assert SECRET not in redacted.raw
    assert "a reply held the key" in caplog.text
    assert SECRET not in caplog.text
    beside = Reply(text="fine", raw=f"{SECRET} fine")
    caplog.clear()
    assert redact_reply(beside, [SECRET]).text == "fine"
    assert SECRET not in redact_reply(beside, [SECRET]).raw
    assert not caplog.text
    untouched = Reply(text="fine", raw="fine sk-other-1234567")
    assert redact_reply(untouched, [SECRET]) is untouched


def test_short_secrets_are_hidden_whole() -> None:
    assert hide_secrets("k=abc123, abc", ["abc123"]) == "k=[hidden], abc"


def test_quoted_dialogue_is_hidden_and_the_rest_stays() -> None:
    text = "invalid content: 'home knows that I lost my job.' at messages[0]"
    assert hide_speech(text, [SPOKEN]) == "invalid content: '[…]' at messages[0]"


def test_common_words_are_no_quotation() -> None:
    assert hide_speech("that I lost", [SPOKEN]) == "that I lost"


def test_excerpt_is_one_short_line() -> None:
    said = excerpt(
        f"first\n\n  {SECRET}\tthen " + "x" * 5_000_000, secrets=[SECRET], spoken=[SPOKEN]
    )
    assert said.startswith("first [hidden] then xxx")
    assert len(said) == LONGEST_EXCERPT + 1
    assert said.endswith("…")


def test_excerpt_holds_nothing_that_a_terminal_obeys() -> None:
    said = excerpt("no \x1b[2J\x1b]0;owned\x07 \u202ekey", secrets=[], spoken=[])
    assert said == "no \ufffd[2J\ufffd]0;owned\ufffd \ufffdkey"
