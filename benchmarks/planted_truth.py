"""How often intervals of whole simulated studies hold what was planted in them.

    PYTHONPATH=tests python benchmarks/planted_truth.py --studies 400
    PYTHONPATH=tests python benchmarks/planted_truth.py --studies 400 --nothing

Each study is drawn anew from one world: systems, judges and the people that raters are drawn from
stay, and items, completions, people and noise are others. Every figure is compared with its own
limit (docs/reference/simulate.md), exact up to the steps of an average; with --draw N also
agreement and the best human, with the mean of N studies of 1,200 items. Of effects also: how often
the interval leaves out no effect. With --nothing no effect is planted, and that is an error.

    PYTHONPATH=tests python benchmarks/planted_truth.py --studies 400 --workers 2 --case mix

With --case worlds in which an estimator went wrong (tests/planted_cases.py), with --only WORDS
those whose names hold these. With --engine ray a cluster works on them,
the one at --address.
"""

import argparse
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from planted_cases import CASES
from planted_studies import (
    NOTHING,
    PLANTED,
    Figure,
    Limits,
    analyzed,
    figures,
    figures_without_formula,
    p_values,
    planted,
)

from hearteval.config.engine import Engine
from hearteval.study.engine import open_engine
from hearteval.study.simulation.world import World, plant

LARGE, MOST = 1_200, 10**9
CHUNK = 20
"""Studies that a process draws at a time."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--items", type=int)
    parser.add_argument("--nothing", action="store_true")
    parser.add_argument("--draw", type=int, default=0, help="studies of 1,200 items, for limits")
    parser.add_argument("--writers", type=int, default=1)
    parser.add_argument("--case", choices=CASES)
    parser.add_argument("--only", default="")
    parser.add_argument("--engine", choices=("local", "ray"), default="local")
    parser.add_argument("--address")
    parser.add_argument("--workers", type=int, default=1)
    asked = parser.parse_args()
    if asked.case:
        run_case(asked)
        return
    plan = NOTHING if asked.nothing else PLANTED
    plan = plan.model_copy(update={"writers": asked.writers})
    if asked.items:
        share = plan.adversarial / plan.items
        sizes = {"items": asked.items, "adversarial": round(share * asked.items)}
        plan = plan.model_copy(update=sizes)
    world, limit = planted(plan)
    found: defaultdict[str, list[Figure]] = defaultdict(list)
    drawn, seconds = limits_by_draw(world, asked.draw), 0.0
    tests: defaultdict[str, list[float]] = defaultdict(list)
    with closing(engine_of(asked)) as spread:
        for of_formula, others, ps, spent in spread(partial(study_of, world, limit), seeds(asked)):
            for figure in of_formula:
                found[figure.name].append(figure)
            for name, (value, low, high) in others.items():
                if name in drawn:
                    found[name].append(Figure(name, value, low, high, drawn[name]))
            for name, p in ps.items():
                tests[name].append(p)
            seconds += spent
    print(f"{asked.studies} studies of {plan.items} items, {seconds:.0f} s CPU")
    show(found, tests)


def engine_of(asked: argparse.Namespace) -> Any:
    return open_engine(Engine(kind=asked.engine, address=asked.address, workers=asked.workers))


def seeds(asked: argparse.Namespace) -> list[int]:
    return list(range(asked.seed, asked.seed + asked.studies))


def study_of(world: World, limit: Limits, seed: int) -> tuple[Any, ...]:
    """Return the figures of a study, those without a formula, its tests, and the CPU it took."""
    began = time.process_time()
    results = analyzed(world, seed)
    found = [*figures(results, limit)], figures_without_formula(results), p_values(results)
    return *found, time.process_time() - began


def run_case(asked: argparse.Namespace) -> None:
    """Print a table for each world of a case."""
    every = seeds(asked)
    chunks = [every[start : start + CHUNK] for start in range(0, len(every), CHUNK)]
    with closing(engine_of(asked)) as spread:
        for name in CASES[asked.case].plans():
            if asked.only not in name:
                continue
            found: defaultdict[str, list[Figure]] = defaultdict(list)
            parts = list(spread(partial(studies_of, asked.case, name), chunks))
            for figure in (figure for figures_of, _ in parts for figure in figures_of):
                found[figure.name].append(figure)
            seconds = sum(spent for _, spent in parts)
            print(f"\n{asked.case}: {name}; {len(every)} studies, {seconds:.0f} s CPU")
            print(HEAD)
            for own, rows in sorted(found.items()):
                print(line(own, rows), flush=True)


def studies_of(case: str, name: str, seeds: Sequence[int]) -> tuple[list[Figure], float]:
    """Return the figures of some studies of a world, and the CPU they took."""
    began = time.process_time()
    plans, figures_of = CASES[case]
    world, limit = planted(plans()[name])
    found = [figure for seed in seeds for figure in figures_of(world, limit, seed)]
    return found, time.process_time() - began


HEAD = f"{'figure':<40}{'limit':>9}{'mean':>9}{'SD':>8}{'covered':>9}{'found':>8}{'n':>6}"


def show(found: Mapping[str, Sequence[Figure]], tests: Mapping[str, Sequence[float]]) -> None:
    print(HEAD)
    for name, rows in found.items():
        print(line(name, rows))
    print("\ntests, share with p <= .05")
    for name, ps in tests.items():
        print(f"{name:<40}{np.mean(np.array(ps) <= 0.05):>9.3f}{len(ps):>8}")
    by_kind: defaultdict[str, list[Figure]] = defaultdict(list)
    for name, rows in found.items():
        by_kind[name.partition(":")[0]] += rows
    print("\nby kind of figure")
    for name, rows in by_kind.items():
        covered = np.mean([one.covers for one in kept(rows)])
        print(f"{name:<40}{covered:>9.3f}{len(rows):>8}")


def limits_by_draw(world: World, n_studies: int) -> dict[str, float]:
    """Return what figures tend to that have no formula, as the mean of some very large studies."""
    share = world.adversarial_share
    sizes = {"items": LARGE, "pool": LARGE // 10, "writer_pool": LARGE // 10}
    plan = world.plan.model_copy(
        update={**sizes, "adversarial": round(share * LARGE), "comparisons": MOST}
    )
    size = world.people.tie_size
    large = replace(plant(plan), panel=world.panel, for_people=world.for_people)
    large = replace(large, people=replace(large.people, tie_size=size))
    found: defaultdict[str, list[float]] = defaultdict(list)
    for k in range(n_studies):
        for name, (value, _, _) in figures_without_formula(analyzed(large, 9_000 + k)).items():
            found[name].append(value)
    return {name: float(np.mean(values)) for name, values in found.items()}


def kept(rows: Sequence[Figure]) -> list[Figure]:
    """Return those with an interval."""
    return [one for one in rows if one.low is not None and one.high is not None]


def line(name: str, rows: Sequence[Figure]) -> str:
    with_interval = kept(rows)
    values = np.array([one.value for one in rows])
    covered = found = ""
    if with_interval:
        covered = f"{np.mean([one.covers for one in with_interval]):.3f}"
    if with_interval and rows[0].null is not None:
        found = f"{np.mean([one.finds for one in with_interval]):.3f}"
    limit = np.mean([one.limit for one in rows])
    return (
        f"{name:<40}{limit:>9.3f}{values.mean():>9.3f}{values.std():>8.3f}"
        f"{covered:>9}{found:>8}{len(with_interval) or len(rows):>6}"
    )


if __name__ == "__main__":
    main()
