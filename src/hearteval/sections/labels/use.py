"""What completions do, as labelled: how often, how varied, and who differs (HEART 4.8, 9.10).

Every labeler is a source of its own, never mixed with another: a figure says who labelled. A
category holds of a completion where the labeler calls it present; "uncertain" is not present, and
how often it was said stands beside. A rate is the mean over items of the share of an item's
completions, so that an item with many writers weighs as much as one with few; intervals are t over
items, these labels given. Everything here is exploratory but the agreement of sources.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from hearteval.analysis.agreement.pair_votes import merge_votes
from hearteval.analysis.columns import JudgmentColumns
from hearteval.analysis.data import StudyData, TaxonomyLabels
from hearteval.analysis.estimates import Estimate, clustered_estimates, mean_estimates
from hearteval.analysis.labels import Labelled, SourceKind, describe_labels, source_kind
from hearteval.analysis.labels.agreement import BoolArray, Marks, Texts
from hearteval.analysis.labels.people import (
    PEOPLES_WORD,
)
from hearteval.domain import Rater, Subset, System, record_id
from hearteval.sections.labels.differences import (
    PEOPLE,
    RateDifference,
    differences_of_rates,
    item_means,
)
from hearteval.sections.labels.examples import LabelExample, choose_label_examples
from hearteval.sections.labels.wins import LabelWins, opposed_by_label, wins_of_labels
from hearteval.sections.people.judges.disagreements import TraitOfChoice
from hearteval.stats.comparisons import FloatArray
from hearteval.stats.means import ROUNDING


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryRate:
    """How often one category is in the completions of a group.

    Attributes:
        rate: Share of completions in which it is present, the mean over items.
        n_uncertain: Completions of which the labeler could not tell.
    """

    category: str
    name: str
    rate: float
    low: float | None
    high: float | None
    n_present: int
    n_uncertain: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelUse:
    """What the completions of a system, or of a family of systems, do.

    Attributes:
        group: The system's name, or the family's; ``people``, ``original``, ``baseline`` too.
        subset: The items it is of; None for all.
        n_completions: Labelled ones.
        n_unlabelled: Completions without labels by this source.
        n_covered: Categories that are present in at least one completion.
        distinct: Categories present in a completion, on average.
        entropy: Of the distribution of what is present over the categories, in bits; None where
            nothing is present.
        spread: Standard deviation of the rates over the categories; None for a single one.
        range: Largest rate less smallest.
    """

    group: str
    kind: Literal["system", "family"]
    subset: Subset | None
    n_completions: int
    n_items: int
    n_unlabelled: int
    n_covered: int
    distinct: Estimate
    entropy: Estimate | None
    spread: Estimate | None
    range: float
    rates: tuple[CategoryRate, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelSource:
    """What one labeler says of a study's completions.

    Attributes:
        kind: ``baseline`` is the offline one, which measures nothing.
        wins: What the categories do to who wins, by people and by judges.
        opposed: Where most judges choose against most people: how often the judges' choice holds
            each category (``trait``, its key), and the people's.
        examples: Replies to read, of what is done most unalike; no texts.
        averages: By category, the mean of the systems' rates.
        n_completions: Labelled ones; `n_wanted` is all there are.
    """

    labeler: str
    kind: SourceKind
    n_completions: int
    n_wanted: int
    averages: Mapping[str, float]
    systems: tuple[LabelUse, ...]
    families: tuple[LabelUse, ...]
    by_subset: tuple[LabelUse, ...]
    differences: tuple[RateDifference, ...]
    wins: tuple[LabelWins, ...] = ()
    opposed: tuple[TraitOfChoice, ...] = ()
    examples: tuple[LabelExample, ...] = ()


LabelResults = Labelled[LabelSource]
"""What a study's completions do, by one taxonomy."""


class _Ground(NamedTuple):
    """What all sources of one taxonomy speak of."""

    names: Mapping[str, str]
    """Of the categories, by key."""
    systems: Sequence[System]
    n_texts: Sequence[int]
    """Completions by system."""
    adversarial: BoolArray
    """By item."""
    level: float


def analyze_labels(
    data: StudyData, columns: JudgmentColumns | None = None, *, level: float
) -> tuple[LabelResults, ...]:
    """Return what is known of each taxonomy by which something has been labelled.

    Judgments of pairs are given as columns, first times only, where there are any.
    """
    systems = sorted(data.ranked, key=lambda system: system.name)
    ids = {system.id for system in systems}
    by_id = {item.id: item for item in data.items}
    texts = [
        text
        for text in data.completions
        if text.system_id in ids and text.item_id in by_id and not text.is_withdrawn
    ]
    names = {system.id: system.name for system in systems}
    texts.sort(key=lambda c: (c.item_id, names[c.system_id], c.writer_id or "", c.repeat))
    items = sorted({text.item_id for text in texts})
    n_texts = [sum(text.system_id == system.id for text in texts) for system in systems]
    is_adversarial = np.array([by_id[id_].subset == "adversarial" for id_ in items], dtype=bool)
    by_text, seed = {text.id: text for text in texts}, _seed(data)
    place = {system.id: k for k, system in enumerate(systems)}
    item = {id_: k for k, id_ in enumerate(items)}
    coded = Texts(
        ids=[text.id for text in texts],
        item=np.array([item[text.item_id] for text in texts], dtype=np.int64),
        system=np.array([place[text.system_id] for text in texts], dtype=np.int64),
    )
    votes = merge_votes(columns) if data.labels and columns is not None and len(columns) else None

    def describe(given: TaxonomyLabels, rater: Rater, marks: Marks) -> LabelSource:
        ground = _Ground(given.categories, systems, n_texts, is_adversarial, level)
        source = _describe(rater, marks, ground)
        if columns is not None and votes is not None:
            source = replace(
                source,
                wins=wins_of_labels(marks, given.categories, columns, level=level),
                opposed=opposed_by_label(marks, votes, level=level),
            )
        label_ids = _label_ids(given, rater)
        examples = choose_label_examples(
            marks, source.differences, by_text, systems, label_ids, seed=seed
        )
        return replace(source, examples=examples)

    found = (
        describe_labels(one, coded, partial(describe, one), level=level) for one in data.labels
    )
    return tuple(one for one in found if one is not None)


