"""Which pairs are compared: completions -> pairs, from the study's seed.

Everything here is decided by hashes of seed and content, never by the order of the input, so a
rerun plans the same and a grown study keeps what was planned. Leaves out who judges (assignment).
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from itertools import combinations
from typing import NamedTuple, TypeVar

from hearteval.domain import Completion, Display, Item, Pair, display_form, pair_id
from hearteval.judgments.plan import PlanPolicy

SystemPair = tuple[str, str]


class Candidate(NamedTuple):
    """A pair that could be compared, and the systems of its completions; most are stored by now."""

    id: str
    """Of the pair."""
    item_id: str
    completion_ids: tuple[str, str]
    """Sorted."""
    of_completions: SystemPair
    """In their order."""

    @property
    def system_ids(self) -> SystemPair:
        """The two systems, sorted."""
        one, other = self.of_completions
        return (one, other) if one < other else (other, one)

    @property
    def pair(self) -> Pair:
        """The pair as a record."""
        return Pair(item_id=self.item_id, completion_ids=self.completion_ids, id=self.id)

    def is_among(self, system_ids: Collection[str]) -> bool:
        """Say whether both systems are among these."""
        return all(one in system_ids for one in self.of_completions)


T = TypeVar("T", Candidate, Completion, Item)


def seeded_rank(seed: int, *names: str) -> str:
    """Return a pseudo-random sort key for something, from the seed and its names alone."""
    return hashlib.sha256("\x00".join((str(seed), *names)).encode()).hexdigest()


def choose_again(
    things: Iterable[T], before: Collection[str], *, n: int, seed: int, name: str = "repeat"
) -> list[T]:
    """Choose `n` things: those chosen `before`, by id, then in an order of the seed and a name.

    Where more than `n` were chosen before, as many are chosen.
    """
    order = sorted(things, key=lambda x: (x.id not in before, seeded_rank(seed, name, x.id)))
    return order[: max(n, len(before))]


def enumerate_pairs(
    completions: Iterable[Completion], *, display: Display = "raw"
) -> tuple[tuple[Candidate, ...], int]:
    """Return every pair of completions of one item by different systems, sorted by the pair's id.

    Two completions that are shown as the same text (outer white space apart) cannot be told apart
    by a blinded rater: such pairs are left out; how many is the second value.
    """
    candidates, n_identical = [], 0
    completions = list(completions)
    shown = _shown(completions, display)
    for one, other in _of_one_item(completions):
        if shown[one.id] == shown[other.id]:
            n_identical += 1
        else:
            candidates.append(pair_up(one, other))
    candidates.sort(key=lambda candidate: candidate.id)
    return tuple(candidates), n_identical


def count_identical(completions: Iterable[Completion], *, display: Display = "raw") -> int:
    """Count the pairs that `enumerate_pairs` leaves out because both texts are the same."""
    completions = list(completions)
    shown = _shown(completions, display)
    return sum(shown[one.id] == shown[other.id] for one, other in _of_one_item(completions))


def pair_up(one: Completion, other: Completion) -> Candidate:
    """Return the pair of two completions of one item."""
    low, high = (one, other) if one.id < other.id else (other, one)
    ids, systems = (low.id, high.id), (low.system_id, high.system_id)
    return Candidate(pair_id(*ids), one.item_id, ids, systems)


def choose_pairs(
    candidates: Sequence[Candidate],
    policy: PlanPolicy,
    *,
    seed: int,
    planned: Collection[str] = (),
    most: int | None = None,
    pool: Collection[str] = (),
) -> tuple[Candidate, ...]:
    """Choose pairs as a policy says; `planned` and `most` as in `choose_balanced`.

    Where newcomers meet the systems of a `pool`, by id, pairs within the pool are none of it, and
    each completion of a newcomer has so many opponents on average, every system equally often.
    """
    n = policy.comparisons
    if policy.opponents is not None:
        candidates = [one for one in candidates if not one.is_among(pool)]
        new = {
            text
            for one in candidates
            for text, system in zip(one.completion_ids, one.of_completions, strict=True)
            if system not in pool
        }
        n = policy.opponents * len(new)
    if n is None:
        return tuple(candidates)
    return choose_balanced(candidates, n=n, seed=seed, planned=planned, most=most)


def choose_balanced(
    candidates: Sequence[Candidate],
    *,
    n: int,
    seed: int,
    planned: Collection[str] = (),
    most: int | None = None,
) -> tuple[Candidate, ...]:
    """Choose `n` pairs so that pairs of systems, then items, are compared equally often.

    Each step takes the pair of systems with the fewest comparisons and, of its items, the one used
    least; ties go by seeded hash. Pairs already planned, given by id, stay chosen and count. The
    pairs are sorted by id; where there are fewer than `n`, all are chosen, but of any two systems
    at `most` so many.
    """
    chosen = [candidate for candidate in candidates if candidate.id in planned]
    item_index = {item: i for i, item in enumerate(sorted({c.item_id for c in candidates}))}
    item_counts = [0] * len(item_index)
    system_counts: Counter[SystemPair] = Counter()
    for candidate in chosen:
        item_counts[item_index[candidate.item_id]] += 1
        system_counts[candidate.system_ids] += 1
    queues = _queues(candidates, seed=seed, planned=planned)
    heap = [(system_counts[key], seeded_rank(seed, *key), key) for key in queues]
    heapify(heap)
    while heap and len(chosen) < n:
        count, rank, key = heappop(heap)
        if most is not None and count >= most:
            break
        queue = queues[key]
        used = [item_counts[item_index[candidate.item_id]] for candidate in queue]
        taken = queue.pop(used.index(min(used)))
        item_counts[item_index[taken.item_id]] += 1
        chosen.append(taken)
        if queue:
            heappush(heap, (count + 1, rank, key))
    return tuple(sorted(chosen, key=lambda candidate: candidate.id))


def _of_one_item(completions: Iterable[Completion]) -> Iterator[tuple[Completion, Completion]]:
    """Yield every two completions of one item by different systems."""
    by_item: dict[str, list[Completion]] = defaultdict(list)
    for completion in completions:
        by_item[completion.item_id].append(completion)
    for answers in by_item.values():
        for one, other in combinations(answers, 2):
            if one.system_id != other.system_id:
                yield one, other


def _shown(completions: Iterable[Completion], display: Display) -> dict[str, str]:
    return {one.id: display_form(one.text, display).strip() for one in completions}


def _queues(
    candidates: Sequence[Candidate], *, seed: int, planned: Collection[str]
) -> dict[SystemPair, list[Candidate]]:
    """Group the pairs not yet planned by their systems, each group in seeded order."""
    queues: dict[SystemPair, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        if candidate.id not in planned:
            queues[candidate.system_ids].append(candidate)
    for key, queue in queues.items():
        queue.sort(key=lambda c: seeded_rank(seed, c.item_id, *key))
    return queues
