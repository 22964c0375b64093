"""``heart simulate``: whole studies of planted truth, or votes alone."""

from pathlib import Path
from typing import Any

import click

from hearteval.cli.console import Terminal, emit_json, labelled, shorter
from hearteval.cli.options import json_option, study_name
from hearteval.study import quoted

PLANTED = {
    "systems": ("N", int, "Models that compete [5]."),
    "items": ("N", int, "Items, the adversarial ones among them [60]."),
    "adversarial": ("N", int, "Adversarial items [15]."),
    "people": ("N", int, "People who judge each pair, from a pool of 15 [5]; 0 for none."),
    "judges": ("N", int, "LLM judges [3]; 0 for none."),
    "writers": ("N", int, "Replies by people for each item [3]; 0 for none."),
    "writer_pool": ("N", int, "People whom those replies are drawn from [12]."),
    "comparisons": ("N", int, "Pairs at most, chosen in balance [2500]."),
    "item_sd": ("SD", float, "Of completions around their system, in log odds [0.6]."),
    "rater_sd": ("SD", float, "Of people around each system, in log odds [0.3]."),
    "writer_sd": ("SD", float, "Of people who write around their mean, in log odds [0]."),
    "position_bias": ("SHARE", float, "How much above half judge-a chooses what is first [0]."),
    "length_effect": ("X", float, "Log odds for relative difference in words [0]."),
    "own_family": ("X", float, "Log odds that judges give their own family [0]."),
    "random_raters": ("N", int, "People of the pool who answer without reading [0]."),
    "better_on_adversarial": ("X", float, "Log odds that people who write gain there [0]."),
    "ties": ("SHARE", float, "Of people's answers [0.17]."),
    "missing": ("SHARE", float, "Of judges' answers and of models' completions [0]."),
    "protocol": ("WORD", str, "pairs or rating: each completion by itself [pairs]."),
    "seed": ("N", int, "Of everything that is drawn [0]."),
}
"""Settings of the plan that are options too."""


def _planted_options(function: Any) -> Any:
    for name, (metavar, kind, words) in reversed(PLANTED.items()):
        option = f"--{name.replace('_', '-')}"
        function = click.option(option, metavar=metavar, type=kind, help=words)(function)
    return function


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
    help="Everything that can be planted; options count more.",
)
@_planted_options
@json_option
def command(
    folder: Path | None,
    *,
    votes: Path | None,
    plan_file: Path | None,
    as_json: bool,
    **planted: Any,
) -> None:
    """Make a study of planted truth in the new folder DIR, to test designs and to learn.

    Every command reads it, nobody was asked, and everything made from it says that it is simulated.
    What was planted, and what each figure should come to, stands in DIR/truth.json.

    \b
    heart simulate practice --position-bias 0.1
    heart analyze practice/practice.toml
    """  # noqa: D301 - click reads this mark of a paragraph to keep
    if (folder is None) == (votes is None):
        raise click.UsageError("Name a new folder, or with --votes a file, one of the two.")
    from hearteval.config.simulation import read_plan
    from hearteval.study.simulation.making import make_study, make_votes

    tell = Terminal()
    given = {name: value for name, value in planted.items() if value is not None}
    plan = read_plan(plan_file, given)
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
            f" completions, {body['n_judgments'] or body['n_ratings']:,} answers"
        )
        made, after = Path(body["path"]), f"heart analyze {quoted(Path(body['path']))}"
    if as_json:
        emit_json("simulate", body)
        return
    click.echo(labelled("made", shorter(str(made))))
    click.echo(labelled("holds", words))
    click.echo(labelled("truth", shorter(body["truth"])))
    click.echo(labelled("next", after))
