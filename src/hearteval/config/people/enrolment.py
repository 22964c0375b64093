"""Who may take part: screening questions and quotas, as the ``[people]`` of a study file has them.

A question is one of `protocol/people_background.toml`, by its name, or one of the study's own with
its text and answers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from hearteval.config.model_settings import Section
from hearteval.errors import SettingsError
from hearteval.protocol import load_protocol

MOST_QUESTIONS = 20
Each = Literal["each"]
EACH: Each = "each"
SCALE = "scale"
"""What somebody's score on the study's scale is called among their answers."""
Text = Annotated[str, Field(min_length=1, max_length=300)]
Answers = Annotated[list[Text], Field(min_length=1)]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,39}$")]


class Screening(Section):
    """A question asked before anybody is let in, as it is written."""

    question: Name
    text: Text | None = None
    answers: Annotated[list[Text], Field(min_length=2)] | None = None
    passes: Annotated[list[Text], Field(alias="pass", min_length=1)]


class Quota(Section):
    """At most so many people of some answers; of each answer where that says ``each``."""

    most: Annotated[int, Field(ge=1, le=100_000)]
    answers: Annotated[dict[str, Each | Answers], Field(min_length=1)]

    @field_validator("answers", mode="before")
    @classmethod
    def _each_or_a_list(cls, given: object) -> object:
        """Say it once: of a union each member would."""
        if isinstance(given, dict):
            for name, one in given.items():
                if one != EACH and not isinstance(one, list):
                    words = 'of {name}: expected "each", or a list of its answers'
                    raise PydanticCustomError("answers", words, {"name": name})
        return given


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryQuestion:
    """What people are asked before they are let in.

    Attributes:
        text: Of a question of the study's own; None for one of the protocol.
        answers: What can be answered, as it is stored.
        passes: Answers with which people are let in; every one where that only a quota asks.
    """

    name: str
    text: str | None
    answers: tuple[str, ...]
    passes: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Enrolment:
    """What decides who is let in; nothing of it where everybody is who agrees.

    Attributes:
        questions: In the order in which they are asked.
        quotas: Answers by question with how many people may have them all.
    """

    questions: tuple[EntryQuestion, ...] = ()
    quotas: tuple[tuple[Mapping[str, Each | Sequence[str]], int], ...] = ()

    @property
    def identity(self) -> dict[str, Any]:
        """What of it makes results: who could be asked; how many of whom may grow."""
        return {
            one.name: [one.text, *sorted(one.passes)]
            for one in self.questions
            if one.passes < {*one.answers}
        }


def read_enrolment(
    path: Path, screening: Sequence[Screening], quotas: Sequence[Quota]
) -> Enrolment:
    """Read who may take part.

    Raises:
        SettingsError: A question or an answer is not there, or says what it cannot.
    """
    questions: dict[str, EntryQuestion] = {}
    for one in screening:
        where = f"{path}: people.screening: {one.question}"
        if one.question in questions:
            raise _fault(where, "is asked twice; put its answers together", "screening")
        questions[one.question] = _question(where, one)
    for quota in quotas:
        for name, given in quota.answers.items():
            where = f"{path}: people.quotas: {name}"
            if name not in questions:
                questions[name] = EntryQuestion(
                    name=name,
                    text=None,
                    answers=_known(where, name, "quotas"),
                    passes=frozenset(_known(where, name, "quotas")),
                )
            if given != EACH:
                _require_among(where, given, questions[name].answers, "quotas")
    if len({str(sorted(one.answers.items())) for one in quotas}) < len(quotas):
        raise _fault(f"{path}: people.quotas", "two have the same answers; keep one", "quotas")
    if len(questions) > MOST_QUESTIONS:
        raise _fault(f"{path}: people.screening", f"at most {MOST_QUESTIONS} questions")
    return Enrolment(
        questions=tuple(questions.values()),
        quotas=tuple((one.answers, one.most) for one in quotas),
    )


def _question(where: str, one: Screening) -> EntryQuestion:
    if (one.text is None) != (one.answers is None):
        raise _fault(where, "a question of the study's own has both text and answers")
    is_known = one.question in load_protocol("people_background")["questions"]
    if one.question == SCALE or (is_known and one.text is not None):
        raise _fault(where, "is a question that hearteval has; give yours another name")
    answers = tuple(one.answers or _known(where, one.question, "screening"))
    if len({*answers}) < len(answers):
        raise _fault(where, "an answer is there twice")
    _require_among(where, one.passes, answers, "screening")
    return EntryQuestion(
        name=one.question, text=one.text, answers=answers, passes=frozenset(one.passes)
    )


def _known(where: str, name: str, of: str) -> tuple[str, ...]:
    known = load_protocol("people_background")["questions"]
    if name not in known:
        raise _fault(
            where,
            f"there is no such question; known: {', '.join(known)}, and those of people.screening"
            " that have text and answers of their own",
            of,
        )
    return tuple(option["value"] for option in known[name]["options"])


def _require_among(where: str, given: Sequence[str], answers: Sequence[str], of: str) -> None:
    strange = [one for one in given if one not in answers]
    if strange:
        raise _fault(where, f"{strange[0]!r} is none of its answers: {', '.join(answers)}", of)


def _fault(where: str, what: str, of: str = "screening") -> SettingsError:
    return SettingsError(f"{where}: {what}", ids=(f"people.{of}",))
