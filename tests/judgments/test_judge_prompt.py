import re
from collections.abc import Iterator
from copy import deepcopy
from itertools import pairwise, permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_records import made_item
from small_world import NOW

from hearteval.domain import (
    AXES,
    AXIS_NAMES,
    Assignment,
    Axis,
    Completion,
    Pair,
    Rater,
    System,
    Turn,
    axis_key,
)
from hearteval.errors import InvalidReplyError
from hearteval.judgments import prompt
from hearteval.judgments.form import (
    PAPER,
    RATED,
    USUAL,
    JudgeForm,
    JudgeProtocol,
    PairProtocol,
    rubric_of,
)
from hearteval.judgments.prompt import (
    judge_messages,
    judge_prompt_hash,
    judge_schema,
    repair_messages,
)
from hearteval.judgments.reply import REPLY_FAULTS
from hearteval.protocol import load_protocol
from hearteval.protocol.markers import between_markers, delimiter_nonce

NONCE = "00aa11bb22cc33dd"
CONTEXT = (
    Turn(role="supporter", text="What happened?"),
    Turn(role="seeker", text="The band goes on tour without me."),
)
FIRST = "Ouch, after all those rehearsals. Did they tell you why?"
SECOND = "There will be other bands."
PROTOCOLS: tuple[PairProtocol, ...] = ("forced-strength", "five-point")
ALL_AXES: tuple[Axis, ...] = tuple(AXIS_NAMES)


def user_text(first: str = FIRST, second: str = SECOND, *, nonce: str = NONCE) -> str:
    return judge_messages(CONTEXT, first, second, nonce=nonce)[-1][1]


def system_text(axes: tuple[Axis, ...] = AXES, protocol: PairProtocol = "forced-strength") -> str:
    return judge_messages(
        CONTEXT, "x", "y", nonce=NONCE, form=JudgeForm(axes=axes, protocol=protocol)
    )[0][1]


def test_a_system_and_a_user_message_are_sent() -> None:
    assert [role for role, _ in judge_messages(CONTEXT, FIRST, SECOND, nonce=NONCE)] == [
        "system",
        "user",
    ]


def test_user_message_holds_the_conversation_and_both_texts_between_markers() -> None:
    assert user_text() == (
        "The code of the markers is 00aa11bb22cc33dd.\n\n"
        "[conversation 00aa11bb22cc33dd]\n"
        "Supporter: What happened?\n"
        "Seeker: The band goes on tour without me.\n"
        "[end of conversation 00aa11bb22cc33dd]\n\n"
        "[reply A 00aa11bb22cc33dd]\n"
        f"{FIRST}\n"
        "[end of reply A 00aa11bb22cc33dd]\n\n"
        "[reply B 00aa11bb22cc33dd]\n"
        f"{SECOND}\n"
        "[end of reply B 00aa11bb22cc33dd]\n\n"
        "Which reply is the better next turn, A or B?"
    )


@given(st.text(), st.text())
def test_swapping_the_texts_swaps_their_places_and_nothing_else(one: str, other: str) -> None:
    def sides(text: str) -> list[str]:
        return re.split(r"\[(?:end of )?reply [AB] 00aa11bb22cc33dd\]", text)

    before, first, between, second, after = sides(user_text(one, other))
    assert sides(user_text(other, one)) == [before, second, between, first, after]


@given(st.text())
def test_a_text_is_never_changed(text: str) -> None:
    assert f"[reply A {NONCE}]\n{text}\n[end of reply A {NONCE}]" in user_text(text)


def test_system_message_is_the_same_for_all_pairs() -> None:
    one = judge_messages(CONTEXT, FIRST, SECOND, nonce=NONCE)[0]
    other = judge_messages(CONTEXT[1:], "A", "B", nonce="ffffffffffffffff")[0]
    assert one == other


@pytest.mark.parametrize("axis", ALL_AXES)
def test_a_judge_sees_the_whole_rubric_of_an_axis(axis: Axis) -> None:
    text = system_text(axes=(axis,))
    rubric = load_protocol("rubric")[axis]
    assert AXIS_NAMES[axis] in text
    for part in (rubric["anchor"], rubric["seeker"], rubric["high"], rubric["low"]):
        assert part in text
    for criterion in rubric["criteria"]:
        assert f"{criterion['name']}: {criterion['text']}" in text


