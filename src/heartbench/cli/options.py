"""Arguments and options that several verbs share."""

from pathlib import Path

import click

study_argument = click.argument(
    "study_file", metavar="STUDY.toml", type=click.Path(path_type=Path, dir_okay=False)
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one versioned JSON object and nothing else."
)
