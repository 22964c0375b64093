"""A winner column -> outcomes, the whole of it read in one vocabulary.

Each vocabulary stays a candidate until a row refutes it; none left, or two that differ on a row, is
an error that offers what the labels may mean. No label is guessed.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from hearteval.errors import InvalidVotesError, Remedy, SettingsError, first_few
from hearteval.exchange.tables.columns import (
    MISSING_WORDS,
    FirstSeen,
    Int32Array,
    Names,
    Table,
    is_blank,
)
from hearteval.exchange.votes.meanings import (
    OutcomeNames,
    list_meanings,
    number_of,
    read_numbers,
    read_sides,
    side_of,
)
from hearteval.stats.comparisons import IntArray

UNKNOWN, RIGHT_WON, TIED, LEFT_WON = -1, 0, 1, 2
"""Outcomes. Half of one is the score of the left system."""

NEITHER, LEFT, RIGHT = 0, 1, 2
"""Whose name a label is."""

BOTH_BAD = "tie (bothbad)"
"""A tie in the releases of Chatbot Arena."""
_SIDES = 3
_SHOWN_ROWS = 5
_SHOWN_LABELS = 12
_OPTIONS = "--left-name, --right-name and --tie-name"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
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

    def named(self, labels: Collection[str]) -> OutcomeNames:
        """Return what says that these labels are read so."""
        if self.names_winner:
            return OutcomeNames(own_name=True)
        known = {
            outcome: [label for label, meant in self.outcomes.items() if meant == outcome]
            for outcome in (LEFT_WON, RIGHT_WON, TIED)
        }
        used = {
            outcome: tuple(label for label in names if label in labels)
            for outcome, names in known.items()
        }
        return OutcomeNames(
            left=used[LEFT_WON] or (known[LEFT_WON][0],),
            right=used[RIGHT_WON] or (known[RIGHT_WON][0],),
            tie=used[TIED],
        )


_TIES = {"tie": TIED, BOTH_BAD: TIED}
OWN_NAME = Vocabulary(title="the winner's own name", outcomes=_TIES, names_winner=True)
NUMBERS = Vocabulary(
    title="1/2",
    # A column of numbers with gaps is often written to CSV as 1.0 and 2.0.
    outcomes=dict.fromkeys(("1", "1.0"), LEFT_WON) | dict.fromkeys(("2", "2.0"), RIGHT_WON),
)
"""Only where both occur and nothing else: 1 alone, or beside a 0, has other meanings too."""
KNOWN = (
    *(
        Vocabulary(
            title=f"{left}/{right}/tie", outcomes={left: LEFT_WON, right: RIGHT_WON, **_TIES}
        )
        for left, right in (("left", "right"), ("model_a", "model_b"), ("A", "B"))
    ),
    NUMBERS,
    OWN_NAME,
)


STRONG = frozenset({"A>>B", "B>>A", "A<<B", "B<<A"})
VERDICTS = Vocabulary(
    title="A>>B/A>B/A=B/B>A/B>>A",
    outcomes=dict.fromkeys(("A>>B", "A>B", "B<A", "B<<A"), LEFT_WON)
    | dict.fromkeys(("B>>A", "B>A", "A<B", "A<<B"), RIGHT_WON)
    | dict.fromkeys(("A=B", "B=A"), TIED)
    | _TIES,
)
"""Of Arena-Hard: beside the columns model_a and model_b A is model_a."""
VERDICT_SIDES = ("model_a", "model_b")

CODES = frozenset({"0", "1", "2"})
"""Numbers that stand for a side or a tie; where a 0 is among them, in several ways."""


def list_candidates(names: OutcomeNames) -> tuple[Vocabulary, ...]:
    """Return the vocabularies in which a column may be read: the one given, or those known."""
    ties = dict.fromkeys(names.tie, TIED)
    if names.left:
        left, right = dict.fromkeys(names.left, LEFT_WON), dict.fromkeys(names.right, RIGHT_WON)
        return (Vocabulary(title="the names given", outcomes={**left, **right, **ties}),)
    return tuple(
        replace(known, outcomes={**known.outcomes, **ties})
        for known in ((OWN_NAME,) if names.own_name else KNOWN)
        # A label said to be a tie rules out a vocabulary in which it is a win.
        if all(known.outcomes.get(tie, TIED) == TIED for tie in names.tie)
    )


def find_winners(table: Table, taken: Collection[str]) -> list[Remedy]:
    """Return the columns whose every cell says who won, in words that are known for it."""
    names = [name for name in table.column_names if name not in taken and not is_blank(name)]
    remedies = []
    for name in names:
        texts: set[str] = set()
        for batch in table.batches((name,)):
            coded = batch[name]
            texts.update(coded.values[code] for code in np.unique(coded.codes[coded.codes >= 0]))
            if len(texts) > _SHOWN_LABELS:
                break
        texts -= MISSING_WORDS
        known = (v.outcomes for v in (*KNOWN, VERDICTS) if v not in (NUMBERS, OWN_NAME))
        if any(texts <= set(o) and {LEFT_WON, RIGHT_WON} & {o[t] for t in texts} for o in known):
            remedies.append(Remedy(f"winner is {name!r}", {"winner": name}))
    return remedies


class WinnerColumn:
    """Collects the cells of a winner column, batch after batch, then says what they mean.

    What a cell means depends on its label, if a vocabulary knows it, and on whose name that is.
    These few combinations are numbered as they come; the first rows of each are remembered for
    messages. `texts` holds the codes of labels and systems, `sides` the columns of these.
    """

    def __init__(
        self, names: OutcomeNames, texts: Names, sides: tuple[str, str] | None = None
    ) -> None:
        self._names = names
        self._candidates = list_candidates(names)
        if sides == VERDICT_SIDES and not (names.left or names.own_name):
            self._candidates += (VERDICTS,)
        self._known = frozenset(label for v in self._candidates for label in v.outcomes)
        self._labels: list[str | None] = [None]
        self._texts = texts
        self._number_of_text = np.zeros(0, np.int32)
        self._n_of_text = np.zeros(0, np.int64)
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
        new = [*map(self._number, islice(self._texts, len(self._number_of_text), None))]
        self._number_of_text = np.append(self._number_of_text, np.array(new, dtype=np.int32))
        self._n_of_text = np.append(self._n_of_text, np.zeros(len(new), np.int64))
        self._n_of_text += np.bincount(winner, minlength=len(self._n_of_text))
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

    def _number(self, text: str) -> int:
        """Return the number of a label that a vocabulary knows, or may know; 0 is any other."""
        if text not in self._known and side_of(text) is None and number_of(text) not in CODES:
            return 0
        self._labels.append(text)
        return len(self._labels) - 1

    def decide(self, table: Table, column: str) -> IntArray:
        """Return the outcome that each combination means; messages name table and column.

        Raises:
            InvalidVotesError: A vocabulary knows the labels of most rows, none those of all.
            SettingsError: Nothing says what the labels mean, or they have several meanings.
        """
        where = f"{table.label}, column {column!r}"
        labels = self._count_labels()
        candidates = self._list_candidates(labels)
        readings = [self._read(vocabulary) for vocabulary in candidates]
        fitting = [k for k, outcomes in enumerate(readings) if UNKNOWN not in outcomes]
        if not fitting:
            raise self._refuse(where, dict(zip(candidates, readings, strict=True)), labels, table)
        first = fitting[0]
        for other in fitting[1:]:
            pairs = zip(readings[first], readings[other], strict=True)
            differing = [number for number, (one, two) in enumerate(pairs) if one != two]
            if differing:
                titles = f"{candidates[first].title} and as {candidates[other].title}"
                ways = {tuple(readings[k]): candidates[k].named(labels) for k in reversed(fitting)}
                raise SettingsError(
                    f"{where} can be read as {titles}, which differ, as in "
                    f"{self._show(differing, table)[0]}; say which is meant:",
                    remedies=_list_remedies([*ways.values()][::-1]),
                )
        return np.array(readings[first], dtype=np.int64)

    @property
    def n_strong(self) -> int:
        """Rows whose label says that the win is a clear one, where such labels are known."""
        is_known = any(vocabulary is VERDICTS for vocabulary in self._candidates)
        return sum(n for label, n in self._count_labels().items() if is_known and label in STRONG)

    def _read(self, vocabulary: Vocabulary) -> list[int]:
        return [
            vocabulary.read(self._labels[code // _SIDES], code % _SIDES) for code in self._numbers
        ]

    def _count_labels(self) -> dict[str, int]:
        """Count the rows of each label, the most frequent first."""
        counts = zip(self._texts, self._n_of_text.tolist(), strict=False)
        found = [(text, n) for text, n in counts if n]
        return dict(sorted(found, key=lambda each: (-each[1], each[0])))

    def _list_candidates(self, labels: Iterable[str]) -> list[Vocabulary]:
        """Return the vocabularies in which these labels may be read.

        Where all are systems' names, such as 0 and 1 or first and second, what they mean as numbers
        or words stands beside: it cannot be what decides, but shows that there is a choice.
        """
        wins = [label for label in labels if label not in self._names.tie]
        numbers = {number_of(label) for label in wins}
        found = [v for v in self._candidates if v.title != NUMBERS.title or numbers == {"1", "2"}]
        by_name = next((v for v in found if v.names_winner), None)
        if by_name is None or self._names.own_name or UNKNOWN in self._read(by_name):
            return found
        words = read_sides(list(labels))
        codes = read_numbers(wins, self._names.tie) if "0" in numbers and numbers <= CODES else ()
        return found + [
            replace(list_candidates(meant)[0], title=meant.remedy.words)
            for meant in (*([words] if words else ()), *codes)
        ]

    def _refuse(
        self,
        where: str,
        readings: Mapping[Vocabulary, list[int]],
        labels: Mapping[str, int],
        table: Table,
    ) -> InvalidVotesError | SettingsError:
        """Return the error for labels that no vocabulary knows, with what they may mean."""
        unknown = {
            vocabulary.title: [k for k, outcome in enumerate(outcomes) if outcome == UNKNOWN]
            for vocabulary, outcomes in readings.items()
        }
        n_of = {title: sum(self._counts[k] for k in numbers) for title, numbers in unknown.items()}
        best = min(n_of, key=n_of.__getitem__)
        n_rows, n_unknown = self._counts.total(), n_of[best]
        listed = first_few([f"{label!r} ({n:,})" for label, n in labels.items()], _SHOWN_LABELS)
        says_who_won = any({LEFT_WON, RIGHT_WON} & {*outcomes} for outcomes in readings.values())
        is_code = {number_of(label) for label in labels} <= CODES
        if not self._names.left and (not says_who_won or is_code or 2 * n_unknown > n_rows):
            ties = [tie for tie in self._names.tie if tie in labels]
            remedies = _list_remedies(list_meanings(list(labels), ties))
            choice = "; it may mean:" if remedies else f"; say it with {_OPTIONS}"
            return SettingsError(
                f"{where}: nothing says what its labels mean, here with the rows of each: {listed}"
                f"{choice}",
                remedies=remedies,
            )
        examples = ", ".join(self._show(unknown[best], table))
        more = ", ..." if n_unknown > _SHOWN_ROWS else ""
        by_words = None if self._names.left else read_sides(list(labels))
        return InvalidVotesError(
            f"{where}: {n_unknown:,} of {n_rows:,} rows are not in {best}, as the others are: "
            f"{examples}{more}. All labels, with the rows of each: {listed}. All must be in one "
            f"vocabulary ({', '.join(unknown)}); correct the labels, or say what they mean "
            f"with {_OPTIONS}" + (", such as:" if by_words else ""),
            remedies=_list_remedies([by_words] if by_words else []),
        )

    def _show(self, numbers: Sequence[int], table: Table) -> list[str]:
        """Say what the first rows with these combinations hold."""
        texts = list(self._texts)
        rows = sorted(row for number in numbers for row in self._rows[number])[:_SHOWN_ROWS]
        return [f"{table.place(row)} has {texts[text]!r}" for row, text in rows]


def _list_remedies(meanings: Iterable[OutcomeNames]) -> list[Remedy]:
    """Return the ways to say these, where a command line can hold their labels."""
    remedies = [meaning.remedy for meaning in meanings]
    return [remedy for remedy in remedies if remedy.words.isprintable()]
