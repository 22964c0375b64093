"""Every page that people can come to, by name, and the way there in a real browser.

A new page, or a new state of one, is one more entry of `STATES`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from browser_site import Heard, Served, listen_to, listening, new_context
from people_site import PEOPLE, STUDY, World, people_world
from playwright.sync_api import Browser, Page

from hearteval.errors import StoreError
from hearteval.labels.taxonomy import load_taxonomy
from hearteval.store.people.persons import Halted

HELD = "As an AI language model I am sorry to hear this."
LONG = "Donaudampfschifffahrtsgesellschaft" * 6
SCALE = """
name = "A made-up scale"
source = "Nobody (2026). A scale that nobody published. Journal of Nothing, 1, 1-2."
licence = "public domain"
range = [0, 4]
labels = ["Never", "Rarely", "Sometimes", "Often", "Always"]
items = [{ text = "I notice how others feel." }, { text = "I get bored.", reverse = true }]
"""
MANY = "writers_per_item = 40\nraters_per_pair = 40\n"
ABOUT = 'about_you = ["age", "language", "country", "culture", "support"]\nscale = "scale.toml"\n'
LABELS = '[labels]\npeople = 3\npeople_by = ["micro-skills"]\n'
ENROLMENT = """
[[people.screening]]
question = "english"
text = "How well do you read English?"
answers = ["Very well", "A little"]
pass = ["Very well"]
[[people.quotas]]
most = 1
answers = { gender = ["woman"] }
"""
SETTINGS: Mapping[str, str] = {
    "five-point": MANY + ABOUT + 'results = "https://example.org/results"\n',
    "forced-strength": MANY + 'protocol = "forced-strength"\naxis_marks = true\n' + LABELS,
    "rating": MANY + 'protocol = "rating"\n',
    "enrolment": PEOPLE + ENROLMENT,
    "limits": PEOPLE + "most_per_session = 2\nmost_per_day = 3\nrest_after = 1\n",
}
"""Of the studies that all the pages together need."""


@dataclass
class Tour:
    """Somebody who goes to see the pages of a study."""

    name: str
    """Of the study."""
    browser: Browser
    served: Served
    used: list[tuple[str, Page, Heard]] = field(default_factory=list)
    """Browsers by their settings."""
    left: list[tuple[str, Page, Heard]] = field(default_factory=list)
    """To begin one costs as much as three pages."""

    @property
    def world(self) -> World:
        return self.served.world

    @property
    def heard(self) -> list[Heard]:
        return [heard for *_, heard in self.used]

    def nobody(self, **settings: Any) -> Page:
        """A browser that the study does not know."""
        for found in self.left:
            if found[0] == str(settings):
                self.left.remove(found)
                break
        else:
            context = new_context(self.browser, base_url=self.served.address, **settings)
            heard = listen_to(context)
            found = str(settings), context.new_page(), heard
        self.used.append(found)
        return found[1]

    def somebody(self, *kinds: str, is_plain: bool = False, **settings: Any) -> Page:
        """A browser of somebody who has consented; a plain one has no JavaScript."""
        page = self.nobody(**({"java_script_enabled": False} if is_plain else {}))
        self.served.admit(page.context, self.world.come(*kinds, **settings))
        return page

    def at(self, path: str, *kinds: str, **settings: Any) -> Page:
        """A page of somebody; of nobody where there is no kind of task."""
        page = self.somebody(*kinds, **settings) if kinds else self.nobody()
        page.goto(path)
        return page

    def task(self, kind: str, **settings: Any) -> Page:
        return self.at(f"/task/{kind}?begin=1", kind, **settings)

    def refused(self, kind: str, **settings: Any) -> Page:
        """A task that was sent with nothing in it."""
        page = self.task(kind, **settings)
        send(page)
        page.locator("#faults").wait_for()
        return page

    def leave(self) -> None:
        """Empty every browser that is still open, for whoever comes next."""
        for found in self.used:
            _, page, heard = found
            if page.is_closed() or not page.url.startswith(self.served.address):
                page.context.close()
                continue
            for other in page.context.pages[1:]:
                other.close()
            page.unroute_all()
            page.context.set_offline(offline=False)
            page.context.clear_cookies()
            page.evaluate("sessionStorage.clear()")
            for said in (heard.errors, heard.dialogs, heard.requests):
                said.clear()
            self.left.append(found)
        self.used.clear()


def send(page: Page) -> None:
    """Press the button that stands out."""
    page.locator("main button.send").click()


@contextmanager
def tour_of(folder: Path, browser: Browser, name: str, *, language: str = "en") -> Iterator[Tour]:
    """Serve one of the studies, with pages in a language."""
    (folder / "scale.toml").write_text(SCALE, encoding="utf-8")
    said = "" if language == "en" else f'languages = ["{language}"]\n'
    with (
        people_world(folder, people=said + SETTINGS[name], study=_study(name)) as world,
        listening(world) as served,
    ):
        for _ in world.desk.study.item_ids:
            world.come("write").write()
        if name == "five-point":
            _fill(world)
        yield Tour(name, browser, served)


@contextmanager
def tours_of(
    folders: pytest.TempPathFactory, browser: Browser, *, language: str = "en"
) -> Iterator[Callable[[str], Tour]]:
    """Give the tour of each study, made once. A parametrized fixture is made anew for each page."""
    with ExitStack() as stack:

        @cache
        def tour(study: str) -> Tour:
            folder = folders.mktemp("tour")
            return stack.enter_context(tour_of(folder, browser, study, language=language))

        yield tour


def _study(name: str) -> str:
    """A study's file: people and judges are asked the same kind of question."""
    cue = 'judges = ["cue"]'
    return STUDY.replace(cue, 'judges = []\nprotocol = "rating"') if name == "rating" else STUDY


