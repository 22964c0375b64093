"""How the verbs print what a study has found, and open its report."""

import os
import sys
import webbrowser
from collections.abc import Mapping
from pathlib import Path

import click

from hearteval.analysis.study import StudyResults
from hearteval.cli.console import Terminal, terminal_width
from hearteval.report.first_screen import sentence
from hearteval.report.summary import brief_display, details_display, next_step, results_table
from hearteval.report.text import wrapped
from hearteval.study import quoted

LABEL = 8
NO_BROWSER = "no browser opened; open the report yourself"
NO_TERMINAL = "the report is opened from a terminal only"


def show_results(results: StudyResults, *, is_verbose: bool) -> None:
    """Print the answer, the table and the most serious notice; with `is_verbose` all there is."""
    width = terminal_width()
    if sys.stderr.isatty():
        click.echo(err=True)  # apart from the progress above it
    said = sentence(results)
    click.secho(wrapped(str(said), width, indent=""), bold=True)
    table = results_table(results)
    parts = [table.text(width)] if table and is_verbose else []
    parts.append((details_display if is_verbose else brief_display)(results).text(width))
    click.echo("".join(f"\n{part}\n" for part in parts if part), nl=False)


def show_end(results: StudyResults, study_file: Path, written: Mapping[str, str]) -> None:
    """Print where results were written, by what they are, and what to do next."""
    lines = {**written, "next": next_step(results, quoted(study_file))}
    click.echo()
    for label, words in lines.items():
        show_labelled(label, words)


def show_labelled(label: str, words: str) -> None:
    """Print a line with its label before it; a command stays whole, to be copied."""
    text = f"{label:<{LABEL}}{words}"
    is_command = words.startswith("heart ") or " " not in words
    click.echo(text if is_command else wrapped(text, terminal_width(), indent=" " * LABEL))


def shorter(path: str) -> str:
    """Return a path as it is or relative to this folder, whichever is shorter."""
    try:
        return min(path, os.path.relpath(path), key=len)
    except ValueError:  # another drive
        return path


def open_page(path: str) -> None:
    """Open a report in the browser; say so where there is none, or no terminal to ask from."""
    if not (sys.stdout.isatty() and sys.stderr.isatty()):
        Terminal().warn(f"{NO_TERMINAL}: {shorter(path)}")
    elif not webbrowser.open(Path(path).absolute().as_uri()):
        Terminal().warn(f"{NO_BROWSER}: {shorter(path)}")
