"""What people are asked: each kind of task is what is shown, a record, and who may take it.

A new kind is one more entry of `KINDS`, with a template of its name in `hearteval.web`. Claiming,
leases, quotas, skipping and sending an answer twice are the same for all: see
`hearteval.store.people`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from hearteval.completions.checks import check_completion
from hearteval.domain import (
    AXES,
    WITHDRAWN,
    Assignment,
    Axis,
    AxisMark,
    Completion,
    Item,
    Judgment,
    Label,
    Pair,
    Rater,
    Rating,
    shows_text,
)
from hearteval.errors import InvalidReplyError
from hearteval.labels.safety import SAFETY, label_reasons, safety_rater
from hearteval.protocol import load_protocol
from hearteval.store.base import Record
from hearteval.store.people.base import Answered
from hearteval.store.people.persons import Person
from hearteval.store.people.tasks import Lease
from hearteval.study.grow import human_system
from hearteval.study.people import Desk

R = TypeVar("R", Item, Pair)
RESEARCH = "research"
"""Whoever may do this sees how far the study is; it is no task."""
MOST_CHARACTERS = 4_000
FIVE_POINTS = {
    "A significantly better": ("first", 4),
    "A slightly better": ("first", 2),
    "about the same": ("tie", None),
    "B slightly better": ("second", 2),
    "B significantly better": ("second", 4),
}
"""Choice and strength by answer (SPEC section 5: slightly is 2, significantly 4)."""
SIDES = {"A": "first", "B": "second"}
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


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskKind:
    """One kind of task."""

    name: str
    show: Callable[[Desk, Lease], Shown | None]
    """What the page shows of a task; None where somebody has withdrawn a text of it."""
    read: Callable[["Answer"], Answered]
    """What an answer comes to; `AnswerError` where it lacks something."""
    keeps: tuple[str, ...] = ()
    """Fields whose text is kept while it is being written."""
    is_limited: bool = True
    """Whether limits of a sitting and a day hold."""
    may_take: Callable[[Person], bool] = field(default=lambda _person: True)
    """Who of those whose link allows it, e.g. whose practice was read."""
    has_examples: bool = False
    """Whether keyed examples come first: see `hearteval.study.people.practice`."""


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
        return _text(self.form, name)

    def closes(self, records: Sequence[Record], record_id: str, content: Any) -> Answered:
        """Return what closes the task."""
        signs = {name: n for name in SIGNS if (n := _count(self.form.get(name, ""))) > 0}
        return Answered(records, record_id, content, signs)


def rater_of(person: Person) -> Rater:
    """Return a person as a rater."""
    group: Any = person.group
    return Rater(name=person.name, kind="human", family="human", group=group)


def _text(form: Form, name: str) -> str:
    return form.get(name, "").replace("\r\n", "\n").strip()


def _count(text: str) -> int:
    return min(int(text), 10_000) if text.isascii() and text.isdigit() and len(text) < 6 else 0


def _item(desk: Desk, item_id: str) -> Item:
    return _kept(desk, Item, item_id)


def _kept(desk: Desk, kind: type[R], id_: str) -> R:
    """Return an item or a pair, which never change; texts may be withdrawn, so they are read."""
    if id_ not in desk.kept:
        (desk.kept[id_],) = desk.session.store.find(kind, [id_])
    found: R = desk.kept[id_]
    return found


def turns_of(item: Item) -> tuple[tuple[str, str], ...]:
    """Return role and text of each turn."""
    return tuple((turn.role, turn.text) for turn in item.context)


def _show_item(desk: Desk, lease: Lease) -> Shown:
    return Shown(turns=turns_of(_item(desk, lease.target_id)))


def _show_pair(desk: Desk, lease: Lease) -> Shown | None:
    first, second = _ordered(desk, lease)
    found = desk.session.store.find(Completion, [first, second])
    if any(text.is_withdrawn for text in found):
        return None
    texts = {completion.id: completion.text for completion in found}
    item = _item(desk, found[0].item_id)
    return Shown(turns=turns_of(item), texts=(texts[first], texts[second]))


def _ordered(desk: Desk, lease: Lease) -> tuple[str, str]:
    """Return the ids of a pair's completions as they are shown."""
    low, high = _kept(desk, Pair, lease.target_id).completion_ids
    return (low, high) if lease.side == 0 else (high, low)


def _show_completion(desk: Desk, lease: Lease) -> Shown | None:
    (completion,) = desk.session.store.find(Completion, [lease.target_id])
    if completion.is_withdrawn:
        return None
    return Shown(turns=turns_of(_item(desk, completion.item_id)), texts=(completion.text,))


def _read_writing(answer: Answer) -> Answered:
    text = check_text(answer.text("text"))
    system = human_system(answer.desk.settings)
    completion = Completion(
        item_id=answer.lease.target_id,
        system_id=system.id,
        text=text,
        writer_id=answer.person.name,
        total_ms=1000 * answer.seconds,
        created_at=answer.now,
    )
    return answer.closes([completion], completion.id, {"text": text})


def check_text(text: str) -> str:
    """Return a text that a person has written, as a completion holds it.

    Raises:
        AnswerError: There is none, or it is no reply.
    """
    words = load_protocol("people_writing")["box"]
    try:
        found = check_completion(text)
    except InvalidReplyError as error:
        said = too_long() if error.reason == "over-long" else words["empty"]
        raise AnswerError({"text": said}) from None
    if found == WITHDRAWN:
        raise AnswerError({"text": words["empty"]})
    return found


