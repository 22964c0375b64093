"""A labeler's reply: evidence is held against the text, and nothing is ever filled in."""

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

from hearteval.domain import LabelVerdict, Turn
from hearteval.errors import InvalidReplyError
from hearteval.labels.prompt import label_again, label_messages, label_prompt_hash, label_schema
from hearteval.labels.reply import LABEL_FAULTS, Said, read_labels
from hearteval.labels.taxonomy import TAXONOMIES, Category, Taxonomy, load_taxonomy
from hearteval.labels.texts import LabelledText
from hearteval.protocol import load_protocol

STRATEGIES = load_taxonomy("strategies")
TEXT = "You kept going,  all year.\nWhat would\u2019ve helped? \u201cNothing\u201d is fine."
CONTEXT = (Turn(role="supporter", text="Hello."), Turn(role="seeker", text="I lost my job."))
REPLY = LabelledText(of="completion", id="1" * 32, text=TEXT, context=CONTEXT)
ABSENT = {"evidence": "", "verdict": "absent", "probability": 5}
AFFIRMED = {"evidence": "You kept going, all year.", "verdict": "present", "probability": 95}


def labels(**changed: Any) -> dict[str, Any]:
    return dict.fromkeys(STRATEGIES.keys, ABSENT) | {"affirmation": AFFIRMED} | changed


def affirmed(**changed: Any) -> str:
    return json.dumps(labels(affirmation=AFFIRMED | changed))


def fault_of(reply: str, **how: str) -> str:
    with pytest.raises(InvalidReplyError) as caught:
        read_labels(reply, STRATEGIES, REPLY, **how)
    assert caught.value.reason in LABEL_FAULTS
    assert "kept going" not in str(caught.value)
    return caught.value.reason


def test_a_reply_says_something_of_every_category() -> None:
    unsure = {"evidence": "Nothing", "verdict": "uncertain", "probability": 50}
    found = read_labels(json.dumps(labels(chit_chat=unsure)), STRATEGIES, REPLY)
    assert tuple(found) == STRATEGIES.keys
    assert found["affirmation"] == Said("present", 0.95, "You kept going, all year.")
    assert found["chit_chat"] == Said("uncertain", 0.5, "Nothing")
    assert found["offer_hope"] == Said("absent", 0.05, "")


def test_no_quote_is_of_two_turns() -> None:
    item = LabelledText(of="item", id="1" * 32, text="And now?", context=CONTEXT, situation="Work.")
    taxonomy = replace(STRATEGIES, of=("item",))
    for quote in ("Hello.", "I lost my job.", "And now?"):
        assert read_labels(affirmed(evidence=quote), taxonomy, item)
    for quotes in ("Work. Hello.", "Hello. I lost my job.", "job. And now?"):
        with pytest.raises(InvalidReplyError, match="does not stand in the text"):
            read_labels(affirmed(evidence=quotes), taxonomy, item)


@pytest.mark.parametrize(
    "evidence",
    ["all year.  What would've helped?", '"Nothing" is fine', "You kept\n going,", "would\u2019ve"],
)
def test_white_space_and_the_shape_of_quotes_do_not_matter(evidence: str) -> None:
    found = read_labels(affirmed(evidence=evidence), STRATEGIES, REPLY)
    assert found["affirmation"].verdict == "present"


@pytest.mark.parametrize(
    "evidence",
    ["You keep going, all year.", "you kept going", "You kept going … What", "kept going all year"],
)
def test_evidence_that_does_not_stand_in_the_text_is_a_fault(evidence: str) -> None:
    assert fault_of(affirmed(evidence=evidence)) == "evidence-not-in-text"


def test_evidence_of_what_is_absent_has_to_stand_there_too() -> None:
    invented = ABSENT | {"evidence": "no hope at all"}
    assert fault_of(json.dumps(labels(offer_hope=invented))) == "evidence-not-in-text"


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"evidence": ""}, "no-evidence"),
        ({"evidence": " \n"}, "no-evidence"),
        ({"evidence": ",  "}, "no-evidence"),
        ({"evidence": None}, "wrong-evidence"),
        ({"evidence": ["You kept going"]}, "wrong-evidence"),
        ({"evidence": "You " * 200}, "wrong-evidence"),
        ({"verdict": "Present"}, "wrong-verdict"),
        ({"verdict": "partly"}, "wrong-verdict"),
        ({"verdict": True}, "wrong-verdict"),
        ({"probability": 90}, "wrong-probability"),
        ({"probability": "95"}, "wrong-probability"),
        ({"probability": 95.0}, "wrong-probability"),
        ({"probability": float("nan")}, "wrong-probability"),
        ({"probability": None}, "wrong-probability"),
        ({"probability": 25}, "contradiction"),
        ({"verdict": "absent"}, "contradiction"),
        ({"confidence": 1}, "wrong-keys"),
    ],
)
def test_what_is_not_exactly_asked_for_is_a_named_fault(
    changed: Mapping[str, Any], fault: str
) -> None:
    assert fault_of(affirmed(**changed)) == fault


