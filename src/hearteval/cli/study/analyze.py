"""``heart analyze``: compute the results and write them as typed JSON."""

from pathlib import Path

import click

from hearteval.cli.console import Terminal, emit_json, end_with, shorter
from hearteval.cli.options import json_option, study_argument, verbose_option


@click.command("analyze")
@study_argument
@verbose_option
@json_option
def command(study_file: Path, *, is_verbose: bool, as_json: bool) -> None:
    """Compute a study's results and write NAME.results.json beside the study file."""
    from hearteval.study.session import open_stored

    with open_stored(study_file, Terminal(is_verbose=is_verbose)) as (session, study):
        with session.tell.progress("analysis"):
            from hearteval.study.report.write import (  # not before it begins
                results_object,
                write_results,
            )
            from hearteval.study.results import analyze

            results = analyze(session, study)
        path = write_results(session, results)
    if as_json:
        emit_json("analyze", results_object(results))
    else:
        from hearteval.cli.study.results import show_results

        written = {"results": shorter(path)}
        show_results(results, study_file, written, is_verbose=is_verbose)
    end_with(results.failures, session.settings)
