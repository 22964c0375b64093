"""Axis marks are read from their text by parts, however their JSON is spaced."""

import json

import pytest

from hearteval.domain import pack_marks
from hearteval.store.judged import PackedMarks

MARKS = {"A": ["second", 2], "E": ["tie", None], "H": ["first", 5]}


@pytest.mark.parametrize("spacing", [(",", ":"), (", ", ": ")])
def test_marks_of_any_spacing_are_read_and_each_part_once(spacing: tuple[str, str]) -> None:
    packed = PackedMarks()
    other = MARKS | {"A": ["first", 1]}
    for marks in (MARKS, other):
        assert packed[json.dumps(marks, separators=spacing)] == pack_marks(marks)  # type: ignore[arg-type]
    assert len(packed._single) == len(MARKS) + 1


def test_text_that_is_no_marks_is_a_fault() -> None:
    with pytest.raises((KeyError, ValueError)):
        PackedMarks()['{"A":["better",2]}']
