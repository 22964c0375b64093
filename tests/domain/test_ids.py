"""Content ids: the same content, the same id, on every machine."""

import hashlib
import json
import math
import unicodedata
from dataclasses import replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_records import NOW, made_item, made_study

from hearteval.domain import (
    Assignment,
    Call,
    Completion,
    Item,
    Judgment,
    Pair,
    Rater,
    Rating,
    System,
    Turn,
    canonical_json,
    content_hash,
    hash_records,
    pair_id,
    record_id,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=10,
)


def test_canonical_json_has_sorted_keys_and_no_white_space() -> None:
    assert canonical_json({"b": [1, 2.5, None], "a": "é"}) == '{"a":"é","b":[1,2.5,null]}'


def test_canonical_json_composes_characters() -> None:
    assert canonical_json(unicodedata.normalize("NFD", "é")) == canonical_json("é")


def test_canonical_json_refuses_nan() -> None:
    with pytest.raises(ValueError, match="Out of range"):
        canonical_json(math.nan)


@given(JSON)
def test_equal_values_hash_equally(value: object) -> None:
    assert content_hash(value) == content_hash(value)


def test_an_id_is_the_first_half_of_a_sha256_with_kind_and_version() -> None:
    text = '{"kind":"system","name":"x","v":1}'
    assert record_id("system", {"name": "x"}) == hashlib.sha256(text.encode()).hexdigest()[:32]


def test_a_completion_is_named_by_target_text_repeat_and_writer() -> None:
    one = Completion(item_id="a" * 32, system_id="b" * 32, text="Hello.", created_at=NOW)
    same = replace(one, call=Call(cost=1.0), total_ms=3.0, id="")
    other = replace(one, text="Hello!", id="")
    assert one.id == same.id
    assert one.id != other.id


def test_a_new_prompt_is_a_new_llm_judge_but_a_pseudonym_stays_one_person() -> None:
    judge = Rater(name="j", kind="llm", family="gpt", settings={"prompt_hash": "1"})
    assert judge.id != replace(judge, settings={"prompt_hash": "2"}, id="").id
    person = Rater(name="p7", kind="human", family="human")
    assert person.id == replace(person, pool="panel", group="peer", id="").id


def test_ids_of_ids_alone_are_those_of_canonical_json() -> None:
    pair = Pair(item_id="0" * 32, completion_ids=("b" * 32, "a" * 32))
    of_pair = {"completion_ids": ["a" * 32, "b" * 32]}
    assert pair.id == pair_id("a" * 32, "b" * 32) == record_id("pair", of_pair)
    of: dict[str, Any] = {"study_id": "1" * 32, "pair_id": pair.id, "rater_id": "2" * 32}
    of |= {"first_completion_id": "b" * 32, "repeat": 3}
    asked = Assignment(**of)
    assert asked.id == record_id("assignment", of)
    said = Judgment(assignment_id=asked.id, choice="first", strength=1, created_at=NOW)
    assert said.id == record_id("judgment", {"assignment_id": asked.id})


def test_a_study_keeps_its_id_when_it_grows() -> None:
    study = made_study()
    assert study.id == replace(study, version=2, item_ids=("a" * 32,), id="").id
    assert study.id != replace(study, seed=2, id="").id


def test_a_stored_id_is_kept() -> None:
    assert System(name="x", kind="baseline", family="baseline", id="ab").id == "ab"


def test_the_hash_of_records_sees_content_but_not_the_time() -> None:
    one = Completion(item_id="a" * 32, system_id="b" * 32, text="Hello.", created_at=NOW)
    later = replace(one, created_at=datetime(2027, 1, 1, tzinfo=UTC))
    assert hash_records([one]) == hash_records([later])
    assert hash_records([one]) != hash_records([replace(one, call=Call(cost=2.0))])


CALL = Call(
    requested={"temperature": 0.0},
    effective={"max_tokens": 9},
    finish_reason="stop",
    usage={"input_tokens": 5},
    cost=0.25,
    cached=True,
)


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (
            Completion(
                item_id="a" * 32, system_id="b" * 32, text="Hello.", call=CALL, created_at=NOW
            ),
            "fe4540e86618cbc56aa74a7c307d86bd6cd20585d508a240c66b3c3a8b183ba4",
        ),
        (
            Judgment(assignment_id="a" * 32, choice="first", strength=2, call=CALL, created_at=NOW),
            "d4c207c7404d139ab1016bdc7001af0de729de89666d47c22be24a623bad9ef5",
        ),
        (
            Rating(
                study_id="a" * 32,
                completion_id="b" * 32,
                rater_id="c" * 32,
                axes={"H": 3},
                call=CALL,
                created_at=NOW,
            ),
            "050bf0303e7dcd7b2d1df2dc02ea60bb5567449e32fb27029b9306634912262b",
        ),
    ],
    ids=["completion", "judgment", "rating"],
)
def test_how_a_model_was_asked_stands_flat_in_the_hash(
    record: Completion | Judgment | Rating, expected: str
) -> None:
    assert hash_records([record]) == expected
    assert '"call"' not in canonical_json(record)


def test_the_hash_of_records_ignores_their_order() -> None:
    one = System(name="one", kind="baseline", family="baseline")
    two = System(name="two", kind="baseline", family="baseline")
    assert hash_records([one, two]) == hash_records([two, one])


@given(JSON)
def test_canonical_json_is_that_of_the_value_with_every_string_composed(value: object) -> None:
    def composed(part: object) -> object:
        if isinstance(part, str):
            return unicodedata.normalize("NFC", part)
        if isinstance(part, dict):
            return {composed(key): composed(inner) for key, inner in part.items()}
        return [composed(inner) for inner in part] if isinstance(part, list) else part

    expected = json.dumps(
        composed(value), ensure_ascii=False, sort_keys=True, separators=(",", ":")
    )
    assert canonical_json(value) == expected


def test_a_mark_that_composes_with_the_json_around_it_stays_with_its_own_string() -> None:
    assert canonical_json(["a\n\u0303", "\u0338<"]) == '["a\\n\u0303","\u0338<"]'


def test_canonical_json_writes_mappings_and_records_as_objects_and_refuses_the_rest() -> None:
    system = System(name="x", kind="model", family="é", settings=MappingProxyType({"b": "é"}))
    text = f'{{"family":"é","id":"{system.id}","kind":"model","name":"x","settings":{{"b":"é"}}}}'
    assert canonical_json(system) == text
    with pytest.raises(TypeError, match="datetime is not JSON"):
        canonical_json({"at": NOW})


def labelled(**labels: object) -> Item:
    turns = tuple(Turn(role=role, text="Yes.") for role in ("supporter", "seeker"))
    return made_item(
        context=turns,
        subset="adversarial",
        profile="mid-ramp",
        emotion="anger",
        consent_basis="Written for a test",
        **labels,
    )


def test_labels_that_came_later_change_no_id_of_an_item() -> None:
    known = labelled(cue="implicit", resistance="despair", intensities=(4,))
    assert known.id == labelled().id == "4d9627460545430c6be3143c7736bd15"


def test_labels_that_came_later_are_hashed_only_where_they_are_known() -> None:
    assert (
        hash_records([labelled()])
        == "8f4212f9a563a6b97a68efe7d709e7f2d3c90675e50029186f0a42ff75ad2cfa"
    )
    with_cue = labelled(cue="implicit", intensities=(4,))
    assert '"cue":"implicit"' in canonical_json(with_cue)
    assert '"intensities":[4]' in canonical_json(with_cue)
    assert "resistance" not in canonical_json(with_cue)
