"""What a study shows at once, in a terminal and in a notebook: the answer, a table, what limits it.

A sentence says who leads and what is open; a table draws the intervals; the most serious warning
follows in plain words. The names of methods and the small print are in the report and in `details`.
"""

from collections.abc import Sequence

from hearteval.analysis.coverage.study import PeopleCoverage
from hearteval.analysis.study import StudyResults
from hearteval.domain.reasons import NOT_IMPORTED
from hearteval.notices import Kind, Notice
from hearteval.report import leaderboard, scores
from hearteval.report.answers.headline import (
    first_words,
    news,
    results_notices,
    sentence,
    votes_words,
)
from hearteval.report.answers.two_systems import share_table, shares_of_two
from hearteval.report.coverage import people
from hearteval.report.coverage.missing import coverage_totals
from hearteval.report.coverage.spending import spending_lines
from hearteval.report.files.contrasts import anchored_table
from hearteval.report.table import Display, Table
from hearteval.report.text import (
    count,
    counts_words,
    listed,
    notice_line,
    plural,
)


def results_table(results: StudyResults) -> Table | None:
    """Return the ranking at the top, the scores, or without either the win rates."""
    names = results.axis_names
    if results.ratings is not None:
        return scores.score_table(results.ratings, names) if results.ratings.systems else None
    if (two := shares_of_two(results)) is not None:
        voters = results.headline
        by_both = voters is not None and voters.beside == "both"
        return share_table(two, names, by_both=by_both)
    if results.leading is not None:
        return anchored_table(results.leading, votes_words(results), mine=results.mine)
    if results.leaderboard is not None:
        return leaderboard.board_table(
            results.leaderboard,
            names,
            votes_words(results),
            first_words(results),
            mine=results.mine,
        )
    if not any(rate.n_comparisons for rate in results.win_rates):
        return None
    return leaderboard.win_rate_table(results.win_rates, names)


def results_display(results: StudyResults) -> Display:
    """Return what a notebook shows: the answer, the table, and every notice."""
    table = results_table(results)
    notices = tuple(notice_line(one) for one in _below(results))
    return Display(((str(sentence(results)),), *([table] if table else []), notices))


def _below(results: StudyResults) -> list[Notice]:
    """Return the notices that stand below the answer."""
    return [one for one in results_notices(results) if one.kind is not Kind.SIMULATED]


def brief_display(results: StudyResults) -> Display:
    """Return what a terminal shows below the answer: the table, and the most serious notice.

    What sections say in brief stands between.
    """
    table, notices = results_table(results), _below(results)
    shown = news(notices, sentence(results))
    lines = list(map(notice_line, shown))
    n_others = len(notices) - len(shown)
    if n_others:
        lines.append(f"{plural(n_others, 'more note')} in the report.")
    said = [words for one in results.found_sections if (words := tuple(one.brief()))]
    return Display((*([table] if table else []), *said, tuple(lines)))


def details_display(results: StudyResults) -> Display:
    """Return what a terminal shows with `--verbose`: the small print, and every notice."""
    parts: list[Table | tuple[str, ...]] = [tuple(filter(None, _stands_on(results)))]
    notes: list[str] = []
    if results.ratings is not None and results.ratings.systems:
        parts.append(scores.score_numbers(results.ratings))
        notes = scores.score_notes(results.ratings)
    elif results.leaderboard is not None:
        parts.append(leaderboard.board_numbers(results.leaderboard))
        notes = leaderboard.board_notes(results.leaderboard)
    for section in results.found_sections:
        parts += section.shown_tables()
    if results.coverage.people is not None:
        notes += people.coverage_lines(results.coverage.people)
    notes += filter(None, [people.pace_words(results.pace)])
    for section in results.found_sections:
        notes += section.lines()
    notes += spending_lines(results.spending)
    return Display((*parts, tuple(notes), tuple(map(notice_line, _below(results)))))


def _stands_on(results: StudyResults) -> Sequence[str]:
    of_sections = (section.stands_on() for section in results.found_sections)
    return _heading(results), _coverage_words(results), *of_sections


