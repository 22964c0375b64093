"""``heart check``: does a printed table of Elo and win rates agree with itself, or with another?"""

from pathlib import Path
from typing import Any

import click

from hearteval.cli.console import emit_json, say, terminal_width
from hearteval.cli.options import FiniteFloat, OnceCommand, json_option


@click.command("check", cls=OnceCommand)
@click.argument("table", metavar="TABLE", type=click.Path(path_type=Path))
@click.option("--system", metavar="COL", help="Column of the systems' names [system or model].")
@click.option("--elo", metavar="COL", help="Column of Elo [elo or rating].")
@click.option("--win-rate", metavar="COL", help="Column of win rates [win_rate].")
@click.option(
    "--tolerance",
    type=FiniteFloat(min=0, max=1),
    default=0.01,
    show_default=True,
    help="Largest gap, as a share, with which the table agrees.",
)
@click.option(
    "--against",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Another ranking: how far do they say the same?",
)
@click.option("--against-elo", metavar="COL", help="Its column of Elo; or another one of TABLE.")
@json_option
def command(table: Path, *, as_json: bool, **options: Any) -> None:
    """Check whether a TABLE of results (.csv, .tsv, .jsonl or .parquet) agrees with itself.

    Elo say how often each system should win against the others; printed win rates may say
    something else. Every system is taken to have met every other equally often.

    \b
    heart check leaderboard.csv --elo elo --win-rate win_rate
    """  # noqa: D301 - click reads this mark of a paragraph to keep
    from hearteval.api.published import check, compare_rankings

    against, against_elo = options.pop("against"), options.pop("against_elo")
    found = check(table, **options)
    other = None
    if against is not None or against_elo is not None:
        columns = found.columns
        other = compare_rankings(
            table,
            table if against is None else against,
            system=options["system"] or columns["system"] if against is None else options["system"],
            elo=columns["elo"],
            second_elo=against_elo,
        )
    if as_json:
        body = found.to_dict()
        if other is not None:
            body["against"] = {k: v for k, v in other.to_dict().items() if k != "schema"}
        emit_json("check", body)
        return
    say(found.to_text(terminal_width()))
    if other is not None:
        say("\n" + other.to_text(terminal_width()))
