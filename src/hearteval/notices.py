"""Sentences that stand beside numbers and say what limits them, the most serious first.

Whatever warns makes a `Notice`. It is text, so JSON and tables hold it as it is; its kind says how
serious it is and where `docs/reference/warnings.md` says what to do about it.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Self


class Kind(StrEnum):
    """What a notice is about, the most serious first; the value names its section of the docs."""

    SIMULATED = "simulated"
    BY_CHANCE = "by-chance"
    """Of people who agree with each other no more than chance would."""
    TOO_FAST = "too-fast"
    """Of judgments by people that came faster than replies can be read."""
    BASELINE_JUDGE = "baseline-judge"
    SAME_MODEL = "same-model"
    """Of a judge that judges itself under another name."""
    NO_RESULT = "no-result"
    MISFIT = "misfit"
    LEADER_LOSES = "leader-loses"
    KINDS_DIFFER = "people-differ"
    DROPPED = "dropped"
    JUDGE_FAULT = "judge-fault"
    OWN_FAMILY = "own-family"
    JUDGE_ORDER = "judge-order"
    MISSING = "missing"
    BY_DESIGN = "by-design"
    """Of replies that cannot be there, such as the recorded one of an item that was rewritten."""
    PRIOR = "prior"
    NOT_RANKED = "not-ranked"
    NO_INTERVAL = "no-interval"
    FEW_ITEMS = "few-items"
    UNEVEN_ITEMS = "uneven-items"
    FEW_RATERS = "few-raters"
    UNEVEN_RATERS = "uneven-raters"
    FEW_WRITERS = "few-writers"
    FEW_CASES = "few-cases"
    """Agreement that rests on few disagreements, or on a rare category."""
    AXIS = "axis"
    NAMES_ITSELF = "names-itself"
    """Of replies that give away whose they are."""
    SAME_JUDGE = "same-judge"
    OTHER_MODEL = "other-model"
    MODEL_ENDS = "model-ends"
    LOOK_ALIKES = "look-alikes"
    NOT_AUDITED = "not-audited"
    GIVEN_RATERS = "given-raters"
    OTHER_INTERVAL = "other-interval"
    TWO_KINDS = "people-and-judges"
    READING = "reading"
    """Of how a file was read."""
    UNUSED = "unused"

    @property
    def order(self) -> int:
        """Return the place among all kinds: 0 is the most serious."""
        return list(Kind).index(self)

    @property
    def is_serious(self) -> bool:
        """Return whether a reader who misses it may believe what is not so."""
        return self.order <= Kind.MISSING.order


SIMULATED_WORDS = (
    "Simulated: every text, person and judgment here was drawn by a computer from planted numbers;"
    " nothing here was measured."
)
"""The first line of everything that is made from simulated data."""


class Notice(str):
    """A sentence that a reader must know, and its kind."""

    __slots__ = ("kind",)
    kind: Kind

    def __new__(cls, kind: Kind, text: str) -> Self:
        """Make one of a kind and its text."""
        notice = super().__new__(cls, text)
        notice.kind = kind
        return notice

    def __getnewargs__(self) -> tuple[Kind, str]:  # type: ignore[override]
        """Return what a copy is made of."""
        return self.kind, str(self)


def simulated_line(notices: Iterable[Notice]) -> tuple[str, ...]:
    """Return the first line of what is made from simulated data; nothing where it is real."""
    return tuple(str(one) for one in notices if one.kind is Kind.SIMULATED)[:1]


def by_severity(notices: Iterable[Notice]) -> tuple[Notice, ...]:
    """Return each notice once, the most serious first, else in the order given."""
    return tuple(sorted(dict.fromkeys(notices), key=lambda notice: notice.kind.order))
