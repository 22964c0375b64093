"""`heart judges halo` types as a newcomer would: a planted halo is found, nothing is paid twice."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from aiohttp import web
from heart_command import Heart
from scripted_server import Answer, say
from served_study import healthy, is_probe, serving, write_study

from hearteval.domain import OVERALL

pytestmark = pytest.mark.server


def coin(*words: object) -> str:
    return "AB"[hashlib.sha256("/".join(map(str, words)).encode()).digest()[0] % 2]


def judging(*, has_halo: bool) -> Answer:
    """Judge by coins: the verdict's and each axis's own, which a halo hides beside the verdict."""

    async def answer(request: web.Request, body: Mapping[str, object]) -> web.StreamResponse:
        if is_probe(body) or "response_format" not in body:
            return await healthy()(request, body)
        keys = body["response_format"]["json_schema"]["schema"]["required"]  # type: ignore[index]
        asked = body["messages"][-1]["content"]  # type: ignore[index]
        _, said = asked.split("[reply A", 1)
        shown = "".join(line for line in said.splitlines()[1:] if not line.startswith("["))
        verdict = coin(shown)
        marks = {
            key: verdict if key == OVERALL or (has_halo and OVERALL in keys) else coin(shown, key)
            for key in keys
        }
        return await say(
            json.dumps({k: {"reason": "r", "winner": w, "strength": 3} for k, w in marks.items()})
        )(request, body)

    return answer


@pytest.mark.parametrize("has_halo", [True, False])
def test_a_planted_halo_is_found_and_paid_once(
    heart: Heart, tmp_path: Path, has_halo: bool
) -> None:
    with serving(judging(has_halo=has_halo)) as server:
        path = write_study(tmp_path, server.url, regular=20)
        before = heart("run", path, "--json").json
        words = ("judges", "halo", path, "--pairs", "40")
        found = heart(*words, "--json").json
        n_calls = len(server.bodies)
        text = heart(*words).out
        assert len(server.bodies) == n_calls
        assert heart("run", path, "--json").json["leaderboard"] == before["leaderboard"]
        beside = heart("analyze", path, "--json").json["factors"]["halo"]
    assert found["schema"] == "heart.judges_halo/1"
    assert found["judgments"]["n_added"] == found["judgments"]["n_wanted"] == 6 * 40
    assert beside == found["judges"]
    (judge,) = found["judges"]
    assert (judge["judge"], judge["n_asked"], judge["missing"]) == ("theirs", 240, {})
    overall = judge["overall"]
    if has_halo:
        assert overall["together"] == overall["reversed"] == 1.0
        assert overall["low"] > 0.3
        assert "a halo" in text
    else:
        assert overall["low"] <= 0 <= overall["high"]
        assert "No halo shown" in text
    assert max(map(len, text.splitlines())) <= 80


def test_a_study_without_judged_pairs_says_what_to_do(heart: Heart, tmp_path: Path) -> None:
    with serving(healthy()) as server:
        path = write_study(tmp_path, server.url)
        done = heart("judges", "halo", path)
    assert done.code == 2
    assert "run `heart run` first" in done.err


def test_judges_without_axis_marks_have_no_halo(heart: Heart, tmp_path: Path) -> None:
    with serving(healthy()) as server:
        path = write_study(tmp_path, server.url)
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace("[judging]\n", '[judging]\naxis_marks = "off"\n'))
        done = heart("judges", "halo", path)
    assert done.code == 2
    assert "a halo is of judges that mark every axis" in done.err


def test_judges_that_cannot_be_asked_again_are_said_to_be_none(
    heart: Heart, tmp_path: Path
) -> None:
    path = Path(heart("init", tmp_path / "demo", "--json").json["path"])
    text = path.read_text(encoding="utf-8").replace('judges = ["cue"]', 'judges = ["cue", "far"]')
    path.write_text(f'{text}\n[[judge]]\nname = "far"\nmodel = "imported/gpt-4o"\n')
    done = heart("judges", "halo", path)
    assert done.code == 2
    assert "no judge of this study can be asked again" in done.err
