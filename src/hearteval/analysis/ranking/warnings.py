"""What a reader must know beside the numbers: what the intervals rest on, and where it is little.

A figure is a system's strength, a covariate's effect, a judge. One item, or in a two-way interval
one rater, gives no interval at all; few of them, or very uneven ones, give too narrow ones. The
thresholds are measured; coverages are of a nominal 95 %. Vote files and studies are told the same,
each in its own words (`Wording`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hearteval.notices import Kind, Notice
from hearteval.stats.comparisons import (
    BoolArray,
    Comparisons,
    FloatArray,
    IntArray,
    number_labels,
    pack,
    packed_columns,
)

MIN_RATERS: Final = 5
"""With 3 raters a two-way interval is +-108 Elo wide (SPEC section 6)."""
MIN_WRITERS: Final = 5
"""With fewer, t over them is as wide as over so few raters (SPEC section 6)."""
FEW_ITEMS = 10
"""Coverage for a system on 2, 3, 5, 10 items: .65, .73, .88, .94."""
FEW_EFFECTIVE_ITEMS = 25
LOW_EVENNESS = 0.7
"""Where votes fall unevenly on items, so that these count as fewer than `LOW_EVENNESS` of as many
equal ones, coverage is less than as many equal ones would give: .88 where 41 items count as 12."""
FEW_ITEMS_OF_A_BOOTSTRAP = 30
"""Coverage of percentiles over 10, 15, 20, 40 items: .89, .90, .91, .93."""
FEW_EFFECTIVE_RATERS = 4
"""Two-way coverage at effective numbers of 3.7 and 1.5: .86 and .57."""
MEASURED_LEVEL: Final = 0.95
MEASURED: Final = (
    (2, 0.033, 0.034, 0.045),
    (3, 0.041, 0.067, 0.076),
    (4, 0.058, 0.078, 0.104),
    (5, 0.082, 0.114, 0.106),
    (6, 0.077, 0.109, 0.159),
    (8, 0.093, 0.155, 0.201),
    (10, 0.102, 0.180, 0.246),
    (12, 0.123, 0.199, 0.274),
    (15, 0.155, 0.244, 0.318),
    (18, 0.189, 0.261, 0.388),
    (25, 0.224, 0.299, 0.515),
    (35, 0.295, 0.422, 0.584),
    (50, 0.324, 0.532, 0.757),
)
"""Equal systems, and in what share of 1,000 studies the interval of the first lies above the
average: two-way with five and with ten people, item-sandwich (`benchmarks/RESULTS.md`)."""
FEW_PEOPLE: Final = 7
"""Degrees of freedom of a two-way interval, under which the figures of five people are nearer."""
Entries = tuple[IntArray, BoolArray | IntArray | slice]
"""The figure that each of some rows bears on, and which rows."""
ALL: Final = slice(None)


def given_writers(n: int) -> str:
    """Say whose completions a figure about people as writers holds for; empty from five on."""
    if not 0 < n < MIN_WRITERS:
        return ""
    return f"conditional on these {n} writers" if n > 1 else "conditional on this 1 writer"


def warn_of_writers(n: int) -> Notice:
    """Say that people's completions are by too few writers for an interval over these."""
    who = f"{n} people" if n > 1 else "one person"
    return Notice(
        Kind.FEW_WRITERS,
        f"Their replies are by {who}, fewer than {MIN_WRITERS}: what is said of people who write is"
        f" {given_writers(n)}.",
    )


class Wording(NamedTuple):
    """The words of a vote file or of a study."""

    votes: str
    their_votes: str
    rater: str
    raters: str
    voted_on: str
    given_raters: str
    few_raters: str
    remedy: str
    counts_items: bool

    def of_few_raters(self, n: int) -> str:
        """Say that there are too few raters for a two-way interval."""
        return self.few_raters.format(n=n, have="has" if n == 1 else "have")


