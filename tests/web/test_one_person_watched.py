"""The page of one person: how they work, who left them out and why, and how to reach them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from people_site import STUDY, Visitor, World, people_world, plain

from hearteval.study.people.watch.work import compare_times
from hearteval.web.chart import HEIGHT, draw_times

SECRET = "Nobody but a reviewer reads this."
PROLIFIC = "5f3a5f3a5f3a5f3a5f3a5f3a"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with people_world(tmp_path) as made:
        yield made


def come_with(world: World, **ids: str) -> Visitor:
    visitor = Visitor(world, world.client(), world.invite("judge", "write", label="Wave 1"))
    return visitor.join(**ids)


def page_of(world: World, visitor: Visitor) -> str:
    found = world.come("research").client.get(f"/researcher/people/{visitor.name}")
    assert found.status_code == 200
    return str(found.text)


def test_it_tells_times_and_no_word_that_anybody_wrote(world: World) -> None:
    rater = come_with(world)
    rater.write(SECRET)
    rater.get("judge")
    world.clock.wait(seconds=62)
    rater.send("judge", choice="about the same", reason=SECRET)
    page = page_of(world, rater)
    assert "Compare 1 answer, median 62 s." in plain(page)
    assert "Came by the link “Wave 1” on 2026-03-02" in plain(page)
    assert SECRET not in page


def test_who_has_answered_nothing_has_no_times(world: World) -> None:
    assert "They have not answered anything yet." in plain(page_of(world, come_with(world)))


def test_what_rules_find_is_told_and_waits_until_somebody_decides(tmp_path: Path) -> None:
    people = "writers_per_item = 0\nraters_per_pair = 9\n"
    study = STUDY.replace("regular = 2", "regular = 30")
    with people_world(tmp_path, people=people, study=study) as world:
        rater = world.come("judge")
        for _ in range(14):
            rater.judge(reason="The same words each time.")
        watcher = world.come("research")
        told = "Rules find something in the answers of 1 person"
        assert told in plain(watcher.client.get("/researcher?sort=found").text)
        where = f"/researcher/people/{rater.name}"
        assert "repeated-reasons" in plain(watcher.client.get(where).text)
        watcher.client.post(f"{where}/left-out", data={"leave": "out", "why": "No reasons."})
        assert told not in plain(watcher.client.get("/researcher").text)


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        ({"PROLIFIC_PID": PROLIFIC}, "On Prolific: open Messages"),
        ({"participantId": "C-77"}, "On Connect: open the project"),
        ({"workerId": "A1B2C3D4E5F6"}, "NotifyWorkers"),
        ({"pid": "room-3"}, "Find this ID on the site that sent them"),
    ],
)
def test_people_are_reached_through_the_site_that_sent_them(
    world: World, ids: dict[str, str], said: str
) -> None:
    page = page_of(world, come_with(world, **ids))
    assert said in plain(page)
    assert f"<code>{next(iter(ids.values()))}</code>" in page
    everybody = world.come("research").client.get("/researcher").text
    assert next(iter(ids.values())) not in everybody


def test_no_address_of_anybody_is_shown(world: World) -> None:
    page = page_of(world, come_with(world, pid="someone@example.org"))
    assert "someone@example.org" not in page
    assert "looks like an e-mail address" in page


def test_without_an_id_the_link_is_the_way(world: World) -> None:
    assert "Write where you sent the link." in plain(page_of(world, come_with(world)))


def test_somebody_is_left_out_and_let_back_in_for_reasons_that_stay(world: World) -> None:
    rater, watcher = come_with(world), world.come("research")
    where = f"/researcher/people/{rater.name}"
    for leave, why in (("out", "The same reason 30 times."), ("in", "They explained it.")):
        world.clock.wait(minutes=1)
        sent = watcher.client.post(f"{where}/left-out", data={"leave": leave, "why": why})
        assert sent.status_code == 303
        state = plain(watcher.client.get("/researcher").text)
        assert (f"{rater.name} left out" in state) == (leave == "out")
    page = plain(watcher.client.get(where).text)
    assert f"left out by {watcher.name}: The same reason 30 times." in page
    assert f"let back in by {watcher.name}: They explained it." in page
    assert rater.client.get("/work").status_code == 200


@pytest.mark.parametrize("why", ["", "  ", "x" * 501])
def test_nobody_is_left_out_without_a_reason(world: World, why: str) -> None:
    rater, watcher = come_with(world), world.come("research")
    where = f"/researcher/people/{rater.name}/left-out"
    refused = watcher.client.post(where, data={"leave": "out", "why": why})
    assert refused.status_code == 422
    assert not world.store.people.exclusions(world.desk.study.id)


def test_who_watches_has_no_page_and_who_has_withdrawn_is_not_left_out(world: World) -> None:
    watcher, rater = world.come("research"), come_with(world)
    assert watcher.client.get(f"/researcher/people/{watcher.name}").status_code == 404
    where = f"/researcher/people/{rater.name}"
    rater.client.post("/withdraw", data={"confirm": "yes"})
    sent = watcher.client.post(f"{where}/left-out", data={"leave": "out", "why": "Gone."})
    assert sent.status_code == 404
    assert "They have withdrawn" in plain(watcher.client.get(where).text)


def test_a_bar_is_as_high_as_its_seconds_and_the_longest_are_cut() -> None:
    people = {name: [10.0] * 10 for name in "abcd"}
    (times,) = (compare_times({**people, "x": [5.0, 10.0, 900.0]})[name] for name in "x")
    path, usual = draw_times(times)
    tops = [float(bar.partition("V")[2]) for bar in path.split("M") if bar]
    assert tops[2] == 8.0
    assert HEIGHT > tops[0] > tops[1] == usual
