"""Who watches the study: which browsers, for how long, and what the log says that they did."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from people_site import World, people_world

from hearteval.study.people.joining import (
    Link,
    close_unused_sign_ins,
    find_link,
    make_invite,
    token_id,
)
from hearteval.web.server import Planner
from hearteval.web.site import COOKIE


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with people_world(tmp_path) as made:
        yield made


def test_a_browser_that_asks_for_nothing_for_hours_is_signed_out(world: World) -> None:
    researcher, rater = world.come("research"), world.come("judge")
    for _ in range(3):
        world.clock.wait(hours=7)
        assert researcher.client.get("/researcher").status_code == 200
    world.clock.wait(hours=9)
    assert researcher.client.get("/researcher").status_code == 401
    assert rater.client.get("/stopped").status_code == 200


def test_browsers_are_listed_and_signed_out(world: World) -> None:
    first, other = world.come("research"), world.come("research")
    rater = world.come("judge")
    page = first.client.get("/researcher").text
    listed = dict(
        reversed(pair)
        for pair in re.findall(r'name="browser" value="(\w+)">Sign out<[^>]*> (P-\w+)', page)
    )
    assert listed.keys() == {first.name, other.name}
    closed = first.client.post("/researcher/browsers", data={"browser": listed[other.name]})
    assert closed.status_code == 303
    assert other.client.get("/researcher").status_code == 401
    (browser,) = (
        id_
        for id_, _, _ in world.store.people.browsers(world.desk.study.id, now=world.clock())
        if id_ not in listed.values()
    )
    refused = first.client.post("/researcher/browsers", data={"browser": browser})
    assert refused.status_code == 404
    assert rater.client.get("/stopped").status_code == 200
    assert first.client.post("/leave-browser").headers["location"] == "/"
    assert first.client.get("/researcher").status_code == 401


def test_older_sign_in_links_that_nobody_has_opened_are_closed(world: World) -> None:
    used, judging = world.come("research").token, world.invite("judge")
    unused, _ = make_invite(world.desk, Link(label="researcher", kinds=["research"]))
    close_unused_sign_ins(world.desk)
    valid = {
        token: not found.refusal
        for token in (used, judging, unused)
        if (found := find_link(world.desk, token))
    }
    assert valid == {used: True, judging: True, unused: False}


def test_the_log_names_who_did_it(world: World) -> None:
    other = world.come("research")
    signed_out = other.name
    researcher, writer = world.come("research"), world.come("write", is_vetted=False)
    post = researcher.client.post
    token = world.invite("judge")
    form = {"label": "x", "kind_judge": "yes", "people": "1", "days": "1"}
    post("/researcher/links", data=form)
    post(f"/researcher/links/{token_id(token)}/revoke")
    post("/researcher/pause", data={"pause": "yes"})
    post(f"/researcher/practice/{writer.name}", data={"outcome": "passed"})
    post("/researcher/browsers", data={"browser": token_id(other.client.cookies[COOKIE])})
    told = [event for event in world.store.people.events() if "by" in event.about][-5:]
    assert [event.what for event in told] == [
        "invited",
        "revoked",
        "paused",
        "vetted",
        "signed out",
    ]
    assert told[-1].about["person"] == signed_out
    assert {event.about["by"] for event in told} == {researcher.name}


def test_the_page_of_a_served_study_reads_no_text_anew(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    planner = Planner(world.desk)
    object.__setattr__(world.site, "texts", planner.texts)
    researcher = world.come("research")
    before = researcher.client.get("/researcher").text
    with planner.working():
        for name in ("iter", "labels_of", "judgment_table"):
            monkeypatch.delattr(type(world.store), name)
        assert researcher.client.get("/researcher").text == before
