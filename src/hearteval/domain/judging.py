"""Who judges what, and what they say: pairs and judgments (HEART 9.5, 9.6), ratings of one text."""

import json
import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any, Literal, NamedTuple, get_args

from hearteval.domain.ids import fill_id, id_of, normalised, record_id, require
from hearteval.domain.systems import IMPORTED, NO_CALL, Call, JsonObject

Axis = Literal["H", "E", "A", "R", "T", "C"]
Choice = Literal["first", "second", "tie"]
_CHOICES = get_args(Choice)
_SIDES = ("first", "second")
RaterKind = Literal["human", "llm"]
Group = Literal["crowd", "peer", "clinician"]

AXES: tuple[Axis, ...] = ("H", "E", "A", "R", "T")
"""The five axes of HEART. ``C``, empathic containment, is optional and never mixed into them."""
EQUAL_WEIGHTS: Mapping[Axis, float] = dict.fromkeys(AXES, 1.0)
"""Of the axes in an overall score, where a study names no others."""
AXIS_NAMES: Mapping[Axis, str] = {
    "H": "Human Alignment",
    "E": "Empathic Responsiveness",
    "A": "Attunement",
    "R": "Resonance",
    "T": "Task-following",
    "C": "Empathic Containment",
}
OVERALL = "overall"
"""What stands beside the axes in a judge's reply."""
MAX_STRENGTH = 5
_STRENGTHS = range(1, MAX_STRENGTH + 1)
MAX_SCORE = 5


def axis_names(own: Mapping[Axis, str] | None = None) -> Mapping[Axis, str]:
    """Return what the axes are called: as a rubric of one's own does, else by their names here."""
    return {**AXIS_NAMES, **(own or {})}


def renamed_axes(names: Mapping[Axis, str]) -> Mapping[Axis, str]:
    """Return the names that are a rubric's own."""
    return {axis: names[axis] for axis, name in AXIS_NAMES.items() if names[axis] != name}


def in_order(axes: Container[str]) -> tuple[Axis, ...]:
    """Return axes in the order of the paper."""
    return tuple(axis for axis in AXIS_NAMES if axis in axes)


class AxisMark(NamedTuple):
    """One axis's winner and how clear it is."""

    choice: Choice
    strength: int | None


CHOICES: tuple[Choice, ...] = ("second", "tie", "first")
"""By what the completion shown first has won, in halves."""
CHOICE_PLACES: Mapping[str, int] = {choice: place for place, choice in enumerate(CHOICES)}
MARK_STEP = MAX_STRENGTH + 1
_MARKS = tuple(
    AxisMark(choice, strength or None) for choice in CHOICES for strength in range(MARK_STEP)
)
_MARK_CODES = {mark: code for code, mark in enumerate(_MARKS, start=1)}
_AXIS_PLACES = {axis: place for place, axis in enumerate(AXIS_NAMES)}


def pack_marks(axes: Mapping[Axis, Sequence[Any]]) -> bytes:
    """Return axis marks, (choice, strength) each, as a byte for each of `AXIS_NAMES`.

    It is 0 without a mark, else 1 + `MARK_STEP` times the place in `CHOICES` + any strength.

    Raises:
        KeyError: There is no such axis or mark.
    """
    packed = bytearray(len(AXIS_NAMES))
    for axis, mark in axes.items():
        packed[_AXIS_PLACES[axis]] = _MARK_CODES[tuple(mark)]  # type: ignore[index]
    return bytes(packed)


def unpack_marks(packed: bytes) -> dict[Axis, AxisMark]:
    """Return the marks that `pack_marks` has packed."""
    return {axis: _MARKS[code - 1] for axis, code in zip(AXIS_NAMES, packed, strict=True) if code}


_JUDGMENT_ID = '{"assignment_id":"%s","kind":"judgment","v":1}'
_PAIR_ID = '{"completion_ids":["%s","%s"],"kind":"pair","v":1}'
_ASSIGNMENT_ID = (
    '{"first_completion_id":"%s","kind":"assignment","pair_id":"%s","rater_id":"%s","repeat":%d,'
    '"study_id":"%s","v":1}'
)


