"""Worlds in which estimators went wrong: they stay right there.

More studies of each, and more worlds: benchmarks/planted_truth.py --case.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from planted_cases import (
    equal_figures,
    equal_plans,
    mix_figures,
    mix_plans,
    of_writers,
    people_of,
    writers_plans,
)
from planted_studies import Figure, planted

N_STUDIES = 12
N_OF_WRITERS = 16


def by_name(figures: Sequence[Figure]) -> Mapping[str, Sequence[Figure]]:
    found: defaultdict[str, list[Figure]] = defaultdict(list)
    for figure in figures:
        found[figure.name].append(figure)
    return found


def far(rows: Sequence[Figure]) -> float:
    """Return how many standard errors the mean of estimates is from what they tend to."""
    off = np.array([one.value - one.limit for one in rows])
    return float(abs(off.mean()) / (off.std(ddof=1) / np.sqrt(len(off))))


@pytest.fixture(scope="module")
def mixed() -> Mapping[str, Sequence[Figure]]:
    """Strong models are those that some judges are kept from, and all are as good as people."""
    world, limit = planted(mix_plans()["own family excluded"])
    seeds = range(1, N_STUDIES + 1)
    return by_name([one for seed in seeds for one in mix_figures(world, limit, seed)])


@pytest.mark.parametrize(
    "name",
    [
        "people less judges",
        "interaction",
        "score: people, all",
        "score: judges, all",
        "score: judges, crowd",
        "score: judges, regular",
        "score: judges, adversarial",
        "every axis: lead",
    ],
)
def test_judges_who_are_kept_from_strong_models_do_not_differ_from_people(
    name: str, mixed: Mapping[str, Sequence[Figure]]
) -> None:
    assert len(mixed[name]) == N_STUDIES
    assert far(mixed[name]) < 3.5


def test_figures_of_people_speak_for_others_who_write() -> None:
    world, limit = planted(writers_plans()["5 writers, SD 0.8"])
    rows = [
        one
        for seed in range(1, N_OF_WRITERS + 1)
        for one in of_writers(people_of(world, seed), limit)
        if not one.name.startswith(("models'", "Elo of two models"))
    ]
    covers = {name: np.mean([one.covers for one in of]) for name, of in by_name(rows).items()}
    assert len(covers) == 10
    assert np.mean(list(covers.values())) >= 0.82
    assert min(covers.values()) >= 0.75, min(covers, key=covers.__getitem__)


def test_choosing_among_equal_replies_gains_nothing() -> None:
    """In a balanced design; the full one is in analysis/people/test_best_human.py."""
    world, limit = planted(equal_plans()["balanced design"])
    found = by_name([one for seed in range(1, 21) for one in equal_figures(world, limit, seed)])
    assert far(found["gain: people"]) < 3.5


def test_replies_that_differ_are_worth_choosing_among() -> None:
    world, limit = planted(equal_plans()["full design, replies differ (SD .6)"])
    gains = [one for seed in range(1, 5) for one in equal_figures(world, limit, seed)]
    assert np.mean([one.value for one in by_name(gains)["gain: people"]]) > 0.03
