"""Does the ranking stand when the same raters are asked the same again (``heart judge --again``)?

Each repeat is ranked by itself beside the first answers to the same assignments. A repeat of a few
pairs only, as the judges' audit has them, is left out, and so is one that determines no ranking.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hearteval.analysis.data import JudgmentRow
from hearteval.analysis.ranking.comparisons import rank_judgments
from hearteval.analysis.ranking.rank import ELO_DECIMALS_OF_RANK
from hearteval.domain import System
from hearteval.errors import NotIdentifiedError
from hearteval.stats.rankers import kendall_tau

MIN_SHARE = 0.5
"""Of the first answers: the few pairs that an audit asks about again are no repeat of a ranking."""

Shown = tuple[str, str, str]
"""Pair, rater and the system shown first."""


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
    judgments: Sequence[JudgmentRow],
    systems: Sequence[System],
    *,
    people: Sequence[str],
    level: float,
) -> tuple[RankStability, ...]:
    """Rank each repeat beside the first answers; repeats that determine no ranking are left out.

    So are judgments of other systems. `people` are the ids of the human raters, sorted.
    """
    systems = sorted(systems, key=lambda system: system.name)
    ids = {system.id for system in systems}
    by_repeat: dict[int, dict[Shown, JudgmentRow]] = defaultdict(dict)
    for row in judgments:
        if row.is_among(ids):
            by_repeat[row.repeat][row.pair_id, row.rater_id, row.first_system_id] = row
    first = by_repeat.pop(0, {})
    found = [
        _compare(first, by_repeat[repeat], systems, people=people, level=level)
        for repeat in sorted(by_repeat)
    ]
    return tuple(one for one in found if one is not None)


def _compare(
    first: Mapping[Shown, JudgmentRow],
    again: Mapping[Shown, JudgmentRow],
    systems: Sequence[System],
    *,
    people: Sequence[str],
    level: float,
) -> RankStability | None:
    both = first.keys() & again.keys()
    if not both or len(both) < MIN_SHARE * len(first):
        return None
    rankings = []
    for answers in (first, again):
        rows = [row for key, row in answers.items() if key in both]
        try:
            rankings.append(
                rank_judgments(rows, systems, use_strength=True, rater_ids=people, level=level)
            )
        except NotIdentifiedError:
            return None
    elos = [np.array([each.elo for each in ranking.estimates]) for ranking in rankings]
    gaps = np.abs(elos[1] - elos[0])
    tau = kendall_tau(*(elo.round(ELO_DECIMALS_OF_RANK) for elo in elos))
    return RankStability(
        repeat=again[next(iter(both))].repeat,
        n_judgments=len(both),
        n_same_choice=sum(first[key].choice == again[key].choice for key in both),
        systems=rankings[0].names,
        first=tuple(map(float, elos[0])),
        again=tuple(map(float, elos[1])),
        kendall_tau=tau,
        max_elo_gap=float(gaps.max()),
        rms_elo_gap=float(np.sqrt((gaps**2).mean())),
    )
