"""``heart analyze``: compute the results and write them as typed JSON."""

from pathlib import Path

import click

from heartbench.cli.options import json_option, study_argument


@click.command("analyze")
@study_argument
@json_option
def command(study_file: Path, *, as_json: bool) -> None:
    """Compute a study's results and write NAME.results.json beside the study file."""
    from heartbench.cli import steps
    from heartbench.cli.session import open_stored

    with open_stored(study_file) as (session, study):
        results = steps.analyze_step(session, study)
        path = steps.write_results(session, results)
    if as_json:
        steps.emit_results(results)
    else:
        steps.print_leaderboard(results)
        click.echo(f"\nresults: {path}")
