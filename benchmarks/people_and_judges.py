"""Measure how often intervals of agreement and of models against people cover what they are of.

    PYTHONPATH=tests:tests/analysis python benchmarks/people_and_judges.py [--studies 300]

And how often people and judges of one mind are said to place a system differently.
Systems differ by item (SD .6), people in taste (SD .3); judges are two, with the same tastes as
the mean of people. What the intervals have to cover is the mean over many studies.
"""

import argparse
import math
import random
from itertools import combinations

import numpy as np
from people_study import JUDGES, PEOPLE, SYSTEMS, WRITERS, PeopleStudy, human_raters

from hearteval.analysis.agreement.pair_votes import merge_votes
from hearteval.analysis.columns import to_columns
from hearteval.analysis.data import StudyData
from hearteval.sections.people.study import PeopleResults, analyze_people

THETA = {"beacon": 0.6, "ember": -0.6, "harbour": 0.0, "People": 0.2}
ITEM_SD, RATER_SD, TIES, PER_PAIR = 0.6, 0.3, 0.15, 5


def draw_study(n_items: int, n_people: int, draw: random.Random) -> StudyData:
    """Draw a study in which people and judges are of one mind."""
    people = human_raters(n_people)
    made = PeopleStudy(n_items, [*people, *JUDGES])
    names = {system.id: system.name for system in SYSTEMS}
    taste = {rater.id: {name: draw.gauss(0, RATER_SD) for name in THETA} for rater in people}
    taste |= {judge.id: dict.fromkeys(THETA, 0.0) for judge in JUDGES}
    for item in made.items:
        on_item = {name: draw.gauss(0, ITEM_SD) for name in THETA}
        texts = [made.completion(item, system) for system in SYSTEMS[:-1]]
        texts += [made.completion(item, PEOPLE, writer) for writer in WRITERS]
        for one, other in combinations(texts, 2):
            if one.system_id == other.system_id:
                continue
            shown = [
                (rater, draw.sample((one, other), 2)) for rater in draw.sample(people, PER_PAIR)
            ]
            shown += [(j, sides) for j in JUDGES for sides in ([one, other], [other, one])]
            for rater, (first, second) in shown:
                at = [
                    THETA[name] + on_item[name] + taste[rater.id][name]
                    for name in (names[first.system_id], names[second.system_id])
                ]
                chance = 1 / (1 + math.exp(at[1] - at[0]))
                if rater.kind == "human" and draw.random() < TIES:
                    made.judge(rater, first, second, "tie")
                else:
                    made.judge(
                        rater, first, second, "first" if draw.random() < chance else "second"
                    )
    return made.data()


def figures(found: PeopleResults) -> dict[str, tuple[float, float, float]]:
    """Return estimate and interval by name."""
    part = found.agreement[0]
    assert part.people is not None
    assert part.majorities is not None
    measures = {
        "two people agree": part.people.same,
        "Fleiss' kappa": part.people.fleiss_kappa,
        "Krippendorff's alpha": part.people.krippendorff_alpha,
        "majorities": part.majorities.same,
    }
    by = {one.judged_by: one for one in found.against_models}
    shown = {name: (at.value, at.low, at.high) for name, at in measures.items()}
    shown |= {
        f"model, by {by_}": (at.model.rate, at.model.low, at.model.high) for by_, at in by.items()
    }
    return {k: tuple(math.nan if x is None else x for x in v) for k, v in shown.items()}  # type: ignore[misc]


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=300)
    asked = parser.parse_args()
    for n_items, n_people in ((10, 8), (30, 8), (30, 15)):
        found: list[dict[str, tuple[float, float, float]]] = []
        n_apart = 0
        for seed in range(asked.studies):
            data = draw_study(n_items, n_people, random.Random(seed))
            columns = to_columns(data.judgments, data)
            results = analyze_people(
                data.judgments, columns, merge_votes(columns), data, level=0.95, seed=seed
            )
            assert results is not None
            found.append(figures(results))
            n_apart += any(one.is_apart for one in results.differences)
        for name in found[0]:
            each = np.array([one[name] for one in found])
            truth = each[:, 0].mean()
            held = np.mean((each[:, 1] <= truth) & (truth <= each[:, 2]))
            print(f"| {n_items} | {n_people} | {name} | {truth:.3f} | {held:.3f} |")
        print(f"| {n_items} | {n_people} | said to differ | | {n_apart / asked.studies:.3f} |")


if __name__ == "__main__":
    main()
