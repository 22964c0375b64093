"""Judgments as parallel arrays: `JudgmentColumns`, for analyses that pass over them many times.

Every index counts names in sorted order, and rows stand in the order of their indices, so that
neither the order of judgments nor the ids of imported records change a digit.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from hearteval.analysis.data import StudyData
from hearteval.analysis.judgments import WON, Judgments
from hearteval.domain import Axis, Choice, Completion, Item, Pair, Rater, System, content_hash
from hearteval.domain.judging import MAX_STRENGTH
from hearteval.stats.comparisons import FloatArray, IntArray, Lies, LookedUp, Packed, pack, widen

SCORES: Mapping[Choice, float] = {"first": 1.0, "tie": 0.5, "second": 0.0}
"""What the completion shown first has won."""
BoolArray = NDArray[np.bool_]
Wide = TypeVar("Wide", IntArray, FloatArray)
STRENGTHS: Final = np.arange(MAX_STRENGTH + 1, dtype=np.float64)
_BESIDE: Final = ("names", "marks")
"""What of judgments is no column."""


class Names(NamedTuple):
    """What the indices count, each in the order of its index."""

    items: tuple[Item, ...]
    """By id."""
    systems: tuple[System, ...]
    """By name."""
    raters: tuple[Rater, ...]
    """People last, by name."""
    completions: tuple[Completion, ...]
    """By item, the name of the system, writer and repeat."""


class PackedMarks(Mapping[Axis, Wide]):
    """Columns by axis, packed as others are."""

    def __init__(self, columns: Mapping[Axis, Lies]) -> None:
        self.lie = {axis: pack(column) for axis, column in columns.items()}

    def __getitem__(self, axis: Axis) -> Wide:
        return cast("Wide", widen(self.lie[axis]))

    def __iter__(self) -> Iterator[Axis]:
        return iter(self.lie)

    def __len__(self) -> int:
        return len(self.lie)

    def select(self, rows: BoolArray | IntArray | slice) -> "PackedMarks[Wide]":
        """Return some of the rows."""
        return PackedMarks({axis: column[rows] for axis, column in self.lie.items()})


@dataclass(frozen=True, kw_only=True, eq=False)
class JudgmentColumns:
    """The judgments among ranked systems, a row each.

    Columns lie in few bytes and are made wide, int64 and float64, whenever they are read.
    """

    names: Names
    item: Packed[IntArray] = Packed()
    pair: Packed[IntArray] = Packed()
    """Numbered by what the pairs are of."""
    rater: Packed[IntArray] = Packed()
    is_person: BoolArray
    first: Packed[IntArray] = Packed()
    """System of the completion shown as A."""
    second: Packed[IntArray] = Packed()
    first_text: Packed[IntArray] = Packed()
    """Completion shown as A."""
    second_text: Packed[IntArray] = Packed()
    one_text: Packed[IntArray] = Packed()
    """Completion of the pair that a hash puts first, whatever was shown first: see `pair_sides`."""
    score: Packed[FloatArray] = Packed()
    """1 where A won, 0.5 a tie, 0 where B won."""
    strength: Packed[FloatArray] = Packed()
    """1 to 5; 0 of a tie."""
    marks: PackedMarks[FloatArray]
    """Score of A on an axis, NaN where it has no mark; axes with any mark only."""

    def __len__(self) -> int:
        return len(self.is_person)

    def select(self, rows: BoolArray | IntArray | slice) -> "JudgmentColumns":
        """Return some of the rows."""
        taken: dict[int, NDArray[Any]] = {}  # by places, which several columns share

        def some(lies: Lies) -> Lies:
            places = lies.places if isinstance(lies, LookedUp) else lies
            if id(places) not in taken:
                taken[id(places)] = places[rows]
            found = taken[id(places)]
            return LookedUp(found, lies.table) if isinstance(lies, LookedUp) else found

        values: Any = {k: some(lies) for k, lies in vars(self).items() if k not in _BESIDE}
        return JudgmentColumns(names=self.names, marks=self.marks.select(rows), **values)

    @property
    def sampled_rater(self) -> IntArray:
        """Return the raters as intervals take them: judges are -1, a fixed panel."""
        return np.where(self.is_person, self.rater, -1)

    @property
    def writer(self) -> IntArray:
        """Return who wrote the completion by a person, -1 where neither is by one.

        Of two people's it is the last by name: an interval takes a judgment as one writer's.
        """
        of_text = number_writers(self.names.completions)
        return np.maximum(of_text[self.first_text], of_text[self.second_text])


def number_writers(completions: Sequence[Completion]) -> IntArray:
    """Return who wrote each completion, people numbered by name; -1 where no person did."""
    names = sorted({one.writer_id for one in completions if one.writer_id is not None})
    place: dict[str | None, int] = {name: k for k, name in enumerate(names)}
    return np.array([place.get(one.writer_id, -1) for one in completions], dtype=np.int64)


def to_columns(judgments: Judgments, data: StudyData) -> JudgmentColumns:
    """Return judgments of a study's ranked systems as arrays.

    Raises:
        KeyError: A judgment names something that the study does not hold.
    """
    names = _names(data)
    items = {one.id: place for place, one in enumerate(names.items)}
    systems = {one.id: place for place, one in enumerate(names.systems)}
    raters = {one.id: place for place, one in enumerate(names.raters)}
    texts = {one.id: place for place, one in enumerate(names.completions)}
    in_order = sorted(_completion_hashes(data).items(), key=lambda one: (one[1], one[0]))
    rank = {id_: place for place, (id_, _) in enumerate(in_order)}
    of_rank = np.array([texts[id_] for id_, _ in in_order], dtype=np.int64)
    sides = np.sort([end.numbers(rank) for end in (data.pairs.low, data.pairs.high)], axis=0)
    by_sides = np.lexsort(sides[::-1])
    # Pairs stay in a study whose file no longer names their systems.
    by_sides = by_sides[sides[0, by_sides] >= 0]
    number = np.full(len(data.pairs), -1)
    number[by_sides] = np.arange(len(by_sides))
    one_of, other_of = of_rank[sides[:, by_sides]]
    # Each column is packed before the next is made.
    pair = pack(data.pairs.known(number, judgments.pair))
    first_text = pack(judgments.first_completion.known(texts))
    rater = pack(judgments.rater.known(raters))
    order = np.lexsort((judgments.repeat, first_text, rater, pair))
    pair, first_text, rater = pair[order], first_text[order], rater[order]
    judgments = judgments.select(order)
    del order
    one = one_of[pair]
    second_text = pack(np.where(first_text == one, other_of[pair], one))
    del one
    system_of = pack(
        np.array([systems.get(one.system_id, -1) for one in names.completions], dtype=np.int64)
    )
    item_of = pack(data.pairs.item.numbers(items)[by_sides])
    is_human = np.array([rater.kind == "human" for rater in names.raters], dtype=np.bool_)
    columns: dict[str, Any] = {
        "item": LookedUp(pair, item_of),
        "pair": pair,
        "rater": rater,
        "is_person": is_human[rater],
        "first": LookedUp(first_text, system_of),
        "second": LookedUp(second_text, system_of),
        "first_text": first_text,
        "second_text": second_text,
        "one_text": LookedUp(pair, pack(one_of)),
        "score": LookedUp(judgments.choice, WON),
        "strength": LookedUp(judgments.strength, STRENGTHS),
    }
    for name, what in (("item", "an item"), ("first", "a system"), ("second", "a system")):
        if (columns[name].table[columns[name].places] < 0).any():
            raise KeyError(f"a judgment is about {what} that the study does not hold")
    said = {axis: judgments.said(axis)[0] for axis in judgments.axes}
    marks = PackedMarks[FloatArray]({axis: LookedUp(one, WON) for axis, one in said.items()})
    return JudgmentColumns(names=names, marks=marks, **columns)


def pair_sides(data: StudyData, pairs: Iterable[Pair]) -> dict[str, list[tuple[str, str]]]:
    """Return both completions of each of these pairs, each after a hash of its own.

    The first side stands first.

    A hash of what the completions are of, no id: a study of imported records gives the same sides.
    """
    keys = _completion_hashes(data)
    return {
        pair.id: sorted((keys.get(id_, ""), id_) for id_ in pair.completion_ids) for pair in pairs
    }


def _completion_hashes(data: StudyData) -> dict[str, str]:
    names = {system.id: system.name for system in data.systems}
    return {c.id: completion_hash(c, names.get(c.system_id)) for c in data.completions}


def completion_hash(completion: Completion, system: str | None) -> str:
    """Return a hash of what a completion is of, the system by its name: it decides between equals.

    No id enters it: a study of imported records decides the same.
    """
    c = completion
    return content_hash([c.item_id, system, c.writer_id, c.repeat])


def _names(data: StudyData) -> Names:
    name_of = {system.id: system.name for system in data.systems}
    return Names(
        items=tuple(sorted(data.items, key=lambda item: item.id)),
        systems=tuple(sorted(data.systems, key=lambda system: system.name)),
        raters=tuple(sorted(data.raters, key=lambda rater: (rater.kind == "human", rater.name))),
        completions=tuple(
            sorted(
                data.completions,
                key=lambda c: (
                    c.item_id,
                    name_of.get(c.system_id, ""),
                    c.writer_id or "",
                    c.repeat,
                ),
            )
        ),
    )
