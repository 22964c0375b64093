"""People label: they say by a taxonomy what a text does, and a third person decides differences.

Each taxonomy that people can label by is two kinds of task. `label-…` is done by as many people as
the study asks for; where two of them differ, `settle-…` shows both answers, under no name and in an
order drawn by chance, to somebody who gave neither, and asks about what they differ on. Every
answer becomes labels as those of a model are, but that evidence is optional.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import get_args

from hearteval.domain import Completion, Item, Judgment, Label, LabelVerdict, plain_text
from hearteval.labels.reply import Said, labels_of
from hearteval.labels.taxonomy import (
    TAXONOMIES,
    Category,
    Taxonomy,
    TaxonomyName,
    Unit,
    load_taxonomy,
)
from hearteval.labels.texts import LabelledText, text_of
from hearteval.protocol import load_protocol
from hearteval.store.base import Store
from hearteval.store.people.base import Answered
from hearteval.store.people.tasks import Lease
from hearteval.study.people import Desk
from hearteval.study.people.task import (
    Answer,
    AnswerError,
    Shown,
    TaskKind,
    item_of,
    readable_reasons,
)

VERDICT, WORDS = "is_", "words_"
"""What the names of fields begin with; the key of a category follows."""
_RECORDS: Mapping[Unit, type[Completion] | type[Judgment] | type[Item]] = {
    "completion": Completion,
    "reasons": Judgment,
    "item": Item,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a page asks of a text."""

    of: Unit
    categories: Sequence[Category]
    answers: Mapping[str, Sequence[Label]]
    """What two people have said, by category, where one is to decide between them."""
    same: Sequence[tuple[Category, str]] = ()
    """What they gave the same answer to."""
    situation: str = ""
    """What is known of an item beside its conversation."""


def label_kind(taxonomy: TaxonomyName) -> str:
    """Return the name of the task to label by a taxonomy; another version is another task."""
    return _versioned("label", load_taxonomy(taxonomy))


def settle_kind(taxonomy: TaxonomyName) -> str:
    """Return the name of the task to decide where two people differ."""
    return _versioned("settle", load_taxonomy(taxonomy))


def _versioned(task: str, taxonomy: Taxonomy) -> str:
    version = taxonomy.label_version
    return "-".join((task, taxonomy.name, *([] if version is None else [version])))


def labels_of_people(store: Store, taxonomy: Taxonomy, text_ids: Sequence[str]) -> list[Label]:
    """Return what people have said of some texts by this version of a taxonomy, in its order."""
    return store.labels_by_people(taxonomy.name, text_ids, version=taxonomy.label_version)


def said_by_rater(labels: Sequence[Label]) -> dict[str, dict[str, Label]]:
    """Return what people said of one text, by rater and category, in the order of time."""
    found: defaultdict[str, dict[str, Label]] = defaultdict(dict)
    for label in labels:
        found[label.rater_id][label.category] = label
    return dict(found)


def both_answers(labels: Sequence[Label]) -> list[dict[str, str]]:
    """Return the answers by category of those who labelled a text, less who only settled some."""
    said = said_by_rater(labels).values()
    most = max(map(len, said))
    return [{key: one.answer for key, one in each.items()} for each in said if len(each) == most]


def open_differences(labels: Sequence[Label]) -> tuple[str, ...]:
    """Return the categories on which two people differ and nobody has decided, of one text."""
    answers: defaultdict[str, list[str]] = defaultdict(list)
    for label in labels:
        answers[label.category].append(label.answer)
    return tuple(key for key, said in answers.items() if len(said) == 2 and len(set(said)) == 2)


def is_to_settle(labels: Sequence[Label]) -> bool:
    """Say whether somebody is to decide, or has decided, what two people said of one text."""
    return bool(open_differences(labels)) or len(said_by_rater(labels)) > 2


def _text(desk: Desk, taxonomy: Taxonomy, lease: Lease) -> LabelledText | None:
    """Return what is to be labelled; None where somebody has withdrawn it."""
    store = desk.session.store
    for unit in taxonomy.of:
        for found in store.find(_RECORDS[unit], [lease.target_id]):
            if isinstance(found, Item):
                return text_of(found)
            if isinstance(found, Judgment):
                return text_of(found) if readable_reasons(desk, found) else None
            context = item_of(desk, found.item_id).context
            return None if found.is_withdrawn else text_of(found, context)
    return None


def _shown(text: LabelledText, asked: Asked) -> Shown:
    turns = [(turn.role, turn.text) for turn in text.context]
    return Shown(turns=turns, texts=(text.text,) if text.text else (), asked=asked)


def _show(taxonomy: Taxonomy, desk: Desk, lease: Lease) -> Shown | None:
    text = _text(desk, taxonomy, lease)
    if text is None:
        return None
    asked = Asked(
        of=text.of, categories=_asked_of(desk, taxonomy, text), answers={}, situation=text.situation
    )
    return _shown(text, asked)


