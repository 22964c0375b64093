"""Is a candidate worse than a baseline, better, or equivalent, on several tests at once.

The unit is the item: all that judges said of it on one test is one score, what the candidate won
less one half. Tests share items, so that they are flipped and counted together. Which systems,
judges and axes these are, is not known here.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, NamedTuple

import numpy as np

from hearteval.stats.comparisons import BoolArray, FloatArray, IntArray
from hearteval.stats.means import ROUNDING
from hearteval.stats.special import gammainc, gammaincc, ndtr, ndtri

Verdict = Literal["worse", "inconclusive", "equivalent", "better"]
VERDICTS: Final[tuple[Verdict, ...]] = ("worse", "inconclusive", "equivalent", "better")
WORSE, INCONCLUSIVE, EQUIVALENT, BETTER = range(4)
"""Places in `VERDICTS`."""
Outcome = Literal["passed", "failed", "inconclusive"]
MOST_SD: Final = 0.5
"""Greatest standard deviation of a score, and either end of its scale; as an SD it stands in where
nothing varies, which is no precision."""
MOST_LOOKS: Final = 10
POWER: Final = 0.8
N_FLIPS: Final = 4_000
"""Draws of which false alarms and power are shares: two standard errors are .016 at most."""
_GRID, _REACH, _HALVINGS = 801, 9.0, 60
_STEEPEST: Final = 200.0
"""At this slope practically every score is the worst."""
_LEAST_SKEW: Final = 1e-3
"""Skewness under which a gamma distribution is as good as normal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRule:
    """What a gate is asked, said before the data are seen."""

    margin: float = 0.05
    """Largest difference of win rates that is as good as none, above 0 and under one half."""
    alpha: float = 0.05
    """Chance of any false worse or better in the family of tests, and of each false equivalent."""
    n_looks: int = 1
    """Equally spaced looks; at each but the last the gate may stop early."""
    least_coverage: float = 0.9
    """Share of the scores planned so far under which a test is inconclusive."""

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            ValueError: One is out of range.
        """
        if not 0 < self.margin < MOST_SD:
            raise ValueError(f"expected a margin above 0 and under {MOST_SD}, not {self.margin}")
        if not 0 < self.alpha < 1 or not 0 <= self.least_coverage <= 1:
            raise ValueError("alpha lies between 0 and 1, and so does the coverage")
        if not 1 <= self.n_looks <= MOST_LOOKS:
            raise ValueError(f"expected 1 to {MOST_LOOKS} looks, not {self.n_looks}")


@dataclass(frozen=True, slots=True, kw_only=True)
class GateTest:
    """One test: overall, or an axis."""

    verdict: Verdict
    difference: float | None
    """Mean score: the win rate less one half; None without an item."""
    low: float | None
    """Interval at 1 - alpha of this test alone, over all looks together (the repeated interval of
    Jennison and Turnbull 1989); None under two items."""
    high: float | None
    p: float | None
    """Two-sided, that there is no difference, of this test alone."""
    p_adjusted: float | None
    """The same over all tests (Holm 1979); None where there are several looks."""
    p_equivalent: float | None
    """The larger of two one-sided tests (Schuirmann 1987) that it is as large as the margin."""
    n_items: int
    coverage: float
    n_wanted: int | None
    """Items that would settle an inconclusive test in four of five studies, were its difference as
    it is now; None where it is settled, or lacks coverage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """What a gate says at one look, and what it is worth."""

    outcome: Outcome
    tests: tuple[GateTest, ...]
    look: int
    """1 to the planned number."""
    n_planned: int
    """Items of the last look."""
    false_alarms: float
    """How often the whole gate would fail were there no difference: random flips of the scores."""
    power: float
    """How often the first test would then be called equivalent."""
    power_to_pass: float
    """How often the whole gate would then pass."""
    smallest_effect: float | None
    """How much worse the candidate has to be on the first test for the last look to see it in four
    of five studies, at the strictest step of Holm. None under two items, and where nothing is large
    enough."""

    @property
    def n_more(self) -> int | None:
        """Items beyond the planned ones that would settle all that is inconclusive; None if none.

        It is None too where a test lacks coverage, which more items do not mend.
        """
        open_ones = [one.n_wanted for one in self.tests if one.verdict == "inconclusive"]
        wanted = [n for n in open_ones if n is not None]
        if not wanted or len(wanted) < len(open_ones):
            return None
        return max(0, max(wanted) - self.n_planned)


