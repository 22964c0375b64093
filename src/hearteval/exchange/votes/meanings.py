"""What the labels of a winner column may mean, where no vocabulary says it.

Nothing here decides: each meaning is offered with the arguments that say so, and somebody chooses.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any, Final

from hearteval.errors import Remedy, SettingsError

LEFT_WORDS = frozenset({"left", "l", "a", "first", "1st", "1", "one"})
RIGHT_WORDS = frozenset({"right", "r", "b", "second", "2nd", "2", "two"})
TIE_WORDS = frozenset(
    {"tie", "tied", "ties", "draw", "drawn", "equal", "even", "same", "both", "neither", "none"}
    | {"bothbad", "undecided"}
)
TIE_PHRASES = frozenset({"no preference", "about the same", "about equal", "not sure"})
FILLERS = frozenset(
    {"model", "system", "response", "answer", "reply", "assistant", "option", "side", "candidate"}
    | {"winner", "wins", "win", "won", "better", "is", "was", "the", "much", "slightly", "chosen"}
)
"""Words beside which those above keep their meaning."""
TIE_FILLERS = frozenset({"bad", "good", "are", "equally", "about", "of", "them", "a", "it", "s"})

NUMBERS: Final = (
    ("0 1", ("1 0", "0 1")),
    ("0 2", ("2 0", "0 2", "0 1 2", "1 0 2")),
    ("0 1 2", ("1 2 0", "0 1 2", "1 0 2", "2 0 1", "0 2 1", "2 1 0")),
    ("-1 1", ("1 -1", "-1 1")),
    ("-1 0 1", ("1 -1 0", "-1 1 0")),
    ("0 0.5 1", ("1 0 0.5", "0 1 0.5")),
    ("1 2 3", ("1 2 3", "1 3 2", "3 1 2")),
)
"""Numbers of a column, and the ways to read them: left, right and, if there is one, tie."""
MAX_SCALE = 11
"""Points of a scale that runs from one side to the other."""

_NUMBER = re.compile(r"[+-]?\d{1,9}(\.\d{0,9})?")
_SIGN = re.compile(r"^\W*([\w ]+?)\W*([<>=~≈])[<>=~≈]*\W*([\w ]+?)\W*$")
_WORD = re.compile(r"[a-z]+(?=[12]\b)|[a-z]+|\d\w*")
_PLAIN = re.compile(r"[a-z0-9 ()\[\]'.:-]*")
_LEFT, _RIGHT, _TIE = "left", "right", "tie"


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeNames:
    """What somebody says the labels mean: that left won, that right won, or a tie."""

    left: tuple[str, ...] = ()
    right: tuple[str, ...] = ()
    tie: tuple[str, ...] = ()
    """Without `left` and `right` these join the labels that are known."""
    own_name: bool = False
    """Whether labels are the winner's own name, or say that there was a tie."""

    def __post_init__(self) -> None:
        if bool(self.left) != bool(self.right):
            given, lacking = ("left", "right") if self.left else ("right", "left")
            raise SettingsError(
                f"a name for a win of the {given} needs one for the {lacking}: add --{lacking}-name"
            )
        if self.own_name and self.left:
            raise SettingsError(
                "the winner's own name (--own-name) and names for left and right (--left-name,"
                " --right-name) exclude each other; keep one"
            )
        names = [set(self.left), set(self.right), set(self.tie)]
        for name in sorted(set().union(*names)):
            if sum(name in group for group in names) > 1:
                raise SettingsError(f"the winner label {name!r} is given two meanings; keep one")

    @property
    def remedy(self) -> Remedy:
        """Say in words and in arguments what this says."""
        if self.own_name:
            words = "the winner's own name"
        else:
            said = ((self.left, "left won"), (self.right, "right won"), (self.tie, "a tie"))
            words = "; ".join(f"{' or '.join(names)} = {what}" for names, what in said if names)
        named = {"left_name": self.left, "right_name": self.right, "tie_name": self.tie}
        arguments: dict[str, Any] = {role: names for role, names in named.items() if names}
        return Remedy(words, arguments | ({"own_name": True} if self.own_name else {}))


