"""How many items and raters each figure's interval rests on, and what is said where they are few.

A figure is a system's strength, a covariate's effect, a judge. One item, or in a two-way interval
one rater, gives no interval at all; few of them, or very uneven ones, give too narrow ones. The
thresholds are measured; coverages are of a nominal 95 %.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from heartbench.analysis.vote_intervals import MIN_RATERS
from heartbench.stats.comparisons import BoolArray, Comparisons, FloatArray, IntArray, number_labels

FEW_ITEMS = 10
"""Coverage for a system on 2, 3, 5, 10 items: .65, .73, .88, .94."""
FEW_ITEMS_OF_A_BOOTSTRAP = 30
"""Coverage of percentiles over 10, 15, 20, 40 items: .89, .90, .91, .93."""
FEW_EFFECTIVE_RATERS = 4
"""Two-way coverage at effective numbers of 3.7 and 1.5: .86 and .57."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Clusters:
    """Clusters that each figure is found in.

    Attributes:
        n: How many.
        n_effective: How many of equal size would be as uneven, 1 / sum share^2 (Kish 1965).
    """

    n: IntArray
    n_effective: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Support:
    """What the intervals of some figures rest on.

    Attributes:
        names: The figures, as warnings name them.
        unit: ``items``, or ``votes`` where each is an item of its own.
        items: Items, or votes, of each.
        raters: Sampled raters of each; None where raters are taken as given.
        n_effective_raters: How many equal raters would be as uneven as all sampled ones.
        largest_share: Of their votes, that of the rater with the most.
    """

    names: tuple[str, ...]
    unit: str
    items: Clusters
    raters: Clusters | None
    n_effective_raters: float
    largest_share: float

    @property
    def is_enough(self) -> BoolArray:
        """Whether a figure can have an interval: two items, and not one rater alone."""
        is_enough = self.items.n > 1
        return is_enough if self.raters is None else is_enough & (self.raters.n != 1)

    def warnings(self, *, has_width: BoolArray, few_items: int = FEW_ITEMS) -> list[str]:
        """Name what has no interval and what has too narrow a one.

        Args:
            has_width: Whether the standard error of a figure is more than rounding.
            few_items: Items under which intervals are too narrow.
        """
        is_few = (self.items.n > 1) & (self.items.n < few_items)
        is_uneven = (self.items.n >= few_items) & (self.items.n_effective < few_items)
        is_flat = self.is_enough & ~has_width
        said = (
            (self.items.n < 2, f"No interval for what rests on one of the {self.unit} only"),
            (is_flat, f"No interval where all {self.unit} say the same: that is no precision"),
            (is_few, f"On fewer than {few_items} {self.unit}, so that intervals are too narrow"),
        )
        warnings = [f"{text}: {self._list(which)}." for which, text in said if which.any()]
        if is_uneven.any():
            warnings.append(
                f"Most votes fall on few items, as many as fewer than {few_items} equal ones, so"
                f" that intervals are too narrow: {self._list(is_uneven, self.items.n_effective)}."
            )
        return [*warnings, *self._rater_warnings()]

    def _rater_warnings(self) -> list[str]:
        if self.raters is None:
            return []
        n, warnings = self.raters.n, []
        if (n == 1).any():
            warnings.append(
                f"No two-way interval for what one rater alone voted on: {self._list(n == 1)}."
            )
        is_few = (n > 1) & (n < MIN_RATERS)
        if is_few.any():
            warnings.append(
                f"Voted on by fewer than {MIN_RATERS} raters, so that two-way intervals are too"
                f" narrow: {self._list(is_few, n)}."
            )
        if self.n_effective_raters < FEW_EFFECTIVE_RATERS:
            warnings.append(
                f"One rater gave {100 * self.largest_share:.0f} % of the votes, so that all raters"
                f" count as {self.n_effective_raters:.1f} equal ones: two-way intervals are too"
                " narrow."
            )
        return warnings

    def _list(self, which: BoolArray, numbers: IntArray | FloatArray | None = None) -> str:
        places = np.flatnonzero(which)
        if numbers is None:
            return ", ".join(self.names[i] for i in places)
        return ", ".join(f"{self.names[i]} ({numbers[i]:.3g})" for i in places)


def find_support(
    comparisons: Comparisons,
    names: Sequence[str],
    *,
    others: tuple[IntArray, IntArray] | None = None,
    has_items: bool = True,
    over_raters: bool,
) -> Support:
    """Count the items and raters behind each system and, after them, other figures.

    Args:
        comparisons: Comparisons; a rater below 0 is a judge of a fixed panel.
        names: Systems by index, then the other figures.
        others: Figure and row of each entry: which rows bear on which of the other figures.
        has_items: Whether items are named; else every vote is one.
        over_raters: Whether raters count as sampled.
    """
    rows = np.arange(len(comparisons))
    figure, row = np.concatenate((comparisons.left, comparisons.right)), np.tile(rows, 2)
    if others is not None:
        figure, row = np.append(figure, others[0]), np.append(row, others[1])
    votes, n_figures = comparisons.count.astype(np.float64), len(names)
    if has_items:
        items = _count_clusters(figure, comparisons.item[row], votes[row], n_figures)
    else:
        n = np.bincount(figure, weights=votes[row], minlength=n_figures)
        items = Clusters(n=n.astype(np.int64), n_effective=n.astype(np.float64))
    rater = comparisons.rater
    is_sampled = rater >= 0
    entries = is_sampled[row]
    by_rater = np.bincount(rater[is_sampled], weights=votes[is_sampled], minlength=1)
    return Support(
        names=tuple(names),
        unit="items" if has_items else "votes",
        items=items,
        raters=_count_clusters(figure[entries], rater[row[entries]], votes[row[entries]], n_figures)
        if over_raters
        else None,
        n_effective_raters=float(votes[is_sampled].sum() ** 2 / max(1, (by_rater**2).sum())),
        largest_share=float(by_rater.max() / max(1, by_rater.sum())),
    )


def _count_clusters(
    figure: IntArray, cluster: IntArray, votes: FloatArray, n_figures: int
) -> Clusters:
    """Count the clusters among the entries of each figure; an entry is so many votes."""
    labels, n_clusters = number_labels(cluster)
    cells, entry_cell = np.unique(figure * n_clusters + labels, return_inverse=True)
    size = np.bincount(entry_cell, weights=votes, minlength=len(cells))
    owner = cells // max(1, n_clusters)
    total = np.bincount(owner, weights=size, minlength=n_figures)
    squares = np.bincount(owner, weights=size**2, minlength=n_figures)
    return Clusters(
        n=np.bincount(owner, minlength=n_figures), n_effective=total**2 / np.maximum(squares, 1)
    )
