"""The records: immutable, checked, knowing nothing of storage, files or models.

Each module holds the records of one part of the study; callers import them from here. An ``id``
that is left empty is computed from what makes the record itself; times are UTC.
"""

from hearteval.domain.ids import (
    canonical_json,
    content_hash,
    flat_fields,
    hash_records,
    normalised,
    record_id,
)
from hearteval.domain.items import (
    PROFILES,
    Item,
    Profile,
    Role,
    Screening,
    Subset,
    Turn,
    shows_text,
)
from hearteval.domain.judging import (
    AXES,
    AXIS_NAMES,
    MAX_SCORE,
    OVERALL,
    Assignment,
    Axis,
    AxisMark,
    Choice,
    Judgment,
    Pair,
    Rater,
    Rating,
    RatingTarget,
    axis_key,
    words_in,
)
from hearteval.domain.labels import Label, LabelVerdict
from hearteval.domain.study import Study
from hearteval.domain.systems import (
    WITHDRAWN,
    Attempt,
    BatchJob,
    Call,
    Completion,
    JsonObject,
    LatencyProbe,
    System,
    SystemKind,
)

__all__ = [
    "AXES",
    "AXIS_NAMES",
    "MAX_SCORE",
    "OVERALL",
    "PROFILES",
    "WITHDRAWN",
    "Assignment",
    "Attempt",
    "Axis",
    "AxisMark",
    "BatchJob",
    "Call",
    "Choice",
    "Completion",
    "Item",
    "JsonObject",
    "Judgment",
    "Label",
    "LabelVerdict",
    "LatencyProbe",
    "Pair",
    "Profile",
    "Rater",
    "Rating",
    "RatingTarget",
    "Role",
    "Screening",
    "Study",
    "Subset",
    "System",
    "SystemKind",
    "Turn",
    "axis_key",
    "canonical_json",
    "content_hash",
    "flat_fields",
    "hash_records",
    "normalised",
    "record_id",
    "shows_text",
    "words_in",
]
