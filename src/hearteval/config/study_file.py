"""A study file -> settings.

A study file is TOML (DESIGN section 3). Anything unknown in it is an error that names the key, so
that a misspelt setting never becomes a default. Relative paths are relative to the file.
"""

import os
import re
import tomllib
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from math import inf
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from hearteval.analysis.coverage.missing import FAIL_ON_MISSING
from hearteval.config.engine import Engine
from hearteval.config.explained import raise_explained
from hearteval.config.items import Items, ItemSettings, read_items
from hearteval.config.judging import Judging, JudgingSettings, read_judging
from hearteval.config.labels import (
    REASONS,
    Labels,
    PeopleLabels,
    read_labelers,
    read_people_labels,
)
from hearteval.config.model_settings import (
    Judge,
    JudgeSettings,
    Section,
    System,
    SystemSettings,
)
from hearteval.config.models import read_system
from hearteval.config.people import People, PeopleSettings, read_people
from hearteval.config.people.endings import Endings
from hearteval.config.people.enrolment import Quota, Screening
from hearteval.config.people.quality import Quality
from hearteval.domain import AXES, EQUAL_WEIGHTS, Axis, content_hash
from hearteval.domain.study import DEFAULT_RULE, AmbiguityRule, Voters
from hearteval.domain.systems import SIMULATED
from hearteval.errors import SettingsError, raise_faults
from hearteval.judgments.form import USUAL, JudgeForm
from hearteval.protocol import ENGLISH, language_of, languages

STOP_WAIT_S = 10.0
NO_PATH = re.compile(r"^(postgres\w*|sqlite):|^//|:[^/\\:]*@|password=|\x00", re.IGNORECASE)
"""What a store's place never holds where it is a path; it is not repeated in messages."""
WRITTEN = (
    *("results.json", "report.html", "public.html", "leaderboard.csv", "ratings.csv"),
    *("tables", "logs", "cache", "pilot.db"),
)
"""Endings of what stands beside a study file under the study's name, the store apart."""
_NOT_LATIN = "АВЕКМНОРСТХаеорсухіјѕԁһΑΒΕΖΗΙΚΜΝΟΡΤΥΧο"  # noqa: RUF001 - which is the point
LOOK_ALIKE = str.maketrans(_NOT_LATIN, "ABEKMHOPCTXaeopcyxijsdhABEZHIKMNOPTYXo")
"""Letters of Cyrillic and Greek that look like Latin ones."""
LEAST_SYSTEMS = 2
_Read = TypeVar("_Read")


@dataclass(frozen=True, slots=True, kw_only=True)
class StudySettings:
    """A study file, checked."""

    file: Path
    name: str
    seed: int
    """Root of all randomness."""
    store: str = field(repr=False)
    """Path of the SQLite file, or address of a PostgreSQL database; it may hold a password."""
    items: tuple[ItemSettings, ...]
    """At least one."""
    systems: tuple[SystemSettings, ...]
    judging: JudgingSettings
    people: PeopleSettings | None = None
    """What people are asked; None where nobody is."""
    labelers: tuple[JudgeSettings, ...] = ()
    """Who labels what completions do; no part of the hash: labels say who made them."""
    people_labels: PeopleLabels | None = None
    """What people label; likewise."""
    n_reasons: int = REASONS
    """Comparisons whose reasons are labelled, at most; no part of the hash either."""
    max_usd: float | None
    """Hard limit on spending; None for no limit."""
    weights: Mapping[Axis, float] = field(default_factory=lambda: EQUAL_WEIGHTS)
    """Of the axes in the overall score of ratings."""
    ambiguity: AmbiguityRule = DEFAULT_RULE
    """Which comparisons are ambiguous."""
    headline: Voters | None = None
    """Whose votes the ranking at the top is by; None for the default."""
    assume_random: bool = False
    """Whether pairs that people judged elsewhere were drawn at random from those of the judges."""
    against: str | None = None
    """The system that the answer compares with; None for the default. It makes no result another.
    """
    covariates: Path | None = None
    """Table of numbers by system, joined to the ranking when it is analyzed; no part of the hash,
    as it makes no result another."""
    fail_on_missing: float = FAIL_ON_MISSING
    """Largest share of one system's or judge's replies that may be missing."""
    stop_wait_s: float = STOP_WAIT_S
    """Seconds that calls under way have to end when a run is stopped."""
    is_simulated: bool = False
    """Whether `heart simulate` drew all of it: then no model is asked and no person takes part."""
    engine: Engine = field(default_factory=Engine)
    """Where long work is done; no part of the hash."""
    pool: "Pool | None" = None
    """The released board that it continues; None where it begins with nothing."""

    @property
    def mine(self) -> str | None:
        """The system that the study is asked about; None where it is about all alike."""
        return next((system.name for system in self.systems if system.is_mine), None)

    @property
    def score_weights(self) -> Mapping[Axis, float]:
        """Of the weights, those of the axes that judges are asked about: ratings have no others."""
        return {
            axis: weight for axis, weight in self.weights.items() if axis in self.judging.form.axes
        }

    @property
    def settings_hash(self) -> str:
        """SHA-256 over what makes the results: no paths, which differ, no limits."""
        items = [table.identity for table in self.items]
        people = {} if self.people is None else {"people": self.people.identity}
        return content_hash(
            {
                **people,
                **({SIMULATED: True} if self.is_simulated else {}),
                **({} if self.weights == EQUAL_WEIGHTS else {"weights": dict(self.weights)}),
                **({} if self.ambiguity == DEFAULT_RULE else {"ambiguity": asdict(self.ambiguity)}),
                **({} if self.headline is None else {"headline": self.headline}),
                **({"assume_random": True} if self.assume_random else {}),
                "name": self.name,
                "seed": self.seed,
                "items": items[0] if len(items) == 1 else items,
                "systems": [system.identity for system in self.systems],
                "judging": {
                    "judges": [judge.identity for judge in self.judging.judges],
                    **self.judging.form.settings,
                    "plan": self.judging.plan.settings,
                },
                **({} if self.pool is None else {"pool": self.pool.model_dump()}),
            }
        )


