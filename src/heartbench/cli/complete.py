"""``heart complete``: have the systems answer the items."""

from pathlib import Path

import click

from heartbench.cli.options import json_option, quoted, study_argument, yes_option


@click.command("complete")
@study_argument
@yes_option
@json_option
def command(study_file: Path, *, yes: bool, as_json: bool) -> None:
    """Have every system of a study answer every item it has not answered yet."""
    from heartbench.cli.console import emit_json
    from heartbench.cli.money import confirm_spending, estimate_spending
    from heartbench.cli.open_work import what_is_done
    from heartbench.cli.run_log import run_log
    from heartbench.cli.session import gather, open_session, register
    from heartbench.cli.steps import complete_step, complete_without_models
    from heartbench.config import load_study

    settings = load_study(study_file)
    with run_log(settings, "complete"):
        gathered = gather(settings)
        with open_session(settings) as session:
            study = register(session, gathered)
            without_models = complete_without_models(session, study)
            done = what_is_done(session.store, study)
            estimate = estimate_spending(settings, gathered.items, done, of="systems")
            confirm_spending(settings, estimate, yes=yes)
            counts = complete_step(session, study, without_models)
    if as_json:
        body = {"study": study.name, "version": study.version, "completions": counts}
        emit_json("complete", body)
    else:
        n_stored = counts["n_before"] + counts["n_added"]
        click.echo(
            f"{n_stored} of {counts['n_wanted']} completions stored ({counts['n_added']} new); "
            f"next: heart judge {quoted(study_file)}"
        )
