"""Does the ranking stand when the same raters are asked the same again (``heart judge --again``)?

Each repeat is ranked by itself beside the first answers to the same assignments. A repeat of a few
pairs only, as the judges' audit has them, is left out, and so is one that determines no ranking.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hearteval.analysis.judgments import Judgments, last_rows
from hearteval.analysis.ranking.comparisons import rank_judgments
from hearteval.analysis.ranking.rank import ELO_DECIMALS_OF_RANK
from hearteval.domain import System
from hearteval.errors import NotIdentifiedError
from hearteval.stats.comparisons import IntArray
from hearteval.stats.rankers import kendall_tau

MIN_SHARE = 0.5
"""Of the first answers: the few pairs that an audit asks about again are no repeat of a ranking."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankStability:
    """One repeat beside the first answers to the same assignments."""

    repeat: int
    """Number of the repeat, from 1."""
    n_judgments: int
    n_same_choice: int
    """Of these with the same choice."""
    systems: tuple[str, ...]
    """Systems ranked both times, by name."""
    first: tuple[float, ...]
    """Strength-weighted Elo by the first answers, in the order of `systems`."""
    again: tuple[float, ...]
    """By the repeat."""
    kendall_tau: float | None
    """Rank correlation of the two (tau-b); None where all are equal."""
    max_elo_gap: float
    rms_elo_gap: float


def rank_stability(
    judgments: Judgments,
    systems: Sequence[System],
    *,
    people: Sequence[str],
    level: float,
) -> tuple[RankStability, ...]:
    """Rank each repeat beside the first answers; repeats that determine no ranking are left out.

    So are judgments of other systems. `people` are the ids of the human raters, sorted.
    """
    systems = sorted(systems, key=lambda system: system.name)
    rows = judgments.among({system.id for system in systems})
    shown = rows.pair.codes, rows.rater.codes, rows.first_system.codes
    rows = rows.select(np.sort(last_rows(*shown, rows.repeat)))
    first = rows.first_ones
    found = [
        _compare(first, rows.select(rows.repeat == repeat), systems, people=people, level=level)
        for repeat in np.unique(rows.repeat[rows.repeat > 0])
    ]
    return tuple(one for one in found if one is not None)


def _compare(
    first: Judgments,
    again: Judgments,
    systems: Sequence[System],
    *,
    people: Sequence[str],
    level: float,
) -> RankStability | None:
    is_both = np.isin(_shown(first), _shown(again))
    if not is_both.any() or is_both.sum() < MIN_SHARE * len(first):
        return None
    both = first.select(is_both), again.select(np.isin(_shown(again), _shown(first)))
    rankings = []
    for rows in both:
        try:
            rankings.append(
                rank_judgments(rows, systems, use_strength=True, rater_ids=people, level=level)
            )
        except NotIdentifiedError:
            return None
    said = [rows.choice[np.argsort(_shown(rows))] for rows in both]
    elos = [np.array([each.elo for each in ranking.estimates]) for ranking in rankings]
    gaps = np.abs(elos[1] - elos[0])
    tau = kendall_tau(*(elo.round(ELO_DECIMALS_OF_RANK) for elo in elos))
    return RankStability(
        repeat=int(again.repeat[0]),
        n_judgments=len(both[0]),
        n_same_choice=int((said[0] == said[1]).sum()),
        systems=rankings[0].names,
        first=tuple(map(float, elos[0])),
        again=tuple(map(float, elos[1])),
        kendall_tau=tau,
        max_elo_gap=float(gaps.max()),
        rms_elo_gap=float(np.sqrt((gaps**2).mean())),
    )


def _shown(rows: Judgments) -> IntArray:
    """Return one number for pair, rater and system shown first; alike for rows of one origin."""
    n_raters, n_systems = len(rows.rater.values), len(rows.first_system.values)
    asked = rows.pair.codes.astype(np.int64) * n_raters + rows.rater.codes
    return asked * n_systems + rows.first_system.codes
