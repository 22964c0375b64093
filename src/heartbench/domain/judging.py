"""Who judges what, and what they say: pairs, raters, assignments, judgments (HEART 9.5, 9.6)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple, get_args

from heartbench.domain.ids import record_id
from heartbench.domain.rules import fill_id, require
from heartbench.domain.systems import JsonObject

Axis = Literal["H", "E", "A", "R", "T", "C"]
Choice = Literal["first", "second", "tie"]
RaterKind = Literal["human", "llm"]
Group = Literal["crowd", "peer", "clinician"]

AXES: tuple[Axis, ...] = ("H", "E", "A", "R", "T")
"""The five axes of HEART. ``C``, empathic containment, is optional and never mixed into them."""
AXIS_NAMES: Mapping[Axis, str] = {
    "H": "Human Alignment",
    "E": "Empathic Responsiveness",
    "A": "Attunement",
    "R": "Resonance",
    "T": "Task-following",
    "C": "Empathic Containment",
}
MAX_STRENGTH = 5


class AxisMark(NamedTuple):
    """One axis's winner and how clear it is."""

    choice: Choice
    strength: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two completions of one item; their order means nothing here.

    Attributes:
        item_id: The item both answer.
        completion_ids: Two different ids, sorted.
        id: Content id; left empty, it is computed.
    """

    item_id: str
    completion_ids: tuple[str, str]
    id: str = ""

    def __post_init__(self) -> None:
        one, other = self.completion_ids
        where = f"pair of item {self.item_id}"
        require(one != other, where, f"completion {one} cannot be compared with itself")
        if one > other:
            object.__setattr__(self, "completion_ids", (other, one))
        fill_id(self, lambda: record_id("pair", {"completion_ids": self.completion_ids}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rater:
    """Anyone who judges: a human rater or an LLM judge. No real name, no address.

    Attributes:
        name: For people a pseudonym.
        kind: ``human`` or ``llm`` (the offline cue judge, too: it is no person).
        family: ``human``, ``cue``, or the developer's line of models.
        pool: Where the rater was recruited, if anywhere.
        group: Of people: crowd, peer or clinician.
        settings: Of LLM judges: model, prompt hash, sampling; a new prompt is a new rater.
        id: Content id; left empty, it is computed.
    """

    name: str
    kind: RaterKind
    family: str
    pool: str | None = None
    group: Group | None = None
    settings: JsonObject = field(default_factory=dict)
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
        fill_id(self, lambda: record_id("rater", self._identity()))

    def _identity(self) -> JsonObject:
        if self.kind == "human":
            return {"kind_of_rater": "human", "pseudonym": self.name}
        return {"kind_of_rater": "llm", "family": self.family, "settings": self.settings}


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """A pair given to one rater in one order, shown as A and B. Both orders are two of these.

    Attributes:
        study_id: The study.
        pair_id: The pair.
        rater_id: Who is to judge.
        first_completion_id: The completion shown as A.
        repeat: 0 for the first; higher for deliberate repetitions.
        check: The expected choice of an attention check, else None.
        id: Content id; left empty, it is computed.
    """

    study_id: str
    pair_id: str
    rater_id: str
    first_completion_id: str
    repeat: int = 0
    check: Choice | None = None
    id: str = ""

    def __post_init__(self) -> None:
        where = f"assignment of pair {self.pair_id} to rater {self.rater_id}"
        require(self.repeat >= 0, where, f"repeat is {self.repeat}")
        require(self.check in (None, *get_args(Choice)), where, f"check is {self.check!r}")
        fill_id(
            self,
            lambda: record_id(
                "assignment",
                {
                    "study_id": self.study_id,
                    "pair_id": self.pair_id,
                    "rater_id": self.rater_id,
                    "first_completion_id": self.first_completion_id,
                    "repeat": self.repeat,
                },
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgment:
    """A rater's answer to an assignment, stored as it was shown.

    Attributes:
        assignment_id: What was judged; one judgment each.
        choice: ``first``, ``second`` or ``tie``.
        strength: 1 to 5; None for a tie.
        axes: Marks by axis.
        reasons: Reasons by axis, in the rater's words.
        rationale: The overall reason.
        seconds: Time taken, None if not measured.
        raw: The reply verbatim; may be empty for people.
        prompt_hash: Hash of the prompt, None for people.
        requested: Sampling settings asked for.
        effective: Settings really used.
        finish_reason: Why the reply ends. The cue judge writes ``undecided`` where its cues were
            equal and a hash decided, else ``decided``.
        usage: Token counts as reported.
        cost: US dollars, None if unknown or not applicable.
        cached: Whether the reply came from the cache.
        created_at: UTC.
        id: Content id; left empty, it is computed.
    """

    assignment_id: str
    choice: Choice
    strength: int | None
    axes: Mapping[Axis, AxisMark] = field(default_factory=dict)
    reasons: Mapping[Axis, str] = field(default_factory=dict)
    rationale: str = ""
    seconds: float | None = None
    raw: str = ""
    prompt_hash: str | None = None
    requested: JsonObject = field(default_factory=dict)
    effective: JsonObject = field(default_factory=dict)
    finish_reason: str | None = None
    usage: JsonObject = field(default_factory=dict)
    cost: float | None = None
    cached: bool = False
    created_at: datetime
    id: str = ""

    def __post_init__(self) -> None:
        where = f"judgment of assignment {self.assignment_id}"
        _require_mark(where, self.choice, self.strength, needs_strength=True)
        for axis, (choice, strength) in self.axes.items():
            require(axis in AXIS_NAMES, where, f"axis {axis!r} is not one of {list(AXIS_NAMES)}")
            _require_mark(f"{where}, axis {axis}", choice, strength, needs_strength=False)
        require(
            all(axis in AXIS_NAMES for axis in self.reasons), where, "a reason names no known axis"
        )
        require(self.created_at.tzinfo is not None, where, "created_at has no time zone")
        fill_id(self, lambda: record_id("judgment", {"assignment_id": self.assignment_id}))


def _require_mark(
    where: str, choice: Choice, strength: int | None, *, needs_strength: bool
) -> None:
    require(choice in get_args(Choice), where, f"choice is {choice!r}")
    if choice == "tie":
        require(strength is None, where, "a tie has no strength")
    elif needs_strength or strength is not None:
        require(
            strength is not None and 1 <= strength <= MAX_STRENGTH,
            where,
            f"strength must be 1 to {MAX_STRENGTH}, not {strength!r}",
        )
