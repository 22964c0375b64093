"""The ``[people]`` of a study file: who writes and judges, how much, and what they are told."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from hearteval.config.model_settings import Section
from hearteval.config.people.endings import Endings
from hearteval.config.people.enrolment import Enrolment, Quota, Screening, read_enrolment
from hearteval.config.people.quality import (
    Quality,
    preregistered,
    read_check_texts,
    read_own_file,
)
from hearteval.domain import content_hash
from hearteval.domain.items import EDGES, Edge
from hearteval.errors import SettingsError
from hearteval.judgments.people_checks import CheckTexts
from hearteval.protocol import languages, load_protocol

HumanProtocol = Literal["five-point", "forced-strength", "rating"]
MINUTES_A_DAY = 24 * 60


class People(Section):
    """The section as it is written."""

    writers_per_item: Annotated[int, Field(ge=0, le=100)] = 3
    raters_per_pair: Annotated[int, Field(ge=0, le=1000)] = 5
    protocol: HumanProtocol = "five-point"
    axis_marks: bool = False
    overlap: Literal["all"] | Annotated[float, Field(gt=0, le=1)] = "all"
    sample: Annotated[int, Field(ge=1)] | None = None
    judging_opens: Literal["while-writing", "after-writing"] = "while-writing"
    name: Annotated[str, Field(min_length=1, max_length=100)] = "People"
    practice: bool = True
    practice_hours: Annotated[int, Field(ge=1, le=14 * 24)] | None = None
    review: Literal["held", "all"] = "held"
    reviewers_per_text: Annotated[int, Field(ge=1, le=2)] = 1
    lease_minutes: Annotated[int, Field(ge=1, le=MINUTES_A_DAY)] = 30
    rest_after: Annotated[int, Field(ge=1)] = 20
    most_per_session: Annotated[int, Field(ge=1)] = 40
    most_per_day: Annotated[int, Field(ge=1)] = 120
    pay_per_hour: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    retention_days: Annotated[int, Field(ge=1, le=3650)] = 180
    contact: Annotated[str | None, Field(min_length=1)] = None
    results: str | None = None
    load: Annotated[int, Field(ge=1, le=1000)] | None = None
    endings: Annotated[Endings, Field(default_factory=Endings)]
    signed_by: Annotated[str | None, Field(min_length=1)] = None
    consent: Annotated[list[str], Field(default_factory=list)]
    about_you: Annotated[list[str], Field(default_factory=list)]
    scale: str | None = None
    smallest_group: Annotated[int, Field(ge=2)] = 5
    edge: Annotated[list[Edge], Field(default_factory=list)]
    languages: Annotated[list[str], Field(default_factory=list)]
    other_languages: bool = False
    quality: Quality | None = None
    screening: Annotated[list[Screening], Field(default_factory=list)]
    quotas: Annotated[list[Quota], Field(default_factory=list)]

    @model_validator(mode="before")
    @classmethod
    def _endings_by_their_names(cls, given: Any) -> Any:
        said = {*given} if isinstance(given, dict) else set()
        for name in {"way_back", "way_back_when_full"} & said:
            raise PydanticCustomError(
                "renamed",
                "{name} is now a code or link for each ending, in a section [people.endings]: done,"
                " partial, limit, stopped, screened_out, no_consent, full",
                {"name": name},
            )
        return given

    @field_validator("overlap", mode="before")
    @classmethod
    def _all_or_a_share(cls, given: object) -> object:
        """Say it once: of a union each member would."""
        is_share = isinstance(given, int | float) and 0 < given <= 1
        if given != "all" and (isinstance(given, bool) or not is_share):
            raise PydanticCustomError("share", 'expected "all", or a share above 0 and up to 1')
        return given


class ScaleItem(Section):
    """One statement of a scale."""

    text: Annotated[str, Field(min_length=1)]
    reverse: bool = False


class Scale(Section):
    """A published empathy scale that the study's own file holds; hearteval ships none."""

    name: Annotated[str, Field(min_length=1)]
    source: Annotated[str, Field(min_length=1)]
    licence: Annotated[str, Field(min_length=1)]
    range: Annotated[tuple[int, int], Field(strict=False)]
    """The lowest and the highest answer; TOML has lists, no tuples."""
    labels: list[str]
    items: Annotated[list[ScaleItem], Field(min_length=1)]

    @model_validator(mode="after")
    def _one_label_an_answer(self) -> "Scale":
        low, high = self.range
        if high <= low or len(self.labels) != high - low + 1:
            raise ValueError("range is the lowest and the highest answer, with a label for each")
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleSettings:
    """What a study asks of people.

    Attributes:
        overlap: Share of the judges' pairs that people judge too, drawn at random within strata.
        sample: So many of them instead, drawn likewise before anybody judges; None for the share.
        judging_opens: Whether people judge while others write, or once everybody has written: then
            no pair that comes late tells which reply a person has just written.
        review: Whether people read what the rule screen holds, or every text, before others do.
        practice: Whether writers first write a reply that a person of the study reads, and who
            rates first scores keyed examples.
        practice_hours: Within which such a reply is read; None where nobody promises a time.
        most_per_session: Judgments in one sitting; most_per_day in 24 hours.
        pay_per_hour: What a plan reckons with, in whatever currency; None for no pay.
        load: Tasks after which somebody is done; None for as many as there are.
        endings: The code or link back that people are given at the end of their part.
        signed_by: The file with the keys by which a recruiting site signs its links, seen from the
            study file; None where it does not sign them.
        consent: Points that the study adds to the consent: purpose, pay, an ethics board.
        about_you: Names of optional questions about themselves.
        smallest_group: Fewest people of whom a number is shown.
        edge: Items with these edges people are shown too; with any other they are not.
        contact: Whom people ask or complain to; None for who sent them the link.
        languages: In which the pages are offered; empty for those of the items.
        other_languages: Whether people get items of other languages than that of their pages.
        quality: Checks among their tasks, and rules over their answers; None for neither.
        check_texts: Of these checks, by language; empty exactly where `quality` is None.
        enrolment: Whom of those who agree the study lets in.
    """

    writers_per_item: int
    raters_per_pair: int
    protocol: HumanProtocol
    axis_marks: bool
    overlap: float
    sample: int | None
    judging_opens: Literal["while-writing", "after-writing"]
    name: str
    practice: bool
    practice_hours: int | None
    review: Literal["held", "all"]
    reviewers_per_text: int
    lease_minutes: int
    rest_after: int
    most_per_session: int
    most_per_day: int
    pay_per_hour: float | None
    retention_days: int
    contact: str | None
    results: str | None
    load: int | None
    endings: Endings
    signed_by: str | None
    consent: tuple[str, ...]
    about_you: tuple[str, ...]
    scale: Scale | None
    smallest_group: int
    edge: tuple[Edge, ...]
    languages: tuple[str, ...]
    other_languages: bool
    enrolment: Enrolment
    quality: Quality | None
    check_texts: Mapping[str, CheckTexts]

    @property
    def quality_hash(self) -> str | None:
        """SHA-256 over checks and rules, by which a study preregisters them; None without any."""
        return None if self.quality is None else preregistered(self.quality, self.check_texts)

    @property
    def identity(self) -> dict[str, Any]:
        """What makes results: no names of contacts, no limits of a sitting."""
        return {
            "writers_per_item": self.writers_per_item,
            "raters_per_pair": self.raters_per_pair,
            "protocol": self.protocol,
            "axis_marks": self.axis_marks,
            "overlap": self.overlap,
            "review": self.review,
            "reviewers_per_text": self.reviewers_per_text,
            "name": self.name,
            "scale": None if self.scale is None else content_hash(self.scale.model_dump()),
            # Left out where it says nothing, so that studies from before it stay as they are.
            **({"edge": sorted(self.edge)} if self.edge else {}),
            **({"languages": list(self.languages)} if self.languages else {}),
            **({"other_languages": True} if self.other_languages else {}),
            **({"screening": found} if (found := self.enrolment.identity) else {}),
            **({} if self.sample is None else {"sample": self.sample}),
            **({} if self.quality is None else {"quality": self.quality_hash}),
            **(
                {"judging_opens": self.judging_opens}
                if self.judging_opens != "while-writing"
                else {}
            ),
        }


