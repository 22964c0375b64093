"""Whole studies whose systems and judges answer over HTTP, well and in every wrong way."""

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from heart_command import Done, Heart
from scripted_server import Answer, chunk, completion, cut, fail, give, hang, say, sse, stream
from served_study import (
    FREE,
    KEY_NAME,
    REPLIES,
    always,
    by_model,
    fitting_reply,
    healthy,
    is_probe,
    serving,
    write_study,
)

from hearteval.models.http.client import Timeouts, open_client
from hearteval.study.asking import opening

pytestmark = [pytest.mark.server, pytest.mark.usefixtures("quick_patience")]

CANARY = "canary-7f3a91-key"
KEYED = f'{FREE}\nkey_name = "{KEY_NAME}"'
PRICED = "concurrency = 1\nprice = { input = 1.0, output = 4.0 }"
HALF = sse(chunk({"role": "assistant", "content": "That sounds"}))
HTML = b"<!doctype html><title>Sign in</title>"


@pytest.fixture(autouse=True)
def canary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_NAME, CANARY)


@pytest.fixture
def short_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give up on a silent endpoint soon, though never on a healthy one of a busy machine."""
    timeouts = Timeouts(connect_seconds=10.0, idle_seconds=1.0, total_seconds=20.0)
    monkeypatch.setattr(opening, "open_client", partial(open_client, timeouts=timeouts))


def rows(folder: Path, query: str) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(folder / "served.db")
    found: list[tuple[Any, ...]] = connection.execute(query).fetchall()
    connection.close()
    return found


NONE_MISSING: dict[str, object] = {"missing": {}, "n_missing": 0, "stopped": None}


def test_models_answer_and_judge(heart: Heart, tmp_path: Path) -> None:
    with serving(healthy()) as server:
        done = heart("run", write_study(tmp_path, server.url), "--json")

    assert (done.code, done.err) == (0, "")
    assert done.json["completions"]["n_added"] == 9
    assert done.json["judgments"] == {"n_wanted": 18, "n_before": 0, "n_added": 18, **NONE_MISSING}
    assert {row["system"] for row in done.json["leaderboard"]} == {"generic", "advice", "ours"}
    texts = {text for (text,) in rows(tmp_path, "SELECT text FROM completions")}
    assert len(texts.intersection(REPLIES)) >= 1
    assert len(server.bodies) == 3 + 18 + 1


def test_judges_are_asked_whole_and_a_reply_in_pieces_has_the_same_name(
    heart: Heart, tmp_path: Path
) -> None:
    with serving(healthy()) as server:
        path = write_study(tmp_path, server.url)
        heart("complete", path)
        n_streamed = sum("stream" in body for body in server.bodies)
        text = path.read_text("utf-8").replace(
            'family = "theirs"', 'family = "theirs"\nstream = true'
        )
        path.write_text(text, "utf-8")
        heart("judge", path)
        n_in_pieces = sum("stream" in body for body in server.bodies)
        with sqlite3.connect(tmp_path / "served.db") as connection:
            kept = connection.execute("SELECT id FROM replies ORDER BY id").fetchall()
        (tmp_path / "served.db").unlink()
        path.write_text(text.replace("stream = true", ""), "utf-8")
        heart("run", path)
        n_in_all = sum("stream" in body for body in server.bodies)

    assert (n_streamed, n_in_pieces, n_in_all) == (3, 3 + 18 + 1, 3 + 18 + 1 + 3)
    assert rows(tmp_path, "SELECT id FROM replies ORDER BY id") == kept


@pytest.mark.usefixtures("short_silence")
def test_trouble_that_passes_leaves_nothing_missing(heart: Heart, tmp_path: Path) -> None:
    trouble: list[Answer] = [
        fail(429, Retry_After="0"),
        fail(500),
        healthy(),
        hang(),
        fail(503),
        healthy(),
        stream(HALF, ending="cut"),
        stream(HALF, ending="hang"),
        healthy(),
        give(HTML, status=502, kind="text/html"),
        cut(),
        healthy(),
    ]
    with serving(by_model(our_model=trouble, their_judge=trouble)) as server:
        path = write_study(tmp_path, server.url, regular=4, extra=f"{FREE}\nstream = true")
        done = heart("run", path, "--json")

    assert (done.code, done.err) == (0, "")
    assert done.json["completions"]["n_missing"] == 0
    assert done.json["judgments"]["missing"] == {}
    assert rows(tmp_path, "SELECT count(*) FROM attempts") == [(0,)]
    assert rows(tmp_path, "SELECT count(*) FROM judgments WHERE strength IS NULL") == [(0,)]


LASTING: dict[str, tuple[Answer, str]] = {
    "too many requests": (fail(429, Retry_After="0"), "rate-limited"),
    "server error": (fail(500), "server-error"),
    "no answer": (hang(), "timeout"),
    "half a stream": (stream(HALF, ending="cut"), "cut-off-stream"),
    "half a stream that hangs": (stream(HALF, ending="hang"), "timeout"),
    "not JSON": (give(b"{not json"), "broken-body"),
    "a filter": (fail(400, "flagged", code="content_filter"), "content-filter"),
}


@pytest.mark.usefixtures("short_silence")
@pytest.mark.parametrize(("answer", "reason"), LASTING.values(), ids=LASTING)
def test_trouble_that_lasts_is_counted_and_made_up_for_later(
    heart: Heart, tmp_path: Path, answer: Answer, reason: str
) -> None:
    with serving(always(our_model=answer)) as server:
        path = write_study(tmp_path, server.url, regular=2, extra=f"{FREE}\nmax_wait_s = 0.5")
        done = heart("complete", path, "--json")
        server.answers.append(healthy())
        server.answers.popleft()
        later = heart("complete", path, "--json")

    assert (done.code, later.code) == (1, 0)
    assert done.json["completions"]["n_missing"] == 2
    assert reason in done.json["completions"]["missing"]
    assert f"missing: {reason}" in done.err
    assert f"heart: system ours has no result ({reason}" in done.err
    assert rows(tmp_path, "SELECT DISTINCT reason FROM attempts") == [(reason,)]
    assert later.json["completions"]["n_added"] == 2
    assert later.json["completions"]["missing"] == {}


def test_system_that_never_answers_leaves_the_others_a_ranking(
    heart: Heart, tmp_path: Path
) -> None:
    with serving(always(our_model=fail(500))) as server:
        done = heart("run", write_study(tmp_path, server.url), "--json")

    assert done.code == 1
    assert {row["system"] for row in done.json["leaderboard"]} == {"generic", "advice"}
    assert "system ours: 3 replies are missing: server-error: no" in done.err


def judged(change: Callable[[dict[str, dict[str, object]]], object]) -> Answer:
    """Answer with a verdict, changed."""

    async def answer(request: web.Request, body: Mapping[str, object]) -> web.StreamResponse:
        changed = change(json.loads(fitting_reply(body)))
        text = changed if isinstance(changed, str) else json.dumps(changed)
        return await say(text)(request, body)

    return answer


def with_mark(**values: object) -> Answer:
    return judged(lambda marks: {**marks, "overall": {**marks["overall"], **values}})


BAD_VERDICTS: dict[str, tuple[Answer, str]] = {
    "prose": (say("Both are fine, I call it a tie."), "not-json"),
    "nothing": (say(""), "empty"),
    "a tie": (with_mark(winner="tie"), "wrong-winner"),
    "six": (with_mark(strength=6), "wrong-strength"),
    "true": (with_mark(strength=True), "wrong-strength"),
    "NaN": (with_mark(strength=float("nan")), "wrong-strength"),
    "one axis": (judged(lambda marks: {"overall": marks["overall"]}), "missing-axis"),
    "a key twice": (judged(lambda m: json.dumps(m)[:-1] + ', "overall": {}}'), "duplicate-keys"),
    "fenced": (judged(lambda m: f"```json\n{json.dumps(m)}\n```"), "not-json"),
    "cut off": (give(completion('{"H": {"reason": "It', "length")), "truncated"),
    "half": (judged(lambda m: json.dumps(m)[:-30]), "truncated"),
    "refusal": (give(completion("", refusal="I will not.")), "refused"),
    "two objects": (judged(lambda m: json.dumps(m) * 2), "not-json"),
}


def in_every_wrong_way() -> Answer:
    """Answer each assignment, known by the code of its markers, in a wrong way of its own.

    The first gets a right one: a judge that has given none is soon asked no more.
    """
    ways: dict[str, Answer] = {}
    left = [*(answer for answer, _ in BAD_VERDICTS.values()), healthy()]

    async def answer(request: web.Request, body: Mapping[str, object]) -> web.StreamResponse:
        code = re.findall(r"code of the markers is (\w+)", json.dumps(body["messages"]))[-1]
        if code not in ways:
            ways[code] = left.pop() if left else healthy()
        return await ways[code](request, body)

    return answer


def test_verdicts_that_cannot_be_used_are_missing_and_never_a_tie(
    heart: Heart, tmp_path: Path
) -> None:
    with serving(always(their_judge=in_every_wrong_way())) as server:
        done = heart("run", write_study(tmp_path, server.url), "--json")

    reasons = Counter(reason for _, reason in BAD_VERDICTS.values())
    assert done.code == 1
    assert done.json["judgments"] == {
        "n_wanted": 18,
        "n_before": 0,
        "n_added": 18 - len(BAD_VERDICTS),
        "missing": reasons,
        "n_missing": len(BAD_VERDICTS),
        "stopped": None,
    }
    for reason, n in reasons.items():
        are = "judgment is" if n == 1 else "judgments are"
        assert f"judge theirs: {n} {are} missing: {reason} (not asked again)" in done.err
    assert rows(tmp_path, "SELECT count(*) FROM judgments") == [(18 - len(BAD_VERDICTS),)]
    assert rows(tmp_path, "SELECT DISTINCT choice IN ('first', 'second') FROM judgments") == [(1,)]
    tried = dict(rows(tmp_path, "SELECT reason, count(*) FROM attempts GROUP BY 1"))
    assert tried == {reason: 2 * n for reason, n in reasons.items()}


def test_no_verdict_that_can_be_used_is_no_ranking_and_the_report_says_why(
    heart: Heart, tmp_path: Path
) -> None:
    with serving(always(their_judge=say("I call it a tie."))) as server:
        done = heart("run", write_study(tmp_path, server.url, regular=1), "--json")

    assert (done.code, done.json["leaderboard"]) == (1, [])
    assert done.json["judgments"]["missing"] == {"not-json": 6}
    assert rows(tmp_path, "SELECT count(*) FROM judgments") == [(0,)]
    assert "not-json" in (tmp_path / "served.results.json").read_text()
    assert "not-json" in (tmp_path / "served.report.html").read_text()


FATAL_TROUBLE: dict[str, tuple[Answer, str, str]] = {
    "wrong key": (fail(401, f"Incorrect API key provided: {CANARY}"), "bad-key", "key may use"),
    "no credit": (fail(402), "no-credit", "top up"),
    "unknown model": (fail(404, "no such model"), "unknown-model", "check the model id"),
    "refused setting": (
        fail(400, "Unsupported parameter: 'temperature'"), "refused-settings temperature", "refuses"
    ),
    "a web page": (give(HTML, kind="text/html"), "html", "check base_url"),
    "other JSON": (give({"hello": 1}), "not-a-completion", "OpenAI-compatible"),
}  # fmt: skip


def assert_named(done: Done, kind: str, name: str, *words: str) -> None:
    (failure,) = done.json["failures"]
    assert (done.code, failure["kind"], failure["name"]) == (1, kind, name)
    assert [word for word in (f"heart: {kind} {name}", *words) if word not in done.err] == []
    assert CANARY not in done.err


def test_single_bad_answers_end_nobody_and_are_made_up_for(heart: Heart, tmp_path: Path) -> None:
    bad: list[Answer] = [
        give({"choices": []}),
        give({"choices": [{"message": None}]}),
        give(HTML, kind="text/html"),
        give(b"{not json"),
        fail(403),
        fail(404),
    ]
    script = [answer for one in bad for answer in (healthy(), one)]
    with serving(by_model(their_judge=script)) as server:
        path = write_study(tmp_path, server.url)
        done = heart("run", path, "--json")
        later = heart("run", path, "--json")

    # An endpoint that has answered is in trouble where it says 403 or 404: it is asked once more.
    assert (done.code, later.code) == (0, 0)
    assert done.json["judgments"]["missing"] == later.json["judgments"]["missing"] == {}
    assert not any("could not be used" in json.dumps(body) for body in server.bodies)
    assert rows(tmp_path, "SELECT reason, count(*) FROM attempts GROUP BY 1") == []


def test_broken_bodies_are_the_call_s_fault_and_never_given_up(
    heart: Heart, tmp_path: Path
) -> None:
    with serving(always(their_judge=give(b"{not json"))) as server:
        path = write_study(tmp_path, server.url, regular=1)
        codes = [heart("run", path).code for _ in range(3)]
        n_repairs = sum("could not be used" in json.dumps(body) for body in server.bodies)
        server.answers.append(healthy())
        server.answers.popleft()
        healed = heart("run", path, "--json")

    assert (codes, n_repairs) == ([1, 1, 1], 0)
    assert (healed.code, healed.json["judgments"]["n_added"]) == (0, 6)


@pytest.mark.parametrize(("answer", "reason", "advice"), FATAL_TROUBLE.values(), ids=FATAL_TROUBLE)
def test_trouble_of_every_call_ends_that_model_with_advice(
    heart: Heart, tmp_path: Path, answer: Answer, reason: str, advice: str
) -> None:
    with serving(always(our_model=answer)) as server:
        done = heart("complete", write_study(tmp_path, server.url, extra=KEYED), "--json")

    word, _, setting = reason.partition(" ")
    assert_named(done, "system", "ours", word, setting, advice)
    assert 1 <= len(server.bodies) <= 3
    assert rows(tmp_path, "SELECT count(*) FROM completions") == [(6,)]


def test_wrong_key_of_a_judge_is_named_and_keeps_the_completions(
    heart: Heart, tmp_path: Path
) -> None:
    with serving(always(their_judge=fail(401))) as server:
        done = heart("run", write_study(tmp_path, server.url, extra=KEYED), "--json")

    assert_named(done, "judge", "theirs", "bad-key", "may use this model")
    assert rows(tmp_path, "SELECT count(*) FROM completions") == [(9,)]


def test_probe_that_fails_leaves_it_to_the_questions(heart: Heart, tmp_path: Path) -> None:
    async def answer(request: web.Request, body: Mapping[str, object]) -> web.StreamResponse:
        return await (fail(401) if is_probe(body) else healthy())(request, body)

    with serving(answer) as server:
        done = heart("run", write_study(tmp_path, server.url), "--json")

    assert (done.code, done.json["judgments"]["n_added"]) == (0, 18)


def test_budget_too_small_for_one_item_is_one_line_and_asks_nothing(
    heart: Heart, tmp_path: Path
) -> None:
    with serving(healthy()) as server:
        path = write_study(tmp_path, server.url, extra=PRICED, limit="max_usd = 0.0001")
        done = heart("run", path, "--yes", "--json")

    assert done.code == 1
    assert "raise budget.max_usd" in done.json["stopped"]
    assert Path(done.json["report"]).is_file()
    assert server.bodies == []


def test_study_with_nothing_left_to_ask_needs_no_key_and_no_yes(
    heart: Heart, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(by_model(their_judge=[say("A tie."), say("A tie.")])) as server:
        path = write_study(tmp_path, server.url, extra=f'{PRICED}\nkey_name = "{KEY_NAME}"')
        first = heart("run", path, "--yes", "--json")
    monkeypatch.delenv(KEY_NAME)

    again = heart("run", path, "--json")

    assert (first.code, again.code) == (1, 1)
    assert again.json["judgments"] == {
        "n_wanted": 18,
        "n_before": 17,
        "n_added": 0,
        "missing": {"not-json": 1},
        "n_missing": 1,
        "stopped": None,
    }
    assert again.json["leaderboard"] == first.json["leaderboard"]


def test_endpoint_that_is_not_there_is_counted(heart: Heart, tmp_path: Path) -> None:
    done = heart("complete", write_study(tmp_path, "http://127.0.0.1:9/v1"), "--json")

    assert_named(done, "system", "ours", "connection: Connect call failed")
    assert done.json["completions"]["missing"] == {"connection": 3}


CANDIDATE = """[[system]]
name = "candidate"
model = "openai-compatible/our-model"
family = "ours"
concurrency = 1
price = {{ input = 0, output = 0 }}
base_url = "{url}"
{extra}
[[judge]]
"""


def test_two_models_of_one_id_at_two_addresses_never_share_a_reply(
    heart: Heart, tmp_path: Path
) -> None:
    with serving(healthy("From the old one.")) as old, serving(healthy("From the new.")) as new:
        path = write_study(tmp_path, old.url)
        heart("complete", path, "--json")
        added = path.read_text().replace("[[judge]]\n", CANDIDATE.format(url=new.url, extra=""))
        path.write_text(added)
        heart("complete", path, "--json")

    found = rows(
        tmp_path,
        "SELECT s.name, c.text, count(*) FROM completions c JOIN systems s ON s.id = c.system_id"
        " WHERE s.kind = 'model' GROUP BY 1, 2 ORDER BY 1",
    )
    assert found == [("candidate", "From the new.", 3), ("ours", "From the old one.", 3)]


def test_two_entries_at_one_endpoint_send_each_its_own_key(
    heart: Heart, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTHER_KEY", "another-one")
    with serving(healthy()) as server:
        path = write_study(tmp_path, server.url, extra=KEYED)
        other = CANDIDATE.format(url=server.url, extra='key_name = "OTHER_KEY"')
        path.write_text(path.read_text().replace("[[judge]]\n", other))
        heart("complete", path, "--json")

    sent = [header["Authorization"] for header in server.headers]
    assert Counter(sent) == {f"Bearer {CANARY}": 3, "Bearer another-one": 3}


def telling(answer: Answer) -> Answer:
    """Answer, and repeat every header in a header."""

    async def tell(request: web.Request, body: Mapping[str, object]) -> web.StreamResponse:
        response = await answer(request, body)
        assert isinstance(response, web.Response)
        response.headers["X-Debug"] = request.headers["Authorization"]
        return response

    return tell


LEAKS = (
    telling(fail(400, f"Bad header: Bearer {CANARY}")),
    telling(fail(429, f"{CANARY} is out of tokens", Retry_After="0")),
    telling(give(f"headers={{'Authorization': 'Bearer {CANARY}'}}".encode(), status=500)),
    healthy(),
    stream(HALF + f"data: {{'key': '{CANARY}'}}\n\n".encode(), ending="cut"),
    give({**completion(REPLIES[0]), "debug": {"authorization": CANARY}}),
    give(completion(f'{{"key": "{CANARY[:12]}…"', "length", debug=CANARY)),
)
FATAL_LEAKS = {
    "401": telling(fail(401, f"Incorrect API key provided: {CANARY}.")),
    "page": give(f"<html><title>{CANARY}</title>".encode(), kind="text/html"),
}


def leaks(done: Done, folder: Path, word: str) -> list[str]:
    """Return where a word stands: the output, or a file of the study."""
    places = [name for name, text in (("out", done.out), ("err", done.err)) if word in text]
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert any(path.suffix == ".log" for path in files)
    return places + [path.name for path in files if word.encode() in path.read_bytes()]


def test_key_is_nowhere_whatever_an_endpoint_repeats(heart: Heart, tmp_path: Path) -> None:
    with serving(by_model(our_model=LEAKS, their_judge=LEAKS[:-1])) as server:
        done = heart("run", write_study(tmp_path, server.url, regular=6, extra=KEYED))

    assert done.code == 1
    assert {sent["Authorization"] for sent in server.headers} == {f"Bearer {CANARY}"}
    assert rows(tmp_path, "SELECT count(*) FROM attempts") != [(0,)]
    assert leaks(done, tmp_path, CANARY) == []


@pytest.mark.parametrize("answer", FATAL_LEAKS.values(), ids=FATAL_LEAKS)
def test_key_is_nowhere_when_the_endpoint_ends_the_run(
    heart: Heart, tmp_path: Path, answer: Answer
) -> None:
    with serving(always(our_model=answer)) as server:
        done = heart("complete", write_study(tmp_path, server.url, extra=KEYED), "--json")

    assert done.code == 1
    assert leaks(done, tmp_path, CANARY[:12]) == []


def test_key_in_an_address_stays_in_the_study_file(heart: Heart, tmp_path: Path) -> None:
    with serving(by_model(our_model=[fail(500), fail(401)])) as server:
        secret = server.url.replace("//", f"//me:{CANARY}@") + f"?key={CANARY}"
        failed = heart("run", write_study(tmp_path, secret))
        done = heart("run", write_study(tmp_path, secret))

    assert (failed.code, done.code) == (1, 0)
    assert leaks(failed, tmp_path, CANARY) == leaks(done, tmp_path, CANARY) == ["served.toml"]


def test_traceback_of_a_fault_of_ours_shows_no_key(
    heart: Heart, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_words: object, **_settings: object) -> None:
        raise ZeroDivisionError("one over nothing")

    monkeypatch.setattr("hearteval.models.http.client.build_body", broken)
    done = heart("run", write_study(tmp_path, "http://127.0.0.1:9/v1", extra=KEYED))

    assert done.code == 1
    assert re.search(r"^ZeroDivisionError", done.err, re.MULTILINE)
    assert leaks(done, tmp_path, CANARY[:12]) == []
