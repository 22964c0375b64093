"""A check of a printed table, and two rankings side by side, in words and as tables."""

from hearteval.analysis.ranking.checks.published import Concordance, SelfCheck
from hearteval.report.table import Column, Display, Table, tabulate
from hearteval.report.text import (
    bare_percent,
    interval,
    level_percent,
    listed,
    percent,
    plural,
    shortened,
    signed,
    small,
    whole,
)

NO_CULPRIT = (
    "Its Elo and its win rates may come from different raters (people or judges), other votes or"
    " other weights: this shows that they do not match, not which is wrong."
)
MAX_NAME, MAX_LISTED, MAX_MOVES = 40, 5, 10


def self_check_display(check: SelfCheck) -> Display:
    """Say whether a table agrees with itself, and show every system."""
    return Display((self_check_words(check), _systems_table(check)))


def self_check_words(check: SelfCheck) -> tuple[str, ...]:
    """Say how far win rates are from what Elo implies, and what would bring them nearer."""
    worst = next(row for row in check.systems if row.system == check.largest)
    name = shortened(worst.system, MAX_NAME)
    agrees = "agrees" if check.agrees else "does not agree"
    lines = [
        f"The table {agrees} with itself. Its win rates are {bare_percent(check.rms_gap)} points"
        f" (root mean square) from what its Elo implies, {bare_percent(check.max_gap)} at most:"
        f" {name} has {percent(worst.win_rate)}, and its Elo implies {percent(worst.expected)}."
    ]
    if not check.agrees:
        lines.append(
            f"Strengths {check.factor:.2f} times as far apart would leave"
            f" {bare_percent(check.rms_gap_at_factor)} points,"
            f" {bare_percent(check.max_gap_at_factor)} at most."
        )
        lines.append(NO_CULPRIT)
    if check.out_of_order:
        pairs = [f"{a} above {b}" for a, b in check.out_of_order[:MAX_LISTED]]
        n = len(check.out_of_order)
        more = f" and {n - MAX_LISTED} more" if n > MAX_LISTED else ""
        lines.append(
            f"{plural(n, 'pair stands', 'pairs stand')} in another order by Elo than by win rate:"
            f" {'; '.join(pairs)}{more}."
        )
    return tuple(lines)


def _systems_table(check: SelfCheck) -> Table:
    return tabulate(
        check.systems,
        [
            (Column("system", "name", max_width=MAX_NAME), lambda row: row.system),
            ("Elo", lambda row: whole(row.elo)),
            ("win %", lambda row: bare_percent(row.win_rate)),
            ("by Elo", lambda row: bare_percent(row.expected)),
            ("gap", lambda row: signed(100 * row.gap, 1)),
        ],
        notes=[
            f"{plural(len(check.systems), 'system')}, mean Elo {whole(check.mean_elo)}, mean win"
            f" rate {percent(check.mean_win_rate)}. by Elo: the win rate that the Elo implies if"
            " every system met every other equally often. gap: in points."
        ],
    )


def concordance_display(found: Concordance, first: str, second: str) -> Display:
    """Return the three coefficients, and the systems that move most."""
    measures = {
        "Lin's concordance": found.lin,
        "Spearman's \N{GREEK SMALL LETTER RHO}": found.spearman,
        "Kendall's \N{GREEK SMALL LETTER TAU}-b": found.kendall,
    }
    missing = [
        f"Only in {where}: {listed(names)}."
        for where, names in ((first, found.only_first), (second, found.only_second))
        if names
    ]
    reasons = dict.fromkeys(each.reason for each in measures.values() if each.reason)
    coefficients = tabulate(
        measures.items(),
        [
            (Column(f"{first} and {second}", "text"), lambda row: row[0]),
            ("value", lambda row: small(row[1].value)),
            (
                Column(f"{level_percent(found.level)} interval", "text"),
                lambda row: interval(row[1].low, row[1].high, write=small),
            ),
        ],
        notes=[
            f"Of {plural(found.n_systems, 'system')} in both. Lin's asks whether the numbers are"
            " equal, the others about the order. Intervals take the systems as sampled.",
            *(f"{reason}." for reason in reasons),
            *missing,
        ],
    )
    moved = [move for move in found.moves if move.first_rank != move.second_rank]
    if not moved:
        return Display((coefficients, ("Every system has the same place in both.",)))
    moves = tabulate(
        moved[:MAX_MOVES],
        [
            (Column("moves most", "name", max_width=MAX_NAME), lambda row: row.system),
            (Column("place", "text"), lambda row: f"{row.first_rank} to {row.second_rank}"),
            ("first", lambda row: f"{row.first:.5g}"),
            ("second", lambda row: f"{row.second:.5g}"),
        ],
        notes=[f"{plural(len(moved), 'system')} of {found.n_systems} have another place."],
    )
    return Display((coefficients, moves))
