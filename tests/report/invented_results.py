"""Invented results for the report's tests: nothing here was measured."""

import dataclasses
import itertools
import math
import re
from typing import Any, TypeVar

from invented_audits import injection, invented_audits, invented_majorities, judge_audit

from hearteval.analysis.coverage.study import Coverage, JudgeCoverage, SystemCoverage
from hearteval.analysis.data import Provenance
from hearteval.analysis.judges import Consistency, StressResult
from hearteval.analysis.ranking.axes.tables import AxisAsked, AxisInterval, AxisStanding, WinRate
from hearteval.analysis.ranking.checks.adjusted import (
    AdjustedSystem,
    Effect,
    EffectTest,
    JudgeAwareStrengths,
    JudgeTraits,
)
from hearteval.analysis.ranking.head_to_head import HeadToHead, LackOfFit
from hearteval.analysis.ranking.leaderboard import Leaderboard, LeaderboardRow
from hearteval.analysis.ranking.rank import EloEstimate, FitCheck, PairFit, SystemFit
from hearteval.analysis.section import Section
from hearteval.analysis.study import JUDGED_BY_CUES, StudyResults
from hearteval.domain import AXES
from hearteval.notices import Kind, Notice
from hearteval.report.coverage.people import raters_words
from hearteval.sections import SECTIONS
from hearteval.sections.axes import Axes
from hearteval.sections.explained import Explained
from hearteval.sections.explained.measure import Confounders, JudgePanel, JudgeRanking, SystemTexts
from hearteval.sections.judges import Judges
from hearteval.sections.judges.audit import JudgeAudits

SIX = (
    ("beacon-large-instruct", "model", "beacon"),
    ("people", "human", "human"),
    ("ember-7b", "model", "ember"),
    ("original", "original", "original"),
    ("reflective", "baseline", "baseline"),
    ("generic", "baseline", "baseline"),
)
TWELVE_MORE = (
    *((f"beacon-{size}", "model", "beacon") for size in ("small", "medium", "xl-preview-0925")),
    *((f"ember-{size}", "model", "ember") for size in ("13b", "70b-chat")),
    *((f"harbour-{size}", "model", "harbour") for size in ("mini", "pro", "pro-thinking-high")),
    *((f"willow-{size}", "model", "willow") for size in ("1", "2")),
    ("shuffled", "baseline", "baseline"),
    ("retrieval", "baseline", "baseline"),
)
S = TypeVar("S", bound=Section[Any])
Named = TypeVar("Named", AdjustedSystem, SystemTexts)
N_ITEMS = 40
N_PER_PAIR = 160


def invented_results(*, large: bool = False, cue_judge: bool = False) -> StudyResults:
    """Return results of 6 systems, or 18; judged by two models, or by the cue judge."""
    systems = SIX + TWELVE_MORE if large else SIX
    leaderboard = _leaderboard(systems)
    judges = _cue_judge() if cue_judge else _model_judges()
    results = StudyResults(
        provenance=_provenance(),
        coverage=_coverage(systems, judges),
        funnel=(
            {"rule": "supporter turns after a seeker turn", "n_in": 1_512, "n_out": 1_204},
            {"rule": "room for support", "n_in": 1_204, "n_out": 611},
            {"rule": "safe to show", "n_in": 611, "n_out": 598},
            {"rule": "at most two of one dialogue", "n_in": 598, "n_out": N_ITEMS},
        ),
        leaderboard=leaderboard,
        leaderboard_problem=None,
        win_rates=tuple(
            WinRate(system=name, n_comparisons=80, win_rate=0.625, axes={"H": 0.25})
            for name, _, _ in systems
        ),
        ratings=None,
        judge_notice=JUDGED_BY_CUES if cue_judge else None,
        warnings=(Notice(Kind.MISSING, "4 judgments are missing; coverage is 99.8 %."),),
        sections={
            Judges: Judges(
                found=_judge_audits(cue_judge=cue_judge),
                stress=tuple(result for judge in judges for result in _stress(judge.rater)),
                consistency=tuple(
                    one
                    for k, judge in enumerate(judges)
                    for one in _consistency(judge.rater, 0.02 * k)
                ),
                majorities=invented_majorities(
                    [name for name, _, _ in systems], [judge.rater for judge in judges]
                ),
                again=(),
                raters=judges,
                ratings=None,
                shared=(),
                has_people=False,
                has_agreement=False,
            ),
            Explained: invented_explained(leaderboard.rows, has_panel=not cue_judge),
        },
    )
    return with_board(results, leaderboard)


