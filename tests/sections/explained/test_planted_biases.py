"""Biases that were planted are found, and where there is none it is said at the stated rate."""

import math
import random
from dataclasses import replace

import pytest
from judged_study import StudyMaker, make_items

from hearteval.analysis.judges.own_family import OwnFamily, own_family_preference
from hearteval.domain import Choice, Rater, System
from hearteval.sections.explained.measure import Confounders, measure_confounders
from hearteval.stats.means import false_discovery_q

OURS = System(name="ours", kind="model", family="a")
THEIRS = System(name="theirs", kind="model", family="b")
OTHER = System(name="other", kind="model", family="c")
SYSTEMS = [OURS, THEIRS, OTHER]
OF_A, OF_D = (
    Rater(name=f"judge {family}", kind="llm", family=family, settings={"model": family})
    for family in ("a", "d")
)
THETA = {"ours": 0.2, "theirs": 0.0, "other": -0.2}
N_STUDIES = 60


def study(
    seed: int, *, length: float = 0.0, position: float = 0.0, own: float = 0.0, n_items: int = 24
) -> StudyMaker:
    """Draw judgments of three systems, item effects and all, with biases in log odds."""
    draw = random.Random(seed)
    made = StudyMaker(make_items(n_items), SYSTEMS, [OF_A, OF_D])
    for item in made.items:
        words = {system.name: draw.randint(5, 40) for system in SYSTEMS}
        at = {name: theta + draw.gauss(0, 0.4) for name, theta in THETA.items()}
        for system in SYSTEMS:
            made.write(system, item, f"{'word ' * (words[system.name] - 1)}{system.name}")
        for rater in (OF_A, OF_D):
            for _ in range(4):
                first, second = draw.sample(SYSTEMS, 2)
                w = words[first.name], words[second.name]
                gap = at[first.name] - at[second.name] + position
                gap += length * (w[0] - w[1]) / (w[0] + w[1])
                if rater is OF_A:
                    gap += own * ((first is OURS) - (second is OURS))
                wins = draw.random() < 1 / (1 + math.exp(-gap))
                choice: Choice = "first" if wins else "second"
                made.judge(item, (first, second), choice, rater=rater)
    return made


def audited(made: StudyMaker) -> Confounders:
    data = made.data()
    return measure_confounders(data.judgments, data.systems, data, people=(), level=0.95)


def preference(made: StudyMaker) -> OwnFamily:
    data = replace(made.data(), exclude_own_family=False)
    return own_family_preference(data, OF_A, level=0.95)


def test_a_planted_length_effect_is_found_and_no_other() -> None:
    found = audited(study(3, length=2.0, n_items=150))
    effects = {effect.covariate: effect for effect in found.effects}
    tests = {test.covariate: test for test in found.tests}
    length = effects["length"]
    assert length.low is not None
    assert length.high is not None
    assert length.low < 2.0 < length.high
    assert tests["length"].q < 0.001
    assert tests["position"].q > 0.05


def test_a_planted_position_bias_is_found() -> None:
    # Shown first, an equal wins .6 of the time: log odds .405.
    found = audited(study(4, position=0.405, n_items=150))
    position = next(effect for effect in found.effects if effect.covariate == "position")
    assert position.win_rate_low is not None
    assert position.win_rate_high is not None
    assert 0.5 < position.win_rate_low < 0.6 < position.win_rate_high


def test_an_own_family_preference_is_found() -> None:
    found = preference(study(5, own=1.2, n_items=150))
    # Of near equals 1.2 more log odds are 23 to 27 points.
    assert found.difference == pytest.approx(0.25, abs=0.08)
    assert found.p_value is not None
    assert found.p_value < 0.001


def test_where_there_is_no_bias_it_is_found_at_the_stated_rate() -> None:
    n_effects = {"length": 0, "position": 0, "own family": 0, "any": 0}
    for seed in range(N_STUDIES):
        made = study(1_000 + seed)
        found, own = audited(made), preference(made)
        for test in found.tests:
            n_effects[test.covariate] += test.p <= 0.05
        n_effects["any"] += any(test.q <= 0.05 for test in found.tests)
        assert own.p_value is not None
        n_effects["own family"] += own.p_value <= 0.05
    # A binomial of 60 at .05 is at most 9 in 99.9 %.
    assert all(n <= 9 for n in n_effects.values())
    assert sum(n_effects.values()) > 0


def test_tests_are_those_of_the_intervals_and_one_family() -> None:
    found = audited(study(6, length=0.6, position=0.1))
    by_name = {test.covariate: test for test in found.tests}
    for effect in found.effects:
        assert effect.low is not None
        assert effect.high is not None
        assert (by_name[effect.covariate].p <= 0.05) == (effect.low > 0 or effect.high < 0)
    q = false_discovery_q([test.p for test in found.tests])
    assert [test.q for test in found.tests] == pytest.approx(q.tolist())
