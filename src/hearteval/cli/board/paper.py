"""``heart paper``: the published numbers against each other, and a study beside them."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from hearteval.cli.console import Terminal, emit_json, say, terminal_width
from hearteval.cli.options import json_option


@click.command("paper")
@click.argument(
    "study_file",
    metavar="[STUDY.toml]",
    type=click.Path(path_type=Path, dir_okay=False),
    required=False,
)
@json_option
def command(study_file: Path | None, *, as_json: bool) -> None:
    """Show which of the paper's numbers can be computed again, and where they do not agree.

    With a study, its systems that bear a name of the paper's table stand beside it, row by row.
    """
    from hearteval.analysis.ranking.checks.paper import beside_paper, check_paper
    from hearteval.report.files.paper import beside_display, paper_display

    found = check_paper()
    body: dict[str, Any] = {
        **asdict(found),
        "claims": [{**asdict(one), "agrees": one.agrees} for one in found.claims],
    }
    displays = [paper_display(found)]
    if study_file is not None:
        from hearteval.study.results import analyze
        from hearteval.study.session import open_stored

        with open_stored(study_file, Terminal()) as (session, study):
            board = analyze(session, study).leaderboard
        rows = () if board is None else beside_paper(board)
        displays.append(beside_display(rows, study.name))
        body["study"] = {"name": study.name, "systems": [asdict(one) for one in rows]}
    if as_json:
        emit_json("paper", body)
        return
    say("\n\n".join(one.text(terminal_width()) for one in displays))
