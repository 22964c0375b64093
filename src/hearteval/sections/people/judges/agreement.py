"""How far people agree with each other, and people's majorities with those of judges (SPEC 7).

Votes are those of `pair_votes`: sides of a pair or a tie, both orders merged. Intervals resample
items with all their pairs; raters are taken as given.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from hearteval.analysis.agreement.measures import AgreementMeasure
from hearteval.analysis.agreement.pair_votes import (
    ABSENT,
    CATEGORIES,
    TIE,
    PairVotes,
    agree,
    is_vote,
    majorities,
)
from hearteval.analysis.agreement.votes import (
    Coefficients,
    measure_same,
    measure_share,
    measure_votes,
)
from hearteval.domain import flat_fields
from hearteval.notices import Kind, Notice
from hearteval.stats.comparisons import BoolArray, IntArray

NO_MORE: Final = 0.1
"""Alpha that is hardly more than chance: where its interval holds 0 and ends below this, there are
data enough to say that people agree no more than chance would."""
FEWEST_PAIRS: Final = 20
FEWEST_ITEMS: Final = 10
CLEAR: Final = "clear"
AMBIGUOUS: Final = "ambiguous"


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleAgreement(Coefficients):
    """How far people agree with each other about pairs that two of them or more judged."""

    n_people: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MajoritiesAgreement:
    """How often the majority of the judges is that of the people, where both have one."""

    n_pairs_both: int
    """Pairs that people and judges judged."""
    n_no_majority_people: int
    """Of these, without a majority of the people; they are left out."""
    n_no_majority_judges: int
    n_pairs: int
    """Of these, with a majority of both kinds."""
    n_items: int
    """Items these are of."""
    n_people_tie: int
    """Of these, where the people's majority is a tie, which judges who must choose never say."""
    same: AgreementMeasure
    """Share of the pairs with one majority; a tie is an answer."""
    by_chance: float | None
    """Share that chance alone would make, as `chance_of_majorities` says."""
    same_of_all: AgreementMeasure
    """Share of `n_pairs_both` with one majority: that a kind has none counts as disagreement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementPart:
    """Agreement on all items, or on a part of them."""

    subset: str | None
    """None for all items; a subset, or `CLEAR` or `AMBIGUOUS` pairs."""
    people: PeopleAgreement | None
    """None where no pair was judged by two people."""
    majorities: MajoritiesAgreement | None
    """None where no pair was judged by both kinds."""


def measure_people(votes: PairVotes, *, level: float, seed: int) -> tuple[AgreementPart, ...]:
    """Measure agreement on all items, then on each subset where there are several.

    Nothing where no person judged.
    """
    if not (votes.of_people != ABSENT).any():
        return ()
    return tuple(
        measure_part(part, subset, level=level, seed=seed)
        for subset, part in by_subset(votes).items()
    )


def warn_of_chance(parts: Sequence[AgreementPart], *, level: float) -> list[Notice]:
    """Say so where people, on all items, are seen to agree no more than chance would.

    Honest people agree a little; where too few pairs tell, nothing is said
    (`benchmarks/people_by_chance.py` counts how often it is said of whom).
    """
    found = parts[0].people if parts else None
    if found is None or found.n_pairs < FEWEST_PAIRS or found.n_items < FEWEST_ITEMS:
        return []
    alpha = found.krippendorff_alpha
    if alpha.low is None or alpha.high is None or alpha.low > 0 or alpha.high > NO_MORE:
        return []
    text = (
        f"{found.n_people} people agree with each other no more than chance would: Krippendorff's"
        f" alpha {alpha.value:.2f}, {100 * level:g} % interval {alpha.low:.2f} to {alpha.high:.2f},"
        f" on {found.n_pairs:,} pairs. Shares and places by people cannot be told from those of"
        " answers drawn at random."
    )
    return [Notice(Kind.BY_CHANCE, text)]


def measure_part(votes: PairVotes, name: str | None, *, level: float, seed: int) -> AgreementPart:
    """Measure agreement on some pairs under their name."""
    return AgreementPart(
        subset=name,
        people=_agreement_of_people(votes, level=level, seed=seed),
        majorities=_agreement_of_majorities(votes, level=level, seed=seed),
    )


def by_subset(votes: PairVotes) -> dict[str | None, PairVotes]:
    """Return all pairs, then those of each subset where there are several."""
    subset_of = np.array([item.subset for item in votes.names.items])[votes.item]
    subsets = sorted(set(subset_of.tolist()), reverse=True)
    parts: dict[str | None, PairVotes] = {None: votes}
    if len(subsets) > 1:
        parts |= {subset: votes.select(subset_of == subset) for subset in subsets}
    return parts


def judged_by_both(votes: PairVotes) -> BoolArray:
    """Return the pairs that people and judges answered."""
    return np.asarray(
        (votes.of_people != ABSENT).any(axis=1) & (votes.of_judges != ABSENT).any(axis=1)
    )


def _agreement_of_people(votes: PairVotes, *, level: float, seed: int) -> PeopleAgreement | None:
    found = measure_votes(votes.of_people, votes.item, level=level, seed=seed)
    if found is None:
        return None
    return PeopleAgreement(n_people=found.n_raters, **flat_fields(found))


def _agreement_of_majorities(
    votes: PairVotes, *, level: float, seed: int
) -> MajoritiesAgreement | None:
    both = votes.select(judged_by_both(votes))
    if not len(both):
        return None
    people, judges = majorities(both.of_people), majorities(both.of_judges)
    return MajoritiesAgreement(
        n_no_majority_people=int((~is_vote(people)).sum()),
        n_no_majority_judges=int((~is_vote(judges)).sum()),
        n_people_tie=int(((people == TIE) & is_vote(judges)).sum()),
        **compare_majorities(both.of_people, both.of_judges, both.item, level=level, seed=seed),
    )


def compare_majorities(
    of_people: IntArray,
    of_judges: IntArray,
    item: IntArray,
    *,
    level: float,
    seed: int,
    where: str = "",
) -> dict[str, Any]:
    """Compare majorities of people and of judges, (pairs, raters), by the fields that name it.

    `where` is what is said of pairs that have none of both.
    """
    is_both = (of_people != ABSENT).any(axis=1) & (of_judges != ABSENT).any(axis=1)
    people, judges = majorities(of_people[is_both]), majorities(of_judges[is_both])
    same, item = agree(people, judges), item[is_both]
    undefined = f"no pair has both majorities{where}"
    return {
        "n_pairs_both": len(item),
        **measure_same(same, item, level=level, seed=seed, undefined=undefined),
        "by_chance": chance_of_majorities(people, judges),
        "same_of_all": measure_share(np.nan_to_num(same), item, level=level, seed=seed),
    }


def chance_of_majorities(people: IntArray, judges: IntArray) -> float | None:
    """Return how often two majorities would be one by chance alone; None where no pair has both.

    sum_c p_c q_c over the two sides and the tie, p_c and q_c the shares of pairs, of those with
    both, on which most people and most judges choose c: what Cohen (1960) expects of two raters.
    """
    is_compared = is_vote(people) & is_vote(judges)
    if not is_compared.any():
        return None
    shares = [
        np.bincount(given[is_compared], minlength=len(CATEGORIES)) / is_compared.sum()
        for given in (people, judges)
    ]
    return float(shares[0] @ shares[1])
