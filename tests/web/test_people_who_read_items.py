"""People read candidates of a second screen: what labelers left open, and their word decides."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from people_site import START, Clock, Visitor, World, plain

from hearteval.config import load_study
from hearteval.domain import Item, Label, Turn
from hearteval.items.files import format_items
from hearteval.items.second_screen import ITEM_SCREEN, NEEDED
from hearteval.labels.taxonomy import load_taxonomy
from hearteval.store.sql import SqlStore
from hearteval.study import Quiet
from hearteval.study.grow import gather, register
from hearteval.study.items.second_screen import Screened, open_reading, read_screened
from hearteval.study.labels import labeler_rater
from hearteval.study.people.planning import open_tasks
from hearteval.study.session import Session
from hearteval.web.site import Site

QUESTIONS = load_taxonomy(ITEM_SCREEN)
READ, SETTLE = "label-item-screen", "settle-item-screen"
LABELER = """
[[labeler]]
name = "{name}"
model = "openai-compatible/{name}"
base_url = "http://127.0.0.1:1/v1"
family = "{name}"
"""
STUDY = """
[study]
name = "screening"
seed = 2
[items]
source = "candidates.jsonl"
[labels]
labelers = ["one", "two"]
""" + "".join(LABELER.format(name=name) for name in ("one", "two"))
GOOD = {key: "present" if key in NEEDED else "absent" for key in QUESTIONS.keys}
DIFFER: dict[str, dict[str, str]] = {
    "agreed": {},
    "hateful": {"hate": "present", "trauma": "present"},
    "labelled": {"risk": "uncertain"},
}


def candidate(name: str) -> Item:
    return Item(
        source="made",
        dialogue_id=name,
        turn_index=0,
        situation=f"Before that: {name}.",
        context=(Turn(role="seeker", text="He laughed at Marisol and me."),),
        subset="regular",
        emotion="sadness",
        problem="breakup",
        language="en",
        licence="CC0-1.0",
        consent_basis="made up",
        reference="What did you do?",
    )


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """Three candidates, of which labelers dispute two."""
    items = [candidate(name) for name in DIFFER]
    (tmp_path / "candidates.jsonl").write_text(format_items(items), encoding="utf-8")
    (tmp_path / "screening.toml").write_text(STUDY, encoding="utf-8")
    clock = Clock()
    settings = load_study(tmp_path / "screening.toml", is_of_items=True)
    store = SqlStore.open(settings.store)
    session = Session(settings=settings, store=store, tell=Quiet(), now=clock)
    study = register(session, gather(settings, Quiet(), store))
    one, two = (labeler_rater(entry, QUESTIONS) for entry in settings.labelers)
    store.add([one, two])
    for item in items:
        said = {one.id: GOOD, two.id: GOOD | DIFFER[item.dialogue_id]}
        store.add(
            [
                Label(
                    item_id=item.id,
                    taxonomy=ITEM_SCREEN,
                    category=key,
                    verdict="present" if key == "intensity" else verdict,  # type: ignore[arg-type]
                    score=3 if key == "intensity" else None,
                    rater_id=rater_id,
                    created_at=START,
                )
                for rater_id, verdicts in said.items()
                for key, verdict in verdicts.items()
            ]
        )
    with start_blocking_portal() as portal:
        made = world_of(session, study, clock, portal)
        yield made
        for client in made.clients:
            client.close()
    store.close()


def world_of(
    session: Session, study: object, clock: Clock, portal: BlockingPortal, **more: object
) -> World:
    how = {"is_of_all": False, "n_people": 1, **more}
    desk = open_reading(session, study, **how)  # type: ignore[arg-type]
    open_tasks(desk)
    site = Site(desk=desk, written=lambda: None)
    return World(desk=desk, clock=clock, site=site, portal=portal)


def screened(world: World) -> Screened:
    return read_screened(world.desk.session, world.desk.study)


def standings(world: World) -> dict[str, str]:
    return {one.item.dialogue_id: one.standing for one in screened(world).decisions}


def answer(reader: Visitor, kind: str = READ, **said: str) -> int:
    return int(reader.send(kind, **{f"is_{key}": word for key, word in said.items()}).status_code)


def test_a_reader_is_asked_what_is_open_and_settles_it(world: World) -> None:
    assert standings(world) == {"agreed": "in", "hateful": "waiting", "labelled": "in"}
    reader = world.come(READ)
    page = reader.get(READ)
    # What decides comes first, with what is known of the item and no word of who said what.
    assert "Before that: hateful." in plain(page)
    assert "He laughed at Marisol and me." in plain(page)
    assert "What did you do?" in plain(page)
    assert page.count('type="radio"') == 2 * 3
    assert 'name="is_hate"' in page
    assert 'name="is_trauma"' in page
    assert "one" not in {word.strip(".") for word in plain(page).split() if word.islower()} - {
        "one"
    }
    assert answer(reader, hate="absent") == 422
    assert answer(reader, hate="absent", trauma="present", nsfw="absent") == 422
    assert answer(reader, hate="absent", trauma="present") == 303
    assert standings(world)["hateful"] == "in"
    assert "Before that: labelled." in plain(reader.get(READ))
    assert answer(reader, risk="present") == 303
    assert 'name="ticket"' not in reader.get(READ)
    found = {one.item.dialogue_id: one.answers for one in screened(world).decisions}
    assert (found["hateful"]["trauma"].verdict, found["hateful"]["trauma"].by_people) == (
        "present",
        True,
    )
    assert found["labelled"]["risk"].verdict == "present"
    assert found["labelled"]["hate"].verdict == "absent"
    agreement = screened(world).agreement.questions
    asked = {
        (one.one, one.category): (one.n_completions, one.same)
        for one in agreement
        if one.other == "people"
    }
    assert asked == {
        ("one", "hate"): (1, 1.0),
        ("two", "hate"): (1, 0.0),
        ("one", "trauma"): (1, 0.0),
        ("two", "trauma"): (1, 1.0),
        ("one", "risk"): (1, 0.0),
        ("two", "risk"): (1, 0.0),
    }


def test_two_readers_who_differ_leave_it_open_until_a_third_decides(world: World) -> None:
    desk = world.desk
    world = world_of(desk.session, desk.study, world.clock, world.portal, n_people=2)
    readers = [world.come(READ, SETTLE) for _ in range(2)]
    for reader, word in zip(readers, ("present", "absent"), strict=True):
        if "is_hate" not in reader.get(READ):  # the first has left a place there
            assert answer(reader, risk="absent") == 303
            reader.get(READ)
        assert answer(reader, hate=word, trauma="absent") == 303
    assert standings(world)["hateful"] == "waiting"
    open_tasks(world.desk)
    third = world.come(SETTLE)
    page = third.get(SETTLE)
    assert "Before that: hateful." in plain(page)
    assert answer(third, SETTLE, hate="present") == 303
    assert standings(world)["hateful"] == "out"
    progress = plain(world.come("research", READ).client.get("/researcher").text)
    assert "Read conversations" in progress
    assert "Hate: of 1 items that two people read, they said the same of 0" in progress


def test_all_candidates_and_questions_can_be_read(world: World) -> None:
    desk = world.desk
    world = world_of(desk.session, desk.study, world.clock, world.portal, is_of_all=True)
    assert world.desk.reading is not None
    assert len(world.desk.reading.questions) == 3
    reader = world.come(READ)
    page = reader.get(READ)
    assert page.count("<fieldset") == len(QUESTIONS.keys)
    form = {f"is_{key}": word for key, word in (GOOD | {"intensity": "4"}).items()}
    found = reader.send(READ, **form, words_person_name="", words_distress="He laughed")
    assert found.status_code == 303
    both = {
        (one.one, one.other): one.n_completions
        for one in screened(world).agreement.questions
        if one.category == "hate"
    }
    assert both == {("one", "two"): 3, ("one", "people"): 1, ("two", "people"): 1}
    scales = {(one.one, one.other): one.near for one in screened(world).agreement.scales}
    assert scales["one", "people"] == 1.0
