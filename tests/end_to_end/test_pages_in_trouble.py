"""A database that is full, takes no writes or is gone: pages say so, and go on by themselves.

Nothing that somebody typed is lost: it stands in the page that says that it was not saved.
"""

import os
import resource
import time
from pathlib import Path

import pytest
from forked_heart import start
from postgres_server import running_server
from served_pages import Answer, Person, Prepared, Served, prepare, serving
from test_bad_disks import resize, small_disk  # noqa: F401 - a fixture

from hearteval.store.sql import SqlStore

pytestmark = pytest.mark.server

OUTAGE_SECONDS = float(os.environ.get("HEART_TEST_OUTAGE_SECONDS", "1"))
"""The whole measurement is 60: ``make soak``."""
TYPED = "Half an hour of <thought> & care, once in {place}."


def require_given_back(found: Answer, words: str) -> None:
    assert found.code == 503
    assert int(found.headers["retry-after"]) > 0
    escaped = words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert escaped in found.text
    assert found.headers["content-security-policy"]


def comers(served: Served, prepared: Prepared) -> tuple[Person, Person]:
    """A judge and a writer with a task in hand each."""
    judge = Person(served.address).join(prepared.links["judge"])
    writer = Person(served.address).join(prepared.links["write"])
    judge.take("judge")
    writer.take("write")
    return judge, writer


def require_trouble(judge: Person, writer: Person) -> None:
    words = TYPED.format(place="trouble")
    require_given_back(judge.send("judge", words), words)
    require_given_back(writer.send("write", words), words)
    assert writer.ask("/task/write/draft", {"ticket": writer.ticket, "text": words}).code == 503


def require_recovery(judge: Person, writer: Person, prepared: Prepared) -> None:
    words = TYPED.format(place="peace")
    assert judge.send("judge", words).code == 303
    assert writer.send("write", words).code == 303
    assert judge.take("judge").code == 200
    assert judge.ask("/readyz").code == 200
    store = SqlStore.open_to_read(prepared.store)
    check = store.check(progress=lambda _kind, _n: None)
    store.close()
    assert check.faults == ()


def hang_up(*people: Person) -> None:
    for person in people:
        person.hang_up()


def fill(disk: Path) -> Path:
    """Leave no room on a disk."""
    rest = disk / "rest"
    with rest.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            return rest


def test_a_full_disk(small_disk: Path) -> None:  # noqa: F811 - the fixture
    resize(small_disk, "size=100m")
    prepared = prepare(small_disk / "study")
    with serving(prepared) as served:
        judge, writer = comers(served, prepared)
        rest = fill(small_disk)
        words = TYPED.format(place="trouble")
        # What is left of the log's last page may still take a little.
        for number in range(200):
            found = judge.send("judge", words) if number == 0 else judge.take("judge")
            if found.code == 503:
                break
            judge.send("judge", f"{words} {number}" + "x" * 3_000)
        require_given_back(writer.send("write", words), words)
        rest.unlink()
        assert writer.send("write", words).code == 303
        assert judge.take("judge").code == 200
        assert judge.send("judge", words).code in (303, 409)
        hang_up(judge, writer)
    store = SqlStore.open_to_read(prepared.store)
    check = store.check(progress=lambda _kind, _n: None)
    store.close()
    assert check.faults == ()


def test_a_disk_that_takes_no_writes(tmp_path: Path) -> None:
    prepared = prepare(tmp_path / "study")
    with serving(prepared) as served:
        judge, writer = comers(served, prepared)
        # A disk in use cannot be made read-only, so the process is forbidden to write any file.
        _, most = resource.prlimit(served.id, resource.RLIMIT_FSIZE)
        resource.prlimit(served.id, resource.RLIMIT_FSIZE, (0, most))
        require_trouble(judge, writer)
        assert judge.take("judge").code == 200  # what is in hand can be read on
        resource.prlimit(served.id, resource.RLIMIT_FSIZE, (most, most))
        require_recovery(judge, writer, prepared)
        hang_up(judge, writer)


def test_a_study_on_a_read_only_disk_is_not_served_and_one_line_says_why(
    small_disk: Path,  # noqa: F811 - the fixture
) -> None:
    resize(small_disk, "size=100m")
    prepared = prepare(small_disk / "study")
    resize(small_disk, "ro")
    done = start("serve", prepared.file, None, "--port", "0")
    _, err = done.wait()
    resize(small_disk, "rw,size=100m")
    assert done.code in (1, 2)
    assert "cannot be written" in err or "writable" in err
    assert "Traceback" not in err


def test_a_file_that_is_away_for_a_while(tmp_path: Path) -> None:
    prepared = prepare(tmp_path / "study")
    database = Path(prepared.store)
    with serving(prepared) as served:
        judge, writer = comers(served, prepared)
        database.rename(database.with_suffix(".away"))
        require_trouble(judge, writer)
        database.with_suffix(".away").rename(database)
        require_recovery(judge, writer, prepared)
        hang_up(judge, writer)


@pytest.mark.postgres
def test_a_database_that_is_gone_for_a_while(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with running_server(tmp_path_factory.mktemp("gone")) as server:
        prepared = prepare(tmp_path / "study", store=server.url)
        with serving(prepared) as served:
            judge, writer = comers(served, prepared)
            server.stop()
            ended = time.monotonic() + OUTAGE_SECONDS
            require_trouble(judge, writer)
            assert judge.take("judge").code == 503
            assert judge.ask("/readyz").code == 503
            assert judge.ask("/healthz").code == 200
            while time.monotonic() < ended:
                require_trouble(judge, writer)
            server.start()
            judge.ticket = ""
            judge.take("judge")
            require_recovery(judge, writer, prepared)
            hang_up(judge, writer)
