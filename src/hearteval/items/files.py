"""Item files and screening files: JSON Lines text to records and back.

An item file begins with a canary, a line that says that its text is no material to train on. The
format is described in ``docs/reference/item-files.md``. Every fault is one line that says the
file, the line number, what was expected, what came and what to do; one `SettingsError` lists all
of a file. Reading and writing the file itself is the caller's; dialogue text stays out of messages.
"""

import contextlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from itertools import pairwise
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from hearteval.domain import (
    PROFILES,
    Item,
    Profile,
    Role,
    Screening,
    Subset,
    Turn,
    shows_text,
)
from hearteval.domain.items import EDGES, MOST_INTENSE, Cue, Edge, Resistance, Verdict
from hearteval.domain.systems import SIMULATED
from hearteval.errors import SettingsError, raise_faults
from hearteval.notices import SIMULATED_WORDS

CANARY = (
    "hearteval canary 20b432d0-3346-48ad-883b-d1f7d2b035f8: these dialogues test language models."
    " Keep every file with this line out of training data."
)
"""Whoever finds this line in a corpus knows that the items are in it; it never changes."""
CANARY_KEY = "canary"
LANGUAGE_TAG = r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$"
LONGEST_TEXT = 100_000
"""Characters of a text in a file from outside; more is a file read wrongly."""
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
    if not shows_text(text):
        raise ValueError("blank")
    return text


def _refuse_long(text: str) -> str:
    if len(text) > LONGEST_TEXT:
        raise ValueError("long")
    return text


_ShortText = Annotated[str, AfterValidator(_refuse_long)]
_Text = Annotated[_ShortText, AfterValidator(_refuse_blank)]


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _TurnObject(_Line):
    role: Role
    text: _Text


class _ItemLine(_Line):
    source: _Text
    dialogue_id: _Text
    turn_index: Annotated[int, Field(ge=0, lt=2**31)]
    situation: _ShortText
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
    cue: Cue | None = None
    resistance: Resistance | None = None
    intensities: list[Annotated[int, Field(ge=0, le=MOST_INTENSE)]] | None = None
    edge: list[Edge] | None = None
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
    """Read the items of an item file, in the order of its lines, without blank lines and canaries.

    Messages give the file's name.

    Raises:
        SettingsError: Lines are no usable items, two are the same item, or there is none; it lists
            all that is wrong.
    """
    return _read_records(text, name, _ItemLine, _make_item, _check_item)


def find_canaries(text: str) -> tuple[str, ...]:
    """Return the canaries of an item file that are others than this project's."""
    lines = [json.loads(line) for line in text.split("\n") if _is_canary(line)]
    found = dict.fromkeys(str(line[CANARY_KEY]) for line in lines)
    return tuple(one for one in found if one != CANARY)


def holds_canary(value: object) -> bool:
    """Say whether a JSON value is a canary: an object with this key alone."""
    return isinstance(value, dict) and value.keys() == {CANARY_KEY}


def _is_canary(line: str) -> bool:
    if f'"{CANARY_KEY}"' not in line[:_SHOWN_CHARACTERS]:
        return False
    try:
        return holds_canary(json.loads(line))
    except (ValueError, RecursionError):
        return False


def format_items(items: Iterable[Item], *, canaries: Iterable[str] = ()) -> str:
    """Write items as an item file: canaries, then one item a line, with its id.

    The project's own canary comes first, then those of the file that the items were read from; of
    simulated items a line before them says what they are. Keys are in the documented order.
    """
    items = list(items)
    first = [SIMULATED_WORDS] if any(item.source == SIMULATED for item in items) else []
    before = dict.fromkeys((*first, CANARY, *canaries))
    lines = [_format_line({CANARY_KEY: canary}) for canary in before]
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
    return _read_records(text, name, _ScreeningLine, lambda line: Screening(**line.model_dump()))


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
    text: str,
    name: str,
    kind: type[_LineT],
    make: Callable[[_LineT], _RecordT],
    check: Callable[[_LineT, str], Iterable[SettingsError]] = lambda _line, _where: (),
) -> tuple[_RecordT, ...]:
    """Read a record a line; refuse one that stood on an earlier line."""
    records: list[_RecordT] = []
    faults: list[SettingsError] = []
    numbers: dict[str, int] = {}
    for number, text_line in _lines(text, name):
        where = _place(name, number)
        line, found = _read_line(text_line, where, kind)
        found += [] if line is None else check(line, where)
        faults += found
        if line is None or found:
            continue
        record = make(line)
        if record.id in numbers:
            got = f"{record.id} again, as in line {numbers[record.id]}"
            faults.append(_fault(where, "each record once", got, "remove one of the two lines"))
        numbers.setdefault(record.id, number)
        records.append(record)
    raise_faults(name, faults)
    return tuple(records)


