"""Variances of an estimate whose votes share items, raters and writers.

Made from the influence of clusters of votes on the estimate, so they hold for every estimator that
has one: half-ties, Davidson, weights, covariates. Which variance a ranking uses, and what is said
where raters are few, is decided elsewhere; intervals are in `intervals`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from hearteval.errors import NotIdentifiedError
from hearteval.stats import one_blas_thread
from hearteval.stats.comparisons import (
    Comparisons,
    FloatArray,
    IntArray,
    number_labels,
    order_pairs,
    pack,
    sum_scores,
)

InfluenceOf = Callable[[IntArray], FloatArray]
"""From a cluster number for each row (0 to n - 1, none left out) to the influence of each cluster
on the estimate, (n, parameters): what the estimate moves by as the cluster's weight goes 0 to 1."""

FIRST_BLOCK = 2_048
"""Clusters of the first block, before the number of parameters is known."""
BLOCK_NUMBERS = 1 << 22
"""Influences held at once (32 MiB), however many clusters there are."""
MIN_CLUSTERS = 2
ROUNDING = 1e-12
"""Variance of a difference, relative to those of its two parameters, that counts as 0."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClusteredVariance:
    """Covariances of an estimate over items and, where they are sampled too, raters and writers."""

    item: FloatArray
    """Over items, (parameters, parameters)."""
    rater: FloatArray | None = None
    """Over raters; none where raters are taken as given."""
    cell: FloatArray | None = None
    """Over cells, the votes of one rater on one item; none where `rater` is."""
    writer: FloatArray | None = None
    """What writers add to items: over writers less over what each wrote on an item; none where
    writers are taken as given."""
    overlap: FloatArray | None = None
    """What raters and writers count twice: over what each rater said of each writer on an item,
    less over what each rater said of each writer; none where `rater` or `writer` is."""
    n_items: int
    n_raters: int = 0
    """Raters that count as sampled."""
    n_writers: int = 0
    """Writers that count as sampled."""
    df: int
    """Degrees of freedom of t, min(items, raters) - 1, of what writers only touch from afar."""

    @property
    def df_of_writers(self) -> int:
        """Return the degrees of freedom of a figure about writers: theirs less one, if fewer."""
        return self.df if self.writer is None else min(self.df, self.n_writers - 1)

    def of_parameters(self) -> FloatArray:
        """Return the variance of each parameter."""
        return self._combine(np.diag)

    def of_differences(self) -> FloatArray:
        """Return the variance of each difference of two parameters, (parameters, parameters)."""
        return self._combine(_of_differences)

    def joint(self) -> FloatArray:
        """Return the covariance of all parameters at once, all ways together.

        For correlations: it need be no covariance of anything, as some eigenvalues may be negative.
        """
        return self.ways()[-1]

    def ways(self) -> list[FloatArray]:
        """Return covariances of all parameters, of which a contrast has its largest variance.

        Over items alone, then with raters, with writers, and with both, as far as these are
        sampled.
        """
        found = [self.item]
        if self.rater is not None and self.cell is not None:
            found.append(self.item + self.rater - self.cell)
        if self.writer is not None:
            found += [way + self.writer for way in found]
            if self.overlap is not None:
                found[-1] = found[-1] + self.overlap
        return found

    def _combine(self, variance_of: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """Combine the variances of contrasts: the largest of all ways, fewer ways, and item."""
        item = variance_of(self.item)
        ways = [item]
        if self.rater is not None and self.cell is not None:
            ways.append(item + variance_of(self.rater) - variance_of(self.cell))
        if self.writer is not None:
            ways += [way + variance_of(self.writer) for way in ways]
            if self.overlap is not None:
                ways[-1] = ways[-1] + variance_of(self.overlap)
        return np.asarray(np.maximum.reduce(ways))


def vary_over_items(influence_of: InfluenceOf, item: IntArray) -> ClusteredVariance:
    """Return the covariance over items, raters as given: G/(G - 1) sum_g d_g d_g'.

    d_g is the influence of item g and G counts the items (Liang and Zeger 1986). Assumes items
    sampled independently; votes within one may depend on each other in any way.

    Raises:
        NotIdentifiedError: Under two items.
    """
    item, n_items = number_labels(item)
    label = pack(item)
    del item
    covariance = _covariance(influence_of, label, n_items, "items")
    return ClusteredVariance(item=covariance, n_items=n_items, df=n_items - 1)


def vary_over_items_and_raters(
    influence_of: InfluenceOf, item: IntArray, rater: IntArray
) -> ClusteredVariance:
    """Return the covariances over items and raters, each term times its own G/(G - 1).

    The variance of a contrast is max(item + rater - cell, item) (Cameron, Gelbach and Miller 2011;
    SPEC section 6). Beside a panel, the influences d of the n sampled raters sum to what tells them
    apart from it, however alike they are: their term is n/(n - 1) sum (d - mean d)(d - mean d)',
    and likewise that of cells. Assumes items and raters sampled independently of each other. Rater
    -1 is a judge of a fixed panel, whose votes vary over items only.

    Raises:
        NotIdentifiedError: Under two items, or under two raters that are not of the panel.
    """
    over_items = vary_over_items(influence_of, item)
    is_sampled = rater >= 0
    raters, n_raters = number_labels(rater[is_sampled])
    items, _ = number_labels(item[is_sampled])
    cells, n_cells = number_labels(items * n_raters + raters)
    label = np.full(len(rater), -1)
    label[is_sampled] = raters
    over_raters = _covariance(influence_of, label, n_raters, "raters", about_mean=True)
    label[is_sampled] = cells
    return ClusteredVariance(
        item=over_items.item,
        rater=over_raters,
        cell=_covariance(influence_of, label, n_cells, "cells", about_mean=True),
        n_items=over_items.n_items,
        n_raters=n_raters,
        df=min(over_items.n_items, n_raters) - 1,
    )


def add_writers(
    over: ClusteredVariance,
    influence_of: InfluenceOf,
    item: IntArray,
    rater: IntArray,
    writer: IntArray,
) -> ClusteredVariance:
    """Return the covariances over writers as well: each is met by many raters, on many items.

    The variance of a contrast is V_item + V_rater + V_writer, less those over what two of the three
    share, plus that over what all share, each term times its own G/(G - 1) (Cameron, Gelbach and
    Miller 2011); it is at least what fewer ways give, which sampling alone can bring above it. Sums
    of writers are about their mean, as those of raters are.

    Args:
        over: The variance over items, or over items and raters.
        influence_of: As it was for `over`.
        item: Item of each row.
        rater: Rater of each row, -1 for a judge of a fixed panel.
        writer: Who wrote the completion by a person that the row is about; -1 where it is about
            none.

    Raises:
        NotIdentifiedError: Under two writers.
    """
    is_written = writer >= 0
    writers, n_writers = number_labels(writer[is_written])
    _require_two(n_writers, "writers")
    # All other sets are sums of what one rater said of one writer on one item: influences of these
    # are computed once, and held at once, as there are no more of them than a study's judgments.
    n_raters = int(rater.max()) + 2
    keys = (item[is_written] * n_raters + rater[is_written] + 1) * n_writers + writers
    sets, place = np.unique(keys, return_inverse=True)
    label = np.full(len(item), len(sets))
    label[is_written] = place
    moved = influence_of(label)[: len(sets)]
    of_item, of_writer = sets // (n_writers * n_raters), sets % n_writers
    of_rater = sets // n_writers % n_raters - 1

    def over_sets(*of: IntArray) -> FloatArray:
        """Return the covariance over sets alike in all of these; 0 where there is one."""
        rows = np.logical_and.reduce([one >= 0 for one in of])
        alike, n_alike = np.zeros(int(rows.sum()), dtype=np.int64), 1
        for one in of:
            numbers, n = number_labels(one[rows])
            alike, n_alike = number_labels(alike * n + numbers)
        if n_alike < MIN_CLUSTERS:
            return np.zeros_like(over.item)
        total = np.zeros((n_alike, moved.shape[1]))
        np.add.at(total, alike, moved[rows])
        total -= total.mean(axis=0)
        with one_blas_thread():
            return np.asarray(total.T @ total * (n_alike / (n_alike - 1)))

    overlap = None
    if over.rater is not None:
        overlap = over_sets(of_item, of_rater, of_writer) - over_sets(of_rater, of_writer)
    return replace(
        over,
        writer=over_sets(of_writer) - over_sets(of_item, of_writer),
        overlap=overlap,
        n_writers=n_writers,
    )


def vary_over_votes(
    comparisons: Comparisons,
    points: FloatArray,
    bread: FloatArray,
    *,
    ties: FloatArray | None = None,
) -> ClusteredVariance:
    """Return the covariance where every vote is an item of its own, at the cost of its pairs.

    A vote's score is +-`points` on its two systems and `ties` on a last parameter, if there is
    one: the sum of u u' needs sums by pair alone, however many votes there are.

    Args:
        comparisons: A row of `count` 3 is three votes.
        points: Derivative of one vote's log-likelihood by the strength of its system of lower
            index, weight included; that by the other strength is its negative.
        bread: What turns scores into influence, (systems or systems + 1, systems).
        ties: Derivative of one vote's log-likelihood by a parameter all pairs share.

    Raises:
        NotIdentifiedError: Under two votes.
    """
    n, n_votes = comparisons.n_systems, int(comparisons.count.sum())
    _require_two(n_votes, "votes")
    low, high, _ = order_pairs(comparisons)
    squares = sum_scores(low * n + high, comparisons.count * points**2, n * n).reshape(n, n)
    squares += squares.T
    middle = np.diag(squares.sum(axis=1)) - squares
    if ties is not None:
        middle = np.pad(middle, (0, 1))
        product = comparisons.count * points * ties
        ends = np.concatenate((low, high))
        middle[n, :n] = middle[:n, n] = sum_scores(ends, np.concatenate((product, -product)), n)
        middle[n, n] = sum_scores(np.zeros_like(low), comparisons.count * ties**2, 1)[0]
    with one_blas_thread():
        covariance = bread.T @ middle @ bread * (n_votes / (n_votes - 1))
    return ClusteredVariance(item=covariance, n_items=n_votes, df=n_votes - 1)


def _require_two(n_clusters: int, what: str) -> None:
    if n_clusters < MIN_CLUSTERS:
        raise NotIdentifiedError(
            f"an interval over {what} needs at least two {what}, not {n_clusters}"
        )


def _covariance(
    influence_of: InfluenceOf,
    label: IntArray,
    n_clusters: int,
    what: str,
    *,
    about_mean: bool = False,
) -> FloatArray:
    """Sum d d' over clusters, times G/(G - 1); rows labelled -1 are in none."""
    _require_two(n_clusters, what)
    total: FloatArray = np.zeros(())
    drift: FloatArray = np.zeros(())
    start, n_block = 0, FIRST_BLOCK
    with one_blas_thread():
        while start < n_clusters:
            stop = min(start + n_block, n_clusters)
            is_inside = (label >= start) & (label < stop)
            own = label
            if not is_inside.all():  # The rows outside are one cluster more, which is not used.
                own = np.where(is_inside, label.astype(np.int64) - start, stop - start)
            inside = influence_of(own)[: stop - start]
            total = total + inside.T @ inside
            drift = drift + inside.sum(axis=0)
            start, n_block = stop, max(1, BLOCK_NUMBERS // inside.shape[1])
    if about_mean:
        total = total - np.outer(drift, drift) / n_clusters
    return np.asarray(total * (n_clusters / (n_clusters - 1)))


def _of_differences(covariance: FloatArray) -> FloatArray:
    variance = np.diag(covariance)
    both = variance[:, None] + variance[None, :]
    differences = both - covariance - covariance.T
    # Rounding leaves a difference that does not vary a hair off 0, on either side.
    return np.where(np.abs(differences) > ROUNDING * np.abs(both), differences, 0.0)
