"""Two ``heart serve`` on one PostgreSQL behind a proxy, one of them killed; and a backup of it."""

import re
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import pytest
from forked_heart import start
from heart_command import Heart
from postgres_server import PostgresServer, server_folder
from round_robin import proxied
from served_pages import STUDY, Person, Prepared, Served, prepare, serving
from test_killed_pages import require_all_there
from waiting import until

from hearteval.domain import Study
from hearteval.store.serving import Served as ServedBy
from hearteval.store.sql import SqlStore

pytestmark = [pytest.mark.server, pytest.mark.postgres]

SMALL = STUDY.replace("regular = 20", "regular = 4")
PEOPLE = """writers_per_item = 9
raters_per_pair = 40
most_per_session = 9999
[[people.quotas]]
most = 5
answers = { gender = ["woman"] }
"""
TICKS = {"adult": "yes", "agree": "yes", "no_ai": "yes", "locale": "en-GB"}
WOMAN = TICKS | {"entry_gender": "woman"}
MAN = TICKS | {"entry_gender": "man"}
N_JUDGES = 4
N_EACH = 6
N_WOMEN = 12
TOKEN = "of-the-metrics"


def ask_again(ask: Callable[[], int]) -> int:
    """Do as people do to whom a proxy says 502, or a server 503: the same once more."""
    for _ in range(200):
        code = ask()
        if code not in (502, 503):
            return code
        time.sleep(0.1)
    raise AssertionError("nobody answered")


def send(person: Person, words: str) -> int:
    return person.send("judge", words).code


def answer_all(address: str, token: str, name: str) -> list[str]:
    """Come, and judge so many pairs; return what was acknowledged."""
    person, sent = Person(address), list[str]()
    assert ask_again(lambda: person.ask(f"/join/{token}", MAN).code) == 303
    for number in range(N_EACH):
        words = f"It says what I feel, {name} {number}."
        assert ask_again(lambda: person.take("judge").code) == 200, "logged out"
        assert person.ticket
        assert ask_again(partial(send, person, words)) == 303
        sent.append(words)
    person.hang_up()
    return sent


def come(address: str, token: str) -> bool:
    """Come as one of a group of whom so many are let in."""
    person = Person(address)
    code = ask_again(lambda: person.ask(f"/join/{token}", WOMAN).code)
    person.hang_up()
    assert code in (303, 403), code
    return code == 303


@contextmanager
def two_servers(prepared: Prepared) -> Iterator[list[Served]]:
    """Two servers; the first one opens the tasks."""
    servers = [Served(prepared)]
    try:
        servers.append(Served(prepared))
        yield servers
    finally:
        for one in servers:
            if one.is_alive:
                one.stop()


def look(store: SqlStore) -> tuple[Study, ServedBy]:
    study = next(iter(store.iter(Study)))
    found = store.served(study)
    assert found is not None
    return study, found


def readiness(served: Served) -> str:
    person = Person(served.address)
    said = person.ask("/readyz")
    person.hang_up()
    assert (said.code == 200) == (said.text == "ready\n")
    return said.text.strip()


def n_open(address: str, kind: str) -> float:
    """How many answers are wanted, as the metrics of a server say."""
    person = Person(address)
    text = person.ask("/metrics", headers={"Authorization": f"Bearer {TOKEN}"}).text
    person.hang_up()
    found = dict(line.rsplit(" ", 1) for line in text.splitlines() if line[0] != "#")
    return float(found[f'heart_tasks_open{{kind="{kind}"}}'])


