"""``kill -9`` while models are asked: no reply that was kept is ever asked and paid for again.

In flight is a call that was begun and whose reply is not durable yet: on its way, or waiting with
others for the commit that they share.
"""

import asyncio
import hashlib
import json
import os
import random
import re
import signal
import subprocess
import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from aiohttp import web
from forked_heart import start
from killable_study import content, read, wait_until_left
from scripted_server import completion
from served_study import fitting_reply, serving
from study_files import FREE, presets, served, study_text
from waiting import until

from hearteval.models.asking import WORKERS_PER_CALL

pytestmark = pytest.mark.server

N_RANDOM_KILLS = int(os.environ.get("HEART_TEST_KILLS", "2"))
"""The whole measurement is 50, 20 of them on PostgreSQL: ``make soak``."""
MOST_ON_POSTGRES = 20
CALL_SECONDS = 0.02
N_AT_ONCE = 8
MOST_CALLS_OF_A_RUN = 16
LAST = "whoever has asked last"
NAME = re.compile("[0-9a-f]{64}")
TEXTS = (
    "SELECT text FROM completions",
    "SELECT raw FROM judgments",
    "SELECT text FROM reply_texts",
)
"""Where a reply may stand, once."""


@dataclass(frozen=True)
class Case:
    """A study file and its store: a path, or the address of a database."""

    study: Path
    store: str


@dataclass
class Provider:
    """A provider that notes every call, and answers the same question always the same."""

    begun: list[str] = field(default_factory=list)
    url: str = ""

    async def answer(self, request: web.Request, body: Mapping[str, object]) -> web.Response:
        if body["model"] == LAST:
            return web.json_response({})
        name = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
        self.begun.append(name)
        await asyncio.sleep(CALL_SECONDS)
        return web.json_response(completion(signed(fitting_reply(body), name)))


def signed(text: str, name: str) -> str:
    """Put the name of its call into a reply, or into the first reason of a verdict."""
    if not text.startswith("{"):
        return f"{text} ({name})"
    verdict = json.loads(text)
    first = next(iter(verdict))
    if isinstance(verdict[first], str):  # the question that shows whether a schema is enforced
        return json.dumps({first: name})
    verdict[first]["reason"] = f"For {name}."
    return json.dumps(verdict)


def prepare(folder: Path, url: str, store: str | None) -> Case:
    folder.mkdir()
    path = folder / "long.toml"
    text = study_text(
        "long",
        presets("generic", "advice"),
        served("system", "ours", "our-model", url, "ours", concurrency=N_AT_ONCE, price=FREE),
        served("judge", "theirs", "their-judge", url, "theirs", concurrency=N_AT_ONCE, price=FREE),
        items=(12, 0),
        study={"seed": 11},
        judging={"judges": ["theirs"]},
    )
    path.write_text(text, encoding="utf-8")
    return Case(path, store or str(folder / "long.db"))


def kept(case: Case) -> list[str]:
    """Return the calls whose replies are durable."""
    texts = [text for rows in read(case.store, *TEXTS) for (text,) in rows]
    return [found[0] for text in texts if (found := NAME.search(text))]


def kill_after(case: Case, provider: Provider, *, n_calls: int, seconds: float) -> bool:
    """Start a run, kill it a while after so many calls; tell whether it was still running."""
    enough = len(provider.begun) + n_calls
    process = start("run", case.study, case.store)
    until(lambda: process.code is not None or len(provider.begun) >= enough, look_seconds=0.002)
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    process.kill()
    hear_out(provider.url)
    wait_until_left(case.store)
    assert process.code in (-signal.SIGKILL, 0), process.wait()
    return process.code != 0


def hear_out(url: str) -> None:
    """Wait until the provider has begun whatever was sent before: it listens to one by one."""
    with urlopen(Request(url, json.dumps({"model": LAST}).encode())) as answer:
        assert answer.status == 200


def disturb(case: Case, provider: Provider, chance: random.Random, most: int) -> tuple[int, int]:
    """Run a study to its end with so many kills at most; return kills, and calls lost to them."""
    stored: set[str] = set()
    n_kills = n_lost = 0
    while n_kills < most:
        n_before = len(provider.begun)
        is_killed = kill_after(
            case,
            provider,
            n_calls=chance.randint(1, MOST_CALLS_OF_A_RUN),
            seconds=chance.uniform(0.0, 0.15),
        )
        asked, stored_now = provider.begun[n_before:], set(kept(case))
        assert stored.isdisjoint(asked)
        assert stored <= stored_now
        lost = set(asked) - stored_now
        assert len(lost) <= WORKERS_PER_CALL * N_AT_ONCE
        stored, n_lost = stored_now, n_lost + len(lost)
        if not is_killed:
            return n_kills, n_lost
        n_kills += 1
    n_before = len(provider.begun)
    start("run", case.study, case.store).end()
    assert stored.isdisjoint(provider.begun[n_before:])
    return n_kills, n_lost


@pytest.fixture
def new_store(database: str, request: pytest.FixtureRequest) -> Callable[[], str | None]:
    """Return what makes a database; a file comes into being beside its study."""
    if database == "sqlite":
        return lambda: None
    server = request.getfixturevalue("postgres")
    return lambda: server.create_database(f"killed_{uuid.uuid4().hex}")


@pytest.mark.parametrize(
    ("database", "most"),
    [
        ("sqlite", N_RANDOM_KILLS),
        pytest.param(
            "postgres",
            min(N_RANDOM_KILLS, MOST_ON_POSTGRES),
            marks=[pytest.mark.postgres],
        ),
    ],
)
def test_kills_at_random_moments_pay_for_nothing_twice(
    tmp_path: Path, most: int, new_store: Callable[[], str | None]
) -> None:
    provider, chance = Provider(), random.Random(2026)
    with serving(provider.answer) as server:
        provider.url = server.url
        reference = prepare(tmp_path / "undisturbed", server.url, new_store())
        start("run", reference.study, reference.store).end()
        expected, calls = content(reference.study, reference.store), Counter(provider.begun)
        assert set(calls.values()) == {1}
        assert expected[1]["spending"].pop("in_flight") is None
        n_kills = n_studies = 0
        while n_kills < most:
            case = prepare(tmp_path / f"study-{n_studies}", server.url, new_store())
            provider.begun.clear()
            n, n_lost = disturb(case, provider, chance, most - n_kills)
            n_kills, n_studies = n_kills + n, n_studies + 1
            assert set(provider.begun) == set(calls)
            assert len(provider.begun) == len(calls) + n_lost
            left = content(case.study, case.store)
            # Told where a run had set calls aside by the time it was killed: a busy machine's.
            in_flight = left[1]["spending"].pop("in_flight") or {"usd": 0, "n_processes": 0}
            assert (in_flight["usd"], in_flight["n_processes"] <= n) == (0, True)
            assert left == expected
