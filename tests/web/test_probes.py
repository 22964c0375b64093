"""What machines ask: whether a server lives, whether it can serve, and numbers without names."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from people_site import World, people_world

from hearteval.errors import StoreError
from hearteval.store.serving import Served
from hearteval.web import probes

TOKEN = "read-me"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with people_world(tmp_path) as made:
        yield made


def read(world: World, token: str = TOKEN) -> dict[str, float]:
    found = world.client().get("/metrics", headers={"authorization": f"Bearer {token}"})
    assert found.status_code == 200
    lines = [line for line in found.text.splitlines() if line[0] != "#"]
    assert all(re.fullmatch(r'[a-z_]+(\{[a-z]+="\w+"\})? [-+.\de]+', line) for line in lines)
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


def test_a_server_is_ready_where_it_can_serve(world: World) -> None:
    assert world.client().get("/healthz").text == "ok\n"
    found = world.client().get("/readyz")
    assert (found.status_code, found.text) == (200, "ready\n")


def unready(world: World) -> str:
    found = world.client().get("/readyz")
    assert found.status_code == 503
    assert world.client().get("/healthz").status_code == 200
    return found.text


def test_a_server_says_why_it_is_not_ready(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    version = world.desk.study.version
    served = Served((version, version + 1), 0.1)
    monkeypatch.setattr(world.store, "served", lambda _: served)
    assert unready(world) == f"version {version + 1} is served elsewhere, and {version} here\n"
    seen = iter([Served((version,), None), Served((version,), 0.1)])
    monkeypatch.setattr(world.store, "served", lambda _: next(seen))
    assert world.client().get("/readyz").text == "ready\n"
    monkeypatch.setattr(probes, "TAKEOVER_SECONDS", 0.0)
    monkeypatch.setattr(world.store, "served", lambda _: Served((version,), None))
    assert unready(world) == "no server opens tasks\n"
    monkeypatch.setattr(world.store, "latest_study", lambda _: None)
    assert unready(world) == "the study is not in the database\n"

    def fail() -> None:
        raise StoreError("postgresql://heart@secret.example is away")

    monkeypatch.setattr(world.store, "schema_version", fail)
    assert unready(world) == "the database cannot be used; see the log\n"


def test_metrics_are_for_who_has_the_token(world: World) -> None:
    client = world.client()
    assert client.get("/metrics").status_code == 404
    assert client.get("/metrics", headers={"authorization": "Bearer "}).status_code == 404
    object.__setattr__(world.site, "metrics_token", TOKEN)
    for sent in ({}, {"authorization": "Bearer other"}, {"authorization": TOKEN}):
        assert client.get("/metrics", headers=sent).status_code == 404
    assert read(world)["heart_database_up"] == 1


def test_metrics_count_and_name_nobody(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    object.__setattr__(world.site, "metrics_token", TOKEN)
    before = read(world)
    judge = world.come("judge")
    judge.judge()
    judge.get("judge")
    after = read(world)
    asked = before['heart_tasks_open{kind="judge"}']
    assert after['heart_answers{kind="judge"}'] == 1
    assert after['heart_tasks_open{kind="judge"}'] == asked - 1
    assert after['heart_tasks_held{kind="judge"}'] == 1
    assert after["heart_browsers"] == before["heart_browsers"] + 1
    assert after["heart_study_version"] == world.desk.study.version
    text = world.client().get("/metrics", headers={"authorization": f"Bearer {TOKEN}"}).text
    assert judge.name not in text
    assert world.desk.study.id[:8] not in text

    def fail(*_: object, **__: object) -> None:
        raise StoreError("away")

    monkeypatch.setattr(world.store.people, "find_browser", fail)
    assert judge.client.get("/work").status_code == 503
    monkeypatch.setattr(world.store.people, "figures", fail)
    away = read(world)
    assert away["heart_database_up"] == 0
    assert away['heart_database_errors_total{where="pages"}'] == 1
    assert "heart_browsers" not in away
