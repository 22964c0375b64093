"""How often intervals of whole simulated studies hold what was planted in them.

    PYTHONPATH=tests python benchmarks/planted_truth.py --studies 400
    PYTHONPATH=tests python benchmarks/planted_truth.py --studies 400 --nothing

Each study is drawn anew from one world: systems, judges and the people that raters are drawn from
stay, and items, completions, people and noise are others. Every figure is compared with its own
limit (docs/reference/simulate.md), exact up to the steps of an average. Of effects also: how often
the interval leaves out no effect. With --nothing no effect is planted, and that is an error.
"""

import argparse
import time
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from planted_studies import NOTHING, PLANTED, Figure, analyzed, figures, planted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--items", type=int)
    parser.add_argument("--nothing", action="store_true")
    asked = parser.parse_args()
    plan = NOTHING if asked.nothing else PLANTED
    if asked.items:
        share = plan.adversarial / plan.items
        sizes = {"items": asked.items, "adversarial": round(share * asked.items)}
        plan = plan.model_copy(update=sizes)
    world, limit = planted(plan)
    found: defaultdict[str, list[Figure]] = defaultdict(list)
    began = time.process_time()
    for k in range(asked.studies):
        for figure in figures(analyzed(world, asked.seed + k), limit):
            found[figure.name].append(figure)
    print(f"{asked.studies} studies of {plan.items} items, {time.process_time() - began:.0f} s CPU")
    print(f"{'figure':<40}{'limit':>9}{'mean':>9}{'SD':>8}{'covered':>9}{'found':>8}{'n':>6}")
    for name, rows in found.items():
        print(line(name, rows))
    by_kind: defaultdict[str, list[Figure]] = defaultdict(list)
    for name, rows in found.items():
        by_kind[name.partition(":")[0]] += rows
    print("\nby kind of figure")
    for name, rows in by_kind.items():
        print(f"{name:<40}{np.mean([one.covers for one in kept(rows)]):>9.3f}{len(rows):>8}")


def kept(rows: Sequence[Figure]) -> list[Figure]:
    """Return those with an interval."""
    return [one for one in rows if one.low is not None and one.high is not None]


def line(name: str, rows: Sequence[Figure]) -> str:
    with_interval = kept(rows)
    values = np.array([one.value for one in rows])
    covered = np.mean([one.covers for one in with_interval])
    says = rows[0].null is not None
    found = f"{np.mean([one.finds for one in with_interval]):.3f}" if says else ""
    return (
        f"{name:<40}{rows[0].limit:>9.3f}{values.mean():>9.3f}{values.std():>8.3f}"
        f"{covered:>9.3f}{found:>8}{len(with_interval):>6}"
    )


if __name__ == "__main__":
    main()
