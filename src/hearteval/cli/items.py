"""``heart items``: build items from a corpus, check item files."""

from collections import Counter
from dataclasses import asdict
from pathlib import Path

import click

from hearteval.cli.console import Terminal, emit_json
from hearteval.cli.options import json_option


@click.group("items")
def command() -> None:
    """Build and check items."""


@command.command("build")
@click.option("--source", type=click.Choice(["esconv"]), required=True, help="The corpus.")
@click.option(
    "--from",
    "folder",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    required=True,
    help="Folder that holds the corpus.",
)
@click.option(
    "--regular", type=click.IntRange(min=1), default=280, show_default=True, help="Items wanted."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("items.jsonl"),
    show_default=True,
    help="Item file to write; FILE.screening.jsonl is written beside it.",
)
@click.option("--force", is_flag=True, help="Replace files that hold other content.")
@json_option
def build(
    source: str, folder: Path, regular: int, seed: int, out: Path, *, force: bool, as_json: bool
) -> None:
    """Select items from a corpus and write them with the evidence for every verdict.

    Where fewer dialogue turns qualify than are wanted, the shortfall is reported and never filled.
    """
    from hearteval.domain import hash_records
    from hearteval.study.exchange import build_item_file

    tell = Terminal()
    tell.note(f"reading {source} from {folder} …")
    built = build_item_file(folder, out, regular=regular, seed=seed, replace=force, tell=tell)
    if as_json:
        body = {
            "n_selected": len(built.items),
            "n_requested": regular,
            "shortfall": built.shortfall,
            "funnel": [asdict(step) for step in built.funnel],
            "path": str(out),
            "items_hash": hash_records(built.items),
        }
        emit_json("items", body)
        return
    click.echo(f"{'rule':<22}{'in':>8}{'out':>8}{'rejected':>10}")
    for step in built.funnel:
        click.echo(f"{step.rule:<22}{step.n_in:>8}{step.n_out:>8}{step.n_in - step.n_out:>10}")
    click.echo(f"\n{len(built.items)} items: {out}\nevidence: {out}.screening.jsonl")


@command.command("check")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@json_option
def check(file: Path, *, as_json: bool) -> None:
    """Check an item file: format, rules of each item, ids; and the evidence beside it, if any."""
    from hearteval.domain import hash_records
    from hearteval.study.exchange import read_checked_items

    items, n_screenings = read_checked_items(file)
    subsets = Counter(item.subset for item in items)
    n_references = sum(item.reference is not None for item in items)
    items_hash = hash_records(items)
    if as_json:
        body = {
            "path": str(file),
            "n_items": len(items),
            "n_by_subset": dict(sorted(subsets.items())),
            "n_references": n_references,
            "n_screenings": n_screenings,
            "items_hash": items_hash,
        }
        emit_json("items_check", body)
        return
    counts = ", ".join(f"{n} {subset}" for subset, n in sorted(subsets.items()))
    click.echo(
        f"{file}: {len(items)} items ({counts}), {n_references} with a reference reply, "
        f"{n_screenings} verdicts beside it; hash {items_hash[:16]}"
    )
