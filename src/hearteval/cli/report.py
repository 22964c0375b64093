"""``heart report``: write the report page."""

from dataclasses import asdict
from pathlib import Path

import click

from hearteval.cli.console import Terminal, emit_json, end_with
from hearteval.cli.options import json_option, open_option, study_argument


@click.command("report")
@study_argument
@open_option
@json_option
def command(study_file: Path, *, is_opened: bool, as_json: bool) -> None:
    """Compute a study's results and write NAME.report.html and NAME.leaderboard.csv."""
    from hearteval.cli.results import open_page, shorter, show_labelled
    from hearteval.study.results import analyze, write_report
    from hearteval.study.session import open_stored

    with open_stored(study_file, Terminal()) as (session, study):
        with session.tell.progress("analysis"):
            results = analyze(session, study)
        paths = write_report(session, results)
    if as_json:
        failures = [asdict(failure) for failure in results.failures]
        body = {"study": study.name, "version": study.version, **paths, "failures": failures}
        emit_json("report", body)
    else:
        show_labelled("report", shorter(paths["report"]))
    if is_opened:
        open_page(paths["report"])
    end_with(results.failures, session.settings)
