"""Three writers and eight raters in real browsers, from a site's links to its files for payment."""

import csv
import json
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from browser_site import listening, press, real_browser
from heart_command import Done, run_heart
from page_states import Tour
from people_site import STUDY, World, people_world
from playwright.sync_api import Page, expect

from hearteval.domain import Completion, System
from hearteval.protocol import load_protocol

pytestmark = [pytest.mark.browser, pytest.mark.server]

LOAD = 10
GROUP = 6
BACK = "https://app.prolific.com/submissions/complete?cc=CDONE1"
PANEL = f"""
writers_per_item = 3
raters_per_pair = 4
load = {LOAD}
edge = ["risk", "medical", "abuse", "minor"]
contact = "study@example.org"
[people.endings]
done = "{BACK}"
partial = "CPART2"
no_consent = "CNONE3"
screened_out = "COUT4"
full = "CFULL5"
[[people.screening]]
question = "english"
text = "How well do you read English?"
answers = ["Very well", "Not at all"]
pass = ["Very well"]
[[people.quotas]]
most = {GROUP}
answers = {{ gender = "each" }}
[people.quality]
checks = 2
repeats = 0.25
fewest_answers = 5
"""
N_ITEMS, N_WRITERS, N_RATERS = 3, 3, 8
REPLIES = (
    "That is a lot to carry on your own. What was the hardest part of today?",
    "I hear how tired you are. Who could be with you this evening?",
    "No wonder it keeps you awake. What would make tonight a little easier?",
)
ENDINGS = ("Really?", "I am here.", "Take your time.")
WITHDRAWN_WORDS = "Zaunkönig says it"
"""Which nobody else writes."""
A, B = "A is significantly better", "B is significantly better"
TIE = "They are about the same"
CHECKS = load_protocol("people_checks")
GOOD = {one["good"] for one in CHECKS["gold"]}
BAD = {one["bad"] for one in CHECKS["gold"]}
IDS = Mapping[str, str]


def prolific(number: int) -> dict[str, str]:
    """What Prolific puts into a link: ids of 24 hexadecimal digits."""
    return {
        "PROLIFIC_PID": f"5f1a2b3c4d5e6f7a8b9c{number:04x}",
        "STUDY_ID": "6a0b1c2d3e4f5a6b7c8d9e0f",
        "SESSION_ID": f"6b0b1c2d3e4f5a6b7c8d{number:04x}",
    }


def connect(number: int) -> dict[str, str]:
    return {
        "participantId": f"9F8E7D6C5B4A{number:04d}",
        "assignmentId": f"a1b2c3d4{number:04d}",
        "projectId": "p0001",
    }


MTURK = {"workerId": "A1B2C3D4E5F6G7", "assignmentId": "3X0H8UUIT1R2", "hitId": "3Y5140Z9DXG4"}


@dataclass
class Somebody:
    """Who has come, and what their pages said."""

    page: Page
    ids: IDS
    name: str = ""
    seen: list[tuple[str, str]] = field(default_factory=list)
    """Replies A and B of each comparison."""
    way: str = ""
    """Code or address of their ending."""


@dataclass
class Panel:
    """A study, the people who came, and what commands and pages said of them."""

    study: Path
    writers: list[Somebody]
    raters: list[Somebody]
    again: Somebody
    """The first rater, by another link in another browser."""
    turned_away: dict[str, tuple[str, str]]
    """Heading and code of who found a link full, their group full, and so on."""
    said: dict[str, Done]
    """By commands."""
    watched: dict[str, str]
    """The researcher's page, in words, before and after people were paid."""