def _consistency(rater: str, less: float) -> list[Consistency]:
    return [
        Consistency(
            rater=rater,
            check=check,
            n_pairs=n,
            n_items=60,
            rate=rate,
            low=rate - 0.05,
            high=rate + 0.03,
        )
        for check, n, most in (("order", 600, 0.91), ("repeat", 50, 0.96))
        for rate in [most - less]
    ]


def without_ranking(results: StudyResults, problem: str) -> StudyResults:
    """Return the results as they are where no ranking could be computed."""
    return dataclasses.replace(
        results,
        leaderboard=None,
        leaderboard_problem=problem,
        sections={**results.sections, Axes: None, Explained: None},
    )


def with_board(results: StudyResults, board: Leaderboard) -> StudyResults:
    """Return the results with another ranking, and the section that shows it."""
    section = Axes(board, raters_words(results.coverage, board.judged_by))
    return with_section(dataclasses.replace(results, leaderboard=board), section)


def with_section(results: StudyResults, section: Section[Any]) -> StudyResults:
    """Return results of which one section is another, in the order of the page."""
    found = {**results.sections, type(section): section}
    return dataclasses.replace(
        results, sections={kind: found[kind] for kind in SECTIONS if kind in found}
    )


def section_html(page: str, name: str) -> str:
    """Return one part of a page: all that stands in the element of that id."""
    found = re.search(f'<(section|details|div)(?: class="part")? id="{name}"', page)
    assert found is not None, name
    depth = 0
    for tag in re.finditer(f"<(/?){found[1]}\\b", page[found.start() :]):
        depth += -1 if tag[1] else 1
        if not depth:
            return page[found.start() : found.start() + tag.start()]
    raise AssertionError(f"{name} does not end")


def section_of(results: StudyResults, kind: type[S]) -> S:
    """Return one section of results."""
    found = results.sections[kind]
    assert isinstance(found, kind)
    return found


def with_judges(results: StudyResults, **changes: Any) -> StudyResults:
    """Return results of which something is otherwise in what is said of the judges."""
    return with_section(results, dataclasses.replace(section_of(results, Judges), **changes))


def rename_system(results: StudyResults, old: str, new: str) -> StudyResults:
    """Return the results with one system named otherwise, on the leaderboard and in the fit."""
    assert results.leaderboard is not None
    board = results.leaderboard
    rows = tuple(
        dataclasses.replace(row, system=new) if row.system == old else row for row in board.rows
    )
    pairs = tuple(
        dataclasses.replace(
            pair,
            left=new if pair.left == old else pair.left,
            right=new if pair.right == old else pair.right,
        )
        for pair in board.fit.pairs
    )
    fit = dataclasses.replace(board.fit, pairs=pairs)
    explained = section_of(results, Explained)
    audit = dataclasses.replace(
        explained.found,
        systems=tuple(_renamed(row, old, new) for row in explained.found.systems),
        texts=tuple(_renamed(row, old, new) for row in explained.found.texts),
    )
    return with_section(
        with_board(results, dataclasses.replace(board, rows=rows, fit=fit)),
        dataclasses.replace(explained, found=audit),
    )


def _renamed(row: Named, old: str, new: str) -> Named:
    return dataclasses.replace(row, system=new) if row.system == old else row


def _elo(place: int, n: int) -> float:
    return 1500 + 260 * ((n - 1) / 2 - place) / ((n - 1) / 2) + 7.3 * math.sin(place)


def _chance(mine: float, other: float) -> float:
    return 1 / (1 + 10 ** ((other - mine) / 400))


