"""How far two labelers agree on what completions do: Cohen's kappa and F1, by category.

What is present counts against all else: a labeler that cannot tell has not said present.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hearteval.analysis.estimates import Estimate, clustered_estimates
from hearteval.stats.comparisons import FloatArray, IntArray

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceAgreement:
    """How far two labelers agree on what is present.

    Attributes:
        category: Its key; ``all`` for the mean over the categories that have a figure.
        n_one: Completions of which the first says present; `n_other` likewise.
        same: Share of completions of which both say the same.
        kappa: Cohen's; None where either says the same of all.
        f1: Of what is present, the same whichever is taken as right; None where neither finds any.
    """

    one: str
    other: str
    category: str
    name: str
    n_completions: int
    n_items: int
    n_one: int
    n_other: int
    same: float
    kappa: Estimate | None
    f1: Estimate | None


class Marks(NamedTuple):
    """The labels of one source, a row a completion."""

    labeler: str
    item: IntArray
    system: IntArray
    present: FloatArray
    """1 or 0, (completions, categories)."""
    uncertain: FloatArray
    categories: tuple[str, ...]
    ids: tuple[str, ...]
    """Of the completions."""

    def among(self, rows: BoolArray) -> "Marks":
        """Return some of the rows."""
        return Marks(
            self.labeler,
            self.item[rows],
            self.system[rows],
            self.present[rows],
            self.uncertain[rows],
            self.categories,
            tuple(np.array(self.ids, dtype=object)[rows]),
        )


def agree(
    left: Marks, right: Marks, names: Mapping[str, str], *, level: float
) -> list[SourceAgreement]:
    """Compare two labelers on the completions and by the categories that both have labelled.

    The first row is the mean over the categories. Intervals are over items, by what each completion
    does to a figure.
    """
    keys = [key for key in left.categories if key in right.categories]
    place = {id_: k for k, id_ in enumerate(right.ids)}
    shared = [(k, place[id_]) for k, id_ in enumerate(left.ids) if id_ in place]
    if not shared or not keys:
        return []
    at, other_at = (list(column) for column in zip(*shared, strict=True))
    a = left.present[at][:, [left.categories.index(key) for key in keys]]
    b = right.present[other_at][:, [right.categories.index(key) for key in keys]]
    item = left.item[at]
    n, judges = len(item), np.full(len(item), -1)
    p, q, both = a.mean(axis=0), b.mean(axis=0), (a * b).mean(axis=0)
    same = (a == b).astype(np.float64)
    observed, expected = same.mean(axis=0), p * q + (1 - p) * (1 - q)
    moves_observed = (same - observed) / n
    moves_expected = ((a - p) * (2 * q - 1) + (b - q) * (2 * p - 1)) / n
    rows: list[SourceAgreement] = []
    moves: dict[str, list[FloatArray]] = {"kappa": [], "f1": []}
    for k, key in enumerate(keys):
        found: dict[str, Estimate | None] = {"kappa": None, "f1": None}
        if 0 < p[k] < 1 and 0 < q[k] < 1:
            rest = 1 - expected[k]
            move = (
                moves_observed[:, k] * rest - (1 - observed[k]) * moves_expected[:, k]
            ) / rest**2
            value = float((observed[k] - expected[k]) / rest)
            moves["kappa"].append(move)
            found["kappa"] = bounded(value, move, item, judges, low=-1.0, level=level)
        if p[k] + q[k] > 0:
            value = float(2 * both[k] / (p[k] + q[k]))
            move = (2 * a[:, k] * b[:, k] - value * (a[:, k] + b[:, k])) / (n * (p[k] + q[k]))
            moves["f1"].append(move)
            found["f1"] = bounded(value, move, item, judges, low=0.0, level=level)
        rows.append(
            SourceAgreement(
                one=left.labeler,
                other=right.labeler,
                category=key,
                name=names[key],
                n_completions=n,
                n_items=len(np.unique(item)),
                n_one=int(a[:, k].sum()),
                n_other=int(b[:, k].sum()),
                same=float(observed[k]),
                kappa=found["kappa"],
                f1=found["f1"],
            )
        )
    means: dict[str, Estimate | None] = {"kappa": None, "f1": None}
    for name, low in (("kappa", -1.0), ("f1", 0.0)):
        values = [at.value for row in rows if (at := getattr(row, name)) is not None]
        if values:
            move = np.mean(moves[name], axis=0)
            mean = float(np.mean(values))
            means[name] = bounded(mean, move, item, judges, low=low, level=level)
    whole = SourceAgreement(
        one=left.labeler,
        other=right.labeler,
        category="all",
        name="all",
        n_completions=n,
        n_items=len(np.unique(item)),
        n_one=int(a.sum()),
        n_other=int(b.sum()),
        same=float(same.mean()),
        kappa=means["kappa"],
        f1=means["f1"],
    )
    return [whole, *rows]


def bounded(
    value: float,
    moves: FloatArray,
    item: IntArray,
    judges: IntArray,
    *,
    low: float,
    level: float,
) -> Estimate:
    """Return a figure with its interval over items, kept within its scale."""
    one = clustered_estimates([value], moves[:, None], item, judges, level=level)[0]
    if one.low is None or one.high is None:
        return one
    return Estimate(value=value, low=max(low, one.low), high=min(1.0, one.high))
