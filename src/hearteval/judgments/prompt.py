"""What an LLM judge is sent: a conversation and one or two texts become messages (HEART 9.5, 9.6).

Two texts are compared; one is rated by itself (the second source, SPEC section 5). A judge sees the
conversation and the texts, and nothing that says whose they are: no ids, names, families, labels of
the item, nor its reference. The system message is the same for all; texts stand between marker
lines in the user message, in the form that the study shows (`hearteval.domain.display`), never
shortened. The code of the markers is a
hash of the study's seed and of what is judged, whose id depends on the texts: whoever writes a
completion cannot foresee it.

Judges answer with strict JSON: enums only, the reason before the mark. Axes go by their names, not
their letters: ``A`` is Attunement here and a side there. Objects are closed and all keys required,
in the order in which they stand. Text has no bounds unless asked for: some back ends drop them, so
`judgments.reply` checks again.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from hearteval.domain import (
    OVERALL,
    Axis,
    JsonObject,
    Turn,
    content_hash,
    display_name,
)
from hearteval.judgments.form import USUAL, JudgeForm, JudgeProtocol
from hearteval.protocol import load_protocol
from hearteval.protocol.markers import Message, ask_again, marked_material
from hearteval.protocol.strict_json import closed_object

NEITHER = "neither"
"""The winner of an axis whose mark is left out."""
SIDES = ("A", "B")
"""What the two texts are called."""
MARKS: Mapping[JudgeProtocol, JsonObject] = {
    "forced-strength": {
        "reason": {"type": "string"},
        "winner": {"type": "string", "enum": [*SIDES]},
        "strength": {"type": "integer", "enum": [1, 2, 3, 4, 5]},
    },
    "five-point": {
        "reason": {"type": "string"},
        "answer": {
            "type": "string",
            "enum": [
                "A significantly better",
                "A slightly better",
                "about the same",
                "B slightly better",
                "B significantly better",
            ],
        },
    },
    "rating": {
        "comment": {"type": "string"},
        "score": {"type": "integer", "enum": [1, 2, 3, 4, 5]},
    },
}
"""By protocol, what stands under an axis; the order of the keys is the order asked for."""

_STAND_IN_CODE = "0123456789abcdef"
_STAND_IN_TURNS = (Turn(role="supporter", text="One."), Turn(role="seeker", text="Two."))
_STAND_IN_TEXTS = ("Three.", "Four.")


def judge_messages(
    context: Sequence[Turn],
    *texts: str,
    nonce: str,
    form: JudgeForm = USUAL,
) -> tuple[Message, ...]:
    """Write the messages that ask which of two texts is the better next turn, or how good one is.

    The texts are those shown as A and B, or the one to rate; `nonce` is from `delimiter_nonce`.

    Raises:
        ValueError: The code stands in one of the texts, or there are not as many texts as the
            protocol shows.
    """
    prompt = load_protocol("judge_prompt", form.language)
    layout = prompt["layout"]
    if form.protocol == "rating":
        question = load_protocol("rating_prompt", form.language)
        labels = [question["part"]]
    else:
        question = prompt[form.protocol]
        labels = [layout["first"], layout["second"]]
    user = (
        *marked_material(context, labels, texts, nonce=nonce, layout=layout),
        question["question"],
    )
    return (("system", _system_text(form)), ("user", "\n\n".join(user)))


def repair_messages(
    messages: Sequence[Message], fault: str, form: JudgeForm = USUAL
) -> tuple[Message, ...]:
    """Write the one request to repair; as `ask_again`. The fault is one of `REPLY_FAULTS`."""
    return ask_again(messages, fault, load_protocol("judge_prompt", form.language)["repair"])


def judge_prompt_hash(form: JudgeForm = USUAL) -> str:
    """Return the hash of all that a judge is shown: prompt, form of replies, schema, repair.

    What is not rendered is no part of it: an axis nobody is asked about, words of another protocol.
    """
    texts = _STAND_IN_TEXTS[:1] if form.protocol == "rating" else _STAND_IN_TEXTS
    return content_hash(
        {
            "rendered": judge_messages(_STAND_IN_TURNS, *texts, nonce=_STAND_IN_CODE, form=form),
            "display": display_name(form.display),
            "schema": judge_schema(form),
            "repair": load_protocol("judge_prompt", form.language)["repair"],
        }
    )


def judge_schema(form: JudgeForm, *, max_reason_characters: int | None = None) -> dict[str, Any]:
    """Return the schema of a judge's reply: a mark for each axis, then, of two texts, one overall.

    A bound on each reason is for endpoints that keep it: a small model held to a grammar may never
    end a text that has none. Others refuse or drop bounds.
    """
    overall = closed_object(_bounded(MARKS[form.protocol], max_reason_characters))
    axis = overall
    if form.marks == "optional":
        winner = {"type": "string", "enum": [*SIDES, NEITHER]}
        open_mark = {**MARKS[form.protocol], "winner": winner}
        axis = closed_object(_bounded(open_mark, max_reason_characters))
    return closed_object({key: overall if key == OVERALL else axis for key in form.reply_keys})


@cache
def _system_text(form: JudgeForm) -> str:
    """Write what is the same for all that a judge is asked."""
    pair_prompt = load_protocol("judge_prompt", form.language)
    is_rating = form.protocol == "rating"
    prompt = load_protocol("rating_prompt", form.language) if is_rating else pair_prompt
    question = prompt if is_rating else prompt[form.protocol]
    parts = (
        prompt["role"],
        prompt["data"],
        pair_prompt["axes_heading"],
        "\n\n".join(_axis_text(axis, form) for axis in form.axes),
        prompt["weighing"],
        question[_answer(form)],
        question["optional"] if form.marks == "optional" else "",
        _form_text(form, question),
    )
    return "\n\n".join(filter(None, (part.strip() for part in parts)))


def _answer(form: JudgeForm) -> str:
    """Return which of a protocol's texts says how to answer."""
    if form.is_alone:
        return "answer_alone"
    return "answer" if form.marked else "answer_overall"


