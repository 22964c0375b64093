"""``heart latency``: time to first token, as a pass of its own."""

from pathlib import Path

import click

from hearteval.cli.console import emit_json, say, working_on
from hearteval.cli.options import count_option, json_option, study_argument, yes_option


@click.command("latency")
@study_argument
@count_option("--items", "n_items", default=10, words="Items to ask about.")
@count_option("--repeats", default=5, words="Calls about each item.")
@count_option("--concurrency", default=1, most=64, words="Most calls under way at once.")
@yes_option
@json_option
def command(
    study_file: Path, *, n_items: int, repeats: int, concurrency: int, yes: bool, as_json: bool
) -> None:
    """Time the models of a study: first text, first reasoning, the whole reply.

    The reply cache is not used. Run again, it makes the calls that are missing.
    """
    from hearteval.config import load_study
    from hearteval.report.leaderboard import latency_table
    from hearteval.report.text import wrapped
    from hearteval.study.pipeline import measure_latency

    with working_on(load_study(study_file), "latency", yes=yes) as (session, study):
        body, rows = measure_latency(
            session, study, n_items=n_items, n_repeats=repeats, concurrency=concurrency
        )
    if as_json:
        emit_json("latency", body)
        return
    parts = []
    if rows:
        note = f"Medians and quartiles in milliseconds, at most {concurrency} at once."
        parts = [latency_table(rows).text(), "", wrapped(f"{note} {body['warm_up']}")]
    left_out = ", ".join(system["system"] for system in body["not_measured"])
    if left_out:
        parts.append(wrapped(f"Nothing to measure, no model is asked: {left_out}."))
    say("\n".join(parts))
