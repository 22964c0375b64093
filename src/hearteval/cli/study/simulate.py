"""``heart simulate``: whole studies of planted truth, or votes alone."""

from pathlib import Path

import click

from hearteval.cli.console import Terminal, emit_json, labelled, say, shorter
from hearteval.cli.options import json_option, study_name
from hearteval.study import quoted


@click.command("simulate")
@click.argument(
    "folder", metavar="[DIR]", required=False, type=click.Path(path_type=Path, file_okay=False)
)
@click.option(
    "--votes",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write votes alone, for `heart rank`: a .csv, .jsonl or .parquet file.",
)
@click.option(
    "--plan",
    "plan_file",
    metavar="FILE.toml",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Everything that can be planted; --set counts more.",
)
@click.option(
    "--set",
    "said",
    multiple=True,
    metavar="KEY=VALUE",
    help="A key of the plan: position_bias=0.1 (repeatable).",
)
@json_option
def command(
    folder: Path | None,
    *,
    votes: Path | None,
    plan_file: Path | None,
    said: tuple[str, ...],
    as_json: bool,
) -> None:
    """Make a study of planted truth in the new folder DIR, to test designs and to learn.

    Every command reads it, nobody was asked, and everything made from it says that it is simulated.
    What was planted, and what each figure should come to, stands in DIR/truth.json.

    \b
    heart simulate practice --set position_bias=0.1 --set systems=3
    heart analyze practice/practice.toml

    Keys that say how large it is: systems, items, adversarial, people, pool, judges, writers,
    writer_pool, busiest_writers, comparisons, both_orders, repeat_pairs, protocol, seed.

    Keys that say what is true: spread, theta, people_theta, judge_theta, item_sd, rater_sd,
    judge_sd, writer_sd, leniency_sd, axis_sd, halo, steadiness, ties, position_bias,
    length_effect, own_family, judge_own_family, random_raters, better_on_adversarial, missing.
    """  # noqa: D301 - click reads this mark of a paragraph to keep
    if (folder is None) == (votes is None):
        raise click.UsageError("Name a new folder, or with --votes a file, one of the two.")
    from hearteval.config.simulation import read_plan
    from hearteval.study.simulation.making import make_study, make_votes

    tell = Terminal()
    plan = read_plan(plan_file, said)
    if votes is not None:
        tell.say_simulated()
        body = make_votes(votes, study_name(votes.with_suffix("")), plan)
        words = f"{body['n_votes']:,} votes"
        # Judges are a fixed panel, never sampled raters, so `--rater` is for votes of people alone.
        by = "" if not plan.people else " --by rater_kind" if plan.judges else " --rater rater"
        made, after = votes, f"heart rank {quoted(votes)} --cluster item{by}"
    else:
        assert folder is not None
        body = make_study(folder, study_name(folder), plan, tell)
        words = (
            f"{body['n_items']:,} items, {body['n_systems']} systems, {body['n_completions']:,}"
            f" replies, {body['n_judgments'] or body['n_ratings']:,} answers"
        )
        made, after = Path(body["path"]), f"heart analyze {quoted(Path(body['path']))}"
    if as_json:
        emit_json("simulate", body)
        return
    say(labelled("made", shorter(str(made))))
    say(labelled("holds", words))
    say(labelled("truth", shorter(body["truth"])))
    say(labelled("next", after))
