"""How a result was made, as a paragraph to cite, and what it is not.

The paragraph is made of the settings that were really used, so it is true for every design.
"""

from collections.abc import Mapping

from hearteval.analysis.briefs import uneven_rules
from hearteval.analysis.ranking.anchored import AnchoredRanking
from hearteval.analysis.ranking.intervals import OVER_RATERS, OVER_WRITERS
from hearteval.analysis.ranking.leaderboard import Leaderboard
from hearteval.analysis.ranking.warnings import given_writers
from hearteval.analysis.scores.study import RatingResults
from hearteval.analysis.study import StudyResults
from hearteval.domain import Axis, renamed_axes
from hearteval.report.answers.headline import first_line
from hearteval.report.leaderboard import WHO
from hearteval.report.text import (
    bare_percent,
    count,
    level_percent,
    listed,
    percent,
    plural,
    probability,
    whole,
)

PROTOCOL_WORDS = {
    "forced-strength": "a winner was forced, with a strength from 1 to 5",
    "five-point": "answers were on five points, the middle one being a tie",
    "rating": "each reply was scored by itself from 1 to 5 on each axis",
}
RUBRIC_WORDS = {
    "hearteval": "hearteval's",
    "paper": "that of HEART's Table 2, in hearteval's words",
    "own": "one of this study's own",
}
"""What is said of the rubric that judges were shown, by its name."""
TIES = {"half": "half a win to each side", "davidson": "by Davidson's model", "drop": "left out"}
BRIEF_WORDS = {
    "paper": "had the plain brief of HEART 9.4",
    "matched": "had the task text that people are given",
    "people": "read the project's task page",
    "own": "had a brief of this study's own",
    "unknown": "answered elsewhere, to a prompt that this study did not set",
}
"""What is said of who had a brief, by its name."""
WRITERS = {"people": "people", "model": "a language model"}
"""Who wrote the recorded replies, as `Provenance.recorded_by` says it."""


def own_axis_names(results: StudyResults) -> Mapping[Axis, str]:
    """Return what a rubric of the study's own calls its axes; nothing without one."""
    return renamed_axes(results.axis_names)


def limits(results: StudyResults) -> tuple[tuple[str, str], ...]:
    """Say what the numbers are not: a claim and what is meant, as every report must (SPEC 15)."""
    return (
        _human_baseline(results),
        (
            "Perceived, not experienced.",
            "They say how empathic a reply reads to these raters, not what any system or person"
            " felt.",
        ),
        (
            "Not safety.",
            "Preference is not safety. A HEART score certifies nothing for use in a crisis.",
        ),
        (
            "Not for everyone.",
            "They hold for the languages and norms of these items, and are not broken down by"
            " vulnerable groups; a system may do well overall and fail the people who most need"
            " care.",
        ),
        (
            "Not apart from their conditions.",
            "They come from these items, raters, protocols and settings; others would give other"
            " numbers.",
        ),
        (
            "Not a licence to deploy.",
            "Whoever deploys a system must disclose that it is an AI, and its limits.",
        ),
    )


def _human_baseline(results: StudyResults) -> tuple[str, str]:
    """Say whom the systems are to be compared with: people who took part, or recorded replies."""
    board, ratings = results.leaderboard, results.ratings
    ranked = ratings.systems if ratings else board.rows if board else ()
    people = [row.system for row in ranked if row.kind == "human"]
    recorded = [row.system for row in ranked if row.kind == "original"]
    if people:
        return (
            "Not apart from people.",
            f"Read every number beside the people\u2019s: {listed(people)}.",
        )
    beside = f"{listed(recorded)} holds the replies recorded in the items"
    by = results.provenance.recorded_by
    nobody = "Nobody took part as a writer in this study"
    if recorded and by == "people":
        return (
            "Not apart from people.",
            f"{nobody}, but {beside}, and people wrote those: read every number beside theirs. They"
            " wrote them in live conversations, not for this comparison.",
        )
    closed = "Not for claims to the public."
    if recorded and by == "model":
        return (
            closed,
            f"{nobody}. {beside}, and a language model wrote those: no person to compare with.",
        )
    if recorded:
        return (
            closed,
            f"{nobody}. {beside}; they are a human baseline only if people wrote them. Of the items"
            f" it is known: {'; '.join(results.provenance.consent_bases).rstrip('.')}.",
        )
    return closed, f"{nobody}, and no recorded replies are ranked: there is nobody to compare with."


