"""What notebooks use: `rank` and `agree` on any file or dataframe, the same as the command line.

Results are frozen records with the fields of the JSON; they show as a table. Rankings that control
for covariates, or for what each judge is like, are in Python only.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, cast, get_args

import narwhals.stable.v2 as nw

from hearteval.analysis.agreement import (
    Agreement,
    AgreementSettings,
    IntervalKind,
    measure_agreement,
)
from hearteval.analysis.ranking.adjusted import (
    ControlledVotes,
    JudgedVotes,
    control_votes,
    rank_votes_of_judges,
)
from hearteval.analysis.ranking.intervals import DEFAULT_RESAMPLES, IntervalName, RankPolicy, Ties
from hearteval.analysis.ranking.votes import VoteRanking, Votes, rank_votes
from hearteval.analysis.study import StudyResults
from hearteval.domain import AXES, Attempt, Axis, Completion, Item, Judgment, Rating, flat_fields
from hearteval.errors import NotIdentifiedError, StoreError, first_few
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
from hearteval.exchange.ratings import read_ratings
from hearteval.exchange.tables import open_table
from hearteval.exchange.tables.columns import Report, report_nothing, warn_of_look_alikes
from hearteval.exchange.tables.frames import find_frame_kind, make_frame
from hearteval.exchange.votes import OutcomeNames, VoteColumns, read_votes
from hearteval.notices import Kind, Notice, by_severity
from hearteval.report.agreement import MEASURES, agreement_display
from hearteval.report.ranking import controlled_display, judged_display, ranking_display
from hearteval.report.table import Display, Table
from hearteval.report.text import WIDTH, printable, shortened
from hearteval.stats.agreement.table import Level

if TYPE_CHECKING:
    from narwhals.stable.v2.typing import IntoFrame

    from hearteval.domain import Study
    from hearteval.study.results import Frame
    from hearteval.study.session import Session

Names = Label | Sequence[Label]
SHORT_COLUMNS = ("elo_adjusted", "elo_weighted", "elo", "mean", "value", "win_rate")
MAX_SHORT, MAX_SHORT_NAME = 3, 40
"""Of the main table, what the short form of a result holds."""


class Shown(ABC):
    """What every result does: become an object for JSON, a dataframe, and a table to look at."""

    __slots__ = ()
    schema: ClassVar[str]
    frame: nw.Implementation

    def to_dict(self) -> dict[str, Any]:
        """Return everything as what JSON can write."""
        values = asdict(cast("Any", self))
        del values["frame"]
        return {"schema": self.schema, **values}

    def to_frame(self) -> Any:
        """Return the rows of the main table as a dataframe: of the input's kind, if it was one."""
        return make_frame(self._rows(), self.frame)

    def to_text(self, width: int = WIDTH) -> str:
        """Return what is shown as text, at most so many columns wide."""
        return self._display().text(width)

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        short = [words for row in self._rows() for words in _short(row)]
        return f"<{type(self).__name__}: {first_few(short, MAX_SHORT)}; print it for the table>"

    def _repr_html_(self) -> str:
        return self._display().html()

    def _rows(self) -> Sequence[Mapping[str, Any]]:
        rows: Sequence[Mapping[str, Any]] = self.to_dict()["systems"]
        return rows

    @abstractmethod
    def _display(self) -> Table | Display:
        """Return what is shown."""


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
class Agreements(Agreement, Shown):
    """Measures of agreement; see `hearteval.analysis.agreement` for every field."""

    schema: ClassVar = "heart.agree/1"
    frame: nw.Implementation = field(repr=False)
    __repr__ = Shown.__repr__

    def _rows(self) -> list[dict[str, Any]]:
        return [{"measure": name, **asdict(getattr(self, name))} for name in MEASURES]

    def _display(self) -> Display:
        return agreement_display(self)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Results(StudyResults, Shown):
    """What a study found; see `hearteval.analysis.study` for every field.

    Its dataframe has the rows of the leaderboard, or of the scores; without a ranking, win rates.
    """

    schema: ClassVar = "heart.analyze/1"
    frame: nw.Implementation = field(repr=False)
    __repr__ = Shown.__repr__

    def _rows(self) -> list[dict[str, Any]]:
        from hearteval.report.leaderboard import leaderboard_rows
        from hearteval.report.scores import rating_rows

        rates = [asdict(rate) for rate in self.win_rates]
        rows = leaderboard_rows(self) or rating_rows(self.ratings) or rates
        return [_by_axis(row) for row in rows]

    def _display(self) -> Display:
        from hearteval.report.summary import results_display

        return results_display(self)


