"""What stands behind a ranking and what is missing, counted from the records."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from heartbench.analysis.judgment_columns import JudgmentColumns
from heartbench.analysis.results import JudgeCoverage, SystemCoverage
from heartbench.domain import (
    Assignment,
    Attempt,
    Completion,
    Item,
    Rater,
    Rating,
    RatingTarget,
    System,
)

NOT_ASKED = "not-asked"
UNDECIDED = "undecided"
BASELINE_FAMILY = "cue"


def cover_systems(
    systems: Sequence[System],
    items: Sequence[Item],
    completions: Sequence[Completion],
    attempts: Sequence[Attempt],
) -> tuple[SystemCoverage, ...]:
    """Count each system's completions, and the reasons of the missing ones.

    The reason of a missing completion is that of its last attempt; without any attempt it is
    ``not-asked``.
    """
    answered = {(completion.system_id, completion.item_id) for completion in completions}
    reasons: dict[tuple[str | None, str | None], str] = {
        (attempt.system_id, attempt.item_id): attempt.reason
        for attempt in sorted(attempts, key=lambda attempt: attempt.attempt)
    }
    covered = []
    for system in sorted(systems, key=lambda system: system.name):
        absent = [item.id for item in items if (system.id, item.id) not in answered]
        missing = Counter(reasons.get((system.id, item_id), NOT_ASKED) for item_id in absent)
        covered.append(
            SystemCoverage(
                system=system.name,
                n_items=len(items),
                n_completions=len(items) - len(absent),
                missing=dict(sorted(missing.items())),
            )
        )
    return tuple(covered)


def cover_judges(
    raters: Sequence[Rater],
    assignments: Sequence[Assignment],
    attempts: Sequence[Attempt],
    columns: JudgmentColumns,
) -> tuple[JudgeCoverage, ...]:
    """Count what each rater was asked and gave.

    Args:
        raters: The study's raters.
        assignments: Assignments to count, the stress set left out.
        attempts: Failed calls.
        columns: Judgments of these assignments.
    """
    judged = set(columns.assignment_id)
    reasons = {
        attempt.assignment_id: attempt.reason
        for attempt in sorted(attempts, key=lambda attempt: attempt.attempt)
    }
    covered = []
    for rater in sorted(raters, key=lambda rater: rater.name):
        asked = [a.id for a in assignments if a.rater_id == rater.id]
        absent = [assignment_id for assignment_id in asked if assignment_id not in judged]
        missing = Counter(reasons.get(assignment_id, NOT_ASKED) for assignment_id in absent)
        rows = [i for i, rater_id in enumerate(columns.rater_id) if rater_id == rater.id]
        n_both, n_flips = _count_flips(columns, rows)
        covered.append(
            JudgeCoverage(
                rater=rater.name,
                kind=rater.kind,
                family=rater.family,
                is_baseline=rater.family == BASELINE_FAMILY,
                n_assigned=len(asked),
                n_judged=len(asked) - len(absent),
                missing=dict(sorted(missing.items())),
                n_undecided=sum(columns.finish_reason[i] == UNDECIDED for i in rows),
                n_both_orders=n_both,
                n_flips=n_flips,
            )
        )
    return tuple(covered)


def cover_ratings(
    raters: Sequence[Rater],
    targets: Sequence[RatingTarget],
    ratings: Sequence[Rating],
    attempts: Sequence[Attempt],
) -> tuple[JudgeCoverage, ...]:
    """Count what each rater was to rate and rated.

    Args:
        raters: The study's raters.
        targets: Ratings to count, the stress set and repeats left out.
        ratings: What is there.
        attempts: Failed calls.
    """
    given = {rating.target for rating in ratings}
    reasons = {
        (a.study_id, a.completion_id, a.rater_id, a.repeat): a.reason
        for a in sorted(attempts, key=lambda attempt: attempt.attempt)
    }
    covered = []
    for rater in sorted(raters, key=lambda rater: rater.name):
        asked = [target for target in targets if target.rater_id == rater.id]
        absent = [target for target in asked if target not in given]
        missing = Counter(reasons.get(target, NOT_ASKED) for target in absent)
        covered.append(
            JudgeCoverage(
                rater=rater.name,
                kind=rater.kind,
                family=rater.family,
                is_baseline=rater.family == BASELINE_FAMILY,
                n_assigned=len(asked),
                n_judged=len(asked) - len(absent),
                missing=dict(sorted(missing.items())),
                n_undecided=0,
                n_both_orders=0,
                n_flips=0,
            )
        )
    return tuple(covered)


def winner_of(columns: JudgmentColumns, row: int) -> str:
    """Return the system id that a judgment favours, or ``"tie"``."""
    winners: Mapping[str, str] = {
        "first": columns.first_system_id[row],
        "second": columns.second_system_id[row],
        "tie": "tie",
    }
    return winners[columns.choice[row]]


def _count_flips(columns: JudgmentColumns, rows: Sequence[int]) -> tuple[int, int]:
    """Count the pairs one rater judged in both orders, and those where the order changed it."""
    orders: dict[str, dict[str, str]] = defaultdict(dict)
    for row in rows:
        orders[columns.pair_id[row]][columns.first_system_id[row]] = winner_of(columns, row)
    both = [list(winners.values()) for winners in orders.values() if len(winners) == 2]
    return len(both), sum(one != other for one, other in both)
