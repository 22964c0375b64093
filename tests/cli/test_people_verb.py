"""``heart people withdraw``: who is meant, what is asked, what is said."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from heart_command import Heart
from people_site import Visitor, World, people_world


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with people_world(tmp_path) as made:
        yield made


def file_of(world: World) -> str:
    return str(world.desk.session.settings.file)


def test_a_person_is_found_however_their_name_is_typed(heart: Heart, world: World) -> None:
    writer = world.come("write")
    writer.write()
    name = writer.name
    done = heart("people", "withdraw", file_of(world), name.lower(), "--yes")
    assert done.code == 0
    assert f"{name} has withdrawn: 1\N{NO-BREAK SPACE}text deleted" in done.out
    assert "made before may hold" in " ".join(done.out.split())


def test_a_person_is_found_by_the_id_of_a_recruiting_site(heart: Heart, world: World) -> None:
    Visitor(world, world.client(), world.invite("judge")).join(pid="aB1")
    assert heart("people", "withdraw", file_of(world), "AB1", "--yes").code == 1
    assert heart("people", "withdraw", file_of(world), "aB1", "--yes").code == 0


def test_who_says_no_is_told_that_nothing_was_deleted(
    heart: Heart, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = world.come("judge").name
    monkeypatch.setattr("click.confirm", lambda *_args, **_more: False)
    done = heart("people", "withdraw", file_of(world), name)
    assert (done.code, "nothing was deleted" in done.out) == (0, True)
    assert world.store.people.find_name(name).withdrawn_at is None