def _rated(elo: float, rank: int, half: float, *, n: int) -> EloEstimate:
    return EloEstimate(
        elo=elo,
        low=elo - half,
        high=elo + half,
        published_low=elo - half / 3,
        published_high=elo + half / 3,
        theta=(elo - 1500) * math.log(10) / 400,
        se=half / 2 * math.log(10) / 400,
        rank=rank,
        rank_low=max(rank - 1, 1),
        rank_high=min(rank + 1, n),
    )


def _rows(systems: tuple[tuple[str, str, str], ...]) -> tuple[LeaderboardRow, ...]:
    n = len(systems)
    elos = [_elo(place, n) for place in range(n)]
    rates = [
        sum(_chance(mine, other) for other in elos if other != mine) / (n - 1) for mine in elos
    ]
    unweighted_ranks = [2, 1, *range(3, n + 1)]
    return tuple(
        LeaderboardRow(
            system=name,
            kind=kind,
            family=family,
            weighted=_rated(elos[k], k + 1, 24 + 9 * abs(math.sin(k)), n=n),
            unweighted=_rated(elos[k] - (18 if k == 0 else 0), unweighted_ranks[k], 26.0, n=n),
            rank_differs=unweighted_ranks[k] != k + 1,
            win_rate=rates[k],
            n_comparisons=N_PER_PAIR * (n - 1),
            n_wins=round(rates[k] * N_PER_PAIR * (n - 1)),
            n_ties=12,
            axes={
                axis: AxisStanding(
                    n_items=40,
                    win_rate=min(max(rates[k] + 0.09 * math.sin(3 * k + 2 * j), 0.02), 0.98),
                    percentile=100 * (n - 1 - k) / (n - 1),
                    elo=None if axis == "T" else elos[k] + 20 * math.sin(k + j),
                    low=None if axis == "T" else elos[k] - 40,
                    high=None if axis == "T" else elos[k] + 40,
                    n_comparisons=N_PER_PAIR * (n - 1),
                    n_asked=N_PER_PAIR * (n - 1),
                    p=None if axis == "T" else 0.01,
                    q=None if axis == "T" else 0.02,
                )
                for j, axis in enumerate(AXES)
            },
        )
        for k, (name, kind, family) in enumerate(systems)
    )


def _fit(rows: tuple[LeaderboardRow, ...], ratings: str) -> FitCheck:
    stretch = 1.0 if ratings == "unweighted" else 1.25
    pairs = tuple(
        PairFit(
            left=one.system,
            right=other.system,
            n=N_PER_PAIR - 7 * (k % 5),
            predicted=_chance(stretch * one.unweighted.elo, stretch * other.unweighted.elo),
            observed=min(
                max(
                    _chance(one.unweighted.elo, other.unweighted.elo) + 0.07 * math.sin(9 * k), 0.0
                ),
                1.0,
            ),
        )
        for k, (one, other) in enumerate(itertools.combinations(rows, 2))
    )
    return FitCheck(
        ratings=ratings,
        rms_gap=0.0493 * stretch,
        max_gap=max(abs(pair.observed - pair.predicted) for pair in pairs),
        system_rms_gap=0.0,
        system_max_gap=0.0,
        pairs=pairs,
        systems=tuple(
            SystemFit(
                system=row.system,
                n=row.n_comparisons,
                observed=row.win_rate,
                predicted=row.win_rate,
            )
            for row in rows
        ),
        expected_rms_gap=0.0408,
        expected_max_gap=0.0967,
        lack_of_fit=LackOfFit(statistic=14.2, df=9.1, p=0.118, reason=None, method="invented"),
    )


def _matrix(fit: FitCheck) -> tuple[HeadToHead, ...]:
    return tuple(
        HeadToHead(
            left=pair.left,
            right=pair.right,
            n=pair.n,
            n_items=N_ITEMS,
            observed=pair.observed,
            expected=pair.predicted,
            z=(pair.observed - pair.predicted) / 0.04,
            p=0.08,
            q=0.2,
        )
        for pair in fit.pairs
    )


