"""Success means a result: what is missing is said in the provider's words, and ends in exit 1."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from heart_command import Done, Heart
from scripted_server import Answer, fail, say
from served_study import FREE, KEY_NAME, always, by_model, healthy, is_probe, serving, write_study

from hearteval.completions.checks import COMPLETION_FAULTS
from hearteval.domain.reasons import BY_DESIGN, FAILS_AGAIN, MAY_PASS
from hearteval.judgments.reply import REPLY_FAULTS
from hearteval.models.failures import RETRYABLE
from hearteval.study import pipeline

pytestmark = [pytest.mark.server, pytest.mark.usefixtures("quick_patience")]
DEAD = "http://127.0.0.1:9/v1"
OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]")
"""What a terminal obeys, tabs and line ends left out."""


def too_long(n: int) -> Answer:
    return fail(400, f"request ({n} tokens) exceeds the available context size (2048 tokens)")


def log_of(folder: Path) -> str:
    return "".join(path.read_text() for path in folder.glob("*.logs/*.log"))


def failure_of(done: Done) -> dict[str, Any]:
    (failure,) = done.json["failures"]
    return dict(failure)


def allow(path: Path, share: float) -> None:
    text = path.read_text().replace("seed = 4", f"seed = 4\nfail_on_missing = {share}")
    path.write_text(text)


def test_dead_system_is_exit_1_after_the_rest_is_done(heart: Heart, tmp_path: Path) -> None:
    with serving(healthy()) as server:
        path = write_study(tmp_path, server.url)
        text = path.read_text().replace(server.url, DEAD, 1)
        path.write_text(text)
        done = heart("run", path, "--json")

    failure = failure_of(done)
    assert done.code == 1
    assert (failure["kind"], failure["name"]) == ("system", "ours")
    assert (failure["n_wanted"], failure["n_missing"]) == (3, 3)
    (cause,) = failure["causes"]
    assert (cause["reason"], cause["n"], cause["outlook"]) == ("connection", 3, "may-pass")
    assert "Connect call failed" in cause["words"]
    assert "heart: system ours has no result (connection: Connect call failed" in done.err
    assert "Connect call failed" in log_of(tmp_path)
    assert done.json["judgments"]["n_added"] == 6
    assert "Connect call failed" in (tmp_path / "served.results.json").read_text()
    said = "The system ours has no result (connection: Connect call failed"
    assert done.json["warnings"][0].startswith(said)
    assert said in (tmp_path / "served.report.html").read_text()


@pytest.mark.parametrize("url", [DEAD, None], ids=["connection", "unknown-model"])
def test_a_wrong_address_is_what_to_mend_next_and_the_doctor_finds_it(
    heart: Heart, tmp_path: Path, url: str | None
) -> None:
    with serving(always(our_model=fail(404, "Not Found"))) as server:
        path = write_study(tmp_path, server.url)
        path.write_text(path.read_text().replace(server.url, url or server.url, 1))
        told = " ".join(heart("run", path).out.split())
        checked = heart("doctor", path, "--json")
        probed = heart("doctor", path, "--probe", "--json").json["checks"]

    assert "next nothing of ours came; mend base_url (http://HOST/v1)" in told
    assert checked.code == 1
    (found,) = [one for one in checked.json["checks"] if one["name"] == "calls of system ours"]
    assert (found["state"], "all of them failed" in found["detail"]) == ("missing", True)
    assert [one["state"] for one in probed if one["name"] == found["name"]] == ["optional"]


def test_providers_words_obey_no_one_and_hold_no_key(
    heart: Heart, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-canary-0123456789abcdef"
    monkeypatch.setenv(KEY_NAME, key)
    said = f"wrong key {key} \x1b[2J\x1b]0;owned\x07 \u202e<script>alert(1)</script>"
    with serving(always(our_model=fail(401, said))) as server:
        path = write_study(tmp_path, server.url, extra=f'{FREE}\nkey_name = "{KEY_NAME}"')
        done = heart("run", path)

    assert (done.code, "wrong key [hidden]" in done.err) == (1, True)
    for told in (done.out, done.err):
        assert not OBEYED.search(told)
    for file in filter(Path.is_file, tmp_path.rglob("*")):
        written = file.read_bytes()
        assert key.encode() not in written, file
        assert b"<script>alert" not in written or file.suffix != ".html"
        assert not OBEYED.search(written.decode(errors="ignore")) or file.suffix == ".db", file


def test_dead_judge_is_exit_1_named_and_the_report_is_there(heart: Heart, tmp_path: Path) -> None:
    with serving(healthy()) as server:
        path = write_study(tmp_path, server.url, extra=f"{FREE}\ntries = 2")
        head, judge = path.read_text().split("[[judge]]")
        path.write_text(f"{head}[[judge]]{judge.replace(server.url, DEAD)}")
        done = heart("run", path, "--json")

    assert done.code == 1
    assert (failure_of(done)["kind"], failure_of(done)["name"]) == ("judge", "theirs")
    assert "heart: judge theirs has no result (connection: Connect call failed" in done.err
    assert (tmp_path / "served.report.html").is_file()
    for verb in ("judge", "analyze", "report"):
        again = heart(verb, path, "--json")
        assert (again.code, failure_of(again)["name"]) == (1, "theirs")


def test_providers_words_are_one_cause_whatever_their_numbers(heart: Heart, tmp_path: Path) -> None:
    script = [too_long(2547), too_long(2601), too_long(3090), fail(400, "flagged by moderation")]
    with serving(by_model(their_judge=script)) as server:
        path = write_study(tmp_path, server.url)
        done = heart("run", path, "--json")
        text = heart("report", path)

    assert (done.code, text.code) == (1, 1)
    failure = failure_of(done)
    assert (failure["n_missing"], failure["n_wanted"]) == (4, 18)
    first, second = failure["causes"]
    assert (first["reason"], first["n"]) == ("context-too-long", 3)
    assert (
        first["words"] == "request (2547 tokens) exceeds the available context size (2048 tokens)"
    )
    assert (second["reason"], second["n"]) == ("content-filter", 1)
    assert {first["outlook"], second["outlook"]} == {"fails-again"}
    said = "judge theirs: 3 judgments are missing: context-too-long: request (2547 tokens)"
    assert said in done.err
    assert said in log_of(tmp_path)
    assert "running again fails again" in done.err
    assert "judge theirs lacks 4 of 18" in done.err
    assert "at most 5.0 % may be missing (study.fail_on_missing)" in text.err
    stored = json.loads((tmp_path / "served.results.json").read_text())
    assert stored["coverage"]["judges"][0]["causes"] == failure["causes"]
    assert stored["failures"] == done.json["failures"]


def test_share_that_may_be_missing_is_the_study_s(heart: Heart, tmp_path: Path) -> None:
    with serving(by_model(their_judge=[too_long(2547)])) as server:
        path = write_study(tmp_path, server.url)
        allow(path, 0.06)
        done = heart("run", path, "--json")
        strict = path.read_text().replace("fail_on_missing = 0.06", "fail_on_missing = 0.05")
        path.write_text(strict)
        stricter = heart("report", path, "--json")

    assert (done.code, done.json["failures"]) == (0, [])
    assert "1 judgment is missing: context-too-long" in done.err
    assert (stricter.code, failure_of(stricter)["n_missing"]) == (1, 1)


def test_no_result_at_all_is_exit_1_whatever_may_be_missing(heart: Heart, tmp_path: Path) -> None:
    with serving(always(their_judge=too_long(9000))) as server:
        path = write_study(tmp_path, server.url)
        allow(path, 1.0)
        done = heart("run", path, "--json")

    assert (done.code, failure_of(done)["n_missing"]) == (1, 18)


def test_audit_of_a_judge_that_answers_nothing_is_exit_1(heart: Heart, tmp_path: Path) -> None:
    with serving(always(their_judge=fail(401, "no such user"))) as server:
        done = heart("judges", "audit", write_study(tmp_path, server.url), "--items", "2", "--json")

    assert done.json["schema"] == "heart.judges_audit/1"
    assert (done.code, failure_of(done)["name"]) == (1, "theirs")
    assert "heart: judge theirs has no result (bad-key: no such user)" in done.err


def test_what_a_system_lacks_by_design_is_no_failure(heart: Heart, study: Path) -> None:
    done = heart("run", study, "--json")

    assert (done.code, done.json["failures"]) == (0, [])
    assert done.json["completions"]["missing"] == {"no-reference": 1}
    assert done.json["completions"]["n_missing"] == 1
    assert "missing" not in done.err


@pytest.mark.parametrize("share", ["-0.1", "1.1", '"few"', "nan"])
def test_share_that_is_none_is_refused(heart: Heart, study: Path, share: str) -> None:
    text = study.read_text().replace("seed = 5", f"seed = 5\nfail_on_missing = {share}")
    study.write_text(text)

    done = heart("run", study, "--json")

    assert done.code == 2
    assert "study.fail_on_missing" in done.json["error"]["message"]


def test_limit_of_missing_is_no_other_study(heart: Heart, study: Path) -> None:
    heart("run", study, "--json")
    study.write_text(study.read_text().replace("seed = 5", "seed = 5\nfail_on_missing = 0.5"))

    assert heart("run", study, "--json").json["version"] == 1


def test_words_hold_neither_key_nor_dialogue(
    heart: Heart, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVED_KEY", "canary-0123456789")

    async def repeat(request: web.Request, body: Mapping[str, Any]) -> web.StreamResponse:
        said = body["messages"][-1]["content"]
        return await fail(400, f"context size: {said} (key canary-0123456789)")(request, body)

    with serving(always(our_model=repeat)) as server:
        extra = 'concurrency = 1\nprice = { input = 0, output = 0 }\nkey_name = "SERVED_KEY"'
        done = heart("run", write_study(tmp_path, server.url, extra=extra), "--json")

    (cause,) = failure_of(done)["causes"]
    assert re.fullmatch(r"context size: .{0,19}\[…\].{0,19} \(key \[hidden\]\)", cause["words"])
    assert "canary" not in done.err + done.out + log_of(tmp_path)


def test_every_reason_says_what_running_again_would_do() -> None:
    assert RETRYABLE <= MAY_PASS
    faults = {*COMPLETION_FAULTS, *REPLY_FAULTS}
    assert not faults & (MAY_PASS | FAILS_AGAIN | BY_DESIGN)
    assert not MAY_PASS & FAILS_AGAIN


def test_judge_whose_replies_are_no_use_is_to_be_replaced(heart: Heart, tmp_path: Path) -> None:
    with serving(always(their_judge=healthy("A, I think"))) as server:
        path = write_study(tmp_path, server.url)
        done = heart("run", path)
        again = heart("run", path, "--json").json

    assert done.code == 1
    said = "The judge theirs has no result (not-json)."
    assert said in done.out
    assert [words for words in again["warnings"] if "has no result" in words] == [said]
    others = [words for words in again["warnings"] if words != said]
    assert all("its replies say that they are of tiny-1" in words for words in others)
    assert f"{len(others)} more notes" in done.out
    assert "take another model for theirs in" in done.out
    assert "heart judge" not in done.out


def test_what_is_given_up_is_no_work_for_the_next_run(
    heart: Heart, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused: list[str] = []

    async def refuse_one(request: web.Request, body: Mapping[str, Any]) -> web.StreamResponse:
        if not is_probe(body):
            question = body["messages"][1]["content"]
            refused.append(question)
            if question.startswith(refused[0]):
                return await say("I cannot say")(request, body)
        return await healthy()(request, body)

    with serving(always(their_judge=refuse_one)) as server:
        path = write_study(tmp_path, server.url)
        allow(path, 0.06)
        heart("run", path)
        after_asking = heart("run", path)
    monkeypatch.setattr(pipeline, "run_study", None)  # no server, and nothing to compute
    again = heart("run", path)

    assert "judge theirs: 1 judgment is missing: not-json" in after_asking.err
    assert (again.code, again.out, again.err) == (0, after_asking.out, after_asking.err)


def test_public_page_holds_no_words_of_a_provider(heart: Heart, tmp_path: Path) -> None:
    words = "refused: it speaks of a brother who drowned"
    answers = (fail(400, words), too_long(1), too_long(9))
    with serving(by_model(our_model=answers)) as server:
        path = write_study(tmp_path, server.url)
        heart("run", path)
    heart("report", path, "--public")

    public = (tmp_path / "served.public.html").read_text()
    assert words in (tmp_path / "served.report.html").read_text()
    assert "brother" not in public
    assert "exceeds" not in public
    assert "The system ours has no result (context-too-long)." in public
    assert "ours: 2 replies are missing: context-too-long (take a model" in public
