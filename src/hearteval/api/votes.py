"""`he.rank` and its kin: any file or dataframe of votes ranked, as it is or adjusted."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypedDict, Unpack, cast, overload

import narwhals.stable.v2 as nw

from hearteval.analysis.ranking.adjusted import (
    ControlledVotes,
    JudgedVotes,
    control_votes,
    rank_votes_of_judges,
)
from hearteval.analysis.ranking.intervals import DEFAULT_RESAMPLES, IntervalName, RankPolicy, Ties
from hearteval.analysis.ranking.votes import VoteRanking, Votes, rank_votes
from hearteval.api.groups import Rankings, make_groups
from hearteval.api.shown import Shown
from hearteval.domain import flat_fields
from hearteval.errors import NotIdentifiedError
from hearteval.exchange.arguments import (
    Label,
    check_columns_named,
    check_controls,
    check_level,
    check_roles,
    find_columns,
    read_integer,
    read_labels,
    read_number,
)
from hearteval.exchange.tables import open_table
from hearteval.exchange.tables.columns import Report, Table, report_nothing
from hearteval.exchange.tables.frames import find_frame_kind, make_frame
from hearteval.exchange.votes import (
    OutcomeNames,
    PartedVotes,
    VoteColumns,
    read_parted_votes,
    read_votes,
)
from hearteval.report.ranking import controlled_display, judged_display, ranking_display
from hearteval.report.table import Display

if TYPE_CHECKING:
    from pathlib import Path

    from narwhals.stable.v2.typing import IntoFrame

Names = Label | Sequence[Label]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking(VoteRanking, Shown):
    """A ranking of votes; see `hearteval.analysis.ranking.votes` for every field."""

    frame: nw.Implementation = field(repr=False)
    __repr__ = Shown.__repr__

    def differences_frame(self) -> Any:
        """Return the pairwise differences as a dataframe."""
        return make_frame([asdict(row) for row in self.differences], self.frame)

    def _display(self) -> Display:
        return ranking_display(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Controlled(ControlledVotes, Shown):
    """Controlled strengths; see `hearteval.analysis.ranking.adjusted` for every field."""

    schema: ClassVar = "heart.rank_controlled/1"
    frame: nw.Implementation = field(repr=False)
    __repr__ = Shown.__repr__

    def _display(self) -> Display:
        return controlled_display(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeAware(JudgedVotes, Shown):
    """Judge-aware strengths; see `hearteval.analysis.ranking.adjusted` for every field."""

    schema: ClassVar = "heart.rank_judge_aware/1"
    frame: nw.Implementation = field(repr=False)
    __repr__ = Shown.__repr__

    def _display(self) -> Display:
        return judged_display(self)


class RankOptions(TypedDict, total=False):
    """What `rank` takes beside the votes and what parts them; it says what each is."""

    left: str | None
    right: str | None
    winner: str | None
    left_name: Names
    right_name: Names
    tie_name: Names
    own_name: bool
    strength: str | None
    cluster: str | None
    rater: str | None
    ties: Ties
    prior: float
    interval: IntervalName | None
    resamples: int
    seed: int
    level: float
    report: Report


@overload
def rank(
    votes: "Path | str | IntoFrame", *, by: None = None, **options: Unpack[RankOptions]
) -> Ranking: ...


@overload
def rank(
    votes: "Path | str | IntoFrame", *, by: str, **options: Unpack[RankOptions]
) -> Rankings[Ranking]: ...


def rank(
    votes: "Path | str | IntoFrame",
    *,
    left: str | None = None,
    right: str | None = None,
    winner: str | None = None,
    left_name: Names = (),
    right_name: Names = (),
    tie_name: Names = (),
    own_name: bool = False,
    strength: str | None = None,
    cluster: str | None = None,
    rater: str | None = None,
    ties: Ties = "half",
    prior: float = 0.0,
    interval: IntervalName | None = None,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
    level: float = 0.95,
    by: str | None = None,
    report: Report = report_nothing,
) -> Ranking | Rankings[Ranking]:
    """Rank systems by pairwise votes (Bradley-Terry), with intervals and a fit check.

    Args:
        votes: Path of a CSV, JSONL or Parquet file, or any dataframe.
        left: Column of one system; ``model_a`` or ``left`` if there is such a column.
        right: Column of the other system; likewise.
        winner: Column that says who won; likewise.
        left_name: Value or values of the winner column that mean left.
        right_name: Value or values that mean right.
        tie_name: Value or values that mean a tie.
        own_name: Whether the winner column holds the winner's own name; found out by itself unless
            the names can be read in another way too.
        strength: Column of how strongly; adds a ranking weighted by it.
        cluster: Column of the item (prompt, dialogue) voted on: what intervals resample.
        rater: Column of the person who voted. Leave it out for a panel of judges.
        ties: ``half``, ``davidson`` or ``drop``.
        prior: Half-won comparisons added to every pair of systems.
        interval: ``two-way``, ``item-sandwich``, ``item-bootstrap`` or ``published``; by default
            two-way with items and five raters, else item-sandwich.
        resamples: Bootstrap replicates.
        seed: Seed of the bootstrap.
        level: Nominal coverage.
        by: Column to rank apart for each value of: what comes back is one ranking each.
        report: Told how far the reading is.

    Raises:
        InvalidVotesError: A row cannot be read.
        NotIdentifiedError: The votes do not determine the ranking.
        SettingsError: A column is missing or named twice, or the winner column can be read in two
            ways.
        TypeError: An argument is of a wrong kind.
        ValueError: An argument can never be, e.g. a level of 95.
    """
    policy = RankPolicy(
        ties=ties,
        prior=read_number("prior", prior),
        interval=interval,
        n_resamples=read_integer("resamples", resamples),
        seed=read_integer("seed", seed),
        level=check_level(level),
    )
    read = _read(
        votes,
        {"left": left, "right": right, "winner": winner},
        _outcome_names(left_name, right_name, tie_name, own_name=own_name),
        {"strength": strength, "cluster": cluster, "rater": rater, "by": by},
        report,
    )
    frame = find_frame_kind(votes)

    def make(some: Votes) -> Ranking:
        with _explaining(some):
            ranking = rank_votes(some, policy, columns=read.columns.by_role())
        return Ranking(**flat_fields(ranking), frame=frame)

    if by is None:
        return make(read.whole())
    parted = read.parted()
    groups = make_groups(parted.groups, make)
    return Rankings(by=by, groups=groups, n_dropped=parted.n_dropped, frame=frame)


def rank_controlled(
    votes: "Path | str | IntoFrame",
    *,
    cluster: str,
    controls: Mapping[str, tuple[str, str]] = MappingProxyType({}),
    position: bool = True,
    left: str | None = None,
    right: str | None = None,
    winner: str | None = None,
    left_name: Names = (),
    right_name: Names = (),
    tie_name: Names = (),
    own_name: bool = False,
    rater: str | None = None,
    level: float = 0.95,
    report: Report = report_nothing,
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
    level = check_level(level)
    pairs = check_controls(controls, position=position)
    check_columns_named({"cluster": cluster})
    ends = tuple(dict.fromkeys(column for pair in pairs.values() for column in pair))
    read = _read(
        votes,
        {"left": left, "right": right, "winner": winner},
        _outcome_names(left_name, right_name, tie_name, own_name=own_name),
        {"cluster": cluster, "rater": rater, "covariates": ends},
        report,
    )
    some, roles = read.whole(), read.columns.by_role()
    with _explaining(some):
        found = control_votes(some, pairs, position=position, level=level, columns=roles)
    return Controlled(**flat_fields(found), frame=find_frame_kind(votes))


def rank_judge_aware(
    votes: "Path | str | IntoFrame",
    *,
    judge: str,
    cluster: str,
    left: str | None = None,
    right: str | None = None,
    winner: str | None = None,
    left_name: Names = (),
    right_name: Names = (),
    tie_name: Names = (),
    own_name: bool = False,
    level: float = 0.95,
    report: Report = report_nothing,
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
    level = check_level(level)
    check_columns_named({"judge": judge, "cluster": cluster})
    check_roles({"judge": judge, "cluster": cluster})
    read = _read(
        votes,
        {"left": left, "right": right, "winner": winner},
        _outcome_names(left_name, right_name, tie_name, own_name=own_name),
        {"cluster": cluster, "rater": judge},
        report,
    )
    some = read.whole()
    with _explaining(some):
        found = rank_votes_of_judges(some, level=level, columns=read.columns.by_role())
    return JudgeAware(**flat_fields(found), frame=find_frame_kind(votes))


class _Reading(NamedTuple):
    """A table of votes, of which it is settled what its columns mean."""

    table: Table
    columns: VoteColumns
    names: OutcomeNames

    def whole(self) -> Votes:
        """Read all votes as one."""
        return read_votes(self.table, self.columns, self.names)

    def parted(self) -> PartedVotes:
        """Read them apart by the values of a column."""
        return read_parted_votes(self.table, self.columns, self.names)


def _read(
    source: "Path | str | IntoFrame",
    sides: Mapping[str, str | None],
    names: OutcomeNames,
    others: Mapping[str, Any],
    report: Report,
) -> _Reading:
    optional = {role: name for role, name in others.items() if role != "covariates"}
    check_columns_named({**sides, **optional}, optional=(*sides, *optional))
    table = open_table(source, report)
    known: Mapping[str, Any] = find_columns(table.column_names, sides)
    check_roles({**known, **optional})
    return _Reading(table, VoteColumns(**known, **others), names)


@contextmanager
def _explaining(votes: Votes) -> Iterator[None]:
    """Add to an error what was noticed in reading: a name cut short is a system of its own."""
    try:
        yield
    except NotIdentifiedError as error:
        if not votes.warnings:
            raise
        message = f"{error} Noticed in reading: {'; '.join(votes.warnings)}."
        components = cast("Sequence[Sequence[str]]", error.components)
        raise NotIdentifiedError(message, components=components, ids=error.ids) from error


def _outcome_names(left: Names, right: Names, tie: Names, *, own_name: bool) -> OutcomeNames:
    return OutcomeNames(
        own_name=own_name,
        left=read_labels("left_name", left),
        right=read_labels("right_name", right),
        tie=read_labels("tie_name", tie),
    )
