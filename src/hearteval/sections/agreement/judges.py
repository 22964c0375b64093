"""How far judges agree with each other, with intervals over items: HEART 4.4 and 9.9, SPEC 7.

Counts of the same votes are in `majorities`; here is how sure the shares are, and agreement beyond
chance, overall and on each axis. The judges are a fixed panel: intervals are over items alone.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from hearteval.analysis.agreement.measures import AgreementMeasure
from hearteval.analysis.agreement.pair_votes import ABSENT, PairVotes, is_vote
from hearteval.analysis.agreement.votes import (
    Coefficients,
    measure_same,
    measure_votes,
)
from hearteval.analysis.estimates import PLANNED
from hearteval.domain import Axis
from hearteval.stats.comparisons import FloatArray, IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class SameAnswer:
    """How often some judges give one answer to a pair."""

    judges: tuple[str, ...]
    """Two of them, or all."""
    n_pairs: int
    """Pairs on which each of them has a vote."""
    n_items: int
    same: AgreementMeasure


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisCoefficients:
    """How far raters agree on one axis, among those who marked it."""

    axis: Axis
    found: Coefficients


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgesAgreement:
    """Agreement among the judges of a study; repeats and the stress set are left out."""

    together: tuple[SameAnswer, ...]
    """Of every two judges, and with three judges or more of all."""
    overall: Coefficients | None
    """None where no pair has votes of two judges."""
    axes: tuple[AxisCoefficients, ...]
    """Axes that two judges marked on any pair."""
    level: float
    status: str


def measure_judges(votes: PairVotes, *, level: float, seed: int) -> JudgesAgreement | None:
    """Measure how far judges agree; None with fewer than two of them."""
    has_judged = (votes.of_judges != ABSENT).any(axis=0)
    if has_judged.sum() < 2:
        return None
    given, item = votes.of_judges[:, has_judged], votes.item
    names = [name for name, is_in in zip(votes.judges, has_judged, strict=True) if is_in]
    every = range(len(names))
    groups = [*combinations(every, 2), *([tuple(every)] if len(names) > 2 else [])]
    return JudgesAgreement(
        together=tuple(
            SameAnswer(
                judges=tuple(names[k] for k in group),
                **measure_same(
                    one_answer(given[:, list(group)]),
                    item,
                    level=level,
                    seed=seed,
                    undefined="no pair has a vote of each",
                ),
            )
            for group in groups
        ),
        overall=measure_votes(given, item, level=level, seed=seed),
        axes=tuple(
            AxisCoefficients(axis=axis, found=found)
            for axis, marks in votes.marks.items()
            if (found := measure_votes(marks[:, ~votes.is_person], item, level=level, seed=seed))
        ),
        level=level,
        status=PLANNED,
    )


def one_answer(votes: IntArray) -> FloatArray:
    """Return 1 where all raters, (pairs, raters), say the same, 0 where not, NaN without a vote."""
    is_same = (votes == votes[:, :1]).all(axis=1).astype(np.float64)
    return np.where(is_vote(votes).all(axis=1), is_same, np.nan)