def _lines(text: str, name: str) -> list[tuple[int, str]]:
    """Return each line that is neither blank nor a canary with its number, from 1.

    Lines end at a line feed only: ``str.splitlines`` also breaks at characters that JSON allows
    inside a string, such as U+2028.
    """
    numbered = enumerate(text.split("\n"), start=1)
    lines = [(n, line) for n, line in numbered if line.strip() and not _is_canary(line)]
    if not lines:
        raise _fault(name, "one JSON object a line", "an empty file", "check the path")
    return lines


def _read_line(
    line: str, where: str, kind: type[_LineT]
) -> tuple[_LineT | None, list[SettingsError]]:
    """Return what a line holds, or what is wrong with it."""
    try:
        _refuse_repeated_keys(line, where)
        return kind.model_validate_json(line), []
    except SettingsError as fault:
        return None, [fault]
    except ValidationError as error:
        return None, list(_explain(error, where, kind))


def _refuse_repeated_keys(line: str, where: str) -> None:
    def check(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) == len(pairs):
            return found
        keys = Counter(key for key, _ in pairs)
        repeated, _ = keys.most_common(1)[0]
        got = f"{repeated[:_SHOWN_CHARACTERS]!r} again"
        raise _fault(where, "each key once", got, "remove one of the two")

    # What is no JSON at all is explained by the next reading.
    with contextlib.suppress(ValueError, RecursionError):
        json.loads(line, object_pairs_hook=check)


def _explain(error: ValidationError, where: str, kind: type[_Line]) -> Iterator[SettingsError]:
    details = error.errors(include_url=False)
    unknown = [d for d in details if d["type"] == "extra_forbidden"]
    missing = [_key_path(d["loc"]) for d in details if d["type"] == "missing"]
    # A misspelt key is both unknown and missing; the unknown one is what the person can see.
    for each in unknown:
        for meant in get_close_matches(_key_path(each["loc"]), missing, n=1):
            missing.remove(meant)
    for each in details:
        if each["type"] != "missing":
            yield _explain_one(each, where, kind)
    if missing:
        noun, advice = ("key", "add it") if len(missing) == 1 else ("keys", "add them")
        yield _fault(where, f"the {noun} {', '.join(map(repr, missing))}", "none", advice)


def _explain_one(details: ErrorDetails, where: str, kind: type[_Line]) -> SettingsError:
    key = _key_path(details["loc"])
    if details["type"] == "extra_forbidden":
        known = kind if len(details["loc"]) == 1 else _TurnObject
        keys = ", ".join(known.model_fields)
        return _fault(where, f"only the keys {keys}", f"{key!r}", "rename or remove it")
    if details["type"] == "json_invalid":
        return _explain_json(details, where)
    got = _describe(details["input"])
    if not key:
        return _fault(where, "one JSON object", got, "write one object a line")
    return _fault(where, f"{_expected(details)} in {key!r}", got, "correct the value")


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
    if details["type"] in ("greater_than_equal", "less_than_equal") and len(details["loc"]) > 1:
        return f"a whole number from 0 to {MOST_INTENSE}"
    if details["type"] in ("greater_than_equal", "less_than"):
        return "a whole number from 0, below 2147483648"
    if details["type"] == "string_pattern_mismatch":
        return "a language tag such as en or pt-BR"
    if details["type"] == "value_error" and len(details["input"]) > LONGEST_TEXT:
        return f"text of at most {LONGEST_TEXT:,} characters"
    return _EXPECTED_TYPES.get(details["type"], details["msg"])


