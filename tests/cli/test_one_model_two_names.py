"""A judge and a system that one model answers: the doctor finds it, and the page says it first."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from heart_command import Heart
from scripted_server import Answer, fail
from served_study import healthy, serving, write_study
from tiny_model import ONE_THREAD, TINY_MODEL

from hearteval.models.local import run_local_model
from hearteval.study.one_model import NO_SUCH_MODEL

pytestmark = pytest.mark.server

NAME = "one model, two names"
FREE_LONG = "concurrency = 1\nprice = 0\nmax_tokens = 2500"


def same(heart: Heart, study: Path, *options: str) -> tuple[int, list[dict[str, Any]]]:
    done = heart("doctor", study, *options, "--json")
    return done.code, [check for check in done.json["checks"] if check["name"] == NAME]


def known_names_only() -> Answer:
    async def answer(request: web.Request, body: Mapping[str, Any]) -> web.StreamResponse:
        is_known = body["model"] in {"our-model", "their-judge"}
        return await (healthy(model=None) if is_known else fail(404))(request, body)

    return answer


def test_doctor_finds_one_model_behind_two_names(heart: Heart, tmp_path: Path) -> None:
    with serving(healthy()) as server:
        study = write_study(tmp_path, server.url)
        assert same(heart, study) == (0, [])
        code, (check,) = same(heart, study, "--probe")

    assert (code, check["state"]) == (1, "missing")
    assert "the judge theirs and the system ours are the same model" in check["detail"]
    assert server.url not in str(check)


def test_doctor_asks_a_server_that_repeats_names_for_a_model_that_is_none(
    heart: Heart, tmp_path: Path
) -> None:
    with serving(healthy(model=None)) as any_name, serving(known_names_only()) as knows:
        code, (check,) = same(heart, write_study(tmp_path, any_name.url), "--probe")
        apart = same(heart, write_study(tmp_path, knows.url), "--probe")

    assert (code, check["state"]) == (1, "missing")
    assert apart == (0, [])
    assert [body["model"] for body in any_name.bodies] == [
        "our-model",
        "their-judge",
        NO_SUCH_MODEL,
    ]


def test_no_name_of_nobody_is_asked_where_calls_are_paid_for(heart: Heart, tmp_path: Path) -> None:
    priced = "concurrency = 1\nprice = { input = 1.0, output = 4.0 }"
    with serving(healthy(model=None)) as server:
        assert same(heart, write_study(tmp_path, server.url, extra=priced), "--probe") == (0, [])

    assert [body["model"] for body in server.bodies] == ["our-model", "their-judge"]


def test_one_model_and_address_in_the_file_are_found_before_a_call(
    heart: Heart, tmp_path: Path
) -> None:
    study = write_study(tmp_path, "http://127.0.0.1:9/v1")
    text = study.read_text(encoding="utf-8")
    study.write_text(text.replace("/their-judge", "/our-model"), encoding="utf-8")

    code, (check,) = same(heart, study)
    planned = heart("run", study, "--dry-run")

    assert (code, check["state"]) == (1, "missing")
    assert "judge theirs and the system ours are the same model" in planned.err


def test_two_judges_of_one_model_are_an_option_to_mend(heart: Heart, tmp_path: Path) -> None:
    with serving(healthy(model="large")) as server, serving(healthy()) as of_judges:
        study = write_study(tmp_path, server.url)
        text = study.read_text(encoding="utf-8")
        first = text[text.index("[[judge]]") : text.index("[judging]")]
        first = first.replace(server.url, of_judges.url)
        second = first.replace('"theirs"', '"second"').replace("their-judge", "second-judge")
        text = text[: text.index("[[judge]]")] + first + second + text[text.index("[judging]") :]
        text = text.replace('judges = ["theirs"]', 'judges = ["theirs", "second"]')
        study.write_text(text, encoding="utf-8")
        code, (check,) = same(heart, study, "--probe")

    assert (code, check["state"]) == (0, "optional")
    assert "judges theirs and second are the same model" in check["detail"]


def test_the_page_and_the_terminal_say_it_first(heart: Heart, tmp_path: Path) -> None:
    with serving(healthy()) as server:
        study = write_study(tmp_path, server.url)
        done = heart("run", study)
        again = heart("run", study, "--json")

    said = "One model under two names: tiny-1 answers as the judge theirs and as the system ours."
    assert again.json["warnings"][0].startswith(said)
    assert "One model under two names" in done.out
    page = (tmp_path / "served.report.html").read_text(encoding="utf-8")
    assert page.index(said) < page.index("<table")
    (stored,) = (
        check
        for check in heart("doctor", study, "--json").json["checks"]
        if check["detail"].startswith(said)
    )
    assert stored["state"] == "optional"


def test_llama_cpp_answers_any_name_and_is_found_out(heart: Heart, tmp_path: Path) -> None:
    with run_local_model(TINY_MODEL, ONE_THREAD) as server:
        study = write_study(tmp_path, server.base_url, regular=1, extra=FREE_LONG)
        code, (check,) = same(heart, study, "--probe")
        warnings = heart("run", study, "--json").json["warnings"]

    assert (code, check["state"]) == (1, "missing")
    assert warnings[0].startswith("One model under two names: tiny answers as the judge theirs")