def _label_ids(labels: TaxonomyLabels, rater: Rater) -> Callable[[str, str], str]:
    """Return ids of labels that say present, by text and category; of people, of the first who did.

    What people settled is no label of its own.
    """
    first: dict[tuple[str, str], str] = {}
    for row in labels.people if rater is PEOPLES_WORD else ():
        if row.verdict == "present":
            first.setdefault((row.text_id, row.category), row.rater_id)

    def label_id(text_id: str, category: str) -> str:
        fields = {"completion_id": text_id, "judgment_id": None, "category": category}
        if labels.label_version is not None:
            fields["taxonomy_version"] = labels.label_version
        who = first.get((text_id, category), rater.id)
        return record_id("label", {**fields, "taxonomy": labels.taxonomy, "rater_id": who})

    return label_id


def _seed(data: StudyData) -> int:
    return data.provenance.seed if data.provenance else 0


def _describe(rater: Rater, marks: Marks, ground: _Ground) -> LabelSource:
    systems, families = ground.systems, [_family(system) for system in ground.systems]
    of_families = {
        family: [k for k, own in enumerate(families) if own == family]
        for family in sorted(set(families), key=_family_order)
    }
    of_systems = {system.name: [k] for k, system in enumerate(systems)}
    found = _uses("system", of_systems, marks, ground)
    rates = np.array([[rate.rate for rate in use.rates] for use in found])
    return LabelSource(
        labeler=rater.name,
        kind=source_kind(rater),
        n_completions=len(marks.ids),
        n_wanted=sum(ground.n_texts),
        averages=dict(zip(marks.categories, map(float, rates.mean(axis=0)), strict=True)),
        systems=found,
        families=_uses("family", of_families, marks, ground),
        by_subset=_by_subset(of_families, marks, ground),
        differences=differences_of_rates(
            marks, systems, of_families, ground.names, level=ground.level
        ),
    )


def _uses(
    kind: Literal["system", "family"],
    groups: Mapping[str, list[int]],
    marks: Marks,
    ground: _Ground,
    subset: Subset | None = None,
) -> tuple[LabelUse, ...]:
    """Describe each group of systems of which there are labels, on the items of the marks."""
    found = []
    for group, members in groups.items():
        own = marks.among(np.isin(marks.system, members))
        if own.ids:
            n_texts = sum(ground.n_texts[k] for k in members)
            n_lacking = 0 if subset else n_texts - len(own.ids)
            made = _use(own, ground.names, level=ground.level)
            found.append(
                LabelUse(group=group, kind=kind, subset=subset, n_unlabelled=n_lacking, **made)
            )
    return tuple(found)


def _by_subset(
    families: Mapping[str, list[int]], marks: Marks, ground: _Ground
) -> tuple[LabelUse, ...]:
    """Describe families on regular and on adversarial items; empty without items of both."""
    is_adversarial = ground.adversarial[marks.item]
    if is_adversarial.all() or not is_adversarial.any():
        return ()
    return (
        *_uses("family", families, marks.among(~is_adversarial), ground, "regular"),
        *_uses("family", families, marks.among(is_adversarial), ground, "adversarial"),
    )


def _family(system: System) -> str:
    return {"human": PEOPLE, "model": system.family}.get(system.kind, system.kind)


def _family_order(family: str) -> tuple[int, str]:
    return {PEOPLE: 0, "original": 1, "baseline": 3}.get(family, 2), family


def _use(marks: Marks, names: Mapping[str, str], *, level: float) -> dict[str, Any]:
    """Return what completions do, by the fields of a `LabelUse`."""
    items, means = item_means(marks.item, marks.present)
    judges = np.full(len(items), -1)
    number = np.arange(len(items))
    rates = mean_estimates(means, number, judges, level=level)
    shares = means.mean(axis=0)
    influence = (means - shares) / len(items)

    def moved(value: float, slopes: FloatArray) -> Estimate:
        moves = (influence @ slopes)[:, None]
        return clustered_estimates([value], moves, number, judges, level=level)[0]

    spread = entropy = None
    if len(shares) > 1:
        sd = float(np.std(shares, ddof=1))
        from_mean = shares - shares.mean()
        spread = moved(sd, from_mean / ((len(shares) - 1) * max(sd, ROUNDING)))
    total = float(shares.sum())
    if total > 0:
        logs = np.log2(shares / total, out=np.zeros_like(shares), where=shares > 0)
        bits = max(0.0, -float((shares / total) @ logs))
        entropy = moved(bits, np.where(shares > 0, -(logs + bits) / total, 0.0))
    return {
        "n_completions": len(marks.ids),
        "n_items": len(items),
        "n_covered": int(marks.present.any(axis=0).sum()),
        "distinct": moved(total, np.ones(len(shares))),
        "entropy": entropy,
        "spread": spread,
        "range": float(np.ptp(shares)),
        "rates": tuple(
            CategoryRate(
                category=key,
                name=names[key],
                rate=one.value,
                low=one.low,
                high=one.high,
                n_present=int(marks.present[:, k].sum()),
                n_uncertain=int(marks.uncertain[:, k].sum()),
            )
            for k, (key, one) in enumerate(zip(marks.categories, rates, strict=True))
        ),
    }
