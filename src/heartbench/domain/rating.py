"""The rating protocol: one completion by itself, 1 to 5 on each axis (SPEC section 5)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from heartbench.domain.ids import record_id
from heartbench.domain.judging import AXIS_NAMES, Axis
from heartbench.domain.rules import fill_id, require
from heartbench.domain.systems import JsonObject

MAX_SCORE = 5


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
    """A rater's scores of one completion by itself.

    Attributes:
        study_id: The study.
        completion_id: What was rated.
        rater_id: Who rated it.
        repeat: 0 for the first; higher for deliberate repetitions.
        axes: Score by axis, 1 to 5; at least one.
        comments: Comments by axis, in the rater's words.
        seconds: Time taken, None if not measured.
        raw: The reply verbatim; may be empty for people.
        prompt_hash: Hash of the prompt, None for people.
        requested: Sampling settings asked for.
        effective: Settings really used.
        finish_reason: Why the reply ends.
        usage: Token counts as reported.
        cost: US dollars, None if unknown or not applicable.
        cached: Whether the reply came from the cache.
        created_at: UTC.
        id: Content id; left empty, it is computed.
    """

    study_id: str
    completion_id: str
    rater_id: str
    repeat: int = 0
    axes: Mapping[Axis, int]
    comments: Mapping[Axis, str] = field(default_factory=dict)
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
        fill_id(self, lambda: self.target.id)

    @property
    def target(self) -> RatingTarget:
        """What this is a rating of."""
        return RatingTarget(self.study_id, self.completion_id, self.rater_id, self.repeat)
