"""``kill -9`` while models are asked: no reply that was kept is ever asked and paid for again."""

import asyncio
import hashlib
import json
import os
import random
import signal
import sqlite3
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from aiohttp import web
from killable_study import DEADLINE_SECONDS, content, finish, start
from scripted_server import completion
from served_study import fitting_reply, serving

pytestmark = pytest.mark.server

N_RANDOM_KILLS = int(os.environ.get("HEART_TEST_KILLS", "15"))
"""The whole measurement is 50: ``make soak``."""
CALL_SECONDS = 0.02
N_AT_ONCE = 8
MOST_CALLS_OF_A_RUN = 16
STUDY = """
[study]
name = "long"
seed = 11
[items]
source = "starter"
regular = 16
adversarial = 0
[[system]]
preset = "generic"
[[system]]
preset = "advice"
[[system]]
name = "ours"
model = "openai-compatible/our-model"
base_url = "{url}"
family = "ours"
concurrency = {n}
price = {{ input = 0, output = 0 }}
[[judge]]
name = "theirs"
model = "openai-compatible/their-judge"
base_url = "{url}"
family = "theirs"
concurrency = {n}
price = {{ input = 0, output = 0 }}
[judging]
judges = ["theirs"]
stress_items = 0
repeat_pairs = 0
"""


@dataclass
class Provider:
    """A provider that notes every call, and answers the same question always the same."""

    begun: list[str] = field(default_factory=list)
    answered: list[str] = field(default_factory=list)

    async def answer(self, request: web.Request, body: Mapping[str, object]) -> web.Response:
        name = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
        self.begun.append(name)
        await asyncio.sleep(CALL_SECONDS)
        self.answered.append(name)
        return web.json_response({**completion(fitting_reply(body)), "id": name})


def prepare(folder: Path, url: str) -> Path:
    folder.mkdir()
    path = folder / "long.toml"
    path.write_text(STUDY.format(url=url, n=N_AT_ONCE), encoding="utf-8")
    return path


def kept(study: Path) -> list[str]:
    """Return the calls whose replies are durable."""
    connection = sqlite3.connect(study.parent / "long.db")
    replies = [json.loads(reply) for (reply,) in connection.execute("SELECT reply FROM replies")]
    connection.close()
    return [json.loads(reply["raw"])["id"] for reply in replies]


def kill_after(study: Path, provider: Provider, *, n_calls: int, seconds: float) -> bool:
    """Start a run, kill it a while after so many calls; tell whether it was still running."""
    enough = len(provider.begun) + n_calls
    process = start(study)
    deadline = time.monotonic() + DEADLINE_SECONDS
    while process.poll() is None and len(provider.begun) < enough:
        assert time.monotonic() < deadline, "the run asks nothing"
        time.sleep(0.002)
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    _, err = process.communicate()
    if process.returncode == -signal.SIGKILL:
        return True
    assert process.returncode == 0, err
    return False


def test_kills_at_random_moments_pay_for_nothing_twice(tmp_path: Path) -> None:
    provider, chance = Provider(), random.Random(2026)
    n_kills = n_studies = n_again = 0
    with serving(provider.answer) as server:
        reference = prepare(tmp_path / "undisturbed", server.url)
        finish(reference)
        expected, calls = content(reference), Counter(provider.begun)
        assert set(calls.values()) == {1}
        while n_kills < N_RANDOM_KILLS:
            study = prepare(tmp_path / f"study-{n_studies}", server.url)
            provider.begun, provider.answered = [], []
            stored: list[str] = []
            is_killed, n_lost = True, 0
            while is_killed:
                n_before = len(provider.begun)
                is_killed = kill_after(
                    study,
                    provider,
                    n_calls=chance.randint(1, MOST_CALLS_OF_A_RUN),
                    seconds=chance.uniform(0.0, 0.15),
                )
                n_kills += is_killed
                asked_now = provider.begun[n_before:]
                assert set(asked_now).isdisjoint(stored)
                assert set(stored) <= set(kept(study))
                stored = kept(study)
                lost = set(asked_now).difference(stored)
                assert len(lost) <= N_AT_ONCE
                n_lost += len(lost)
            n_studies += 1
            n_again += len(provider.begun) - len(calls)
            assert set(provider.begun) == set(calls)
            assert len(provider.begun) - len(calls) == n_lost
            assert content(study) == expected
    print(f"{n_kills} kills, {n_studies} studies, {n_again} calls made again")
