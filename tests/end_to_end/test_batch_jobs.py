"""A study asked through batch jobs: one bill, at the batch price, whenever it is killed."""

import json
import signal
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from batch_server import TOKENS_IN, TOKENS_OUT, BatchServer, batch_server
from forked_heart import Running
from heart_command import Done, Heart
from study_files import presets, study_text
from waiting import until

from hearteval.cli.main import run_command_line
from hearteval.domain import BatchJob
from hearteval.models import asking
from hearteval.models.batch.queue import BatchPolicy
from hearteval.models.presets import load_model_presets
from hearteval.store.sql import SqlStore
from hearteval.study.asking import opening

pytestmark = pytest.mark.server

QUICK = BatchPolicy(
    quiet_seconds=0.1, first_wait_seconds=0.02, max_wait_seconds=0.05, settle_seconds=0.1
)
N_ITEMS = 4
OWN = """
[[system]]
name = "ours"
model = "openai-compatible/our-model"
base_url = "{url}"
family = "ours"
price = {{ input = 1.0, output = 2.0 }}
batch = true
"""
OWN_JUDGE = """
[[judge]]
name = "{name}"
model = "openai-compatible/{name}"
base_url = "{url}"
family = "{name}"
price = {{ input = 1.0, output = 2.0 }}
{batch}
"""
N_JUDGMENTS = N_ITEMS * 3 * 2
"""Every item, three pairs, both orders; all claimed at once, so that no job waits for a commit."""
PRICE_OF_CALL = (TOKENS_IN * 1.0 + TOKENS_OUT * 2.0) / 1e6


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchServer]:
    monkeypatch.setattr("hearteval.study.asking.opening.BATCH_POLICY", QUICK)
    monkeypatch.setattr("hearteval.models.asking.FIRST_CLAIM", N_JUDGMENTS)
    with batch_server() as server:
        yield server


@pytest.fixture
def openai_at_loopback(server: BatchServer, monkeypatch: pytest.MonkeyPatch) -> BatchServer:
    """The presets' own providers, at the loopback server."""
    monkeypatch.setenv("OPENAI_API_KEY", "canary-openai-1")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "canary-anthropic-1")
    presets = {
        name: replace(
            preset, routes=tuple(replace(route, base_url=server.url) for route in preset.routes)
        )
        for name, preset in load_model_presets().items()
    }
    monkeypatch.setattr("hearteval.config.models.load_model_presets", lambda: presets)
    return server


def write(folder: Path, models: str, judges: str = '["cue"]') -> Path:
    path = folder / "long.toml"
    text = study_text(
        "long",
        f"{presets('generic', 'advice')}{models}\n",
        items=(N_ITEMS, 0),
        study={"seed": 6},
        judging={"judges": json.loads(judges)},
    )
    path.write_text(text, encoding="utf-8")
    return path


def own_study(folder: Path, url: str, *, batch: str = "batch = true") -> Path:
    """A system and a judge that are asked through batch jobs."""
    judge = OWN_JUDGE.format(name="theirs", url=url, batch=batch)
    return write(folder, OWN.format(url=url) + judge, '["theirs"]')


def ask(heart: Heart, study: Path) -> Done:
    """Have the systems answer and the judges judge, without the analysis; return the judging."""
    heart("complete", study, "--yes", "--json")
    return heart("judge", study, "--yes", "--json")


def rows(study: Path, query: str) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(study.with_suffix(".db"))
    found = connection.execute(query).fetchall()
    connection.close()
    return found


def test_study_of_a_batched_system_and_judge_is_two_jobs(
    heart: Heart, server: BatchServer, tmp_path: Path
) -> None:
    done = heart("run", own_study(tmp_path, server.url), "--yes", "--json")

    assert done.code == 0, done.err
    assert server.sizes == [N_ITEMS, N_JUDGMENTS]
    assert done.json["judgments"]["n_added"] == N_JUDGMENTS
    assert len(done.json["leaderboard"]) == 3


def test_completion_shows_that_it_came_in_a_batch(
    heart: Heart, server: BatchServer, tmp_path: Path
) -> None:
    study = own_study(tmp_path, server.url)
    assert heart("complete", study, "--yes", "--json").code == 0

    found = rows(study, "SELECT effective, total_ms, cost FROM completions WHERE cost > 0")
    assert len(found) == N_ITEMS
    assert {json.loads(effective)["batch"] for effective, _, _ in found} == {True}
    assert {total_ms for _, total_ms, _ in found} == {None}
    assert [cost for _, _, cost in found] == pytest.approx([PRICE_OF_CALL] * N_ITEMS)


