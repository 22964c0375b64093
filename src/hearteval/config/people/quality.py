"""The ``[people.quality]`` of a study file: checks among people's tasks, and rules over answers.

All of it is preregistered: its hash is part of what makes a version of the study. The numbers and
where they come from are explained in ``docs/reference/study-file.md``.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BaseModel, Field, ValidationError, model_validator

from hearteval.config.model_settings import Section
from hearteval.domain import content_hash
from hearteval.domain.quality import DEFAULT_RULES, QualityRules, Rule
from hearteval.errors import SettingsError
from hearteval.judgments.people_checks import CheckTexts
from hearteval.protocol import ENGLISH, languages, load_protocol, read_translation

Share = Annotated[float, Field(gt=0, le=1)]
S = TypeVar("S", bound=BaseModel)


class Quality(Section):
    """The section as it is written; without it there is no check, and nobody is excluded by a rule.

    Attributes:
        checks: Gold pairs and attention checks in a sitting; where people rate, attention checks.
        checks_within: Answers of a sitting among which they come.
        checks_from: File with texts of one's own for them; None for those that ship.
        repeats: Share of a person's comparisons that come once more, with the sides swapped.
        triads: Of a sitting: three replies to one item that one person compares in all three pairs.
        excludes: Rules by which a person is excluded; the others only flag.

    All that follows is of `hearteval.domain.quality.QualityRules`, which says what it is.
    """

    checks: Annotated[int, Field(ge=0, le=10)] = 2
    checks_within: Annotated[int, Field(ge=2)] = 20
    checks_from: str | None = None
    repeats: Annotated[float, Field(ge=0, le=0.5)] = 0.05
    triads: Annotated[int, Field(ge=0, le=5)] = 1
    excludes: Annotated[list[Rule], Field(default_factory=lambda: ["checks", "times"])]
    fewest_checks: Annotated[int, Field(ge=2)] = DEFAULT_RULES.fewest_checks
    failed_checks: Share = DEFAULT_RULES.failed_checks
    fewest_answers: Annotated[int, Field(ge=1)] = DEFAULT_RULES.fewest_answers
    words_per_minute: Annotated[int, Field(ge=1)] = DEFAULT_RULES.words_per_minute
    hurried: Share = DEFAULT_RULES.hurried
    unusual_times: Annotated[float, Field(gt=0)] = DEFAULT_RULES.unusual_times
    straight_line: Annotated[int, Field(ge=2)] = DEFAULT_RULES.straight_line
    repeated_reasons: Share = DEFAULT_RULES.repeated_reasons
    position_share: Annotated[float, Field(ge=0.5, lt=1)] = DEFAULT_RULES.position_share
    p: Annotated[float, Field(gt=0, lt=1)] = DEFAULT_RULES.p
    agreement: Share = DEFAULT_RULES.agreement
    infit: Annotated[float, Field(gt=1)] = DEFAULT_RULES.infit
    same_again: Share = DEFAULT_RULES.same_again
    circles: Share = DEFAULT_RULES.circles

    @property
    def rules(self) -> QualityRules:
        """From when each rule finds something."""
        names = QualityRules.__dataclass_fields__
        return QualityRules(**{name: getattr(self, name) for name in names})

    @model_validator(mode="after")
    def _one_place_a_check(self) -> "Quality":
        if self.checks >= self.checks_within:
            raise ValueError("checks are fewer than the answers that they come among")
        return self


def preregistered(quality: Quality, texts: Mapping[str, CheckTexts]) -> str:
    """Return the hash of what a study fixes before anybody answers: settings, rules and texts."""
    said = {language: one.model_dump() for language, one in texts.items()}
    return content_hash([quality.model_dump(exclude={"checks_from"}), said])


def read_check_texts(path: Path, quality: Quality) -> dict[str, CheckTexts]:
    """Read the texts of the checks of the study file at `path`, by language.

    Its own file has one language; who has the pages in another meets no check.

    Raises:
        SettingsError: Its own file cannot be read, or lacks something.
    """
    if quality.checks_from is not None:
        own = read_own_file(path, "quality.checks_from", quality.checks_from, CheckTexts)
        return {own.language: own}
    name = "people_checks"
    there = [one for one in languages() if one == ENGLISH or read_translation(name, one)]
    return {one: CheckTexts.model_validate(load_protocol(name, one)) for one in there}


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
