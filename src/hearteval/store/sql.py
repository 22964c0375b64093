"""The one store implementation, on SQLAlchemy Core: SQLite file, PostgreSQL, or memory for tests.

Each call is one transaction, repeated where the database goes away in the middle of it. How
databases are opened and waited for is in `engines`.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from datetime import UTC, datetime
from functools import partial, reduce
from pathlib import Path
from threading import BoundedSemaphore, RLock
from typing import Any, TypeVar, cast, get_args

from sqlalchemy import Column, Connection, Engine, Select, func, select
from sqlalchemy.exc import DBAPIError

from hearteval.domain import (
    Assignment,
    Attempt,
    BatchJob,
    Completion,
    InFlight,
    Item,
    Judgment,
    Label,
    LabelVerdict,
    LatencyProbe,
    Pair,
    Rater,
    Rating,
    Screening,
    Study,
    System,
    flat_fields,
)
from hearteval.errors import InvalidRecordError, StoreError
from hearteval.store import schema
from hearteval.store.adding import add
from hearteval.store.engines import (
    Lock,
    Outage,
    as_reader,
    empty_log,
    file_identity,
    is_clash,
    is_writable,
    lock_money,
    look,
    make_private,
    memory_engine,
    open_engine,
    refresh_statistics,
    require_sound,
    rewrite,
    run_patiently,
)
from hearteval.store.insertion import insertion
from hearteval.store.integrity import as_read
from hearteval.store.integrity.fingerprint import fingerprint
from hearteval.store.integrity.seal import (
    NOTHING,
    Total,
    content_of,
    damaged,
    hash_of,
    n_written,
    read_totals,
    totals_written,
)
from hearteval.store.integrity.verify import (
    DATABASE,
    See,
    StoreCheck,
    StoreFault,
    check_records,
    check_store,
    is_as_written,
)
from hearteval.store.judged import Sides, judgment_query, side_query
from hearteval.store.people.base import PeopleStore
from hearteval.store.records import (
    AssignedCount,
    Balance,
    Claimed,
    Found,
    Record,
    SetAside,
    StoredReply,
)
from hearteval.store.replies import find, keep
from hearteval.store.rows import (
    AFTER,
    LIGHT,
    MEMBER_FIELDS,
    PAGE_ROWS,
    TABLES,
    call_queries,
    checks_query,
    from_row,
    in_groups,
    is_id,
    kind_name,
    label_query,
    n_pairs_query,
    open_query,
    pairs_of_members_query,
    planned_query,
    read_studies,
    rows_by_people,
    rows_of,
    rows_of_kind,
    study_query,
    unjudged_query,
    usage_queries,
    with_id_bytes,
)
from hearteval.store.serving import Served, Serving, read_served
from hearteval.store.sharing import claims, ledger, shares
from hearteval.store.version import create_tables, read_version

R = TypeVar("R", bound=Record)
T = TypeVar("T")
Planned = Mapping[tuple[str, int], Mapping[str, int]]
_Asked = tuple[bytes, bytes, int]
"""Pair, rater and repeat, ids as bytes."""
Page = tuple[list[R], list[Any]]
"""Records, and the hash that the row of each holds."""

PATIENCE_SECONDS = 120.0
"""For which a store that is away is waited for: a restarted server is back by then."""
QUEUE_SECONDS = 20.0
"""At least, for the turn to write: those before write meanwhile, which is no outage."""
MOST_WRITERS = 8
"""Of one process on PostgreSQL, where they queue for a lock of the database anyway."""
KEPT_IN_MEMORY = (Item, System, Rater, Completion)
"""Kinds that every step of a study reads, and of which there are thousands, not millions."""
OF_A_STUDY = (Assignment, Judgment, Rating)
"""Kinds whose totals count what a study reads of them."""
CHECKED_WHOLE = (Rater, Completion, Attempt, Label, Screening, LatencyProbe)
"""Kinds of which a version of a study reads a part: an edit may hide one, or take it away."""
UNREADABLE = (
    *(InvalidRecordError, ValueError, TypeError, KeyError, AttributeError),
    *(OverflowError, RecursionError),  # numbers and JSON that no record of ours holds
)
NAMED = 5
"""Records that a message names at most."""


class SqlStore:
    """A `hearteval.store.base.Store` in a SQL database."""

    def __init__(
        self,
        engine: Engine,
        *,
        name: str,
        patience_seconds: float = PATIENCE_SECONDS,
        one_at_a_time: AbstractContextManager[object] | None = None,
        is_read_only: bool = False,
    ) -> None:
        self._engine = engine
        self._one_at_a_time = one_at_a_time or nullcontext()
        self._name = name
        self._patience_seconds = patience_seconds
        self._outage = Outage()
        self._file: tuple[int, int] | None = None
        self._is_read_only = is_read_only
        self._last_read: dict[str, tuple[Hashable, Any]] = {}
        is_queue = engine.dialect.name == "sqlite"
        self._writer = BoundedSemaphore(1 if is_queue else MOST_WRITERS)
        self.people = PeopleStore(
            name=name,
            write=partial(self._write_as, "people"),
            read=self._read,
            empty_log=partial(empty_log, engine),
            rewrite=partial(rewrite, engine),
        )
        if is_read_only:
            return
        try:
            # Opening to read takes no writer's lock: a run may hold it for long.
            if self._read(partial(read_version, name=name)) is None:
                self._write_as("alone", partial(create_tables, name=name))
            self._file = file_identity(name)
        except BaseException:
            engine.dispose()
            raise

    @classmethod
    def open(cls, place: str, *, patience_seconds: float = PATIENCE_SECONDS) -> "SqlStore":
        """Open or create the store at a path (SQLite) or a PostgreSQL address.

        Each transaction waits `patience_seconds` for a database that has gone away.

        Raises:
            SettingsError: The address is none we know, or its driver is not installed.
            StoreError: The database cannot be used, or is none of this hearteval.
        """
        engine, name = open_engine(place)
        if engine.dialect.name == "sqlite":
            if Path(name).exists():
                # Opening a file to write changes it, so one that is refused is only looked at.
                look(place, patience_seconds=patience_seconds)
                require_sound(name)
            make_private(name)
        return cls(engine, name=name, patience_seconds=patience_seconds)

    @classmethod
    def open_to_read(cls, place: str, *, patience_seconds: float = PATIENCE_SECONDS) -> "SqlStore":
        """Open a store that is there, also where it may not be written; as `open`."""
        engine, name = open_engine(place, read_only=True)
        if is_writable(name) or look(place, patience_seconds=patience_seconds)[1] is None:
            return cls.open(place, patience_seconds=patience_seconds)
        return cls(engine, name=name, patience_seconds=patience_seconds, is_read_only=True)

    @classmethod
    def in_memory(cls) -> "SqlStore":
        """Open a store that lives as long as this object."""
        # All threads share its one connection, which holds one transaction.
        return cls(memory_engine(), name="memory", one_at_a_time=RLock())

    def close(self) -> None:
        """Release the database."""
        self._engine.dispose()

    def add(self, records: Sequence[Record], *, first_stays: bool = False) -> int:
        """Append records in one transaction; return how many were new."""
        if not records:
            return 0
        return self._write(partial(add, records=records, first_stays=first_stays))

    def iter(self, kind: type[R], study: Study | None = None) -> Iterator[R]:
        """Yield the records of a kind in the order of their ids."""
        if kind is Study:
            yield from cast("list[R]", self._studies(None if study is None else study.id))
            return
        if study is not None and kind in KEPT_IN_MEMORY:
            yield from self._unless_more_came(
                kind_name(kind), study, (kind,), lambda: tuple(self._iter_anew(kind, study))
            )
        else:
            yield from self._iter_anew(kind, study)

    def _iter_anew(self, kind: type[R], study: Study | None) -> Iterator[R]:
        query = select(TABLES[kind]) if study is None else study_query(kind, study)
        if study is not None and kind is Rater:
            self.people.people(study.id)  # whoever takes part is a rater: that is compared, too
        n_least = self._n_written(kind, study)
        n_read, found = 0, NOTHING
        for records, kept in self._records(kind, query):
            if study is not None:
                found = found.and_also(self._require_as_written(records, kept))
            n_read += len(records)
            yield from records
        self._require_all(kind, n_read, n_least)
        if study is not None and kind in CHECKED_WHOLE and found != self._written(kind):
            self._require_whole(kind, study)
        if study is not None and kind in OF_A_STUDY:
            # After what was read, so that what others add meanwhile is counted.
            self._require_no_more(kind, n_read, self._n_written(kind, study))

    def _unless_more_came(
        self, what: str, study: Study, kinds: Sequence[type[Any]], read: Callable[[], T]
    ) -> T:
        """Return what was read of a study last, or read it: records change by withdrawals only.

        `kinds` are those of whose records it is made; their totals say whether more came. They are
        read first, so that what comes meanwhile is found the next time.
        """
        state = (study.id, study.version, self.stamp(*kinds))
        last = self._last_read.get(what)
        if last is None or last[0] != state:
            last = self._last_read[what] = (state, read())
        return cast("T", last[1])

    def find(self, kind: type[R], ids: Sequence[str], *, are_there: bool = False) -> list[R]:
        """Return the records of a kind, no study, that have these ids, in the order of ids."""
        wanted = sorted(set(ids))
        with self._sound(kind):
            rows = self._read(lambda connection: list(rows_of_kind(connection, kind, wanted)))
            kept = [row.get("content") for row in rows]
            found = [cast("R", from_row(kind, row)) for row in rows]
        self._require_as_written(found, kept)
        if are_there and len(found) < len(wanted):
            lost = sorted(set(wanted) - {record.id for record in found})
            words = f"the {kind_name(kind)} {lost[0]}, to which others refer, is not there"
            raise self._damaged(words, ids=lost)
        return sorted(found, key=lambda record: record.id)

    def latest_study(self, study_id: str) -> Study | None:
        """Return the newest version of a study, or None."""
        return max(self._studies(study_id), key=lambda study: study.version, default=None)

    def _studies(self, study_id: str | None) -> list[Study]:
        """Return the versions of one study, which are as they were written, or of all."""
        with self._sound(Study):
            found = self._read(read_studies)
        studies = [study for study, _ in found]
        if study_id is None:
            return studies
        # All of them: where the newest version is gone, the one before must not pass for it.
        total = self._require_as_written(studies, [kept for _, kept in found])
        if total != self._written(Study):
            self._require_sound((Study,))
        return [study for study in studies if study.id == study_id]

    def unjudged(self, study: Study, *, is_checked: bool = False) -> Iterator[Assignment]:
        """Yield the study's assignments that have no judgment yet."""
        query = unjudged_query(study)

        def counts(connection: Connection) -> tuple[int, int, int]:
            # In this order, so that what others add meanwhile is never missed.
            n_judged = n_written(connection, Judgment, study.id)
            n_planned = n_written(connection, Assignment, study.id)
            if is_checked and n_judged == n_planned:
                return 0, n_planned, n_judged  # whoever wants them checked reads the judgments too
            found = connection.execute(select(func.count()).select_from(query.subquery()))
            n_open = found.scalar_one()
            return n_open, n_written(connection, Assignment, study.id), n_judged

        def count() -> int:
            n_open, n_planned, n_judged = self._read(counts)
            self._require_all(Judgment, n_planned - n_open, n_judged)
            return n_open

        n_open = self._unless_more_came("open", study, (Assignment, Judgment), count)
        return self._opened(query, is_checked=is_checked) if n_open else iter(())

    def _opened(self, query: Select[Any], *, is_checked: bool) -> Iterator[Assignment]:
        for records, kept in self._light_records(Assignment, query):
            if is_checked:
                self._require_as_written(records, kept)
            yield from records

    def open_pages(
        self, study: Study, rater_ids: Collection[str], *, begin: str
    ) -> Iterator[Sequence[Assignment]]:
        """Yield as `unjudged`, of these raters alone, a page each time, read when asked for."""
        a = schema.assignments.c
        of_raters = unjudged_query(study).where(a.rater_id.in_(sorted(rater_ids)))
        for part in (a.id >= begin, a.id < begin):
            yield from (
                records for records, _ in self._light_records(Assignment, of_raters.where(part))
            )

    def attempts_on(self, assignment_ids: Sequence[str]) -> list[Attempt]:
        """Return the failed calls for some assignments, in the order of ids."""
        about = schema.attempts.c.assignment_id
        queries = (
            select(schema.attempts).where(about.in_(some)) for some in in_groups(assignment_ids)
        )
        rows = [row for query in queries for row in self._rows(query)]
        with self._sound(Attempt):
            found = [from_row(Attempt, row) for row in rows]
        self._require_as_written(found, [row["content"] for row in rows])
        return sorted(found, key=lambda attempt: attempt.id)

    def planned(self, study: Study) -> Mapping[tuple[str, int], Mapping[str, int]]:
        """Return in how many orders each pair is assigned: by rater and repeat, then by pair."""
        return self._assigned(study)[0]

    def _assigned(self, study: Study) -> tuple[Planned, Planned]:
        """Return what is assigned, as `planned` does, and what of it has no judgment yet."""

        def rows(connection: Connection) -> tuple[Any, ...]:
            kinds = (Assignment, Judgment)
            n_least, n_judged = (n_written(connection, kind, study.id) for kind in kinds)
            planned = _bare_rows(planned_query(study), connection)
            # Each has one judgment at most: where as many were written, none is open.
            is_done = n_judged == len(planned)
            return n_least, planned, [] if is_done else _bare_rows(open_query(study), connection)

        def read() -> tuple[Planned, Planned]:
            with self._sound(Assignment):
                n_least, *found = self._read(rows)
                planned, open_ones = map(_by_rater, found)
            self._require_all(Assignment, len(found[0]), n_least)
            return planned, open_ones

        return self._unless_more_came("assigned", study, (Assignment, Judgment), read)

    def count_assigned(self, study: Study) -> Sequence[AssignedCount]:
        """Count the study's assignments about items and systems of this version, by rater."""

        def read() -> Sequence[AssignedCount]:
            planned, open_ones = self._assigned(study)
            with self._sound(Pair):
                rows = self._read(partial(_bare_rows, pairs_of_members_query(study)))
                pairs = {bytes.hex(id_) for (id_,) in rows}

            def n_of(some: Mapping[str, int]) -> int:
                return sum(n for pair, n in some.items() if pair in pairs)

            return [
                AssignedCount(*key, n, n - n_of(open_ones.get(key, {})))
                for key, of_rater in planned.items()
                if (n := n_of(of_rater))
            ]

        return self._unless_more_came("counts", study, (Assignment, Judgment), read)

    def judgment_table(
        self, study: Study, *, of_people: bool = False
    ) -> Iterator[Mapping[str, Any]]:
        """Yield the study's judgments, or those of people, as batches of parallel columns."""
        self._read(refresh_statistics)
        keys = (schema.assignments.c.id, schema.judgments.c.assignment_id)
        n_read, n_least = 0, self._n_written(Judgment, study)
        written, found = self._read(partial(as_read.written, study=study)), NOTHING
        sides = Sides()
        query = judgment_query(study, of_people=of_people)
        for rows in self._pages(Judgment, query, *keys, read=_bare_rows):
            if unknown := sides.unknown(rows):  # others may have added some meanwhile
                for page in self._sides(study, unknown if of_people else None):
                    sides.learn(page)
            with self._sound(Judgment):
                columns, packed = sides.complete(rows)
            if not of_people:
                found = found.and_also(as_read.total_of_packed(packed))
            n_read += len(rows)
            yield columns
        if of_people:
            return
        if n_read < n_least:
            n_read += len(self._rows(checks_query(study)))
        self._require_all(Judgment, n_read, n_least)
        self._require_no_more(Judgment, n_read, self._n_written(Judgment, study))
        if found != written:
            self._require_judged_as_written(study)

    def _sides(self, study: Study, only: Sequence[bytes] | None) -> Iterator[list[tuple[Any, ...]]]:
        """Yield rows of `side_query`: of all pairs of a study, in one go, or of some alone."""
        if only is None:
            yield from self._pages(Pair, side_query(study), schema.pairs.c.id, read=_bare_rows)
            return
        for some in in_groups(only):
            yield self._read(partial(_bare_rows, side_query(study, some)))

    def _require_judged_as_written(self, study: Study) -> None:
        """Check the records that a study's judgments are read from; raise where one was changed.

        Where none was, others have added some meanwhile, or their sum is not known yet.
        """
        try:
            if self._read(partial(as_read.is_as_read, study=study)):
                return
        except UNREADABLE:  # which value, the records will say
            pass
        self._require_sound((Rater, Completion, Pair, Assignment, Judgment))
        if not self._is_read_only:
            self._write_as("alone", partial(as_read.make_anew, study=study))

    def label_table(self, study: Study) -> Iterator[Mapping[str, Sequence[Any]]]:
        """Yield the labels of a study's texts as batches of parallel columns."""
        self._require_whole(Label, study)
        for columns in self._columns(Label, label_query(study), schema.labels.c.id):
            with self._sound(Label):
                if not set(columns["verdict"]) <= set(get_args(LabelVerdict)):
                    raise ValueError("a verdict is none")
            yield columns

    def labels_of(self, study: Study, taxonomy: str) -> Iterator[Label]:
        """Yield the labels of a study's texts by one taxonomy."""
        own = study_query(Label, study).where(schema.labels.c.taxonomy == taxonomy)
        self._require_whole(Label, study)
        for records, _ in self._records(Label, own):
            yield from records

    def labels_by_people(
        self, taxonomy: str, text_ids: Sequence[str], *, version: str | None = None
    ) -> list[Label]:
        """Return what people have said of some texts by a taxonomy, as it came in time."""
        ids = sorted(set(text_ids))
        with self._sound(Label):
            rows = self._read(lambda it: rows_by_people(it, taxonomy, version, ids))
            kept = [row.get("content") for row in rows]
            found = [from_row(Label, row) for row in rows]
        self._require_as_written(found, kept)
        return sorted(found, key=lambda label: (label.created_at, label.id))

    def _written(self, kind: type[Any]) -> Total:
        """Return what was ever added of a kind, of all studies."""
        of_studies = self._read(lambda it: read_totals(it, kind_name(kind))).values()
        return reduce(Total.and_also, of_studies, NOTHING)

    def _n_written(self, kind: type[Any], study: Study | None) -> int:
        """Return how many records a read must find at least; 0 where nobody can tell."""
        if study is not None and kind_name(kind) in MEMBER_FIELDS:
            return len(getattr(study, MEMBER_FIELDS[kind_name(kind)]))
        if study is not None and kind is Pair:
            return int(self._read(lambda it: it.execute(n_pairs_query(study)).scalar_one()))
        if study is not None and kind not in OF_A_STUDY:
            return 0
        study_id = None if study is None else study.id
        return self._read(partial(n_written, kind=kind, study_id=study_id))

    def _require_all(self, kind: type[Any], n_read: int, n_least: int) -> None:
        if n_read < n_least:
            raise self._damaged(
                f"{n_read:,} of {n_least:,} records of the kind {kind_name(kind)} can be read",
                ids=[kind_name(kind)],
            )

    def _require_no_more(self, kind: type[Any], n_read: int, n_most: int) -> None:
        if n_read > n_most:
            raise self._damaged(
                f"{n_read:,} records of the kind {kind_name(kind)} are there, {n_most:,} were"
                " written",
                ids=[kind_name(kind)],
            )

    def _require_whole(self, kind: type[Any], study: Study) -> None:
        """Check all records of a kind, of whatever study, once until more come."""
        if kind in CHECKED_WHOLE:
            check = partial(self._require_sound, (kind,))
            self._unless_more_came(f"all of {kind_name(kind)}", study, (kind,), check)

    def _require_sound(self, kinds: Sequence[type[Any]]) -> None:
        """Raise, naming them, where records of these kinds are not what was written."""
        if self._read(partial(is_as_written, kinds=kinds)):
            return
        check = partial(check_records, kinds=kinds, progress=lambda _kind, _n: None)
        self._require_none(self._read(check).faults)

    def _require_none(self, faults: Sequence[StoreFault]) -> None:
        if not faults:
            return
        said = [f"the {one.kind} {one.id}: {one.words}" for one in faults if one.id]
        said = said or [
            one.words if one.kind == DATABASE else f"of the kind {one.kind} {one.words}"
            for one in faults
        ]
        more = f", and {len(said) - NAMED:,} more" if len(said) > NAMED else ""
        ids = [one.id for one in faults if one.id] or [faults[0].kind]
        raise self._damaged(f"{'; '.join(said[:NAMED])}{more}", ids=ids)

    @contextmanager
    def _sound(self, kind: type[Any]) -> Iterator[None]:
        """Say that the store is damaged where a row is no record."""
        try:
            yield
        except UNREADABLE as error:
            words = f"a record of the kind {kind_name(kind)} cannot be read"
            raise self._damaged(words, ids=[kind_name(kind)]) from error

    def _damaged(self, words: str, *, ids: Sequence[str]) -> StoreError:
        return damaged(self._name, words, ids=ids)

    def keep_replies(self, replies: Sequence[StoredReply]) -> None:
        """Keep replies in one transaction; of two under one id the first stays."""
        if replies:
            self._write(lambda connection: keep(connection, replies))

    def keep_group(
        self,
        records: Sequence[Record],
        replies: Sequence[StoredReply],
        wanted: SetAside | None,
        *,
        is_gone: claims.IsGone,
    ) -> Balance | None:
        """Keep replies, append records and set aside for calls under way, in one transaction."""

        def keep_all(connection: Connection) -> Balance | None:
            keep(connection, replies)
            add(connection, records, first_stays=True)
            if wanted is None:
                return None
            if wanted.limit_usd is not None and wanted.wanted_usd:
                lock_money(connection)
            return ledger.set_aside(connection, wanted, is_gone=is_gone)

        return self._write(keep_all)

    def settle(self, cost: StoredReply, *, is_gone: claims.IsGone) -> InFlight | None:
        """Replace what processes that are gone had set aside by what it cost."""

        def settle(connection: Connection) -> InFlight | None:
            found = ledger.forget_in_flight(connection, is_gone=is_gone)
            if found is not None:
                keep(connection, [cost])
            return found

        return self._write_as("alone", settle)

    def look_around(self, owner: str, *, is_gone: claims.IsGone) -> Found:
        """Return what others have left here or do here now."""

        def look(connection: Connection) -> Found:
            others, n_claims = claims.look_around(connection, owner, is_gone=is_gone)
            in_flight = ledger.read_in_flight(connection, is_gone=is_gone)
            return Found(frozenset(others), n_claims, in_flight)

        return self._read(look)

    def find_reply(self, reply_id: str) -> StoredReply | None:
        """Return a reply that was kept, or None."""
        return next(iter(self.find_replies([reply_id])), None)

    def find_replies(self, reply_ids: Sequence[str]) -> Sequence[StoredReply]:
        """Return those of some replies that were kept."""
        return self._read(partial(find, reply_ids=reply_ids))

    def reply_ids(self, *, are_waiting: bool = False) -> frozenset[str]:
        """Return the ids of all replies that were kept, or of those in no record yet."""
        ids = select((schema.reply_texts if are_waiting else schema.replies).c.id)
        return frozenset(row["id"] for row in self._rows(ids))

    def keep_job(self, job: BatchJob) -> None:
        """Keep a batch job, or what has become known of it."""
        values = flat_fields(job)
        known = {name: values[name] for name in ("custom_ids", "remote_id", "closed_at")}

        def upsert(connection: Connection) -> None:
            inserting = insertion(connection, schema.batch_jobs).values(**values)
            updating = inserting.on_conflict_do_update(index_elements=["id"], set_=known)
            connection.execute(updating)

        self._write(upsert)

    def jobs(self) -> Sequence[BatchJob]:
        """Return all batch jobs in the order in which they were written down."""
        table = schema.batch_jobs
        rows = self._rows(select(table).order_by(table.c.created_at, table.c.id))
        return [BatchJob(**{**row, "custom_ids": tuple(row["custom_ids"])}) for row in rows]

    def call_sums(self, study: Study) -> Sequence[Mapping[str, Any]]:
        """Return sums of a study's calls by step, system or rater, and settings."""
        kept = self._read(partial(as_read.kept_calls, study=study))
        if kept is None:
            self._require_judged_as_written(study)
            kept = self._read(partial(as_read.called_in, study=study))
        names = ("owner_id", "requested", "effective")
        judged = [
            {**dict(zip(names, of, strict=True)), "n_calls": int(n), "usd": int(pico or 0) / 1e12}
            for *of, n, _, pico in kept
        ]
        others = {step: self._rows(query) for step, query in call_queries(study).items()}
        rows = {"completions": others.pop("completions"), "judgments": judged, **others}
        return [{"step": step, **row} for step, found in rows.items() for row in found]

    def usages(self, owner_id: str, *, n: int) -> Sequence[Mapping[str, Any]]:
        """Return the token counts of up to `n` replies of a system or an LLM judge."""
        for query in usage_queries(owner_id, n):
            if found := [row["usage"] for row in self._rows(query)]:
                return found
        return []

    def spent_usd(self) -> float:
        """Return what all replies that were kept have cost, unknown costs apart."""
        booked, is_written = self._read(lambda it: (ledger.read_booked(it), ledger.is_written(it)))
        if not is_written:
            words = f"what is booked is not what was written: {booked} US dollars"
            raise damaged(self._name, words, ids=["ledger"])
        return booked

    def enter_panel(self, owner: str, *, until: datetime, is_gone: claims.IsGone) -> int:
        """Be present, and renew one's claims; return the stamp of what was released last."""

        def enter(connection: Connection) -> int:
            ledger.renew(connection, owner, until=until)
            return claims.enter(connection, owner, until=until, is_gone=is_gone)

        return self._write_as("claims", enter)

    def claim(
        self,
        keys: Sequence[str],
        *,
        owner: str,
        until: datetime,
        seen: int,
        is_gone: claims.IsGone,
        done: Sequence[str] = (),
    ) -> Claimed:
        """Release what is done, and claim what is free of these questions."""
        taking = partial(claims.take, until=until, seen=seen, is_gone=is_gone)

        def take(connection: Connection) -> Claimed:
            if done:
                claims.release(connection, done, owner)
            return taking(connection, keys, owner)

        return self._write_as("claims", take)

    def now(self) -> datetime:
        """Return the time by the database's clock: of a file, by that of this machine."""
        if self._engine.dialect.name != "postgresql":
            return datetime.now(UTC)
        told = self._read(lambda it: it.execute(select(func.clock_timestamp())).scalar_one())
        return cast("datetime", told).astimezone(UTC)

    def divide(
        self,
        lines: Sequence[str],
        *,
        owner: str,
        until: datetime,
        is_gone: claims.IsGone,
    ) -> Mapping[str, float]:
        """Take an owner's share of each line to an endpoint; others are given back."""
        dividing = partial(shares.divide, lines=lines, owner=owner, until=until, is_gone=is_gone)
        return self._write_as("claims", dividing)

    def claimed(self, keys: Sequence[str], *, owner: str, is_gone: claims.IsGone) -> str | None:
        """Return one of these questions that another owner claims; None where none is."""
        return self._read(partial(claims.find_claimed, keys=keys, owner=owner, is_gone=is_gone))

    def release(self, keys: Sequence[str], *, owner: str) -> None:
        """Release an owner's claims on these questions."""
        self._write_as("claims", partial(claims.release, keys=keys, owner=owner))

    def leave_panel(self, owner: str, *, is_gone: claims.IsGone) -> None:
        """Release all claims of an owner, and what it has set aside; it is no longer present."""

        def leave(connection: Connection) -> None:
            ledger.leave(connection, owner)
            shares.divide(connection, (), owner=owner, until=claims.PAST, is_gone=is_gone)
            claims.leave(connection, owner, is_gone=is_gone)

        self._write_as("claims", leave)

    def data_hash(self) -> str:
        """Return one hash of all records that were added, as 64 hexadecimal digits."""
        return self._read(lambda connection: hash_of(read_totals(connection)))

    def check(self, *, progress: Callable[[str, int], None], see: See | None = None) -> StoreCheck:
        """Read every record again and compare it with what was written of it."""
        return self._read(partial(check_store, progress=progress, see=see))

    @contextmanager
    def naming_damage(self) -> Iterator[None]:
        """Say that the store is damaged where a fault of ours ends the block, and it is."""
        try:
            yield
        except (LookupError, TypeError, ValueError) as error:
            try:
                self._require_none(self.check(progress=lambda _kind, _n: None).faults)
            except StoreError as found:
                raise found from error
            raise

    def stamp(self, *kinds: type[Any]) -> Hashable:
        """Return what is another as soon as a record of these kinds came or was withdrawn."""
        written = self._read(lambda it: read_totals(it, *map(kind_name, kinds)))
        return tuple(sorted(written.items()))

    def schema_version(self) -> str | None:
        """Return the version of its tables, which is today's; None where they are gone."""
        return self._read(partial(read_version, name=self._name))

    def served(self, study: Study) -> Served | None:
        """Return who serves a study to people; None where the database keeps no such locks."""
        return self._read(lambda it: read_served(it, study.id))

    def serving(self, study: Study) -> Serving:
        """Return what a server has to close once it no longer serves this version of a study."""
        return Serving(self._engine, study, name=self._name)

    def fingerprint(self, study: Study) -> str:
        """Return a hash of what the store holds of a study."""
        return self._read(lambda it: fingerprint(it.connection.driver_connection, study.name))

    def _records(self, kind: type[R], query: Select[Any]) -> Iterator[Page[R]]:
        if kind is Assignment or kind is Pair:
            yield from cast("Iterator[Page[R]]", self._light_records(kind, query))
            return
        names = query.selected_columns.keys()
        for page in self._pages(kind, query, TABLES[kind].c.id):
            with self._sound(kind):
                rows = [dict(zip(names, row, strict=True)) for row in page]
                kept = [row["content"] for row in rows]
                found = [cast("R", from_row(kind, row)) for row in rows]
            yield found, kept

    def _require_as_written(
        self, records: Sequence[Record], contents: Sequence[str | None]
    ) -> Total:
        """Return the total of records; raise where one is not what its row's hash says."""
        hashes = [content_of(record) for record in records]
        for record, hash_, kept in zip(records, hashes, contents, strict=True):
            if hash_ != kept:
                raise self._damaged(
                    f"the {kind_name(type(record))} {record.id} is not what was written",
                    ids=[record.id],
                )
        return NOTHING.plus(hashes)

    def _light_records(self, kind: type[R], query: Select[Any]) -> Iterator[Page[R]]:
        """Yield pages of assignments or pairs, of which a study has hundreds of thousands."""
        names, make = LIGHT[kind]
        light = query.with_only_columns(
            *(query.selected_columns[one] for one in (*names, "content"))
        )
        for columns in self._columns(kind, light, TABLES[kind].c.id):
            with self._sound(kind):
                found = [*map(make, *(columns[name] for name in names))]
            yield found, columns["content"]

    def _columns(
        self, kind: type[Any], query: Select[Any], *keys: Column[str]
    ) -> Iterator[dict[str, list[Any]]]:
        """Yield pages of a query, as `_pages`, as columns by name; they are of one length."""
        selected = query.selected_columns
        ids = {name: column.type for name, column in selected.items() if is_id(column)}
        own = {next(iter(ids)), *(name for name, kind in ids.items() if type(kind) is schema.Hash)}
        digits = schema.Digits()
        for page in self._pages(kind, query, *keys, read=_bare_rows):
            values = map(list, zip(*page, strict=True))
            columns: dict[str, list[Any]] = dict(zip(selected.keys(), values, strict=True))
            with self._sound(kind):
                for name in ids:
                    as_text = bytes.hex if name in own else digits.__getitem__
                    columns[name] = [*map(as_text, columns[name])]
            yield columns

    def _pages(
        self,
        kind: type[Any],
        query: Select[Any],
        *keys: Column[str],
        read: Callable[[Select[Any], Connection], list[tuple[Any, ...]]] | None = None,
    ) -> Iterator[list[tuple[Any, ...]]]:
        """Yield a query's rows page by page, ordered by its first column, which is an id.

        Keys are that column, and others that are always equal to it: each page starts after the
        last one in all of their indexes.
        """
        ordered = query.order_by(keys[0]).limit(PAGE_ROWS)
        last: str | None = None
        while True:
            page = ordered
            if last is not None:
                page = ordered.where(*(k > last for k in keys)).params({AFTER.key: last})
            with self._sound(kind):
                rows = self._read(partial(read or _tuples_of, page))
            if rows:
                last = rows[-1][0].hex() if isinstance(rows[-1][0], bytes) else rows[-1][0]
                yield rows
            if len(rows) < PAGE_ROWS:
                return

    def _rows(self, query: Select[Any]) -> list[dict[str, Any]]:
        return self._read(partial(rows_of, query))

    def _write(self, work: Callable[[Connection], T]) -> T:
        """Append in a transaction of our own, beside others who do."""
        return self._write_as("beside", work)

    def _write_as(self, lock: Lock, work: Callable[[Connection], T]) -> T:
        """Write in a transaction; where another has just appended the same, once more alone."""
        try:
            return self._patiently(partial(self._transaction, work, lock))
        except StoreError as error:
            if lock == "alone" or not is_clash(error.__cause__):
                raise
        return self._patiently(partial(self._transaction, work, "alone"))

    def _transaction(self, work: Callable[[Connection], T], lock: Lock) -> T:
        with self._one_writer(), self._engine.connect() as bare:
            connection = bare.execution_options(heart_lock=lock)
            with connection.begin():
                with totals_written(connection):
                    done = work(connection)
                self._require_same_file()
            return done

    @contextmanager
    def _one_writer(self) -> Iterator[None]:
        """Let the threads of this process write a file one after another.

        SQLite would have each try again and again, and some would wait very long: with 40 threads
        the slowest hundredth waits 0.5 to 0.8 s, in a queue 0.2 to 0.3 (DESIGN section 4).
        """
        # A queue within this process is no outage: it moves on, however busy the machine is.
        seconds = max(self._patience_seconds, QUEUE_SECONDS) if self._patience_seconds else -1
        if not self._writer.acquire(timeout=seconds):
            raise StoreError(f"store {self._name} is busy: others have been writing to it too long")
        try:
            yield
        finally:
            self._writer.release()

    def _require_same_file(self) -> None:
        """Raise before a commit into a file that is no longer where it was."""
        if self._file is not None and file_identity(self._name) != self._file:
            raise StoreError(
                f"store {self._name} was deleted, renamed or replaced while it was in use; nothing "
                "more is written. Put it back, or begin anew, and run the same again"
            )

    def _read(self, work: Callable[[Connection], T]) -> T:
        def transaction() -> T:
            with self._engine.connect() as connection:
                reader = connection.execution_options(**as_reader(self._engine))
                with reader.begin():
                    return work(reader)

        return self._patiently(transaction)

    def _patiently(self, transaction: Callable[[], T]) -> T:
        try:
            with self._one_at_a_time:
                return run_patiently(
                    transaction,
                    name=self._name,
                    patience_seconds=self._patience_seconds,
                    outage=self._outage,
                )
        except schema.NoIdError as error:
            raise self._damaged("an id in it cannot be read", ids=["id"]) from error


def _by_rater(rows: Sequence[_Asked]) -> Planned:
    """Return how often each pair stands in rows, by rater and repeat, then by pair."""
    found: defaultdict[tuple[str, int], dict[str, int]] = defaultdict(dict)
    digits = schema.Digits()
    for (pair_id, rater_id, repeat), n in Counter(rows).items():
        found[digits[rater_id], repeat][digits[pair_id]] = n
    return dict(found)


def _bare_rows(query: Select[Any], connection: Connection) -> list[tuple[Any, ...]]:
    """Return rows as the driver has them, ids as bytes: in half the time."""
    driver_error = connection.dialect.loaded_dbapi.Error
    with closing(connection.execute(with_id_bytes(query))) as result:
        assert result.cursor is not None
        try:
            return cast("list[tuple[Any, ...]]", result.cursor.fetchall())
        except driver_error as error:  # as of any other read
            raise DBAPIError.instance(None, None, error, driver_error) from error


def _tuples_of(query: Select[Any], connection: Connection) -> list[tuple[Any, ...]]:
    return cast("list[tuple[Any, ...]]", connection.execute(query).fetchall())