def _heading(results: StudyResults) -> str:
    made = results.provenance
    board, ratings = results.leaderboard, results.ratings
    items = "; ".join(made.consent_bases).rstrip(".")
    title = f"{made.study}, version {made.version}. Items: {items}."
    if ratings is not None:
        by = "Rated by"
        counts = {"rating": ratings.n_ratings, "reply": ratings.n_completions}
        counts |= {"item": ratings.n_items}
    elif board is not None:
        by = "Judged by"
        counts = {"judgment": board.n_judgments, "tie": board.n_ties, "item": board.n_items}
    else:
        return title
    who = people.raters_words(results.coverage, board.judged_by if board else "both")
    return f"{title} {by} {who}: {counts_words(**counts)}."


def _coverage_words(results: StudyResults) -> str:
    totals, coverage = coverage_totals(results.coverage), results.coverage
    answers = "judgments" if results.ratings is None else "ratings"
    words = (
        f"There are {count(totals.n_written)} of {count(totals.n_wanted)} replies, "
        f"{count(totals.n_judged)} of {count(totals.n_assigned)} {answers}"
    )
    if results.ratings is not None:
        return f"{words}."
    return (
        f"{words}, {count(coverage.n_system_pairs)} of {count(coverage.n_system_pairs_possible)} "
        "pairs of systems."
    )


def next_step(results: StudyResults, study_file: str) -> str:
    """Say what to do next: finish, test the judges, or read.

    Args:
        results: What a study has found.
        study_file: Its file, as a shell takes it.
    """
    unfinished = _unfinished(results, study_file)
    if unfinished:
        return unfinished
    if _wants_people(results.coverage.people):
        return f"let people take part: heart serve {study_file}"
    if results.coverage.is_all_identical:
        return f"change a prompt or take another model in {study_file}, and run it again"
    if results.ratings is None and results.leaderboard is None:
        is_asked = results.headline is not None and results.headline.asked is not None
        otherwise = f", or take headline out of [analysis] in {study_file}" if is_asked else ""
        return f"ask for more items in {study_file}, and run it again{otherwise}"
    if results.judge_notice:
        return f"name a model and a model as judge in {study_file}, and run it again"
    waiting = (section.next_step(study_file) for section in results.found_sections)
    read = f"read the replies behind the numbers: heart report {study_file} --open"
    return next(filter(None, waiting), read)


def _wants_people(people: PeopleCoverage | None) -> bool:
    """Say whether a study waits for people: no pair has enough, or an item has no reply."""
    if people is None:
        return False
    is_unjudged = people.wanted_per_pair is not None and not people.n_pairs_full
    return is_unjudged or any(0 in dict(one.n_items_by_completions) for one in people.writers)


def _unfinished(results: StudyResults, study_file: str) -> str | None:
    """Say how what is missing may come, of that which running again helps first; None if done."""
    if unreached := dict.fromkeys(one.name for one in results.failures if one.is_address):
        return (
            f"nothing of {listed([*unreached])} came; mend base_url (http://HOST/v1) or the model's"
            f" name in {study_file}, or start the server, and run it again"
        )
    coverage = results.coverage
    asked = [row for row in coverage.judges if row.kind != "human"]
    main = {failure.name: failure.main_cause for failure in results.failures}
    useless = [name for name, cause in main.items() if cause and cause.outlook == "given-up"]
    # What a model without a single usable reply was not asked any more, no other run gets from it.
    hopeless = {one.name for one in results.failures if one.is_total and one.name in useless}
    systems = [(row.system, row.causes) for row in coverage.systems if row.kind != "human"]
    judges = [(row.rater, row.causes) for row in asked]
    causes = [c for name, own in (*systems, *judges) if name not in hopeless for c in own]
    outlooks = {cause.outlook for cause in causes if cause.reason != NOT_IMPORTED}
    if "may-pass" not in outlooks and useless:
        return f"take another model for {listed(useless)} in {study_file}, and run it again"
    is_unjudged = bool(asked) and not any(judge.n_judged for judge in asked)
    if "may-pass" in outlooks or (is_unjudged and not coverage.is_all_identical):
        return f"finish what is missing: heart run {study_file}"
    if "fails-again" in outlooks:
        return f"mend what keeps failing, then finish: heart run {study_file}"
    if any(cause.reason == NOT_IMPORTED for cause in causes):
        return f"bring in what was made elsewhere: heart import {study_file} FILE"
    return None
