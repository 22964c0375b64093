"""Whether one person's answers look as if given without reading: exact tests, one habit each.

Each function takes the answers of one person, in the order of time where that matters. What is
found in the end is up to whoever knows all people: many tests are made, and honest people do
everything now and then (`hearteval.analysis.quality`).
"""

import math
from typing import Final, NamedTuple

import numpy as np

from hearteval.stats.comparisons import FloatArray, IntArray
from hearteval.stats.special import betainc, betaincinv, stdtr

MOST_TIES: Final = 0.8
"""The most that is taken for a person's own share of ties: who gives nothing else has no habit
that chance would explain."""
MAD_TO_SD: Final = 1.4826
"""Of a normal distribution (Iglewicz and Hoaglin 1993)."""
MAD_EFFICIENCY: Final = 0.37
"""Of a MAD beside a standard deviation of normal values (Rousseeuw and Croux 1993)."""
MEDIAN_VARIANCE: Final = math.pi / 2
"""Of a median beside that of a mean."""


class Share(NamedTuple):
    """A share of independent units with its exact interval (Clopper and Pearson 1934)."""

    value: float
    low: float
    high: float


def exact_share(n_of: int, n: int, *, level: float) -> Share:
    """Return a share of n units.

    Raises:
        ValueError: No units, or more than there are.
    """
    if not 0 <= n_of <= n or n < 1:
        raise ValueError(f"expected a share of at least one unit, not {n_of} of {n}")
    tail = (1 - level) / 2
    low = float(betaincinv(n_of, n - n_of + 1, tail)) if n_of else 0.0
    high = float(betaincinv(n_of + 1, n - n_of, 1 - tail)) if n_of < n else 1.0
    return Share(n_of / n, low, high)


def chance_of_so_many(n_of: int, n: int, share: float) -> float:
    """Return the chance that of n independent units at least so many are what a share of all is."""
    return float(betainc(n_of, n - n_of + 1, share)) if n_of else 1.0


def chance_of_so_few(n_of: int, n: int, share: float) -> float:
    """Return the chance that at most so many are."""
    return chance_of_so_many(n - n_of, n, 1 - share)


def chance_of_a_side(n_first: int, n: int) -> float:
    """Return the two-sided p that of n choices so many fall on the side shown first.

    The exact binomial test against one half: which reply is shown first is drawn.
    """
    more = max(n_first, n - n_first)
    return min(1.0, 2 * chance_of_so_many(more, n, 0.5))


def longest_run(answers: IntArray) -> int:
    """Return how many equal answers stand in a row at most, the long string of Johnson (2005).

    0 of no answers.
    """
    if not len(answers):
        return 0
    ends = np.flatnonzero(np.append(np.diff(answers) != 0, True))
    return int(np.diff(ends, prepend=-1).max())


def chance_of_a_run(answers: IntArray) -> float:
    """Return the chance of a run as long as the longest, were answers given in any order.

    Answers are signed: above 0 for what is shown first, below 0 for what is shown second, each by
    its strength, and 0 for a tie. A person's own habit is how often they tie and how strong they
    answer; sides are drawn, so by chance each strength falls on either side as often. With these
    shares as chances the longest run of n independent answers has an exact distribution: that of a
    Markov chain over the answer and how long it has run (Fu and Koutras 1994).
    """
    n, run = len(answers), longest_run(answers)
    if run < 2:
        return 1.0
    sizes, counts = np.unique(np.abs(answers), return_counts=True)
    ties = min(float(counts[sizes == 0].sum()) / n, MOST_TIES)
    others = counts[sizes > 0] / n
    # Where there are ties alone, what they are fewer by may be any one answer.
    others = others / others.sum() * (1 - ties) if len(others) else np.array([1 - ties])
    chances = np.concatenate(([ties], others / 2, others / 2))
    # (answer, answers in a row so far - 1), of those in which no run was as long
    state = np.zeros((len(chances), run - 1))
    state[:, 0] = chances
    for _ in range(n - 1):
        ended = state.sum(axis=1)
        after = np.zeros_like(state)
        after[:, 1:] = state[:, :-1] * chances[:, None]
        after[:, 0] = (ended.sum() - ended) * chances
        state = after
    return min(1.0, max(0.0, 1 - float(state.sum())))


def robust_distance(value: float, others: FloatArray) -> float | None:
    """Return how many robust standard deviations a value is from the median of others.

    The modified z of Iglewicz and Hoaglin (1993): (x - median) / (1.4826 MAD), of the others alone.
    None where half of them or more are equal, or there are none.
    """
    if not len(others):
        return None
    middle = float(np.median(others))
    spread = MAD_TO_SD * float(np.median(np.abs(others - middle)))
    return None if math.isclose(spread, 0, abs_tol=1e-12) else (value - middle) / spread


def chance_of_a_distance(distance: float, n_others: int) -> float:
    """Return the two-sided p of such a distance, were the value one of the others.

    t with as many degrees of freedom as a MAD of n normal values is worth; the median's own error
    is in it.
    """
    df = max(1.0, MAD_EFFICIENCY * (n_others - 1))
    return 2 * float(stdtr(df, -abs(distance) / math.sqrt(1 + MEDIAN_VARIANCE / n_others)))
