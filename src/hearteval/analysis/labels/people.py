"""What people say that completions do: their settled word, and how far two of them agree.

Each text is labelled by as many people as the study asks for. What most say stands; where two
differ, whoever speaks next decides, and until then the text has no word of people's.
"""

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from hearteval.analysis.agreement.measures import AgreementSettings, value_of
from hearteval.analysis.agreement.ratings import prepare_ratings
from hearteval.analysis.data import LabelRow, TaxonomyLabels
from hearteval.analysis.estimates import Estimate
from hearteval.analysis.labels.agreement import (
    OF_TWO,
    Texts,
    compare_marks,
    read_marks,
    with_intervals,
)
from hearteval.domain import Label, LabelVerdict, Rater, last_word
from hearteval.stats.agreement.krippendorff import krippendorff_alpha
from hearteval.stats.agreement.table import CodedRatings

PEOPLES_WORD = Rater(name="people", kind="human", family="human")
"""Who is named where people have settled what a text does; no one person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonAgreement:
    """How far two people agree who labelled the same completions.

    Attributes:
        category: Its key; ``all`` for the mean over the categories that have a figure.
        n_both: Completions of which both say present; `n_one` of which one does.
        same: Share of completions of which both say the same.
        kappa: Fleiss', as it matters to nobody who was asked first; None where all say the same.
        f1: Of what is present; None where nobody finds any.
    """

    category: str
    name: str
    n_completions: int
    n_items: int
    n_both: int
    n_one: int
    same: float
    kappa: Estimate | None
    f1: Estimate | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleLabels:
    """What people have labelled, and how far they agree.

    Attributes:
        per_text: People who are asked about each completion.
        n_people: Who labelled or settled something.
        n_begun: Completions that fewer have labelled.
        n_labelled: Those that as many have.
        n_settled: Of these, those on which two differ and somebody has decided; `n_open` those on
            which nobody has.
        agreement: The first row is the mean over the categories; empty where one person labels.
    """

    per_text: int
    n_people: int
    n_begun: int
    n_labelled: int
    n_settled: int
    n_open: int
    agreement: tuple[PersonAgreement, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelAgreement:
    """How far people agree on one category of a taxonomy.

    Attributes:
        n_texts: Labelled by two people or more; `n_same` of these with one verdict.
        alpha: Krippendorff's; None where all say the same.
    """

    taxonomy: str
    category: str
    n_texts: int
    n_same: int
    alpha: float | None


class PeoplesWord(NamedTuple):
    """What people said of the completions of a study, or of reasons, by one taxonomy."""

    settled: tuple[LabelRow, ...]
    """Labels of `PEOPLES_WORD`: of each completion all categories, or none."""
    firsts: tuple[Sequence[LabelRow], Sequence[LabelRow]]
    """By the first of two people, and by the second."""
    counts: dict[str, int]


def settle(said: Sequence[LabelVerdict]) -> LabelVerdict | None:
    """Return what most people say, else what who spoke after a difference decided; None if open."""
    most, n = Counter(said).most_common(1)[0]
    return most if 2 * n > len(said) else last_word(said)


def peoples_word(labels: TaxonomyLabels, *, among: Container[str]) -> PeoplesWord | None:
    """Return what people have settled and what two of them said of some completions, by id.

    None where nobody has labelled any.
    """
    by_text: defaultdict[str, defaultdict[str, dict[str, LabelVerdict]]]
    by_text = defaultdict(lambda: defaultdict(dict))
    for row in labels.people:
        if row.text_id not in among:
            continue
        by_text[row.text_id][row.rater_id][row.category] = row.verdict
    if not by_text:
        return None
    settled: list[LabelRow] = []
    firsts: tuple[list[LabelRow], list[LabelRow]] = ([], [])
    counts = dict.fromkeys(("n_begun", "n_labelled", "n_settled", "n_open"), 0)
    for text_id, by_rater in by_text.items():
        whole = [said for said in by_rater.values() if said.keys() >= labels.categories.keys()]
        if len(whole) < labels.per_text:
            counts["n_begun"] += 1
            continue
        counts["n_labelled"] += 1
        words = {
            key: [said[key] for said in by_rater.values() if key in said]
            for key in labels.categories
        }
        last = {key: settle(said) for key, said in words.items()}
        differ = any(len(set(said)) > 1 for said in words.values())
        is_open = None in last.values()
        counts["n_open"] += is_open
        counts["n_settled"] += differ and not is_open
        if not is_open:
            settled += [
                LabelRow(text_id, key, word, PEOPLES_WORD.id)
                for key, word in last.items()
                if word is not None
            ]
        for rows, one in zip(firsts, whole if len(whole) > 1 else (), strict=False):
            rows += [LabelRow(text_id, key, one[key], PEOPLES_WORD.id) for key in labels.categories]
    return PeoplesWord(tuple(settled), firsts, counts)


def people_agree(
    labels: TaxonomyLabels, word: PeoplesWord, texts: Texts, *, level: float
) -> tuple[PersonAgreement, ...]:
    """Compare two people who labelled the same completions, whoever they are.

    Every two are taken in both orders: it then matters to no figure who is the first, and the
    interval over items is that of the completions, each once.
    """
    first, second = (
        read_marks(PEOPLES_WORD.name, labels.categories, rows, texts) for rows in word.firsts
    )
    if not first.ids:
        return ()
    a, b = first.present, second.present
    both_orders = compare_marks(np.vstack([a, b]), np.vstack([b, a]), OF_TWO)
    item = np.concatenate([first.item, second.item])
    return tuple(
        PersonAgreement(
            category=key,
            name=labels.categories.get(key, key),
            n_completions=len(first.ids),
            n_items=len(np.unique(item)),
            n_both=int((x * y).sum()),
            n_one=int((x != y).sum()),
            same=float((x == y).mean()),
            **with_intervals(column, item, level=level),
        )
        for key, column, x, y in zip(
            ("all", *first.categories), both_orders, (a, *a.T), (b, *b.T), strict=True
        )
    )


def describe_people(
    labels: TaxonomyLabels, word: PeoplesWord, texts: Texts, *, level: float
) -> PeopleLabels:
    """Return what people have labelled, and how far the first of two agrees with the second."""
    return PeopleLabels(
        per_text=labels.per_text,
        n_people=len({row.rater_id for row in labels.people}),
        agreement=people_agree(labels, word, texts, level=level),
        **word.counts,
    )


def agree_on_labels(
    labels: Iterable[Label], *, people: Container[str]
) -> tuple[LabelAgreement, ...]:
    """Measure agreement by taxonomy and category, of texts that two people or more labelled.

    Labels by rules and models are no person's, and are left out.
    """
    by_category: defaultdict[tuple[str, str], defaultdict[str, list[Label]]]
    by_category = defaultdict(lambda: defaultdict(list))
    for label in labels:
        if label.rater_id in people:
            by_category[label.taxonomy, label.category][label.text_id].append(label)
    found = []
    for (taxonomy, category), texts in sorted(by_category.items()):
        twice = [each for each in texts.values() if len(each) > 1]
        if twice:
            rows = [(one.text_id, one.rater_id, one.verdict) for each in twice for one in each]
            coded = CodedRatings.of(*zip(*rows, strict=True))
            table = prepare_ratings(coded, AgreementSettings(level="nominal")).table
            found.append(
                LabelAgreement(
                    taxonomy=taxonomy,
                    category=category,
                    n_texts=len(twice),
                    n_same=sum(len({one.verdict for one in each}) == 1 for each in twice),
                    alpha=value_of(partial(krippendorff_alpha, table, level="nominal"), table),
                )
            )
    return tuple(found)
