"""What people and judges say they choose by, and how far it is the same (HEART 4.3).

Reasons are labelled with the themes that they speak of. A comparison is the unit: of each theme the
share of people whose reasons speak of it, and of judges (the two orders of a judge are one, half
each). Two raters overlap on a theme where both speak of it or both leave it out, and on a
comparison that is the mean over all pairs of a person and a judge. Most themes are left out by
most reasons, so overlap is high by chance: chance, and what both speak of, stand beside it.
Intervals are over items, these raters and labels given. All of it is exploratory.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from hearteval.analysis.agreement.pair_votes import is_vote, majorities, merge_votes
from hearteval.analysis.columns import JudgmentColumns
from hearteval.analysis.data import StudyData, TaxonomyLabels
from hearteval.analysis.estimates import (
    Estimate,
    mean_estimates,
)
from hearteval.analysis.labels import RATIONALES, Labelled, SourceKind, describe_labels, source_kind
from hearteval.analysis.labels.agreement import Marks, Texts
from hearteval.domain import Axis, Rater
from hearteval.sections.reasons.effects import LabelledReasons, ThemeEffects, theme_effects
from hearteval.sections.reasons.overlap import (
    ThemeOverlap,
    compare_rates,
    kappas_of_themes,
    measure_overlap,
)
from hearteval.stats.comparisons import BoolArray, FloatArray, IntArray

N_EXAMPLES = 2
"""Reasons of each kind of rater that show a theme."""
Kind = Literal["people", "judges"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ThemeRate:
    """How often people and judges give one theme as a reason.

    Attributes:
        people: Share of people whose reasons speak of it, the mean over the comparisons that both
            kinds gave reasons for; of judges likewise. Where there is no such comparison each kind
            is by itself, and there is no difference. None where nobody of the kind gave reasons.
        difference: People's less judges'.
        q: Benjamini-Hochberg over the themes.
        same: Overlap on this theme where majorities agree; `kappa` against chance.
    """

    category: str
    name: str
    axis: Axis | None
    people: Estimate | None
    judges: Estimate | None
    difference: Estimate | None
    p: float | None
    q: float | None
    same: float | None
    kappa: Estimate | None
    n_people: int
    """Reasons of people that speak of it; of judges likewise."""
    n_judges: int
    n_uncertain: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ThemeExample:
    """Reasons that speak of a theme where nobody of the other kind does, to be read."""

    category: str
    given_by: Kind
    judgment_id: str
    item_id: str
    systems: tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RationaleSource:
    """What one labeler found in the reasons of a study.

    Attributes:
        n_people: Reasons by people that it labelled; by judges likewise.
        n_comparisons: That both gave labelled reasons for, on `n_items`.
        overlap: None without a comparison on which both agree.
        effects: What goes with a theme, net of length, position and verbosity.
    """

    labeler: str
    kind: SourceKind
    n_people: int
    n_judges: int
    n_comparisons: int
    n_items: int
    overlap: ThemeOverlap | None
    themes: tuple[ThemeRate, ...]
    effects: tuple[ThemeEffects, ...]
    examples: tuple[ThemeExample, ...]


RationaleResults = Labelled[RationaleSource]
"""What raters of a study say they choose by."""


class _Shares(NamedTuple):
    """Of each pair, what share of each kind of rater speaks of each theme; NaN without reasons."""

    people: FloatArray
    judges: FloatArray
    item: IntArray

    def where(self, rows: BoolArray) -> "_Shares":
        return _Shares(self.people[rows], self.judges[rows], self.item[rows])

    @property
    def has_both(self) -> BoolArray:
        return np.asarray(~np.isnan(self.people[:, 0] + self.judges[:, 0]))


def analyze_rationales(
    data: StudyData, columns: JudgmentColumns, *, level: float, seed: int
) -> RationaleResults | None:
    """Return what raters say they choose by; None where no reasons are labelled.

    Args:
        data: The study; what was withdrawn of its reasons is left out.
        columns: First judgments of pairs.
        level: Nominal coverage.
        seed: Of the shufflings.
    """
    given = next((one for one in data.labels if one.taxonomy == RATIONALES), None)
    if given is None or not len(columns):
        return None
    place = _rows_of_reasons(data, columns)
    ids = sorted(place, key=place.__getitem__)
    row = np.array([place[id_] for id_ in ids], dtype=np.int64)

    def describe(rater: Rater, marks: Marks) -> RationaleSource:
        found = LabelledReasons(
            marks=marks,
            rows=columns.select(np.array([place[id_] for id_ in marks.ids], dtype=np.int64)),
            words=np.array([data.reasons[id_].n_words for id_ in marks.ids], dtype=np.float64),
        )
        return _describe(rater, found, given, columns, level, seed)

    texts = Texts(ids, columns.item[row], np.zeros_like(row))
    return describe_labels(given, texts, describe, level=level)


def _rows_of_reasons(data: StudyData, columns: JudgmentColumns) -> dict[str, int]:
    """Return the row of each judgment whose reasons are known, by its id."""
    names = columns.names
    raters = {one.id: k for k, one in enumerate(names.raters)}
    texts = {one.id: k for k, one in enumerate(names.completions)}
    n = len(texts)
    keys = (columns.rater * n + columns.first_text) * n + columns.second_text
    row_of = {key: row for row, key in enumerate(keys.tolist())}
    judged = {one.assignment_id: id_ for id_, one in data.reasons.items() if one.n_words}
    given = data.judgments.select(data.judgments.is_of(judged))
    ends = data.pairs.named(given.pair.present).ends
    found = {}
    for row in given:
        if row.first_completion_id in texts:
            (second,) = {*ends[row.pair_id]} - {row.first_completion_id}
            if row.rater_id in raters and second in texts and not row.repeat:
                key = (raters[row.rater_id] * n + texts[row.first_completion_id]) * n
                at = row_of.get(key + texts[second])
                if at is not None:
                    found[judged[row.assignment_id]] = at
    return found


def _describe(
    rater: Rater,
    found: LabelledReasons,
    given: TaxonomyLabels,
    columns: JudgmentColumns,
    level: float,
    seed: int,
) -> RationaleSource:
    votes = merge_votes(columns)
    pairs = np.unique(columns.pair)
    pair = np.searchsorted(pairs, found.rows.pair)
    is_person = found.rows.is_person
    shares = _Shares(
        people=_shares(found, pair, len(pairs), is_person),
        judges=_shares(found, pair, len(pairs), ~is_person),
        item=votes.item,
    )
    by_people, by_judges = majorities(votes.of_people), majorities(votes.of_judges)
    has_both = shares.has_both
    agreed = shares.where(has_both & is_vote(by_people) & (by_people == by_judges))
    same = agreed.people * agreed.judges + (1 - agreed.people) * (1 - agreed.judges)
    return RationaleSource(
        labeler=rater.name,
        kind=source_kind(rater),
        n_people=int(is_person.sum()),
        n_judges=int((~is_person).sum()),
        n_comparisons=int(has_both.sum()),
        n_items=len(np.unique(votes.item[has_both])),
        overlap=measure_overlap(agreed.people, agreed.judges, agreed.item, level=level, seed=seed)
        if len(agreed.item)
        else None,
        themes=_rates(found, given, shares, agreed, same, level=level),
        effects=theme_effects(
            found, given.categories, pair, {True: by_judges, False: by_people}, level=level
        ),
        examples=_examples(found, pair, shares),
    )


def _shares(found: LabelledReasons, pair: IntArray, n_pairs: int, rows: BoolArray) -> FloatArray:
    """Return the share of the raters in some rows that speak of each theme, of each pair."""
    pair, rater = pair[rows], found.rows.rater[rows]
    n_raters = len(found.rows.names.raters)
    cells, cell, n_texts = np.unique(
        pair * n_raters + rater, return_inverse=True, return_counts=True
    )
    of_cell = cells // n_raters
    per_pair = np.bincount(of_cell, minlength=n_pairs)
    total = np.zeros((n_pairs, len(found.marks.categories)))
    np.add.at(total, pair, found.marks.present[rows] / n_texts[cell][:, np.newaxis])
    return np.asarray(
        np.where(
            per_pair[:, np.newaxis] > 0, total / np.maximum(per_pair, 1)[:, np.newaxis], np.nan
        )
    )


def _rates(
    found: LabelledReasons,
    given: TaxonomyLabels,
    shares: _Shares,
    agreed: _Shares,
    same: FloatArray,
    *,
    level: float,
) -> tuple[ThemeRate, ...]:
    has_both = shares.has_both
    is_compared = bool(has_both.any())
    rates: dict[str, list[Estimate]] = {}
    for kind, values in (("people", shares.people), ("judges", shares.judges)):
        rows = has_both if is_compared else ~np.isnan(values[:, 0])
        if rows.any():
            panel = np.full(int(rows.sum()), -1)
            rates[kind] = mean_estimates(values[rows], shares.item[rows], panel, level=level)
    compared = compare_rates(*shares.where(has_both), level=level) if is_compared else None
    kappas = kappas_of_themes(agreed.people, agreed.judges, agreed.item, level=level)
    n_said = {
        is_person: found.marks.present[found.rows.is_person == is_person].sum(axis=0)
        for is_person in (True, False)
    }
    return tuple(
        ThemeRate(
            category=key,
            name=given.categories[key],
            axis=given.axes.get(key),
            people=rates["people"][k] if "people" in rates else None,
            judges=rates["judges"][k] if "judges" in rates else None,
            difference=compared[0][k] if compared else None,
            p=compared[1][k] if compared else None,
            q=compared[2][k] if compared else None,
            same=float(same[:, k].mean()) if len(same) else None,
            kappa=kappas[k],
            n_people=int(n_said[True][k]),
            n_judges=int(n_said[False][k]),
            n_uncertain=int(found.marks.uncertain[:, k].sum()),
        )
        for k, key in enumerate(found.marks.categories)
    )


def _examples(found: LabelledReasons, pair: IntArray, shares: _Shares) -> tuple[ThemeExample, ...]:
    """Choose reasons with each theme where nobody of the other kind speaks of it, of two items."""
    names, rows = found.rows.names, found.rows
    kinds: tuple[tuple[Kind, bool, FloatArray], ...] = (
        ("people", True, shares.judges),
        ("judges", False, shares.people),
    )
    chosen = []
    for k, key in enumerate(found.marks.categories):
        for kind, is_person, others in kinds:
            is_own = rows.is_person == is_person
            places = np.flatnonzero(
                is_own & (found.marks.present[:, k] > 0) & (others[pair, k] == 0)
            )
            _, first = np.unique(rows.item[places], return_index=True)
            chosen += [
                ThemeExample(
                    category=key,
                    given_by=kind,
                    judgment_id=found.marks.ids[at],
                    item_id=names.items[rows.item[at]].id,
                    systems=(
                        names.systems[rows.first[at]].name,
                        names.systems[rows.second[at]].name,
                    ),
                )
                for at in places[first][:N_EXAMPLES].tolist()
            ]
    return tuple(chosen)
