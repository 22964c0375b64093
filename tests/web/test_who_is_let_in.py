"""Questions before anybody is let in, quotas, and what is kept of those who are turned away."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from people_site import PEOPLE, World, people_world, plain
from sqlalchemy import func, select
from starlette.testclient import TestClient

from hearteval.store.people.enrolment import IDLE
from hearteval.store.people.tables import people, quota_places, turned_away

ASKED = """
about_you = ["age", "support"]
[[people.screening]]
question = "english"
text = "How well do you read <English>?"
answers = ["Very well", "A little", "Not at all"]
pass = ["Very well", "A little"]
[[people.screening]]
question = "age"
pass = ["18-24", "25-34"]
[[people.quotas]]
most = 1
answers = { age = "each", gender = "each" }
[[people.quotas]]
most = 2
answers = { age = ["18-24"] }
"""
TICKS = {"adult": "yes", "agree": "yes", "no_ai": "yes", "locale": "en-GB"}
FITS = {"entry_english": "Very well", "entry_age": "18-24", "entry_gender": "woman"}
OTHER = {**FITS, "entry_age": "65-plus"}
PID = "5f3e0a1b2c3d4e5f60718293"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with people_world(tmp_path, people=PEOPLE + ASKED) as made:
        yield made


def enter(world: World, token: str, *, pid: str = "", **answers: str) -> tuple[TestClient, Any]:
    """Agree to everything and answer what is asked first."""
    client = world.client()
    form = {**TICKS, "pid": pid, **answers}
    return client, client.post(f"/join/{token}", data=form)


def count(world: World, table: Any) -> int:
    found: int = world.store._read(
        lambda it: it.execute(select(func.count()).select_from(table)).scalar_one()
    )
    return found


def taken(world: World) -> dict[str, int]:
    quotas = world.store.people.progress(world.desk.study.id).quotas
    return {"/".join(map(str, one.answers.values())): one.n_people for one in quotas}


def test_the_questions_come_after_the_consent_and_before_anything_is_kept(world: World) -> None:
    token = world.invite("judge")
    client = world.client()
    consent = client.get(f"/join/{token}/consent").text
    assert "looking for people like you" in consent
    asked = client.post(f"/join/{token}", data=TICKS)
    assert asked.status_code == 200
    assert "How well do you read &lt;English&gt;?" in asked.text
    assert asked.text.count("<select") == 3
    assert 'name="agree" value="yes"' in asked.text
    assert "heart=" not in str(asked.headers)
    assert count(world, people) == 0


@pytest.mark.parametrize(
    "answers",
    [
        pytest.param({**FITS, "entry_age": ""}, id="left out"),
        pytest.param({**FITS, "entry_gender": "robot"}, id="none of the answers"),
        pytest.param({"entry_english": "Very well"}, id="one of three"),
    ],
)
def test_every_question_has_to_be_answered(world: World, answers: dict[str, str]) -> None:
    _, page = enter(world, world.invite("judge"), **answers)
    assert page.status_code == 422
    assert "Please choose an answer." in page.text
    assert "selected>Very well" in page.text
    assert count(world, people) == count(world, turned_away) == 0


def test_without_ticks_nothing_is_asked(world: World) -> None:
    client = world.client()
    page = client.post(f"/join/{world.invite('judge')}", data=FITS)
    assert page.status_code == 422
    assert "Please tick each box" in page.text


def test_who_fits_is_let_in_and_their_answers_are_kept_apart(world: World) -> None:
    client, page = enter(world, world.invite("judge"), **FITS)
    assert page.status_code == 303
    (person,) = world.store.people.people(world.desk.study.id)
    assert person.background == {"english": "Very well", "age": "18-24", "gender": "woman"}
    about = client.get("/about-you").text
    assert 'name="age"' not in about
    client.post("/about-you", data={"support": "none", "age": "65-plus"})
    (person,) = world.store.people.people(world.desk.study.id)
    told = {"english": "Very well", "age": "18-24", "gender": "woman", "support": "none"}
    assert person.background == told


def test_of_who_is_screened_out_a_count_and_a_mark_are_kept_and_no_answer(world: World) -> None:
    token = world.invite("judge")
    _, page = enter(world, token, pid=PID, **OTHER)
    assert page.status_code == 403
    assert "This study asks other people" in page.text
    assert count(world, people) == 0
    _, again = enter(world, token, pid=PID, **FITS)
    assert "This study asks other people" in again.text
    first = world.client().get(f"/join/{world.invite('write')}?PROLIFIC_PID={PID}")
    assert "This study asks other people" in first.text
    assert count(world, people) == 0
    row = world.store._read(lambda it: it.execute(select(turned_away)).one())
    kept = " ".join(map(str, row))
    assert PID not in kept
    assert "65-plus" not in kept
    assert "18-24" not in kept
    progress = world.store.people.progress(world.desk.study.id)
    assert progress.turned_away == {"screened_out": 1}
    told = [one for one in world.store.people.events() if one.what == "turned away"]
    assert [one.about["why"] for one in told] == ["screened_out"]


def test_a_link_for_one_person_is_used_up_by_who_is_screened_out(world: World) -> None:
    token = world.invite("judge", most_people=1)
    enter(world, token, **OTHER)
    _, again = enter(world, token, **FITS)
    assert "This study asks other people" in again.text
    assert count(world, people) == 0


def test_the_mark_goes_after_the_time_to_keep_it_and_the_count_stays(world: World) -> None:
    enter(world, world.invite("judge"), pid=PID, **OTHER)
    study = world.desk.study.id
    world.clock.wait(days=181)
    world.store.people.forget_details(study, before=world.clock() - IDLE, now=world.clock())
    assert world.store.people.progress(study).turned_away == {"screened_out": 1}
    _, again = enter(world, world.invite("judge"), pid=PID, **FITS)
    assert again.status_code == 303


def test_a_full_group_lets_nobody_in_and_other_groups_are_open(world: World) -> None:
    token = world.invite("judge")
    assert enter(world, token, **FITS)[1].status_code == 303
    _, full = enter(world, token, **FITS)
    assert full.status_code == 403
    assert "This group is full" in full.text
    assert enter(world, token, **{**FITS, "entry_gender": "man"})[1].status_code == 303
    # A cell of its own has room, and the younger ones are two.
    _, full = enter(world, token, **{**FITS, "entry_gender": "another"})
    assert "This group is full" in full.text
    assert enter(world, token, **{**FITS, "entry_age": "25-34"})[1].status_code == 303
    assert taken(world) == {"18-24/woman": 1, "18-24/man": 1, "25-34/woman": 1, "['18-24']": 2}
    assert world.store.people.progress(world.desk.study.id).invites[0].n_people == 3


def test_who_found_a_group_full_cannot_try_with_other_answers(world: World) -> None:
    token = world.invite("judge")
    enter(world, token, **FITS)
    enter(world, token, pid=PID, **FITS)
    _, again = enter(world, token, pid=PID, **{**FITS, "entry_gender": "man"})
    assert "This group is full" in again.text


def test_who_is_turned_away_is_given_the_code_or_the_way_back_of_it(tmp_path: Path) -> None:
    back = 'endings = { full = "https://example.org/full", screened_out = "OUT-1" }\n'
    with people_world(tmp_path, people=PEOPLE + back + ASKED) as world:
        token = world.invite("judge")
        enter(world, token, **FITS)
        assert 'href="https://example.org/full"' in enter(world, token, **FITS)[1].text
        assert "<code>OUT-1</code>" in enter(world, token, **OTHER)[1].text


def test_a_place_is_free_again_for_who_stops_before_sending_anything(world: World) -> None:
    token = world.invite("judge")
    client, _ = enter(world, token, **FITS)
    client.get("/task/judge?begin=1")
    client.post("/stop")
    assert taken(world) == {"18-24/woman": 0, "['18-24']": 0}
    second, page = enter(world, token, **FITS)
    assert page.status_code == 303
    back = client.get("/task/judge?begin=1")
    assert "Your place was passed on" in back.text
    second.post("/stop")
    assert 'name="ticket"' in client.get("/task/judge?begin=1").text
    assert taken(world) == {"18-24/woman": 1, "['18-24']": 1}


def test_who_has_sent_something_keeps_the_place(world: World) -> None:
    token = world.invite("judge")
    client, _ = enter(world, token, **FITS)
    ticket = re.search(r'name="ticket" value="(\w+)"', client.get("/task/judge?begin=1").text)
    assert ticket is not None
    sent = {"ticket": ticket[1], "choice": "A slightly better", "reason": "It listens."}
    assert client.post("/task/judge", data=sent).status_code == 303
    client.post("/stop")
    world.clock.wait(days=3)
    assert "This group is full" in enter(world, token, **FITS)[1].text
    client.post("/withdraw", data={"confirm": "yes"})
    assert count(world, quota_places) == 0
    assert enter(world, token, **FITS)[1].status_code == 303


def test_a_place_of_who_does_nothing_is_passed_on_after_a_day(world: World) -> None:
    token = world.invite("judge")
    first, _ = enter(world, token, **FITS)
    world.clock.wait(hours=23)
    assert "This group is full" in enter(world, token, **FITS)[1].text
    world.clock.wait(hours=2)
    assert enter(world, token, **FITS)[1].status_code == 303
    assert "Your place was passed on" in plain(first.get("/task/judge?begin=1").text)


def test_details_that_are_forgotten_leave_no_place_that_tells_them(world: World) -> None:
    enter(world, world.invite("judge"), **FITS)
    study, now = world.desk.study.id, world.clock() + IDLE
    world.store.people.forget_details(study, before=now, now=now)
    assert count(world, quota_places) == 0
    assert taken(world) == {"18-24/woman": 1, "['18-24']": 1}


def test_who_comes_by_a_second_link_is_not_asked_again(world: World) -> None:
    client, _ = enter(world, world.invite("judge"), pid=PID, **FITS)
    token = world.invite("write")
    again = client.post(f"/join/{token}", data={**TICKS, "pid": PID})
    assert again.status_code == 303
    assert taken(world) == {"18-24/woman": 1, "['18-24']": 1}


@pytest.mark.parametrize(("first", "then"), [("", PID), (PID, ""), (PID, f"{PID[:-1]}0")])
def test_a_link_for_one_person_is_used_up_whatever_id_is_put_in_or_left_out(
    world: World, first: str, then: str
) -> None:
    token = world.invite("judge", most_people=1)
    _, page = enter(world, token, pid=first, **OTHER)
    assert page.status_code == 403
    _, again = enter(world, token, pid=then, **FITS)
    assert again.status_code == 403
    assert count(world, people) == 0
    assert count(world, turned_away) == 1
