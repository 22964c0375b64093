"""Votes in layouts of their own, seen as a table with a column for each side and one for who won.

Known are the three columns of LMArena's data (``winner_model_a``, ``winner_model_b``,
``winner_tie``) and the nested games of Arena-Hard's judgments. Both are recognised by the names of
their columns; nothing in them is guessed, and a row that does not fit stops the reading.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from hearteval.errors import InvalidVotesError, Remedy, SettingsError
from hearteval.exchange.tables.columns import (
    CellCoder,
    CodedColumn,
    Int32Array,
    Table,
)
from hearteval.exchange.tables.views import View
from hearteval.exchange.votes.meanings import OutcomeNames
from hearteval.exchange.votes.winner import STRONG

SIDES = {"left": "model_a", "right": "model_b", "winner": "winner"}
"""The columns that a layout is given."""
ONE_HOT = ("winner_model_a", "winner_model_b", "winner_tie")
OUTCOMES = ("model_a", "model_b", "tie")
YES, NO = frozenset({"1", "1.0", "true", "True"}), frozenset({"0", "0.0", "false", "False"})
GAMES, MODEL = "games", "model"
STRENGTH = "strength"
GAMES_A_ROW = 2
"""One in each order."""
STRONG_WEIGHT = 3
"""What Arena-Hard counts ``A>>B`` as."""
V1_BASELINE, V1_ID = "gpt-4-0314", "question_id"
"""Of Arena-Hard 0.1, known by the name of its prompts' id; of no other version."""
CATEGORY, OTHER_BASELINE = "category", "creative_writing"
"""In Arena-Hard 2 this category has another baseline than the rest."""
BATCH_ROWS = 1 << 14
SHOWN_ROWS = 5


def open_layout(table: Table, sides: Mapping[str, str | None], baseline: str | None) -> Table:
    """Return the table, or what a known layout of it says; its columns are then those of `SIDES`.

    Raises:
        SettingsError: A column of a layout is named as that of the winner, there are games and no
            baseline, or a baseline and no games.
    """
    has = set(table.column_names).issuperset
    if has((GAMES, MODEL)) and not any(sides.values()):
        return GamesTable(table, baseline or _ask_baseline(table))
    if baseline is not None:
        raise SettingsError(
            f"{table.label} holds no {GAMES!r} of Arena-Hard, which a baseline is for; leave it out"
        )
    known = ONE_HOT if has((SIDES["winner"],)) else (None, *ONE_HOT)
    return OneHotTable(table) if has(ONE_HOT) and sides["winner"] in known else table


class OneHotTable(View):
    """A table in which one of three columns holds a 1, as one with a column of winners."""

    def __init__(self, table: Table) -> None:
        names = [name for name in table.column_names if name not in ONE_HOT]
        super().__init__(table, (*names, SIDES["winner"]))

    def batches(self, names: Sequence[str]) -> Iterator[Mapping[str, CodedColumn]]:
        """Yield the rows; one in which all three cells are empty has no winner."""
        others = [name for name in names if name != SIDES["winner"]]
        n_rows = 0
        for batch in self.table.batches(tuple(dict.fromkeys((*others, *ONE_HOT)))):
            winner = self._code([batch[name] for name in ONE_HOT], n_rows)
            n_rows += len(winner.codes)
            yield {**{name: batch[name] for name in others}, SIDES["winner"]: winner}

    def _code(self, columns: Sequence[CodedColumn], n_rows: int) -> CodedColumn:
        cells = np.stack([_flags(column) for column in columns])
        is_missing = (cells == MISSING).all(axis=0)
        is_good = is_missing | (((cells == 1).sum(axis=0) == 1) & ((cells == 0).sum(axis=0) == 2))
        bad = np.flatnonzero(~is_good)
        if len(bad):
            places = ", ".join(self.place(n_rows + row + 1) for row in bad[:SHOWN_ROWS].tolist())
            raise InvalidVotesError(
                f"{self.label}: {', '.join(ONE_HOT)} must hold one 1 and two 0 in every row; they"
                f" do not in {places}{', ...' if len(bad) > SHOWN_ROWS else ''}"
            )
        codes = np.where(is_missing, -1, cells.argmax(axis=0)).astype(np.int32)
        return CodedColumn(codes=codes, values=OUTCOMES)


