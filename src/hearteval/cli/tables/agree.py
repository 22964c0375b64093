"""``heart agree``: any long table of ratings -> how far raters agree."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from hearteval.cli.console import Terminal, show_result
from hearteval.cli.options import (
    FiniteFloat,
    FiniteNumber,
    OnceCommand,
    by_option,
    json_option,
    resamples_option,
    seed_option,
    write_commands,
)
from hearteval.errors import HeartError


@click.command("agree", cls=OnceCommand)
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--unit", multiple=True, metavar="COL", help="Column of what is rated.")
@click.option(
    "--rater", multiple=True, metavar="COL", help="Column of who rates; if wide, one of each."
)
@click.option("--value", metavar="COL", help="Column of the rating.")
@click.option("--wide", is_flag=True, help="There is one column for each rater, or each item.")
@click.option(
    "--reverse", multiple=True, metavar="RATER", help="Rater or item to turn from --min to --max."
)
@click.option(
    "--level",
    type=click.Choice(["nominal", "ordinal", "interval", "ratio"]),
    help="Level of measurement.",
)
@click.option(
    "--min", "minimum", type=FiniteNumber(), help="Lowest value; lower ones are left out."
)
@click.option(
    "--max", "maximum", type=FiniteNumber(), help="Highest value; higher ones are left out."
)
@click.option(
    "--interval",
    type=click.Choice(["fisher-z", "percentile"]),
    default="fisher-z",
    show_default=True,
    help="How intervals are made from the bootstrap over units.",
)
@by_option
@click.option(
    "--confidence",
    type=FiniteFloat(min=0, max=0.999999, min_open=True),
    default=0.95,
    show_default=True,
    help="Nominal coverage of the intervals.",
)
@click.option("--by-pair", is_flag=True, help="Every two raters too.")
@click.option("--by-rater", is_flag=True, help="Each rater beside the others too.")
@click.option("--by-category", is_flag=True, help="Each value against all others too.")
@click.option("--pooled", is_flag=True, help="With --by, all groups together too.")
@resamples_option
@seed_option
@json_option
def command(file: Path, *, as_json: bool, **options: Any) -> None:
    """Measure agreement in FILE (.csv, .tsv, .jsonl or .parquet), one rating a row.

    Percent agreement, Cohen's and Fleiss' kappa, Krippendorff's alpha, Gwet's AC1 and AC2,
    ICCs and Cronbach's alpha, with intervals from a bootstrap over units.

    \b
    heart agree labels.csv --unit text --rater coder --value label --level nominal
    """  # noqa: D301 - click reads this mark of a paragraph to keep
    from hearteval.api import agree

    needed = ("level",) if options["wide"] else ("unit", "rater", "value", "level")
    _require(file, {name: options[name] or None for name in needed}, wide=options["wide"])
    parts = ("by_pair", "by_rater", "by_category", "pooled")
    options["also"] = [name for name in parts if options.pop(name)]
    try:
        with Terminal().progress("reading") as report:
            found = agree(file, report=report, **options)
    except HeartError as error:
        write_commands(error)
        raise
    show_result("agree", found, as_json=as_json)


def _require(file: Path, options: Mapping[str, str | None], *, wide: bool) -> None:
    """Ask at once for all that is not given, with the columns that there are."""
    missing = [f"--{name}" for name, value in options.items() if value is None]
    if not missing:
        return
    from hearteval.exchange.tables import open_table
    from hearteval.report.text import listed

    columns = ", ".join(open_table(file).column_names)
    level = "level: nominal for kinds, ordinal for steps such as 1 to 5, interval or ratio for"
    raise click.UsageError(
        f"{listed(missing)} {'is' if len(missing) == 1 else 'are'} missing; the columns of {file}"
        f" are {columns}."
        + (
            f" Name the {level} measures."
            if wide
            else " One row is one rating: name what is rated, who rates and the rating, and its"
            f" {level} measures. If there is a column for each rater, say --wide."
        )
    )
