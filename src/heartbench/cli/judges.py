"""``heart judges``: the judges that a study can name."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import click

from heartbench.cli.options import json_option


@click.group("judges")
def command() -> None:
    """List the judges."""


@command.command("list")
@json_option
def list_judges(*, as_json: bool) -> None:
    """List the judges that a study can name, with families, routes, refusals and prices."""
    from heartbench.cli.console import emit_json, utc_now
    from heartbench.models.prices import price_list

    rows = judge_objects(when=utc_now())
    if as_json:
        emit_json("judges", {"judges": rows, "prices": price_list()})
        return
    click.echo(_text(rows))


def judge_objects(*, when: datetime) -> list[dict[str, Any]]:
    """Return every judge as JSON says it, the offline baseline last."""
    from heartbench.cli.route_rows import route_object
    from heartbench.models.presets import load_judge_presets

    return [
        {
            "name": judge.name,
            "kind": "llm",
            "family": judge.family,
            "is_baseline": judge.is_baseline,
            "model": judge.model and judge.model.id,
            "routes": [
                route_object(route, when=when)
                for route in (judge.model.routes if judge.model else ())
            ],
        }
        for judge in load_judge_presets().values()
    ]


def _text(rows: Sequence[Mapping[str, Any]]) -> str:
    from heartbench.cli.route_rows import route_cells, route_legend
    from heartbench.protocol import CUE_NOTICE
    from heartbench.report.text import aligned, wrapped

    routes = [route for row in rows for route in row["routes"]]
    heading = ["judge", "model", "takes", "$ in", "$ out", "until"]
    table = iter(aligned([heading, *map(route_cells, routes)], left=(0, 1, 2, 5)).splitlines())
    lines = [next(table)]
    for row in rows:
        asked = "offline baseline" if row["is_baseline"] else row["model"]
        lines.append(f"{row['name']}: {asked}, judges no system of the family {row['family']}")
        lines += [next(table) for _ in row["routes"]]
    return "\n".join([*lines, "", wrapped(route_legend(routes)), wrapped(CUE_NOTICE)])
