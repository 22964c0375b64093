"""A study moves between databases and is the same there."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from heart_command import Heart
from small_world import NOW

from hearteval.domain import BatchJob, Item, System
from hearteval.errors import StoreError
from hearteval.store.copy import copy_store, require_equal, store_hashes
from hearteval.store.records import StoredReply
from hearteval.store.rows import TABLES
from hearteval.store.sql import SqlStore


@pytest.mark.postgres
@pytest.mark.usefixtures("ran")
def test_a_study_moves_to_postgresql_and_back(
    heart: Heart, study: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = study.parent / "tiny.db"
    there = heart("store", "copy", source, postgres_url, "--json").json
    back = heart("store", "copy", postgres_url, study.parent / "back.db", "--json").json
    assert there["schema"] == "heart.store_copy/1"
    assert there["hashes"]["from"] == there["hashes"]["to"]
    assert back["hashes"] == there["hashes"]
    assert there["n_new"]["judgment"] > 0
    before = json.loads((study.parent / "tiny.results.json").read_text(encoding="utf-8"))
    monkeypatch.setenv("HEART_STORE", postgres_url)
    after = heart("analyze", study, "--json").json
    assert after["leaderboard"] == before["leaderboard"]


@pytest.mark.postgres
@pytest.mark.usefixtures("ran")
def test_a_study_runs_on_postgresql_as_on_sqlite(
    heart: Heart, study: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_sqlite = SqlStore.open(str(study.parent / "tiny.db"))
    text = study.read_text(encoding="utf-8").replace(
        "seed = 5", f'seed = 5\nstore = "{postgres_url}"'
    )
    study.write_text(text, encoding="utf-8")
    assert heart("run", study).code == 0
    on_postgres = SqlStore.open(postgres_url)
    for kind in TABLES:
        ids = [record.id for record in on_sqlite.iter(kind)]
        assert [record.id for record in on_postgres.iter(kind)] == ids
        assert ids or kind.__name__ in {"Screening", "Attempt", "LatencyProbe", "Rating", "Label"}
    on_sqlite.close()
    on_postgres.close()


@pytest.mark.usefixtures("ran")
def test_a_copy_adds_nothing_the_second_time(heart: Heart, study: Path) -> None:
    source, target = study.parent / "tiny.db", study.parent / "copy.db"
    first = heart("store", "copy", source, target)
    assert first.out.startswith("kind")
    assert set(heart("store", "copy", source, target, "--json").json["n_new"].values()) == {0}


def test_a_store_that_is_not_there_is_named(heart: Heart, tmp_path: Path) -> None:
    done = heart("store", "copy", tmp_path / "absent.db", tmp_path / "copy.db")
    assert done.code == 1
    assert "absent.db: there is no such store" in done.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("ran")
def test_a_target_with_records_of_its_own_is_refused_before_anything_is_copied(
    heart: Heart, study: Path
) -> None:
    target = study.parent / "other.db"
    store = SqlStore.open(str(target))
    store.add([System(name="own", kind="baseline", family="baseline")])
    store.close()
    done = heart("store", "copy", study.parent / "tiny.db", target)
    assert done.code == 1
    assert "nothing was copied" in done.err
    again = SqlStore.open(str(target))
    assert [system.name for system in again.iter(System)] == ["own"]
    assert not list(again.iter(Item))
    again.close()


@pytest.mark.usefixtures("ran")
def test_a_store_is_not_copied_onto_itself(heart: Heart, study: Path) -> None:
    database = study.parent / "tiny.db"
    assert "onto itself" in heart("store", "copy", database, database).err


def test_a_target_with_records_of_its_own_is_named_by_kind() -> None:
    source, target = SqlStore.in_memory(), SqlStore.in_memory()
    target.add([System(name="own", kind="baseline", family="baseline")])
    copy_store(source, target, progress=lambda _kind, _done: None)
    with pytest.raises(StoreError, match="differs in system"):
        require_equal(store_hashes(source), store_hashes(target))
    assert not list(target.iter(Item))
    source.close()
    target.close()


def test_batch_jobs_move_too_and_what_the_target_knows_of_them_stays() -> None:
    source, target = SqlStore.in_memory(), SqlStore.in_memory()
    job = BatchJob(
        id="2" * 32, provider="openai", model="m-1", custom_ids=("0" * 32,), created_at=NOW
    )
    source.keep_job(job)
    assert copy_store(source, target, progress=lambda _kind, _done: None)["batch_job"] == 1
    target.keep_job(replace(job, remote_id="batch_1"))
    assert copy_store(source, target, progress=lambda _kind, _done: None)["batch_job"] == 0
    assert target.jobs() == [replace(job, remote_id="batch_1")]
    source.close()
    target.close()


def test_what_was_spent_and_the_replies_it_bought_move_too() -> None:
    source, target = SqlStore.in_memory(), SqlStore.in_memory()
    replies = [
        StoredReply(id=f"{n:032x}", reply={"text": "\ud83d \x00"}, cost=0.25, created_at=NOW)
        for n in range(101)
    ]
    source.keep_replies(replies)
    assert copy_store(source, target, progress=lambda _kind, _done: None)["reply"] == 101
    assert target.spent_usd() == 25.25
    assert target.find_reply(replies[100].id) == replies[100]
    assert copy_store(source, target, progress=lambda _kind, _done: None)["reply"] == 0
    source.close()
    target.close()
