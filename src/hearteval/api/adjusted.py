"""`he.rank_controlled` and `he.rank_judge_aware`: strengths with other differences held equal."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Unpack

import narwhals.stable.v2 as nw

from hearteval.analysis.ranking.checks.adjusted import (
    ControlledVotes,
    JudgedVotes,
    control_votes,
    rank_votes_of_judges,
)
from hearteval.analysis.ranking.votes import Votes
from hearteval.api.reading import VoteReading, VoteSource, explaining
from hearteval.api.shown import Shown
from hearteval.domain import flat_fields
from hearteval.exchange.arguments import (
    check_columns_named,
    check_controls,
    check_level,
    check_named,
    check_roles,
    takes,
)
from hearteval.exchange.options import VoteOptions
from hearteval.exchange.tables.columns import Report, report_nothing
from hearteval.exchange.tables.frames import find_frame_kind
from hearteval.report.files.ranking import controlled_display, judged_display
from hearteval.report.table import Display

if TYPE_CHECKING:
    from hearteval.exchange.tables import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Controlled(ControlledVotes, Shown):
    """Controlled strengths; see `hearteval.analysis.ranking.checks.adjusted` for every field."""

    schema: ClassVar = "heart.rank_controlled/1"
    frame: nw.Implementation = field(repr=False)
    __repr__ = Shown.__repr__

    def _display(self) -> Display:
        return controlled_display(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeAware(JudgedVotes, Shown):
    """Judge-aware strengths; see `hearteval.analysis.ranking.checks.adjusted` for every field."""

    schema: ClassVar = "heart.rank_judge_aware/1"
    frame: nw.Implementation = field(repr=False)
    __repr__ = Shown.__repr__

    def _display(self) -> Display:
        return judged_display(self)


@takes(VoteOptions)
def rank_controlled(
    votes: "Source",
    *,
    cluster: str | Sequence[str],
    controls: Mapping[str, tuple[str, str]] = MappingProxyType({}),
    position: bool = True,
    rater: str | None = None,
    level: float = 0.95,
    report: Report = report_nothing,
    **options: Unpack[VoteOptions],
) -> Controlled:
    """Rank with length, formatting or position held equal, beside the raw strengths.

    Each control enters as (left - right) / (left + right), as lengths and counts do best; its
    effect is linear in log odds and one for all, and its `win_rate` is that of the side with twice
    as much. See docs/reference/controlled-strengths.md.

    `controls` gives the columns of a control for the left and for the right answer, by its name;
    `position` says whether to control for being on the left; `cluster` is the column of the item
    voted on (raters are sampled too from five on). The others are as in `rank`.

    Raises:
        InvalidVotesError: A row cannot be read.
        NotIdentifiedError: Strengths or effects are not determined; it names them.
        SettingsError: A column is missing or named twice, there is nothing to control for, or a
            control is below 0.
        TypeError: As in `rank`.
        ValueError: As in `rank`.
    """
    source = VoteSource(votes, options, report)
    reading, make = open_controlled(
        source, cluster=cluster, rater=rater, controls=controls, position=position, level=level
    )
    return make(reading.whole())


def open_controlled(
    source: VoteSource,
    *,
    cluster: str | Sequence[str] | None,
    rater: str | None,
    controls: Mapping[str, tuple[str, str]],
    position: bool,
    level: float,
) -> tuple[VoteReading, Callable[[Votes], Controlled]]:
    """Return the table with the columns that are needed, and what makes a result of votes."""
    level = check_level(level)
    pairs = check_controls(controls, position=position)
    check_named("cluster", cluster)
    ends = tuple(dict.fromkeys(column for pair in pairs.values() for column in pair))
    reading = source.open({"cluster": cluster, "rater": rater, "covariates": ends})
    frame = find_frame_kind(source.source)

    def make(votes: Votes) -> Controlled:
        roles = reading.columns.by_role()
        with explaining(votes):
            found = control_votes(votes, pairs, position=position, level=level, columns=roles)
        return Controlled(**flat_fields(found), frame=frame)

    return reading, make


@takes(VoteOptions)
def rank_judge_aware(
    votes: "Source",
    *,
    judge: str,
    cluster: str | Sequence[str],
    level: float = 0.95,
    report: Report = report_nothing,
    **options: Unpack[VoteOptions],
) -> JudgeAware:
    """Rank by a panel of judges who differ in discrimination and position bias.

    Both are estimated with the strengths; the left side is what each judge was shown first. The
    panel is taken as given.

    `judge` and `cluster` are the columns of the judge and of the item judged; the others are as in
    `rank`.

    Raises:
        InvalidVotesError: A row cannot be read.
        NotIdentifiedError: Strengths or a judge's parameters are not determined; it names them.
        SettingsError: A column is missing or named twice.
        TypeError: As in `rank`.
        ValueError: As in `rank`.
    """
    source = VoteSource(votes, options, report)
    reading, make = open_judged(source, judge=judge, cluster=cluster, level=level)
    return make(reading.whole())


def open_judged(
    source: VoteSource, *, judge: str, cluster: str | Sequence[str] | None, level: float
) -> tuple[VoteReading, Callable[[Votes], JudgeAware]]:
    """Return the table with the columns that are needed, and what makes a result of votes."""
    level = check_level(level)
    check_columns_named({"judge": judge})
    for column in check_named("cluster", cluster):
        check_roles({"judge": judge, "cluster": column})
    reading = source.open({"cluster": cluster, "rater": judge})
    frame = find_frame_kind(source.source)

    def make(votes: Votes) -> JudgeAware:
        with explaining(votes):
            found = rank_votes_of_judges(votes, level=level, columns=reading.columns.by_role())
        return JudgeAware(**flat_fields(found), frame=frame)

    return reading, make
