"""Vocabularies: what the labels of a winner column may mean, left won, right won, or a tie.

Which of them a column is written in is decided in `heartbench.exchange.winner_column`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from heartbench.errors import SettingsError

UNKNOWN, RIGHT_WON, TIED, LEFT_WON = -1, 0, 1, 2
"""Outcomes. Half of one is the score of the left system."""

NEITHER, LEFT, RIGHT = 0, 1, 2
"""Whose name a label is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeNames:
    """What somebody says the labels mean.

    Attributes:
        left: Labels that mean that left won.
        right: Labels that mean that right won.
        tie: Labels that mean a tie; without `left` and `right` they join those that are known.
    """

    left: tuple[str, ...] = ()
    right: tuple[str, ...] = ()
    tie: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if bool(self.left) != bool(self.right):
            given, lacking = ("left", "right") if self.left else ("right", "left")
            raise SettingsError(
                f"a name for a win of the {given} needs one for the {lacking}: add --{lacking}-name"
            )
        names = [set(self.left), set(self.right), set(self.tie)]
        for name in sorted(set().union(*names)):
            if sum(name in group for group in names) > 1:
                raise SettingsError(f"the winner label {name!r} is given two meanings; keep one")


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """One way to read labels.

    Attributes:
        title: What messages call it.
        outcomes: What each label means, whatever the systems.
        names_winner: Whether the name of a system also means that this system won.
    """

    title: str
    outcomes: Mapping[str, int]
    names_winner: bool = False

    def read(self, label: str | None, side: int) -> int:
        """Return the outcome that a label means, given whose name it is; None is any other."""
        outcome = UNKNOWN if label is None else self.outcomes.get(label, UNKNOWN)
        if not self.names_winner or side == NEITHER:
            return outcome
        if outcome != UNKNOWN:  # a system whose name also means a tie
            return UNKNOWN
        return LEFT_WON if side == LEFT else RIGHT_WON


def _vocabulary(title: str, *, left: str, right: str, tie: str) -> Vocabulary:
    return Vocabulary(title=title, outcomes={left: LEFT_WON, right: RIGHT_WON, tie: TIED})


KNOWN = (
    _vocabulary("left/right/tie", left="left", right="right", tie="tie"),
    _vocabulary("model_a/model_b/tie", left="model_a", right="model_b", tie="tie"),
    _vocabulary("A/B/tie", left="A", right="B", tie="tie"),
    Vocabulary(
        title="1/2/0",
        # A column of numbers with gaps is often written to CSV as 1.0, 2.0 and 0.0.
        outcomes=dict.fromkeys(("1", "1.0"), LEFT_WON)
        | dict.fromkeys(("2", "2.0"), RIGHT_WON)
        | dict.fromkeys(("0", "0.0"), TIED),
    ),
    Vocabulary(title="the winner's own name", outcomes={"tie": TIED}, names_winner=True),
)


def list_candidates(names: OutcomeNames) -> tuple[Vocabulary, ...]:
    """Return the vocabularies in which a column may be read: the one given, or those known."""
    ties = dict.fromkeys(names.tie, TIED)
    if names.left:
        left, right = dict.fromkeys(names.left, LEFT_WON), dict.fromkeys(names.right, RIGHT_WON)
        return (Vocabulary(title="the names given", outcomes={**left, **right, **ties}),)
    return tuple(
        Vocabulary(
            title=known.title,
            outcomes={**known.outcomes, **ties},
            names_winner=known.names_winner,
        )
        for known in KNOWN
        # A label said to be a tie rules out a vocabulary in which it is a win.
        if all(known.outcomes.get(tie, TIED) == TIED for tie in names.tie)
    )
