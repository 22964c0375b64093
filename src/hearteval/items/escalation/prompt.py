"""What the two models of an escalation are sent, and the schemas of their replies.

The one that rewrites sees the situation, the conversation, the curve and the kind of resistance,
and gives the seeker's turns alone: the supporter's cannot change. The one that reads sees the
rewritten conversation and nothing that says it was rewritten. Material stands between marker lines,
as data.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from hearteval.domain import Turn
from hearteval.domain.items import MOST_INTENSE
from hearteval.items.escalation.plan import Planned, seeker_turns
from hearteval.protocol import load_protocol
from hearteval.protocol.markers import Message, ask_again, between_markers, delimiter_nonce
from hearteval.protocol.strict_json import closed_object

EVIDENCE, INTENSITY, FITS = "evidence", "intensity", "fits"
OF_SEEKER, OF_SUPPORTER = (EVIDENCE, INTENSITY), (EVIDENCE, FITS)
ANSWERS = ("yes", "no", "uncertain")


def turn_key(place: int) -> str:
    """Return what replies call the turn at a place from 0."""
    return f"turn_{place + 1}"


def read_turns(context: Sequence[Turn]) -> tuple[int, ...]:
    """Return the places a reader is asked about: all from the seeker's first turn on."""
    return tuple(range(seeker_turns(context)[0], len(context)))


def rewrite_messages(planned: Planned, *, seed: int, fault: str = "") -> tuple[Message, ...]:
    """Write the messages that ask for a rewrite; with a `fault`, those that ask once more."""
    prompt = load_protocol("escalation")
    context, situation = planned.source.context, planned.source.situation
    kind = prompt["resistance"][planned.resistance]
    places = planned.seeker_turns
    steps = "; ".join(
        prompt["step"].format(number=place + 1, intensity=intensity)
        for place, intensity in zip(places, planned.intensities, strict=True)
    )
    nonce = delimiter_nonce(seed, planned.id, [situation, *(turn.text for turn in context)])
    told = [between_markers(prompt["situation"], situation, nonce=nonce)] if situation else []
    material = (
        *told,
        _conversation(context, prompt, nonce=nonce),
        prompt["kind"].format(**kind),
        prompt["curve"].format(steps=steps),
    )
    samples = [prompt["sample"].format(key=turn_key(place)) for place in places]
    return _messages(prompt, samples, material, nonce=nonce, fault=fault)


def reading_messages(
    context: Sequence[Turn], rewrite_id: str, *, seed: int, fault: str = ""
) -> tuple[Message, ...]:
    """Write the messages that ask how strongly a seeker resists; with a `fault`, once more."""
    prompt = load_protocol("escalation_reader")
    samples = [
        prompt["seeker_sample" if context[place].role == "seeker" else "supporter_sample"].format(
            key=turn_key(place)
        )
        for place in read_turns(context)
    ]
    nonce = delimiter_nonce(seed, rewrite_id, [turn.text for turn in context])
    material = [_conversation(context, prompt, nonce=nonce)]
    return _messages(prompt, samples, material, nonce=nonce, fault=fault)


def rewrite_schema(context: Sequence[Turn], *, max_characters: int | None = None) -> dict[str, Any]:
    """Return the schema of a rewrite: a text for each turn of the seeker's.

    A bound on texts is for endpoints that keep it, as in `judge_schema`.
    """
    return closed_object(
        {turn_key(place): _text(max_characters) for place in seeker_turns(context)}
    )


def reading_schema(context: Sequence[Turn], *, max_characters: int | None = None) -> dict[str, Any]:
    """Return the schema of a reading; as `rewrite_schema`."""
    evidence = _text(max_characters)
    intensity = {"type": "integer", "enum": [*range(MOST_INTENSE + 1)]}
    seeker = closed_object({EVIDENCE: evidence, INTENSITY: intensity})
    supporter = closed_object({EVIDENCE: evidence, FITS: {"type": "string", "enum": [*ANSWERS]}})
    by_role = {"seeker": seeker, "supporter": supporter}
    return closed_object(
        {turn_key(place): by_role[context[place].role] for place in read_turns(context)}
    )


def _messages(
    prompt: Mapping[str, Any],
    samples: Sequence[str],
    material: Sequence[str],
    *,
    nonce: str,
    fault: str,
) -> tuple[Message, ...]:
    keys = ",\n".join(samples)
    system = (
        prompt["role"],
        prompt["data"],
        prompt["rules"],
        f"{prompt['format']}\n{{{keys}}}",
    )
    code = load_protocol("judge_prompt")["layout"]["code"].format(code=nonce)
    user = (code, *material, prompt["question"])
    messages: tuple[Message, ...] = (("system", _joined(system)), ("user", _joined(user)))
    return ask_again(messages, fault, prompt["repair"]) if fault else messages


def _conversation(context: Sequence[Turn], prompt: Mapping[str, Any], *, nonce: str) -> str:
    text = "\n".join(
        prompt["turn"].format(number=number, role=turn.role, text=turn.text)
        for number, turn in enumerate(context, start=1)
    )
    return between_markers(prompt["conversation"], text, nonce=nonce)


def _joined(parts: Sequence[str]) -> str:
    return "\n\n".join(part.strip() for part in parts)


def _text(max_characters: int | None) -> dict[str, Any]:
    bound = {} if max_characters is None else {"maxLength": max_characters}
    return {"type": "string", **bound}
