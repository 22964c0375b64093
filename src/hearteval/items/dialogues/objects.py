"""Dialogues as JSON objects with a list of turns, one a line or in one list.

Read are ``{"turns": [{"role": …, "text": …}]}``, the ``messages`` with ``role`` and ``content`` of
chat interfaces, and lists of text that begin with who speaks.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hearteval.items.dialogues.spoken import (
    LABELS,
    DialogueNames,
    Findings,
    Said,
    Spoken,
    folded,
)
from hearteval.items.dialogues.table import COLUMNS
from hearteval.items.dialogues.text import split_turn
from hearteval.items.files import holds_canary

TURNS = ("turns", "messages", "conversations", "conversation", "dialog", "dialogue")
REFERENCE = "reference"


def holds_turns(text: str) -> bool:
    """Say whether JSON text holds dialogues rather than items: its first object has turns."""
    for _, value, _ in _entries(text):
        if isinstance(value, dict) and not holds_canary(value):
            return "context" not in value and _turns_key(value) is not None
    return False


def parse_objects(text: str, names: DialogueNames, findings: Findings) -> list[Spoken]:
    """Read the dialogues of JSON text."""
    findings.noun = "line" if _whole(text) is None else "entry"
    dialogues = []
    for place, value, problem in _entries(text):
        key = _turns_key(value) if isinstance(value, dict) else None
        if holds_canary(value):
            continue
        if problem:
            findings.fault(place, f"is no JSON ({problem}); write one object a line")
        elif key is None:
            findings.fault(place, f"expected an object with one list of {' or '.join(TURNS[:2])}")
        elif (now := _read_dialogue(value, key, place, names, findings)) is not None:
            dialogues.append(now)
    return dialogues


def _read_dialogue(
    value: Mapping[str, Any], key: str, place: int, names: DialogueNames, findings: Findings
) -> Spoken | None:
    """Read one dialogue; None where a turn of it has a fault, which is noted."""
    now = Spoken(place=place)
    _read_labels(now, {k: v for k, v in value.items() if k != key}, names, findings)
    said = [_read_turn(turn, place, n, names, findings) for n, turn in enumerate(value[key], 1)]
    now.turns = [turn for turn in said if turn is not None]
    reference = value.get(REFERENCE)
    if isinstance(reference, str):
        now.turns.append(Said(who=REFERENCE, text=reference, place=place))
    elif reference is not None:
        findings.fault(place, f"expected text in {REFERENCE!r}; write it in quotes")
    return None if None in said else now


def _whole(text: str) -> list[Any] | None:
    """Return the objects of one list, or one object over several lines; None of one a line."""
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, list):
        return value
    return [value] if "\n" in text.strip() else None


def _entries(text: str) -> Iterator[tuple[int, Any, str]]:
    """Yield each value with its line, or its number in a list, and what is wrong with it."""
    whole = _whole(text)
    if whole is not None:
        yield from ((number, value, "") for number, value in enumerate(whole, start=1))
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield number, _DECODER.decode(line), ""
            except (ValueError, RecursionError) as error:
                yield number, None, str(error).replace("line 1 column", "column")


def _refuse_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("one key twice")
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=_refuse_repeated_keys)


def _turns_key(value: Mapping[str, Any]) -> str | None:
    found = [key for key in TURNS if isinstance(value.get(key), list)]
    return found[0] if len(found) == 1 else None


def _read_labels(
    now: Spoken, given: Mapping[str, Any], names: DialogueNames, findings: Findings
) -> None:
    ids = COLUMNS["dialogue"] if names.dialogue is None else (folded(names.dialogue),)
    for key, value in given.items():
        field = "dialogue_id" if folded(key) in ids else LABELS.get(folded(key))
        if key == REFERENCE or value is None:
            continue
        if field is None:
            findings.unused += [] if key in findings.unused else [key]
        elif isinstance(value, str | int):
            now.labels[field] = str(value).strip()
        else:
            findings.fault(now.place, f"expected text in {key!r}; write it in quotes")


def _read_turn(
    turn: Any, place: int, number: int, names: DialogueNames, findings: Findings
) -> Said | None:
    """Read the turn of a dialogue; None where it has a fault, which is noted."""
    if isinstance(turn, str) and (split := split_turn(turn)) is not None:
        return Said(who=split[0], text=split[1], place=place)
    if isinstance(turn, dict):
        who = _value(turn, COLUMNS["role"] if names.role is None else (names.role,))
        text = _value(turn, COLUMNS["text"] if names.text is None else (names.text,))
        text = _text_of(text)
        if isinstance(who, str) and text is not None:
            return Said(who=who, text=text, place=place)
    findings.fault(
        place,
        f'turn {number} is neither {{"role": "seeker", "text": "…"}} nor "Seeker: …"; write it so,'
        " or name its keys: items.role_column and items.text_column in the study file",
    )
    return None


def _value(turn: Mapping[str, Any], known: Iterable[str]) -> Any:
    """Return what a turn has under one of some keys; None where it has none or several."""
    found = [value for key, value in turn.items() if folded(key) in {folded(k) for k in known}]
    return found[0] if len(found) == 1 else None


def _text_of(content: Any) -> str | None:
    """Return the text of a turn, also where it comes in parts as chat interfaces have them."""
    if isinstance(content, list):
        parts = [part.get("text") if isinstance(part, dict) else None for part in content]
        texts = [part for part in parts if isinstance(part, str)]
        return "".join(texts) if len(texts) == len(parts) else None
    return content if isinstance(content, str) else None
