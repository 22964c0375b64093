"""Does what is known of systems go with how well they do? Any table of numbers (SPEC section 12).

Correlations over a handful of systems that nobody drew at random: they describe these systems, and
what goes together need not cause. Systems that share a developer are less independent than the
intervals take them to be. Exploratory.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from hearteval.analysis.estimates import EXPLORATORY
from hearteval.analysis.ranking.leaderboard import Leaderboard
from hearteval.stats.comparisons import FloatArray, IntArray
from hearteval.stats.means import q_where_tested
from hearteval.stats.rankers import pearson_r, spearman_p, spearman_rho
from hearteval.stats.special import ndtri, stdtr

MIN_SYSTEMS: Final = 5
"""Over fewer there is no figure: four points may lie in any order by chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlation:
    """A correlation with its interval and test.

    Attributes:
        low: Lower end; None where r is 1 or -1.
        p: Two-sided, of no correlation: by t with n - 2 degrees of freedom; of ranks, exact over
            all permutations of ten values or fewer.
        q: Adjusted over its family of tests (Benjamini and Hochberg 1995); None of a lone one.
    """

    r: float
    low: float | None
    high: float | None
    p: float
    q: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Residual:
    """How far one system is above the line through all.

    Attributes:
        value: Its covariate.
        outcome: Its Elo, or its share won.
        residual: `outcome` less what the least-squares line gives.
    """

    system: str
    value: float
    outcome: float
    residual: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CovariateResult:
    """One covariate against one outcome.

    Attributes:
        outcome: ``elo``, the headline, or ``win_rate``.
        problem: Why there is no figure; else None.
        pearson: Interval by Fisher's z.
        spearman: Of ranks; interval by Fisher's z with the error of Bonett and Wright (2000).
        residuals: Farthest above the line first.
    """

    covariate: str
    outcome: str
    n_systems: int
    problem: str | None
    pearson: Correlation | None = None
    spearman: Correlation | None = None
    residuals: tuple[Residual, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CovariateResults:
    """Every covariate of a table against both outcomes; the tests are one family.

    Attributes:
        without: Ranked systems that the table does not name.
        unknown: Systems of the table that are not ranked.
    """

    rows: tuple[CovariateResult, ...]
    without: tuple[str, ...]
    unknown: tuple[str, ...]
    level: float
    status: str = EXPLORATORY


def correlate_covariates(
    table: Mapping[str, Mapping[str, float]], board: Leaderboard, *, level: float
) -> CovariateResults | None:
    """Return how each column of a table goes with Elo and with the share won.

    Args:
        table: Value by system, by name of the column; empty for no table.
        board: The ranking.
        level: Nominal coverage.
    """
    if not table:
        return None
    outcomes = {
        "elo": {row.system: row.weighted.elo for row in board.rows},
        "win_rate": {row.system: row.win_rate for row in board.rows},
    }
    found = [
        _correlate(name, values, outcome, of_system, level=level)
        for name, values in table.items()
        for outcome, of_system in outcomes.items()
    ]
    named, ranked = {name for values in table.values() for name in values}, outcomes["elo"]
    return CovariateResults(
        rows=tuple(_adjusted(found)),
        without=tuple(sorted(set(ranked) - named)),
        unknown=tuple(sorted(named - set(ranked))),
        level=level,
    )


def _correlate(
    name: str,
    values: Mapping[str, float],
    outcome: str,
    of_system: Mapping[str, float],
    *,
    level: float,
) -> CovariateResult:
    systems = sorted(set(values).intersection(of_system))
    x = np.array([values[system] for system in systems])
    y = np.array([of_system[system] for system in systems])
    pearson, spearman = correlate(x, y, level=level)
    bare = CovariateResult(covariate=name, outcome=outcome, n_systems=len(systems), problem=None)
    if len(systems) < MIN_SYSTEMS:
        return replace(bare, problem=f"fewer than {MIN_SYSTEMS} systems")
    if pearson is None:
        return replace(bare, problem="it is the same for all systems")
    slope = pearson.r * y.std() / x.std()
    residual = y - y.mean() - slope * (x - x.mean())
    rows = [
        Residual(system=system, value=float(a), outcome=float(b), residual=float(c))
        for system, a, b, c in zip(systems, x, y, residual, strict=True)
    ]
    return replace(
        bare,
        pearson=pearson,
        spearman=spearman,
        residuals=tuple(sorted(rows, key=lambda row: (-row.residual, row.system))),
    )


def correlate(
    x: FloatArray, y: FloatArray, *, level: float, group: IntArray | None = None
) -> tuple[Correlation | None, Correlation | None]:
    """Return Pearson's and Spearman's correlation; None where there is none.

    Args:
        x: One value a system; `y` likewise.
        y: See `x`.
        level: Nominal coverage.
        group: Of each, where the means of groups were taken off first: each costs a degree of
            freedom, as does the one mean of all.
    """
    group = np.zeros(len(x), dtype=np.int64) if group is None else group
    n = len(x) - len(np.unique(group)) + 1
    if n < 4:
        return None, None
    r, rho = pearson_r(x, y), spearman_rho(x, y)
    pearson = None if r is None else _with_interval(r, n, 1.0, level=level)
    if rho is None:
        return pearson, None
    spearman = _with_interval(rho, n, 1 + rho**2 / 2, level=level)
    exact = spearman_p(x, y, group)
    return pearson, spearman if exact is None else replace(spearman, p=exact)


def _with_interval(r: float, n: int, inflation: float, *, level: float) -> Correlation:
    """Return a correlation whose z = atanh r has variance inflation / (n - 3)."""
    if abs(r) >= 1:
        return Correlation(r=r, low=None, high=None, p=0.0)
    z, reach = math.atanh(r), float(ndtri((1 + level) / 2)) * math.sqrt(inflation / (n - 3))
    t = abs(r) * math.sqrt((n - 2) / (1 - r * r))
    return Correlation(
        r=r, low=math.tanh(z - reach), high=math.tanh(z + reach), p=2 * float(stdtr(n - 2, -t))
    )


def _adjusted(rows: Sequence[CovariateResult]) -> list[CovariateResult]:
    """Adjust the tests of a table as one family."""
    tests = adjust([one for row in rows for one in (row.pearson, row.spearman)])
    pairs = zip(rows, tests[::2], tests[1::2], strict=True)
    return [replace(row, pearson=one, spearman=other) for row, one, other in pairs]


def adjust(tests: Sequence[Correlation | None]) -> list[Correlation | None]:
    """Adjust the tests of one family, those that there are."""
    adjusted = q_where_tested([None if one is None else one.p for one in tests])
    return [one and replace(one, q=q) for one, q in zip(tests, adjusted, strict=True)]
