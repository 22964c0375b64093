"""Rows of votes -> columns of small integers, and what is left out.

Names, strengths and covariates are numbered as they come. In which vocabulary the winners are
written is known at the end only, so until then a row keeps the code of its label.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from heartbench.exchange.columns import CodedColumn, FirstSeen, Int32Array, Names
from heartbench.exchange.item_groups import ITEM, ItemGroups
from heartbench.exchange.name_warnings import MissingWords
from heartbench.exchange.vocabulary import OutcomeNames
from heartbench.exchange.winner_column import WinnerColumn
from heartbench.stats.comparisons import BoolArray, FloatArray

MISSING_SYSTEM = "missing system"
SAME_SYSTEM = "same system twice"
MISSING_WINNER = "missing winner"
MISSING_CLUSTER = "missing cluster"
MISSING_RATER = "missing rater"
BAD_COVARIATE = "bad covariate"

STRENGTH, RATER, COVARIATES = "strength", "rater", "covariates"
"""Roles of columns that need not be there, as `ITEM`."""
NO_STRENGTH = 0
"""Code of a cell that holds no strength."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteColumns:
    """Which columns of a table hold what.

    Attributes:
        left: Name of the system shown left, or first.
        right: Name of the other system.
        winner: Who won, or that nobody did.
        strength: How strongly, a number above 0.
        cluster: The item voted on.
        rater: Who voted.
        covariates: Numbers to control for.
    """

    left: str
    right: str
    winner: str
    strength: str | None = None
    cluster: str | None = None
    rater: str | None = None
    covariates: tuple[str, ...] = ()

    def by_role(self) -> dict[str, str]:
        """Return the column of each role that has one, covariates apart."""
        columns = asdict(self)
        del columns["covariates"]
        return {role: name for role, name in columns.items() if name is not None}


