"""What a simulated study is made of: its world, its texts, and what the planner makes of them."""

from collections import Counter

import numpy as np
import pytest
from planted_studies import NOTHING, PLANTED

from hearteval.config.simulation import SimulationPlan
from hearteval.domain import Study
from hearteval.domain.systems import SIMULATED
from hearteval.errors import StoreError
from hearteval.labels.safety import screen_text
from hearteval.study.simulation.apart import require_real
from hearteval.study.simulation.drawing import Drawn
from hearteval.study.simulation.making import draw_world
from hearteval.study.simulation.texts import simulated_items
from hearteval.study.simulation.truth import limits
from hearteval.study.simulation.world import PEOPLE, World, plant


@pytest.fixture(scope="module")
def drawn() -> tuple[World, Drawn]:
    return draw_world("small", PLANTED)


def test_the_same_seed_draws_the_same_study(drawn: tuple[World, Drawn]) -> None:
    _, again = draw_world("small", PLANTED)
    assert [row.choice for row in again.rows] == [row.choice for row in drawn[1].rows]
    assert [one.text for one in again.completions] == [one.text for one in drawn[1].completions]


def test_another_draw_of_a_world_keeps_its_systems_and_judges(drawn: tuple[World, Drawn]) -> None:
    world, first = drawn
    _, second = draw_world("small", PLANTED, world=world, seed=99)
    assert second.systems == first.systems
    assert second.raters == first.raters
    assert [row.choice for row in second.rows] != [row.choice for row in first.rows]


def test_all_that_is_drawn_says_that_it_is_simulated(drawn: tuple[World, Drawn]) -> None:
    _, found = drawn
    assert all(one.settings[SIMULATED] is True for one in found.systems)
    assert all(one.settings[SIMULATED] is True for one in found.raters if one.kind == "llm")
    people = [one for one in found.raters if one.kind == "human"]
    assert {one.pool for one in people} == {SIMULATED}
    assert all(one.name.startswith("simulated person ") for one in people)
    assert all("imulated" in one.text for one in found.completions)
    assert all(one.source == SIMULATED for one in simulated_items(4, adversarial=2))


def test_every_text_may_be_read_by_people(drawn: tuple[World, Drawn]) -> None:
    held = {rule for one in drawn[1].completions for rule in screen_text(one.text)}
    assert held == set()


def test_each_pair_is_judged_by_as_many_as_were_asked(drawn: tuple[World, Drawn]) -> None:
    world, found = drawn
    people = {one.id for one in found.raters if one.kind == "human"}
    by_people = Counter(row.pair_id for row in found.rows if row.rater_id in people)
    by_judges = Counter(row.pair_id for row in found.rows if row.rater_id not in people)
    assert set(by_people.values()) == {world.plan.people}
    assert set(by_judges.values()) == {2 * world.plan.judges}


def test_judges_are_kept_from_their_own_family_unless_they_favour_it() -> None:
    plan = PLANTED.model_copy(update={"own_family": 0.0})
    _, found = draw_world("kept", plan)
    families = {one.id: one.family for one in found.systems}
    family_of = {one.id: one.family for one in found.raters if one.kind == "llm"}
    judged = {
        (family_of[row.rater_id], families[system])
        for row in found.rows
        if row.rater_id in family_of
        for system in (row.first_system_id, row.second_system_id)
    }
    assert {judge for judge, _ in judged} == {"line-a", "line-b", "line-c"}
    assert not any(judge == system for judge, system in judged)


WRITTEN = SimulationPlan(
    systems=2, items=30, adversarial=0, people=5, pool=15, judges=1, writers=2, repeat_pairs=0
)


def test_that_writers_differ_changes_no_other_draw() -> None:
    """So a study without such differences is the one it was before they could be planted."""
    plan = WRITTEN.model_copy(update={"ties": 0.0})  # else the size of a tie changes
    _, alike = draw_world("same", plan)
    _, apart = draw_world("same", plan.model_copy(update={"writer_sd": 2.0}))
    assert [one.id for one in apart.completions] == [one.id for one in alike.completions]
    assert apart.assignments == alike.assignments
    written = {one.id for one in alike.completions if one.writer_id is not None}
    of_pair = {one.id: set(one.completion_ids) for one in alike.pairs}
    changed = [
        bool(of_pair[one.pair_id] & written)
        for one, other in zip(alike.rows, apart.rows, strict=True)
        if one.choice != other.choice
    ]
    assert len(changed) > 100
    assert all(changed), "of models alone nothing changes"


def shares_of_writers(plan: SimulationPlan, seed: int) -> dict[str, float]:
    """Return how often each writer's replies are preferred to models', a tie counting half."""
    _, found = draw_world("writers", plan, seed=seed)
    writer = {one.id: one.writer_id for one in found.completions}
    of_pair = {one.id: one.completion_ids for one in found.pairs}
    won: dict[str, list[float]] = {}
    for row in found.rows:
        first, second = row.first_completion_id, of_pair[row.pair_id]
        other = second[second[0] == first]
        for text, choice in ((first, "first"), (other, "second")):
            if (name := writer[text]) is not None:
                score = 0.5 if row.choice == "tie" else float(row.choice == choice)
                won.setdefault(name, []).append(score)
    return {name: float(np.mean(scores)) for name, scores in won.items()}


def test_writers_differ_and_others_are_drawn_with_each_study() -> None:
    plan = WRITTEN.model_copy(update={"writer_sd": 1.5, "item_sd": 0.0})
    one, other = (shares_of_writers(plan, seed) for seed in (1, 2))
    assert len(one) == len(other) == 12
    alike = shares_of_writers(plan.model_copy(update={"writer_sd": 0.0}), 1)
    assert np.std(list(one.values())) > 2 * np.std(list(alike.values()))
    assert abs(np.corrcoef(list(one.values()), [other[name] for name in one])[0, 1]) < 0.7


