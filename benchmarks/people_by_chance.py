"""How often a report says that people agree by chance, or are too fast: honest people, and coins.

Studies of `heart simulate` with people alone, drawn anew from one world: all of them honest, or all
of them tossing coins. And times of honest people who read every new word once: each has a speed
(mean 238 words a minute, SD 51 between adults, as Brysbaert 2019 finds), a third of it apart from
judgment to judgment, and takes no time for the choice.

    python benchmarks/people_by_chance.py [--studies 200]
"""

import argparse
from dataclasses import replace

import numpy as np

from hearteval.analysis.agreement.pair_votes import merge_votes
from hearteval.analysis.columns import to_columns
from hearteval.analysis.coverage.pace import USUAL, measure_pace, warn_of_pace
from hearteval.analysis.data import StudyData
from hearteval.analysis.packed.pairs import pairs_of
from hearteval.config.simulation import SimulationPlan
from hearteval.sections.people.judges.agreement import measure_people, warn_of_chance
from hearteval.study.simulation.making import draw_world
from hearteval.study.simulation.texts import simulated_items
from hearteval.study.simulation.world import World

LEVEL, POOL = 0.95, 15
BETWEEN, WITHIN = 51, 1 / 3
SIZES = {
    "12 items, 24 pairs, 5 people each": (12, 24, 5),
    "20 items, 60 pairs, 5 people each": (20, 60, 5),
    "30 items, 60 pairs, 3 people each": (30, 60, 3),
    "30 items, 150 pairs, 5 people each": (30, 150, 5),
    "60 items, all pairs, 5 people each": (60, 2_500, 5),
}


def drawn(
    world: World | None, size: tuple[int, int, int], n_random: int, seed: int
) -> tuple[World, StudyData]:
    """Draw a study, and its world where none is given."""
    items, comparisons, people = size
    given = {"items": items, "adversarial": items // 4, "comparisons": comparisons}
    given |= {"people": people, "judges": 0, "random_raters": n_random}
    plan = SimulationPlan.model_validate(given)
    world, made = draw_world("chance", plan, world=world, seed=seed)
    return world, StudyData(
        items=simulated_items(plan.items, adversarial=plan.adversarial),
        systems=made.systems,
        raters=made.raters,
        completions=made.completions,
        pairs=pairs_of(made.pairs),
        judgments=made.rows,
    )


def with_times(data: StudyData, rng: np.random.Generator) -> StudyData:
    """Return a study whose people read every word of both replies once, each at a speed."""
    words = {one.id: len(one.text.split()) for one in data.completions}
    pairs = {one.id: sum(words[text] for text in one.completion_ids) for one in data.pairs}
    speed = {one.id: max(rng.normal(USUAL, BETWEEN), USUAL / 4) for one in data.raters}
    seconds = {
        row.assignment_id: 60 * pairs[row.pair_id] / speed[row.rater_id] * rng.lognormal(0, WITHIN)
        for row in data.judgments
    }
    return replace(data, seconds=seconds)


def main() -> None:
    """Print how often each note comes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=200)
    n = parser.parse_args().studies
    print("| people, all judging alone | honest: by chance | too fast | coins: by chance |")
    print("| --- | --- | --- | --- |")
    for name, size in SIZES.items():
        counts = []
        for n_random in (0, POOL):
            world, by_chance, too_fast = None, 0, 0
            for seed in range(n):
                world, data = drawn(world, size, n_random, seed)
                votes = merge_votes(to_columns(data.judgments, data))
                parts = measure_people(votes, level=LEVEL, seed=seed)
                by_chance += bool(warn_of_chance(parts, level=LEVEL))
                paced = measure_pace(with_times(data, np.random.default_rng(seed)))
                too_fast += bool(warn_of_pace(paced))
            counts.append((by_chance, too_fast))
        (honest, fast), (coins, _) = counts
        print(f"| {name} | {honest} of {n} | {fast} of {n} | {coins} of {n} |", flush=True)


if __name__ == "__main__":
    main()
