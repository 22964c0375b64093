"""The offline cue judge: compares two texts by hand-set cues, so that all runs without a key.

A baseline, and labelled as one wherever it appears: it measures nothing about empathy. A score is
a weighted sum of cues (`cues`, weights in ``protocol/cues.toml``); the higher one wins, by a
strength that grows with the difference. Equal scores are settled by a hash of the completion ids,
strength 1, and counted as undecided.
"""

import hashlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from hearteval.domain import (
    AXES,
    Axis,
    AxisMark,
    Display,
    Rater,
    Turn,
    canonical_json,
    content_hash,
    display_name,
)
from hearteval.judgments.cue_judge.cues import Cue, Cues, find_cues
from hearteval.protocol import CUE_NOTICE, load_protocol

_CUES_IN_RATIONALE = 3
_DIGITS = 4
_CACHED_SCORES = 1 << 14

Side = Literal["first", "second"]


class Text(NamedTuple):
    """A completion's id, which only ever settles equal cues, and its text."""

    completion_id: str
    text: str


class CueVerdict(NamedTuple):
    """What the cue judge says of a pair; swapping the texts swaps it."""

    choice: Side
    strength: int
    """1 to 5; 1 where undecided."""
    is_undecided: bool
    """Whether the scores were equal and a hash chose."""
    axes: Mapping[Axis, AxisMark]
    """Mark by axis; an axis whose cues are equal has none, for a coin is no mark."""
    reasons: Mapping[Axis, str]
    """By axis, the cues that weigh most for each text, with the words found."""
    rationale: str
    """The cues that weigh most over all axes."""
    raw: str
    """Canonical JSON of all scores and cues."""


class _Scores(NamedTuple):
    """All that is said of one text in one context; found once, told in many judgments."""

    axes: Mapping[Axis, float]
    overall: float
    told_by_axis: Mapping[Axis, str]
    """The cues that weigh most on each axis."""
    told: str
    """The cues that weigh most over all axes."""
    as_json: str
    """Canonical JSON of all scores and cues."""


def cue_rater(display: Display = "raw") -> Rater:
    """Return the cue judge as a rater; other words, weights or form of texts are another rater."""
    cues = load_protocol("cues")
    settings = {"judge": "cue", "version": cues["version"], "prompt_hash": content_hash(cues)}
    if display != "raw":
        settings["display"] = display_name(display)
    return Rater(name="cue", kind="llm", family="cue", settings=settings)


def judge_pair(context: Sequence[Turn], first: Text, second: Text) -> CueVerdict:
    """Compare two texts as answers to a context that ends with a seeker turn.

    Raises:
        ValueError: Both texts bear the same completion id, so equal cues could not be settled.
    """
    favourite = _favourite(first.completion_id, second.completion_id)
    turns = tuple(context)
    one, other = _score(turns, first.text), _score(turns, second.text)
    weights = load_protocol("cues")
    choice, strength, is_undecided = _decide(
        one.overall - other.overall, weights["overall"]["strength_at"], favourite
    )
    axes: dict[Axis, AxisMark] = {}
    reasons: dict[Axis, str] = {}
    for axis in AXES:
        mark = _decide(
            one.axes[axis] - other.axes[axis], weights["axes"][axis]["strength_at"], favourite
        )
        told = one.told_by_axis[axis], other.told_by_axis[axis]
        reasons[axis] = _compare(*told, is_undecided=mark[2])
        if not mark[2]:
            axes[axis] = AxisMark(mark[0], mark[1])
    rationale = _compare(one.told, other.told, is_undecided=is_undecided)
    return CueVerdict(
        choice=choice,
        strength=strength,
        is_undecided=is_undecided,
        axes=axes,
        reasons=reasons,
        rationale=f"{CUE_NOTICE} {rationale}",
        raw=f'{{"first":{one.as_json},"second":{other.as_json}}}',
    )


def _favourite(first_id: str, second_id: str) -> Side:
    if first_id == second_id:
        raise ValueError(f"completion {first_id} cannot be compared with itself")
    low, high = sorted((first_id, second_id))
    is_low = hashlib.sha256(f"{low}/{high}".encode()).digest()[0] % 2 == 0
    return "first" if (low if is_low else high) == first_id else "second"


@lru_cache(maxsize=_CACHED_SCORES)
def _score(context: tuple[Turn, ...], text: str) -> _Scores:
    cues = find_cues(context, text)
    weights = load_protocol("cues")
    axes = {
        axis: round(sum(_weight(axis, name) * cue.value for name, cue in found.items()), _DIGITS)
        for axis, found in cues.items()
    }
    overall = sum(weights["overall"]["axis_weights"][axis] * axes[axis] for axis in AXES)
    overall = round(overall, _DIGITS)
    return _Scores(
        axes,
        overall,
        {axis: _list_cues(cues, [axis]) for axis in AXES},
        _list_cues(cues, AXES),
        canonical_json({"score": overall, "axes": _as_json(cues, axes)}),
    )


def _weight(axis: Axis, name: str) -> float:
    return float(load_protocol("cues")["axes"][axis]["weights"][name])


def _decide(
    difference: float, strength_at: Sequence[float], favourite: Side
) -> tuple[Side, int, bool]:
    margin = round(difference, _DIGITS)
    if margin == 0:
        return favourite, 1, True
    strength = 1 + sum(abs(margin) >= bound for bound in strength_at)
    return ("first" if margin > 0 else "second"), strength, False


def _compare(first: str, second: str, *, is_undecided: bool) -> str:
    text = f"First: {first}. Second: {second}."
    return f"{text} Equal; a hash of the ids decided." if is_undecided else text


def _list_cues(cues: Cues, axes: Sequence[Axis]) -> str:
    weighed = [
        (_weight(axis, name) * cue.value, name, cue)
        for axis in axes
        for name, cue in cues[axis].items()
        if cue.value
    ]
    weighed.sort(key=lambda entry: (-abs(entry[0]), entry[1]))
    told = [_tell(weight, name, cue) for weight, name, cue in weighed[:_CUES_IN_RATIONALE]]
    return "; ".join(told) or "no cue"


def _tell(weight: float, name: str, cue: Cue) -> str:
    quotes = ", ".join(f'"{quote}"' for quote in cue.quotes)
    sign = "+" if weight > 0 else "-"
    return f"{sign} {name.replace('_', ' ')}" + (f" ({quotes})" if quotes else "")


def _as_json(cues: Cues, scores: Mapping[Axis, float]) -> dict[Axis, Any]:
    return {
        axis: {
            "score": scores[axis],
            "cues": {
                name: {"value": cue.value, "quotes": cue.quotes}
                for name, cue in cues[axis].items()
                if cue.value
            },
        }
        for axis in AXES
    }