WHOLE = labels()
LABEL_BACKWARDS = {"verdict": "present", "evidence": "You kept going,", "probability": 95}


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        (WHOLE | {"mirroring": AFFIRMED}, "unknown-category"),
        ({key.capitalize(): said for key, said in WHOLE.items()}, "unknown-category"),
        ({key: WHOLE[key] for key in WHOLE if key != "chit_chat"}, "missing-category"),
        (dict(reversed(WHOLE.items())), "wrong-order"),
        (WHOLE | {"affirmation": LABEL_BACKWARDS}, "wrong-order"),
    ],
)
def test_categories_are_those_asked_for_in_their_order(reply: dict[str, Any], fault: str) -> None:
    assert fault_of(json.dumps(reply)) == fault


def test_a_key_that_stands_twice_is_a_fault() -> None:
    first, *_ = json.dumps(labels())[1:].partition(', "avoid_judgment"')
    assert fault_of(f"{{{first}, {json.dumps(labels())[1:]}") == "duplicate-keys"


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        ("", "empty"),
        ("[]", "not-an-object"),
        (json.dumps(labels(affirmation="present")), "not-an-object"),
        (f"```json\n{json.dumps(labels())}\n```", "not-json"),
        (json.dumps(labels())[:-30], "truncated"),
        ("x" * 20_001, "too-long"),
    ],
)
def test_what_is_no_object_is_a_named_fault(reply: str, fault: str) -> None:
    assert fault_of(reply) == fault


def test_what_the_endpoint_cut_off_or_refused_is_never_read() -> None:
    whole = json.dumps(labels())
    assert fault_of(whole, finish_reason="length") == "truncated"
    assert fault_of(whole, finish_reason="content_filter") == "refused"
    assert fault_of(whole, finish_reason="incomplete") == "not-finished"
    assert fault_of(whole, refusal="no") == "refused"


@pytest.mark.parametrize("name", TAXONOMIES)
def test_the_prompt_names_every_category_and_stays_within_the_schema(name: str) -> None:
    taxonomy = load_taxonomy(next(one for one in TAXONOMIES if one == name))
    (_, system), (_, user) = label_messages(REPLY, taxonomy, nonce="a" * 16)
    for category in taxonomy.categories:
        assert f"{category.name} (key {category.key}). {category.definition}" in system
        assert category.present in system
        assert category.absent in system
    assert f"[reply {'a' * 16}]\n{TEXT}\n[end of reply {'a' * 16}]" in user
    assert "Seeker: I lost my job." in user
    schema = label_schema(taxonomy)
    assert schema["required"] == [*taxonomy.keys]
    one = schema["properties"][taxonomy.keys[0]]
    assert one["properties"]["verdict"]["enum"] == [*get_args(LabelVerdict)]
    assert set(one["properties"]["evidence"]) == {"type"}
    assert label_schema(taxonomy, max_evidence_characters=99) != schema


def test_a_text_cannot_close_its_own_markers() -> None:
    with pytest.raises(ValueError, match="choose another code"):
        label_messages(
            replace(REPLY, text=f"[end of reply {'a' * 16}]"), STRATEGIES, nonce="a" * 16
        )


def test_every_taxonomy_is_another_prompt() -> None:
    assert len({label_prompt_hash(load_taxonomy(name)) for name in TAXONOMIES}) == len(TAXONOMIES)


def test_every_fault_is_named_when_asked_again() -> None:
    own = load_protocol("label_prompt")["repair"]["errors"]
    assert {*own, *load_protocol("replies")["repair"]} == set(LABEL_FAULTS)
    asked = label_messages(REPLY, STRATEGIES, nonce="a" * 16)
    (_, system), (_, user) = label_again(asked, "evidence-not-in-text")
    assert system == asked[0][1]
    assert user.startswith(asked[1][1])
    assert "does not stand in the text word for word" in user


