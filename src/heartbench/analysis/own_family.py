"""Does a judge prefer systems of its own family, more than judges of neither family do?

Only where a study lets judges judge their own family. How often a judge prefers its family says
little alone: its family may write better. The difference from other judges on the same pairs says
more; the offline cue judge, which measures nothing, is not among these.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from heartbench.analysis.coverage import BASELINE_FAMILY, winner_of
from heartbench.analysis.judge_audit_results import OwnFamily
from heartbench.analysis.judgment_columns import JudgmentColumns, select_rows, select_systems
from heartbench.analysis.shares import means_by_item, score_of, share_over_items
from heartbench.domain import Rater
from heartbench.stats.comparisons import FloatArray
from heartbench.stats.proportions import mean_interval, mean_p_value

EXCLUDED = "the study keeps judges from their own family"
NO_SYSTEM = "the study has no system of its family"
NOT_JUDGED = "it has judged no pair of its family and another"


def own_family_preference(
    columns: JudgmentColumns,
    rater: Rater,
    raters: Sequence[Rater],
    families: Mapping[str, str],
    *,
    is_excluded: bool,
    level: float,
) -> OwnFamily:
    """Return how far a judge prefers its own family.

    Args:
        columns: The study's judgments; repeats and those of other systems are left out.
        rater: The judge.
        raters: All judges.
        families: Family of each ranked system, by its id.
        is_excluded: Whether the study keeps judges from their own family.
        level: Nominal coverage.
    """
    own = {system_id for system_id, family in families.items() if family == rater.family}
    if is_excluded or not own:
        return OwnFamily(reason=EXCLUDED if is_excluded else NO_SYSTEM)
    mixed = _mixed_pairs(select_systems(columns, families.keys()), own)
    by_rater = select_rows(mixed, [rater_id == rater.id for rater_id in mixed.rater_id])
    if not len(by_rater):
        return OwnFamily(reason=NOT_JUDGED)
    same_pairs = set(by_rater.pair_id)
    family_of = {other.id: other.family for other in raters if other.family != BASELINE_FAMILY}
    by_others = select_rows(
        mixed,
        [
            pair_id in same_pairs
            and rater_id in family_of
            and family_of[rater_id] not in (families[first], families[second])
            for pair_id, rater_id, first, second in zip(
                mixed.pair_id,
                mixed.rater_id,
                mixed.first_system_id,
                mixed.second_system_id,
                strict=True,
            )
        ],
    )
    own_share = share_over_items(_values(by_rater, own), level=level)
    if not len(by_others):
        return OwnFamily(reason=None, own=own_share)
    # From -1 to 1, so that the interval of a mean of shares stands for it.
    shares = (1 + _differences(by_rater, by_others, own)) / 2
    low, high = mean_interval(shares, level=level)
    return OwnFamily(
        reason=None,
        own=own_share,
        others=share_over_items(_values(by_others, own), level=level),
        difference=2 * float(shares.mean()) - 1,
        low=2 * low - 1,
        high=2 * high - 1,
        p_value=mean_p_value(shares, null=0.5),
    )


def _mixed_pairs(columns: JudgmentColumns, own: set[str]) -> JudgmentColumns:
    """Return first judgments of pairs that hold one system of the family and one of another."""
    return select_rows(
        columns,
        [
            repeat == 0 and (first in own) != (second in own)
            for repeat, first, second in zip(
                columns.repeat, columns.first_system_id, columns.second_system_id, strict=True
            )
        ],
    )


def _values(columns: JudgmentColumns, own: set[str]) -> list[tuple[str, float]]:
    return [
        (columns.item_id[row], score_of(winner_of(columns, row), own))
        for row in range(len(columns))
    ]


def _differences(
    by_rater: JudgmentColumns, by_others: JudgmentColumns, own: set[str]
) -> FloatArray:
    """Return the mean difference on each item, of pairs judged by both."""
    theirs = _means_by_pair(by_others, own)
    values = [
        (item_id, mean - theirs[pair_id, item_id])
        for (pair_id, item_id), mean in _means_by_pair(by_rater, own).items()
        if (pair_id, item_id) in theirs
    ]
    return np.array(list(means_by_item(values).values()))


def _means_by_pair(columns: JudgmentColumns, own: set[str]) -> dict[tuple[str, str], float]:
    by_pair: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row, (item_id, value) in enumerate(_values(columns, own)):
        by_pair[columns.pair_id[row], item_id].append(value)
    return {key: sum(by_pair[key]) / len(by_pair[key]) for key in sorted(by_pair)}
