"""One budget for all processes on a store, and what a killed one had under way stays booked.

The server counts what it bills for every call that reaches it, whatever became of the caller.
"""

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from pathlib import Path

import pytest
from aiohttp import web
from heart_command import Heart
from killable_study import wait_until_left
from scripted_server import completion
from served_study import fitting_reply, serving, write_study

pytestmark = pytest.mark.server
DEADLINE_SECONDS = 300
N_IN, N_OUT = 300, 100
USD_PER_TOKEN = 1e-5
CALL_USD = (N_IN + N_OUT) * USD_PER_TOKEN
MAX_TOKENS = 200
CEILING_USD = 0.05
"""More than any call of these studies may cost: its prompt twice, and its longest reply."""
N_AT_ONCE = 16
PRICED = (
    f"concurrency = {N_AT_ONCE}\nmax_tokens = {MAX_TOKENS}\nprice = {{ input = 10, output = 10 }}"
)
DATABASES = pytest.mark.parametrize(
    "database", ["sqlite", pytest.param("postgres", marks=[pytest.mark.postgres])]
)


@dataclass
class Provider:
    """A provider that bills each call when it begins, and answers it after a while.

    Of the calls beyond `most` it answers none before that is raised.
    """

    seconds: float
    most: float = inf
    asked: Counter[str] = field(default_factory=Counter)

    async def answer(self, request: web.Request, body: Mapping[str, object]) -> web.Response:
        self.asked[json.dumps([body["model"], body["messages"]])] += 1
        while self.asked.total() > self.most:
            await asyncio.sleep(0.01)
        await asyncio.sleep(self.seconds)
        usage = {"prompt_tokens": N_IN, "completion_tokens": N_OUT}
        return web.json_response({**completion(fitting_reply(body)), "usage": usage})

    @property
    def billed_usd(self) -> float:
        return self.asked.total() * CALL_USD


def environment(store: str | None) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if k != "HEART_STORE"}
    return kept if store is None else {**kept, "HEART_STORE": store}


def start(study: Path, store: str | None) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "hearteval", "run", str(study), "--yes", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(store),
    )


def place(database: str, request: pytest.FixtureRequest) -> str | None:
    return None if database == "sqlite" else str(request.getfixturevalue("postgres_url"))


@DATABASES
def test_two_runs_together_never_pass_the_limit(
    tmp_path: Path, database: str, request: pytest.FixtureRequest
) -> None:
    store, provider = place(database, request), Provider(seconds=1.0)
    limit = 20 * CALL_USD
    with serving(provider.answer) as server:
        study = write_study(
            tmp_path, server.url, regular=40, extra=PRICED, limit=f"max_usd = {limit}"
        )
        runs = [start(study, store) for _ in range(2)]
        ended = [run.communicate(timeout=DEADLINE_SECONDS) for run in runs]

    assert provider.billed_usd <= limit
    assert set(provider.asked.values()) == {1}
    assert [run.returncode for run in runs] == [1, 1], ended
    said = [json.loads(out) for out, _ in ended]
    assert all("dollars would be passed" in one["stopped"] for one in said)
    assert max(one["spent_usd"] for one in said) == pytest.approx(provider.billed_usd)
    assert limit - provider.billed_usd < CEILING_USD


@DATABASES
def test_what_a_killed_run_had_under_way_stays_booked_until_the_bill_is_known(
    tmp_path: Path, database: str, request: pytest.FixtureRequest, heart: Heart
) -> None:
    store, provider = place(database, request), Provider(seconds=0.3, most=32)
    with serving(provider.answer) as server, pytest.MonkeyPatch.context() as patch:
        study = write_study(tmp_path, server.url, regular=40, extra=PRICED, limit="max_usd = 50.0")
        killed = start(study, store)
        while provider.asked.total() < 40 and killed.poll() is None:
            threading.Event().wait(0.01)
        killed.kill()
        killed.communicate()
        wait_until_left(store or "")
        provider.most = inf
        if store is not None:
            patch.setenv("HEART_STORE", store)
        else:
            patch.delenv("HEART_STORE", raising=False)

        billed = provider.billed_usd
        dry = heart("run", study, "--dry-run", "--json").json
        in_flight = dry["in_flight"]
        assert in_flight["n_calls"] > 0
        assert billed <= 1.01 * (dry["spent_usd"] + in_flight["usd"])
        assert dry["spent_usd"] < billed

        goes_on = heart("run", study, "--yes", "--json")
        n_again = provider.asked.total() - len(provider.asked)
        settled = heart("store", "settle", study, str(billed - dry["spent_usd"]), "--json")
        after = heart("run", study, "--dry-run", "--json").json

    assert goes_on.code == 0, goes_on.err
    assert f"heart store settle {study}" in goes_on.err
    assert "perhaps billed" in goes_on.err
    assert n_again <= in_flight["n_calls"] + N_AT_ONCE
    assert settled.json["replaced"]["usd"] == pytest.approx(in_flight["usd"])
    assert settled.json["spent_usd"] == pytest.approx(provider.billed_usd)
    assert (after["in_flight"], after["spent_usd"]) == (None, settled.json["spent_usd"])
