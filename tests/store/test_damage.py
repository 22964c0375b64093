"""A store that lost something says so when it is read, and one that is gone when it is written."""

import shutil
import sqlite3
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from heart_command import Heart
from kept_store import make_store
from small_world import make_item

from hearteval.domain import Assignment, Completion, Item, Judgment, Rater, Study, System
from hearteval.errors import StoreError
from hearteval.store.engines import OPEN_LOCK, is_in_use
from hearteval.store.records import Record
from hearteval.store.sql import SqlStore


@pytest.fixture
def place(tmp_path: Path) -> str:
    made = str(tmp_path / "study.db")
    make_store(made)
    return made


def change(place: str, statement: str) -> None:
    with closing(sqlite3.connect(place)) as connection:
        assert connection.execute(statement).rowcount > 0
        connection.commit()


@pytest.fixture
def store(place: str) -> Iterator[SqlStore]:
    with closing(SqlStore.open(place)) as opened:
        yield opened


def asked(store: SqlStore) -> Study:
    (study,) = (one for one in store.iter(Study) if one.name == "asked")
    return study


LOST = "DELETE FROM judgments WHERE raw LIKE '{%' AND choice = 'first'"
UNPLANNED = "DELETE FROM assignments WHERE id IN (SELECT assignment_id FROM judgments)"


@pytest.mark.parametrize(
    ("statement", "read"),
    [
        (LOST, lambda store: list(store.iter(Judgment))),
        (LOST, lambda store: list(store.iter(Judgment, asked(store)))),
        (LOST, lambda store: list(store.judgment_table(asked(store)))),
        (LOST, lambda store: list(store.unjudged(asked(store)))),
        (UNPLANNED, lambda store: list(store.iter(Assignment, asked(store)))),
        (UNPLANNED, lambda store: store.planned(asked(store))),
        ("DELETE FROM items", lambda store: list(store.iter(Item, asked(store)))),
    ],
)
def test_a_read_that_finds_too_little_says_so(
    place: str, store: SqlStore, statement: str, read: object
) -> None:
    assert callable(read)
    read(store)
    change(place, statement)
    with (
        closing(SqlStore.open(place)) as anew,  # what has been read is not read twice
        pytest.raises(StoreError, match=r"damaged: \d of \d records") as caught,
    ):
        read(anew)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ('UPDATE studies SET design = \'{"design":"other"}\'', Study),
        ("UPDATE systems SET settings = '[]'", System),
        ("UPDATE systems SET kind = 'stress'", System),
        ("UPDATE raters SET name = 'else'", Rater),
        ("UPDATE completions SET text = 'I hear you.'", Completion),
        ("UPDATE items SET situation = 'else'", Item),
    ],
)
def test_what_an_analysis_rests_on_is_read_as_it_was_written(
    place: str, statement: str, kind: type[Record]
) -> None:
    with closing(SqlStore.open(place)) as store:
        study = asked(store)
    change(place, statement)
    with (
        closing(SqlStore.open(place)) as store,
        pytest.raises(StoreError, match=r"is damaged: the .* is not what was written") as caught,
    ):
        list(store.iter(kind, study))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("column", ["choice", "axes"])
def test_a_value_that_is_none_is_damage(place: str, store: SqlStore, column: str) -> None:
    change(place, f"UPDATE judgments SET {column} = 'fi'")
    with pytest.raises(StoreError, match="judgment cannot be read"):
        list(store.judgment_table(asked(store)))
    with pytest.raises(StoreError, match="judgment cannot be read"):
        list(store.iter(Judgment))


@pytest.mark.parametrize(
    ("column", "read"),
    [
        ("judgments SET choice", lambda store: store.judgment_table(asked(store))),
        ("judgments SET choice", lambda store: store.iter(Judgment)),
        ("judgments SET raw", lambda store: store.iter(Judgment)),
        ("labels SET evidence", lambda store: store.label_table(asked(store))),
    ],
)
def test_a_text_that_is_none_is_damage_and_not_shown(
    place: str,
    store: SqlStore,
    heart: Heart,
    column: str,
    read: Callable[[SqlStore], Iterable[object]],
) -> None:
    change(place, f"UPDATE {column} = CAST(x'736f6ff6' AS TEXT)")
    with pytest.raises(StoreError, match=r"is damaged: .* cannot be read") as caught:
        list(read(store))
    said = "".join(traceback.format_exception(caught.value))
    said += heart("store", "verify", place).err
    assert "cannot be read: Could not decode to UTF-8 column" in said
    assert "soo" not in said


