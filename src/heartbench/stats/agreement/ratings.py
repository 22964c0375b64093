"""Ratings as a file holds them: one row for each cell of units by raters, as coded arrays.

Values are still text here. What a value means depends on the level of measurement, which is decided
in `heartbench.analysis.agreement`.
"""

from dataclasses import dataclass

import numpy as np

from heartbench.stats.comparisons import IntArray

MISSING = -1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CodedRatings:
    """Rows of (unit, rater, value), each an index into a tuple of distinct names.

    Attributes:
        units: Distinct names of the units, in any order.
        raters: Distinct names of the raters.
        values: Distinct texts of the cells.
        unit: Index of the unit of each row.
        rater: Index of the rater of each row.
        value: Index of the text of each row, or -1 where the cell is missing.
    """

    units: tuple[str, ...]
    raters: tuple[str, ...]
    values: tuple[str, ...]
    unit: IntArray
    rater: IntArray
    value: IntArray

    def __post_init__(self) -> None:
        lengths = [len(self.unit), len(self.rater), len(self.value)]
        if len(set(lengths)) > 1:
            raise ValueError(f"columns must be of one length, not {lengths}")
        _check_codes("unit", self.unit, self.units, lowest=0)
        _check_codes("rater", self.rater, self.raters, lowest=0)
        _check_codes("value", self.value, self.values, lowest=MISSING)

    def __len__(self) -> int:
        return len(self.unit)


def _check_codes(column: str, codes: IntArray, names: tuple[str, ...], *, lowest: int) -> None:
    if len(set(names)) < len(names):
        raise ValueError(f"the names of {column} must be distinct")
    is_bad = (codes < lowest) | (codes >= len(names))
    if is_bad.any():
        raise ValueError(f"row {np.argmax(is_bad)} has a {column} that is none of {len(names)}")
