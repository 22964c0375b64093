"""Measure what judges' votes add to few votes of people, where all are known in the end.

    python benchmarks/anchored.py ../shared/data/reference/ppr2024 [--studies 200]

Chatzi and others (2024): each of 26,919 arena comparisons of 20 models was judged by one person and
by GPT-4. A study is a draw of some of people's votes and all of the judge's; what has to be covered
is the ranking by all of people's. Prints Markdown.
"""

import argparse
import csv
import gzip
import itertools
from pathlib import Path

import numpy as np

from hearteval.stats.bradley_terry.anchored import Spread, anchor
from hearteval.stats.bradley_terry.clustered_variance import (
    ClusteredVariance,
    InfluenceOf,
    vary_over_items,
)
from hearteval.stats.bradley_terry.fit import ELO_PER_THETA, fit_bradley_terry
from hearteval.stats.bradley_terry.intervals import clustered, influence_on_strengths
from hearteval.stats.bradley_terry.measured import Measured, measure
from hearteval.stats.comparisons import BoolArray, Comparisons, FloatArray, select_comparisons
from hearteval.stats.special import ndtri

SCORES = {"model_a": 1.0, "model_b": 0.0, "tie": 0.5}
LEVEL = 0.95
SEED = 1
N_STEPS = 8
"""Of Newton's method, from people's own strengths."""
WAYS = ("people alone", "vote by vote", "no judge", "no doubt", "anchored")


