"""The answer in a sentence: who leads, and what is open, from the ranks that the data leave open.

One for terminal, report and vote files. It claims no more than the ranks do: a system may be the
best when no other is above it beyond its interval (`rank_low` 1). Several of these lead where they
are few and each is above all others beyond its interval; else it is open which system is the best.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from hearteval.analysis.ranking.warnings import chance_above_average
from hearteval.notices import Kind, Notice
from hearteval.report.figures import MEAN_ELO
from hearteval.report.text import NO_BREAK_SPACE, listed, ranks, shortened_names

MAX_NAMED = 4
"""Leaders that a sentence names; more are counted."""
MAX_NAME = 32
"""Columns of a name in a sentence."""
NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
CONTRADICTED = "But how often a system wins depends on whom it meets: see the warning."
NOT_ALWAYS = "Not in every direct comparison, though: see the warning."
TOO_NARROW = "Intervals may be too narrow: see the warning."
NARROWING = (Kind.FEW_ITEMS, Kind.UNEVEN_ITEMS, Kind.UNEVEN_RATERS)
"""Warnings that intervals, as what they are meant for, are too narrow."""


class Standing(Protocol):
    """A system's place: the best and the worst rank that its differences leave open."""

    @property
    def rank_low(self) -> int:
        """The best rank."""

    @property
    def rank_high(self) -> int:
        """The worst rank."""


class Answer(NamedTuple):
    """What a ranking says, in plain words."""

    lead: str
    """Who leads, and whether that is settled."""
    rest: str
    """What is known of the others; empty where all is said."""
    warning: Notice | None = None
    """The warning that it speaks of."""

    def __str__(self) -> str:
        """Return both sentences."""
        return f"{self.lead} {self.rest}".rstrip()


def answer(
    names: Sequence[str], standings: Sequence[Standing], warnings: Sequence[Notice] = ()
) -> Answer:
    """Say who leads a ranking and what is open.

    Args:
        names: Systems, best first.
        standings: Their ranks, in the same order; at least two.
        warnings: Of the ranking: where comparisons contradict it, or what it stands on is little,
            the answer says so.
    """
    n = len(names)
    shown = shortened_names(names, MAX_NAME)
    leaders = [name for name, at in zip(shown, standings, strict=True) if at.rank_low == 1]
    behind = [at for at in standings if at.rank_low > 1]
    misfit = _first(warnings, Kind.MISFIT)
    if not behind:
        who = "Either of the two" if n == 2 else f"Any of the {_number(n)}"
        any_of = f"{who} systems may be the best."
        said = f"{any_of} {CONTRADICTED}" if misfit else any_of
        return Answer("Nothing is settled.", said, misfit)
    is_clear = all(at.rank_high <= len(leaders) for at in standings if at.rank_low == 1)
    lead = _lead(leaders, n, is_clear=is_clear)
    if misfit:
        lead = lead.replace("Any of", "any of", 1) if len(leaders) > _most_named(n) else lead
        return Answer(f"Over all comparisons, {lead}", CONTRADICTED, misfit)
    # Of several leaders it is open already which is better.
    loses = _first(warnings, Kind.LEADER_LOSES) if len(leaders) == 1 else None
    if loses:
        return Answer(lead, NOT_ALWAYS, loses)
    rest, narrow = _rest(len(leaders), behind, is_clear=is_clear), narrowing(warnings)
    return Answer(lead, f"{rest} {TOO_NARROW}" if narrow else rest, narrow)


def first_place_words(
    n_systems: int, low: float | None, *, interval: str, df: float | None, level: float
) -> str:
    """Say that the first may be high in part for being first, where its interval says it is high.

    Args:
        n_systems: How many are ranked.
        low: Lower end of the interval of the first.
        interval: Its name.
        df: Its degrees of freedom; None for the normal distribution.
        level: Its level.
    """
    found = chance_above_average(n_systems, interval, math.inf if df is None else df, level)
    if found is None or low is None or low <= MEAN_ELO:
        return ""
    n, share = found
    return (
        f"The first place may be high in part because it is first: of {n} equal systems the first"
        f" one's interval lies above {MEAN_ELO:.0f} in about"
        f" {100 * share:.0f}{NO_BREAK_SPACE}%."
    )


def narrowing(warnings: Sequence[Notice]) -> Notice | None:
    """Return the warning that intervals may be too narrow; None without one."""
    return _first(warnings, *NARROWING)


def _first(warnings: Sequence[Notice], *kinds: Kind) -> Notice | None:
    return next((warning for warning in warnings if warning.kind in kinds), None)


def _lead(leaders: Sequence[str], n: int, *, is_clear: bool) -> str:
    if len(leaders) == 1:
        return f"{leaders[0]} leads."
    if len(leaders) > _most_named(n):
        return f"Any of {_number(len(leaders))} systems may be the best."
    if not is_clear:
        return f"{', '.join(leaders[:-1])} or {leaders[-1]} may be the best."
    if len(leaders) == 2:
        return f"{listed(leaders)} lead; which of the two is better is open."
    return f"{listed(leaders)} lead; which of them is best is open."


def _most_named(n: int) -> int:
    """Return how many leaders of so many systems are named; two are always."""
    return max(2, min(MAX_NAMED, n // 2))


def _rest(n_lead: int, behind: Sequence[Standing], *, is_clear: bool) -> str:
    n = n_lead + len(behind)
    if len(behind) == 1:
        who, is_behind = "The other", "is behind"
    else:
        who, is_behind = f"The other {_number(len(behind))}", "are behind"
    if not is_clear:
        each = "" if len(behind) == 1 else "each "
        return f"{who} {is_behind.replace(' ', f' {each}', 1)} at least one system; places overlap."
    of_whom = {1: "it", 2: "both"}.get(n_lead, f"all {_number(n_lead)}")
    said = f"{who} {is_behind} {of_whom}"
    if len(behind) == 1:
        return f"{said}."
    if all(at.rank_low == at.rank_high for at in behind):
        return f"{said}, and their order is settled."
    if all((at.rank_low, at.rank_high) == (n_lead + 1, n) for at in behind):
        return f"{said}; places{NO_BREAK_SPACE}{ranks(n_lead + 1, n)} are open."
    return f"{said}; some places among them are open."


def _number(n: int) -> str:
    return NUMBERS[n] if n < len(NUMBERS) else f"{n:,}"
