"""People whose work was imported, on the researcher's page and as writers of pairs."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from people_site import World, people_world, plain

from hearteval.domain import Completion, Item
from hearteval.study.grow import human_system
from hearteval.study.people.planning import open_tasks


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with people_world(tmp_path) as made:
        yield made


def test_a_researcher_sees_them_and_nobody_comes_by_their_link(world: World) -> None:
    world.store.people.take_in(world.desk.study.id, {"w1": "peer", "w2": None}, now=world.clock())
    world.store.people.take_in(world.desk.study.id, {"w1": "peer"}, now=world.clock())
    page = plain(world.come("research").client.get("/researcher").text)
    assert "w1" in page
    assert "imported" in page
    (invite,) = {
        one.invite_id for one in world.store.people.people(world.desk.study.id) if one.name == "w1"
    }
    assert world.store.people.find_invite(invite, now=world.clock()) is None
    names = {one.name for one in world.store.people.people(world.desk.study.id)}
    assert names >= {"w1", "w2"}


def test_what_they_wrote_is_judged_like_any_text(world: World) -> None:
    study, store = world.desk.study, world.store
    store.people.take_in(study.id, {"w1": "peer"}, now=world.clock())
    system = human_system(world.desk.settings)
    texts = [
        Completion(
            item_id=item.id,
            system_id=system.id,
            writer_id="w1",
            text="That sounds heavy. What would help?",
            created_at=world.clock(),
        )
        for item in store.iter(Item, study)
    ]
    store.add(texts)
    before = len(store.people.targets(study.id, "judge"))
    open_tasks(world.desk)
    assert len(store.people.targets(study.id, "judge")) > before
    assert world.come("judge").judge().status_code in (200, 303)
