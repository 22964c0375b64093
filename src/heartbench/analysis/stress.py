"""The audit of the judges: the stress set, and whether they answer the same twice."""

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from heartbench.analysis.coverage import winner_of
from heartbench.analysis.judge_audit_results import Consistency
from heartbench.analysis.judgment_columns import JudgmentColumns
from heartbench.analysis.results import StressResult
from heartbench.stats.proportions import mean_interval, wilson_interval


def stress_results(
    columns: JudgmentColumns,
    *,
    kinds: dict[str, str],
    reference_id: str,
    raters: dict[str, str],
    level: float,
) -> tuple[StressResult, ...]:
    """Return, by judge and kind, how often the reference reply won.

    All judgments of one item by one judge are one value, the mean of 1, 1/2, 0; the interval is
    Wilson's over items, so judging both orders does not narrow it.

    Args:
        columns: Judgments of the stress set.
        kinds: Kind of stress text, by the system that bears it, the reference left out.
        reference_id: The system that bears the reference replies.
        raters: Name by rater id.
        level: Nominal coverage.
    """
    scores: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in range(len(columns)):
        sides = (columns.first_system_id[row], columns.second_system_id[row])
        opponent = sides[0] if sides[1] == reference_id else sides[1]
        winner = winner_of(columns, row)
        score = 0.5 if winner == "tie" else float(winner == reference_id)
        key = (raters[columns.rater_id[row]], kinds[opponent])
        scores[key][columns.item_id[row]].append(score)
    results = []
    for (rater, kind), by_item in sorted(scores.items()):
        values = [sum(by_item[item]) / len(by_item[item]) for item in sorted(by_item)]
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


def consistency_results(
    columns: JudgmentColumns, *, raters: dict[str, str], level: float
) -> tuple[Consistency, ...]:
    """Return, by judge, how often a pair has the same winner in both orders, and when asked again.

    Intervals are over items, the mean of an item's pairs being one value.

    Args:
        columns: Judgments of ranked pairs, repeats among them.
        raters: Name by rater id.
        level: Nominal coverage.
    """
    answers: dict[tuple[str, str], dict[tuple[str, int], str]] = defaultdict(dict)
    item_of: dict[str, str] = {}
    for row in range(len(columns)):
        key = (raters[columns.rater_id[row]], columns.pair_id[row])
        shown = (columns.first_system_id[row], columns.repeat[row])
        answers[key][shown] = winner_of(columns, row)
        item_of[columns.pair_id[row]] = columns.item_id[row]
    same: dict[tuple[str, str], dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for (rater, pair_id), given in answers.items():
        for check, is_same in _compare_answers(given):
            same[rater, check][item_of[pair_id]].append(is_same)
    return tuple(
        _consistency(rater, check, by_item, level=level)
        for (rater, check), by_item in sorted(same.items())
    )


def _compare_answers(given: dict[tuple[str, int], str]) -> Iterator[tuple[str, bool]]:
    """Yield what the answers to one pair say: order against order, repeat against first time."""
    in_order = [winner for (_, repeat), winner in sorted(given.items()) if repeat == 0]
    if len(in_order) == 2:
        yield "order", in_order[0] == in_order[1]
    for (first, repeat), winner in given.items():
        if repeat > 0 and (first, 0) in given:
            yield "repeat", winner == given[first, 0]


def _consistency(
    rater: str, check: str, by_item: dict[str, list[bool]], *, level: float
) -> Consistency:
    values = [sum(by_item[item]) / len(by_item[item]) for item in sorted(by_item)]
    low, high = mean_interval(np.array(values), level=level)
    n_pairs = sum(len(flags) for flags in by_item.values())
    return Consistency(
        rater=rater,
        check=check,
        n_pairs=n_pairs,
        n_items=len(values),
        rate=sum(values) / len(values),
        low=low,
        high=high,
    )
