"""How far people agree who labelled the same texts: one measure for every kind of label."""

from collections import defaultdict
from collections.abc import Container, Iterable
from dataclasses import dataclass

from hearteval.analysis.agreement.measures import AgreementSettings
from hearteval.analysis.agreement.ratings import Agreement, measure_agreement
from hearteval.domain import Label
from hearteval.stats.agreement.table import CodedRatings

RESAMPLES = 200
"""Of the intervals: a page shows them as often as it is loaded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelAgreement:
    """Agreement on one category of a taxonomy."""

    taxonomy: str
    category: str
    n_texts: int
    """Labelled by two people or more."""
    n_same: int
    """Of these, with one verdict."""
    measures: Agreement


def agree_on_labels(
    labels: Iterable[Label], *, people: Container[str]
) -> tuple[LabelAgreement, ...]:
    """Measure agreement by taxonomy and category, of texts that two people or more labelled.

    Labels by rules and models are no person's, and are left out.
    """
    by_category: defaultdict[tuple[str, str], list[Label]] = defaultdict(list)
    for label in labels:
        if label.rater_id in people:
            by_category[label.taxonomy, label.category].append(label)
    found = []
    for (taxonomy, category), own in sorted(by_category.items()):
        texts: defaultdict[str, list[Label]] = defaultdict(list)
        for label in own:
            texts[label.text_id].append(label)
        twice = {text: each for text, each in texts.items() if len(each) > 1}
        if twice:
            found.append(
                LabelAgreement(
                    taxonomy=taxonomy,
                    category=category,
                    n_texts=len(twice),
                    n_same=sum(len({one.verdict for one in each}) == 1 for each in twice.values()),
                    measures=_measure([one for each in twice.values() for one in each]),
                )
            )
    return tuple(found)


def _measure(labels: list[Label]) -> Agreement:
    rows = [(one.text_id, one.rater_id, str(one.verdict)) for one in labels]
    coded = CodedRatings.of(*zip(*rows, strict=True))
    return measure_agreement(coded, AgreementSettings(level="nominal", resamples=RESAMPLES))