def _pilot_words(n_pilot: int) -> list[str]:
    """Say that the people of a pilot are left out; nothing where there was none."""
    if not n_pilot:
        return []
    came = plural(n_pilot, "person", "people")
    return [f"{came[:1].upper()}{came[1:]} came in a pilot; none of their answers is counted."]


def paragraph(results: StudyResults) -> str:
    """Return the methods as a paragraph that can be cited."""
    made = results.provenance
    coverage = results.coverage
    subsets = ", ".join(f"{count(n)} {subset}" for subset, n in coverage.n_items.items())
    items = plural(sum(coverage.n_items.values()), "item")
    systems = ", ".join(row.system for row in coverage.systems)
    what = "stand beside each other on" if made.simulated else "continued the dialogues of"
    parts = [
        *first_line(results),
        f"{plural(len(coverage.systems), 'system')} ({systems}) {what} {items}"
        f" ({subsets}; {made.item_source}), following HEART (arXiv 2601.19922).",
        _told(results),
        *_pilot_words(made.n_pilot),
        _asked(results),
        _missing(results),
    ]
    if results.leading is not None:
        parts += [_anchored(results.leading)]
    if results.leaderboard is not None:
        parts += _ranking(results.leaderboard)
    elif results.ratings is not None and results.ratings.systems:
        parts += _scores(results.ratings)
    else:
        parts.append("No ranking was computed.")
    software = made.software
    names = [
        f"{name} {software[name]}" for name in ("hearteval", "numpy", "scipy") if name in software
    ]
    parts.append(
        f"Computed with {listed(names)}; study {made.study}, version {made.version}, seed"
        f" {made.seed}, texts of the protocol version {made.protocol_version}, items SHA-256"
        f" {made.items_hash[:12]}, settings SHA-256 {made.settings_hash[:12]}."
    )
    return " ".join(filter(None, parts)).replace("\N{NO-BREAK SPACE}", " ")


def _told(results: StudyResults) -> str:
    """Say what writers were asked for, and which rules only some of them had."""
    words = [f"{listed(use.systems)} {BRIEF_WORDS[use.brief]}." for use in results.briefs]
    known = [use for use in results.briefs if use.rules]
    uneven = {rule for rule, _ in uneven_rules(known)}
    shared = [rule for rule in known[0].rules if rule not in uneven] if known else []
    if shared:
        others = [name for use in results.briefs if not use.rules for name in use.systems]
        who = f"All but {listed(others)}" if others else "All"
        words.append(f"{who} were asked: {'; '.join(shared)}.")
    rules: dict[tuple[str, ...], list[str]] = {}
    for rule, systems in uneven_rules(results.briefs):
        rules.setdefault(systems, []).append(rule)
    for systems, own in rules.items():
        words.append(f"Rules that only {listed(systems)} had: {'; '.join(own)}.")
    return " ".join(words)


def _asked(results: StudyResults) -> str:
    made, judges = results.provenance, results.coverage.judges
    models = [
        j.rater + (" (an offline counter of hand-set words)" if j.is_baseline else "")
        for j in judges
        if j.kind != "human"
    ]
    n_people = sum(judge.kind == "human" for judge in judges)
    who = listed([*([plural(n_people, "person", "people")] if n_people else []), *models])
    protocols = "; ".join(
        f"{name}{f' ({PROTOCOL_WORDS[name]})' if name in PROTOCOL_WORDS else ''}"
        for name in dict.fromkeys(made.protocols.values())
    )
    rubrics = listed([RUBRIC_WORDS[name] for name in made.rubrics])
    rubric = f" Rubric of the judges: {rubrics}." if rubrics else ""
    answers = "ratings" if results.ratings else "judgments"
    judged = "Answers were drawn for" if made.simulated else "Judging was blind, by"
    n, of = sum(j.n_judged for j in judges), sum(j.n_assigned for j in judges)
    return (
        f"{judged} {who}; protocol: {protocols}.{rubric} Design: {made.design}."
        f" {count(n)} of {count(of)} {answers} were given."
    )


