"""What stands behind a ranking and what is missing, counted from the records."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Literal

import numpy as np

from hearteval.analysis.coverage.missing import (
    Cause,
    Failure,
    count_missing,
    find_causes,
    find_failure,
    last_attempts,
)
from hearteval.analysis.coverage.naming import find_name
from hearteval.analysis.data import StudyData
from hearteval.analysis.judgments import NO_JUDGMENTS, Judgments, first_of_two, last_rows
from hearteval.analysis.packed.pairs import Pairs
from hearteval.domain import Attempt, Item, Rater, System
from hearteval.domain.items import EDGES
from hearteval.domain.reasons import NOT_ASKED, NOT_IMPORTED, outlook_of

UNDECIDED = "undecided"
BASELINE_FAMILY = "cue"


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemCoverage:
    """How many of the study's items one system answered, and why not the others."""

    system: str
    kind: str = "model"
    n_items: int
    n_completions: int
    missing: Mapping[str, int]
    n_naming: int = 0
    """Replies that name a maker or model of language models; of models only."""
    causes: tuple[Cause, ...] = ()
    """Of what is missing, the most frequent first; so in `JudgeCoverage`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeCoverage:
    """What one rater was asked and gave, the stress set apart."""

    rater: str
    kind: str
    family: str
    is_baseline: bool
    """True for the offline cue judge, which measures nothing about empathy."""
    n_assigned: int
    """Assignments planned; under the rating protocol, completions to rate."""
    n_judged: int
    """Judgments given; ratings likewise."""
    missing: Mapping[str, int]
    n_undecided: int
    """Judgments its cues did not decide (cue judge only)."""
    n_both_orders: int
    """Pairs it judged in both orders."""
    n_flips: int
    """Of these, pairs whose choice changed with the order."""
    causes: tuple[Cause, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WriterCoverage:
    """What people have written as one system."""

    system: str
    n_writers: int
    n_completions: int
    n_items_by_completions: tuple[tuple[int, int], ...]
    """Number of completions and how many of the study's items have so many, ascending from 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleCoverage:
    """How many people judged how many pairs, the stress set apart, and what people wrote."""

    n_raters: int
    """People who judged; who was asked and has not is not among them."""
    n_judgments: int
    n_pairs: int
    """Pairs that any of them judged, of `n_pairs_planned`."""
    n_pairs_planned: int
    """Pairs that people are to judge: those of the judges, or a share of them."""
    n_pairs_by_people: tuple[tuple[int, int], ...]
    """Number of people who judged a pair and how many pairs have so many, ascending from 1."""
    wanted_per_pair: int | None
    """Judgments by people that the study wants of each pair; None where it says nothing."""
    n_pairs_full: int
    """Pairs with so many or more; 0 where it says nothing."""
    writers: tuple[WriterCoverage, ...]
    n_items_not_shown: int = 0
    """Items that people are not given, for what is at their edge; judges are."""
    not_shown: Mapping[str, int] = field(default_factory=dict)
    """Such items by edge; one may have several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What stands behind the ranking, and what is missing."""

    n_items: Mapping[str, int]
    """Items by subset."""
    systems: tuple[SystemCoverage, ...]
    judges: tuple[JudgeCoverage, ...]
    n_pairs: int
    """Pairs planned for the ranking."""
    n_identical: int
    """Pairs not planned because both texts are the same."""
    n_system_pairs: int
    """Pairs of systems compared, of `n_system_pairs_possible`."""
    n_system_pairs_possible: int
    people: PeopleCoverage | None = None
    """None where no person judged and none was to write."""
    n_items_by_source: Mapping[str, int] = field(default_factory=dict)
    """Items by corpus, or by what an item file calls it."""

    @property
    def is_all_identical(self) -> bool:
        """Whether systems gave the same reply wherever two met, so that nothing can be judged."""
        return self.n_identical > 0 and not self.n_pairs


def count_by_source(items: Iterable[Item]) -> dict[str, int]:
    """Count items by where they come from, the most first."""
    counts = Counter(item.source for item in items)
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))


def cover_data(data: StudyData) -> Coverage:
    """Count what a study has and lacks, of what ranks its systems or scores them."""
    data = data.with_ratings_of_people().of_members()
    ranked = {system.id for system in data.ranked}
    coverage = cover_study(data, data.judgments.first_ones.among(ranked))
    if data.targets is None:
        return coverage
    return replace(coverage, judges=cover_ratings(data), n_pairs=0, n_identical=0)


