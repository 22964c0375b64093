"""How far raters agree on the scores of the same completions, by axis and kind of rater.

Krippendorff's alpha at interval level takes gaps as they come; ICC(A,1) and ICC(A,k) are over the
completions that all raters of the kind rated, of one rater and of the mean of all. Intervals
resample items with all their completions, raters given.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hearteval.analysis.agreement.measures import (
    AgreementMeasure,
    AgreementSettings,
    measure_table,
    stepped_up,
)
from hearteval.analysis.scores.columns import RatingColumns
from hearteval.analysis.scores.scores import OVERALL
from hearteval.errors import NotIdentifiedError
from hearteval.stats.agreement.icc import icc_a1
from hearteval.stats.agreement.krippendorff import krippendorff_alpha
from hearteval.stats.agreement.table import lay_out
from hearteval.stats.comparisons import BoolArray, FloatArray

N_RESAMPLES = 200
"""The interval takes from them their standard deviation alone."""
MIN_ITEMS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterAgreement:
    """How far raters of one kind agree on an axis.

    Attributes:
        raters: ``people``, ``judges`` or ``both`` together.
        axis: Its letter, or ``overall``: the weighted mean over the axes.
        n_completions: Rated by two of them or more.
        alpha: Krippendorff's.
        icc: ICC(A,1), of one rater.
        icc_mean: ICC(A,k), of the mean of all `n_raters`.
    """

    raters: str
    axis: str
    n_raters: int
    n_completions: int
    n_items: int
    alpha: AgreementMeasure
    icc: AgreementMeasure
    icc_mean: AgreementMeasure


def measure_raters(
    columns: RatingColumns, *, level: float, seed: int
) -> tuple[RaterAgreement, ...]:
    """Measure every kind of which two raters scored a completion together, overall and by axis."""
    kinds: dict[str, BoolArray] = {
        "people": columns.is_person,
        "judges": ~columns.is_person,
        "both": np.ones(len(columns.item), dtype=np.bool_),
    }
    if columns.is_person.all() or not columns.is_person.any():
        del kinds["both"]
    found = []
    for name, is_kind in kinds.items():
        for axis in (None, *columns.axes):
            values = columns.column(axis, is_z=False)
            made = _measure(columns, values, is_kind & ~np.isnan(values), level=level, seed=seed)
            if made is not None:
                found.append(RaterAgreement(raters=name, axis=axis or OVERALL, **made))
    return tuple(found)


def _measure(
    columns: RatingColumns, values: FloatArray, rows: BoolArray, *, level: float, seed: int
) -> dict[str, Any] | None:
    table = lay_out(columns.text[rows], columns.rater[rows], values[rows])
    _, first = np.unique(columns.text[rows], return_index=True)
    item = columns.item[rows][first]
    shared = table.is_pairable
    if not shared.any():
        return None
    n_items = len(np.unique(item[shared]))

    def enough(_: str) -> int:
        if n_items < MIN_ITEMS:
            raise NotIdentifiedError(f"too few items: {n_items}")
        return n_items

    measures, _ = measure_table(
        table,
        {
            "alpha": lambda: krippendorff_alpha(table, level="interval"),
            "icc": lambda: icc_a1(table),
        },
        AgreementSettings(level="interval", resamples=N_RESAMPLES, seed=seed, confidence=level),
        n_units=enough,
        cluster=np.unique(item, return_inverse=True)[1],
    )
    return {
        "n_raters": table.n_raters,
        "n_completions": int(shared.sum()),
        "n_items": n_items,
        **measures,
        "icc_mean": stepped_up(measures["icc"], table.n_raters),
    }