@dataclass
class House:
    """A served study with a browser program, whose people take as long as the test says."""

    passing: Tour
    """Of those who come one after the other: each browser was left by the one before, emptied."""
    staying: Tour
    generic: frozenset[str]
    """Replies of the worst system."""

    @property
    def world(self) -> World:
        return self.passing.world

    def come(self, link: str, ids: IDS, *, stays: bool = False) -> Page:
        """Come; who stays has a browser that nobody else gets."""
        if not stays:
            self.passing.leave()
        page = (self.staying if stays else self.passing).nobody()
        page.goto(f"{link}?{'&'.join(f'{name}={value}' for name, value in ids.items())}")
        return page

    def careful(self, a: str, b: str) -> str:
        """Do what a reply asks for; else prefer what people wrote, and the worst system last."""
        for text, this, other in ((a, A, B), (b, B, A)):
            asked = {"this": this, "other": other, "same": TIE}
            if found := [asked[how] for how in asked if CHECKS["asks"][how] in text]:
                return found[0]
        worth = self._worth(a) - self._worth(b)
        return A if worth > 0 else B if worth < 0 else TIE

    def _worth(self, text: str) -> int:
        if text in GOOD or text.startswith(REPLIES):
            return 2
        return 0 if text in BAD or text in self.generic else 1

    def wrong_on_checks(self, a: str, b: str) -> str:
        right = self.careful(a, b)
        return {A: B, B: A, TIE: A}[right] if is_check(a, b) else right

    def compare(
        self,
        rater: Somebody,
        answer: Callable[[str, str], str],
        *,
        seconds: float,
        most: int = LOAD,
        words: str = "It asks about this evening",
    ) -> None:
        """Answer so many comparisons, each in so many seconds."""
        page = rater.page
        for n in range(1, most + 1):
            a, b = (
                page.locator(f'section[aria-labelledby="reply-{one}"] p').inner_text()
                for one in "ab"
            )
            rater.seen.append((a, b))
            self.world.clock.wait(seconds=seconds)
            page.get_by_label(answer(a, b), exact=True).check()
            page.get_by_label("Why?").fill(f"{words}, number {n}")
            press(page, "Send")
            if n < LOAD:
                expect(page.locator(".progress")).to_contain_text(f"{n + 1} of {LOAD}")
            else:
                expect(page.get_by_role("heading", name="You are done")).to_be_visible()


def is_check(a: str, b: str) -> bool:
    return any(text in GOOD | BAD or "whether the replies are read" in text for text in (a, b))


def first_side(_a: str, _b: str) -> str:
    return A


def agree(page: Page, *, writes: bool = False) -> None:
    press(page, "I understand, go on")
    consent = page.locator("main").inner_text()
    assert f"You do {LOAD} tasks, about " in consent
    assert ("to check that replies are read" in consent) != writes
    page.get_by_label("I am 18 or over.").check()
    page.get_by_label("I have read this").check()
    if writes:
        page.get_by_label("I will write every reply").check()
    press(page, "Take part")


def tell(page: Page, gender: str, english: str = "Very well") -> None:
    """Answer what decides who is let in."""
    page.get_by_label("How well do you read English?").select_option(english)
    page.locator("#entry_gender").select_option(gender)
    press(page, "Go on")


def heading_and_code(page: Page) -> tuple[str, str]:
    return page.locator("h1").inner_text(), page.locator(".completion code").inner_text()


def look_at_ending(one: Somebody) -> None:
    """Read their name and their way to be paid on the page that all can come back to."""
    page = one.page
    page.goto("/".join([*page.url.split("/")[:3], "stopped"]))
    one.name = page.locator("main .part .code").inner_text()
    link = page.get_by_role("link", name="Back to the site that sent you")
    one.way = str(
        link.get_attribute("href")
        if link.count()
        else page.locator(".completion code").inner_text()
    )


def make_link(researcher: Page, name: str, kind: str, n: int) -> str:
    researcher.locator("#label").fill(name)
    researcher.get_by_role("checkbox", name=kind, exact=True).check()
    researcher.get_by_role("checkbox", name="Writers need no practice reply").check()
    researcher.locator("#people").fill(str(n))
    press(researcher, "Make the link")
    return researcher.locator(".made code").inner_text()


def write_all(house: House, writer: Somebody, k: int) -> None:
    page = writer.page
    page.get_by_role("link", name="Start").click()
    for ending in ENDINGS:
        house.world.clock.wait(seconds=90)
        page.get_by_label("The supporter says").fill(f"{REPLIES[k]} {ending}")
        press(page, "Send")
        if ending != ENDINGS[-1]:
            expect(page.get_by_label("The supporter says")).to_have_value("")
    expect(page.get_by_role("heading", name="Nothing to do right now")).to_be_visible()
    look_at_ending(writer)


def write(house: House, link: str) -> list[Somebody]:
    """Three women write a reply to each item."""
    found = []
    for k in range(N_WRITERS):
        ids = prolific(100 + k)
        writer = Somebody(house.come(link, ids), ids)
        agree(writer.page, writes=True)
        tell(writer.page, "woman")
        write_all(house, writer, k)
        found.append(writer)
    return found


RATERS: Sequence[tuple[IDS, str]] = [
    *((prolific(k), "woman") for k in range(3)),
    (connect(3), "man"),
    (MTURK, "man"),
    *((prolific(k), "man") for k in range(5, N_RATERS)),
]
"""Ids and gender; with the writers the women are as many as may be."""
LEAVES, HURRIES, FAILS = 5, 6, 7
"""Who withdraws, who takes a second and always the first side, and who is wrong on each check."""


