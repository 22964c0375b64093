"""Item files and screening files: JSON Lines text to records and back.

The format is described in ``docs/reference/item-files.md``. Every fault is a `SettingsError` of one
line that says the file, the line number, what was expected, what came and what to do. Reading and
writing the file itself is the caller's; dialogue text stays out of the messages.
"""

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from hearteval.domain import PROFILES, Item, Profile, Role, Screening, Subset, Turn
from hearteval.domain.items import Verdict
from hearteval.errors import SettingsError

LANGUAGE_TAG = r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$"
MIN_ADVERSARIAL_TURNS = 8
"""Half of them are the seeker's; with fewer, three of the four profiles coincide."""

_SHOWN_CHARACTERS = 40
_EXPECTED_TYPES = {
    "string_type": "text",
    "int_type": "a whole number",
    "list_type": "a list",
    "model_type": "an object",
    "value_error": "text",
}


def _refuse_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("blank")
    return text


_Text = Annotated[str, AfterValidator(_refuse_blank)]


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _TurnObject(_Line):
    role: Role
    text: _Text


class _ItemLine(_Line):
    source: _Text
    dialogue_id: _Text
    turn_index: Annotated[int, Field(ge=0, lt=2**31)]
    situation: str
    context: list[_TurnObject]
    subset: Subset
    profile: Profile | None = None
    emotion: _Text
    problem: _Text
    culture: _Text | None = None
    population: _Text | None = None
    language: Annotated[str, Field(pattern=LANGUAGE_TAG)]
    licence: _Text
    consent_basis: _Text
    reference: _Text | None = None
    id: str | None = None


class _ScreeningLine(_Line):
    item_id: _Text
    rule: _Text
    verdict: Verdict
    evidence: str
    version: _Text


_LineT = TypeVar("_LineT", bound=_Line)
_RecordT = TypeVar("_RecordT", Item, Screening)


def parse_items(text: str, *, name: str) -> tuple[Item, ...]:
    """Read the items of an item file, in the order of its lines; blank lines are skipped.

    Messages give the file's name.

    Raises:
        SettingsError: A line is not a usable item, two lines are the same item, or there is none.
    """
    return _read_records(text, name, _ItemLine, _to_item)


def format_items(items: Iterable[Item]) -> str:
    """Write items as an item file: one object a line, keys in the documented order, with ids."""
    lines = []
    for item in items:
        wire = {key: getattr(item, key) for key in _ItemLine.model_fields}
        wire["context"] = [{"role": turn.role, "text": turn.text} for turn in item.context]
        lines.append(_format_line(wire))
    return "".join(lines)


def parse_screenings(text: str, *, name: str) -> tuple[Screening, ...]:
    """Read the verdicts of a screening file, in the order of its lines; blank lines are skipped.

    Raises:
        SettingsError: A line is not a usable verdict, one rule judges an item twice, or there is
            no verdict at all.
    """
    return _read_records(
        text, name, _ScreeningLine, lambda line, _where: Screening(**line.model_dump())
    )


def format_screenings(screenings: Iterable[Screening]) -> str:
    """Write verdicts as a screening file: one object a line, without ids."""
    return "".join(
        _format_line({key: getattr(screening, key) for key in _ScreeningLine.model_fields})
        for screening in screenings
    )


def _place(name: str, number: int) -> str:
    return f"{name}, line {number}"


def _fault(where: str, expected: str, got: str, advice: str) -> SettingsError:
    file = where.partition(", line ")[0]
    return SettingsError(f"{where}: expected {expected}, got {got}; {advice}", ids=(file,))


def _read_records(
    text: str, name: str, kind: type[_LineT], make: Callable[[_LineT, str], _RecordT]
) -> tuple[_RecordT, ...]:
    """Read a record a line; refuse one that stood on an earlier line."""
    records: list[_RecordT] = []
    numbers: dict[str, int] = {}
    for number, line in _read_lines(text, name, kind):
        where = _place(name, number)
        record = make(line, where)
        if record.id in numbers:
            got = f"{record.id} again, as in line {numbers[record.id]}"
            raise _fault(where, "each record once", got, "remove one of the two lines")
        numbers[record.id] = number
        records.append(record)
    return tuple(records)


def _read_lines(text: str, name: str, kind: type[_LineT]) -> Iterator[tuple[int, _LineT]]:
    """Yield each line that is not blank with its number, from 1.

    Lines end at a line feed only: ``str.splitlines`` also breaks at characters that JSON allows
    inside a string, such as U+2028.
    """
    is_empty = True
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        is_empty = False
        try:
            _refuse_repeated_keys(line, _place(name, number))
            yield number, kind.model_validate_json(line)
        except ValidationError as error:
            raise _explain(error, _place(name, number), kind) from None
    if is_empty:
        raise _fault(name, "one JSON object a line", "an empty file", "check the path")