class Moments(NamedTuple):
    """Of the scores of each test so far, (…, tests)."""

    mean: FloatArray
    se: FloatArray
    n: FloatArray
    cubes: FloatArray
    """Sum of the cubed deviations from the mean."""


def nominal_levels(alpha: float, n_looks: int) -> tuple[float, ...]:
    """Return the one-sided level of each look that spends `alpha` as O'Brien and Fleming do.

    Spent by a share t of the items is 2 - 2 Φ(z/√t), z the
    normal quantile of 1 - alpha/2 (Lan and DeMets 1983). The bound of a
    look follows by integrating the paths that no earlier one has stopped (Armitage, McPherson and
    Rowe 1969). Two-sided .05 over five looks, .025 a side, gives 4.877, 3.357, 2.680, 2.290 and
    2.031 standard errors, as published for it. Used for p-values of t, a level is a level
    (Jennison and Turnbull 2000, 4.4).
    """
    return _nominal_levels(float(alpha), n_looks)


@lru_cache(maxsize=64)
def _nominal_levels(alpha: float, n_looks: int) -> tuple[float, ...]:
    shares = np.arange(1, n_looks + 1) / n_looks
    spent = 2 * ndtr(-float(ndtri(1 - alpha / 2)) / np.sqrt(shares))
    step = math.sqrt(1 / n_looks)
    levels = [float(spent[0])]
    bound = -float(ndtri(spent[0])) * step
    at, density = _grid(bound, shares[0])
    density = np.exp(-(at**2) / (2 * shares[0])) / math.sqrt(2 * math.pi * shares[0]) * density
    for share, due in zip(shares[1:], np.diff(spent), strict=True):
        bound = _bound(at, density, step, float(due))
        levels.append(float(ndtr(-bound / math.sqrt(share))))
        to, weights = _grid(bound, share)
        moves = np.exp(-((to[:, None] - at) ** 2) / (2 * step**2)) @ density
        at, density = to, weights * moves / (step * math.sqrt(2 * math.pi))
    return tuple(levels)


def _grid(bound: float, share: float) -> tuple[FloatArray, FloatArray]:
    """Return points from far below to the bound, and their weights by Simpson's rule."""
    at = np.linspace(-_REACH * math.sqrt(share), bound, _GRID)
    weights = np.full(_GRID, 2.0)
    weights[1::2] = 4.0
    weights[[0, -1]] = 1.0
    return at, weights * (at[1] - at[0]) / 3


def _bound(at: FloatArray, density: FloatArray, step: float, due: float) -> float:
    """Return the bound that paths cross at this look with a probability of `due`."""
    low, high = -_REACH, _REACH
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        is_crossed_too_often = float(density @ ndtr((at - middle) / step)) > due
        low, high = (middle, high) if is_crossed_too_often else (low, middle)
    return (low + high) / 2


def moments(scores: FloatArray) -> Moments:
    """Return mean and standard error over items of scores (…, items, tests), NaN where missing."""
    is_there = ~np.isnan(scores)
    x = np.where(is_there, scores, 0.0)
    n = is_there.sum(axis=-2).astype(np.float64)
    return _of_sums([(x**power).sum(axis=-2) for power in (1, 2, 3)], n)


def _of_sums(sums: Sequence[FloatArray], n: FloatArray) -> Moments:
    """Return the moments of n scores, whose sum, squares and cubes are given."""
    total, squares, cubes = sums
    mean = total / np.maximum(n, 1)
    variance = np.maximum(squares - n * mean**2, 0) / np.maximum(n - 1, 1)
    around = cubes - 3 * mean * squares + 2 * n * mean**3
    return Moments(mean, np.sqrt(variance / np.maximum(n, 1)), n, around)


