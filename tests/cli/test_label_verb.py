"""`heart label` as a newcomer types it: planned, agreed to, paid once, missing said."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from aiohttp import web
from heart_command import Heart
from scripted_server import Answer, fail, say
from served_study import FREE, healthy, is_probe, serving, write_study
from study_files import presets, study_text

from hearteval.config import load_study
from hearteval.labels.taxonomy import load_taxonomy
from hearteval.study import Quiet
from hearteval.study.labels import labeler_rater
from hearteval.study.session import open_to_work

pytestmark = pytest.mark.server
STUDY = study_text(
    "tiny",
    presets("generic", "reflective"),
    items=(4, 1),
    study={"seed": 5},
    judging={"repeat_pairs": 50},
)
KEYS = load_taxonomy("strategies").keys
LABELER = """
[[labeler]]
name = "reader"
model = "openai-compatible/reader"
base_url = "{url}"
family = "theirs"
{extra}
[labels]
labelers = ["reader"]
"""
ABSENT = {"evidence": "", "verdict": "absent", "probability": 5}


def reading(body: Mapping[str, object], *, is_wrong: bool = False) -> str:
    """Return labels: a question is a clarification, quoted from the reply or invented."""
    asked = str(body["messages"][-1]["content"])  # type: ignore[index]
    code = asked.split("The code of the markers is ")[1].split(".", maxsplit=1)[0]
    text = asked.split(f"[reply {code}]\n")[1].split(f"\n[end of reply {code}]", maxsplit=1)[0]
    quote = "words that nobody wrote" if is_wrong else text[:20].strip()
    hit = {"evidence": quote, "verdict": "present", "probability": 75}
    found = {"clarification": hit} if "?" in text or is_wrong else {}
    return json.dumps(dict.fromkeys(KEYS, ABSENT) | found)


def labelling(*, is_wrong: bool = False) -> Answer:
    async def answer(request: web.Request, body: Mapping[str, object]) -> web.StreamResponse:
        if is_probe(body) or "heart_labels" not in json.dumps(body.get("response_format", "")):
            return await healthy()(request, body)
        return await say(reading(body, is_wrong=is_wrong))(request, body)

    return answer


def study_with_labeler(folder: Path, url: str, *, extra: str = FREE) -> Path:
    path = write_study(folder, url)
    text = path.read_text(encoding="utf-8")
    path.write_text(text + LABELER.format(url=url, extra=extra), encoding="utf-8")
    return path


def test_completions_are_labelled_once_and_shown_beside_the_ranking(
    heart: Heart, tmp_path: Path
) -> None:
    with serving(labelling()) as server:
        path = study_with_labeler(tmp_path, server.url)
        before = heart("run", path, "--json").json
        found = heart("label", path, "--json").json
        n_calls = len(server.bodies)
        text = heart("label", path).out
        assert len(server.bodies) == n_calls
        after = heart("run", path, "--json").json
    assert found["schema"] == "heart.label/1"
    assert found["taxonomy"] == "strategies"
    assert (found["labels"]["n_wanted"], found["labels"]["n_added"]) == (9, 9)
    assert found["failures"] == []
    assert found["notice"] is None
    assert "9 of 9 replies labelled" in text
    (shown,) = heart("analyze", path, "--json").json["labels"]
    assert after["leaderboard"] == before["leaderboard"]
    assert after["version"] == before["version"] == 1
    (source,) = shown["sources"]
    assert (source["labeler"], source["kind"], source["n_completions"]) == ("reader", "model", 9)
    assert [one["group"] for one in source["systems"]] == ["advice", "generic", "ours"]
    assert "labels" in {Path(name).stem for name in after["tables"]}


def test_a_labeler_that_invents_evidence_fails_and_says_why(heart: Heart, tmp_path: Path) -> None:
    with serving(labelling(is_wrong=True)) as server:
        path = study_with_labeler(tmp_path, server.url)
        heart("complete", path)
        done = heart("label", path, "--json")
        n_calls = len(server.bodies)
        again = heart("label", path)
        last = heart("label", path)
        # The first 8 are given up; the ninth is asked for in the next run, and once more.
        assert len(server.bodies) == n_calls + 2
    assert last.code == 1
    assert (done.code, again.code) == (1, 1)
    assert done.json["labels"]["missing"] == {"evidence-not-in-text": 8, "not-asked": 1}
    (failure,) = done.json["failures"]
    assert (failure["kind"], failure["name"], failure["n_missing"]) == ("labeler", "reader", 9)
    assert "labeler reader has no result (evidence-not-in-text)" in again.err


def test_what_failed_on_the_way_is_asked_for_again(heart: Heart, tmp_path: Path) -> None:
    extra = f"{FREE}\ntries = 1\nstop_after = 2"
    with serving(healthy()) as server:
        path = study_with_labeler(tmp_path, server.url, extra=extra)
        heart("complete", path)
    with serving(fail(400)) as server:
        path = study_with_labeler(tmp_path, server.url, extra=extra)
        assert heart("label", path).code == 1
    with serving(labelling()) as server:
        path = study_with_labeler(tmp_path, server.url, extra=extra)
        found = heart("label", path, "--json")
    assert found.code == 0
    assert found.json["labels"]["n_added"] == 9


def test_a_dry_run_shows_the_ceiling_and_asks_nobody(heart: Heart, tmp_path: Path) -> None:
    paid = "price = { input = 1.0, output = 2.0 }"
    with serving(labelling()) as server:
        path = study_with_labeler(tmp_path, server.url, extra=paid)
        heart("complete", path)
        n_calls = len(server.bodies)
        text = heart("label", path, "--dry-run").out
        body = heart("label", path, "--dry-run", "--json").json
        refused = heart("label", path)
        assert len(server.bodies) == n_calls
        agreed = heart("label", path, "--yes", "--json").json
    assert "labeler reader: 10 calls, expected $" in text
    assert body["dry_run"] is True
    assert body["ceiling"]["n_open"] == {"reader": 9}
    assert body["ceiling"]["estimate"]["n_calls"] == 10
    assert refused.code == 2
    assert "add --yes to go ahead" in refused.err
    assert agreed["labels"]["n_added"] == 9


def test_the_offline_baseline_says_what_it_is(heart: Heart, tmp_path: Path) -> None:
    path = tmp_path / "tiny.toml"
    path.write_text(f'{STUDY}[labels]\nlabelers = ["cues"]\n', encoding="utf-8")
    heart("complete", path)
    text = heart("label", path, "--taxonomy", "micro-skills").out
    assert "is an offline baseline" in text
    found = heart("label", path, "--json").json
    assert "measures nothing" in found["notice"]
    assert found["labels"]["n_added"] == found["labels"]["n_wanted"] > 0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("", "nobody is named to label"),
        ('[labels]\nlabelers = ["cue"]\n', "the offline baseline that labels is 'cues'"),
        ('[labels]\nlabelers = ["nobody"]\n', "there is no judge 'nobody'"),
        ('[labels]\nlabelers = ["cues", "cues"]\n', "a labeler is listed twice"),
        ("[labels]\nlabelers = []\n", "expected at least one entry"),
        ("[labels]\n", "nobody is asked to label"),
        ("[labels]\npeople = 9\n", "the study file has no [people]"),
        ('[people]\n[labels]\npeople = 9\npeople_by = ["item-screen"]\n', "is of items"),
        ("[people]\n[labels]\npeople = 9\npeople_per_text = 3\n", "labels.people_per_text"),
        ('[labels]\nlabelers = ["cues"]\npeople_by = ["strategies"]\n', "set labels.people"),
        (
            '[[labeler]]\nname = "x"\npreset = "gpt-5"\n[labels]\nlabelers = ["cues"]\n',
            "does not name the labeler 'x'",
        ),
        (
            '[[labeler]]\nname = "x"\nmodel = "imported/gpt-4o"\n[labels]\nlabelers = ["x"]\n',
            "an imported model is never asked",
        ),
    ],
)
def test_a_study_file_that_names_no_good_labeler_says_so(
    heart: Heart, tmp_path: Path, given: str, words: str
) -> None:
    path = tmp_path / "tiny.toml"
    path.write_text(f"{STUDY}{given}", encoding="utf-8")
    done = heart("label", path)
    assert done.code == 2
    assert words in done.err


def test_before_anything_is_written_there_is_nothing_to_label(heart: Heart, tmp_path: Path) -> None:
    with serving(fail(400)) as server:
        path = study_with_labeler(tmp_path, server.url)
        done = heart("label", path)
    assert done.code == 0
    assert "no replies to label yet" in done.out


def test_labelling_stops_at_the_limit_and_goes_on_where_it_was(
    heart: Heart, tmp_path: Path
) -> None:
    dear = "concurrency = 1\nmax_tokens = 1000\nprice = { input = 0, output = 1000 }"
    with serving(labelling()) as server:
        path = study_with_labeler(tmp_path, server.url, extra=dear)
        heart("complete", path)
        whole = path.read_text(encoding="utf-8")
        # The probe and each reply are billed 12 tokens; another call could cost a whole dollar.
        path.write_text(whole.replace("[budget]\n", "[budget]\nmax_usd = 1.03\n"), encoding="utf-8")
        stopped = heart("label", path, "--yes", "--json")
        path.write_text(whole, encoding="utf-8")
        n_before = len(server.bodies)
        rest = heart("label", path, "--yes", "--json")
    n_first = stopped.json["labels"]["n_added"]
    assert stopped.code == 1
    assert 0 < n_first < 9
    assert "max_usd" in stopped.json["labels"]["stopped"]
    assert rest.code == 0
    assert (rest.json["labels"]["n_before"], rest.json["labels"]["n_added"]) == (
        n_first,
        9 - n_first,
    )
    assert len(server.bodies) - n_before == 9 - n_first


def test_the_doctor_asks_for_the_key_of_a_labeler(heart: Heart, tmp_path: Path) -> None:
    path = tmp_path / "tiny.toml"
    path.write_text(f'{STUDY}[labels]\nlabelers = ["gpt"]\n', encoding="utf-8")
    checks = {one["name"]: one for one in heart("doctor", path, "--json").json["checks"]}
    assert checks["labeler gpt"]["state"] == "missing"
    assert "set the environment variable" in checks["labeler gpt"]["remedy"]


def test_reasons_and_safety_are_labelled_offline_and_shown(heart: Heart, tmp_path: Path) -> None:
    with serving(healthy()) as server:
        path = write_study(tmp_path, server.url, regular=2)
        with path.open("a", encoding="utf-8") as file:
            file.write('[labels]\nlabelers = ["cues"]\nreasons = 4\n')
        heart("run", path)
    plan = heart("label", path, "--taxonomy", "rationales", "--dry-run").out
    reasons = heart("label", path, "--taxonomy", "rationales", "--json").json
    safety = heart("label", path, "--taxonomy", "safety", "--json").json
    again = heart("label", path, "--taxonomy", "safety").out
    found = heart("analyze", path, "--json").json
    heart("report", path)
    assert "8 reasons of at most 4 comparisons by 25 themes of reasons" in plan
    assert (reasons["labels"]["n_added"], "hand-set words" in reasons["notice"]) == (8, True)
    assert (safety["labels"]["n_added"], "not meaning" in safety["notice"]) == (18, True)
    assert "18 of 18 replies and reasons labelled" in again
    (source,) = found["rationales"]["sources"]
    assert (source["labeler"], source["kind"], source["n_people"]) == ("cues", "baseline", 0)
    assert source["n_judges"] == 8
    (screen,) = found["safety"]["screens"]
    assert (screen["screen"], screen["uses"][0]["n_read"]) == ("rule screen", 18)
    page = path.with_name("served.report.html").read_text(encoding="utf-8")
    assert "Only judges gave reasons" in page
    assert "Only words were looked for" in page
    assert "What people are kept from reading" in page


def test_worker_labels_what_was_begun(heart: Heart, tmp_path: Path) -> None:
    with serving(labelling()) as server:
        path = study_with_labeler(tmp_path, server.url)
        heart("run", path)
        before = heart("work", path, "--json").json["answers"]
        settings = load_study(path)
        with open_to_work(settings, Quiet()) as (session, _):  # as `heart label` does first
            taxonomy = load_taxonomy("strategies")
            session.store.add([labeler_rater(one, taxonomy) for one in settings.labelers])
        done = heart("work", path, "--json").json["answers"]
        said = heart("label", path, "--json").json["labels"]

    assert before == {}
    assert done == {"labels (strategies)": {"n_added": 9, "n_missing": 0, "missing": {}}}
    assert (said["n_before"], said["n_added"]) == (9, 0)
