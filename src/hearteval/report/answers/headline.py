"""What every display of a study begins with: who leads and what is open, and what limits it."""

from collections import Counter
from collections.abc import Sequence

from hearteval.analysis.ranking.anchored import AnchoredRanking, Places, open_places
from hearteval.analysis.ranking.leaderboard import Leaderboard
from hearteval.analysis.scores.study import RatingResults
from hearteval.analysis.study import StudyResults
from hearteval.notices import Kind, Notice, by_severity, simulated_line
from hearteval.report.answers.answer import NARROWING, Answer, answer, first_place_words
from hearteval.report.answers.mine import answer_of_mine, baseline_words, whose, without_place
from hearteval.report.answers.two_systems import answer_of_two, shares_of_two
from hearteval.report.text import listed, plural

MAX_NAMED = 3
"""Systems named in a sentence; more are counted."""


def sentence(results: StudyResults) -> Answer:
    """Say who leads and what is open, or why nothing can be said."""
    board, ratings, two = results.leaderboard, results.ratings, shares_of_two(results)
    if two is not None:
        return answer_of_two(results, two)
    if board is not None and (own := answer_of_mine(results, board)) is not None:
        return own
    if board is not None:
        said = _who_leads(board, results)
        return said if results.mine is None else without_place(results.mine, said)
    if ratings is None:
        return _without_ranking(results)
    if not ratings.systems:
        return Answer("There are no scores.", "There is no rating yet.")
    return _who_scores_best(ratings)


def _without_ranking(results: StudyResults) -> Answer:
    coverage = results.coverage
    if not coverage.is_all_identical:
        return Answer("There is no ranking.", _full_sentence(results.leaderboard_problem or ""))
    who = listed([row.system for row in coverage.systems if row.n_completions])
    return Answer(
        f"{who} gave the same reply to all that they answered.",
        f"So there is nothing to judge: {plural(coverage.n_identical, 'pair')} of replies are the"
        " same.",
    )


def _who_leads(board: Leaderboard, results: StudyResults) -> Answer:
    """Say who leads; offline baselines lead nobody, but none that could is left unsaid."""
    if results.leading is not None:
        return _who_leads_anchored(results.leading, board, results)
    real = [row for row in board.rows if row.kind != "baseline"]
    rows = real if len(real) > 1 and board.differences else board.rows
    names = [row.system for row in rows]
    places = [row.weighted for row in rows] if rows is board.rows else _places(board, names)
    said = answer(names, places, board.warnings)
    also = "" if len(rows) == len(board.rows) else baseline_words(board, names[0])
    lead = f"By {whose(results, board)} votes, {_inside(said.lead)}"
    return said._replace(lead=lead, rest=f"{said.rest} {also}".strip())


def _who_leads_anchored(
    found: AnchoredRanking, board: Leaderboard, results: StudyResults
) -> Answer:
    real = [row for row in found.placed if row.kind != "baseline"]
    rows = real if len(real) > 1 else found.placed
    narrow = [one for one in board.warnings if one.kind in NARROWING]
    said = answer([row.system for row in rows], open_places(rows), narrow)
    return said._replace(lead=f"By {whose(results, board)} votes, {_inside(said.lead)}")


def _places(board: Leaderboard, names: Sequence[str]) -> list[Places]:
    """Return the places of some systems among themselves, the others left out."""
    n_others = len(board.rows) - len(names)
    above, below = Counter[str](), Counter[str]()
    for row in board.differences:
        ends = (row.system, row.other) if row.elo > 0 else (row.other, row.system)
        if not row.is_open(board.level):
            above[ends[1]] += ends[0] not in names
            below[ends[0]] += ends[1] not in names
    return [
        Places(at.rank_low - above[name], max(at.rank_high - n_others + below[name], 1))
        for name, at in ((row.system, row.weighted) for row in board.rows)
        if name in names
    ]


def _inside(lead: str) -> str:
    """Return an answer as it stands inside a sentence; it may begin with a name."""
    is_ours = lead.startswith(("Nothing is settled", "Any of ", "Over all comparisons, "))
    return lead[:1].lower() + lead[1:] if is_ours else lead


