"""How far people's and judges' reasons speak of the same themes, beside what chance would give.

Chance comes twice: from how often each kind speaks of each theme, and by setting people's reasons
beside the judges' reasons of another item.
"""

from dataclasses import dataclass

import numpy as np

from hearteval.analysis.estimates import (
    Estimate,
    clustered_tests,
    mean_estimates,
)
from hearteval.analysis.labels.agreement import (
    bounded,
    kappa_figure,
    kappa_figures,
    same_and_chance,
    with_intervals,
)
from hearteval.stats.comparisons import FloatArray, IntArray
from hearteval.stats.means import q_where_tested

SHUFFLES = 999


@dataclass(frozen=True, slots=True, kw_only=True)
class ThemeOverlap:
    """How far people's and judges' reasons speak of the same themes, where they choose the same.

    Attributes:
        n_comparisons: On which most people and most judges agree, and both gave reasons.
        overlap: Share of themes that both speak of or both leave out (published: .68).
        co_mention: That both speak of; `co_omission` that both leave out. They add up to it.
        shared: Of the themes that either speaks of, the share that both do; None without any.
        chance: The overlap, were the two unrelated, by how often each speaks of each theme.
        kappa: (overlap - chance) / (1 - chance).
        shuffled: Mean overlap with the judges' reasons of another item.
        p: Share of such shufflings with as much overlap or more; None under two items.
    """

    n_comparisons: int
    n_items: int
    overlap: Estimate
    co_mention: Estimate
    co_omission: Estimate
    shared: Estimate | None
    chance: float
    kappa: Estimate | None
    shuffled: float | None
    p: float | None


def measure_overlap(
    people: FloatArray,
    judges: FloatArray,
    item: IntArray,
    *,
    level: float,
    seed: int,
    n_shuffles: int = SHUFFLES,
) -> ThemeOverlap:
    """Measure how far two kinds of raters speak of the same themes, beside chance.

    Args:
        people: Share of them that speaks of each theme, (comparisons, themes); judges likewise.
        judges: The same of judges.
        item: Item of each comparison, 0 or more.
        level: Nominal coverage.
        seed: Of the shufflings.
        n_shuffles: How many.
    """
    n, panel = len(item), np.full(len(item), -1)
    both, neither = people * judges, (1 - people) * (1 - judges)
    figures = np.stack([(both + neither).mean(axis=1), both.mean(axis=1), neither.mean(axis=1)], 1)
    overlap, mention, omission = mean_estimates(figures, item, panel, level=level)
    either = (people + judges - both).sum(axis=1)
    shared = None
    if either.sum() > 0:
        share = float(both.sum() / either.sum())
        moves = (both.sum(axis=1) - share * either) / either.sum()
        shared = bounded(share, moves, item, panel, low=0.0, level=level)
    observed, expected, *moves = same_and_chance(people, judges)
    chance = float(expected.mean())
    whole = None
    if chance < 1:
        whole = kappa_figure(overlap.value, chance, *(each.mean(axis=1) for each in moves))
    drawn = _shuffled(people, judges, item, seed=seed, n=n_shuffles)
    more = (drawn >= observed.mean() - 1e-12).sum()
    return ThemeOverlap(
        n_comparisons=n,
        n_items=len(np.unique(item)),
        overlap=overlap,
        co_mention=mention,
        co_omission=omission,
        shared=shared,
        chance=chance,
        kappa=with_intervals({"kappa": whole}, item, level=level)["kappa"],
        shuffled=float(drawn.mean()) if len(drawn) else None,
        p=float((1 + more) / (1 + len(drawn))) if len(drawn) else None,
    )


def compare_rates(
    people: FloatArray, judges: FloatArray, item: IntArray, *, level: float
) -> tuple[list[Estimate], list[float | None], list[float | None]]:
    """Return people's less judges' rates of each theme, with p, and q over the themes."""
    apart = people - judges
    means, panel = apart.mean(axis=0), np.full(len(apart), -1)
    influence = (apart - means) / len(apart)
    found, p = clustered_tests(means, influence, item, panel, level=level)
    return found, p, q_where_tested(p)


def kappas_of_themes(
    people: FloatArray, judges: FloatArray, item: IntArray, *, level: float
) -> list[Estimate | None]:
    """Return kappa of each theme; None where either kind always or never speaks of it."""
    if not len(item):
        return [None] * people.shape[1]
    kappas = kappa_figures(people, judges)
    return [with_intervals({"kappa": one}, item, level=level)["kappa"] for one in kappas]


def _shuffled(
    people: FloatArray, judges: FloatArray, item: IntArray, *, seed: int, n: int
) -> FloatArray:
    """Return overlaps with the judges' reasons of another item, drawn; empty under two items.

    Items change places whole: their comparisons stay together, in turn from a random one on.
    """
    order = np.argsort(item, kind="stable")
    people, judges = people[order], judges[order]
    _, start, of_item, size = np.unique(
        item[order], return_index=True, return_inverse=True, return_counts=True
    )
    if len(size) < 2:
        return np.zeros(0)
    rng = np.random.default_rng([seed, len(item)])
    turn = np.arange(len(item)) - start[of_item]
    slope, base = 2 * people - 1, 1 - people
    drawn = np.zeros(n)
    for k in range(n):
        partner = rng.permutation(len(size))[of_item]
        first = rng.integers(0, 1 << 30, size=len(size))[partner]
        drawn[k] = np.vdot(slope, judges[start[partner] + (turn + first) % size[partner]])
    return np.asarray((drawn + base.sum()) / people.size)
