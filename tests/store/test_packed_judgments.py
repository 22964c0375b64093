"""What judgments say is read into numbers, of which their sum is made: another value, another."""

import json
from typing import Any

import pytest

from hearteval.domain import pack_marks
from hearteval.store import judged
from hearteval.store.integrity.as_read import total_of_packed
from hearteval.store.judged import PackedMarks, Sides, packed_rows

MARKS = {"A": ["second", 2], "E": ["tie", None], "H": ["first", 5]}
IDS = tuple(bytes([number]) * 15 + b"\0" for number in range(8))
ROW = (*IDS[:4], 0, "first", 3, '{"A":["second",2]}', "stop", *IDS[4:])
"""As `judged_query` finds it."""
OTHERS: dict[int, tuple[Any, ...]] = {
    **{place: (b"\1" + bytes(15),) for place in (0, 1, 2, 3, 9, 10, 11, 12)},
    4: (1, -1, 2**40),
    5: ("second", "tie"),
    6: (None, 0, 4),
    7: ("{}", '{"E":["second",2]}', '{"A":["second",1]}'),
    8: (None, "", "length"),
}


@pytest.mark.parametrize("spacing", [(",", ":"), (", ", ": ")])
def test_marks_of_any_spacing_are_read_and_each_part_once(
    spacing: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    single = type(judged._SINGLE)()
    monkeypatch.setattr(judged, "_SINGLE", single)
    packed = PackedMarks()
    other = MARKS | {"A": ["first", 1]}
    for marks in (MARKS, other):
        assert packed[json.dumps(marks, separators=spacing)] == pack_marks(marks)  # type: ignore[arg-type]
    assert len(single) == len(MARKS) + 1


def test_text_that_is_no_marks_is_a_fault() -> None:
    with pytest.raises((KeyError, ValueError)):
        PackedMarks()['{"A":["better",2]}']


def test_each_value_of_a_judgment_has_its_part_in_the_sum() -> None:
    sums = {total_of_packed(packed_rows([ROW]))}
    changed = [
        (*ROW[:place], value, *ROW[place + 1 :])
        for place, values in OTHERS.items()
        for value in values
    ]
    assert OTHERS.keys() == set(range(len(ROW)))
    sums |= {total_of_packed(packed_rows([row])) for row in changed}
    assert len(sums) == 1 + len(changed)
    both = total_of_packed(packed_rows([ROW, changed[-1]]))
    assert both == total_of_packed(packed_rows([changed[-1], ROW]))


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (3, b""),
        (3, bytes(32)),
        (10, bytes(32)),
        (4, 0.5),
        (4, "0"),
        (4, 2**70),
        (6, 300),
        (6, -200),
        (5, "neither"),
        (7, None),
        (8, 7),
    ],
)
def test_a_value_that_is_none_of_its_kind_is_a_fault(place: int, value: object) -> None:
    with pytest.raises((AttributeError, KeyError, TypeError, ValueError)):
        packed_rows([ROW, (*ROW[:place], value, *ROW[place + 1 :])])


def test_pairs_that_come_between_two_pages_leave_the_others_their_numbers() -> None:
    pairs = [bytes([number]) * 16 for number in (40, 42, 41)]
    sides, about = Sides(), IDS[4:]
    sides.learn([(one, *about) for one in pairs[:2]])
    sides.learn([(one, *about) for one in pairs])
    page = [(IDS[0], pairs[place], *ROW[2:9]) for place in (2, 0, 1)]
    assert sides.unknown([*page, (IDS[0], IDS[1], *ROW[2:9])]) == [IDS[1]]
    columns, rows = sides.complete(page)
    assert [*columns["pair_id"]] == [pairs[place].hex() for place in (2, 0, 1)]
    assert total_of_packed(rows) == total_of_packed(packed_rows([(*one, *about) for one in page]))


@pytest.mark.parametrize("place", [0, 1, 2, 3])
@pytest.mark.parametrize("value", [b"", bytes(15), bytes(32)])
def test_an_id_of_another_length_is_a_fault(place: int, value: bytes) -> None:
    sides = Sides()
    sides.learn([(IDS[1], *IDS[4:])])
    with pytest.raises((KeyError, ValueError)):
        sides.complete([ROW[:9], (*ROW[:place], value, *ROW[place + 1 : 9])])
