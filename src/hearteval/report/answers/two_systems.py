"""A study of two systems is a question of its own: which of the two is preferred, and how surely.

No ranking is needed for it, so it is answered also where none can be had.
"""

from collections.abc import Mapping, Sequence

from hearteval.analysis.ranking.shares import Settling, Share, Shares
from hearteval.analysis.study import StudyResults
from hearteval.domain import Axis
from hearteval.report.answers.answer import TOO_NARROW, Answer, narrowing
from hearteval.report.figures import HALF_WON
from hearteval.report.table import Bar, Column, Table, tabulate
from hearteval.report.text import (
    NO_BREAK_SPACE,
    count,
    level_percent,
    listed,
    plural,
    shortened_names,
    whole_percent,
)

MAX_NAME = 32
"""Columns of a system's name in a sentence."""
MAX_RATERS = 3
"""Judges named in a sentence; more are counted."""
COUNTED = "Every comparison counts once, a tie half."
HALVES = "Where people and judges judged one pair, each kind counts half of it."
OPEN = "open"


def shares_of_two(results: StudyResults) -> Shares | None:
    """Return the shares of a study of two systems; None of another, and without a judgment.

    Nor where the study asks for a ranking that two systems cannot have.
    """
    is_of_two = len(results.win_rates) == 2
    if results.headline is not None and results.headline.by == "anchored":
        return None
    return results.shares if is_of_two and results.shares and results.shares.pairs else None


def answer_of_two(results: StudyResults, shares: Shares) -> Answer:
    """Say which of two systems is preferred, in what share, and what is open."""
    pair = shares.pairs[0]
    assert pair.other is not None, "a pair has another system"
    one, other = shortened_names((pair.system, pair.other), MAX_NAME)
    where = f"by {_raters(results)} on {plural(pair.n_items, 'dialogue')}"
    n_same = results.coverage.n_identical
    is_many = any(row.kind == "human" for row in results.coverage.systems)
    same = _same_words(n_same, is_many=is_many)
    board = results.leaderboard
    warning = narrowing(board.warnings if board else ())
    said = f"{percent_words(pair.value)} of comparisons ({interval_words(pair, shares.level)})"
    if is_settled(pair, shares.level):
        lead = f"{one} is preferred to {other}: {said}, {where}."
        if same:
            lead = f"Where they differ, {lead}"
        rest = [same, _other_order(results, pair)]
    else:
        lead = f"Open: {one} is preferred to {other} in {said}, {where}."
        if whole_percent(pair.value) == "50":
            lead = f"Open: neither {one} nor {other} is preferred: {said} each, {where}."
        rest = [
            same,
            _possible(pair, one),
            settling_words(shares.settling, pair, 0 if is_many else n_same),
        ]
    return Answer(lead, " ".join(filter(None, (*rest, TOO_NARROW if warning else ""))), warning)


def _same_words(n: int, *, is_many: bool) -> str:
    """Say how often both replies are the same, so that nobody was asked.

    Where people write, there may be many replies to a dialogue (`is_many`).
    """
    if not n:
        return ""
    if is_many:
        return f"{plural(n, 'more pair')} of replies are the same, and nobody judged them."
    return f"On {plural(n, 'more dialogue')} both gave the same reply, which nobody judged."


def is_settled(share: Share, level: float) -> bool:
    """Return whether a share is clear of one half, all of its family counted."""
    return share.q is not None and share.q <= 1 - level


def interval_words(share: Share, level: float) -> str:
    """Write the interval of a share and its p, or why there is none."""
    if share.low is None or share.high is None:
        return share.reason or ""
    ends = share_ends(share)
    p = "" if share.p is None else f", {p_words(share.p)}"
    return f"{level_percent(level)} interval {ends}{p}"


def share_ends(share: Share) -> str:
    """Write both ends of an interval; nothing without one."""
    if share.low is None or share.high is None:
        return ""
    return f"{whole_percent(share.low)}\N{EN DASH}{percent_words(share.high)}"


def p_words(p: float) -> str:
    """Write p."""
    written = "< .001" if p < 0.001 else f"{p:.3f}".replace("0.", ".", 1)
    return f"p{NO_BREAK_SPACE}{written}".replace(" ", NO_BREAK_SPACE)


