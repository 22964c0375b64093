"""Dialogues as a table, CSV or TSV: a row a turn, or a row a dialogue with its turns in a cell."""

import csv
from collections.abc import Mapping, Sequence
from io import StringIO

from hearteval.errors import SettingsError
from hearteval.items.dialogues.looks import find_marks, seem_columns, seems_id
from hearteval.items.dialogues.spoken import LABELS, Findings, Said, Spoken, folded
from hearteval.items.dialogues.text import read_transcript

COLUMNS = {
    "dialogue": (
        *("dialogue", "dialogue id", "dialog", "dialog id", "conversation", "conversation id"),
        *("conv id", "thread", "thread id", "session", "session id", "chat", "chat id"),
    ),
    "role": ("role", "speaker", "from", "author", "sender", "who", "participant"),
    "text": ("text", "content", "message", "utterance", "body", "said", "value"),
}
"""Well-known names of columns, small and with spaces."""
_WHAT = {
    **{what: f"the {what} of a turn" for what in COLUMNS},
    "turn": "the number of a turn",
    "turns": "the turns",
}
ORDER = ("turn", "turn index", "turn number", "turn id", "position", "order")
SEPARATORS = ",;\t"
MAX_CELL = 1 << 26
"""Characters in a cell: Python's own limit, 131,072, is for the whole process and never lowered."""

_Row = tuple[int, list[str]]


def parse_table(text: str, findings: Findings) -> list[Spoken]:
    """Read the dialogues of a table with a header, in the order in which they begin.

    Raises:
        SettingsError: A column is not found and none looks like it, or there are two for one
            thing, or a quotation mark has no end.
    """
    header, rows = _read_rows(text, findings)
    at = _find_columns(header, rows, findings)
    labels = {place: LABELS[folded(n)] for place, n in enumerate(header) if folded(n) in LABELS}
    labels = {place: field for place, field in labels.items() if place not in at.values()}
    labels |= {at[field]: field for field, _ in findings.names.labels if field in at}
    if "turn" not in at and (order := _order_column(header, rows, besides=[*at.values()])):
        at["turn"] = order
    findings.unused += [
        name for k, name in enumerate(header) if k not in at.values() and k not in labels
    ]
    if "turns" in at:
        return _read_transcripts(rows, at, labels, findings)
    dialogues: dict[str, Spoken] = {}
    turns: dict[str, dict[int, Said]] = {}
    for number, row in rows:
        key = row[at["dialogue"]].strip()
        if not key:
            column = header[at["dialogue"]]
            findings.fault(number, f"no {column!r}: which dialogue is it of? Fill it in")
            continue
        now = dialogues.setdefault(key, Spoken(place=number, labels={"dialogue_id": key}))
        nth = int(row[at["turn"]]) if "turn" in at else number
        if nth in turns.setdefault(key, {}):
            findings.fault(number, f"the turn {nth} of {key!r} again; give each its number")
        turns[key][nth] = Said(who=row[at["role"]].strip(), text=row[at["text"]], place=number)
        _read_labels(now, {name: row[place].strip() for place, name in labels.items()}, findings)
    for key, in_order in turns.items():
        dialogues[key].turns = [in_order[nth] for nth in sorted(in_order)]
    return list(dialogues.values())


def _read_transcripts(
    rows: Sequence[_Row], at: Mapping[str, int], labels: Mapping[int, str], findings: Findings
) -> list[Spoken]:
    """Read a dialogue from each row, its turns from one cell."""
    marks = (*find_marks([row[at["turns"]] for _, row in rows]), *findings.named_as_written)
    dialogues = []
    for number, row in rows:
        own = {name: row[place].strip() for place, name in labels.items()}
        if "dialogue" in at:
            own["dialogue_id"] = row[at["dialogue"]].strip()
        dialogues += read_transcript(row[at["turns"]], marks, own, number, findings)
    return dialogues


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


