"""Every page that may be somebody's last one: what they did, and what they still may do."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from people_site import PEOPLE, Visitor, World, people_world, plain

WAY_BACK = "https://recruiting.example/complete?cc=ABC"
ENDS = ("done", "partial", "limit", "stopped")
LIMITED = f"{PEOPLE}most_per_session = 1\nmost_per_day = 2\n[people.endings]\n" + "".join(
    f'{name} = "{WAY_BACK}-{name}"\n' for name in ENDS
)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with people_world(tmp_path, people=LIMITED) as made:
        for _ in made.desk.study.item_ids:
            made.come("write").write()
            made.come("write").write()
        yield made


def limit_session(_world: World, rater: Visitor) -> str:
    rater.judge()
    return rater.get("judge")


def limit_day(world: World, rater: Visitor) -> str:
    rater.judge()
    world.clock.wait(minutes=45)
    rater.judge()
    world.clock.wait(minutes=45)
    return rater.get("judge")


def paused(world: World, rater: Visitor) -> str:
    world.store.people.halt(world.desk.study.id, "paused", now=world.clock())
    return rater.get("judge")


def closed(world: World, rater: Visitor) -> str:
    world.store.people.halt(world.desk.study.id, "closed", now=world.clock())
    return rater.get("judge")


def already_sent(_world: World, rater: Visitor) -> str:
    rater.judge()
    return str(rater.send("judge", choice="B slightly better", reason="Another one.").text)


def expired(world: World, rater: Visitor) -> str:
    rater.get("judge")
    world.clock.wait(hours=1)
    rater.client.post("/task/judge/skip", data={"ticket": rater.ticket})
    late = rater.send("judge", choice="B slightly better", reason="Too late.")
    assert late.status_code == 409
    return str(late.text)


def nothing_left(_world: World, rater: Visitor) -> str:
    rater.client.post("/task/judge/skipped")
    return rater.get("review")


def stopped(_world: World, rater: Visitor) -> str:
    return str(rater.client.get("/stopped").text)


def debrief(_world: World, rater: Visitor) -> str:
    return str(rater.client.get("/debrief").text)


ENDINGS = (
    limit_session,
    limit_day,
    paused,
    closed,
    already_sent,
    expired,
    nothing_left,
    stopped,
    debrief,
)


@pytest.mark.parametrize("ending", ENDINGS, ids=lambda one: one.__name__)
def test_an_ending_says_what_was_done_and_offers_every_way_out(
    world: World, ending: Callable[[World, Visitor], str]
) -> None:
    rater = world.come("judge", "review")
    page = ending(world, rater)
    n_done = {"limit_session": 1, "limit_day": 2, "already_sent": 1}.get(ending.__name__, 0)
    words = {0: "You have not sent anything yet.", 1: "You have sent 1 answer."}
    assert words.get(n_done, f"You have sent {n_done} answers.") in plain(page)
    assert rater.name in page
    assert 'href="/withdraw"' in page
    ways = {"limit_session": "limit", "limit_day": "limit", "already_sent": "", "expired": ""}
    way = ways.get(ending.__name__, "stopped")
    assert [name for name in ENDS if f'href="{WAY_BACK}-{name}"' in page] == ([way] if way else [])
    assert ending is debrief or 'href="/debrief"' in page
    assert ending is stopped or 'action="/stop"' in page


def test_a_limit_says_from_when_on_one_may_go_on_and_it_is_so(world: World) -> None:
    rater = world.come("judge")
    rater.judge()
    again = world.clock() + timedelta(minutes=31)
    assert f"from {again:%H:%M} UTC" in plain(rater.get("judge"))
    world.clock.wait(minutes=29)
    assert "enough for now" in plain(rater.get("judge"))
    world.clock.wait(minutes=2)
    rater.judge()
    again += timedelta(days=1) - timedelta(minutes=31) + timedelta(minutes=1)
    world.clock.wait(hours=1)
    page = plain(rater.get("judge"))
    assert "enough for today" in page
    assert f"from {again:%H:%M} UTC" in page
    world.clock.wait(hours=22, minutes=30)
    assert "Two replies" in plain(rater.get("judge"))
    assert rater.ticket


def test_a_page_that_does_not_exist_has_a_way_to_stop(world: World) -> None:
    rater = world.come("judge")
    assert 'action="/stop"' in rater.client.get("/nowhere").text
    assert 'action="/stop"' not in world.client().get("/nowhere").text


def test_whoever_is_known_can_stop_also_where_a_page_refuses_or_helps(world: World) -> None:
    rater = world.come("judge")
    rater.get("judge")
    elsewhere, full = {"origin": "https://evil.example"}, world.invite("judge", most_people=2)
    for _ in range(2):
        Visitor(world, world.client(), full).join()
    get, post = rater.client.get, rater.client.post
    pages = {
        413: post("/task/judge", data={"reason": "x" * 200_000}),
        400: post("/task/judge", data={f"f{n}": "1" for n in range(99)}),
        403: post("/task/judge", data={"ticket": rater.ticket}, headers=elsewhere),
        405: get("/stop"),
        200: get("/help"),
    }
    assert {status: page.status_code for status, page in pages.items()} == {n: n for n in pages}
    others = (get(f"/join/{full}"), get(f"/join/{rater.token}"), get("/withdraw"))
    assert all('action="/stop"' in page.text for page in (*pages.values(), *others))
    assert 'action="/stop"' not in world.client().get("/help").text
    assert 'href="/work"' in get("/nowhere").text


def test_who_does_not_withdraw_goes_back_to_where_they_were(world: World) -> None:
    rater = world.come("judge")
    assert 'href="/work">Go back' in rater.client.get("/withdraw").text
    rater.client.post("/stop")
    assert 'href="/stopped">Go back' in rater.client.get("/withdraw").text


def test_who_withdraws_is_told_their_code_stays_and_still_what_it_was_about(world: World) -> None:
    rater = world.come("judge")
    name = rater.name
    assert f"the code {name}" in plain(rater.client.get("/withdraw").text)
    gone = rater.client.post("/withdraw", data={"confirm": "yes"})
    assert "People and computer programs answered the same" in plain(gone.text)
    assert f'href="{WAY_BACK}-stopped"' in gone.text


def test_a_link_that_is_over_says_how_to_have_ones_words_deleted(world: World) -> None:
    token = world.invite("judge", days=1)
    world.clock.wait(days=2)
    said = plain(world.client().get(f"/join/{token}").text)
    assert "what you wrote deleted, write to the person who sent you the link" in said


def test_a_browser_that_nobody_knows_is_not_told_that_a_link_is_bad(world: World) -> None:
    page = world.client().get("/task/judge")
    assert page.status_code == 401
    assert "Please open your link" in plain(page.text)


def test_practice_says_when_it_will_have_been_read_and_owns_up_when_it_was_not(
    tmp_path: Path,
) -> None:
    with people_world(tmp_path, people=PEOPLE + "practice_hours = 24\n") as world:
        writer = world.come("write", is_vetted=False)
        assert "may take up to 24 hours" in plain(writer.client.get("/practice").text)
        writer.client.post("/practice", data={"text": "I hear you."})
        world.clock.wait(hours=4)
        waiting = plain(writer.client.get("/practice").text)
        assert "Come back from 09:01 UTC (3 March) on" in waiting
        world.clock.wait(hours=21)
        assert "It takes longer than we said" in plain(writer.client.get("/practice").text)


def test_practice_without_a_promise_says_that_nobody_knows(world: World) -> None:
    writer = world.come("write", is_vetted=False)
    assert "You have to come back for the rest." in plain(writer.client.get("/practice").text)
    writer.client.post("/practice", data={"text": "I hear you."})
    waiting = plain(writer.client.get("/practice").text)
    assert "We cannot say when that will be." in waiting
    assert "You have not sent anything yet." not in waiting
