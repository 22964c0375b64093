"""``heart export``: write a study in another tool's format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from heartbench.cli.options import json_option, quoted, study_argument

if TYPE_CHECKING:
    from heartbench.domain import Study
    from heartbench.exchange.study_export import StudyExport
    from heartbench.store.base import Store


@click.command("export")
@study_argument
@click.option("--to", type=click.Choice(["inspect"]), required=True, help="The format.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    help="Folder to write into, made where there is none.",
)
@click.option("--force", is_flag=True, help="Replace files that hold other content.")
@json_option
def command(study_file: Path, *, to: str, out: Path, force: bool, as_json: bool) -> None:
    """Write a stored study as Inspect logs, one for each system; `inspect view` opens them."""
    from heartbench.cli.console import emit_json, warn
    from heartbench.cli.session import open_stored
    from heartbench.exchange.inspect_export import export_study

    with open_stored(study_file) as (session, study):
        logs = export_study(_collect(session.store, study), out, replace=force)
    if study.protocols.get("llm") == "rating":
        warn("ratings are not exported: these logs hold completions without scores")
    if as_json:
        body = {
            "study": study.name,
            "version": study.version,
            "to": to,
            "out": str(out),
            "logs": [
                {
                    "system": log.system,
                    "path": str(log.path),
                    "n_completions": log.n_completions,
                    "n_failed": log.n_failed,
                    "n_left_out": log.n_left_out,
                }
                for log in logs
            ],
        }
        emit_json("export", body)
        return
    for log in logs:
        click.echo(f"{log.path}: {log.n_completions} completions, {log.n_failed} without one")
    click.echo(f"next: inspect view --log-dir {quoted(out)}")


def _collect(store: Store, study: Study) -> StudyExport:
    from heartbench.completions.prompting import support_messages, support_prompt_hash
    from heartbench.domain import (
        Assignment,
        Attempt,
        Completion,
        Item,
        Judgment,
        Pair,
        Rater,
        System,
    )
    from heartbench.exchange.study_export import StudyExport

    systems = [system for system in store.iter(System, study) if system.kind != "stress"]
    ranked = {system.id for system in systems}
    items = list(store.iter(Item, study))
    return StudyExport(
        study=study,
        systems=sorted(systems, key=lambda system: system.name),
        items=items,
        completions=[c for c in store.iter(Completion, study) if c.system_id in ranked],
        attempts=list(store.iter(Attempt, study)),
        raters=list(store.iter(Rater, study)),
        pairs=list(store.iter(Pair, study)),
        assignments=list(store.iter(Assignment, study)),
        judgments=list(store.iter(Judgment, study)),
        prompts={item.id: support_messages(item) for item in items},
        prompt_hash=support_prompt_hash(),
    )
