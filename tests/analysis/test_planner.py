"""Which designs would do, what they cost, and what a pilot's votes say of it."""

from dataclasses import replace
from math import comb

import pytest
from planted_studies import data_of

from hearteval.analysis.data import StudyData
from hearteval.analysis.judgments import judgments_of
from hearteval.analysis.planner import (
    Basis,
    Costs,
    Draft,
    Planned,
    Question,
    assume_all,
    find_designs,
    make_plan,
    measure_all,
    measure_basis,
    price_design,
)
from hearteval.config.simulation import SimulationPlan
from hearteval.errors import NotIdentifiedError
from hearteval.report.files.plan import plan_display
from hearteval.stats.planner.design import Components, Design, look_ahead
from hearteval.study.simulation.making import draw_world

BASIS = Basis(source="by hand", components=Components(item=0.016, rater=0.002, rest=0.2))
DESIGN = Design(n_systems=4, n_items=100, n_pairs=6, n_votes=3, n_raters=15)
COSTS = Costs(minutes_a_vote=1.5, pay_per_hour=12.0, usd_an_item=0.5, usd_a_pair=0.25)
EASY = Question(gap=0.08)


def designs(question: Question, costs: Costs = COSTS) -> tuple[bool, tuple[Planned, ...]]:
    return find_designs(DESIGN, 0, BASIS, costs, question)


def test_a_design_is_priced_by_hand() -> None:
    one = price_design(DESIGN, 0, BASIS, COSTS, EASY)
    assert one.n_votes == 100 * 6 * 3
    assert one.person_hours == 1_800 * 1.5 / 60
    assert one.pay == 45 * 12
    assert one.usd == 100 * 0.5 + 600 * 0.25
    assert one.cost == one.pay + one.usd
    assert one.assurance is None


def test_replies_of_several_people_make_more_pairs() -> None:
    more = price_design(DESIGN, 0, BASIS, COSTS, EASY, pairs_per_item=12)
    assert more.n_votes == 2 * 1_800


def test_designs_are_just_enough() -> None:
    is_reached, found = designs(EASY)
    assert is_reached
    for one in found:
        fewer = Design(
            n_systems=4,
            n_items=one.n_items,
            n_pairs=max(1.0, one.pairs_per_item - 2 / one.n_items),
            n_votes=one.votes_per_pair,
            n_raters=one.n_raters,
        )
        assert one.power >= EASY.power
        if one.pairs_per_item > 1:
            assert look_ahead(BASIS.components, fewer, gap=EASY.gap).power < EASY.power + 1e-3


def test_no_design_needs_as_much_of_everything_as_another() -> None:
    found = designs(EASY)[1]
    assert [one.cost for one in found] == sorted(one.cost for one in found)
    for k, one in enumerate(found):
        assert all(
            one.n_raters < other.n_raters or one.n_items < other.n_items for other in found[:k]
        )


def test_limits_hold_and_what_tells_most_is_named_where_nothing_is_enough() -> None:
    is_reached, found = designs(replace(EASY, max_hours=2.0, max_usd=60.0))
    assert not is_reached
    assert all((one.person_hours or 0) <= 2 and one.cost <= 60 for one in found)
    assert found[0].power == max(one.power for one in found)


def test_without_pay_hours_decide() -> None:
    found = designs(EASY, replace(COSTS, pay_per_hour=None))[1]
    hours = [one.person_hours or 0.0 for one in found]
    assert hours == sorted(hours)
    assert {one.pay for one in found} == {None}


def test_a_wanted_half_width_is_met() -> None:
    is_reached, found = designs(Question(half_width=0.08))
    assert is_reached
    assert all(one.half_width <= 0.08 for one in found)


def test_what_a_pilot_leaves_open_is_averaged() -> None:
    draws = tuple(replace(BASIS.components, rater=rater) for rater in (0.0, 0.01))
    one = price_design(DESIGN, 0, replace(BASIS, draws=draws), COSTS, EASY)
    powers = [look_ahead(draw, DESIGN, gap=EASY.gap).power for draw in draws]
    assert one.assurance == pytest.approx(sum(powers) / 2)


@pytest.fixture(scope="module")
def data() -> StudyData:
    plan = SimulationPlan(systems=7, items=40, people=3, judges=3, comparisons=400)
    return data_of(*draw_world("planted", plan, seed=3))


def test_a_pilot_of_people_and_judges_tells_of_both(data: StudyData) -> None:
    known = measure_all(data, "people", "planted")
    assert known.basis.pilot == known.judging_source == "planted"
    assert known.basis.n_writers > 1
    assert known.basis.components.item > 0
    assert known.judging != assume_all("people").judging


def test_judges_votes_are_a_pilot_for_judges(data: StudyData) -> None:
    known = measure_all(data, "judges", "planted")
    assert known.basis.n_raters == 3
    assert known.basis.components.rest > 0


def test_one_person_is_no_pilot(data: StudyData) -> None:
    person = next(rater for rater in data.raters if rater.kind == "human")
    alone = replace(
        data, judgments=judgments_of(row for row in data.judgments if row.rater_id == person.id)
    )
    with pytest.raises(NotIdentifiedError, match="votes of 1 people"):
        measure_basis(alone, "people", "planted")


def draft(n_models: int) -> Draft:
    return Draft(
        study="by hand",
        by="people",
        design=replace(DESIGN, n_systems=n_models, n_pairs=comb(n_models, 2)),
        pairs_per_item=comb(n_models, 2),
        n_judges=2,
        judges_per_pair=2,
        n_models=n_models,
        costs=COSTS,
    )


def test_judges_beside_people_make_few_votes_go_further() -> None:
    plan = make_plan(draft(8), assume_all("people"), EASY)
    assert [one.share for one in plan.anchored] == [0.05, 0.1, 0.2, 0.5, 1.0]
    assert all(one.half_width_elo < one.people_alone_elo for one in plan.anchored)
    alone = [one.people_alone_elo for one in plan.anchored]
    assert alone == sorted(alone, reverse=True)


def test_of_few_models_nothing_is_anchored() -> None:
    plan = make_plan(draft(5), assume_all("people"), EASY)
    assert plan.anchored == ()
    assert plan.anchored_source is None


def test_people_are_planned_to_do_as_unequally_much_as_in_the_pilot() -> None:
    even = assume_all("people")
    uneven = replace(even, basis=replace(even.basis, unevenness=2.0, pilot="one", n_raters=20))
    plans = [make_plan(draft(5), known, EASY) for known in (even, uneven)]
    assert plans[1].planned.power < plans[0].planned.power
    assert "so that they count as 10" in plan_display(plans[1]).text(80).replace("\n  ", " ")
