"""Measure how often the fit check warns where one order of all systems is true, and where not.

    python benchmarks/fit_check.py [--replicates 1000] [--seed 1] [--only size|power]

Votes have Bradley-Terry chances exactly, however they depend on each other: a vote compares noise
that is logistic. "alone" draws it anew for every vote. "by item" takes it, for 80 % of the votes,
from utilities that the item gives every system once (Gumbel); "by pair" from one draw for the pair
on this item, so that most votes of a pair on an item are the same. Each line gives the share of
replicates in which the test of all pairs has p <= .05 (then a ranking warns), a pair has q <= .05,
either, and in which Pearson's test of independent votes has p <= .05; then the gaps over pairs,
observed and as expected by chance, on average. With 18 systems it is a fifth of the replicates.
"""

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2

from hearteval.errors import NotIdentifiedError
from hearteval.stats.bradley_terry.fit_check import check_pairs
from hearteval.stats.bradley_terry.lack_of_fit import (
    assess_pairs,
    expect_gaps,
    find_lack_of_fit,
    find_residuals,
)
from hearteval.stats.bradley_terry.ties import fit_ties
from hearteval.stats.comparisons import Comparisons, FloatArray

LEVEL = 0.05
MANY_SYSTEMS, FEWER = 10, 5
THREE = np.linspace(0.3, -0.3, 3)
SIX = np.linspace(0.8, -0.8, 6)
SIX_WIDE = np.linspace(2.0, -2.0, 6)
EIGHTEEN = np.linspace(1.0, -1.0, 18)
DEPENDENCE = {"alone": 0.0, "by item": 0.8, "by pair": 0.8}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """What is true and who compares what.

    Attributes:
        departure: What is added to the log-odds of row against column; none where the fit is true.
        pairs: Pairs compared on each item.
        votes: Votes of each pair on each item.
        dependence: Where votes take their noise from.
        ties: Share of votes that are ties, at random.
    """

    theta: FloatArray
    items: int
    pairs: int
    votes: int
    dependence: str = "alone"
    departure: FloatArray | None = None
    named: str = ""
    ties: float = 0.0


def designs() -> Iterator[Scenario]:
    """Return designs in which the fit is true."""
    plain = [
        (THREE, 10, 3, 3),
        (THREE, 20, 3, 1),
        (THREE, 20, 3, 5),
        (THREE, 280, 3, 12),
        (SIX, 10, 15, 2),
        (SIX, 20, 15, 2),
        (SIX, 20, 15, 12),
        (SIX, 60, 5, 1),
        (SIX, 280, 6, 5),
        (SIX_WIDE, 40, 15, 2),
        (SIX_WIDE, 100, 5, 3),
        (EIGHTEEN, 20, 153, 2),
        (EIGHTEEN, 40, 10, 5),
        (EIGHTEEN, 100, 30, 2),
        (EIGHTEEN, 280, 10, 5),
        (EIGHTEEN, 280, 153, 1),
    ]
    for theta, items, pairs, votes in plain:
        for dependence in DEPENDENCE:
            if dependence != "by pair" or votes > 1:
                yield Scenario(
                    theta=theta, items=items, pairs=pairs, votes=votes, dependence=dependence
                )
    yield Scenario(theta=SIX, items=60, pairs=5, votes=5, dependence="by pair", ties=0.3)


def departures() -> Iterator[Scenario]:
    """Return designs in which it is not."""
    cycle = np.zeros((3, 3))
    for i, j in ((0, 1), (1, 2), (2, 0)):
        cycle[i, j], cycle[j, i] = 1.0, -1.0
    for size in (0.41, 0.85):  # chances of 60 and 70 % round the cycle
        for items in (20, 50, 100):
            yield Scenario(
                theta=np.zeros(3),
                items=items,
                pairs=3,
                votes=3,
                dependence="by pair",
                departure=size * cycle,
                named=f"A beats B beats C beats A, {100 / (1 + np.exp(-size)):.0f} %",
            )
    for theta, items, pairs, votes in ((SIX, 60, 15, 2), (SIX, 280, 6, 5), (EIGHTEEN, 280, 10, 5)):
        n = len(theta)
        for size in (1.0, 1.5):
            one = np.zeros((n, n))
            one[0, 2], one[2, 0] = -size, size
            yield Scenario(
                theta=theta,
                items=items,
                pairs=pairs,
                votes=votes,
                dependence="by pair",
                departure=one,
                named=f"one pair off by {size:g}",
            )
        odd = np.zeros((n, n))
        odd[1, ::2], odd[1, 3::2] = 0.7, -0.7
        odd[:, 1] = -odd[1]
        odd[1, 1] = 0
        yield Scenario(
            theta=theta,
            items=items,
            pairs=pairs,
            votes=votes,
            dependence="by pair",
            departure=odd,
            named="one system off by 0.7 with every other",
        )


