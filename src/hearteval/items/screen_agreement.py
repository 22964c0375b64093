"""How far labelers agree with each other and with people on the questions of the second screen.

People are one source: what more than half of those who read an item say; of what they leave open
nothing is said, as no word is theirs. Where they read only what
labelers disputed, the figures are of such items; who wants them of all lets people read all.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from hearteval.analysis.agreement.measures import AgreementSettings, measure_table
from hearteval.analysis.agreement.ratings import prepare_ratings
from hearteval.analysis.data import LabelRow
from hearteval.analysis.estimates import Estimate
from hearteval.analysis.labels.agreement import Marks, SourceAgreement, Texts, agree, read_marks
from hearteval.domain import Item, Label
from hearteval.items.second_screen import MOST_APART, Answer, Sources, settle
from hearteval.labels.taxonomy import Category, Taxonomy
from hearteval.stats.agreement.krippendorff import krippendorff_alpha
from hearteval.stats.agreement.table import CodedRatings, merge_equal_units

PEOPLE = "people"
ALL = "all"
"""Stands for the mean over the questions."""
LEVEL = 0.95
RESAMPLES = 200
Answers = Mapping[str, Mapping[str, Answer]]
"""By item id and question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleAgreement:
    """How far two sources agree on a scale.

    Attributes:
        n_items: Items to which both gave a score.
        near: Share of them whose scores are a level apart or less.
        alpha: Krippendorff's, of ordinal scores; None where it has no value.
    """

    one: str
    other: str
    question: str
    n_items: int
    near: float
    alpha: Estimate | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenAgreement:
    """Every two sources: labelers, and people as one.

    Attributes:
        questions: By question, and ``all`` for their mean; "uncertain" counts as not holding.
            Completions are items here, and items, over which intervals are, dialogues.
    """

    questions: tuple[SourceAgreement, ...]
    scales: tuple[ScaleAgreement, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON says it."""
        named = {"category": "question", "n_completions": "n_items", "n_items": "n_dialogues"}
        fields = ("one", "other", *named, "n_one", "n_other", "same", "kappa", "f1")
        return {
            "questions": [
                {named.get(key, key): own[key] for key in fields}
                for own in map(asdict, self.questions)
            ],
            "scales": [asdict(one) for one in self.scales],
        }


def agree_on_items(
    items: Sequence[Item], labels: Iterable[Label], sources: Sources, taxonomy: Taxonomy
) -> ScreenAgreement:
    """Compare every two sources on the items that both have labelled.

    Intervals are over dialogues, those of a scale over items.
    """
    by_rater: defaultdict[str, list[Label]] = defaultdict(list)
    for label in labels:
        name = sources.labelers.get(label.rater_id)
        if name is not None:
            by_rater[name].append(label)
        elif label.rater_id in sources.people:
            by_rater[PEOPLE].append(label)
    order = [*sources.labelers.values(), PEOPLE]
    said = {
        name: _answers(by_rater[name], taxonomy, are_people=name == PEOPLE)
        for name in order
        if by_rater[name]
    }
    items = sorted(items, key=lambda item: item.id)
    dialogues = sorted({(item.source, item.dialogue_id) for item in items})
    place = {dialogue: k for k, dialogue in enumerate(dialogues)}
    texts = Texts(
        ids=[item.id for item in items],
        item=np.array([place[one.source, one.dialogue_id] for one in items], dtype=np.int64),
        system=np.zeros(len(items), dtype=np.int64),
    )
    names = {one.key: one.name for one in taxonomy.categories}
    keys = tuple(one.key for one in taxonomy.categories if not one.levels)
    # People may have been asked some of the questions: each has the items of its own.
    marks = {
        asked: {name: _marks(name, own, texts, asked) for name, own in said.items()}
        for asked in (keys, *((key,) for key in keys))
    }
    questions = [
        row
        for one, other in combinations(said, 2)
        for asked, of in marks.items()
        for row in agree(of[one], of[other], names, level=LEVEL)
        if (row.category == ALL) == (asked == keys)
    ]
    scales = [
        found
        for one, other in combinations(said, 2)
        for question in taxonomy.categories
        if question.levels
        and (found := _agree_on_scale((one, other), said, question.key)) is not None
    ]
    return ScreenAgreement(questions=tuple(questions), scales=tuple(scales))


def _answers(labels: Iterable[Label], taxonomy: Taxonomy, *, are_people: bool) -> Answers:
    """Return what one source says of each item: what a labeler does, or most people do."""
    by_item: defaultdict[str, defaultdict[str, list[Label]]]
    by_item = defaultdict(lambda: defaultdict(list))
    for label in labels:
        if label.item_id is not None:
            by_item[label.item_id][label.category].append(label)
    return {
        item_id: {
            one.key: settle(
                one, given, Sources(labelers={}, people={each.rater_id for each in given})
            )
            for one in taxonomy.categories
            if (given := own[one.key]) and not (are_people and _is_open(one, given))
        }
        for item_id, own in by_item.items()
    }


def _is_open(question: Category, given: Sequence[Label]) -> bool:
    """Say whether no verdict is that of more than half of some people."""
    _, most = Counter(one.verdict for one in given).most_common(1)[0]
    return not question.levels and 2 * most <= len(given)


def _marks(name: str, answers: Answers, texts: Texts, keys: tuple[str, ...]) -> Marks:
    """Return what a source says of the items of which it answers all of some questions."""
    rows = [
        LabelRow(id_, key, own[key].verdict, name)
        for id_, own in answers.items()
        if {*keys} <= own.keys()
        for key in keys
    ]
    return read_marks(name, keys, rows, texts)


def _agree_on_scale(
    names: tuple[str, str], said: Mapping[str, Answers], question: str
) -> ScaleAgreement | None:
    one, other = (
        {
            item_id: score
            for item_id, answers in said[name].items()
            if question in answers and (score := answers[question].score) is not None
        }
        for name in names
    )
    both = sorted(one.keys() & other.keys())
    if not both:
        return None
    rows = [
        (id_, name, str(of[id_]))
        for name, of in zip(names, (one, other), strict=True)
        for id_ in both
    ]
    settings = AgreementSettings(level="ordinal", resamples=RESAMPLES)
    ratings = CodedRatings.of(*zip(*rows, strict=True))
    table = merge_equal_units(prepare_ratings(ratings, settings).table)
    alpha = partial(krippendorff_alpha, table, level=settings.level)
    measured = measure_table(table, {"alpha": alpha}, settings)[0]["alpha"]
    value = measured.value
    return ScaleAgreement(
        one=names[0],
        other=names[1],
        question=question,
        n_items=len(both),
        near=sum(abs(one[id_] - other[id_]) <= MOST_APART for id_ in both) / len(both),
        alpha=None
        if value is None
        else Estimate(value=value, low=measured.low, high=measured.high),
    )
