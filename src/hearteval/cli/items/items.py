"""``heart items``: build items from a corpus, screen them; start, check and convert files."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hearteval.cli.console import Terminal, emit_json, say
from hearteval.cli.items import escalation
from hearteval.cli.items.item_screen import accept, redact, review
from hearteval.cli.options import count_option, json_option, names_options
from hearteval.domain.systems import SIMULATED
from hearteval.errors import SettingsError

if TYPE_CHECKING:
    from hearteval.domain import Item
    from hearteval.items.dialogues import DialogueNames, ItemFile
    from hearteval.items.screening import Topics


STARTER_DIALOGUES = "dialogues.txt"
TEXT_ENDINGS = ("", ".txt", ".md")


@click.group("items")
def command() -> None:
    """Write, check and build items."""


command.add_command(escalation.command)


@command.command("new")
@click.argument(
    "file", type=click.Path(path_type=Path, dir_okay=False), default=Path("my-dialogues.txt")
)
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@json_option
def new(file: Path, *, force: bool, as_json: bool) -> None:
    """Make a commented text FILE to write dialogues into (my-dialogues.txt)."""
    from hearteval.study import quoted, write_whole

    if file.suffix.lower() not in TEXT_ENDINGS:
        raise SettingsError(
            f"{file}: the file to write into is a plain text; give it the ending .txt (tables and"
            " JSON are read as they come: docs/how-to/own-items.md)",
            ids=(str(file),),
        )
    if file.exists() and not force:
        raise SettingsError(
            f"{file}: is already there; look at it with `heart items check {quoted(file)}`, name"
            " another, or replace it with --force",
            ids=(str(file),),
        )
    text = (files("hearteval.cli") / "presets" / STARTER_DIALOGUES).read_text(encoding="utf-8")
    write_whole(file, text.replace("NAME", quoted(file)))
    if as_json:
        emit_json("items_new", {"path": str(file)})
    else:
        say(f"{file}\nnext: write into it, then  heart items check {quoted(file)}")


@command.command("build")
@click.option("--source", type=click.Choice(["esconv"]), required=True, help="The corpus.")
@click.option(
    "--from",
    "folder",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    required=True,
    help="Folder that holds the corpus.",
)
@count_option("--regular", default=280, words="Items wanted.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option(
    "--topics",
    type=click.Choice(["paper", "cautious"]),
    default="paper",
    show_default=True,
    help="What is left out: what HEART 9.2 names, or every delicate topic.",
)
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
    source: str,
    folder: Path,
    regular: int,
    seed: int,
    topics: "Topics",
    out: Path,
    *,
    force: bool,
    as_json: bool,
) -> None:
    """Select items from a corpus and write them with the evidence for every verdict.

    Where fewer dialogue turns qualify than are wanted, the shortfall is reported and never filled.
    """
    from hearteval.domain import hash_records
    from hearteval.study.items.files import build_item_file

    tell = Terminal()
    tell.note(f"reading {source} from {folder} …")
    built = build_item_file(
        folder, out, regular=regular, seed=seed, topics=topics, replace=force, tell=tell
    )
    if as_json:
        body = {
            "n_selected": len(built.items),
            "n_requested": regular,
            "topics": topics,
            "shortfall": built.shortfall,
            "funnel": [asdict(step) for step in built.funnel],
            "path": str(out),
            "items_hash": hash_records(built.items),
        }
        emit_json("items", body)
        return
    say(f"{'rule':<22}{'in':>8}{'out':>8}{'rejected':>10}")
    for step in built.funnel:
        say(f"{step.rule:<22}{step.n_in:>8}{step.n_out:>8}{step.n_in - step.n_out:>10}")
    say(f"\n{len(built.items)} items: {out}\nevidence: {out}.screening.jsonl")


_FILE = click.argument("file", type=click.Path(path_type=Path, exists=True))


@command.command("check")
@_FILE
@names_options
@json_option
def check(file: Path, *, names: "DialogueNames", as_json: bool) -> None:
    """Check a file of items or dialogues, and the evidence beside it, if any.

    FILE holds items, or dialogues and nothing else: as text ("Seeker: …", or a folder of texts), as
    a table (CSV, TSV), or as JSON with a list of turns. All faults are listed at once.
    """
    from hearteval.study.items.files import init_command, read_checked_items

    read, n_screenings = read_checked_items(file, names)
    items = read.items
    if any(item.source == SIMULATED for item in items):
        Terminal().say_simulated()
    subsets = Counter(item.subset for item in items)
    n_references = sum(item.reference is not None for item in items)
    about = _about(read, file)
    if as_json:
        about["n_by_subset"] = dict(sorted(subsets.items()))
        emit_json(
            "items_check", {**about, "n_references": n_references, "n_screenings": n_screenings}
        )
        return
    counts = ", ".join(f"{n} {subset}" for subset, n in sorted(subsets.items()))
    beside = f", {n_screenings} verdicts beside it" if read.form == "items" else ""
    say(
        f"{file}: {counted(items)} ({counts}), {n_references} with a reference reply{beside}; "
        f"hash {about['items_hash'][:16]}"
    )
    say_how_read(read.notes)
    if read.form != "items":
        say(f"next: {init_command(file, names)}")


@command.command("convert")
@_FILE
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Item file to write; FILE with the ending .items.jsonl by default.",
)
@click.option("--force", is_flag=True, help="Replace a file that holds other content.")
@names_options
@json_option
def convert(
    file: Path, out: Path | None, *, force: bool, names: "DialogueNames", as_json: bool
) -> None:
    """Write the dialogues of a file as an item file, to add what it does not say.

    The items stay the same: a study made with FILE goes on with the item file.
    """
    from hearteval.study.items.files import read_checked_items, write_item_file

    read, _ = read_checked_items(file, names)
    path = out or file.with_suffix(".items.jsonl")
    write_item_file(read, path, replace=force)
    if as_json:
        emit_json("items_convert", _about(read, path))
        return
    say(f"{counted(read.items)}: {path}")
    say_how_read(read.notes)


command.add_command(review)
command.add_command(redact)
command.add_command(accept)


def _about(read: "ItemFile", path: Path) -> dict[str, Any]:
    """Return what JSON says of a file of items."""
    from hearteval.domain import hash_records

    return {
        "path": str(path),
        "form": read.form,
        "n_items": len(read.items),
        "items_hash": hash_records(read.items),
        "notes": list(read.notes),
    }


def counted(items: Sequence["Item"]) -> str:
    """Count items in words."""
    return f"{len(items)} item" + "s" * (len(items) != 1)


def say_how_read(notes: Sequence[str]) -> None:
    """Say who is taken for whom, and what a file does not state."""
    from hearteval.report.text import wrapped

    for note in notes:
        say(wrapped(f"- {note}"))
