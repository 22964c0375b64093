"""How the judges of a panel differ: the ranking by each alone, and one that allows for it.

People are left out: they are sampled, and what one person is like is nobody's business here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from heartbench.analysis.audit_results import EXPLORATORY, JudgePanel, JudgeRanking
from heartbench.analysis.comparisons import to_comparisons
from heartbench.analysis.controlled import JudgeAwareRatings, rate_judge_aware
from heartbench.analysis.elo import estimate_elo
from heartbench.analysis.judgment_columns import JudgmentColumns, select_rows
from heartbench.analysis.ranking_warnings import MIN_ITEMS
from heartbench.domain import Rater, System
from heartbench.errors import NotIdentifiedError
from heartbench.stats.comparisons import keep_compared


def compare_judges(
    columns: JudgmentColumns, systems: Sequence[System], raters: Sequence[Rater], *, level: float
) -> JudgePanel | None:
    """Rank by each judge alone, and by all with what each is like estimated beside.

    What the judgments do not determine is named as a problem. None with fewer than two judges.

    Args:
        columns: Judgments; those of other systems are left out.
        systems: Systems whose comparisons determine a ranking.
        raters: Raters.
        level: Nominal coverage of the intervals.
    """
    judges = {rater.id: rater.name for rater in raters if rater.kind == "llm"}
    columns = select_rows(columns, [rater_id in judges for rater_id in columns.rater_id])
    voted = {rater_id: judges[rater_id] for rater_id in set(columns.rater_id)}
    if len(voted) < 2:
        return None
    systems = sorted(systems, key=lambda system: system.name)
    by_name = sorted(voted, key=lambda rater_id: (voted[rater_id], rater_id))
    judge_aware, problem = None, None
    try:
        judge_aware = _rate_judge_aware(
            columns, systems, {rater_id: voted[rater_id] for rater_id in by_name}, level=level
        )
    except NotIdentifiedError as error:
        problem = str(error)
    return JudgePanel(
        judge_aware=judge_aware,
        problem=problem,
        status_of_ratings=EXPLORATORY,
        alone=tuple(
            _rank_alone(
                select_rows(columns, [rater_id == judge_id for rater_id in columns.rater_id]),
                systems,
                voted[judge_id],
                level=level,
            )
            for judge_id in by_name
        ),
    )


def _rate_judge_aware(
    columns: JudgmentColumns,
    systems: Sequence[System],
    judges: Mapping[str, str],
    *,
    level: float,
) -> JudgeAwareRatings:
    comparisons, kept = keep_compared(
        to_comparisons(
            columns,
            use_strength=False,
            system_ids=[system.id for system in systems],
            rater_ids=list(judges),
        ),
        min_items=MIN_ITEMS,
    )
    left = np.unique(comparisons.rater)
    names = list(judges.values())
    return rate_judge_aware(
        replace(comparisons, rater=np.searchsorted(left, comparisons.rater)),
        names=[systems[i].name for i in kept],
        judges=[names[k] for k in left],
        level=level,
    )


def _rank_alone(
    columns: JudgmentColumns, systems: Sequence[System], judge: str, *, level: float
) -> JudgeRanking:
    comparisons, kept = keep_compared(
        to_comparisons(columns, use_strength=True, system_ids=[system.id for system in systems]),
        min_items=MIN_ITEMS,
    )
    names = [systems[i].name for i in kept]
    try:
        estimates = estimate_elo(comparisons, names, level=level).estimates
    except NotIdentifiedError as error:
        return JudgeRanking(judge=judge, n_judgments=len(columns), ratings={}, problem=str(error))
    return JudgeRanking(
        judge=judge,
        n_judgments=len(columns),
        ratings=dict(zip(names, estimates, strict=True)),
        problem=None,
    )
