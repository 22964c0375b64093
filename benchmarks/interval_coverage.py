"""Measure how often nominal 95 % intervals cover, with and without item and rater effects.

    python benchmarks/interval_coverage.py [--replicates 1000] [--seed 1]

Comparisons are drawn from known strengths. What an interval has to cover is what the fit tends to
as items and sampled raters multiply (`population_strengths`), not theta itself, which effects
attenuate; under a panel of judges it is the limit for these judges. Each cell gives the share of
systems (theta_i - mean theta) / of pairwise differences covered, and the larger Monte Carlo
standard error of the two. Bold is the interval that SPEC section 6 chooses for the raters at hand.
"""

import argparse
import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from heartbench.errors import NotIdentifiedError
from heartbench.stats.bradley_terry import BradleyTerryFit, fit_bradley_terry
from heartbench.stats.clustered_variance import (
    ClusteredVariance,
    vary_over_items,
    vary_over_items_and_raters,
)
from heartbench.stats.comparisons import Comparisons, FloatArray, count_comparisons
from heartbench.stats.contrasts import pairwise_differences
from heartbench.stats.intervals import (
    Intervals,
    clustered,
    independent_votes,
    influence_on_strengths,
    published,
)
from heartbench.stats.simulation import (
    Design,
    Population,
    population_strengths,
    simulate_comparisons,
)

LEVEL = 0.95
ITEM_SD, RATER_SD = 0.6, 0.3
INTERVALS = ("two-way", "item-sandwich", "votes apart", "published")
SIX = np.linspace(0.8, -0.8, 6)
EIGHTEEN = np.linspace(1.0, -1.0, 18)
PLAIN = Design(n_items=150, pairs_per_item=6, n_raters=5, raters_per_pair=5)
PANEL = replace(PLAIN, n_raters=3, raters_per_pair=3, both_orders=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A design, what is true, and which share of the replicates it is given."""

    population: Population
    design: Design
    share: float = 1.0


def main() -> None:
    arguments = _parse_arguments()
    started = time.process_time()
    print(f"Seed {arguments.seed}; systems / differences covered ± Monte Carlo error.\n")
    print("| raters | SD item, rater | systems | items x pairs x votes | replicates |", end=" ")
    print(" | ".join(INTERVALS), "|\n|", " | ".join(["---"] * (5 + len(INTERVALS))), "|")
    for i, scenario in enumerate(_scenarios(np.random.default_rng(arguments.seed))):
        n = math.ceil(arguments.replicates * scenario.share)
        rng = np.random.default_rng([arguments.seed, i])
        print(_row(scenario, n, rng), flush=True)
    print(f"\n{time.process_time() - started:.0f} s of CPU time")


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--replicates", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


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


def _row(scenario: Scenario, n_replicates: int, rng: np.random.Generator) -> str:
    population, design = scenario.population, scenario.design
    is_panel = population.panel is not None
    covered: dict[str, list[tuple[float, float]]] = {name: [] for name in INTERVALS}
    truth = population_strengths(population)
    n_not_identified = 0
    for _ in range(n_replicates):
        try:
            found = _cover(truth, simulate_comparisons(population, design, rng), is_panel=is_panel)
        except NotIdentifiedError:
            n_not_identified += 1
            continue
        for name, shares in found.items():
            covered[name].append(shares)
    raters = f"panel of {design.n_raters}" if is_panel else f"{design.n_raters}"
    rater_sd = "0" if is_panel and not np.any(population.panel) else f"{population.rater_sd:g}"
    n_votes = design.raters_per_pair * (1 + design.both_orders)
    replicates = f"{n_replicates}"
    if n_not_identified:
        replicates += f" ({n_not_identified} not identified)"
    cells = [
        raters,
        f"{population.item_sd:g}, {rater_sd}" + (", ties" if population.tie else ""),
        f"{len(population.theta)}",
        f"{design.n_items} x {design.pairs_per_item} x {n_votes}",
        replicates,
        *(_cell(name, covered[name], is_panel=is_panel) for name in INTERVALS),
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


def _cover(
    truth: FloatArray, comparisons: Comparisons, *, is_panel: bool
) -> Mapping[str, tuple[float, float]]:
    """Return the shares of systems and of differences that each interval covers."""
    fit = fit_bradley_terry(comparisons)
    influence_of = influence_on_strengths(comparisons, fit)
    item, rater = comparisons.item, comparisons.rater
    variances = {
        "item-sandwich": vary_over_items(influence_of, item),
        "votes apart": independent_votes(comparisons, fit),
    }
    if not is_panel:
        variances["two-way"] = vary_over_items_and_raters(influence_of, item, rater)
    narrow = published(fit.theta, count_comparisons(comparisons), level=LEVEL)
    return {
        "published": (_covers_systems(narrow, truth), math.nan),
        **{
            name: (
                _covers_systems(clustered(fit.theta, variance, level=LEVEL), truth),
                _covers_differences(fit, variance, truth),
            )
            for name, variance in variances.items()
        },
    }


def _covers_systems(intervals: Intervals, truth: FloatArray) -> float:
    return float(np.mean((intervals.low <= truth) & (truth <= intervals.high)))


def _covers_differences(
    fit: BradleyTerryFit, variance: ClusteredVariance, truth: FloatArray
) -> float:
    found = pairwise_differences(fit.theta, variance.of_differences(), variance.df, level=LEVEL)
    difference = truth[:, None] - truth[None, :]
    is_covered = (found.low <= difference) & (difference <= found.high)
    return float(np.mean(is_covered[np.triu_indices(len(truth), 1)]))


if __name__ == "__main__":
    main()
