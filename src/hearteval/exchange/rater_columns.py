"""Which columns of a wide table hold ratings, where nobody names them.

A column that does not look like the others is never taken for a rater in silence: one named like an
id, a text or a time, one that says something else in every row, one off the others' scale. Each is
named with its reason and the command for the rest; whoever names the columns is always believed.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np

from hearteval.analysis.agreement.ratings import finite_number
from hearteval.domain.systems import SIMULATED
from hearteval.errors import InvalidVotesError, Remedy, SettingsError, first_few
from hearteval.exchange.tables.columns import Int32Array, MissingWords, Names, Table, is_blank
from hearteval.stats.comparisons import BoolArray, FloatArray, IntArray

ID_WORDS = frozenset(
    {"id", "ids", "uid", "uuid", "guid", "idx", "index", "key", "rowid", "rownames", "rownumber"}
    | {"unnamed"}  # what pandas calls the numbers of the rows
)
OTHER_WORDS = frozenset(
    {"name", "names", "text", "texts", "comment", "comments", "note", "notes", "remark", "remarks"}
    | {"rationale", "timestamp", "date", "datetime", "time", "email", "url"}
)
"""Words in a name of which one says that a column holds no ratings."""
UNIT_NAMES = frozenset(
    {"unit", "item", "prompt", "question", "dialogue", "conversation", "instruction", "case"}
    | {"subject", "participant", "respondent", "row"}
)
OTHER_NAMES = frozenset(
    {"age", "sex", "gender", "education", "country", "language", "split", "group", "condition"}
    | {"system", "model", "source", "mean", "average", "total", "sum", "n", "seconds", "duration"}
    | {"model_a", "model_b", "model_x", "model_y", SIMULATED}
)
"""Whole names that say so; item_1, item_2 … are columns of a questionnaire."""
RATER_NAMES = frozenset({"rater", "annotator", "coder", "worker", "judge", "voter", "evaluator"})
"""Whole names of the column of who rates, in a table with one rating a row."""
MOST_CELLS = 0.5
"""Share of a column's cells that lie on the scale of another where both have one scale."""
ALL_UNIQUE, FEW_UNIQUE = 0.9, 0.5
"""Distinct values a cell: from the first on a column names rows, where others have the second."""
MIN_UNIQUE = 10
"""Cells under which ratings may differ in every row by chance."""
MIN_CELLS = 4
"""Cells under which nothing but its name tells what a column is."""
STEPS = 11
"""Values up to which a scale is one of steps, which several raters use."""
MOST_WIDER = 2.5
"""How much wider the range of one column may be than that of another on one scale without steps."""
MAX_SHOWN = 12
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