def rate(house: House, link: str) -> list[Somebody]:
    found = []
    for k, (ids, gender) in enumerate(RATERS):
        rater = Somebody(house.come(link, ids, stays=k == LEAVES), ids)
        agree(rater.page)
        tell(rater.page, gender)
        rater.page.get_by_role("link", name="Start").click()
        if k == LEAVES:
            house.compare(rater, house.careful, seconds=60, most=3, words=WITHDRAWN_WORDS)
        elif k == HURRIES:
            house.compare(rater, first_side, seconds=0.4)
        elif k == FAILS:
            house.compare(rater, house.wrong_on_checks, seconds=70)
        else:
            house.compare(rater, house.careful, seconds=60 + 5 * k)
        look_at_ending(rater)
        found.append(rater)
    return found


def turn_away(house: House, full: str, other: str) -> dict[str, tuple[str, str]]:
    """Come where there is no place for one."""
    found = {"link": heading_and_code(house.come(full, prolific(200)))}
    page = house.come(other, prolific(201))
    agree(page)
    tell(page, "woman")
    found["group"] = heading_and_code(page)
    page = house.come(other, prolific(202))
    agree(page)
    tell(page, "man", english="Not at all")
    found["answers"] = heading_and_code(page)
    page = house.come(other, prolific(203))
    page.get_by_role("link", name="Not today").click()
    found["declines"] = heading_and_code(page)
    return found


def withdraw(rater: Somebody) -> tuple[str, str]:
    page = rater.page
    page.get_by_role("link", name="Withdraw from the study").click()
    page.get_by_label("Yes, delete what I wrote.").check()
    press(page, "Withdraw now")
    expect(page.get_by_role("heading", name="You have withdrawn")).to_be_visible()
    return heading_and_code(page)


def words_of(researcher: Page, house: House) -> str:
    """The researcher's page, once what it keeps for a minute is read anew."""
    house.world.clock.wait(minutes=2)
    researcher.goto(f"{house.passing.served.address}/researcher")
    return " ".join(researcher.locator("main").inner_text().split())


def ask(panel_study: Path, *words: object) -> Done:
    done = run_heart("people", words[0], panel_study, *words[1:])
    assert done.code == 0, done.err
    return done


def pay(study: Path) -> dict[str, Done]:
    """Fill in the list, write the files of two sites, and mark who was paid."""
    said = {"list": ask(study, "list", "--csv")}
    rows = list(csv.DictReader(said["list"].out.splitlines()))
    rows[N_WRITERS]["bonus"], rows[N_WRITERS + 3]["bonus"] = "1.5", "2"
    table = study.with_name("people.csv")
    with table.open("w", encoding="utf-8", newline="") as file:
        filled = csv.DictWriter(file, rows[0])
        filled.writeheader()
        filled.writerows(rows)
    for site in ("prolific", "connect"):
        out = study.with_name("paying") / site
        said[site] = ask(study, "pay", table, "--platform", site, "--out", out, "--json")
    for name in ("prolific/approve.txt", "connect/approve.csv"):
        said[name] = ask(study, "paid", study.with_name("paying") / name, "--json")
    said["paid"] = ask(study, "list", "--json")
    return said


@pytest.fixture(scope="module")
def panel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Panel]:
    folder = tmp_path_factory.mktemp("panel")
    text = STUDY.replace("regular = 2", f"regular = {N_ITEMS}").replace(
        "adversarial = 1", "adversarial = 0"
    )
    with (
        people_world(folder, people=PANEL, study=text) as world,
        listening(world) as served,
        real_browser() as browser,
    ):
        world.clock.now = datetime.now(UTC) - timedelta(hours=12)
        study, store = world.desk.study, world.store
        (worst,) = (one for one in store.iter(System, study) if one.name == "generic")
        replies = store.iter(Completion, study)
        passing, staying = (Tour("panel", browser, served) for _ in range(2))
        generic = frozenset(one.text for one in replies if one.system_id == worst.id)
        house = House(passing, staying, generic)
        link = f"{served.address}/join/{world.invite('research', 'review')}"
        researcher = house.come(link, {}, stays=True)
        researcher.locator("main button.send").click()
        links = {
            name: make_link(researcher, name, kind, n)
            for name, kind, n in (
                ("Writers", "Write", N_WRITERS),
                ("Panel", "Compare", N_RATERS),
                ("Spare", "Compare", 20),
            )
        }
        writers = write(house, links["Writers"])
        raters = rate(house, links["Panel"])
        turned_away = turn_away(house, links["Panel"], links["Spare"])
        turned_away["withdraws"] = withdraw(raters[LEAVES])
        ids = raters[0].ids
        again = Somebody(house.come(links["Spare"], ids), ids)
        press(again.page, "Go on")
        look_at_ending(again)
        path = folder / "people.toml"
        said = {"seen": ask(path, "quality", "--json")}
        watched = {"before": words_of(researcher, house)}
        said["applied"] = ask(path, "quality", "--apply", "--json")
        said |= pay(path)
        watched["after"] = words_of(researcher, house)
        said["run"] = run_heart("run", path, "--json")
        yield Panel(path, writers, raters, again, turned_away, said, watched)