def cover_study(data: StudyData, rows: Judgments) -> Coverage:
    """Count what a study has and lacks, given the first judgments of its ranked systems."""
    ranked = {system.id for system in data.ranked}
    items = {item.id for item in data.items}
    texts = {c.id for c in data.completions if c.item_id in items and c.system_id in ranked}
    pairs = data.pairs.select(data.pairs.are_of(texts))
    ends = np.sort([rows.first_system.codes, rows.second_system.codes], axis=0).astype(np.int64)
    return Coverage(
        n_items=dict(sorted(Counter(item.subset for item in data.items).items(), reverse=True)),
        systems=cover_systems(data),
        judges=_cover_judges(data, pairs, rows),
        n_pairs=len(pairs),
        n_identical=data.n_identical,
        n_system_pairs=len(np.unique(ends[0] * len(rows.first_system.values) + ends[1])),
        n_system_pairs_possible=len(list(combinations(ranked, 2))),
        people=_cover_people(data, pairs, rows),
        n_items_by_source=count_by_source(data.items),
    )


def _cover_people(data: StudyData, pairs: Pairs, rows: Judgments) -> PeopleCoverage | None:
    people = {rater.id for rater in data.raters if rater.kind == "human"}
    of_pair: dict[str, set[str]] = defaultdict(set)
    by_people = rows.by(people)
    for pair_id, rater_id in zip(by_people.pair, by_people.rater, strict=True):
        of_pair[pair_id].add(rater_id)
    writers = tuple(
        _cover_writers(system, data) for system in data.ranked if system.kind == "human"
    )
    sizes, wanted = Counter(map(len, of_pair.values())), data.people_per_pair
    if not of_pair and not writers and wanted is None:
        return None
    hidden = {item.id: item for item in data.not_shown}
    n_pairs = int((~pairs.item.is_in(hidden)).sum())
    edges = Counter(edge for item in hidden.values() for edge in item.edge or ())
    return PeopleCoverage(
        n_raters=len(set().union(*of_pair.values())),
        n_judgments=len(by_people),
        n_pairs=len(of_pair),
        n_pairs_planned=max(len(data.pairs_of_people) or n_pairs, len(of_pair)),
        n_pairs_by_people=tuple(sorted(sizes.items())),
        wanted_per_pair=wanted,
        n_pairs_full=sum(n for size, n in sizes.items() if wanted is not None and size >= wanted),
        writers=writers,
        n_items_not_shown=len(hidden),
        not_shown={edge: edges[edge] for edge in EDGES if edges[edge]},
    )


def _cover_writers(system: System, data: StudyData) -> WriterCoverage:
    wanted = items_wanted(data, system)
    by_item: dict[str, int] = dict.fromkeys((item.id for item in wanted), 0)
    written = [c for c in data.completions if c.system_id == system.id and c.item_id in by_item]
    for completion in written:
        by_item[completion.item_id] += 1
    return WriterCoverage(
        system=system.name,
        n_writers=len({completion.writer_id for completion in written}),
        n_completions=len(written),
        n_items_by_completions=tuple(sorted(Counter(by_item.values()).items())),
    )


def cover_ratings(data: StudyData) -> tuple[JudgeCoverage, ...]:
    """Count what each rater was to rate and rated, the stress set and repeats left out."""
    ranked = {system.id for system in data.ranked}
    texts = {c.id for c in data.completions if c.system_id in ranked}
    wanted = [t for t in data.targets or () if t.completion_id in texts and t.repeat == 0]
    given = {rating.target for rating in data.ratings}
    last = last_attempts(
        data.attempts, lambda a: (a.study_id, a.completion_id, a.rater_id, a.repeat)
    )
    return tuple(
        _cover_judge(
            rater,
            sum(t.rater_id == rater.id and t in given for t in wanted),
            [t for t in wanted if t.rater_id == rater.id and t not in given],
            last,
            NO_JUDGMENTS,
        )
        for rater in sorted(data.raters, key=lambda rater: rater.name)
    )


def find_failures(
    systems: Sequence[SystemCoverage],
    judges: Sequence[JudgeCoverage] = (),
    *,
    fail_on_missing: float,
) -> tuple[Failure, ...]:
    """Return the systems and LLM judges that gave nothing, or lack more than is allowed.

    People are none of them: they write and judge in their own time, and no run fails by it. A judge
    of whom nothing was wanted is one where its verdicts were to be imported, or where nothing was
    wanted of any: else its own family is kept from it.
    """
    asked: list[tuple[Literal["system", "judge"], str, int, Sequence[Cause]]] = []
    asked += [
        ("system", row.system, row.n_items, row.causes) for row in systems if row.kind != "human"
    ]
    is_judged = any(row.n_assigned for row in judges)
    asked += [
        ("judge", row.rater, row.n_assigned, row.causes)
        for row in judges
        if row.kind == "llm" and (row.n_assigned or row.causes or not is_judged)
    ]
    found = (find_failure(*one, fail_on_missing=fail_on_missing) for one in asked)
    return tuple(failure for failure in found if failure is not None)


