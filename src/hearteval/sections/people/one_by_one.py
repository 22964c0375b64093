"""Whose answers agree with others' no more than chance would: `PeopleOneByOne`.

A person's agreement with the others is how often they say what each other person says of the same
pairs. What chance alone would make of it follows from how often they and the others give each
answer; what is beyond is 0 for whoever does not read, whichever answers they like. Who sees replies
otherwise than all others shows the same, and of honest people who are unsteady some do. So it says
what was seen and not what a person did, and nobody is left out of any figure because of it.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from hearteval.analysis.agreement.pair_votes import CATEGORIES, PairVotes, count_votes, is_vote
from hearteval.analysis.estimates import (
    Contrast,
    Estimate,
    clustered_estimates,
    contrast_of,
)
from hearteval.stats.comparisons import FloatArray, IntArray
from hearteval.stats.means import ROUNDING, q_where_tested

MIN_PAIRS: Final = 20
"""Of a person, that others judged too; with fewer nothing is said of them."""
MIN_ITEMS: Final = 10
"""That these pairs are of."""
MIN_PEOPLE: Final = 3
"""With enough pairs: of two who do not agree nobody knows who is the one."""
FALSE_DISCOVERIES: Final = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonBesideOthers:
    """How far one person agrees with the other people."""

    person: str
    """Their pseudonym."""
    n_pairs: int
    """Pairs that they and another person judged."""
    n_items: int
    same: float
    """How often they say what one of the others says."""
    by_chance: float
    """How often they would by chance: the product of how often they and the others give each
    answer, summed over answers."""
    beyond: Estimate
    """The one less the other, with its interval over items."""
    from_others: Contrast
    """That less the mean of the same for the other people, and the test that it is none."""
    q: float | None
    """The p of it, adjusted over people (Benjamini and Hochberg 1995); None without a test."""
    is_as_if_random: bool
    """Whether they are below the others with a q of at most `FALSE_DISCOVERIES`, and the interval
    of `beyond` holds 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleOneByOne:
    """Each person beside the other people; exploratory."""

    people: tuple[PersonBesideOthers, ...]
    """By how far they agree beyond chance, the least first; empty under `MIN_PEOPLE` of them."""
    n_too_few: int
    """People of whom nothing is said: they share too few pairs with others, or are too few."""
    min_pairs: int = MIN_PAIRS
    min_items: int = MIN_ITEMS


def compare_each_person(votes: PairVotes, *, level: float) -> PeopleOneByOne | None:
    """Set each person beside the others; None where no pair has votes of two people."""
    names = [rater.name for rater in votes.names.raters if rater.kind == "human"]
    return compare_answers(votes.of_people, votes.item, names, level=level)


def compare_answers(
    votes: IntArray, item: IntArray, names: list[str], *, level: float
) -> PeopleOneByOne | None:
    """Set each column of votes beside the others.

    Args:
        votes: A side, a tie or none, (pairs, people).
        item: Item of each pair.
        names: Of the people.
        level: Nominal coverage.
    """
    alone = _leave_each_out(votes, item)
    if not alone:
        return None
    known = [
        k for k, own in alone.items() if len(own.item) >= MIN_PAIRS and own.n_items >= MIN_ITEMS
    ]
    if len(known) < MIN_PEOPLE:
        return PeopleOneByOne(people=(), n_too_few=len(alone))
    total = np.zeros(int(item.max()) + 1)
    n_rows = np.zeros_like(total)
    for k in known:
        np.add.at(total, alone[k].item, alone[k].influence)
        np.add.at(n_rows, alone[k].item, 1)
    mean = float(np.mean([alone[k].beyond for k in known]))
    contrasts = [
        _from_others(alone[k], total, n_rows, mean, len(known), level=level) for k in known
    ]
    adjusted = q_where_tested([one.p for one in contrasts])
    found = [
        _beside(names[k], alone[k], contrast, q, level=level)
        for k, contrast, q in zip(known, contrasts, adjusted, strict=True)
    ]
    return PeopleOneByOne(
        people=tuple(sorted(found, key=lambda one: (one.beyond.value, one.person))),
        n_too_few=len(alone) - len(known),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Alone:
    """A person's pairs that others judged too."""

    item: IntArray
    same: float
    by_chance: float
    influence: FloatArray
    """What agreement beyond chance moves by with each pair."""

    @property
    def beyond(self) -> float:
        return self.same - self.by_chance

    @property
    def n_items(self) -> int:
        return len(np.unique(self.item))


def _leave_each_out(votes: IntArray, item: IntArray) -> dict[int, _Alone]:
    """Return the agreement of each person who shares a pair with another, by column."""
    counts = count_votes(votes)
    found = {}
    for k, given in enumerate(votes.T):
        own = (given[:, np.newaxis] == np.array(CATEGORIES)).astype(np.float64)
        others = counts - own
        n_others = others.sum(axis=1)
        is_in = is_vote(given) & (n_others > 0)
        if not is_in.any():
            continue
        own, others = own[is_in], others[is_in] / n_others[is_in, np.newaxis]
        of_own, of_others = own.mean(axis=0), others.mean(axis=0)
        same, by_chance = float((own * others).sum(axis=1).mean()), float(of_own @ of_others)
        together = ((own - of_own) * (others - of_others)).sum(axis=1)
        found[k] = _Alone(
            item=item[is_in],
            same=same,
            by_chance=by_chance,
            influence=(together - (same - by_chance)) / len(together),
        )
    return found


def _from_others(
    own: _Alone, total: FloatArray, n_rows: FloatArray, mean: float, n_people: int, *, level: float
) -> Contrast:
    """Contrast a person with the mean of the others, whose influence is summed by item."""
    n_others = n_people - 1
    of_others, n_left = total.copy(), n_rows.copy()
    np.subtract.at(of_others, own.item, own.influence)
    np.subtract.at(n_left, own.item, 1)
    items = np.flatnonzero(n_left)
    item = np.concatenate((own.item, items))
    return contrast_of(
        own.beyond - (mean * n_people - own.beyond) / n_others,
        np.concatenate((own.influence, -of_others[items] / n_others)),
        item,
        np.full(len(item), -1),
        part=np.repeat((0, 1), (len(own.item), len(items))),
        level=level,
    )


def _beside(
    name: str, own: _Alone, contrast: Contrast, q: float | None, *, level: float
) -> PersonBesideOthers:
    beyond = clustered_estimates(
        [own.beyond],
        own.influence[:, np.newaxis],
        own.item,
        np.full(len(own.item), -1),
        level=level,
    )[0]
    low, high = (own.beyond if end is None else end for end in (beyond.low, beyond.high))
    return PersonBesideOthers(
        person=name,
        n_pairs=len(own.item),
        n_items=own.n_items,
        same=own.same,
        by_chance=own.by_chance,
        beyond=beyond,
        from_others=contrast,
        q=q,
        is_as_if_random=(
            q is not None
            and q <= FALSE_DISCOVERIES
            and contrast.value < 0
            and low <= ROUNDING
            and high >= -ROUNDING
        ),
    )
