"""What a labeler quotes of a person's text leaves with the text."""

from asked_study import ITEMS, NOW, asked_study

from hearteval.domain import Completion, Label, Rater, System

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
