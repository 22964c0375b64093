"""Does a judge prefer systems of its own family, more than judges of neither family do?

Only where a study lets judges judge their own family. How often a judge prefers its family says
little alone: its family may write better. The difference from other judges on the same pairs says
more; the offline cue judge, which measures nothing, is not among these.
"""

from dataclasses import dataclass

import numpy as np

from hearteval.analysis.coverage.study import BASELINE_FAMILY
from hearteval.analysis.data import StudyData
from hearteval.analysis.judges import Share, means_by_id, share_over_items
from hearteval.analysis.judgments import Judgments
from hearteval.domain import Rater
from hearteval.domain.columns import Coded
from hearteval.notices import Kind, Notice
from hearteval.stats.comparisons import FloatArray
from hearteval.stats.means import mean_interval, mean_p_value

EXCLUDED = "the study keeps judges from their own family"
NO_SYSTEM = "the study has no system of its family"
NOT_JUDGED = "it has judged no pair of its family and another"


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnFamily:
    """How far one judge prefers systems of its own family, where the study lets it judge them."""

    reason: str | None
    """Why there is no answer; None where there is one."""
    own: Share | None = None
    """How often its own family's completions beat others', by this judge."""
    others: Share | None = None
    """The same pairs by the judges of other families; None where there are none."""
    difference: float | None = None
    """`own` minus `others`, over items judged by both; None likewise."""
    low: float | None = None
    """t interval over items."""
    high: float | None = None
    p_value: float | None = None
    """Two-sided, of no difference, by the same t."""
    q: float | None = None
    """The same, adjusted over a study's planned contrasts; None outside its results."""


def warn_of_own_family(data: StudyData) -> list[Notice]:
    """Name the ranked systems that models of their own family judged, beside others.

    Where all are of one family, a judge of it favours none of them by that.
    """
    if len({system.family for system in data.ranked}) == 1:
        return []
    pairs = [
        f"{system.name} (by {rater.name})"
        for system in data.ranked
        for rater in data.judges
        if rater.family == system.family and not data.exclude_own_family
    ]
    if not pairs:
        return []
    text = (
        f"Judged by a model of the same family: {', '.join(pairs)}."
        " Judges tend to prefer their own."
    )
    return [Notice(Kind.OWN_FAMILY, text)]


def own_family_preference(data: StudyData, rater: Rater, *, level: float) -> OwnFamily:
    """Return how far a judge prefers its own family; repeats and stress texts are left out."""
    families = {system.id: system.family for system in data.ranked}
    own = {system_id for system_id, family in families.items() if family == rater.family}
    if data.exclude_own_family or not own:
        return OwnFamily(reason=EXCLUDED if data.exclude_own_family else NO_SYSTEM)
    mixed = data.judgments.first_ones.among(families)
    mixed = mixed.select(mixed.first_system.is_in(own) != mixed.second_system.is_in(own))
    by_rater = mixed.by({rater.id})
    if not len(by_rater):
        return OwnFamily(reason=NOT_JUDGED)
    mixed = mixed.select(mixed.pair.is_in(set(by_rater.pair.present)))
    family_of = {other.id: other.family for other in data.judges if other.family != BASELINE_FAMILY}
    is_of_neither = np.zeros(len(mixed), dtype=np.bool_)
    for other, family in family_of.items():
        kin = {system_id for system_id, own_family in families.items() if own_family == family}
        is_of_neither |= mixed.rater.is_in({other}) & ~mixed.names(kin)
    by_others = mixed.select(is_of_neither)
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


def _values(rows: Judgments, own: set[str], of: Coded | None = None) -> list[tuple[str, float]]:
    """Return the item of each judgment, or what `of` says of it, and what the family won."""
    won = np.where(rows.first_system.is_in(own), rows.score, 1 - rows.score)
    return list(zip(of or rows.item, won.tolist(), strict=True))


def _differences(by_rater: Judgments, by_others: Judgments, own: set[str]) -> FloatArray:
    """Return the mean difference on each item, of pairs judged by both."""
    item_of = dict(zip(by_rater.pair, by_rater.item, strict=True))
    ours = means_by_id(_values(by_rater, own, by_rater.pair))
    theirs = means_by_id(_values(by_others, own, by_others.pair))
    values = [
        (item_of[pair_id], mean - theirs[pair_id])
        for pair_id, mean in ours.items()
        if pair_id in theirs
    ]
    return np.array(list(means_by_id(values).values()))