@pytest.mark.parametrize("language", ["en", "de"])
def test_a_judge_is_shown_both_meanings_that_the_paper_has_for_resonance(language: str) -> None:
    form = JudgeForm(rubric=PAPER, language=language)
    ((_, text), _) = judge_messages(CONTEXT, FIRST, SECOND, nonce=NONCE, form=form)
    rubric = load_protocol("rubric_paper", language)
    ours = load_protocol("rubric", language)
    assert all(rubric[axis]["anchor"] in text for axis in AXES)
    assert not any(ours[axis]["anchor"] in text for axis in AXES)
    assert len(rubric["R"]["criteria"]) == 2
    for (where, one), part in zip(
        (criterion.values() for criterion in rubric["R"]["criteria"]),
        ("(Table 2)", "(4.1)"),
        strict=True,
    ):
        assert where.endswith(part)
        assert f"- {where}: {one}" in text


def test_the_rubric_of_the_paper_makes_another_judge_and_says_so() -> None:
    of_paper = JudgeForm(rubric=PAPER)
    assert judge_prompt_hash(of_paper) != judge_prompt_hash(USUAL)
    told = [USUAL, of_paper, JudgeForm(rubric="[H]")]
    asked = [{**form.settings, "prompt_hash": "0"} for form in told]
    assert [*map(rubric_of, asked)] == ["hearteval", "paper", "own"]
    assert rubric_of(USUAL.settings) is None
    assert rubric_of({"judge": "cue", "prompt_hash": "0"}) is None


def test_containment_is_off_by_default() -> None:
    assert AXIS_NAMES["C"] not in system_text()
    assert AXIS_NAMES["C"] in system_text(axes=ALL_AXES)


@pytest.mark.parametrize("axis", ALL_AXES)
def test_examples_do_not_teach_that_longer_is_better(axis: Axis) -> None:
    rubric = load_protocol("rubric")[axis]
    assert 0.8 < len(rubric["low"]) / len(rubric["high"]) < 1.25


def test_unsafe_replies_weigh_down_and_limits_count_under_task_following() -> None:
    weighing = load_protocol("judge_prompt")["weighing"]
    assert "Unsafe or out-of-scope" in weighing
    assert weighing.count("under Task-following") == 2


def test_only_the_five_point_protocol_speaks_of_a_tie() -> None:
    assert "no ties" in system_text()
    assert "about the same" not in system_text()
    assert "about the same" in system_text(protocol="five-point")


def test_keys_stand_in_the_prompt_in_the_order_of_the_schema() -> None:
    text = system_text(axes=("T", "H", "C"))
    keys = list(judge_schema(JudgeForm(axes=("H", "T", "C")))["properties"])
    assert keys == ["human_alignment", "task_following", "empathic_containment", "overall"]
    places = [text.index(f'"{key}":') for key in keys]
    assert places == sorted(places)


IDENTITIES = st.lists(
    st.text(alphabet="qxzjvkw", min_size=6, max_size=12), min_size=9, max_size=9, unique=True
)


@given(names=IDENTITIES, texts=st.lists(st.text(min_size=1), min_size=2, max_size=2, unique=True))
def test_no_prompt_says_whose_the_texts_are(names: list[str], texts: list[str]) -> None:
    texts = [f"reply {index}: {text}" for index, text in enumerate(texts)]
    item = made_item(
        source=names[0],
        dialogue_id=names[1],
        situation=names[2],
        context=CONTEXT,
        emotion=names[3],
        problem=names[4],
        reference=names[5],
    )
    model = System(name=names[6], kind="model", family=names[7])
    people = System(name="the people", kind="human", family="human")
    one = Completion(item_id=item.id, system_id=model.id, text=texts[0], created_at=NOW)
    other = Completion(
        item_id=item.id, system_id=people.id, text=texts[1], writer_id=names[8], created_at=NOW
    )
    pair = Pair(item_id=item.id, completion_ids=(one.id, other.id))
    rater = Rater(name="a judge", kind="llm", family="ours")
    assignment = Assignment(
        study_id="ab", pair_id=pair.id, rater_id=rater.id, first_completion_id=one.id
    )
    nonce = delimiter_nonce(7, assignment.id, [one.text, other.text])
    sent = [
        *judge_messages(item.context, one.text, other.text, nonce=nonce),
        *judge_messages(item.context, one.text, nonce=nonce, form=RATED),
    ]
    seen = "\n".join(content for _, content in sent)
    for text in texts:
        seen = seen.replace(text, "")
    records = (item, model, people, one, other, pair, rater, assignment)
    for hidden in (*names, *(record.id for record in records)):
        assert hidden not in seen


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_words_of_the_prompt_name_no_kind_of_author(protocol: PairProtocol) -> None:
    words = set(re.findall(r"[a-z]+", system_text(axes=ALL_AXES, protocol=protocol).lower()))
    authors = {"model", "models", "ai", "llm", "gpt", "claude", "gemini", "llama", "kimi"}
    assert not words & (authors | {"polaris", "assistant", "writer", "baseline", "system"})


