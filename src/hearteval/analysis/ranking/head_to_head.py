"""Systems two by two: what each won directly against what the strengths expect.

The matrix that stands beside every ranking, and the test of whether one strength per system is
enough to explain it.
"""

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hearteval.errors import NotIdentifiedError
from hearteval.notices import Kind, Notice
from hearteval.stats.bradley_terry.lack_of_fit import (
    MAX_PAIRS,
    GapsByChance,
    PairResiduals,
    PairTests,
    assess_pairs,
    expect_gaps,
    find_imbalance,
    find_lack_of_fit,
    find_residuals,
)
from hearteval.stats.bradley_terry.ties import DavidsonFit, TiedFit, TieModel, fit_ties

MIN_ITEMS = 8
"""With 4, 6 and 8 items a test at .05 rejects .06 to .11, .05 to .06 and .04 to .08."""
SIGNIFICANT = 0.05
SMALL = 0.02
"""Gap of shares up to which a departure changes nothing that a reader would do."""
EVEN = 0.5
MAX_NAMED = 3
"""Pairs that a notice names."""
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

    def seen_from(self, system: str) -> "HeadToHead":
        """Return the pair with one of its two systems on the left."""
        if system == self.left:
            return self
        return replace(
            self,
            left=self.right,
            right=self.left,
            observed=1 - self.observed,
            expected=1 - self.expected,
            z=None if self.z is None else -self.z,
        )


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


def compare_directly(
    tied: TiedFit, names: Sequence[str], *, prior: float, seed: int, has_items: bool
) -> tuple[tuple[HeadToHead, ...], LackOfFit, GapsByChance | None]:
    """Compare what every two systems won of each other with what the fit expects.

    Expected is what the fit expects, its prior included; tests are of the fit without a prior.
    Pairs are in the order of their names; there are no gaps by chance where there is no test.
    """
    alone = _without_prior(tied, prior)
    residuals = find_residuals(alone or tied, has_items=has_items)
    reason = _reason(residuals, has_items=has_items) if alone else NOT_ALONE
    test = None if reason else find_lack_of_fit(residuals)
    if test is None:
        reason = reason or "every item says the same of every pair"
    tests = assess_pairs(residuals) if test else None
    chance = expect_gaps(residuals, np.random.default_rng(seed)) if test else None
    lack_of_fit = LackOfFit(
        statistic=test.statistic if test else None,
        df=test.df if test else None,
        p=test.p if test else None,
        reason=reason,
        method=METHOD,
    )
    matrix = tuple(_matrix(tied, names, residuals, tests, has_items=has_items))
    return matrix, lack_of_fit, chance