def load_study(path: Path, *, is_of_items: bool = False) -> StudySettings:
    """Read and check a study file.

    What is only about items, `is_of_items`, needs no system and no judging.

    Raises:
        SettingsError: The file cannot be read, is no TOML, or sets something that does not exist;
            a line for each fault that says what, where and what to do.
    """
    data = read_toml(path)
    try:
        lacks_rest = is_of_items and data.keys().isdisjoint(("system", "judging"))
        wire = (_ItemsFile if lacks_rest else _StudyFile).model_validate(data)
    except ValidationError as error:
        raise_explained(path, error, SECTIONS, data, is_one_table=_is_one(data.get("items")))
    return _settings(path, wire)


class _Study(Section):
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=100)]
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    store: str | None = None
    fail_on_missing: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = FAIL_ON_MISSING
    stop_wait_s: Annotated[float, Field(ge=0, allow_inf_nan=False)] = STOP_WAIT_S
    simulated: bool = False


class Budget(Section):
    """One ``[budget]``."""

    max_usd: Annotated[float | None, Field(ge=0, allow_inf_nan=False)] = None


class Pool(Section):
    """One ``[pool]``: the released board that a study continues: its systems are asked no more."""

    release: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    """Its id."""
    version: Annotated[int, Field(ge=1)]
    """Of the study, when it was released."""
    systems: Annotated[list[str], Field(min_length=1)]
    """Those of it, by name."""


class _Analysis(Section):
    weights: Annotated[dict[Axis, float], Field(default_factory=dict)]
    consensus: Annotated[float, Field(gt=0.5, le=1, allow_inf_nan=False)] = DEFAULT_RULE.consensus
    split_axes: Annotated[int, Field(ge=1, le=len(AXES))] = DEFAULT_RULE.split_axes
    covariates: Annotated[str, Field(min_length=1)] | None = None
    headline: Voters | None = None
    assume_random: bool = False
    against: Annotated[str, Field(min_length=1)] | None = None


def _as_list(value: Any) -> Any:
    """Read ``[items]`` as ``[[items]]`` that stands once."""
    return [value] if isinstance(value, dict) else value


def _is_one(items: Any) -> bool:
    return not isinstance(items, list) or len(items) == 1


class _StudyFile(Section):
    study: _Study
    items: Annotated[list[Items], BeforeValidator(_as_list), Field(min_length=1)]
    system: Annotated[list[System], Field(min_length=1)]
    judge: Annotated[list[Judge], Field(default_factory=list)]
    judging: Judging
    labeler: Annotated[list[Judge], Field(default_factory=list)]
    labels: Labels | None = None
    people: People | None = None
    pool: Pool | None = None
    budget: Budget = Budget()
    engine: Engine = Engine()
    analysis: Annotated[_Analysis, Field(default_factory=lambda: _Analysis(weights={}))]


