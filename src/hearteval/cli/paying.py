"""``heart people list``, ``pay`` and ``paid``: who is to be paid for what."""

from pathlib import Path
from typing import Any

import click

from hearteval.cli.console import emit_json, say, working_on
from hearteval.cli.options import json_option, study_argument
from hearteval.errors import SettingsError

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
NO_REJECTION = (
    "Nobody is rejected but by a row of yours that says reject and why: being left out of an"
    " analysis is no reason not to pay."
)
SHOWN = ("person", "participant", "minutes", "tasks", "state", "ending", "paid_at", "decision")
"""Columns that fit a terminal."""


@click.command("list")
@study_argument
@click.option("--csv", "as_csv", is_flag=True, help="Print a table to fill in, for pay and paid.")
@json_option
def list_people(study_file: Path, *, as_csv: bool, as_json: bool) -> None:
    """List who takes part, what they did, and what a recruiting site calls them.

    A line for each time that somebody came. It names people as their site does: keep it to those
    who pay.
    """
    from hearteval.report.text import aligned, printable
    from hearteval.study.people.paying.payment import COLUMNS, format_payments, payment_cells

    if as_csv and as_json:
        raise SettingsError("say --csv or --json, not both")
    rows = _rows(study_file)
    if as_csv:
        click.echo(format_payments(rows), nl=False)
        return
    cells = [dict(zip(COLUMNS, payment_cells(row), strict=True)) for row in rows]
    if as_json:
        numbers = ({"minutes": row.minutes, "tasks": dict(row.tasks)} for row in rows)
        emit_json("people", {"people": [c | n for c, n in zip(cells, numbers, strict=True)]})
    elif not rows:
        say("nobody has come yet")
    else:
        table = [[printable(one[name]) for name in SHOWN] for one in cells]
        click.echo(aligned([SHOWN, *table], left=[0, 1, 3, 4, 5, 6, 7]))


@click.command("pay")
@study_argument
@click.argument("table", required=False, type=FILE)
@click.option(
    "--platform", required=True, type=click.Choice(("prolific", "connect")), help="Who sent them."
)
@click.option(
    "--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="A new folder."
)
@json_option
def pay(study_file: Path, table: Path | None, *, platform: str, out: Path, as_json: bool) -> None:
    """Write the files by which a recruiting site pays people.

    TABLE is what `heart people list --csv` printed, with decision (approve, reject or nothing),
    bonus and reason as you filled them in. Without it, who is done and not paid is approved.
    """
    from hearteval.report.text import listed, plural
    from hearteval.study import quoted, write_whole
    from hearteval.study.people.paying.payment import decide, payment_files

    rows = _rows(study_file)
    if table is not None:
        rows = decide(rows, _text(table), source=str(table))
    if out.exists() and any(out.iterdir()):
        raise SettingsError(f"{out} holds something; name a new folder")
    made = payment_files(rows, platform)
    files = [out / name for name in made.files]
    for file in files:
        out.mkdir(parents=True, exist_ok=True)
        write_whole(file, made.files[file.name], is_private=True)
    n_open = sum(not row.decision and row.came.paid_at is None for row in rows)
    if as_json:
        body = {"files": [str(file) for file in files], "nameless": list(made.nameless)}
        emit_json("people", {**body, "n_undecided": n_open})
        return
    say(f"written: {listed([str(file) for file in files])}" if files else "nobody is to be paid")
    if made.nameless:
        say(f"decided, and not sent by {platform}: {listed(made.nameless)}")
    if n_open:
        say(f"{plural(n_open, 'row')} not decided: fill in what `heart people list --csv` prints")
    say(NO_REJECTION)
    if files:
        say(f"when they are paid: heart people paid {quoted(study_file)} {quoted(files[0])}")


@click.command("paid")
@study_argument
@click.argument("file", type=FILE)
@click.option("--undo", is_flag=True, help="Mark them as not paid.")
@json_option
def paid(study_file: Path, file: Path, *, undo: bool, as_json: bool) -> None:
    """Mark people as paid: those whom a file names.

    FILE is one that `heart people pay` wrote, a table of people, of which it takes the approved, or
    a list of ids, one a line. The audit log tells of it.
    """
    from hearteval.config import load_study
    from hearteval.report.text import plural
    from hearteval.study.people import Desk
    from hearteval.study.people.paying.payment import find_paid, list_payments

    with working_on(load_study(study_file, is_of_items=True), "people") as (session, study):
        rows = list_payments(Desk(session=session, study=study))
        found = find_paid(rows, _text(file), source=str(file))
        pairs = [(row.person, row.came) for row in found]
        n = session.store.people.mark_paid(pairs, is_paid=not undo, now=session.now())
    if as_json:
        names = [row.person.name for row in found]
        emit_json("people", {"people": names, "n_changed": n, "is_paid": not undo})
    else:
        before = f"; {len(found) - n} were before" if n < len(found) else ""
        say(f"{plural(n, 'payment')} {'taken back' if undo else 'marked'}{before}")


def _rows(study_file: Path) -> list[Any]:
    from hearteval.config import load_study
    from hearteval.study.people import Desk
    from hearteval.study.people.paying.payment import list_payments

    with working_on(load_study(study_file, is_of_items=True), "people") as (session, study):
        return list_payments(Desk(session=session, study=study))


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{file}: cannot be read: {error}") from error
