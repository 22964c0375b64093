"""``heart agree``: any long table of ratings -> how far raters agree."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from hearteval.cli.console import Terminal, show_result
from hearteval.cli.options import OnceCommand, json_option, options_of, write_commands
from hearteval.errors import HeartError
from hearteval.exchange.options import AgreeOptions


@click.command("agree", cls=OnceCommand)
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@options_of(AgreeOptions, by_after="interval")
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
