"""Tables of records from elsewhere into a study: read, shown before, stored once."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from hearteval.config import StudySettings, keys_at_hand
from hearteval.domain import Attempt, Completion, Item, Judgment, Label, Rater, Rating, Study
from hearteval.errors import SettingsError, first_few
from hearteval.exchange.records.reading import Kind, RecordTable, TableColumns
from hearteval.items.run import GatheredItems
from hearteval.judgments.plan.run import store_stress_set
from hearteval.store.engines import is_readable_as_is
from hearteval.store.records import Record
from hearteval.store.sql import SqlStore
from hearteval.study import Tell
from hearteval.study.asking.steps import complete_without_models
from hearteval.study.grow import gather, imported_systems, register, study_raters, study_systems
from hearteval.study.records.completions import read_completions
from hearteval.study.records.judgments import read_judgments, read_ratings
from hearteval.study.records.known import NO_SYSTEM, NO_TEXT, Found, Known
from hearteval.study.records.labels import read_labels
from hearteval.study.records.raters import read_raters
from hearteval.study.session import Session, open_session, stored_plan, study_id, utc_now
from hearteval.study.simulation.apart import require_same_sort

BATCH = 4_000
MAX_NAMED = 5


class Import(NamedTuple):
    """A table that is to come into a study."""

    kind: Kind
    table: RecordTable
    columns: TableColumns


def read_import(path: Path, kind: Kind, columns: TableColumns, tell: Tell) -> Import:
    """Read a table whole; no study is needed for that.

    Raises:
        SettingsError: There is no such file or column, or nothing in it.
        InvalidVotesError: It is damaged.
    """
    with tell.progress("reading") as report:
        table = RecordTable(path, kind, columns, report)
    table.hide(keys_at_hand())
    for words in table.warnings:
        tell.warn(words)
    return Import(kind, table, columns)


def import_records(session: Session, study: Study, given: Import) -> tuple[dict[str, Any], Found]:
    """Store what a table has that a study lacks; return what was done as JSON says it, and what.

    Raises:
        SettingsError: Rows cannot be taken; nothing is stored then.
        StoreError: Rows say otherwise than what is stored; nothing is stored then.
    """
    store = session.store
    complete_without_models(session, study)
    _make_stress_texts(session, study, given)
    found = _read(session, list(store.iter(Item, study)), given, now=session.now())
    store.people.take_in(study.id, found.people, now=session.now())
    with session.tell.progress("storing") as progress:
        for done, batch in _batches(found.records):
            store.add(batch)
            progress(done, len(found.records))
    return _said(session, given, found, is_dry=False), found


def preview_records(
    settings: StudySettings, given: Import, tell: Tell
) -> tuple[dict[str, Any], Found]:
    """Read a table as `import_records` does, and store nothing."""
    gathered = gather(settings, tell)
    with _opened(settings, gathered, tell) as session:
        found = _read(session, gathered.items, given, now=session.now())
        return _said(session, given, found, is_dry=True), found
    raise AssertionError("a store that was opened gives nothing")


@contextmanager
def _opened(settings: StudySettings, gathered: GatheredItems, tell: Tell) -> Iterator[Session]:
    """Open the store of a study to be read, or one in memory where the study is not stored yet."""
    if is_readable_as_is(settings.store):
        with open_session(settings, tell, is_only_read=True) as session:
            if session.store.latest_study(study_id(settings)) is not None:
                yield session
                return
    with closing(SqlStore.in_memory()) as store:
        session = Session(settings=settings, store=store, tell=tell, now=utc_now)
        complete_without_models(session, register(session, gathered))
        yield session


def _make_stress_texts(session: Session, study: Study, given: Import) -> None:
    """Make the stress set's texts where the table speaks of them: the same seed, the same texts."""
    names = {one.name for one in study_systems(session.settings) if one.kind == "stress"}
    said = {cell for what in ("system", "first") for cell in given.table.column(what)}
    if names & said:
        store_stress_set(session.store, study, stored_plan(study), now=session.now)


