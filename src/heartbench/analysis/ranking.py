"""Judgments -> the leaderboard: strength-weighted and unweighted ratings side by side (HEART 9.8).

The headline is weighted by strength, as in the paper; the ranking in which every judgment counts
once stands beside it, and a system whose rank differs is marked. People are sampled raters, LLM
judges a fixed panel. Giving people and judges equal weight within a pair is left out.
"""

from collections.abc import Sequence

import numpy as np

from heartbench.analysis.axis_standings import AxisTable, axis_tables
from heartbench.analysis.comparisons import to_comparisons
from heartbench.analysis.elo import EloTable, estimate_elo
from heartbench.analysis.judgment_columns import JudgmentColumns, select_systems
from heartbench.analysis.leaderboard_results import (
    EloEstimate,
    FitCheck,
    Leaderboard,
    LeaderboardRow,
    PairFit,
    SystemFit,
)
from heartbench.analysis.ranking_warnings import (
    MIN_ITEMS,
    absence_warnings,
    interval_warnings,
    mark_warnings,
    sparse_warnings,
)
from heartbench.domain import Rater, System
from heartbench.errors import NotIdentifiedError
from heartbench.stats.bradley_terry import win_probabilities
from heartbench.stats.comparisons import (
    TIE_SCORE,
    Comparisons,
    count_comparisons,
    count_items,
    keep_compared,
    win_matrix,
)
from heartbench.stats.fit_check import check_pairs, check_systems

SOURCES = {
    frozenset({"human"}): "people",
    frozenset({"llm"}): "judges",
    frozenset({"human", "llm"}): "both",
}


def rank_systems(
    columns: JudgmentColumns,
    systems: Sequence[System],
    raters: Sequence[Rater],
    *,
    level: float = 0.95,
) -> Leaderboard:
    """Rank systems by judgments; neither the order of judgments nor that of systems matters.

    Stress systems are never ranked: judgments of their texts are left out. A system without a
    judgment is left out of the fit and named in the warnings.

    Args:
        columns: Judgments.
        systems: Every system that the judgments name, and others of the study.
        raters: Every rater that the judgments name.
        level: Nominal coverage of the intervals.

    Raises:
        NotIdentifiedError: The judgments do not determine one ranking, or stand on one item only;
            it names the groups of systems.
        ValueError: A judgment names a system or a rater that was not given.
    """
    candidates = _candidates(columns, systems)
    people = people_among(raters)
    comparisons, field = _comparable(columns, candidates, people)
    ids, names = [system.id for system in field], [system.name for system in field]
    columns = select_systems(columns, set(ids))
    unweighted = estimate_elo(comparisons, names, level=level)
    weighted_comparisons = to_comparisons(
        columns, use_strength=True, system_ids=ids, rater_ids=people
    )
    weighted = estimate_elo(weighted_comparisons, names, level=level)
    tables = axis_tables(columns, field, people=people, level=level)
    judged_by = _judged_by(columns, raters)
    rater_ids = set(columns.rater_id)
    n_people = len(rater_ids.intersection(people))
    absent = [system.name for system in candidates if system.name not in names]
    n_items_of = dict(zip(names, count_items(comparisons).tolist(), strict=True))
    return Leaderboard(
        rows=_rows(field, comparisons, weighted, unweighted, tables),
        differences=weighted.differences,
        fit=_check_fit("unweighted", comparisons, unweighted.estimates, names),
        fit_weighted=_check_fit("weighted", comparisons, weighted.estimates, names),
        axis_problems={table.axis: table.problem for table in tables if table.problem},
        axis_intervals={table.axis: table.interval for table in tables if table.interval},
        interval_used=weighted.interval_used,
        level=level,
        df=weighted.df,
        ties="half",
        judged_by=judged_by,
        n_judgments=len(columns),
        n_ties=columns.choice.count("tie"),
        n_items=len(set(columns.item_id)),
        n_raters=len(rater_ids),
        n_people=n_people,
        warnings=(
            *interval_warnings(judged_by, weighted.interval_used, n_people, tables),
            *sparse_warnings(n_items_of, unweighted.estimates),
            *mark_warnings(columns),
            *absence_warnings(absent, names, tables),
        ),
    )


