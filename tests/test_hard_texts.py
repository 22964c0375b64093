"""Texts that show nothing, and texts of 20 MB: refused, or read, and never for hours."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from aiohttp import web
from heart_command import Heart
from scripted_server import completion
from served_study import FREE, always, serving, write_study
from small_world import make_item

from hearteval.completions.baselines.reflective import write_reflection
from hearteval.completions.checks import check_completion
from hearteval.domain import OVERALL, Turn
from hearteval.errors import HeartError, InvalidRecordError, InvalidReplyError, SettingsError
from hearteval.items.dialogues import parse_any
from hearteval.items.dialogues.text import split_turn
from hearteval.items.files import LONGEST_TEXT, format_items, parse_items
from hearteval.judgments.cue_judge.judge import Text, judge_pair
from hearteval.judgments.reply import read_reply
from hearteval.models.failures import hide_secrets
from hearteval.models.wrappers.plain_text import to_plain

N = 20_000_000
N_LINES = 2_000_000
"""Characters of a file of short lines: each is a turn, or goes on with one."""
INVISIBLE = {
    "zero width": "\u200b\u200c\u200d",
    "direction": "\u200e\u200f\u202a\u202c\u2066\u2069",
    "byte order mark": "\ufeff",
    "joiners": "\u2060\u00ad",
    "fillers": "\u3164\u115f\u2800",
    "variation selector": "\ufe0f",
    "controls": "\x01\x1b",
}
ENDLESS = ("!", ". ", " ", "\n", "a", "(", "x\n", "i feel ", "\u200b")


@pytest.mark.parametrize("text", INVISIBLE.values(), ids=INVISIBLE)
def test_a_text_that_shows_nothing_is_empty(text: str) -> None:
    with pytest.raises(InvalidRecordError, match="turn: text is empty"):
        Turn(role="seeker", text=f" {text}\n")
    with pytest.raises(InvalidReplyError) as caught:
        check_completion(f" {text}\n")
    assert caught.value.reason == "empty"
    with pytest.raises(InvalidReplyError) as caught:
        read_reply(f" {text}\n")
    assert caught.value.reason == "empty"


@pytest.mark.parametrize("text", INVISIBLE.values(), ids=INVISIBLE)
def test_an_item_file_with_a_turn_that_shows_nothing_is_refused(text: str) -> None:
    _, line = format_items([make_item(1)]).splitlines()
    item = json.loads(line)
    del item["id"]
    item["context"][0]["text"] = text
    with pytest.raises(SettingsError, match=r"line 1.*context\[0\].text.*empty text"):
        parse_items(json.dumps(item), name="own.jsonl")
    if text.isprintable():
        with pytest.raises(SettingsError, match="an empty turn of the seeker"):
            parse_any(f"Seeker: {text}", name="own.txt")


@pytest.mark.parametrize("text", INVISIBLE.values(), ids=INVISIBLE)
def test_a_reason_that_shows_nothing_is_none(text: str) -> None:
    mark = {"reason": "closer", "winner": "A", "strength": 3}
    keys = [
        "human_alignment",
        "empathic_responsiveness",
        "attunement",
        "resonance",
        "task_following",
    ]
    verdict = dict.fromkeys((*keys, OVERALL), mark)
    read_reply(json.dumps(verdict))
    verdict[OVERALL] = {**mark, "reason": text}
    with pytest.raises(InvalidReplyError) as caught:
        read_reply(json.dumps(verdict))
    assert caught.value.reason == "empty-reason"


def test_an_emoji_alone_is_an_answer() -> None:
    assert check_completion("\N{YELLOW HEART}\ufe0f") == "\N{YELLOW HEART}\ufe0f"


def endless(unit: str, n: int = N) -> str:
    return f"y{unit * (n // len(unit))}x"


@pytest.mark.parametrize("unit", ENDLESS)
def test_20_mb_are_no_completion_and_no_verdict(unit: str) -> None:
    with pytest.raises(InvalidReplyError) as caught:
        check_completion(endless(unit))
    assert caught.value.reason == "over-long"
    with pytest.raises(InvalidReplyError) as caught:
        read_reply(endless(unit))
    assert caught.value.reason == "too-long"


@pytest.mark.parametrize(
    ("unit", "n"), [("a", N), ("Seeker: a\n", N_LINES), ("a\n", N_LINES), ("Seeker ", N), (" ", N)]
)
def test_an_endless_turn_is_refused_in_one_line(unit: str, n: int) -> None:
    for text in (
        f"Seeker: hello\nSeeker: {endless(unit, n)}",
        json.dumps({"turns": [{"role": "seeker", "text": endless(unit, n)}]}),
    ):
        with pytest.raises(SettingsError, match=f"over {LONGEST_TEXT:,} characters") as caught:
            parse_any(text, name="own.txt")
        assert len(str(caught.value)) < 1_000


@pytest.mark.parametrize("key", ["text", "situation"])
def test_an_item_of_20_mb_is_refused_in_one_line(key: str) -> None:
    _, line = format_items([make_item(1)]).splitlines()
    item = json.loads(line)
    (item["context"][0] if key == "text" else item)[key] = endless("a")
    with pytest.raises(SettingsError, match="at most 100,000 characters") as caught:
        parse_items(json.dumps(item), name="own.jsonl")
    assert len(str(caught.value)) < 1_000


def test_an_item_with_very_many_keys_or_an_endless_one_is_refused_in_a_few_lines() -> None:
    many = ",".join(f'"{number}":1' for number in range(200_000))
    for text in (f'{{{many},"7":1}}', json.dumps({endless("a"): 1})):
        with pytest.raises(SettingsError) as caught:
            parse_items(text, name="own.jsonl")
        assert len(str(caught.value)) < 10_000


@pytest.mark.parametrize("unit", [*ENDLESS, "my a ", "you know ", ", ", "<a", "[a](", "Seeker "])
def test_a_long_text_is_read_in_time_that_grows_no_faster_than_it(unit: str) -> None:
    text = endless(unit, LONGEST_TEXT // 2)
    assert write_reflection(text, key=(1,))
    context = (Turn(role="seeker", text=f"I feel sad. {text}"),)
    assert judge_pair(context, Text("a", text), Text("b", "What now?"))
    assert hide_secrets(to_plain(text), ["sk-abcdefgh12345678"])
    split_turn(f"Seeker{text}")
    split_turn(text)


async def say_at_once(_request: web.Request, _body: Mapping[str, object]) -> web.Response:
    """Say 20 MB in one body."""
    return web.json_response(completion(endless("a")))


@pytest.mark.server
def test_a_judge_that_answers_20_mb_ends_no_run_and_fills_no_store(
    heart: Heart, tmp_path: Path
) -> None:
    with serving(always(their_judge=say_at_once)) as server:
        study = write_study(tmp_path, server.url, regular=1, extra=f"{FREE}\ntries = 1")
        done = heart("run", study, "--yes")
    assert done.code == 1
    assert "too-large" in done.out + done.err
    assert (tmp_path / "served.db").stat().st_size < 5_000_000


def test_every_refusal_is_of_hearteval() -> None:
    for unit in ENDLESS:
        with pytest.raises(HeartError):
            parse_any(endless(unit, 10 * LONGEST_TEXT), name="own.txt")
