"""What is missing, in words: one line for each cause, and one for what a study has failed in."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from hearteval.analysis.coverage.missing import Cause, Failure
from hearteval.analysis.coverage.study import Coverage
from hearteval.domain.reasons import ADVICE, NOT_ASKED, Outlook
from hearteval.report.text import count, listed, percent, plural_of

if TYPE_CHECKING:
    from hearteval.analysis.study import StudyResults

OUTLOOK: Mapping[Outlook, str] = {
    "may-pass": "running again may help",
    "fails-again": "running again fails again",
    "given-up": "not asked again",
    "by-design": "as it has to be",
}
UNASKED = "not asked, or not any more"
MAX_NAMED = 3


def cause_words(cause: Cause) -> str:
    """Say why something is missing, in the provider's own words where it had any."""
    why = UNASKED if cause.reason == NOT_ASKED else cause.reason
    said = f"{why}: {cause.words}" if cause.words else why
    advice = ADVICE.get(cause.reason, "")
    outlook = OUTLOOK[cause.outlook]
    return f"{said} ({advice}; {outlook})" if advice else f"{said} ({outlook})"


def missing_lines(who: str, what: str, causes: Iterable[Cause]) -> list[str]:
    """Write one line for each cause, what is missing by design left out.

    `who` is "system NAME" or "judge NAME", `what` the word for one of what is missing.
    """
    return [
        f"{who}: {count(cause.n)} {what if cause.n == 1 else plural_of(what)}"
        f" {'is' if cause.n == 1 else 'are'} missing: {cause_words(cause)}"
        for cause in causes
        if cause.outlook != "by-design"
    ]


def failure_words(failures: Sequence[Failure], *, fail_on_missing: float) -> str:
    """Say in one line why a study has failed, each system and judge with its main cause."""
    said = [_failure_words(failure) for failure in failures[:MAX_NAMED]]
    if len(failures) > MAX_NAMED:
        said.append(f"{len(failures) - MAX_NAMED} more")
    parts = [listed(said)]
    if not all(failure.is_total for failure in failures):
        allowed = percent(fail_on_missing).replace("\N{NO-BREAK SPACE}", " ")
        parts.append(f"at most {allowed} may be missing (study.fail_on_missing)")
    return "; ".join(parts)


def _failure_words(failure: Failure) -> str:
    who, why = f"{failure.kind} {failure.name}", failure.why(UNASKED)
    if failure.is_total:
        return f"{who} has no result ({why})"
    n = f"{count(failure.n_missing)} of {count(failure.n_wanted)}"
    return f"{who} lacks {n} ({why})"


class CoverageTotals(NamedTuple):
    """Sums of the coverage tables, as the cards show them."""

    n_wanted: int
    n_written: int
    unwritten: Mapping[str, int]
    n_assigned: int
    n_judged: int
    unjudged: Mapping[str, int]


def coverage_totals(coverage: Coverage) -> CoverageTotals:
    """Add up what was planned, made and missing over systems and over raters."""
    systems, judges = coverage.systems, coverage.judges
    return CoverageTotals(
        n_wanted=sum(system.n_items for system in systems),
        n_written=sum(system.n_completions for system in systems),
        unwritten=sum((Counter(system.missing) for system in systems), Counter[str]()),
        n_assigned=sum(judge.n_assigned for judge in judges),
        n_judged=sum(judge.n_judged for judge in judges),
        unjudged=sum((Counter(judge.missing) for judge in judges), Counter[str]()),
    )


def missing_replies(results: "StudyResults") -> list[str]:
    """Say why replies and answers are missing, a line for each cause of a system or judge.

    Of people nothing is missing for a cause: they write and judge in their own time.
    """
    answer = "rating" if results.ratings else "judgment"
    coverage = results.coverage
    systems = [row for row in coverage.systems if row.kind != "human"]
    judges = [row for row in coverage.judges if row.kind != "human"]
    lines = [missing_lines(row.system, "reply", row.causes) for row in systems]
    lines += [missing_lines(row.rater, answer, row.causes) for row in judges]
    return list(chain.from_iterable(lines))