def _read(session: Session, items: Sequence[Item], given: Import, *, now: datetime) -> Found:
    table = given.table
    require_same_sort(table.label, session.settings, is_simulated=table.is_simulated)
    known = _know(session, items)
    store = session.store
    if given.kind == "completions":
        found = read_completions(table, known, now=now)
    elif given.kind == "judgments":
        judged = {one.id: one for one in store.iter(Judgment)}
        found = read_judgments(table, known, given.columns.outcomes, judged, now=now)
    elif given.kind == "ratings":
        rated = {one.id: one for one in store.iter(Rating)}
        found = read_ratings(table, known, rated, now=now)
    elif given.kind == "labels":
        found = read_labels(table, known, {one.id: one for one in store.iter(Label)}, now=now)
    else:
        found = read_raters(table, known)
    taken = [name for name in found.people if store.people.find_name(name) is not None]
    if taken:
        raise SettingsError(
            f"{table.label}: {first_few(taken, MAX_NAMED)}: another study in this store has people"
            " of these pseudonyms; name them apart, or set study.store",
            ids=taken[:MAX_NAMED],
        )
    if not found.n_new and not found.n_there and not found.unusable:
        why = "; ".join(f"{n:,} rows: {reason}" for reason, n in found.left_out.items())
        hint = f"; systems here are {known.system_words()}" if found.strangers else ""
        if found.left_out[NO_TEXT]:
            hint = "; bring in the replies first (--kind completions)"
        raise SettingsError(f"{table.label}: nothing in it is of this study: {why}{hint}")
    return found


def _know(session: Session, items: Sequence[Item]) -> Known:
    settings, store = session.settings, session.store
    systems = study_systems(settings)
    system_ids, item_ids = {one.id for one in systems}, {item.id for item in items}
    judges = study_raters(settings)
    people, study = settings.people, study_id(settings)
    return Known(
        study_id=study,
        items=items,
        systems={one.name: one for one in systems},
        imported=frozenset(imported_systems(settings)),
        judges={one.name: one for one in judges if one.is_imported},
        asked={one.name: one for one in judges if not one.is_imported},
        asks_people=None if people is None else people.protocol,
        protocol=settings.judging.protocol,
        rated=[*settings.score_weights],
        excludes_own_family=settings.judging.plan.exclude_own_family,
        people={one.name: one for one in store.people.people(study)},
        raters={one.name: one for one in store.iter(Rater) if one.kind == "human"},
        texts=[
            one
            for one in store.iter(Completion)
            if one.system_id in system_ids and one.item_id in item_ids
        ],
        attempts=[one for one in store.iter(Attempt) if one.system_id in system_ids],
    )


def _batches(records: Sequence[Record]) -> Iterator[tuple[int, Sequence[Record]]]:
    """Yield records in the order in which they were found: none refers to a later batch."""
    for start in range(0, len(records), BATCH):
        batch = records[start : start + BATCH]
        yield start + len(batch), batch


def _said(session: Session, given: Import, found: Found, *, is_dry: bool) -> dict[str, Any]:
    """Return what was done as JSON says it; warn of what was left out."""
    table, tell = given.table, session.tell
    for reason, n in found.left_out.items():
        who = f" ({first_few([*found.strangers], MAX_NAMED)})" if reason == NO_SYSTEM else ""
        tell.warn(f"{n:,} of {table.n_rows:,} rows are left out: {reason}{who}")
    for reason, n in found.unusable.items():
        tell.warn(f"{n:,} replies cannot be used: {reason}")
    return {
        "study": session.settings.name,
        "kind": given.kind,
        "file": {"file": table.name, "sha256": table.sha256},
        "columns": dict(table.used),
        "dry_run": is_dry,
        "n_rows": table.n_rows,
        "n_added": 0 if is_dry else found.n_new,
        "n_new": found.n_new,
        "n_there": found.n_there,
        "left_out": dict(found.left_out),
        "no_such_system": dict(found.strangers),
        "unusable": dict(found.unusable),
        "by": {what: dict(sorted(names.items())) for what, names in found.by.items()},
        "people": sorted(found.people),
        "rows": [{"row": row, **said} for row, said in found.shown] if is_dry else [],
    }