def cover_systems(data: StudyData) -> tuple[SystemCoverage, ...]:
    """Count what every ranked system answered of the items."""
    answered = {(completion.system_id, completion.item_id) for completion in data.completions}
    naming = _count_naming(data)
    last = last_attempts(data.attempts, lambda attempt: (attempt.system_id, attempt.item_id))
    covered = []
    for system in sorted(data.ranked, key=lambda system: system.name):
        wanted = [(system.id, item.id) for item in items_wanted(data, system)]
        absent = [key for key in wanted if key not in answered]
        untried = NOT_IMPORTED if system.is_imported else NOT_ASKED
        covered.append(
            SystemCoverage(
                system=system.name,
                kind=system.kind,
                n_items=len(wanted),
                n_completions=len(wanted) - len(absent),
                missing=count_missing(absent, last, untried=untried),
                n_naming=naming[system.id],
                causes=find_causes(absent, last, untried=untried),
            )
        )
    return tuple(covered)


def items_wanted(data: StudyData, system: System) -> list[Item]:
    """Return the items a system is to answer: people those they are shown, or have answered."""
    if system.kind != "human" or not data.not_shown:
        return list(data.items)
    hidden = {item.id for item in data.not_shown}
    hidden -= {c.item_id for c in data.completions if c.system_id == system.id}
    return [item for item in data.items if item.id not in hidden]


def _count_naming(data: StudyData) -> Mapping[str, int]:
    items = {item.id: item for item in data.items}
    models = {system.id: system for system in data.ranked if system.kind == "model"}
    return Counter(
        c.system_id
        for c in data.completions
        if c.system_id in models
        and c.item_id in items
        and find_name(c.text, items[c.item_id], models[c.system_id])
    )


def naming_words(row: SystemCoverage) -> str | None:
    """Say that replies give away whose they are; None where none does."""
    if not row.n_naming:
        return None
    return (
        f"{row.system} names a maker or model in {row.n_naming:,} of {row.n_completions:,} replies:"
        " whoever judges these may know whose they are."
    )


def _cover_judges(data: StudyData, pairs: Pairs, rows: Judgments) -> tuple[JudgeCoverage, ...]:
    last = last_attempts(data.attempts, lambda attempt: attempt.assignment_id)
    judged = rows.select(rows.pair.is_in(pairs.ids))
    to_judge = {*pairs.named({one.pair_id for one in data.unjudged}).ids}
    absent: dict[str, list[str]] = defaultdict(list)
    for one in data.unjudged:
        if one.pair_id in to_judge and one.repeat == 0:
            absent[one.rater_id].append(one.id)
    return tuple(
        _cover_judge(rater, len(judged.by({rater.id})), absent[rater.id], last, rows.by({rater.id}))
        for rater in sorted(data.raters, key=lambda rater: rater.name)
    )


def _cover_judge(
    rater: Rater,
    n_judged: int,
    absent: Sequence[Hashable],
    last: Mapping[Hashable, Attempt],
    rows: Judgments,
) -> JudgeCoverage:
    causes = find_causes(absent, last)
    if rater.is_imported and not (n_judged or absent):
        outlook = outlook_of(NOT_IMPORTED)
        causes = (Cause(reason=NOT_IMPORTED, words=None, n=0, outlook=outlook),)
    n_both, n_flips = _count_flips(rows)
    return JudgeCoverage(
        rater=rater.name,
        kind=rater.kind,
        family=rater.family,
        is_baseline=rater.family == BASELINE_FAMILY,
        n_assigned=n_judged + len(absent),
        n_judged=n_judged,
        missing=count_missing(absent, last),
        causes=causes,
        n_undecided=int(rows.finish_reason.is_in({UNDECIDED}).sum()),
        n_both_orders=n_both,
        n_flips=n_flips,
    )


def _count_flips(rows: Judgments) -> tuple[int, int]:
    """Count the pairs one rater judged in both orders, and those where the order changed it."""
    rows = rows.select(last_rows(rows.pair.codes, rows.first_system.codes))
    at = first_of_two(rows.pair.codes)
    return len(at), int((rows.winner[at] != rows.winner[at + 1]).sum())
