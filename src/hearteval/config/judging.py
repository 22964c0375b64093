"""The ``[judging]`` of a study file: who judges, what they are asked, and the plan."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from pydantic import Field

from hearteval.config.model_settings import Judge, JudgeSettings, Section
from hearteval.config.models import find_judge, read_judge
from hearteval.config.rubric import read_own_rubric
from hearteval.domain import AXES, Axis, Display
from hearteval.errors import SettingsError
from hearteval.judgments.form import (
    PAPER,
    RATED,
    USUAL,
    JudgeForm,
    JudgeProtocol,
    Marks,
    marks_of,
)
from hearteval.judgments.plan import Choosing, PlanPolicy
from hearteval.protocol import ENGLISH, languages, load_protocol

FORM_SETTINGS = ("protocol", "axes", "axis_marks", "rubric", "display", "language")
"""Settings of `[judging]` that say what judges of models are asked and shown."""
PAIR_SETTINGS = ("design", "comparisons", "both_orders", "opponents")
"""Settings of `[judging]` that say something of pairs only."""

OPPONENTS = 6
"""Of each reply of a newcomer, where nobody says: it is in all its pairs, so a few are enough."""


class Judging(Section):
    """One ``[judging]``."""

    judges: list[str]
    protocol: JudgeProtocol = "forced-strength"
    axes: Annotated[list[Axis], Field(min_length=1, default_factory=lambda: list(AXES))]
    axis_marks: Marks = "all"
    rubric: str | None = None
    display: Display = "plain"
    language: str | None = None
    design: Choosing = "full"
    comparisons: Annotated[int | None, Field(ge=1)] = None
    opponents: Annotated[int | None, Field(ge=1)] = None
    both_orders: bool = True
    exclude_own_family: bool = True
    stress_items: Annotated[int, Field(ge=0)] = 100
    repeat_pairs: Annotated[int, Field(ge=0)] = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingSettings:
    """Who judges what: LLM judges, their protocol, and the plan."""

    judges: tuple[JudgeSettings, ...]
    form: JudgeForm
    """What judges of models are asked."""
    plan: PlanPolicy

    @property
    def protocol(self) -> JudgeProtocol:
        """How they answer: two texts compared, or one rated."""
        return self.form.protocol


def read_judging(
    path: Path, judging: Judging, entries: Sequence[Judge], *, language: str = ENGLISH
) -> JudgingSettings:
    """Read what a study file says of judges, each described in an entry or known by its name.

    They are asked in this language unless the file says otherwise.

    Raises:
        SettingsError: A judge is none, or is asked what it cannot be asked.
    """
    described = [
        read_judge(f"{path}: judge {number}", path.parent, entry)
        for number, entry in enumerate(entries, start=1)
    ]
    own = {judge.name: judge for judge in described}
    if "cue" in own:
        raise SettingsError(
            f"{path}: a [[judge]] is named 'cue', which is the offline baseline; rename it"
        )
    if len(own) < len(described):
        raise SettingsError(f"{path}: two [[judge]] have one name; give each another")
    judges = tuple(find_judge(f"{path}: judging.judges", name, own) for name in judging.judges)
    unused = sorted(set(own) - set(judging.judges))
    if unused:
        raise SettingsError(f"{path}: judging.judges does not name the judge {unused[0]!r}; add it")
    if len(set(judging.judges)) < len(judging.judges):
        raise SettingsError(f"{path}: judging.judges: a judge is listed twice")
    form = _form(path, judging, judging.language or language)
    if judging.protocol == "rating":
        _require_ratable(path, judging, judges)
    _require_askable(path, form, judges)
    if judging.design == "balanced" and judging.comparisons is None:
        raise SettingsError(
            f"{path}: judging.comparisons: a balanced design needs the number of pairs, e.g. "
            "comparisons = 6000"
        )
    if judging.design == "full" and judging.comparisons is not None:
        raise SettingsError(
            f"{path}: judging.comparisons: a full design compares every pair; remove it, or set "
            'design = "balanced"'
        )
    return JudgingSettings(judges=judges, form=form, plan=_plan(path, judging))


def _plan(path: Path, judging: Judging) -> PlanPolicy:
    said = judging.model_dump(exclude={"judges", *FORM_SETTINGS})
    if judging.design == "newcomers":
        if judging.comparisons is not None:
            raise SettingsError(
                f"{path}: judging.comparisons: with newcomers the number of pairs follows from"
                " judging.opponents; remove it",
                ids=("judging.comparisons",),
            )
        said["opponents"] = judging.opponents or OPPONENTS
    elif judging.opponents is not None:
        raise SettingsError(
            f"{path}: judging.opponents: is of newcomers to a released board; remove it, or set"
            ' design = "newcomers"',
            ids=("judging.opponents",),
        )
    return PlanPolicy(**said)


def _require_askable(path: Path, form: JudgeForm, judges: Sequence[JudgeSettings]) -> None:
    """Raise `SettingsError` where the cue judge would be asked what it does not do."""
    if replace(form, display=USUAL.display, language=USUAL.language) in (USUAL, RATED) or not any(
        judge.is_cue for judge in judges
    ):
        return
    if form.protocol == "five-point":
        raise SettingsError(
            f"{path}: judging.judges: 'cue', the offline baseline, forces a winner and knows no"
            ' five points; take a judge that is a model, or set protocol = "forced-strength"',
            ids=("judging.judges",),
        )
    raise SettingsError(
        f"{path}: judging.judges: 'cue', the offline baseline, has cues for the five axes and marks"
        " all of them; axes, axis_marks and rubric are for judges that are models: remove them, or"
        " take such a judge",
        ids=("judging.judges",),
    )


def _form(path: Path, judging: Judging, language: str) -> JudgeForm:
    """Return what judges of models are asked, its rubric read from its file."""
    known = marks_of(judging.protocol)
    if judging.axis_marks not in known:
        raise SettingsError(
            f"{path}: judging.axis_marks: with the protocol {judging.protocol!r} it is"
            f" {' or '.join(map(repr, known))}, not {judging.axis_marks!r}",
            ids=("judging.axis_marks",),
        )
    if language not in languages():
        raise SettingsError(
            f"{path}: judging.language: judges cannot be asked in {language!r}; known:"
            f" {', '.join(languages())} (docs/how-to/another-language.md)",
            ids=("judging.language",),
        )
    if len(set(judging.axes)) < len(judging.axes):
        raise SettingsError(f"{path}: judging.axes: an axis stands twice", ids=("judging.axes",))
    if judging.protocol == "rating" and not set(AXES) & set(judging.axes):
        raise SettingsError(
            f"{path}: judging.axes: a rating's overall score is over those of the five axes"
            f" {', '.join(AXES)} that are asked about; name one at least",
            ids=("judging.axes",),
        )
    rubric, names = "", tuple[tuple[Axis, str], ...]()
    if judging.rubric == PAPER:
        _require_of_paper(path, judging)
        rubric = PAPER
    elif judging.rubric is not None:
        rubric, names = read_own_rubric(path, judging.rubric, judging.axes)
    return JudgeForm(
        protocol=judging.protocol,
        axes=tuple(judging.axes),
        marks=judging.axis_marks,
        rubric=rubric,
        names=names,
        display=judging.display,
        language=language,
    )


def _require_of_paper(path: Path, judging: Judging) -> None:
    """Raise `SettingsError` for what the paper's rubric does not have: other axes, levels."""
    others = [axis for axis in judging.axes if axis not in load_protocol("rubric_paper")]
    if others:
        raise SettingsError(
            f"{path}: judging.rubric: the paper's has no axis {', '.join(others)}; take it out of"
            " judging.axes, or leave judging.rubric out for the project's",
            ids=("judging.rubric",),
        )
    if judging.protocol == "rating":
        raise SettingsError(
            f"{path}: judging.rubric: the paper's says nothing of scores, because its judges"
            ' compare; set protocol = "forced-strength", or leave judging.rubric out for the'
            " project's",
            ids=("judging.rubric",),
        )


def _require_ratable(path: Path, judging: Judging, judges: tuple[JudgeSettings, ...]) -> None:
    """Raise `SettingsError` for what only pairs have, and for a judge that only compares."""
    of_pairs = [name for name in PAIR_SETTINGS if name in judging.model_fields_set]
    if of_pairs:
        places = [f"judging.{name}" for name in of_pairs]
        raise SettingsError(
            f"{path}: {', '.join(places)}: the rating protocol has judges score every completion "
            "by itself, so there are no pairs to choose or to turn round; remove it",
            ids=places,
        )
    if any(judge.is_cue for judge in judges):
        raise SettingsError(
            f"{path}: judging.judges: 'cue', the offline baseline, compares two texts and cannot "
            'rate one; take a judge that is a model, or set protocol = "forced-strength"',
            ids=("judging.judges",),
        )