def _missing(results: StudyResults) -> str:
    lacking = [
        f"{row.system} {count(row.n_items - row.n_completions)}"
        for row in results.coverage.systems
        if row.n_completions < row.n_items
    ]
    return f"Replies missing: {', '.join(lacking)}." if lacking else "No reply was missing."


def _anchored(found: AnchoredRanking) -> str:
    drawn = "" if found.share_drawn is None else f" ({percent(found.share_drawn)} of the judges')"
    return (
        "Systems are ranked as people would with more votes: strengths by people's judgments are"
        " regressed on those by judges', with a term for each kind of system and normal deviations"
        f" (SD {whole(found.tau_elo)} Elo, integrated over a flat prior); the pairs that people"
        f" judged are a random draw{drawn}. {level_percent(found.level)} intervals allow for any"
        " one system being misjudged. The same without a judge stands beside it, and so does the"
        " ranking by judgments alone:"
    )


def _ranking(board: Leaderboard) -> list[str]:
    level = level_percent(board.level)
    over = {
        "three-way": "clustered over items, people who judge and people who write",
        "two-way": "clustered over items and people",
        "item-writer": "clustered over items and people who write, for the raters as given",
    }.get(board.interval_used, "clustered over items, for the raters as given")
    if given_writers(board.n_writers):
        over += f"; people's replies {given_writers(board.n_writers)}"
    fit = board.fit
    words = [
        f"Strengths are those of a Bradley\u2013Terry model of {count(board.n_judgments)} judgments"
        f" by {WHO[board.judged_by]} ({count(board.n_ties)} ties,"
        f" {TIES.get(board.ties, board.ties)}), weighted by strength as in HEART, on the Elo scale"
        " (mean 1500).",
        "People and judges have the same total weight in each pair that both judged."
        if board.judged_by == "both"
        else "",
        f"{level} intervals are {board.interval_used} ({over}), Student's t with"
        f" {plural(board.df, 'degree', 'degrees')} of freedom, or a system's own items"
        f"{' or people' if board.interval_used in OVER_RATERS else ''}"
        f"{' or writers' if board.interval_used in OVER_WRITERS else ''} less one where"
        " these are fewer. Places that stay open come from all differences at once: step-down"
        f" max-t, by which in at most {100 * (1 - board.level):.2g} % of studies any system is put"
        " above another wrongly.",
    ]
    if any(row.axes for row in board.rows):
        words.append("Standings by axis weigh every judgment alike.")
    gap = (
        "With every judgment counting once, predicted and observed wins of pairs differ by"
        f" {bare_percent(fit.rms_gap)} points (root mean square)"
    )
    test = fit.lack_of_fit
    if test is not None and test.p is not None and fit.expected_rms_gap is not None:
        p = probability("p", test.p)
        by_chance = bare_percent(fit.expected_rms_gap)
        gap += f", {by_chance} being expected by chance (test over items, {p})"
    return [*words, f"{gap}."]


def _scores(ratings: RatingResults) -> list[str]:
    weights = (
        "equal weights"
        if len(set(ratings.weights.values())) == 1
        else "weights "
        + ", ".join(f"{axis} {weight:g}" for axis, weight in ratings.weights.items())
    )
    how = {
        "three-way": "clustered over items, over people who rate and over people who write",
        "two-way": "clustered over items and over people",
        "item-writer": "clustered over items and over people who write, for the raters as given",
    }.get(ratings.interval_used, "clustered over items, for the raters as given")
    return [
        f"Scores are means over items of {count(ratings.n_ratings)} ratings by"
        f" {WHO[ratings.rated_by]}, raw and as z-scores within each rater and axis; overall over"
        f" the axes with {weights}. {level_percent(ratings.level)} intervals are"
        f" {ratings.interval_used} ({how}), Student's t."
    ]
