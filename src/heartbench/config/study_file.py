"""Study files and the environment -> settings: the only reader of both.

A study file is TOML (DESIGN section 3). Anything unknown in it is an error that names the key, so
that a misspelt setting never becomes a default. Relative paths are relative to the file.
"""

import difflib
import os
import re
import tomllib
import unicodedata
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from heartbench.completions.baselines import BASELINES
from heartbench.domain import content_hash
from heartbench.errors import SettingsError
from heartbench.judgments.plan import PlanPolicy

JUDGES = ("cue",)
DEFAULT_ESCONV_REGULAR = 280
MAX_SHOWN = 60
NO_PATH = re.compile(r"^(postgres\w*|sqlite):|password=|\x00", re.IGNORECASE)
"""What a store's place never holds where it is a path; it is not repeated in messages."""
EXPECTED = {
    "string_pattern_mismatch": "letters, digits, '.', '_' and '-', a letter or digit first",
    "too_short": "at least one entry",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "string_type": "text in quotes",
    "list_type": "a list in brackets",
}
LATER_SECTIONS = {
    "people": "people as writers and raters",
    "analysis": "settings of the analysis",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemSettings:
    """Where the items come from.

    Attributes:
        source: ``starter``, ``esconv``, or ``file``.
        path: The corpus folder or the item file; None for the starter items.
        regular: How many regular items; None takes all there are.
        adversarial: How many adversarial items; None takes all there are.
    """

    source: Literal["starter", "esconv", "file"]
    path: Path | None
    regular: int | None
    adversarial: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemSettings:
    """One competitor: its name in the study and the preset it runs."""

    name: str
    preset: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingSettings:
    """Who judges what: names of LLM judges, their protocol, and the plan."""

    judges: tuple[str, ...]
    protocol: Literal["forced-strength"]
    plan: PlanPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class StudySettings:
    """A study file, checked.

    Attributes:
        file: The study file.
        name: Name of the study.
        seed: Root of all randomness.
        store: Path of the SQLite file, or address of a PostgreSQL database; it may hold a password.
        items: Where the items come from.
        systems: The competitors.
        judging: Who judges what.
        max_usd: Hard limit on spending; None for no limit. Offline studies spend nothing.
    """

    file: Path
    name: str
    seed: int
    store: str = field(repr=False)
    items: ItemSettings
    systems: tuple[SystemSettings, ...]
    judging: JudgingSettings
    max_usd: float | None

    @property
    def settings_hash(self) -> str:
        """SHA-256 over what the file sets; paths apart, which differ between machines."""
        items = {k: v for k, v in asdict(self.items).items() if k != "path"}
        return content_hash(
            {
                "name": self.name,
                "seed": self.seed,
                "items": items,
                "systems": self.systems,
                "judging": self.judging,
                "max_usd": self.max_usd,
            }
        )


def load_study(path: Path) -> StudySettings:
    """Read and check a study file.

    Raises:
        SettingsError: The file cannot be read, is no TOML, or sets something that does not exist;
            one line that says what, where and what to do.
    """
    data = _read_toml(path)
    for section, what in LATER_SECTIONS.items():
        if section in data:
            raise SettingsError(
                f"{path}: [{section}]: this version of heartbench does not have {what} yet; "
                "remove the section",
                ids=(section,),
            )
    try:
        wire = _StudyFile.model_validate(data)
    except ValidationError as error:
        place, message = _first_fault(error)
        raise SettingsError(f"{path}: {message}", ids=(place,)) from error
    return _settings(path, wire)


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _Study(_Section):
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=100)]
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    store: str | None = None


class _Items(_Section):
    source: Annotated[str, Field(min_length=1)]
    from_: Annotated[str | None, Field(alias="from")] = None
    regular: Annotated[int | None, Field(ge=0)] = None
    adversarial: Annotated[int | None, Field(ge=0)] = None


class _System(_Section):
    preset: str | None = None
    name: Annotated[str | None, Field(min_length=1, max_length=100)] = None
    model: str | None = None
    base_url: str | None = None
    family: str | None = None


