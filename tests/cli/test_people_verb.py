"""``heart people withdraw``: who is meant, what is asked, what is said."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from heart_command import Heart
from people_site import Visitor, World, people_world
from sqlalchemy import create_engine, text

from hearteval.study.verify import verify_store


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with people_world(tmp_path) as made:
        yield made


def file_of(world: World) -> str:
    return str(world.desk.session.settings.file)


def test_a_person_is_found_however_their_name_is_typed(heart: Heart, world: World) -> None:
    writer = world.come("write")
    writer.write()
    name = writer.name
    done = heart("people", "withdraw", file_of(world), name.lower(), "--yes")
    assert done.code == 0
    assert f"{name} has withdrawn: 1\N{NO-BREAK SPACE}text deleted" in done.out
    assert "made before may hold" in " ".join(done.out.split())


def test_a_person_is_found_by_the_id_of_a_recruiting_site(heart: Heart, world: World) -> None:
    Visitor(world, world.client(), world.invite("judge")).join(pid="aB1")
    assert heart("people", "withdraw", file_of(world), "AB1", "--yes").code == 1
    assert heart("people", "withdraw", file_of(world), "aB1", "--yes").code == 0


def test_who_says_no_is_told_that_nothing_was_deleted(
    heart: Heart, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = world.come("judge").name
    monkeypatch.setattr("click.confirm", lambda *_args, **_more: False)
    done = heart("people", "withdraw", file_of(world), name)
    assert (done.code, "nothing was deleted" in done.out) == (0, True)
    assert world.store.people.find_name(name).withdrawn_at is None


def test_old_reports_and_exports_are_listed_until_they_are_gone_and_then_purged(
    heart: Heart, world: World, tmp_path: Path
) -> None:
    writer = world.come("write")
    writer.write()
    name, file = writer.name, file_of(world)
    assert heart("export", file, "--to", "jsonl", "--out", str(tmp_path / "out")).code == 0
    assert "replies" in heart("report", file, "--full", str(tmp_path / "pages")).out
    made = [*(tmp_path / "out").iterdir(), tmp_path / "pages", tmp_path / "people.report.html"]
    held = {str(path.resolve()) for path in made}
    before = world.clock().timestamp() - 1
    for path in held:
        os.utime(path, (before, before))
    writer.client.post("/withdraw", data={"confirm": "yes"})
    listed = heart("people", "withdraw", file, name, "--yes", "--json").json
    assert listed["was_gone"] is True
    assert set(listed["files"]) == held
    again = ("export", file, "--to", "jsonl", "--out", str(tmp_path / "out"), "--force")
    assert heart(*again).code == 0
    left = heart("people", "withdraw", file, name, "--yes", "--json").json["files"]
    assert set(left) == {path for path in held if Path(path).parent.name != "out"}
    assert heart("people", "purge", file, "--json").code == 2
    done = heart("people", "purge", file, "--yes")
    assert done.code == 0
    assert "archived logs, replicas" in " ".join(done.out.split())
    assert not any(Path(path).exists() for path in left)
    assert heart("people", "withdraw", file, name, "--yes", "--json").json["files"] == []


def test_no_event_of_a_withdrawal_says_who(world: World) -> None:
    writer = world.come("write")
    writer.write()
    name = writer.name
    writer.client.post("/withdraw", data={"confirm": "yes"})
    (event,) = [one for one in world.store.people.events() if one.what == "withdrawn"]
    assert name not in repr(event.about)
    assert verify_store(world.store, progress=lambda _kind, _n: None).faults == ()


@pytest.mark.postgres
def test_postgresql_writes_its_tables_anew(postgres_url: str, tmp_path: Path) -> None:
    with people_world(tmp_path, store=postgres_url) as world:
        writer = world.come("write")
        writer.write("A sentence of mine.")
        writer.client.post("/withdraw", data={"confirm": "yes"})
        query = text("SELECT pg_read_binary_file(pg_relation_filepath('completions'))")
        engine = create_engine(postgres_url.replace("postgresql:", "postgresql+psycopg:", 1))

        def held() -> bytes:
            with engine.begin() as connection:
                connection.execute(text("CHECKPOINT"))
                return bytes(connection.execute(query).scalar_one())

        assert b"A sentence of mine." in held()
        assert world.store.people.purge(world.desk.study.id, now=world.clock.now) is True
        assert b"A sentence of mine." not in held()
        assert world.store.people.events()[-1].what == "purged"
        assert verify_store(world.store, progress=lambda _kind, _n: None).faults == ()
        engine.dispose()


def test_what_is_written_of_a_study_with_people_is_its_owners_alone_to_read(
    heart: Heart, world: World, tmp_path: Path
) -> None:
    world.come("write").write("These are words of mine.")
    umask = os.umask(0o022)
    try:
        file, logs = file_of(world), tmp_path / "logs"
        assert "report" in heart("report", file, "--full", str(tmp_path / "full")).out
        table = next((tmp_path / "people.tables").iterdir())
        table.chmod(0o644)  # as an earlier version left it
        assert "report" in heart("report", file).out
        assert heart("export", file, "--to", "inspect", "--out", str(logs)).code == 0
        assert heart("export", file, "--to", "csv", "--out", str(tmp_path / "csv")).code == 0
    finally:
        os.umask(umask)
    tables, csv = (list((tmp_path / name).iterdir()) for name in ("people.tables", "csv"))
    beside = [tmp_path / f"people.{name}" for name in ("files", "report.html", "leaderboard.csv")]
    open_to_others = {
        path.name
        for path in [*tables, *csv, *logs.iterdir(), *beside, tmp_path / "full"]
        if path.stat().st_mode & 0o077
    }
    assert open_to_others == set()


def test_a_purge_says_when_somebody_keeps_the_old_words_in_the_log(
    heart: Heart, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hearteval.store.engines.BUSY_TIMEOUT_SECONDS", 0)
    with closing(sqlite3.connect(tmp_path / "people.db")) as other:
        other.execute("BEGIN")
        other.execute("SELECT * FROM people").fetchall()
        done = heart("people", "purge", file_of(world), "--yes")
        assert "stop what uses the database" in " ".join(done.out.split())
        assert "written anew" not in done.out
    assert "written anew" in heart("people", "purge", file_of(world), "--yes").out