MISSING, NO_FLAG = -1, -2


def _flags(column: CodedColumn) -> Int32Array:
    """Return 1, 0, missing or neither for each cell."""
    known = [1 if v in YES else 0 if v in NO else NO_FLAG for v in column.values]
    return np.array([*known, MISSING], np.int32)[column.codes]


class GamesTable(View):
    """Judgments of Arena-Hard, two games a row, as one game a row.

    In the first game A is the baseline and B the model, in the second it is the other way round.
    The strength is 3 for ``A>>B`` and ``B>>A``, as Arena-Hard counts them, else 1.
    """

    def __init__(self, table: Table, baseline: str) -> None:
        self._baseline = baseline
        own = [name for name in table.column_names if name not in (GAMES, MODEL, STRENGTH)]
        super().__init__(table, (*own, *SIDES.values(), STRENGTH))

    def place(self, row: int) -> str:
        """Say which game of which row it is."""
        of, game = divmod(row - 1, GAMES_A_ROW)
        return f"{self.table.place(of + 1)}, game {game + 1}"

    def batches(self, names: Sequence[str]) -> Iterator[Mapping[str, CodedColumn]]:
        """Yield one row for each game; one that is null or has no score has no winner."""
        self.check_columns(names)
        coders = {name: CellCoder(name, self) for name in names}
        n_rows = 0
        for rows in self._unfold():
            yield {
                name: coder.code([row.get(name) for row in rows], n_rows + 1)
                for name, coder in coders.items()
            }
            n_rows += len(rows)

    def _unfold(self) -> Iterator[list[dict[str, Any]]]:
        unfolded: list[dict[str, Any]] = []
        has_other: set[bool] = set()
        for number, row in enumerate(self.table.rows(), start=1):
            if CATEGORY in row:
                has_other.add(row[CATEGORY] == OTHER_BASELINE)
            if len(has_other) > 1:
                raise SettingsError(
                    f"{self.label}: its categories have two baselines, that of {OTHER_BASELINE} and"
                    " that of the rest; rank each from a file of its own"
                )
            unfolded += self._read(row, number)
            if len(unfolded) >= BATCH_ROWS:
                yield unfolded
                unfolded = []
        if unfolded:
            yield unfolded

    def _read(self, row: Mapping[str, Any], number: int) -> Iterator[dict[str, Any]]:
        games, model = row.get(GAMES), row.get(MODEL)
        if not isinstance(games, list) or len(games) != GAMES_A_ROW:
            raise InvalidVotesError(
                f"{self.label}: {self.table.place(number)}: expected a list of two games, one in"
                " each order"
            )
        orders = ((self._baseline, model), (model, self._baseline))
        for shown, game in zip(orders, games, strict=True):
            if game is not None and not isinstance(game, Mapping):
                raise InvalidVotesError(
                    f"{self.label}: {self.table.place(number)}: a game is no object with a score"
                )
            verdict = (game or {}).get("score")
            one = dict(zip(SIDES.values(), (*shown, verdict), strict=True))
            yield {**row, **one, STRENGTH: STRONG_WEIGHT if verdict in STRONG else 1}


def check_no_names(names: OutcomeNames, label: str) -> None:
    """Raise `SettingsError` where somebody says what labels mean that a layout knows."""
    if names.left or names.tie or names.own_name:
        nothing = {"winner": None, "left_name": (), "right_name": (), "tie_name": ()}
        raise SettingsError(
            f"{label} says who won in a layout that is known, ties too; leave what labels mean"
            " out:",
            remedies=[Remedy("the columns as they are", {**nothing, "own_name": False})],
        )


def _ask_baseline(table: Table) -> str:
    """Raise the error of a file whose games do not say what each model was compared with."""
    is_v1 = V1_ID in table.column_names
    name = V1_BASELINE if is_v1 else "NAME"
    words = f"Arena-Hard 0.1, whose baseline is {name}" if is_v1 else "NAME is the baseline"
    raise SettingsError(
        f"{table.label} holds games of Arena-Hard, each of a model and a baseline that the file"
        " does not name; say which it is:",
        ids=["baseline"],
        remedies=[Remedy(words, {"baseline": name})],
    )
