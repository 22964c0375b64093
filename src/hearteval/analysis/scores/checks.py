"""What ratings say of the judges that gave them: the stress set, asking again, and warnings."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hearteval.analysis.data import StudyData
from hearteval.analysis.judges import REFERENCE, StressResult, stress_results
from hearteval.analysis.judges.faults import STRESS_NAMES, sure_checks, tells_apart_p_value
from hearteval.analysis.ranking.warnings import FEW_ITEMS
from hearteval.analysis.scores.scores import (
    OVERALL,
    PEOPLE,
    Moments,
    RatedSystem,
    ScoreRow,
    item_means,
    mean,
    raw_interval,
)
from hearteval.domain import Axis, Rater, in_order
from hearteval.notices import Kind, Notice
from hearteval.stats.means import mean_interval

EXACT = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class StressScore:
    """What one judge gave one kind of text of the stress set; never part of a system's scores."""

    rater: str
    kind: str
    """Kind of stress text; ``reference`` is the reply that the others are made from."""
    n_items: int
    mean: float
    """Mean raw score over all axes."""
    low: float | None
    """t interval over items, as in `ScoreEstimate`."""
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeatability:
    """How far one judge gives the same scores when it rates a completion again."""

    rater: str
    n_completions: int
    """Rated twice."""
    n_items: int
    same: float
    """Mean over items of the share of axes with the same score both times."""
    low: float
    """t interval over items; Wilson's where all items say the same."""
    high: float
    difference: float
    """Mean over items of the absolute difference of the two scores of an axis."""


ScoresOfStress = Mapping[tuple[str, str], Mapping[str, float]]
"""The overall score of each item's text, by the judge's name and the kind of stress text."""


def scores_of_stress(rows: Sequence[ScoreRow], data: StudyData) -> ScoresOfStress:
    """Return the first scores of the stress set, in the order of judges and kinds."""
    kinds = {system.id: str(system.settings["stress"]) for system in data.stress}
    names = data.rater_names
    found: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for row in rows:
        if row.repeat == 0 and OVERALL in row.scores and row.system_id in kinds:
            key = (names[row.rater_id], kinds[row.system_id])
            found[key][row.item_id] = row.scores[OVERALL]
    return dict(sorted(found.items()))


def stress_scores(scores: ScoresOfStress, *, level: float) -> tuple[StressScore, ...]:
    """Return each judge's mean score of each kind of stress text, by judge and kind."""
    found = []
    for (rater, kind), by_item in scores.items():
        means = item_means(by_item.items())
        low, high = raw_interval(means, level=level)
        n, at = len(means), mean(means)
        found.append(StressScore(rater=rater, kind=kind, n_items=n, mean=at, low=low, high=high))
    return tuple(found)


def stress_preferences(scores: ScoresOfStress, *, level: float) -> tuple[StressResult, ...]:
    """Return how often each judge scored the reference above a stress text of the same item.

    Equal scores count half. Wilson's interval over items, as for judges that compare.
    """
    wins = {
        (rater, kind): [
            (item_id, _score(scores[rater, REFERENCE][item_id], score))
            for item_id, score in by_item.items()
            if item_id in scores.get((rater, REFERENCE), {})
        ]
        for (rater, kind), by_item in scores.items()
        if kind != REFERENCE
    }
    return stress_results({key: values for key, values in wins.items() if values}, level=level)


def repeatability_of(
    rows: Sequence[ScoreRow], raters: Sequence[Rater], *, level: float
) -> tuple[Repeatability, ...]:
    """Return how far each judge's second ratings of a completion are like its first, by judge."""
    first = {(row.rater_id, row.completion_id): row for row in rows if row.repeat == 0}
    found = []
    for rater in sorted(raters, key=lambda rater: rater.name):
        pairs = [
            (first[row.rater_id, row.completion_id], row)
            for row in rows
            if row.repeat > 0
            and row.rater_id == rater.id
            and (row.rater_id, row.completion_id) in first
        ]
        if pairs:
            found.append(_repeatability(rater, pairs, level=level))
    return tuple(found)


