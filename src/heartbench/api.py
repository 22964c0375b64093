"""What notebooks use: `rank` and `agree` on any file or dataframe, the same as the command line.

Results are frozen records with the fields of the JSON; they show as a table. Rankings that control
for covariates, or for what each judge is like, are in Python only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from heartbench.analysis.agreement import Agreement, measure_agreement
from heartbench.analysis.controlled import (
    TWICE_AS_MUCH,
    ControlledRatings,
    JudgeAwareRatings,
    control,
    rate_judge_aware,
)
from heartbench.analysis.rank_policy import DEFAULT_RESAMPLES, IntervalName, RankPolicy, Ties
from heartbench.analysis.vote_ranking import rank_votes
from heartbench.analysis.vote_results import VoteRanking
from heartbench.analysis.votes import Votes
from heartbench.errors import SettingsError
from heartbench.exchange.columns import Report, report_nothing
from heartbench.exchange.ratings import read_ratings
from heartbench.exchange.tables import open_table
from heartbench.exchange.vocabulary import OutcomeNames
from heartbench.exchange.vote_coder import VoteColumns
from heartbench.exchange.votes import read_votes
from heartbench.report.agreement_table import MEASURES, agreement_html, agreement_lines
from heartbench.report.rank_table import ranking_html, ranking_lines
from heartbench.stats.agreement.table import Level
from heartbench.stats.covariates import relative_difference

if TYPE_CHECKING:
    from narwhals.stable.v2.typing import IntoFrame

KNOWN_COLUMNS = {
    "left": ("model_a", "left"),
    "right": ("model_b", "right"),
    "winner": ("winner",),
}
FRAMES = (nw.Implementation.PANDAS, nw.Implementation.POLARS, nw.Implementation.PYARROW)
WEIGHTED = ("elo_weighted", "low_weighted", "high_weighted")

Names = str | Sequence[str]


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
        return _frame(self.to_dict()["systems"], self.frame)

    def differences_frame(self) -> Any:
        """Return the pairwise differences as a dataframe."""
        return _frame([asdict(row) for row in self.differences], self.frame)

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
        return _frame(rows, self.frame)

    def __str__(self) -> str:
        return agreement_lines(self)

    def _repr_html_(self) -> str:
        return agreement_html(self)


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
        SettingsError: A column is missing, or the winner column can be read in two ways.
    """
    policy = RankPolicy(
        ties=ties, prior=prior, interval=interval, n_resamples=resamples, seed=seed, level=level
    )
    read, columns = _read(
        votes,
        {"left": left, "right": right, "winner": winner},
        OutcomeNames(left=_many(left_name), right=_many(right_name), tie=_many(tie_name)),
        {"strength": strength, "cluster": cluster, "rater": rater},
        report,
    )
    ranking = rank_votes(read, policy, columns=columns.by_role())
    return Ranking(**_fields(ranking), frame=_frame_kind(votes))


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
) -> ControlledRatings:
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
        SettingsError: A column is missing, or there is nothing to control for.
    """
    if not controls and not position:
        raise SettingsError("there is nothing to control for: name controls, or keep position")
    ends = tuple(dict.fromkeys(column for pair in controls.values() for column in pair))
    read, _ = _read(
        votes,
        {"left": left, "right": right, "winner": winner},
        OutcomeNames(left=_many(left_name), right=_many(right_name), tie=_many(tie_name)),
        {"cluster": cluster, "rater": rater, "covariates": ends},
        report,
    )
    of_column = dict(zip(ends, read.covariates.T, strict=True))
    covariates = [relative_difference(of_column[a], of_column[b]) for a, b in controls.values()]
    if position:
        covariates.append(np.ones(len(read.comparisons)))
    names = (*controls, *(("position",) if position else ()))
    comparisons = read.comparisons
    if rater is None:
        comparisons = replace(comparisons, rater=np.full(len(comparisons), -1))
    return control(
        comparisons,
        np.column_stack(covariates),
        names=read.systems,
        covariate_names=names,
        steps=(*[TWICE_AS_MUCH] * len(controls), *([1.0] if position else [])),
        level=level,
    )


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
) -> JudgeAwareRatings:
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
        SettingsError: A column is missing.
    """
    read, _ = _read(
        votes,
        {"left": left, "right": right, "winner": winner},
        OutcomeNames(left=_many(left_name), right=_many(right_name), tie=_many(tie_name)),
        {"cluster": cluster, "rater": judge},
        report,
    )
    return rate_judge_aware(
        read.comparisons, names=read.systems, judges=read.raters or (), level=level
    )


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
        InvalidVotesError: A row cannot be read.
        SettingsError: A column is missing, or a rater rates one unit twice.
    """
    read = read_ratings(open_table(ratings), unit=unit, rater=rater, value=value, report=report)
    found = measure_agreement(
        read.ratings,
        level=level,
        minimum=minimum,
        maximum=maximum,
        n_resamples=resamples,
        seed=seed,
    )
    found = replace(found, excluded={**read.n_dropped, **found.excluded})
    return Agreements(**_fields(found), frame=_frame_kind(ratings))


def _read(
    source: "Path | str | IntoFrame",
    sides: Mapping[str, str | None],
    names: OutcomeNames,
    others: Mapping[str, Any],
    report: Report,
) -> tuple[Votes, VoteColumns]:
    table = open_table(source)
    known: Mapping[str, Any] = _known_columns(table.column_names, sides)
    columns = VoteColumns(**known, **others)
    return read_votes(table, columns, names, report=report), columns


def _known_columns(there_are: Sequence[str], named: Mapping[str, str | None]) -> dict[str, str]:
    """Fill in the columns of arena-style files where none were named."""
    found = {
        role: name or next((known for known in KNOWN_COLUMNS[role] if known in there_are), None)
        for role, name in named.items()
    }
    absent = [role for role, name in found.items() if name is None]
    if absent:
        raise SettingsError(
            f"name the columns of the votes: {', '.join(f'--{role}' for role in absent)};"
            f" there are {', '.join(there_are)}",
            ids=absent,
        )
    return {role: name for role, name in found.items() if name is not None}


def _many(names: Names) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _fields(record: Any) -> dict[str, Any]:
    return {each.name: getattr(record, each.name) for each in fields(record)}


def _without(mapping: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: value for name, value in mapping.items() if name not in names}


def _frame_kind(source: "Path | str | IntoFrame") -> nw.Implementation:
    """Return the library whose dataframe a result becomes; for a path, one that is installed."""
    if not isinstance(source, str | Path):
        return nw.from_native(source).implementation
    installed = [kind for kind in FRAMES if find_spec(kind.value)]
    return installed[0] if installed else nw.Implementation.UNKNOWN


def _frame(rows: Sequence[Mapping[str, Any]], kind: nw.Implementation) -> Any:
    if kind not in FRAMES:
        names = ", ".join(kind.value for kind in FRAMES)
        raise SettingsError(f"a dataframe of the result needs one of {names}; install one")
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    return nw.from_dict(columns, backend=kind.to_native_namespace()).to_native()
