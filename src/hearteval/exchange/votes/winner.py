"""A winner column -> outcomes, the whole of it read in one vocabulary.

Each vocabulary stays a candidate until a row refutes it; none left, or two that differ on a row, is
an error. No label is guessed.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from hearteval.errors import InvalidVotesError, SettingsError
from hearteval.exchange.tables.columns import MISSING_WORDS, FirstSeen, Int32Array, Names, Table
from hearteval.stats.comparisons import IntArray

UNKNOWN, RIGHT_WON, TIED, LEFT_WON = -1, 0, 1, 2
"""Outcomes. Half of one is the score of the left system."""

NEITHER, LEFT, RIGHT = 0, 1, 2
"""Whose name a label is."""

_SIDES = 3
_SHOWN_ROWS = 5
_OPTIONS = "--left-name, --right-name and --tie-name"


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeNames:
    """What somebody says the labels mean: that left won, that right won, or a tie."""

    left: tuple[str, ...] = ()
    right: tuple[str, ...] = ()
    tie: tuple[str, ...] = ()
    """Without `left` and `right` these join the labels that are known."""

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
    """One way to read labels: what each means, whatever the systems."""

    title: str
    outcomes: Mapping[str, int]
    names_winner: bool = False
    """Whether the name of a system also means that this system won."""

    def read(self, label: str | None, side: int) -> int:
        """Return the outcome that a label means, given whose name it is; None is any other."""
        outcome = UNKNOWN if label is None else self.outcomes.get(label, UNKNOWN)
        if not self.names_winner or side == NEITHER:
            return outcome
        if outcome != UNKNOWN:  # a system whose name also means a tie
            return UNKNOWN
        return LEFT_WON if side == LEFT else RIGHT_WON


KNOWN = (
    *(
        Vocabulary(
            title=f"{left}/{right}/tie", outcomes={left: LEFT_WON, right: RIGHT_WON, "tie": TIED}
        )
        for left, right in (("left", "right"), ("model_a", "model_b"), ("A", "B"))
    ),
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
        replace(known, outcomes={**known.outcomes, **ties})
        for known in KNOWN
        # A label said to be a tie rules out a vocabulary in which it is a win.
        if all(known.outcomes.get(tie, TIED) == TIED for tie in names.tie)
    )


class WinnerColumn:
    """Collects the cells of a winner column, batch after batch, then says what they mean.

    What a cell means depends on its label, if a vocabulary knows it, and on whose name that is.
    These few combinations are numbered as they come; the first rows of each are remembered for
    messages. `texts` holds the codes of labels and systems.
    """

    def __init__(self, names: OutcomeNames, texts: Names) -> None:
        self._candidates = list_candidates(names)
        known = sorted({label for v in self._candidates for label in v.outcomes})
        self._labels = (None, *known)
        self._number_of_label = {label: number for number, label in enumerate(self._labels)}
        self._texts = texts
        self._number_of_text = np.zeros(0, np.int32)
        self._numbers = FirstSeen[int]()
        self._counts = Counter[int]()
        self._rows: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)

    def add(
        self, winner: Int32Array, left: Int32Array, right: Int32Array, rows: IntArray
    ) -> Int32Array:
        """Note more cells; return the number of each one's combination.

        Label, left and another right system come by the code of their text; `rows` is where each
        cell stands.
        """
        new = islice(self._texts, len(self._number_of_text), None)
        labels = [self._number_of_label.get(text, 0) for text in new]
        self._number_of_text = np.append(self._number_of_text, np.array(labels, dtype=np.int32))
        codes = self._number_of_text[winner] * np.int32(_SIDES)
        codes += (winner == left) * np.int32(LEFT)
        codes += (winner == right) * np.int32(RIGHT)
        counts = np.bincount(codes, minlength=_SIDES * len(self._labels))
        numbers = np.zeros(len(counts), np.int32)
        for code in np.flatnonzero(counts).tolist():
            number = numbers[code] = self._numbers[code]
            self._counts[number] += int(counts[code])
            n_lacking = _SHOWN_ROWS - len(self._rows[number])
            if n_lacking > 0:
                found = np.flatnonzero(codes == code)[:n_lacking]
                cells = zip(rows[found].tolist(), winner[found].tolist(), strict=True)
                self._rows[number] += cells
        found_numbers: Int32Array = numbers[codes]
        return found_numbers

    def decide(self, table: Table, column: str) -> IntArray:
        """Return the outcome that each combination means; messages name table and column.

        Raises:
            InvalidVotesError: No vocabulary knows the labels of all rows.
            SettingsError: Two vocabularies do, and differ on a row.
        """
        where = f"{table.label}, column {column!r}"
        readings = {
            v.title: [v.read(self._labels[code // _SIDES], code % _SIDES) for code in self._numbers]
            for v in self._candidates
        }
        fitting = [title for title, outcomes in readings.items() if UNKNOWN not in outcomes]
        if not fitting:
            raise InvalidVotesError(f"{where}: {self._describe_unknown(readings, table)}")
        for other in fitting[1:]:
            pairs = zip(readings[fitting[0]], readings[other], strict=True)
            differing = [number for number, (one, two) in enumerate(pairs) if one != two]
            if differing:
                raise SettingsError(
                    f"{where} can be read as {fitting[0]} and as {other}, which differ, as in "
                    f"{self._show(differing, table)[0]}; say what the labels mean with "
                    f"{_OPTIONS}, or, if they are systems' names, rename the systems"
                )
        return np.array(readings[fitting[0]], dtype=np.int64)

    def _describe_unknown(self, readings: Mapping[str, list[int]], table: Table) -> str:
        unknown = {
            title: [number for number, outcome in enumerate(outcomes) if outcome == UNKNOWN]
            for title, outcomes in readings.items()
        }
        n_of = {title: sum(self._counts[n] for n in numbers) for title, numbers in unknown.items()}
        best = min(n_of, key=n_of.__getitem__)
        n_rows, n_unknown = self._counts.total(), n_of[best]
        if n_unknown < n_rows:
            problem = f"{n_unknown:,} of {n_rows:,} rows are not in {best}, as the others are"
        else:
            problem = f"the labels of all {n_rows:,} rows are unknown"
        examples = ", ".join(self._show(unknown[best], table))
        more = ", ..." if n_unknown > _SHOWN_ROWS else ""
        known = ", ".join(readings)
        texts = {text for number in unknown[best] for _, text in self._rows[number]}
        is_missing = not MISSING_WORDS.isdisjoint(list(self._texts)[text] for text in texts)
        empty = ", leave a cell empty if it means missing" if is_missing else ""
        return (
            f"{problem}: {examples}{more}. All must be in one vocabulary ({known}); correct the "
            f"labels{empty}, or say what they mean with {_OPTIONS}"
        )

    def _show(self, numbers: Sequence[int], table: Table) -> list[str]:
        """Say what the first rows with these combinations hold."""
        texts = list(self._texts)
        rows = sorted(row for number in numbers for row in self._rows[number])[:_SHOWN_ROWS]
        return [f"{table.place(row)} has {texts[text]!r}" for row, text in rows]