def decide(found: Moments, coverage: FloatArray, rule: GateRule, look: int) -> IntArray:
    """Return the place in `VERDICTS` of each test at a look, (…, tests).

    Worse or better: two-sided, Holm's step-down over the tests, each step at the level of this
    look (Maurer and Bretz 2013). Else equivalent: both one-sided tests at the margin, each at the
    level of this look. Else, and under the coverage asked for, inconclusive.
    """
    is_usable = (found.n >= 2) & (coverage >= rule.least_coverage)
    p = np.where(is_usable, two_sided(found), 1.0)
    differs = _holm(p, rule, look)
    level = nominal_levels(rule.alpha, rule.n_looks)[look - 1]
    is_within = is_usable & (equivalence_p(found, rule.margin) <= level)
    verdict = np.where(is_within, EQUIVALENT, INCONCLUSIVE)
    return np.where(differs, np.where(found.mean < 0, WORSE, BETTER), verdict)


def two_sided(found: Moments) -> FloatArray:
    """Return the p of each test that there is no difference."""
    tails = [_tail(found, 0.0, end) for end in (-MOST_SD, MOST_SD)]
    return np.asarray(np.minimum(2 * np.minimum(*tails), 1))


def equivalence_p(found: Moments, margin: float) -> FloatArray:
    """Return the larger p of two one-sided tests that a difference is as large as the margin."""
    wide = found._replace(se=_spread(found) / np.sqrt(np.maximum(found.n, 1)))
    tails = [_tail(wide, end, math.copysign(MOST_SD, end)) for end in (-margin, margin)]
    return np.asarray(np.maximum(*tails))


def _spread(found: Moments) -> FloatArray:
    """Return the standard deviation of each test's scores.

    Where all items have one score it is taken as the greatest there can be.
    """
    sd = found.se * np.sqrt(found.n)
    return np.asarray(np.where(sd**2 <= ROUNDING, MOST_SD, sd))


def interval_of(found: Moments, level: float) -> FloatArray:
    """Return what `two_sided` does not rule out, (2, tests), at a one-sided level."""
    ends = []
    for end in (-MOST_SD, MOST_SD):
        outer, inner = np.full_like(found.mean, end), found.mean
        for _ in range(_HALVINGS):
            middle = (outer + inner) / 2
            is_out = _tail(found, middle, end) <= level
            outer, inner = np.where(is_out, middle, outer), np.where(is_out, inner, middle)
        ends.append(outer)
    return np.asarray(ends)


def _tail(found: Moments, at: FloatArray | float, end: float) -> FloatArray:
    """Return the p that the true mean is at a place or beyond, towards one end of the scale.

    What is rare is missing from few items, and so is its share of the spread, so that t is too
    sure. Of Gaffke (2005): p = P(Σ E y ≤ 0), with y the scores less `at` and one more at the end of
    the scale, E independent exponentials; mirrored for the upper end. For scores at both ends alone
    that is the exact binomial test; no distribution is known for which it is too small
    (Learned-Miller and Thomas 2020). The sum is taken as a gamma variable of its mean Σ y, variance
    Σ y² and third cumulant 2 Σ y³, and p as no smaller than the chance to meet none of the
    dialogues at that end, were there as many as would make up the difference.
    """
    n, off, last = found.n, found.mean - at, end - at
    towards = -math.copysign(1, end)
    around = n * (n - 1) * found.se**2
    total = towards * (n * off + last)
    squares = np.maximum(around + n * off**2 + last**2, ROUNDING)
    cubes = towards * (found.cubes + 3 * off * around + n * off**3 + last**3) / squares**1.5
    root = 1 / np.where(np.abs(cubes) < _LEAST_SKEW, _LEAST_SKEW, cubes)
    place = np.maximum(root**2 - root * total / np.sqrt(squares), 0)
    p = np.where(root > 0, gammainc(root**2, place), gammaincc(root**2, place))
    unmet = np.clip(last / np.where(found.mean == end, 1, end - found.mean), 0, 1)
    return np.asarray(np.maximum(p, np.where(found.mean == end, 1, unmet) ** n))


