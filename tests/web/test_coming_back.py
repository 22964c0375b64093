"""Coming again by a link: the same person, whatever the link is for."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from people_site import Visitor, World, people_world, plain

from hearteval.study.people.joining import forget_old_details


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with people_world(tmp_path) as made:
        yield made


def n_people(world: World) -> int:
    return len(world.store.people.people(world.desk.study.id))


def test_a_browser_that_came_by_a_link_for_several_goes_on_as_the_same_person(
    world: World,
) -> None:
    rater = world.come("judge")
    page = rater.client.get(f"/join/{rater.token}")
    assert "Welcome back" in plain(page.text)
    assert 'href="/work"' in page.text
    assert n_people(world) == 1


def test_a_browser_comes_back_by_a_link_that_is_full(world: World) -> None:
    token = world.invite("judge", most_people=2)
    first, _ = (Visitor(world, world.client(), token).join() for _ in range(2))
    assert "Welcome back" in plain(first.client.get(f"/join/{token}").text)
    assert world.client().get(f"/join/{token}").status_code == 401


def test_somebody_else_may_start_in_the_same_browser(world: World) -> None:
    rater = world.come("judge")
    page = rater.client.get(f"/join/{rater.token}")
    assert f"/join/{rater.token}?new=1" in page.text
    again = rater.client.get(f"/join/{rater.token}?new=1")
    assert "Before you start" in plain(again.text)
    rater.join()
    assert n_people(world) == 2


def test_another_id_of_a_recruiting_site_is_somebody_else(world: World) -> None:
    token = world.invite("judge")
    rater = Visitor(world, world.client(), token).join(pid="one")
    assert "Welcome back" in plain(rater.client.get(f"/join/{token}?pid=one").text)
    assert "Before you start" in plain(rater.client.get(f"/join/{token}?pid=two").text)


def test_another_link_makes_nobody_the_same_person(world: World) -> None:
    rater = world.come("judge")
    other = world.invite("write")
    assert "Before you start" in plain(rater.client.get(f"/join/{other}").text)


def test_a_researcher_is_not_welcomed_back_to_work(world: World) -> None:
    token = world.invite("research")
    page = plain(world.client().get(f"/join/{token}").text)
    assert "The researcher's page" in page
    assert "Go on where you stopped" not in page


def test_who_waits_for_their_practice_to_be_read_is_told_so_at_once(world: World) -> None:
    writer = world.come("write", "judge", is_vetted=False)
    writer.client.post("/practice", data={"text": "I hear you."})
    assert writer.client.get("/task/write").headers["location"] == "/practice"
    assert 'href="/work"' in writer.client.get("/practice").text


def test_who_has_nothing_left_of_one_kind_is_led_to_the_other(world: World) -> None:
    both, writer = world.come("write", "judge"), world.come("write")
    for visitor in (both, writer):
        for _ in world.desk.study.item_ids:
            visitor.write()
    page = both.get("write")
    assert 'href="/work"' in page
    assert both.name in page
    assert 'href="/work"' not in writer.get("write")


def test_a_researcher_sees_whose_practice_is_to_be_read(world: World) -> None:
    researcher = world.come("research")
    assert "Nobody has come yet" in plain(researcher.client.get("/researcher").text)
    writer = world.come("write", is_vetted=False)
    assert "not sent yet" in plain(researcher.client.get("/researcher").text)
    writer.client.post("/practice", data={"text": "I hear you."})
    assert "for you to read" in plain(researcher.client.get("/researcher").text)


def test_a_link_for_nothing_is_refused_in_words(world: World) -> None:
    researcher = world.come("research")
    form = {"label": "x", "people": "1", "days": "1"}
    refused = researcher.client.post("/researcher/links", data=form)
    assert refused.status_code == 422
    assert "Tick what people with this link may do." in plain(refused.text)


def test_answers_about_oneself_stand_in_their_order_after_none(tmp_path: Path) -> None:
    asked = 'about_you = ["age"]\n'
    with people_world(tmp_path, people=asked) as world:
        page = plain(world.come("judge").client.get("/about-you").text)
    places = [page.index(words) for words in ("prefer not", "18 to 24", "25 to 34", "65 or over")]
    assert places == sorted(places)


def test_the_address_without_a_link_says_that_a_link_is_needed(world: World) -> None:
    page = world.client().get("/")
    assert page.status_code == 200
    assert "Please open your link" in plain(page.text)
    assert "does not work" not in plain(page.text)


def test_a_withdrawal_and_the_end_of_the_time_to_keep_them_delete_where_people_are(
    world: World,
) -> None:
    gone, stays = (world.come("judge") for _ in range(2))
    names = (gone.name, stays.name)
    gone.client.post("/withdraw", data={"confirm": "yes"})
    found = [world.store.people.find_name(name).locale for name in names]
    assert found == ["default", "en-GB"]
    world.clock.wait(hours=181 * 24)
    assert forget_old_details(world.desk, now=world.clock()) == 1
    assert world.store.people.find_name(names[1]).locale == "default"
    assert forget_old_details(world.desk, now=world.clock()) == 0