class _Judging(_Section):
    judges: Annotated[list[str], Field(min_length=1)]
    protocol: Literal["forced-strength"] = "forced-strength"
    design: Literal["full", "balanced"] = "full"
    comparisons: Annotated[int | None, Field(ge=1)] = None
    both_orders: bool = True
    exclude_own_family: bool = True
    stress_items: Annotated[int, Field(ge=0)] = 100
    repeat_pairs: Annotated[int, Field(ge=0)] = 50


class _Budget(_Section):
    max_usd: Annotated[float | None, Field(ge=0, allow_inf_nan=False)] = None


class _StudyFile(_Section):
    study: _Study
    items: _Items
    system: Annotated[list[_System], Field(min_length=2)]
    judging: _Judging
    budget: _Budget = _Budget()


SECTIONS: dict[str, type[BaseModel]] = {
    "study": _Study,
    "items": _Items,
    "system": _System,
    "judging": _Judging,
    "budget": _Budget,
}
"""The sections of a study file, each with its keys."""


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise SettingsError(
            f"{path}: there is no such study file; check the path, or make one: heart init DIR"
        ) from None
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path}: is not UTF-8 text; save it as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path}: is not valid TOML: {error}") from error


def _settings(path: Path, wire: _StudyFile) -> StudySettings:
    return StudySettings(
        file=path,
        name=wire.study.name,
        seed=wire.study.seed,
        store=_store_place(path, wire.study),
        items=_item_settings(path, wire.items),
        systems=_system_settings(path, wire.system),
        judging=_judging_settings(path, wire.judging),
        max_usd=wire.budget.max_usd,
    )


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
    return str(path.parent / place)


def _item_settings(path: Path, items: _Items) -> ItemSettings:
    if items.source == "starter":
        if items.from_ is not None:
            raise SettingsError(f"{path}: items.from: the starter items need no folder; remove it")
        return ItemSettings(
            source="starter", path=None, regular=items.regular, adversarial=items.adversarial
        )
    if items.source == "esconv":
        return _esconv_settings(path, items)
    if items.from_ is not None:
        raise SettingsError(f"{path}: items.from: an item file is named by items.source; remove it")
    file = path.parent / items.source
    if not file.is_file():
        raise SettingsError(
            f"{path}: items.source: expected 'starter', 'esconv' or an item file; there is no "
            f"file {file}"
        )
    return ItemSettings(
        source="file", path=file, regular=items.regular, adversarial=items.adversarial
    )


def _esconv_settings(path: Path, items: _Items) -> ItemSettings:
    if items.from_ is None:
        raise SettingsError(
            f"{path}: items.from: give the folder that holds ESConv's train.jsonl, valid.jsonl "
            "and test.jsonl, or ESConv.json"
        )
    if items.adversarial:
        raise SettingsError(
            f"{path}: items.adversarial: this version cannot rewrite corpus dialogues yet; set "
            "adversarial = 0, or use the starter items"
        )
    folder = path.parent / items.from_
    if not folder.is_dir():
        raise SettingsError(
            f"{path}: items.from: there is no folder {folder}; download ESConv (CC BY-NC 4.0, "
            "github.com/thu-coai/Emotional-Support-Conversation) and name its folder",
            ids=("items.from",),
        )
    regular = DEFAULT_ESCONV_REGULAR if items.regular is None else items.regular
    if regular < 1:
        raise SettingsError(f"{path}: items.regular: expected at least 1 for a corpus, not 0")
    return ItemSettings(source="esconv", path=folder, regular=regular, adversarial=0)


def _system_settings(path: Path, entries: list[_System]) -> tuple[SystemSettings, ...]:
    systems = [
        _one_system(f"{path}: system {number}", entry)
        for number, entry in enumerate(entries, start=1)
    ]
    names = [system.name for system in systems]
    for key, values in (("name", names), ("preset", [system.preset for system in systems])):
        repeated = sorted({value for value in values if values.count(value) > 1})
        if repeated:
            raise SettingsError(
                f"{path}: two systems have the {key} {repeated[0]!r}; give each another"
            )
    return tuple(systems)


