"""How each judge did on the stress set: the reference reply against texts that must lose."""

from collections import defaultdict

from heartbench.analysis.coverage import winner_of
from heartbench.analysis.judgment_columns import JudgmentColumns
from heartbench.analysis.results import StressResult
from heartbench.stats.proportions import wilson_interval


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
