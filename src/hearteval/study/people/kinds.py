"""What people are asked: each kind of task is what is shown, a record, and who may take it.

A new kind is one more entry of `KINDS`, with a template of its name in `hearteval.web`. Claiming,
leases, quotas, skipping and sending an answer twice are the same for all: see
`hearteval.store.people`.
"""

from collections.abc import Mapping
from typing import Any

from hearteval.completions.checks import check_completion
from hearteval.config import PeopleSettings
from hearteval.domain import (
    AXES,
    WITHDRAWN,
    Assignment,
    Axis,
    AxisMark,
    Completion,
    Display,
    Judgment,
    Label,
    Pair,
    Rating,
    display_form,
    shows_text,
)
from hearteval.errors import InvalidReplyError
from hearteval.labels.safety import SAFETY, label_reasons, safety_rater
from hearteval.protocol import load_protocol
from hearteval.store.people.base import Answered
from hearteval.store.people.persons import Person
from hearteval.store.people.tasks import Lease
from hearteval.study.grow import human_system
from hearteval.study.people import Desk
from hearteval.study.people.checks import given_check, given_reply
from hearteval.study.people.labelling import LABEL_KINDS
from hearteval.study.people.task import (
    Answer,
    AnswerError,
    Form,
    Shown,
    TaskKind,
    field_of,
    item_of,
    kept,
    read_count,
    readable_reasons,
    turns_of,
)

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
FIT_REASONS = {
    "misread": "the screen misread it",
    "harmless": "what the screen found does no harm here",
    "other": "there is another reason",
}
"""Why a text that was held may be shown, for who watches the study; reviewers are not asked."""


def _show_item(desk: Desk, lease: Lease) -> Shown:
    return Shown(turns=turns_of(item_of(desk, lease.target_id)))


def _show_pair(desk: Desk, lease: Lease) -> Shown | None:
    pair_id, first = _asked(desk, lease)
    second = next(id_ for id_ in kept(desk, Pair, pair_id).completion_ids if id_ != first)
    found = desk.session.store.find(Completion, [first, second], are_there=True)
    if any(text.is_withdrawn for text in found):
        return None
    display = desk.study.display
    texts = {completion.id: display_form(completion.text, display) for completion in found}
    item = item_of(desk, found[0].item_id)
    return Shown(turns=turns_of(item), texts=(texts[first], texts[second]))


def _asked(desk: Desk, lease: Lease) -> tuple[str, str]:
    """Return the pair that a person is asked about, and which completion stands first."""
    if lease.study_id != desk.study.id:
        given = given_check(desk, lease)
        return given.pair_id, given.first_completion_id
    return lease.target_id, kept(desk, Pair, lease.target_id).completion_ids[lease.side]


def _reply(desk: Desk, lease: Lease) -> str:
    return lease.target_id if lease.study_id == desk.study.id else given_reply(desk, lease)


def _show_completion(desk: Desk, lease: Lease) -> Shown | None:
    return _show_reply(desk, _reply(desk, lease), display=desk.study.display)


def _show_reply(desk: Desk, id_: str, *, display: Display) -> Shown | None:
    """Return a reply after its conversation."""
    (completion,) = desk.session.store.find(Completion, [id_], are_there=True)
    if completion.is_withdrawn:
        return None
    text = display_form(completion.text, display)
    return Shown(turns=turns_of(item_of(desk, completion.item_id)), texts=(text,))


def _show_review(desk: Desk, lease: Lease) -> Shown | None:
    return show_held(desk, lease.target_id)


def show_held(desk: Desk, text_id: str) -> Shown | None:
    """Return a reply after its conversation, or somebody's reasons, as they were typed."""
    given = desk.session.store.find(Judgment, [text_id])
    if not given:
        return _show_reply(desk, text_id, display="raw")
    words = readable_reasons(desk, given[0])
    return Shown(turns=(), texts=(words,)) if words else None


def _read_writing(answer: Answer) -> Answered:
    text = check_text(answer.text("text"), answer.person.language)
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


def check_text(text: str, language: str) -> str:
    """Return a text that a person has written, as a completion holds it.

    Raises:
        AnswerError: There is none, or it is no reply; in the language of their pages.
    """
    words = load_protocol("people_writing", language)["box"]
    try:
        found = check_completion(text)
    except InvalidReplyError as error:
        said = too_long(language) if error.reason == "over-long" else words["empty"]
        raise AnswerError({"text": said}) from None
    if found == WITHDRAWN:
        raise AnswerError({"text": words["empty"]})
    return found


def too_long(language: str) -> str:
    """Return what to say of a text that is longer than any system's may be."""
    most = load_protocol("replies")["completion"]
    said: str = load_protocol("people_writing", language)["box"]["over_long"]
    return said.format(words=most["max_words"], characters=most["max_characters"])