def flat_axes(
    moments: Mapping[tuple[str, Axis], Moments], raters: Sequence[Rater]
) -> dict[str, tuple[Axis, ...]]:
    """Return the axes on which a rater gave everything one score, by the rater's name."""
    flat = {
        rater.name: in_order(
            {axis for (who, axis), at in moments.items() if who == rater.id and at.sd == 0}
        )
        for rater in sorted(raters, key=lambda rater: rater.name)
    }
    return {name: axes for name, axes in flat.items() if axes}


def rating_warnings(
    systems: Sequence[RatedSystem], unrated: Sequence[str], no_z: Mapping[str, Sequence[Axis]]
) -> tuple[Notice, ...]:
    """Say what a reader of the scores must know beside them."""
    warnings = []
    few = [f"{s.system} ({s.overall.n_items})" for s in systems if s.overall.n_items < FEW_ITEMS]
    if few:
        text = (
            f"Rated on fewer than {FEW_ITEMS} items: {', '.join(few)}; the intervals may be"
            " too narrow."
        )
        warnings.append(Notice(Kind.FEW_ITEMS, text))
    if unrated:
        warnings.append(Notice(Kind.NOT_RANKED, f"Without any rating: {', '.join(unrated)}."))
    warnings += [
        Notice(
            Kind.JUDGE_FAULT,
            f"{rater} gave every reply the same score on {', '.join(axes)}: it has no z-score"
            " there, and its overall z-score leaves that out.",
        )
        for rater, axes in no_z.items()
    ]
    names = sorted({name for system in systems for name in system.judges} - {PEOPLE})
    partly = {
        name: [system.system for system in systems if name not in system.judges] for name in names
    }
    warnings += [
        Notice(
            Kind.MISSING,
            f"{name} did not rate {', '.join(left_out)}: its z-scores compare the others only, and"
            " what it did not rate stands on the other raters.",
        )
        for name, left_out in partly.items()
        if left_out
    ]
    return tuple(warnings)


def sure_stress_faults(
    results: Sequence[StressResult], *, level: float
) -> frozenset[tuple[str, str]]:
    """Return the judges and kinds of text that `stress_warnings` names."""
    found: set[tuple[str, str]] = set()
    for rater in {result.rater for result in results}:
        p_values = {
            result.kind: tells_apart_p_value(result.kind, result.reference_rate, result.n_items)
            for result in results
            if result.rater == rater
        }
        found |= {(rater, kind) for kind in sure_checks(p_values, level=level)}
    return frozenset(found)


def stress_warnings(results: Sequence[StressResult], *, level: float) -> tuple[Notice, ...]:
    """Name judges who do not score the reference above texts made to be worse.

    As for judges who compare (`hearteval.analysis.judges.faults`): the reference comes first surely
    less often than three times in four (than a hostile reply: nine in ten), adjusted over the kinds
    of text that a judge has rated.
    """
    warnings = []
    sure = sure_stress_faults(results, level=level)
    for rater in sorted({result.rater for result in results}):
        faults = [
            f"{STRESS_NAMES.get(result.kind, result.kind)} ({100 * result.reference_rate:.0f} %)"
            for result in results
            if result.rater == rater and (rater, result.kind) in sure
        ]
        if faults:
            text = (
                f"Tests find fault with {rater}: it too seldom scores the reference reply above"
                f" {', '.join(faults)}."
            )
            warnings.append(Notice(Kind.JUDGE_FAULT, text))
    return tuple(warnings)


def _score(reference: float, other: float) -> float:
    if abs(reference - other) < EXACT:  # means of the same scores in another order
        return 0.5
    return float(reference > other)


def _repeatability(
    rater: Rater, pairs: Sequence[tuple[ScoreRow, ScoreRow]], *, level: float
) -> Repeatability:
    same, apart = [], []
    for one, other in pairs:
        axes = in_order({*one.scores} & {*other.scores})
        gaps = [abs(one.scores[axis] - other.scores[axis]) for axis in axes]
        same += [(one.item_id, float(gap == 0)) for gap in gaps]
        apart += [(one.item_id, gap) for gap in gaps]
    alike = item_means(same)
    low, high = mean_interval(np.array(alike), level=level)
    return Repeatability(
        rater=rater.name,
        n_completions=len(pairs),
        n_items=len(alike),
        same=mean(alike),
        low=low,
        high=high,
        difference=mean(item_means(apart)),
    )
