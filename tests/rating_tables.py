"""Published tables of ratings, retyped, and how tests of agreement write a table down."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from hearteval.stats.agreement.table import MISSING, CodedRatings, RatingTable
from hearteval.stats.comparisons import FloatArray

SHARED = Path(__file__).resolve().parents[1] / ".." / "shared" / "data" / "reference"
NAN = float("nan")

KRIPPENDORFF_C = (  # Krippendorff (2011), reliability data with gaps; also Gwet (2014), page 120
    (1, 1, NAN, 1),
    (2, 2, 3, 2),
    (3, 3, 3, 3),
    (3, 3, 3, 3),
    (2, 2, 2, 2),
    (1, 2, 3, 4),
    (4, 4, 4, 4),
    (1, 1, 2, 1),
    (2, 2, 2, 2),
    (NAN, 5, 5, 5),
    (NAN, NAN, 1, 1),
    (NAN, NAN, 3, NAN),
)
SHROUT_FLEISS = (  # Shrout and Fleiss (1979), table 2
    (9, 2, 5, 8),
    (6, 1, 3, 2),
    (8, 4, 6, 8),
    (7, 1, 2, 6),
    (10, 5, 6, 9),
    (6, 2, 4, 7),
)
WINE = (  # the example of pingouin.intraclass_corr: 8 wines, 4 judges
    (1, 2, 0, 1),
    (1, 3, 3, 2),
    (3, 8, 1, 4),
    (6, 4, 3, 3),
    (6, 5, 5, 6),
    (7, 5, 6, 2),
    (8, 7, 7, 9),
    (9, 9, 9, 8),
)
ANXIETY = (  # the data `anxiety` of the R package irr: 20 people, 3 raters
    (3, 3, 2),
    (3, 6, 1),
    (3, 4, 4),
    (4, 6, 4),
    (5, 2, 3),
    (5, 4, 2),
    (2, 2, 1),
    (3, 4, 6),
    (5, 3, 1),
    (2, 3, 1),
    (2, 2, 1),
    (6, 3, 2),
    (1, 3, 3),
    (5, 3, 3),
    (2, 2, 1),
    (2, 2, 1),
    (1, 1, 3),
    (2, 3, 3),
    (4, 3, 2),
    (3, 4, 2),
)
VIDEO = (  # the data `video` of the same: 20 people, 4 raters
    (4, 4, 3, 4),
    (4, 4, 4, 5),
    (4, 4, 5, 5),
    (4, 4, 4, 4),
    (4, 3, 2, 4),
    (4, 4, 3, 4),
    (4, 3, 2, 5),
    (4, 4, 3, 4),
    (4, 3, 3, 4),
    (4, 3, 3, 4),
    (4, 4, 3, 4),
    (4, 3, 3, 4),
    (4, 4, 4, 4),
    (4, 4, 4, 4),
    (4, 4, 3, 4),
    (4, 4, 4, 4),
    (4, 4, 4, 4),
    (4, 4, 4, 4),
    (4, 4, 4, 4),
    (4, 5, 5, 4),
)
FLEISS_WIKIPEDIA = (  # ratings by category of 10 units by 14 raters
    (0, 0, 0, 0, 14),
    (0, 2, 6, 4, 2),
    (0, 0, 3, 5, 6),
    (0, 3, 9, 2, 0),
    (2, 2, 8, 1, 1),
    (7, 7, 0, 0, 0),
    (3, 2, 6, 3, 0),
    (2, 5, 3, 2, 2),
    (6, 5, 2, 1, 0),
    (0, 2, 2, 3, 7),
)
FLEISS_1971 = (  # the same for 30 patients by 6 psychiatrists and 5 diagnoses (Fleiss 1971)
    (0, 0, 0, 6, 0),
    (0, 3, 0, 0, 3),
    (0, 1, 4, 0, 1),
    (0, 0, 0, 0, 6),
    (0, 3, 0, 3, 0),
    (2, 0, 4, 0, 0),
    (0, 0, 4, 0, 2),
    (2, 0, 3, 1, 0),
    (2, 0, 0, 4, 0),
    (0, 0, 0, 0, 6),
    (1, 0, 0, 5, 0),
    (1, 1, 0, 4, 0),
    (0, 3, 3, 0, 0),
    (1, 0, 0, 5, 0),
    (0, 2, 0, 3, 1),
    (0, 0, 5, 0, 1),
    (3, 0, 0, 1, 2),
    (5, 1, 0, 0, 0),
    (0, 2, 0, 4, 0),
    (1, 0, 2, 0, 3),
    (0, 0, 0, 0, 6),
    (0, 1, 0, 5, 0),
    (0, 2, 0, 1, 3),
    (2, 0, 0, 4, 0),
    (1, 0, 0, 4, 1),
    (0, 5, 0, 1, 0),
    (4, 0, 0, 0, 2),
    (0, 2, 0, 4, 0),
    (1, 0, 5, 0, 0),
    (0, 0, 0, 0, 6),
)


def rating_table(wide: Sequence[Sequence[float]] | FloatArray) -> RatingTable:
    """Write down units by raters, NaN for a gap, as the table that `stats` takes."""
    cells = np.asarray(wide, dtype=np.float64)
    unit, rater = np.nonzero(~np.isnan(cells))
    values, category = np.unique(cells[unit, rater], return_inverse=True)
    return RatingTable(
        unit=unit,
        rater=rater,
        category=category,
        count=np.ones(len(cells), dtype=np.int64),
        values=values,
        n_units=cells.shape[0],
        n_raters=cells.shape[1],
    )


def from_counts(counts: Sequence[Sequence[int]]) -> list[list[int]]:
    """Spread counts of each unit's ratings by category over raters."""
    return [[k for k, n in enumerate(row) for _ in range(n)] for row in counts]


def coded_ratings(rows: Sequence[tuple[str, str, str | None]]) -> CodedRatings:
    """Write down rows of (unit, rater, text), None for a missing cell, as a file reader does."""
    units = tuple(dict.fromkeys(row[0] for row in rows))
    raters = tuple(dict.fromkeys(row[1] for row in rows))
    values = tuple(dict.fromkeys(row[2] for row in rows if row[2] is not None))
    return CodedRatings(
        units=units,
        raters=raters,
        values=values,
        unit=np.array([units.index(row[0]) for row in rows], dtype=np.int64),
        rater=np.array([raters.index(row[1]) for row in rows], dtype=np.int64),
        value=np.array(
            [MISSING if row[2] is None else values.index(row[2]) for row in rows], dtype=np.int64
        ),
    )


def long_rows(wide: Sequence[Sequence[float]]) -> list[tuple[str, str, str | None]]:
    """Write down units by raters as rows of a long table."""
    return [
        (f"unit {i:02}", f"rater {j}", None if np.isnan(cell) else f"{cell:g}")
        for i, row in enumerate(wide)
        for j, cell in enumerate(row)
    ]


def random_ratings(rng: np.random.Generator, *, n_raters: int, gaps: float) -> FloatArray:
    """Draw 40 units by raters who partly agree, on the unevenly spaced values 1, 2, 4, 7."""
    values = np.array([1.0, 2.0, 4.0, 7.0])
    truth = rng.integers(0, 4, size=(40, 1))
    slips = rng.random((40, n_raters)) < 0.4
    cells = values[np.where(slips, rng.integers(0, 4, size=(40, n_raters)), truth)]
    cells[rng.random(cells.shape) < gaps] = np.nan
    return cells
