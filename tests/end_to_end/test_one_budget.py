"""One budget for all processes on a store, and what a killed one had under way stays booked.

The server counts what it bills for every call that reaches it, whatever became of the caller.
"""

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from pathlib import Path

import pytest
from aiohttp import web
from forked_heart import start
from heart_command import Heart
from killable_study import wait_until_left
from scripted_server import completion
from served_study import fitting_reply, serving, write_study

pytestmark = pytest.mark.server
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


def test_two_runs_together_never_pass_the_limit(tmp_path: Path, place: str) -> None:
    provider = Provider(seconds=1.0)
    limit = 20 * CALL_USD
    with serving(provider.answer) as server:
        study = write_study(
            tmp_path, server.url, regular=40, extra=PRICED, limit=f"max_usd = {limit}"
        )
        runs = [start("run", study, place, "--yes") for _ in range(2)]
        ended = [run.wait() for run in runs]

    assert provider.billed_usd <= limit
    assert set(provider.asked.values()) == {1}
    assert [run.code for run in runs] == [1, 1], ended
    said = [json.loads(out) for out, _ in ended]
    assert all("dollars would be passed" in one["stopped"] for one in said)
    assert max(one["spent_usd"] for one in said) == pytest.approx(provider.billed_usd)
    assert limit - provider.billed_usd < CEILING_USD


def test_what_a_killed_run_had_under_way_stays_booked_until_the_bill_is_known(
    tmp_path: Path, place: str, heart: Heart
) -> None:
    provider = Provider(seconds=0.3, most=32)
    with serving(provider.answer) as server, pytest.MonkeyPatch.context() as patch:
        study = write_study(tmp_path, server.url, regular=40, extra=PRICED, limit="max_usd = 50.0")
        killed = start("run", study, place, "--yes")
        while provider.asked.total() < 40 and killed.code is None:
            threading.Event().wait(0.01)
        killed.kill()
        wait_until_left(place)
        provider.most = inf
        patch.setenv("HEART_STORE", place)

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
    spending = json.loads(study.with_suffix(".results.json").read_text())["spending"]
    assert spending["in_flight"] == in_flight
    assert n_again <= in_flight["n_calls"] + N_AT_ONCE
    assert settled.json["replaced"]["usd"] == pytest.approx(in_flight["usd"])
    assert settled.json["spent_usd"] == pytest.approx(provider.billed_usd)
    assert (after["in_flight"], after["spent_usd"]) == (None, settled.json["spent_usd"])
