"""Records for tests: a test says what it is about, and the rest is made up."""

from datetime import UTC, datetime
from typing import Any

from hearteval.analysis.judgments import JudgmentRow
from hearteval.domain import Item, Judgment, Label, Study, Turn
from hearteval.judgments.plan import PlanPolicy

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SEEKER = Turn(role="seeker", text="It is over.")
SUPPORTER = Turn(role="supporter", text="Hello.")
FULL = PlanPolicy(
    design="full",
    comparisons=None,
    both_orders=True,
    exclude_own_family=True,
    stress_items=0,
    repeat_pairs=0,
)
"""Every pair, in both orders."""
ITEM: dict[str, Any] = {
    "source": "test",
    "dialogue_id": "d",
    "turn_index": 1,
    "situation": "",
    "context": (SUPPORTER, SEEKER),
    "subset": "regular",
    "emotion": "sadness",
    "problem": "job crisis",
    "licence": "CC0-1.0",
    "consent_basis": "invented",
}
STUDY: dict[str, Any] = {
    "name": "s",
    "seed": 1,
    "item_ids": (),
    "items_hash": "",
    "system_ids": (),
    "rater_ids": (),
    "design": {},
    "protocol_version": "1",
    "settings_hash": "",
    "software_version": "",
    "created_at": NOW,
}
JUDGMENT: dict[str, Any] = {
    "assignment_id": "a",
    "choice": "first",
    "strength": 3,
    "created_at": NOW,
}
LABEL: dict[str, Any] = {
    "taxonomy": "safety",
    "category": "safety",
    "verdict": "present",
    "rater_id": "r",
    "created_at": NOW,
}
ROW: dict[str, Any] = {
    "assignment_id": "a",
    "pair_id": "p",
    "item_id": "i",
    "first_system_id": "",
    "second_system_id": "",
    "first_completion_id": "c",
    "rater_id": "r",
    "repeat": 0,
    "choice": "first",
    "strength": 1,
    "axes": {},
    "finish_reason": None,
}


def made_item(**said: Any) -> Item:
    return Item(**(ITEM | said))


def made_study(**said: Any) -> Study:
    return Study(**(STUDY | said))


def made_judgment(**said: Any) -> Judgment:
    return Judgment(**(JUDGMENT | said))


def made_label(**said: Any) -> Label:
    """Return a label, of the completion "c" unless what it is of is said."""
    of = {} if said.keys() & {"judgment_id", "item_id"} else {"completion_id": "c"}
    return Label(**(LABEL | of | said))


def made_row(**said: Any) -> JudgmentRow:
    return JudgmentRow(**(ROW | said))
