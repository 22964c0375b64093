"""The answer of a study that is asked about one system: its place, and whom it is preferred to."""

from collections.abc import Sequence

from hearteval.analysis.ranking.anchored import open_places
from hearteval.analysis.ranking.leaderboard import Leaderboard
from hearteval.analysis.ranking.shares import HALF, Share, Shares
from hearteval.analysis.study import StudyResults
from hearteval.report.answers.answer import TOO_NARROW, Answer, narrowing
from hearteval.report.answers.two_systems import MAX_NAME, is_settled, percent_words, share_ends
from hearteval.report.text import level_percent, listed, ranks, shortened_names

YARDSTICKS = ("original", "human")
"""Kinds of systems that one's own is compared with where the study names none, the first first."""


def answer_of_mine(results: StudyResults, board: Leaderboard) -> Answer | None:
    """Say where one's own system stands; None where there is none, or where it is not ranked."""
    mine, shares = results.mine, results.shares
    own = next((row for row in board.rows if row.system == mine), None)
    if mine is None or own is None or shares is None:
        return None
    place, n = ranks(own.weighted.rank_low, own.weighted.rank_high), len(board.rows)
    if results.leading is not None:
        rows = results.leading.placed
        places = dict(zip((row.system for row in rows), open_places(rows), strict=True))
        place, n = ranks(*places[mine]), len(rows)
    name = dict(zip((row.system for row in board.rows), _names(board), strict=True))
    against = results.against or _yardstick(board, mine)
    real = [row.system for row in board.rows if row.kind != "baseline" and row.system != mine]
    others = dict.fromkeys([*([against] if against else []), *real[:1]])
    said = [_pair_words(shares, mine, other, name[other]) for other in others if other in name]
    warning = narrowing(board.warnings)
    rest = [*said, baseline_words(board, mine), TOO_NARROW if warning else ""]
    lead = f"{name[mine]}: place {place} of {n}, by {whose(results, board)} votes."
    return Answer(lead, " ".join(filter(None, rest)), warning)


def whose(results: StudyResults, board: Leaderboard) -> str:
    """Say whose votes the ranking at the top is by."""
    if results.leading is not None:
        return "people's and, as far as they help, judges'"
    people = "one person's" if board.n_people == 1 else "people's"
    judges = "one judge's" if board.n_raters - board.n_people == 1 else "judges'"
    return {"people": people, "judges": judges}.get(board.judged_by, f"{people} and {judges}")


def without_place(mine: str, said: Answer) -> Answer:
    """Say first that one's own system has no place, then what is known of the others."""
    lead = f"{mine} has no place in the ranking: see what is missing."
    return said._replace(lead=lead, rest=f"{said.lead} {said.rest}".rstrip())


def _names(board: Leaderboard) -> list[str]:
    return shortened_names([row.system for row in board.rows], MAX_NAME)


def _yardstick(board: Leaderboard, mine: str) -> str | None:
    """Return the system that stands for what people say: recorded replies, or people who wrote."""
    kinds = {row.kind: row.system for row in reversed(board.rows) if row.system != mine}
    return next((kinds[kind] for kind in YARDSTICKS if kind in kinds), None)


def _pair_words(shares: Shares, mine: str, other: str, name: str) -> str:
    """Say which of the two is preferred; nothing where they never met."""
    found = next((one for one in shares.pairs if {one.system, one.other} == {mine, other}), None)
    if found is None or found.low is None:
        return ""
    pair = found if found.system == mine else found.of_other()
    if not is_settled(pair, shares.level):
        return f"Against {name} it is open: preferred in {_figures(pair, shares)}."
    if pair.value < HALF:
        return f"{name} is preferred to it in {_figures(pair.of_other(), shares)}."
    return f"It is preferred to {name} in {_figures(pair, shares)}."


def _figures(pair: Share, shares: Shares) -> str:
    ends = f"{level_percent(shares.level)} interval {share_ends(pair)}"
    return f"{percent_words(pair.value)} of comparisons ({ends})"


def baseline_words(board: Leaderboard, system: str) -> str:
    """Say which offline baselines are above a system, or not told apart from it."""
    is_baseline = {row.system for row in board.rows if row.kind == "baseline"} - {system}
    above, apart = [], []
    for row in board.differences:
        other = row.other if row.system == system else row.system
        if system not in (row.system, row.other) or other not in is_baseline:
            continue
        if row.is_open(board.level):
            apart.append(other)
        elif (row.elo > 0) == (row.system == other):
            above.append(other)
    said = ((above, "above"), (apart, "not told apart from"))
    return " ".join(
        f"The offline {_baselines(names)} {words} {system}." for names, words in said if names
    )


def _baselines(names: Sequence[str]) -> str:
    return f"baseline {names[0]} is" if len(names) == 1 else f"baselines {listed(names)} are"
