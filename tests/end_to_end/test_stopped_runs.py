"""A run that is told to stop keeps what is under way, says so in a line, and nothing is lost."""

import asyncio
import json
import signal
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest
from aiohttp import web
from forked_heart import Running, start
from scripted_server import Answer
from served_study import healthy, serving, write_study

pytestmark = pytest.mark.server
PRICED = "concurrency = 2\nprice = { input = 1.0, output = 2.0 }"


def test_terminated_run_keeps_its_calls_and_the_next_one_asks_the_rest(tmp_path: Path) -> None:
    runs: list[Running] = []

    def stopping() -> Answer:
        n_judged = 0

        async def answer(request: web.Request, body: Mapping[str, object]) -> web.StreamResponse:
            nonlocal n_judged
            n_judged += body["model"] == "their-judge"
            if n_judged == 6 and len(runs) == 1:
                runs[0].send(signal.SIGTERM)
                await asyncio.sleep(0.3)  # it is under way when the run is told to stop
            return await healthy()(request, body)

        return answer

    with serving(stopping()) as server:
        study = write_study(tmp_path, server.url, extra=PRICED)
        runs.append(start("run", study, None, "--yes"))
        out, err = runs[0].wait()
        n_first = len(server.bodies)
        runs.append(start("run", study, None, "--yes"))
        again, complaint = runs[1].wait()

    assert runs[0].code == 130, err
    assert json.loads(out)["error"]["kind"] == "interrupted"
    assert err.splitlines()[-1].startswith("heart: stopped; what was stored is kept")
    assert runs[1].code == 0, complaint
    assert json.loads(again)["judgments"]["n_missing"] == 0
    asked = Counter(json.dumps([body["model"], body["messages"]]) for body in server.bodies)
    assert set(asked.values()) == {1}
    assert n_first < len(server.bodies)
