"""Judgments as an analysis reads them: columns, and what pairs say of them."""

import json
import sys
from array import array
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Select, Text, case, select, type_coerce

from hearteval.domain import AXIS_NAMES, Study, pack_marks
from hearteval.store import schema
from hearteval.store.rows import is_of_people, is_on_page


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


def side_query(study: Study, only: Sequence[bytes] | None = None) -> Select[Any]:
    """Return the query for a page of a study's pairs, or for some alone, with both systems."""
    p = schema.pairs.c
    ends = (p.low_completion_id, p.low_system_id, p.high_system_id)
    query = select(p.id, p.item_id, *ends)
    if only is None:
        return query.where(is_on_page(p.id, study))
    return query.where(type_coerce(p.id, schema.IdBytes).in_(only))


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


class _Numbers(dict[bytes, int]):
    """The number of each id, in the order in which they first come."""

    def __missing__(self, id_: bytes) -> int:
        number = self[id_] = len(self)
        return number


class Sides(dict[bytes, int]):
    """What pairs say of their judgments, of rows of `side_query`: the number of each.

    A study has millions, so that what is known of one lies in four numbers.
    """

    def __init__(self) -> None:
        self._number = _Numbers()
        """Of what pairs and judgments are about."""
        self._about = tuple(array("i") for _ in range(4))
        """By pair: item, completion and system of one side, system of the other."""
        self._texts = np.empty(0, dtype=np.object_)
        """Ids by number."""

    def learn(self, rows: Iterable[tuple[bytes, ...]]) -> None:
        """Take in pairs, ids as bytes."""
        if not (columns := [*zip(*rows, strict=True)]):
            return
        pair_ids, *about = columns
        self.update(zip(pair_ids, range(len(self._about[0]), 2**31), strict=False))
        for numbers, ids in zip(self._about, about, strict=True):
            numbers.extend(map(self._number.__getitem__, ids))

    def unknown(self, page: Iterable[tuple[Any, ...]]) -> Sequence[bytes]:
        """Return the pairs of some rows of `judgment_query` that are not known yet."""
        return sorted({row[1] for row in page if row[1] not in self})

    def complete(self, page: Sequence[tuple[Any, ...]]) -> dict[str, Sequence[Any]]:
        """Return rows of `judgment_query`, ids as bytes, as columns of `judged_query`.

        Raises:
            KeyError: A pair is not known.
            TypeError: What stands for an id is none.
        """
        assigned, paired, *of, repeat, choice, strength, axes, reason = zip(*page, strict=True)
        pair = np.fromiter(map(self.__getitem__, paired), np.int32, len(page))
        number = self._number.__getitem__
        first, rater = (np.fromiter(map(number, each), np.int32, len(page)) for each in of)
        item, low, *systems = (np.frombuffer(each, np.int32)[pair] for each in self._about)
        is_low = low == first
        shown, other = (np.where(is_low, *ends) for ends in (systems, systems[::-1]))
        texts = self._known()
        columns = [
            *([*map(bytes.hex, each)] for each in (assigned, paired)),
            *(texts[each].tolist() for each in (item, shown, other, first, rater)),
            *map(list, (repeat, choice, strength, axes, reason)),
        ]
        return dict(zip(_JUDGED, columns, strict=True))

    def _known(self) -> NDArray[np.object_]:
        """Return what is numbered, as text."""
        if len(self._texts) < len(self._number):
            new = islice(self._number, len(self._texts), None)
            more = np.array([sys.intern(bytes.hex(id_)) for id_ in new], dtype=np.object_)
            self._texts = np.concatenate([self._texts, more])
        return self._texts
