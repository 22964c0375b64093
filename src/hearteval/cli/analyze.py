"""``heart analyze``: compute the results and write them as typed JSON."""

from dataclasses import asdict
from pathlib import Path

import click

from hearteval.cli.console import Terminal, emit_json, end_with
from hearteval.cli.options import json_option, study_argument


@click.command("analyze")
@study_argument
@json_option
def command(study_file: Path, *, as_json: bool) -> None:
    """Compute a study's results and write NAME.results.json beside the study file."""
    from hearteval.report.page import results_lines
    from hearteval.study.results import analyze, write_results
    from hearteval.study.session import open_stored

    with open_stored(study_file, Terminal()) as (session, study):
        results = analyze(session, study)
        path = write_results(session, results)
    if as_json:
        emit_json("analyze", asdict(results))
    else:
        click.echo(results_lines(results), nl=False)
        click.echo(f"\nresults: {path}")
    end_with(results.failures, session.settings)
