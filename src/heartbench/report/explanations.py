"""The section "What else could explain the ranking": rows and words for it.

Numbers come as they are in the results; only scales, order and wording are made here.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heartbench.analysis.audit_results import BiasAudit, CovariateEffect, SystemTexts
from heartbench.analysis.controlled import AdjustedSystem, JudgeTraits
from heartbench.report.figures import Scale, elo_scale

EFFECT_WORDS: Mapping[str, str] = {
    "length": "with twice as many words",
    "formatting": "with twice as much formatting",
    "position": "shown first",
}
NO_EFFECT = "no sign of an effect"
NOT_DETERMINED = "not determined: it may be large either way"
LARGE = 0.25
"""An interval of the win rate that reaches so far from one half on both sides says nothing."""
MORE_OFTEN = "wins more often"
LESS_OFTEN = "wins less often"
SAME_EITHER_WAY = "the same either way, on every item"
NO_PRECISION = "the same on every item: that is no precision"
NO_INTERVAL = "too few items to tell"
RATING_DECIMALS = 6
"""Ratings equal to this many decimals share a rank, as on the leaderboard."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectRow:
    """One covariate: its effect, or why it was left out.

    Attributes:
        words: Completes "Of two equals, the one ...".
        effect: Its effect; None where it was left out.
        reading: What the interval says, or why it was left out.
    """

    words: str
    effect: CovariateEffect | None
    reading: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedRow:
    """One system's raw and adjusted rating.

    Attributes:
        rating: Both, with intervals.
        change: Adjusted minus raw.
        rank: By the raw rating among the systems shown.
        rank_adjusted: By the adjusted one.
    """

    rating: AdjustedSystem
    change: float
    rank: int
    rank_adjusted: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedRatings:
    """Raw and adjusted ratings on one scale.

    Attributes:
        scale: In percent of its column.
        rows: Best raw rating first, as on the unweighted leaderboard.
    """

    scale: Scale
    rows: tuple[PairedRow, ...]


def pair_ratings(systems: Sequence[AdjustedSystem]) -> PairedRatings:
    """Return raw and adjusted ratings in the order of the raw ones, then by name."""
    rank = _ranks({row.system: row.elo for row in systems})
    rank_adjusted = _ranks({row.system: row.elo_adjusted for row in systems})
    rows = [
        PairedRow(
            rating=row,
            change=row.elo_adjusted - row.elo,
            rank=rank[row.system],
            rank_adjusted=rank_adjusted[row.system],
        )
        for row in sorted(systems, key=lambda row: (rank[row.system], row.system))
    ]
    shown = [
        (row.elo, row.elo_adjusted, row.low, row.high, row.low_adjusted, row.high_adjusted)
        for row in systems
    ]
    scale = elo_scale([value for row in shown for value in row if value is not None])
    return PairedRatings(scale=scale, rows=tuple(rows))


def effect_rows(audit: BiasAudit) -> tuple[EffectRow, ...]:
    """Return every covariate in a fixed order, those left out with the reason."""
    effects = {effect.covariate: effect for effect in audit.effects}
    return tuple(
        EffectRow(
            words=words,
            effect=effects.get(name),
            reading=_read(effects[name]) if name in effects else audit.left_out[name],
        )
        for name, words in EFFECT_WORDS.items()
        if name in effects or name in audit.left_out
    )


def texts_by_system(audit: BiasAudit) -> Mapping[str, SystemTexts]:
    """Return what the completions look like, by system."""
    return {text.system: text for text in audit.texts}


def read_judge(judge: JudgeTraits) -> str:
    """Say what a judge's traits mean, as far as their intervals do."""
    discrimination = _read_discrimination(judge.discrimination_low, judge.discrimination_high)
    bias = _read_bias(judge.position_bias_low, judge.position_bias_high)
    if judge.discrimination_low is None and judge.position_bias_low is None:
        return NO_INTERVAL
    return ", ".join(filter(None, (discrimination, bias))) or "nothing unusual"


def _read_discrimination(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return ""
    if high < 0:
        return "prefers what the others find weaker"
    if low <= 0:
        return "may not tell the systems apart"
    if low > 1:
        return "sharper than average"
    return "less sharp than average" if high < 1 else ""


def _read_bias(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return ""
    if low > 0:
        return "favours what is shown first"
    return "favours what is shown second" if high < 0 else ""


def share_of_log_odds(log_odds: float) -> float:
    """Convert log odds to the share of wins that they mean."""
    return (1 + math.tanh(log_odds / 2)) / 2


def _read(effect: CovariateEffect) -> str:
    if effect.low == effect.high:
        return NO_PRECISION if effect.beta else SAME_EITHER_WAY
    if effect.low > 0:
        return MORE_OFTEN
    if effect.high < 0:
        return LESS_OFTEN
    is_open = effect.win_rate_low < 0.5 - LARGE and effect.win_rate_high > 0.5 + LARGE
    return NOT_DETERMINED if is_open else NO_EFFECT


def _ranks(ratings: Mapping[str, float]) -> Mapping[str, int]:
    rounded = {name: round(elo, RATING_DECIMALS) for name, elo in ratings.items()}
    return {
        name: 1 + sum(other > elo for other in rounded.values()) for name, elo in rounded.items()
    }