def test_nonce_depends_on_seed_and_assignment() -> None:
    nonces = {delimiter_nonce(seed, name, []) for seed in (1, 2) for name in ("a", "b")}
    assert len(nonces) == 4
    assert all(re.fullmatch("[0-9a-f]{16}", nonce) for nonce in nonces)


def test_nonce_is_the_same_again() -> None:
    assert delimiter_nonce(1, "a", ["x"]) == delimiter_nonce(1, "a", ["y"])


@pytest.mark.parametrize("write", [str, str.upper])
def test_a_text_that_holds_the_nonce_gets_another(write: type[str]) -> None:
    first = delimiter_nonce(1, "a", [])
    second = delimiter_nonce(1, "a", [write(first)])
    third = delimiter_nonce(1, "a", ["", f"so {write(first)}{second}"])
    assert len({first, second, third}) == 3


@pytest.mark.parametrize("text", [f"x {NONCE}", NONCE.upper()])
def test_markers_refuse_a_text_that_holds_their_code(text: str) -> None:
    with pytest.raises(ValueError, match="choose another code"):
        between_markers("reply A", text, nonce=NONCE)


@pytest.mark.parametrize("axes", [(), ("H", "H"), ("H", "X")])
def test_axes_that_are_not_axes_are_refused(axes: tuple[Axis, ...]) -> None:
    with pytest.raises(ValueError, match="axes must be"):
        JudgeForm(axes=axes)


def test_order_of_the_axes_asked_for_changes_nothing() -> None:
    three: tuple[Axis, ...] = ("H", "A", "C")
    assert len({system_text(axes=axes) for axes in permutations(three)}) == 1
    assert len({judge_prompt_hash(JudgeForm(axes=axes)) for axes in permutations(three)}) == 1


@pytest.mark.parametrize("reason", REPLY_FAULTS)
def test_a_repair_names_the_fault_under_the_same_question(reason: str) -> None:
    asked = judge_messages(CONTEXT, FIRST, SECOND, nonce=NONCE)
    error = InvalidReplyError("BAD WORDS OF THE REPLY", reason=reason)
    system, (role, content) = repair_messages(asked, error.reason)
    assert (system, role) == (asked[0], "user")
    note = content.removeprefix(asked[1][1])
    shared = load_protocol("replies")["repair"]
    assert {**load_protocol("judge_prompt")["repair"]["errors"], **shared}[reason] in note
    assert "BAD WORDS" not in content


def test_repairs_of_different_faults_differ() -> None:
    errors = {
        **load_protocol("judge_prompt")["repair"]["errors"],
        **load_protocol("replies")["repair"],
    }
    assert set(errors) == set(REPLY_FAULTS)
    assert all(one != other for one, other in pairwise(sorted(errors.values())))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_schema_uses_enums_and_closed_objects_only(protocol: PairProtocol) -> None:
    for schema in (
        judge_schema(JudgeForm(axes=ALL_AXES, protocol=protocol)),
        judge_schema(JudgeForm(axes=ALL_AXES, protocol="rating")),
    ):
        for mark in schema["properties"].values():
            assert mark["additionalProperties"] is False
            assert mark["required"] == list(mark["properties"])
            for value in mark["properties"].values():
                assert set(value) <= {"type", "enum"}


def test_only_reasons_have_bounds_and_only_where_asked_for() -> None:
    mark = judge_schema(JudgeForm(protocol="five-point"), max_reason_characters=200)["properties"][
        "overall"
    ]
    assert mark["properties"]["reason"] == {"type": "string", "minLength": 1, "maxLength": 200}
    assert "maxLength" not in mark["properties"]["answer"]
    score = judge_schema(JudgeForm(axes=("T",), protocol="rating"), max_reason_characters=9)[
        "properties"
    ]["task_following"]
    assert score["properties"]["comment"]["maxLength"] == 9
    assert score["properties"]["score"]["enum"] == [1, 2, 3, 4, 5]


def test_schema_asks_for_each_reason_before_its_winner_and_for_overall_last() -> None:
    schema = judge_schema(USUAL)
    assert schema["required"] == [axis_key(axis) for axis in AXES] + ["overall"]
    for mark in schema["properties"].values():
        assert mark["required"] == ["reason", "winner", "strength"]
        assert mark["properties"]["winner"]["enum"] == ["A", "B"]
        assert mark["properties"]["strength"]["enum"] == [1, 2, 3, 4, 5]


def test_every_setting_has_a_prompt_hash_of_its_own() -> None:
    hashes = [
        *(
            judge_prompt_hash(JudgeForm(axes=axes, protocol=p))
            for axes in (AXES, ALL_AXES)
            for p in PROTOCOLS
        ),
        *(judge_prompt_hash(JudgeForm(axes=axes, protocol="rating")) for axes in (AXES, ALL_AXES)),
        judge_prompt_hash(JudgeForm(display="plain")),
    ]
    assert len(set(hashes)) == 7


