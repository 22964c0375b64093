"""Who agreed to another text is asked before they go on; what they agreed to before stays."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from people_site import PEOPLE, Visitor, World, people_world, plain

from hearteval.config import load_study
from hearteval.study.people.joining import stop

TICKS = {"adult": "yes", "agree": "yes"}


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with people_world(tmp_path, people=PEOPLE + 'contact = "ann@example.org"\n') as made:
        yield made


def change(world: World, visitor: Visitor, *, point: str) -> Visitor:
    """Start the study again with another consent; return the visitor in their browser."""
    session = world.desk.session
    path = session.settings.file
    text = path.read_text(encoding="utf-8").split("consent =")[0]
    path.write_text(f'{text}consent = ["{point}"]\n', encoding="utf-8")
    desk = replace(world.desk, session=replace(session, settings=load_study(path)), kept={})
    world.desk, world.site = desk, replace(world.site, desk=desk)
    client = world.client(cookies=visitor.client.cookies)
    return replace(visitor, client=client)


def test_who_comes_back_agrees_to_the_new_text_before_the_next_task(world: World) -> None:
    before = world.come("judge")
    before.judge()
    person = world.store.people.find_name(before.name)
    back = change(world, before, point="You get 9 pounds.")
    for where in ("/work", "/task/judge?begin=1"):
        assert back.client.get(where).headers["location"] == "/consent"
    page = back.client.get("/consent").text
    assert "What you agreed to has changed" in page
    assert "You get 9 pounds." in page
    assert 'name="locale"' not in page
    missing = back.client.post("/consent", data={"adult": "yes"})
    assert missing.status_code == 422
    assert back.client.get("/work").headers["location"] == "/consent"
    world.clock.wait(days=1)
    assert back.client.post("/consent", data=TICKS).headers["location"] == "/work"
    assert 'name="ticket"' in back.get("judge")
    first, second = world.store.people.consents(person)
    assert "9 pounds" not in first.text
    assert "9 pounds" in second.text
    assert (second.at - first.at).days == 1
    now = world.store.people.find_name(before.name)
    assert (now.consent_version, now.consented_at) == (second.version, second.at)
    assert person.consent_version == first.version
    assert [e.what for e in world.store.people.events()].count("consented") == 1


def test_what_was_in_hand_can_still_be_sent(world: World) -> None:
    before = world.come("judge")
    before.get("judge")
    back = change(world, before, point="You get 9 pounds.")
    sent = back.send("judge", choice="A slightly better", reason="It listens.")
    assert sent.headers["location"] == "/task/judge"
    assert back.client.get("/task/judge").headers["location"] == "/consent"


def test_who_does_not_agree_has_stopped_and_is_asked_when_they_come_back(world: World) -> None:
    before = world.come("judge")
    before.judge()
    back = change(world, before, point="You get 9 pounds.")
    gone = back.client.post("/consent", data={"decline": "yes"})
    assert gone.headers["location"] == "/stopped"
    assert "You have sent 1 answer." in plain(back.client.get("/stopped").text)
    (person,) = world.store.people.people(world.desk.study.id)
    assert person.stopped_at is not None
    assert len(world.store.people.consents(person)) == 1
    assert back.client.get("/work").headers["location"] == "/consent"


def test_nobody_is_asked_again_for_the_same_text(world: World) -> None:
    visitor = world.come("judge")
    assert visitor.client.get("/consent").headers["location"] == "/agreed"
    assert visitor.client.post("/consent", data=TICKS).headers["location"] == "/work"
    (person,) = world.store.people.people(world.desk.study.id)
    assert len(world.store.people.consents(person)) == 1


def test_who_watches_the_study_is_not_asked(world: World) -> None:
    watcher = Visitor(world, world.client(), world.invite("research", "review"))
    watcher.client.post(f"/join/{watcher.token}")
    back = change(world, watcher, point="You get 9 pounds.")
    assert back.client.get("/work").headers["location"] == "/researcher"


def test_a_second_link_s_consent_is_kept_beside_the_first(world: World) -> None:
    pid = "5f3e0a1b2c3d4e5f60718293"
    first = Visitor(world, world.client(), world.invite("judge")).join(PROLIFIC_PID=pid)
    world.clock.wait(minutes=1)
    Visitor(world, world.client(), world.invite("write")).join(PROLIFIC_PID=pid)
    (person,) = world.store.people.people(world.desk.study.id)
    judging, writing = world.store.people.consents(person)
    assert "without AI" not in judging.text
    assert "without AI" in writing.text
    stop(world.desk, person)
    assert first.client.get("/work").status_code == 200


def test_the_copy_says_version_date_and_contact_and_no_name(world: World) -> None:
    visitor = world.come("write", "judge")
    name = visitor.name
    (person,) = world.store.people.people(world.desk.study.id)
    page = visitor.client.get("/agreed")
    saved = visitor.client.get("/agreed.txt")
    for text in (page.text, saved.text):
        assert person.consent_version in text
        assert "2026-03-02" in text
        assert "ann@example.org" in text
        assert "You can withdraw." in text
        assert "I will write every reply myself, without AI." in text
        assert name not in text
    assert saved.headers["content-disposition"] == 'attachment; filename="consent-2026-03-02.txt"'
    assert saved.headers["content-type"].startswith("text/plain")
    assert 'href="/agreed"' in visitor.client.get("/stopped").text
    assert world.client().get("/agreed").status_code == 401


def test_the_history_of_consents_stays_where_somebody_withdraws(world: World) -> None:
    visitor = world.come("judge")
    (person,) = world.store.people.people(world.desk.study.id)
    visitor.client.post("/withdraw", data={"confirm": "yes"})
    assert len(world.store.people.consents(person)) == 1
