"""``heart complete``: have the systems answer the items."""

from pathlib import Path

import click

from hearteval.cli.console import emit_json, working_on
from hearteval.cli.options import json_option, study_argument, yes_option
from hearteval.study import quoted


@click.command("complete")
@study_argument
@yes_option
@json_option
def command(study_file: Path, *, yes: bool, as_json: bool) -> None:
    """Have every system of a study answer every item it has not answered yet."""
    from hearteval.config import load_study
    from hearteval.study.pipeline import complete_study

    with working_on(load_study(study_file), "complete", yes=yes) as (session, study):
        counts = complete_study(session, study)
    if as_json:
        body = {"study": study.name, "version": study.version, "completions": counts}
        emit_json("complete", body)
    else:
        n_stored = counts["n_before"] + counts["n_added"]
        click.echo(
            f"{n_stored} of {counts['n_wanted']} completions stored ({counts['n_added']} new); "
            f"next: heart judge {quoted(study_file)}"
        )