def draw(scenario: Scenario, rng: np.random.Generator) -> Comparisons:
    """Draw votes; all pairs of systems are compared equally often, to within one."""
    theta, n = scenario.theta, len(scenario.theta)
    first, second = np.triu_indices(n, 1)
    n_cells = scenario.items * scenario.pairs
    pair = np.resize(rng.permutation(len(first)), n_cells)
    item = np.repeat(np.arange(scenario.items), scenario.pairs)
    cell = np.repeat(np.arange(n_cells), scenario.votes)
    left, right, item = first[pair][cell], second[pair][cell], item[cell]
    noise = rng.logistic(size=len(cell))
    is_shared = rng.random(len(cell)) < DEPENDENCE[scenario.dependence]
    if scenario.dependence == "by item":
        utility = rng.gumbel(size=(scenario.items, n))
        noise = np.where(is_shared, utility[item, left] - utility[item, right], noise)
    else:
        noise = np.where(is_shared, rng.logistic(size=n_cells)[cell], noise)
    odds = theta[left] - theta[right] + noise
    if scenario.departure is not None:
        odds += scenario.departure[left, right]
    is_tie = rng.random(len(cell)) < scenario.ties
    return Comparisons(
        left=left,
        right=right,
        score=np.where(is_tie, 0.5, odds > 0),
        weight=np.ones(len(cell)),
        count=np.ones(len(cell), dtype=np.int64),
        item=item,
        rater=np.full(len(cell), -1),
        n_systems=n,
    )


def measure(scenario: Scenario, n_replicates: int, seed: int) -> list[float]:
    """Return the shares and the mean gaps over the replicates that determine a ranking."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n_replicates):
        try:
            tied = fit_ties(draw(scenario, rng), ties="half")
        except NotIdentifiedError:
            continue
        residuals = find_residuals(tied)
        gaps = check_pairs(tied.points, tied.expected_points)[2]
        chance = expect_gaps(residuals, rng)
        pearson = (residuals.residual**2 / residuals.spread).sum()
        df = len(residuals.n) - residuals.n_systems + 1
        test = find_lack_of_fit(residuals)
        is_all = test is not None and test.p <= LEVEL
        is_pair = bool((assess_pairs(residuals).q <= LEVEL).any())
        found.append(
            [
                is_all,
                is_pair,
                is_all or is_pair,
                chi2.sf(pearson, df) <= LEVEL,
                gaps.root_mean_square,
                chance.root_mean_square,
                gaps.largest,
                chance.largest,
            ]
        )
    return [float(value) for value in np.mean(found, axis=0)] + [len(found)]


def main() -> None:
    """Print a table of sizes and one of powers."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--replicates", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=["size", "power"])
    arguments = parser.parse_args()
    start = time.process_time()
    for name, scenarios in (("size", designs()), ("power", departures())):
        if arguments.only not in (None, name):
            continue
        what = "votes depend" if name == "size" else "what is off"
        print(
            f"| systems | items x pairs x votes | {what} | replicates | all pairs | a pair |",
            end="",
        )
        print(" either | Pearson | rms gap, by chance | largest gap, by chance |")
        print("| --- " * 10 + "|")
        for scenario in scenarios:
            many = len(scenario.theta) > MANY_SYSTEMS
            n = arguments.replicates // (FEWER if many else 1)
            *found, n_found = measure(scenario, n, arguments.seed)
            wide = ", wide" if scenario.theta is SIX_WIDE else ""
            words = scenario.named or scenario.dependence + (", ties" if scenario.ties else "")
            print(
                f"| {len(scenario.theta)}{wide} | {scenario.items} x {scenario.pairs} x"
                f" {scenario.votes} | {words} | {n_found} | **{found[0]:.3f}** | {found[1]:.3f} |"
                f" {found[2]:.3f} | {found[3]:.3f} | {found[4]:.3f}, {found[5]:.3f} |"
                f" {found[6]:.3f}, {found[7]:.3f} |",
                flush=True,
            )
        print()
    print(f"{time.process_time() - start:.0f} CPU s")


if __name__ == "__main__":
    main()
