"""Dialogues as a table: CSV or TSV, a row a turn, with columns for dialogue, speaker and text."""

import csv
from collections.abc import Sequence
from io import StringIO

from hearteval.errors import SettingsError
from hearteval.items.dialogues.spoken import (
    LABELS,
    DialogueNames,
    Findings,
    Said,
    Spoken,
    folded,
)

COLUMNS = {
    "dialogue": (
        *("dialogue", "dialogue id", "dialog", "dialog id", "conversation", "conversation id"),
        *("conv id", "thread", "thread id", "session", "session id", "chat", "chat id"),
    ),
    "role": ("role", "speaker", "from", "author", "sender", "who", "participant"),
    "text": ("text", "content", "message", "utterance", "body", "said", "value"),
}
"""Well-known names of columns, small and with spaces."""
ORDER = ("turn", "turn index", "turn number", "turn id", "position", "order")
SEPARATORS = ",;\t"
MAX_CELL = 1 << 26
"""Characters in a cell: Python's own limit, 131,072, is for the whole process and never lowered."""

_Row = tuple[int, list[str]]


def parse_table(text: str, names: DialogueNames, findings: Findings) -> list[Spoken]:
    """Read the dialogues of a table with a header, in the order in which they begin.

    Raises:
        SettingsError: A column is not found or there are two for one thing, or a quotation mark
            has no end.
    """
    header, rows = _read_rows(text, findings)
    dialogue, role, said = (_find(what, header, names, findings) for what in COLUMNS)
    labels = {
        place: LABELS[folded(name)]
        for place, name in enumerate(header)
        if folded(name) in LABELS and place not in (dialogue, role, said)
    }
    order = _order_column(header, rows, besides=(dialogue, role, said))
    used = {dialogue, role, said, order, *labels}
    findings.unused += [name for place, name in enumerate(header) if place not in used]
    dialogues: dict[str, Spoken] = {}
    turns: dict[str, dict[int, Said]] = {}
    for number, row in rows:
        key = row[dialogue].strip()
        if not key:
            findings.fault(number, f"no {header[dialogue]!r}: which dialogue is it of? Fill it in")
            continue
        now = dialogues.setdefault(key, Spoken(place=number, labels={"dialogue_id": key}))
        at = number if order is None else int(row[order])
        if at in turns.setdefault(key, {}):
            findings.fault(number, f"the turn {at} of {key!r} again; give each its number")
        turns[key][at] = Said(who=row[role].strip(), text=row[said], place=number)
        _read_labels(now, {name: row[place].strip() for place, name in labels.items()}, findings)
    for key, at_places in turns.items():
        dialogues[key].turns = [at_places[at] for at in sorted(at_places)]
    return list(dialogues.values())


def _read_labels(now: Spoken, given: dict[str, str], findings: Findings) -> None:
    """Take what a row says of its dialogue; two rows never say two things."""
    for name, words in given.items():
        if words and now.labels.setdefault(name, words) != words:
            problem = f"the rows of the dialogue that begins here differ in {name}"
            if (now.place, problem) not in findings.faults:
                findings.fault(now.place, problem)


def _read_rows(text: str, findings: Findings) -> tuple[list[str], list[_Row]]:
    csv.field_size_limit(max(csv.field_size_limit(), MAX_CELL))
    first = text.lstrip().partition("\n")[0]
    reader = csv.reader(StringIO(text), delimiter=max(SEPARATORS, key=first.count), strict=True)
    rows: list[_Row] = []
    number = 1
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                rows.append((number, row))
            number = reader.line_num + 1
    except csv.Error as error:
        raise SettingsError(
            f"{findings.file}, line {number}: {error}; a quotation mark is missing or not doubled",
            ids=(findings.file,),
        ) from None
    (_, header), *others = rows
    for at, row in others:
        if len(row) != len(header):
            words = f"{len(row)} cells where the header has {len(header)}; quote text with commas"
            findings.fault(at, words)
    return header, [(at, row) for at, row in others if len(row) == len(header)]


def _find(what: str, header: Sequence[str], names: DialogueNames, findings: Findings) -> int:
    """Return the place of the column for a dialogue, a role or a text."""
    given: str | None = getattr(names, what)
    known = COLUMNS[what] if given is None else (folded(given),)
    found = [place for place, name in enumerate(header) if folded(name) in known]
    if len(found) == 1:
        return found[0]
    columns = ", ".join(header[place] for place in found) if found else ", ".join(header)
    problem = "several columns" if found else "no column"
    looked = "" if given is None else f" named {given!r}"
    raise SettingsError(
        f"{findings.file}: {problem}{looked} for the {what} of a turn, among: {columns}; name it:"
        f' items.{what}_column = "COLUMN" in the study file, or --{what}-column COLUMN',
        ids=(findings.file,),
    )


def _order_column(
    header: Sequence[str], rows: Sequence[_Row], *, besides: Sequence[int]
) -> int | None:
    """Return the place of the column that numbers turns; None where their order is the file's."""
    return next(
        (
            place
            for place, name in enumerate(header)
            if folded(name) in ORDER
            and place not in besides
            and all(row[place].strip().isdecimal() for _, row in rows)
        ),
        None,
    )