def _fill(world: World) -> None:
    """Have people do what the researcher's page and the reviewers' shows."""
    for _ in range(2):
        writer = world.come("write", group="peer")
        for _ in world.desk.study.item_ids:
            writer.write(HELD)
    rater = world.come("judge", "write", group="crowd")
    rater.judge()
    rater.get("judge")
    rater.client.post("/task/judge/skip", data={"ticket": rater.ticket})
    rater.get("write")
    rater.send("write", text="I hear you.", pastes="1", away="2")
    rater.client.post("/stop")
    gone = world.come("judge")
    gone.judge()
    gone.client.post("/withdraw", data={"confirm": "yes"})
    world.come("write", is_vetted=False).client.post("/practice", data={"text": f"Hm. {LONG}"})
    world.invite("write", "judge", "review", label=f"Everyone, {LONG}", is_vetted=False)


@contextmanager
def broken_store(world: World) -> Iterator[None]:
    """Have the database give no answer while the block runs."""

    def fail(*_: Any, **__: Any) -> Any:
        raise StoreError("the database does not answer")

    people = world.store.people
    kept = {name: getattr(people, name) for name in ("claim", "answer")}
    for name in kept:
        setattr(people, name, fail)
    try:
        yield
    finally:
        for name in kept:
            delattr(people, name)


@contextmanager
def halted(world: World, state: Halted) -> Iterator[None]:
    """Have the study paused or closed while the block runs."""
    people, study_id = world.store.people, world.desk.study.id
    people.halt(study_id, state, now=world.clock())
    try:
        yield
    finally:
        people.halt(study_id, "", now=world.clock())


def _arrive(
    tour: Tour, path: str = "", *, kinds: Sequence[str] = ("write", "judge"), **settings: Any
) -> Page:
    page = tour.nobody()
    page.goto(f"/join/{tour.world.invite(*kinds, **settings)}{path}")
    return page


def _consent_refused(tour: Tour) -> Page:
    page = _arrive(tour, "/consent")
    page.locator("[name=adult]").check()
    send(page)
    page.locator("#faults").wait_for()
    return page


def _first_questions(tour: Tour, *, english: str = "", gender: str = "") -> Page:
    """What is asked first; with answers, what they lead to."""
    page = _arrive(tour, "/consent", kinds=("judge",))
    for name in ("adult", "agree"):
        page.locator(f"[name={name}]").check()
    send(page)
    page.locator("#entry_english").wait_for()
    for name, answer in (("english", english), ("gender", gender)):
        if answer:
            page.locator(f"#entry_{name}").select_option(answer)
    if english:
        send(page)
        page.locator("h1").wait_for()
    return page


def _group_full(tour: Tour) -> Page:
    form = {"adult": "yes", "agree": "yes", "entry_english": "Very well", "entry_gender": "woman"}
    tour.world.client().post(f"/join/{tour.world.invite('judge')}", data=form)
    return _first_questions(tour, english="Very well", gender="woman")


def _back_again(tour: Tour) -> Page:
    token = tour.world.invite("judge")
    ticks = {"adult": "yes", "agree": "yes", "pid": "abc"}
    tour.world.client().post(f"/join/{token}", data=ticks)
    page = tour.nobody()
    page.goto(f"/join/{token}?pid=abc")
    return page


def _still_here(tour: Tour) -> Page:
    """A link for several, opened where somebody has come by it."""
    visitor = tour.world.come("judge")
    page = tour.nobody()
    tour.served.admit(page.context, visitor)
    page.goto(f"/join/{visitor.token}")
    return page


