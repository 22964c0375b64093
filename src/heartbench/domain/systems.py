"""Who competes, what they wrote and how fast: HEART 9.3, 9.4; latency, HEART 4.5."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, get_args

from heartbench.domain.ids import record_id
from heartbench.domain.rules import fill_id, require

SystemKind = Literal["model", "human", "original", "baseline", "stress"]
JsonObject = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """Anything that writes completions.

    Attributes:
        name: The name people read; unique in a study.
        kind: ``model``, ``human``, ``original``, ``baseline`` or ``stress`` (never ranked).
        family: The developer's line, or ``human``, ``original``, ``baseline``; drives own-family
            exclusion of LLM judges.
        settings: Preset, model and sampling, as JSON; never a URL or a key. Not to be mutated.
        id: Content id; left empty, it is computed.
    """

    name: str
    kind: SystemKind
    family: str
    settings: JsonObject = field(default_factory=dict)
    id: str = ""

    def __post_init__(self) -> None:
        where = f"system {self.name!r}"
        require(bool(self.name.strip()), "system", "name is empty")
        require(self.kind in get_args(SystemKind), where, f"kind is {self.kind!r}")
        require(bool(self.family), where, "family is empty")
        require(self.family != "cue", where, "family 'cue' belongs to the offline judge")
        fill_id(
            self,
            lambda: record_id(
                "system",
                {
                    "kind_of_system": self.kind,
                    "name": self.name,
                    "family": self.family,
                    "settings": self.settings,
                },
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """One system's supporter turn for one item.

    Attributes:
        item_id: The item answered.
        system_id: Who answered.
        text: The supporter turn, never empty: a failed call is an `Attempt`.
        writer_id: Pseudonym of the person, exactly when the system is human.
        repeat: 0 for the first; higher for deliberate repetitions.
        prompt_hash: Hash of the prompt that was sent, if any.
        requested: Sampling settings asked for.
        effective: Settings really used (a model may refuse some).
        finish_reason: Why the text ends, as the source says.
        usage: Token counts as reported.
        cost: US dollars, None if unknown or not applicable.
        first_token_ms: Milliseconds to the first text, None if not measured.
        first_reasoning_ms: Milliseconds to the first reasoning, None if none.
        total_ms: Milliseconds for the whole call, None if not measured.
        cached: Whether the reply came from the cache.
        created_at: UTC.
        id: Content id; left empty, it is computed.
    """

    item_id: str
    system_id: str
    text: str
    writer_id: str | None = None
    repeat: int = 0
    prompt_hash: str | None = None
    requested: JsonObject = field(default_factory=dict)
    effective: JsonObject = field(default_factory=dict)
    finish_reason: str | None = None
    usage: JsonObject = field(default_factory=dict)
    cost: float | None = None
    first_token_ms: float | None = None
    first_reasoning_ms: float | None = None
    total_ms: float | None = None
    cached: bool = False
    created_at: datetime
    id: str = ""

    def __post_init__(self) -> None:
        where = f"completion of item {self.item_id} by system {self.system_id}"
        require(bool(self.text.strip()), where, "text is empty; a failed call is an Attempt")
        require(self.repeat >= 0, where, f"repeat is {self.repeat}")
        require(self.created_at.tzinfo is not None, where, "created_at has no time zone")
        fill_id(
            self,
            lambda: record_id(
                "completion",
                {
                    "item_id": self.item_id,
                    "system_id": self.system_id,
                    "text": self.text,
                    "repeat": self.repeat,
                    "writer": self.writer_id,
                },
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A failed try at a completion, a judgment or a rating; what is missing is counted from these.

    Attributes:
        item_id: With `system_id`, the completion that failed; else None.
        system_id: See `item_id`.
        assignment_id: The judgment that failed; else None.
        study_id: With `completion_id` and `rater_id`, the rating that failed; else None.
        completion_id: See `study_id`.
        rater_id: See `study_id`.
        repeat: As in the record that is missing.
        attempt: 0 for the first try.
        reason: A short fixed word, counted in reports, e.g. ``no-reference``.
        raw: What came back, verbatim; may be empty.
        requested: Settings asked for.
        effective: Settings really used.
        usage: Token counts as reported.
        cost: US dollars, None if unknown or not applicable.
        created_at: UTC.
        id: Content id; left empty, it is computed.
    """

    item_id: str | None = None
    system_id: str | None = None
    assignment_id: str | None = None
    study_id: str | None = None
    completion_id: str | None = None
    rater_id: str | None = None
    repeat: int = 0
    attempt: int = 0
    reason: str
    raw: str = ""
    requested: JsonObject = field(default_factory=dict)
    effective: JsonObject = field(default_factory=dict)
    usage: JsonObject = field(default_factory=dict)
    cost: float | None = None
    created_at: datetime
    id: str = ""

    def __post_init__(self) -> None:
        completion = {"item_id": self.item_id, "system_id": self.system_id}
        judgment = {"assignment_id": self.assignment_id}
        rating = {
            "study_id": self.study_id,
            "completion_id": self.completion_id,
            "rater_id": self.rater_id,
        }
        named = [t for t in (completion, judgment, rating) if set(t.values()) != {None}]
        where = f"attempt at {named}"
        require(
            len(named) == 1 and None not in named[0].values(),
            where,
            "must name either an item and a system, or an assignment, or a study, a completion "
            "and a rater",
        )
        require(bool(self.reason), where, "reason is empty")
        require(self.created_at.tzinfo is not None, where, "created_at has no time zone")
        fill_id(
            self,
            lambda: record_id(
                "attempt",
                {
                    **(rating if rating in named else completion | judgment),
                    "repeat": self.repeat,
                    "attempt": self.attempt,
                },
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyProbe:
    """One timed call of a system, from `heart latency` only: its text is not kept.

    Attributes:
        study_id: The study.
        system_id: Who was asked.
        item_id: What about, with the messages of a completion.
        repeat: 0 for the first; higher for further calls about the same item.
        effective: Sampling settings really used.
        first_token_ms: Milliseconds to the first text; None if the endpoint does not stream.
        first_reasoning_ms: Milliseconds to the first reasoning, None if it showed none.
        total_ms: Milliseconds for the whole call.
        concurrency: Most calls under way at once; another number is another measurement.
        created_at: UTC.
        id: Content id; left empty, it is computed.
    """

    study_id: str
    system_id: str
    item_id: str
    repeat: int = 0
    effective: JsonObject = field(default_factory=dict)
    first_token_ms: float | None = None
    first_reasoning_ms: float | None = None
    total_ms: float | None = None
    concurrency: int = 1
    created_at: datetime
    id: str = ""

    def __post_init__(self) -> None:
        where = f"latency probe of system {self.system_id} on item {self.item_id}"
        require(self.repeat >= 0, where, f"repeat is {self.repeat}")
        require(self.concurrency >= 1, where, f"concurrency is {self.concurrency}")
        for name in ("first_token_ms", "first_reasoning_ms", "total_ms"):
            value = getattr(self, name)
            require(value is None or value >= 0, where, f"{name} is {value}")
        require(self.created_at.tzinfo is not None, where, "created_at has no time zone")
        fill_id(
            self,
            lambda: record_id(
                "latency_probe",
                {
                    "study_id": self.study_id,
                    "system_id": self.system_id,
                    "item_id": self.item_id,
                    "repeat": self.repeat,
                    "concurrency": self.concurrency,
                },
            ),
        )