def settling_words(settling: Settling | None, pair: Share, n_same: int = 0) -> str:
    """Say what would settle a difference of five points; nothing where nothing varies.

    On `n_same` dialogues more the replies are the same, and of further ones as many will be.
    """
    if settling is None:
        return ""
    if settling.n_items is None:
        who = "people who judge" if settling.limited_by == "people" else "people who write"
        return f"A difference of 5 points may take more {who}, not only more dialogues."
    about, more = _round(settling.n_items), settling.n_items - pair.n_items
    if more <= 0:
        return "A difference of 5 points would show."
    if n_same:
        in_all = _round(round(settling.n_items * (1 + n_same / pair.n_items)))
        return (
            f"About {count(about)} dialogues on which they differ would settle a difference of 5"
            f" points: about {count(in_all)} in all."
        )
    return (
        f"About {count(about)} dialogues would settle a difference of 5 points"
        f" ({count(_round(more))} more)."
    )


def share_table(shares: Shares, names: Mapping[Axis, str], *, by_both: bool = False) -> Table:
    """Return the share of one of two systems overall and on each axis, as a terminal shows it."""
    pair = shares.pairs[0]
    rows = [pair, *shares.axes]
    heading = f"{level_percent(shares.level)} interval"
    name = shortened_names((pair.system, pair.other or ""), MAX_NAME)[0]
    return tabulate(
        rows,
        [
            (Column("", "name"), lambda row: name_of(row, names)),
            (Column("preferred"), lambda row: whole_percent(row.value)),
            (Column(heading, "bar", centre=HALF_WON), _bar),
            (Column("", "text"), lambda row: "" if is_settled(row, shares.level) else OPEN),
        ],
        caption=f"How often {name} is preferred, %",
        notes=[COUNTED, HALVES * by_both, open_words(rows, shares.level)],
    )


def name_of(share: Share, names: Mapping[Axis, str]) -> str:
    """Return what a share is of: an axis, or all."""
    return "overall" if share.axis is None else names[share.axis]


def open_words(rows: Sequence[Share], level: float) -> str:
    """Say what "open" means, where anything is."""
    if all(is_settled(row, level) for row in rows):
        return ""
    return (
        f"{OPEN}: chance may give as much; axes are counted together (Benjamini and Hochberg), so"
        " that an interval clear of 50 may still be open."
    )


def _bar(row: Share) -> Bar:
    low, high = (None if end is None else 100 * end for end in (row.low, row.high))
    return Bar(low, 100 * row.value, high, percent_words(row.value))


def _possible(pair: Share, name: str) -> str:
    """Say how large a difference is still possible on either side."""
    if pair.low is None or pair.high is None:
        return ""
    better, worse = round(100 * pair.high) - 50, 50 - round(100 * pair.low)
    return f"{name} may be up to {better} points better or {worse} worse."


def _other_order(results: StudyResults, pair: Share) -> str:
    """Say where judgments weighted by strength have the other first."""
    board = results.leaderboard
    if board is None or board.rows[0].system == pair.system:
        return ""
    return f"Weighted by how strong each preference was, {board.rows[0].system} is ahead."


def _raters(results: StudyResults) -> str:
    """Name the judges who voted, few as they are, and count the people."""
    voters = results.headline
    by = "both" if voters is None else voters.by
    raters = [one for one in results.coverage.judges if one.n_judged]
    n_people = sum(one.kind == "human" for one in raters) if by != "judges" else 0
    judges = [one.rater for one in raters if one.kind != "human"] if by != "people" else []
    named = judges if len(judges) <= MAX_RATERS else [plural(len(judges), "judge")]
    return listed([*([plural(n_people, "person", "people")] if n_people else []), *named])


def percent_words(share: float) -> str:
    """Write a share as whole percent."""
    return f"{whole_percent(share)}{NO_BREAK_SPACE}%"


def _round(n: int) -> int:
    """Return a number of dialogues as far as it can be known: two digits."""
    step: int = 10 ** max(0, len(str(n)) - 2)
    return round(n / step) * step