def _find_columns(
    header: Sequence[str], rows: Sequence[_Row], findings: Findings
) -> dict[str, int]:
    """Return the places of the columns by what they hold; what is not found is proposed.

    Raises:
        SettingsError: One is neither found nor can be proposed.
    """
    found = _find_named(header, rows, findings)
    cells = {name: [row[place].strip() for _, row in rows] for place, name in enumerate(header)}
    free = {name: cells[name] for k, name in enumerate(header) if k not in found.values()}
    if "turns" not in found and "role" not in found:
        _seem_transcripts(header, cells, found, findings)
    lacking = () if "turns" in found else tuple(what for what in COLUMNS if what not in found)
    if lacking:
        seem = seem_columns(free, lacking)
        words = f"no column for the {', the '.join(lacking)} of a turn"
        unseen = ", ".join(f"{what}_column" for what in lacking if what not in seem)
        naming = f"; name it: {unseen}" if unseen else ""
        among = f"among: {', '.join(header)}{looks_like(seem)}"
        findings.fault(1, f"{words}, {among}{naming}")
        if unseen:
            findings.raise_all()
        findings.propose(**seem)
        found |= {what: header.index(name) for what, name in seem.items()}
        free = {name: free[name] for name in free if name not in seem.values()}
        if "turn" not in found and (nth := _seems_order(free, cells[header[found["dialogue"]]])):
            findings.propose(turn=nth)
    return found


def _find_named(header: Sequence[str], rows: Sequence[_Row], findings: Findings) -> dict[str, int]:
    """Return the places of the columns that are named or well known.

    Raises:
        SettingsError: One that is named is not there, there are several for one thing, or one that
            is to number turns does not.
    """
    found: dict[str, int] = {}
    names = findings.names
    wishes = {what: getattr(names, what) for what in (*COLUMNS, "turn", "turns")}
    n_faults = len(findings.faults)
    for what, given in (wishes | dict(names.labels)).items():
        known = COLUMNS.get(what, ()) if given is None else (folded(given),)
        places = [place for place, name in enumerate(header) if folded(name) in known]
        if len(places) == 1:
            found[what] = places[0]
        elif given is not None or places:
            listed = ", ".join(header[place] for place in places) if places else ", ".join(header)
            problem = "several columns" if places else f"no column named {given!r}"
            key = "turns_key" if what == "turns" else f"{what}_column"
            of = _WHAT.get(what, f"the {what}")
            findings.fault(1, f'{problem} for {of}, among: {listed}; name it: {key} = "COLUMN"')
    for number, row in rows if "turn" in found else ():
        if not row[found["turn"]].strip().isdecimal():
            findings.fault(number, f"no whole number in {names.turn!r}, named as turn_column")
    if len(findings.faults) > n_faults:
        findings.raise_all()
    return found


def looks_like(seem: Mapping[str, str]) -> str:
    """Say which columns or keys look like what is lacking."""
    listed = ", ".join(f"{what} {name!r}" for what, name in seem.items())
    return f"; by what they hold: {listed}" if seem else ""


def _seem_transcripts(
    header: Sequence[str],
    cells: Mapping[str, Sequence[str]],
    found: dict[str, int],
    findings: Findings,
) -> None:
    """Propose the column whose cells are whole transcripts, if there is one."""
    free = [name for k, name in enumerate(header) if k != found.get("dialogue")]
    turns = next((name for name in free if find_marks(cells[name])), None)
    if turns is None:
        return
    findings.fault(1, f"{turns!r} looks like a whole transcript in each cell")
    findings.propose(turns=turns)
    found["turns"] = header.index(turns)
    found.pop("text", None)
    others = {name: cells[name] for name in free if name != turns}
    if "dialogue" not in found and (key := seems_id(others)) is not None:
        findings.propose(dialogue=key)
        found["dialogue"] = header.index(key)


def _seems_order(free: Mapping[str, Sequence[str]], keys: Sequence[str]) -> str | None:
    """Return which column counts the turns of each dialogue."""
    for name, cells in free.items():
        of_each: dict[str, list[int]] = {}
        if all(cell.isdecimal() for cell in cells):
            for key, cell in zip(keys, cells, strict=True):
                of_each.setdefault(key, []).append(int(cell))
            if all(sorted(n) == [*range(min(n), min(n) + len(n))] for n in of_each.values()):
                return name
    return None


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
