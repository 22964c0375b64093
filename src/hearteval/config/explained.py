"""What is wrong with a settings file, in the words of who wrote it: from pydantic's errors."""

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from hearteval.config.model_settings import guess_meant
from hearteval.errors import SettingsError, raise_faults

MAX_SHOWN = 60
EXPECTED = {
    "string_pattern_mismatch": "letters, digits, '.', '_' and '-', a letter or digit first",
    "too_short": "at least one entry",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "string_type": "text in quotes",
    "list_type": "a list in brackets",
    "model_type": "one section, its name in single brackets",
}


def raise_explained(
    path: Path,
    error: ValidationError,
    sections: Mapping[str, type[BaseModel]],
    data: Mapping[str, Any],
    *,
    is_one_table: bool = True,
) -> NoReturn:
    """Raise what is wrong with a file of these sections, in words; `data` is what it says.

    Raises:
        SettingsError: A line for each fault.
    """
    explained = _explain(error, sections, data, is_one_table=is_one_table)
    faults = [SettingsError(f"{path}: {said}", ids=(place,)) for place, said in explained]
    raise_faults(str(path), faults)
    raise error


def _explain(
    error: ValidationError,
    sections: Mapping[str, type[BaseModel]],
    data: Mapping[str, Any],
    *,
    is_one_table: bool,
) -> list[tuple[str, str]]:
    """Return each setting at fault and what is wrong with it, once.

    The one table of items has no number.
    """
    faults = error.errors(include_url=False)
    if is_one_table:
        for fault in faults:
            if fault["loc"][:2] == ("items", 0):
                fault["loc"] = ("items", *fault["loc"][2:])
    # What is missing may stand there under another name: that is the better clue.
    misnamed = [
        next((m for m in faults if _is_misspelt_as(m, other)), None)
        for other in faults
        if other["type"] == "extra_forbidden"
    ]
    return list(
        dict.fromkeys(
            _explain_one(fault, sections, data) for fault in faults if fault not in misnamed
        )
    )


def _is_misspelt_as(missing: ErrorDetails, other: ErrorDetails) -> bool:
    """Say whether an unknown setting looks like the one that is missing in its section."""
    (*section, name), (*place, given) = missing["loc"], other["loc"]
    is_near = bool(get_close_matches(str(given), [str(name)]))
    return missing["type"] == "missing" and section == place and is_near


def _explain_one(
    fault: ErrorDetails, sections: Mapping[str, type[BaseModel]], data: Mapping[str, Any]
) -> tuple[str, str]:
    """Return the setting at fault and what is wrong with it."""
    place = ".".join(str(part + 1 if isinstance(part, int) else part) for part in fault["loc"])
    if place.startswith("study.store") or "://" in place:  # it may hold a password
        return "study.store", "study.store: expected one path or address in quotes"
    if fault["type"] == "extra_forbidden":
        known = _known_keys(fault["loc"], sections)
        guess = guess_meant(str(fault["loc"][-1]), known)
        of = _named(fault["loc"], data)
        return place, f"{place}{of}: unknown setting{guess}; known: {', '.join(known)}"
    if fault["type"] == "missing":
        return place, f"{place}: is missing; the study file must set it (`heart init` shows how)"
    if fault["type"] in EXPECTED:
        return place, f"{place}: expected {EXPECTED[fault['type']]}, not {fault['input']!r:.60}"
    given = repr(fault["input"])
    shown = given if len(given) <= MAX_SHOWN else f"{given[:MAX_SHOWN]}…"
    message = fault["msg"][:1].lower() + fault["msg"][1:]
    return place, f"{place}: {message}, not {shown}"


def _named(place: tuple[int | str, ...], data: Mapping[str, Any]) -> str:
    """Say which of several systems or judges is meant, by what its entry calls it."""
    if len(place) < 2 or not isinstance(place[1], int):
        return ""
    entry = data[str(place[0])][place[1]]
    name = next((entry[key] for key in ("name", "preset", "model") if entry.get(key)), None)
    return "" if name is None else f" (of {str(name).rpartition('/')[2]:.{MAX_SHOWN}})"


def _known_keys(
    place: tuple[int | str, ...], sections: Mapping[str, type[BaseModel]]
) -> tuple[str, ...]:
    if len(place) == 1:
        return tuple(sections)
    inner = ".".join(part for part in place[:-1] if isinstance(part, str))
    fields = sections.get(inner, sections[str(place[0])]).model_fields
    return tuple(known.alias or name for name, known in fields.items())
