"""A whole store from one database to another, with a hash of each kind that both must share."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice

from hearteval.domain import canonical_json
from hearteval.errors import StoreError
from hearteval.store.base import Store
from hearteval.store.records import Record, SetAside
from hearteval.store.rows import TABLES, kind_name
from hearteval.store.sharing.panel import Panel

LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
BATCH = 2_000
REPLY_BATCH = 500


def copy_store(
    source: Store, target: Store, *, progress: Callable[[str, int], None]
) -> Mapping[str, int]:
    """Add every record of a store to another; interrupted and run again, it goes on.

    The target may hold other records already; `progress` is told a kind and how many of it are
    there. Return by kind how many records were new to the target.

    Raises:
        StoreError: A record contradicts one that the target holds.
    """
    # First: their records then hold their texts.
    n_replies = _copy_replies(source, target, progress=progress)
    n_new = {}
    for kind in TABLES:
        n_done = n_added = 0
        records = source.iter(kind)
        while batch := list(islice(records, BATCH)):
            n_added += target.add(batch)
            n_done += len(batch)
            progress(kind_name(kind), n_done)
        n_new[kind_name(kind)] = n_added
    n_new["reply"] = n_replies
    n_new["person"] = _copy_people(source, target)
    n_new["batch_job"] = _copy_jobs(source, target)
    _copy_in_flight(source, target)
    return n_new


def _copy_replies(source: Store, target: Store, *, progress: Callable[[str, int], None]) -> int:
    """Copy the replies that were paid for: without them the study's limit would begin anew."""
    missing = sorted(source.reply_ids() - target.reply_ids())
    for start in range(0, len(missing), REPLY_BATCH):
        target.keep_replies(source.find_replies(missing[start : start + REPLY_BATCH]))
        progress("reply", min(start + REPLY_BATCH, len(missing)))
    return len(missing)


def _copy_people(source: Store, target: Store) -> int:
    """Copy who takes part, what is given to whom, and what happened; return how many are new."""
    rows = source.people.read_all()
    before = {row["id"] for row in target.people.read_all()["people"]}
    target.people.write_all(rows)
    return sum(row["id"] not in before for row in rows["people"])


def _copy_jobs(source: Store, target: Store) -> int:
    """Copy what is known of batch jobs; what the target knows more of them stays."""
    known = {job.id: job for job in target.jobs()}
    for job in source.jobs():
        there = known.get(job.id, job)
        target.keep_job(
            replace(
                job,
                custom_ids=there.custom_ids,
                remote_id=there.remote_id or job.remote_id,
                closed_at=there.closed_at or job.closed_at,
            )
        )
    return len({job.id for job in source.jobs()} - known.keys())


def _copy_in_flight(source: Store, target: Store) -> None:
    """Copy what killed processes had in flight, so that the target counts it as spent too."""
    found = Panel(source).look_around().in_flight
    if found is not None:
        at_most = SetAside(
            owner="copied",
            until=LONG_AGO,
            limit_usd=None,
            held_usd=found.usd,
            least_usd=found.usd,
            wanted_usd=found.usd,
            later_usd=0.0,
            n_calls=found.n_calls,
        )
        target.keep_group((), (), at_most, is_gone=Panel(target).is_gone)


def require_room(source: Store, target: Store) -> None:
    """Raise `StoreError`, before anything is copied, if the target holds records of its own."""
    for kind in TABLES:
        known = {record.id for record in source.iter(kind)}
        if any(record.id not in known for record in target.iter(kind)):
            raise StoreError(
                f"the target holds a {kind_name(kind)} that the source has not; nothing was "
                "copied. Copy into an empty database",
                ids=(kind_name(kind),),
            )
    known = {event.hash for event in source.people.events()}
    if any(event.hash not in known for event in target.people.events()):
        raise StoreError(
            "people have taken part in the target; nothing was copied. Copy into an empty database",
            ids=("person",),
        )


def store_hashes(store: Store) -> Mapping[str, str]:
    """Hash every record of each kind, times included, in the order of ids, and of people all."""
    people = store.people.read_all()
    rows = {name: sorted(map(repr, people[name])) for name in sorted(people)}
    of_people = hashlib.sha256(repr(rows).encode(errors="surrogatepass")).hexdigest()
    return {**{kind_name(kind): _hash_kind(store, kind) for kind in TABLES}, "person": of_people}


def require_equal(one: Mapping[str, str], other: Mapping[str, str]) -> None:
    """Raise `StoreError` naming the kinds unless two stores hash alike."""
    different = [kind for kind in one if one[kind] != other[kind]]
    if different:
        raise StoreError(
            f"the copy differs in {', '.join(different)}: the target holds records that the source "
            "has not, or the source has grown meanwhile; copy again, or into an empty database",
            ids=different,
        )


def _hash_kind(store: Store, kind: type[Record]) -> str:
    digest = hashlib.sha256()
    for record in store.iter(kind):
        created_at = getattr(record, "created_at", None)
        time = created_at.isoformat() if created_at else ""
        digest.update(f"{canonical_json(record)}\n{time}\n".encode(errors="surrogatepass"))
    return digest.hexdigest()