class OpenStudy:
    """A stored study, opened to be read; only `report` writes. Close it, or open it in a with."""

    def __init__(self, opened: AbstractContextManager["tuple[Session, Study]"]) -> None:
        self._stack = ExitStack()
        self._session, self._study = self._stack.enter_context(opened)
        self._is_closed = False

    def __enter__(self) -> "OpenStudy":
        """Read a study for a while."""
        return self

    def __exit__(self, *_exception: object) -> None:
        """Close the store."""
        self.close()

    def close(self) -> None:
        """Close the store; what was read stays."""
        self._is_closed = True
        self._stack.close()

    @property
    def items(self) -> Any:
        """The items; the dialogue is JSON."""
        return self._frame(Item)

    @property
    def completions(self) -> Any:
        """The completions; those of the stress set have the kind ``stress``."""
        return self._frame(Completion)

    @property
    def judgments(self) -> Any:
        """The judgments: two systems in the order shown, and the winner, as `rank` reads them."""
        return self._frame(Judgment)

    @property
    def ratings(self) -> Any:
        """The ratings, under the rating protocol."""
        return self._frame(Rating)

    @property
    def attempts(self) -> Any:
        """The calls that gave nothing usable, and why."""
        return self._frame(Attempt)

    def analyze(self) -> Results:
        """Compute the results."""
        from hearteval.study.results import analyze

        found = analyze(self._reading(), self._study)
        return Results(**flat_fields(found), frame=find_frame_kind(None))

    def report(self) -> dict[str, Any]:
        """Write the report and its tables beside the study file; return their paths by kind."""
        from hearteval.study.results import write_report

        return write_report(self._session, self._study, self.analyze())

    def __repr__(self) -> str:
        return f"<study {self._study.name}, version {self._study.version}>"

    def _reading(self) -> "Session":
        if self._is_closed:
            raise StoreError(f"{self!r} is closed; open it again with `open_study`")
        return self._session

    def _frame(self, kind: "type[Frame]") -> Any:
        from hearteval.study.results import read_columns

        columns = read_columns(self._reading(), self._study, kind)
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        return make_frame(rows, find_frame_kind(None), list(columns))


def open_study(path: "Path | str") -> OpenStudy:
    """Open the newest version of a study that `heart run` has stored, given its study file.

    Raises:
        SettingsError: The file cannot be used.
        StoreError: Nothing was stored under its name and seed, or by an older hearteval.
    """
    from hearteval.study import Quiet
    from hearteval.study.session import open_stored

    # A notebook may change its folder while the study is open.
    return OpenStudy(open_stored(Path(path).absolute(), Quiet()))


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
        _outcome_names(left_name, right_name, tie_name, own_name=own_name),
        {"strength": strength, "cluster": cluster, "rater": rater},
        report,
    )
    with _explaining(read):
        ranking = rank_votes(read, policy, columns=columns.by_role())
    return Ranking(**flat_fields(ranking), frame=find_frame_kind(votes))


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
    read, columns = _read(
        votes,
        {"left": left, "right": right, "winner": winner},
        _outcome_names(left_name, right_name, tie_name, own_name=own_name),
        {"cluster": cluster, "rater": rater, "covariates": ends},
        report,
    )
    with _explaining(read):
        found = control_votes(
            read, pairs, position=position, level=level, columns=columns.by_role()
        )
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
    read, columns = _read(
        votes,
        {"left": left, "right": right, "winner": winner},
        _outcome_names(left_name, right_name, tie_name, own_name=own_name),
        {"cluster": cluster, "rater": judge},
        report,
    )
    with _explaining(read):
        found = rank_votes_of_judges(read, level=level, columns=columns.by_role())
    return JudgeAware(**flat_fields(found), frame=find_frame_kind(votes))


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
    interval: IntervalKind = "fisher-z",
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
        interval: ``fisher-z``, from the bootstrap's standard error, or its ``percentile`` points.
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
    lowest, highest = (
        None if limit is None else read_number(name, limit)
        for name, limit in (("minimum", minimum), ("maximum", maximum))
    )
    read = read_ratings(open_table(ratings, report), unit=unit, rater=rater, value=value)
    settings = AgreementSettings(
        level=level,
        min=lowest,
        max=highest,
        resamples=checked.n_resamples,
        seed=checked.seed,
        interval=interval,
    )
    found = measure_agreement(read.ratings, settings)
    # At the other levels values that look alike are one number, or none.
    alike = warn_of_look_alikes("values", read.ratings.values) if level == "nominal" else []
    found = replace(
        found,
        excluded={**read.n_dropped, **found.excluded},
        warnings=by_severity(
            (
                *(Notice(Kind.READING, text) for text in read.warnings),
                *(Notice(Kind.LOOK_ALIKES, text) for text in alike),
                *found.warnings,
            )
        ),
    )
    return Agreements(**flat_fields(found), frame=find_frame_kind(ratings))


def _read(
    source: "Path | str | IntoFrame",
    sides: Mapping[str, str | None],
    names: OutcomeNames,
    others: Mapping[str, Any],
    report: Report,
) -> tuple[Votes, VoteColumns]:
    optional = {role: name for role, name in others.items() if role != "covariates"}
    check_columns_named({**sides, **optional}, optional=(*sides, *optional))
    table = open_table(source, report)
    known: Mapping[str, Any] = find_columns(table.column_names, sides)
    check_roles({**known, **optional})
    columns = VoteColumns(**known, **others)
    return read_votes(table, columns, names), columns


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


def _short(row: Mapping[str, Any]) -> list[str]:
    """Write the name and the first figure of a row; nothing where it has none."""
    figures = [row[name] for name in SHORT_COLUMNS if row.get(name) is not None]
    name = shortened(printable(str(next(iter(row.values())))), MAX_SHORT_NAME)
    return [f"{name} {figures[0]:.4g}"] if figures else []


def _by_axis(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with a column for each axis in place of the mapping of all."""
    columns = dict(row)
    marks: Mapping[Axis, float] | None = columns.pop("axes", None)
    return columns if marks is None else columns | {axis: marks.get(axis) for axis in AXES}
