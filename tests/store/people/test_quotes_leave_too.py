"""What a labeler quotes of a person's text leaves with the text."""

import json

from asked_study import ITEMS, NOW, asked_study

from hearteval.domain import Attempt, Completion, Label, Rater, System
from hearteval.store.records import StoredReply
from hearteval.study.verify import verify_store

HUMAN = System(name="People", kind="human", family="human")
READER = Rater(name="reader", kind="llm", family="theirs", settings={"labels": "strategies"})


def test_a_quote_of_a_withdrawn_text_is_deleted_and_the_verdict_stays() -> None:
    world = asked_study([HUMAN], [READER], items=ITEMS[:1])
    texts = {
        who: Completion(
            item_id=ITEMS[0].id, system_id=HUMAN.id, text=f"Mine, {who}.", writer_id=who,
            created_at=NOW,
        )
        for who in ("w1", "w2")
    }  # fmt: skip
    labels = [
        Label(
            completion_id=text.id,
            taxonomy=taxonomy,
            category="chit_chat",
            verdict="present",
            evidence=evidence,
            rater_id=READER.id,
            created_at=NOW,
        )
        for who, text in texts.items()
        for taxonomy, evidence in (("strategies", f"Mine, {who}"), ("safety", "link"))
    ]
    world.store.add([*texts.values(), *labels])
    world.store.people.take_in(world.study.id, {"w1": None, "w2": None}, now=NOW)
    (gone,) = (one for one in world.store.people.people(world.study.id) if one.name == "w1")
    world.store.people.withdraw(gone, rater_id="1" * 32, now=NOW)
    left = {one.id: (one.verdict, one.evidence) for one in world.store.iter(Label)}
    assert [left[one.id] for one in labels] == [
        ("present", ""),
        ("present", "link"),
        ("present", "Mine, w2"),
        ("present", "link"),
    ]


def test_replies_that_quote_a_withdrawn_text_are_forgotten_and_their_cost_is_not() -> None:
    world = asked_study([HUMAN], [READER], items=ITEMS[:1])
    mine = Completion(
        item_id=ITEMS[0].id, system_id=HUMAN.id, text="My uncle said \u201cgo\u201d\nand I went.",
        writer_id="w1", created_at=NOW,
    )  # fmt: skip
    quote = 'uncle said "go" and'
    label = Label(
        completion_id=mine.id, taxonomy="strategies", category="chit_chat", verdict="present",
        evidence=quote, rater_id=READER.id, created_at=NOW,
    )  # fmt: skip
    failed = Attempt(
        study_id=world.study.id, completion_id=mine.id, rater_id=READER.id,
        reason="unknown-category", raw='{"x": "My uncle said"}', created_at=NOW,
    )  # fmt: skip
    texts = {
        "a": json.dumps({"chit_chat": {"evidence": "uncle  said \u201cgo\u201d\nand"}}),
        "b": failed.raw,
        "c": 'Sure! {"evidence": "uncle said "go" and"}',
        "d": json.dumps({"offer_hope": {"evidence": "You said it"}}),
    }
    kept = [StoredReply(id=k * 32, reply={"text": text}, cost=0.5, created_at=NOW)
            for k, text in texts.items()]  # fmt: skip
    world.store.add([mine])
    world.store.keep_replies(kept)
    world.store.add([label, failed])
    world.store.people.take_in(world.study.id, {"w1": None}, now=NOW)
    (gone,) = world.store.people.people(world.study.id)
    world.store.people.withdraw(gone, rater_id="1" * 32, now=NOW)
    assert {k for k in texts if world.store.find_reply(k * 32)} == {"d"}
    assert [one.raw for one in world.store.iter(Attempt)] == [""]
    assert world.store.spent_usd() == 2.0
    assert not verify_store(world.store, progress=lambda _k, _n: None).faults