def read_people(
    path: Path, people: People | None, *, labels_too: bool = False
) -> PeopleSettings | None:
    """Read the ``[people]`` of the study file at `path`; None where there is none.

    People may be there to label, and for nothing else.

    Raises:
        SettingsError: It asks people nothing, or what its protocol cannot bear, or its scale is
            none.
    """
    if people is None:
        return None
    if not people.writers_per_item and not people.raters_per_pair and not labels_too:
        raise SettingsError(
            f"{path}: people: neither writers_per_item nor raters_per_pair asks anybody anything;"
            " set one of them, or remove the section",
            ids=("people",),
        )
    if people.axis_marks and people.protocol != "forced-strength":
        raise SettingsError(
            f"{path}: people.axis_marks: only the protocol forced-strength has axis marks; set"
            ' protocol = "forced-strength", or remove it',
            ids=("people.axis_marks",),
        )
    if people.sample is not None and (why := _why_no_sample(people)):
        raise SettingsError(f"{path}: people.sample: {why}", ids=("people.sample",))
    known = load_protocol("people_background")["questions"]
    unknown = [name for name in people.about_you if name not in known]
    if unknown:
        raise SettingsError(
            f"{path}: people.about_you: there is no question {unknown[0]!r}; known:"
            f" {', '.join(known)}",
            ids=("people.about_you",),
        )
    strange = [name for name in people.languages if name not in languages()]
    if strange:
        raise SettingsError(
            f"{path}: people.languages: there are no pages in {strange[0]!r}; known:"
            f" {', '.join(languages())} (docs/how-to/another-language.md)",
            ids=("people.languages",),
        )
    read = {"overlap", "consent", "about_you", "scale", "edge", "languages"}
    read |= {"quality", "endings", "screening", "quotas"}
    values = people.model_dump(exclude=read)
    quality = people.quality
    return PeopleSettings(
        **values,
        overlap=1.0 if people.overlap == "all" else people.overlap,
        consent=tuple(people.consent),
        about_you=tuple(people.about_you),
        edge=tuple(one for one in EDGES if one in people.edge),
        languages=tuple(dict.fromkeys(people.languages)),
        enrolment=read_enrolment(path, people.screening, people.quotas),
        scale=None if people.scale is None else read_own_file(path, "scale", people.scale, Scale),
        endings=people.endings,
        quality=quality,
        check_texts={} if quality is None else read_check_texts(path, quality),
    )


def _why_no_sample(people: People) -> str:
    """Say why no comparisons can be drawn before people judge; nothing where they can."""
    if people.protocol == "rating":
        return "it is of comparisons, and people rate; remove it"
    if people.overlap != "all":
        return (
            "people.overlap says already which part of the pairs people judge; remove one of them"
        )
    if people.writers_per_item and people.judging_opens != "after-writing":
        return (
            "it is drawn from all pairs, and those with people's own replies are not there while"
            ' they write; set judging_opens = "after-writing", or writers_per_item = 0'
        )
    return ""


def readers_alone() -> PeopleSettings:
    """Return what people are told who come to read items, where a study file has no ``[people]``.

    They are the study's own, so no limit of a sitting holds.
    """
    most = 10_000
    people = People(
        writers_per_item=0,
        raters_per_pair=0,
        practice=False,
        most_per_session=most,
        most_per_day=most,
        consent=[],
        about_you=[],
        edge=[*EDGES],
        languages=[],
        endings=Endings(),
        screening=[],
        quotas=[],
    )
    found = read_people(Path(), people, labels_too=True)
    assert found is not None
    return found
