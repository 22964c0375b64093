"""Who competes, what they wrote and how fast: HEART 9.3, 9.4; latency, HEART 4.5."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, Literal, get_args

from hearteval.domain.ids import fill_id, require
from hearteval.domain.items import LEFT_OUT, Item, shows_text

SystemKind = Literal["model", "human", "original", "baseline", "stress"]
JsonObject = Mapping[str, Any]
IMPORTED = "imported"
"""The provider, in settings, of models that are never asked here: what they said comes in files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """Anything that writes completions."""

    name: str
    """The name people read; unique in a study."""
    kind: SystemKind
    """A ``stress`` system is never ranked."""
    family: str
    """The developer's line, or ``human``, ``original``, ``baseline``; drives own-family exclusion
    of LLM judges."""
    settings: JsonObject = field(default_factory=dict)
    """Preset, model and sampling, as JSON; never a URL or a key. Not to be mutated."""
    id: str = ""

    def __post_init__(self) -> None:
        where = f"system {self.name!r}"
        require(bool(self.name.strip()), "system", "name is empty")
        require(self.kind in get_args(SystemKind), where, f"kind is {self.kind!r}")
        require(bool(self.family), where, "family is empty")
        require(self.family != "cue", where, "family 'cue' belongs to the offline judge")
        fill_id(self, "system", "name", "family", "settings", kind_of_system=self.kind)

    @property
    def is_imported(self) -> bool:
        """Whether its completions were made elsewhere: it is never asked here."""
        return self.settings.get("provider") == IMPORTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """How a model was asked for a record; empty where none was. Stored flat, beside its fields."""

    requested: JsonObject = field(default_factory=dict)
    """Sampling settings asked for."""
    effective: JsonObject = field(default_factory=dict)
    """Settings really used (a model may refuse some)."""
    finish_reason: str | None = None
    """Why the reply ends, as the source says. The cue judge writes ``undecided`` where its cues
    were equal and a hash decided, else ``decided``."""
    usage: JsonObject = field(default_factory=dict)
    """Token counts as reported."""
    cost: float | None = None
    """US dollars, None if unknown or not applicable."""
    cached: bool = False
    """Whether the reply came from the cache."""


NO_CALL = Call()
SIMULATED = "simulated"
"""Says, in settings, in a design, as a source and as a pool, that nobody and no model was there."""
WITHDRAWN = "[withdrawn by the person who wrote it]"
"""Stands for the text of a person who has withdrawn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """One system's supporter turn for one item."""

    item_id: str
    system_id: str
    text: str
    """Never empty: a failed call is an `Attempt`."""
    writer_id: str | None = None
    """Pseudonym of the person, exactly when the system is human."""
    repeat: int = 0
    """0 for the first; higher for deliberate repetitions."""
    prompt_hash: str | None = None
    """Of the prompt that was sent, if any."""
    first_token_ms: float | None = None
    """Milliseconds to the first text, None if not measured."""
    first_reasoning_ms: float | None = None
    """Milliseconds to the first reasoning, None if none."""
    total_ms: float | None = None
    """Milliseconds for the whole call, None if not measured."""
    call: Call = NO_CALL
    created_at: datetime
    id: str = ""

    def __post_init__(self) -> None:
        where = f"completion of item {self.item_id} by system {self.system_id}"
        require(shows_text(self.text), where, "text is empty; a failed call is an Attempt")
        require(self.repeat >= 0, where, f"repeat is {self.repeat}")
        require(self.created_at.tzinfo is not None, where, "created_at has no time zone")
        names = ("item_id", "system_id", "text", "repeat")
        fill_id(self, "completion", *names, writer=self.writer_id)

    @property
    def is_withdrawn(self) -> bool:
        """Whether its text is gone, so that nobody is shown or measures it any more.

        The person who wrote it has withdrawn, or a release was made without it.
        """
        return self.text == LEFT_OUT or (self.writer_id is not None and self.text == WITHDRAWN)


def is_tombstone(record: object) -> bool:
    """Say whether a record's texts are gone: its id is that of what they were."""
    is_gone = isinstance(record, Completion) and record.is_withdrawn
    return is_gone or (isinstance(record, Item) and record.is_left_out)