VOTES = Wording(
    votes="votes",
    their_votes="the votes",
    rater="rater",
    raters="raters",
    voted_on="voted on",
    given_raters="The intervals hold for these raters: others may rank otherwise.",
    few_raters="With {n} raters, fewer than "
    f"{MIN_RATERS}, the intervals cannot speak for other raters.",
    remedy="Add votes across them, or declare a prior.",
    counts_items=False,
)
JUDGMENTS = Wording(
    votes="judgments",
    their_votes="people's judgments",
    rater="person",
    raters="people",
    voted_on="judged",
    given_raters="The intervals say how places would move with other items, not with other judges"
    " or people.",
    few_raters="People differ, and {n} of them {have} judged, fewer than "
    f"{MIN_RATERS}: the intervals are too narrow for a claim about other people.",
    remedy="Add items, or judge more pairs across them.",
    counts_items=True,
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Support:
    """What the intervals of some figures rest on."""

    names: tuple[str, ...]
    """The figures, as warnings name them."""
    wording: Wording
    unit: str
    """``items``, or ``votes`` where each is an item of its own."""
    n_items: IntArray
    """Items, or votes, of each."""
    n_effective_items: FloatArray
    """How many of equal size would be as uneven, 1 / sum share^2 (Kish 1965)."""
    n_raters: IntArray | None
    """Sampled raters of each; None where raters are taken as given."""
    n_effective_raters: float
    """How many equal raters would be as uneven as all sampled ones."""
    largest_share: float
    """Of their votes, that of the rater with the most."""

    @property
    def is_enough(self) -> BoolArray:
        """Whether a figure can have an interval: two items, and not one rater alone."""
        is_enough = self.n_items > 1
        return is_enough if self.n_raters is None else is_enough & (self.n_raters != 1)

    def warnings(self, *, has_width: BoolArray, few_items: int = FEW_ITEMS) -> list[Notice]:
        """Name what has no interval and what has too narrow a one.

        Args:
            has_width: Whether the standard error of a figure is more than rounding.
            few_items: Items under which intervals are too narrow.
        """
        n, n_effective = self.n_items, self.n_effective_items
        is_few = has_width & (n > 1) & (n < few_items)
        is_skewed = (n_effective < FEW_EFFECTIVE_ITEMS) & (n_effective < LOW_EVENNESS * n)
        is_uneven = (
            has_width & (n > 1) & (is_skewed | ((n >= few_items) & (n_effective < few_items)))
        )
        is_flat = self.is_enough & ~has_width
        said = (
            (n < 2, f"No interval for what rests on one of the {self.unit} only"),
            (is_flat, f"No interval where all {self.unit} say the same: that is no precision"),
        )
        warnings = [
            Notice(Kind.NO_INTERVAL, f"{text}: {self._list(which)}.")
            for which, text in said
            if which.any()
        ]
        if is_few.any():
            counts = n if self.wording.counts_items else None
            text = (
                f"On fewer than {few_items} {self.unit}, so that intervals are too narrow:"
                f" {self._list(is_few, counts)}."
            )
            warnings.append(Notice(Kind.FEW_ITEMS, text))
        if is_uneven.any():
            text = (
                f"{self.wording.votes.capitalize()} fall so unevenly on items that these count as"
                " fewer equal ones, and intervals are too narrow:"
                f" {self._list_uneven(is_uneven)}."
            )
            warnings.append(Notice(Kind.UNEVEN_ITEMS, text))
        return [*warnings, *self._rater_warnings()]

    def _rater_warnings(self) -> list[Notice]:
        if self.n_raters is None:
            return []
        n, words = self.n_raters, self.wording
        warnings: list[Notice] = []
        if (n == 1).any():
            text = (
                f"No two-way interval for what one {words.rater} alone {words.voted_on}:"
                f" {self._list(n == 1)}."
            )
            warnings.append(Notice(Kind.NO_INTERVAL, text))
        is_few = (n > 1) & (n < MIN_RATERS)
        if is_few.any():
            text = (
                f"{words.voted_on.capitalize()} by fewer than {MIN_RATERS} {words.raters}, so that"
                f" two-way intervals are too narrow: {self._list(is_few, n)}."
            )
            warnings.append(Notice(Kind.FEW_RATERS, text))
        if self.n_effective_raters < FEW_EFFECTIVE_RATERS:
            text = (
                f"One {words.rater} gave {100 * self.largest_share:.0f} % of {words.their_votes},"
                f" so that all {words.raters} count as {self.n_effective_raters:.1f} equal ones:"
                " two-way intervals are too narrow."
            )
            warnings.append(Notice(Kind.UNEVEN_RATERS, text))
        return warnings

    def _list_uneven(self, which: BoolArray) -> str:
        n, n_effective = self.n_items, self.n_effective_items
        return ", ".join(
            f"{self.names[i]} ({n[i]} count as {n_effective[i]:.3g})" for i in np.flatnonzero(which)
        )

    def _list(self, which: BoolArray, numbers: IntArray | FloatArray | None = None) -> str:
        places = np.flatnonzero(which)
        if numbers is None:
            return ", ".join(self.names[i] for i in places)
        return ", ".join(f"{self.names[i]} ({numbers[i]:.3g})" for i in places)


def find_support(
    comparisons: Comparisons,
    names: Sequence[str],
    *,
    wording: Wording = VOTES,
    others: Sequence[Entries] = (),
    has_items: bool = True,
    over_raters: bool,
) -> Support:
    """Count the items and raters behind each system and, after them, other figures.

    Args:
        comparisons: Comparisons; a rater below 0 is a judge of a fixed panel.
        names: Systems by index, then the other figures.
        wording: The words of the warnings.
        others: Which rows bear on which of the other figures.
        has_items: Whether items are named; else every vote is one.
        over_raters: Whether raters count as sampled.
    """
    lie = packed_columns(comparisons)
    entries = [(lie["left"], ALL), (lie["right"], ALL), *others]
    votes, n_figures = lie["count"], len(names)
    if has_items:
        n_items, n_effective = _count_clusters(entries, comparisons.item, votes, n_figures)
    else:
        n_effective = _sum_up(((figure, votes[rows]) for figure, rows in entries), n_figures)
        n_items = n_effective.astype(np.int64)
    rater = comparisons.rater
    is_sampled = rater >= 0
    by_rater = np.bincount(rater[is_sampled], weights=votes[is_sampled], minlength=1)
    return Support(
        names=tuple(names),
        wording=wording,
        unit="items" if has_items else "votes",
        n_items=n_items,
        n_effective_items=n_effective,
        n_raters=_count_clusters(entries, rater, votes, n_figures)[0] if over_raters else None,
        n_effective_raters=float(votes[is_sampled].sum()) ** 2 / max(1, float((by_rater**2).sum())),
        largest_share=float(by_rater.max() / max(1, by_rater.sum())),
    )


def _count_clusters(
    entries: Sequence[Entries], cluster: IntArray, votes: NDArray[Any], n_figures: int
) -> tuple[IntArray, FloatArray]:
    """Count the clusters among the entries of each figure, and how many equal ones they are like.

    An entry is so many votes; those of clusters below 0 count for nothing.
    """
    has_none = int(cluster.min(initial=0) < 0)
    cluster, n_clusters = number_labels(cluster + 1)
    labels = pack(cluster)
    del cluster
    n_cells = n_figures * n_clusters

    def cells_of(figure: NDArray[Any], rows: BoolArray | IntArray | slice) -> IntArray:
        keys = figure.astype(np.int64)
        keys *= n_clusters
        keys += labels[rows]
        return keys

    keys = ((cells_of(figure, rows), votes[rows]) for figure, rows in entries)
    if n_cells > 4 * len(votes):
        of_all = [np.concatenate(each) for each in zip(*keys, strict=True)]
        cells, place = np.unique(of_all[0], return_inverse=True)
        size = _sum_up([(place, of_all[1])], len(cells))
    else:
        size = _sum_up(keys, n_cells)
        cells = np.flatnonzero(size)
        size = size[cells]
    owner, label = np.divmod(cells, max(1, n_clusters))
    size[label < has_none] = 0
    owner, size = owner[size > 0], size[size > 0]
    total = np.bincount(owner, weights=size, minlength=n_figures)
    squares = np.bincount(owner, weights=size**2, minlength=n_figures)
    return np.bincount(owner, minlength=n_figures), total**2 / np.maximum(squares, 1)


def _sum_up(parts: Iterable[tuple[IntArray, NDArray[Any]]], n_keys: int) -> FloatArray:
    """Add up votes by key, one part after the other, which whole numbers do not show."""
    total = np.zeros(n_keys)
    for keys, votes in parts:
        total += np.bincount(keys, weights=votes, minlength=n_keys)
    return total


def chance_above_average(
    n_systems: int, interval: str, df: float, level: float
) -> tuple[int, float] | None:
    """Return of how many equal systems, and how often, the interval of the first lies above 1500.

    The interval of one system holds its strength as often as it says; that of the system which came
    out first does not, as it was chosen for being high. An interval that knows it was chosen
    (Andrews, Kitagawa and McCloskey 2024) is left out on purpose; readers are told how often this
    happens. Between the numbers that were measured it is interpolated; of more than the most it is
    that of the most. None for other intervals and levels, and for two systems, where it is as often
    as the level says.
    """
    columns = {"two-way": 1 if df < FEW_PEOPLE else 2, "item-sandwich": 3}
    if level != MEASURED_LEVEL or interval not in columns or n_systems <= MEASURED[0][0]:
        return None
    figures = np.array(MEASURED)
    n = min(n_systems, MEASURED[-1][0])
    return n, float(np.interp(n, figures[:, 0], figures[:, columns[interval]]))
