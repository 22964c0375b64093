"""What a design of comparisons will tell: standard errors from variance components, and power.

The score y of a comparison (1, ½, 0) of systems X and Y by rater r on item i is taken as

    y = ½ + m_X - m_Y + q_Xi - q_Yi + p_Xr - p_Yr + w_h + e,

q the completion of a system, p what a rater makes of a system, w the person who wrote where one of
the two is people's, e the rest; all independent, with the variances of `Components`. Left out: what
a rater makes of one completion beyond that, merits of a completion that depend on its opponent, and
strengths so far apart that chances are no longer straight lines of them.
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np

from hearteval.stats.bradley_terry.fit import ELO_PER_THETA
from hearteval.stats.comparisons import FloatArray
from hearteval.stats.special import gammaincinv, logit, ndtr, stdtrit

EVEN_SLOPE: Final = 0.25
"""Change of a chance per log odds, p (1 - p), between equals."""
_N_CHI2: Final = 40
"""Quantiles of the chance in an estimated variance, over which power is averaged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Components:
    """Variances of a comparison's score, in squared shares (a share of 1 is 100 points).

    Attributes:
        item: Of q, a system's completion of one item; a comparison has two.
        rater: Of p, what one rater makes of one system; a comparison has two.
        writer: Of w, one person who writes around all who do.
        rest: Of e, one vote, both orders and repeats of a rater taken together.
        slope: p (1 - p) on average over the pairs compared, which turns points into Elo.
    """

    item: float
    rater: float
    writer: float = 0.0
    rest: float
    slope: float = EVEN_SLOPE

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            ValueError: A variance below 0, or none above.
        """
        parts = (self.item, self.rater, self.writer, self.rest)
        if not all(math.isfinite(one) and one >= 0 for one in parts) or not max(parts):
            raise ValueError(f"variances are 0 or more, and one of them above 0, not {parts}")
        if not 0 < self.slope <= EVEN_SLOPE:
            raise ValueError(f"the slope is above 0 and at most {EVEN_SLOPE}, not {self.slope}")

    def points(self, se: float) -> float:
        """Return, for an error in the units of scores, that of a share between equals."""
        return se * EVEN_SLOPE / self.slope

    def elo(self, se: float) -> float:
        """Return the same in Elo."""
        return ELO_PER_THETA * se / self.slope


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """Who compares what: pairs in balance over systems, raters drawn for each.

    Attributes:
        n_pairs: Pairs of an item on average, from 1 to those of `n_systems`.
        n_votes: Raters of each pair.
        n_raters: People of the pool; 0 for judges, who are given.
        n_writers: People who write; 0 where the difference is of two models.
        unevenness: Mean square of the numbers of votes that raters give, over their squared mean: 1
            where all give as many. Some of those in crowds give ten times as many as others, and it
            is 2 to 3: so many raters err as half, or a third of them would.
    """

    n_systems: int
    n_items: int
    n_pairs: float
    n_votes: int
    n_raters: int = 0
    n_writers: int = 0
    unevenness: float = 1.0

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            ValueError: One is out of range.
        """
        most = math.comb(self.n_systems, 2)
        if self.n_systems < 2 or self.n_items < 2 or self.n_votes < 1:
            raise ValueError("expected two systems, two items and a vote for each pair, or more")
        if not 1 <= self.n_pairs <= most:
            raise ValueError(f"expected 1 to {most} pairs of an item, not {self.n_pairs}")
        if self.n_raters and self.n_raters < max(2, self.n_votes):
            raise ValueError(f"{self.n_raters} raters cannot give {self.n_votes} votes for a pair")
        if not 1 <= self.unevenness < math.inf:
            raise ValueError(f"expected an unevenness of 1 or more, not {self.unevenness}")

    @property
    def total(self) -> float:
        """Votes in all."""
        return self.n_items * self.n_pairs * self.n_votes


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Variance of the difference of two systems' strengths, by where it comes from.

    In squared shares; it is that of a difference of scores, not of the points of `Components`.
    """

    item: float
    rater: float
    writer: float
    rest: float

    @property
    def total(self) -> float:
        """The whole variance."""
        return self.item + self.rater + self.writer + self.rest


def difference_parts(components: Components, design: Design) -> Parts:
    """Return the variance of the difference of two systems, strengths fitted to all comparisons.

    With S systems, I items, P pairs of an item, V votes of a pair, R raters of K votes on average
    and of an unevenness of u, strengths by least squares (Bradley-Terry between equals), pairs of
    an item drawn at random:

        item (2/I) (S - 1) (S + P) / (P (S + 1)),   rater (2/R) (u + (S - 2)/K),
        rest (S - 1) / (I P V),   writer 1/W for a difference between people and a model,

    each times its component. With two systems, or all pairs of an item, item is 2/I.
    """
    s, pairs = design.n_systems, design.n_pairs
    of_item = 2 * (s - 1) * (s + pairs) / (design.n_items * pairs * (s + 1))
    of_rater = 0.0
    if design.n_raters:
        each = max(1.0, design.total / design.n_raters)
        of_rater = 2 / design.n_raters * (design.unevenness + (s - 2) / each)
    return Parts(
        item=components.item * of_item,
        rater=components.rater * of_rater,
        writer=components.writer / design.n_writers if design.n_writers else 0.0,
        rest=components.rest * (s - 1) / design.total,
    )


def difference_se(components: Components, design: Design) -> float:
    """Return the standard error of the difference of two systems, as a share (.05 is 5 points).

    It is of the difference of their strengths, fitted to all comparisons, as a share of a
    comparison of the two between equals.
    """
    return components.points(math.sqrt(difference_parts(components, design).total))


def newcomer_variance(
    components: Components, *, n_items: int, n_opponents: float, n_votes: int
) -> float:
    """Return the variance of a newcomer's strength among systems whose strengths are known.

    With k opponents on each of I items and V votes of a pair, in squared shares:
    (item (1 + 1/k) + rest/(k V)) / I, as the newcomer's own completion is in all its pairs.
    """
    of_pairs = (components.item + components.rest / n_votes) / n_opponents
    return (components.item + of_pairs) / n_items


def enough_opponents(
    components: Components, *, n_systems: int, n_votes: int, wider: float = 0.1
) -> int:
    """Return the fewest opponents that place a newcomer about as well as all `n_systems` would.

    Its error is then at most so much `wider`, a share.
    """
    known = [
        newcomer_variance(components, n_items=1, n_opponents=k, n_votes=n_votes)
        for k in range(1, n_systems + 1)
    ]
    return next(k for k, one in enumerate(known, 1) if one <= (1 + wider) ** 2 * known[-1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What a design will tell of one difference, as the intervals of SPEC section 6 tell it."""

    se: float
    """As `difference_se`."""
    half_width: float
    """Expected, as a share."""
    half_width_elo: float
    power: float
    """Chance that the interval leaves out 0, were the difference as large as was asked."""


