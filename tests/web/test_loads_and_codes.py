"""A fixed load, and the code or link that each ending gives."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from people_site import PEOPLE, STUDY, Visitor, World, people_world, plain

from hearteval.config.people.endings import Ending
from hearteval.domain import Judgment
from hearteval.study.people.paying.ending import Part, ending_of
from hearteval.study.people.paying.payment import list_payments

LOADED = f"""{PEOPLE}load = 3
[people.endings]
done = "CDONE"
partial = "CPART"
limit = "CLIMIT"
stopped = "CSTOP"
no_consent = "CNO"
full = "CFULL"
"""
CODES = ("CDONE", "CPART", "CLIMIT", "CSTOP", "CNO", "CFULL")


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with people_world(tmp_path, people=LOADED) as made:
        yield made


def codes(page: str) -> list[str]:
    return [code for code in CODES if f"<code>{code}</code>" in page]


def after(rater: Visitor, path: str) -> list[str]:
    return codes(rater.client.get(path).text)


@pytest.mark.parametrize(
    ("part", "load", "ending"),
    [
        (Part(3, has_sent=True, is_limited=True, has_left=True), 3, "done"),
        (Part(2, has_sent=True, is_limited=False, has_left=False), 3, "done"),
        (Part(0, has_sent=False, is_limited=False, has_left=False), 3, "full"),
        (Part(0, has_sent=False, is_limited=False, has_left=False), None, "stopped"),
        (Part(9, has_sent=True, is_limited=False, has_left=False), None, "done"),
        (Part(2, has_sent=True, is_limited=True, has_left=True), 3, "limit"),
        (Part(2, has_sent=True, is_limited=False, has_left=True), 3, "partial"),
        (Part(0, has_sent=True, is_limited=False, has_left=True), 3, "partial"),
        (Part(0, has_sent=False, is_limited=False, has_left=True), 3, "stopped"),
    ],
)
def test_an_ending_follows_from_what_somebody_did(
    part: Part, load: int | None, ending: Ending
) -> None:
    assert ending_of(part, load=load) == ending


def test_a_load_is_said_before_and_meanwhile_and_ends_with_its_code(world: World) -> None:
    writer = Visitor(world, world.client(), world.invite("write"))
    consent = plain(writer.client.get(f"/join/{writer.token}/consent").text)
    assert "You do 3 tasks, about" in consent
    writer.join()
    assert after(writer, "/stopped") == ["CSTOP"]
    for n in (1, 2, 3):
        assert f"{n} of 3" in plain(writer.get("write"))
        writer.write()
    end = writer.client.get("/task/write").text
    assert "You are done" in plain(end)
    assert codes(end) == after(writer, "/stopped") == after(writer, "/debrief") == ["CDONE"]
    assert '<button type="button" class="quiet" data-copy="CDONE"' in end
    assert ">Copy</button>" in end


def test_no_rest_is_offered_where_a_load_is_done(tmp_path: Path) -> None:
    with people_world(tmp_path, people=f"{PEOPLE}load = 2\nrest_after = 2\n") as world:
        writer = world.come("write")
        writer.write()
        writer.write()
        assert "You are done" in plain(writer.client.get("/task/write").text)


def test_a_part_of_a_load_is_partial_and_all_there_is_is_done(tmp_path: Path) -> None:
    with people_world(tmp_path, people=LOADED.replace("load = 3", "load = 50")) as world:
        writer = world.come("write")
        for n, _ in enumerate(world.desk.study.item_ids):
            assert after(writer, "/stopped") == (["CPART"] if n else ["CSTOP"])
            writer.write()
        assert codes(writer.get("write")) == ["CDONE"]  # less than 50: no fault of theirs
        assert after(world.come("write"), "/stopped") == ["CSTOP"]


def test_who_skips_what_is_left_has_not_done_all(world: World) -> None:
    writer = world.come("write")
    for _ in world.desk.study.item_ids:
        writer.get("write")
        writer.client.post("/task/write/skip", data={"ticket": writer.ticket})
    assert codes(writer.get("write")) == ["CSTOP"]


def test_a_closed_study_has_no_work_left(world: World) -> None:
    writer = world.come("write")
    writer.write()
    world.store.people.halt(world.desk.study.id, "closed", now=world.clock())
    assert codes(writer.get("write")) == ["CDONE"]
    stranger = world.client().get(f"/join/{world.invite('write')}")
    assert codes(stranger.text) == ["CFULL"]


def test_who_withdraws_is_given_what_they_earned(world: World) -> None:
    writer = world.come("write")
    for _ in range(3):
        writer.write()
    assert codes(writer.client.post("/withdraw", data={"confirm": "yes"}).text) == ["CDONE"]


def test_who_declines_has_a_code_and_who_leaves_a_browser_has_none(world: World) -> None:
    assert codes(world.client().get("/declined").text) == ["CNO"]
    left = world.come("write").client.post("/leave-browser")
    assert codes(world.client().get(left.headers["location"]).text) == []


def test_somebody_sent_twice_has_their_load_twice(world: World) -> None:
    token = world.invite("write", "judge")
    first = "PROLIFIC_PID=5f1a2b3c4d5e6f7a8b9c0d1e&SESSION_ID=s1&STUDY_ID=t1"
    fields = dict(pair.split("=") for pair in first.split("&"))
    writer = Visitor(world, world.client(), token).join(**fields)
    for _ in range(3):
        writer.write()
    assert after(writer, "/stopped") == ["CDONE"]
    assert "Go on" in plain(writer.client.get(f"/join/{token}?{first}").text)
    again = writer.client.get(f"/join/{token}?{first.replace('s1', 's2')}").text
    assert 'value="s2"' in again
    world.clock.wait(minutes=1)
    Visitor(world, writer.client, token).join(**{**fields, "SESSION_ID": "s2"})
    assert len(world.store.people.people(world.desk.study.id)) == 1
    (person,) = world.store.people.people(world.desk.study.id)
    came = world.store.people.submissions(world.desk.study.id)
    assert [(id_, one.submission) for id_, one in came] == [(person.id, "s1"), (person.id, "s2")]
    assert after(writer, "/stopped") != ["CDONE"]


def test_checks_count_as_tasks_of_a_load(tmp_path: Path) -> None:
    people = "writers_per_item = 0\nraters_per_pair = 2\nload = 12\n[people.quality]\nchecks = 4\n"
    study = STUDY.replace("regular = 2", "regular = 8").replace(
        "[judging]", '[[system]]\npreset = "reflective"\n[[system]]\npreset = "advice"\n[judging]'
    )
    with people_world(tmp_path, people=people, study=study) as world:
        judge = world.come("judge")
        for n in range(1, 13):
            assert f"{n} of 12" in plain(judge.get("judge"))
            assert judge.send("judge", choice="A slightly better", reason=f"{n}").status_code == 303
        assert "You are done" in plain(judge.get("judge"))
        (row,) = list_payments(world.desk)
        assert (sum(row.tasks.values()), row.state) == (12, "done")
        with_results = list(world.store.iter(Judgment, world.desk.study))
        assert len([one for one in with_results if one.raw == ""]) < 12