def _holm(p: FloatArray, rule: GateRule, look: int) -> BoolArray:
    m = p.shape[-1]
    steps = [2 * _two_tails(rule, m - k)[look - 1] for k in range(m)]
    order = np.argsort(p, axis=-1, kind="stable")
    is_under = np.take_along_axis(p, order, axis=-1) <= steps
    rejected = np.logical_and.accumulate(is_under, axis=-1)
    differs = np.empty_like(rejected)
    np.put_along_axis(differs, order, rejected, axis=-1)
    return differs


def _two_tails(rule: GateRule, n_tests: int) -> tuple[float, ...]:
    """Return the levels of one tail of a two-sided test among so many."""
    return nominal_levels(rule.alpha / n_tests / 2, rule.n_looks)


def holm_adjusted(p: FloatArray) -> FloatArray:
    """Return Holm's adjusted p of some tests (1979)."""
    m = len(p)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    scaled = p[order] * (m - np.arange(m))
    adjusted[order] = np.minimum(np.maximum.accumulate(scaled), 1)
    return adjusted


def outcome_of(verdicts: IntArray) -> IntArray:
    """Return of (…, tests) whether a gate failed (0), is inconclusive (1) or passed (2), (…)."""
    return np.asarray(np.minimum(verdicts.min(axis=-1), EQUIVALENT))


OUTCOMES: Final[tuple[Outcome, ...]] = ("failed", "inconclusive", "passed")


