"""Plain dialogues -> items: files of turns and little else, as people and programs write them.

The forms are described in ``docs/how-to/own-items.md``. Whole item files are the business of
`hearteval.items.files`; adversarial items are not written this way, since nothing here says which
profile they follow.
"""

from dataclasses import dataclass
from pathlib import PurePath
from typing import Literal

from hearteval.domain import Item
from hearteval.errors import SettingsError
from hearteval.items.dialogues.objects import holds_turns, parse_objects
from hearteval.items.dialogues.spoken import DialogueNames, Findings, folded, make_items, notes_on
from hearteval.items.dialogues.table import parse_table
from hearteval.items.dialogues.text import parse_text
from hearteval.items.files import find_canaries, parse_items

__all__ = ["DialogueNames", "ItemFile", "parse_any"]

TABLES = (".csv", ".tsv")
OBJECTS = (".jsonl", ".ndjson", ".json")
Form = Literal["items", "text", "table", "objects"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemFile:
    """The items of a file, and how it was read."""

    items: tuple[Item, ...]
    """In the order of the file."""
    form: Form
    """Whole items, or dialogues as text, as a table or as JSON objects."""
    notes: tuple[str, ...] = ()
    """What was done with it and what it does not say, in words; whole items need none."""
    canaries: tuple[str, ...] = ()
    """Of an item file, those that are not this project's."""


def parse_any(text: str, *, name: str, names: DialogueNames | None = None) -> ItemFile:
    """Read the items of a file in whichever form it is.

    Args:
        text: Its content.
        name: Its name: messages give it, and its ending tells tables.
        names: What the file calls its columns and the people in it.

    Raises:
        SettingsError: It lists all that is wrong with the file.
    """
    form = _form(text, name)
    if form == "items":
        items, canaries = parse_items(text, name=name), find_canaries(text)
        return ItemFile(items=items, form=form, canaries=canaries)
    if not text.strip():
        raise SettingsError(f"{name}: is empty; write dialogues into it, or check the path")
    names = names or DialogueNames()
    named = frozenset(map(folded, (*names.seeker, *names.supporter)))
    findings = Findings(file=name, parts=names.parts(), named=named)
    if form == "table":
        dialogues = parse_table(text, names, findings)
    elif form == "objects":
        dialogues = parse_objects(text, names, findings)
    else:
        dialogues = parse_text(text, findings)
    items = make_items(dialogues, findings)
    if not items:
        raise SettingsError(f"{name}: holds no dialogue; write one into it", ids=(name,))
    return ItemFile(items=items, form=form, notes=notes_on(items, findings))


def _form(text: str, name: str) -> Form:
    ending = PurePath(name).suffix.lower()
    if ending in TABLES:
        return "table"
    if ending in OBJECTS or text.lstrip().startswith("{"):
        return "objects" if holds_turns(text) else "items"
    return "text"
