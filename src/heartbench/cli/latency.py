"""``heart latency``: time to first token, as a pass of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from heartbench.cli.options import json_option, study_argument, yes_option

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from heartbench.analysis.latency import SystemLatency
    from heartbench.cli.session import Session
    from heartbench.completions.run_latency import ProbeCounts, ProbePlan, ProbePolicy
    from heartbench.domain import Study, System

NOT_MEASURED = "writes without a model"
IMPORTED = "its completions are imported"
WARM_UP = "The first call of each model in a run warms it up and is left out."


@click.command("latency")
@study_argument
@click.option(
    "--items",
    "n_items",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="Items to ask about.",
)
@click.option(
    "--repeats",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="Calls about each item.",
)
@click.option(
    "--concurrency",
    type=click.IntRange(min=1, max=64),
    default=1,
    show_default=True,
    help="Most calls under way at once.",
)
@yes_option
@json_option
def command(
    study_file: Path, *, n_items: int, repeats: int, concurrency: int, yes: bool, as_json: bool
) -> None:
    """Time the models of a study: first text, first reasoning, the whole reply.

    The reply cache is not used. Run again, it makes the calls that are missing.
    """
    from heartbench.cli.console import emit_json
    from heartbench.cli.run_log import run_log
    from heartbench.cli.session import gather, open_session, register
    from heartbench.completions.run_latency import ProbePolicy
    from heartbench.config import load_study

    settings = load_study(study_file)
    policy = ProbePolicy(n_items=n_items, n_repeats=repeats, concurrency=concurrency)
    with run_log(settings, "latency"):
        gathered = gather(settings)
        with open_session(settings) as session:
            study = register(session, gathered)
            body, rows = _measure(session, study, policy, yes=yes)
    if as_json:
        emit_json("latency", body)
    else:
        click.echo(_text(rows, body))


def _measure(
    session: Session, study: Study, policy: ProbePolicy, *, yes: bool
) -> tuple[dict[str, Any], tuple[SystemLatency, ...]]:
    from dataclasses import asdict

    from heartbench.analysis.latency import latency_by_system
    from heartbench.cli.console import note, warn
    from heartbench.cli.money import confirm_spending, estimate_probes, estimate_words
    from heartbench.cli.session import imported_systems, system_models
    from heartbench.completions.run_latency import plan_probes
    from heartbench.domain import LatencyProbe, System

    plan = plan_probes(session.store, study, sorted(system_models(session.settings)), policy)
    if len(plan.items) < policy.n_items:
        warn(f"{len(plan.items)} items instead of {policy.n_items}: the study has no more")
    asked: dict[str, list[Any]] = {}
    for item, system_id in (*plan.warm_ups, *(one[1:] for one in plan.open_ones)):
        asked.setdefault(system_id, []).append(item)
    estimate = estimate_probes(session.settings, asked)
    note(f"latency: {estimate_words(estimate)}")
    confirm_spending(session.settings, estimate, yes=yes)
    counts = _probe(session, plan)
    for reason, n in counts.failed.items():
        warn(f"{n} calls failed: {reason}; the next run makes them again")
    systems = [system for system in session.store.iter(System, study) if system.kind != "stress"]
    probes = list(session.store.iter(LatencyProbe, study))
    rows = latency_by_system(probes, systems, concurrency=policy.concurrency)
    body = {
        "study": study.name,
        "version": study.version,
        "concurrency": policy.concurrency,
        "n_items": len(plan.items),
        "n_repeats": policy.n_repeats,
        "probes": asdict(counts),
        "warm_up": WARM_UP,
        "systems": [asdict(row) for row in rows],
        "not_measured": _not_asked(systems, imported_systems(session.settings)),
    }
    return body, rows


def _probe(session: Session, plan: ProbePlan) -> ProbeCounts:
    from heartbench.cli.asking import run_to_end
    from heartbench.cli.console import progress_bar, utc_now
    from heartbench.cli.models import open_models
    from heartbench.cli.session import system_models
    from heartbench.completions.run_latency import ProbeCounts, probe_systems
    from heartbench.store.grouped import GroupedWriter

    if not plan.open_ones:
        n = plan.n_wanted
        return ProbeCounts(n_wanted=n, n_before=n, n_added=0, n_warm_up=0, failed={})
    open_systems = {system_id for _, system_id in plan.warm_ups}
    models = {
        system_id: model
        for system_id, model in system_models(session.settings).items()
        if system_id in open_systems
    }

    async def probe() -> ProbeCounts:
        async with (
            GroupedWriter(session.store) as writer,
            open_models(
                session.settings, writer, systems=models, judges={}, is_timed=True
            ) as asking,
        ):
            with progress_bar("calls", cost=lambda: asking.ledger.spent_usd) as progress:
                return await probe_systems(
                    writer, plan, asking.systems, now=utc_now, progress=progress
                )

    return run_to_end(probe())


def _not_asked(systems: Sequence[System], imported: Collection[str]) -> list[dict[str, str]]:
    return [
        {"system": system.name, "reason": IMPORTED if system.id in imported else NOT_MEASURED}
        for system in sorted(systems, key=lambda system: system.name)
        if system.kind != "model" or system.id in imported
    ]


def _text(rows: Sequence[SystemLatency], body: dict[str, Any]) -> str:
    from heartbench.report.latency_table import latency_lines
    from heartbench.report.text import wrapped

    left_out = ", ".join(system["system"] for system in body["not_measured"])
    parts = []
    if rows:
        parts = [
            latency_lines(rows),
            "",
            wrapped(
                f"Medians and quartiles in milliseconds, at most {body['concurrency']} call(s) at "
                f"once. {WARM_UP}"
            ),
        ]
    if left_out:
        parts.append(wrapped(f"Nothing to measure, no model is asked: {left_out}."))
    return "\n".join(parts)
