"""Four chips under the answer: the judges' checks, the coverage, the fit, the limits.

Each says the worst news that its section has, and leads there.
"""

from operator import itemgetter

from hearteval.analysis.coverage.missing import FAIL_ON_MISSING
from hearteval.analysis.coverage.study import Coverage
from hearteval.analysis.section import Chip
from hearteval.analysis.study import StudyResults
from hearteval.domain.reasons import BY_DESIGN
from hearteval.notices import Kind, Notice
from hearteval.report.text import bare_percent, count, plural


def chips(results: StudyResults, notices: tuple[Notice, ...]) -> tuple[Chip, ...]:
    """Return the four chips; without a ranking and without scores there is no fit."""
    of_sections = [one.chip() for one in results.found_sections]
    found = (*of_sections, _coverage(results), _fit(results, notices), _limits(notices))
    return tuple(chip for chip in found if chip is not None)


def coverage_words(results: StudyResults) -> str:
    """Say how much there is, and what most is missing of."""
    return _coverage(results).words


def _coverage(results: StudyResults) -> Chip:
    coverage = results.coverage
    answers = "rating" if results.ratings else "judgment"
    n_answers = sum(judge.n_judged for judge in coverage.judges)
    size = f"{plural(sum(coverage.n_items.values()), 'item')}, {plural(n_answers, answers)}"
    lacks = _lacks(coverage, answers)
    if not lacks:
        return Chip("Coverage", f"{size}, none missing", "coverage")
    failed, words = max(lacks, key=itemgetter(0))
    more = f"; {count(len(lacks) - 1)} more lack some" if len(lacks) > 1 else ""
    return Chip("Coverage", f"{size}; {words}{more}", "coverage", failed > FAIL_ON_MISSING)


def _lacks(coverage: Coverage, answers: str) -> list[tuple[float, str]]:
    """Return who lacks something, and what share of it because something failed."""
    wanted = [
        (row.system, row.n_items, row.n_items - row.n_completions, row.missing, "replies")
        for row in coverage.systems
        if row.kind != "human"
    ] + [
        (row.rater, row.n_assigned, row.n_assigned - row.n_judged, row.missing, f"{answers}s")
        for row in coverage.judges
        if row.kind != "human"
    ]
    return [
        (
            (lack - sum(missing.get(reason, 0) for reason in BY_DESIGN)) / n,
            f"{name} lacks {count(lack)} of {count(n)} {what}",
        )
        for name, n, lack, missing, what in wanted
        if lack > 0
    ]


def _fit(results: StudyResults, notices: tuple[Notice, ...]) -> Chip | None:
    if results.leaderboard is None or len(results.leaderboard.rows) == 2:
        return None  # of two systems one pair is all there is: it fits by its making
    fit = results.leaderboard.fit
    kinds = {notice.kind for notice in notices}
    if Kind.MISFIT in kinds:
        return Chip("Fit", "Wins depend on whom a system meets", "fit", is_bad=True)
    if Kind.LEADER_LOSES in kinds:
        return Chip("Fit", "The first loses a direct comparison", "fit", is_bad=True)
    gap = f"{bare_percent(fit.rms_gap)}\N{NO-BREAK SPACE}points from expected wins"
    if fit.expected_rms_gap is None:
        return Chip("Fit", gap, "fit")
    return Chip("Fit", f"{gap}, {bare_percent(fit.expected_rms_gap)} by chance alone", "fit")


def _limits(notices: tuple[Notice, ...]) -> Chip:
    n, serious = len(notices), sum(notice.kind.is_serious for notice in notices)
    if not n:
        return Chip("Limits", "What these numbers are not", "limits")
    words = plural(n, "note")
    if serious == n:
        words += {1: ", it is serious", 2: ", both serious"}.get(n, ", all serious")
    elif serious:
        words += f", {count(serious)} of them serious"
    return Chip("Limits", words, "limits", serious > 0)
