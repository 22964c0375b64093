"""``heart export``: write a study as tables, or in another tool's format."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import click

from hearteval.cli.console import Terminal, emit_json, say, shorter
from hearteval.cli.options import json_option, study_argument
from hearteval.study import quoted

if TYPE_CHECKING:
    from hearteval.domain import Study
    from hearteval.exchange.records.writing import Format
    from hearteval.study.session import Session


@click.command("export")
@study_argument
@click.option(
    "--to",
    type=click.Choice(["csv", "jsonl", "parquet", "inspect", "preferences"]),
    required=True,
    help="Tables of every kind of record, Inspect logs, or preference pairs for tuning.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    help="Folder to write into, made where there is none.",
)
@click.option("--force", is_flag=True, help="Replace files that hold other content.")
@json_option
def command(
    study_file: Path,
    *,
    to: Literal["csv", "jsonl", "parquet", "inspect", "preferences"],
    out: Path,
    force: bool,
    as_json: bool,
) -> None:
    """Write a stored study as tables, one a kind of record, as Inspect logs or preference pairs.

    The tables are items, systems, raters, completions, judgments, ratings and labels, those that
    there are; `heart import` reads them. Logs are one for each system; `inspect view` opens them.
    Preference pairs say what raters chose and passed over, beside the conditions of their use.
    Words that people wrote and nobody has released stay in the study.
    """
    from hearteval.study.session import open_stored

    tell = Terminal()
    with open_stored(study_file, tell) as (session, study):
        if to == "inspect":
            lines, body = _write_logs(session, study, out, replace=force)
        elif to == "preferences":
            lines, body = _write_preferences(session, study, out, replace=force)
        else:
            lines, body = _write_tables(session, study, out, to, replace=force)
    if as_json:
        about = {"study": study.name, "version": study.version, "to": to, "out": str(out)}
        emit_json("export", {**about, "logs": [], "tables": [], **body})
        return
    for line in lines:
        say(line)


def _write_logs(
    session: "Session", study: "Study", out: Path, *, replace: bool
) -> tuple[list[str], dict[str, Any]]:
    """Write logs; return what is said of them, in lines and as JSON."""
    from hearteval.study.records.exchange import export_logs

    logs = export_logs(session, study, out, replace=replace)
    if study.protocols.get("llm") == "rating":
        session.tell.warn("ratings are not exported: these logs hold replies without scores")
    lines = [f"{log.path}: {log.n_completions} replies, {log.n_failed} without one" for log in logs]
    lines.append(f"next: inspect view --log-dir {quoted(out)}")
    return lines, {"logs": [{**log._asdict(), "path": str(log.path)} for log in logs]}


def _write_preferences(
    session: "Session", study: "Study", out: Path, *, replace: bool
) -> tuple[list[str], dict[str, Any]]:
    """Write preference pairs; return what is said of them, in lines and as JSON."""
    from hearteval.report.text import plural
    from hearteval.study.records.preferences import CONDITIONS_FILE, export_preferences

    done = export_preferences(session, study, out, replace=replace)
    lines = [f"{shorter(str(done.path))}: {plural(done.n_rows, 'pair')}"]
    lines += [f"  without a row: {n:,} ({why})" for why, n in done.n_without.items()]
    lines.append(f"next: read {quoted(out / CONDITIONS_FILE)} before you tune anything on them")
    body = {"path": str(done.path), "n_rows": done.n_rows, "n_without": done.n_without}
    return lines, {"preferences": body}


def _write_tables(
    session: "Session", study: "Study", out: Path, to: str, *, replace: bool
) -> tuple[list[str], dict[str, Any]]:
    """Write tables; return what is said of them, in lines and as JSON."""
    from hearteval.report.text import plural
    from hearteval.study.records.leaving import ITEM_FILE, export_records

    tables = export_records(session, study, out, cast("Format", to), replace=replace)
    lines = []
    for one in tables:
        held = f", {one.n_held_back:,} held back" if one.n_held_back else ""
        lines.append(f"{shorter(str(one.path))}: {plural(one.n_rows, 'row')}{held}")
    if to != "jsonl":
        lines.append(f"{shorter(str(out / ITEM_FILE))}: the items as a study reads them")
    if any(one.n_held_back for one in tables):
        session.tell.warn(
            "words that people wrote, or said about such words, and that nobody has released"
            " stay in the study"
        )
    lines.append("These files hold dialogues: keep to the licence of the items and to the consent.")
    body = {
        "tables": [{**one._asdict(), "path": str(one.path)} for one in tables],
        "item_file": str(out / ITEM_FILE),
    }
    return lines, body
