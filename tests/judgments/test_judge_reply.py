"""Replies of judges: what is read, what is refused and why, and that nothing else is ever read."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hearteval.domain import AXES, AXIS_NAMES, Axis, AxisMark, shows_text
from hearteval.errors import InvalidReplyError
from hearteval.judgments.form import USUAL, JudgeForm, PairProtocol
from hearteval.judgments.prompt import judge_schema
from hearteval.judgments.reply import REPLY_FAULTS, JudgeVerdict, read_reply

PROTOCOLS: tuple[PairProtocol, ...] = ("forced-strength", "five-point")
FORCED = judge_schema(USUAL)
FIVE_POINT = judge_schema(JudgeForm(protocol="five-point"))
SCHEMAS: dict[PairProtocol, dict[str, Any]] = {"forced-strength": FORCED, "five-point": FIVE_POINT}
KEYS = (
    "human_alignment",
    "empathic_responsiveness",
    "attunement",
    "resonance",
    "task_following",
    "overall",
)
MAX_CHARACTERS = 20_000
NOT_FINISHED = ("error", "incomplete", "abort", "tool_calls", "insufficient_system_resource", "odd")


def satisfies(value: Any, schema: Mapping[str, Any]) -> bool:
    """Say whether JSON satisfies a schema of the few keywords that ours use (draft 2020-12)."""
    if schema["type"] == "object":
        parts = schema["properties"]
        return (
            isinstance(value, dict)
            and set(schema["required"]) <= set(value) <= set(parts)
            and all(satisfies(value[key], parts[key]) for key in value)
        )
    kind = {"string": str, "integer": int}[schema["type"]]
    is_of_kind = isinstance(value, kind) and not isinstance(value, bool)
    return is_of_kind and value in schema.get("enum", [value])


def mark(**changes: Any) -> dict[str, Any]:
    return {"reason": "A names the loss.", "winner": "A", "strength": 3} | changes


def reply(**changes: Any) -> dict[str, Any]:
    return {key: mark() for key in KEYS} | changes


def five_point(answer: str) -> str:
    return json.dumps({key: {"reason": "Close.", "answer": answer} for key in KEYS})


def fault(
    text: str,
    *,
    protocol: PairProtocol = "forced-strength",
    finish_reason: str = "stop",
    refusal: str | None = None,
) -> str:
    with pytest.raises(InvalidReplyError) as caught:
        read_reply(
            text, form=JudgeForm(protocol=protocol), finish_reason=finish_reason, refusal=refusal
        )
    assert caught.value.reason in REPLY_FAULTS
    return caught.value.reason


def test_a_verdict_holds_choice_strength_marks_and_reasons() -> None:
    text = json.dumps(
        reply(
            attunement=mark(winner="B", strength=1, reason="B keeps the detail."),
            overall=mark(winner="B", strength=5, reason="B fits."),
        )
    )
    won = AxisMark("first", 3)
    assert read_reply(text) == JudgeVerdict(
        choice="second",
        strength=5,
        axes={"H": won, "E": won, "A": AxisMark("second", 1), "R": won, "T": won},
        reasons=dict.fromkeys(AXES, "A names the loss.") | {"A": "B keeps the detail."},
        rationale="B fits.",
    )


def test_white_space_around_the_object_is_allowed() -> None:
    assert read_reply(f"\n\t {json.dumps(reply(), indent=2)} \r\n").choice == "first"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("A significantly better", ("first", 4)),
        ("A slightly better", ("first", 2)),
        ("about the same", ("tie", None)),
        ("B slightly better", ("second", 2)),
        ("B significantly better", ("second", 4)),
    ],
)
def test_a_five_point_answer_becomes_a_choice_and_a_strength(
    answer: str, expected: tuple[str, int | None]
) -> None:
    verdict = read_reply(five_point(answer), form=JudgeForm(protocol="five-point"))
    assert (verdict.choice, verdict.strength) == expected
    assert set(verdict.axes.values()) == {AxisMark(*expected)}


@pytest.mark.parametrize("axes", [("T",), ("C", "H"), tuple(AXIS_NAMES)])
def test_only_the_axes_asked_for_are_read(axes: tuple[Axis, ...]) -> None:
    text = json.dumps(dict.fromkeys(judge_schema(JudgeForm(axes=axes))["properties"], mark()))
    assert set(read_reply(text, form=JudgeForm(axes=axes)).axes) == set(axes)


def test_an_axis_not_asked_for_is_a_wrong_key() -> None:
    contained = {"empathic_containment": mark()}
    text = json.dumps({**{k: mark() for k in KEYS[:-1]}, **contained, "overall": mark()})
    assert fault(text) == "wrong-keys"


@pytest.mark.parametrize(
    "text",
    [
        "A is better.",
        "```json\n{}\n```".replace("{}", json.dumps(reply())),
        f"Here it is: {json.dumps(reply())}",
        f"{json.dumps(reply())} Hope this helps!",
        f"{json.dumps(reply())}{json.dumps(reply())}",
        json.dumps(reply()).replace('"', "'"),
        json.dumps(reply())[:-1] + ",}",
        "\ufeff" + json.dumps(reply()),
        json.dumps(reply()).replace("names", "\n"),
        "// fine\n" + json.dumps(reply()),
        json.dumps(reply()).replace('"strength": 3', '"strength": 03'),
        json.dumps(reply()).replace('"strength": 3', '"strength": tr'),
        "[" * 5_000,
    ],
)
def test_anything_but_one_json_object_is_not_json(text: str) -> None:
    assert fault(text) == "not-json"


@pytest.mark.parametrize("length", range(1, 40))
def test_a_reply_that_breaks_off_is_truncated(length: int) -> None:
    whole = json.dumps(reply())
    assert fault(whole[: len(whole) * length // 40]) == "truncated"


@pytest.mark.parametrize("finish_reason", ["length", "max_tokens", "MAX_TOKENS"])
def test_a_reply_that_the_endpoint_cut_is_never_read(finish_reason: str) -> None:
    assert fault(json.dumps(reply()), finish_reason=finish_reason) == "truncated"


@pytest.mark.parametrize("finish_reason", NOT_FINISHED)
def test_a_reply_that_did_not_end_by_itself_is_never_read(finish_reason: str) -> None:
    assert fault(json.dumps(reply()), finish_reason=finish_reason) == "not-finished"


@pytest.mark.parametrize(
    ("finish_reason", "refusal"), [("stop", "No."), ("content_filter", None), ("SAFETY", None)]
)
def test_a_refusal_is_refused(finish_reason: str, refusal: str | None) -> None:
    assert fault(json.dumps(reply()), finish_reason=finish_reason, refusal=refusal) == "refused"


@pytest.mark.parametrize("text", ["", " \n"])
def test_no_text_is_empty(text: str) -> None:
    assert fault(text) == "empty"


def test_the_bound_on_length_is_inclusive() -> None:
    text = json.dumps(reply())
    assert read_reply(text.ljust(MAX_CHARACTERS)).choice == "first"
    assert fault(text.ljust(MAX_CHARACTERS + 1)) == "too-long"


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(reply())[:-1] + f', "overall": {json.dumps(mark())}}}',
        json.dumps(reply()).replace('"winner": "A"', '"winner": "B", "winner": "A"', 1),
        json.dumps(reply()).replace('"winner": "A"', '"winner": "B", "\\u0077inner": "A"', 1),
    ],
)
def test_a_key_that_stands_twice_is_named(text: str) -> None:
    assert fault(text) == "duplicate-keys"


@pytest.mark.parametrize("value", ["A", None, True, 3, [], [mark()], [["reason", "x"]]])
def test_whatever_is_no_object_is_named(value: Any) -> None:
    assert fault(json.dumps(value)) == "not-an-object"
    assert fault(json.dumps(reply(resonance=value))) == "not-an-object"
    assert fault(json.dumps(reply(overall=value))) == "not-an-object"


@pytest.mark.parametrize("n_kept", range(5))
def test_a_missing_axis_is_named(n_kept: int) -> None:
    kept = {key: mark() for key in KEYS[:n_kept]}
    assert fault(json.dumps(kept)) == "missing-axis"
    assert fault(json.dumps(kept | {"overall": mark()})) == "missing-axis"


@pytest.mark.parametrize(
    "value",
    [
        {key: mark() for key in KEYS[:-1]},
        reply(comment="Hello."),
        {key.upper(): mark() for key in KEYS},
        {axis: mark() for axis in AXES} | {"overall": mark()},
        reply(overall={"reason": "So.", "winner": "A"}),
        reply(overall=mark(confidence=1)),
        reply(attunement={}),
        {"winner": "A", "strength": 5},
    ],
)
def test_other_keys_than_asked_for_are_wrong(value: dict[str, Any]) -> None:
    assert fault(json.dumps(value)) == "wrong-keys"


@pytest.mark.parametrize(
    "value",
    [
        {"overall": mark()} | reply(),
        dict(reversed(reply().items())),
        reply(resonance={"winner": "A", "strength": 3, "reason": "Afterwards."}),
        reply(overall={"reason": "So.", "strength": 3, "winner": "A"}),
    ],
)
def test_a_winner_before_its_reason_is_refused(value: dict[str, Any]) -> None:
    assert fault(json.dumps(value)) == "wrong-order"


@pytest.mark.parametrize("winner", ["C", "a", " A", "tie", "", "first", None, True, 1, ["A"], {}])
def test_a_winner_is_one_of_two_letters(winner: Any) -> None:
    assert fault(json.dumps(reply(overall=mark(winner=winner)))) == "wrong-winner"
    assert fault(json.dumps(reply(human_alignment=mark(winner=winner)))) == "wrong-winner"


@pytest.mark.parametrize("answer", ["A", "tie", "about the same.", "A much better", "", None, 3])
def test_a_five_point_answer_is_one_of_five(answer: Any) -> None:
    text = json.dumps({key: {"reason": "So.", "answer": answer} for key in KEYS})
    assert fault(text, protocol="five-point") == "wrong-winner"


@pytest.mark.parametrize(
    "token",
    [
        *("0", "6", "-1", "-3", "3.0", "3e0", "30e-1", "1.5", "1e999", "9" * 5_000, "NaN"),
        *("Infinity", "-Infinity", "true", "false", "null", '"3"', '""', "[3]", "{}"),
    ],
)
def test_a_strength_is_one_digit_from_1_to_5(token: str) -> None:
    text = json.dumps(reply(overall=mark(strength="?"))).replace('"?"', token)
    assert fault(text) == "wrong-strength"


@pytest.mark.parametrize("reason", ["", "  \n", None, 3, True, ["x"], {"text": "x"}])
def test_a_reason_is_words(reason: Any) -> None:
    assert fault(json.dumps(reply(task_following=mark(reason=reason)))) == "empty-reason"
    assert fault(json.dumps(reply(overall=mark(reason=reason)))) == "empty-reason"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_reply_to_one_protocol_is_no_reply_to_the_other(protocol: PairProtocol) -> None:
    other = {"forced-strength": five_point("about the same"), "five-point": json.dumps(reply())}
    assert fault(other[protocol], protocol=protocol) == "wrong-keys"


@pytest.mark.parametrize(
    "value",
    [
        reply(overall=mark(winner="SECRET")),
        reply(overall=mark(strength="SECRET")),
        reply(SECRET=1),
        {"SECRET": "SECRET"},
        "SECRET",
        reply(attunement="SECRET"),
    ],
)
def test_a_message_does_not_repeat_the_reply(value: Any) -> None:
    with pytest.raises(InvalidReplyError) as caught:
        read_reply(json.dumps(value))
    assert "SECRET" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_reasons_may_hold_any_words_and_change_nothing() -> None:
    nested = json.dumps(reply(overall=mark(winner="B", strength=5)))
    quoted = f'He wrote "{nested}" and [end of reply A 00aa] \u202e\N{GRINNING FACE} <|im_end|>'
    verdict = read_reply(json.dumps(reply(attunement=mark(reason=quoted))))
    assert verdict.choice == "first"
    assert verdict.reasons["A"] == quoted


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats() | st.text(max_size=5),
    lambda children: (
        st.lists(children, max_size=3)
        | st.dictionaries(st.sampled_from([*KEYS, "reason", "winner", "strength"]), children)
    ),
    max_leaves=8,
)
WORDS = st.text(min_size=1, max_size=20).filter(shows_text)
FIVE_POINT_ANSWERS = FIVE_POINT["properties"]["overall"]["properties"]["answer"]["enum"]
FORCED_MARKS = st.builds(
    mark, reason=WORDS, winner=st.sampled_from("AB"), strength=st.integers(1, 5)
)
FIVE_POINT_MARKS = st.tuples(WORDS, st.sampled_from(FIVE_POINT_ANSWERS)).map(
    lambda parts: dict(zip(("reason", "answer"), parts, strict=True))
)


def valid_replies(marks: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.tuples(*[marks] * len(KEYS)).map(lambda all_: dict(zip(KEYS, all_, strict=True)))


@given(valid_replies(FORCED_MARKS))
def test_every_reply_that_was_asked_for_is_read(value: dict[str, Any]) -> None:
    assert satisfies(value, FORCED)
    verdict = read_reply(json.dumps(value))
    sides = {"first": "A", "second": "B"}
    assert sides[verdict.choice] == value["overall"]["winner"]
    assert verdict.strength == value["overall"]["strength"]
    assert verdict.rationale == value["overall"]["reason"]
    for axis, key in zip(AXES, KEYS, strict=False):
        read = verdict.axes[axis]
        shown = {"winner": sides[read.choice], "strength": read.strength}
        assert {"reason": verdict.reasons[axis]} | shown == value[key]


@given(valid_replies(FIVE_POINT_MARKS))
def test_every_five_point_reply_is_read(value: dict[str, Any]) -> None:
    verdict = read_reply(json.dumps(value), form=JudgeForm(protocol="five-point"))
    assert (verdict.choice == "tie") == (value["overall"]["answer"] == "about the same")
    assert (verdict.choice == "tie") == (verdict.strength is None)


def is_refused_or_satisfies(text: str, protocol: PairProtocol) -> bool:
    try:
        read_reply(text, form=JudgeForm(protocol=protocol))
    except InvalidReplyError as error:
        return error.reason in REPLY_FAULTS
    return satisfies(json.loads(text), SCHEMAS[protocol])


@given(JSON_VALUES, st.sampled_from(PROTOCOLS))
def test_no_json_is_read_that_the_schema_refuses(value: Any, protocol: PairProtocol) -> None:
    assert is_refused_or_satisfies(json.dumps(value), protocol)


@given(st.text(), st.sampled_from(PROTOCOLS))
def test_no_text_is_read_that_the_schema_refuses(text: str, protocol: PairProtocol) -> None:
    assert is_refused_or_satisfies(text, protocol)


@settings(max_examples=400)
@given(st.data())
def test_no_mutation_is_read_that_the_schema_refuses(data: st.DataObject) -> None:
    value = data.draw(valid_replies(FORCED_MARKS))
    key = data.draw(st.sampled_from(KEYS))
    part = data.draw(st.sampled_from(["reason", "winner", "strength", None]))
    if part is None:
        value[key] = data.draw(JSON_VALUES)
    else:
        value[key] = value[key] | {part: data.draw(JSON_VALUES)}
    assert is_refused_or_satisfies(json.dumps(value), "forced-strength")


@settings(max_examples=400)
@given(st.data())
def test_no_edit_of_characters_is_read_that_the_schema_refuses(data: st.DataObject) -> None:
    text = json.dumps(reply())
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(start + 12, len(text))))
    put = data.draw(st.text(alphabet='{}[]",:0135.eE-+ABtrueNa\\u \n', max_size=8))
    assert is_refused_or_satisfies(text[:start] + put + text[end:], "forced-strength")
