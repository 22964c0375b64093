"""Whether a model's reply can be a completion: empty, refused, cut off, failed, over-long, or fine.

A reply is taken whole or not at all. Only white space around it goes; quotation marks, a name in
front or a fourth sentence stay, because they are what the system says and raters may mark it down
for them. Bounds and their reasons are in ``protocol/replies.toml``.
"""

import re
from typing import Any, Literal, get_args

from hearteval.domain import shows_text
from hearteval.errors import InvalidReplyError
from hearteval.protocol import load_protocol, read_ending

CompletionFault = Literal[
    "refused", "cut-off", "not-finished", "empty", "shows-reasoning", "over-long"
]
COMPLETION_FAULTS: tuple[CompletionFault, ...] = get_args(CompletionFault)

_LAST_MARKS = re.compile(r"[.!\s]+$")


def check_completion(
    text: str, *, finish_reason: str | None = None, refusal: str | None = None
) -> str:
    """Return a reply as a completion's text, without the white space around it.

    A refusal counts as one where the endpoint says so, or where the reply is a stock refusal and
    nothing else; a refusal that says more is the system's answer to the seeker. Reasoning that came
    apart from the reply is no part of it.

    Raises:
        InvalidReplyError: It cannot be a completion; `reason` is one of `COMPLETION_FAULTS`.
    """
    accepted = load_protocol("replies")
    ending = read_ending(finish_reason)
    whole = text.strip()
    bounds = accepted["completion"]
    # What is longer is no stock refusal, and looking for one would take hours in megabytes.
    may_be_stock = len(whole) <= bounds["max_characters"]
    is_refusal = bool(refusal) or ending == "refused"
    if is_refusal or (may_be_stock and _is_refusal(whole, accepted)):
        raise _fault("refused", "the model refused")
    if ending == "cut_off":
        advice = "raise its token limit"
        raise _fault("cut-off", f"the endpoint cut the reply off ({finish_reason}); {advice}")
    if ending == "not_finished":
        raise _fault("not-finished", f"the reply did not end by itself ({finish_reason!r:.40})")
    if not shows_text(whole):
        raise _fault("empty", "the reply holds no text")
    if any(mark in whole for mark in bounds["reasoning_marks"]):
        raise _fault("shows-reasoning", "the reply holds reasoning that its server should part off")
    n_words = len(whole.split())
    if n_words > bounds["max_words"] or len(whole) > bounds["max_characters"]:
        raise _fault(
            "over-long",
            f"the reply has {n_words} words and {len(whole)} characters; at most "
            f"{bounds['max_words']} and {bounds['max_characters']} are accepted",
        )
    return whole


def _is_refusal(text: str, accepted: dict[str, Any]) -> bool:
    words = _LAST_MARKS.sub("", text).lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    for opening in accepted["completion"]["refusal_openings"]:
        words = words.removeprefix(opening)
    return words in accepted["completion"]["refusals"]


def _fault(reason: CompletionFault, message: str) -> InvalidReplyError:
    return InvalidReplyError(message, reason=reason)
