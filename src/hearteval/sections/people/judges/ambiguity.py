"""Clear and ambiguous comparisons, and how far agreement differs between them (HEART 4.4, SPEC 7).

Ambiguous is a pair on which people reach no clear consensus and on which the judges' axis winners
are mixed. Both thresholds are settings of the study. A pair that fewer than two people voted on, or
on which no judge marked an axis, is neither. The rule looks at the votes whose agreement is then
measured, so that agreement is lower on ambiguous pairs by its making, in part.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from hearteval.analysis.agreement.measures import AgreementMeasure
from hearteval.analysis.agreement.pair_votes import (
    ABSENT,
    ONE,
    OTHER,
    TIE,
    PairVotes,
    agree,
    count_votes,
    majorities,
)
from hearteval.analysis.agreement.votes import compare_shares
from hearteval.domain import AXES
from hearteval.domain.study import AmbiguityRule
from hearteval.sections.people.judges.agreement import (
    AMBIGUOUS,
    CLEAR,
    AgreementPart,
    measure_part,
)
from hearteval.stats.comparisons import BoolArray

MIN_VOTES: Final = 2
"""Votes of people that a consensus takes at least."""
ROUNDING: Final = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementDifference:
    """How much more often the two majorities agree on some pairs than on others."""

    one: str
    other: str
    difference: AgreementMeasure
    """Share on `one` less that on `other`."""
    p: float | None = None
    """Of the t of its interval; None of clear and ambiguous pairs, which differ by their making."""
    q: float | None = None
    """The same, adjusted over the planned contrasts of the study (`analysis.planned`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ambiguity:
    """Agreement on clear and on ambiguous pairs."""

    rule: AmbiguityRule
    n_pairs: int
    """Pairs that are one or the other."""
    n_neither: int
    """Pairs of both kinds with too few votes of people, or no axis marks of judges."""
    n_without_consensus: int
    n_axes_split: int
    n_ambiguous: int
    """Where both hold."""
    parts: tuple[AgreementPart, ...]
    """Clear, then ambiguous ones; without those of which there are none."""


def classify(votes: PairVotes, rule: AmbiguityRule) -> tuple[BoolArray, BoolArray, BoolArray]:
    """Return which pairs can be told apart, lack a consensus, and have axes that are split."""
    counts = count_votes(votes.of_people)
    n_votes = counts.sum(axis=1)
    most = np.maximum(counts[:, ONE], counts[:, OTHER])
    lacks = most < rule.consensus * n_votes - ROUNDING
    is_judge = ~votes.is_person
    marks = [votes.marks[axis][:, is_judge] for axis in AXES if axis in votes.marks]
    none = np.zeros(len(votes), dtype=np.int64)
    is_marked = sum(((given != ABSENT).any(axis=1).astype(np.int64) for given in marks), none)
    winners = np.stack([majorities(given) for given in marks], axis=1) if marks else none[:, None]
    sides = [(winners == side).sum(axis=1) if marks else none for side in (ONE, OTHER, TIE)]
    is_split = is_marked - np.maximum.reduce(sides) >= rule.split_axes
    return (n_votes >= MIN_VOTES) & (is_marked > 0), lacks, is_split


def measure_ambiguity(
    votes: PairVotes, rule: AmbiguityRule, *, level: float, seed: int
) -> Ambiguity | None:
    """Measure agreement on clear and on ambiguous pairs; None where none can be told apart.

    Args:
        votes: Pairs that people and judges answered.
        rule: The two thresholds.
        level: Nominal coverage.
        seed: Of the samples of items.
    """
    is_known, lacks, is_split = classify(votes, rule)
    if not is_known.any():
        return None
    is_ambiguous = lacks & is_split
    pairs = {CLEAR: is_known & ~is_ambiguous, AMBIGUOUS: is_known & is_ambiguous}
    return Ambiguity(
        rule=rule,
        n_pairs=int(is_known.sum()),
        n_neither=int((~is_known).sum()),
        n_without_consensus=int((is_known & lacks).sum()),
        n_axes_split=int((is_known & is_split).sum()),
        n_ambiguous=int(pairs[AMBIGUOUS].sum()),
        parts=tuple(
            measure_part(votes.select(is_in), name, level=level, seed=seed)
            for name, is_in in pairs.items()
            if is_in.any()
        ),
    )


def measure_differences(
    votes: PairVotes, rule: AmbiguityRule, *, level: float
) -> tuple[AgreementDifference, ...]:
    """Compare agreement of majorities: regular less adversarial items, clear less ambiguous pairs.

    Only parts that hold a pair with both majorities are compared.
    """
    same = agree(majorities(votes.of_people), majorities(votes.of_judges))
    subset = np.array([item.subset for item in votes.names.items])[votes.item]
    is_known, lacks, is_split = classify(votes, rule)
    is_ambiguous = lacks & is_split
    contrasts = {
        ("regular", "adversarial"): (subset == "regular", subset == "adversarial"),
        (CLEAR, AMBIGUOUS): (is_known & ~is_ambiguous, is_known & is_ambiguous),
    }
    found = []
    for (one, other), sides in contrasts.items():
        left, right = (np.where(is_in, same, np.nan) for is_in in sides)
        if np.isnan(left).all() or np.isnan(right).all():
            continue
        difference, p = compare_shares(left, right, votes.item, level=level)
        found.append(
            AgreementDifference(
                one=one, other=other, difference=difference, p=None if one == CLEAR else p
            )
        )
    return tuple(found)
