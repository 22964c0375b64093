"""Judgments -> the leaderboard: strength-weighted and unweighted Elo side by side (HEART 9.8).

The headline is weighted by strength, as in the paper; the ranking in which every judgment counts
once stands beside it, and a system whose rank differs is marked. People are sampled raters, LLM
judges a fixed panel; where both judged a pair they have equal total weight in it.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from hearteval.analysis.judgments import NO_JUDGMENTS, Judgments
from hearteval.analysis.ranking.axes.tables import (
    AxisAsked,
    AxisInterval,
    AxisStanding,
    AxisTable,
    adjust_tables,
    axis_tables,
)
from hearteval.analysis.ranking.comparisons import (
    MIN_ITEMS,
    count_pairs_of_one_kind,
    people_among,
    rank_judgments,
)
from hearteval.analysis.ranking.head_to_head import HeadToHead
from hearteval.analysis.ranking.intervals import OVER_RATERS, RankPolicy
from hearteval.analysis.ranking.rank import (
    Difference,
    EloEstimate,
    FitCheck,
    Ranked,
)
from hearteval.analysis.ranking.warnings import MIN_RATERS
from hearteval.domain import Axis, Rater, System
from hearteval.notices import Kind, Notice, by_severity
from hearteval.stats.comparisons import (
    TIE_SCORE,
    count_comparisons,
    count_wins,
    select_comparisons,
)

FEW_MARKS = 0.9
"""An axis marked in a smaller share of the judgments that asked is named in the warnings."""
SOURCES = {
    frozenset({"human"}): "people",
    frozenset({"llm"}): "judges",
    frozenset({"human", "llm"}): "both",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderboardRow:
    """One system in the ranking."""

    system: str
    kind: str
    family: str
    weighted: EloEstimate
    """The headline: judgments weighted by strength, as in the paper (HEART 9.8)."""
    unweighted: EloEstimate
    """Every judgment counts once."""
    rank_differs: bool
    win_rate: float
    """Share of its comparisons won, ties half, each once, of the headline's voters; where people
    and judges judged a pair, each kind counts half, as in the ranking."""
    n_comparisons: int
    n_wins: int
    n_ties: int
    axes: Mapping[Axis, AxisStanding]


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaderboard:
    """The ranking of a study and how it was made."""

    rows: tuple[LeaderboardRow, ...]
    """Systems, best headline strength first."""
    differences: tuple[Difference, ...]
    """Every two systems by the headline, in the order of `rows`."""
    fit: FitCheck
    """The fit check of the unweighted strengths."""
    fit_weighted: FitCheck
    """That of the headline: what judgments weighted by strength predict for judgments that count
    once."""
    axis_problems: Mapping[Axis, str]
    """Why an axis has no Elo, by axis, naming the components."""
    axis_intervals: Mapping[Axis, AxisInterval]
    """Interval really used and its degrees of freedom, by axis with an Elo."""
    axes_asked: Mapping[Axis, AxisAsked]
    """Who was asked about each axis that has marks."""
    interval_used: str
    """Name of the interval really used by both overall rankings: ``three-way``, ``two-way``,
    ``item-writer`` or ``item-sandwich``."""
    level: float
    df: int
    ties: str
    judged_by: str
    """Who voted: ``people``, ``judges`` or ``both``."""
    n_judgments: int
    n_ties: int
    n_items: int
    n_raters: int
    n_people: int
    """People among these; two-way intervals need five."""
    n_writers: int = 0
    """People whose completions were judged; intervals over writers need five."""
    warnings: tuple[Notice, ...]
    """The most serious first."""
    matrix: tuple[HeadToHead, ...] = ()
    """Every two systems that were compared, by name; every judgment counts once, and expected is
    what the unweighted strengths expect."""


def rank_systems(  # noqa: PLR0913 - a ranking depends on who voted, who wrote and who was asked
    judgments: Judgments,
    systems: Sequence[System],
    raters: Sequence[Rater],
    *,
    writers: Mapping[str, str] | None = None,
    level: float = 0.95,
    asks_people: bool = False,
    others: Judgments = NO_JUDGMENTS,
) -> Leaderboard:
    """Rank systems by judgments; neither the order of judgments nor that of systems matters.

    Stress systems are never ranked: judgments of their texts are left out. A system without a
    judgment is left out of the fit and named in the warnings.

    Args:
        judgments: Judgments.
        systems: Every system that the judgments name, and others of the study.
        raters: Every rater that the judgments name.
        writers: Who wrote the completion by a person in a pair, as `StudyData.writers` has them;
            without them the strength of people is conditional on who wrote.
        level: Nominal coverage of the intervals.
        asks_people: Whether the study's pages ask people for axis marks; where not, only who
            marked an axis was asked.
        others: Judgments by other raters, whose marks stand in where these mark no axis.

    Raises:
        NotIdentifiedError: The judgments do not determine one ranking, or stand on one item only;
            it names the groups of systems.
        ValueError: A judgment names a system or a rater that was not given.
    """
    candidates = _candidates(judgments, systems)
    people = people_among(raters)
    unweighted = rank_judgments(
        judgments,
        candidates,
        use_strength=False,
        rater_ids=people,
        writers=writers,
        level=level,
    )
    field = [system for system in candidates if system.name in unweighted.names]
    among = {system.id for system in field}
    judgments = judgments.among(among)
    weighted = rank_judgments(
        judgments, field, use_strength=True, rater_ids=people, writers=writers, level=level
    )
    marked = marked_judgments(judgments, others.among(among))
    leaders = [name for name, each in weighted.by_name.items() if each.rank == 1]
    rater_ids = set(judgments.rater.present)
    judged_by = _judged_by(rater_ids, raters)
    found = axis_tables(
        marked, field, raters, asks_people=asks_people, writers=writers, level=level
    )
    tables = adjust_tables([table._replace(ranked=None) for table in found])
    return Leaderboard(
        rows=_rows(field, weighted, unweighted, tables),
        differences=weighted.differences,
        fit=unweighted.check_fit(),
        matrix=unweighted.direct[0],
        fit_weighted=weighted.check_fit(unweighted),
        axis_problems={table.axis: table.problem for table in tables if table.problem},
        axis_intervals={table.axis: table.interval for table in tables if table.interval},
        axes_asked={table.axis: table.asked for table in tables},
        interval_used=weighted.interval_used,
        level=level,
        df=int(weighted.df),
        ties=RankPolicy().ties,
        judged_by=judged_by,
        n_judgments=len(judgments),
        n_ties=judgments.n_ties,
        n_items=len(judgments.item.present),
        n_raters=len(rater_ids),
        n_people=len(rater_ids.intersection(people)),
        n_writers=len({writers[pair] for pair in judgments.pair.present if pair in writers})
        if writers
        else 0,
        warnings=by_severity(
            (
                *unweighted.warn_of_pairs(leaders),
                *weighted.interval_warnings,
                *(_warn_of_two_kinds(judgments, people, weighted) if judged_by == "both" else ()),
                *weighted.support_warnings,
                *_warn_of_unweighted(weighted, unweighted),
                *_warn_of_axes(weighted, tables),
                *_warn_of_absence([system.name for system in candidates], weighted.names, tables),
            )
        ),
    )


def marked_judgments(judgments: Judgments, others: Judgments) -> Judgments:
    """Return the judgments that axes are of: those of others where the ranking's mark none."""
    return others if others and not judgments.axes else judgments


