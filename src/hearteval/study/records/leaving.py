"""A stored study -> tables, one for each kind of record, with the words that may leave it.

Rows are sorted by what they are about, never by ids that another study would not have.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from hearteval.domain import (
    AXIS_NAMES,
    Assignment,
    Axis,
    AxisMark,
    Completion,
    Item,
    Judgment,
    Label,
    Pair,
    Rater,
    Rating,
    Study,
    System,
)
from hearteval.domain.systems import SIMULATED
from hearteval.exchange.records.writing import (
    DRAFTS,
    Cell,
    Columns,
    Format,
    format_table,
    write_files,
)
from hearteval.items.files import format_items
from hearteval.labels.taxonomy import TAXONOMIES, load_taxonomy
from hearteval.study import remove_left_drafts
from hearteval.study.records.permitted import Permitted
from hearteval.study.report.left_behind import remember
from hearteval.study.results import left_out
from hearteval.study.session import Session

ITEM_FILE = "items.jsonl"
Row = dict[str, Cell]


class Written(NamedTuple):
    """One table that was written."""

    kind: str
    path: Path
    n_rows: int
    n_held_back: int
    """Records that stay whole, or leave without their words: nobody has released these."""


def export_records(
    session: Session, study: Study, out: Path, form: Format, *, replace: bool
) -> tuple[Written, ...]:
    """Write every kind of record that a study has as a table, and its items as an item file.

    Raises:
        SettingsError: A file holds something else and is not to be replaced, or Parquet needs an
            extra.
        StoreError: The folder cannot be written, or what judgments rest on was changed.
    """
    leaving, tables = _made(session, study)
    files = {
        f"{kind}.{form}": format_table(_columns(made.rows, study), form)
        for kind, made in tables.items()
    }
    # Last: in JSON Lines it stands in place of the table, whose turns would be text in text.
    files[ITEM_FILE] = format_items(leaving.items).encode()
    remove_left_drafts(out, DRAFTS)
    write_files(files, out, replace=replace)
    remember(session, study, [out / name for name in files])
    return tuple(
        Written(kind, out / f"{kind}.{form}", len(made.rows), made.n_held_back)
        for kind, made in tables.items()
    )


def tables_of(session: Session, study: Study) -> Mapping[str, Columns]:
    """Return every table that has a row, by the kind of its records."""
    return {kind: _columns(made.rows, study) for kind, made in _made(session, study)[1].items()}


def _made(session: Session, study: Study) -> tuple["_Leaving", Mapping[str, "_Made"]]:
    for _ in session.store.judgment_table(study):  # checks who said it, of what, in which order
        pass
    leaving = _Leaving(session, study)
    tables = {kind: make() for kind, make in leaving.makers.items()}
    return leaving, {kind: made for kind, made in tables.items() if made.rows}


class _Made(NamedTuple):
    rows: list[Row]
    n_held_back: int = 0


@dataclass(frozen=True)
class _Leaving(Permitted):
    """A study as it is read for export."""

    @property
    def makers(self) -> Mapping[str, Callable[[], _Made]]:
        """What makes each table, by the kind of its records."""
        return {
            "items": self._make_items,
            "systems": self._make_systems,
            "raters": self._make_raters,
            "completions": self._make_completions,
            "judgments": self._make_judgments,
            "ratings": self._make_ratings,
            "labels": self._make_labels,
        }

    @cached_property
    def _systems(self) -> dict[str, System]:
        return {system.id: system for system in self.iter(System)}

    @cached_property
    def _raters(self) -> dict[str, Rater]:
        return {rater.id: rater for rater in self.iter(Rater)}

    @cached_property
    def _left_out(self) -> frozenset[str]:
        return left_out(self.session, self.study)

    @cached_property
    def _dialogues(self) -> dict[str, str]:
        return {item.id: item.dialogue_id for item in self.items}

    @cached_property
    def _groups(self) -> dict[str, str | None]:
        people = self.session.store.people.people(self.study.id)
        return {one.name: one.group for one in people}

    def _make_items(self) -> _Made:
        return _Made([_item_row(item) for item in self.items])

    def _make_systems(self) -> _Made:
        systems = sorted(self._systems.values(), key=attrgetter("name"))
        return _Made(
            [
                {
                    "system_id": one.id,
                    "system": one.name,
                    "kind": one.kind,
                    "family": one.family,
                    "settings": _json(one.settings),
                }
                for one in systems
            ]
        )

    def _make_raters(self) -> _Made:
        raters = sorted(self._raters.values(), key=lambda one: (one.kind, one.name, one.id))
        rows: list[Row] = [
            {
                "rater_id": one.id,
                **_rater_cells(one),
                "pool": one.pool,
                "settings": _json(one.settings),
            }
            for one in raters
        ]
        return _Made(rows)

    def _make_completions(self) -> _Made:
        rows = [
            {
                "completion_id": one.id,
                "item_id": one.item_id,
                "dialogue_id": self._dialogues[one.item_id],
                "system_id": one.system_id,
                "system": self._systems[one.system_id].name,
                "kind": self._systems[one.system_id].kind,
                "writer": one.writer_id,
                "writer_group": self._groups.get(one.writer_id or ""),
                "repeat": one.repeat,
                "text": one.text,
                "prompt_hash": one.prompt_hash,
                "finish_reason": one.call.finish_reason,
                "first_token_ms": one.first_token_ms,
                "first_reasoning_ms": one.first_reasoning_ms,
                "total_ms": one.total_ms,
                "cost": one.call.cost,
                "cached": one.call.cached,
                "created_at": one.created_at.isoformat(),
            }
            for one in self.texts.values()
            if one.id not in self.unreadable
        ]
        rows.sort(key=_by("item_id", "system", "writer", "repeat"))
        return _Made(rows, len(self.unreadable))

    def _make_judgments(self) -> _Made:
        pairs = {pair.id: pair for pair in self.iter(Pair)}
        assignments = {
            one.id: one
            for one in self.iter(Assignment)
            if one.rater_id in self._raters
            and one.pair_id in pairs
            and self.texts.keys() >= set(pairs[one.pair_id].completion_ids)
        }
        rows, n_held_back = [], 0
        for one in self.iter(Judgment):
            if one.assignment_id not in assignments:
                continue
            assignment = assignments[one.assignment_id]
            low, high = pairs[assignment.pair_id].completion_ids
            first = assignment.first_completion_id
            second = high if first == low else low
            may_leave = self.may_say(self._raters[assignment.rater_id], one.id, first, second)
            n_held_back += not may_leave and bool(one.rationale or one.reasons)
            rows.append(self._judgment_row(one, assignment, second, may_leave=may_leave))
        keys = ("first", "second", "first_writer", "second_writer", "rater", "repeat")
        rows.sort(key=_by("item_id", *keys))
        return _Made(rows, n_held_back)

    def _judgment_row(
        self, one: Judgment, assignment: Assignment, second_id: str, *, may_leave: bool
    ) -> Row:
        first, second = self.texts[assignment.first_completion_id], self.texts[second_id]
        axes: Row = {}
        for axis in AXIS_NAMES:
            mark = one.axes.get(axis, AxisMark(None, None))  # type: ignore[arg-type]
            axes |= {axis: mark.choice, f"{axis}_strength": mark.strength}
        names = [self._systems[text.system_id] for text in (first, second)]
        winner = {"first": names[0].name, "second": names[1].name}.get(one.choice, one.choice)
        return {
            "judgment_id": one.id,
            "item_id": first.item_id,
            "dialogue_id": self._dialogues[first.item_id],
            "rater_id": assignment.rater_id,
            **_rater_cells(self._raters[assignment.rater_id]),
            "is_left_out": assignment.rater_id in self._left_out,
            **self._text_cells("first", first),
            **self._text_cells("second", second),
            "is_stress": "stress" in {system.kind for system in names},
            "repeat": assignment.repeat,
            "check": assignment.check,
            "choice": one.choice,
            "winner": winner,
            "strength": one.strength,
            **axes,
            **_words("reason", one.reasons if may_leave else {}),
            "rationale": (one.rationale if may_leave else "") or None,
            "seconds": one.seconds,
            "prompt_hash": one.prompt_hash,
            "finish_reason": one.call.finish_reason,
            "cost": one.call.cost,
            "created_at": one.created_at.isoformat(),
        }

    def _text_cells(self, side: str, text: Completion) -> Row:
        return {
            side: self._systems[text.system_id].name,
            f"{side}_completion_id": text.id,
            f"{side}_writer": text.writer_id,
            f"{side}_repeat": text.repeat,
        }

    def _make_ratings(self) -> _Made:
        rows, n_held_back = list[Row](), 0
        for one in self.iter(Rating):
            if one.rater_id not in self._raters or one.completion_id not in self.texts:
                continue
            text, rater = self.texts[one.completion_id], self._raters[one.rater_id]
            may_leave = self.may_say(rater, one.id, text.id)
            n_held_back += not may_leave and bool(one.comments)
            scores: Row = {axis: one.axes.get(axis) for axis in AXIS_NAMES}
            rows.append(
                {
                    "rating_id": one.id,
                    "item_id": text.item_id,
                    "dialogue_id": self._dialogues[text.item_id],
                    "rater_id": one.rater_id,
                    **_rater_cells(rater),
                    "is_left_out": one.rater_id in self._left_out,
                    **self._text_cells("system", text),
                    "repeat": one.repeat,
                    **scores,
                    **_words("comment", one.comments if may_leave else {}),
                    "seconds": one.seconds,
                    "prompt_hash": one.prompt_hash,
                    "finish_reason": one.call.finish_reason,
                    "cost": one.call.cost,
                    "created_at": one.created_at.isoformat(),
                }
            )
        rows.sort(key=_by("item_id", "system", "system_writer", "rater", "repeat"))
        return _Made(rows, n_held_back)

    def _make_labels(self) -> _Made:
        names = {rater.id: rater for rater in self.session.store.iter(Rater)}
        rows, n_held_back = [], 0
        for one in self.iter(Label):
            text = self.texts.get(one.completion_id or "")
            may_leave = self.may_quote(one)
            n_held_back += not may_leave and bool(one.evidence)
            rows.append(
                {
                    "label_id": one.id,
                    "item_id": text.item_id if text else one.item_id,
                    "system": self._systems[text.system_id].name if text else None,
                    "system_writer": text.writer_id if text else None,
                    "system_repeat": text.repeat if text else None,
                    "completion_id": one.completion_id,
                    "judgment_id": one.judgment_id,
                    "taxonomy": one.taxonomy,
                    "taxonomy_version": _version_of(one, names[one.rater_id]),
                    "category": one.category,
                    "verdict": one.verdict,
                    "probability": one.probability,
                    "score": one.score,
                    "evidence": (one.evidence if may_leave else "") or None,
                    **_rater_cells(names[one.rater_id]),
                    "created_at": one.created_at.isoformat(),
                }
            )
        rows.sort(key=_by("item_id", "system", "taxonomy", "category", "rater", "label_id"))
        return _Made(rows, n_held_back)


def _version_of(label: Label, rater: Rater) -> str | None:
    """Return by which version of its taxonomy a label was given; None where nobody can tell."""
    told = label.taxonomy_version or rater.settings.get("taxonomy_version")
    older = (
        one.unversioned for one in map(load_taxonomy, TAXONOMIES) if one.name == label.taxonomy
    )
    return told or next(older, None)


def _item_row(item: Item) -> Row:
    turns = [{"role": turn.role, "text": turn.text} for turn in item.context]
    return {
        "item_id": item.id,
        "source": item.source,
        "dialogue_id": item.dialogue_id,
        "turn_index": item.turn_index,
        "subset": item.subset,
        "profile": item.profile,
        "emotion": item.emotion,
        "problem": item.problem,
        "culture": item.culture,
        "population": item.population,
        "language": item.language,
        "cue": item.cue,
        "resistance": item.resistance,
        "intensities": None if item.intensities is None else _json(list(item.intensities)),
        "edge": None if item.edge is None else _json(list(item.edge)),
        "situation": item.situation or None,
        "context": _json(turns),
        "reference": item.reference,
        "licence": item.licence,
        "consent_basis": item.consent_basis,
    }


def _rater_cells(rater: Rater) -> Row:
    return {
        "rater": rater.name,
        "rater_kind": rater.kind,
        "rater_family": rater.family,
        "rater_group": rater.group,
    }


def _words(what: str, by_axis: Mapping[Axis, str]) -> Row:
    return {f"{axis}_{what}": by_axis.get(axis) or None for axis in AXIS_NAMES}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _by(*names: str) -> Callable[[Row], tuple[Any, ...]]:
    """Return a key that sorts rows by cells of these columns, missing ones first."""
    return lambda row: tuple((row[name] is not None, row[name]) for name in names)


def _columns(rows: list[Row], study: Study) -> Columns:
    said: Columns = {SIMULATED: [True] * len(rows)} if study.is_simulated else {}
    return {**said, **{name: [row[name] for row in rows] for name in rows[0]}}
