"""Each judge's agreement with people, how much of it more judges add, and how far it can go.

The majority of the people is the measure (SPEC section 7). People themselves do not all agree with
it: how often one person says what most of the others say is the level to read a judge's agreement
by, and a judge in that person's place is held to the same majority of the others. It is no hard
limit: a judge whose answers vary less than one person's can pass it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Final

import numpy as np

from hearteval.analysis.agreement.measures import AgreementMeasure
from hearteval.analysis.agreement.pair_votes import (
    ABSENT,
    CATEGORIES,
    FLIP,
    PairVotes,
    agree,
    count_votes,
    is_vote,
    majorities,
    majority_of_counts,
)
from hearteval.analysis.agreement.votes import measure_same
from hearteval.analysis.estimates import (
    Estimate,
    clustered_estimates,
    interval_name,
    mean_estimates,
)
from hearteval.stats.comparisons import FloatArray, IntArray

MOST_SUBSETS: Final = 256
"""Subsets of so many judges that are gone through; sizes with more of them are left out."""
MAJORITY: Final = "majority of judges"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeAgainstPeople:
    """How often one judge says what most people say."""

    judge: str
    n_pairs_both: int
    """Pairs that people and the judge judged."""
    n_pairs: int
    """Of these, with a majority of the people and a vote of the judge."""
    n_items: int
    n_flips: int
    """Pairs with such a majority on which the judge contradicts itself: no vote, so left out."""
    same: AgreementMeasure


@dataclass(frozen=True, slots=True, kw_only=True)
class Subsample:
    """Agreement with the people's majority of the majorities of so many judges."""

    n_judges: int
    n_subsets: int
    """All subsets of so many judges that leave a majority on any pair."""
    mean: float
    lowest: float
    highest: float
    mean_n_pairs: float
    """Pairs on which such a subset and the people have a majority, on average."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InPlace:
    """A judge, or their majority, in the place of one person after the other."""

    judge: str
    n_votes: int
    """Votes of people in whose place it is put."""
    same: Estimate
    """How often it says what most of the others say."""
    below_person: Estimate
    """How much more often the person does, on the same pairs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """How often one person says what most of the others say: each is left out once."""

    n_people: int
    n_votes: int
    n_pairs: int
    n_items: int
    person: Estimate
    judges: tuple[InPlace, ...]
    """Their majority first, where there are several, then each judge by name."""
    interval_used: str


def compare_each_judge(
    votes: PairVotes, *, level: float, seed: int
) -> tuple[JudgeAgainstPeople, ...]:
    """Compare each judge with the people's majority, the one that agrees most often first.

    Args:
        votes: Pairs that people and judges answered.
        level: Nominal coverage.
        seed: Of the samples of items.
    """
    people = majorities(votes.of_people)
    found = []
    for name, given in zip(votes.judges, votes.of_judges.T, strict=True):
        if (given == ABSENT).all():
            continue
        same = agree(people, given)
        found.append(
            JudgeAgainstPeople(
                judge=name,
                n_pairs_both=int((given != ABSENT).sum()),
                n_flips=int((is_vote(people) & (given == FLIP)).sum()),
                **measure_same(
                    same, votes.item, level=level, seed=seed, undefined="no pair has both"
                ),
            )
        )
    return tuple(sorted(found, key=_best_first))


def _best_first(one: JudgeAgainstPeople) -> tuple[bool, float, str]:
    value = one.same.value
    return value is None, -(value or 0.0), one.judge


def subsample_judges(votes: PairVotes) -> tuple[Subsample, ...]:
    """Return how agreement with people depends on how many judges, and which, there are."""
    people = majorities(votes.of_people)
    given = votes.of_judges[is_vote(people)]
    given = given[:, (given != ABSENT).any(axis=0)]
    people = people[is_vote(people)]
    chosen = np.stack([given == category for category in CATEGORIES], axis=1).astype(np.int64)
    found = []
    for size in range(1, given.shape[1] + 1):
        if comb(given.shape[1], size) > MOST_SUBSETS:
            continue
        shares = list(_agreement_of_subsets(chosen, people, size))
        if shares:
            rates, numbers = zip(*shares, strict=True)
            found.append(
                Subsample(
                    n_judges=size,
                    n_subsets=len(shares),
                    mean=float(np.mean(rates)),
                    lowest=min(rates),
                    highest=max(rates),
                    mean_n_pairs=float(np.mean(numbers)),
                )
            )
    return tuple(found)


def _agreement_of_subsets(
    chosen: IntArray, people: IntArray, size: int
) -> Iterator[tuple[float, int]]:
    """Yield how often each subset of judges agrees, and on how many pairs; (pairs, 3, judges)."""
    for subset in combinations(range(chosen.shape[2]), size):
        judges = majority_of_counts(chosen[:, :, list(subset)].sum(axis=2))
        same = agree(people, judges)
        n_pairs = int((~np.isnan(same)).sum())
        if n_pairs:
            yield float(np.nanmean(same)), n_pairs


def measure_ceiling(votes: PairVotes, *, level: float) -> Ceiling | None:
    """Leave out each person once, and compare them and the judges with most of the others.

    None where no pair has votes of two people. Each vote that is left out weighs the same; the
    interval is two-way over items and the people left out where there are five of them or more.
    """
    of_people = votes.of_people
    pair, person = np.nonzero(is_vote(of_people))
    counts = count_votes(of_people)[pair]
    own = of_people[pair, person]
    others = majority_of_counts(counts - (own[:, np.newaxis] == np.array(CATEGORIES)))
    is_in = is_vote(others)
    if not is_in.any():
        return None
    pair, person, own, others = pair[is_in], person[is_in], own[is_in], others[is_in]
    item, same = votes.item[pair], agree(own, others)
    by_name = zip(votes.judges, votes.of_judges.T, strict=True)
    judges = {name: given for name, given in by_name if is_vote(given).any()}
    if len(judges) > 1:
        judges = {MAJORITY: majorities(votes.of_judges), **judges}
    found = []
    for name, given in judges.items():
        of_judge = agree(given[pair], others)
        is_both = ~np.isnan(of_judge)
        if is_both.any():
            columns = np.stack((of_judge, same), axis=1)[is_both]
            found.append(_in_place(name, columns, item[is_both], person[is_both], level=level))
    return Ceiling(
        n_people=len(np.unique(person)),
        n_votes=len(pair),
        n_pairs=len(np.unique(pair)),
        n_items=len(np.unique(item)),
        person=mean_estimates(same[:, np.newaxis], item, person, level=level)[0],
        judges=tuple(found),
        interval_used=interval_name(person),
    )


def _in_place(
    name: str, columns: FloatArray, item: IntArray, person: IntArray, *, level: float
) -> InPlace:
    """Compare a judge's column with the person's."""
    below = columns[:, 1] - columns[:, 0]
    value = float(below.mean())
    influence = (below - value)[:, np.newaxis] / len(below)
    return InPlace(
        judge=name,
        n_votes=len(columns),
        same=mean_estimates(columns[:, :1], item, person, level=level)[0],
        below_person=clustered_estimates([value], influence, item, person, level=level)[0],
    )
