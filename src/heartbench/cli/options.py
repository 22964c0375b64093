"""Arguments and options that several verbs share."""

import shlex
from pathlib import Path

import click

study_argument = click.argument(
    "study_file", metavar="STUDY.toml", type=click.Path(path_type=Path, dir_okay=False)
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one versioned JSON object and nothing else."
)


def quoted(path: Path) -> str:
    """Write a path as a shell takes it, also one that begins like an option."""
    return shlex.quote(f"./{path}" if str(path).startswith("-") else str(path))
