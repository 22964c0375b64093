"""``heart judge``: plan the pairs and have the judges compare them."""

from pathlib import Path

import click

from heartbench.cli.options import json_option, quoted, study_argument, yes_option


@click.command("judge")
@study_argument
@yes_option
@json_option
def command(study_file: Path, *, yes: bool, as_json: bool) -> None:
    """Plan a study's pairs and have its judges answer what they have not judged yet."""
    from heartbench.cli.console import emit_json
    from heartbench.cli.money import confirm_spending, estimate_spending, what_is_done
    from heartbench.cli.run_log import run_log
    from heartbench.cli.session import gather, open_session, register
    from heartbench.cli.steps import judge_step
    from heartbench.config import load_study

    settings = load_study(study_file)
    with run_log(settings, "judge"):
        gathered = gather(settings)
        with open_session(settings) as session:
            study = register(session, gathered)
            done = what_is_done(session.store, study)
            estimate = estimate_spending(settings, gathered.items, done, of="judges")
            confirm_spending(settings, estimate, yes=yes)
            counts = judge_step(session, study)
    if as_json:
        emit_json("judge", {"study": study.name, "version": study.version, **counts})
    else:
        made = counts["judgments"]
        if not counts["plan"]["n_pairs"]:
            click.echo(f"no pair to judge yet; first: heart complete {quoted(study_file)}")
            return
        click.echo(
            f"{made['n_before'] + made['n_added']} of {made['n_wanted']} judgments stored "
            f"({made['n_added']} new); next: heart report {quoted(study_file)}"
        )
