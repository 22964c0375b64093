"""``heart judges``: the judges that a study can name, and what they can be trusted with."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from heartbench.cli.options import json_option, study_argument, yes_option

AUDIT_ITEMS = 20


@click.group("judges")
def command() -> None:
    """List the judges, and test those of a study."""


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


@command.command("audit")
@study_argument
@click.option(
    "--items",
    "n_items",
    type=click.IntRange(min=1),
    default=AUDIT_ITEMS,
    show_default=True,
    help="Items with a reference to audit on.",
)
@yes_option
@json_option
def audit(study_file: Path, *, n_items: int, yes: bool, as_json: bool) -> None:
    """Stress-test the judges of a study: can they be swayed, flattered, confused, misled?

    Run again, it asks what is missing; with more items it keeps what was asked.
    """
    from heartbench.cli.console import emit_json
    from heartbench.cli.judge_audit import LEVEL, audit_objects, audit_step, pair_protocol
    from heartbench.cli.run_log import run_log
    from heartbench.cli.session import gather, open_session, register
    from heartbench.config import load_study
    from heartbench.protocol import CUE_NOTICE
    from heartbench.report.judge_audit_table import judge_audit_lines
    from heartbench.report.text import wrapped

    settings = load_study(study_file)
    pair_protocol(settings)
    with run_log(settings, "judges-audit"):
        gathered = gather(settings)
        with open_session(settings) as session:
            study = register(session, gathered)
            counts, audits = audit_step(session, study, n_items=n_items, yes=yes)
    notice = CUE_NOTICE if any(found.is_baseline for found in audits) else None
    if as_json:
        body = {"study": study.name, "version": study.version, **counts, "level": LEVEL}
        emit_json("judges_audit", {**body, "judge_notice": notice, "judges": audit_objects(audits)})
        return
    click.echo(judge_audit_lines(audits, level=LEVEL))
    if notice is not None:
        click.echo("\n" + wrapped(notice))


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
