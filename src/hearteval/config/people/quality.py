"""The ``[people.quality]`` of a study file: checks among people's tasks, and rules over answers.

All of it is preregistered: its hash is part of what makes a version of the study. The numbers and
where they come from are explained in ``docs/reference/study-file.md``.
"""

import tomllib
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, Field, ValidationError, model_validator

from hearteval.config.model_settings import Section
from hearteval.domain import content_hash
from hearteval.errors import SettingsError
from hearteval.judgments.people_checks import CheckTexts
from hearteval.protocol import load_protocol

Rule = Literal[
    "checks", "times", "straight-line", "repeated-reasons", "position", "agreement", "infit"
]
Share = Annotated[float, Field(gt=0, le=1)]
S = TypeVar("S", bound=BaseModel)


class Quality(Section):
    """The section as it is written; without it there is no check and no rule.

    Attributes:
        checks: Gold pairs and attention checks in a sitting; where people rate, attention checks.
        checks_within: Answers of a sitting among which they come.
        checks_from: File with texts of one's own for them; None for those that ship.
        repeats: Share of a person's comparisons that come once more, with the sides swapped.
        triads: Of a sitting: three replies to one item that one person compares in all three pairs.
        excludes: Rules by which a person is excluded; the others only flag.
        fewest_checks: Answered checks below which ``checks`` says nothing.
        failed_checks: Share of failed checks from which it applies.
        fewest_answers: Answers below which no other rule says anything.
        words_per_minute: Of reading; an answer that came faster is hurried.
        hurried: Share of hurried answers from which ``times`` applies.
        straight_line: Equal answers in a row from which ``straight-line`` applies.
        repeated_reasons: Share of reasons given before from which ``repeated-reasons`` applies.
        position_share: Share of choices of one side above which ``position`` applies,
            where an exact binomial test against one half gives less than `position_p`.
        agreement: How many robust standard deviations below the median of the others, net of
            difficulty, ``agreement`` applies.
        infit: Mean square above which ``infit`` applies.
    """

    checks: Annotated[int, Field(ge=0, le=10)] = 2
    checks_within: Annotated[int, Field(ge=2)] = 20
    checks_from: str | None = None
    repeats: Annotated[float, Field(ge=0, le=0.5)] = 0.05
    triads: Annotated[int, Field(ge=0, le=5)] = 1
    excludes: Annotated[list[Rule], Field(default_factory=lambda: ["checks", "times"])]
    fewest_checks: Annotated[int, Field(ge=1)] = 2
    failed_checks: Share = 0.5
    fewest_answers: Annotated[int, Field(ge=1)] = 10
    words_per_minute: Annotated[int, Field(ge=1)] = 600
    hurried: Share = 0.5
    straight_line: Annotated[int, Field(ge=2)] = 12
    repeated_reasons: Share = 0.5
    position_share: Annotated[float, Field(ge=0.5, lt=1)] = 0.65
    position_p: Annotated[float, Field(gt=0, lt=1)] = 0.01
    agreement: Annotated[float, Field(gt=0)] = 2.5
    infit: Annotated[float, Field(gt=1)] = 1.4

    @model_validator(mode="after")
    def _one_place_a_check(self) -> "Quality":
        if self.checks >= self.checks_within:
            raise ValueError("checks are fewer than the answers that they come among")
        return self


def preregistered(quality: Quality, texts: CheckTexts) -> str:
    """Return the hash of what a study fixes before anybody answers: settings, rules and texts."""
    return content_hash([quality.model_dump(exclude={"checks_from"}), texts.model_dump()])


def read_check_texts(path: Path, quality: Quality) -> CheckTexts:
    """Read the texts of the checks of the study file at `path`.

    Raises:
        SettingsError: Its own file cannot be read, or lacks something.
    """
    if quality.checks_from is None:
        return CheckTexts.model_validate(load_protocol("people_checks"))
    return read_own_file(path, "quality.checks_from", quality.checks_from, CheckTexts)


def read_own_file(path: Path, key: str, name: str, kind: type[S]) -> S:
    """Read a file that a `key` of the ``[people]`` of the study file at `path` names.

    Raises:
        SettingsError: It cannot be read, or is not what it has to be.
    """
    where = f"{path}: people.{key}: {name}"
    try:
        text = (path.parent / name).read_text(encoding="utf-8-sig")
        return kind.model_validate(tomllib.loads(text))
    except OSError as error:
        raise SettingsError(f"{where}: cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"{where}: cannot be read: {error}") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise SettingsError(f"{where}: {place}: {first['msg']}") from error
