"""``heart systems``: the systems that a study can name, and how models are reached."""

from datetime import UTC, datetime

import click

from hearteval.cli.console import emit_json, say
from hearteval.cli.options import json_option


@click.command("systems")
@json_option
def command(*, as_json: bool) -> None:
    """List the systems that a study can name, with families, routes, refusals and prices.

    The first 18 are those of the paper's table.
    """
    from hearteval.models.prices import price_list
    from hearteval.study.catalogue import list_systems, system_objects

    rows = system_objects(when=datetime.now(UTC))
    if as_json:
        emit_json("systems", {"systems": rows, "prices": price_list()})
    else:
        say(list_systems(rows))
