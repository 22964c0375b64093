"""Coming again by a link: the same person, whatever the link is for."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from people_site import Visitor, World, people_world, plain

from hearteval.study.people.consenting import read_consent
from hearteval.study.people.joining import Agreed, find_link, forget_old_details, join
from hearteval.study.people.languages import Somebody


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
    assert world.client().get(f"/join/{token}").status_code == 403


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


def test_an_id_of_a_recruiting_site_is_one_person_by_every_link_of_a_study(world: World) -> None:
    comes_by_two_links(world)


@pytest.mark.postgres
def test_an_id_is_one_person_by_every_link_on_postgresql_too(
    tmp_path: Path, postgres_url: str
) -> None:
    with people_world(tmp_path, store=postgres_url) as made:
        comes_by_two_links(made)


def comes_by_two_links(world: World) -> None:
    write, judge = world.invite("write"), world.invite("judge")
    writer = Visitor(world, world.client(), write).join(pid="one")
    for _ in world.desk.study.item_ids:
        writer.write("These are my own words.")
    world.come("write").write("These are somebody else's.")
    other = world.client()
    by_link = writer.client.get(f"/join/{judge}?pid=one").text
    assert "Before you start" in plain(by_link)  # nobody asks whom an ID has named
    arrived = other.get(f"/join/{judge}?pid=one")
    assert "Before you start" in plain(arrived.text)  # they have not agreed to this yet
    rater = Visitor(world, other, judge).join(pid="one")
    assert (rater.name, n_people(world)) == (writer.name, 2)
    assert "Welcome back" in plain(world.client().get(f"/join/{judge}?pid=one").text)
    shown = 0
    while (page := rater.get("judge")) and rater.ticket:
        assert "These are my own words." not in page
        rater.send("judge", choice="about the same", reason="Equal.")
        shown += 1
    assert shown > 0


def test_a_browser_that_is_known_is_asked_at_a_second_link_and_may_be_the_same_person(
    world: World,
) -> None:
    writer, judge = world.come("write"), world.invite("judge")
    for _ in world.desk.study.item_ids:
        writer.write("These are my own words.")
    name, client = writer.name, writer.client
    asked = plain(client.get(f"/join/{judge}").text)
    assert "Have you been here before?" in asked
    assert name in asked
    assert "Before you start" in plain(client.get(f"/join/{judge}?same=yes").text)
    assert 'name="same"' in client.get(f"/join/{judge}/consent?same=yes").text
    rater = Visitor(world, client, judge).join(same="yes", pid="one")
    assert (rater.name, n_people(world)) == (name, 1)
    while (page := rater.get("judge")) and rater.ticket:
        assert "These are my own words." not in page
        rater.send("judge", choice="about the same", reason="Equal.")
    elsewhere = Visitor(world, world.client(), world.invite("judge")).join(pid="one")
    assert elsewhere.name == name
    assert "Welcome back" in plain(client.get(f"/join/{judge}").text)


def test_a_browser_that_is_known_may_be_somebody_elses_at_a_second_link(world: World) -> None:
    writer, judge = world.come("write"), world.invite("judge")
    name = writer.name
    assert "Before you start" in plain(writer.client.get(f"/join/{judge}?new=yes").text)
    assert Visitor(world, writer.client, judge).join().name != name
    with_id = plain(world.come("write").client.get(f"/join/{judge}?pid=nine").text)
    assert "Have you been here before?" in with_id
    first = Visitor(world, world.client(), world.invite("write")).join(pid="one")
    Visitor(world, world.client(), judge).join(pid="two")
    assert "Welcome back" in plain(first.client.get(f"/join/{judge}?pid=two").text)
    assert "Before you start" in plain(first.client.get(f"/join/{judge}?pid=three").text)
    stranger = Visitor(world, first.client, judge).join(same="yes", pid="three")
    assert n_people(world) == 6
    watcher = world.come("research")
    assert "Before you start" in plain(watcher.client.get(f"/join/{judge}").text)
    assert Visitor(world, watcher.client, judge).join(same="yes").name != stranger.name


def test_who_has_withdrawn_meanwhile_is_not_taken_for_the_same_person(world: World) -> None:
    writer, judge = world.come("write"), world.invite("judge")
    known = world.store.people.find_name(writer.name)
    found = find_link(world.desk, judge, known=known)
    assert found is not None
    writer.client.post("/withdraw", data={"confirm": "yes"})
    agreed = Agreed(read_consent(world.desk, found.link.kinds, "en"), {})
    came = {"reader": Somebody("en-GB"), "agreed": agreed, "guest": known}
    assert join(world.desk, found.link, **came) == "full"


def test_two_browsers_that_come_by_two_links_at_once_are_one_person(world: World) -> None:
    links = [world.invite("write"), world.invite("judge")] * 4
    start = threading.Barrier(len(links))

    def come(token: str) -> int:
        client = world.client()
        start.wait()
        ticks = {"adult": "yes", "agree": "yes", "no_ai": "yes", "pid": "one"}
        return int(client.post(f"/join/{token}", data=ticks).status_code)

    with ThreadPoolExecutor(len(links)) as pool:
        assert set(pool.map(come, links)) == {303}
    assert n_people(world) == 1


def test_an_id_alone_leads_nobody_to_what_is_held_back(world: World) -> None:
    review, judge = world.invite("review"), world.invite("judge")
    Visitor(world, world.client(), review).join(pid="one")
    for found in (
        world.client().get(f"/join/{judge}?pid=one"),
        world.client().post(f"/join/{judge}", data={"adult": "yes", "agree": "yes", "pid": "one"}),
    ):
        assert found.status_code == 403
        assert "Please use your first link" in plain(found.text)


def test_an_id_of_the_researcher_is_nobody_elses(world: World) -> None:
    Visitor(world, world.client(), world.invite("research")).join(pid="one")
    rater = Visitor(world, world.client(), world.invite("judge")).join(pid="one")
    assert rater.client.get("/researcher").status_code == 404
    assert n_people(world) == 2


@pytest.mark.parametrize(
    "query",
    [
        "PROLIFIC_PID=%7B%7B%25PROLIFIC_PID%25%7D%7D",
        "PROLIFIC_PID=5f1234",
        "PROLIFIC_PID=PROLIFIC_PID",
        "pid=%24%7Be%3A%2F%2FField%2FID%7D",
        "participant=%5BID%5D",
        "workerId=ASSIGNMENT_ID_NOT_AVAILABLE",
        "workerId=anna",
        "assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE",
        "pid=undefined",
    ],
)
def test_what_is_no_id_of_a_recruiting_site_is_refused(world: World, query: str) -> None:
    token = world.invite("judge")
    for page in ("", "/consent"):
        refused = world.client().get(f"/join/{token}{page}?{query}")
        assert refused.status_code == 400
        assert "We did not get your ID" in plain(refused.text)
    assert n_people(world) == 0


@pytest.mark.parametrize(
    "query", ["PROLIFIC_PID=5f1a2b3c4d5e6f7a8b9c0d1e", "workerId=A2KJX91QRTZ", "pid=anna-7"]
)
def test_an_id_of_a_recruiting_site_lets_somebody_in(world: World, query: str) -> None:
    token = world.invite("judge")
    assert world.client().get(f"/join/{token}?{query}").status_code == 200


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
