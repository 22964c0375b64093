"""``heart judge``: plan the pairs and have the judges compare them."""

from pathlib import Path

import click

from heartbench.cli.options import json_option, quoted, study_argument, yes_option


@click.command("judge")
@study_argument
@click.option("--again", is_flag=True, help="Ask everything that was asked once more.")
@yes_option
@json_option
def command(study_file: Path, *, again: bool, yes: bool, as_json: bool) -> None:
    """Plan a study's pairs, or ratings, and have its judges answer what they have not yet.

    With --again the judges are asked about every ranked pair once more, as the first time. The
    answers are no part of the ranking: they show how far it stands when the same is asked again.
    """
    from heartbench.cli.console import emit_json
    from heartbench.cli.money import confirm_spending, estimate_spending
    from heartbench.cli.open_work import plan_again, plan_what_is_done
    from heartbench.cli.run_log import run_log
    from heartbench.cli.session import gather, open_session, register
    from heartbench.cli.steps import judge_step
    from heartbench.config import load_study

    settings = load_study(study_file)
    with run_log(settings, "judge"):
        gathered = gather(settings)
        with open_session(settings) as session:
            study = register(session, gathered)
            done = plan_what_is_done(session, study, judges_only=True)
            repeat = plan_again(session, study, done) if again else None
            estimate = estimate_spending(
                settings, gathered.items, repeat.done if repeat else done, of="judges"
            )
            confirm_spending(settings, estimate, yes=yes)
            if repeat:
                session.store.add(repeat.assignments)
            counts = judge_step(session, study)
    if as_json:
        emit_json("judge", {"study": study.name, "version": study.version, **counts})
    else:
        rated = counts["ratings"]
        made, word = (counts["judgments"], "judgments") if rated is None else (rated, "ratings")
        if not (counts["plan"]["n_pairs"] or made["n_wanted"]):
            what = "pair to judge" if rated is None else "completion to rate"
            click.echo(f"no {what} yet; first: heart complete {quoted(study_file)}")
            return
        click.echo(
            f"{made['n_before'] + made['n_added']} of {made['n_wanted']} {word} stored "
            f"({made['n_added']} new); next: heart report {quoted(study_file)}"
        )
