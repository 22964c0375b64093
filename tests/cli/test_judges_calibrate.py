"""`heart judges calibrate`: judges that rate score keyed examples, apart from all scores."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from aiohttp import web
from heart_command import Heart
from scripted_server import Answer, say
from served_study import healthy, is_probe, serving, write_study

from hearteval.domain import AXES

RATING = '[judging]\nprotocol = "rating"\n'
N_EXAMPLES = 18


def scoring(score: int) -> Answer:
    """Give every reply one score on every axis."""

    async def answer(request: web.Request, body: Mapping[str, object]) -> web.StreamResponse:
        if is_probe(body) or "response_format" not in body:
            return await healthy()(request, body)
        keys = body["response_format"]["json_schema"]["schema"]["required"]  # type: ignore[index]
        made = {key: {"comment": "c", "score": score} for key in keys}
        return await say(json.dumps(made))(request, body)

    return answer


def rating_study(folder: Path, url: str) -> Path:
    path = write_study(folder, url, regular=4)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("[judging]\n", RATING), encoding="utf-8")
    return path


def test_keys_are_scored_once_and_enter_no_score(heart: Heart, tmp_path: Path) -> None:
    with serving(scoring(4)) as server:
        path = rating_study(tmp_path, server.url)
        first = heart("judges", "calibrate", path, "--json")
        n_calls = len(server.bodies)
        text = heart("judges", "calibrate", path).out
        assert len(server.bodies) == n_calls
        run = heart("run", path, "--json").json
        found = heart("analyze", path, "--json").json["ratings"]
    assert first.code == 0
    body = first.json
    assert body["schema"] == "heart.judges_calibrate/1"
    assert (body["n_examples"], body["ratings"]["n_added"]) == (N_EXAMPLES, N_EXAMPLES)
    overall, *by_axis = body["raters"]
    assert [row["axis"] for row in (overall, *by_axis)] == ["overall", *AXES]
    assert overall["n_scores"] == N_EXAMPLES * len(AXES)
    # Whoever always says 4 is off by what the keys differ from it.
    keys = read_keys()
    assert overall["bias"] == pytest.approx(sum(4 - key for key in keys) / len(keys))
    assert overall["error"] == pytest.approx(sum(abs(4 - key) for key in keys) / len(keys))
    assert found["calibration"] == body["raters"]
    assert run["ratings"]["n_added"] == found["n_ratings"] + run["ratings"]["n_stress"]
    assert "bias" in text
    assert max(map(len, text.splitlines())) <= 80


def read_keys() -> list[int]:
    from hearteval.protocol import load_protocol  # noqa: PLC0415

    examples = load_protocol("calibration")["example"]
    return [key for one in examples for reply in one["reply"] for key in reply["key"].values()]


def test_judges_that_compare_are_not_calibrated(heart: Heart, tmp_path: Path) -> None:
    with serving(healthy()) as server:
        done = heart("judges", "calibrate", write_study(tmp_path, server.url))
    assert done.code == 2
    assert "keyed examples are for judges that score" in done.err
