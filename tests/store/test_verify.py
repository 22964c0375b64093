"""What was changed behind a store's back is found: each of these edits, on both databases."""

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from heart_command import Heart
from kept_store import make_store
from sqlalchemy import text
from store_edits import EDITS

from hearteval.domain import Judgment
from hearteval.store.engines import open_engine
from hearteval.store.sql import SqlStore
from hearteval.study.verify import verify_store

POSTGRES = [pytest.mark.postgres]


def faults_at(place: str) -> list[str]:
    with closing(SqlStore.open_to_read(place)) as store:
        return [fault.words for fault in verify_store(store, progress=lambda _k, _n: None).faults]


@pytest.fixture
def edited(tmp_path: Path) -> Iterator[tuple[str, sqlite3.Connection]]:
    place = str(tmp_path / "study.db")
    make_store(place)
    with closing(sqlite3.connect(place)) as connection:
        yield place, connection


def test_a_store_that_nobody_changed_has_no_faults(edited: tuple[str, sqlite3.Connection]) -> None:
    assert faults_at(edited[0]) == []


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_an_edit_is_noticed(edited: tuple[str, sqlite3.Connection], edit: str) -> None:
    place, connection = edited
    before = connection.total_changes
    for statement in edit.split(";"):
        connection.execute(statement)
        assert connection.total_changes > before
        before = connection.total_changes
    connection.commit()
    assert faults_at(place)


@pytest.mark.postgres
def test_edits_are_noticed_on_postgresql(postgres_url: str) -> None:
    make_store(postgres_url)
    found: Counter[str] = Counter(faults_at(postgres_url))
    assert not found
    engine, _ = open_engine(postgres_url)
    try:
        for name in ("a strength changed", "a paid reply deleted", "an item taken out of a study"):
            before = found
            with engine.begin() as connection:
                connection.execute(text(EDITS[name]))
            found = Counter(faults_at(postgres_url))
            assert found - before, name
    finally:
        engine.dispose()


OWN_SCHEMA = {
    "CREATE VIEW others AS SELECT 1": "it has a view 'others', which is none of ours",
    "CREATE INDEX more ON labels (verdict)": "it has an index 'more', which is none of ours",
    "DROP INDEX ix_tasks_open": "the index 'ix_tasks_open' is not as it was made",
}
TRIGGER = "it has a trigger 'flip', which is none of ours"


@pytest.mark.parametrize(("edit", "said"), OWN_SCHEMA.items())
def test_a_schema_that_was_changed_is_noticed(
    edited: tuple[str, sqlite3.Connection], edit: str, said: str
) -> None:
    place, connection = edited
    connection.execute(edit)
    connection.commit()
    assert faults_at(place) == [said]


def test_a_trigger_is_noticed(edited: tuple[str, sqlite3.Connection]) -> None:
    place, connection = edited
    connection.execute(
        "CREATE TRIGGER flip AFTER INSERT ON judgments BEGIN UPDATE judgments SET strength = 5; END"
    )
    connection.commit()
    assert faults_at(place) == [TRIGGER]


@pytest.mark.postgres
def test_a_schema_that_was_changed_is_noticed_on_postgresql(postgres_url: str) -> None:
    make_store(postgres_url)
    assert faults_at(postgres_url) == []
    engine, _ = open_engine(postgres_url)
    with engine.begin() as connection:
        for edit in OWN_SCHEMA:
            connection.execute(text(edit))
        connection.execute(
            text(
                "CREATE FUNCTION flip() RETURNS trigger LANGUAGE plpgsql AS"
                " 'BEGIN NEW.strength = 5; RETURN NEW; END'"
            )
        )
        connection.execute(
            text(
                "CREATE TRIGGER flip BEFORE INSERT ON judgments"
                " FOR EACH ROW EXECUTE FUNCTION flip()"
            )
        )
    engine.dispose()
    assert sorted(faults_at(postgres_url)) == sorted([TRIGGER, *OWN_SCHEMA.values()])


@pytest.mark.usefixtures("ran")
def test_what_the_offline_judge_said_is_judged_again(heart: Heart, study: Path) -> None:
    place = study.parent / "tiny.db"
    done = heart("store", "verify", study, "--json")
    assert (done.code, done.json["n_faults"]) == (0, 0)
    results = heart("analyze", study, "--json").json
    assert done.json["hash"] == results["provenance"]["data_hash"]
    assert done.json["hash"][:16] in (study.parent / "tiny.report.html").read_text("utf-8")
    with closing(sqlite3.connect(place)) as connection:
        flip = "UPDATE judgments SET rationale = 'So it was.' WHERE rowid = 1"
        connection.execute(flip)
        connection.commit()
    with closing(SqlStore.open(str(place))) as store:
        (changed,) = [one for one in store.iter(Judgment) if one.rationale == "So it was."]
    done = heart("store", "verify", place)
    assert done.code == 1
    assert f"judgment {changed.id}: its content is not what was written" in done.err
    assert f"judgment {changed.id}: its reply says otherwise" in done.err
    assert done.out.startswith("The store was changed or damaged after it was written: 3 faults")


def test_a_place_without_a_store_is_not_verified(heart: Heart, tmp_path: Path) -> None:
    done = heart("store", "verify", tmp_path / "absent.db")
    assert done.code == 1
    assert "there is no such store" in done.err
    assert not (tmp_path / "absent.db").exists()