class _ItemsFile(_StudyFile):
    """A study file that has nobody answer its items."""

    system: Annotated[list[System], Field(default_factory=list)]
    judging: Annotated[
        Judging, Field(default_factory=lambda: Judging(judges=[], stress_items=0, repeat_pairs=0))
    ]


SECTIONS: dict[str, type[BaseModel]] = {
    "study": _Study,
    "items": Items,
    "system": System,
    "judge": Judge,
    "judging": Judging,
    "labeler": Judge,
    "labels": Labels,
    "people": People,
    "people.endings": Endings,
    "people.quality": Quality,
    "people.quotas": Quota,
    "people.screening": Screening,
    "pool": Pool,
    "budget": Budget,
    "engine": Engine,
    "analysis": _Analysis,
}
"""The sections of a study file, each with its keys."""


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file.

    Raises:
        SettingsError: It is not there, cannot be read, or is no TOML.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8-sig"))
        _require_numbers_that_can_be_written(data)
        return data
    except FileNotFoundError:
        raise SettingsError(
            f"{path}: there is no such study file; check the path, or make one: heart init DIR"
        ) from None
    except IsADirectoryError:
        raise SettingsError(f"{path}: is a folder; name the study file in it") from None
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path}: is not UTF-8 text, which a study file has to be") from error
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path}: is not valid TOML: {error}") from error
    except ValueError as error:
        raise SettingsError(f"{path}: a number in it has too many digits") from error
    except RecursionError as error:
        raise SettingsError(f"{path}: its tables or lists are nested too deeply") from error


def _require_numbers_that_can_be_written(data: dict[str, Any]) -> None:
    """Raise `ValueError` where a number in 0x, 0o or 0b is too long to be written in decimals."""
    left: list[Any] = [data]
    while left:
        value = left.pop()
        if isinstance(value, dict):
            left += value.values()
        elif isinstance(value, list):
            left += value
        elif isinstance(value, int):
            str(value)


def _settings(path: Path, wire: _StudyFile) -> StudySettings:
    """Check what the sections say; raise all that is wrong with them at once."""
    faults: list[SettingsError] = []
    store = _attempt(lambda: _store_place(path, wire.study), faults)
    items = _item_settings(path, wire.items, faults)
    asked_in = wire.judging.language or _language(wire.items)
    systems = _system_settings(path, wire.system, faults, language=asked_in)
    judging = _attempt(
        lambda: read_judging(path, wire.judging, wire.judge, language=asked_in), faults
    )
    labelers = _attempt(lambda: read_labelers(path, wire.labels, wire.labeler, wire.judge), faults)
    has_people = wire.people is not None
    people_labels = _attempt(
        lambda: read_people_labels(path, wire.labels, has_people=has_people), faults
    )
    asked, is_of_items = wire.people, isinstance(wire, _ItemsFile)
    if asked is not None and is_of_items:  # nobody writes or compares there
        asked = asked.model_copy(update={"writers_per_item": 0, "raters_per_pair": 0})
    labels_too = people_labels is not None or is_of_items
    people = _attempt(lambda: read_people(path, asked, labels_too=labels_too), faults)
    faults += _unfocused(path, wire, [system.name for system in systems])
    faults += _unpooled(path, wire, {system.name for system in systems})
    form = USUAL if judging is None else judging.form
    weights = _attempt(lambda: _weights(path, wire.analysis.weights, form), faults)
    if judging is not None and not is_of_items:
        faults += _unjudged(path, systems, judging)
        faults += _unpeopled(path, wire, judging, {system.name for system in systems})
    raise_faults(str(path), faults)
    assert store is not None
    assert judging is not None
    assert weights is not None
    return StudySettings(
        file=path,
        name=wire.study.name,
        seed=wire.study.seed,
        store=store,
        items=items,
        systems=systems,
        judging=judging,
        people=people,
        labelers=labelers or (),
        people_labels=people_labels,
        n_reasons=REASONS if wire.labels is None else wire.labels.reasons,
        max_usd=wire.budget.max_usd,
        weights=weights,
        covariates=path.parent / wire.analysis.covariates if wire.analysis.covariates else None,
        ambiguity=AmbiguityRule(
            consensus=wire.analysis.consensus, split_axes=wire.analysis.split_axes
        ),
        headline=wire.analysis.headline,
        assume_random=wire.analysis.assume_random,
        against=wire.analysis.against,
        fail_on_missing=wire.study.fail_on_missing,
        stop_wait_s=wire.study.stop_wait_s,
        is_simulated=wire.study.simulated,
        engine=wire.engine,
        pool=wire.pool,
    )