def test_a_page_that_is_broken_is_said_of_the_file(place: str) -> None:
    with closing(sqlite3.connect(place)) as connection:
        one = connection.execute("SELECT * FROM assignments").fetchone()
        places = ", ".join("?" * len(one))
        copies = ((number.to_bytes(16), *one[1:]) for number in range(400))
        connection.executemany(f"INSERT INTO assignments VALUES ({places})", copies)
        connection.commit()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    whole, said = Path(place).read_bytes(), []
    for page in range(len(whole) // size - 40, len(whole) // size):
        Path(place).write_bytes(whole[: page * size] + b"\xff" * size + whole[(page + 1) * size :])
        with suppress(StoreError), closing(SqlStore.open(place)) as store:
            study = asked(store)
            try:
                store.planned(study)
            except StoreError as error:
                said.append(str(error))
    assert any("malformed" in words for words in said)


@pytest.mark.parametrize("axes", [",".join(['"H":["first",5]'] * 15), '"H":' + "[" * 9_999 + "]"])
def test_marks_that_no_record_holds_are_damage(place: str, store: SqlStore, axes: str) -> None:
    change(place, f"UPDATE judgments SET axes = '{{{axes}}}'")
    with pytest.raises(StoreError, match="judgment cannot be read"):
        list(store.judgment_table(asked(store)))


@pytest.mark.parametrize("value", ["'sixteen letters.'", "7"])
@pytest.mark.parametrize(
    "read",
    [
        lambda store: list(store.judgment_table(asked(store))),
        lambda store: list(store.iter(Assignment, asked(store))),
        lambda store: store.planned(asked(store)),
        lambda store: store.count_assigned(asked(store)),
    ],
)
def test_an_id_that_is_none_is_damage(
    place: str, store: SqlStore, read: Callable[[SqlStore], object], value: str
) -> None:
    change(place, f"UPDATE assignments SET rater_id = {value}")
    with pytest.raises(StoreError, match="cannot be read"):
        read(store)


@pytest.mark.parametrize(
    ("statement", "read"),
    [
        ("UPDATE replies SET id = 'no id' WHERE rowid = 1", lambda store: store.reply_ids()),
        ("UPDATE batch_jobs SET id = 7", lambda store: store.jobs()),
    ],
)
def test_an_id_that_is_none_is_damage_wherever_it_stands(
    place: str, store: SqlStore, statement: str, read: Callable[[SqlStore], object]
) -> None:
    change(place, statement)
    with pytest.raises(StoreError, match=r"is damaged: an id in it cannot be read.*verify"):
        read(store)


def test_a_record_that_others_refer_to_is_there(place: str, store: SqlStore) -> None:
    (kept, *_) = store.iter(Assignment)
    assert store.find(Assignment, [kept.id, "07" * 16]) == [kept]
    with pytest.raises(StoreError, match=r"is damaged: the assignment (07){16}.*not there"):
        store.find(Assignment, [kept.id, "07" * 16], are_there=True)


def test_a_study_whose_id_was_changed_is_damage_and_none_that_is_new(
    place: str, store: SqlStore
) -> None:
    assert store.latest_study("08" * 16) is None
    study = asked(store)
    change(place, f"UPDATE studies SET id = x'{'07' * 16}' WHERE id = x'{study.id}'")
    with pytest.raises(StoreError, match=r"is damaged: the study (07){16}"):
        store.latest_study(study.id)


def test_a_record_under_the_id_of_another_is_damage_and_no_contradiction(
    place: str, store: SqlStore
) -> None:
    (system, *_) = store.iter(System)
    change(place, f"UPDATE systems SET name = 'else' WHERE id = x'{system.id}'")
    with pytest.raises(StoreError, match=f"is damaged: the system {system.id}.*verify"):
        store.add([system])


def test_a_fault_in_what_reads_a_damaged_store_is_the_damage(place: str, store: SqlStore) -> None:
    with pytest.raises(KeyError), store.naming_damage():
        raise KeyError("gone")
    change(place, f"UPDATE judgments SET id = x'{'07' * 16}' WHERE rowid = 1")
    words = r"is damaged: the judgment (07){16}.*verify"
    with pytest.raises(StoreError, match=words) as caught, store.naming_damage():
        raise KeyError("gone")
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize("away", ["deleted", "renamed", "replaced"])
def test_nothing_is_written_into_a_file_that_is_no_longer_there(
    place: str, store: SqlStore, away: str
) -> None:
    store.add([make_item(1)])
    path = Path(place)
    if away == "replaced":
        shutil.copy(path, f"{place}.copy")
        Path(f"{place}.copy").replace(path)
    elif away == "renamed":
        path.rename(f"{place}.old")
    else:
        path.unlink()
    with pytest.raises(StoreError, match="deleted, renamed or replaced"):
        store.add([make_item(2)])
    assert make_item(2) not in list(store.iter(Item))


def test_a_file_that_was_not_closed_is_checked(place: str, tmp_path: Path) -> None:
    with closing(sqlite3.connect(place)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("UPDATE replies SET cost = 1")
        connection.commit()
        connection.execute("PRAGMA wal_checkpoint")
        connection.execute("UPDATE replies SET cost = 2")
        connection.commit()
        page = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'ix_judgments_counts'"
        ).fetchone()[0]
        size = connection.execute("PRAGMA page_size").fetchone()[0]
        killed = tmp_path / "killed.db"
        shutil.copy(place, killed)
        shutil.copy(f"{place}-wal", f"{killed}-wal")
    SqlStore.open(str(killed)).close()
    shutil.copy(f"{place}", killed)
    Path(f"{killed}-wal").write_bytes(b"left over")
    with killed.open("r+b") as file:
        file.seek((page - 1) * size + size - 40)
        file.write(bytes(40))
    with pytest.raises(StoreError, match="damaged"):
        SqlStore.open(str(killed))


WRITER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("PRAGMA journal_mode = WAL")
connection.execute("UPDATE replies SET cost = 3")
connection.commit()
print(flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="only Linux tells who has it open")
def test_a_file_is_checked_that_a_killed_process_left_and_none_that_a_living_one_uses(
    place: str,
) -> None:
    with closing(sqlite3.connect(place)) as connection:
        query = "SELECT rootpage FROM sqlite_master WHERE name = 'ix_judgments_counts'"
        (page,), (size,) = (connection.execute(q).fetchone() for q in (query, "PRAGMA page_size"))
    with Path(place).open("r+b") as file:
        file.seek(page * size - 40)
        file.write(bytes(40))
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, place], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"\n"
        SqlStore.open(place).close()
        writer.kill()
    with pytest.raises(StoreError, match="damaged"):
        SqlStore.open(place)


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="only Linux tells who has it open")
def test_a_reader_does_not_hide_that_a_file_is_in_use(place: str) -> None:
    fcntl = pytest.importorskip("fcntl")
    with Path(f"{place}-shm").open("w+b") as shared:
        fcntl.lockf(shared, fcntl.LOCK_SH, 2, OPEN_LOCK - 1)
        assert is_in_use(place)
    assert not is_in_use(place)


@pytest.mark.parametrize("ending", ["tiny.report.html", "./tiny.results.json", "tiny.toml"])
def test_a_store_is_no_file_that_is_written_as_something_else(
    heart: Heart, study: Path, ending: str
) -> None:
    text = study.read_text("utf-8").replace("seed = 5", f'seed = 5\nstore = "{ending}"')
    study.write_text(text, encoding="utf-8")
    done = heart("run", study)
    assert done.code == 2
    assert "name another file, such as tiny.db" in done.err
    assert study.read_text("utf-8") == text


@pytest.mark.parametrize(
    "place", ["me:hunter2@host/db", "//me:hunter2@host/db", "postgres:/me:hunter2@host/db"]
)
def test_no_password_of_a_malformed_address_is_shown(
    heart: Heart, study: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEART_STORE", place)
    done = heart("run", study)
    assert done.code == 2
    assert "hunter2" not in done.out + done.err
    assert not [one for one in study.parent.rglob("*") if "hunter2" in one.name]
