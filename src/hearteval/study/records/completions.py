"""Rows of a table -> completions of a study, by the checks that hold for any completion."""

from datetime import datetime
from typing import Any

from hearteval.completions.checks import check_completion
from hearteval.completions.imported import new_attempts
from hearteval.domain import Attempt, Call, Completion, Item, System
from hearteval.errors import InvalidReplyError
from hearteval.exchange.records.reading import Faults, RecordTable
from hearteval.labels.safety import label_completion, safety_rater
from hearteval.study.records.known import (
    GONE,
    NO_ITEM,
    REPEATED,
    STRESS,
    Found,
    Known,
    Place,
    read_group,
    seconds_of,
    time_of,
    whole,
)

MOST_REPEATS = 1_000_000
TIMES = ("first_token_ms", "first_reasoning_ms", "total_ms")
CELLS = ("item", "system", "text", "writer", "writer_group", "repeat", "finish_reason")


def read_completions(table: RecordTable, known: Known, *, now: datetime) -> Found:
    """Return what a table of completions adds to a study; of the same one a second time, nothing.

    A model's reply that can be no completion is an attempt with its reason, as if it was asked for
    here. What a person wrote needs a writer, and the rule screen reads it.

    Raises:
        SettingsError: Rows cannot be taken; it lists them.
        StoreError: Rows say otherwise than what is stored; it lists them.
    """
    found, faults = Found(), Faults(table)
    reader = _Reader(table, known, found, now)
    for row in range(table.n_rows):
        try:
            reader.read(row)
        except _ContradictionError as error:
            faults.add(row, str(error), contradicts=True)
        except ValueError as error:
            faults.add(row, str(error))
    faults.raise_if_any()
    found.records += reader.failed()
    if any(isinstance(one, Completion) and one.writer_id for one in found.records):
        found.records.insert(0, safety_rater())
    return found


class _ContradictionError(ValueError):
    """A row says otherwise than what is stored."""


class _Reader:
    def __init__(self, table: RecordTable, known: Known, found: Found, now: datetime) -> None:
        self._known, self._found, self._now = known, found, now
        self._rows = list(zip(*map(table.column, CELLS), strict=True))
        self._others = {name: table.column(name) for name in (*TIMES, "prompt_hash", "created_at")}
        self._origin = {"imported_from": {"file": table.name, "sha256": table.sha256}}
        self._seen: dict[Place, tuple[int, str]] = {}
        self._attempts: list[Attempt] = []

    def read(self, row: int) -> None:
        """Take one row, or leave it out; `ValueError` says why it cannot be taken."""
        item_cell, name, text, writer, group, repeat_cell, finish = self._rows[row]
        item, system = self._known.find_item(item_cell), self._known.find_system(name)
        if system is None:
            self._found.leave_out_stranger(name or "")
            return
        if item is None:
            self._found.left_out[NO_ITEM] += 1
            return
        repeat = whole("repeat", repeat_cell, low=0, high=MOST_REPEATS) or 0
        if (system.kind == "human") != (writer is not None):
            raise ValueError(_writer_words(system))
        if writer is not None and writer not in self._known.people:
            self._known.require_pseudonym(writer)
        if self._known.is_gone(writer):
            self._found.left_out[GONE] += 1
            return
        place = Place(item.id, system.id, writer, repeat)
        try:
            clean = check_completion(text or "", finish_reason=finish)
        except InvalidReplyError as error:
            if self._is_first(row, place, text or ""):
                self._cannot_be(error, place, finish, text or "")
            return
        if not self._is_new(row, place, clean, system):
            return
        if writer is not None:
            self._note_writer(writer, group)
        self._keep(row, item, system, place, clean, finish)

    def failed(self) -> list[Attempt]:
        """Return the replies that can be no completions, of those not stored before."""
        return new_attempts(self._attempts, self._known.attempts)

    def _cannot_be(
        self, error: InvalidReplyError, place: Place, finish: str | None, raw: str
    ) -> None:
        if place.writer is not None:
            raise ValueError(f"the text can be no completion: {error}") from None
        if place.system_id not in self._known.imported:
            raise ValueError(f"the text can be no completion: {error}") from None
        self._found.unusable[error.reason] += 1
        if place in self._known.text_at:
            return
        self._attempts.append(
            Attempt(
                item_id=place.item_id,
                system_id=place.system_id,
                repeat=place.repeat,
                reason=error.reason,
                raw=raw,
                call=Call(requested=self._origin, finish_reason=finish),
                created_at=self._now,
            )
        )

    def _is_first(self, row: int, place: Place, text: str) -> bool:
        """Say whether it is the first of its place; `ValueError` where a row before it differs."""
        before, text_before = self._seen.setdefault(place, (row, text))
        if before == row:
            return True
        if text_before != text:
            raise ValueError(f"row {before + 1} has another text for the same")
        self._found.left_out[REPEATED] += 1
        return False

    def _is_new(self, row: int, place: Place, text: str, system: System) -> bool:
        """Say whether the study lacks a text."""
        if not self._is_first(row, place, text):
            return False
        stored = self._known.text_at.get(place)
        if system.kind == "stress" and (stored is None or stored.text != text):
            self._found.left_out[STRESS] += 1
            return False
        self._found.by["system"][system.name] += 1
        if stored is None and place.system_id in self._known.imported:
            return True
        if stored is None and system.kind == "human":
            return True
        if stored is not None and stored.text == text:
            self._found.n_there += 1
            return False
        if stored is None:
            raise ValueError(
                f"{system.name} answers here, so its replies are not imported; to take those"
                ' made elsewhere, give its [[system]] model = "imported/MODEL"'
            )
        raise _ContradictionError(
            f"{system.name} has another completion of this item, which is never replaced; give this"
            " one to a system of another name"
        )

    def _note_writer(self, writer: str, cell: str | None) -> None:
        group = read_group(cell)
        known = self._known.people.get(writer)
        new = self._found.people.setdefault(writer, group) if known is None else None
        before = new if known is None else known.group
        if cell is not None and before != group:
            raise ValueError(f"the writer {writer!r:.60} is of the group {before!r}, not {group!r}")

    def _keep(
        self, row: int, item: Item, system: System, place: Place, text: str, finish: str | None
    ) -> None:
        cells: dict[str, Any] = {name: column[row] for name, column in self._others.items()}
        times: dict[str, Any] = {name: seconds_of(name, cells[name]) for name in TIMES}
        completion = Completion(
            item_id=item.id,
            system_id=system.id,
            text=text,
            writer_id=place.writer,
            repeat=place.repeat,
            prompt_hash=cells["prompt_hash"],
            **times,
            call=Call(requested=self._origin, finish_reason=finish),
            created_at=time_of(cells["created_at"], self._now),
        )
        self._found.n_new += 1
        self._found.records.append(completion)
        if place.writer is not None:
            label = label_completion(completion, item, system, now=self._now)
            self._found.records.append(label)
        self._found.show(
            row,
            {
                "item": self._known.item_words(item.id),
                "system": f"{system.name} ({system.kind})",
                "writer": place.writer,
                "repeat": place.repeat or None,
                "text": text,
            },
        )


def _writer_words(system: System) -> str:
    if system.kind == "human":
        return (
            f"people write for {system.name}: name each writer by a pseudonym (--writer COL); a"
            " text of an unknown writer is nobody's"
        )
    return f"a writer is named, and {system.name} is no person: only people have writers"
