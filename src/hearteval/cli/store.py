"""``heart store``: move studies between databases, and see whether one was changed."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hearteval.cli.console import Terminal, emit_json, say
from hearteval.cli.options import FiniteFloat, json_option
from hearteval.errors import MAX_FAULTS_SHOWN, StoreError
from hearteval.report.text import plural, printable, wrapped

if TYPE_CHECKING:
    from hearteval.store.sql import SqlStore

MAX_FAULTS_IN_JSON = 1_000
KINDS = {"latencyprobe": "latency probe", "storedreply": "stored reply"}
"""Kinds of records whose names are two words."""


@click.group("store")
def command() -> None:
    """Move studies between databases, and see whether one was changed."""


@command.command("copy")
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@json_option
def copy(source: str, target: str, *, as_json: bool) -> None:
    """Copy everything from one store to another and show the same hashes for both.

    A store is the path of a SQLite file or a PostgreSQL address; leave passwords to PGPASSWORD or
    a .pgpass file. Interrupted and run again, it goes on.
    """
    from hearteval.store.copy import copy_store, require_equal, require_room, store_hashes
    from hearteval.store.sql import SqlStore
    from hearteval.study.simulation.apart import require_one_sort_of_stores

    source = source.removeprefix("sqlite:///")
    _require_there(source)
    if source == target.removeprefix("sqlite:///"):
        raise StoreError(f"{source}: a store cannot be copied onto itself; name another target")
    with closing(SqlStore.open(source)) as old, closing(SqlStore.open(target)) as new:
        require_one_sort_of_stores(old, new)
        _say_simulated(old)
        require_room(old, new)
        with Terminal().progress("copying") as progress:
            n_new = copy_store(old, new, progress=_in_all(progress))
        hashes = {"from": store_hashes(old), "to": store_hashes(new)}
    require_equal(hashes["from"], hashes["to"])
    if as_json:
        by_side = {side: dict(by_kind) for side, by_kind in hashes.items()}
        emit_json("store_copy", {"n_new": dict(n_new), "hashes": by_side})
        return
    say(f"{'kind':<12}{'new':>9}  hash (the same for both)")
    for kind, digest in hashes["to"].items():
        say(f"{kind:<12}{n_new[kind]:>9}  {digest[:32]}")


@command.command("verify")
@click.argument("place", metavar="STORE")
@json_option
def verify(place: str, *, as_json: bool) -> None:
    """Read a whole store again and say what is not as it was written.

    A store is the path of a SQLite file or a PostgreSQL address, or the study file whose store it
    is. Every record's id and content are hashed anew, what the judges replied is read anew, records
    are counted, and the database checks itself. Exit code 1 where anything differs.
    """
    from hearteval.store.sql import SqlStore
    from hearteval.study.verify import verify_store

    place = _place_of(place)
    with (
        closing(SqlStore.open_to_read(place)) as store,
        Terminal().progress("verifying") as progress,
    ):
        _say_simulated(store)
        checked = verify_store(store, progress=_in_all(progress))
    by_kind = checked.by_kind
    if as_json:
        body = {
            "hash": checked.hash,
            "hashes": {kind: total.as_hex for kind, total in by_kind.items()},
            "n": {kind: total.n for kind, total in by_kind.items()},
            "n_faults": len(checked.faults),
            "faults": [fault._asdict() for fault in checked.faults[:MAX_FAULTS_IN_JSON]],
        }
        emit_json("store_verify", body)
    else:
        n = plural(sum(total.n for total in by_kind.values()), "record")
        say(wrapped(_verdict(n, len(checked.faults)), indent=""))
        for kind, total in by_kind.items():
            if total.n:
                say(f"{KINDS.get(kind, kind):<14}{total.n:>9,}  {total.as_hex}")
        say(f"hash of all   {checked.hash}")
    for one in checked.faults[:MAX_FAULTS_SHOWN]:
        Terminal().warn(printable(f"{f'{one.kind} {one.id}'.strip()}: {one.words}"))
    if checked.faults:
        raise click.exceptions.Exit(1)


@command.command("settle")
@click.argument("place", metavar="STORE")
@click.argument("usd", metavar="DOLLARS", type=FiniteFloat(min=0))
@json_option
def settle(place: str, usd: float, *, as_json: bool) -> None:
    """Say what the calls cost that killed runs had in flight.

    Until then the most that they may have cost counts as spent. STORE is the study file whose store
    it is, the path of a SQLite file or a PostgreSQL address; DOLLARS is what the provider billed
    for those calls alone: 0 for nothing. Done again, it changes nothing.
    """
    from hearteval.models.prices import money
    from hearteval.store.sql import SqlStore
    from hearteval.study.asking.others import settle_in_flight
    from hearteval.study.session import utc_now

    with closing(SqlStore.open(_place_of(place))) as store:
        done = settle_in_flight(store, usd, now=utc_now)
    spent = f"${money(done.spent_usd)}"
    if as_json:
        emit_json("store_settle", asdict(done))
    elif done.replaced is None:
        say(f"Nothing is in flight, and nothing is changed: {spent} are spent.")
    else:
        say(
            f"${money(usd)} are booked for about {plural(done.replaced.n_calls, 'call')} in place"
            f" of at most ${money(done.replaced.usd)}: {spent} are spent in all."
        )


def _place_of(place: str) -> str:
    """Return where a store is that is there, from its place or its study file."""
    from hearteval.config import load_study

    if Path(place).suffix == ".toml":
        place = load_study(Path(place), is_of_items=True).store
    _require_there(place)
    return place


def _say_simulated(store: "SqlStore") -> None:
    from hearteval.study.simulation.apart import holds_simulated

    if holds_simulated(store):
        Terminal().say_simulated()


def _in_all(progress: Callable[[int, int | None], None]) -> Callable[[str, int], None]:
    """Show how many records of all kinds are done, from how many of each."""
    done_of: dict[str, int] = {}

    def advance(kind: str, done: int) -> None:
        done_of[kind] = done
        progress(sum(done_of.values()), None)

    return advance


def _verdict(n_records: str, n_faults: int) -> str:
    if not n_faults:
        return f"Nothing was changed: {n_records} are as they were written."
    return (
        f"The store was changed or damaged after it was written: {plural(n_faults, 'fault')} in"
        f" {n_records}. Go on with a copy from before."
    )


def _require_there(place: str) -> None:
    from hearteval.store.engines import require_store

    path = place.removeprefix("sqlite:///")
    if "://" not in path and not Path(path).is_file():
        raise StoreError(f"{path}: there is no such store; check the path")
    require_store(place)
