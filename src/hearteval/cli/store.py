"""``heart store``: move studies between databases."""

from contextlib import closing
from pathlib import Path

import click

from hearteval.cli.console import Terminal, emit_json
from hearteval.cli.options import json_option
from hearteval.errors import StoreError


@click.group("store")
def command() -> None:
    """Move studies between databases."""


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
    from hearteval.store.engines import require_store
    from hearteval.store.sql import SqlStore

    source = source.removeprefix("sqlite:///")
    if "://" not in source and not Path(source).is_file():
        raise StoreError(f"{source}: there is no such store; check the path")
    require_store(source)
    if source == target.removeprefix("sqlite:///"):
        raise StoreError(f"{source}: a store cannot be copied onto itself; name another target")
    with closing(SqlStore.open(source)) as old, closing(SqlStore.open(target)) as new:
        require_room(old, new)
        with Terminal().progress("copying") as progress:
            n_new = copy_store(old, new, progress=lambda _kind, done: progress(done, None))
        hashes = {"from": store_hashes(old), "to": store_hashes(new)}
    require_equal(hashes["from"], hashes["to"])
    if as_json:
        by_side = {side: dict(by_kind) for side, by_kind in hashes.items()}
        emit_json("store_copy", {"n_new": dict(n_new), "hashes": by_side})
        return
    click.echo(f"{'kind':<12}{'new':>9}  hash (the same for both)")
    for kind, digest in hashes["to"].items():
        click.echo(f"{kind:<12}{n_new[kind]:>9}  {digest[:32]}")