def _leaderboard(systems: tuple[tuple[str, str, str], ...]) -> Leaderboard:
    rows = _rows(systems)
    return Leaderboard(
        rows=rows,
        differences=(),
        fit=_fit(rows, "unweighted"),
        fit_weighted=_fit(rows, "weighted"),
        axis_problems={"T": "not identified: generic lost every comparison, groups [generic]."},
        axis_intervals={
            axis: AxisInterval(interval_used="item-sandwich", df=N_ITEMS - 1) for axis in AXES[:4]
        },
        axes_asked={
            axis: AxisAsked(
                n_judgments=N_PER_PAIR * len(rows) * (len(rows) - 1) // 2,
                n_marked=N_PER_PAIR * len(rows) * (len(rows) - 1) // 2,
                n_people=0,
                judges=("judge-a", "judge-b"),
            )
            for axis in AXES
        },
        interval_used="item-sandwich",
        level=0.95,
        df=N_ITEMS - 1,
        ties="half",
        judged_by="judges",
        n_judgments=N_PER_PAIR * len(rows) * (len(rows) - 1) // 2,
        n_ties=6 * len(rows),
        n_items=N_ITEMS,
        n_raters=2,
        n_people=0,
        warnings=(),
        matrix=_matrix(_fit(rows, "unweighted")),
    )


def _adjusted(rows: tuple[LeaderboardRow, ...], spread: float) -> tuple[AdjustedSystem, ...]:
    systems = [
        AdjustedSystem(
            system=row.system,
            elo=row.unweighted.elo,
            low=row.unweighted.low,
            high=row.unweighted.high,
            elo_adjusted=row.unweighted.elo + spread * math.sin(5 * k),
            low_adjusted=(row.unweighted.low or 0) + spread * math.sin(5 * k) - 9,
            high_adjusted=(row.unweighted.high or 0) + spread * math.sin(5 * k) + 9,
        )
        for k, row in enumerate(rows)
    ]
    return tuple(sorted(systems, key=lambda system: -system.elo_adjusted))


def _effect(covariate: str, beta: float, half: float, step: float) -> Effect:
    low, high = beta - half, beta + half
    return Effect(
        covariate=covariate,
        beta=beta,
        low=low,
        high=high,
        step=step,
        win_rate=1 / (1 + math.exp(-step * beta)),
        win_rate_low=1 / (1 + math.exp(-step * low)),
        win_rate_high=1 / (1 + math.exp(-step * high)),
    )


def invented_explained(rows: tuple[LeaderboardRow, ...], *, has_panel: bool = True) -> Explained:
    """Return effects of length and position, and two judges who differ."""
    audit = Confounders(
        effects=(_effect("length", 2.04, 0.45, 1 / 3), _effect("position", 0.0, 0.0, 1.0)),
        status_of_effects="planned",
        systems=_adjusted(rows, 60.0),
        status_of_ratings="exploratory",
        texts=tuple(
            SystemTexts(system=row.system, n_completions=40, words=31.25 + k, formatting=0.5)
            for k, row in enumerate(rows)
        ),
        left_out={"formatting": "no two replies that were compared differ in formatting"},
        problem=None,
        interval_used="item-sandwich",
        df=N_ITEMS - 1,
        level=0.95,
        tests=(EffectTest(covariate="length", p=0.0004, q=0.004),),
    )
    return Explained(audit, _judge_panel(rows) if has_panel else None, len(rows))


