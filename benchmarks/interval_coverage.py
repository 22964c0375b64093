"""Measure how often nominal 95 % intervals cover, with and without item and rater effects.

    PYTHONPATH=tests python benchmarks/interval_coverage.py [--replicates 1000] [--seed 1]
        [--only further|uneven]

Comparisons are drawn from known strengths. What an interval has to cover is what the fit tends to
as items and sampled raters multiply (`population_strengths`), not theta itself, which effects
attenuate; under a panel of judges it is the limit for these judges. Each cell gives the share of
systems (theta_i - mean theta) / of pairwise differences covered, and the larger Monte Carlo
standard error of the two. Bold is the interval that SPEC section 6 chooses for the raters at hand.
The further table has what lies off the even designs: one rater with half the votes, strengths, ties
with a parameter of their own, items with very uneven numbers of votes, and the bootstrap of items.
The uneven table has items with lognormal numbers of votes, and how many equal items these count as.
"""

import argparse
import itertools
import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from simulated_votes import (
    N_NODES,
    Design,
    Population,
    population_strengths,
    simulate_comparisons,
)

from hearteval.analysis.ranking.warnings import find_support
from hearteval.errors import NotIdentifiedError
from hearteval.stats.bradley_terry.bootstrap import bootstrap_items
from hearteval.stats.bradley_terry.clustered_variance import (
    ClusteredVariance,
    vary_over_items,
    vary_over_items_and_raters,
)
from hearteval.stats.bradley_terry.differences import pairwise_differences
from hearteval.stats.bradley_terry.intervals import Intervals, clustered, published
from hearteval.stats.bradley_terry.ties import (
    TiedFit,
    TieModel,
    fit_davidson,
    fit_ties,
    pair_probabilities,
)
from hearteval.stats.comparisons import (
    Comparisons,
    FloatArray,
    count_comparisons,
    select_comparisons,
)

LEVEL = 0.95
ITEM_SD, RATER_SD = 0.6, 0.3
INTERVALS = ("two-way", "item-sandwich", "votes apart", "published")
FURTHER = ("two-way", "item-sandwich", "item-bootstrap", "votes apart", "published")
N_RESAMPLES = 400
DOMINANT_SHARE = 0.5
UNEVEN_SD, UNEVEN_VOTES = 1.5, 1_500
UNEVEN_ITEMS, UNEVEN_SDS = (8, 12, 20, 50, 100, 200), (0.0, 0.5, 1.0, 1.5, 2.0)
SIX = np.linspace(0.8, -0.8, 6)
EIGHTEEN = np.linspace(1.0, -1.0, 18)
PLAIN = Design(n_items=150, pairs_per_item=6, n_raters=5, raters_per_pair=5)
PANEL = replace(PLAIN, n_raters=3, raters_per_pair=3, both_orders=True)


