"""``heart report``: write the report page."""

from pathlib import Path

import click

from hearteval.cli.console import Terminal, emit_json
from hearteval.cli.options import json_option, study_argument


@click.command("report")
@study_argument
@json_option
def command(study_file: Path, *, as_json: bool) -> None:
    """Compute a study's results and write NAME.report.html and NAME.leaderboard.csv."""
    from hearteval.study.results import analyze, write_report
    from hearteval.study.session import open_stored

    with open_stored(study_file, Terminal()) as (session, study):
        paths = write_report(session, analyze(session, study))
    if as_json:
        emit_json("report", {"study": study.name, "version": study.version, **paths})
    else:
        click.echo(f"report: {paths['report']}")
