"""``heart judges``: the judges that a study can name, and what they can be trusted with."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from hearteval.cli.console import emit_json, end_with, working_on
from hearteval.cli.options import json_option, study_argument, yes_option

AUDIT_ITEMS = 20


@click.group("judges")
def command() -> None:
    """List the judges, and test those of a study."""


@command.command("list")
@json_option
def list_judges(*, as_json: bool) -> None:
    """List the judges that a study can name, with families, routes, refusals and prices."""
    from hearteval.cli.systems import ending_lines, route_legend, route_table
    from hearteval.models.prices import price_list
    from hearteval.protocol import CUE_NOTICE
    from hearteval.report.text import wrapped
    from hearteval.study.session import utc_now

    rows = judge_objects(when=utc_now())
    if as_json:
        emit_json("judges", {"judges": rows, "prices": price_list()})
        return
    table = route_table(rows, "judge", _describe)
    click.echo(f"{table}\n\n{wrapped(route_legend(rows))}\n{wrapped(CUE_NOTICE)}")
    click.echo(wrapped(ending_lines(rows)))


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
    from hearteval.config import load_study
    from hearteval.protocol import CUE_NOTICE
    from hearteval.report.judges import judge_audit_lines
    from hearteval.report.text import wrapped
    from hearteval.study.pipeline import LEVEL, audit_study, pair_protocol

    settings = load_study(study_file)
    pair_protocol(settings)
    with working_on(settings, "judges-audit", yes=yes) as (session, study):
        counts, audits, failures = audit_study(session, study, n_items=n_items)
    notice = CUE_NOTICE if any(found.is_baseline for found in audits) else None
    if as_json:
        body = {"study": study.name, "version": study.version, **counts, "level": LEVEL}
        rows = [asdict(found) for found in audits]
        body |= {"judge_notice": notice, "judges": rows}
        emit_json("judges_audit", {**body, "failures": [asdict(one) for one in failures]})
    else:
        click.echo(judge_audit_lines(audits, level=LEVEL))
        if notice is not None:
            click.echo("\n" + wrapped(notice))
    end_with(failures, settings)


def judge_objects(*, when: datetime) -> list[dict[str, Any]]:
    """Return every judge as JSON says it, the offline baseline last."""
    from hearteval.cli.systems import route_object
    from hearteval.models.presets import load_judge_presets

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


def _describe(row: Mapping[str, Any]) -> str:
    asked = "offline baseline" if row["is_baseline"] else row["model"]
    return f"{row['name']}: {asked}, judges no system of the family {row['family']}"
