"""Which comparisons a person should read: of every two systems the contested, the clear, and any.

Chosen from light rows; texts and reasons are read later, of these only. A choice depends on the
study's seed and on what was judged, never on the order of rows.
"""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from hearteval.analysis.data import TIE, JudgmentRow
from hearteval.domain import System

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
    judgments: Iterable[JudgmentRow],
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
    found: dict[str, list[JudgmentRow]] = defaultdict(list)
    for row in judgments:
        is_of_two = row.first_system_id != row.second_system_id
        if row.repeat == 0 and is_of_two and row.is_among(names):
            found[row.pair_id].append(row)
    by_systems: dict[tuple[str, str], list[Example]] = defaultdict(list)
    for rows in found.values():
        sides = sorted((rows[0].first_system_id, rows[0].second_system_id), key=names.__getitem__)
        example = _example(rows, (sides[0], sides[1]), names, people)
        by_systems[example.left, example.right].append(example)
    return tuple(
        example
        for _, examples in sorted(by_systems.items())
        for example in _choose(examples, seed=seed, n_of_each=n_of_each)
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


def _example(
    rows: Sequence[JudgmentRow],
    ends: tuple[str, str],
    names: Mapping[str, str],
    people: Collection[str],
) -> Example:
    n_for, strengths, leads = [0, 0], [0, 0], [0, 0]
    for row in rows:
        if row.choice != TIE:
            side = ends.index(row.winner)
            n_for[side] += 1
            strengths[side] += row.strength or 0
            if people:
                leads[row.rater_id in people] += 1 if side else -1
    is_decisive = len(rows) in n_for
    return Example(
        pair_id=rows[0].pair_id,
        item_id=rows[0].item_id,
        left=names[ends[0]],
        right=names[ends[1]],
        chosen_as="contested" if all(n_for) else "decisive" if is_decisive else "random",
        contest=min(strengths) / len(rows),
        lead=abs(strengths[0] - strengths[1]) / len(rows),
        ahead=None if strengths[0] == strengths[1] else names[ends[strengths[1] > strengths[0]]],
        assignment_ids=tuple(sorted(row.assignment_id for row in rows)),
        is_opposed=leads[0] * leads[1] < 0,
    )


def _choose(examples: Collection[Example], *, seed: int, n_of_each: int) -> list[Example]:
    """Choose among the comparisons of two systems, which say by themselves what they could be."""
    chance = {
        one.pair_id: hashlib.sha256(f"{seed}/{one.pair_id}".encode()).digest() for one in examples
    }
    drawn = sorted(examples, key=lambda one: chance[one.pair_id])
    contested = sorted((one for one in drawn if one.chosen_as == "contested"), key=_opposed_first)
    decisive = sorted((one for one in drawn if one.chosen_as == "decisive"), key=_strongest)
    chosen = [*contested[:n_of_each], *decisive[:n_of_each]]
    taken = {one.pair_id for one in chosen}
    others = [one for one in drawn if one.pair_id not in taken][:n_of_each]
    return [*chosen, *(replace(one, chosen_as="random") for one in others)]


def _opposed_first(example: Example) -> tuple[bool, float, float]:
    return (not example.is_opposed, *_strongest(example))


def _strongest(example: Example) -> tuple[float, float]:
    return -example.contest, -example.lead if example.chosen_as == "decisive" else example.lead
