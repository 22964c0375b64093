"""A study in German, from its file to its results, offline; and one in two languages."""

from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from heart_command import run_heart
from people_site import PEOPLE, STUDY, Visitor, World, people_world

from hearteval.config import load_study
from hearteval.domain import Item, Judgment, Label
from hearteval.items import load_starter_items
from hearteval.study.people.consenting import consent_version

GERMAN = STUDY.replace("regular = 2\nadversarial = 1", 'language = "de"\nregular = 3')
TWO = STUDY.replace("[items]", "[[items]]").replace(
    "[[system]]", '[[items]]\nsource = "starter"\nlanguage = "de"\nregular = 2\n[[system]]', 1
)
REPLY = "Das klingt nach einem langen Tag. Was war heute am schwersten?"


@pytest.fixture
def german(tmp_path: Path) -> Iterator[World]:
    with people_world(tmp_path, people=PEOPLE, study=GERMAN) as world:
        yield world


def come(world: World, *kinds: str, language: str, **form: str) -> Visitor:
    client = world.client()
    client.headers["accept-language"] = language
    return Visitor(world, client, world.invite(*kinds)).join(**form)


def seen(visitor: Visitor, items: dict[str, Item]) -> set[str]:
    """The languages of what somebody is given to write for, all of it."""
    found = set()
    while "ticket" in (page := unescape(visitor.get("write"))):
        last = {one.language[:2] for one in items.values() if one.context[-1].text in page}
        found |= last
        assert visitor.send("write", text=REPLY).status_code == 303
    return found


def test_models_are_asked_in_the_language_of_the_items(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(GERMAN.replace("{people}", PEOPLE), encoding="utf-8")
    assert load_study(path).judging.form.language == "de"
    path.write_text(TWO.replace("{people}", PEOPLE), encoding="utf-8")
    assert load_study(path).judging.form.language == "en"


def test_people_get_german_pages_and_write_in_german(german: World) -> None:
    writer = come(german, "write", language="fr,en-GB")
    page = writer.get("write")
    assert '<html lang="de">' in page
    assert "Schreiben Sie, was als Nächstes kommt" in page
    assert writer.send("write", text=REPLY).status_code == 303
    person = german.store.people.find_name(writer.name)
    assert person.language == "de"
    assert person.consent_version == consent_version(german.desk, "de")
    assert person.consent_version != consent_version(german.desk, "en")


def test_no_reply_in_german_is_shown_before_a_person_has_read_it(german: World) -> None:
    come(german, "write", language="de").write("Ja klar.")
    labels = list(german.store.iter(Label, german.desk.study))
    assert labels
    assert all("other-language" in one.evidence for one in labels)
    reviewer = come(german, "review", language="de")
    while "ticket" in reviewer.get("review") and reviewer.ticket:
        assert reviewer.send("review", verdict="fit").status_code == 303
    judge = come(german, "judge", language="de")
    assert "Zwei Antworten" in judge.get("judge")
    judge.send("judge", choice="A slightly better", reason="Sie hört zu.")
    (judgment,) = german.store.iter(Judgment, german.desk.study)
    assert judgment.rationale == "Sie hört zu."


def test_the_cue_judge_says_that_it_knows_no_german(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(GERMAN.replace("[people]\n{people}", ""), encoding="utf-8")
    done = run_heart("run", path)
    assert "The judge cue knows English words only." in " ".join(done.out.split())


def test_everybody_gets_items_of_their_own_language(tmp_path: Path) -> None:
    items = {one.id: one for one in (*load_starter_items(), *load_starter_items("de"))}
    with people_world(tmp_path, people=PEOPLE, study=TWO) as world:
        assert seen(come(world, "write", language="de-AT,de;q=0.9"), items) == {"de"}
        assert seen(come(world, "write", language="en-GB"), items) == {"en"}
        assert seen(come(world, "write", language="en-GB", lang="de"), items) == {"de"}


def test_a_study_may_give_everybody_items_of_every_language(tmp_path: Path) -> None:
    items = {one.id: one for one in (*load_starter_items(), *load_starter_items("de"))}
    people = PEOPLE + "other_languages = true\n"
    with people_world(tmp_path, people=people, study=TWO) as world:
        assert seen(come(world, "write", language="de"), items) == {"de", "en"}


def test_the_first_page_offers_the_languages_of_the_study(tmp_path: Path) -> None:
    with people_world(tmp_path, people=PEOPLE, study=TWO) as world:
        client, token = world.client(), world.invite("write")
        first = client.get(f"/join/{token}?pid=abc").text
        assert 'value="de" lang="de">Deutsch</button>' in first
        other = client.get(f"/join/{token}?pid=abc&lang=de").text
        assert "Bevor Sie anfangen" in other
        consent = client.get(f"/join/{token}/consent?pid=abc&lang=de").text
        assert "Möchten Sie teilnehmen?" in consent
        assert 'name="lang" value="de"' in consent


def test_who_is_known_keeps_their_language_at_another_link(tmp_path: Path) -> None:
    with people_world(tmp_path, people=PEOPLE, study=TWO) as world:
        visitor = come(world, "judge", language="en-GB", lang="de")
        other = world.invite("write")
        page = visitor.client.get(f"/join/{other}?same=yes").text
        assert "Bevor Sie anfangen" in page
        assert 'name="lang" value="de"' in page