def _matrix(
    tied: TiedFit,
    names: Sequence[str],
    residuals: PairResiduals,
    tests: PairTests | None,
    *,
    has_items: bool,
) -> Iterator[HeadToHead]:
    """Return every pair; without tests, z, p and q are None."""
    met = residuals.left, residuals.right
    none = np.full(len(residuals.n), np.nan)
    z, p, q = (none, none, none) if tests is None else (tests.z, tests.p, tests.q)
    columns = (
        *met,
        residuals.n.round().astype(np.int64),
        residuals.n_items,
        tied.points[met] / residuals.n,
        tied.expected_points[met],
        *(z, p, q),
    )
    for i, j, n, n_items, observed, expected, *test in zip(
        *(column.tolist() for column in columns), strict=True
    ):
        is_tested = not math.isnan(test[0])
        yield HeadToHead(
            left=names[i],
            right=names[j],
            n=n,
            n_items=n_items if has_items else None,
            observed=observed,
            expected=expected,
            z=test[0] if is_tested else None,
            p=test[1] if is_tested else None,
            q=test[2] if is_tested else None,
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


def find_departures(
    matrix: Sequence[HeadToHead], lack_of_fit: LackOfFit | None
) -> list[HeadToHead]:
    """Return the pairs that depart from the strengths by more than chance explains (q at .05).

    None where all pairs together do not: chance then explains the one that stands out.
    """
    if not _is_misfit(lack_of_fit):
        return []
    return [row for row in matrix if row.q is not None and row.q <= SIGNIFICANT]


def _is_misfit(lack_of_fit: LackOfFit | None) -> bool:
    return lack_of_fit is not None and lack_of_fit.p is not None and lack_of_fit.p <= SIGNIFICANT


def warn_of_misfit(
    matrix: Sequence[HeadToHead], lack_of_fit: LackOfFit, *, has_prior: bool = False
) -> list[Notice]:
    """Say that one strength per system does not explain the wins, and where.

    It may be the order, as where systems beat each other in a circle, or only how often the better
    of two wins, as where judges who agree on the order are not equally decided.

    The test of all pairs alone decides, so that of true strengths no more are warned of than its
    level says; the pairs name what is off.
    """
    if not _is_misfit(lack_of_fit):
        return []
    found = find_departures(matrix, lack_of_fit)
    tested = found or [row for row in matrix if row.z is not None]
    worst = sorted(tested, key=lambda row: (-abs(row.z or 0), row.left, row.right))[:MAX_NAMED]
    if max(abs(row.observed - row.expected) for row in matrix) < SMALL:
        said = "How often a system wins depends a little on whom it meets, which no ranking shows"
    else:
        said = "How often a system wins depends on whom it meets, which no ranking shows"
    alone = "" if found else ", though no pair shows it alone"
    text = f"{said}{alone}: {_listed([*map(_say_gap, worst)])}."
    if not any((row.observed - EVEN) * (row.expected - EVEN) < 0 for row in matrix):
        text += " Still, no pair goes against the order of the strengths."
    if has_prior:
        text += " Expected shares hold the pull of the prior, which is not what is tested."
    return [Notice(Kind.MISFIT, text)]


def _say_gap(row: HeadToHead) -> str:
    """Say what was observed, from the side that won."""
    row = row.seen_from(row.left if row.observed >= EVEN else row.right)
    return (
        f"{row.left} beat {row.right} in {_percent(row.observed)} of {_comparisons(row.n)}"
        f" (expected {_percent(row.expected)})"
    )


def warn_of_leaders(
    tied: TiedFit,
    names: Sequence[str],
    leaders: Collection[str],
    matrix: Sequence[HeadToHead],
    *,
    has_items: bool,
) -> list[Notice]:
    """Say where a system that is ranked first won less than half of its direct comparisons."""
    place = {name: i for i, name in enumerate(names)}
    notices = []
    for leader in leaders:
        met = [row.seen_from(leader) for row in matrix if leader in (row.left, row.right)]
        lost = sorted((row for row in met if row.observed < EVEN), key=_by_chance)
        p = [
            find_imbalance(tied.comparisons, place[leader], place[row.right], has_items=has_items)
            for row in lost[:MAX_NAMED]
        ]
        if lost:
            is_sure = [len(met) * each <= SIGNIFICANT for each in p]
            notices.append(_say_lost(leader, lost, is_sure))
    return notices


def _by_chance(row: HeadToHead) -> tuple[float, float]:
    """Order losses by how hardly they are chance, as if each item were one answer."""
    n = row.n if row.n_items is None else row.n_items
    return (row.observed - EVEN) * math.sqrt(n), row.observed


def _say_lost(leader: str, lost: Sequence[HeadToHead], is_sure: Sequence[bool]) -> Notice:
    """Say against whom a leader won less than half, and whether that may be chance."""
    shares = [
        f"{100 * row.observed:.1f} % of {_comparisons(row.n)} with {row.right}"
        for row in lost[: len(is_sure)]
    ]
    more = len(lost) - len(shares)
    shares += [f"less than half with {more} more"] if more else []
    sure = [row.right for row, one in zip(lost, is_sure, strict=False) if one]
    chance = "That may be chance."
    if sure:
        of_whom = "" if len(sure) == len(lost) else f" with {_listed(sure)}"
        chance = f"That is more than chance explains{of_whom}."
    return Notice(
        Kind.LEADER_LOSES,
        f"{leader} is ranked first, yet in direct comparisons it won only {_listed(shares)}."
        f" {chance}",
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _comparisons(n: int) -> str:
    return f"{n:,} comparison{'s' * (n != 1)}"


def _listed(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