def _read_judgment(answer: Answer) -> Answered:
    words = load_protocol("people_judging", answer.person.language)
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
        strength = read_count(answer.text("strength")) or None
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
    is_shared = answer.lease.study_id == answer.desk.study.id
    assignment = _assigned(answer) if is_shared else given_check(answer.desk, answer.lease)
    judgment = Judgment(
        assignment_id=assignment.id,
        choice=choice,
        strength=strength,
        axes=axes,
        rationale=rationale,
        seconds=answer.seconds,
        created_at=answer.now,
    )
    content = {"choice": choice, "strength": strength, "reason": rationale}
    content["axes"] = {axis: mark.choice for axis, mark in axes.items()}
    # Nobody else reads the reasons of a check.
    screened = (safety_rater(), label_reasons(judgment, now=answer.now)) if is_shared else ()
    records = (rater, assignment, judgment, *screened)
    return answer.closes(records, judgment.id, content)


def _assigned(answer: Answer) -> Assignment:
    pair_id, first = _asked(answer.desk, answer.lease)
    return Assignment(
        study_id=answer.desk.study.id,
        pair_id=pair_id,
        rater_id=answer.rater.id,
        first_completion_id=first,
    )


def _marks(answer: Answer) -> dict[Axis, AxisMark]:
    found: dict[Axis, AxisMark] = {}
    for axis in AXES:
        side: Any = SIDES.get(answer.text(f"axis_{axis}"))
        if side is not None:
            found[axis] = AxisMark(side, None)
    return found


def read_scores(form: Form, language: str) -> tuple[dict[Axis, int], dict[Axis, str]]:
    """Return what somebody gives one reply on every axis, and their comments.

    Raises:
        AnswerError: A score is missing.
    """
    words = load_protocol("people_judging", language)["rating"]
    axes: dict[Axis, int] = {}
    comments: dict[Axis, str] = {}
    faults = {}
    for axis in AXES:
        score = read_count(field_of(form, f"axis_{axis}"))
        if score in range(1, 6):
            axes[axis] = score
        else:
            faults[f"axis_{axis}"] = words["missing"]
        comment = field_of(form, f"comment_{axis}")[:MOST_CHARACTERS]
        if comment:
            comments[axis] = comment
    if faults:
        raise AnswerError(faults)
    return axes, comments


def _read_rating(answer: Answer) -> Answered:
    axes, comments = read_scores(answer.form, answer.person.language)
    rater = answer.rater
    rating = Rating(
        study_id=answer.lease.study_id,
        completion_id=_reply(answer.desk, answer.lease),
        rater_id=rater.id,
        axes=axes,
        comments=comments,
        seconds=answer.seconds,
        created_at=answer.now,
    )
    return answer.closes([rater, rating], rating.id, {"axes": axes, "comments": comments})


def _read_review(answer: Answer) -> Answered:
    words = load_protocol("people_review", answer.person.language)
    verdict: Any = {"fit": "absent", "unfit": "present"}.get(answer.text("verdict"))
    why = answer.text("why")
    reason = answer.text("reason") if verdict == "present" else why if why in FIT_REASONS else ""
    if verdict is None:
        raise AnswerError({"verdict": words["reason"]["missing_answer"]})
    if verdict == "present" and reason not in words["look_for"]["reasons"]:
        raise AnswerError({"reason": words["reason"]["missing"]})
    rater = answer.rater
    target = answer.lease.target_id
    is_reasons = bool(answer.desk.session.store.find(Judgment, [target]))
    label = Label(
        completion_id=None if is_reasons else target,
        judgment_id=target if is_reasons else None,
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


_OF_AXES = tuple(f"axis_{axis}" for axis in AXES)


def asked_kinds(settings: PeopleSettings) -> list[str]:
    """Return the kinds of tasks in which people write and say what they think of replies."""
    judge = "rate" if settings.protocol == "rating" else "judge"
    n_people = {"write": settings.writers_per_item, judge: settings.raters_per_pair}
    return [kind for kind, n in n_people.items() if n]


KINDS: Mapping[str, TaskKind] = {
    kind.name: kind
    for kind in (
        TaskKind(
            name="write",
            show=_show_item,
            read=_read_writing,
            keeps=("text",),
            may_take=_is_vetted,
            opens=True,
        ),
        TaskKind(
            name="judge",
            show=_show_pair,
            read=_read_judgment,
            keeps=("choice", "strength", "reason", *_OF_AXES),
            shows_replies=True,
        ),
        TaskKind(
            name="rate",
            show=_show_completion,
            read=_read_rating,
            keeps=(*_OF_AXES, *(f"comment_{axis}" for axis in AXES)),
            has_examples=True,
            shows_replies=True,
        ),
        TaskKind(
            name="review",
            show=_show_review,
            read=_read_review,
            keeps=("verdict", "reason"),
            opens=True,
            is_limited=False,
        ),
        *LABEL_KINDS,
    )
}
"""Every kind of task, by name."""
