"""Hold the planner against simulated studies: its errors, its power, and what a pilot tells.

    PYTHONPATH=src python benchmarks/planner.py [errors|power|pilots|crowd] [--studies N]

Two truths, both with components that are known: straight lines (effects uniform in shares, won or
lost), and log odds (normal effects, logistic noise, ties), whose components are averages over a
million draws. Pairs are balanced over systems and drawn for each item; raters are evenly loaded.
Prints Markdown; without a word, all of it. `crowd` measures what is assumed where there is no pilot
on the votes of LLMFAO (../shared/data/reference/llmfao), and skips without them.
"""

import argparse
import csv
import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import expit
from scipy.stats import t as student

from hearteval.stats.bradley_terry.clustered_variance import vary_over_items_and_raters
from hearteval.stats.bradley_terry.fit import ELO_PER_THETA, fit_bradley_terry
from hearteval.stats.bradley_terry.intervals import influence_on_strengths
from hearteval.stats.comparisons import (
    Comparisons,
    FloatArray,
    IntArray,
    select_comparisons,
)
from hearteval.stats.planner.components import measure_components
from hearteval.stats.planner.design import (
    Components,
    Design,
    difference_parts,
    look_ahead,
)

SEED, LEVEL, N_DRAWS = 28, 0.95, 1_000_000
TIE = 0.35
"""Preference under which a vote is a tie, log odds."""


