"""What labelers and people say of texts: what every taxonomy has in common."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Generic, Literal, TypeVar

from hearteval.analysis.data import LabelRow, TaxonomyLabels
from hearteval.analysis.labels.agreement import Marks, SourceAgreement, Texts, agree, read_marks
from hearteval.analysis.labels.people import (
    PEOPLES_WORD,
    PeopleLabels,
    describe_people,
    peoples_word,
)
from hearteval.domain import Rater

BASELINE = "cue"
"""The family of the offline labeler."""
RATIONALES = "rationales"
"""The taxonomy of reasons."""
SourceKind = Literal["person", "model", "baseline"]
Source = TypeVar("Source")


@dataclass(frozen=True, kw_only=True)  # no slots: a generic record could not be made
class Labelled(Generic[Source]):
    """What a study's replies do, or its raters say they choose by, by one taxonomy.

    Attributes:
        sources: By labeler: people, then models, then the offline baseline. What people have
            settled is one source, ``people``.
        agreement: How far two labelers agree on the same texts.
        people: What people have labelled; None where nobody has.
    """

    taxonomy: str
    version: str
    title: str
    level: float
    sources: tuple[Source, ...]
    agreement: tuple[SourceAgreement, ...]
    categories: Mapping[str, str] = field(default_factory=dict)
    people: PeopleLabels | None = None


def source_kind(rater: Rater) -> SourceKind:
    """Return what kind of labeler a rater is."""
    if rater.kind == "human":
        return "person"
    return "baseline" if rater.family == BASELINE else "model"


def by_kind(rater: Rater) -> tuple[int, str, str]:
    """Return the order of labelers: people, models, the baseline."""
    order: Mapping[SourceKind, int] = {"person": 0, "model": 1, "baseline": 2}
    return order[source_kind(rater)], rater.name, rater.id


def describe_labels(
    given: TaxonomyLabels,
    texts: Texts,
    describe: Callable[[Rater, Marks], Source],
    *,
    level: float,
) -> Labelled[Source] | None:
    """Describe what each labeler, and people, say of texts; None where nothing is labelled.

    Args:
        given: All labels by one taxonomy.
        texts: Those that count.
        describe: What is said of one source.
        level: Nominal coverage.
    """
    word = peoples_word(given, among=set(texts.ids))
    rows: defaultdict[str, list[LabelRow]] = defaultdict(list)
    for row in (*given.labels, *(word.settled if word else ())):
        rows[row.rater_id].append(row)
    marks = [
        (rater, found)
        for rater in sorted((*given.labelers, PEOPLES_WORD), key=by_kind)
        if (found := read_marks(rater.name, given.categories, rows[rater.id], texts)).ids
    ]
    if not marks:
        return None
    return Labelled(
        taxonomy=given.taxonomy,
        version=given.version,
        title=given.title,
        level=level,
        sources=tuple(describe(rater, found) for rater, found in marks),
        agreement=tuple(
            row
            for (rater, one), (_, other) in combinations(marks, 2)
            for row in agree(
                one, other, given.categories, level=level, are_people=rater is PEOPLES_WORD
            )
        ),
        categories=dict(given.categories),
        people=describe_people(given, word, texts, level=level) if word else None,
    )
