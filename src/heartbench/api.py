"""What notebooks use: `rank` and `agree` on any file or dataframe, the same as the command line.

Results are frozen records with the fields of the JSON; they show as a table. Rankings that control
for covariates, or for what each judge is like, are in Python only.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast, get_args

import narwhals.stable.v2 as nw

from heartbench.analysis.adjusted_votes import (
    ControlledVotes,
    JudgedVotes,
    control_votes,
    rate_votes_of_judges,
)
from heartbench.analysis.agreement import Agreement, measure_agreement
from heartbench.analysis.rank_policy import DEFAULT_RESAMPLES, IntervalName, RankPolicy, Ties
from heartbench.analysis.vote_ranking import rank_votes
from heartbench.analysis.vote_results import VoteRanking
from heartbench.analysis.votes import Votes
from heartbench.errors import NotIdentifiedError
from heartbench.exchange.arguments import (
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
from heartbench.exchange.columns import Report, report_nothing
from heartbench.exchange.name_warnings import warn_of_look_alikes
from heartbench.exchange.ratings import read_ratings
from heartbench.exchange.result_frames import find_frame_kind, make_frame
from heartbench.exchange.tables import open_table
from heartbench.exchange.vocabulary import OutcomeNames
from heartbench.exchange.vote_coder import VoteColumns
from heartbench.exchange.votes import read_votes
from heartbench.report.adjusted_table import (
    controlled_html,
    controlled_lines,
    judged_html,
    judged_lines,
)
from heartbench.report.agreement_table import MEASURES, agreement_html, agreement_lines
from heartbench.report.rank_table import ranking_html, ranking_lines
from heartbench.stats.agreement.table import Level

if TYPE_CHECKING:
    from pathlib import Path

    from narwhals.stable.v2.typing import IntoFrame

WEIGHTED = ("elo_weighted", "low_weighted", "high_weighted")

Names = Label | Sequence[Label]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking(VoteRanking):
    """A ranking of votes; see `heartbench.analysis.vote_results` for every field."""

    frame: nw.Implementation = field(repr=False)
    """Kind of dataframe that `to_frame` makes."""

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``heart rank --json`` prints."""
        systems = [asdict(system) for system in self.systems]
        if systems[0]["elo_weighted"] is None:
            systems = [_without(system, WEIGHTED) for system in systems]
        return {
            "schema": "heartbench.rank/1",
            "systems": systems,
            "fit": asdict(self.fit),
            "settings": asdict(self.settings),
            "warnings": list(self.warnings),
        }

    def to_frame(self) -> Any:
        """Return the systems as a dataframe of the input's kind."""
        return make_frame(self.to_dict()["systems"], self.frame)

    def differences_frame(self) -> Any:
        """Return the pairwise differences as a dataframe."""
        return make_frame([asdict(row) for row in self.differences], self.frame)

    def __str__(self) -> str:
        return ranking_lines(self)

    def _repr_html_(self) -> str:
        return ranking_html(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreements(Agreement):
    """Measures of agreement; see `heartbench.analysis.agreement` for every field."""

    frame: nw.Implementation = field(repr=False)
    """Kind of dataframe that `to_frame` makes."""

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``heart agree --json`` prints."""
        return {"schema": "heartbench.agree/1", **_without(asdict(self), ["frame"])}

    def to_frame(self) -> Any:
        """Return the measures as a dataframe of the input's kind, one row each."""
        rows = [{"measure": name, **asdict(getattr(self, name))} for name in MEASURES]
        return make_frame(rows, self.frame)

    def __str__(self) -> str:
        return agreement_lines(self)

    def _repr_html_(self) -> str:
        return agreement_html(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Controlled(ControlledVotes):
    """Controlled ratings; see `heartbench.analysis.adjusted_votes` for every field."""

    frame: nw.Implementation = field(repr=False)
    """Kind of dataframe that `to_frame` makes."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as what JSON can write."""
        return {"schema": "heartbench.rank_controlled/1", **_without(asdict(self), ["frame"])}

    def to_frame(self) -> Any:
        """Return the systems as a dataframe of the input's kind."""
        return make_frame(self.to_dict()["systems"], self.frame)

    def __str__(self) -> str:
        return controlled_lines(self)

    def _repr_html_(self) -> str:
        return controlled_html(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeAware(JudgedVotes):
    """Judge-aware ratings; see `heartbench.analysis.adjusted_votes` for every field."""

    frame: nw.Implementation = field(repr=False)
    """Kind of dataframe that `to_frame` makes."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as what JSON can write."""
        return {"schema": "heartbench.rank_judge_aware/1", **_without(asdict(self), ["frame"])}

    def to_frame(self) -> Any:
        """Return the systems as a dataframe of the input's kind."""
        return make_frame(self.to_dict()["systems"], self.frame)

    def __str__(self) -> str:
        return judged_lines(self)

    def _repr_html_(self) -> str:
        return judged_html(self)


def rank(
    votes: "Path | str | IntoFrame",
    *,
    left: str | None = None,
    right: str | None = None,
    winner: str | None = None,
    left_name: Names = (),
    right_name: Names = (),
    tie_name: Names = (),
    strength: str | None = None,
    cluster: str | None = None,
    rater: str | None = None,
    ties: Ties = "half",
    prior: float = 0.0,
    interval: IntervalName | None = None,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
    level: float = 0.95,
    report: Report = report_nothing,
) -> Ranking:
    """Rank systems by pairwise votes (Bradley-Terry), with intervals and a fit check.

    Args:
        votes: Path of a CSV, JSONL or Parquet file, or any dataframe.
        left: Column of one system; ``model_a`` or ``left`` if there is such a column.
        right: Column of the other system; likewise.
        winner: Column that says who won; likewise.
        left_name: Value or values of the winner column that mean left.
        right_name: Value or values that mean right.
        tie_name: Value or values that mean a tie.
        strength: Column of strengths; adds weighted ratings.
        cluster: Column of the item (prompt, dialogue) voted on: what intervals resample.
        rater: Column of the person who voted. Leave it out for a panel of judges.
        ties: ``half``, ``davidson`` or ``drop``.
        prior: Half-won comparisons added to every pair of systems.
        interval: ``two-way``, ``item-sandwich``, ``item-bootstrap`` or ``published``; by default
            two-way with items and five raters, else item-sandwich.
        resamples: Bootstrap replicates.
        seed: Seed of the bootstrap.
        level: Nominal coverage.
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
    read, columns = _read(
        votes,
        {"left": left, "right": right, "winner": winner},
        _outcome_names(left_name, right_name, tie_name),
        {"strength": strength, "cluster": cluster, "rater": rater},
        report,
    )
    with _explaining(read):
        ranking = rank_votes(read, policy, columns=columns.by_role())
    return Ranking(**_fields(ranking), frame=find_frame_kind(votes))


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
    rater: str | None = None,
    level: float = 0.95,
    report: Report = report_nothing,
) -> Controlled:
    """Rank with length, formatting or position held equal, beside the raw ratings.

    Each control enters as (left - right) / (left + right), as lengths and counts do best; its
    effect is linear in log odds and one for all, and its `win_rate` is that of the side with twice
    as much. See docs/reference/controlled-ratings.md.

    Args:
        votes: As in `rank`.
        cluster: Column of the item voted on; raters are sampled too from five on.
        controls: Columns of a control for the left and for the right answer, by its name.
        position: Whether to control for being on the left.
        left: As in `rank`.
        right: As in `rank`.
        winner: As in `rank`.
        left_name: As in `rank`.
        right_name: As in `rank`.
        tie_name: As in `rank`.
        rater: As in `rank`.
        level: Nominal coverage.
        report: Told how far the reading is.

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
    read, columns = _read(
        votes,
        {"left": left, "right": right, "winner": winner},
        _outcome_names(left_name, right_name, tie_name),
        {"cluster": cluster, "rater": rater, "covariates": ends},
        report,
    )
    with _explaining(read):
        found = control_votes(
            read, pairs, position=position, level=level, columns=columns.by_role()
        )
    return Controlled(**_fields(found), frame=find_frame_kind(votes))


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
    level: float = 0.95,
    report: Report = report_nothing,
) -> JudgeAware:
    """Rank by a panel of judges who differ in discrimination and position bias.

    Both are estimated with the strengths; the left side is what each judge was shown first. The
    panel is taken as given.

    Args:
        votes: As in `rank`.
        judge: Column of the judge.
        cluster: Column of the item judged.
        left: As in `rank`.
        right: As in `rank`.
        winner: As in `rank`.
        left_name: As in `rank`.
        right_name: As in `rank`.
        tie_name: As in `rank`.
        level: Nominal coverage.
        report: Told how far the reading is.

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
    read, columns = _read(
        votes,
        {"left": left, "right": right, "winner": winner},
        _outcome_names(left_name, right_name, tie_name),
        {"cluster": cluster, "rater": judge},
        report,
    )
    with _explaining(read):
        found = rate_votes_of_judges(read, level=level, columns=columns.by_role())
    return JudgeAware(**_fields(found), frame=find_frame_kind(votes))


def agree(
    ratings: "Path | str | IntoFrame",
    *,
    unit: str,
    rater: str,
    value: str,
    level: Level,
    minimum: float | None = None,
    maximum: float | None = None,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
    report: Report = report_nothing,
) -> Agreements:
    """Measure how far raters agree: kappa, alpha, AC1 and AC2, ICC, with intervals over units.

    Args:
        ratings: Path of a CSV, JSONL or Parquet file, or any dataframe; a row is one rating.
        unit: Column of what is rated.
        rater: Column of who rates.
        value: Column of the rating.
        level: Level of measurement: ``nominal``, ``ordinal``, ``interval`` or ``ratio``.
        minimum: Lowest value there is; lower ones are left out and counted.
        maximum: Highest value there is; likewise.
        resamples: Bootstrap replicates.
        seed: Seed of the bootstrap.
        report: Told how far the reading is.

    Raises:
        InvalidVotesError: A row cannot be read, or a rater rates one unit twice.
        SettingsError: A column is missing or named twice, or limits do not go with each other or
            with the level of measurement.
        TypeError: As in `rank`.
        ValueError: As in `rank`.
    """
    columns = {"unit": unit, "rater": rater, "value": value}
    check_columns_named(columns)
    check_roles(columns)
    if level not in get_args(Level):
        raise ValueError(f"a level of measurement is one of {get_args(Level)}, not {level!r}")
    checked = RankPolicy(
        n_resamples=read_integer("resamples", resamples), seed=read_integer("seed", seed)
    )
    limits = {
        name: None if limit is None else read_number(name, limit)
        for name, limit in (("minimum", minimum), ("maximum", maximum))
    }
    read = read_ratings(open_table(ratings), unit=unit, rater=rater, value=value, report=report)
    found = measure_agreement(
        read.ratings,
        level=level,
        n_resamples=checked.n_resamples,
        seed=checked.seed,
        **limits,
    )
    # At the other levels values that look alike are one number, or none.
    alike = warn_of_look_alikes("values", read.ratings.values) if level == "nominal" else []
    found = replace(
        found,
        excluded={**read.n_dropped, **found.excluded},
        warnings=(*read.warnings, *alike, *found.warnings),
    )
    return Agreements(**_fields(found), frame=find_frame_kind(ratings))


def _read(
    source: "Path | str | IntoFrame",
    sides: Mapping[str, str | None],
    names: OutcomeNames,
    others: Mapping[str, Any],
    report: Report,
) -> tuple[Votes, VoteColumns]:
    optional = {role: name for role, name in others.items() if role != "covariates"}
    check_columns_named({**sides, **optional}, optional=(*sides, *optional))
    table = open_table(source)
    known: Mapping[str, Any] = find_columns(table.column_names, sides)
    check_roles({**known, **optional})
    columns = VoteColumns(**known, **others)
    return read_votes(table, columns, names, report=report), columns


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


def _outcome_names(left: Names, right: Names, tie: Names) -> OutcomeNames:
    return OutcomeNames(
        left=read_labels("left_name", left),
        right=read_labels("right_name", right),
        tie=read_labels("tie_name", tie),
    )


def _fields(record: Any) -> dict[str, Any]:
    return {each.name: getattr(record, each.name) for each in fields(record)}


def _without(mapping: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: value for name, value in mapping.items() if name not in names}