class _Cells:
    """What a column holds: distinct texts in the order in which they come, with counts."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.names = Names()
        self.counts: IntArray = np.zeros(0, np.int64)
        self.n_rows = 0

    def add(self, codes: Int32Array) -> None:
        self.n_rows += len(codes)
        more = np.bincount(codes[codes >= 0], minlength=len(self.names))
        more[: len(self.counts)] += self.counts
        self.counts = more

    @property
    def n_cells(self) -> int:
        return int(self.counts.sum())

    @property
    def is_unique(self) -> bool:
        return self.n_rows == self.n_cells == np.count_nonzero(self.counts)

    @property
    def share_distinct(self) -> float:
        return float(np.count_nonzero(self.counts)) / max(self.n_cells, 1)

    @cached_property
    def numbers(self) -> FloatArray:
        """Of each text, NaN for none."""
        return np.array([finite_number(text) for text in self.names])

    @property
    def is_numeric(self) -> bool:
        return bool(self.share(~np.isnan(self.numbers)) >= MOST_CELLS)

    def share(self, is_chosen: BoolArray) -> float:
        """Return the share of the cells whose text is chosen."""
        return float(self.counts[is_chosen].sum()) / max(self.n_cells, 1)

    @property
    def ends(self) -> tuple[float, float]:
        used = self.numbers[self.counts > 0]
        return float(np.nanmin(used)), float(np.nanmax(used))

    @property
    def counts_rows(self) -> bool:
        """Whether it holds 1, 2, 3 … in the order of the rows."""
        steps = all(two - one == 1 for one, two in pairwise(self.numbers.tolist()))
        return self.is_unique and steps


def choose_raters(table: Table, taken: Iterable[str | None]) -> tuple[str, ...]:
    """Return the columns that are raters: all that have a name and are not taken.

    Raises:
        SettingsError: Some do not look like the others; it names them, the reasons, and the
            arguments that take the rest. Or there are under two.
    """
    taken = {name for name in taken if name is not None}
    # Spreadsheets leave columns without a name, and nobody could say that one is a rater.
    found = [n for n in table.column_names if n not in taken and not is_blank(n)]
    table.check_columns(found)
    refused = {name: why for name in found if (why := _named_like(name))}
    others = [name for name in found if name not in refused]
    cells, unread = _read_cells(table, others)
    refused |= unread | _unlike(cells)
    if refused and len(found) > 1:
        ids = [name for name in found if is_id(name)]
        named = [] if taken else [*_read_cells(table, ids)[0], *cells]
        raise _refusal(table, found, refused, named)
    return tuple(found)


def is_id(name: str) -> bool:
    """Say whether a column is named as what tells units apart."""
    return bool(ID_WORDS.intersection(_words(name))) or name.strip().casefold() in UNIT_NAMES


def _words(name: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(name)]


def _named_like(name: str) -> str | None:
    if is_id(name):
        return "is named like an id"
    if name.strip().casefold() in RATER_NAMES:
        return "is named like who rates"
    is_other = OTHER_WORDS.intersection(_words(name)) or name.strip().casefold() in OTHER_NAMES
    return "is named like no rating" if is_other else None


def _read_cells(table: Table, names: Sequence[str]) -> tuple[list[_Cells], dict[str, str]]:
    """Return what columns hold, and those that hold what can be no rating, such as lists."""
    try:
        return _read_together(table, names), {}
    except (SettingsError, InvalidVotesError):
        if len(names) == 1:
            return [], {names[0]: "holds lists, or several types"}
    # Which column it was is seen where each is read alone.
    parts = [_read_cells(table, [name]) for name in names]
    cells = [each for part, _ in parts for each in part]
    if not cells:
        _read_together(table, names)
    return cells, {name: why for _, unread in parts for name, why in unread.items()}


def _read_together(table: Table, names: Sequence[str]) -> list[_Cells]:
    cells, words = [_Cells(name) for name in names], MissingWords()
    for batch in table.batches(tuple(names)) if names else ():
        for each in cells:
            each.add(each.names.translate(words.drop(each.name, batch[each.name])))
    return cells


def _unlike(columns: Sequence[_Cells]) -> dict[str, str]:
    """Return why columns are not like the others."""
    refused = {c.name: "is empty" for c in columns if not c.n_cells}
    for find in (_naming_rows, _of_other_kind, _off_scale, _flags):
        refused |= find([c for c in columns if c.name not in refused and c.n_cells >= MIN_CELLS])
    return refused


def _naming_rows(columns: Sequence[_Cells]) -> dict[str, str]:
    unique = [c for c in columns if c.n_cells >= MIN_UNIQUE and c.share_distinct >= ALL_UNIQUE]
    others = [c for c in columns if c not in unique]
    found = {c.name: "numbers the rows" for c in columns if c.counts_rows}
    if len(found) == len(columns):
        found = {}
    if others and max(c.share_distinct for c in others) <= FEW_UNIQUE:
        found = {c.name: "differs in every row" for c in unique} | found
    return found


def _of_other_kind(columns: Sequence[_Cells]) -> dict[str, str]:
    texts = [c.name for c in columns if not c.is_numeric]
    if 2 * len(texts) > len(columns):
        return {c.name: "holds numbers, the others words" for c in columns if c.is_numeric}
    return dict.fromkeys(texts, "holds words, the others numbers")


def _off_scale(columns: Sequence[_Cells]) -> dict[str, str]:
    """Return the columns that are not on the scale that most have."""
    if not columns:
        return {}
    most = max((_same_scale(one, columns) for one in columns), key=len)
    off = [c for c in columns if c not in most]
    if not columns[0].is_numeric:
        return {c.name: "holds other words than the others" for c in off}
    ends = [c.ends for c in most]
    scale = _range(min(low for low, _ in ends), max(high for _, high in ends))
    return {c.name: f"holds {_range(*c.ends)}, the others {scale}" for c in off}


def _same_scale(first: _Cells, columns: Sequence[_Cells]) -> list[_Cells]:
    """Return the columns with the scale of one, or of one that has it: they may hardly overlap."""
    found = [first]
    for one in found:
        found += [c for c in columns if c not in found and _are_alike(one, c)]
    return found


def _are_alike(one: _Cells, other: _Cells) -> bool:
    """Say whether most cells of one lie on the scale of the other, and both are about as wide."""
    if one.is_numeric and max(len(one.names), len(other.names)) > STEPS:
        narrow, wide = sorted(c.ends[1] - c.ends[0] for c in (one, other))
        if wide > MOST_WIDER * narrow:
            return False
    return any(a.share(_on_scale(a, b)) >= MOST_CELLS for a, b in ((one, other), (other, one)))


def _on_scale(one: _Cells, other: _Cells) -> BoolArray:
    """Say which texts of one lie between the numbers of the other, or are words of it."""
    if one.is_numeric:
        low, high = other.ends
        return (one.numbers >= low) & (one.numbers <= high)
    return np.array([text in other.names for text in one.names], np.bool_)


def _flags(columns: Sequence[_Cells]) -> dict[str, str]:
    """Return the columns of two numbers of which one is nobody else's, as 0 and 1 beside 1 to 5."""
    found: dict[str, str] = {}
    for column in columns if len(columns) > 2 and columns[0].is_numeric else ():
        known = np.unique(np.concatenate([c.numbers for c in columns if c is not column]))
        is_own = not np.isin(column.numbers, known).all()
        if is_own and len(column.names) == 2 < len(known) <= STEPS:
            low, high = column.ends
            found[column.name] = f"holds {low:.6g} and {high:.6g}, which the others do not"
    return found


