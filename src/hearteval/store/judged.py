"""Judgments as an analysis reads them: columns, and what pairs say of them."""

import hashlib
import json
import sys
from array import array
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import filterfalse, islice
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Select, Text, select, type_coerce

from hearteval.domain import AXIS_NAMES, Study, pack_marks
from hearteval.domain.columns import ID_BYTES, NO_IDS, Coded, Ids, Numbered
from hearteval.domain.judging import CHOICE_PLACES
from hearteval.store import schema
from hearteval.store.rows import is_of_people, is_on_page


def judgment_query(study: Study, *, of_people: bool = False) -> Select[Any]:
    """Return the query for what a study's judgments, or those of people, say of pairs.

    With what `side_query` finds of the pairs it is `judged_query`, in half the time.
    """
    a, j = schema.assignments, schema.judgments
    query = (
        select(*_asked(), *_said())
        .select_from(a)
        .join(j, j.c.assignment_id == a.c.id)
        .where(a.c.check.is_(None), a.c.study_id == study.id)
    )
    return query.where(is_of_people()) if of_people else query


def side_query(study: Study, only: Sequence[bytes] | None = None) -> Select[Any]:
    """Return the query for a page of a study's pairs, or for some alone, with both systems."""
    p = schema.pairs.c
    query = select(p.id, *_sides())
    if only is None:
        return query.where(is_on_page(p.id, study))
    return query.where(type_coerce(p.id, schema.IdBytes).in_(only))


def judged_query() -> Select[Any]:
    """Return the query for the same and what their pairs say; covered by indexes from end to end.

    Its columns are those of `judgment_query`, and then those of `side_query` but for the pair.
    """
    a, j, p = schema.assignments, schema.judgments, schema.pairs
    return (
        select(*_asked(), *_said(), *_sides())
        .select_from(a)
        .join(j, j.c.assignment_id == a.c.id)
        .join(p, p.c.id == a.c.pair_id)
        .where(a.c.check.is_(None))
    )


def _asked() -> tuple[Any, ...]:
    a = schema.assignments.c
    return a.id.label("assignment_id"), a.pair_id, a.first_completion_id, a.rater_id


def _said() -> tuple[Any, ...]:
    a, j = schema.assignments.c, schema.judgments.c
    axes = type_coerce(j.axes, Text).label("axes")
    return a.repeat, j.choice, j.strength, axes, j.finish_reason


def _sides() -> tuple[Any, ...]:
    p = schema.pairs.c
    return p.item_id, p.low_completion_id, p.low_system_id, p.high_system_id


N_ASKED, N_SAID, N_SIDES = len(_asked()), len(_said()), len(_sides())
LIES: Final = np.dtype(f"V{ID_BYTES}")
"""Of an id, of which no zero at its end may go."""
ROW: Final = np.dtype(
    [
        ("ids", LIES, (N_ASKED + N_SIDES,)),
        ("finish_reason", LIES),
        ("repeat", "<i8"),
        ("strength", "i1"),
        ("choice", "i1"),
        ("axes", "i1", (len(AXIS_NAMES),)),
    ]
)
"""All that is read of a judgment, of which its part in the sum of all is made."""


def packed_rows(rows: Sequence[tuple[Any, ...]]) -> NDArray[np.void]:
    """Return rows of `judged_query`, ids as bytes, as `ROW` has them."""
    columns = [*zip(*rows, strict=True)]
    said = columns[N_ASKED : N_ASKED + N_SAID]
    ids = [*map(_lying, columns[:N_ASKED] + columns[N_ASKED + N_SAID :])]
    reasons = Numbered()
    return _packed(ids, _numbers(said, PackedMarks(), reasons), reasons)


def _packed(
    ids: Sequence[NDArray[np.void]], said: Mapping[str, NDArray[Any]], reasons: Numbered
) -> NDArray[np.void]:
    rows = np.empty(len(ids[0]), dtype=ROW)
    for place, column in enumerate(ids):
        rows["ids"][:, place] = column
    digests = _lying([*map(_digest, reasons)])
    for name, column in said.items():
        rows[name] = digests[column] if name == "finish_reason" else column
    return rows


def _lying(ids: Sequence[bytes]) -> NDArray[np.void]:
    """Return ids in one place.

    Raises:
        TypeError, ValueError: One is none, which would lend its bytes to another.
    """
    if not {*map(len, ids)} <= {ID_BYTES}:
        raise ValueError("an id is none")
    return np.frombuffer(b"".join(ids), dtype=LIES)


class PackedMarks(dict[str, bytes]):
    """Axis marks as `pack_marks` has them, by their JSON text: the same marks come often.

    Marks of single axes come more often still, so that few texts are read as JSON.
    """

    def __init__(self) -> None:
        self["{}"] = pack_marks({})

    def __missing__(self, text: str) -> bytes:
        """Read marks; what are none is a `KeyError` or a `ValueError`."""
        if text[-2:] != "]}":
            raise ValueError("axis marks are none")
        packed = sum(map(_SINGLE.__getitem__, text[:-2].lstrip("{").split("],")))
        made = self[text] = packed.to_bytes(len(AXIS_NAMES))
        return made


class _SingleMarks(dict[str, int]):
    """Packed marks as a number, by a part of their text without its brackets."""

    def __missing__(self, part: str) -> int:
        made = self[part] = int.from_bytes(pack_marks(json.loads(f"{{{part}]}}")))
        return made