def _same_person(tour: Tour) -> Page:
    """Another link, opened where somebody has come by one."""
    return tour.at(f"/join/{tour.world.invite('write')}", "judge")


def _researcher_link(tour: Tour) -> Page:
    page = tour.nobody()
    page.goto(f"/join/{tour.world.invite('research')}")
    return page


def _already_sent(tour: Tour) -> Page:
    visitor = tour.world.come("judge")
    page = tour.nobody()
    tour.served.admit(page.context, visitor)
    page.goto("/task/judge?begin=1")
    visitor.get("judge")
    visitor.send("judge", choice="about the same", reason="First.")
    return _judge(page)


def _expired(tour: Tour) -> Page:
    visitor = tour.world.come("judge")
    page = tour.nobody()
    tour.served.admit(page.context, visitor)
    page.goto("/task/judge?begin=1")
    visitor.get("judge")
    visitor.client.post("/task/judge/skip", data={"ticket": visitor.ticket})
    return _judge(page)


def _judge(page: Page) -> Page:
    page.locator("[name=choice][value='A slightly better']").check()
    page.locator("[name=reason]").fill("It asks what would help.")
    before = page.title()
    send(page)
    page.wait_for_function("before => document.title !== before", arg=before)
    return page


def _lost(tour: Tour) -> Page:
    page = tour.task("write")
    page.locator("textarea").fill("Not lost.")
    page.context.set_offline(True)
    send(page)
    page.locator(".state.lost").wait_for()
    return page


def _not_saved(tour: Tour) -> Page:
    page = tour.task("write")
    page.locator("textarea").fill("Not lost.")
    with broken_store(tour.world), page.expect_navigation():
        page.evaluate("document.querySelector('form.task').submit()")  # as without JavaScript
    return page


def _no_database(tour: Tour) -> Page:
    with broken_store(tour.world):
        return tour.task("judge")


def _long_reply(tour: Tour) -> Page:
    page = tour.task("write")
    page.locator("textarea").fill("word " * 70)
    return page


def _practice_refused(tour: Tour) -> Page:
    page = tour.at("/practice", "write", is_vetted=False)
    send(page)
    page.locator("#faults").wait_for()
    return page


def _practice(tour: Tour, *, outcome: str = "") -> Page:
    visitor = tour.world.come("write", is_vetted=False)
    visitor.client.post("/practice", data={"text": "I hear you."})
    if outcome:
        people = tour.world.store.people
        person = people.find_name(visitor.name)
        people.change_person(person, "vetted", {"vetting": outcome}, now=tour.world.clock())
    page = tour.nobody()
    tour.served.admit(page.context, visitor)
    page.goto("/practice")
    return page


def _withdraw(tour: Tour, *, confirms: bool) -> Page:
    page = tour.at("/withdraw", "judge")
    if confirms:
        page.get_by_role("checkbox").check()
    send(page)
    with suppress(AssertionError):
        page.wait_for_load_state()
    return page


def _researcher(tour: Tour, *, people: str = "") -> Page:
    """The researcher's page; with a number of people, after a link for them was asked for."""
    page = tour.at("/researcher", "research")
    if people:
        page.locator("#label").fill("Panel")
        page.locator("#people").fill(people)
        page.get_by_role("checkbox", name="Compare").check()
        page.get_by_role("button", name="Make the link").click()
    return page


def _person(tour: Tour) -> Page:
    page = tour.at("/researcher?sort=done", "research")
    page.locator("table.dense tbody a").first.click()
    page.locator("#why").wait_for()
    return page


def _held_texts(tour: Tour) -> Page:
    page = tour.at("/researcher/texts", "research")
    page.get_by_text("Read it").first.click()
    return page


def _halted(tour: Tour, path: str, kind: str, state: Halted = "paused") -> Page:
    page = tour.somebody(kind)  # nobody can come by a link any more
    with halted(tour.world, state):
        page.goto(path)
    return page


def _nothing_left(tour: Tour) -> Page:
    visitor = tour.world.come("write")
    while visitor.write().status_code == 303:
        pass
    page = tour.nobody()
    tour.served.admit(page.context, visitor)
    page.goto("/task/write?rested=1")
    return page


def _settle(tour: Tour) -> Page:
    """What two people differ on, who quoted what is there."""
    kind = "label-micro-skills-3"
    for verdict in ("present", "absent"):
        rater = tour.world.come(kind)
        while rater.get(kind) and rater.ticket:
            rater.send(kind, **{f"is_{key}": verdict for key in load_taxonomy("micro-skills").keys})
    return tour.task("settle-micro-skills-3")