def _range(low: float, high: float) -> str:
    return f"{low:.6g}" if low == high else f"{low:.6g} to {high:.6g}"


def _refusal(
    table: Table, found: Sequence[str], refused: Mapping[str, str], named: Sequence[_Cells]
) -> SettingsError:
    """Return the error for columns that may be no raters, with the arguments for the rest."""
    listed = first_few(
        [f"{name!r} {refused[name]}" for name in found if name in refused], MAX_SHOWN
    )
    problem = f"{table.label}: these columns may be no raters: {listed}."
    rest = tuple(name for name in found if name not in refused)
    is_long = any(name.strip().casefold() in RATER_NAMES for name in found)
    if is_long:
        problem += (
            " If one row is one rating, leave --wide out (in Python wide) and name the unit, the"
            " rater and the value."
        )
    if is_long and len(rest) < 2:
        return SettingsError(problem, ids=list(refused))
    unit = next((c.name for c in named if c.is_unique and c.name in refused), None)
    if len(rest) < 2:
        rest, unit = tuple(found), None
    words = f"the raters are {first_few(rest, MAX_SHOWN)}"
    remedy = Remedy(words, {"rater": rest})
    if unit is not None:
        remedy = Remedy(f"{words}; the unit is {unit}", {"unit": (unit,), "rater": rest})
    return SettingsError(
        f"{problem} Name the columns of the raters:", ids=list(refused), remedies=[remedy]
    )