def votes_words(results: StudyResults) -> str:
    """Say whose votes the ranking is by, and whose it is not; nothing without one."""
    board, voters = results.leaderboard, results.headline
    if board is None:
        return ""
    n_judges = board.n_raters - board.n_people
    who = [plural(board.n_people, "person", "people")] * bool(board.n_people)
    who += [plural(n_judges, "judge")] * bool(n_judges)
    half = ", each kind half of the weight where both judged a pair" if len(who) > 1 else ""
    said = f"Votes: {listed(who)}{half}."
    if results.leading is not None:
        return _anchored_words(results, f"{listed(who)}{half}")
    if voters is None or not voters.n_left_out:
        return said
    others = "judges" if voters.beside == "people" else "people"
    n = plural(voters.n_left_out, "judgment")
    return f"{said} Not among them: {n} by {others}, who rank apart."


def _anchored_words(results: StudyResults, beside: str) -> str:
    """Say whose votes anchored strengths are by; `beside`, whose the wins next to them."""
    raters = [one for one in results.coverage.judges if one.n_judged]
    n_people = sum(one.kind == "human" for one in raters)
    people, judges = plural(n_people, "person", "people"), plural(len(raters) - n_people, "judge")
    wins = "" if beside == people else f" Wins: {beside}."
    return (
        f"Elo: votes of {people}, moved by those of {judges} as far as these have shown that they"
        f" know people's mind.{wins}"
    )


def first_words(results: StudyResults) -> str:
    """Say that the first may be high in part for being first; nothing where it is not high.

    Anchored strengths are drawn to the middle for that.
    """
    board = results.leaderboard
    if board is None or results.leading is not None:
        return ""
    return first_place_words(
        len(board.rows),
        board.rows[0].weighted.low,
        interval=board.interval_used,
        df=board.df,
        level=board.level,
    )


def _who_scores_best(ratings: RatingResults) -> Answer:
    first, *others = ratings.systems
    reaching = [row for row in others if _reaches(row.overall.z_high, first.overall.z_low)]
    near = [row.system for row in reaching]
    lacks = any(row.overall.z_high is None for row in (first, *reaching))
    lead = f"{first.system} has the highest scores."
    if not near:
        return Answer(lead, "Its interval lies above those of all others." if others else "")
    if len(near) == len(others):
        why = "without an interval for each" if lacks else "all intervals overlap with its own:"
        return Answer(lead, f"But {why} the order is open.")
    names = listed(near) if len(near) <= MAX_NAMED else plural(len(near), "other system")
    if lacks:
        return Answer(lead, f"But it is open whether it is above {names}: an interval is lacking.")
    return Answer(lead, f"But its interval overlaps with {_those_of(near)} {names}.")


def _those_of(names: Sequence[str]) -> str:
    return "that of" if len(names) == 1 else "those of"


def _reaches(high: float | None, low: float | None) -> bool:
    return high is None or low is None or high >= low


def _full_sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:].removesuffix('.')}." if words else ""


def first_line(results: StudyResults) -> tuple[str, ...]:
    """Return what stands before everything else; nothing where the study is real."""
    return simulated_line(results.warnings)


def results_notices(results: StudyResults) -> tuple[Notice, ...]:
    """Return all that limits a study's results, the most serious first."""
    board, ratings = results.leaderboard, results.ratings
    said = [*results.warnings, *(board.warnings if board else ())]
    said += ratings.warnings if ratings else ()
    if results.judge_notice:
        said.append(Notice(Kind.BASELINE_JUDGE, results.judge_notice))
    problems = board.axis_problems if board else {}
    said += [Notice(Kind.AXIS, f"Axis {axis}: {why}") for axis, why in problems.items()]
    for section in results.found_sections:
        said += section.shown_notices()
    return by_severity(said)


def news(notices: Sequence[Notice], said: Answer) -> tuple[Notice, ...]:
    """Return the most serious notice, and the one that the answer speaks of.

    Beside what a judge is, also what denies the answer. That all is simulated stands above it.
    """
    notices = [one for one in notices if one.kind is not Kind.SIMULATED]
    n_judge = sum(one.kind is Kind.BASELINE_JUDGE for one in notices)
    shown = notices[: n_judge or 1]
    if n_judge:
        shown += [one for one in notices[n_judge:][:1] if one.kind.order <= Kind.LEADER_LOSES.order]
    if said.warning and said.warning not in shown:
        shown.append(said.warning)
    return tuple(shown)