def test_one_of_two_servers_is_killed(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEART_METRICS_TOKEN", TOKEN)
    prepared = prepare(tmp_path / "study", store=postgres_url, people=PEOPLE, study=SMALL)
    with (
        two_servers(prepared) as (first, second),
        closing(SqlStore.open(postgres_url)) as store,
        proxied([first.address, second.address]) as address,
        ThreadPoolExecutor(N_JUDGES + 4) as threads,
    ):
        study, served = look(store)
        until(lambda: look(store)[1].versions == (study.version,) * 2)
        assert served.planner_seconds is not None
        writer = Person(address)
        assert writer.ask(f"/join/{prepared.links['write']}", MAN).code == 303
        judges = [
            threads.submit(answer_all, address, prepared.links["judge"], f"J{number}")
            for number in range(N_JUDGES)
        ]
        women = [
            threads.submit(come, address, prepared.links["judge"]) for _ in range(N_WOMEN // 2)
        ]
        until(lambda: sum(one.done() for one in women) >= 2)
        first.kill()
        women += [
            threads.submit(come, address, prepared.links["judge"]) for _ in range(N_WOMEN // 2)
        ]
        acknowledged = [words for one in judges for words in one.result()]
        assert Counter(one.result() for one in women) == {True: 5, False: N_WOMEN - 5}
        # Who takes over opens what follows from a text that comes now.
        until(lambda: look(store)[1].planner_seconds is not None)
        assert look(store)[1].versions == (study.version,)
        before = n_open(second.address, "judge")
        assert ask_again(lambda: writer.take("write").code) == 200
        words = "That sounds heavy. What would help tonight?"
        assert ask_again(lambda: writer.send("write", words).code) == 303
        until(lambda: n_open(second.address, "judge") > before)
        writer.hang_up()
        progress = store.people.progress(study.id)
        assert [(one.most, one.n_people) for one in progress.quotas] == [(5, 5)]
    assert len(acknowledged) == N_JUDGES * N_EACH
    require_all_there(postgres_url, [*acknowledged, words])


def test_an_older_study_file_is_refused_and_a_newer_one_takes_over(
    tmp_path: Path, postgres_url: str
) -> None:
    older = prepare(tmp_path / "older", store=postgres_url, people=PEOPLE, study=SMALL)
    grown = SMALL.replace('preset = "advice"', 'preset = "shuffled"')
    with two_servers(older) as (first, second), closing(SqlStore.open(postgres_url)) as store:
        second.stop()
        newer = prepare(tmp_path / "newer", store=postgres_url, people=PEOPLE, study=grown)
        with serving(newer) as third:
            until(lambda: readiness(first) == "version 2 is served elsewhere, and 1 here")
            until(lambda: readiness(third) == "ready")
            assert look(store)[1].versions == (1, 2)
            refused = start("serve", older.file, postgres_url, "--port", "0")
            _, err = refused.wait()
            assert refused.code == 2
            assert "describes version 1 of the study" in err
            until(lambda: "start it again with that study file" in first.complaint)


def pg(program: str, *words: str) -> None:
    folder = server_folder()
    assert folder is not None
    done = subprocess.run([folder / program, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_backup_of_a_running_study_is_the_study(
    tmp_path: Path,
    postgres: PostgresServer,
    postgres_url: str,
    heart: Heart,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As docs/how-to/several-servers.md says it."""
    prepared = prepare(tmp_path / "study", store=postgres_url, people=PEOPLE, study=SMALL)
    dump, file = tmp_path / "study.dump", prepared.file
    with two_servers(prepared) as (first, _), ThreadPoolExecutor(1) as thread:
        sent = thread.submit(answer_all, first.address, prepared.links["judge"], "J")
        pg("pg_dump", "--format=custom", f"--file={dump}", postgres_url)
        sent.result()
        again = postgres.create_database("again_" + postgres_url.rpartition("_")[2])
        pg("pg_restore", "--no-owner", "--exit-on-error", f"--dbname={again}", str(dump))
        verified = heart("store", "verify", again)
        assert verified.code == 0, verified.out + verified.err
        pg("pg_dump", "--format=custom", f"--file={dump}", postgres_url)
    last = postgres.create_database("last_" + postgres_url.rpartition("_")[2])
    pg("pg_restore", "--no-owner", "--exit-on-error", f"--dbname={last}", str(dump))
    assert heart("store", "verify", last).code == 0
    results = []
    for place in (postgres_url, last):
        monkeypatch.setenv("HEART_STORE", place)
        done = heart("analyze", file, "--json")
        assert done.code == 0, done.err
        results.append(re.sub(r'"\d{4}-\d\d-\d\dT[^"]*"', "", done.out))
    assert results[0] == results[1]
    restored = Prepared(file, last, prepared.links)
    served = Served(restored)
    person = Person(served.address)
    assert person.ask(f"/join/{prepared.links['judge']}", MAN).code == 303
    person.take("judge")
    assert person.send("judge", "Once more.").code == 303
    person.hang_up()
    served.stop()
    require_all_there(last, [*sent.result(), "Once more."])
