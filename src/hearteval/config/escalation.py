"""Who rewrites and who reads in `heart items adversarial`: models named on the command line.

There is no study there. The models are judges known by name, or described in a file, which may be a
study file, as ``[[judge]]`` or ``[[labeler]]``; what is answered is kept in a store of its own.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from hearteval.config.explained import raise_explained
from hearteval.config.judging import JudgingSettings
from hearteval.config.labels import described_models
from hearteval.config.model_settings import Judge, JudgeSettings, ModelSettings, Section
from hearteval.config.models import find_judge
from hearteval.config.study_file import SECTIONS, Budget, StudySettings, read_toml
from hearteval.errors import SettingsError
from hearteval.judgments.form import USUAL
from hearteval.judgments.plan import PlanPolicy

PERSON = "person"
"""What stands for a person who reads."""
_NO_JUDGES = JudgingSettings(
    judges=(),
    form=USUAL,
    plan=PlanPolicy(
        design="full",
        comparisons=None,
        both_orders=True,
        exclude_own_family=True,
        stress_items=0,
        repeat_pairs=0,
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedModel:
    """A model, and what the user calls it."""

    name: str
    model: ModelSettings

    @property
    def words(self) -> str:
        """How items and evidence name it: as the user does, with the model's own id."""
        id_ = self.model.model
        return self.name if self.name == id_ else f"{self.name} ({id_})"


@dataclass(frozen=True, slots=True, kw_only=True)
class EscalationSettings:
    """Who rewrites, who reads, and where what they answer is kept."""

    writer: NamedModel
    reader: NamedModel | None
    """None where a person reads."""
    asking: StudySettings
    """Of the calls: the store, the seed, the limit on spending."""


class _ModelFile(Section):
    judge: Annotated[list[Judge], Field(default_factory=list)]
    labeler: Annotated[list[Judge], Field(default_factory=list)]
    budget: Budget = Budget()


def read_escalation(
    writer: str, reader: str, *, models: Path | None, out: Path, seed: int
) -> EscalationSettings:
    """Find the models of an escalation that writes the item file `out`.

    Raises:
        SettingsError: A name is none that is known, the file that describes models cannot be read,
            or both are of one family: a family is no check of itself.
    """
    wire = _ModelFile(judge=[], labeler=[]) if models is None else _read_file(models)
    known: dict[str, JudgeSettings] = {}
    for what, entries in (("judge", wire.judge), ("labeler", wire.labeler)):
        known |= described_models(models or out, what, entries)
    writing = _find("--rewriter", writer, known)
    reading = None if reader == PERSON else _find("--reader", reader, known)
    if reading is not None and reading.model.family == writing.model.family:
        raise SettingsError(
            f"--reader: {reader} is of the family {reading.model.family!r}, as --rewriter {writer}"
            " is; whoever confirms a rewrite must be of another family, or a person (--reader"
            f" {PERSON})",
            ids=(reader, writer),
        )
    asking = StudySettings(
        file=out,
        name=out.name,
        seed=seed,
        store=str(out.with_name(f"{out.name}.db")),
        items=(),
        systems=(),
        judging=_NO_JUDGES,
        max_usd=wire.budget.max_usd,
    )
    return EscalationSettings(writer=writing, reader=reading, asking=asking)


def _read_file(path: Path) -> _ModelFile:
    data = read_toml(path)
    wanted = {key: value for key, value in data.items() if key not in _PASSED_OVER}
    try:
        return _ModelFile.model_validate(wanted)
    except ValidationError as error:
        raise_explained(path, error, SECTIONS, wanted)


_PASSED_OVER = SECTIONS.keys() - _ModelFile.model_fields.keys()
"""Sections of a study file that describe no model."""


def _find(option: str, name: str, known: Mapping[str, JudgeSettings]) -> NamedModel:
    found = find_judge(option, name, known)
    if found.model is None:
        why = "is never asked" if found.imported else "is the offline baseline and writes nothing"
        raise SettingsError(f"{option}: {name!r} {why}; name a model", ids=(name,))
    return NamedModel(name=name, model=found.model)