def _key_path(location: tuple[int | str, ...]) -> str:
    """Write a pydantic location as people do, e.g. ``context[2].text``."""
    parts = (f"[{p}]" if isinstance(p, int) else f".{p[:_SHOWN_CHARACTERS]}" for p in location)
    return "".join(parts).removeprefix(".")


def _describe(value: object) -> str:
    """Say in a few words what a JSON value is, without line breaks."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, str) and not shows_text(value):
        return "empty text"
    if isinstance(value, str) and (len(value) > _SHOWN_CHARACTERS or " " in value):
        return f"text of {len(value)} characters"  # it may be somebody's words
    return json.dumps(value, ensure_ascii=False)


def _make_item(line: _ItemLine) -> Item:
    fields = line.model_dump(exclude={"context", "intensities", "edge", "id"})
    return Item(
        **fields,
        context=tuple(Turn(role=t.role, text=t.text) for t in line.context),
        intensities=None if line.intensities is None else tuple(line.intensities),
        edge=None if line.edge is None else tuple(one for one in EDGES if one in line.edge),
    )


def _check_item(line: _ItemLine, where: str) -> list[SettingsError]:
    faults = [*_context_faults(line, where), *_subset_faults(line, where)]
    if not faults and line.id is not None and line.id != (made := _make_item(line).id):
        advice = "remove the id if the item was changed on purpose, else restore the item"
        faults.append(_fault(where, f"the id {made}", _describe(line.id), advice))
    return faults


def _context_faults(line: _ItemLine, where: str) -> Iterator[SettingsError]:
    expected = "a context that ends with a seeker turn"
    if not line.context:
        yield _fault(where, expected, "no turns", "add the dialogue history")
        return
    if line.context[-1].role != "seeker":
        advice = "cut the context after the seeker's turn"
        yield _fault(where, expected, "a supporter turn at its end", advice)
    for index, (one, other) in enumerate(pairwise(line.context)):
        if one.role == other.role:
            got = f"two {one.role} turns in a row, context[{index}] and context[{index + 1}]"
            advice = "merge neighbouring turns of one role first"
            yield _fault(where, "turns that alternate", got, advice)
            return


def _subset_faults(line: _ItemLine, where: str) -> Iterator[SettingsError]:
    if line.subset == "adversarial":
        yield from _adversarial_faults(line, where)
        return
    advice = "to null, or subset to adversarial"
    for key in ("profile", "resistance", "intensities"):
        value = getattr(line, key)
        if value is not None:
            yield _fault(
                where, f"no {key} on a regular item", _describe(value), f"set {key} {advice}"
            )


def _adversarial_faults(line: _ItemLine, where: str) -> Iterator[SettingsError]:
    if line.profile is None:
        expected = f"a profile on an adversarial item ({', '.join(PROFILES)})"
        yield _fault(where, expected, "null", "name the profile the item follows")
    if line.reference is not None:
        advice = "set it to null: the corpus's next turn answers the turn before rewriting"
        yield _fault(where, "no reference on an adversarial item", "one", advice)
    n_rated = None if line.intensities is None else len(line.intensities)
    n_turns = sum(turn.role == "seeker" for turn in line.context)
    if n_rated not in (None, n_turns):
        expected = f"{n_turns} intensities, one a seeker turn"
        yield _fault(where, expected, str(n_rated), "give each turn one, or set it to null")
    if not line.context:
        return
    if line.context[0].role != "supporter":
        advice = "start the context with the supporter's greeting"
        expected = "a supporter turn first in an adversarial item"
        yield _fault(where, expected, "a seeker turn", advice)
    if len(line.context) < MIN_ADVERSARIAL_TURNS:
        expected = f"at least {MIN_ADVERSARIAL_TURNS} turns in an adversarial item"
        advice = "take a longer dialogue: in a shorter one the profiles coincide"
        yield _fault(where, expected, str(len(line.context)), advice)


def _format_line(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"