def _unfocused(path: Path, wire: _StudyFile, names: Sequence[str]) -> list[SettingsError]:
    """Return what is wrong with whom the answer is about, and whom it compares with."""
    against, n_mine = wire.analysis.against, sum(entry.mine for entry in wire.system)
    faults = []
    if n_mine > 1:
        words = f"system: {n_mine} say mine = true; the answer leads with one: remove"
        words += " the line from the others"
        faults.append(SettingsError(f"{path}: {words}"))
    if against is not None and len(names) == len(wire.system) and against not in names:
        words = f"analysis.against: there is no system {against!r}; one of: {', '.join(names)}"
        faults.append(SettingsError(f"{path}: {words}", ids=(against,)))
    return faults


def _unpooled(path: Path, wire: _StudyFile, names: Collection[str]) -> list[SettingsError]:
    """Return what is wrong with the board that a study continues."""
    if wire.pool is None:
        words = 'judging.design = "newcomers" is for a study that continues a released board:'
        words += " make one with `heart init DIR --from RELEASE`"
        is_new = wire.judging.design == "newcomers"
        return [SettingsError(f"{path}: {words}", ids=("judging.design",))] if is_new else []
    if wire.judging.design != "newcomers" and wire.judging.protocol != "rating":
        words = '[pool]: whose systems are frozen needs judging.design = "newcomers"; where the'
        words += " whole board is to be compared again, remove [pool]"
        return [SettingsError(f"{path}: {words}", ids=("judging.design",))]
    there = {*names, *([] if wire.people is None else [wire.people.name])}
    gone = [name for name in wire.pool.systems if name not in there]
    words = "pool.systems: the released board has {!r}, and the study file has no such system any"
    words += " more; put it back as it was"
    return [SettingsError(f"{path}: {words.format(one)}", ids=(one,)) for one in gone]


def _attempt(read: Callable[[], _Read], faults: list[SettingsError]) -> _Read | None:
    """Return what is read, or None after noting its fault."""
    try:
        return read()
    except SettingsError as fault:
        faults.append(fault)
        return None


def _store_place(path: Path, study: _Study) -> str:
    place = os.environ.get("HEART_STORE") or study.store or f"{study.name}.db"
    if "://" in place and not place.startswith("sqlite:"):
        return place
    place = place.removeprefix("sqlite:///")
    if NO_PATH.search(place):
        raise SettingsError(
            f"{path}: study.store or HEART_STORE is neither a path nor an address such as "
            "postgresql://USER@HOST/DATABASE",
            ids=("study.store",),
        )
    found = path.parent / place
    names = {f"{study.name}.{ending}" for ending in WRITTEN} | {path.name}
    if found.name in names and found.parent.resolve() == path.parent.resolve():
        raise SettingsError(
            f"{path}: study.store is {found.name}, which is written or read as something else; name"
            f" another file, such as {study.name}.db",
            ids=("study.store",),
        )
    return str(found)


def _item_settings(
    path: Path, tables: list[Items], faults: list[SettingsError]
) -> tuple[ItemSettings, ...]:
    """Read the tables of items, and note the faults of those that cannot be."""
    names = ["items"] if len(tables) == 1 else [f"items.{n}" for n in range(1, len(tables) + 1)]
    found = [
        _attempt(partial(read_items, path, name, table), faults)
        for name, table in zip(names, tables, strict=True)
    ]
    return tuple(table for table in found if table is not None)


def _language(tables: Sequence[Items]) -> str:
    """Return in which language models are asked: that which all items are said to have."""
    said = {language_of(table.language or ENGLISH) for table in tables}
    return said.pop() if len(said) == 1 and said <= {*languages()} else ENGLISH


