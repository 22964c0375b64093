"""Keyed examples on the pages: who rates scores them first, once, and no result but their own."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from people_site import PEOPLE, STUDY, Visitor, World, people_world, plain

from hearteval.domain import AXES, Rating
from hearteval.judgments.calibration import calibration_study_id, keyed_examples
from hearteval.protocol import load_protocol
from hearteval.sections.ratings import Ratings
from hearteval.study.people.planning import open_tasks
from hearteval.study.people.practice import next_example
from hearteval.study.results import analyze

RATED = STUDY.replace('judges = ["cue"]', 'judges = []\nprotocol = "rating"')
RATING = PEOPLE + 'protocol = "rating"\n'
N_EXAMPLES = sum(len(one["reply"]) for one in load_protocol("calibration")["example"])
FOUR = {f"axis_{axis}": "4" for axis in AXES}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("practice")
    with people_world(folder, people=RATING, study=RATED) as made:
        yield made


def newcomer(world: World) -> Visitor:
    return world.come("rate", is_vetted=False)


def keyed_ratings(world: World) -> list[Rating]:
    of_study = calibration_study_id(world.desk.study)
    return [one for one in world.store.iter(Rating) if one.study_id == of_study]


def score(who: Visitor, number: int, **form: str) -> int:
    found = who.client.post("/practice/rate", data={"number": str(number), **FOUR, **form})
    return int(found.status_code)


def example_on(page: str) -> str:
    """The reply that a page shows, among those of the protocol."""
    shown = plain(page)
    replies = [r["text"] for one in load_protocol("calibration")["example"] for r in one["reply"]]
    (found,) = [text for text in replies if text in shown]
    return str(found)


def test_every_example_comes_once_before_the_first_rating(world: World) -> None:
    who, before = newcomer(world), len(keyed_ratings(world))
    sent = who.client.get("/task/rate?begin=1")
    assert (sent.status_code, sent.headers["location"]) == (303, "/practice/rate")
    seen = []
    for number in range(1, N_EXAMPLES + 1):
        page = who.client.get("/practice/rate").text
        assert f"Practice: {number} of {N_EXAMPLES}" in plain(page)
        seen.append(example_on(page))
        assert score(who, number, axis_H="2", comment_H="Too long.") == 303
    assert len(set(seen)) == N_EXAMPLES
    over = who.client.get("/practice/rate")
    assert (over.status_code, over.headers["location"]) == (303, "/task/rate?begin=1")
    assert who.get("rate")
    assert who.ticket
    given = keyed_ratings(world)
    assert len(given) == before + N_EXAMPLES
    assert all(dict(one.axes)["H"] == 2 for one in given[before:] if one.comments)
    examples = keyed_examples(world.clock())
    assert {one.completion_id for one in given} == {text.id for text in examples.completions}


def test_another_person_has_another_order(world: World) -> None:
    pages = [newcomer(world).client.get("/practice/rate").text for _ in range(6)]
    assert len(set(map(example_on, pages))) > 1


def test_the_first_answer_stays(world: World) -> None:
    who, before = newcomer(world), {one.id for one in keyed_ratings(world)}
    assert score(who, 3) == 303
    assert score(who, 3, axis_H="1") == 303
    (kept,) = [one for one in keyed_ratings(world) if one.id not in before]
    assert dict(kept.axes)["H"] == 4


def test_what_is_missing_is_said_and_nothing_is_kept(world: World) -> None:
    who, before = newcomer(world), len(keyed_ratings(world))
    found = who.client.post("/practice/rate", data={"number": "1", "axis_H": "5"})
    assert found.status_code == 422
    assert load_protocol("people_judging")["rating"]["missing"] in plain(found.text)
    assert re.search(r'name="axis_H" value="5" checked', found.text)
    assert len(keyed_ratings(world)) == before


@pytest.mark.parametrize("number", ["0", str(N_EXAMPLES + 1), "", "-1", "¹", "x"])
def test_an_unknown_example_is_not_found(world: World, number: str) -> None:
    form = {"number": number, **FOUR}
    assert newcomer(world).client.post("/practice/rate", data=form).status_code == 404


def test_who_may_not_rate_or_comes_by_a_link_for_known_people_is_asked_nothing(
    world: World,
) -> None:
    assert world.come("write").client.get("/practice/rate").status_code == 404
    known = world.come("rate")
    assert known.client.get("/practice/rate").headers["location"] == "/task/rate?begin=1"
    assert "Practice" not in plain(known.get("rate"))


def test_who_has_rated_before_goes_on(world: World) -> None:
    who = world.come("rate")
    who.get("rate")
    assert who.send("rate", **FOUR).status_code == 303
    (person,) = [
        one for one in world.store.people.people(world.desk.study.id) if one.name == who.name
    ]
    assert next_example(world.desk, replace(person, vetting="none")) is None


def test_no_page_tells_a_key(world: World) -> None:
    page = plain(newcomer(world).client.get("/practice/rate").text)
    assert "key" not in page.lower()
    assert "language model" not in page


def test_who_has_withdrawn_leaves_numbers_and_adds_none(world: World) -> None:
    who = newcomer(world)
    assert score(who, 1, comment_E="My own words.") == 303
    assert who.client.post("/withdraw", data={"confirm": "yes"}).status_code == 200
    n = len(keyed_ratings(world))
    assert score(who, 2) == 401
    assert len(keyed_ratings(world)) == n
    assert not any("My own words." in one.comments.values() for one in keyed_ratings(world))


def test_people_stand_beside_judges_and_in_no_score(tmp_path: Path) -> None:
    with people_world(tmp_path, people=RATING, study=RATED) as world:
        who = newcomer(world)
        for number in range(1, N_EXAMPLES + 1):
            score(who, number)
        open_tasks(world.desk)  # once more: nothing is stored twice
        who.get("rate")
        who.send("rate", **FOUR)
        results = analyze(world.desk.session, world.desk.study)
        rated = results.found(Ratings)
        assert rated is not None
        found = {one.axis: one for one in rated.calibration}
        assert {(one.rater, one.is_person) for one in found.values()} == {("people", True)}
        keys = [r["key"] for one in load_protocol("calibration")["example"] for r in one["reply"]]
        on_h = [key["H"] for key in keys]
        assert found["H"].bias == pytest.approx(sum(4 - key for key in on_h) / N_EXAMPLES)
        assert found["H"].within_one == pytest.approx(
            sum(key in (3, 4, 5) for key in on_h) / N_EXAMPLES
        )
        assert rated.n_ratings == 1


@pytest.mark.parametrize("people", [RATING + "practice = false\n", PEOPLE])
def test_a_study_that_asks_for_no_scores_has_no_examples(tmp_path: Path, people: str) -> None:
    study = RATED if "rating" in people else STUDY
    with people_world(tmp_path, people=people, study=study) as world:
        assert world.store.latest_study(calibration_study_id(world.desk.study)) is None
        kind = "rate" if "rating" in people else "judge"
        who = world.come(kind, is_vetted=False)
        assert who.get(kind)
        assert who.ticket


def test_the_researcher_can_say_that_raters_need_no_practice(world: World) -> None:
    watcher = world.come("research")
    page = plain(watcher.client.get("/researcher").text)
    assert "They need no practice: I know how they write and rate" in page
