"""A table of Elo and win rates as somebody printed it: does it agree with itself, or with another?

Elo say how often each system should win against the others. Where every system met every other
equally often, that is what its win rate must be, but for rounding (SPEC section 14).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hearteval.analysis.agreement.measures import AgreementMeasure, measured
from hearteval.errors import InvalidVotesError
from hearteval.stats.bradley_terry.fit import ELO_PER_THETA, win_probabilities
from hearteval.stats.bradley_terry.fit_check import predict_win_rates
from hearteval.stats.comparisons import FloatArray
from hearteval.stats.concordance import (
    kendall,
    kendall_interval,
    lin_concordance,
    lin_interval,
    spearman,
    spearman_interval,
)

LEAST_FACTOR, MOST_FACTOR = 1 / 64, 64.0
STEPS = 80
GOLDEN = (5**0.5 - 1) / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedSystem:
    """One line of a printed table.

    Attributes:
        win_rate: Share won, as printed.
        expected: What its Elo makes it win against the others of the table.
        gap: `win_rate` less `expected`.
    """

    system: str
    elo: float
    win_rate: float
    expected: float
    gap: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfCheck:
    """Whether printed win rates are those that the printed Elo imply.

    Attributes:
        systems: By Elo, the highest first.
        agrees: Whether every gap is within `tolerance`.
        rms_gap: Root mean square of the gaps, as shares.
        largest: The system with the largest gap.
        factor: Times which the strengths must be taken to come closest.
        rms_gap_at_factor: What is left then.
        max_gap_at_factor: Likewise the largest.
        out_of_order: Pairs of systems of which the first has more Elo and wins less often.
        mean_win_rate: 1/2 where every comparison of the table is between two of its systems.
    """

    systems: tuple[PrintedSystem, ...]
    agrees: bool
    tolerance: float
    rms_gap: float
    max_gap: float
    largest: str
    factor: float
    rms_gap_at_factor: float
    max_gap_at_factor: float
    out_of_order: tuple[tuple[str, str], ...]
    mean_elo: float
    mean_win_rate: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One system in two rankings; rank 1 is best, equal numbers share the better."""

    system: str
    first: float
    second: float
    first_rank: int
    second_rank: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Concordance:
    """How far two rankings say the same of the systems that both name.

    Attributes:
        lin: Lin's concordance: are the numbers equal? A shift or another spread costs.
        spearman: Rank correlation, of the ranks' distances.
        kendall: Rank correlation tau-b, of the pairs' order.
        only_first: Systems that the second does not name.
        moves: The systems of both, those that move most ranks first.
    """

    n_systems: int
    lin: AgreementMeasure
    spearman: AgreementMeasure
    kendall: AgreementMeasure
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    moves: tuple[Move, ...]
    level: float


def check_published(
    elo: Mapping[str, float], win_rate: Mapping[str, float], *, tolerance: float
) -> SelfCheck:
    """Compare printed win rates, as shares, with those that printed Elo imply.

    Every system is taken to have met every other equally often.

    Raises:
        InvalidVotesError: Under two systems.
    """
    names = sorted(elo, key=lambda name: (-elo[name], name))
    if len(names) < 2:
        raise InvalidVotesError(f"a table takes two systems or more, and there are {len(names)}")
    elos = np.array([elo[name] for name in names])
    observed = np.array([win_rate[name] for name in names])
    theta = (elos - elos.mean()) / ELO_PER_THETA
    expected = _imply(theta)
    gaps = observed - expected
    factor = _best_factor(theta, observed)
    left = observed - _imply(factor * theta)
    return SelfCheck(
        systems=tuple(
            PrintedSystem(system=name, elo=each, win_rate=share, expected=implied, gap=gap)
            for name, each, share, implied, gap in zip(
                names,
                elos.tolist(),
                observed.tolist(),
                expected.tolist(),
                gaps.tolist(),
                strict=True,
            )
        ),
        agrees=bool(np.abs(gaps).max() <= tolerance),
        tolerance=tolerance,
        rms_gap=_rms(gaps),
        max_gap=float(np.abs(gaps).max()),
        largest=names[int(np.abs(gaps).argmax())],
        factor=factor,
        rms_gap_at_factor=_rms(left),
        max_gap_at_factor=float(np.abs(left).max()),
        out_of_order=tuple(
            (names[i], names[j])
            for i in range(len(names))
            for j in range(i + 1, len(names))
            if elos[i] > elos[j] and observed[i] < observed[j]
        ),
        mean_elo=float(elos.mean()),
        mean_win_rate=float(observed.mean()),
    )


def compare_rankings(
    first: Mapping[str, float], second: Mapping[str, float], *, level: float
) -> Concordance:
    """Compare two rankings, numbers by system, on the systems that both name.

    Intervals take the systems as sampled: Lin's (1989) and those of Fisher's z for Spearman (Bonett
    and Wright 2000) and Kendall (Fieller, Hartley and Pearson 1957).

    Raises:
        InvalidVotesError: They share under two systems.
    """
    both = sorted(first.keys() & second.keys())
    if len(both) < 2:
        raise InvalidVotesError(f"the two rankings share {len(both)} systems; it takes two")
    x, y = (np.array([ranking[name] for name in both]) for ranking in (first, second))
    ranks = [_ranks(each) for each in (x, y)]
    moves = [
        Move(system=name, first=a, second=b, first_rank=p, second_rank=q)
        for name, a, b, p, q in zip(both, x.tolist(), y.tolist(), ranks[0], ranks[1], strict=True)
    ]
    return Concordance(
        n_systems=len(both),
        lin=measured(lambda: lin_concordance(x, y), lambda _: lin_interval(x, y, level=level)),
        spearman=measured(
            lambda: spearman(x, y), lambda r: spearman_interval(r, len(x), level=level)
        ),
        kendall=measured(lambda: kendall(x, y), lambda r: kendall_interval(r, len(x), level=level)),
        only_first=tuple(sorted(first.keys() - second.keys())),
        only_second=tuple(sorted(second.keys() - first.keys())),
        moves=tuple(
            sorted(moves, key=lambda m: (-abs(m.first_rank - m.second_rank), m.first_rank))
        ),
        level=level,
    )


def _ranks(values: FloatArray) -> list[int]:
    return [int(rank) for rank in 1 + np.searchsorted(np.sort(-values), -values)]


def _imply(theta: FloatArray) -> FloatArray:
    n = len(theta)
    return predict_win_rates(win_probabilities(theta), np.ones((n, n)) - np.eye(n))


def _rms(gaps: FloatArray) -> float:
    return float(np.sqrt((gaps**2).mean()))


def _best_factor(theta: FloatArray, observed: FloatArray) -> float:
    """Return the factor of the strengths with the smallest gaps, by golden section on its log."""

    def left(log_factor: float) -> float:
        return _rms(observed - _imply(np.exp(log_factor) * theta))

    low, high = np.log(LEAST_FACTOR), np.log(MOST_FACTOR)
    for _ in range(STEPS):
        a, b = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        low, high = (low, b) if left(a) < left(b) else (a, high)
    return float(np.exp((low + high) / 2))