def people_among(raters: Sequence[Rater]) -> list[str]:
    """Return the ids of the human raters, sorted: those that intervals treat as sampled."""
    return sorted(rater.id for rater in raters if rater.kind == "human")


def _candidates(columns: JudgmentColumns, systems: Sequence[System]) -> list[System]:
    named = {*columns.first_system_id, *columns.second_system_id}
    unknown = sorted(named - {system.id for system in systems})
    if unknown:
        raise ValueError(f"judgments name systems that were not given: {unknown}")
    return sorted((s for s in systems if s.kind != "stress"), key=lambda system: system.name)


def _comparable(
    columns: JudgmentColumns, candidates: Sequence[System], people: Sequence[str]
) -> tuple[Comparisons, list[System]]:
    """Return the comparisons among systems that have items enough for an interval, and these."""
    everyone = to_comparisons(
        columns,
        use_strength=False,
        system_ids=[system.id for system in candidates],
        rater_ids=people,
    )
    comparisons, kept = keep_compared(everyone, min_items=MIN_ITEMS)
    if len(everyone.left) and not len(kept):
        raise NotIdentifiedError(
            "every system was compared on one item only; an interval needs at least two items"
        )
    return comparisons, [candidates[i] for i in kept]


def _judged_by(columns: JudgmentColumns, raters: Sequence[Rater]) -> str:
    rater_ids = set(columns.rater_id)
    unknown = sorted(rater_ids - {rater.id for rater in raters})
    if unknown:
        raise ValueError(f"judgments name raters that were not given: {unknown}")
    return SOURCES[frozenset(rater.kind for rater in raters if rater.id in rater_ids)]


def _rows(
    field: Sequence[System],
    comparisons: Comparisons,
    weighted: EloTable,
    unweighted: EloTable,
    tables: Sequence[AxisTable],
) -> tuple[LeaderboardRow, ...]:
    n_comparisons = count_comparisons(comparisons)
    is_tie = comparisons.score == TIE_SCORE
    ends_of_ties = np.concatenate((comparisons.left[is_tie], comparisons.right[is_tie]))
    n_ties = np.bincount(ends_of_ties, minlength=len(field))
    n_won_or_half = win_matrix(comparisons).sum(axis=1)
    rows = [
        LeaderboardRow(
            system=system.name,
            kind=system.kind,
            family=system.family,
            weighted=weighted.estimates[i],
            unweighted=unweighted.estimates[i],
            rank_differs=weighted.estimates[i].rank != unweighted.estimates[i].rank,
            win_rate=float(n_won_or_half[i] / n_comparisons[i]),
            n_comparisons=int(n_comparisons[i]),
            n_wins=int(n_won_or_half[i] - n_ties[i] / 2),
            n_ties=int(n_ties[i]),
            axes={t.axis: t.standings[system.name] for t in tables if system.name in t.standings},
        )
        for i, system in enumerate(field)
    ]
    return tuple(sorted(rows, key=lambda row: (row.weighted.rank, row.system)))


def _check_fit(
    ratings: str, comparisons: Comparisons, estimates: Sequence[EloEstimate], names: Sequence[str]
) -> FitCheck:
    wins = win_matrix(comparisons)
    expected = win_probabilities(np.array([estimate.theta for estimate in estimates]))
    left, right, pairs = check_pairs(wins, expected)
    systems = check_systems(wins, expected)
    return FitCheck(
        ratings=ratings,
        rms_gap=pairs.root_mean_square,
        max_gap=pairs.largest,
        system_rms_gap=systems.root_mean_square,
        system_max_gap=systems.largest,
        pairs=tuple(
            PairFit(
                left=names[left[k]],
                right=names[right[k]],
                n=round(pairs.n[k]),
                observed=float(pairs.observed[k]),
                predicted=float(pairs.predicted[k]),
            )
            for k in range(len(left))
        ),
        systems=tuple(
            SystemFit(
                system=name,
                n=round(systems.n[i]),
                observed=float(systems.observed[i]),
                predicted=float(systems.predicted[i]),
            )
            for i, name in enumerate(names)
        ),
    )