def read_votes(folder: Path) -> tuple[Comparisons, Comparisons]:
    """Return the votes of people and of GPT-4 on the same comparisons."""
    with gzip.open(folder / "arena_people_and_gpt4.csv.gz", "rt", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    names = sorted({row[side] for row in rows for side in ("model_a", "model_b")})
    left, right = (
        np.array([names.index(row[side]) for row in rows]) for side in ("model_a", "model_b")
    )

    def votes(column: str) -> Comparisons:
        return Comparisons(
            left=left,
            right=right,
            score=np.array([SCORES[row[column]] for row in rows]),
            weight=np.ones(len(rows)),
            count=np.ones(len(rows), dtype=np.int64),
            item=np.array([int(row["question"]) for row in rows]),
            rater=np.full(len(rows), -1),
            n_systems=len(names),
        )

    return votes("people"), votes("gpt4")


def coin(votes: Comparisons, rng: np.random.Generator) -> Comparisons:
    """Return the same comparisons judged by a coin."""
    score = rng.integers(0, 2, len(votes)).astype(np.float64)
    columns = {name: getattr(votes, name) for name in ("left", "right", "weight", "count")}
    return Comparisons(
        **columns, score=score, item=votes.item, rater=votes.rater, n_systems=votes.n_systems
    )


def over_items(influence_of: InfluenceOf, votes: Comparisons) -> ClusteredVariance:
    """Return the variance over items: every question has one person."""
    return vary_over_items(influence_of, votes.item)


def people_alone(votes: Comparisons) -> Spread:
    """Return the ranking by people's votes, intervals over items."""
    fit = fit_bradley_terry(votes)
    variance = vary_over_items(influence_on_strengths(votes, fit), votes.item)
    found = clustered(fit.theta, variance, level=LEVEL)
    return Spread(fit.theta, found.low, found.high)


def vote_by_vote(people: Comparisons, judge: Comparisons, is_drawn: BoolArray) -> Spread:
    """Return strengths by PPI++ (Angelopoulos, Duchi and Zrnic 2023), its lambda tuned, over items.

    The score of people's votes that were drawn, less lambda times the judge's on these, plus lambda
    times the judge's on the others, is 0. All of it is per vote.
    """
    n, n_others = is_drawn.sum(), (~is_drawn).sum()
    sides = np.eye(people.n_systems)[people.left] - np.eye(people.n_systems)[people.right]

    def off(votes: Comparisons) -> FloatArray:
        return votes.score - 1 / (1 + np.exp(-sides @ theta))

    def by_item(rows: BoolArray, off_by: FloatArray) -> FloatArray:
        """Return what each item does to the strengths."""
        found = np.zeros((people.item.max() + 1, people.n_systems))
        np.add.at(found, people.item[rows], off_by[rows, None] * sides[rows])
        return np.asarray(found @ root)

    def bread(rows: BoolArray) -> FloatArray:
        p = 1 / (1 + np.exp(-sides[rows] @ theta))
        return np.asarray((p * (1 - p) * sides[rows].T) @ sides[rows] / rows.sum())

    theta = fit_bradley_terry(select_comparisons(people, is_drawn)).theta
    root = np.linalg.pinv(bread(np.ones_like(is_drawn)))
    own, judged = by_item(is_drawn, off(people)), by_item(is_drawn, off(judge))
    weight = (own * judged).sum() / ((1 + n / n_others) * (judged**2).sum())
    for _ in range(N_STEPS):
        rectified = off(people) - weight * off(judge)
        gap = rectified[is_drawn] @ sides[is_drawn] / n
        gap = gap + weight * off(judge)[~is_drawn] @ sides[~is_drawn] / n_others
        root = np.linalg.pinv((1 - weight) * bread(is_drawn) + weight * bread(~is_drawn))
        theta = theta + root @ gap
    moved = by_item(is_drawn, off(people) - weight * off(judge)) / n
    others = by_item(~is_drawn, weight * off(judge)) / n_others
    reach = ndtri((1 + LEVEL) / 2) * np.sqrt((moved**2).sum(axis=0) + (others**2).sum(axis=0))
    return Spread(theta, theta - reach, theta + reach)


def measure_study(
    people: Comparisons, judge: Comparisons, n: int, rng: np.random.Generator
) -> tuple[BoolArray, Measured]:
    """Draw people's votes until they compare every system both ways, as an interval needs."""
    while True:
        is_drawn = np.zeros(len(people), dtype=bool)
        is_drawn[rng.choice(len(people), n, replace=False)] = True
        drawn = select_comparisons(people, is_drawn)
        found = measure(drawn, [judge], vary=over_items, level=LEVEL)
        if not found.group.any():
            return is_drawn, found


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--studies", type=int, default=200)
    options = parser.parse_args()
    if not options.folder.is_dir():
        parser.exit(message=f"nothing measured: there is no folder {options.folder}\n")
    people, judge = read_votes(options.folder)
    truth = fit_bradley_terry(people).theta
    alone = fit_bradley_terry(judge).theta
    print(
        f"The judge alone: RMS error {ELO_PER_THETA * np.sqrt(((alone - truth) ** 2).mean()):.0f}"
    )
    kind = np.zeros(len(truth), dtype=np.int64)
    rng = np.random.default_rng(SEED)
    print("\n| judge | people's votes | way | half-width | RMS error | covered | least covered |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, n in itertools.product(("GPT-4", "a coin"), (250, 500, 1_000, 2_000, 4_000)):
        found: dict[str, list[Spread]] = {way: [] for way in WAYS}
        taus, slopes = [], []
        for _ in range(options.studies):
            votes = judge if name == "GPT-4" else coin(judge, rng)
            is_drawn, measured = measure_study(people, votes, n, rng)
            found["people alone"].append(people_alone(select_comparisons(people, is_drawn)))
            found["vote by vote"].append(vote_by_vote(people, votes, is_drawn))
            found["no judge"].append(anchor(measured.without_judges(), kind, level=LEVEL).theta)
            found["no doubt"].append(anchor(measured, kind, level=LEVEL, doubt=0.0).theta)
            result = anchor(measured, kind, level=LEVEL)
            found["anchored"].append(result.theta)
            taus.append(float(result.tau.estimate[0]))
            slopes.append(float(result.slopes.estimate[0]))
        tau = ELO_PER_THETA * np.mean(taus)
        for way, spreads in found.items():
            more = f", tau {tau:.0f}, b {np.mean(slopes):.2f}" if way == "anchored" else ""
            print(f"| {name} | {n:,} | {way}{more} | {row(spreads, truth)} |", flush=True)


def row(spreads: list[Spread], truth: FloatArray) -> str:
    """Return half-width and error in Elo, coverage over systems and of the least covered one."""
    estimate, low, high = (np.array(ends) for ends in zip(*spreads, strict=True))
    width = ELO_PER_THETA * (high - low).mean() / 2
    error = ELO_PER_THETA * np.sqrt(((estimate - truth) ** 2).mean())
    inside = ((low <= truth) & (truth <= high)).mean(axis=0)
    return f"{width:.0f} | {error:.0f} | {inside.mean():.3f} | {inside.min():.2f}"


if __name__ == "__main__":
    main()
