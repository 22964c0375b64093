"""``heart compare``: two studies, or two panels of one, side by side."""

from dataclasses import asdict
from pathlib import Path

import click

from hearteval.cli.console import Terminal, emit_json, say, terminal_width
from hearteval.cli.options import StudyPath, json_option


@click.command("compare")
@click.argument("first", metavar="A.toml", type=StudyPath())
@click.argument("second", metavar="[B.toml]", type=StudyPath(), required=False)
@click.option(
    "--first",
    "first_panel",
    multiple=True,
    metavar="JUDGE",
    help="Judges of A that count (repeatable), or people.",
)
@click.option(
    "--second",
    "second_panel",
    multiple=True,
    metavar="JUDGE",
    help="Judges of B likewise; without B.toml, of A.",
)
@json_option
def command(
    first: Path,
    second: Path | None,
    *,
    first_panel: tuple[str, ...],
    second_panel: tuple[str, ...],
    as_json: bool,
) -> None:
    """Say what moved between two stored studies, or between two panels of one, and why.

    Systems are matched by name, items by what they are. A study that other judges have judged
    again keeps the verdicts of the first: name both panels.

    \b
    heart compare before.toml after.toml
    heart compare my.toml --first gpt --second claude --second gemini
    """  # noqa: D301 - click reads this mark of a paragraph to keep
    from hearteval.report.files.compared import comparison_display
    from hearteval.study.comparing import compare_stored

    if second is None and not (first_panel or second_panel):
        raise click.UsageError(
            "name another study to compare with, or two panels of this one: --first JUDGE --second"
            " JUDGE."
        )
    tell = Terminal()
    with tell.progress("analysis"):
        found = compare_stored(first, second or first, (first_panel, second_panel), tell)
    if as_json:
        emit_json("compare", asdict(found))
        return
    say(comparison_display(found).text(terminal_width()))
