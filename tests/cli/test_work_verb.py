"""``heart work``: what it refuses, which questions it answers, and what it says."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from heart_command import run_heart
from scripted_server import ScriptedServer, say
from served_study import FREE, always, healthy, is_probe, serving, write_study

from hearteval.config import load_study
from hearteval.judgments.plan.run import plan_judgments
from hearteval.study import Quiet
from hearteval.study.grow import open_grown

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    with serving(healthy()) as running:
        yield running


def planned(folder: Path, url: str, *, extra: str = FREE) -> Path:
    """Make a study whose judgments are planned, and none given."""
    study = write_study(folder, url, extra=extra)
    assert run_heart("complete", study, "--yes").code == 0
    with open_grown(load_study(study), Quiet()) as (session, stored):
        policy = session.settings.judging.plan
        plan_judgments(session.store, stored, policy, now=session.now)
    return study


def test_study_that_was_never_stored_is_refused(tmp_path: Path, server: ScriptedServer) -> None:
    study = write_study(tmp_path, server.url)

    refused = run_heart("work", study)

    assert refused.code == 1
    assert "the store holds no study 'served' with seed 4" in refused.err
    assert not study.with_suffix(".db").exists()


def test_study_file_that_is_not_the_stored_one_is_refused(
    tmp_path: Path, server: ScriptedServer
) -> None:
    study = planned(tmp_path, server.url)
    text = study.read_text("utf-8")
    study.write_text(text.replace("repeat_pairs = 0", "repeat_pairs = 2"), "utf-8")

    refused = run_heart("work", study)

    assert refused.code == 2
    assert "does not describe version 1 of the study, which is stored" in " ".join(
        refused.err.split()
    )


def test_so_many_questions_are_asked_and_the_rest_by_the_next(
    tmp_path: Path, server: ScriptedServer
) -> None:
    study = planned(tmp_path, server.url)

    some = run_heart("work", study, "--max-questions", "5", "--json").json
    rest = run_heart("work", study, "--json").json

    assert some["answers"] == {"judgments": {"n_added": 5, "n_missing": 0, "missing": {}}}
    assert rest["answers"]["judgments"]["n_added"] == 13
    assert run_heart("work", study, "--json").json["answers"] == {}


def test_what_costs_is_agreed_to_and_waiting_for_more_too(
    tmp_path: Path, server: ScriptedServer
) -> None:
    study = planned(tmp_path, server.url, extra="price = { input = 1.0, output = 2.0 }")

    assert "18 calls" not in run_heart("work", study, "--yes").err
    assert run_heart("work", study).code == 0
    refused = run_heart("work", study, "--wait", "1")
    assert refused.code == 2
    assert "what is planned while it waits is asked too" in " ".join(refused.err.split())


def test_judge_that_gives_nothing_usable_fails_the_worker(tmp_path: Path) -> None:
    with serving(always(their_judge=say("I prefer reply A."))) as server:
        study = planned(tmp_path, server.url)
        failed = run_heart("work", study, "--json")
        n_asked = sum(b["model"] == "their-judge" and not is_probe(b) for b in server.bodies)

    assert failed.code == 1
    assert failed.json["failures"][0]["name"] == "theirs"
    assert n_asked == 16


def test_ratings_are_given_once_every_reply_is_there(tmp_path: Path) -> None:
    with serving(healthy()) as server:
        study = write_study(tmp_path, server.url)
        text = study.read_text("utf-8").replace("[judging]", '[judging]\nprotocol = "rating"')
        study.write_text(text, "utf-8")
        assert run_heart("complete", study).code == 0
        done = run_heart("work", study, "--json")

    assert done.json["answers"] == {"ratings": {"n_added": 9, "n_missing": 0, "missing": {}}}
    run = run_heart("run", study, "--json").json
    assert run["ratings"]["n_before"] == run["ratings"]["n_wanted"] == 9
