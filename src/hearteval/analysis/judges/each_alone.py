"""How the judges of a panel differ: the ranking by each alone, and one that allows for it.

People are left out: they are sampled, and what one person is like is nobody's business here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hearteval.analysis.data import JudgmentRow
from hearteval.analysis.estimates import EXPLORATORY
from hearteval.analysis.ranking.checks.adjusted import JudgeAwareStrengths, rank_judge_aware_panel
from hearteval.analysis.ranking.comparisons import keep_rankable, rank_judgments, to_comparisons
from hearteval.analysis.ranking.rank import EloEstimate
from hearteval.analysis.ranking.warnings import JUDGMENTS
from hearteval.domain import Rater, System
from hearteval.errors import NotIdentifiedError


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRanking:
    """The headline ranking by one judge alone."""

    judge: str
    n_judgments: int
    ratings: Mapping[str, EloEstimate]
    """Strength by system; empty where its judgments do not determine any."""
    problem: str | None
    """Why there are none, else None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgePanel:
    """How the judges of a panel differ; people's judgments are left out."""

    judge_aware: JudgeAwareStrengths | None
    """Raw (unweighted) strengths and those with each judge's discrimination and position bias
    estimated beside them, every judgment counting once; None where these are not determined."""
    problem: str | None
    """Why they are not, naming the judges; else None."""
    status_of_ratings: str
    alone: tuple[JudgeRanking, ...]


def compare_judges(
    judgments: Sequence[JudgmentRow],
    systems: Sequence[System],
    raters: Sequence[Rater],
    *,
    writers: Mapping[str, str] | None = None,
    level: float,
) -> JudgePanel | None:
    """Rank by each judge alone, and by all with what each is like estimated beside.

    `writers` are by pair, as `StudyData.writers` has them.

    What the judgments do not determine is named as a problem. Judgments of other systems than these
    are left out. None with fewer than two judges.
    """
    rows_of: dict[str, list[JudgmentRow]] = {r.id: [] for r in raters if r.kind == "llm"}
    judgments = [row for row in judgments if row.rater_id in rows_of]
    for row in judgments:
        rows_of[row.rater_id].append(row)
    by_name = sorted(raters, key=lambda rater: (rater.name, rater.id))
    judges = [rater for rater in by_name if rows_of.get(rater.id)]
    if len(judges) < 2:
        return None
    systems = sorted(systems, key=lambda system: system.name)
    judge_aware, problem = None, None
    try:
        judge_aware = _rate_judge_aware(judgments, systems, judges, writers=writers, level=level)
    except NotIdentifiedError as error:
        problem = str(error)
    return JudgePanel(
        judge_aware=judge_aware,
        problem=problem,
        status_of_ratings=EXPLORATORY,
        alone=tuple(
            _rank_alone(rows_of[judge.id], systems, judge.name, writers=writers, level=level)
            for judge in judges
        ),
    )


def _rate_judge_aware(
    judgments: Sequence[JudgmentRow],
    systems: Sequence[System],
    judges: Sequence[Rater],
    *,
    writers: Mapping[str, str] | None,
    level: float,
) -> JudgeAwareStrengths:
    everyone = to_comparisons(
        judgments,
        use_strength=False,
        system_ids=[system.id for system in systems],
        rater_ids=[judge.id for judge in judges],
        writers=writers,
    )
    comparisons, field = keep_rankable(everyone, systems)
    left = np.unique(comparisons.rater)
    return rank_judge_aware_panel(
        replace(comparisons, rater=np.searchsorted(left, comparisons.rater)),
        names=[system.name for system in field],
        judges=[judges[k].name for k in left],
        level=level,
        wording=JUDGMENTS,
    )


def _rank_alone(
    judgments: Sequence[JudgmentRow],
    systems: Sequence[System],
    judge: str,
    *,
    writers: Mapping[str, str] | None,
    level: float,
) -> JudgeRanking:
    ratings: Mapping[str, EloEstimate] = {}
    problem = None
    try:
        ratings = rank_judgments(
            judgments, systems, use_strength=True, writers=writers, level=level
        ).by_name
    except NotIdentifiedError as error:
        problem = str(error)
    return JudgeRanking(judge=judge, n_judgments=len(judgments), ratings=ratings, problem=problem)
