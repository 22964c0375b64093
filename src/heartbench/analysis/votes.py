"""Votes of any origin, ready to be ranked: which systems, who won, and what was left out."""

from collections.abc import Mapping
from dataclasses import dataclass

from heartbench.stats.comparisons import Comparisons, FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Votes:
    """Votes as comparisons, whatever file or frame they came from.

    Attributes:
        systems: Names, sorted; positions are the indices in `comparisons`.
        comparisons: Distinct votes, sorted, left and right as given. The weight is the strength (1
            without one, and for ties); items and raters are numbered in the order of their names,
            all 0 where there are none.
        covariates: One row for each row of `comparisons`, one column for each covariate.
        has_strength: Whether weights are strengths.
        n_items: Items named; None where votes name none.
        n_item_groups: Groups that items were hashed into, to fit in memory; None for none.
        raters: Raters, sorted; None where votes name none.
        n_votes: Votes used.
        n_ties: Ties among them.
        n_dropped: Votes left out, by reason.
        warnings: What a reader must know of the reading.
    """

    systems: tuple[str, ...]
    comparisons: Comparisons
    covariates: FloatArray
    has_strength: bool
    n_items: int | None
    n_item_groups: int | None
    raters: tuple[str, ...] | None
    n_votes: int
    n_ties: int
    n_dropped: Mapping[str, int]
    warnings: tuple[str, ...]

    @property
    def n_raters(self) -> int | None:
        """Raters named; None where votes name none."""
        return None if self.raters is None else len(self.raters)
