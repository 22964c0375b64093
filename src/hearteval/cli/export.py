"""``heart export``: write a study in another tool's format."""

from pathlib import Path

import click

from hearteval.cli.console import Terminal, emit_json
from hearteval.cli.options import json_option, study_argument
from hearteval.study import quoted


@click.command("export")
@study_argument
@click.option("--to", type=click.Choice(["inspect"]), required=True, help="The format.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    help="Folder to write into, made where there is none.",
)
@click.option("--force", is_flag=True, help="Replace files that hold other content.")
@json_option
def command(study_file: Path, *, to: str, out: Path, force: bool, as_json: bool) -> None:
    """Write a stored study as Inspect logs, one for each system; `inspect view` opens them."""
    from hearteval.study.exchange import export_logs
    from hearteval.study.session import open_stored

    tell = Terminal()
    with open_stored(study_file, tell) as (session, study):
        logs = export_logs(session, study, out, replace=force)
    if study.protocols.get("llm") == "rating":
        tell.warn("ratings are not exported: these logs hold completions without scores")
    if as_json:
        body = {
            "study": study.name,
            "version": study.version,
            "to": to,
            "out": str(out),
            "logs": [{**log._asdict(), "path": str(log.path)} for log in logs],
        }
        emit_json("export", body)
        return
    for log in logs:
        click.echo(f"{log.path}: {log.n_completions} completions, {log.n_failed} without one")
    click.echo(f"next: inspect view --log-dir {quoted(out)}")