def look_sizes(n_items: int, n_looks: int) -> tuple[int, ...]:
    """Return how many items each look has, the last one all of them."""
    return tuple(-(-n_items * k // n_looks) for k in range(1, n_looks + 1))


def take_looks(
    found: Sequence[Moments], coverage: FloatArray, rule: GateRule
) -> tuple[IntArray, IntArray]:
    """Take all looks of many studies; return verdicts and looks taken.

    A gate ends at the first look at which it fails or passes, or with the last.

    Args:
        found: Of each look, the moments of each study, (studies, tests).
        coverage: Of each test, at every look.
        rule: The rule.

    Returns:
        Places in `VERDICTS`, (studies, tests), and the look of each study, from 1.
    """
    verdicts = np.stack([decide(one, coverage, rule, look) for look, one in enumerate(found, 1)])
    is_end = outcome_of(verdicts) != OUTCOMES.index("inconclusive")
    is_end[-1] = True
    last = is_end.argmax(axis=0)
    return verdicts[last, np.arange(len(last))], last + 1


def judge_gate(
    scores: FloatArray,
    coverage: Sequence[float],
    rule: GateRule,
    *,
    look: int,
    n_planned: int,
    rng: np.random.Generator,
) -> GateResult:
    """Say what a gate comes to at a look.

    Args:
        scores: (items so far, tests), from -1/2 to 1/2, NaN where missing; the first test is the
            one whose power is told.
        coverage: Share of what is planned so far that each test has.
        rule: The rule.
        look: Which look it is, from 1.
        n_planned: Items that the last look has.
        rng: Draws the flips.
    """
    found, covered = moments(scores), np.asarray(coverage, dtype=np.float64)
    verdicts = decide(found, covered, rule, look)
    flipped, _ = take_looks(flip_signs(scores, n_planned, rule, rng), covered, rule)
    outcomes = outcome_of(flipped)
    return GateResult(
        outcome=OUTCOMES[int(outcome_of(verdicts))],
        tests=_tests(found, covered, verdicts, (rule, look)),
        look=look,
        n_planned=n_planned,
        false_alarms=float(np.mean(outcomes == OUTCOMES.index("failed"))),
        power=float(np.mean(flipped[:, 0] == EQUIVALENT)),
        power_to_pass=float(np.mean(outcomes == OUTCOMES.index("passed"))),
        smallest_effect=_smallest_effect(scores, rule, n_planned),
    )


def flip_signs(
    scores: FloatArray, n_items: int, rule: GateRule, rng: np.random.Generator
) -> list[Moments]:
    """Return the moments, look by look, of studies without a difference: (N_FLIPS, tests) each.

    Each item is given to candidate and baseline by a coin, all its tests together, which keeps how
    they hang together. Where there are fewer items yet than planned, they are taken again from the
    first on.
    """
    scores = np.resize(scores, (n_items, scores.shape[1]))
    x, is_there = np.nan_to_num(scores), ~np.isnan(scores)
    signs = rng.integers(2, size=(N_FLIPS, n_items), dtype=np.int8) * 2.0 - 1
    shape = (N_FLIPS, scores.shape[1])
    return [
        _of_sums(
            [
                signs[:, :size] @ x[:size],
                np.broadcast_to((x[:size] ** 2).sum(axis=0), shape),
                signs[:, :size] @ x[:size] ** 3,
            ],
            np.broadcast_to(is_there[:size].sum(axis=0).astype(np.float64), shape),
        )
        for size in look_sizes(n_items, rule.n_looks)
    ]


def _tests(
    found: Moments, coverage: FloatArray, verdicts: IntArray, at: tuple[GateRule, int]
) -> tuple[GateTest, ...]:
    rule, look = at
    ends = interval_of(found, _two_tails(rule, 1)[look - 1])
    p, sd = two_sided(found), _spread(found)
    has_p = found.n >= 2
    adjusted = holm_adjusted(np.where(has_p, p, 1.0))
    within = equivalence_p(found, rule.margin)
    made = []
    for k, place in enumerate(verdicts.tolist()):
        n, mean = int(found.n[k]), float(found.mean[k])
        low, high = ends[:, k].tolist() if n >= 2 else (None, None)
        is_open = place == INCONCLUSIVE and coverage[k] >= rule.least_coverage and n >= 2
        made.append(
            GateTest(
                verdict=VERDICTS[place],
                difference=mean if n else None,
                low=low,
                high=high,
                p=float(p[k]) if n >= 2 else None,
                p_adjusted=float(adjusted[k]) if n >= 2 and rule.n_looks == 1 else None,
                p_equivalent=float(within[k]) if n >= 2 else None,
                n_items=n,
                coverage=float(coverage[k]),
                n_wanted=_wanted(mean, float(sd[k]), len(verdicts), rule) if is_open else None,
            )
        )
    return tuple(made)


def _wanted(mean: float, sd: float, n_tests: int, rule: GateRule) -> int:
    """Return the items at which a difference of `mean` is seen, or seen to be within the margin.

    The fewer of the two: n = (sd (z(1 - level) + z(power))/distance)², at the levels of the last
    look and of Holm's strictest step; both ends of the margin share what may be missed.
    """
    room = rule.margin - abs(mean)
    within = nominal_levels(rule.alpha, rule.n_looks)[-1]
    apart = _two_tails(rule, n_tests)[-1]
    ways = [(room, within, (1 + POWER) / 2), (abs(mean), apart, POWER)]
    counts = [
        (sd * float(ndtri(1 - level) + ndtri(power)) / distance) ** 2
        for distance, level, power in ways
        if distance > ROUNDING
    ]
    return math.ceil(min(counts))


def _smallest_effect(scores: FloatArray, rule: GateRule, n_planned: int) -> float | None:
    """Return how far below 0 the mean has to lie so that it is seen in four of five studies.

    Scores that are worse are those there are and one at each end of the scale, their shares tilted
    by exp(slope score): so the spread becomes what it is at that mean.
    """
    x, n = scores[~np.isnan(scores[:, 0]), 0], float(n_planned)
    if len(x) < 2 or n_planned < 2:
        return None
    x = np.append(x, [-MOST_SD, MOST_SD])
    level = _two_tails(rule, scores.shape[1])[-1]
    low, high, effect = -_STEEPEST, 0.0, None
    for _ in range(_HALVINGS):
        slope = (low + high) / 2
        shares = np.exp(slope * (x + MOST_SD))
        shares /= shares.sum()
        mean = shares @ x
        se = math.sqrt(shares @ (x - mean) ** 2 / n)
        nearly = np.asarray(mean + float(ndtri(POWER)) * se)
        seen = Moments(nearly, np.asarray(se), np.asarray(n), n * (shares @ (x - mean) ** 3))
        if float(_tail(seen, 0.0, MOST_SD)) <= level:
            low, effect = slope, -float(mean)
        else:
            high = slope
    return effect