def look_ahead(
    components: Components, design: Design, *, gap: float, level: float = 0.95
) -> Outlook:
    """Return what a design will tell of a difference of `gap`, a share (.05: one wins 55 %).

    People are sampled: the variance is estimated as item + max(0, rater - cell) over clusters and t
    has the degrees of the fewer, both of which cost power where raters are few. Judges are given:
    over items alone. Power is reckoned in log odds, in which votes on the two systems tell less the
    further these are apart (of two systems alone, by their share); half-widths are those between
    equals.

    Raises:
        ValueError: A gap of one half or more.
    """
    if not 0 <= gap < 0.5:
        raise ValueError(f"a gap is 0 or more and under .5, not {gap}")
    half = float(_reach(components, design, level).mean())
    slope = EVEN_SLOPE - gap**2
    # Of what a difference rests on, 2/S are votes on the two.
    flat = 1 + 2 / design.n_systems * (components.slope / slope - 1)
    apart = replace(components, rest=components.rest * flat)
    reach = _reach(apart, design, level)
    theta = gap / slope if design.n_systems == 2 else float(logit(0.5 + gap))
    away = components.slope * theta
    se = math.sqrt(difference_parts(apart, design).total)
    power = ndtr((away - reach) / se) + ndtr((-away - reach) / se)
    return Outlook(
        se=difference_se(components, design),
        half_width=components.points(half),
        half_width_elo=components.elo(half),
        power=float(power.mean()),
    )


def _reach(components: Components, design: Design, level: float) -> FloatArray:
    """Return half-widths as they will be estimated, equally likely ones, in units of scores."""
    parts = difference_parts(components, design)
    each_vote = (design.n_systems - 1) / design.total
    of_items, df = parts.item + parts.rest, design.n_items - 1
    beyond: FloatArray | float = 0.0
    if design.n_raters:
        of_items += 2 * components.rater * each_vote
        of_raters = parts.rater + parts.rest + 2 * components.item * each_vote
        of_cells = (2 * components.item + 2 * components.rater + components.rest) * each_vote
        n_even = max(2.0, design.n_raters / design.unevenness)
        spread = of_raters * _scaled_chi2(n_even - 1) - of_cells
        beyond, df = np.maximum(0.0, spread), min(df, design.n_raters - 1)
    of_writers: FloatArray | float = 0.0
    if design.n_writers:
        of_replies = of_items * design.n_systems / (2 * (design.n_systems - 1))  # by people
        others = max(1, design.n_writers - 1)
        spread = (parts.writer + of_replies) * _scaled_chi2(others) - of_replies
        of_writers, df = np.maximum(0.0, spread)[:, None, None], min(df, others)
    of_each = of_items * _scaled_chi2(design.n_items - 1)[:, None]
    variance = of_each + beyond + of_writers
    return np.asarray(float(stdtrit(df, (1 + level) / 2)) * np.sqrt(variance))


@lru_cache(maxsize=256)
def _scaled_chi2(df: float) -> FloatArray:
    """Return chi-squared over its degrees of freedom, in equal steps of chance, mean 1."""
    chances = (np.arange(_N_CHI2) + 0.5) / _N_CHI2
    values = np.asarray(gammaincinv(df / 2, chances))
    return np.asarray(values / values.mean())
