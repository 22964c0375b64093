"""Where a table of ratings holds too little: no interval, or a warning. Coverages are measured."""

import numpy as np

from hearteval.errors import NotIdentifiedError
from hearteval.notices import Kind, Notice
from hearteval.stats.agreement.icc import count_complete
from hearteval.stats.agreement.table import (
    CodedRatings,
    Level,
    RatingTable,
    count_holders,
    count_support,
)
from hearteval.stats.comparisons import FloatArray

MIN_UNITS = 6
"""Units below which there is no interval: percentiles of 2 to 5 covered .21 to .89 as measured."""
MAX_SCALE = 20
MIN_HOLDERS = 5
"""With more values than `MAX_SCALE`, the lowest or the highest of which fewer units than these
hold, AC2 at interval and ratio level has no interval: its weights rest on that range, which grows
with the units, and no interval covers what more units would give."""
FEW_UNITS = 30
FEW_CASES = 10
"""Units that hold another value than the commonest, or whose ratings differ: intervals of kappa and
alpha cover .87 to .90 of a nominal .95 with 5 to 9 of them; AC1 and percent agreement .95."""


def check_support(name: str, n_units: int, table: RatingTable, level: Level) -> None:
    """Check that the units behind a measure can say how far others would differ.

    Raises:
        NotIdentifiedError: There are too few, or AC2 rests on the range of a few of them.
    """
    if n_units < MIN_UNITS:
        which = "that all raters rated" if name.startswith("icc_") else "with two values"
        raise NotIdentifiedError(
            f"no interval: it takes {MIN_UNITS} units {which} or more, and there"
            f" {'is' if n_units == 1 else 'are'} {n_units}"
        )
    is_range = name == "gwet_ac2" and level != "ordinal" and len(table.values) > MAX_SCALE
    if is_range and min(count_holders(table)[[0, -1]]) < MIN_HOLDERS:
        raise NotIdentifiedError(
            "no interval: it weighs by the lowest and the highest value in use, which fewer than"
            f" {MIN_HOLDERS} units hold, so that other units make it another measure"
        )


def agreement_warnings(ratings: CodedRatings, table: RatingTable, level: Level) -> list[Notice]:
    """Name what makes measures and intervals doubtful."""
    n = table.n_pairable
    warnings = []
    if not n:
        text = (
            "No unit has two values, so there is nothing to agree on. A table with a column for"
            " each rater is read with --wide (in Python wide=True)."
        )
        warnings.append(Notice(Kind.NO_INTERVAL, text))
    elif n < MIN_UNITS:
        have = "Only 1 unit has" if n == 1 else f"Only {n} units have"
        text = f"{have} two values: with fewer than {MIN_UNITS} nothing has an interval."
        warnings.append(Notice(Kind.NO_INTERVAL, text))
    elif n < FEW_UNITS:
        text = f"Only {n} units have two values: intervals from so few are often too narrow."
        warnings.append(Notice(Kind.FEW_ITEMS, text))
    n_differing, n_other = count_support(table)
    cases = (
        (n_other, f"Only {n_other} of {n} units hold any value but the commonest one"),
        (n_differing, f"Raters differ on only {n_differing} of {n} units"),
    )
    warnings += [
        Notice(Kind.FEW_CASES, f"{text}: intervals of kappa, alpha and ICC may be too narrow.")
        for n_cases, text in cases
        if n >= MIN_UNITS and 0 < n_cases < FEW_CASES and 2 * n_cases < n
    ]
    return [*warnings, *_left_out(ratings, table, level)]


def _left_out(ratings: CodedRatings, table: RatingTable, level: Level) -> list[Notice]:
    warnings = []
    n_complete, n_units = count_complete(table), len(ratings.units)
    if level != "nominal" and n_complete < table.n_pairable:
        few = ": intervals from so few are often too narrow" if n_complete < FEW_UNITS else ""
        text = (
            f"The ICCs use the {n_complete} of {n_units} units that all"
            f" {table.n_raters} raters rated{few}."
        )
        warnings.append(Notice(Kind.FEW_ITEMS if few else Kind.UNUSED, text))
    n_alone = n_units - table.n_pairable
    if n_alone:
        text = f"{n_alone} of {n_units} units have fewer than two values and carry no pair."
        warnings.append(Notice(Kind.UNUSED, text))
    n_silent = len(ratings.raters) - table.n_raters
    if n_silent:
        text = f"{n_silent} of {len(ratings.raters)} raters have no value that counts."
        warnings.append(Notice(Kind.UNUSED, text))
    return warnings


def find_odd(value: float, samples: FloatArray, level: float) -> bool:
    """Say whether an estimate lies outside the middle share `level` of its resampled values."""
    low, high = np.nanquantile(samples, ((1 - level) / 2, (1 + level) / 2))
    return not low <= value <= high