def test_everybody_comes_to_an_ending_and_its_way_to_be_paid(panel: Panel) -> None:
    stayed = [one for k, one in enumerate(panel.raters) if k != LEAVES]
    assert {one.way for one in [*panel.writers, *stayed]} == {BACK}
    assert panel.raters[LEAVES].way == "CPART2"
    assert panel.turned_away == {
        "link": ("The study is full", "CFULL5"),
        "group": ("This group is full", "CFULL5"),
        "answers": ("This study asks other people", "COUT4"),
        "declines": ("That is all right", "CNONE3"),
        "withdraws": ("You have withdrawn", "CPART2"),
    }
    assert len({one.name for one in [*panel.writers, *panel.raters]}) == N_WRITERS + N_RATERS


def test_a_load_holds_two_checks_and_one_pair_again_the_other_way_round(panel: Panel) -> None:
    for k, rater in enumerate(panel.raters):
        if k == LEAVES:
            continue
        assert len(rater.seen) == LOAD
        assert sum(is_check(a, b) for a, b in rater.seen) == 2
        assert len([one for one in rater.seen if one[::-1] in rater.seen]) == 2
        assert len(set(rater.seen)) == LOAD


def test_who_comes_twice_is_one_person(panel: Panel) -> None:
    first = panel.raters[0]
    assert (panel.again.name, panel.again.way) == (first.name, BACK)
    rows = [row for row in listed(panel) if row["person"] == first.name]
    assert [row["participant"] for row in rows] == [first.ids["PROLIFIC_PID"]]


def test_the_careless_are_found_and_left_out_by_the_rules_set_before(panel: Panel) -> None:
    hurries, fails = panel.raters[HURRIES].name, panel.raters[FAILS].name
    seen, applied = panel.said["seen"].json, panel.said["applied"].json
    assert seen["to_leave_out"] == sorted([hurries, fails])
    assert "times" in seen["found"][hurries]
    assert "checks" in seen["found"][fails]
    assert seen["left_out"] == []
    assert applied["left_out"] == applied["left_out_now"] == seen["to_leave_out"]
    assert seen["preregistered"]


def test_the_ranking_stands_without_and_with_those_left_out(panel: Panel) -> None:
    assert panel.said["run"].code == 0, panel.said["run"].err
    results = json.loads(panel.study.with_suffix(".results.json").read_text(encoding="utf-8"))
    ranked = {row["system"]: row for row in results["quality"]["ranking"]}
    assert set(ranked) == {"People", "original", "generic"}
    assert all(row["elo"] != row["elo_with"] for row in ranked.values())
    out = {one["person"] for one in results["quality"]["excluded"]}
    assert out == {panel.raters[HURRIES].name, panel.raters[FAILS].name}
    page = panel.study.with_suffix(".report.html").read_text(encoding="utf-8")
    assert "How carefully people answered" in page
    ids = [value for one in [*panel.writers, *panel.raters] for value in one.ids.values()]
    assert [value for value in ids if value in page + json.dumps(results)] == []


def test_of_who_withdraws_no_word_and_no_id_is_left(panel: Panel) -> None:
    with sqlite3.connect(panel.study.with_suffix(".db")) as opened:
        kept = "\n".join(opened.iterdump())
    opened.close()
    gone, stays = panel.raters[LEAVES], panel.raters[0]
    assert [value for value in stays.ids.values() if value not in kept] == []
    own = {gone.ids["PROLIFIC_PID"], gone.ids["SESSION_ID"], WITHDRAWN_WORDS}
    assert [value for value in own if value in kept] == []
    (row,) = (row for row in listed(panel) if row["person"] == gone.name)
    assert (row["state"], row["participant"], row["decision"]) == ("withdrawn", "", "")


def listed(panel: Panel) -> list[dict[str, str]]:
    return list(csv.DictReader(panel.said["list"].out.splitlines()))


