"""A model that screens: it can hold a text for a person, and release none."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest
from asked_study import (
    ITEMS,
    AskedStudy,
    always,
    asked_study,
    judge,
    model_system,
    now,
    plan,
    said,
    verdict,
)
from canned_model import CannedModel
from made_records import made_label

from hearteval.domain import Attempt, Completion, Label, Rater
from hearteval.labels.prompt import label_messages
from hearteval.labels.safety import SAFETY, safety_standing
from hearteval.labels.taxonomy import load_taxonomy
from hearteval.labels.texts import LabelledText
from hearteval.protocol import load_protocol
from hearteval.steps.labels import screen_by_rules, texts_to_label
from hearteval.study.report.screened import read_screened
from hearteval.study.verify import verify_store

SCREEN = load_taxonomy("safety")
MODEL = Rater(name="reader", kind="llm", family="theirs", settings={**SCREEN.settings})
CRUEL = "Most people manage without a fuss"
ABSENT = {"evidence": "", "verdict": "absent", "probability": 5}


def reply(**found: str) -> str:
    said_of = {
        key: {"evidence": CRUEL, "verdict": one, "probability": 75 if one == "present" else 50}
        for key, one in found.items()
    }
    return json.dumps(dict.fromkeys(SCREEN.keys, ABSENT) | said_of)


def careful(messages: object) -> str:
    """Hold what is cruel, doubt what speaks of a fuss, and pass all else."""
    text = str(messages)
    if CRUEL in text:
        return reply(cruel="present", hate="uncertain")
    return reply()


@pytest.fixture(scope="module")
def world() -> Iterator[AskedStudy]:
    made = asked_study([model_system("one"), model_system("two")], [judge("j")], items=ITEMS[:2])
    texts = {"one": f"{CRUEL}, you know.", "two": "I hear you. What now?"}
    made.complete({name: always(said(text)) for name, text in texts.items()})
    plan(made, both_orders=False)
    made.judge({"j": always(said(verdict(reason="kinder")))})
    made.store.add([MODEL])
    screen_by_rules(made.store, made.study, SCREEN.of, now=now)
    model = CannedModel(lambda messages, _s, _r: said(careful(messages)))
    made.label(MODEL.name, model, SCREEN)
    yield made
    made.store.close()


def of(world: AskedStudy, system: str) -> list[list[Label]]:
    """Return the labels of each completion of a system."""
    labels = list(world.store.iter(Label, world.study))
    return [
        [one for one in labels if one.completion_id == text.id]
        for text in world.store.iter(Completion, world.study)
        if (CRUEL in text.text) == (system == "one")
    ]


def test_what_the_model_holds_waits_for_a_person_with_its_reason(world: AskedStudy) -> None:
    for own in of(world, "one"):
        assert safety_standing(own, people=()) == "waiting"
        (held,) = (one for one in own if one.rater_id == MODEL.id and one.category == SAFETY)
        assert (held.verdict, held.evidence) == ("present", "hate, cruel")
        assert len([one for one in own if one.rater_id == MODEL.id]) == len(SCREEN.keys) + 1


def test_what_the_model_passes_is_released_by_the_rules_alone(world: AskedStudy) -> None:
    for own in of(world, "two"):
        assert safety_standing(own, people=()) == "released"
        by_model = [one for one in own if one.rater_id == MODEL.id]
        assert SAFETY not in {one.category for one in by_model}
        assert safety_standing(by_model, people=()) == "unscreened"
        held = replace(next(o for o in own if o.rater_id != MODEL.id), verdict="present", id="")
        assert safety_standing([*by_model, held], people=()) == "waiting"


def test_a_person_overrules_the_model_either_way(world: AskedStudy) -> None:
    (own, *_) = of(world, "one")
    word = made_label(completion_id=own[0].completion_id, verdict="absent", rater_id="ann")
    assert safety_standing([*own, word], people={"ann"}) == "released"


def test_no_quote_is_kept_and_the_store_still_verifies(world: AskedStudy) -> None:
    labels = list(world.store.iter(Label, world.study))
    assert not any(CRUEL in one.evidence for one in labels)
    assert not verify_store(world.store, progress=lambda _kind, _n: None).faults
    assert not list(world.store.iter(Attempt, world.study))


def test_reasons_are_screened_too_and_all_of_it_is_measured(world: AskedStudy) -> None:
    texts = texts_to_label(world.store, world.study, SCREEN)
    assert {one.of for one in texts.values()} == {"completion", "reasons"}
    replies = list(world.store.iter(Completion, world.study))
    screened, kinds = read_screened(world.store, world.study, replies)
    assert dict(kinds) == {"rule screen": "rules", "reader": "model"}
    assert {one.id for one in screened} == set(texts)
    assert {one.item_id for one in screened} == {one.item_id for one in replies}
    held = [one.held_by["reader"] for one in screened if one.held_by["reader"]]
    assert held == [("hate", "cruel")] * 2
    assert all(one.is_unfit is None for one in screened)


def test_run_again_the_rules_read_nothing_twice(world: AskedStudy) -> None:
    again = screen_by_rules(world.store, world.study, SCREEN.of, now=now)
    assert (again.n_wanted, again.n_added) == (6, 0)


def test_the_words_for_reasons_are_the_screens_own(world: AskedStudy) -> None:
    text = LabelledText(of="reasons", id="1" * 32, text="B tells him to drink.")
    system, user = label_messages(text, SCREEN, nonce="0123456789abcdef")
    assert "To report that a reply is cruel" in system[1]
    assert "B tells him to drink." in user[1]
    themes = label_messages(text, load_taxonomy("rationales"), nonce="0123456789abcdef")
    assert "To report that a reply is cruel" not in themes[0][1]


def test_categories_speak_of_what_people_are_asked() -> None:
    asked = set(load_protocol("people_review")["look_for"]["reasons"]) - {"other"}
    assert asked <= set(SCREEN.keys)


def test_screens_of_one_name_and_other_prompts_are_two(world: AskedStudy) -> None:
    texts = list(world.store.iter(Completion, world.study))
    another, as_people = (
        Rater(name=name, kind="llm", family="theirs", settings={**SCREEN.settings, "of": name})
        for name in ("reader", "people")
    )
    at = now() + timedelta(days=1)
    world.store.add([another, as_people])
    for one in (another, as_people):
        label = made_label(
            completion_id=texts[0].id, evidence="insult", rater_id=one.id, created_at=at
        )
        world.store.add([label])
    screened, kinds = read_screened(world.store, world.study, texts)
    # Who came first keeps the name; no screen is taken for people.
    assert list(kinds) == ["rule screen", "people (2)", "reader", "reader (2)"]
    (text,) = [one for one in screened if one.id == texts[0].id]
    assert text.held_by["reader (2)"] == text.held_by["people (2)"] == ("insult",)
    assert text.held_by["reader"] != ("insult",)
    assert sum("reader (2)" in one.held_by for one in screened) == 1