def pair_id(low: str, high: str) -> str:
    """Return the id of the pair of two completions, given sorted."""
    return id_of(_PAIR_ID, low, high)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two completions of one item; their order means nothing here."""

    item_id: str
    completion_ids: tuple[str, str]
    """Two different ids of one item, sorted."""
    id: str = ""

    def __post_init__(self) -> None:
        one, other = self.completion_ids
        where = f"pair of item {self.item_id}"
        require(one != other, where, f"completion {one} cannot be compared with itself")
        if one > other:
            object.__setattr__(self, "completion_ids", (other, one))
        if not self.id:
            object.__setattr__(self, "id", pair_id(*self.completion_ids))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rater:
    """Anyone who judges: a human rater or an LLM judge. No real name, no address."""

    name: str
    """For people a pseudonym."""
    kind: RaterKind
    """``human`` or ``llm`` (the offline cue judge, too: it is no person)."""
    family: str
    """``human``, ``cue``, or the developer's line of models."""
    pool: str | None = None
    """Where the rater was recruited, if anywhere."""
    group: Group | None = None
    """Of people: crowd, peer or clinician."""
    settings: JsonObject = field(default_factory=dict)
    """Of LLM judges: model, prompt hash, sampling; a new prompt is a new rater."""
    id: str = ""

    def __post_init__(self) -> None:
        where = f"rater {self.name!r}"
        require(bool(self.name.strip()), "rater", "name is empty")
        require(self.kind in get_args(RaterKind), where, f"kind is {self.kind!r}")
        require(
            (self.kind == "human") == (self.family == "human"),
            where,
            "family is 'human' exactly for people",
        )
        require(
            self.group is None or self.group in get_args(Group), where, f"group is {self.group!r}"
        )
        if self.kind == "human":
            fill_id(self, "rater", kind_of_rater="human", pseudonym=self.name)
        else:
            fill_id(self, "rater", "family", "settings", kind_of_rater="llm")

    @property
    def is_imported(self) -> bool:
        """Whether it is an LLM judge that judged elsewhere, and is never asked here."""
        return self.kind == "llm" and self.settings.get("provider") == IMPORTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """A pair given to one rater in one order, shown as A and B. Both orders are two of these."""

    study_id: str
    pair_id: str
    rater_id: str
    first_completion_id: str
    """The one shown as A."""
    repeat: int = 0
    """0 for the first; higher for deliberate repetitions."""
    check: Choice | None = None
    """The expected choice of an attention check, else None."""
    id: str = ""

    def __post_init__(self) -> None:
        if self.repeat < 0 or self.check is not None:  # hundreds of thousands are not read in words
            where = f"assignment of pair {self.pair_id} to rater {self.rater_id}"
            require(self.repeat >= 0, where, f"repeat is {self.repeat}")
            require(self.check in (None, *_CHOICES), where, f"check is {self.check!r}")
        if not self.id:
            of = (self.first_completion_id, self.pair_id, self.rater_id, self.repeat, self.study_id)
            object.__setattr__(self, "id", id_of(_ASSIGNMENT_ID, *of))


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgment:
    """A rater's answer to an assignment, stored as it was shown."""

    assignment_id: str
    """What was judged; one judgment each."""
    choice: Choice
    strength: int | None
    """1 to 5; None for a tie."""
    axes: Mapping[Axis, AxisMark] = field(default_factory=dict)
    reasons: Mapping[Axis, str] = field(default_factory=dict)
    """By axis, in the rater's words."""
    rationale: str = ""
    """The overall reason."""
    seconds: float | None = None
    """Time taken, None if not measured."""
    raw: str = ""
    """The reply verbatim; may be empty for people."""
    prompt_hash: str | None = None
    """None for people."""
    call: Call = NO_CALL
    created_at: datetime
    id: str = ""

    def __post_init__(self) -> None:
        where = f"judgment of assignment {self.assignment_id}"
        _require_mark(where, self.choice, self.strength, needs_strength=True)
        for axis, (choice, strength) in self.axes.items():
            if axis not in AXIS_NAMES:  # words for a fault are made where there is one
                words = f"axis {axis!r} is not one of {list(AXIS_NAMES)}"
                require(holds=False, where=where, message=words)
            _require_mark(f"{where}, axis {axis}", choice, strength, needs_strength=False)
        require(self.reasons.keys() <= AXIS_NAMES.keys(), where, "a reason names no known axis")
        require(self.created_at.tzinfo is not None, where, "created_at has no time zone")
        if not self.id:
            object.__setattr__(self, "id", id_of(_JUDGMENT_ID, self.assignment_id))