def test_a_group_fills_exactly(panel: Panel) -> None:
    assert f"woman {GROUP} {GROUP}" in panel.watched["before"]
    assert "man 4 " in panel.watched["before"]
    assert (
        "Not let in: 1 by their answers, 1 because their group was full."
        in (panel.watched["before"])
    )


def test_the_list_tells_what_everybody_did(panel: Panel) -> None:
    rows = {row["person"]: row for row in listed(panel)}
    assert len(rows) == N_WRITERS + N_RATERS
    hurries = rows[panel.raters[HURRIES].name]
    fails = rows[panel.raters[FAILS].name]
    assert (hurries["minutes"], hurries["tasks"]) == ("0.1", f"judge={LOAD}")
    assert fails["checks_failed"] == "2"
    assert {hurries["state"], fails["state"]} == {"excluded"}
    assert {hurries["decision"], fails["decision"]} == {"approve"}
    assert {rows[one.name]["tasks"] for one in panel.writers} == {f"write={N_ITEMS}"}
    assert {row["platform"] for row in rows.values()} == {"prolific", "connect", "mturk", ""}


def test_files_are_as_sites_take_them_and_reject_nobody(panel: Panel) -> None:
    folder = panel.study.with_name("paying")
    assert sorted(str(one.relative_to(folder)) for one in folder.glob("*/*")) == [
        "connect/approve.csv",
        "connect/bonus.csv",
        "prolific/approve.txt",
        "prolific/bonus.csv",
    ]
    sent = [one for one in [*panel.writers, *panel.raters] if one is not panel.raters[LEAVES]]
    sessions = [one.ids["SESSION_ID"] for one in sent if "SESSION_ID" in one.ids]
    approved = (folder / "prolific" / "approve.txt").read_text(encoding="utf-8")
    assert re.fullmatch(r"([0-9a-f]{24}\n)+", approved)
    assert sorted(approved.split()) == sorted(sessions)
    bonus = (folder / "prolific" / "bonus.csv").read_text(encoding="utf-8")
    assert bonus == f"{panel.raters[0].ids['SESSION_ID']},1.50\n"

    for name, columns in (("approve", ["message"]), ("bonus", ["bonus", "message"])):
        with (folder / "connect" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            (row,) = csv.DictReader(file)
        assert list(row) == ["participantId", "assignmentId", *columns]
        ids = panel.raters[3].ids
        assert [*row.values()][:2] == [ids["participantId"], ids["assignmentId"]]
        assert row.get("bonus") in (None, "2.00")
    mturk = panel.raters[4].name
    assert panel.said["prolific"].json["nameless"] == [panel.raters[3].name, mturk]
    refused = run_heart("people", "pay", panel.study, "--platform", "mturk", "--out", folder / "m")
    assert (refused.code, "'prolific', 'connect'" in refused.err) == (2, True)


def test_who_was_paid_is_marked_and_offered_no_second_time(panel: Panel) -> None:
    assert panel.said["prolific/approve.txt"].json["n_changed"] == N_WRITERS + N_RATERS - 3
    assert panel.said["connect/approve.csv"].json["n_changed"] == 1
    rows = panel.said["paid"].json["people"]
    unpaid = {row["person"] for row in rows if not row["paid_at"]}
    assert unpaid == {panel.raters[4].name, panel.raters[LEAVES].name}
    assert {row["person"] for row in rows if row["decision"]} == {panel.raters[4].name}
    again = run_heart(
        *("people", "pay", panel.study, "--platform", "prolific"),
        *("--out", panel.study.with_name("again"), "--json"),
    )
    assert again.json["files"] == []


def test_the_researchers_page_shows_how_far_everybody_is(panel: Panel) -> None:
    before, after = panel.watched["before"], panel.watched["after"]
    hurries, fails, gone = (panel.raters[k].name for k in (HURRIES, FAILS, LEAVES))
    kept = [
        one.name
        for one in [*panel.writers, *panel.raters]
        if one.name not in (hurries, fails, gone, panel.raters[4].name)
    ]
    assert [name for name in kept if f"{name} done" not in before] == []
    assert [name for name in kept if f"{name} paid" not in after] == []
    assert f"{panel.raters[4].name} done" in after
    for page in (before, after):
        assert f"{gone} withdrawn" in page
    assert [name for name in (hurries, fails) if f"{name} left out" not in after] == []
    assert "Rules find something in the answers of 2 people" in before
    assert f"Writers Write {N_WRITERS} of {N_WRITERS}" in before
