"""``heart import``: bring completions that a model gave elsewhere into a study."""

from pathlib import Path

import click

from hearteval.cli.console import emit_json, working_on
from hearteval.cli.options import json_option, study_argument
from hearteval.study import quoted


@click.command("import")
@study_argument
@click.argument("log_file", metavar="LOG", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--system", "name", required=True, help="Name of the imported system in the study.")
@json_option
def command(study_file: Path, log_file: Path, *, name: str, as_json: bool) -> None:
    """Bring the replies of an Inspect log into a study, as the completions of one of its systems.

    The study file names the system with model = "imported/MODEL". Nothing is asked and nothing is
    spent. The same log a second time adds nothing; another text for the same item is refused.
    """
    from hearteval.config import load_study
    from hearteval.study.exchange import import_log, read_log_of
    from hearteval.study.imports import import_command

    settings = load_study(study_file)
    log = read_log_of(settings, name, log_file)
    with working_on(settings, "import") as (session, study):
        done = import_log(session, study, name, log)
    if as_json:
        emit_json("import", done)
        return
    n_stored, n_items = done["n_stored"], done["n_items"]
    click.echo(f"{n_stored} of {n_items} completions of {name} stored ({done['n_added']} new)")
    run = f"heart run {quoted(study_file)}"
    click.echo(f"next: {run if n_stored == n_items else import_command(settings, name)}")
