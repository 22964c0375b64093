"""What ratings say of the judges that gave them: the stress set, asking again, and warnings."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
from scipy.stats import false_discovery_control

from heartbench.analysis.judge_faults import STRESS_NAMES, tells_apart_p_value
from heartbench.analysis.ranking_warnings import FEW_ITEMS
from heartbench.analysis.rating_results import RatedSystem, Repeatability, StressScore
from heartbench.analysis.rating_scores import (
    OVERALL,
    Moments,
    ScoreRow,
    mean_over_items,
    raw_interval,
)
from heartbench.analysis.results import StressResult
from heartbench.domain import AXIS_NAMES, Axis, Rater, System
from heartbench.stats.proportions import mean_interval, wilson_interval

REFERENCE = "reference"
EXACT = 1e-9


def stress_scores(
    rows: Sequence[ScoreRow], bearers: Sequence[System], raters: Sequence[Rater], *, level: float
) -> tuple[StressScore, ...]:
    """Return each judge's mean score of each kind of stress text, by judge and kind.

    Args:
        rows: Ratings of the stress set.
        bearers: The systems that bear it.
        raters: The study's raters.
        level: Nominal coverage.
    """
    scores = []
    for (rater, kind), by_item in _by_kind(rows, bearers, raters).items():
        found = mean_over_items(by_item.items())
        assert found is not None, "a kind without a rating"
        low, high = raw_interval(found[1], level=level)
        scores.append(
            StressScore(
                rater=rater, kind=kind, n_items=len(found[1]), mean=found[0], low=low, high=high
            )
        )
    return tuple(scores)


def stress_preferences(
    rows: Sequence[ScoreRow], bearers: Sequence[System], raters: Sequence[Rater], *, level: float
) -> tuple[StressResult, ...]:
    """Return how often each judge scored the reference above a stress text of the same item.

    Equal scores count half. Wilson's interval over items, as for judges that compare.
    """
    found = _by_kind(rows, bearers, raters)
    results = []
    for (rater, kind), by_item in found.items():
        reference = found.get((rater, REFERENCE), {})
        values = [_score(reference[i], by_item[i]) for i in sorted(by_item) if i in reference]
        if kind != REFERENCE and values:
            rate = sum(values) / len(values)
            low, high = wilson_interval(rate, len(values), level=level)
            results.append(
                StressResult(
                    rater=rater,
                    kind=kind,
                    n_items=len(values),
                    reference_rate=rate,
                    low=low,
                    high=high,
                )
            )
    return tuple(results)


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
        rater.name: tuple(
            axis
            for axis in AXIS_NAMES
            if (rater.id, axis) in moments and moments[rater.id, axis].sd == 0
        )
        for rater in sorted(raters, key=lambda rater: rater.name)
    }
    return {name: axes for name, axes in flat.items() if axes}


def rating_warnings(
    systems: Sequence[RatedSystem], unrated: Sequence[str], no_z: Mapping[str, Sequence[Axis]]
) -> tuple[str, ...]:
    """Say what a reader of the scores must know beside them."""
    warnings = [
        "Intervals are t over items, conditional on these raters: they say how the scores would"
        " move with other items, not with other raters."
    ]
    few = [f"{s.system} ({s.overall.n_items})" for s in systems if s.overall.n_items < FEW_ITEMS]
    if few:
        warnings.append(
            f"Rated on fewer than {FEW_ITEMS} items: {', '.join(few)}; the intervals may be"
            " too narrow."
        )
    if unrated:
        warnings.append(f"Without any rating: {', '.join(unrated)}.")
    warnings += [
        f"{rater} gave every completion the same score on {', '.join(axes)}: it has no z-score"
        " there, and its overall z-score leaves that out."
        for rater, axes in no_z.items()
    ]
    names = sorted({name for system in systems for name in system.judges})
    partly = {
        name: [system.system for system in systems if name not in system.judges] for name in names
    }
    warnings += [
        f"{name} did not rate {', '.join(left_out)}: its z-scores compare the others only, and what"
        " it did not rate stands on the other raters."
        for name, left_out in partly.items()
        if left_out
    ]
    return tuple(warnings)


def stress_warnings(results: Sequence[StressResult], *, level: float) -> tuple[str, ...]:
    """Name judges who do not score the reference above texts made to be worse.

    As for judges who compare (`heartbench.analysis.judge_faults`): the reference comes first surely
    less often than three times in four, adjusted over the kinds of text that a judge has rated.
    """
    warnings = []
    for rater in sorted({result.rater for result in results}):
        of_rater = [result for result in results if result.rater == rater]
        p_values = [tells_apart_p_value(r.reference_rate, r.n_items) for r in of_rater]
        q_values = false_discovery_control(p_values)
        faults = [
            f"{STRESS_NAMES.get(result.kind, result.kind)} ({100 * result.reference_rate:.0f} %)"
            for result, p, q in zip(of_rater, p_values, q_values, strict=True)
            if q <= 1 - level and p <= (1 - level) / 2
        ]
        if faults:
            warnings.append(
                f"Tests find fault with {rater}: it too seldom scores the reference reply above"
                f" {', '.join(faults)}."
            )
    return tuple(warnings)


def _by_kind(
    rows: Sequence[ScoreRow], bearers: Sequence[System], raters: Sequence[Rater]
) -> dict[tuple[str, str], dict[str, float]]:
    """Return the overall score of each item, by the judge's name and the kind of stress text."""
    kinds = {system.id: str(system.settings["stress"]) for system in bearers}
    names = {rater.id: rater.name for rater in raters}
    found: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for row in rows:
        if row.repeat == 0 and OVERALL in row.scores and row.system_id in kinds:
            key = (names[row.rater_id], kinds[row.system_id])
            found[key][row.item_id] = row.scores[OVERALL]
    return dict(sorted(found.items()))


def _score(reference: float, other: float) -> float:
    if abs(reference - other) < EXACT:  # means of the same scores in another order
        return 0.5
    return float(reference > other)


def _repeatability(
    rater: Rater, pairs: Sequence[tuple[ScoreRow, ScoreRow]], *, level: float
) -> Repeatability:
    same, apart = [], []
    for one, other in pairs:
        axes = [axis for axis in AXIS_NAMES if axis in one.scores and axis in other.scores]
        gaps = [abs(one.scores[axis] - other.scores[axis]) for axis in axes]
        same += [(one.item_id, float(gap == 0)) for gap in gaps]
        apart += [(one.item_id, gap) for gap in gaps]
    alike, difference = mean_over_items(same), mean_over_items(apart)
    assert alike is not None, "two ratings without a common axis"
    assert difference is not None, "two ratings without a common axis"
    low, high = mean_interval(np.array(alike[1]), level=level)
    return Repeatability(
        rater=rater.name,
        n_completions=len(pairs),
        n_items=len(alike[1]),
        same=alike[0],
        low=low,
        high=high,
        difference=difference[0],
    )