def _after(tour: Tour, n: int, *, day: bool = False) -> Page:
    """The page after some judgments, with a long break before the last of a day."""
    visitor = tour.world.come("judge")
    for k in range(n):
        if day and k == 2:
            tour.world.clock.wait(minutes=31)
        assert visitor.judge().status_code == 303
    if day:
        tour.world.clock.wait(minutes=31)
    page = tour.nobody()
    tour.served.admit(page.context, visitor)
    page.goto("/task/judge" if n == 1 else "/task/judge?rested=1")
    return page


State = Callable[[Tour], Page]
STATES: Mapping[str, Mapping[str, State]] = {
    "five-point": {
        "warning": _arrive,
        "consent": lambda tour: _arrive(tour, "/consent"),
        "consent-refused": _consent_refused,
        "declined": lambda tour: tour.at("/declined"),
        "back-again": _back_again,
        "still-here": _still_here,
        "same-person": _same_person,
        "researcher-link": _researcher_link,
        "about-you": lambda tour: tour.at("/about-you", "judge"),
        "work": lambda tour: tour.at("/work", "write", "judge", "review"),
        "instructions-write": lambda tour: tour.at("/task/write", "write"),
        "instructions-judge": lambda tour: tour.at("/task/judge", "judge"),
        "instructions-review": lambda tour: tour.at("/task/review", "review"),
        "write": lambda tour: tour.task("write"),
        "write-long": _long_reply,
        "write-refused": lambda tour: tour.refused("write"),
        "write-lost": _lost,
        "judge": lambda tour: tour.task("judge"),
        "judge-refused": lambda tour: tour.refused("judge"),
        "review": lambda tour: tour.task("review"),
        "review-refused": lambda tour: tour.refused("review"),
        "already-sent": _already_sent,
        "expired": _expired,
        "not-saved": _not_saved,
        "no-database": _no_database,
        "nothing-left": _nothing_left,
        "paused": lambda tour: _halted(tour, "/task/judge?begin=1", "judge"),
        "closed": lambda tour: _halted(tour, "/task/judge?begin=1", "judge", "closed"),
        "practice": lambda tour: tour.at("/practice", "write", is_vetted=False),
        "practice-refused": _practice_refused,
        "practice-sent": _practice,
        "practice-failed": lambda tour: _practice(tour, outcome="failed"),
        "stopped": lambda tour: tour.at("/stopped", "judge"),
        "withdraw": lambda tour: tour.at("/withdraw", "judge"),
        "withdraw-refused": lambda tour: _withdraw(tour, confirms=False),
        "withdrawn": lambda tour: _withdraw(tour, confirms=True),
        "debrief": lambda tour: tour.at("/debrief", "judge"),
        "agreed": lambda tour: tour.at("/agreed", "judge"),
        "help": lambda tour: tour.at("/help", "judge"),
        "help-elsewhere": lambda tour: tour.at("/help?locale=default", "judge"),
        "bad-link": lambda tour: tour.at("/join/none"),
        "no-link": lambda tour: tour.at("/"),
        "unknown-browser": lambda tour: tour.at("/task/judge"),
        "not-found": lambda tour: tour.at("/task/none", "judge"),
        "researcher": _researcher,
        "researcher-made": lambda tour: _researcher(tour, people="3"),
        "researcher-refused": lambda tour: _researcher(tour, people="none"),
        "researcher-sorted": lambda tour: tour.at("/researcher?sort=done", "research"),
        "researcher-texts": _held_texts,
        "researcher-person": _person,
        "researcher-paused": lambda tour: _halted(tour, "/researcher", "research"),
        "researcher-closed": lambda tour: _halted(tour, "/researcher", "research", "closed"),
    },
    "forced-strength": {
        "instructions-forced": lambda tour: tour.at("/task/judge", "judge"),
        "forced": lambda tour: tour.task("judge"),
        "forced-refused": lambda tour: tour.refused("judge"),
        "researcher-empty": _researcher,
        "label-refused": lambda tour: tour.refused("label-micro-skills-3"),
        "settle": _settle,
    },
    "rating": {
        "instructions-rate": lambda tour: tour.at("/task/rate", "rate"),
        "practice-rate": lambda tour: tour.at("/practice/rate", "rate", is_vetted=False),
        "rate": lambda tour: tour.task("rate"),
        "rate-refused": lambda tour: tour.refused("rate"),
    },
    "enrolment": {
        "first-questions": _first_questions,
        "first-questions-refused": lambda tour: _first_questions(tour, english="Very well"),
        "screened-out": lambda tour: _first_questions(tour, english="A little", gender="man"),
        "group-full": _group_full,
    },
    "limits": {
        "rest": lambda tour: _after(tour, 1),
        "limit-session": lambda tour: _after(tour, 2),
        "limit-day": lambda tour: _after(tour, 3, day=True),
    },
}
"""By study, then by name."""
