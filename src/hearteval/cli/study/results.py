"""How the verbs print what a study has found."""

import sys
from collections.abc import Mapping
from pathlib import Path

import click

from hearteval.analysis.study import StudyResults
from hearteval.cli.console import labelled, terminal_width
from hearteval.report.answers.headline import sentence
from hearteval.report.summary import brief_display, details_display, next_step, results_table
from hearteval.report.text import wrapped
from hearteval.study import quoted


def show_results(
    results: StudyResults, study_file: Path, written: Mapping[str, str], *, is_verbose: bool
) -> str:
    """Print the answer, the table, the most serious notice, where it was written, what to do next.

    With `is_verbose` print all there is. Returns what was printed.
    """
    width = terminal_width()
    if sys.stderr.isatty():
        click.echo(err=True)  # apart from the progress above it
    said = click.style(wrapped(str(sentence(results)), width, indent=""), bold=True)
    table = results_table(results) if is_verbose else None
    file = quoted(study_file)
    display = (details_display if is_verbose else brief_display)(results).naming(file)
    ends = {**written, "next": next_step(results, file)}
    parts = [said, table.text(width) if table else "", display.text(width)]
    parts.append("\n".join(labelled(label, words) for label, words in ends.items()))
    text = "\n\n".join(filter(None, parts))
    click.echo(text)
    return text
