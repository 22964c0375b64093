"""Measure what is called settled between systems that are all equal, and how high the first is.

    PYTHONPATH=tests python benchmarks/null_studies.py [--replicates 400] [--seed 1]
        [--only behind|first]

A wrong "behind" is a system whose best place left open is not 1. Before: Bonferroni over the S - 1
differences of each system. After: step-down max-t over all differences (`family_p`), with Holm over
them for comparison. First: how often the own 95 % interval of the system that comes out first lies
above the average, 1500. Items depart from the strengths with an SD of .6, raters, where
they are sampled, with .3. Ends of the shares: Clopper and Pearson, 95 %.
"""

import argparse
import time
from dataclasses import dataclass
from math import comb

import numpy as np
from scipy.stats import beta
from simulated_votes import Design, Population, simulate_comparisons

from hearteval.analysis.ranking.intervals import IntervalName, RankPolicy, find_uncertainty
from hearteval.errors import NotIdentifiedError
from hearteval.stats.bradley_terry.differences import MIN_SE
from hearteval.stats.bradley_terry.simultaneous import family_p
from hearteval.stats.bradley_terry.ties import fit_ties
from hearteval.stats.comparisons import FloatArray
from hearteval.stats.special import stdtr, stdtrit

ALPHA = 0.05
ITEM_SD, RATER_SD = 0.6, 0.3
POLICY = RankPolicy()
FIRST = (2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 25, 35, 50)


@dataclass(frozen=True, slots=True, kw_only=True)
class Null:
    """Equal systems under one design; a panel has no departures, or they would not be equal."""

    n_systems: int
    n_items: int
    n_raters: int
    votes: int
    interval: IntervalName
    pairs: int = 0
    """Of systems on each item; 0 for ten, or as many as there are."""

    @property
    def design(self) -> Design:
        """Who compares what."""
        most = comb(self.n_systems, 2)
        return Design(
            n_items=self.n_items,
            pairs_per_item=min(most, self.pairs or max(10, -(-4 * self.n_systems // 5))),
            n_raters=self.n_raters,
            raters_per_pair=self.votes,
        )

    @property
    def population(self) -> Population:
        """Equal strengths."""
        is_panel = self.interval == "item-sandwich"
        theta = np.zeros(self.n_systems)
        panel = np.zeros((self.n_raters, self.n_systems)) if is_panel else None
        return Population(theta=theta, item_sd=ITEM_SD, rater_sd=RATER_SD, panel=panel)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--replicates", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=("behind", "first"))
    arguments = parser.parse_args()
    started = time.process_time()
    if arguments.only != "first":
        print("| systems | interval | items x pairs x votes | raters | studies |", end=" ")
        print("before | Holm | after |\n|" + " --- |" * 8)
        for k, null in enumerate(_behind()):
            rng = np.random.default_rng([arguments.seed, k])
            print(_row(null, arguments.replicates, rng), flush=True)
    if arguments.only != "behind":
        print("\n| systems | two-way, 5 people | two-way, 10 people | item-sandwich |")
        print("|" + " --- |" * 4)
        for n in FIRST:
            cells = [
                _first(null, arguments.replicates, np.random.default_rng([arguments.seed, n, k]))
                for k, null in enumerate(_of_first(n))
            ]
            print(f"| {n} | {' | '.join(cells)} |", flush=True)
    print(f"{time.process_time() - started:.0f} s of CPU time")


def _behind() -> list[Null]:
    return [
        *(
            Null(n_systems=n, n_items=items, n_raters=raters, votes=5, interval="two-way")
            for n in (6, 18)
            for items, raters in ((60, 5), (150, 8), (280, 15))
        ),
        *(
            Null(n_systems=n, n_items=items, n_raters=3, votes=3, interval="item-sandwich")
            for n in (6, 18)
            for items in (20, 150)
        ),
    ]


def _of_first(n: int) -> list[Null]:
    return [
        *(
            Null(n_systems=n, n_items=100, n_raters=raters, votes=3, interval="two-way")
            for raters in (5, 10)
        ),
        Null(n_systems=n, n_items=100, n_raters=3, votes=3, interval="item-sandwich"),
    ]


def _first(null: Null, n_replicates: int, rng: np.random.Generator) -> str:
    """Return how often the interval of the first lies above the average."""
    is_above = []
    for _ in range(n_replicates):
        fit = fit_ties(simulate_comparisons(null.population, null.design, rng), ties="half")
        found = find_uncertainty(fit, null.interval, POLICY, has_items=True)
        is_above.append(found.intervals.low[int(np.argmax(fit.theta))] > 0)
    return _share(sum(is_above), n_replicates)


def _row(null: Null, n_replicates: int, rng: np.random.Generator) -> str:
    said: list[tuple[bool, bool, bool]] = []
    for _ in range(n_replicates):
        comparisons = simulate_comparisons(null.population, null.design, rng)
        try:
            fit = fit_ties(comparisons, ties="half")
            found = find_uncertainty(fit, null.interval, POLICY, has_items=True)
        except NotIdentifiedError:
            continue
        is_known = found.of_differences > MIN_SE**2
        se = np.sqrt(np.where(is_known, found.of_differences, np.inf))
        t = np.abs(fit.theta[:, None] - fit.theta[None, :]) / se
        quantile = stdtrit(found.df, 1 - ALPHA / (null.n_systems - 1) / 2)
        p = family_p(fit.theta, found.of_differences, found.df, found.joint)
        said.append(
            (
                bool((t > quantile).any()),
                bool((_holm(t, found.df)).any()),
                bool((p <= ALPHA).any()),
            )
        )
    design = null.design
    shares = " | ".join(_share(int(n), len(said)) for n in np.sum(said, axis=0))
    return (
        f"| {null.n_systems} | {null.interval} | {design.n_items} x {design.pairs_per_item} x"
        f" {design.raters_per_pair} | {design.n_raters} | {len(said)} | {shares} |"
    )


def _holm(t: FloatArray, df: float | FloatArray) -> FloatArray:
    """Return whether the first step of Holm's test rejects each difference."""
    p = 2 * stdtr(df, -t)
    return np.asarray(p * comb(len(t), 2) <= ALPHA)


def _share(n: int, of: int) -> str:
    low = beta.ppf(0.025, n, of - n + 1) if n else 0.0
    high = beta.ppf(0.975, n + 1, of - n) if n < of else 1.0
    return f"{n / of:.3f} [{low:.3f}, {high:.3f}]"


if __name__ == "__main__":
    main()
