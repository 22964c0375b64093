"""The ``[labels]`` of a study file: who labels what completions do, models and people."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field

from hearteval.config.model_settings import Judge, JudgeSettings, Section
from hearteval.config.models import find_judge, read_judge
from hearteval.errors import SettingsError
from hearteval.labels.cues import CUES
from hearteval.labels.taxonomy import TaxonomyName, load_taxonomy
from hearteval.models.presets import CUE_JUDGE

REASONS = 500
"""Comparisons whose reasons are labelled, at most, where a study says nothing."""


class Labels(Section):
    """One ``[labels]``."""

    labelers: Annotated[list[str], Field(min_length=1, default_factory=list)]
    people: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    people_per_text: Annotated[int, Field(ge=1, le=2)] = 2
    people_by: Annotated[list[TaxonomyName], Field(min_length=1, default=["strategies"])]
    reasons: Annotated[int, Field(ge=1)] = REASONS


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleLabels:
    """What people label.

    Attributes:
        n_texts: Completions, drawn by the seed within each system and subset of items; as many
            reasons, of people and of judges each their share.
        per_text: People for each; where two differ, a third decides.
        taxonomies: By which they label, each a task of its own.
    """

    n_texts: int
    per_text: int
    taxonomies: tuple[TaxonomyName, ...]


def read_people_labels(
    path: Path, labels: Labels | None, *, has_people: bool
) -> PeopleLabels | None:
    """Read what people label; None where they label nothing.

    Raises:
        SettingsError: There are no people, a taxonomy is named twice, or the section asks nobody.
    """
    if labels is None:
        return None
    unasked = {"people_by", "people_per_text"} & labels.model_fields_set
    if unasked and "people" not in labels.model_fields_set:
        raise SettingsError(
            f"{path}: labels.{min(unasked)}: says how people label, and nobody is asked to; set"
            " labels.people to the number of texts, or to 0",
            ids=(f"labels.{min(unasked)}",),
        )
    if not labels.people:
        if not labels.labelers:
            raise SettingsError(
                f"{path}: labels: nobody is asked to label; set labelers, or people to the number"
                " of completions that people label",
                ids=("labels",),
            )
        return None
    if not has_people:
        raise SettingsError(
            f"{path}: labels.people: people label on the pages of `heart serve`, and the study file"
            " has no [people]; add one (docs/how-to/people.md)",
            ids=("labels.people",),
        )
    if len(set(labels.people_by)) < len(labels.people_by):
        raise SettingsError(f"{path}: labels.people_by: a taxonomy is listed twice")
    for name in labels.people_by:
        if name == "safety":
            raise SettingsError(
                f"{path}: labels.people_by: people do not label by 'safety': they review what is"
                " held (docs/reference/safety-screen.md)",
                ids=("labels.people_by",),
            )
        if "item" in load_taxonomy(name).of:
            raise SettingsError(
                f"{path}: labels.people_by: {name!r} is of items: people read these with"
                " `heart items review`",
                ids=("labels.people_by",),
            )
    return PeopleLabels(
        n_texts=labels.people,
        per_text=labels.people_per_text,
        taxonomies=tuple(labels.people_by),
    )


def read_labelers(
    path: Path, labels: Labels | None, entries: Sequence[Judge], judges: Sequence[Judge]
) -> tuple[JudgeSettings, ...]:
    """Read who labels: ``cues``, a ``[[labeler]]``, a ``[[judge]]``, or a judge known by its name.

    A labeler is described as a judge is; one without a model is the offline baseline.

    Raises:
        SettingsError: One is none, or cannot be asked.
    """
    own = described_models(path, "labeler", entries)
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
    known = {**(described_models(path, "judge", judges) if named else {}), **own}
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


def described_models(path: Path, what: str, entries: Sequence[Judge]) -> dict[str, JudgeSettings]:
    """Read entries of one kind, which messages call `what`, by their names.

    Raises:
        SettingsError: One cannot be read, or two have one name.
    """
    described = [
        read_judge(f"{path}: {what} {number}", path.parent, entry)
        for number, entry in enumerate(entries, start=1)
    ]
    own = {one.name: one for one in described}
    if len(own) < len(described):
        raise SettingsError(f"{path}: two [[{what}]] have one name; give each another")
    return own