Change = Callable[[Comparisons, np.random.Generator], Comparisons]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A design, what is true, and which share of the replicates it is given.

    Attributes:
        population: What is true.
        design: Who compares what.
        share: Of the replicates.
        change: What is done to the comparisons that are drawn.
        raters: How the table names the raters; else by their number.
        votes: How the table names the votes of a pair; else by their number.
        ties: How ties are fitted.
        is_resampled: Whether the bootstrap of items is tried too.
    """

    population: Population
    design: Design
    share: float = 1.0
    change: Change | None = None
    raters: str = ""
    votes: str = ""
    ties: TieModel = "half"
    is_resampled: bool = False


def main() -> None:
    arguments = _parse_arguments()
    started = time.process_time()
    print(f"Seed {arguments.seed}; systems / differences covered ± Monte Carlo error.\n")
    if arguments.only in (None, "first"):
        first = _scenarios(np.random.default_rng(arguments.seed))
        _print_table(enumerate(first), INTERVALS, arguments)
    if arguments.only in (None, "further"):
        _print_table(enumerate(_further_scenarios(), start=100), FURTHER, arguments)
    if arguments.only in (None, "uneven"):
        _print_uneven(arguments)
    print(f"{time.process_time() - started:.0f} s of CPU time")


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--replicates", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=("first", "further", "uneven"))
    return parser.parse_args()


def _print_table(
    scenarios: Iterable[tuple[int, Scenario]],
    intervals: tuple[str, ...],
    arguments: argparse.Namespace,
) -> None:
    print("| raters | SD item, rater | systems | items x pairs x votes | replicates |", end=" ")
    print(" | ".join(intervals), "|\n|", " | ".join(["---"] * (5 + len(intervals))), "|")
    for i, scenario in scenarios:
        n = math.ceil(arguments.replicates * scenario.share)
        rng = np.random.default_rng([arguments.seed, i])
        print(_row(scenario, n, intervals, rng), flush=True)
    print()


def _scenarios(rng: np.random.Generator) -> Iterator[Scenario]:
    both = Population(theta=SIX, item_sd=ITEM_SD, rater_sd=RATER_SD)
    effects = [
        both,
        replace(both, rater_sd=0.0),
        replace(both, item_sd=0.0),
        replace(both, item_sd=0.0, rater_sd=0.0),
    ]
    for population in effects:
        for n_raters in (5, 8, 15):
            yield Scenario(population=population, design=replace(PLAIN, n_raters=n_raters))
    judges = rng.normal(0, RATER_SD, (3, len(SIX)))
    for population in effects:
        panel = judges if population.rater_sd else 0 * judges
        yield Scenario(population=replace(population, panel=panel), design=PANEL)
    yield Scenario(population=replace(both, tie=0.5), design=replace(PLAIN, n_raters=15))
    few = Design(n_items=60, pairs_per_item=15, n_raters=5, raters_per_pair=5)
    for n_raters in (5, 15):
        yield Scenario(population=both, design=replace(few, n_raters=n_raters))
    yield Scenario(population=replace(both, panel=judges), design=replace(PANEL, n_items=20))
    whole = Design(n_items=280, pairs_per_item=10, n_raters=15, raters_per_pair=5)
    yield Scenario(population=replace(both, theta=EIGHTEEN), design=whole, share=0.5)


def _further_scenarios() -> Iterator[Scenario]:
    both = Population(theta=SIX, item_sd=ITEM_SD, rater_sd=RATER_SD)
    judges = np.random.default_rng(1).normal(0, RATER_SD, (3, len(SIX)))
    yield Scenario(
        population=both,
        design=Design(n_items=150, pairs_per_item=15, n_raters=15, raters_per_pair=15),
        change=_let_one_dominate,
        raters=f"15, one with {100 * DOMINANT_SHARE:.0f} % of the votes",
        votes="1",
    )
    fifteen = replace(PLAIN, n_raters=15)
    yield Scenario(population=both, design=fifteen, change=_weigh, votes="5, strengths 1 to 5")
    yield Scenario(
        population=replace(both, tie=0.5), design=fifteen, ties="davidson", votes="5, Davidson"
    )
    for n_items in (20, 100):
        yield Scenario(
            population=replace(both, panel=judges),
            design=replace(PANEL, n_items=n_items),
            is_resampled=True,
        )
    yield Scenario(
        population=replace(both, panel=np.zeros((40, len(SIX)))),
        design=Design(n_items=50, pairs_per_item=15, n_raters=40, raters_per_pair=40),
        change=_make_uneven,
        raters="given",
        votes=f"2 on average, lognormal by item (SD {UNEVEN_SD})",
        is_resampled=True,
    )


def _print_uneven(arguments: argparse.Namespace) -> None:
    """Print item-sandwich coverage by items and by how unevenly the votes fall on them."""
    population = Population(theta=SIX, item_sd=ITEM_SD, rater_sd=0.0, panel=np.zeros((40, 6)))
    truth = population_strengths(population)
    print("| items | SD of log votes | items of a system | of equal size | item-sandwich |")
    print("| --- | --- | --- | --- | --- |")
    for n_items, sd in itertools.product(UNEVEN_ITEMS, UNEVEN_SDS):
        design = Design(n_items=n_items, pairs_per_item=15, n_raters=40, raters_per_pair=40)
        rng = np.random.default_rng([arguments.seed, n_items, round(10 * sd)])
        shares, counts = [], []
        for _ in range(math.ceil(arguments.replicates / 5)):
            drawn = simulate_comparisons(population, design, rng)
            comparisons = _make_uneven(drawn, rng, sd=sd, n_votes=30 * n_items)
            try:
                found = _cover(truth, fit_ties(comparisons, ties="half"), is_panel=True)
            except NotIdentifiedError:
                continue
            support = find_support(comparisons, list("abcdef"), over_raters=False)
            shares.append(found["item-sandwich"])
            counts.append((support.n_items.mean(), support.n_effective_items.mean()))
        n, n_effective = np.mean(counts, axis=0)
        cell = _cell("item-sandwich", shares, is_panel=False)
        print(f"| {n_items} | {sd:g} | {n:.1f} | {n_effective:.1f} | {cell} |", flush=True)
    print()


def _let_one_dominate(comparisons: Comparisons, rng: np.random.Generator) -> Comparisons:
    """Keep one vote of each pair, half of the time that of rater 0; every rater gave one."""
    n_raters = int(comparisons.rater.max()) + 1
    n_pairs = len(comparisons) // n_raters
    is_first = rng.random(n_pairs) < DOMINANT_SHARE
    chosen = np.where(is_first, 0, rng.integers(1, n_raters, n_pairs))
    return select_comparisons(comparisons, comparisons.rater == np.repeat(chosen, n_raters))


def _weigh(comparisons: Comparisons, rng: np.random.Generator) -> Comparisons:
    return replace(comparisons, weight=rng.integers(1, 6, len(comparisons)).astype(np.float64))


def _make_uneven(
    comparisons: Comparisons,
    rng: np.random.Generator,
    *,
    sd: float = UNEVEN_SD,
    n_votes: int = UNEVEN_VOTES,
) -> Comparisons:
    """Keep votes with chances in proportion to a lognormal size of their item."""
    size = np.exp(rng.normal(0, sd, int(comparisons.item.max()) + 1))
    chance = (size / size[comparisons.item].sum() * n_votes)[comparisons.item]
    return select_comparisons(comparisons, rng.random(len(comparisons)) < chance)


def _find_truth(scenario: Scenario) -> FloatArray:
    """Return what the fit tends to; with a tie parameter, from mean chances as without one."""
    population = scenario.population
    if scenario.ties == "half":
        return population_strengths(population)
    node, mass = np.polynomial.hermite_e.hermegauss(N_NODES)
    sd = math.sqrt(2 * (population.item_sd**2 + population.rater_sd**2))
    difference = population.theta[:, None] - population.theta[None, :]
    win, tied = pair_probabilities(difference[..., None] + sd * node, population.tie)
    points, ties = (win + tied / 2) @ (mass / mass.sum()), tied @ (mass / mass.sum())
    np.fill_diagonal(points, 0)
    return fit_davidson(points, float(np.triu(ties, 1).sum())).theta


def _row(
    scenario: Scenario, n_replicates: int, intervals: tuple[str, ...], rng: np.random.Generator
) -> str:
    population, design = scenario.population, scenario.design
    is_panel = population.panel is not None
    covered: dict[str, list[tuple[float, float]]] = {name: [] for name in intervals}
    truth = _find_truth(scenario)
    n_not_identified = 0
    for _ in range(n_replicates):
        comparisons = simulate_comparisons(population, design, rng)
        if scenario.change:
            comparisons = scenario.change(comparisons, rng)
        try:
            fit = fit_ties(comparisons, ties=scenario.ties)
            found = _cover(truth, fit, is_panel=is_panel)
            if scenario.is_resampled:
                found |= {"item-bootstrap": _cover_resampled(truth, fit, rng)}
        except NotIdentifiedError:
            n_not_identified += 1
            continue
        for name, shares in found.items():
            covered[name].append(shares)
    raters = f"panel of {design.n_raters}" if is_panel else f"{design.n_raters}"
    raters = scenario.raters or raters
    rater_sd = "0" if is_panel and not np.any(population.panel) else f"{population.rater_sd:g}"
    votes = scenario.votes or f"{design.raters_per_pair * (1 + design.both_orders)}"
    replicates = f"{n_replicates}"
    if n_not_identified:
        replicates += f" ({n_not_identified} not identified)"
    cells = [
        raters,
        f"{population.item_sd:g}, {rater_sd}" + (", ties" if population.tie else ""),
        f"{len(population.theta)}",
        f"{design.n_items} x {design.pairs_per_item} x {votes}",
        replicates,
        *(_cell(name, covered[name], is_panel=is_panel) for name in intervals),
    ]
    return f"| {' | '.join(cells)} |"


def _cell(name: str, shares: list[tuple[float, float]], *, is_panel: bool) -> str:
    if not shares:
        return "-"
    mean = np.mean(shares, axis=0)
    error = np.max(np.std(shares, axis=0, ddof=1)[~np.isnan(mean)]) / math.sqrt(len(shares))
    ends = "/".join("-" if math.isnan(m) else f"{m:.3f}" for m in mean)
    text = f"{ends} ± {error:.3f}"
    chosen = "item-sandwich" if is_panel else "two-way"
    return f"**{text}**" if name == chosen else text


def _cover(truth: FloatArray, fit: TiedFit, *, is_panel: bool) -> dict[str, tuple[float, float]]:
    """Return the shares of systems and of differences that each interval covers."""
    comparisons, influence_of = fit.comparisons, fit.influence_of
    item, rater = comparisons.item, comparisons.rater
    variances = {
        "item-sandwich": vary_over_items(influence_of, item),
        "votes apart": fit.vary_over_votes(),
    }
    if not is_panel:
        variances["two-way"] = vary_over_items_and_raters(influence_of, item, rater)
    narrow = published(fit.theta, count_comparisons(comparisons), level=LEVEL)
    return {
        "published": (_covers_systems(narrow, truth), math.nan),
        **{
            name: (
                _covers_systems(clustered(fit.theta, variance, level=LEVEL), truth),
                _covers_differences(fit.theta, variance, truth),
            )
            for name, variance in variances.items()
        },
    }


def _cover_resampled(
    truth: FloatArray, fit: TiedFit, rng: np.random.Generator
) -> tuple[float, float]:
    """Do the same for percentiles of strengths, and t with their covariance for differences."""
    drawn = bootstrap_items(fit.comparisons, fit.fit, n_resamples=N_RESAMPLES, rng=rng).theta
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    percentiles = Intervals(low=low, high=high, se=drawn.std(axis=0), df=math.inf)
    over_items = vary_over_items(fit.influence_of, fit.comparisons.item)
    variance = replace(over_items, item=np.cov(drawn, rowvar=False))
    return _covers_systems(percentiles, truth), _covers_differences(fit.theta, variance, truth)


def _covers_systems(intervals: Intervals, truth: FloatArray) -> float:
    return float(np.mean((intervals.low <= truth) & (truth <= intervals.high)))


def _covers_differences(theta: FloatArray, variance: ClusteredVariance, truth: FloatArray) -> float:
    found = pairwise_differences(theta, variance.of_differences(), variance.df, level=LEVEL)
    difference = truth[:, None] - truth[None, :]
    is_covered = (found.low <= difference) & (difference <= found.high)
    return float(np.mean(is_covered[np.triu_indices(len(truth), 1)]))


if __name__ == "__main__":
    main()
