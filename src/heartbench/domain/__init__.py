"""The records: immutable, checked, knowing nothing of storage, files or models.

Each module holds the records of one part of the study; callers import them from here.
"""

from heartbench.domain.ids import canonical_json, content_hash, hash_records, record_id
from heartbench.domain.items import PROFILES, Item, Profile, Role, Screening, Subset, Turn
from heartbench.domain.judging import (
    AXES,
    AXIS_NAMES,
    Assignment,
    Axis,
    AxisMark,
    Choice,
    Judgment,
    Pair,
    Rater,
)
from heartbench.domain.rating import Rating, RatingTarget
from heartbench.domain.study import Study
from heartbench.domain.systems import (
    Attempt,
    Completion,
    JsonObject,
    LatencyProbe,
    System,
    SystemKind,
)

__all__ = [
    "AXES",
    "AXIS_NAMES",
    "PROFILES",
    "Assignment",
    "Attempt",
    "Axis",
    "AxisMark",
    "Choice",
    "Completion",
    "Item",
    "JsonObject",
    "Judgment",
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
    "canonical_json",
    "content_hash",
    "hash_records",
    "record_id",
]