class VoteCoder:
    """Codes votes, batch after batch.

    Args:
        columns: Which columns hold what.
        names: What somebody says the labels of winners mean.

    Attributes:
        roles: What the columns of `code` are.
        systems: Codes of systems, and of labels.
        lost_systems: Codes of the systems in rows that were left out.
        winner: The labels so far.
        missing_words: Names so far that may mean missing.
        bad_strength: Row and text of the first cell that holds something else than a strength.
        strengths: Codes of strengths, that of a cell without one among them.
        items: Items.
        raters: Codes of raters.
        covariates: Codes of the covariates of a row, taken together.
        n_rows: Rows so far.
        n_dropped: Rows left out; of several reasons, the first counts.
    """

    def __init__(self, columns: VoteColumns, names: OutcomeNames) -> None:
        self._columns = columns
        self.systems = Names()
        self.lost_systems: set[int] = set()
        self.winner = WinnerColumn(names, self.systems)
        self.missing_words = MissingWords()
        self._meant = {*names.left, *names.right, *names.tie}
        self.bad_strength: tuple[int, str] | None = None
        self.strengths = FirstSeen({0.0: NO_STRENGTH})
        self.items = ItemGroups()
        self.raters = Names()
        self.covariates = FirstSeen[tuple[float, ...]]()
        optional = {
            STRENGTH: columns.strength,
            ITEM: columns.cluster,
            RATER: columns.rater,
            COVARIATES: columns.covariates or None,
        }
        given = [role for role, column in optional.items() if column is not None]
        self.roles = ("left", "right", "winner", *given)
        self.n_rows = 0
        self.n_dropped: Counter[str] = Counter()

    def code(self, batch: Mapping[str, CodedColumn]) -> dict[str, Int32Array]:
        """Return the rows that are kept, as one column for each of `roles`."""
        rows = self._translate(batch)
        left, right = rows["left"], rows["right"]
        numbers = np.arange(self.n_rows + 1, self.n_rows + 1 + len(left))
        self.n_rows += len(left)
        is_kept = self._note_dropped(
            rows,
            (MISSING_SYSTEM, (left < 0) | (right < 0)),
            (SAME_SYSTEM, left == right),
            (MISSING_WINNER, rows["winner"] < 0),
        )
        rows = {role: column[is_kept] for role, column in rows.items()}
        rows["winner"] = self.winner.add(
            rows["winner"], rows["left"], rows["right"], numbers[is_kept]
        )
        reasons = {ITEM: MISSING_CLUSTER, RATER: MISSING_RATER, COVARIATES: BAD_COVARIATE}
        is_kept = self._note_dropped(
            rows, *((reason, rows[role] < 0) for role, reason in reasons.items() if role in rows)
        )
        rows = {role: column[is_kept] for role, column in rows.items()}
        if ITEM in rows:
            rows[ITEM] = self.items.place(rows[ITEM])
        return rows

    def _translate(self, batch: Mapping[str, CodedColumn]) -> dict[str, Int32Array]:
        columns = self._columns
        for name in filter(None, (columns.left, columns.right, columns.cluster, columns.rater)):
            self.missing_words.add(name, batch[name])
        self.missing_words.add(columns.winner, batch[columns.winner], meant=self._meant)
        votes = {"left": columns.left, "right": columns.right, "winner": columns.winner}
        rows = {role: self.systems.translate(batch[name]) for role, name in votes.items()}
        if columns.strength is not None:
            rows[STRENGTH] = self._translate_strengths(batch[columns.strength])
        if columns.cluster is not None:
            rows[ITEM] = self.items.names.translate(batch[columns.cluster])
        if columns.rater is not None:
            rows[RATER] = self.raters.translate(batch[columns.rater])
        if columns.covariates:
            rows[COVARIATES] = self._translate_covariates([batch[c] for c in columns.covariates])
        return rows

    def _translate_strengths(self, column: CodedColumn) -> Int32Array:
        found = map(_read_finite, column.values)
        codes_of_texts = [
            self.strengths[strength] if strength > 0 else NO_STRENGTH  # not above 0 if NaN, too
            for strength in found
        ]
        codes = np.array([*codes_of_texts, NO_STRENGTH], dtype=np.int32)[column.codes]
        if self.bad_strength is None:
            bad = np.flatnonzero((codes == NO_STRENGTH) & (column.codes >= 0))[:1].tolist()
            cells = [(self.n_rows + 1 + row, column.values[column.codes[row]]) for row in bad]
            self.bad_strength = next(iter(cells), None)
        return codes

    def _translate_covariates(self, columns: Sequence[CodedColumn]) -> Int32Array:
        numbers = np.array([_read_numbers(column) for column in columns])
        is_good = ~np.isnan(numbers).any(axis=0)
        # One code for all: a code each would soon be more combinations than a tally can tell apart.
        keys = zip(*numbers[:, is_good].tolist(), strict=True)
        codes = np.full(len(is_good), -1, np.int32)
        codes[is_good] = np.fromiter(
            map(self.covariates.__getitem__, keys), np.int32, np.count_nonzero(is_good)
        )
        return codes

    def _note_dropped(
        self, rows: Mapping[str, Int32Array], *problems: tuple[str, BoolArray]
    ) -> BoolArray | slice:
        """Count the rows that have a problem, each once; return which have none."""
        is_dropped = np.zeros(len(rows["left"]), np.bool_)
        for reason, is_bad in problems:
            self.n_dropped[reason] += int(np.count_nonzero(is_bad & ~is_dropped))
            is_dropped |= is_bad
        if not is_dropped.any():
            return slice(None)
        self.note_lost(rows["left"][is_dropped], rows["right"][is_dropped])
        return ~is_dropped

    def note_lost(self, *columns: NDArray[np.integer]) -> None:
        """Note that rows with these systems, or none (-1), are left out."""
        for column in columns:
            self.lost_systems.update(set(np.unique(column).tolist()) - {-1})


def _read_numbers(column: CodedColumn) -> FloatArray:
    """Return the numbers that cells hold as text, NaN where they hold none."""
    return np.array([*map(_read_finite, column.values), math.nan])[column.codes]


def _read_finite(text: str) -> float:
    """Return the finite number that a text stands for, NaN for none."""
    try:
        number = float(text)
    except ValueError:
        return math.nan
    # Python reads 1_0 as 10, which no one writes in a table on purpose. Adding 0 drops a minus.
    return number + 0.0 if math.isfinite(number) and "_" not in text else math.nan
