"""`he.plan`: what a study that is not made yet could tell, and what it would cost."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

import narwhals.stable.v2 as nw

from hearteval.analysis.planner import Plan, Question
from hearteval.analysis.ranking.warnings import MIN_RATERS
from hearteval.api.shown import Shown
from hearteval.domain import flat_fields
from hearteval.errors import SettingsError
from hearteval.exchange.arguments import read_number
from hearteval.exchange.tables.frames import find_frame_kind
from hearteval.report.files.plan import plan_display
from hearteval.report.table import Display

if TYPE_CHECKING:
    from hearteval.study import Tell

MOST_POINTS: Final = 50
"""Of a difference from one half."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyPlan(Plan, Shown):
    """What a study could tell; see `hearteval.analysis.planner` for every field.

    Its dataframe has a row for each design, the planned one first.
    """

    schema: ClassVar = "heart.plan/1"
    frame: nw.Implementation = field(repr=False)

    def __repr__(self) -> str:
        seen = f"{100 * self.gap:g} points seen in {100 * self.planned.power:.0f} of 100"
        return f"<{type(self).__name__} of {self.study}: {seen}; print it for the table>"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as what JSON can write, but for the draws."""
        body = Shown.to_dict(self)
        del body["basis"]["draws"]
        return body

    def _rows(self) -> Sequence[Mapping[str, Any]]:
        return [asdict(one) for one in (self.planned, *self.designs)]

    def _display(self) -> Display:
        return plan_display(self)


def plan(
    study: "Path | str | None" = None,
    *,
    pilot: "Path | str | None" = None,
    raters: int | None = None,
    gap: float = 5,
    power: float = 0.8,
    half_width: float | None = None,
    max_hours: float | None = None,
    max_usd: float | None = None,
) -> StudyPlan:
    """Say what a study could tell, what it costs, and which designs would tell enough.

    Args:
        study: The study file that is planned; left out, the pilot's.
        pilot: A study file whose stored votes tell how items and people vary; left out, the study's
            own votes so far, or published ones.
        raters: People in the pool, 5 or more.
        gap: The difference to be seen, in points: 5 is one of two systems preferred in 55 %.
        power: Chance with which it is to be seen.
        half_width: Half-width of the interval of a difference, in points, asked for in place of
            power.
        max_hours: Person-hours that there are at most.
        max_usd: Dollars of models, and pay, that there are at most.

    Raises:
        SettingsError: Neither file is named, or one cannot be used.
        StoreError: The pilot has stored nothing.
        NotIdentifiedError: Its votes do not tell how items and people vary.
        ValueError: A number is out of range.
    """
    from hearteval.study import Quiet

    asked = Question(
        gap=_share("gap", gap),
        power=_within("power", power, 1),
        half_width=None if half_width is None else _share("half_width", half_width),
        max_hours=None if max_hours is None else _within("max_hours", max_hours),
        max_usd=None if max_usd is None else _within("max_usd", max_usd),
    )
    if raters is not None and raters < MIN_RATERS:
        raise ValueError(f"raters: an interval over people takes {MIN_RATERS}, not {raters}")
    of, by = (None if one is None else Path(one) for one in (study, pilot))
    return plan_told(of, by, asked, Quiet(), n_raters=raters)


def plan_told(
    study: Path | None, pilot: Path | None, asked: Question, tell: "Tell", *, n_raters: int | None
) -> StudyPlan:
    """Do as `plan`, and say what is done.

    Raises:
        SettingsError: Neither file is named, or one cannot be used.
    """
    from hearteval.study.asking.planner import plan_study

    named = study or pilot
    if named is None:
        raise SettingsError(
            "a plan is of a study file, or of a pilot's: heart plan STUDY.toml, or"
            " heart plan --pilot PILOT.toml. To make a study file: heart init DIR, for people as"
            " raters heart init DIR --preset people"
        )
    found = plan_study(named, asked, tell, pilot=pilot, n_raters=n_raters)
    return StudyPlan(**flat_fields(found), frame=find_frame_kind(None))


def _share(argument: str, points: float) -> float:
    """Return a difference in points as a share: above 0, and no more than the scale holds."""
    return _within(argument, points, MOST_POINTS) / 100


def _within(argument: str, value: float, most: float = math.inf) -> float:
    number = read_number(argument, value)
    if not 0 < number < most:
        ends = "above 0" if most == math.inf else f"above 0 and under {most:g}"
        raise ValueError(f"{argument} is {ends}, not {value!r}")
    return number
