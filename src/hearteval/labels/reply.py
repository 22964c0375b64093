"""A labeler's reply, strict JSON, becomes what it says of each category, or `InvalidReplyError`.

As with judges nothing is guessed: a reply that is not exactly what was asked is missing, with a
reason that is counted. Evidence is held against the text: what a labeler quotes has to stand there,
word for word but for white space and the shape of quotation marks.
"""

import unicodedata
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, NamedTuple, get_args

from hearteval.domain import Label, LabelVerdict, plain_text, shows_text
from hearteval.errors import InvalidReplyError
from hearteval.labels.prompt import (
    EVIDENCE,
    KEYS,
    PROBABILITY,
    SCALE_KEYS,
    SCORE,
    VERDICT,
    scores_of,
)
from hearteval.labels.taxonomy import Category, Taxonomy
from hearteval.labels.texts import LabelledText
from hearteval.protocol import load_protocol
from hearteval.protocol.strict_json import (
    Number,
    ObjectFault,
    kind_of,
    read_object,
    require_keys,
    require_object,
)

OwnFault = Literal[
    "missing-category",
    "unknown-category",
    "wrong-verdict",
    "wrong-probability",
    "wrong-score",
    "contradiction",
    "wrong-evidence",
    "no-evidence",
    "evidence-not-in-text",
]
LabelFault = ObjectFault | OwnFault
LABEL_FAULTS: tuple[LabelFault, ...] = (*get_args(ObjectFault), *get_args(OwnFault))

EVEN = 50
"""Percent: what is present is not less probable, what is absent not more."""


class Said(NamedTuple):
    """What is said of one category, in the words of a `Label`."""

    verdict: LabelVerdict
    """Of a scale ``present`` where there is a score."""
    probability: float | None
    evidence: str
    score: int | None = None


def labels_of(
    text: LabelledText,
    taxonomy: Taxonomy,
    said: Mapping[str, Said],
    *,
    rater_id: str,
    now: datetime,
) -> tuple[Label, ...]:
    """Return what a labeler, or a person, says of a text by a taxonomy, as it is stored."""
    return tuple(
        Label(
            **text.names,
            **taxonomy.stamp,
            category=category,
            rater_id=rater_id,
            created_at=now,
            **one._asdict(),
        )
        for category, one in said.items()
    )


def read_labels(
    reply: str,
    taxonomy: Taxonomy,
    text: LabelledText,
    *,
    finish_reason: str | None = None,
    refusal: str | None = None,
) -> dict[str, Said]:
    """Read the reply of a labeler about a text: what it says by category.

    Raises:
        InvalidReplyError: The reply cannot be used; `reason` is one of `LABEL_FAULTS`.
    """
    bounds = load_protocol("label_prompt")["bounds"]
    found = read_object(
        reply,
        max_characters=bounds["max_characters"],
        finish_reason=finish_reason,
        refusal=refusal,
    )
    n_unknown = len(set(found) - set(taxonomy.keys))
    if n_unknown:
        raise _invalid("unknown-category", f"the reply has {n_unknown} categories of its own")
    lacking = [key for key in taxonomy.keys if key not in found]
    if lacking:
        raise _invalid("missing-category", f"the reply lacks {lacking}")
    require_keys(found, taxonomy.keys, "the reply")
    plain = plain_text(text.quotable)
    most = bounds["max_evidence"]
    return {
        one.key: (_read_score if one.levels else _read_one)(found[one.key], one, plain, most)
        for one in taxonomy.categories
    }


def _read_one(value: Any, category: Category, text: str, most: int) -> Said:
    key = category.key
    found = require_object(value, key)
    require_keys(found, KEYS, key)
    verdict = next((one for one in get_args(LabelVerdict) if one == found[VERDICT]), None)
    if verdict is None:
        raise _invalid("wrong-verdict", f"{key}.verdict must be one of {get_args(LabelVerdict)}")
    percent = _read_percent(found[PROBABILITY], key)
    if (verdict == "present" and percent < EVEN) or (verdict == "absent" and percent > EVEN):
        raise _invalid("contradiction", f"{key} is {verdict} and its probability {percent}")
    evidence = _read_evidence(found, key, text, most)
    if verdict == "present" and not _says(evidence):
        raise _invalid("no-evidence", f"{key} is present without evidence")
    return Said(verdict, percent / 100, evidence)


def _says(evidence: str) -> bool:
    """Say whether evidence holds more than punctuation: a letter, a number or another symbol."""
    return any(unicodedata.category(one)[0] in "LNS" for one in evidence if shows_text(one))


def _read_score(value: Any, category: Category, text: str, most: int) -> Said:
    key = category.key
    found = require_object(value, key)
    require_keys(found, SCALE_KEYS, key)
    if found[SCORE] not in scores_of(category):
        raise _invalid("wrong-score", f"{key}.score must be one of {scores_of(category)}")
    evidence = _read_evidence(found, key, text, most)
    if found[SCORE] == "uncertain":
        return Said("uncertain", None, evidence)
    return Said("present", None, evidence, int(found[SCORE]))


def _read_percent(value: Any, key: str) -> int:
    steps: Mapping[str, int] = {
        str(step): step for step in load_protocol("label_prompt")["probabilities"]
    }
    if not isinstance(value, Number) or value.token not in steps:
        words = f"{key}.probability must be one of {list(steps)}, not {kind_of(value)}"
        raise _invalid("wrong-probability", words)
    return steps[value.token]


def _read_evidence(found: Mapping[str, Any], key: str, text: str, most: int) -> str:
    value = found[EVIDENCE]
    if not isinstance(value, str) or len(value) > most:
        words = f"{key}.evidence must be text of at most {most} characters, not {kind_of(value)}"
        raise _invalid("wrong-evidence", words)
    evidence = plain_text(value)
    if evidence and evidence not in text:
        raise _invalid("evidence-not-in-text", f"{key}.evidence does not stand in the text")
    return evidence


def _invalid(reason: OwnFault, message: str) -> InvalidReplyError:
    return InvalidReplyError(message, reason=reason)
