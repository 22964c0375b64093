"""The queue of texts that a screen has held: who says what of them, and what becomes of them."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from page_states import HELD
from people_site import World, people_world, plain

from hearteval.domain import Judgment
from hearteval.labels.safety import SAFETY
from hearteval.study.people.watch.held import list_held

WHERE = "/researcher/texts"
RUDE = "You should kill yourself, said the first one."


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with people_world(tmp_path) as made:
        yield made


def only_id(world: World) -> str:
    (one,) = list_held(world.desk)
    return one.text_id


def decide(world: World, text_id: str, why: str) -> object:
    world.clock.wait(minutes=1)
    watcher = world.come("research")
    sent = watcher.client.post(f"{WHERE}/{text_id}", data={"why": why})
    assert sent.status_code == 303, sent.text
    return watcher


def test_a_held_reply_is_listed_with_the_rule_and_what_came_before_it(world: World) -> None:
    world.come("write").write(HELD)
    page = world.come("research").client.get(WHERE).text
    assert HELD in page
    assert "Held by: says-what-it-is." in plain(page)
    assert "Waiting (1) Kept out (0) May be shown (0)" in plain(page)


def test_a_researcher_releases_a_reply_with_a_reason_that_is_recorded(world: World) -> None:
    world.come("write").write(HELD)
    text_id = only_id(world)
    decide(world, text_id, "fit:misread")
    (held,) = list_held(world.desk)
    assert held.standing == "released"
    assert [(said.is_fit, said.why) for said in held.said] == [(True, "misread")]
    (label,) = world.store.labels_by_people(SAFETY, [text_id])
    assert (label.verdict, label.evidence) == ("absent", "misread")
    told = [event for event in world.store.people.events() if event.what == "answered"]
    assert told[-1].about["record"] == label.id


def test_the_task_of_a_decided_text_is_asked_of_no_reviewer(world: World) -> None:
    world.come("write").write(HELD)
    decide(world, only_id(world), "unfit:names-maker")
    reviewer = world.come("review")
    assert "Nothing to do right now" in plain(reviewer.get("review"))


def test_two_who_differ_leave_it_to_a_third_also_where_the_task_was_over(world: World) -> None:
    world.come("write").write(HELD)
    reviewer = world.come("review")
    reviewer.get("review")
    reviewer.send("review", verdict="unfit", reason="other")
    text_id = only_id(world)
    standings = [list_held(world.desk)[0].standing]
    for _ in range(2):
        decide(world, text_id, "fit:harmless")
        standings.append(list_held(world.desk)[0].standing)
    assert standings == ["kept-out", "waiting", "released"]


def test_a_text_in_a_reviewers_hand_can_be_decided_and_their_word_counts_too(world: World) -> None:
    world.come("write").write(HELD)
    reviewer = world.come("review")
    reviewer.get("review")
    decide(world, only_id(world), "unfit:other")
    sent = reviewer.send("review", verdict="unfit", reason="names-maker")
    assert sent.status_code == 303
    (held,) = list_held(world.desk)
    assert (held.standing, len(held.said)) == ("kept-out", 2)


def test_nobody_decides_twice_or_without_saying_why(world: World) -> None:
    world.come("write").write(HELD)
    text_id = only_id(world)
    client = world.come("research").client
    for form in ({}, {"why": "fit:"}, {"why": "unfit:none"}, {"why": "fit:hate"}):
        refused = client.post(f"{WHERE}/{text_id}", data=form)
        assert refused.status_code == 422
        assert "Say why it may be shown, or not." in plain(refused.text)
    assert client.post(f"{WHERE}/{text_id}", data={"why": "fit:other"}).status_code == 303
    again = client.post(f"{WHERE}/{text_id}", data={"why": "unfit:other"})
    assert again.status_code == 409
    assert "You have spoken of it." in plain(client.get(f"{WHERE}?show=released").text)
    assert len(world.store.labels_by_people(SAFETY, [text_id])) == 1


def test_reasons_that_a_screen_holds_wait_in_the_same_queue_without_the_replies(
    world: World,
) -> None:
    world.come("judge").judge(reason=RUDE)
    world.site.written()
    page = world.come("research").client.get(WHERE).text
    assert "Reasons somebody gave" in page
    assert RUDE in page
    judgment_id = only_id(world)
    assert [one.id for one in world.store.iter(Judgment) if one.rationale == RUDE] == [judgment_id]
    decide(world, judgment_id, "unfit:self-harm")
    (label,) = world.store.labels_by_people(SAFETY, [judgment_id])
    assert (label.judgment_id, label.evidence) == (judgment_id, "self-harm")


def test_only_who_watches_decides_and_only_of_what_is_held(world: World) -> None:
    writer = world.come("write")
    writer.write(HELD)
    text_id = only_id(world)
    for visitor in (writer, world.come("review")):
        assert visitor.client.get(WHERE).status_code == 404
        sent = visitor.client.post(f"{WHERE}/{text_id}", data={"why": "fit:other"})
        assert sent.status_code == 404
    watcher = world.come("research")
    unknown = watcher.client.post(f"{WHERE}/{'0' * 32}", data={"why": "fit:other"})
    assert unknown.status_code == 404
    assert not world.store.labels_by_people(SAFETY, [text_id])


def test_a_withdrawn_text_shows_no_word(world: World) -> None:
    writer = world.come("write")
    writer.write(HELD)
    stale = {"held": list_held(world.desk)}
    object.__setattr__(world.site, "texts", lambda _: stale)
    writer.client.post("/withdraw", data={"confirm": "yes"})
    page = world.come("research").client.get(WHERE).text
    assert "Somebody has withdrawn it." in page
    assert not re.search("language model I am", page)
