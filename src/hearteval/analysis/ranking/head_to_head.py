"""Systems two by two: what each won directly against what one order of all systems expects.

The matrix that stands beside every ranking, and the test of whether one strength per system is
enough to explain it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hearteval.errors import NotIdentifiedError
from hearteval.stats.bradley_terry.lack_of_fit import (
    MAX_PAIRS,
    PairResiduals,
    assess_pairs,
    expect_gaps,
    find_lack_of_fit,
    find_residuals,
)
from hearteval.stats.bradley_terry.ties import DavidsonFit, TiedFit, TieModel, fit_ties
from hearteval.stats.comparisons import FloatArray

MIN_ITEMS = 10
METHOD = "sum over pairs of squared residual / variance; signs of items at random, three moments"
NOT_ALONE = "the votes alone determine no ranking, only the prior does"


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadToHead:
    """Two systems that were compared with each other; every comparison counts once.

    Attributes:
        n: Comparisons.
        n_items: Items they are of; None where items are not named.
        observed: Share that `left` won, ties half.
        expected: Share that its strength makes it win.
        z: Observed less expected, over its standard error over items; None where there is no test.
        p: Two-sided p-value of no departure.
        q: The same adjusted over all pairs (Benjamini and Hochberg 1995).
    """

    left: str
    right: str
    n: int
    n_items: int | None
    observed: float
    expected: float
    z: float | None
    p: float | None
    q: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LackOfFit:
    """Whether pairs depart from one strength per system by more than chance, over items.

    Attributes:
        statistic: To be compared with chi-square; None where there is no test.
        df: Its degrees of freedom, in general not whole.
        p: The p-value.
        reason: Why there is no test, else None.
        method: Name of the test.
    """

    statistic: float | None
    df: float | None
    p: float | None
    reason: str | None
    method: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Direct:
    """What systems won directly of each other, and whether one strength for each explains it.

    Attributes:
        matrix: Every two systems that were compared, in the order of their names.
        expected_rms_gap: Root mean square gap of observed and expected, by chance alone; None where
            there is no test.
        expected_max_gap: The largest gap likewise, on average.
    """

    matrix: tuple[HeadToHead, ...]
    expected_rms_gap: float | None
    expected_max_gap: float | None
    lack_of_fit: LackOfFit


def compare_directly(
    tied: TiedFit, names: Sequence[str], *, prior: float, seed: int, has_items: bool
) -> Direct:
    """Compare what every two systems won of each other with what the fit expects.

    Expected is what the fit expects, its prior included; tests are of the fit without a prior.
    """
    alone = _without_prior(tied, prior)
    residuals = find_residuals(alone or tied, has_items=has_items)
    tests = assess_pairs(residuals)
    reason = _reason(residuals, has_items=has_items) if alone else NOT_ALONE
    chance = None if reason else expect_gaps(residuals, np.random.default_rng(seed))
    test = None if reason else find_lack_of_fit(residuals)

    def known(values: FloatArray) -> list[float | None]:
        is_known = np.isfinite(values) & (alone is not None)
        return [v if k else None for v, k in zip(values.tolist(), is_known.tolist(), strict=True)]

    left, right = residuals.left, residuals.right
    columns = (
        left.tolist(),
        right.tolist(),
        residuals.n.tolist(),
        residuals.n_items.tolist() if has_items else [None] * len(left),
        (tied.points[left, right] / residuals.n).tolist(),
        tied.expected_points[left, right].tolist(),
        *map(known, (tests.z, tests.p, tests.q)),
    )
    matrix = tuple(
        HeadToHead(
            left=names[i],
            right=names[j],
            n=round(n),
            n_items=n_items,
            observed=observed,
            expected=expected,
            z=z,
            p=p,
            q=q,
        )
        for i, j, n, n_items, observed, expected, z, p, q in zip(*columns, strict=True)
    )
    return Direct(
        matrix=matrix,
        expected_rms_gap=chance.root_mean_square if chance else None,
        expected_max_gap=chance.largest if chance else None,
        lack_of_fit=LackOfFit(
            statistic=test.statistic if test else None,
            df=test.df if test else None,
            p=test.p if test else None,
            reason=reason,
            method=METHOD,
        ),
    )


def _reason(residuals: PairResiduals, *, has_items: bool) -> str | None:
    """Say why there is no test; None where there is one."""
    n_pairs = len(residuals.n)
    if n_pairs > MAX_PAIRS:
        return f"{n_pairs:,} pairs of systems met; up to {MAX_PAIRS:,} are tested"
    if n_pairs < residuals.n_systems:
        return "no more pairs of systems met than it takes to rank them: nothing is left to check"
    n = int(residuals.n_alike.sum())
    if n < MIN_ITEMS:
        return (
            f"{n} {'items' if has_items else 'votes'} are too few for a test; it takes {MIN_ITEMS}"
        )
    return None


def _without_prior(tied: TiedFit, prior: float) -> TiedFit | None:
    """Return the fit to the comparisons alone; None where they determine none."""
    if not prior:
        return tied
    try:
        ties: TieModel = "davidson" if isinstance(tied.fit, DavidsonFit) else "half"
        return fit_ties(tied.comparisons, ties=ties)
    except NotIdentifiedError:
        return None


def warn_of_misfit(direct: Direct) -> list[Notice]:
    """Say that one order of all systems does not explain the wins, and where."""
    p = direct.lack_of_fit.p
    found = [row for row in direct.matrix if row.q is not None and row.q <= SIGNIFICANT]
    if not found and (p is None or p > SIGNIFICANT):
        return []
    tested = found or [row for row in direct.matrix if row.z is not None]
    worst = sorted(tested, key=lambda row: (-abs(row.z or 0), row.left, row.right))[:MAX_NAMED]
    if max(abs(row.observed - row.expected) for row in direct.matrix) < SMALL:
        said = "The direct comparisons depart a little from any one order of all systems"
    else:
        said = "One order of all systems does not explain the direct comparisons"
    alone = "" if found else ", though no pair shows it alone"
    return [Notice(Kind.MISFIT, f"{said}{alone}: {_list([*map(_say_gap, worst)])}.")]


def _say_gap(row: HeadToHead) -> str:
    """Say what was observed, from the side that won more than is expected."""
    one, other, observed, expected = row.left, row.right, row.observed, row.expected
    if observed < expected:
        one, other, observed, expected = other, one, 1 - observed, 1 - expected
    return (
        f"{one} beat {other} in {_percent(observed)} of {_comparisons(row.n)}; one order of all"
        f" says {_percent(expected)}"
    )


def warn_of_leaders(
    tied: TiedFit, names: Sequence[str], leaders: Collection[str], matrix: Sequence[HeadToHead],
    *, has_items: bool,
) -> list[Notice]:
    """Say where a system that is ranked first won less than half of its direct comparisons."""
    return [
        notice
        for leader in sorted(leaders)
        for notice in _warn_of_leader(tied, names, leader, matrix, has_items=has_items)
    ]
