"""How often the two-way test of strata rejects at no difference, at a nominal 5 %.

Items vary with SD .6 a system, people with .5, and where the last column says so people's tastes
differ by stratum with SD .3; every item is judged by five people.
"""

import numpy as np

from hearteval.stats.between_strata import two_way_test

N_STUDIES, N_SYSTEMS, PER_ITEM = 1_000, 8, 5
SIZES = ((100, 20), (280, 20), (40, 30, 20, 10, 8), (60, 50, 40, 30, 20, 10, 8, 6, 5, 5, 5))


def rejects(rng: np.random.Generator, sizes: tuple[int, ...], n_people: int, sd: float) -> bool:
    """Draw a study without any difference and test it."""
    stratum = np.repeat(np.arange(len(sizes)), sizes)
    item = np.repeat(np.arange(len(stratum)), PER_ITEM)
    rater = np.concatenate([rng.choice(n_people, PER_ITEM, replace=False) for _ in stratum])
    tastes = rng.standard_normal((n_people, 1, N_SYSTEMS)) * 0.5
    tastes = tastes + rng.standard_normal((n_people, len(sizes), N_SYSTEMS)) * sd
    parts = rng.standard_normal((len(stratum), N_SYSTEMS))[item] * 0.6
    parts = parts + tastes[rater, stratum[item]] + rng.standard_normal((len(item), N_SYSTEMS))
    parts = parts - parts.mean(axis=1, keepdims=True)
    return two_way_test(parts - parts.mean(axis=0), item, rater, stratum)[1] <= 0.05


def main() -> None:
    """Print the share of rejections by design."""
    rng = np.random.default_rng(1)
    for sizes in SIZES:
        for n_people in (5, 8, 15):
            for sd in (0.0, 0.3):
                share = np.mean([rejects(rng, sizes, n_people, sd) for _ in range(N_STUDIES)])
                print(f"{sizes} people {n_people} tastes {sd}: {share:.3f}")


if __name__ == "__main__":
    main()
