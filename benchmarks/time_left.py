"""Say how often the range of when a study will be done holds the day on which it is.

    python benchmarks/time_left.py [--studies 2000]

Answers a day are made up: Poisson about a mean that is the same every day, or that changes from day
to day (gamma, by its coefficient of variation). The pace is that of the last days; what is left
takes so many days at the true mean.
"""

import argparse
from itertools import product

import numpy as np

from hearteval.study.people.watch.work import time_left

MEANS = ((20, 0.0), (60, 0.3), (200, 0.6))
"""Answers a day, and how much the mean of a day varies."""
LEFT, DAYS = (2, 6, 20), (3, 5, 7)


def held(rng: np.random.Generator, mean: float, varies: float, left: int, days: int) -> float:
    """Return 1 where the range holds the end, 0 where not; NaN where no range is said."""
    n_days = days + 12 * left
    means = mean * (rng.gamma(varies**-2, varies**2, n_days) if varies else np.ones(n_days))
    answers = rng.poisson(means)
    found = time_left(answers[:days].tolist(), left * round(mean))
    if found is None:
        return float("nan")
    ahead = np.cumsum(answers[days:])
    whole = int(np.searchsorted(ahead, left * mean))
    before = ahead[whole - 1] if whole else 0
    end = whole + (left * mean - before) / (ahead[whole] - before)
    return float(found.low <= end <= (found.high or np.inf))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--studies", type=int, default=2000)
    n = parser.parse_args().studies
    rng = np.random.default_rng(1)
    print("| answers a day | varies by | days left | by 3 days | by 5 | by 7 |")
    print("| --- | --- | --- | --- | --- | --- |")
    for (mean, varies), left in product(MEANS, LEFT):
        shares = [
            np.nanmean([held(rng, mean, varies, left, days) for _ in range(n)]) for days in DAYS
        ]
        cells = " | ".join(f"{share:.3f}" for share in shares)
        print(f"| {mean} | {varies} | {left} | {cells} |")


if __name__ == "__main__":
    main()
