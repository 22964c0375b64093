"""``heart serve`` in a process of its own, and people who work there: for tests and benchmarks."""

import http.client
import json
import re
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from forked_heart import start
from people_site import people_world

ANSWER_SECONDS = 300
MANY = 40
STUDY = """
[study]
name = "served"
seed = 5
[items]
source = "starter"
regular = 20
[[system]]
preset = "original"
[[system]]
preset = "generic"
[[system]]
preset = "reflective"
[[system]]
preset = "advice"
[judging]
judges = ["cue"]
stress_items = 0
repeat_pairs = 0
[people]
{people}
"""
PEOPLE = f"""writers_per_item = {MANY}
raters_per_pair = {MANY}
most_per_session = 100000
most_per_day = 100000
"""


@dataclass
class Prepared:
    """A study whose tasks are open, and links to it."""

    file: Path
    store: str
    links: Mapping[str, str]


def prepare(folder: Path, *, store: str = "", people: str = PEOPLE, study: str = STUDY) -> Prepared:
    """Open the tasks of a study, with a link for many judges and one for many writers."""
    folder.mkdir(exist_ok=True)
    with people_world(folder, store=store, people=people, study=study) as world:
        links = {
            kind: world.invite(kind, most_people=10_000, days=3_000) for kind in ("judge", "write")
        }
        settings = world.desk.session.settings
        return Prepared(settings.file, store or str(settings.store), links)


class Served:
    """A server's process and where it answers."""

    def __init__(self, prepared: Prepared) -> None:
        self._process = start("serve", prepared.file, prepared.store, "--port", "0")
        line = self._process.line()
        if not line:
            raise AssertionError(self._process.wait()[1])
        self.address = str(json.loads(line)["address"])

    @property
    def id(self) -> int:
        """Of the process."""
        return self._process.id

    @property
    def is_alive(self) -> bool:
        return self._process.code is None

    @property
    def complaint(self) -> str:
        """What it has said on stderr so far."""
        return self._process.complaint

    def kill(self) -> None:
        """End it as a machine that loses power does."""
        self._process.kill()
        assert self._process.code == -signal.SIGKILL

    def stop(self) -> str:
        """Ask it to end; return what it said."""
        self._process.send(signal.SIGINT)
        return self._process.wait()[1]


@contextmanager
def serving(prepared: Prepared) -> Iterator[Served]:
    """Serve a study until the block ends."""
    served = Served(prepared)
    try:
        yield served
    finally:
        served.stop()


@dataclass
class Answer:
    """What a server answered."""

    code: int
    headers: Mapping[str, str]
    text: str


@dataclass
class Person:
    """Somebody with a browser."""

    address: str
    cookie: str = ""
    ticket: str = ""
    _connection: http.client.HTTPConnection | None = field(default=None, repr=False)

    def ask(
        self,
        path: str,
        form: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Ask for a page, or send a form; raise `OSError` where nobody answers."""
        headers = {"Origin": self.address, "Cookie": self.cookie, **(headers or {})}
        body = None
        if form is not None:
            body = urlencode(form)
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        if self._connection is None:
            host = urlsplit(self.address).netloc
            self._connection = http.client.HTTPConnection(host, timeout=ANSWER_SECONDS)
        try:
            self._connection.request("GET" if form is None else "POST", path, body, headers)
            found = self._connection.getresponse()
            text = found.read().decode()
        except (OSError, http.client.HTTPException) as error:
            self.hang_up()
            raise OSError("nobody answered") from error
        sent = found.headers.get("set-cookie", "")
        if sent:
            self.cookie = sent.split(";")[0]
        return Answer(found.status, dict(found.headers), text)

    def hang_up(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def join(self, token: str) -> "Person":
        form = {"adult": "yes", "agree": "yes", "no_ai": "yes", "locale": "en-GB"}
        joined = self.ask(f"/join/{token}", form)
        assert joined.code == 303, joined.text
        return self

    def take(self, kind: str) -> Answer:
        """Ask for the next task; its ticket is kept, or an empty one."""
        found = self.ask(f"/task/{kind}?begin=1&rested=1")
        ticket = re.search(r'name="ticket" value="([0-9a-f]+)"', found.text)
        self.ticket = ticket[1] if ticket else ""
        return found

    def send(self, kind: str, words: str) -> Answer:
        """Answer the task in hand."""
        form = {"ticket": self.ticket, "choice": "A slightly better", "reason": words}
        return self.ask(f"/task/{kind}", form | {"text": words})


class Load:
    """People who work as fast as a server answers, until nobody answers or they are told to end."""

    def __init__(self) -> None:
        self.acknowledged: list[str] = []
        self.has_begun = threading.Event()
        self.codes: list[int] = []
        self._ended = threading.Event()
        self._threads: list[threading.Thread] = []

    def begin(self, person: Person, kind: str, name: str) -> None:
        thread = threading.Thread(target=self._work, args=(person, kind, name))
        self._threads.append(thread)
        thread.start()

    def end(self) -> None:
        self._ended.set()
        self.wait()

    def wait(self) -> None:
        """Wait until nobody works any more."""
        for thread in self._threads:
            thread.join()

    def _work(self, person: Person, kind: str, name: str) -> None:
        number = 0
        try:
            while not self._ended.is_set():
                self.codes.append(person.take(kind).code)
                if not person.ticket:
                    return
                number += 1
                words = f"It says what I feel, {name} {number}."
                if number % 7 == 0:
                    person.ask(f"/task/{kind}/skip", {"ticket": person.ticket})
                    continue
                sent = person.send(kind, words)
                self.codes.append(sent.code)
                if sent.code == 303:
                    self.acknowledged.append(words)
                    self.has_begun.set()
        except OSError:
            return
        finally:
            person.hang_up()
