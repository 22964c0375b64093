"""The scores that a gate is about: what judges said of a candidate beside a baseline, item by item.

Judges alone: people are never asked for a gate. A judgment that was asked again is left out.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from hearteval.analysis.columns import SCORES
from hearteval.analysis.data import StudyData
from hearteval.analysis.judgments import JudgmentRow
from hearteval.domain import Axis, Rater, System, display_form
from hearteval.stats.comparisons import FloatArray
from hearteval.stats.gate import GateResult, GateRule

HALF: Final = 0.5
BY_POSITION: Final = 0.75
"""Share of pairs judged by position above which nothing is called equivalent; of a coin it is .5.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateScores:
    """The scores of a candidate beside a baseline, an item a row."""

    axes: tuple[str | None, ...]
    """Of each column; None overall."""
    scores: FloatArray
    """(items, columns): the candidate's share of the item less one half; NaN where missing."""
    coverage: tuple[float, ...]
    """Share of the judgments wanted that each column has."""
    n_identical: int
    """Items on which both wrote the same: a difference of 0 that nobody has to be asked about."""
    n_both_orders: int
    """Times that a judge has judged a pair in both orders, ties apart."""
    n_by_position: int
    """Of these, times that it chose what stood first, or last, whichever it was."""
    both_orders: bool = True
    """Whether each pair was to be judged in both orders."""

    @property
    def is_by_position(self) -> bool:
        """Whether the judges went by position so often that they hardly compared."""
        return self.n_by_position > BY_POSITION * self.n_both_orders

    @property
    def is_doubtful(self) -> bool:
        """Whether judges went by position, or saw one order only, so that nobody knows."""
        is_asked = self.n_identical < len(self.scores)
        return self.is_by_position or (is_asked and not self.both_orders)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """A candidate held against a baseline."""

    study: str | None
    """None of a table of scores."""
    baseline: str
    candidate: str
    judges: tuple[str, ...]
    names: tuple[str, ...]
    """Of each test, as it is shown."""
    rule: GateRule
    scores: GateScores
    result: GateResult
    is_simulated: bool = False
    stopped: str | None = None
    """Why asking ended before all was judged; None where it did not."""


def score_items(
    data: StudyData,
    item_ids: Sequence[str],
    pair: tuple[System, System],
    judges: Sequence[Rater],
    axes: Sequence[Axis],
    *,
    both_orders: bool = True,
) -> GateScores:
    """Return the scores of a candidate beside a baseline on some items, in their order.

    Args:
        data: Of the study that holds both.
        item_ids: The items that are wanted, whether replies and judgments are there or not.
        pair: Baseline and candidate.
        judges: Who was to judge them.
        axes: The axes that the judges mark.
        both_orders: Whether each judge was to judge each pair in both orders.
    """
    baseline, candidate = pair
    rows: dict[str, list[JudgmentRow]] = defaultdict(list)
    compared = data.judgments.first_ones.by({judge.id for judge in judges})
    for row in compared.among({baseline.id, candidate.id}):
        if row.first_system_id != row.second_system_id:
            rows[row.item_id].append(row)
    same = _identical(data, baseline, candidate)
    wanted = len(judges) * (2 if both_orders else 1)
    scores = np.full((len(item_ids), 1 + len(axes)), np.nan)
    given = np.zeros(1 + len(axes))
    for place, item_id in enumerate(item_ids):
        if item_id in same:
            scores[place], given = 0.0, given + wanted
            continue
        found = _by_column(rows[item_id], candidate.id, axes, both_orders=both_orders)
        for column, (n_given, won) in enumerate(found):
            given[column] += min(n_given, wanted)
            if won:
                scores[place, column] = np.mean(won) - HALF
    n_wanted = max(1, wanted * len(item_ids))
    judged = [row for item_id in item_ids if item_id not in same for row in rows[item_id]]
    n_both, n_by_position = _count_orders(judged)
    return GateScores(
        axes=(None, *axes),
        scores=scores,
        coverage=tuple((given / n_wanted).tolist()),
        n_identical=len(same.intersection(item_ids)),
        n_both_orders=n_both,
        n_by_position=n_by_position,
        both_orders=both_orders,
    )


def doubt_equivalence(result: GateResult) -> GateResult:
    """Return a result in which nothing is equivalent: of judges that may have gone by position.

    Each of such pairs comes to one half, whatever the replies are, so that enough of them would
    look equivalent.
    """
    tests = tuple(
        replace(one, verdict="inconclusive") if one.verdict == "equivalent" else one
        for one in result.tests
    )
    is_open = result.outcome == "passed" and tests != result.tests
    return replace(result, tests=tests, outcome="inconclusive" if is_open else result.outcome)


def _identical(data: StudyData, *systems: System) -> set[str]:
    """Return the items on which both systems wrote what is shown as the same text."""
    one, other = (
        {
            c.item_id: display_form(c.text, data.display).strip()
            for c in data.completions
            if c.system_id == system.id and c.repeat == 0
        }
        for system in systems
    )
    return {item_id for item_id, text in one.items() if other.get(item_id) == text}


def _by_column(
    rows: Sequence[JudgmentRow], candidate_id: str, axes: Sequence[Axis], *, both_orders: bool
) -> list[tuple[int, list[float]]]:
    """Return how many judgments say something overall and on each axis, and what counts of them.

    That is what the candidate won. Where judges were to judge in both orders, one whose answer in
    one of them is missing counts in neither: alone it holds its preference for a place as well.
    """
    found = []
    for axis in (None, *axes):
        by_judge: dict[tuple[str, str], list[float]] = defaultdict(list)
        for row in rows:
            mark = row if axis is None else row.axes.get(axis)
            if mark is not None:
                won = SCORES[mark.choice]
                is_first = row.first_system_id == candidate_id
                by_judge[row.pair_id, row.rater_id].append(won if is_first else 1 - won)
        each = by_judge.values()
        whole = [won for said in each if len(said) == 2 or not both_orders for won in said]
        found.append((sum(map(len, each)), whole))
    return found


def _count_orders(rows: Sequence[JudgmentRow]) -> tuple[int, int]:
    """Count pairs that a judge judged in both orders without a tie, and those by position."""
    chosen: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in rows:
        if row.choice != "tie":
            chosen[row.pair_id, row.rater_id].append(row.choice)
    both = [choices for choices in chosen.values() if len(choices) == 2]
    return len(both), sum(one == other for one, other in both)
