"""A rubric of one's own: a TOML file as `protocol/rubric.toml`, checked before a judge sees it."""

import json
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from hearteval.config.model_settings import Section
from hearteval.domain import OVERALL, Axis, axis_key
from hearteval.errors import SettingsError

Words = Annotated[str, Field(min_length=1)]
AxisName = Annotated[
    str, Field(min_length=1, max_length=40, pattern=r"^[^\s](?:[^\n\r\t]*[^\s])?$")
]
N_LEVELS = 5


class Criterion(Section):
    """One named sub-criterion of an axis."""

    name: Words
    text: Words


class RubricAxis(Section):
    """What judges go by on one axis."""

    name: AxisName | None = None
    anchor: Words
    criteria: Annotated[list[Criterion], Field(min_length=1)]
    seeker: Words
    high: Words
    low: Words
    levels: Annotated[list[Words], Field(min_length=N_LEVELS, max_length=N_LEVELS)]


def read_own_rubric(
    study_file: Path, name: str, axes: Sequence[Axis]
) -> tuple[str, tuple[tuple[Axis, str], ...]]:
    """Return the text of a rubric file, beside the study file, and the names that it gives to axes.

    Where it names some the text is what it says of these axes and nothing else: what judges are not
    asked about makes no other judge. Without names it stays the whole file, as it has been.

    Raises:
        SettingsError: It cannot be read, or lacks what judges are shown of one of the axes.
    """
    path = study_file.parent / name
    where = f"{study_file}: judging.rubric: {path}"
    try:
        text = path.read_text(encoding="utf-8")
        found = tomllib.loads(text)
    except FileNotFoundError as error:
        raise SettingsError(f"{where}: there is no such file", ids=(name,)) from error
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"{where}: cannot be read as TOML: {error}", ids=(name,)) from error
    for axis in axes:
        if axis not in found:
            raise SettingsError(
                f"{where}: lacks the axis {axis}, which judges are asked about; describe it under"
                f" [{axis}], or leave it out of judging.axes",
                ids=(name,),
            )
        try:
            RubricAxis.model_validate(found[axis])
        except ValidationError as error:
            fault = error.errors(include_url=False)[0]
            place = ".".join(map(str, (axis, *fault["loc"])))
            raise SettingsError(f"{where}: {place}: {fault['msg'].lower()}", ids=(name,)) from error
    names = {axis: str(found[axis]["name"]) for axis in axes if "name" in found[axis]}
    keys = [axis_key(axis, names.get(axis, "")) for axis in axes]
    if len({*keys, OVERALL}) <= len(keys):
        raise SettingsError(
            f"{where}: the names of two axes are alike in a judge's reply, or one is"
            f" {OVERALL!r}: {', '.join(keys)}; name them apart",
            ids=(name,),
        )
    if names:
        text = json.dumps({axis: found[axis] for axis in sorted(axes)}, sort_keys=True)
    return text, tuple(names.items())
