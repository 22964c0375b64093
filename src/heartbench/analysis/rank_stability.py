"""Does the ranking stand when the same raters are asked the same again (``heart judge --again``)?

Each repeat is ranked by itself beside the first answers to the same assignments. A repeat of a few
pairs only, as the judges' audit has them, is left out, and so is one that determines no ranking.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import kendalltau

from heartbench.analysis.comparisons import to_comparisons
from heartbench.analysis.elo import ELO_DECIMALS_OF_RANK, estimate_elo
from heartbench.analysis.judgment_columns import JudgmentColumns, select_rows, select_systems
from heartbench.analysis.ranking_warnings import MIN_ITEMS
from heartbench.domain import System
from heartbench.errors import NotIdentifiedError
from heartbench.stats.comparisons import FloatArray, keep_compared

MIN_SYSTEMS = 2
MIN_SHARE = 0.5
"""Of the first answers: the few pairs that an audit asks about again are no repeat of a ranking."""

Shown = tuple[str, str, str]
"""Pair, rater and the system shown first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankStability:
    """One repeat beside the first answers to the same assignments.

    Attributes:
        repeat: Number of the repeat, from 1.
        n_judgments: Assignments answered both times.
        n_same_choice: Of these with the same choice.
        systems: Systems ranked both times, by name.
        first: Strength-weighted Elo by the first answers, in the order of `systems`.
        again: By the repeat.
        kendall_tau: Rank correlation of the two (tau-b); None where all are equal.
        max_elo_gap: Largest difference of one system's two ratings.
        rms_elo_gap: Root mean square of these differences.
    """

    repeat: int
    n_judgments: int
    n_same_choice: int
    systems: tuple[str, ...]
    first: tuple[float, ...]
    again: tuple[float, ...]
    kendall_tau: float | None
    max_elo_gap: float
    rms_elo_gap: float


def rank_stability(
    columns: JudgmentColumns, systems: Sequence[System], *, level: float
) -> tuple[RankStability, ...]:
    """Rank each repeat beside the first answers; repeats that determine no ranking are left out.

    Args:
        columns: Judgments of every repeat; those of other systems are left out.
        systems: Systems of the ranking.
        level: Nominal coverage; the intervals themselves are not used.
    """
    systems = sorted(systems, key=lambda system: system.name)
    columns = select_systems(columns, {system.id for system in systems})
    by_repeat = {
        number: _answers(columns, repeat=number) for number in sorted({0, *columns.repeat})
    }
    first = by_repeat.pop(0)
    found = [_compare(columns, first, again, systems, level=level) for again in by_repeat.values()]
    return tuple(one for one in found if one is not None)


def _answers(columns: JudgmentColumns, *, repeat: int) -> dict[Shown, int]:
    """Return the row of each answer of a repeat, by what was shown to whom in which order."""
    shown = zip(columns.pair_id, columns.rater_id, columns.first_system_id, strict=True)
    return {key: row for row, key in enumerate(shown) if columns.repeat[row] == repeat}


def _compare(
    columns: JudgmentColumns,
    first: Mapping[Shown, int],
    again: Mapping[Shown, int],
    systems: Sequence[System],
    *,
    level: float,
) -> RankStability | None:
    both = first.keys() & again.keys()
    if not both or len(both) < MIN_SHARE * len(first):
        return None
    names: list[str] = []
    elos = []
    for answers in (first, again):
        rows = {answers[key] for key in both}
        names, elo = _rate(
            select_rows(columns, [row in rows for row in range(len(columns))]), systems, level=level
        )
        if len(names) < MIN_SYSTEMS:
            return None
        elos.append(elo)
    gaps = np.abs(elos[1] - elos[0])
    tau = float(kendalltau(*(elo.round(ELO_DECIMALS_OF_RANK) for elo in elos)).statistic)
    choice = columns.choice
    return RankStability(
        repeat=columns.repeat[again[next(iter(both))]],
        n_judgments=len(both),
        n_same_choice=sum(choice[first[key]] == choice[again[key]] for key in both),
        systems=tuple(names),
        first=tuple(map(float, elos[0])),
        again=tuple(map(float, elos[1])),
        kendall_tau=None if np.isnan(tau) else tau,
        max_elo_gap=float(gaps.max()),
        rms_elo_gap=float(np.sqrt((gaps**2).mean())),
    )


def _rate(
    columns: JudgmentColumns, systems: Sequence[System], *, level: float
) -> tuple[list[str], FloatArray]:
    """Rate the systems that are compared on enough items; none where that is not determined."""
    comparisons, kept = keep_compared(
        to_comparisons(columns, use_strength=True, system_ids=[system.id for system in systems]),
        min_items=MIN_ITEMS,
    )
    names = [systems[i].name for i in kept]
    if len(names) < MIN_SYSTEMS:
        return [], np.zeros(0)
    try:
        estimates = estimate_elo(comparisons, names, level=level).estimates
    except NotIdentifiedError:
        return [], np.zeros(0)
    return names, np.array([estimate.elo for estimate in estimates])
