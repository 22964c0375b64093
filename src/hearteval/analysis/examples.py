"""Which comparisons a person should read: of every two systems the contested, the clear, and any.

Chosen by what was said; texts and reasons are read later, of these only. A choice depends on the
study's seed and on what was judged, never on the order of rows.
"""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hearteval.analysis.judgments import Judgments
from hearteval.domain import System
from hearteval.domain.columns import Ids
from hearteval.stats.comparisons import IntArray, pack, run_starts

ChosenAs = Literal["contested", "decisive", "random"]
N_OF_EACH = 2
"""Comparisons of every two systems, of each sort."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """Two completions of one item that were compared, to be read.

    Attributes:
        left: System; the two stand in the order of their names.
        chosen_as: Why it is here: verdicts contradict each other, all agree, or by chance.
        contest: Mean strength, 0 to 5, that stands against the stronger side: 0 where no two
            verdicts contradict each other.
        lead: Mean strength by which the stronger side, `ahead`, leads; None where none does.
        assignment_ids: What raters said of it, repeats left out.
        is_opposed: Whether more people choose the one, and more judges the other.
    """

    pair_id: str
    item_id: str
    left: str
    right: str
    chosen_as: ChosenAs
    contest: float
    lead: float
    assignment_ids: tuple[str, ...]
    ahead: str | None = None
    is_opposed: bool = False


def choose_examples(
    judgments: Judgments,
    systems: Sequence[System],
    *,
    seed: int,
    people: Collection[str] = (),
    n_of_each: int = N_OF_EACH,
) -> tuple[Example, ...]:
    """Choose comparisons of every two of some systems; the most contested of each two first.

    Contested are those in which some verdicts prefer one completion and some the other: first those
    on which people, by their ids, and judges are opposed, then by the strength of the
    contradiction; decisive those in which all prefer the same, the strongest first; the rest are
    drawn with the seed. None is chosen twice, so that two systems that hardly met have fewer.
    Repeats are left out, and completions of one system compared with each other.
    """
    names = {system.id: system.name for system in systems}
    of_two = judgments.first_system.codes != judgments.second_system.codes
    is_first = judgments.repeat == 0
    found = _Compared(
        judgments.select(of_two & is_first & judgments.is_among(names)), names, people
    )
    return tuple(
        example
        for places in found.by_systems()
        for example in _choose(found, places, seed=seed, n_of_each=n_of_each)
    )


def by_interest(examples: Iterable[Example], *, mine: str | None = None) -> list[Example]:
    """Return examples as they are worth reading: each dialogue once before any comes again.

    Of every two systems one stands before the next ones. Among these, those on which people and
    judges are opposed stand first, then the most contested, then those with the narrowest lead.
    Where the study is asked about one system, those that it lost most clearly stand before all,
    then those that it won.
    """
    places: dict[tuple[str, str], int] = defaultdict(int)
    keyed = []
    for example in sorted(examples, key=_contest):
        ends = (example.left, example.right)
        keyed.append(((*_of_mine(example, mine), places[ends], *_contest(example)), example))
        places[ends] += 1
    times: dict[str, int] = defaultdict(int)
    found = []
    for _, example in sorted(keyed, key=lambda one: one[0]):
        found.append((times[example.item_id], example))
        times[example.item_id] += 1
    return [example for _, example in sorted(found, key=lambda one: one[0])]


def _of_mine(example: Example, mine: str | None) -> tuple[int, float]:
    is_decided = example.ahead is not None and mine in (example.left, example.right)
    if not is_decided:
        return 2, 0.0
    return int(example.ahead == mine), -example.lead


def _contest(example: Example) -> tuple[bool, float, float, str]:
    return not example.is_opposed, -example.contest, example.lead, example.pair_id


class _Compared:
    """What was said of each pair of completions: columns, a row for each pair."""

    def __init__(
        self, judgments: Judgments, names: Mapping[str, str], people: Collection[str]
    ) -> None:
        self.judgments = judgments
        order = np.argsort(judgments.pair.codes, kind="stable")
        self.order = pack(order)
        in_order = judgments.pair.codes[order]
        self.starts = run_starts(in_order)
        self.n = np.diff(self.starts, append=len(order))
        first = order[self.starts]
        self.names = [names.get(id_, "") for id_ in judgments.first_system.values]
        _, place = np.unique(self.names, return_inverse=True)
        ends = np.stack([judgments.first_system.codes[first], judgments.second_system.codes[first]])
        self.left, self.right = np.take_along_axis(ends, np.argsort(place[ends], axis=0), axis=0)
        self.place = place
        self.pair_ids = Ids.of(judgments.pair.values)[in_order[self.starts]]
        self.item = judgments.item[first]
        judgments = judgments.select(order)
        winner, strength = judgments.winner, judgments.strength
        won = [winner == np.repeat(end, self.n) for end in (self.left, self.right)]
        self.n_for = np.stack([self._sum(side) for side in won])
        self.strengths = np.stack([self._sum(side * strength) for side in won])
        is_person = judgments.rater.is_in(people)
        leads = [
            self._sum((won[1].astype(np.int8) - won[0]) * kind) for kind in (~is_person, is_person)
        ]
        self.opposed = {*np.flatnonzero(leads[0] * leads[1] < 0).tolist()}
        self.contest = self.strengths.min(axis=0) / self.n
        self.lead = np.abs(self.strengths[0] - self.strengths[1]) / self.n
        is_contested = self.n_for.min(axis=0) > 0
        is_decisive = self.n_for.max(axis=0) == self.n
        self.is_contested, self.is_decisive = is_contested, is_decisive & ~is_contested

    def _sum(self, values: NDArray[Any]) -> IntArray:
        """Return the sums of values by pair, whose rows stand together."""
        if not len(self.starts):
            return np.zeros(0, dtype=np.int64)
        return np.add.reduceat(values, self.starts, dtype=np.int64)

    def by_systems(self) -> Iterator[list[int]]:
        """Yield the pairs of each two systems, in the order of their names."""
        key = self.place[self.left] * len(self.names) + self.place[self.right]
        order = np.argsort(key, kind="stable")
        for places in np.split(order, np.flatnonzero(np.diff(key[order])) + 1):
            if len(places):
                yield places.tolist()

    def example(self, k: int, chosen_as: ChosenAs) -> Example:
        """Return one of them, to be read."""
        ahead = np.sign(self.strengths[1, k] - self.strengths[0, k])
        rows = self.order[self.starts[k] :][: self.n[k]]
        left, right = self.names[self.left[k]], self.names[self.right[k]]
        return Example(
            pair_id=self.pair_ids[k],
            item_id=self.item.values[self.item.codes[k]],
            left=left,
            right=right,
            chosen_as=chosen_as,
            contest=float(self.contest[k]),
            lead=float(self.lead[k]),
            ahead=(None, right, left)[ahead],
            assignment_ids=tuple(sorted(self.judgments.select(rows).assignment)),
            is_opposed=k in self.opposed,
        )


def _choose(
    found: _Compared, places: Collection[int], *, seed: int, n_of_each: int
) -> list[Example]:
    """Choose among the comparisons of two systems, which say by themselves what they could be."""
    chance = {
        k: _chance(seed, id_)
        for k, id_ in zip(places, found.pair_ids[np.array(places)], strict=True)
    }
    drawn = sorted(places, key=chance.__getitem__)
    contest, lead = found.contest, found.lead
    contested = [k for k in drawn if found.is_contested[k]]
    contested.sort(key=lambda k: (k not in found.opposed, -contest[k], lead[k]))
    decisive = sorted(
        (k for k in drawn if found.is_decisive[k]), key=lambda k: (-contest[k], -lead[k])
    )
    chosen = [*contested[:n_of_each], *decisive[:n_of_each]]
    others = [k for k in drawn if k not in chosen][:n_of_each]
    return [
        *(found.example(k, "contested") for k in contested[:n_of_each]),
        *(found.example(k, "decisive") for k in decisive[:n_of_each]),
        *(found.example(k, "random") for k in others),
    ]


def _chance(seed: int, pair_id: str) -> bytes:
    return hashlib.sha256(f"{seed}/{pair_id}".encode()).digest()
