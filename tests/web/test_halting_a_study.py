"""A study that its researcher pauses, closes and opens again, and links that are made wider."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from people_site import World, people_world, plain

from hearteval.study.people.joining import token_id


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with people_world(tmp_path) as made:
        yield made


def test_a_paused_study_gives_out_nothing_new(world: World) -> None:
    researcher, rater = world.come("research"), world.come("judge")
    researcher.client.post("/researcher/pause", data={"pause": "yes"})
    assert "The study is paused" in plain(rater.get("judge"))
    researcher.client.post("/researcher/pause", data={"pause": "no"})
    assert rater.judge().status_code == 303


def test_nobody_new_comes_to_a_closed_study_and_who_is_in_it_reads_so(world: World) -> None:
    researcher, rater, late = world.come("research"), world.come("judge"), world.come("judge")
    late.get("judge")
    token = world.invite("judge")
    researcher.client.post("/researcher/pause", data={"pause": "closed"})
    refused = world.client().get(f"/join/{token}")
    assert refused.status_code == 410
    assert "takes nobody new" in plain(refused.text)
    ticks = {"adult": "yes", "agree": "yes"}
    assert world.client().post(f"/join/{token}", data=ticks).status_code == 410
    assert "The study is closed" in plain(rater.get("judge"))
    sent = late.send("judge", choice="about the same", reason="Both listen.")
    assert sent.status_code == 303
    assert rater.client.get("/withdraw").status_code == 200
    page = plain(researcher.client.get("/researcher").text)
    assert "Closed: nothing new is given out" in page


def test_a_closed_study_can_be_opened_again(world: World) -> None:
    researcher, token = world.come("research"), world.invite("judge")
    for state in ("closed", "no"):
        researcher.client.post("/researcher/pause", data={"pause": state})
    assert world.client().get(f"/join/{token}").status_code == 200
    told = [event.what for event in world.store.people.events()]
    assert told[-2:] == ["closed", "resumed"]


def test_a_researcher_still_comes_to_a_closed_study(world: World) -> None:
    world.store.people.halt(world.desk.study.id, "closed", now=world.clock())
    assert world.come("research").client.get("/researcher").status_code == 200


def test_a_link_that_is_full_and_over_lets_more_in_once_it_is_made_wider(world: World) -> None:
    researcher = world.come("research")
    token = world.invite("judge", most_people=1, days=1)
    ticks = {"adult": "yes", "agree": "yes", "pid": "one"}
    assert world.client().post(f"/join/{token}", data=ticks).status_code == 303
    world.clock.wait(hours=7)
    assert researcher.client.get("/researcher").status_code == 200
    where = f"/researcher/links/{token_id(token)}/extend"
    assert world.client().get(f"/join/{token}").status_code in (200, 403)
    assert researcher.client.post(where, data={"people": "2", "days": "3"}).status_code == 303
    link = world.store.people.find_invite(token_id(token))
    assert link is not None
    assert link.most_people == 3
    assert (link.expires_at - world.clock()).total_seconds() == (4 * 24 - 7) * 3600


@pytest.mark.parametrize("form", [{}, {"people": "x"}, {"people": "999999"}, {"days": "9999"}])
def test_a_link_is_not_made_wider_by_what_is_no_number(world: World, form: dict[str, str]) -> None:
    researcher, token = world.come("research"), world.invite("judge")
    before = world.store.people.find_invite(token_id(token))
    where = f"/researcher/links/{token_id(token)}/extend"
    refused = researcher.client.post(where, data=form)
    assert refused.status_code == 422
    assert "how many people more" in plain(refused.text)
    assert world.store.people.find_invite(token_id(token)) == before
