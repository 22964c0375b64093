"""Whose answers carry little beside the others': honest people, unsteady ones, and coins.

Drawn studies of 15 people, five of them a pair, two pairs an item, six systems (SD .7) with texts
that depart from them (SD .6, both on the scale of the logistic). People see the difference of two
replies through logistic noise of their own; somebody unsteady sees a third of it, and who tosses
coins none. Prints how many of each are found to carry surely less than half.

    python benchmarks/no_more_than_chance.py [--studies 100]
"""

import argparse

import numpy as np

from hearteval.stats.careless.carried import measure_carried
from hearteval.stats.comparisons import FloatArray, IntArray

PEOPLE, PER_PAIR, SYSTEMS = 15, 5, 6
OF_SYSTEMS, OF_TEXTS, TIES = 0.7, 0.6, 0.3
UNSTEADY = 1 / 3
WORLDS = {
    "all alike": (0, 0.0),
    "3 of 15 unsteady": (3, UNSTEADY),
    "6 of 15 unsteady": (6, UNSTEADY),
    "1 of 15 tosses coins": (1, 0.0),
    "6 of 15 toss coins": (6, 0.0),
}
ANSWERS = (50, 100, 200, 300, 400)


def drawn(
    rng: np.random.Generator, n_items: int, n_apart: int, sharp: float
) -> tuple[FloatArray, IntArray, IntArray]:
    """Draw answers to two pairs of each item; the first people see `sharp` of a difference."""
    theta = rng.normal(0, OF_SYSTEMS, SYSTEMS)
    item = np.repeat(np.arange(n_items), 2)
    texts = theta + rng.normal(0, OF_TEXTS, (n_items, SYSTEMS))
    systems = np.array([rng.permutation(SYSTEMS)[:2] for _ in item])
    seen = np.where(np.arange(PEOPLE) < n_apart, sharp, 1.0)
    score = np.full((len(item), PEOPLE), np.nan)
    for pair, (one, other) in enumerate(systems):
        who = rng.permutation(PEOPLE)[:PER_PAIR]
        lean = texts[item[pair], one] - texts[item[pair], other]
        x = lean * seen[who] + rng.logistic(size=PER_PAIR)
        score[pair, who] = np.where(np.abs(x) < TIES, 0.5, x > 0)
    return score, item, systems


def main() -> None:
    """Print a line for each world and each number of answers a person."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=100)
    n_studies = parser.parse_args().studies
    print("answers each | world | those apart | the others")
    for n_answers in ANSWERS:
        n_items = n_answers * PEOPLE // PER_PAIR // 2
        for name, (n_apart, sharp) in WORLDS.items():
            rng = np.random.default_rng(23)
            named = [
                one.rater
                for _ in range(n_studies)
                for one in measure_carried(*drawn(rng, n_items, n_apart, sharp), level=0.95)
                if one.is_little
            ]
            apart = sum(rater < n_apart for rater in named)
            print(
                f"{n_answers} | {name} | {apart} of {n_apart * n_studies} |"
                f" {len(named) - apart} of {(PEOPLE - n_apart) * n_studies}",
                flush=True,
            )


if __name__ == "__main__":
    main()
