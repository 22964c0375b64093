"""Plain dialogues -> items: files of turns and little else, as people and programs write them.

The forms are described in ``docs/how-to/own-items.md``. Whole item files are the business of
`hearteval.items.files`; adversarial items are not written this way, since nothing here says which
profile they follow.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import PurePath
from typing import Literal

from hearteval.domain import Item
from hearteval.errors import SettingsError
from hearteval.items.dialogues.looks import seems_encoded
from hearteval.items.dialogues.objects import holds_turns, parse_objects
from hearteval.items.dialogues.spoken import (
    COLUMN_LABELS,
    OF_ALL,
    DialogueNames,
    Findings,
    LastReply,
    as_words,
    make_items,
    not_stated,
    notes_on,
    propose_sides,
)
from hearteval.items.dialogues.table import parse_table
from hearteval.items.dialogues.text import parse_text, refuse_parted_turns
from hearteval.items.files import find_canaries, parse_items

__all__ = [
    "COLUMN_LABELS",
    "OF_ALL",
    "DialogueNames",
    "ItemFile",
    "LastReply",
    "as_words",
    "not_stated",
    "parse_any",
    "parse_bytes",
]

TABLES = (".csv", ".tsv")
OBJECTS = (".jsonl", ".ndjson", ".json")
DOCUMENTS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"%PDF")
"""How files that are no text but are taken for one begin."""
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
    return _parse(text, Findings(name, names or DialogueNames()))


def parse_bytes(
    files: Sequence[tuple[str, bytes]], *, name: str, names: DialogueNames | None = None
) -> ItemFile:
    """Read the items of a file, or of a folder of texts, as it lies on the disk.

    Args:
        files: Name and content of each file.
        name: Name of the file or the folder: messages give it.
        names: As of `parse_any`; its encoding holds for all of them.

    Raises:
        SettingsError: As of `parse_any`; or a file is no text in the encoding.
    """
    findings = Findings(name, names or DialogueNames())
    if [file for file, _ in files] == [name]:
        return _parse(_decode(files[0][1], name, findings), findings)
    lines: list[str] = []
    for file, content in files:
        findings.starts = (*findings.starts, (len(lines), file))
        lines += _decode(content, file, findings).split("\n")
    return _parse("\n".join(lines), findings)


def _parse(text: str, findings: Findings) -> ItemFile:
    name = findings.file
    form: Form = "text" if findings.starts else _form(text, name, findings.names)
    if form == "items":
        findings.raise_all()
        items, canaries = parse_items(text, name=name), find_canaries(text)
        return ItemFile(items=items, form=form, canaries=canaries)
    if not text.strip():
        raise SettingsError(f"{name}: is empty; write dialogues into it, or check the path")
    if form == "table":
        dialogues = parse_table(text, findings)
    elif form == "objects":
        dialogues = parse_objects(text, findings)
    else:
        dialogues = parse_text(text, findings)
    propose_sides(dialogues, findings, are_lines=form == "text")
    if form == "text":
        refuse_parted_turns(dialogues, findings)
    items = make_items(dialogues, findings)
    if not items:
        raise SettingsError(f"{name}: holds no dialogue; write one into it", ids=(name,))
    return ItemFile(items=items, form=form, notes=notes_on(items, findings))


def _form(text: str, name: str, names: DialogueNames) -> Form:
    ending = PurePath(name).suffix.lower()
    if ending in TABLES:
        return "table"
    if ending in OBJECTS or text.lstrip().startswith("{"):
        return "objects" if holds_turns(text, names) else "items"
    return "text"


def _decode(content: bytes, name: str, findings: Findings) -> str:
    """Return the text of a file, as it seems to be encoded where it is not as is said.

    What is UTF-8 is read as that, whatever is said: it is next to never anything else.
    """
    said, ids = findings.given.encoding, (name,)
    try:
        text = _as_said(content, said or "utf-8-sig")
    except LookupError:
        raise SettingsError(
            f"items.encoding: there is no encoding {said!r}; one that Python knows is wanted,"
            ' e.g. "cp1252" or "latin-1"',
            ids=ids,
        ) from None
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        fault = f"is not {said or 'UTF-8'} text (byte 0x{content[error.start]:02x} in line {line})"
        seems = seems_encoded(content)
        if seems is None:
            advice = "; say its encoding, or save it as UTF-8"
            if content.startswith(DOCUMENTS):
                advice = (
                    ": a file of a spreadsheet or a word processor? Save it as CSV or plain text"
                )
            raise SettingsError(f"{name}: {fault}{advice}", ids=ids) from error
        text = content.decode(seems, errors="replace")
        if findings.names.encoding == said:  # of a folder the first file is enough
            letters = " ".join(sorted({one for one in text if one > "\x7f" and one.isalpha()})[:12])
            fault += f"; as {seems} its letters besides a to z are {letters or 'none'}"
            findings.fault(0, fault if name == findings.file else f"{name} {fault}")
            if said is None or name == findings.file:
                findings.propose(encoding=seems)
    if "\0" in text:
        raise SettingsError(f"{name}: is no text; save it as UTF-8 text", ids=ids)
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _as_said(content: bytes, encoding: str) -> str:
    if not content.isascii():
        with suppress(UnicodeDecodeError):
            return content.decode("utf-8-sig")
    return content.decode(encoding)
