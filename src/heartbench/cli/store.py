"""``heart store``: move studies between databases."""

import click

from heartbench.cli.options import json_option


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
    from pathlib import Path

    from heartbench.cli.console import emit_json, progress_bar
    from heartbench.errors import StoreError
    from heartbench.store.copy import copy_store, require_equal, require_room, store_hashes
    from heartbench.store.probe import require_store
    from heartbench.store.sql import SqlStore

    source = source.removeprefix("sqlite:///")
    if "://" not in source and not Path(source).is_file():
        raise StoreError(f"{source}: there is no such store; check the path")
    require_store(source)
    if source == target.removeprefix("sqlite:///"):
        raise StoreError(f"{source}: a store cannot be copied onto itself; name another target")
    old = SqlStore.open(source)
    new = SqlStore.open(target)
    try:
        require_room(old, new)
        with progress_bar("copying") as progress:
            n_new = copy_store(old, new, progress=lambda _kind, done: progress(done, None))
        hashes = {"from": store_hashes(old), "to": store_hashes(new)}
    finally:
        old.close()
        new.close()
    require_equal(hashes["from"], hashes["to"])
    if as_json:
        emit_json(
            "store_copy",
            {
                "n_new": dict(n_new),
                "hashes": {side: dict(by_kind) for side, by_kind in hashes.items()},
            },
        )
        return
    click.echo(f"{'kind':<12}{'new':>9}  hash (the same for both)")
    for kind, digest in hashes["to"].items():
        click.echo(f"{kind:<12}{n_new[kind]:>9}  {digest[:32]}")
