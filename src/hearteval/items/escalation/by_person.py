"""What a person who reads rewrites is given, and gives back: a table with a row a turn.

The rows of a rewrite stand together and in their order, the rewrites in the order of their ids,
which say nothing: no row names the profile or the source. For each of the seeker's turns the person
writes how strongly the seeker resists, 0 to 10, for each of the supporter's whether it fits.
"""

import csv
import io
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import get_args

from hearteval.domain import Turn
from hearteval.domain.items import MOST_INTENSE
from hearteval.errors import SettingsError, raise_faults
from hearteval.items.escalation.checks import Fit, Reading
from hearteval.items.escalation.prompt import FITS, INTENSITY, read_turns

COLUMNS = ("rewrite", "turn", "text", INTENSITY, FITS)
Rows = Mapping[str, Sequence[Mapping[str, str]]]
"""The rows of each rewrite, by its id, as the file has them."""
NOT_ASKED = "-"
"""In a cell that wants no answer."""
_FITS: Mapping[str, Fit] = {fit: fit for fit in get_args(Fit)}
_INTENSITIES = {str(number): number for number in range(MOST_INTENSE + 1)}


def parse_table(text: str, *, name: str) -> Rows:
    """Read the table, whichever comma a spreadsheet wrote it with.

    Raises:
        SettingsError: A column is missing.
    """
    head = text.partition("\n")[0]
    delimiter = max(",;\t", key=head.count)
    reader = csv.DictReader(io.StringIO(text), delimiter=delimiter)
    missing = [column for column in COLUMNS if column not in (reader.fieldnames or ())]
    if missing:
        raise SettingsError(
            f"{name}: lacks the column {missing[0]!r}; expected {', '.join(COLUMNS)}; restore it,"
            " or delete the file to have it written anew",
            ids=(name,),
        )
    found: defaultdict[str, list[Mapping[str, str]]] = defaultdict(list)
    for row in reader:
        found[(row["rewrite"] or "").strip()].append(
            {column: (row[column] or "").strip() for column in COLUMNS}
        )
    return dict(found)


def format_table(rows: Rows, to_read: Mapping[str, Sequence[Turn]]) -> str:
    """Write the table with what is still to be read added; what is filled in stays.

    Rows and cells of these that were taken out are there again.
    """
    added = {id_: _rows(id_, context, rows.get(id_, ())) for id_, context in to_read.items()}
    whole = {**rows, **added}
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for _, own in sorted(whole.items()):
        writer.writerows(own)
    return out.getvalue()


def read_table(rows: Rows, *, name: str) -> Mapping[str, Reading]:
    """Return what a person said of each rewrite that is filled in to the end.

    Raises:
        SettingsError: A cell is none of what was asked; it lists all of them.
    """
    faults: list[SettingsError] = []
    found: dict[str, Reading] = {}
    for id_, own in rows.items():
        intensities: dict[int, int] = {}
        fits: dict[int, Fit] = {}
        for row in own:
            where = f"{name}: rewrite {id_[:8]}, turn {row['turn']}"
            place = int(row["turn"]) - 1 if row["turn"].isdecimal() else -1
            given, fit = row[INTENSITY], row[FITS].lower()
            if given in _INTENSITIES:
                intensities[place] = _INTENSITIES[given]
            elif given not in ("", NOT_ASKED):
                expected = f"intensity: expected a whole number from 0 to {MOST_INTENSE}"
                faults.append(SettingsError(f"{where}: {expected}, not {given[:20]!r}"))
            if fit in _FITS:
                fits[place] = _FITS[fit]
            elif fit not in ("", NOT_ASKED):
                expected = f"fits: expected one of {', '.join(_FITS)}"
                faults.append(SettingsError(f"{where}: {expected}, not {fit[:20]!r}"))
        if not any(row[INTENSITY] == "" or row[FITS] == "" for row in own):
            found[id_] = Reading(intensities=intensities, fits=fits, evidence={}, by="a person")
    raise_faults(name, faults)
    return found


def is_whole(reading: Reading, context: Sequence[Turn]) -> bool:
    """Say whether a reading answers all that is asked of a conversation."""
    return all(
        place in (reading.intensities if context[place].role == "seeker" else reading.fits)
        for place in read_turns(context)
    )


def _rows(
    id_: str, context: Sequence[Turn], filled: Sequence[Mapping[str, str]]
) -> list[Mapping[str, str]]:
    """Return the rows of a rewrite, with what a person has filled in of them."""
    given = {row["turn"]: row for row in filled}
    return [
        {
            column: given[row["turn"]][column]
            if not cell and given.get(row["turn"], row)[column] not in ("", NOT_ASKED)
            else cell
            for column, cell in row.items()
        }
        for row in _empty_rows(id_, context)
    ]


def _empty_rows(id_: str, context: Sequence[Turn]) -> list[dict[str, str]]:
    asked = read_turns(context)
    return [
        {
            "rewrite": id_,
            "turn": str(place + 1),
            "text": f"{turn.role}: {turn.text}",  # no text begins as a formula does
            INTENSITY: "" if turn.role == "seeker" else NOT_ASKED,
            FITS: "" if turn.role == "supporter" and place in asked else NOT_ASKED,
        }
        for place, turn in enumerate(context)
    ]
