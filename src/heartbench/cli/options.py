"""Arguments and options that several verbs share."""

import math
import shlex
from pathlib import Path
from typing import Any

import click


class FiniteFloat(click.FloatRange):
    """A number in a range; never NaN or infinity, which click lets pass."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read the number."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value!r} is no finite number.", param, ctx)
        return number


study_argument = click.argument(
    "study_file", metavar="STUDY.toml", type=click.Path(path_type=Path, dir_okay=False)
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one versioned JSON object and nothing else."
)
yes_option = click.option(
    "--yes", is_flag=True, help="Spend money without asking; what is free never asks."
)
resamples_option = click.option(
    "--resamples",
    type=click.IntRange(min=100, max=1_000_000),
    default=1000,
    show_default=True,
    help="Bootstrap replicates.",
)
seed_option = click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Seed of the bootstrap.",
)


def quoted(path: Path) -> str:
    """Write a path as a shell takes it, also one that begins like an option."""
    return shlex.quote(f"./{path}" if str(path).startswith("-") else str(path))
