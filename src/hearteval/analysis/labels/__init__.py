"""What labelers and people say of texts: what every taxonomy has in common."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

from hearteval.analysis.labels.agreement import SourceAgreement
from hearteval.analysis.labels.people import PeopleLabels
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
