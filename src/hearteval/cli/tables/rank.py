"""``heart rank``: any file of pairwise votes -> Elo, intervals, fit check."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from hearteval.cli.console import Terminal, show_result
from hearteval.cli.options import (
    OnceCommand,
    engine_options,
    json_option,
    options_of,
    write_commands,
)
from hearteval.errors import HeartError
from hearteval.exchange.options import RankOptions


@click.command("rank", cls=OnceCommand)
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@options_of(RankOptions, by_after="seed")
@engine_options(asks=False)
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

    options["controls"] = _read_controls(options["controls"])
    options["judged_by"] = _read_judges(options["judged_by"])
    try:
        with Terminal().progress("reading") as report:
            ranking = rank(file, report=report, **options)
    except HeartError as error:
        write_commands(error)
        raise
    show_result("rank", ranking, as_json=as_json)


def _read_judges(files: Sequence[str]) -> dict[str, Path]:
    """Return the file of each judge by the name it goes by."""
    judges = {Path(file).stem: Path(file) for file in files}
    if len(judges) < len(files):
        raise click.UsageError("Two files of judges have one name; a judge is called by it.")
    return judges


def _read_controls(given: Sequence[tuple[str, str, str]]) -> dict[str, tuple[str, str]]:
    """Return the columns of each control by its name."""
    controls = {name: (left, right) for name, left, right in given}
    if len(controls) < len(given):
        raise click.UsageError("Two controls have one name; give each its own.")
    return controls