def _one_system(where: str, entry: _System) -> SystemSettings:
    if entry.model is not None or entry.base_url is not None:
        raise SettingsError(
            f"{where}: this version runs only systems without a key; use a preset: "
            f"{', '.join(BASELINES)}"
        )
    if entry.preset is None:
        raise SettingsError(f"{where}: preset is missing; one of: {', '.join(BASELINES)}")
    if entry.preset not in BASELINES:
        raise SettingsError(
            f"{where}: preset {entry.preset!r} is not available in this version"
            f"{_guess(entry.preset, BASELINES)}; one of: {', '.join(BASELINES)}"
        )
    if entry.family is not None:
        raise SettingsError(f"{where}: family: a preset brings its own family; remove it")
    name = unicodedata.normalize("NFC", entry.name or entry.preset).strip()
    if not name.isprintable() or not name or name.startswith("stress-"):
        raise SettingsError(
            f"{where}: name: expected visible characters that do not begin with 'stress-'"
        )
    return SystemSettings(name=name, preset=entry.preset)


def _judging_settings(path: Path, judging: _Judging) -> JudgingSettings:
    for judge in judging.judges:
        if judge not in JUDGES:
            raise SettingsError(
                f"{path}: judging.judges: judge {judge!r} is not available in this version; "
                f"one of: {', '.join(JUDGES)}"
            )
    if len(set(judging.judges)) < len(judging.judges):
        raise SettingsError(f"{path}: judging.judges: a judge is listed twice")
    if judging.design == "balanced" and judging.comparisons is None:
        raise SettingsError(
            f"{path}: judging.comparisons: a balanced design needs the number of pairs, e.g. "
            "comparisons = 6000"
        )
    if judging.design == "full" and judging.comparisons is not None:
        raise SettingsError(
            f"{path}: judging.comparisons: a full design compares every pair; remove it, or set "
            'design = "balanced"'
        )
    return JudgingSettings(
        judges=tuple(judging.judges),
        protocol=judging.protocol,
        plan=PlanPolicy(**judging.model_dump(exclude={"judges", "protocol"})),
    )


def _first_fault(error: ValidationError) -> tuple[str, str]:
    """Return the setting at fault and what is wrong with it."""
    fault = error.errors(include_url=False)[0]
    place = ".".join(str(part + 1 if isinstance(part, int) else part) for part in fault["loc"])
    if place.startswith("study.store") or "://" in place:  # it may hold a password
        return "study.store", "study.store: expected one path or address in quotes"
    if fault["type"] == "extra_forbidden":
        known = _known_keys(fault["loc"])
        return place, f"{place}: unknown setting{_guess(str(fault['loc'][-1]), known)}; known: " + (
            ", ".join(known)
        )
    if fault["type"] == "missing":
        return place, f"{place}: is missing; the study file must set it (`heart init` shows how)"
    if place == "system" and fault["type"] == "too_short":
        return place, "a study compares at least two systems; add another [[system]]"
    if fault["type"] in EXPECTED:
        return place, f"{place}: expected {EXPECTED[fault['type']]}, not {fault['input']!r:.60}"
    given = repr(fault["input"])
    shown = given if len(given) <= MAX_SHOWN else f"{given[:MAX_SHOWN]}…"
    message = fault["msg"][:1].lower() + fault["msg"][1:]
    return place, f"{place}: {message}, not {shown}"


def _known_keys(place: tuple[int | str, ...]) -> tuple[str, ...]:
    model = SECTIONS[str(place[0])] if len(place) > 1 else _StudyFile
    return tuple(known.alias or name for name, known in model.model_fields.items())


def _guess(word: str, known: tuple[str, ...]) -> str:
    close = difflib.get_close_matches(word, known, n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""
