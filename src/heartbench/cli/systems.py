"""``heart systems``: the systems that a study can name, and how models are reached."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import click

from heartbench.cli.options import json_option

ORIGINAL = "Original Dataset Completions"
BEST_HUMAN = "Best Human"
KEYLESS = ("original", "baseline")
NOTES = {
    "best_human": "a policy of the analysis: the best of the people's completions of each item",
    "polaris-4.0": "has no public endpoint; set base_url and model in the study file",
}


@click.command("systems")
@json_option
def command(*, as_json: bool) -> None:
    """List the systems that a study can name, with families, routes, refusals and prices.

    The first 18 are those of the paper's table.
    """
    from heartbench.cli.console import emit_json, utc_now
    from heartbench.models.prices import price_list

    rows = system_objects(when=utc_now())
    if as_json:
        emit_json("systems", {"systems": rows, "prices": price_list()})
        return
    click.echo(_text(rows))


def system_objects(*, when: datetime) -> list[dict[str, Any]]:
    """Return every system as JSON says it: the 18 published ones, then the other baselines."""
    from heartbench.cli.route_rows import route_object
    from heartbench.completions.baselines import BASELINES, baseline_system
    from heartbench.models.presets import load_model_presets

    rows = [
        _row(preset.name, preset.id, "model", preset.family, published=True)
        | {"routes": [route_object(route, when=when) for route in preset.routes]}
        for preset in load_model_presets().values()
    ]
    rows.append(_row(BEST_HUMAN, "best_human", "human", "human", published=True))
    for name in BASELINES:
        system = baseline_system(name, seed=0)
        is_published = system.kind == "original"
        title = ORIGINAL if is_published else system.name
        rows.append(_row(title, name, system.kind, system.family, published=is_published))
    return rows


def _row(name: str, preset: str, kind: str, family: str, *, published: bool) -> dict[str, Any]:
    return {
        "name": name,
        "preset": preset,
        "kind": kind,
        "family": family,
        "routes": [],
        "published": published,
        "note": NOTES.get(preset),
    }


def _text(rows: Sequence[Mapping[str, Any]]) -> str:
    from heartbench.cli.route_rows import route_cells, route_legend
    from heartbench.report.text import aligned, wrapped

    routes = [route for row in rows for route in row["routes"]]
    heading = ["preset", "model", "takes", "$ in", "$ out", "until"]
    table = iter(aligned([heading, *map(route_cells, routes)], left=(0, 1, 2, 5)).splitlines())
    lines = [next(table)]
    for row in rows:
        title = "" if row["name"] == row["preset"] else f"{row['name']}, "
        keyless = ", needs no key" if row["kind"] in KEYLESS else ""
        lines.append(f"{row['preset']}: {title}family {row['family']}{keyless}")
        lines += [next(table) for _ in row["routes"]]
        if row["note"]:
            lines.append(f"  {row['note']}")
    n_published = sum(row["published"] for row in rows)
    closing = f"{len(rows)} systems; the first {n_published} are the rows of the paper's table."
    return "\n".join([*lines, "", wrapped(f"{closing} {route_legend(routes)}")])