def _require_mark(
    where: str, choice: Choice, strength: int | None, *, needs_strength: bool
) -> None:
    if choice in _SIDES and strength in _STRENGTHS:
        return
    require(choice in _CHOICES, where, f"choice is {choice!r}")
    if choice == "tie":
        require(strength is None, where, "a tie has no strength")
    elif needs_strength or strength is not None:
        require(
            strength is not None and 1 <= strength <= MAX_STRENGTH,
            where,
            f"strength must be 1 to {MAX_STRENGTH}, not {strength!r}",
        )


@cache
def axis_key(axis: Axis, name: str = "") -> str:
    """Return the key of an axis in a reply, e.g. ``task_following``; by a name of its own, if any.

    A name without a Latin letter or digit gives ``axis_`` and the letter.
    """
    key = "_".join(re.findall("[a-z0-9]+", (name or AXIS_NAMES[axis]).lower()))
    return key or f"axis_{axis.lower()}"


_OF_KEYS = {axis_key(axis): axis for axis in sorted(AXIS_NAMES)}


def words_in(raw: str) -> tuple[dict[Axis, str], str] | None:
    """Return a judge's reasons by axis, in NFC, and the overall one, out of its reply.

    None where the reply is not what judges of two texts are asked for.
    """
    try:
        reply = json.loads(raw.strip())
        words = {key: mark["reason"] for key, mark in reply.items()}
    except (ValueError, RecursionError, AttributeError, KeyError, TypeError):
        return None
    if not all(isinstance(reason, str) for reason in words.values()):
        return None
    rationale = words.get(OVERALL, "")
    return {_OF_KEYS[k]: normalised(words[k]) for k in _OF_KEYS if k in words}, rationale


class RatingTarget(NamedTuple):
    """What one rating is of, which is all that names it: a completion, by a rater, in a study."""

    study_id: str
    completion_id: str
    rater_id: str
    repeat: int

    @property
    def id(self) -> str:
        """The id of the rating, given or still missing."""
        return record_id("rating", self._asdict())


@dataclass(frozen=True, slots=True, kw_only=True)
class Rating:
    """A rater's scores of one completion by itself; other fields are as in a `Judgment`."""

    study_id: str
    completion_id: str
    rater_id: str
    repeat: int = 0
    """0 for the first; higher for deliberate repetitions."""
    axes: Mapping[Axis, int]
    """Score by axis, 1 to 5; at least one."""
    comments: Mapping[Axis, str] = field(default_factory=dict)
    """By axis, in the rater's words."""
    seconds: float | None = None
    raw: str = ""
    prompt_hash: str | None = None
    call: Call = NO_CALL
    created_at: datetime
    id: str = ""

    def __post_init__(self) -> None:
        where = f"rating of completion {self.completion_id} by rater {self.rater_id}"
        require(self.repeat >= 0, where, f"repeat is {self.repeat}")
        require(bool(self.axes), where, "no axis has a score")
        for axis, score in self.axes.items():
            require(axis in AXIS_NAMES, where, f"axis {axis!r} is not one of {list(AXIS_NAMES)}")
            require(
                1 <= score <= MAX_SCORE, where, f"axis {axis}: score must be 1 to 5, not {score}"
            )
        require(set(self.comments) <= set(AXIS_NAMES), where, "a comment names no known axis")
        require(self.created_at.tzinfo is not None, where, "created_at has no time zone")
        fill_id(self, "rating", *RatingTarget._fields)

    @property
    def target(self) -> RatingTarget:
        """What this is a rating of."""
        return RatingTarget(self.study_id, self.completion_id, self.rater_id, self.repeat)