_SINGLE: Final = _SingleMarks()


def _numbers(
    said: Sequence[Sequence[Any]], marks: "PackedMarks", reasons: Numbered
) -> dict[str, NDArray[Any]]:
    """Return columns of what was said as the fields of `ROW`, of reasons their numbers.

    Raises:
        KeyError, TypeError, ValueError: A value is none of its kind.
    """
    repeat, choice, strength, axes, finish_reason = said
    packed = b"".join(map(marks.__getitem__, axes))
    return {
        "repeat": _whole(repeat, np.int64),
        "choice": np.fromiter(map(CHOICE_PLACES.__getitem__, choice), np.int8, len(choice)),
        # A strength of 0 and none are not the same where both are compared.
        "strength": _whole([-1 if one is None else one for one in strength], np.int8),
        "axes": np.frombuffer(packed, dtype=np.int8).reshape(-1, len(AXIS_NAMES)),
        "finish_reason": reasons.of(finish_reason),
    }


@lru_cache(maxsize=4_096)
def _digest(words: str | None) -> bytes:
    """Return a text in as many bytes as an id has."""
    if words is None:
        return bytes(ID_BYTES)
    return hashlib.blake2b(words.encode(errors="surrogatepass"), digest_size=ID_BYTES).digest()


def _whole(values: Sequence[Any], kind: type[np.signedinteger[Any]]) -> NDArray[Any]:
    """Return whole numbers as a column.

    Raises:
        ValueError: One is none, or too large for it.
    """
    found, span = np.array(values), np.iinfo(kind)
    if found.dtype.kind != "i" or found.min() < span.min or found.max() > span.max:
        raise ValueError("what is to be a whole number is none")
    return found.astype(kind)


class Sides(dict[bytes, int]):
    """What pairs say of their judgments, of rows of `side_query`: the number of each.

    A study has millions, so that what is known of one lies in four numbers.
    """

    def __init__(self) -> None:
        self._number = Numbered()
        """Of what pairs and judgments are about, by id."""
        self._about = tuple(array("i") for _ in range(N_SIDES))
        """By pair: item, completion and system of one side, system of the other."""
        self._texts: list[str] = []
        self._lie = np.empty(0, dtype=LIES)
        """Ids by number, as text and in few bytes."""
        self._pairs = NO_IDS
        self._marks, self._reasons = PackedMarks(), Numbered()

    def learn(self, rows: Iterable[tuple[bytes, ...]]) -> None:
        """Take in pairs, ids as bytes; one that is known keeps its number."""
        if not (columns := [*zip(*(row for row in rows if row[0] not in self), strict=True)]):
            return
        pair_ids, *about = columns
        self.update(zip(pair_ids, range(len(self._about[0]), 2**31), strict=False))
        for numbers, ids in zip(self._about, about, strict=True):
            numbers.extend(map(self._number.__getitem__, ids))

    def unknown(self, page: Iterable[tuple[Any, ...]]) -> Sequence[bytes]:
        """Return the pairs of some rows of `judgment_query` that are not known yet."""
        return [*filterfalse(self.__contains__, {row[1] for row in page})]

    def complete(self, page: Sequence[tuple[Any, ...]]) -> tuple[dict[str, Any], NDArray[np.void]]:
        """Return the columns of `Store.judgment_table` of rows of `judgment_query`, and as `ROW`.

        Ids are bytes in them.

        Raises:
            KeyError: A pair is not known, or a choice or mark is none.
            TypeError, ValueError: What stands for an id or a number is none.
        """
        columns = [*zip(*page, strict=True)]
        assigned, paired, *of = columns[:N_ASKED]
        said = _numbers(columns[N_ASKED:], self._marks, self._reasons)
        pair = np.fromiter(map(self.__getitem__, paired), np.int32, len(page))
        first, rater = map(self._number.of, of)
        item, low, *systems = (np.frombuffer(each, np.int32)[pair] for each in self._about)
        is_low = low == first
        shown, other = (np.where(is_low, *ends) for ends in (systems, systems[::-1]))
        self._name()
        own, about = _lying(assigned), (first, rater, item, low, *systems)
        ids = [own, _lying(paired), *(self._lie[each] for each in about)]
        rows = _packed(ids, said, self._reasons)
        return {
            "assignment_id": Ids(own.view(f"S{ID_BYTES}"), is_packed=True),
            "pair_id": Coded(self._pairs, pair),
            "item_id": Coded(self._texts, item),
            "first_system_id": Coded(self._texts, shown),
            "second_system_id": Coded(self._texts, other),
            "first_completion_id": Coded(self._texts, first),
            "rater_id": Coded(self._texts, rater),
            **said,
            "strength": np.maximum(said["strength"], 0),
            "finish_reason": Coded((*self._reasons,), said["finish_reason"]),
        }, rows

    def _name(self) -> None:
        """Bring the ids of what is numbered up to date."""
        if len(self._texts) < len(self._number):
            new = [*islice(self._number, len(self._texts), None)]
            self._lie = np.concatenate([self._lie, _lying(new)])
            self._texts.extend(sys.intern(bytes.hex(id_)) for id_ in new)
        if len(self._pairs) < len(self):
            self._pairs = Ids(_lying([*self]).view(f"S{ID_BYTES}"), is_packed=True)
