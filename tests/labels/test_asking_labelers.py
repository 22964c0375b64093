"""Labelers are asked once for each completion; what cannot be used is missing by its reason."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest
from asked_study import (
    ITEMS,
    NOW,
    PRICE,
    AskedStudy,
    always,
    asked_study,
    judge,
    model_system,
    now,
    plan,
    quiet,
    said,
    verdict,
)
from canned_model import CannedModel
from made_records import made_label

from hearteval.domain import Attempt, Label, Rater
from hearteval.labels.cues import CUES, cued_labels, cues_rater
from hearteval.labels.taxonomy import Unit, load_taxonomy
from hearteval.labels.texts import LabelledText, find_target
from hearteval.models import asking
from hearteval.models.asking import AskedCounts
from hearteval.models.base import FIRST_QUESTIONS, Reply
from hearteval.steps import causes_by_owner
from hearteval.steps.labels import LabelStep, label_by_cues, texts_to_label
from hearteval.study.verify import verify_store

STRATEGIES = load_taxonomy("strategies")
SYSTEMS = [model_system("one"), model_system("two")]
LABELER = Rater(name="l", kind="llm", family="theirs", settings={**STRATEGIES.settings})
ABSENT = {"evidence": "", "verdict": "absent", "probability": 5}


def answer(evidence: str = "What now") -> str:
    asked = {"evidence": evidence, "verdict": "present", "probability": 95}
    return json.dumps(dict.fromkeys(STRATEGIES.keys, ABSENT) | {"clarification": asked})


@pytest.fixture(autouse=True)
def one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "WORKERS_PER_CALL", 1)


@pytest.fixture
def world() -> Iterator[AskedStudy]:
    texts = {system.name: [f"What now, number {n}?" for n in range(2)] for system in SYSTEMS}
    made = asked_study(SYSTEMS, items=ITEMS[:2], texts=texts)
    made.store.add([LABELER])
    yield made
    made.store.close()


def in_turn(*texts: str) -> CannedModel:
    left = [*texts]
    return CannedModel(lambda _m, _s, _r: said(left.pop(0) if left else answer()))


def labels(world: AskedStudy) -> list[Label]:
    return list(world.store.iter(Label, world.study))


def reasons(world: AskedStudy) -> list[str]:
    found = sorted(world.store.iter(Attempt, world.study), key=lambda one: one.attempt)
    return [one.reason for one in found]


def test_every_completion_gets_every_label(world: AskedStudy) -> None:
    counts = world.label("l", always(said(answer())), STRATEGIES)
    assert (counts.n_wanted, counts.n_before, counts.n_added, counts.missing) == (4, 0, 4, {})
    found = labels(world)
    assert len(found) == 4 * len(STRATEGIES.keys)
    by_verdict: Mapping[str, set[str]] = {
        verdict: {one.category for one in found if one.verdict == verdict}
        for verdict in ("present", "absent")
    }
    assert by_verdict["present"] == {"clarification"}
    assert len(by_verdict["absent"]) == 14
    (first, *_) = (one for one in found if one.verdict == "present")
    assert (first.evidence, first.probability) == ("What now", 0.95)
    assert (first.taxonomy, first.rater_id) == ("strategies", LABELER.id)


def test_run_again_it_asks_nothing_and_pays_once(world: AskedStudy) -> None:
    model = always(said(answer()))
    world.label("l", model, STRATEGIES)
    again = world.label("l", model, STRATEGIES)
    assert (again.n_wanted, again.n_before, again.n_added) == (4, 4, 0)
    assert len(model.calls) == 4
    assert world.store.spent_usd() == pytest.approx(4 * PRICE)


def test_a_planted_error_is_asked_again_with_its_name_and_then_given_up(world: AskedStudy) -> None:
    model = in_turn(answer("What then"), answer("What then"))
    counts = world.label("l", model, STRATEGIES)
    assert (counts.n_added, counts.missing) == (3, {"evidence-not-in-text": 1})
    assert reasons(world) == ["evidence-not-in-text"] * 2
    assert "does not stand in the text word for word" in model.calls[1].messages[1].content
    assert "What then" not in model.calls[1].messages[1].content
    assert len(labels(world)) == 3 * len(STRATEGIES.keys)
    again = world.label("l", always(said(answer())), STRATEGIES)
    assert (again.n_added, again.missing) == (0, {"evidence-not-in-text": 1})
    wanted = LabelStep(taxonomy=STRATEGIES).find(world.store, world.study, [LABELER.id])
    (cause,) = causes_by_owner(wanted)[LABELER.id]
    assert (cause.reason, cause.n, cause.outlook) == ("evidence-not-in-text", 1, "given-up")


def test_a_second_try_that_is_right_counts(world: AskedStudy) -> None:
    counts = world.label("l", in_turn("{}"), STRATEGIES)
    assert (counts.n_added, counts.missing) == (4, {})
    assert reasons(world) == ["missing-category"]


def test_a_labeler_never_learns_whose_the_reply_is(world: AskedStudy) -> None:
    model = always(said(answer()))
    world.label("l", model, STRATEGIES)
    for call in model.calls:
        words = "\n".join(message.content for message in call.messages)
        for system in SYSTEMS:
            assert system.id not in words
            assert f" {system.name} wrote" not in words


def test_what_another_taxonomy_says_leaves_this_one_open(world: AskedStudy) -> None:
    skills = load_taxonomy("micro-skills")
    label_by_cues(world.store, world.study, skills, now=now, progress=quiet)
    wanted = LabelStep(taxonomy=STRATEGIES).find(world.store, world.study, [LABELER.id])
    assert (wanted.n_wanted, wanted.n_before) == (4, 0)


def test_cues_label_what_they_have_words_for_and_only_once(world: AskedStudy) -> None:
    def run() -> AskedCounts:
        return label_by_cues(world.store, world.study, STRATEGIES, now=now, progress=quiet)

    assert (run().n_added, run().n_added) == (4, 0)
    (first, *_) = texts_to_label(world.store, world.study, STRATEGIES).values()
    said_of = {one.category: one.verdict for one in cued_labels(first, STRATEGIES, now=NOW)}
    assert set(said_of) == set(STRATEGIES.keys)
    assert cues_rater(STRATEGIES).name == CUES
    assert cues_rater(STRATEGIES).family == "cue"


@pytest.mark.parametrize(
    ("text", "present"),
    [
        ("Many people find this hard.", "normalize_experiences"),
        ("It's not your fault.", "avoid_judgment"),
        ("Could you tell me more?", "clarification"),
        ("Try a few deep breaths.", "stress_management"),
    ],
)
def test_a_cue_is_found_with_its_words(text: str, present: str) -> None:
    made = LabelledText(of="completion", id="1" * 32, text=text)
    found = {one.category: one for one in cued_labels(made, STRATEGIES, now=NOW)}
    assert found[present].verdict == "present"
    assert found[present].evidence in text.lower()


def test_a_category_without_words_gets_no_label_from_cues() -> None:
    skills = load_taxonomy("micro-skills")
    made = LabelledText(of="completion", id="1" * 32, text="Fine.")
    found = {one.category for one in cued_labels(made, skills, now=NOW)}
    assert "tone_shift" in set(skills.keys) - found


def test_what_a_labeler_measures_is_kept_with_a_failed_try(world: AskedStudy) -> None:
    cut = Reply(text=answer(), finish_reason="length")
    world.label("l", CannedModel(lambda _m, _s, _r: cut), STRATEGIES)
    (first, *_) = world.store.iter(Attempt, world.study)
    assert (first.reason, first.rater_id, first.study_id) == (
        "truncated",
        LABELER.id,
        world.study.id,
    )


def test_verifying_a_store_holds_evidence_against_the_texts_again(world: AskedStudy) -> None:
    world.label("l", always(said(answer())), STRATEGIES)
    assert not verify_store(world.store, progress=lambda _kind, _n: None).faults
    (text, *_) = texts_to_label(world.store, world.study, STRATEGIES).values()
    other = Rater(name="other", kind="llm", family="theirs", settings={"labels": "another"})
    invented = made_label(
        completion_id=text.id,
        taxonomy="strategies",
        category="chit_chat",
        evidence="words that nobody wrote",
        rater_id=other.id,
    )
    world.store.add([other, invented])
    (fault,) = verify_store(world.store, progress=lambda _kind, _n: None).faults
    assert (fault.kind, fault.id) == ("label", invented.id)
    assert "does not stand in the text" in fault.words


@pytest.mark.parametrize("of", ["item", "reasons"])
def test_items_and_reasons_are_labelled_the_same_way(of: Unit) -> None:
    world = asked_study(SYSTEMS, [judge("j")], items=ITEMS[:2])
    world.complete({system.name: always(said(f"I hear you. {system.name}")) for system in SYSTEMS})
    plan(world, both_orders=False)
    world.judge({"j": always(said(verdict(reason="warmer, and it asks")))})
    world.store.add([LABELER])
    taxonomy = replace(STRATEGIES, of=(of,))
    texts = texts_to_label(world.store, world.study, taxonomy)
    assert len(texts) == 2
    quotes = [text.quotable.splitlines()[0] for text in texts.values()]
    model = CannedModel(
        lambda messages, _s, _r: said(
            answer(next((q for q in quotes if q in messages[1].content), ""))
            if len(model.calls) > 1
            else "no"
        )
    )
    counts = world.label("l", model, taxonomy)
    assert (counts.n_wanted, counts.n_added, counts.missing) == (2, 2, {})
    (failed,) = (one for one in world.store.iter(Attempt, world.study) if one.rater_id)
    target = find_target(failed)
    assert target is not None
    assert (target.of, target.text_id in texts, failed.reason) == (of, True, "not-json")
    assert {(one.text_id, one.rater_id) for one in labels(world)} == {
        (id_, LABELER.id) for id_ in texts
    }
    assert not verify_store(world.store, progress=lambda _kind, _n: None).faults
    assert world.label("l", always(said("")), taxonomy).n_before == 2
    world.store.close()


def test_a_labeler_without_one_usable_reply_is_stopped() -> None:
    world = asked_study(SYSTEMS, items=ITEMS[:20], texts={"one": ["What now?"] * 20})
    world.store.add([LABELER])
    model = always(said("I see a question in it."))

    counts = world.label("l", model, STRATEGIES)

    assert len(model.calls) == 2 * FIRST_QUESTIONS
    assert counts.missing == {"not-json": 8, "not-asked": 12}
    assert "mostly for not-json" in world.told[0]
    world.store.close()