def _asked_of(desk: Desk, taxonomy: Taxonomy, text: LabelledText) -> Sequence[Category]:
    """Return what is asked of a text: all there is, or what of an item is still open."""
    if desk.reading is None or text.of != "item":
        return taxonomy.categories
    keys = desk.reading.questions.get(text.id, ())
    return [category for category in taxonomy.categories if category.key in keys]


def _show_both(taxonomy: Taxonomy, desk: Desk, lease: Lease) -> Shown | None:
    text = _text(desk, taxonomy, lease)
    labels = labels_of_people(desk.session.store, taxonomy, [lease.target_id])
    differ = open_differences(labels)
    if text is None or not differ:
        return None
    # Labels that were given elsewhere may be of some categories only.
    by_rater = list(said_by_rater(labels).values())
    in_order = by_rater if lease.side == 0 else by_rater[::-1]
    said = {key: [each[key] for each in in_order if key in each] for key in taxonomy.keys}
    asked = Asked(
        of=text.of,
        categories=[category for category in taxonomy.categories if category.key in differ],
        answers={key: said[key] for key in differ},
        same=[
            (one, said[one.key][0].answer)
            for one in taxonomy.categories
            if len({each.answer for each in said[one.key]}) == 1
        ],
        situation=text.situation,
    )
    return _shown(text, asked)


def _read(taxonomy: Taxonomy, answer: Answer) -> Answered:
    text = _text(answer.desk, taxonomy, answer.lease)
    asked = () if text is None else _asked_of(answer.desk, taxonomy, text)
    return _read_about(taxonomy, asked, answer)


def _read_decision(taxonomy: Taxonomy, answer: Answer) -> Answered:
    store, rater_id = answer.desk.session.store, answer.rater.id
    labels = labels_of_people(store, taxonomy, [answer.lease.target_id])
    # What they have decided before may be sent again.
    differ = open_differences([label for label in labels if label.rater_id != rater_id])
    return _read_about(taxonomy, [one for one in taxonomy.categories if one.key in differ], answer)


def _read_about(taxonomy: Taxonomy, categories: Sequence[Category], answer: Answer) -> Answered:
    """Return the labels of an answer about some categories.

    Raises:
        AnswerError: A category has no answer, or there is one of none of these, or its words do
            not stand in the text.
    """
    faults = load_protocol("people_labelling", answer.person.language)["missing"]
    text = _text(answer.desk, taxonomy, answer.lease)
    fields = {start + one.key for start in (VERDICT, WORDS) for one in categories}
    others = {name for name in answer.form if name.startswith((VERDICT, WORDS))} - fields
    if others or not categories or text is None:
        raise AnswerError({"task": faults["unknown"]})
    quotable = plain_text(text.quotable)
    said: dict[str, Said] = {}
    lacking = dict[str, str]()
    for one in categories:
        given, words = answer.text(VERDICT + one.key), plain_text(answer.text(WORDS + one.key))
        if given not in answers_to(one):
            lacking[VERDICT + one.key] = faults["answer"]
        elif given == "absent":
            said[one.key] = Said("absent", None, "")
        elif len(words) > load_protocol("label_prompt")["bounds"]["max_evidence"]:
            lacking[VERDICT + one.key] = faults["too_many"]
        elif words not in quotable:
            lacking[VERDICT + one.key] = faults["words"]
        elif given.isdigit():
            said[one.key] = Said("present", None, words, int(given))
        else:
            said[one.key] = Said("present" if given == "present" else "uncertain", None, words)
    if lacking:
        raise AnswerError(lacking)
    labels = labels_of(text, taxonomy, said, rater_id=answer.rater.id, now=answer.now)
    content = {one.category: (one.answer, one.evidence) for one in labels}
    return answer.closes([answer.rater, *labels], labels[0].id, content)


def answers_to(category: Category) -> tuple[str, ...]:
    """Return what can be said of a category: a verdict, or the score of a scale or "uncertain"."""
    if not category.levels:
        return get_args(LabelVerdict)
    return (*(str(k) for k in range(1, len(category.levels) + 1)), "uncertain")


def kinds_of(taxonomy: Taxonomy) -> tuple[TaskKind, TaskKind]:
    """Return the tasks to label by a taxonomy, and to decide where two people differ."""
    fields = tuple(start + key for key in taxonomy.keys for start in (VERDICT, WORDS))
    label = TaskKind(
        name=_versioned("label", taxonomy),
        template="label",
        subject=taxonomy.title,
        show=partial(_show, taxonomy),
        read=partial(_read, taxonomy),
        keeps=fields,
        opens=True,
    )
    settle = TaskKind(
        name=_versioned("settle", taxonomy),
        template="settle",
        subject=taxonomy.title,
        show=partial(_show_both, taxonomy),
        read=partial(_read_decision, taxonomy),
        keeps=fields,
    )
    return label, settle


LABEL_KINDS = tuple(chain.from_iterable(kinds_of(load_taxonomy(name)) for name in TAXONOMIES))
"""Of every taxonomy by which people can label."""
