"""Rules over people's answers, from when each finds something, and who is left out by them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, NamedTuple

Rule = Literal[
    "checks",
    "times",
    "unusual-times",
    "straight-line",
    "repeated-reasons",
    "position",
    "agreement",
    "infit",
    "repeats",
    "triads",
]
CheckKind = Literal["gold", "attention"]


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityRules:
    """From when each rule finds something; a study's are in ``[people.quality]``."""

    failed_checks: float = 0.5
    """Share of answered checks that failed: at least (HEART 9.6), and two of them, as Prolific asks
    for: of two checks an honest person who slips once in twenty fails one in ten times."""
    fewest_checks: int = 2
    """With fewer the rule of checks says nothing."""
    fewest_answers: int = 10
    """With fewer no other rule says anything; those that compare people need more."""
    words_per_minute: int = 714
    """What is taken for the most that anybody reads: three times the mean of 190 studies of silent
    reading, 238 (Brysbaert 2019)."""
    hurried: float = 0.5
    """Share of answers that came faster than their new words can be read: at least."""
    unusual_times: float = 3.5
    """Robust standard deviations of a person's median log seconds from the others' (Iglewicz and
    Hoaglin 1993): more, to either side, and `p`."""
    straight_line: int = 12
    """Equal answers in a row: at least (long string, Johnson 2005), and `p`."""
    repeated_reasons: float = 0.5
    """Share of reasons that this person gave before, word for word: at least."""
    position_share: float = 0.65
    """Share of choices of one side: more, and `p`."""
    p: float = 0.01
    """Of the tests of times, a run, a side, repeats and triads, adjusted over people: below."""
    agreement: float = 0.5
    """Share of what most others' answers carry: surely less (`stats.careless.carried`)."""
    infit: float = 1.4
    """Mean square, that of most others being 1: surely more (Wright and Linacre 1994)."""
    same_again: float = 0.4
    """Share of pairs answered alike when they came again: surely fewer. Coins with one tie in six
    give that; honest people on close pairs are not far above."""
    circles: float = 0.2
    """Share of circles among triads: surely more. By chance it is 1/4 (Kendall and Babington Smith
    1940), and of honest people on close pairs up to 1/6."""


DEFAULT_RULES: Final = QualityRules()


class Counted(NamedTuple):
    """How many of how many."""

    n_of: int
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Exclusion:
    """One time that somebody was left out of a study's numbers, or let back in.

    Appended, never changed: a later one of the same person takes an earlier one back. Nothing of
    what the person said is deleted. It is no rejection: whoever is left out is paid all the same.
    """

    person: str
    """Their pseudonym."""
    is_excluded: bool
    """Whether they are left out from then on; else they are let back in."""
    rules: tuple[str, ...] = ()
    """By which they were found; none where a person decided it."""
    why: str
    """In words; empty where it was deleted with what is known of who has withdrawn."""
    by: str
    """Who did it."""
    at: datetime


def excluded_now(records: Iterable[Exclusion]) -> dict[str, Exclusion]:
    """Return the last record of whoever is left out, by pseudonym, from all in their order."""
    last = {one.person: one for one in records}
    return {name: one for name, one in sorted(last.items()) if one.is_excluded}
