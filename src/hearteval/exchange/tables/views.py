"""A table seen otherwise: several columns as one, or a column for each rater as one rating a row.

Both read the table behind them once, batch by batch.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from hearteval.errors import SettingsError
from hearteval.exchange.tables.columns import CodedColumn, FirstSeen, Table

JOINED_BY = " + "
"""Between the names of columns that are one."""
BETWEEN = " / "
"""Between their cells."""


class View(Table):
    """A table that stands for another: messages and warnings are those of the other."""

    def __init__(self, table: Table, column_names: Sequence[str]) -> None:
        super().__init__(table.label, column_names, table.report)
        self.table = table

    @property
    def warnings(self) -> tuple[str, ...]:
        """What may be wrong with the table."""
        return self.table.warnings

    def place(self, row: int) -> str:
        """Say where a row is."""
        return self.table.place(row)


class JoinedTable(View):
    """A table with more columns, each made of several: a cell for each combination of theirs."""

    def __init__(self, table: Table, joined: Mapping[str, Sequence[str]]) -> None:
        self._joined = joined
        names = [name for name in joined if name not in table.column_names]
        super().__init__(table, (*table.column_names, *names))

    def batches(self, names: Sequence[str]) -> Iterator[Mapping[str, CodedColumn]]:
        """Yield the rows, a cell that is made of several missing where one of them is."""
        needed = [part for name in names for part in self._joined.get(name, (name,))]
        for batch in self.table.batches(tuple(dict.fromkeys(needed))):
            yield {
                name: _join([batch[part] for part in self._joined[name]])
                if name in self._joined
                else batch[name]
                for name in names
            }


class WideTable(View):
    """A table with one column for each rater, as one with a rating a row.

    Its columns are those of `names`, and what else the table has. Without a column of units every
    row is a unit, called by its number.
    """

    UNIT, RATER, VALUE = "row", "rater", "the raters' cells"

    def __init__(self, table: Table, unit: str | None, raters: Sequence[str]) -> None:
        if len(raters) < 2:
            raise SettingsError(
                f"a wide table needs two columns of raters or more, not {len(raters)}"
            )
        self._unit, self.raters = unit, tuple(raters)
        self.unit = unit or self.UNIT
        super().__init__(table, (*table.column_names, self.UNIT, self.RATER, self.VALUE))

    def _check_single(self, name: str) -> None:
        """Let columns of the table be called as those of the view are."""

    def check_columns(self, names: Sequence[str]) -> None:
        """Raise `SettingsError` when a column that is asked for is not in the table."""
        self.table.check_columns(names)

    def batches(self, names: Sequence[str]) -> Iterator[Mapping[str, CodedColumn]]:
        """Yield each batch of the table once for each rater."""
        made = {self.UNIT, self.RATER, self.VALUE} - {self._unit}
        others = [name for name in names if name not in made]
        n_rows = 0
        for batch in self.table.batches(tuple(dict.fromkeys((*others, *self.raters)))):
            n = len(batch[self.raters[0]].codes)
            rows = np.arange(n, dtype=np.int32)
            numbers = tuple(str(n_rows + 1 + row) for row in range(n))
            n_rows += n
            for rater in self.raters:
                yield {
                    **{name: batch[name] for name in others},
                    self.unit: batch[self._unit]
                    if self._unit
                    else CodedColumn(codes=rows, values=numbers),
                    self.RATER: CodedColumn(codes=np.zeros(n, np.int32), values=(rater,)),
                    self.VALUE: batch[rater],
                }


def join_columns(table: Table, columns: Sequence[str]) -> tuple[Table, str]:
    """Return a table in which several columns are one, and its name; one column stays as it is.

    Raises:
        SettingsError: A column is named twice.
    """
    if len(columns) == 1:
        return table, columns[0]
    if len(set(columns)) < len(columns):
        raise SettingsError(f"a column is named twice: {', '.join(columns)}; name each once")
    name = JOINED_BY.join(columns)
    return JoinedTable(table, {name: tuple(columns)}), name


def _join(columns: Sequence[CodedColumn]) -> CodedColumn:
    codes = np.stack([column.codes for column in columns])
    is_there = (codes >= 0).all(axis=0)
    combinations, places = np.unique(codes[:, is_there], axis=1, return_inverse=True)
    seen = FirstSeen[str]()
    texts = [
        BETWEEN.join(_plain(column.values[code]) for column, code in zip(columns, row, strict=True))
        for row in combinations.T.tolist()
    ]
    of_text = np.array([*map(seen.__getitem__, texts)], dtype=np.int32)
    joined = np.full(codes.shape[1], -1, np.int32)
    joined[is_there] = of_text[places.reshape(-1)] if texts else 0
    return CodedColumn(codes=joined, values=tuple(seen))


def _plain(text: str) -> str:
    """Write a cell so that what stands between two cells is never part of one."""
    return text.replace("\\", "\\\\").replace(BETWEEN, f" \\{BETWEEN.strip()} ")
