"""A provider that drops settings: the store says what was used, and the steps warn once a model."""

import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aiohttp import web
from heart_command import Heart
from scripted_server import Answer, chunk, completion, stream
from scripted_server import sse as events
from served_study import FREE, fitting_reply, healthy, serving, write_study


def answering(usage: Mapping[str, int] | None = None, **top: Any) -> Answer:
    """Answer well, with these at the top of every chunk."""
    counts = {"prompt_tokens": 40, "completion_tokens": 12, **(usage or {})}

    async def answer(request: web.Request, body: Mapping[str, Any]) -> web.StreamResponse:
        text = fitting_reply(body)
        told = chunk({"content": text}, "stop", usage=counts, **top)
        return await stream(events(told, "[DONE]"))(request, body)

    return answer


def settings_used(folder: Path, table: str) -> list[dict[str, Any]]:
    connection = sqlite3.connect(folder / "served.db")
    found = connection.execute(f"SELECT effective FROM {table}").fetchall()
    connection.close()
    return [json.loads(row[0]) for row in found if row[0]]


def test_other_temperature_is_stored_and_said_once_for_a_model(
    heart: Heart, tmp_path: Path
) -> None:
    with serving(answering(temperature=1.0)) as server:
        done = heart("run", write_study(tmp_path, server.url), "--yes")
    assert done.err.count("warning: ours used temperature 1, not 0, as its replies say") == 1
    assert done.err.count("warning: theirs used temperature 1, not 0, as its replies say") == 1
    used = [s["temperature"] for s in settings_used(tmp_path, "judgments") if "temperature" in s]
    assert set(used) == {1.0}


def test_limit_on_tokens_that_was_passed_is_not_effective(heart: Heart, tmp_path: Path) -> None:
    extra = FREE + "\nmax_tokens = 100"
    with serving(answering({"completion_tokens": 101})) as server:
        done = heart("complete", write_study(tmp_path, server.url, extra=extra), "--yes")
    assert "ours did not keep max_tokens 100: its replies count more tokens" in done.err
    assert not [s for s in settings_used(tmp_path, "completions") if "max_tokens" in s]


def test_settings_that_were_kept_are_not_mentioned(heart: Heart, tmp_path: Path) -> None:
    with serving(healthy()) as server:
        done = heart("run", write_study(tmp_path, server.url), "--yes")
    assert "temperature" not in done.err
    assert "max_tokens" not in done.err


def test_setting_that_the_study_says_is_refused_is_not_mentioned(
    heart: Heart, tmp_path: Path
) -> None:
    extra = FREE + '\nrefuses = ["temperature"]'
    with serving(healthy()) as server:
        done = heart("complete", write_study(tmp_path, server.url, extra=extra), "--yes")
    assert "temperature" not in done.err


def test_body_that_repeats_its_settings_says_what_was_used(heart: Heart, tmp_path: Path) -> None:
    async def whole(request: web.Request, body: Mapping[str, Any]) -> web.StreamResponse:
        said = completion(fitting_reply(body))
        return web.json_response({**said, "temperature": 0.7})

    with serving(whole) as server:
        done = heart("complete", write_study(tmp_path, server.url), "--yes")
    assert "ours used temperature 0.7, not 0" in done.err
