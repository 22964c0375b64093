"""What the audits of a ranking return: what else could explain it, and who judged how.

Audits of position, length and formatting are planned ahead (SPEC section 13). Ratings with these
held equal, or by judges who are not all alike, are exploratory; both stand beside the leaderboard.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from heartbench.analysis.controlled import AdjustedSystem, JudgeAwareRatings
from heartbench.analysis.leaderboard_results import EloEstimate

PLANNED: Final = "planned"
EXPLORATORY: Final = "exploratory"


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemTexts:
    """What one system's completions look like, on average.

    Attributes:
        system: Its name.
        n_completions: Completions counted.
        words: Mean number of words.
        formatting: Mean number of formatting marks.
    """

    system: str
    n_completions: int
    words: float
    formatting: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CovariateEffect:
    """What one difference between two completions does to who wins, strengths being equal.

    Attributes:
        covariate: ``length``, ``formatting`` or ``position``.
        beta: Log odds for one unit more: a relative difference of 1, or being shown first.
        low: Interval end of `beta`.
        high: Likewise.
        step: Units that the shares below are of: 1/3 is twice as much as the other, 1 shown first.
        win_rate: Share that the side with one step more wins; 1/2 is no effect.
        win_rate_low: Interval end.
        win_rate_high: Interval end.
    """

    covariate: str
    beta: float
    low: float
    high: float
    step: float
    win_rate: float
    win_rate_low: float
    win_rate_high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BiasAudit:
    """Length, formatting and position: their effects, and the ratings with them held equal.

    Every judgment counts once, and a tie is half. What goes with length may also be what makes a
    completion good; no such figure can tell.

    Attributes:
        effects: Effects, all estimated together with the strengths.
        status_of_effects: ``planned``.
        systems: Raw (unweighted) and controlled ratings, best controlled first; empty without any.
        status_of_ratings: ``exploratory``.
        texts: What the completions look like, by system.
        left_out: Covariates that could not be controlled for, and why.
        problem: Why there are no controlled ratings; None where there are, or all were left out.
        interval_used: Name of the interval of every figure; None without figures.
        df: Degrees of freedom of t; None likewise.
        level: Nominal coverage.
    """

    effects: tuple[CovariateEffect, ...]
    status_of_effects: str
    systems: tuple[AdjustedSystem, ...]
    status_of_ratings: str
    texts: tuple[SystemTexts, ...]
    left_out: Mapping[str, str]
    problem: str | None
    interval_used: str | None
    df: int | None
    level: float


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRanking:
    """The headline ranking by one judge alone.

    Attributes:
        judge: Its name.
        n_judgments: Judgments it gave.
        ratings: Rating by system; empty where its judgments do not determine any.
        problem: Why there are none, else None.
    """

    judge: str
    n_judgments: int
    ratings: Mapping[str, EloEstimate]
    problem: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgePanel:
    """How the judges of a panel differ; people's judgments are left out.

    Attributes:
        judge_aware: Raw (unweighted) ratings and those with each judge's discrimination and
            position bias estimated beside them, every judgment counting once; None where these are
            not determined.
        problem: Why they are not, naming the judges; else None.
        status_of_ratings: ``exploratory``.
        alone: The ranking by each judge alone, by name of the judge.
    """

    judge_aware: JudgeAwareRatings | None
    problem: str | None
    status_of_ratings: str
    alone: tuple[JudgeRanking, ...]
