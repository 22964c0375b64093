"""The ``[labels]`` of a study file: who labels what completions do."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field

from hearteval.config.model_settings import Judge, JudgeSettings, Section
from hearteval.config.models import find_judge, read_judge
from hearteval.errors import SettingsError
from hearteval.labels.cues import CUES
from hearteval.models.presets import CUE_JUDGE


class Labels(Section):
    """One ``[labels]``."""

    labelers: Annotated[list[str], Field(min_length=1)]


def read_labelers(
    path: Path, labels: Labels | None, entries: Sequence[Judge], judges: Sequence[Judge]
) -> tuple[JudgeSettings, ...]:
    """Read who labels: ``cues``, a ``[[labeler]]``, a ``[[judge]]``, or a judge known by its name.

    A labeler is described as a judge is; one without a model is the offline baseline.

    Raises:
        SettingsError: One is none, or cannot be asked.
    """
    own = _described(path, "labeler", entries)
    if CUES in own:
        raise SettingsError(
            f"{path}: a [[labeler]] is named {CUES!r}, which is the offline baseline; rename it"
        )
    named = [] if labels is None else labels.labelers
    unused = sorted(set(own) - set(named))
    if unused:
        raise SettingsError(
            f"{path}: labels.labelers does not name the labeler {unused[0]!r}; add it",
            ids=("labels.labelers",),
        )
    if len(set(named)) < len(named):
        raise SettingsError(f"{path}: labels.labelers: a labeler is listed twice")
    known = {**(_described(path, "judge", judges) if named else {}), **own}
    where = f"{path}: labels.labelers"
    found = []
    for name in named:
        if name == CUES:
            found.append(JudgeSettings(name=CUES, model=None))
            continue
        if name == CUE_JUDGE:
            raise SettingsError(
                f"{where}: {CUE_JUDGE!r} compares two texts; the offline baseline that labels is"
                f" {CUES!r}",
                ids=(name,),
            )
        found.append(find_judge(where, name, known))
    if any(one.imported for one in found):
        raise SettingsError(f"{where}: an imported model is never asked; take another")
    return tuple(found)


def _described(path: Path, what: str, entries: Sequence[Judge]) -> dict[str, JudgeSettings]:
    described = [
        read_judge(f"{path}: {what} {number}", path.parent, entry)
        for number, entry in enumerate(entries, start=1)
    ]
    own = {one.name: one for one in described}
    if len(own) < len(described):
        raise SettingsError(f"{path}: two [[{what}]] have one name; give each another")
    return own