class World(NamedTuple):
    """A truth: what votes are drawn from, and its components."""

    name: str
    item: float
    rater: float
    is_logistic: bool
    """SDs in log odds; else variances in squared shares."""

    def components(self) -> Components:
        """Return the true components of a comparison of equals."""
        if not self.is_logistic:
            rest = 0.25 - 2 * (self.item + self.rater)
            return Components(item=self.item, rater=self.rater, rest=rest)
        rng = np.random.default_rng(SEED)
        q, other_q, p, other_p = (
            sd * math.sqrt(2) * rng.standard_normal(N_DRAWS)
            for sd in (self.item, self.item, self.rater, self.rater)
        )
        score, item_alike, rater_alike = (
            expected_score(x) for x in (q + p, q + other_p, other_q + p)
        )
        item, rater = (np.cov(score, one)[0, 1] for one in (item_alike, rater_alike))
        x = q + p + rng.logistic(size=N_DRAWS)
        total = np.where(np.abs(x) < TIE, 0.5, x > 0).var()
        return Components(item=item / 2, rater=max(0.0, rater / 2), rest=total - item - rater)

    def gap(self, points: float) -> float:
        """Return the difference of strengths at which one wins so many points over one half."""
        if not self.is_logistic:
            return points
        rng = np.random.default_rng(SEED)
        spread = math.hypot(self.item, self.rater) * math.sqrt(2)
        x = spread * rng.standard_normal(N_DRAWS // 10)
        low, high = 0.0, 5.0
        for _ in range(40):
            middle = (low + high) / 2
            is_more = expected_score(x + middle).mean() - 0.5 > points
            low, high = (low, middle) if is_more else (middle, high)
        return low


def expected_score(x: FloatArray) -> FloatArray:
    """Return the expected score of a preference of x before noise."""
    return np.asarray((expit(x - TIE) + expit(x + TIE)) / 2)


STRAIGHT = World("straight", 0.012, 0.005, is_logistic=False)
CALM = World("log odds .6, .3", 0.6, 0.3, is_logistic=True)
WILD = World("log odds .9, .6", 0.9, 0.6, is_logistic=True)
DESIGNS = (
    (STRAIGHT, Design(n_systems=2, n_items=60, n_pairs=1, n_votes=3, n_raters=15)),
    (STRAIGHT, Design(n_systems=2, n_items=300, n_pairs=1, n_votes=1, n_raters=60)),
    (STRAIGHT, Design(n_systems=4, n_items=80, n_pairs=6, n_votes=2, n_raters=8)),
    (STRAIGHT, Design(n_systems=6, n_items=100, n_pairs=5, n_votes=1, n_raters=15)),
    (STRAIGHT, Design(n_systems=6, n_items=100, n_pairs=1, n_votes=5, n_raters=15)),
    (STRAIGHT, Design(n_systems=12, n_items=150, n_pairs=10, n_votes=1, n_raters=30)),
    (CALM, Design(n_systems=2, n_items=40, n_pairs=1, n_votes=5, n_raters=15)),
    (CALM, Design(n_systems=2, n_items=200, n_pairs=1, n_votes=2, n_raters=30)),
    (CALM, Design(n_systems=3, n_items=60, n_pairs=3, n_votes=3, n_raters=6)),
    (CALM, Design(n_systems=6, n_items=60, n_pairs=15, n_votes=1, n_raters=15)),
    (CALM, Design(n_systems=6, n_items=60, n_pairs=3, n_votes=5, n_raters=15)),
    (CALM, Design(n_systems=8, n_items=300, n_pairs=10, n_votes=1, n_raters=30)),
    (CALM, Design(n_systems=8, n_items=300, n_pairs=2, n_votes=5, n_raters=30)),
    (CALM, Design(n_systems=18, n_items=120, n_pairs=20, n_votes=1, n_raters=60)),
    (WILD, Design(n_systems=2, n_items=100, n_pairs=1, n_votes=3, n_raters=30)),
    (WILD, Design(n_systems=4, n_items=100, n_pairs=6, n_votes=1, n_raters=12)),
    (WILD, Design(n_systems=6, n_items=100, n_pairs=4, n_votes=2, n_raters=15)),
    (WILD, Design(n_systems=6, n_items=100, n_pairs=15, n_votes=3, n_raters=60)),
    (WILD, Design(n_systems=10, n_items=100, n_pairs=9, n_votes=1, n_raters=20)),
    (WILD, Design(n_systems=10, n_items=50, n_pairs=2, n_votes=5, n_raters=20)),
)

POWERED = (
    (STRAIGHT, Design(n_systems=2, n_items=600, n_pairs=1, n_votes=1, n_raters=60)),
    (STRAIGHT, Design(n_systems=2, n_items=200, n_pairs=1, n_votes=3, n_raters=15)),
    (STRAIGHT, Design(n_systems=6, n_items=200, n_pairs=5, n_votes=2, n_raters=30)),
    (CALM, Design(n_systems=2, n_items=200, n_pairs=1, n_votes=5, n_raters=15)),
    (CALM, Design(n_systems=2, n_items=400, n_pairs=1, n_votes=2, n_raters=60)),
    (CALM, Design(n_systems=3, n_items=150, n_pairs=3, n_votes=3, n_raters=8)),
    (CALM, Design(n_systems=6, n_items=200, n_pairs=3, n_votes=5, n_raters=30)),
    (CALM, Design(n_systems=6, n_items=200, n_pairs=15, n_votes=1, n_raters=60)),
    (CALM, Design(n_systems=8, n_items=300, n_pairs=10, n_votes=1, n_raters=30)),
    (WILD, Design(n_systems=2, n_items=400, n_pairs=1, n_votes=3, n_raters=60)),
    (WILD, Design(n_systems=6, n_items=300, n_pairs=5, n_votes=2, n_raters=60)),
    (WILD, Design(n_systems=10, n_items=300, n_pairs=9, n_votes=2, n_raters=60)),
)


def draw_votes(world: World, design: Design, gap: float, rng: np.random.Generator) -> Comparisons:
    """Return the votes of a study in which the first system is better than the last by `gap`."""
    s, i, v, r = design.n_systems, design.n_items, design.n_votes, design.n_raters
    pairs = np.array(list(itertools.combinations(range(s), 2)))
    n_pairs = round(design.n_pairs)
    which = _deal_pairs(i, n_pairs, len(pairs), rng)
    item = np.repeat(np.arange(i), n_pairs)
    rater = _in_turn(len(which), v, r, rng)
    item, which = np.repeat(item, v), np.repeat(which, v)
    left, right = pairs[which].T
    theta = np.zeros(s)
    theta[0], theta[-1] = gap / 2, -gap / 2

    def effects(n: int, size: float) -> FloatArray:
        if world.is_logistic:
            return size * rng.standard_normal((n, s))
        end = math.sqrt(3 * size)
        return rng.uniform(-end, end, (n, s))

    q, p = effects(i, world.item), effects(r, world.rater)
    x = theta[left] - theta[right] + q[item, left] - q[item, right]
    x += p[rater, left] - p[rater, right]
    if world.is_logistic:
        x += rng.logistic(size=len(x))
        score = np.where(np.abs(x) < TIE, 0.5, x > 0)
    else:
        score = (rng.random(len(x)) < 0.5 + x).astype(np.float64)
    ones = np.ones(len(x))
    return Comparisons(
        left=left,
        right=right,
        score=score,
        weight=ones,
        count=ones.astype(np.int64),
        item=item,
        rater=rater,
        n_systems=s,
    )


def _deal_pairs(n_items: int, n_pairs: int, n_all: int, rng: np.random.Generator) -> IntArray:
    """Return pairs of each item, different ones and each as often: shuffled decks, dealt in turn.

    Of few items a pair comes twice where one deck ends and another begins; its second is redrawn.
    """
    n_decks = -(-n_items * n_pairs // n_all)
    decks = np.argsort(rng.random((n_decks, n_all)), axis=1).ravel()
    dealt = decks[: n_items * n_pairs].reshape(n_items, n_pairs)
    if n_pairs == n_all:
        return np.asarray(dealt.ravel())
    order = np.sort(dealt, axis=1)
    for row in np.flatnonzero((order[:, 1:] == order[:, :-1]).any(axis=1)):
        dealt[row] = rng.permutation(n_all)[:n_pairs]
    return np.asarray(dealt.ravel())


def _in_turn(n: int, v: int, r: int, rng: np.random.Generator) -> IntArray:
    """Return v raters of each of n pairs, different ones, all as often, in random order."""
    dealt = (np.arange(n * v) % r).reshape(n, v)[rng.permutation(n)]
    return np.asarray(rng.permutation(r)[dealt].ravel())


class Found(NamedTuple):
    """A difference of two systems as a study finds it, log odds."""

    value: float
    se: float

    def is_seen(self, df: int) -> bool:
        """Return whether its two-way interval leaves out 0."""
        return abs(self.value) > self.se * float(student.ppf((1 + LEVEL) / 2, df))


def find_difference(votes: Comparisons) -> Found:
    """Return the difference of the first system and the last, as a ranking has it."""
    fit = fit_bradley_terry(votes)
    variance = vary_over_items_and_raters(
        influence_on_strengths(votes, fit), votes.item, votes.rater
    )
    return Found(float(fit.theta[0] - fit.theta[-1]), math.sqrt(variance.of_differences()[0, -1]))


def row(*cells: object) -> None:
    """Print a row of Markdown."""
    print("| " + " | ".join(f"{c:.3f}" if isinstance(c, float) else str(c) for c in cells) + " |")


def head(*cells: str) -> None:
    """Print the first two rows."""
    print()
    row(*cells)
    row(*["---"] * len(cells))


def name_of(design: Design) -> str:
    """Write a design."""
    d = design
    return f"{d.n_systems} · {d.n_items} x {d.n_pairs:.0f} x {d.n_votes} · {d.n_raters}"


def errors(n_studies: int) -> None:
    """Compare predicted standard errors with those of simulated studies."""
    rng = np.random.default_rng(SEED)
    head(
        "truth", "systems · items x pairs x votes · raters", "predicted, Elo", "simulated", "ratio"
    )
    for world, design in DESIGNS:
        parts = world.components()
        predicted = parts.elo(math.sqrt(difference_parts(parts, design).total))
        found = []
        for _ in range(n_studies):
            theta = fit_bradley_terry(draw_votes(world, design, 0.0, rng)).theta
            found.append([theta[a] - theta[b] for a, b in ((0, -1), (0, 1), (1, -1))])
        columns = np.array(found)[:, : (1 if design.n_systems == 2 else 3)]
        simulated = float(np.sqrt((columns**2).mean())) * ELO_PER_THETA
        row(world.name, name_of(design), predicted, simulated, predicted / simulated)


def power(n_studies: int) -> None:
    """Compare stated power with the share of simulated studies whose interval leaves out 0."""
    rng = np.random.default_rng(SEED + 1)
    head("truth", "systems · items x pairs x votes · raters", "gap, points", "stated", "simulated")
    for world, design in POWERED:
        parts = world.components()
        low, high = 0.0, 0.45
        for _ in range(40):
            middle = (low + high) / 2
            is_enough = look_ahead(parts, design, gap=middle).power > 0.8
            low, high = (low, middle) if is_enough else (middle, high)
        stated, gap = look_ahead(parts, design, gap=low).power, world.gap(low)
        df = min(design.n_items, design.n_raters) - 1
        seen = [
            find_difference(draw_votes(world, design, gap, rng)).is_seen(df)
            for _ in range(n_studies)
        ]
        row(world.name, name_of(design), 100 * low, stated, float(np.mean(seen)))


def pilots(n_studies: int) -> None:
    """Say what pilots make of the components, and of the power of a larger study."""
    rng = np.random.default_rng(SEED + 2)
    head(
        "truth",
        "pilot",
        "item: mean/true, covered",
        "rater: mean/true, covered",
        "true power",
        "power by pilots: 10, 50, 90 %",
        "assurance: mean",
    )
    for world in (CALM, WILD):
        parts = world.components()
        large = Design(n_systems=4, n_items=200, n_pairs=6, n_votes=2, n_raters=60)
        truth = look_ahead(parts, large, gap=0.06).power
        for n_items, n_raters in ((20, 5), (20, 15), (60, 8), (60, 30)):
            small = replace(large, n_items=n_items, n_votes=3, n_raters=n_raters)
            found = [
                measure_components(draw_votes(world, small, 0.0, rng), rng=rng)
                for _ in range(n_studies)
            ]
            ratios = []
            for name in ("item", "rater"):
                true = getattr(parts, name)
                mean = np.mean([getattr(one.components, name) for one in found]) / true
                ends = [
                    np.quantile([getattr(d, name) for d in one.draws], (0.025, 0.975))
                    for one in found
                ]
                covered = np.mean([low <= true <= high for low, high in ends])
                ratios.append(f"{mean:.2f}, {covered:.2f}")
            stated = [look_ahead(one.components, large, gap=0.06).power for one in found]
            sure = [
                np.mean([look_ahead(d, large, gap=0.06).power for d in one.draws[:50]])
                for one in found
            ]
            low, middle, high = np.quantile(stated, (0.1, 0.5, 0.9))
            row(
                world.name,
                f"{n_items} items, {n_raters} raters",
                *ratios,
                truth,
                f"{low:.2f}, {middle:.2f}, {high:.2f}",
                float(np.mean(sure)),
            )


def crowd(_n_studies: int) -> None:
    """Measure the components of the crowd whose people are assumed where there is no pilot."""
    path = Path(__file__).resolve().parents[2] / "shared/data/reference/llmfao"
    if not path.is_dir():
        print("\ncrowd: skipped, the votes are not there")
        return
    with (path / "crowd-comparisons.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))

    def numbers(*columns: str) -> list[IntArray]:
        names = sorted({one[column] for one in rows for column in columns})
        return [np.array([names.index(one[column]) for one in rows]) for column in columns]

    left, right = numbers("left", "right")
    (item,), (rater,) = numbers("prompt"), numbers("worker")
    ones = np.ones(len(rows))
    votes = Comparisons(
        left=left,
        right=right,
        score=np.array([{"left": 1.0, "right": 0.0, "tie": 0.5}[one["winner"]] for one in rows]),
        weight=ones,
        count=ones.astype(np.int64),
        item=item,
        rater=rater,
        n_systems=int(max(left.max(), right.max())) + 1,
    )
    even = expit(np.ptp(fit_bradley_terry(votes).theta[np.stack((left, right))], axis=0)) < 0.6
    head("votes", "n", "item: low, estimate, high", "rater", "rest", "slope")
    for name, kept in (("all", even | True), ("of near equals (under 60 %)", even)):
        found = measure_components(select_comparisons(votes, kept), rng=np.random.default_rng(SEED))
        ends = [
            ", ".join(
                f"{getattr(found.components, part):.4f}"
                if at is None
                else f"{np.quantile([getattr(d, part) for d in found.draws], at):.4f}"
                for at in (0.025, None, 0.975)
            )
            for part in ("item", "rater", "rest")
        ]
        row(name, found.n_votes, *ends, found.components.slope)


PARTS: dict[str, tuple[Callable[[int], None], int]] = {
    "errors": (errors, 1_000),
    "power": (power, 2_000),
    "pilots": (pilots, 200),
    "crowd": (crowd, 1),
}


def main() -> None:
    """Run the parts that are asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("part", nargs="?", choices=PARTS)
    parser.add_argument("--studies", type=int)
    given = parser.parse_args()
    for name, (run, n_studies) in PARTS.items():
        if given.part in (None, name):
            run(given.studies or n_studies)


if __name__ == "__main__":
    main()