def _system_settings(
    path: Path, entries: list[System], faults: list[SettingsError], *, language: str
) -> tuple[SystemSettings, ...]:
    """Read the systems, and note the faults of those that cannot be."""

    def read(number: int, entry: System) -> SystemSettings:
        return read_system(f"{path}: system {number}", path.parent, entry, language=language)

    found = [_attempt(partial(read, n, entry), faults) for n, entry in enumerate(entries, start=1)]
    systems = [system for system in found if system is not None]
    names = [system.name for system in systems]
    presets = [system.preset for system in systems if system.preset is not None]
    for key, values in (("name", names), ("preset", presets)):
        repeated = sorted({value for value in values if values.count(value) > 1})
        if repeated:
            words = f"two systems have the {key} {repeated[0]!r}; give each another"
            faults.append(SettingsError(f"{path}: {words}"))
            break
    alike: dict[str, str] = {}
    for name in dict.fromkeys(names):
        other = alike.setdefault(_as_it_looks(name), name)
        if other != name:
            words = f"the systems {other!r} and {name!r} look the same; name them apart"
            faults.append(SettingsError(f"{path}: {words}", ids=(other, name)))
    return tuple(systems)


def _as_it_looks(name: str) -> str:
    """Return what two names share that a reader cannot tell apart."""
    plain = unicodedata.normalize("NFKC", name).translate(LOOK_ALIKE)
    return "".join(c for c in plain if unicodedata.category(c)[0] not in "ZC")


def _weights(path: Path, given: Mapping[Axis, float], form: JudgeForm) -> Mapping[Axis, float]:
    """Return the weights of the five axes, 1 where a file names none."""
    wrong = [axis for axis, weight in given.items() if axis not in AXES or not 0 <= weight < inf]
    found = {axis: float(given.get(axis, 1.0)) for axis in AXES}
    asked = form.axes if form.protocol == "rating" else AXES
    if wrong or not sum(found[axis] for axis in AXES if axis in asked):
        raise SettingsError(
            f"{path}: analysis.weights: expected numbers from 0 for some of {', '.join(AXES)}, not"
            " all of those that are asked about 0; C is never mixed into the five",
            ids=("analysis.weights",),
        )
    return found


def _unjudged(
    path: Path, systems: Sequence[SystemSettings], judging: JudgingSettings
) -> list[SettingsError]:
    """Return a fault for each system that is of the family of every judge."""
    families = {judge.family for judge in judging.judges}
    family = families.pop() if families else None
    if not judging.plan.exclude_own_family or families or family is None:
        return []
    names = " and ".join(judge.name for judge in judging.judges)
    models = [(system.name, system.model or system.imported) for system in systems]
    return [
        SettingsError(
            f"{path}: no judge may judge {name}: {names} and it are of one family, {family!r}; add"
            " a judge of another family, or set judging.exclude_own_family = false and read its"
            " warning",
            ids=("judging.judges",),
        )
        for name, model in models
        if model is not None and model.family == family
    ]


def _unpeopled(
    path: Path, wire: _StudyFile, judging: JudgingSettings, names: Collection[str]
) -> list[SettingsError]:
    """Return what a study lacks without people, or asks of them that its judges are not asked."""
    people, faults = wire.people, []
    writers = 0 if people is None else people.writers_per_item
    raters = 0 if people is None else people.raters_per_pair
    if len(wire.system) + bool(writers) < LEAST_SYSTEMS:
        words = "a study compares at least two systems; add another [[system]]"
        faults.append(SettingsError(f"{path}: {words}", ids=("system",)))
    if not judging.judges and not raters:
        words = "judging.judges: expected at least one entry, or people.raters_per_pair"
        faults.append(SettingsError(f"{path}: {words}", ids=("judging.judges",)))
    if people is not None and writers and people.name in names:
        words = f"people.name: a system is named {people.name!r} too; name them apart"
        faults.append(SettingsError(f"{path}: {words}", ids=("people.name",)))
    if raters and people is not None:
        rate = (people.protocol == "rating", judging.protocol == "rating")
        if rate[0] != rate[1]:
            words = (
                f"people.protocol is {people.protocol!r} and judging.protocol {judging.protocol!r}:"
                " people and judges answer the same kind of question, so both rate or both compare"
            )
            faults.append(SettingsError(f"{path}: {words}", ids=("people.protocol",)))
        if judging.form.names and (people.axis_marks or people.protocol == "rating"):
            words = (
                "judging.rubric names axes of its own, and people are asked about those of"
                " hearteval: results would call both alike; take the names out of the rubric, or"
                ' have people compare without marks (protocol = "five-point")'
            )
            faults.append(SettingsError(f"{path}: {words}", ids=("judging.rubric",)))
    return faults
