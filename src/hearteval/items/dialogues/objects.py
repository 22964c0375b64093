"""Dialogues as JSON objects with a list of turns, one a line or in one list.

Read are ``{"turns": [{"role": …, "text": …}]}``, the ``messages`` with ``role`` and ``content`` of
chat interfaces, and lists of text that begin with who speaks.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from hearteval.items.dialogues.looks import find_marks, seem_columns, seems_id
from hearteval.items.dialogues.spoken import (
    LABELS,
    REFERENCE,
    DialogueNames,
    Findings,
    Said,
    Spoken,
    folded,
)
from hearteval.items.dialogues.table import COLUMNS, looks_like
from hearteval.items.dialogues.text import read_transcript, split_turn
from hearteval.items.files import holds_canary

TURNS = ("turns", "messages", "conversations", "conversation", "dialog", "dialogue")


OF_ITEMS = ("context", "turn_index", "subset")
"""Keys that dialogues of one's own hardly have."""


def holds_turns(text: str, names: DialogueNames) -> bool:
    """Say whether JSON text holds dialogues rather than items: its first object has turns."""
    for _, value, _ in _entries(text):
        if isinstance(value, dict) and not holds_canary(value):
            return names.turns is not None or (
                "context" not in value
                and (_turns_key(value, None) is not None or _seems_dialogue(value))
            )
    return False


def parse_objects(text: str, findings: Findings) -> list[Spoken]:
    """Read the dialogues of JSON text."""
    findings.noun = "line" if _whole(text) is None else "entry"
    entries = [entry for entry in _entries(text) if not holds_canary(entry[1])]
    objects = [(place, value) for place, value, _ in entries if isinstance(value, dict)]
    _propose_keys(objects, findings)
    names, dialogues = findings.names, []
    for field, name in names.labels:
        if not any(name in value for _, value in objects):
            findings.fault(0, f"no entry has the key {name!r}, named as {field}_column")
    for place, value, problem in entries:
        key = _turns_key(value, names.turns) if isinstance(value, dict) else None
        if problem:
            findings.fault(place, f"is no JSON ({problem}); write one object a line")
        elif key is None:
            wanted = names.turns or " or ".join(TURNS[:2])
            advice = "" if names.turns else '; name yours: turns_key = "KEY"'
            findings.fault(place, f"expected an object with one list of {wanted}{advice}")
        else:
            dialogues += _read_dialogue(value, key, place, findings)
    return dialogues


def _propose_keys(objects: Sequence[tuple[int, dict[str, Any]]], findings: Findings) -> None:
    """Go on as if the keys of turns that seem to be meant had been named."""
    names = findings.names
    place, first = next(iter(objects), (0, {}))
    turns = names.turns
    if turns is None and _turns_key(first, None) is None:
        turns = _seems_turns(first)
    if turns is not None and names.turns is None:
        findings.fault(place, f"{turns!r} looks like the list of turns")
        others = {key: [str(one.get(key, "")) for _, one in objects] for key in first}
        others = {key: cells for key, cells in others.items() if key != turns}
        is_named = names.dialogue is not None or any(
            folded(key) in COLUMNS["dialogue"] or LABELS.get(folded(key)) == "dialogue_id"
            for key in others
        )
        key = None if is_named else seems_id(others)
        findings.propose(turns=turns, **({} if key is None else {"dialogue": key}))
    said = [
        turn
        for _, one in objects
        if (key := _turns_key(one, turns)) is not None and isinstance(one[key], list)
        for turn in one[key]
        if isinstance(turn, dict)
    ]
    cells: dict[str, list[str]] = {}
    for turn in said:
        for name, text in turn.items():
            if isinstance(text, str):
                cells.setdefault(name, []).append(text.strip())
    cells = {name: texts for name, texts in cells.items() if len(texts) == len(said)}
    known = {"role": names.role, "text": names.text}
    lacking = [
        what
        for what, named in known.items()
        if said and named is None and _value(said[0], COLUMNS[what]) is None
    ]
    seem = seem_columns(cells, lacking)
    if lacking and len(seem) == len(lacking):
        there = f"{', '.join(said[0])}{looks_like(seem)}"
        findings.fault(place, f"no key for the {', the '.join(lacking)} of a turn, among: {there}")
        findings.propose(**seem)


def _seems_turns(value: Mapping[str, Any]) -> str | None:
    """Return which key of an object seems to hold its turns: a list of them, or a transcript."""
    for key, held in value.items():
        if isinstance(held, str) and find_marks([held]):
            return key
        if isinstance(held, list) and held:
            are_texts = all(isinstance(one, str) and split_turn(one) is not None for one in held)
            if are_texts or all(isinstance(one, dict) and _has_texts(one) for one in held):
                return key
    return None


def _seems_dialogue(value: Mapping[str, Any]) -> bool:
    """Say whether an object is rather a dialogue than an item with a fault."""
    holds_lists = any(isinstance(held, list) for held in value.values())
    return value.keys().isdisjoint(OF_ITEMS) and (holds_lists or _seems_turns(value) is not None)


def _has_texts(turn: Mapping[str, Any]) -> bool:
    return sum(isinstance(one, str) for one in turn.values()) > 1


def _read_dialogue(
    value: Mapping[str, Any], key: str, place: int, findings: Findings
) -> list[Spoken]:
    """Read one dialogue; none where a turn of it has a fault, which is noted."""
    names, held = findings.names, value[key]
    now = Spoken(place=place)
    _read_labels(now, {k: v for k, v in value.items() if k != key}, names, findings)
    if isinstance(held, str):
        marks = (*find_marks([held]), *findings.named_as_written)
        return read_transcript(held, marks, now.labels, place, findings)
    said = [_read_turn(turn, place, n, names, findings) for n, turn in enumerate(held, 1)]
    now.turns = [turn for turn in said if turn is not None]
    return [] if None in said else [now]


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


def _turns_key(value: Mapping[str, Any], named: str | None) -> str | None:
    if named is not None:
        return named if isinstance(value.get(named), list | str) else None
    found = [key for key in TURNS if isinstance(value.get(key), list)]
    return found[0] if len(found) == 1 else None


def _read_labels(
    now: Spoken, given: Mapping[str, Any], names: DialogueNames, findings: Findings
) -> None:
    ids = COLUMNS["dialogue"] if names.dialogue is None else (folded(names.dialogue),)
    for key, value in given.items():
        field = "dialogue_id" if folded(key) in ids else LABELS.get(folded(key))
        field = REFERENCE if key == REFERENCE else field
        field = next((label for label, name in names.labels if name == key), field)
        if value is None:
            continue
        if field is None:
            findings.unused += [] if key in findings.unused else [key]
        elif isinstance(value, str if field == REFERENCE else str | int):
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
        " or name its keys: role_column and text_column",
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