_NAMES = (
    "item_id",
    "system_id",
    "assignment_id",
    "study_id",
    "completion_id",
    "judgment_id",
    "rater_id",
)
_TARGETS: tuple[set[str], ...] = (
    {"item_id", "system_id"},
    {"assignment_id"},
    *({"study_id", "rater_id", text} for text in ("completion_id", "judgment_id", "item_id")),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A failed try at a completion, judgment, rating or the labels of a text.

    What is missing is counted from these.
    """

    ADDED_LATER: ClassVar = ("judgment_id",)

    item_id: str | None = None
    """With `system_id`, the completion that failed; with `study_id` and `rater_id`, the labels of
    an item; else None."""
    system_id: str | None = None
    assignment_id: str | None = None
    """The judgment that failed; else None."""
    study_id: str | None = None
    """With `completion_id` and `rater_id`, the rating that failed, or the labels of a completion;
    else None."""
    completion_id: str | None = None
    judgment_id: str | None = None
    """With `study_id` and `rater_id`, the labels of a judgment's reasons that failed; else None."""
    rater_id: str | None = None
    repeat: int = 0
    """As in the record that is missing."""
    attempt: int = 0
    """0 for the first try."""
    reason: str
    """A short fixed word, counted in reports, e.g. ``no-reference``."""
    raw: str = ""
    """What came back, verbatim; may be empty."""
    detail: str | None = None
    """The endpoint's own words for it in one line, without secrets and dialogue; None without."""
    call: Call = NO_CALL
    created_at: datetime
    id: str = ""

    def __post_init__(self) -> None:
        named = {name for name in _NAMES if getattr(self, name) is not None}
        where = f"attempt at {sorted(named)}"
        require(
            named in _TARGETS,
            where,
            "must name an item and a system, or an assignment, or a study, a rater and one "
            "completion, judgment or item",
        )
        require(bool(self.reason), where, "reason is empty")
        require(self.created_at.tzinfo is not None, where, "created_at has no time zone")
        # The id of a completion's names an assignment too, that of a judgment's an item.
        alone = set() if "study_id" in named else {"item_id", "system_id", "assignment_id"}
        fill_id(self, "attempt", "repeat", "attempt", *sorted(named | alone))


@dataclass(frozen=True, slots=True, kw_only=True)
class InFlight:
    """What processes that are gone had set aside for their calls: perhaps billed."""

    usd: float
    """The most that it may have cost, in US dollars; 0 where it costs nothing."""
    n_calls: int
    """About so many calls, as of their last commits."""
    n_processes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyProbe:
    """One timed call of a system, from `heart latency` only: its text is not kept."""

    study_id: str
    system_id: str
    item_id: str
    """What about, with the messages of a completion."""
    repeat: int = 0
    """0 for the first; higher for further calls about the same item."""
    effective: JsonObject = field(default_factory=dict)
    """Sampling settings really used."""
    first_token_ms: float | None = None
    """Milliseconds to the first text; None if the endpoint does not stream."""
    first_reasoning_ms: float | None = None
    """Milliseconds to the first reasoning, None if it showed none."""
    total_ms: float | None = None
    """Milliseconds for the whole call."""
    concurrency: int = 1
    """Most calls under way at once; another number is another measurement."""
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
        names = ("study_id", "system_id", "item_id", "repeat", "concurrency")
        fill_id(self, "latency_probe", *names)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchJob:
    """A provider's batch job, written down before its provider hears of it."""

    id: str
    """Our own id, 32 hexadecimal digits."""
    provider: str
    """Who runs it, for messages; never an address."""
    model: str
    """The model's id there."""
    custom_ids: tuple[str, ...]
    """One id for each of its calls: the key under which the reply is kept; once it has been
    fetched, of the calls that are still outstanding."""
    created_at: datetime
    """UTC; before it was submitted."""
    remote_id: str | None = None
    """The provider's id; None until its answer has come."""
    closed_at: datetime | None = None
    """UTC, when every reply was kept or known to be missing; None before."""
