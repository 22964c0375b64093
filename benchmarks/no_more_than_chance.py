"""Whose answers agree with other people's no more than chance would: honest people, and coins.

Drawn studies of 15 people, five of them a pair, two pairs an item. People see the difference of
two replies (SD 1.2, on the scale of the logistic) through logistic noise of their own; somebody
unsteady sees a third of it, and who tosses coins none. Prints how many of each are said to agree
no more than chance would.

    python benchmarks/no_more_than_chance.py [--studies 200]
"""

import argparse

import numpy as np

from hearteval.analysis.agreement.pair_votes import ABSENT, ONE, OTHER, TIE
from hearteval.sections.people.one_by_one import compare_answers
from hearteval.stats.comparisons import IntArray

PEOPLE, PER_PAIR = 15, 5
SPREAD, TIES = 1.2, 0.3
UNSTEADY = 1 / 3
WORLDS = {
    "all alike": (0, 0.0),
    "3 of 15 unsteady": (3, UNSTEADY),
    "1 of 15 tosses coins": (1, 0.0),
    "6 of 15 toss coins": (6, 0.0),
}
ANSWERS = (25, 50, 100, 200)


def drawn(rng: np.random.Generator, n_items: int, n_apart: int, sharp: float) -> IntArray:
    """Draw answers to two pairs of each item; the first people see `sharp` of a difference."""
    lean = rng.normal(0, SPREAD, 2 * n_items)
    votes = np.full((len(lean), PEOPLE), ABSENT)
    seen = np.where(np.arange(PEOPLE) < n_apart, sharp, 1.0)
    for pair, of_pair in enumerate(lean):
        who = rng.permutation(PEOPLE)[:PER_PAIR]
        x = of_pair * seen[who] + rng.logistic(size=PER_PAIR)
        votes[pair, who] = np.where(np.abs(x) < TIES, TIE, np.where(x > 0, ONE, OTHER))
    return votes


def named(votes: IntArray) -> set[int]:
    """Return who is said to agree no more than chance would."""
    item = np.repeat(np.arange(len(votes) // 2), 2)
    found = compare_answers(votes, item, [str(k) for k in range(PEOPLE)], level=0.95)
    return {int(one.person) for one in (found.people if found else ()) if one.is_as_if_random}


def main() -> None:
    """Print a line for each world and each number of answers a person."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=200)
    n_studies = parser.parse_args().studies
    print("answers each | world | those apart | the others | studies with one of the others")
    for n_answers in ANSWERS:
        n_items = n_answers * PEOPLE // PER_PAIR // 2
        for name, (n_apart, sharp) in WORLDS.items():
            rng = np.random.default_rng(23)
            each = [named(drawn(rng, n_items, n_apart, sharp)) for _ in range(n_studies)]
            apart = sum(k < n_apart for one in each for k in one)
            others = [sum(k >= n_apart for k in one) for one in each]
            print(
                f"{n_answers} | {name} | {apart} of {n_apart * n_studies} |"
                f" {sum(others)} of {(PEOPLE - n_apart) * n_studies} |"
                f" {sum(map(bool, others))} of {n_studies}"
            )


if __name__ == "__main__":
    main()
