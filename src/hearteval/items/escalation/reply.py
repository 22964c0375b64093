"""Replies of the two models, strict JSON, become what they say, or `InvalidReplyError`.

As with judges and labelers nothing is guessed: a reply that is not exactly what was asked is no
rewrite, or no reading. What a reader quotes has to stand in the turn that it comes from.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

from hearteval.domain import Turn, plain_text, shows_text
from hearteval.domain.items import MOST_INTENSE
from hearteval.errors import InvalidReplyError
from hearteval.items.escalation.checks import Fit, Reading
from hearteval.items.escalation.plan import Planned
from hearteval.items.escalation.prompt import (
    EVIDENCE,
    FITS,
    INTENSITY,
    OF_SEEKER,
    OF_SUPPORTER,
    read_turns,
    turn_key,
)
from hearteval.models.base import Reply
from hearteval.protocol import load_protocol
from hearteval.protocol.strict_json import (
    Number,
    ObjectFault,
    kind_of,
    read_object,
    require_keys,
    require_object,
)

RewriteFault = ObjectFault | Literal["not-text"]
ReadingFault = (
    ObjectFault
    | Literal[
        "wrong-intensity", "wrong-fit", "wrong-evidence", "no-evidence", "evidence-not-in-text"
    ]
)
_INTENSITIES = {str(number): number for number in range(MOST_INTENSE + 1)}


def read_rewrite(reply: Reply, planned: Planned) -> tuple[Turn, ...]:
    """Return the context of a source with its seeker turns as a reply has them.

    White space becomes single spaces; nothing else is changed.

    Raises:
        InvalidReplyError: The reply cannot be used; `reason` is a `RewriteFault`.
    """
    bounds = load_protocol("escalation")["bounds"]
    found = _read(reply, bounds["max_characters"])
    keys = {turn_key(place): place for place in planned.seeker_turns}
    require_keys(found, [*keys], "the reply")
    texts: dict[int, str] = {}
    for key, place in keys.items():
        value = found[key]
        if not isinstance(value, str) or not shows_text(value) or len(value) > bounds["max_turn"]:
            words = f"{key} must be text of at most {bounds['max_turn']} characters"
            raise _invalid("not-text", f"{words}, not {kind_of(value)}")
        texts[place] = " ".join(value.split())
    return tuple(
        Turn(role=turn.role, text=texts.get(place, turn.text))
        for place, turn in enumerate(planned.source.context)
    )


def read_reading(reply: Reply, context: Sequence[Turn], *, by: str) -> Reading:
    """Return what a reader, called `by`, says of a conversation.

    Raises:
        InvalidReplyError: The reply cannot be used; `reason` is a `ReadingFault`.
    """
    bounds = load_protocol("escalation_reader")["bounds"]
    found = _read(reply, bounds["max_characters"])
    places = read_turns(context)
    require_keys(found, [turn_key(place) for place in places], "the reply")
    intensities: dict[int, int] = {}
    fits: dict[int, Fit] = {}
    evidence: dict[int, str] = {}
    for place in places:
        key = turn_key(place)
        one = require_object(found[key], key)
        is_seeker = context[place].role == "seeker"
        require_keys(one, OF_SEEKER if is_seeker else OF_SUPPORTER, key)
        if is_seeker:
            intensities[place] = _read_intensity(one[INTENSITY], key)
            may_be_empty = intensities[place] <= bounds["no_evidence"]
        else:
            fits[place] = _read_fit(one[FITS], key)
            may_be_empty = fits[place] == "uncertain"
        said_at = place if is_seeker else place - 1
        text = plain_text(context[said_at].text)
        evidence[place] = _read_evidence(one, key, text, most=bounds["max_evidence"])
        if not may_be_empty and not shows_text(evidence[place]):
            raise _invalid("no-evidence", f"{key} has no evidence")
    return Reading(intensities=intensities, fits=fits, evidence=evidence, by=by)


def _read(reply: Reply, most: int) -> dict[str, Any]:
    return read_object(
        reply.text,
        max_characters=most,
        finish_reason=reply.finish_reason,
        refusal=reply.refusal,
    )


def _read_intensity(value: Any, key: str) -> int:
    if not isinstance(value, Number) or value.token not in _INTENSITIES:
        words = f"{key}.{INTENSITY} must be a whole number from 0 to {MOST_INTENSE}"
        raise _invalid("wrong-intensity", f"{words}, not {kind_of(value)}")
    return _INTENSITIES[value.token]


def _read_fit(value: Any, key: str) -> Fit:
    fit: Fit | None = next((one for one in get_args(Fit) if one == value), None)
    if fit is None:
        raise _invalid("wrong-fit", f"{key}.{FITS} must be one of {get_args(Fit)}")
    return fit


def _read_evidence(found: Mapping[str, Any], key: str, text: str, *, most: int) -> str:
    value = found[EVIDENCE]
    if not isinstance(value, str) or len(value) > most:
        words = f"{key}.{EVIDENCE} must be text of at most {most} characters"
        raise _invalid("wrong-evidence", f"{words}, not {kind_of(value)}")
    plain = plain_text(value)
    if plain not in text:
        raise _invalid("evidence-not-in-text", f"{key}.{EVIDENCE} does not stand in its turn")
    return plain


def _invalid(reason: str, message: str) -> InvalidReplyError:
    return InvalidReplyError(message, reason=reason)