FORMS = [
    JudgeForm(),
    JudgeForm(axes=("E", "A")),
    JudgeForm(marks="optional"),
    JudgeForm(protocol="five-point", marks="off"),
    RATED,
]
"""None asks about C."""


def change(monkeypatch: pytest.MonkeyPatch, name: str, *path: str) -> None:
    """Have one text of a protocol file read otherwise from here on."""
    changed = deepcopy(load_protocol(name))
    at = changed
    for part in path[:-1]:
        at = at[part]
    at[path[-1]] += " Anew."

    def load(asked: str, language: str = "en") -> dict[str, Any]:
        return changed if asked == name else load_protocol(asked, language)

    monkeypatch.setattr("hearteval.judgments.form.load_protocol", load)
    monkeypatch.setattr(prompt, "load_protocol", load)
    prompt._system_text.cache_clear()


@pytest.fixture
def _fresh_prompts() -> Iterator[None]:
    """Write no prompt of a changed text once the test is over."""
    yield
    prompt._system_text.cache_clear()


@pytest.mark.usefixtures("_fresh_prompts")
@pytest.mark.parametrize(
    ("name", "path"),
    [("rubric", ["C", "anchor"]), ("judge_prompt", ["five-point", "answer_alone"])],
)
def test_what_nobody_is_asked_makes_no_other_judge(
    name: str, path: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = [judge_prompt_hash(one) for one in FORMS]
    change(monkeypatch, name, *path)
    assert [judge_prompt_hash(one) for one in FORMS] == before


@pytest.mark.usefixtures("_fresh_prompts")
@pytest.mark.parametrize("path", [["E", "anchor"], ["E", "high"]])
def test_another_word_of_an_axis_makes_another_judge_of_those_asked_about_it(
    path: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before, others = [judge_prompt_hash(one) for one in FORMS], JudgeForm(axes=("H", "R"))
    of_others = judge_prompt_hash(others)
    change(monkeypatch, "rubric", *path)
    assert not {judge_prompt_hash(one) for one in FORMS} & {*before}
    assert judge_prompt_hash(others) == of_others


@pytest.mark.usefixtures("_fresh_prompts")
def test_another_request_to_repair_makes_another_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    before = judge_prompt_hash()
    change(monkeypatch, "judge_prompt", "repair", "note")
    assert judge_prompt_hash() != before


def test_examples_teach_neither_questions_nor_their_absence() -> None:
    examples = [load_protocol("rubric")[axis] for axis in AXIS_NAMES]
    for kind in ("high", "low"):
        assert sum("?" in example[kind] for example in examples) == len(examples) / 2
    # Formality, as far as contractions show it, is on neither side.
    plain = [sum("'" in example[kind] for example in examples) for kind in ("high", "low")]
    assert abs(plain[0] - plain[1]) <= 1


@pytest.mark.parametrize("axis", AXIS_NAMES)
def test_a_rating_says_what_each_score_stands_for(axis: Axis) -> None:
    levels = load_protocol("rubric")[axis]["levels"]
    assert len(set(levels)) == 5
    ((_, rated), _) = judge_messages(
        CONTEXT, FIRST, nonce=NONCE, form=JudgeForm(axes=(*AXES, "C"), protocol="rating")
    )
    ((_, compared), _) = judge_messages(
        CONTEXT, FIRST, SECOND, nonce=NONCE, form=JudgeForm(axes=(*AXES, "C"))
    )
    assert all(f"{score}: {text}" in rated for score, text in enumerate(levels, start=1))
    assert not any(text in compared for text in levels)


def test_judges_are_told_one_sentence_about_the_task() -> None:
    told = "Such a turn is meant to be one to three sentences long."
    asked: list[tuple[JudgeProtocol, int]] = [
        ("five-point", 2),
        ("forced-strength", 2),
        ("rating", 1),
    ]
    for protocol, n in asked:
        shown = (FIRST, SECOND)[:n]
        ((_, system), _) = judge_messages(
            CONTEXT, *shown, nonce=NONCE, form=JudgeForm(protocol=protocol)
        )
        assert system.count(told) == 1
        assert "brief" not in system.lower()


def test_a_rating_shows_one_text_and_the_rubric() -> None:
    (_, system), (_, user) = judge_messages(CONTEXT, FIRST, nonce=NONCE, form=RATED)
    assert f"[reply {NONCE}]\n{FIRST}\n[end of reply {NONCE}]" in user
    assert all(load_protocol("rubric")[axis]["anchor"] in system for axis in AXES)
    assert '"human_alignment": {"comment": "…", "score": 1, 2, 3, 4 or 5}' in system