@pytest.mark.parametrize("unequal", [0.0, 1.5])
def test_shares_of_writers_are_as_unequal_as_planned(unequal: float) -> None:
    plan = WRITTEN.model_copy(update={"writer_pool": 6, "busiest_writers": unequal, "items": 120})
    _, found = draw_world("shares", plan)
    written = Counter(one.writer_id for one in found.completions if one.writer_id is not None)
    assert sum(written.values()) == 240
    by_item = Counter((one.item_id, one.writer_id) for one in found.completions if one.writer_id)
    assert set(by_item.values()) == {1}, "nobody writes twice for an item"
    most, least = max(written.values()), min(written.values())
    assert most / least > 4 if unequal else most / least < 2


def test_limits_are_those_of_the_population_of_writers() -> None:
    """Against a very large draw: 500 writers, 1,500 items."""
    plan = SimulationPlan(
        systems=3,
        theta=[1.4, 0.2, -0.6],
        people_theta=0.5,
        items=1_500,
        adversarial=0,
        people=2,
        pool=200,
        judges=2,
        judge_own_family=True,
        both_orders=False,
        writers=1,
        writer_pool=500,
        writer_sd=0.8,
        comparisons=10**6,
        repeat_pairs=0,
    )
    world, found = draw_world("large", plan)
    limit = limits(world)
    alike = limits(plant(plan.model_copy(update={"writer_sd": 0.0})))
    people = {one.id for one in found.raters if one.kind == "human"}
    names = {one.id: one.name for one in found.systems}
    for kind, is_person in (("people", True), ("judges", False)):
        scores = [
            0.5 if row.choice == "tie" else float(row.choice == side)
            for row in found.rows
            if (row.rater_id in people) is is_person
            for own, other, side in (
                (row.first_system_id, row.second_system_id, "first"),
                (row.second_system_id, row.first_system_id, "second"),
            )
            if names[own] != PEOPLE and names[other] == PEOPLE
        ]
        share, without = (one[kind]["against_models"]["all"] for one in (limit, alike))
        expected = share["model"] + share["tie"] / 2
        # 4,500 replies by 500 writers: standard error about .008.
        assert np.mean(scores) == pytest.approx(expected, abs=0.025)
        assert limit[kind]["elo"][PEOPLE] != alike[kind]["elo"][PEOPLE]
        assert abs(expected - 0.5) < abs(without["model"] + without["tie"] / 2 - 0.5)


def test_each_model_counts_the_same_though_judges_are_kept_from_some() -> None:
    """Symmetric models and people in their middle: one half, whoever judges whom."""
    plan = SimulationPlan(systems=4, spread=1.6, judges=2, judge_sd=0.0, adversarial=0)
    found = limits(plant(plan))
    for kind in ("people", "judges"):
        share = found[kind]["against_models"]["all"]
        assert share["model"] + share["tie"] / 2 == pytest.approx(0.5, abs=2e-3)


def test_what_is_missing_is_an_attempt() -> None:
    plan = PLANTED.model_copy(update={"missing": 0.2})
    _, found = draw_world("gaps", plan)
    answers = [one for one in found.attempts if one.assignment_id is not None]
    texts = [one for one in found.attempts if one.system_id is not None]
    assert len(found.assignments) == len(found.judgments) + len(answers)
    assert 0.05 < len(texts) / (plan.items * plan.systems) < 0.4


def test_without_effects_no_effect_is_expected() -> None:
    limit = limits(plant(NOTHING))
    expected = [*limit["effects"].values(), *limit["judges"]["position"].values()]
    expected += limit["judges"]["own_family"].values()
    assert expected == pytest.approx([0] * len(expected), abs=1e-3)
    shares = limit["people"]["against_models"]
    assert shares["regular"] == pytest.approx(shares["adversarial"], abs=1e-9)


def test_effects_move_what_is_expected_the_way_they_point() -> None:
    limit = limits(plant(PLANTED))
    assert limit["judges"]["position"]["judge-a"] > 0.2
    assert limit["effects"]["length"] > 0.5
    shares = limit["people"]["against_models"]
    assert shares["adversarial"]["person"] > shares["regular"]["person"] + 0.1


def test_elo_shrinks_with_what_differs_between_completions() -> None:
    alike = limits(plant(NOTHING.model_copy(update={"item_sd": 0.0, "ties": 0.0})))
    varied = limits(plant(NOTHING.model_copy(update={"item_sd": 1.2, "ties": 0.0})))
    gap = {
        name: one["people"]["elo"]["system-a"] - one["people"]["elo"]["system-c"]
        for name, one in (("alike", alike), ("varied", varied))
    }
    assert gap["varied"] < 0.8 * gap["alike"]


def test_a_release_refuses_a_simulated_study() -> None:
    def study(design: dict[str, object]) -> Study:
        return Study(
            name="one",
            seed=1,
            item_ids=(),
            items_hash="",
            system_ids=(),
            rater_ids=(),
            design=design,
            protocol_version="",
            settings_hash="",
            software_version="",
            created_at=draw_world("now", SMALL)[1].completions[0].created_at,
        )

    require_real(study({}), "it is not released")
    with pytest.raises(StoreError, match="is simulated, so it is not released"):
        require_real(study({SIMULATED: True}), "it is not released")


SMALL = SimulationPlan(systems=2, items=2, adversarial=0, people=2, pool=2, judges=0, writers=0)