def too_long() -> str:
    """Return what to say of a text that is longer than any system's may be."""
    most = load_protocol("replies")["completion"]
    said: str = load_protocol("people_writing")["box"]["over_long"]
    return said.format(words=most["max_words"], characters=most["max_characters"])


def _read_judgment(answer: Answer) -> Answered:
    words = load_protocol("people_judging")
    protocol, faults = answer.desk.settings.protocol, dict[str, str]()
    choice: Any = None
    strength: int | None = None
    if protocol == "five-point":
        if answer.text("choice") in FIVE_POINTS:
            choice, strength = FIVE_POINTS[answer.text("choice")]
        else:
            faults["choice"] = words["five-point"]["missing"]
    else:
        choice = SIDES.get(answer.text("choice"))
        strength = _count(answer.text("strength")) or None
        if choice is None:
            faults["choice"] = words["forced-strength"]["missing"]
        if strength not in range(1, 6):
            faults["strength"] = words["forced-strength"]["missing_strength"]
    rationale = answer.text("reason")[:MOST_CHARACTERS]
    if not shows_text(rationale):
        faults["reason"] = words["reason"]["missing"]
    if faults:
        raise AnswerError(faults)
    axes = _marks(answer) if answer.desk.settings.axis_marks else {}
    rater = answer.rater
    assignment = Assignment(
        study_id=answer.desk.study.id,
        pair_id=answer.lease.target_id,
        rater_id=rater.id,
        first_completion_id=_ordered(answer.desk, answer.lease)[0],
    )
    judgment = Judgment(
        assignment_id=assignment.id,
        choice=choice,
        strength=strength,
        axes=axes,
        rationale=rationale,
        seconds=answer.seconds,
        created_at=answer.now,
    )
    screened = label_reasons(judgment, now=answer.now)
    content = {"choice": choice, "strength": strength, "reason": rationale}
    content["axes"] = {axis: mark.choice for axis, mark in axes.items()}
    records: list[Record] = [rater, safety_rater(), assignment, judgment, screened]
    return answer.closes(records, judgment.id, content)


def _marks(answer: Answer) -> dict[Axis, AxisMark]:
    found: dict[Axis, AxisMark] = {}
    for axis in AXES:
        side: Any = SIDES.get(answer.text(f"axis_{axis}"))
        if side is not None:
            found[axis] = AxisMark(side, None)
    return found


def read_scores(form: Form) -> tuple[dict[Axis, int], dict[Axis, str]]:
    """Return what somebody gives one reply on every axis, and their comments.

    Raises:
        AnswerError: A score is missing.
    """
    words = load_protocol("people_judging")["rating"]
    axes: dict[Axis, int] = {}
    comments: dict[Axis, str] = {}
    faults = {}
    for axis in AXES:
        score = _count(_text(form, f"axis_{axis}"))
        if score in range(1, 6):
            axes[axis] = score
        else:
            faults[f"axis_{axis}"] = words["missing"]
        comment = _text(form, f"comment_{axis}")[:MOST_CHARACTERS]
        if comment:
            comments[axis] = comment
    if faults:
        raise AnswerError(faults)
    return axes, comments


def _read_rating(answer: Answer) -> Answered:
    axes, comments = read_scores(answer.form)
    rater = answer.rater
    rating = Rating(
        study_id=answer.desk.study.id,
        completion_id=answer.lease.target_id,
        rater_id=rater.id,
        axes=axes,
        comments=comments,
        seconds=answer.seconds,
        created_at=answer.now,
    )
    return answer.closes([rater, rating], rating.id, {"axes": axes, "comments": comments})


def _read_review(answer: Answer) -> Answered:
    words = load_protocol("people_review")
    verdict: Any = {"fit": "absent", "unfit": "present"}.get(answer.text("verdict"))
    reason = answer.text("reason") if verdict == "present" else ""
    if verdict is None:
        raise AnswerError({"verdict": words["reason"]["missing_answer"]})
    if verdict == "present" and reason not in words["look_for"]["reasons"]:
        raise AnswerError({"reason": words["reason"]["missing"]})
    rater = answer.rater
    label = Label(
        completion_id=answer.lease.target_id,
        taxonomy=SAFETY,
        category=SAFETY,
        verdict=verdict,
        evidence=reason,
        rater_id=rater.id,
        created_at=answer.now,
    )
    return answer.closes([rater, label], label.id, {"verdict": verdict, "reason": reason})


def _is_vetted(person: Person) -> bool:
    return person.vetting in ("none", "passed")


KINDS: Mapping[str, TaskKind] = {
    kind.name: kind
    for kind in (
        TaskKind(
            name="write",
            show=_show_item,
            read=_read_writing,
            keeps=("text",),
            may_take=_is_vetted,
        ),
        TaskKind(name="judge", show=_show_pair, read=_read_judgment, keeps=("reason",)),
        TaskKind(
            name="rate",
            show=_show_completion,
            read=_read_rating,
            keeps=tuple(f"comment_{axis}" for axis in AXES),
            has_examples=True,
        ),
        TaskKind(name="review", show=_show_completion, read=_read_review, is_limited=False),
    )
}
"""Every kind of task, by name."""
