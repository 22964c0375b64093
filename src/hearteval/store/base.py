"""What a store promises. Steps and the command line know only this; SQL appears in `sql` alone.

Rules every store keeps, tested by one class for all of them (``tests/contract``):

- `add` is one transaction: after it returns, all of its records are durable; if it fails, none is.
- `add` is idempotent by id. The same id with other content, ``created_at`` apart, is a `StoreError`
  that names the record, and nothing of that batch is stored.
- Iteration is in the order of ids, sees what was committed before each page of it, and may be
  interleaved with `add`.
- Records come back equal to what went in.
"""

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from hearteval.domain import (
    Assignment,
    Attempt,
    BatchJob,
    InFlight,
    Label,
    Study,
)
from hearteval.store.people.base import PeopleStore
from hearteval.store.records import (
    AssignedCount,
    Balance,
    Claimed,
    Found,
    R,
    Record,
    SetAside,
    StoredReply,
)
from hearteval.store.serving import Served, Serving


class Store(Protocol):
    """One study store: a SQLite file, a database, or memory."""

    @property
    def people(self) -> PeopleStore:
        """The people of its studies, and what is given to them."""
        ...

    def add(self, records: Sequence[Record], *, first_stays: bool = False) -> int:
        """Append records in one transaction; return how many were new.

        With `first_stays` a record that contradicts a stored one, or answers again what is
        answered, is left out: another process was first.

        Raises:
            StoreError: A record contradicts a stored one, refers to one that is not there, or the
                database cannot be written.
        """
        ...

    def iter(self, kind: type[R], study: Study | None = None) -> Iterator[R]:
        """Yield the records of a kind in the order of their ids.

        With a study: its items, systems and raters, as listed in this version; screenings,
        completions and failed calls of these, and their latency probes under this study; and the
        pairs, assignments, judgments and ratings that were planned under this study; and labels of
        these completions and judgments. Without one: everything of that kind.
        """
        ...

    def find(self, kind: type[R], ids: Sequence[str], *, are_there: bool = False) -> list[R]:
        """Return the records of a kind, no study, that have these ids, in the order of ids.

        Where others that are stored say that they `are_there`, one that is not is a `StoreError`.
        """
        ...

    def latest_study(self, study_id: str) -> Study | None:
        """Return the newest version of a study, or None if the store has never seen it."""
        ...

    def unjudged(self, study: Study, *, is_checked: bool = False) -> Iterator[Assignment]:
        """Yield the study's assignments that have no judgment yet, in the order of their ids.

        Where they are checked, one that is not what was written is a `StoreError`.
        """
        ...

    def open_pages(
        self, study: Study, rater_ids: Collection[str], *, begin: str
    ) -> Iterator[Sequence[Assignment]]:
        """Yield as `unjudged`, of these raters alone, a page each time, read when it is asked for.

        They go from the id `begin` to the last one, then from the first one to `begin`.
        """
        ...

    def attempts_on(self, assignment_ids: Sequence[str]) -> list[Attempt]:
        """Return the failed calls for some assignments, in the order of ids."""
        ...

    def planned(self, study: Study) -> Mapping[tuple[str, int], Mapping[str, int]]:
        """Return in how many orders each pair is assigned: by rater and repeat, then by pair."""
        ...

    def count_assigned(self, study: Study) -> Sequence[AssignedCount]:
        """Count the study's assignments about items and systems of this version, by rater."""
        ...

    def judgment_table(
        self, study: Study, *, of_people: bool = False
    ) -> Iterator[Mapping[str, Any]]:
        """Yield the study's judgments as batches of parallel columns, for analysis.

        They are the fields of its `JudgmentRow`: ids of assignments as `Ids`, what many rows say as
        `Coded`; whole numbers as arrays, choices as places in `CHOICES`, 0 where there is no
        strength, marks as `pack_marks` has them. No texts, no costs. Judgments of attention checks
        are left out. People's alone are not compared with the sum of what was written.
        """
        ...

    def label_table(self, study: Study) -> Iterator[Mapping[str, Sequence[Any]]]:
        """Yield the labels of a study's texts as batches of parallel columns, for analysis.

        They are ``id``, ``text_id``, ``taxonomy``, ``category``, ``verdict``, ``score``,
        ``rater_id``.
        """
        ...

    def labels_of(self, study: Study, taxonomy: str) -> Iterator[Label]:
        """Yield the labels of a study's texts by one taxonomy, as `iter` does of all."""
        ...

    def labels_by_people(
        self, taxonomy: str, text_ids: Sequence[str], *, version: str | None = None
    ) -> list[Label]:
        """Return what people have said of some texts by a taxonomy, as it came in time.

        Labels of another `version` than this are none of them.
        """
        ...

    def keep_replies(self, replies: Sequence[StoredReply]) -> None:
        """Keep replies in one transaction; of two under one id the first stays."""
        ...

    def keep_group(
        self,
        records: Sequence[Record],
        replies: Sequence[StoredReply],
        wanted: SetAside | None,
        *,
        is_gone: Callable[[str, datetime], bool],
    ) -> Balance | None:
        """Keep replies, append records as `add` with `first_stays`, and set aside, all in one.

        Raises:
            StoreError: As `add`.
        """
        ...

    def settle(
        self, cost: StoredReply, *, is_gone: Callable[[str, datetime], bool]
    ) -> InFlight | None:
        """Replace what processes that are gone had set aside by what it cost; return the former."""
        ...

    def look_around(self, owner: str, *, is_gone: Callable[[str, datetime], bool]) -> Found:
        """Return what others have left here or do here now; nothing is changed."""
        ...

    def find_reply(self, reply_id: str) -> StoredReply | None:
        """Return a reply that was kept, or None."""
        ...

    def find_replies(self, reply_ids: Sequence[str]) -> Sequence[StoredReply]:
        """Return those of some replies that were kept, in no order."""
        ...

    def reply_ids(self, *, are_waiting: bool = False) -> frozenset[str]:
        """Return the ids of all replies that were kept, or of those in no record yet."""
        ...

    def keep_job(self, job: BatchJob) -> None:
        """Keep a batch job, or what has become known of it: its provider's id, its end."""
        ...

    def jobs(self) -> Sequence[BatchJob]:
        """Return all batch jobs in the order in which they were written down."""
        ...

    def call_sums(self, study: Study) -> Sequence[Mapping[str, Any]]:
        """Return sums of a study's calls, by step, system or rater, and settings.

        They have the fields of `hearteval.analysis.calls.CallSum`; unknown costs count as nothing.
        """
        ...

    def usages(self, owner_id: str, *, n: int) -> Sequence[Mapping[str, Any]]:
        """Return the token counts of up to `n` replies of a system or an LLM judge.

        They became completions, judgments or ratings, of whatever study; which they are depends on
        ids, not on time.
        """
        ...

    def spent_usd(self) -> float:
        """Return what all replies that were kept have cost, unknown costs apart."""
        ...

    def enter_panel(
        self, owner: str, *, until: datetime, is_gone: Callable[[str, datetime], bool]
    ) -> int:
        """Be present, and renew one's claims; return the stamp of what was released last.

        `is_gone` says of an owner and the end of its lease whether its claims count no more.
        """
        ...

    def claim(
        self,
        keys: Sequence[str],
        *,
        owner: str,
        until: datetime,
        seen: int,
        is_gone: Callable[[str, datetime], bool],
        done: Sequence[str] = (),
    ) -> Claimed:
        """Claim what is free of these questions: never claimed, or released not after `seen`.

        What is done is released in the same transaction.
        """
        ...

    def now(self) -> datetime:
        """Return the time by the database's clock, UTC, by which all processes' leases end."""
        ...

    def divide(
        self,
        lines: Sequence[str],
        *,
        owner: str,
        until: datetime,
        is_gone: Callable[[str, datetime], bool],
    ) -> Mapping[str, float]:
        """Take an owner's share, 0 to 1, of each line to an endpoint; others are given back."""
        ...

    def claimed(
        self, keys: Sequence[str], *, owner: str, is_gone: Callable[[str, datetime], bool]
    ) -> str | None:
        """Return one of these questions that another owner claims; None where none is."""
        ...

    def release(self, keys: Sequence[str], *, owner: str) -> None:
        """Release an owner's claims on these questions."""
        ...

    def leave_panel(self, owner: str, *, is_gone: Callable[[str, datetime], bool]) -> None:
        """Release all claims of an owner, and what it has set aside; it is no longer present."""
        ...

    def data_hash(self) -> str:
        """Return one hash of all records that were added; the same records, the same hash."""
        ...

    def fingerprint(self, study: Study) -> str:
        """Return a hash of what the store holds of a study, by which a change of it is seen."""
        ...

    def stamp(self, *kinds: type[Any]) -> Hashable:
        """Return what is another as soon as a record of these kinds came or was withdrawn."""
        ...

    def schema_version(self) -> str | None:
        """Return the version of its tables, which is today's; None where they are gone.

        Raises:
            StoreError: It cannot be reached, or has tables of another version.
        """
        ...

    def served(self, study: Study) -> Served | None:
        """Return who serves a study to people; None where the database keeps no such locks."""
        ...

    def serving(self, study: Study) -> Serving:
        """Return what a server has to close once it no longer serves this version of a study."""
        ...

    def close(self) -> None:
        """Release the database; the store cannot be used afterwards."""
        ...
