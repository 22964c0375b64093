"""A model that says whose it is: said before anybody judges it, counted in the results."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from heart_command import Heart
from scripted_server import say
from served_study import fitting_reply, serving, write_study


async def telling(request: web.Request, body: Mapping[str, Any]) -> web.StreamResponse:
    text = fitting_reply(body)
    if "response_format" not in body:
        text = f"As ChatGPT, I hear you. {text}"
    return await say(text)(request, body)


def test_they_are_said_before_judging_and_counted(
    heart: Heart, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with serving(telling) as server:
        done = heart("run", write_study(tmp_path, server.url), "--yes")
    words = "ours names a maker or model in 3 of 3 replies"
    assert words in done.err
    assert caplog.text.index(words) < caplog.text.index("judgments: ")
    results = json.loads((tmp_path / "served.results.json").read_text(encoding="utf-8"))
    counted = {row["system"]: row["n_naming"] for row in results["coverage"]["systems"]}
    assert counted == {"ours": 3, "generic": 0, "advice": 0}
    assert any(words in warning for warning in results["warnings"])
