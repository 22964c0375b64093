"""``heart rank``: any file of pairwise votes -> Elo, intervals, fit check."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from hearteval.cli.console import Terminal, show_result
from hearteval.cli.options import (
    FiniteFloat,
    OnceCommand,
    by_option,
    json_option,
    resamples_option,
    seed_option,
    write_commands,
)
from hearteval.errors import HeartError


@click.command("rank", cls=OnceCommand)
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--left", metavar="COL", help="Column of one system [model_a or left].")
@click.option("--right", metavar="COL", help="Column of the other system [model_b or right].")
@click.option("--winner", metavar="COL", help="Column that says who won [winner].")
@click.option("--left-name", multiple=True, metavar="V", help="Winner value that means left.")
@click.option("--right-name", multiple=True, metavar="V", help="Winner value that means right.")
@click.option("--tie-name", multiple=True, metavar="V", help="Winner value that means a tie.")
@click.option("--own-name", is_flag=True, help="The winner column holds the winner's own name.")
@click.option("--baseline", metavar="NAME", help="Whom Arena-Hard's games compare models with.")
@click.option("--strength", metavar="COL", help="Column of strengths; adds Elo weighted by them.")
@click.option(
    "--cluster",
    multiple=True,
    metavar="COL",
    help="Column of the item (prompt, dialogue) voted on.",
)
@click.option("--rater", metavar="COL", help="Column of the person who voted; not for judges.")
@click.option(
    "--ties",
    type=click.Choice(["half", "davidson", "drop"]),
    default="half",
    show_default=True,
    help="Half a win to each side, a parameter of their own, or left out.",
)
@click.option(
    "--prior",
    type=FiniteFloat(min=0, max=1_000_000),
    default=0.0,
    show_default=True,
    metavar="WEIGHT",
    help="Half-won comparisons added to every pair of systems.",
)
@click.option(
    "--interval",
    type=click.Choice(["two-way", "item-sandwich", "item-bootstrap", "published"]),
    help="Default: two-way with a cluster and five raters, else item-sandwich.",
)
@click.option("--anchor", metavar="SYSTEM", help="Hold a system at 1500; contrasts with it.")
@click.option("--differences", is_flag=True, help="Every two systems: difference, interval, q.")
@click.option("--groups", is_flag=True, help="With which others each system is tied.")
@click.option(
    "--control",
    "controls",
    nargs=3,
    multiple=True,
    metavar="NAME LEFT RIGHT",
    help="Also rank with a length or count held equal: its columns for both sides.",
)
@click.option("--position", is_flag=True, help="Also rank with being on the left held equal.")
@click.option("--judge", metavar="COL", help="Also rank by judges who differ: who judged.")
@resamples_option
@seed_option
@by_option
@click.option(
    "--level",
    "--confidence",
    "level",
    type=FiniteFloat(min=0, max=0.999999, min_open=True),
    default=0.95,
    show_default=True,
    help="Nominal coverage of the intervals.",
)
@json_option
def command(file: Path, *, as_json: bool, **options: Any) -> None:
    """Rank the systems that FILE (.csv, .tsv, .jsonl or .parquet) compares in pairs.

    Who won is read from the winner column as left/right/tie, model_a/model_b/tie, A/B/tie, 1/2 or
    the winner's own name. Where it says something else, such as 0 and 1, you see what it may mean
    and the command for each.

    \b
    heart rank votes.csv --left model_a --right model_b --winner winner --cluster prompt
    """  # noqa: D301 - click reads this mark of a paragraph to keep
    from hearteval.api import rank

    options["also"] = [name for name in ("differences", "groups") if options.pop(name)]
    options["cluster"] = options["cluster"] or None
    options["controls"] = _read_controls(options["controls"])
    try:
        with Terminal().progress("reading") as report:
            ranking = rank(file, report=report, **options)
    except HeartError as error:
        write_commands(error)
        raise
    show_result("rank", ranking, as_json=as_json)


def _read_controls(given: Sequence[tuple[str, str, str]]) -> dict[str, tuple[str, str]]:
    """Return the columns of each control by its name."""
    controls = {name: (left, right) for name, left, right in given}
    if len(controls) < len(given):
        raise click.UsageError("Two controls have one name; give each its own.")
    return controls
