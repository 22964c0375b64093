"""The report: results of one study as a single HTML file that opens from disk.

Everything is inside the file: styles, figures and a little script that sorts and filters; without
the script the page says the same. Text from the study is escaped by the templates.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

from jinja2 import Environment, PackageLoader, StrictUndefined

from heartbench.analysis.audit_results import BiasAudit, JudgePanel
from heartbench.analysis.judge_audit_results import Consistency
from heartbench.analysis.judge_faults import STRESS_NAMES
from heartbench.analysis.judge_majorities import JudgeMajorities
from heartbench.analysis.leaderboard_results import Leaderboard
from heartbench.analysis.results import (
    Coverage,
    FunnelStep,
    StressResult,
    StudyResults,
)
from heartbench.domain import AXIS_NAMES
from heartbench.report import (
    colours,
    explanations,
    figures,
    judge_audit_rows,
    leaderboard,
    majority_table,
    numbers,
    radar,
    rating_table,
)

NO_REASON = "without a recorded reason"
CONSISTENCY_NAMES = {"order": "shown the other way round", "repeat": "asked again"}
Audited = TypeVar("Audited", StressResult, Consistency)


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageTotals:
    """Sums of the coverage tables, as the cards show them."""

    n_items: int
    n_wanted: int
    n_written: int
    unwritten: Mapping[str, int]
    n_assigned: int
    n_judged: int
    unjudged: Mapping[str, int]
    n_both_orders: int
    n_flips: int
    n_undecided: int


def render_page(results: StudyResults) -> str:
    """Render the report as one HTML document without any reference outside itself."""
    return _environment().get_template("page.html.j2").render(_context(results))


def coverage_totals(coverage: Coverage) -> CoverageTotals:
    """Add up what was planned, made and missing over systems and over raters."""
    systems, judges = coverage.systems, coverage.judges
    n_wanted = sum(system.n_items for system in systems)
    n_written = sum(system.n_completions for system in systems)
    n_assigned = sum(judge.n_assigned for judge in judges)
    n_judged = sum(judge.n_judged for judge in judges)
    return CoverageTotals(
        n_items=sum(coverage.n_items.values()),
        n_wanted=n_wanted,
        n_written=n_written,
        unwritten=_by_reason(n_wanted - n_written, (system.missing for system in systems)),
        n_assigned=n_assigned,
        n_judged=n_judged,
        unjudged=_by_reason(n_assigned - n_judged, (judge.missing for judge in judges)),
        n_both_orders=sum(judge.n_both_orders for judge in judges),
        n_flips=sum(judge.n_flips for judge in judges),
        n_undecided=sum(judge.n_undecided for judge in judges),
    )


def _by_reason(n_missing: int, parts: Iterable[Mapping[str, int]]) -> Mapping[str, int]:
    total: Counter[str] = Counter()
    for part in parts:
        total.update(part)
    unexplained = n_missing - total.total()
    return {**total, NO_REASON: unexplained} if unexplained > 0 else dict(total)


def _context(results: StudyResults) -> dict[str, object]:
    board = results.leaderboard
    return {
        "results": results,
        "totals": coverage_totals(results.coverage),
        "warnings": leaderboard.all_warnings(results),
        "banner": results.judge_notice,
        "board": board,
        "axes": leaderboard.marked_axes(board) if board else (),
        "axis_names": AXIS_NAMES,
        "interval_words": leaderboard.interval_words(board) if board else "",
        "elo": _board_scale(board) if board else None,
        "pairs": figures.pairs_in_both_fits(board) if board else (),
        "scatter": figures.fit_scatter(board.fit) if board and board.fit.pairs else None,
        **_explained(results.bias_audit),
        **_judged(results.judge_panel),
        **_together(results.majorities),
        **_audited(results),
        **_scored(results),
        "stress": _by_judge(results.stress),
        "stress_names": STRESS_NAMES,
        "consistency": _by_judge(results.consistency),
        "consistency_names": CONSISTENCY_NAMES,
        "people": _people(results),
        "heat": {"light": colours.heat_colours("light"), "dark": colours.heat_colours("dark")},
    }


def _people(results: StudyResults) -> list[str]:
    """Return the human systems that a reader can compare with."""
    if results.ratings is not None:
        return [row.system for row in results.ratings.systems if row.kind == "human"]
    rows = results.leaderboard.rows if results.leaderboard else ()
    return [row.system for row in rows if row.kind == "human"]


def _board_scale(board: Leaderboard) -> figures.Scale:
    rated = [row.weighted for row in board.rows]
    return figures.elo_scale([end for each in rated for end in (each.low, each.high)])


def _explained(audit: BiasAudit | None) -> dict[str, object]:
    """Return what the section on other explanations shows of length, formatting and position."""
    if audit is None:
        return {"bias": None}
    held = [effect.covariate for effect in audit.effects]
    return {
        "bias": audit,
        "effects": explanations.effect_rows(audit),
        "effect_scale": figures.effect_scale(
            [end for e in audit.effects for end in (e.win_rate_low, e.win_rate_high)]
        ),
        "controlled": explanations.pair_ratings(audit.systems) if audit.systems else None,
        "controlled_for": numbers.listed(held),
        "texts": explanations.texts_by_system(audit),
        "has_marks": any(text.formatting for text in audit.texts),
    }


def _judged(panel: JudgePanel | None) -> dict[str, object]:
    """Return what the section shows of the judges."""
    if panel is None:
        return {"panel": None}
    aware = explanations.pair_ratings(panel.judge_aware.systems) if panel.judge_aware else None
    rows = {row.rating.system: row for row in aware.rows} if aware else {}
    alone = [ranking for ranking in panel.alone if ranking.ratings]
    return {
        "panel": panel,
        "judge_aware": aware,
        "judge_aware_rows": rows,
        "judges_alone": alone,
        "panel_systems": list(dict.fromkeys([*rows, *(s for one in alone for s in one.ratings)])),
    }


def _together(majorities: JudgeMajorities | None) -> dict[str, object]:
    """Return what the section shows of what the judges say together."""
    if majorities is None:
        return {"majorities": None}
    return {
        "majorities": majorities,
        "behind": majority_table.behind_rows(majorities),
        "behind_words": majority_table.behind_words(majorities),
        "panels": majority_table.panel_rows(majorities),
        "agreement": majority_table.agreement_of_two(majorities),
        "agreement_of_all": majority_table.agreement_of_all(majorities),
    }


def _audited(results: StudyResults) -> dict[str, object]:
    """Return what the section shows of the audit of the judges."""
    audits = results.judge_audits
    if audits is None:
        return {"audits": None}
    return {
        "audits": audits,
        "audit_groups": judge_audit_rows.audit_groups(audits, results.consistency),
        "audit_notes": judge_audit_rows.shared_notes(audits),
        "audit_command": leaderboard.AUDIT_COMMAND,
    }


def _scored(results: StudyResults) -> dict[str, object]:
    """Return what the section on scores shows, where judges rate."""
    ratings = results.ratings
    if ratings is None:
        return {"ratings": None}
    frame = radar.radar_frame(ratings)
    shown = [(row.overall.z, row.overall.z_low, row.overall.z_high) for row in ratings.systems]
    return {
        "ratings": ratings,
        "score_ends": numbers.ends_of,
        "score_axes": rating_table.scored_axes(ratings),
        "score_interval": rating_table.rating_interval_words(ratings),
        "z_scale": figures.z_scale([value for row in shown for value in row if value is not None]),
        "frame": frame,
        "radars": radar.radars(ratings, frame) if frame else (),
        "raters": sorted({name for row in ratings.systems for name in row.judges}),
        "stress_raters": list(dict.fromkeys(row.rater for row in ratings.stress)),
        "stress_table": rating_table.stress_cells(results),
    }


def _by_judge(results: Iterable[Audited]) -> Mapping[str, list[Audited]]:
    judges: dict[str, list[Audited]] = {}
    for result in results:
        judges.setdefault(result.rater, []).append(result)
    return judges


def _dropped(step: FunnelStep) -> int:
    return step.n_in - step.n_out


def _why_missing(n_missing: int, missing: Mapping[str, int]) -> str:
    return numbers.reasons(_by_reason(n_missing, [missing]))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("heartbench.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        bare_percent=numbers.bare_percent,
        count=numbers.count,
        decimal=numbers.decimal,
        describe=figures.describe_pair,
        dropped=_dropped,
        heat_step=colours.heat_step,
        hundredths=numbers.hundredths,
        interval=lambda ends: numbers.interval(ends.low, ends.high),
        judge_reading=explanations.read_judge,
        judges_words=majority_table.judges_words,
        listed=numbers.listed,
        level_percent=numbers.level_percent,
        score=numbers.hundredths,
        stress_name=rating_table.stress_name,
        z=numbers.signed_hundredths,
        z_tick=numbers.tick,
        z_step=colours.z_step,
        odds_share=explanations.share_of_log_odds,
        percent=numbers.percent,
        pixels=numbers.pixels,
        plural=numbers.plural,
        points=numbers.points,
        rank_range=lambda rated: numbers.ranks(rated.rank_low, rated.rank_high),
        reasons=numbers.reasons,
        signed=numbers.signed,
        small=numbers.small,
        whole=numbers.whole,
        why_missing=_why_missing,
    )
    return environment