def _candidates(judgments: Judgments, systems: Sequence[System]) -> list[System]:
    named = {*judgments.first_system.present, *judgments.second_system.present}
    unknown = sorted(named - {system.id for system in systems})
    if unknown:
        raise ValueError(f"judgments name systems that were not given: {unknown}")
    return sorted((s for s in systems if s.kind != "stress"), key=lambda system: system.name)


def _judged_by(rater_ids: Collection[str], raters: Sequence[Rater]) -> str:
    unknown = sorted(set(rater_ids).difference(rater.id for rater in raters))
    if unknown:
        raise ValueError(f"judgments name raters that were not given: {unknown}")
    return SOURCES[frozenset(rater.kind for rater in raters if rater.id in rater_ids)]


def _rows(
    field: Sequence[System],
    weighted: Ranked,
    unweighted: Ranked,
    tables: Sequence[AxisTable],
) -> tuple[LeaderboardRow, ...]:
    comparisons = unweighted.fit.comparisons
    n_comparisons, n_won_or_half = count_wins(comparisons)
    won = unweighted.fit.points
    win_rate = won.sum(axis=1) / (won + won.T).sum(axis=1)
    is_tie = comparisons.score == TIE_SCORE
    n_ties = count_comparisons(select_comparisons(comparisons, is_tie))
    rows = [
        LeaderboardRow(
            system=system.name,
            kind=system.kind,
            family=system.family,
            weighted=weighted.estimates[i],
            unweighted=unweighted.estimates[i],
            rank_differs=weighted.estimates[i].rank != unweighted.estimates[i].rank,
            win_rate=float(win_rate[i]),
            n_comparisons=int(n_comparisons[i]),
            n_wins=int(n_won_or_half[i] - n_ties[i] / 2),
            n_ties=int(n_ties[i]),
            axes={t.axis: t.standings[system.name] for t in tables if system.name in t.standings},
        )
        for i, system in enumerate(field)
    ]
    return tuple(sorted(rows, key=lambda row: (row.weighted.rank, row.system)))


