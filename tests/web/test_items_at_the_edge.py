"""Items at the edge: shown to nobody unless the study asks, and people are told what is true."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from people_site import STUDY, World, people_world, plain

from hearteval.domain import Completion, Item, Pair
from hearteval.domain.items import EDGES
from hearteval.items import load_starter_items
from hearteval.items.files import format_items
from hearteval.protocol import load_protocol
from hearteval.report.coverage.people import EDGE_WORDS, coverage_lines
from hearteval.study.people.consenting import consent_version
from hearteval.study.people.served import describe_served
from hearteval.study.results import analyze

PEOPLE = 'writers_per_item = 1\nraters_per_pair = 1\nreview = "all"\n'
LABELS = '[labels]\npeople = 4\npeople_by = ["micro-skills"]\n'
KINDS = ("write", "judge", "review")
REGULAR = [item for item in load_starter_items() if item.subset == "regular"]
EDGELESS = [item for item in REGULAR if item.edge == ()]
RISKY = [item for item in REGULAR if item.edge == ("risk",)]
ABOUT = load_protocol("people_consent")["served"]["kinds"]


@contextmanager
def served(folder: Path, *items: Item, people: str = PEOPLE) -> Iterator[World]:
    (folder / "own.jsonl").write_text(format_items(items), encoding="utf-8")
    starter = 'source = "starter"\nregular = 2\nadversarial = 1'
    study = STUDY.replace(starter, 'source = "own.jsonl"')
    with people_world(folder, people=people + LABELS, study=study) as world:
        yield world


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """Of three items, two are at the edge, and nobody asked for such."""
    minor = next(item for item in REGULAR if item.edge == ("minor",))
    with served(tmp_path, EDGELESS[0], RISKY[0], minor) as made:
        yield made


def items_of_tasks(world: World) -> set[str]:
    """The items of every task that there is, of any kind."""
    store, study = world.store, world.desk.study
    about: dict[str, str] = {item.id: item.id for item in store.iter(Item, study)}
    for kind in (Completion, Pair):
        about |= {one.id: one.item_id for one in store.iter(kind, study)}
    kinds = [*KINDS, "label-micro-skills-3"]
    return {about[id_] for kind in kinds for id_ in store.people.targets(study.id, kind)}


def test_people_get_no_task_about_an_item_at_the_edge(world: World) -> None:
    world.come("write").write()
    assert items_of_tasks(world) == {EDGELESS[0].id}
    everything = {one.item_id for one in world.store.iter(Completion, world.desk.study)}
    assert {EDGELESS[0].id, RISKY[0].id} < everything


def test_the_report_counts_what_people_are_not_shown_and_misses_none_of_it(world: World) -> None:
    world.come("write").write()
    results = analyze(world.desk.session, world.desk.study)
    people = results.coverage.people
    assert people is not None
    assert (people.n_items_not_shown, dict(people.not_shown)) == (2, {"risk": 1, "minor": 1})
    (writers,) = people.writers
    assert writers.n_items_by_completions == ((1, 1),)
    (row,) = [one for one in results.coverage.systems if one.kind == "human"]
    assert (row.n_items, row.n_completions, dict(row.missing)) == (1, 1, {})
    said = coverage_lines(people)[0]
    assert said.replace("\xa0", " ").startswith(
        "2 items no person is shown (1 with a risk and 1 with a minor;"
    )
    assert set(EDGE_WORDS) == set(EDGES)


def test_a_study_that_asks_for_an_edge_shows_it_and_says_so(tmp_path: Path) -> None:
    asked = PEOPLE + 'edge = ["risk"]\n'
    with served(tmp_path, EDGELESS[0], RISKY[0], people=asked) as world:
        assert items_of_tasks(world) == {EDGELESS[0].id, RISKY[0].id}
        for path in ("", "/consent"):
            page = plain(world.client().get(f"/join/{world.invite('write')}{path}").text)
            assert f"Some conversations are about {ABOUT['risk']}." in page
            assert f"We left out conversations about {ABOUT['medical']}, {ABOUT['abuse']}" in page


def test_warning_and_consent_say_what_was_left_out(world: World) -> None:
    for path in ("", "/consent"):
        page = plain(world.client().get(f"/join/{world.invite('judge')}{path}").text)
        assert "We left out conversations about " in page
        assert all(words in page for words in ABOUT.values())
        assert "Nobody has checked" not in page
        assert "angry" not in page


def test_of_unlabelled_items_nobody_says_that_anything_was_left_out(tmp_path: Path) -> None:
    unknown = [replace(item, edge=None) for item in EDGELESS[:2]]
    with served(tmp_path, *unknown) as world:
        assert items_of_tasks(world) == {item.id for item in unknown}
        page = plain(world.client().get(f"/join/{world.invite('judge')}").text)
        assert "Nobody has checked whether any of them are about" in page
        assert "We left out" not in page


def test_what_was_checked_in_part_is_said_to_be() -> None:
    angry = next(item for item in load_starter_items() if item.subset == "adversarial")
    said = describe_served([EDGELESS[0], replace(angry, edge=None)])
    assert "Not all of them have been checked" in said
    assert "We left out" not in said
    assert said.startswith("Some people are angry")


def test_the_consent_that_is_recorded_depends_on_what_is_shown(tmp_path: Path) -> None:
    found = []
    for name, edge in (("some", ()), ("none", None)):
        folder = tmp_path / name
        folder.mkdir()
        item = replace(EDGELESS[0], edge=edge)
        with served(folder, item) as world:
            found.append(consent_version(world.desk))
    assert found[0] != found[1]