def _refuse_repeated_keys(line: str, where: str) -> None:
    def check(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = [key for key, _ in pairs]
        repeated = next((key for key in keys if keys.count(key) > 1), None)
        if repeated is not None:
            raise _fault(where, "each key once", f"{repeated!r} again", "remove one of the two")
        return dict(pairs)

    # What is no JSON at all is explained by the next reading.
    with contextlib.suppress(ValueError, RecursionError):
        json.loads(line, object_pairs_hook=check)


def _explain(error: ValidationError, where: str, kind: type[_Line]) -> SettingsError:
    details = error.errors(include_url=False)
    # A misspelt key is both unknown and missing; the unknown one is what the person can see.
    first = next((d for d in details if d["type"] == "extra_forbidden"), details[0])
    key = _key_path(first["loc"])
    if first["type"] == "extra_forbidden":
        known = kind if len(first["loc"]) == 1 else _TurnObject
        keys = ", ".join(known.model_fields)
        return _fault(where, f"only the keys {keys}", f"{key!r}", "rename or remove it")
    if first["type"] == "missing":
        return _fault(where, f"the key {key!r}", "none", "add it")
    if first["type"] == "json_invalid":
        return _explain_json(first, where)
    got = _describe(first["input"])
    if not key:
        return _fault(where, "one JSON object", got, "write one object a line")
    return _fault(where, f"{_expected(first)} in {key!r}", got, "correct the value")


def _explain_json(details: ErrorDetails, where: str) -> SettingsError:
    reason = str(details["ctx"]["error"]).replace(" at line 1 column", " at column")
    if reason.startswith("EOF"):
        advice = "the line is cut short or broken in two: restore it, one object a line"
    else:
        advice = "correct the line, one object a line"
    return _fault(where, "one JSON object", f"invalid JSON ({reason})", advice)


def _expected(details: ErrorDetails) -> str:
    if details["type"] == "literal_error":
        return str(details["ctx"]["expected"])
    if details["type"] in ("greater_than_equal", "less_than"):
        return "a whole number from 0, below 2147483648"
    if details["type"] == "string_pattern_mismatch":
        return "a language tag such as en or pt-BR"
    return _EXPECTED_TYPES.get(details["type"], details["msg"])


def _key_path(location: tuple[int | str, ...]) -> str:
    """Write a pydantic location as people do, e.g. ``context[2].text``."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)
    return "".join(parts).removeprefix(".")


def _describe(value: object) -> str:
    """Say in a few words what a JSON value is, without line breaks."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, str) and not value.strip():
        return "empty text"
    if isinstance(value, str) and (len(value) > _SHOWN_CHARACTERS or " " in value):
        return f"text of {len(value)} characters"  # it may be somebody's words
    return json.dumps(value, ensure_ascii=False)


def _to_item(line: _ItemLine, where: str) -> Item:
    _check_context(line, where)
    _check_subset(line, where)
    fields = line.model_dump(exclude={"context", "id"})
    context = tuple(Turn(role=turn.role, text=turn.text) for turn in line.context)
    item = Item(**fields, context=context)
    if line.id is not None and line.id != item.id:
        advice = "remove the id if the item was changed on purpose, else restore the item"
        raise _fault(where, f"the id {item.id}", _describe(line.id), advice)
    return item


def _check_context(line: _ItemLine, where: str) -> None:
    expected = "a context that ends with a seeker turn"
    if not line.context:
        raise _fault(where, expected, "no turns", "add the dialogue history")
    if line.context[-1].role != "seeker":
        advice = "cut the context after the seeker's turn"
        raise _fault(where, expected, "a supporter turn at its end", advice)
    for index, (one, other) in enumerate(pairwise(line.context)):
        if one.role == other.role:
            got = f"two {one.role} turns in a row, context[{index}] and context[{index + 1}]"
            advice = "merge neighbouring turns of one role first"
            raise _fault(where, "turns that alternate", got, advice)


def _check_subset(line: _ItemLine, where: str) -> None:
    if line.subset == "adversarial":
        _check_adversarial(line, where)
    elif line.profile is not None:
        advice = "set profile to null, or subset to adversarial"
        raise _fault(where, "no profile on a regular item", f'"{line.profile}"', advice)


def _check_adversarial(line: _ItemLine, where: str) -> None:
    if line.profile is None:
        expected = f"a profile on an adversarial item ({', '.join(PROFILES)})"
        raise _fault(where, expected, "null", "name the profile the item follows")
    if line.reference is not None:
        advice = "set it to null: the corpus's next turn answers the turn before rewriting"
        raise _fault(where, "no reference on an adversarial item", "one", advice)
    if line.context[0].role != "supporter":
        advice = "start the context with the supporter's greeting"
        expected = "a supporter turn first in an adversarial item"
        raise _fault(where, expected, "a seeker turn", advice)
    if len(line.context) < MIN_ADVERSARIAL_TURNS:
        expected = f"at least {MIN_ADVERSARIAL_TURNS} turns in an adversarial item"
        advice = "take a longer dialogue: in a shorter one the profiles coincide"
        raise _fault(where, expected, str(len(line.context)), advice)


def _format_line(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"