def _axis_text(axis: Axis, form: JudgeForm) -> str:
    """Write one axis of the rubric: anchor, sub-criteria, one high and one low example.

    Who rates is told what each score stands for besides.
    """
    rubric = form.texts[axis]
    layout = load_protocol("judge_prompt", form.language)["layout"]
    criteria = (f"- {criterion['name']}: {criterion['text']}" for criterion in rubric["criteria"])
    levels = enumerate(rubric["levels"] if form.protocol == "rating" else (), start=1)
    return "\n".join(
        (
            f"{form.axis_names[axis]} (key {form.key_of(axis)}). {rubric['anchor']}",
            *criteria,
            f"{layout['seeker']} {rubric['seeker']}",
            f"{layout['high']} {rubric['high']}",
            f"{layout['low']} {rubric['low']}",
            *(f"{score}: {text}" for score, text in levels),
        )
    )


def _form_text(form: JudgeForm, question: Mapping[str, Any]) -> str:
    """Write the object that a judge must reply with, a line a key."""
    sample = question["sample"]
    of_axis = question["optional_sample"] if form.marks == "optional" else sample
    marks = ((key, sample if key == OVERALL else of_axis) for key in form.reply_keys)
    lines = ",\n".join(f'"{key}": {mark}' for key, mark in marks)
    layout = load_protocol("judge_prompt", form.language)["layout"]
    return f"{layout['format']}\n{{{lines}}}"


def _bounded(properties: JsonObject, max_characters: int | None) -> JsonObject:
    if max_characters is None:
        return properties
    bounds = {"minLength": 1, "maxLength": max_characters}
    return {key: part if "enum" in part else part | bounds for key, part in properties.items()}
