"""A key that comes back on any road, in any spelling, is neither stored nor logged nor shown."""

import json
import logging
import sqlite3
from base64 import b64encode
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import quote

import pytest
from aiohttp import web
from batch_server import BatchServer, batch_server
from heart_command import Done, Heart
from inspect_runs import answered, sample, write_run
from record_tables import REPLIES, items_of, replies, stored, write
from scripted_server import Answer, completion, fail, give
from served_study import FREE, KEY_NAME, always, fitting_reply, serving, write_study

from hearteval.domain import Completion
from hearteval.models.batch.queue import BatchPolicy

pytestmark = pytest.mark.server

KEY = "sk-canary/7f3a91+bq"
KEYED = f'{FREE}\nkey_name = "{KEY_NAME}"'
ESCAPED = "".join(f"\\u{ord(c):04x}" for c in KEY)
SPELLINGS = {
    "plain": KEY,
    "JSON": ESCAPED,
    "JSON twice": ESCAPED.replace("\\", "\\\\"),
    "URL": quote(KEY, safe=""),
    "base64": b64encode(f"u:{KEY}".encode()).decode(),
}
QUICK = BatchPolicy(
    quiet_seconds=0.1, first_wait_seconds=0.02, max_wait_seconds=0.05, settle_seconds=0.1
)


