"""Two studies side by side, in words and as tables."""

from typing import TYPE_CHECKING

from hearteval.analysis.ranking.checks.compared import Comparison, MovedSystem, Side
from hearteval.report.table import Column, Display, Table, tabulate
from hearteval.report.text import (
    NO_VALUE,
    bare_percent,
    interval,
    level_percent,
    listed,
    percent,
    plural,
    points,
    q_words,
    signed,
    small,
    whole,
)

if TYPE_CHECKING:
    from hearteval.analysis.agreement.measures import AgreementMeasure

MAX_NAME = 30
RHO, TAU = "\N{GREEK SMALL LETTER RHO}", "\N{GREEK SMALL LETTER TAU}"


def comparison_display(found: Comparison) -> Display:
    """Say what moved, how far both rank alike, and what differs behind them."""
    shared = [_shared_table(found)] if found.n_pairs_shared else []
    return Display(
        (_answer(found), _systems_table(found), *shared, _alike_table(found), _behind(found))
    )


def _answer(found: Comparison) -> tuple[str, ...]:
    moved = [each for each in found.systems if each.first_rank != each.second_rank]
    apart = [each.system for each in found.systems if each.is_apart]
    places = (
        f"{len(moved)} of {plural(len(found.systems), 'system')} have another place in"
        f" {found.second.name} than in {found.first.name}"
        if moved
        else f"All {plural(len(found.systems), 'system')} have the same place in"
        f" {found.first.name} and {found.second.name}"
    )
    beyond = (
        f"beyond what chance explains: {listed(apart)}"
        if apart
        else "no difference is beyond what chance explains"
    )
    return (f"{places}; {beyond}.", *([_answer_on_shared(found)] if found.n_pairs_shared else []))


def _answer_on_shared(found: Comparison) -> str:
    """Say which systems win more or less of the same pairs, or how much could go unseen."""
    pairs = f"On {plural(found.n_pairs_shared, 'pair')} of the same texts that both judged"
    changed = [
        f"{each.system} ({points(each.shared_change.value)})"
        for each in found.systems
        if each.shared_change and each.shared_q is not None and each.shared_q < 1 - found.level
    ]
    if changed:
        return f"{pairs}, the share won changed, in points: {listed(changed)}."
    changes = [each.shared_change for each in found.systems if each.shared_change]
    ends = [
        max(abs(c.low), abs(c.high)) for c in changes if c.low is not None and c.high is not None
    ]
    if not ends:
        same = all(c.value == 0 for c in changes)
        return (
            f"{pairs}, every share won is the same."
            if same
            else f"{pairs}, it stays open which shares won changed."
        )
    return (
        f"{pairs}, no share won changed beyond chance; a change of"
        f" {bare_percent(max(ends))} points is not ruled out."
    )


def _systems_table(found: Comparison) -> Table:
    return tabulate(
        found.systems,
        [
            (Column("system", "name", max_width=MAX_NAME), lambda row: row.system),
            (Column("place", "text"), _place),
            ("Elo", lambda row: whole(row.first_elo)),
            ("then", lambda row: whole(row.second_elo)),
            ("difference", lambda row: signed(row.difference, 0)),
            (
                Column(f"{level_percent(found.level)} interval", "text"),
                lambda row: interval(row.low, row.high, write=signed),
            ),
            (Column("", "text"), lambda row: "*" if row.is_apart else ""),
        ],
        notes=[
            f"Elo: by judgments weighted by strength, of the systems of both, first in"
            f" {found.first.name}, then in {found.second.name}. The interval takes both as standing"
            " on items and raters of their own; where they share some it is wider than it need be."
            " *: beyond it, allowing for all systems."
        ],
    )


def _shared_table(found: Comparison) -> Table:
    return tabulate(
        found.systems,
        [
            (Column("shared pairs", "name", max_width=MAX_NAME), lambda row: row.system),
            ("won", lambda row: _share(row.shared_first)),
            ("then", lambda row: _share(row.shared_second)),
            (
                "points",
                lambda row: points(row.shared_change.value) if row.shared_change else NO_VALUE,
            ),
            (Column(f"{level_percent(found.level)} interval", "text"), _change_interval),
            ("q", lambda row: q_words(row.shared_q)),
        ],
        notes=[
            "Won: percent of the pairs of the same texts that both judged, a tie counting half and"
            " every pair once. These are the same items, so this is the sharper test of what other"
            " judges, another way of asking or another form of the replies did. q: by the false"
            " discovery rate over systems."
        ],
    )


def _share(won: float | None) -> str:
    return NO_VALUE if won is None else bare_percent(won)


def _change_interval(row: MovedSystem) -> str:
    change = row.shared_change
    return interval(change.low, change.high, write=points) if change else NO_VALUE


def _place(row: MovedSystem) -> str:
    if row.first_rank == row.second_rank:
        return str(row.first_rank)
    return f"{row.first_rank} to {row.second_rank}"


def _alike_table(found: Comparison) -> Table:
    rows: list[tuple[str, AgreementMeasure]] = [
        (f"Spearman's {RHO}", found.concordance.spearman),
        (f"Kendall's {TAU}-b", found.concordance.kendall),
    ]
    if found.on_shared is not None:
        rows += [
            (f"{RHO}, shared pairs", found.on_shared.spearman),
            (f"{TAU}-b, shared pairs", found.on_shared.kendall),
        ]
    reasons = dict.fromkeys(each.reason for _, each in rows if each.reason)
    same = ""
    if found.n_pairs_decided:
        share = percent(found.n_same_majority / found.n_pairs_decided)
        same = f" The majorities of {plural(found.n_pairs_decided, 'such pair')} agree in {share}."
    shared = (
        f"Shared pairs: {plural(found.n_pairs_shared, 'pair')} of the same texts that both judged."
        f"{same}"
    )
    problem = found.on_shared_problem
    return tabulate(
        rows,
        [
            (Column("rank alike", "text"), lambda row: row[0]),
            ("value", lambda row: small(row[1].value)),
            (
                Column(f"{level_percent(found.level)} interval", "text"),
                lambda row: interval(row[1].low, row[1].high, write=small),
            ),
        ],
        notes=[
            shared,
            *([f"By these alone there is no ranking: {problem}."] if problem else []),
            "Intervals take the systems as sampled.",
            *(f"{reason}." for reason in reasons),
        ],
    )


def _behind(found: Comparison) -> tuple[str, ...]:
    return (
        *map(_side_words, (found.first, found.second)),
        *(f"- {words}" for words in found.why),
    )


def _side_words(side: Side) -> str:
    people = [plural(side.n_people, "person", "people")] if side.n_people else []
    who = listed([*side.raters, *people])
    return (
        f"{side.name}: {plural(side.n_judgments, 'judgment')} of {plural(side.n_items, 'item')} by"
        f" {who}."
    )