def _judge_panel(rows: tuple[LeaderboardRow, ...]) -> JudgePanel:
    judges = (
        ("juniper", 1.45, 1.29, 1.61, 0.32, 0.11, 0.53),
        ("larch-2", 0.55, 0.39, 0.71, -0.02, -0.2, 0.16),
    )
    return JudgePanel(
        judge_aware=JudgeAwareStrengths(
            systems=_adjusted(rows, 25.0),
            judges=tuple(
                JudgeTraits(
                    judge=judge,
                    n_comparisons=1_198,
                    discrimination=discrimination,
                    discrimination_low=low,
                    discrimination_high=high,
                    position_bias=bias,
                    position_bias_low=bias_low,
                    position_bias_high=bias_high,
                    discrimination_q=0.9 if low < 1 < high else 0.004,
                    position_bias_q=0.9 if bias_low < 0 < bias_high else 0.008,
                )
                for judge, discrimination, low, high, bias, bias_low, bias_high in judges
            ),
            interval_used="item-sandwich",
            df=N_ITEMS - 1,
            level=0.95,
        ),
        problem=None,
        status_of_ratings="exploratory",
        alone=tuple(
            JudgeRanking(
                judge=judge[0],
                n_judgments=1_198,
                ratings={row.system: row.weighted for row in rows},
                problem=None,
            )
            for judge in judges
        ),
    )


def _coverage(
    systems: tuple[tuple[str, str, str], ...], judges: tuple[JudgeCoverage, ...]
) -> Coverage:
    n_system_pairs = len(systems) * (len(systems) - 1) // 2
    return Coverage(
        n_items={"regular": 36, "adversarial": 4},
        systems=tuple(
            SystemCoverage(
                system=name,
                n_items=N_ITEMS,
                n_completions=36 if name == "original" else N_ITEMS,
                missing={"no-reference": 4} if name == "original" else {},
            )
            for name, _, _ in systems
        ),
        judges=judges,
        n_pairs=40 * n_system_pairs,
        n_identical=3,
        n_system_pairs=n_system_pairs,
        n_system_pairs_possible=n_system_pairs,
    )


def _model_judges() -> tuple[JudgeCoverage, ...]:
    return tuple(
        JudgeCoverage(
            rater=name,
            kind="llm",
            family=family,
            is_baseline=False,
            n_assigned=1_200,
            n_judged=1_198,
            missing={"invalid-reply": 1, "not-asked": 1},
            n_undecided=0,
            n_both_orders=599,
            n_flips=n_flips,
        )
        for name, family, n_flips in (("juniper", "juniper", 71), ("larch-2", "larch", 38))
    )


def _cue_judge() -> tuple[JudgeCoverage, ...]:
    return (
        JudgeCoverage(
            rater="cue-judge",
            kind="llm",
            family="cue",
            is_baseline=True,
            n_assigned=2_400,
            n_judged=2_400,
            missing={},
            n_undecided=191,
            n_both_orders=1_200,
            n_flips=0,
        ),
    )


def _judge_audits(*, cue_judge: bool) -> JudgeAudits:
    if cue_judge:
        return invented_audits(judge_audit("cue-judge", is_baseline=True))
    return invented_audits(
        judge_audit("juniper", payloads=injection(0.1, 0.04, 0.23)), judge_audit("larch-2")
    )


def _stress(rater: str) -> tuple[StressResult, ...]:
    return (
        _stress_result(rater, "hostile", 1.0, 0.912, 1.0),
        _stress_result(rater, "shuffled-words", 0.95, 0.835, 0.986),
        _stress_result(rater, "other-item", 0.7875, 0.638, 0.886),
        _stress_result(rater, "keyword-stuffed", 0.55, 0.398, 0.693),
        _stress_result(rater, "generic-warmth", 0.3, 0.181, 0.454),
    )


def _stress_result(rater: str, kind: str, rate: float, low: float, high: float) -> StressResult:
    return StressResult(
        rater=rater, kind=kind, n_items=N_ITEMS, reference_rate=rate, low=low, high=high
    )


def _provenance() -> Provenance:
    return Provenance(
        study="Invented pilot",
        study_id="4f1e" * 8,
        version=3,
        seed=20_260_101,
        items_hash="0123456789abcdef" * 4,
        settings_hash="fedcba9876543210" * 4,
        item_source="starter items, 40 of 40",
        licences=("CC-BY-4.0",),
        consent_bases=("Invented for tests by a script",),
        design="every pair of systems on every item, both orders",
        protocols={"llm": "forced-strength"},
        protocol_version="1",
        software={"hearteval": "0.1.0", "numpy": "2.3.0", "scipy": "1.16.0"},
        created_at="2026-01-05T12:00:00Z",
    )
