"""``heart verify``: check a release from its folder alone."""

from pathlib import Path

import click

from hearteval.cli.console import Terminal, emit_json, say
from hearteval.cli.options import json_option
from hearteval.errors import MAX_FAULTS_SHOWN

MOST_IN_JSON = 1_000


@click.command("verify")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--against",
    "before",
    metavar="RELEASE",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="The release that this one continues: are its rows all there, byte for byte?",
)
@json_option
def command(folder: Path, *, before: Path | None, as_json: bool) -> None:
    """Check the release in the folder DIR: every file, record and id, and every table.

    Nothing else is needed: no network, no database, no study. The ranking and all tables are
    computed again from the records, and compared within 1e-9. Exit code 1 where anything differs.
    """
    from hearteval.report.text import listed, plural, printable, wrapped
    from hearteval.study.release.verify import verify_release

    tell = Terminal()
    found = verify_release(folder, tell, before=before)
    made = found.manifest
    n_records = sum(made.n_records.values())
    if as_json:
        body = {
            "id": made.id,
            "name": made.name,
            "study_version": made.study_version,
            "heart_version": made.heart_version,
            "previous": made.previous,
            "n_records": made.n_records,
            "n_left_out": made.n_left_out,
            "n_tables": found.n_tables,
            "n_faults": len(found.faults),
            "faults": [one._asdict() for one in found.faults[:MOST_IN_JSON]],
            "others": list(found.others),
        }
        emit_json("verify", body)
    else:
        of = f"release {made.id[:16]} of {made.name}"
        held = (
            f"{plural(len(made.files), 'file')}, {plural(n_records, 'record')} and"
            f" {plural(found.n_tables, 'table')} hold"
        )
        bad = f"Not as it was released: {plural(len(found.faults), 'fault')} in {of}."
        say(wrapped(bad if found.faults else f"As it was released: {held} in {of}.", indent=""))
    if not as_json and found.others:
        say(wrapped(f"Not part of it: {listed(found.others[:MAX_FAULTS_SHOWN])}.", indent=""))
    for one in found.faults[:MAX_FAULTS_SHOWN]:
        tell.warn(printable(f"{one.where}: {one.words}"))
    if len(found.faults) > MAX_FAULTS_SHOWN:
        tell.warn(f"and {len(found.faults) - MAX_FAULTS_SHOWN:,} more (--json lists them)")
    if found.faults and not found.is_by_this_version:
        tell.warn(
            f"its results were made by hearteval {made.heart_version}, and this is another: where"
            " only tables differ, check with that version"
        )
    if found.faults:
        raise click.exceptions.Exit(1)
