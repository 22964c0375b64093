"""Models against people: how often a model's completion is preferred to a person's (SPEC 6).

Every judgment counts once. Which writer's completion a model met is chance, as which item is;
the corpus's own replies and baselines are neither model nor person here.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hearteval.analysis.data import TIE, JudgmentRow, StudyData
from hearteval.analysis.estimates import interval_name, mean_estimates
from hearteval.analysis.ranking.comparisons import people_among

MODEL, PERSON = "model", "person"
OUTCOMES = (MODEL, TIE, PERSON)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeShare:
    """A share of judgments with its interval."""

    rate: float
    low: float | None
    """None under two items."""
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgainstModels:
    """What one kind of rater says of models' and people's completions of the same items."""

    judged_by: str
    """``people`` or ``judges``."""
    writers: str | None
    """Group of the writers; None for all writers."""
    n_judgments: int
    n_items: int
    n_raters: int
    n_completions: int
    """Completions by people among these."""
    model: OutcomeShare
    """The model's is preferred."""
    tie: OutcomeShare
    person: OutcomeShare
    interval_used: str
    """``two-way`` with five people or more, else ``item-sandwich``, conditional on these raters;
    where nothing varies, Wilson's over items."""


class _Met(NamedTuple):
    """A judgment of a model's completion and a person's."""

    item_id: str
    rater_id: str
    completion_id: str
    """The person's."""
    outcome: str


def compare_with_models(
    judgments: Sequence[JudgmentRow], data: StudyData, *, level: float
) -> tuple[AgainstModels, ...]:
    """Return wins, ties and losses of models against people, by kind of rater.

    Then, by each group of writers that is not smaller than the smallest. Repeats are left out.
    """
    met = list(_meetings(judgments, data))
    people = frozenset(people_among(data.raters))
    groups = {
        completion.id: data.writer_groups.get(completion.writer_id or "")
        for completion in data.completions
    }
    writers_of: defaultdict[str, set[str | None]] = defaultdict(set)
    for completion in data.completions:
        group = groups[completion.id]
        if group is not None:
            writers_of[group].add(completion.writer_id)
    found_groups = {groups[one.completion_id] for one in met}
    known = sorted(
        group
        for group, names in writers_of.items()
        if group in found_groups and len(names) >= data.smallest_group
    )
    found = []
    for writers in (None, *known):
        of_writers = [one for one in met if writers in (None, groups[one.completion_id])]
        for kind, is_person in (("people", True), ("judges", False)):
            rows = [one for one in of_writers if (one.rater_id in people) is is_person]
            if rows:
                found.append(_against(rows, kind, writers, level=level))
    return tuple(found)


def _meetings(judgments: Iterable[JudgmentRow], data: StudyData) -> Iterable[_Met]:
    kinds: Mapping[str, str] = {system.id: system.kind for system in data.systems}
    texts = {pair.id: pair.completion_ids for pair in data.pairs}
    for row in judgments:
        sides = (kinds[row.first_system_id], kinds[row.second_system_id])
        if row.repeat or sorted(sides) != ["human", "model"]:
            continue
        is_first = sides[0] == "human"
        one, other = texts[row.pair_id]
        second = other if row.first_completion_id == one else one
        outcome = row.choice if row.choice == TIE else MODEL
        if row.choice == ("first" if is_first else "second"):
            outcome = PERSON
        shown = row.first_completion_id if is_first else second
        yield _Met(row.item_id, row.rater_id, shown, outcome)


def _against(
    rows: Sequence[_Met], kind: str, writers: str | None, *, level: float
) -> AgainstModels:
    outcomes = np.array([[row.outcome == each for each in OUTCOMES] for row in rows], dtype=float)
    items, item = np.unique([row.item_id for row in rows], return_inverse=True)
    raters, rater = np.unique([row.rater_id for row in rows], return_inverse=True)
    sampled = rater if kind == "people" else np.full(len(rows), -1)
    shares = [
        OutcomeShare(rate=one.value, low=one.low, high=one.high)
        for one in mean_estimates(outcomes, item, sampled, level=level)
    ]
    return AgainstModels(
        judged_by=kind,
        writers=writers,
        n_judgments=len(rows),
        n_items=len(items),
        n_raters=len(raters),
        n_completions=len({row.completion_id for row in rows}),
        model=shares[0],
        tie=shares[1],
        person=shares[2],
        interval_used=interval_name(sampled),
    )
