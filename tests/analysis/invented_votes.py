"""Votes invented for tests: systems of known strength, items, raters, strengths."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from made_comparisons import made_comparisons

from hearteval.analysis.ranking.votes import Votes
from hearteval.stats.comparisons import Comparisons, IntArray, select_comparisons

NAMES = ("ash", "birch", "cedar", "dogwood", "elm", "fir")


def rater_names(n: int | None) -> tuple[str, ...] | None:
    """Return names for raters, none for None."""
    return None if n is None else tuple(f"rater {i}" for i in range(n))


def invented_votes(
    *,
    n_votes: int = 1_200,
    n_items: int = 40,
    n_raters: int = 6,
    n_systems: int = 5,
    seed: int = 3,
    sds: tuple[float, float] = (0.0, 0.0),
) -> Votes:
    """Return votes among systems whose strengths are half a unit apart, one in six a tie.

    Strengths depart by item and by rater, with these two standard deviations.
    """
    rng = np.random.default_rng(seed)
    left = rng.integers(0, n_systems, n_votes)
    right = (left + rng.integers(1, n_systems, n_votes)) % n_systems
    drawn, is_tie = rng.random(n_votes), rng.random(n_votes) < 1 / 6
    strength = rng.integers(1, 6, n_votes)
    item, rater = rng.integers(0, n_items, n_votes), rng.integers(0, n_raters, n_votes)
    on_item = rng.normal(0, sds[0], (n_items, n_systems))
    by_rater = rng.normal(0, sds[1], (n_raters, n_systems))
    theta = -np.arange(n_systems) / 2 + on_item[item] + by_rater[rater]
    votes = np.arange(n_votes)
    difference = theta[votes, left] - theta[votes, right]
    score = np.where(is_tie, 0.5, drawn < 1 / (1 + np.exp(-difference)))
    weight = np.where(is_tie, 1.0, strength)
    comparisons = made_comparisons(
        left, right, score, n_systems=n_systems, weight=weight, item=item, rater=rater
    )
    return votes_of(comparisons, NAMES[:n_systems], n_items=n_items, n_raters=n_raters)


def votes_of(
    comparisons: Comparisons,
    names: Sequence[str],
    *,
    n_items: int | None,
    n_raters: int | None,
    has_strength: bool = True,
) -> Votes:
    """Return votes that stand on some comparisons."""
    return Votes(
        systems=tuple(names),
        comparisons=comparisons,
        covariates=np.zeros((len(comparisons), 0)),
        has_strength=has_strength,
        n_items=n_items,
        n_item_groups=None,
        raters=rater_names(n_raters),
        n_votes=int(comparisons.count.sum()),
        n_ties=int(comparisons.count[comparisons.score == 0.5].sum()),
        n_dropped={},
        warnings=(),
    )


def with_rows(votes: Votes, rows: IntArray) -> Votes:
    """Return votes of some rows, in this order."""
    return replace(votes, comparisons=select_comparisons(votes.comparisons, rows))


def with_columns(votes: Votes, **columns: Any) -> Votes:
    """Return votes of which some columns are others."""
    return replace(votes, comparisons=replace(votes.comparisons, **columns))


def decided(rows: Sequence[tuple[int, int]], names: Sequence[str]) -> Votes:
    """Return votes of (winner, loser), two items in turn, no strengths and no raters."""
    left, right = np.array(rows, dtype=np.int64).T
    n = len(rows)
    comparisons = made_comparisons(left, right, n_systems=len(names), item=np.arange(n) % 2)
    return votes_of(comparisons, names, n_items=2, n_raters=None, has_strength=False)
