"""What people tell about themselves: what decides who is let in, and what is optional.

All of it is one of the offered answers, and is kept apart from all else.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hearteval.config.people.enrolment import EACH, SCALE, Enrolment, EntryQuestion
from hearteval.protocol import ENGLISH, load_protocol
from hearteval.store.people.enrolment import Quota
from hearteval.store.people.persons import Person
from hearteval.study.people import Desk
from hearteval.study.people.task import AnswerError

NOT_SAID = "not-said"


def asked_about(desk: Desk) -> list[str]:
    """Return the names of the questions that nobody was asked before they were let in."""
    before = {one.name for one in desk.settings.enrolment.questions}
    return [name for name in desk.settings.about_you if name not in before]


def read_background(desk: Desk, form: Mapping[str, str]) -> dict[str, Any]:
    """Return what was told: an offered answer by question, and the score on the study's scale.

    What is not one of the answers, or was not said, is left out.
    """
    questions = load_protocol("people_background")["questions"]
    told: dict[str, Any] = {}
    for name in asked_about(desk):
        answers = {option["value"] for option in questions[name]["options"]} - {NOT_SAID}
        if form.get(name) in answers:
            told[name] = form[name]
    score = _score(desk, form)
    if score is not None:
        told[SCALE] = score
    return told


def told_of(person: Person) -> dict[str, Any]:
    """Return what of a person's answers results and releases may group people by.

    Of the study's own questions, which let people in, nothing.
    """
    known = {*load_protocol("people_background")["questions"], SCALE}
    return {name: said for name, said in (person.background or {}).items() if name in known}


def _score(desk: Desk, form: Mapping[str, str]) -> float | None:
    """Return the mean of the items of the study's scale; None where one was left out."""
    scale = desk.settings.scale
    if scale is None:
        return None
    low, high = scale.range
    total = 0
    for i, item in enumerate(scale.items):
        given = form.get(f"scale_{i}", "")
        if given not in {str(value) for value in range(low, high + 1)}:
            return None
        total += low + high - int(given) if item.reverse else int(given)
    return total / len(scale.items)


class Asked(NamedTuple):
    """A question as a page asks it."""

    name: str
    text: str
    options: Sequence[tuple[str, str]]
    """What is stored, and its words."""


def asked_first(enrolment: Enrolment, language: str = ENGLISH) -> list[Asked]:
    """Return the questions that are asked before anybody is let in."""
    return [_asked(one, language) for one in enrolment.questions]


def read_entry(enrolment: Enrolment, form: Mapping[str, str]) -> dict[str, str]:
    """Return what somebody answered before they are let in, by question.

    Raises:
        AnswerError: A question has no answer, or one that it does not offer.
    """
    given = {one.name: form.get(field_name(one.name), "") for one in enrolment.questions}
    missing = [one.name for one in enrolment.questions if given[one.name] not in one.answers]
    if missing:
        raise AnswerError({field_name(name): "missing" for name in missing})
    return given


def field_name(question: str) -> str:
    """Return the field of a question on the page: no other field of the form is called so."""
    return f"entry_{question}"


def may_enter(enrolment: Enrolment, answers: Mapping[str, str]) -> bool:
    """Say whether somebody with these answers takes part."""
    return all(answers[one.name] in one.passes for one in enrolment.questions)


def quotas_of(enrolment: Enrolment, answers: Mapping[str, str], study_id: str) -> list[Quota]:
    """Return every quota that somebody with these answers fits; who fits none is bound by none."""
    found = []
    for wanted, most in enrolment.quotas:
        if all(given == EACH or answers[name] in given for name, given in wanted.items()):
            of = {
                name: answers[name] if given == EACH else sorted(given)
                for name, given in wanted.items()
            }
            found.append(Quota(study_id=study_id, answers=of, most=most))
    return found


def _asked(one: EntryQuestion, language: str) -> Asked:
    if one.text is not None:
        return Asked(one.name, one.text, [(answer, answer) for answer in one.answers])
    known = load_protocol("people_background", language)["questions"][one.name]
    options = [(option["value"], option["label"]) for option in known["options"]]
    return Asked(one.name, known["question"], options)
