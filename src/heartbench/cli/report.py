"""``heart report``: write the report page."""

from pathlib import Path

import click

from heartbench.cli.options import json_option, study_argument


@click.command("report")
@study_argument
@json_option
def command(study_file: Path, *, as_json: bool) -> None:
    """Compute a study's results and write NAME.report.html and NAME.leaderboard.csv."""
    from heartbench.cli import steps
    from heartbench.cli.console import emit_json
    from heartbench.cli.session import open_stored

    with open_stored(study_file) as (session, study):
        paths = steps.write_report(session, steps.analyze_step(session, study))
    if as_json:
        emit_json("report", {"study": study.name, "version": study.version, **paths})
    else:
        click.echo(f"report: {paths['report']}")