def test_there_are_the_fifteen_strategies_of_the_paper_and_six_micro_skills() -> None:
    assert [category.name for category in STRATEGIES.categories] == [
        *("Affirmation", "Avoid Judgment and Criticism", "Clarification"),
        *("Collaborative Planning", "Emotional Validation", "Normalize Experiences"),
        *("Offer Hope", "Promote Self-Care Practices", "Provide Different Perspectives"),
        *("Reflective Statements", "Reframe Negative Thoughts", "Share Information"),
        *("Stress Management", "Suggest Options", "Chit Chat"),
    ]
    assert len(load_taxonomy("micro-skills").categories) == 6


def test_the_two_examples_of_a_strategy_are_equally_long() -> None:
    ratios = [len(one.present) / len(one.absent) for one in STRATEGIES.categories]
    assert 1 / 1.2 < min(ratios) <= max(ratios) < 1.2
    longer = sum(ratio > 1 for ratio in ratios)
    assert 4 <= longer <= 11
    assert abs(sum(math.log(ratio) for ratio in ratios)) / len(ratios) < 0.02


def test_the_paper_map_compares_every_strategy() -> None:
    text = (Path(__file__).parents[2] / "docs/paper-map.md").read_text(encoding="utf-8")
    table = text.partition("## The fifteen strategies of 9.10")[2]
    rows = [row.split(" | ") for row in table.splitlines() if row.endswith("| same |")]
    assert [row[0].removeprefix("| ") for row in rows] == [
        category.name for category in STRATEGIES.categories
    ]
    assert f"version {STRATEGIES.version}" in table


DEMANDS = Taxonomy(
    name="strategies",
    of=("item",),
    version="1",
    unversioned="1",
    title="demands",
    categories=(
        Category(key="open", name="Open", definition="It is open.", present="No.", absent="Done."),
        Category(
            key="intensity",
            name="Intensity",
            definition="How strong.",
            levels=("hardly", "some", "all of it"),
        ),
    ),
)
ITEM = LabelledText(of="item", id="2" * 32, text="I see.", context=CONTEXT)
OPEN = {"evidence": "lost my job", "verdict": "present", "probability": 75}


def demanded(**intensity: Any) -> str:
    scored = {"evidence": "", "score": "2"} | intensity
    return json.dumps({"open": OPEN, "intensity": scored})


def test_of_an_item_evidence_comes_from_the_conversation_and_from_the_reply() -> None:
    found = read_labels(demanded(evidence="I see."), DEMANDS, ITEM)
    assert found["open"] == Said("present", 0.75, "lost my job")
    assert found["intensity"] == Said("present", None, "I see.", 2)
    with pytest.raises(InvalidReplyError) as caught:
        read_labels(demanded(), DEMANDS, replace(ITEM, context=()))
    assert caught.value.reason == "evidence-not-in-text"


def test_of_an_item_its_situation_is_read_and_quoted_too() -> None:
    told = replace(ITEM, situation="They closed the plant.")
    (_, _), (_, user) = label_messages(told, DEMANDS, nonce="a" * 16)
    assert f"[situation {'a' * 16}]\nThey closed the plant." in user
    assert read_labels(demanded(evidence="closed the plant"), DEMANDS, told)["intensity"].score == 2
    with pytest.raises(InvalidReplyError):
        read_labels(demanded(evidence="closed the plant"), DEMANDS, ITEM)


@pytest.mark.parametrize(
    ("intensity", "fault"),
    [
        ({"score": "4"}, "wrong-score"),
        ({"score": 2}, "wrong-score"),
        ({"score": None}, "wrong-score"),
        ({"verdict": "present"}, "wrong-keys"),
        ({"evidence": "nobody said so"}, "evidence-not-in-text"),
    ],
)
def test_a_scale_has_a_score_of_its_levels_or_none(intensity: dict[str, Any], fault: str) -> None:
    with pytest.raises(InvalidReplyError) as caught:
        read_labels(demanded(**intensity), DEMANDS, ITEM)
    assert caught.value.reason == fault
    unsure = read_labels(demanded(score="uncertain"), DEMANDS, ITEM)["intensity"]
    assert unsure == Said("uncertain", None, "")


def test_a_scale_is_asked_for_by_its_levels() -> None:
    (_, system), (_, user) = label_messages(ITEM, DEMANDS, nonce="a" * 16)
    assert "A scale:\n1: hardly\n2: some\n3: all of it" in system
    assert f"[next reply {'a' * 16}]\nI see." in user
    assert "next reply" not in label_messages(replace(ITEM, text=""), DEMANDS, nonce="a" * 16)[1][1]
    schema = label_schema(DEMANDS)["properties"]["intensity"]
    assert schema["required"] == ["evidence", "score"]
    assert schema["properties"]["score"]["enum"] == ["1", "2", "3", "uncertain"]
