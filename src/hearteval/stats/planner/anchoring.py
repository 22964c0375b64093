"""How well judges who saw all comparisons and people who saw some place systems together.

Studies are drawn from what is known of judges, and the anchored ranking itself is fitted to each.
Left out: that people and judges err together where they judge the same completions.
"""

from functools import partial
from typing import Final, NamedTuple

import numpy as np

from hearteval.stats import MAP
from hearteval.stats.bradley_terry.anchored import anchor
from hearteval.stats.bradley_terry.measured import Measured
from hearteval.stats.comparisons import FloatArray
from hearteval.stats.special import ndtri, t_quantile

N_STUDIES: Final = 12
"""Drawn for each width: its error is about 3 %."""


class Judging(NamedTuple):
    """What is known of judges beside people, log odds."""

    spread: float
    """SD of people's strengths of systems."""
    tau: float
    """SD of what judges miss."""
    slope: float
    """People's difference where judges see one of 1."""
    se: float
    """Of a strength by judges."""


class Widths(NamedTuple):
    """Mean half-widths of the places of systems, log odds."""

    anchored: float
    people_alone: float


def expect_widths(
    people_se: float,
    df: int,
    judging: Judging,
    n_systems: int,
    *,
    level: float,
    rng: np.random.Generator,
) -> Widths:
    """Return the half-widths to expect where judges place all systems and people vote on them.

    Args:
        people_se: Of a strength by people.
        df: Degrees of freedom of its interval.
        judging: What is known of judges.
        n_systems: Of one kind, `MIN_SYSTEMS` or more.
        level: Nominal coverage.
        rng: Draws the studies.

    Raises:
        NotIdentifiedError: There are too few systems.
    """
    widened = people_se * t_quantile(df, level=level) / float(ndtri((1 + level) / 2))
    centred = np.eye(n_systems) - 1 / n_systems
    errors = np.asarray(np.kron(np.diag([widened**2, judging.se**2]), centred))
    draws = rng.standard_normal((N_STUDIES, 4, n_systems))
    reaches = [*MAP.get()(partial(_reach, people_se, judging, errors, level), draws)]
    alone = t_quantile(df, level=level) * people_se * float(np.sqrt(1 - 1 / n_systems))
    return Widths(anchored=float(np.mean(reaches)), people_alone=alone)


def _reach(
    people_se: float, judging: Judging, errors: FloatArray, level: float, drawn: FloatArray
) -> float:
    """Return the mean half-width in one drawn study, (4, systems) of normal numbers."""
    theta, missed, of_people, of_judges = drawn
    kind = np.zeros(len(theta), dtype=np.int64)
    theta = judging.spread * theta
    judged = (theta - judging.tau * missed) / judging.slope + judging.se * of_judges
    measured = Measured(
        people=_centred(theta + people_se * of_people),
        group=kind,
        judges=_centred(judged)[:, None],
        errors=errors,
    )
    found = anchor(measured, kind, level=level).theta
    return float(np.mean(found.high - found.low)) / 2


def _centred(values: FloatArray) -> FloatArray:
    return np.asarray(values - values.mean())