@pytest.fixture(autouse=True)
def planted_key(quick_patience: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hearteval.study.asking.opening.BATCH_POLICY", QUICK)
    monkeypatch.setenv(KEY_NAME, KEY)


def leaks(folder: Path, *done: Done) -> list[str]:
    """Return where the key stands in any spelling: what was said, files, values of the store."""
    places = {f"out {k}": one.out + one.err for k, one in enumerate(done)}
    for path in folder.rglob("*"):
        if path.is_file():
            places[path.name] = path.read_bytes().decode(errors="replace")
    for path in folder.glob("*.db"):
        connection = sqlite3.connect(path)
        places["store"] = "\n".join(connection.iterdump())
        connection.close()
    words = {KEY[:12], SPELLINGS["base64"][4:20], *SPELLINGS.values()}
    return sorted(f"{name}: {w}" for name, text in places.items() for w in words if w in text)


def telling(spelled: str, field: str) -> Answer:
    """Answer well, with the key in one place."""

    async def answer(request: web.Request, body: Mapping[str, object]) -> web.StreamResponse:
        text = fitting_reply(body)
        told = {**completion(text), "model": "tiny-1"}
        choice = told["choices"][0]
        if field == "content" and text.startswith("{"):
            verdict = json.loads(text)
            for mark in verdict.values():
                if isinstance(mark, dict):
                    mark["reason"] = "It says @."
            choice["message"]["content"] = json.dumps(verdict)
        elif field in ("content", "reasoning", "refusal"):
            choice["message"][field] = "I hear you: @."
        elif field == "finish_reason":
            choice[field] = "@"
        else:
            told[field] = "@"
        words = json.dumps(told).replace("@", spelled)
        return web.Response(text=words, content_type="application/json")

    return answer


FIELDS = ("content", "reasoning", "refusal", "finish_reason", "model", "debug")


@pytest.mark.parametrize("field", FIELDS)
def test_a_key_in_a_reply(heart: Heart, tmp_path: Path, field: str) -> None:
    answer = telling(", ".join(SPELLINGS.values()), field)
    with serving(always(our_model=answer, their_judge=answer)) as server:
        path = write_study(tmp_path, server.url, regular=1, extra=KEYED)
        done = [heart("run", path), heart("doctor", path, "--probe")]
    out = {form: ("--to", form, "--out", tmp_path / form) for form in ("csv", "inspect")}
    done += [heart("export", path, *words) for words in out.values()]
    assert leaks(tmp_path, *done) == []


ERRORS: dict[str, Answer] = {
    "bad key": fail(401, f"Incorrect API key provided: {KEY}"),
    "code": fail(400, "no", code=f"wrong {KEY}"),
    "param": give({"error": {"message": "no", "param": KEY}}, status=400),
    "detail": give({"detail": [{"msg": f"{KEY} is wrong", "loc": [KEY]}]}, status=422),
    "escapes": give(f'{{"error": {{"message": "no {ESCAPED}"}}}}', status=500),
    "text": give(f"no {SPELLINGS['URL']} {SPELLINGS['base64']}", status=500, kind="text/plain"),
    "location": give("", status=302, Location=f"https://me:{quote(KEY, safe='')}@host/?key={KEY}"),
    "no body": give(f'{{"choices": [{{"message": {{"content": "I hear {ESCAPED}'),
    "no completion": give({"choices": [{"message": {"content": 7, "key": KEY}}], "model": KEY}),
}


@pytest.mark.parametrize("answer", ERRORS.values(), ids=ERRORS)
def test_a_key_in_an_error(heart: Heart, tmp_path: Path, answer: Answer) -> None:
    with serving(always(our_model=answer, their_judge=answer)) as server:
        extra = f"{KEYED}\nmax_wait_s = 0.1\ntries = 1"
        path = write_study(tmp_path, server.url, regular=1, extra=extra)
        done = [heart("complete", path), heart("doctor", path, "--probe")]
    assert [one.code for one in done] == [1, 1]
    assert leaks(tmp_path, *done) == []


ALL_SPELLINGS = ", ".join(SPELLINGS.values())
REFUSAL = {"message": f"no {ALL_SPELLINGS}", "code": KEY}
JOBS: dict[str, Callable[[BatchServer], object]] = {
    "reply": lambda server: setattr(server, "fate", lambda *_: f"I hear you: {ALL_SPELLINGS}"),
    "refused": lambda server: server.refusals.extend([(400, REFUSAL)] * 2),
    "failed": lambda server: server.looks.extend(
        [{"id": "batch_1", "status": "failed", "errors": {"data": [REFUSAL]}}] * 2
    ),
    "gone": lambda server: server.looks.extend([{"id": "batch_1", "status": KEY}, REFUSAL]),
}


@pytest.mark.parametrize("tell", JOBS.values(), ids=JOBS)
def test_a_key_in_what_is_said_of_a_batch_job(
    heart: Heart, tmp_path: Path, tell: Callable[[BatchServer], object]
) -> None:
    with batch_server() as server:
        tell(server)
        extra = KEYED.replace("concurrency = 1", "batch = true")
        path = write_study(tmp_path, server.url, regular=1, extra=extra)
        done = heart("run", path)
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert leaks(tmp_path, done) == []


IMPORTED = """
[[system]]
name = "theirs"
model = "imported/gpt-5"
family = "gpt"
"""


@pytest.mark.parametrize("spelled", SPELLINGS.values(), ids=SPELLINGS)
def test_a_key_in_a_table_that_is_imported(
    heart: Heart, study: Path, tmp_path: Path, spelled: str
) -> None:
    study.write_text(study.read_text("utf-8") + IMPORTED, encoding="utf-8")
    rows = [{**row, "reply": f"{row['reply']} {spelled}"} for row in replies(study, "theirs")]
    table = write(tmp_path / "rows.jsonl", rows)
    done = [heart("import", study, table, *REPLIES, *more) for more in (["--dry-run"], [])]
    table.unlink()
    assert [one.code for one in done] == [0, 0]
    assert len(stored(study, Completion)) >= len(rows)
    assert leaks(tmp_path, *done) == []


def test_a_key_in_a_log_that_is_imported(heart: Heart, study: Path, tmp_path: Path) -> None:
    study.write_text(study.read_text("utf-8") + IMPORTED, encoding="utf-8")
    text = f"That weighs on you {ALL_SPELLINGS}."
    log = write_run(
        tmp_path / "run.json",
        [sample(item, answered(text)) for item in items_of(study)],
        model="gpt-5",
    )
    done = heart("import", study, log, "--system", "theirs")
    log.unlink()
    assert done.code == 0, done.err
    assert leaks(tmp_path, done) == []


def test_a_key_in_a_fault_of_ours(
    heart: Heart, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_words: object, **_settings: object) -> None:
        logging.getLogger("hearteval.models").warning("asked with %s", ALL_SPELLINGS)
        raise ZeroDivisionError(ALL_SPELLINGS)

    monkeypatch.setattr("hearteval.models.http.client.build_body", broken)
    done = heart("run", write_study(tmp_path, "http://127.0.0.1:9/v1", extra=KEYED), "--json")
    assert done.code == 1
    assert "warning: asked with [hidden]" in done.err
    assert "ZeroDivisionError: [hidden]" in done.err
    assert leaks(tmp_path, done) == []


@pytest.mark.parametrize("setting", ["prompt", "batch", "max_tokens", "price", "model"])
def test_a_key_in_the_wrong_place_of_a_study_file(
    heart: Heart, tmp_path: Path, setting: str
) -> None:
    extra = FREE if setting == "model" else f'{FREE}\n{setting} = "{KEY}"'
    if setting == "price":
        extra = f'price = "{KEY}"'
    path = write_study(tmp_path, "http://127.0.0.1:9/v1", extra=extra)
    if setting == "model":
        text = path.read_text("utf-8").replace('"openai-compatible/our-model"', f'"inspect/{KEY}"')
        path.write_text(text, encoding="utf-8")
    done = [heart("run", path), heart("run", path, "--json"), heart("doctor", path)]
    path.unlink()
    assert [one.code for one in done] == [2, 2, 1]
    assert leaks(tmp_path, *done) == []
