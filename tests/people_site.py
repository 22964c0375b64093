"""A small study served in process, and people who come to it: for tests of the pages."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from html import unescape
from pathlib import Path
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal
from starlette.testclient import TestClient

from hearteval.config import load_study
from hearteval.domain import Study
from hearteval.store.sql import SqlStore
from hearteval.study import Quiet
from hearteval.study.asking.steps import complete_without_models
from hearteval.study.grow import gather, register
from hearteval.study.people import Desk
from hearteval.study.people.background import field_name
from hearteval.study.people.joining import Link, make_invite
from hearteval.study.people.planning import open_tasks
from hearteval.study.session import Session
from hearteval.web.app import create_app
from hearteval.web.site import Site

ADDRESS = "http://testserver"
START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
STUDY = """
[study]
name = "people"
seed = 2
[items]
source = "starter"
regular = 2
adversarial = 1
[[system]]
preset = "original"
[[system]]
preset = "generic"
[judging]
judges = ["cue"]
stress_items = 0
repeat_pairs = 0
[people]
{people}
"""
PEOPLE = "writers_per_item = 2\nraters_per_pair = 3\n"


@dataclass
class Clock:
    """A time that passes only when a test says so."""

    now: datetime = START

    def __call__(self) -> datetime:
        return self.now

    def wait(self, **length: float) -> None:
        self.now += timedelta(**length)


@dataclass
class World:
    """A study with its site."""

    desk: Desk
    clock: Clock
    site: Site
    portal: BlockingPortal
    """To the one loop on which all requests are answered, as a server has one."""
    clients: list[TestClient] = field(default_factory=list)

    @property
    def store(self) -> Any:
        return self.desk.session.store

    def client(self, **settings: Any) -> TestClient:
        """A browser that nobody has used; it says where its forms come from, as all do."""
        usual: dict[str, Any] = {"base_url": ADDRESS, "follow_redirects": False}
        headers = {"origin": ADDRESS}
        client = TestClient(create_app(self.site), headers=headers, **{**usual, **settings})
        client.portal = self.portal
        self.clients.append(client)
        return client

    def invite(self, *kinds: str, **settings: Any) -> str:
        """A link's token."""
        usual = {"label": "test", "most_people": 100, "is_vetted": True}
        link = Link(kinds=kinds, **{**usual, **settings})
        return make_invite(self.desk, link)[0]

    def come(self, *kinds: str, **settings: Any) -> "Visitor":
        """Somebody who has consented."""
        return Visitor(self, self.client(), self.invite(*kinds, **settings)).join()


@dataclass
class Visitor:
    """Somebody with a browser and a link."""

    world: World
    client: TestClient
    token: str
    ticket: str = ""

    def join(self, **form: str) -> "Visitor":
        ticks = {"adult": "yes", "agree": "yes", "no_ai": "yes", "locale": "en-GB"}
        for one in self.world.desk.settings.enrolment.questions:
            ticks[field_name(one.name)] = [it for it in one.answers if it in one.passes][-1]
        found = self.client.post(f"/join/{self.token}", data={**ticks, **form})
        assert found.status_code == 303, found.text
        return self

    @cached_property
    def name(self) -> str:
        """The pseudonym, which stays as it is."""
        text = self.client.get("/stopped").text
        found = re.search(r"P-[A-Z0-9]{8}", text)
        assert found is not None
        return found[0]

    def get(self, kind: str) -> str:
        """The page of the next task, or what stands in its place."""
        page = self.client.get(f"/task/{kind}?begin=1&rested=1")
        assert page.status_code == 200, page.text
        self.ticket = ticket_in(page.text)
        return page.text

    def send(self, kind: str, **form: str) -> Any:
        """Send an answer to the task in hand."""
        return self.client.post(f"/task/{kind}", data={"ticket": self.ticket, **form})

    def judge(self, choice: str = "A slightly better", reason: str = "It listens.") -> Any:
        """Take the next pair and judge it."""
        self.get("judge")
        return self.send("judge", choice=choice, reason=reason)

    def write(self, text: str = "That sounds heavy. What would help tonight?") -> Any:
        """Take the next item and write a reply."""
        self.get("write")
        return self.send("write", text=text)


def ticket_in(page: str) -> str:
    """The ticket of a task page; empty where it is none."""
    found = re.search(r'name="ticket" value="([0-9a-f]+)"', page)
    return found[1] if found else ""


def plain(page: str) -> str:
    """The words of a page."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


MADE: dict[str, tuple[bytes, Study]] = {}
"""Stores of studies to which nobody has come, and the studies, by all that is in their folder."""


def _content(folder: Path) -> str:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return "".join(f"{path.relative_to(folder)}\n{path.read_bytes()!r}\n" for path in files)


@contextmanager
def people_world(
    folder: Path, *, people: str = PEOPLE, store: str = "", study: str = STUDY
) -> Iterator[World]:
    """A study whose keyless systems have answered, and whose tasks are open."""
    path = folder / "people.toml"
    path.write_text(study.replace("{people}", people), encoding="utf-8")
    settings = load_study(path)
    place = store or settings.store
    all_of_it = "" if store or Path(place).exists() else _content(folder)
    if all_of_it in MADE:
        Path(place).write_bytes(MADE[all_of_it][0])
    opened = SqlStore.open(place, patience_seconds=1.0)
    clock = Clock()
    session = Session(settings=settings, store=opened, tell=Quiet(), now=clock)
    if all_of_it in MADE:
        desk = Desk(session=session, study=MADE[all_of_it][1])
    else:
        desk = Desk(session=session, study=register(session, gather(settings, Quiet())))
        complete_without_models(session, desk.study)
        open_tasks(desk)
    if all_of_it and all_of_it not in MADE:
        with closing(sqlite3.connect(place)) as connection:
            MADE[all_of_it] = connection.serialize(), desk.study

    def plan() -> None:
        open_tasks(desk)

    try:
        with start_blocking_portal() as portal:
            world = World(desk, clock, Site(desk=desk, written=plan), portal)
            yield world
            for client in world.clients:
                client.close()
    finally:
        opened.close()