def _warn_of_two_kinds(
    judgments: Judgments, people: Sequence[str], weighted: Ranked
) -> list[Notice]:
    """Say how people and judges are combined."""
    n_one, n = count_pairs_of_one_kind(judgments, people)
    alone = (
        f"; {n_one:,} of {n:,} pairs were judged by one kind only and count as they are"
        if n_one
        else ""
    )
    combined = Notice(
        Kind.TWO_KINDS,
        f"People and judges have the same total weight within each pair that both judged{alone}.",
    )
    if weighted.interval_used not in OVER_RATERS:
        return [combined]
    text = (
        "The intervals say how places would move with other items and other people, not with other"
        " judges."
    )
    return [Notice(Kind.GIVEN_RATERS, text), combined]


def _warn_of_unweighted(weighted: Ranked, unweighted: Ranked) -> list[Notice]:
    """Say what holds of the unweighted ranking only."""
    return [
        Notice(warning.kind, f"Where every judgment counts once: {_inside(warning)}")
        for warning in unweighted.support_warnings
        if warning not in weighted.support_warnings
    ]


def _warn_of_axes(overall: Ranked, tables: Sequence[AxisTable]) -> list[Notice]:
    """Name axes on which judgments that asked say nothing, or whose intervals rest on less.

    Where no person was asked, few people are no news: who marked stands beside the axes.
    """
    intervals = {table.axis: table.interval for table in tables if table.interval}
    asked = {table.axis: table.asked for table in tables}
    is_over = overall.interval_used in OVER_RATERS
    other = [
        axis
        for axis, found in intervals.items()
        if (found.interval_used in OVER_RATERS) != is_over and asked[axis].n_people
    ]
    warnings = []
    if other:
        text = (
            f"Fewer than {MIN_RATERS} people marked {', '.join(other)}: intervals there cannot"
            " speak for other people."
        )
        warnings.append(Notice(Kind.FEW_RATERS, text))
    shares = {axis: at.n_marked / at.n_judgments for axis, at in asked.items()}
    few = {axis: share for axis, share in shares.items() if share < FEW_MARKS}
    if few:
        text = ", ".join(f"{axis} in {100 * share:.0f} %" for axis, share in few.items())
        said_of = f"A difference was marked on {text} of the judgments that asked for it."
        warnings.append(Notice(Kind.AXIS, said_of))
    said: dict[Notice, list[str]] = defaultdict(list)
    for table in tables:
        for warning in table.support_warnings:
            if warning not in overall.support_warnings:
                said[warning].append(table.axis)
    return warnings + [
        Notice(Kind.AXIS, f"On {', '.join(axes)}: {_inside(warning)}")
        for warning, axes in said.items()
    ]


def _inside(warning: Notice) -> str:
    """Return a warning as it stands inside a sentence."""
    return warning[:1].lower() + warning[1:]


def _warn_of_absence(
    candidates: Sequence[str], names: Sequence[str], tables: Sequence[AxisTable]
) -> list[Notice]:
    """Name systems that are not ranked, or not on an axis."""
    absent = [name for name in candidates if name not in names]
    warnings = []
    if absent:
        text = (
            f"Not ranked, because fewer than {MIN_ITEMS} items compare them: {', '.join(absent)}."
        )
        warnings.append(Notice(Kind.NOT_RANKED, text))
    for table in tables:
        unmarked = [name for name in names if name not in table.standings]
        if unmarked:
            text = (
                f"No difference was marked on {table.axis} for {', '.join(unmarked)}: what is said"
                " of this axis is about the other systems."
            )
            warnings.append(Notice(Kind.AXIS, text))
    return warnings