def test_unusable_judgment_is_asked_for_again_in_a_job_of_its_own(
    heart: Heart, server: BatchServer, tmp_path: Path
) -> None:
    begun: set[str] = set()

    def fate(custom_id: str, body: Any) -> str:
        is_first = "response_format" in body and not begun
        begun.update([custom_id] if is_first else [])
        return "no JSON" if custom_id in begun else "ok"

    server.fate = fate

    done = ask(heart, own_study(tmp_path, server.url))

    assert server.sizes == [N_ITEMS, N_JUDGMENTS, 1]
    assert done.json["judgments"]["missing"] == {}


def test_two_judges_one_in_batches_and_one_directly(
    heart: Heart, server: BatchServer, tmp_path: Path
) -> None:
    one = OWN_JUDGE.format(name="theirs", url=server.url, batch="batch = true")
    two = OWN_JUDGE.format(name="direct", url=server.url, batch="")
    study = write(tmp_path, one + two, '["theirs", "direct"]')

    done = ask(heart, study)

    n_each = N_ITEMS * 1 * 2
    assert done.json["judgments"]["n_added"] == 2 * n_each
    assert server.sizes == [n_each]
    assert server.n_direct == n_each + 1  # and the question whether its schema is enforced


def test_two_batched_judges_have_a_job_each(
    heart: Heart, server: BatchServer, tmp_path: Path
) -> None:
    judges = [
        OWN_JUDGE.format(name=name, url=server.url, batch="batch = true") for name in ("a1", "b2")
    ]

    done = ask(heart, write(tmp_path, "".join(judges), '["a1", "b2"]'))

    assert done.json["judgments"]["n_added"] == 16
    assert server.sizes == [8, 8]


def test_small_concurrency_makes_small_jobs(
    heart: Heart, server: BatchServer, tmp_path: Path
) -> None:
    study = own_study(tmp_path, server.url, batch="batch = true\nconcurrency = 10")

    assert ask(heart, study).code == 0
    assert max(server.sizes) == 10
    assert sum(server.sizes) == N_ITEMS + N_JUDGMENTS


def test_calls_that_do_not_fit_the_budget_wait_for_a_later_job(
    heart: Heart, server: BatchServer, tmp_path: Path
) -> None:
    study = own_study(tmp_path, server.url)
    with study.open("a", encoding="utf-8") as file:
        file.write("[budget]\nmax_usd = 0.15\n")

    done = ask(heart, study)

    assert done.code == 0, done.err
    assert done.json["judgments"]["n_added"] == N_JUDGMENTS
    assert max(server.sizes) < N_JUDGMENTS


def test_judging_goes_on_directly_where_batch_is_taken_out(
    heart: Heart, server: BatchServer, tmp_path: Path
) -> None:
    heart("complete", own_study(tmp_path, server.url), "--yes", "--json")

    done = heart("run", own_study(tmp_path, server.url, batch=""), "--yes", "--json")

    assert done.json["version"] == 1
    assert done.json["completions"]["n_added"] == 0
    assert (len(server.jobs), server.n_direct) == (1, N_JUDGMENTS + 1)


def test_asking_directly_beside_an_open_job_warns_that_it_is_paid_again(
    heart: Heart, server: BatchServer, tmp_path: Path
) -> None:
    study = own_study(tmp_path, server.url)
    study.write_text(study.read_text(encoding="utf-8").replace("batch = true", ""))
    job = BatchJob(
        id="ab" * 16,
        provider="openai-compatible",
        model="our-model",
        custom_ids=("cd" * 16,),
        created_at=datetime.now(UTC),
    )
    store = SqlStore.open(str(study.with_suffix(".db")))
    store.keep_job(job)
    store.close()

    done = heart("complete", study, "--yes", "--json")

    assert "our-model: 1 calls are in batch jobs that were not collected" in done.err


def test_latency_is_measured_directly(heart: Heart, server: BatchServer, tmp_path: Path) -> None:
    study = own_study(tmp_path, server.url)

    done = heart("latency", study, "--items", "2", "--repeats", "1", "--yes", "--json")

    assert done.code == 0, done.err
    assert (len(server.jobs), server.n_direct) == (0, 3)


def test_doctor_probes_directly(heart: Heart, server: BatchServer, tmp_path: Path) -> None:
    done = heart("doctor", own_study(tmp_path, server.url), "--probe", "--json")

    assert done.code == 0, done.out
    assert (len(server.jobs), server.n_direct) == (0, 2)


