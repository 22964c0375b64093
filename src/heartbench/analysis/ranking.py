"""Judgments -> the leaderboard: strength-weighted and unweighted ratings side by side (HEART 9.8).

The headline is weighted by strength, as in the paper; the ranking in which every judgment counts
once stands beside it, and a system whose rank differs is marked. Intervals are over items,
conditional on the raters: two-way intervals and rank intervals are left out.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from heartbench.analysis.axis_standings import AxisTable, axis_tables
from heartbench.analysis.comparisons import to_comparisons
from heartbench.analysis.elo import estimate_elo
from heartbench.analysis.judgment_columns import JudgmentColumns, select_rows
from heartbench.analysis.results import (
    EloEstimate,
    FitCheck,
    Leaderboard,
    LeaderboardRow,
    PairFit,
    SystemFit,
)
from heartbench.domain import AXIS_NAMES, Rater, System
from heartbench.errors import NotIdentifiedError
from heartbench.stats.comparisons import (
    TIE_SCORE,
    Comparisons,
    count_comparisons,
    count_items,
    keep_compared,
    win_matrix,
)
from heartbench.stats.fit_check import check_pairs, check_systems

NO_WIDTH = 1e-9
MIN_ITEMS = 2
"""On one item a system's score is 0 at the fit, whatever was judged: it has no interval."""
FEW_ITEMS = 10
"""Measured coverage of a nominal 95 % for a system on 2, 3, 5, 10 items: .65, .73, .88, .94."""
FEW_MARKS = 0.9
"""An axis marked in a smaller share of the judgments is named in the warnings."""
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
    comparisons, field = _comparable(columns, candidates)
    columns = _among(columns, field)
    ids, names = [system.id for system in field], [system.name for system in field]
    unweighted = estimate_elo(comparisons, names, level=level)
    weighted_comparisons = to_comparisons(columns, use_strength=True, system_ids=ids)
    weighted = estimate_elo(weighted_comparisons, names, level=level)
    tables = axis_tables(columns, field, level=level)
    judged_by = _judged_by(columns, raters)
    n_items = len(set(columns.item_id))
    absent = [system.name for system in candidates if system.name not in names]
    n_items_of = dict(zip(names, count_items(comparisons).tolist(), strict=True))
    return Leaderboard(
        rows=_rows(field, comparisons, weighted, unweighted, tables),
        fit=_check_fit(comparisons, unweighted, names),
        axis_problems={table.axis: table.problem for table in tables if table.problem},
        interval_used="item-sandwich",
        level=level,
        df=n_items - 1,
        ties="half",
        judged_by=judged_by,
        n_judgments=len(columns),
        n_ties=columns.choice.count("tie"),
        n_items=n_items,
        n_raters=len(set(columns.rater_id)),
        warnings=(
            *_interval_warnings(judged_by),
            *_sparse_warnings(n_items_of, unweighted),
            *_mark_warnings(columns),
            *_absence_warnings(absent, names, tables),
        ),
    )


def _candidates(columns: JudgmentColumns, systems: Sequence[System]) -> list[System]:
    named = {*columns.first_system_id, *columns.second_system_id}
    unknown = sorted(named - {system.id for system in systems})
    if unknown:
        raise ValueError(f"judgments name systems that were not given: {unknown}")
    return sorted((s for s in systems if s.kind != "stress"), key=lambda system: system.name)


def _comparable(
    columns: JudgmentColumns, candidates: Sequence[System]
) -> tuple[Comparisons, list[System]]:
    """Return the comparisons among systems that have items enough for an interval, and these."""
    everyone = to_comparisons(
        columns, use_strength=False, system_ids=[system.id for system in candidates]
    )
    comparisons, kept = keep_compared(everyone, min_items=MIN_ITEMS)
    if len(everyone.left) and not len(kept):
        raise NotIdentifiedError(
            "every system was compared on one item only; an interval needs at least two items"
        )
    return comparisons, [candidates[i] for i in kept]


def _among(columns: JudgmentColumns, systems: Sequence[System]) -> JudgmentColumns:
    ids = {system.id for system in systems}
    ends = zip(columns.first_system_id, columns.second_system_id, strict=True)
    return select_rows(columns, [first in ids and second in ids for first, second in ends])


def _judged_by(columns: JudgmentColumns, raters: Sequence[Rater]) -> str:
    rater_ids = set(columns.rater_id)
    unknown = sorted(rater_ids - {rater.id for rater in raters})
    if unknown:
        raise ValueError(f"judgments name raters that were not given: {unknown}")
    return SOURCES[frozenset(rater.kind for rater in raters if rater.id in rater_ids)]


def _rows(
    field: Sequence[System],
    comparisons: Comparisons,
    weighted: Sequence[EloEstimate],
    unweighted: Sequence[EloEstimate],
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
            weighted=weighted[i],
            unweighted=unweighted[i],
            rank_differs=weighted[i].rank != unweighted[i].rank,
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
    comparisons: Comparisons, unweighted: Sequence[EloEstimate], names: Sequence[str]
) -> FitCheck:
    wins = win_matrix(comparisons)
    theta = np.array([rating.theta for rating in unweighted])
    left, right, pairs = check_pairs(wins, theta)
    systems = check_systems(wins, theta)
    return FitCheck(
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


def _interval_warnings(judged_by: str) -> list[str]:
    warnings = [
        "Intervals are item-sandwich, conditional on these raters: they say how the ratings would"
        " move with other items, not with other raters."
    ]
    if judged_by != "judges":
        warnings.append(
            "People voted, and people differ: these intervals are too narrow for a claim about"
            " other people. Two-way intervals, over items and people, are not computed here."
        )
    if judged_by == "both":
        warnings.append(
            "People and judges are pooled judgment by judgment, without giving both kinds the same"
            " total weight within a pair."
        )
    return warnings


def _sparse_warnings(n_items_of: Mapping[str, int], estimates: Sequence[EloEstimate]) -> list[str]:
    warnings = []
    few = [f"{name} ({n})" for name, n in n_items_of.items() if n < FEW_ITEMS]
    if few:
        warnings.append(
            f"Compared on fewer than {FEW_ITEMS} items: {', '.join(few)}; the intervals are too"
            " narrow, these systems' most."
        )
    if max(estimate.se for estimate in estimates) < NO_WIDTH:
        warnings.append(
            "The intervals have no width because every item says the same, as when a rater answers"
            " by position: that is no precision."
        )
    return warnings


def _mark_warnings(columns: JudgmentColumns) -> list[str]:
    """Name the axes on which many judgments say nothing."""
    shares = {
        axis: sum(axis in marks for marks in columns.axes) / len(columns) for axis in AXIS_NAMES
    }
    return [
        f"Axis {axis} is marked in {100 * share:.1f} % of the judgments, where the raters saw a"
        " difference; its figures are among these."
        for axis, share in shares.items()
        if 0 < share < FEW_MARKS
    ]


def _absence_warnings(
    absent: Sequence[str], names: Sequence[str], tables: Sequence[AxisTable]
) -> list[str]:
    warnings = []
    if absent:
        warnings.append(
            f"Not ranked, because fewer than {MIN_ITEMS} items compare them: {', '.join(absent)}."
        )
    for table in tables:
        unmarked = [name for name in names if name not in table.standings]
        if unmarked:
            warnings.append(
                f"Axis {table.axis} has no marks for {', '.join(unmarked)}; its percentiles and Elo"
                " are among the other systems."
            )
    return warnings
