"""Judgments as columns: what an analysis reads, one row per judgment, in any order.

The shell fills these from the store. They hold facts only; ties, weights and exclusions are choices
of each analysis.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import compress

from heartbench.domain import Axis, AxisMark


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgmentColumns:
    """Judgments with what they are about, as tuples of equal length.

    Attributes:
        assignment_id: The assignment answered.
        pair_id: The pair judged.
        item_id: The item both completions answer.
        first_system_id: Who wrote the completion shown as A.
        second_system_id: Who wrote the other.
        rater_id: Who judged.
        repeat: Repeat of the assignment.
        choice: ``first``, ``second`` or ``tie``.
        strength: 1 to 5; None for a tie.
        axes: Marks by axis; empty where there are none.
        finish_reason: Why the reply ends, as in the judgment.
    """

    assignment_id: tuple[str, ...]
    pair_id: tuple[str, ...]
    item_id: tuple[str, ...]
    first_system_id: tuple[str, ...]
    second_system_id: tuple[str, ...]
    rater_id: tuple[str, ...]
    repeat: tuple[int, ...]
    choice: tuple[str, ...]
    strength: tuple[int | None, ...]
    axes: tuple[Mapping[Axis, AxisMark], ...]
    finish_reason: tuple[str | None, ...]

    def __post_init__(self) -> None:
        lengths = {field.name: len(getattr(self, field.name)) for field in fields(self)}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"columns must be of one length, not {lengths}")

    def __len__(self) -> int:
        return len(self.choice)


def select_rows(columns: JudgmentColumns, keep: Sequence[bool]) -> JudgmentColumns:
    """Return the rows whose flag is set, in the same order.

    Raises:
        ValueError: There are not as many flags as rows.
    """
    if len(keep) != len(columns):
        raise ValueError(f"{len(columns)} judgments need as many flags, not {len(keep)}")
    selected = {
        field.name: tuple(compress(getattr(columns, field.name), keep)) for field in fields(columns)
    }
    return JudgmentColumns(**selected)


def join_rows(one: JudgmentColumns, other: JudgmentColumns) -> JudgmentColumns:
    """Return the rows of both."""
    joined = {
        field.name: getattr(one, field.name) + getattr(other, field.name) for field in fields(one)
    }
    return JudgmentColumns(**joined)


def select_systems(columns: JudgmentColumns, system_ids: Collection[str]) -> JudgmentColumns:
    """Return the rows of which both systems are among these."""
    ends = zip(columns.first_system_id, columns.second_system_id, strict=True)
    return select_rows(columns, [one in system_ids and other in system_ids for one, other in ends])