def side_of(label: str) -> str | None:
    """Return the side, or the tie, that the words of a label speak of; None where they do not."""
    text = label.casefold().strip()
    compared = _SIGN.match(text)
    if compared is not None:
        one, sign, other = compared.groups()
        ends = (_side_of_words(one), _side_of_words(other))
        if set(ends) != {_LEFT, _RIGHT}:
            return None
        return {">": ends[0], "<": ends[1]}.get(sign, _TIE)
    return _side_of_words(text)


def number_of(label: str) -> str | None:
    """Write a label that is a number as 1, -1 or 0.5; None for any other."""
    text = label.strip()
    return f"{float(text) + 0.0:.9g}" if _NUMBER.fullmatch(text) else None


def read_sides(labels: Sequence[str]) -> OutcomeNames | None:
    """Return what words say of all labels; None where one says nothing, or a side is not named."""
    groups = defaultdict(list)
    for label in labels:
        groups[side_of(label)].append(label)
    if None in groups or not (groups[_LEFT] and groups[_RIGHT]):
        return None
    return OutcomeNames(
        left=tuple(groups[_LEFT]), right=tuple(groups[_RIGHT]), tie=tuple(groups[_TIE])
    )


def read_numbers(labels: Sequence[str], ties: Sequence[str] = ()) -> tuple[OutcomeNames, ...]:
    """Return the ways to read labels that are all numbers, `ties` apart; none where one is not.

    Numbers of a scale run from one side to the other.
    """
    spelled = defaultdict(list)
    for label in labels:
        spelled[number_of(label)].append(label)
    if not spelled or None in spelled:
        return ()
    found = {str(number): tuple(texts) for number, texts in spelled.items()}
    for numbers, readings in NUMBERS:
        if set(found) <= set(numbers.split()):
            orders = [[found.get(n, (n,)) for n in reading.split()] for reading in readings]
            return tuple(_name(*order, ties=ties) for order in orders)
    return _read_scale(found, ties) if len(found) <= MAX_SCALE else ()


def list_meanings(labels: Sequence[str], ties: Sequence[str] = ()) -> tuple[OutcomeNames, ...]:
    """Return what labels may mean, the likeliest first; `ties` are said to be ties already."""
    by_words = read_sides([*labels, *ties])
    if by_words is not None and all(tie in by_words.tie for tie in ties):
        return (by_words,)
    rest = [label for label in labels if label not in ties]
    by_numbers = read_numbers(rest, ties)
    if by_numbers:
        return by_numbers
    more_ties = [label for label in rest if side_of(label) == _TIE]
    rest = sorted(label for label in rest if label not in more_ties)
    if len(rest) == 2 or (len(rest) == 3 and not more_ties and not ties):
        orders = [[(label,) for label in order] for order in permutations(rest)]
        return tuple(_name(*order, ties=(*ties, *more_ties)) for order in orders)
    return ()


def _read_scale(
    found: Mapping[str, tuple[str, ...]], ties: Sequence[str]
) -> tuple[OutcomeNames, ...]:
    points = sorted(found, key=float)
    middle = (float(points[0]) + float(points[-1])) / 2
    sides: dict[bool | None, tuple[str, ...]] = {True: (), False: (), None: ()}
    for point in points:
        side = None if float(point) == middle else float(point) < middle
        sides[side] += found[point]
    low, high, even = sides[True], sides[False], sides[None]
    if not low:
        return ()
    return tuple(_name(*ends, even, ties=ties) for ends in ((low, high), (high, low)))


def _name(
    left: tuple[str, ...], right: tuple[str, ...], tie: tuple[str, ...] = (), *, ties: Sequence[str]
) -> OutcomeNames:
    return OutcomeNames(left=left, right=right, tie=(*tie, *ties))


def _side_of_words(text: str) -> str | None:
    spaced = " ".join(text.replace("_", " ").split())
    words = set(_WORD.findall(spaced))
    if not words or not _PLAIN.fullmatch(spaced):
        return None
    if words & TIE_WORDS or spaced in TIE_PHRASES:
        is_tie = spaced in TIE_PHRASES or words <= TIE_WORDS | TIE_FILLERS | FILLERS
        return _TIE if is_tie else None
    rest = words - FILLERS
    if len(words) == 1 and rest & {"1", "2"}:  # numbers alone have meanings of their own
        return None
    if rest and rest <= LEFT_WORDS:
        return _LEFT
    return _RIGHT if rest and rest <= RIGHT_WORDS else None
