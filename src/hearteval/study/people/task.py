"""One kind of task: what is shown of it, what an answer comes to, and who may take it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from hearteval.domain import Assignment, Completion, Item, Judgment, Pair, Rater
from hearteval.labels.texts import reasons_text
from hearteval.store.people.base import Answered
from hearteval.store.people.persons import Person
from hearteval.store.people.tasks import Lease
from hearteval.store.records import Record
from hearteval.study.people import Desk

R = TypeVar("R", Item, Pair)
SIGNS = ("pastes", "away")
"""Fields that count what the page noticed: text pasted in, looks at another page."""
Form = Mapping[str, str]


class AnswerError(Exception):
    """An answer that lacks something.

    Attributes:
        faults: What to say, by field of the form.
    """

    def __init__(self, faults: Mapping[str, str]) -> None:
        super().__init__(", ".join(faults))
        self.faults = dict(faults)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a task shows: a conversation, and texts under the letters that the page gives them.

    It holds no id and no name: what is not here cannot be told.
    """

    turns: Sequence[tuple[str, str]]
    """Role and text."""
    texts: Sequence[str] = ()
    asked: Any = None
    """What else the page of a kind asks about, e.g. the categories of a taxonomy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskKind:
    """One kind of task."""

    name: str
    show: Callable[[Desk, Lease], Shown | None]
    """What the page shows of a task; None where somebody has withdrawn a text of it."""
    read: Callable[["Answer"], Answered]
    """What an answer comes to; `AnswerError` where it lacks something."""
    template: str = ""
    """Of its page; the name of the kind unless several share one."""
    subject: str = ""
    """What tells kinds of one template apart: the title of a taxonomy."""
    keeps: tuple[str, ...] = ()
    """Fields that are kept while the task is in hand."""
    opens: bool = False
    """Whether other tasks may follow from an answer."""
    shows_replies: bool = False
    """Whether it asks which replies are better, so that nobody may know who wrote them."""
    is_limited: bool = True
    """Whether limits of a sitting and a day hold."""
    may_take: Callable[[Person], bool] = field(default=lambda _person: True)
    """Who of those whose link allows it, e.g. whose practice was read."""
    has_examples: bool = False
    """Whether keyed examples come first: see `hearteval.study.people.practice`."""

    @property
    def page(self) -> str:
        """The name of its template."""
        return self.template or self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What somebody has sent, and when."""

    desk: Desk
    person: Person
    lease: Lease
    form: Form
    now: datetime

    @property
    def seconds(self) -> float:
        """Since the task was shown first."""
        return max(0.0, (self.now - self.lease.shown_at).total_seconds())

    @property
    def rater(self) -> Rater:
        """The person as a rater."""
        return rater_of(self.person)

    def text(self, name: str) -> str:
        """Return what stands in a field, without white space around it."""
        return field_of(self.form, name)

    def closes(self, records: Sequence[Record], record_id: str, content: Any) -> Answered:
        """Return what closes the task."""
        signs = {name: n for name in SIGNS if (n := read_count(self.form.get(name, ""))) > 0}
        return Answered(records, record_id, content, signs)


def rater_of(person: Person) -> Rater:
    """Return a person as a rater."""
    group: Any = person.group
    return Rater(name=person.name, kind="human", family="human", group=group)


def field_of(form: Form, name: str) -> str:
    """Return what stands in a field of a form, without white space around it."""
    return form.get(name, "").replace("\r\n", "\n").strip()


def read_count(text: str) -> int:
    """Return a whole number as a form holds it; 0 for anything else."""
    return min(int(text), 10_000) if text.isascii() and text.isdigit() and len(text) < 6 else 0


def readable_reasons(desk: Desk, judgment: Judgment) -> str:
    """Return somebody's reasons; none where a reply that they may quote is withdrawn."""
    find = desk.session.store.find
    (asked,) = find(Assignment, [judgment.assignment_id], are_there=True)
    pair = kept(desk, Pair, asked.pair_id)
    texts = find(Completion, pair.completion_ids, are_there=True)
    is_gone = any(text.is_withdrawn for text in texts)
    return "" if is_gone else reasons_text(judgment)


def item_of(desk: Desk, item_id: str) -> Item:
    """Return an item."""
    return kept(desk, Item, item_id)


def kept(desk: Desk, kind: type[R], id_: str) -> R:
    """Return an item or a pair, which never change; texts may be withdrawn, so they are read."""
    if id_ not in desk.kept:
        (desk.kept[id_],) = desk.session.store.find(kind, [id_], are_there=True)
    found: R = desk.kept[id_]
    return found


def turns_of(item: Item) -> tuple[tuple[str, str], ...]:
    """Return the conversation of an item, as a page shows it."""
    return tuple((turn.role, turn.text) for turn in item.context)
