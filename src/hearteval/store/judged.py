"""Judgments as an analysis reads them: columns, and what pairs say of them."""

import json
from array import array
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Select, Text, case, exists, select, type_coerce

from hearteval.domain import AXIS_NAMES, Study, pack_marks
from hearteval.store import schema
from hearteval.store.rows import asks_of, is_of_people


def judgment_query(study: Study, *, of_people: bool = False) -> Select[Any]:
    """Return the query for what a study's judgments, or those of people, say of pairs.

    With what `side_query` finds of the pairs it is `judged_query`, in half the time.
    """
    a, j = schema.assignments, schema.judgments
    query = (
        select(
            a.c.id.label("assignment_id"),
            *(a.c.pair_id, a.c.first_completion_id, a.c.rater_id, a.c.repeat),
            *_said(),
        )
        .select_from(a)
        .join(j, j.c.assignment_id == a.c.id)
        .where(a.c.check.is_(None), a.c.study_id == study.id)
    )
    return query.where(is_of_people()) if of_people else query


def side_query(study: Study, *, of_people: bool = False) -> Select[Any]:
    """Return the query for a study's pairs, or those that people were shown, with both systems."""
    p, asked = schema.pairs.c, exists().where(*asks_of(schema.pairs.c.id, study))
    if of_people:
        asked = asked.where(is_of_people())
    ends = (p.low_completion_id, p.low_system_id, p.high_system_id)
    return select(p.id, p.item_id, *ends).where(asked)


def judged_query() -> Select[Any]:
    """Return the query for the analysis columns; covered by indexes from end to end."""
    a, j, p = schema.assignments, schema.judgments, schema.pairs
    is_low_first = p.c.low_completion_id == a.c.first_completion_id
    return (
        select(
            a.c.id.label("assignment_id"),
            a.c.pair_id,
            p.c.item_id,
            case((is_low_first, p.c.low_system_id), else_=p.c.high_system_id).label(
                "first_system_id"
            ),
            case((is_low_first, p.c.high_system_id), else_=p.c.low_system_id).label(
                "second_system_id"
            ),
            a.c.first_completion_id,
            a.c.rater_id,
            a.c.repeat,
            *_said(),
        )
        .select_from(a)
        .join(j, j.c.assignment_id == a.c.id)
        .join(p, p.c.id == a.c.pair_id)
        .where(a.c.check.is_(None))
    )


def _said() -> tuple[Any, ...]:
    j = schema.judgments.c
    return j.choice, j.strength, type_coerce(j.axes, Text).label("axes"), j.finish_reason


_JUDGED = tuple(judged_query().selected_columns.keys())
_OF_PAIRS = ("first_system_id", "second_system_id")


class PackedMarks(dict[str, bytes]):
    """Axis marks as `pack_marks` has them, by their JSON text: the same marks come often.

    Marks of single axes come more often still, so that few texts are read as JSON.
    """

    def __init__(self) -> None:
        self["{}"] = pack_marks({})
        self._single = _SingleMarks()

    def __missing__(self, text: str) -> bytes:
        """Read marks; what are none is a `KeyError` or a `ValueError`."""
        if text[-2:] != "]}":
            raise ValueError("axis marks are none")
        packed = sum(map(self._single.__getitem__, text[:-2].lstrip("{").split("],")))
        made = self[text] = packed.to_bytes(len(AXIS_NAMES))
        return made


class _SingleMarks(dict[str, int]):
    """Packed marks as a number, by a part of their text without its brackets."""

    def __missing__(self, part: str) -> int:
        made = self[part] = int.from_bytes(pack_marks(json.loads(f"{{{part}]}}")))
        return made


class Sides(dict[bytes, int]):
    """What pairs say of their judgments, of rows of `side_query`: the number of each.

    A study has millions, so that what is known of one lies in three numbers.
    """

    def __init__(self) -> None:
        self._words: list[Any] = []
        self._place: dict[Any, int] = {}
        self._item, self._low, self._ends = (array("i") for _ in range(3))

    def learn(self, rows: Sequence[tuple[bytes, ...]]) -> None:
        """Take in pairs, ids as bytes."""
        digits = schema.Digits()
        for pair_id, item_id, low_id, low, high in rows:
            if pair_id not in self:
                self[pair_id] = len(self)
                one, other = digits[low], digits[high]
                self._item.append(self._place_of(digits[item_id]))
                self._low.append(self._place_of(digits[low_id]))
                self._ends.append(self._place_of(((one, other), (other, one))))

    def _place_of(self, word: Any) -> int:
        place = self._place.setdefault(word, len(self._words))
        if place == len(self._words):
            self._words.append(word)
        return place

    def complete(self, said: dict[str, list[Any]]) -> dict[str, list[Any]]:
        """Return columns of `judgment_query`, pairs' ids as bytes, as those of `judged_query`.

        Raises:
            KeyError: A pair is not known.
        """
        words = self._words
        pairs = [*map(self.__getitem__, said["pair_id"])]
        known = zip(pairs, said["first_completion_id"], strict=True)
        shown = [words[self._ends[k]][words[self._low[k]] != first] for k, first in known]
        columns = dict(zip(_OF_PAIRS, map(list, zip(*shown, strict=True)), strict=True)) | said
        columns["item_id"] = [words[self._item[k]] for k in pairs]
        columns["pair_id"] = [*map(bytes.hex, said["pair_id"])]
        return {name: columns[name] for name in _JUDGED}