def test_presets_are_asked_and_paid_at_the_batch_price(
    heart: Heart, openai_at_loopback: BatchServer, tmp_path: Path
) -> None:
    gpt = '[[system]]\npreset = "gpt-4o"\nbatch = true\n'
    claude = '[[judge]]\nname = "claude"\npreset = "claude-4.5-sonnet"\nbatch = true\n'
    study = write(tmp_path, gpt + claude, '["claude"]')
    estimate = heart("run", study, "--dry-run", "--json").json["ceiling"]["estimate"]

    done = ask(heart, study)

    assert done.code == 0, done.err
    assert estimate["n_batch_calls"] == estimate["n_calls"] == N_ITEMS + N_JUDGMENTS
    assert estimate["n_undiscounted"] == 0
    # gpt-4o: 2.5 and 10 dollars per million, half of it in a batch.
    completed = [cost for (cost,) in rows(study, "SELECT cost FROM completions WHERE cost > 0")]
    asked = (TOKENS_IN * 1.25 + TOKENS_OUT * 5.0) / 1e6
    assert completed == pytest.approx([asked] * N_ITEMS)
    # claude-4.5-sonnet: 3 and 15, 0.3 for what was read from its cache and 3.75 for what was
    # written to it, half of it in a batch.
    judged = [cost for (cost,) in rows(study, "SELECT cost FROM judgments")]
    asked = ((TOKENS_IN - 400) * 1.5 + 300 * 0.15 + 100 * 1.875 + TOKENS_OUT * 7.5) / 1e6
    assert judged == pytest.approx([asked] * N_JUDGMENTS)


def test_claude_judges_through_its_own_interface_held_to_the_schema(
    heart: Heart, openai_at_loopback: BatchServer, tmp_path: Path
) -> None:
    claude = '[[judge]]\nname = "claude"\npreset = "claude-4.5-sonnet"\nbatch = true\n'
    study = write(tmp_path, claude, '["claude"]')

    assert heart("run", study, "--yes", "--json").code == 0
    bodies = openai_at_loopback.bodies
    assert {body["model"] for body in bodies} == {"claude-sonnet-4-5-20250929"}
    assert {body["output_config"]["format"]["type"] for body in bodies} == {"json_schema"}
    assert {tuple(sorted(body)) for body in bodies} == {
        ("max_tokens", "messages", "model", "output_config", "system", "temperature")
    }
    (beginning,) = {json.dumps(body["system"]) for body in bodies}
    (kept,) = json.loads(beginning)
    assert kept["cache_control"] == {"type": "ephemeral"}
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [path for path in files if b"canary" in path.read_bytes()] == []


def run(study: str) -> None:
    """Run a study in a process that can be killed."""
    opening.BATCH_POLICY, asking.FIRST_CLAIM = QUICK, N_JUDGMENTS
    run_command_line(["run", study, "--yes", "--json"])


def finish(study: Path) -> None:
    Running(run, str(study)).end()


def kill_when(study: Path, happened: Callable[[], bool]) -> None:
    process = Running(run, str(study))
    until(lambda: process.code is not None or happened(), look_seconds=0.002)
    assert process.code is None, process.complaint
    process.kill()
    assert process.code == -signal.SIGKILL


def test_killed_between_submission_and_its_answer_pays_once(
    server: BatchServer, tmp_path: Path
) -> None:
    study = own_study(tmp_path, server.url)
    server.answer_seconds = 600.0
    kill_when(study, lambda: len(server.jobs) == 1)
    assert rows(study, "SELECT remote_id, closed_at FROM batch_jobs") == [(None, None)]
    server.answer_seconds = 0.0

    finish(study)

    assert server.sizes == [N_ITEMS, N_JUDGMENTS]
    assert set(server.n_submitted.values()) == {1}


def test_killed_while_results_are_recorded_pays_once(server: BatchServer, tmp_path: Path) -> None:
    study = own_study(tmp_path, server.url)
    kill_when(study, lambda: server.n_results > 0)

    finish(study)

    assert set(server.n_submitted.values()) == {1}
    assert sum(server.sizes) == N_ITEMS + N_JUDGMENTS
    assert rows(study, "SELECT count(*) FROM batch_jobs WHERE closed_at IS NULL") == [(0,)]


def test_killed_between_submission_and_result_pays_once(
    server: BatchServer, tmp_path: Path
) -> None:
    study = own_study(tmp_path, server.url)
    server.is_held = True
    kill_when(study, lambda: server.n_polls > 1)
    server.is_held = False
    kill_when(study, lambda: len(server.jobs) == 2)

    finish(study)

    assert server.sizes == [N_ITEMS, N_JUDGMENTS]
    assert set(server.n_submitted.values()) == {1}
    assert rows(study, "SELECT count(*) FROM judgments") == [(N_JUDGMENTS,)]
