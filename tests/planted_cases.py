"""Worlds in which estimators went wrong, and what each study of one of them has to come to.

Read by benchmarks/planted_truth.py (400 studies a row) and by the tests of these estimators.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from planted_studies import Figure, Limits, analyzed, data_of, scored

from hearteval.analysis.agreement.pair_votes import merge_votes
from hearteval.analysis.columns import to_columns
from hearteval.config.simulation import SimulationPlan
from hearteval.sections.people import People
from hearteval.sections.people.models.shares import OutcomeShare
from hearteval.sections.people.rankings import KindRanking
from hearteval.sections.people.study import PeopleResults, analyze_people
from hearteval.study.simulation.making import draw_world
from hearteval.study.simulation.world import PEOPLE, World

ALPHA, TINY = 0.05, 1e-6
Plans = Mapping[str, SimulationPlan]


def people_of(world: World, seed: int) -> PeopleResults:
    """Draw one study of a world, and say of it only what is said of people."""
    _, drawn = draw_world("planted", world.plan, world=world, seed=seed)
    data = data_of(world, drawn)
    rows = data.judgments.first_ones
    columns = to_columns(rows, data)
    found = analyze_people(
        rows, columns, merge_votes(columns), data, level=0.95, seed=world.plan.seed
    )
    assert found is not None
    return found


MIX = SimulationPlan(
    systems=5,
    items=60,
    adversarial=15,
    people=5,
    pool=15,
    writers=1,
    judges=3,
    writer_pool=45,
    spread=1.6,
    judge_sd=0.0,
    axis_sd=0.0,
    repeat_pairs=0,
)
"""Strong models are those that judges are kept from; people stand in the middle."""


def but(plan: SimulationPlan, **given: object) -> SimulationPlan:
    """Return a plan with something else in it."""
    return SimulationPlan.model_validate({**plan.model_dump(), **given})


def mix_plans() -> Plans:
    return {"own family excluded": but(MIX), "own family judged": but(MIX, judge_own_family=True)}


def other_mix_plans() -> Plans:
    return {
        "excluded, no spread": but(MIX, spread=0.0),
        "excluded, two judges of four": but(MIX, systems=4, judges=2),
        "excluded, people strong": but(MIX, people_theta=1.2),
        "excluded, people weak": but(MIX, people_theta=-1.2),
        "excluded, judges differ": but(MIX, judge_sd=0.5),
        "excluded, balanced, 30 % missing": but(MIX, comparisons=540, missing=0.3),
        "excluded, writer SD .5": but(MIX, writer_sd=0.5),
    }


def mix_figures(world: World, limit: Limits, seed: int) -> Iterator[Figure]:
    """Yield the difference of people and judges, and what each says on each mix."""
    found = people_of(world, seed)
    score = {
        (by, part): share["model"] + share["tie"] / 2
        for by in ("people", "judges")
        for part, share in limit[by]["against_models"].items()
    }
    gap = score["people", "all"] - score["judges", "all"]
    names = {"all-items": ("people less judges", gap), "people-judges": ("interaction", 0.0)}
    for lead in found.leads:
        if lead.score is not None and lead.name in names:
            name, value = names[lead.name]
            own = lead.score
            yield Figure(name, own.value, own.low, own.high, value, 0.0)
    for one in found.against_models:
        value = score[one.judged_by, "all"]
        yield Figure(f"score: {one.judged_by}, {one.writers or 'all'}", *ends(one.score), value)
        if one.writers is None and one.every_axis is not None and abs(value - 0.5) < TINY:
            marks = one.every_axis
            yield Figure("every axis: lead", marks.model.rate - marks.person.rate, None, None, 0.0)
    for part in found.against_models_by:
        if part.by == "subset" and part.against is not None:
            value = score[part.judged_by, part.value]
            yield Figure(f"score: {part.judged_by}, {part.value}", *ends(part.against.score), value)


def ends(share: OutcomeShare) -> tuple[float, float | None, float | None]:
    """Return a share with its interval."""
    return share.rate, share.low, share.high


WRITTEN = SimulationPlan(
    systems=3,
    items=30,
    adversarial=0,
    people=5,
    pool=15,
    writers=2,
    judges=2,
    both_orders=False,
    judge_own_family=True,
    repeat_pairs=0,
)
SDS = (0.0, 0.3, 0.5, 0.8)


def writers_plans() -> Plans:
    return {
        f"{n} writers, SD {sd}": but(WRITTEN, writer_pool=n, writer_sd=sd)
        for n, sds in ((12, SDS), (5, SDS[2:]), (3, SDS[2:3]))
        for sd in sds
    }


def other_writers_plans() -> Plans:
    plan = but(WRITTEN, writer_sd=0.5)
    return {
        "12 writers of very unequal shares": but(plan, busiest_writers=1.5),
        "6 writers": but(plan, writer_pool=6),
        "6 writers, one reply an item": but(plan, writer_pool=6, writers=1),
        "own family excluded, spread 1.6": but(plan, judge_own_family=False, spread=1.6),
        "people strong": but(plan, people_theta=1.2),
        "balanced, 30 % missing": but(plan, comparisons=180, missing=0.3),
        "4 people judge": but(plan, people=4, pool=4),
        "40 writers": but(plan, writer_pool=40),
    }


def writers_figures(world: World, limit: Limits, seed: int) -> Iterator[Figure]:
    """Yield every figure of people as writers of which it is known what it tends to."""
    results = analyzed(world, seed)
    people = results.found(People)
    assert people is not None
    assert results.leaderboard is not None
    yield from of_writers(people, limit)
    for row in results.leaderboard.rows:
        if row.system == PEOPLE:
            elo = row.unweighted
            value = limit["both"]["elo"][PEOPLE]
            yield Figure("people's Elo: both", elo.elo, elo.low, elo.high, value)


def of_writers(found: PeopleResults, limit: Limits) -> Iterator[Figure]:
    """Yield the same without the ranking by both kinds of rater."""
    for one in found.against_models:
        if one.writers is None:
            of = limit[one.judged_by]["against_models"]["all"]
            value = of["model"] + of["tie"] / 2
            yield Figure(f"share against models: {one.judged_by}", *ends(one.score), value)
    for best in found.best_human:
        if best.pooled_human is not None:
            of = limit[best.judged_by]["against_models"]["all"]
            own, value = best.pooled_human.score, of["person"] + of["tie"] / 2
            name = f"pooled human: {best.judged_by}"
            yield Figure(name, own.value, own.low, own.high, value)
    for ranking in found.rankings:
        yield from _of_people(ranking, limit[ranking.judged_by])


def _of_people(ranking: KindRanking, limit: Limits) -> Iterator[Figure]:
    by, board = ranking.judged_by, ranking.leaderboard
    assert board is not None
    for row in board.rows:
        own, weighted = row.unweighted, row.weighted
        kind = "people's" if row.system == PEOPLE else "models'"
        yield Figure(f"{kind} Elo: {by}", own.elo, own.low, own.high, limit["elo"][row.system])
        value = limit["elo_weighted"][row.system]
        yield Figure(f"{kind} weighted Elo: {by}", weighted.elo, weighted.low, weighted.high, value)
    for gap in board.differences:
        value = limit["elo_weighted"][gap.system] - limit["elo_weighted"][gap.other]
        kind = "person and model" if PEOPLE in (gap.system, gap.other) else "two models"
        yield Figure(f"Elo of {kind}: {by}", gap.elo, gap.low, gap.high, value)


def rated_plans() -> Plans:
    plan = but(WRITTEN, protocol="rating")
    by = {"people": but(plan, judges=0), "judges": but(plan, people=0)}
    return {
        f"12 writers, SD {sd}, rated by {who}": but(by_these, writer_sd=sd)
        for sd in (0.0, 0.5, 0.8)
        for who, by_these in by.items()
    }


def rated_figures(world: World, limit: Limits, seed: int) -> Iterator[Figure]:
    """Yield scores of people who write and of models, where completions are rated by themselves."""
    (of_kind,) = limit.values()
    for row in scored(world, seed):
        own, kind = row.overall, "people's" if row.system == PEOPLE else "models'"
        yield Figure(f"{kind} score", own.mean, own.low, own.high, of_kind["score"][row.system])


EQUAL = SimulationPlan(
    systems=4,
    items=40,
    adversarial=0,
    people=5,
    pool=15,
    writers=3,
    judges=0,
    spread=1.6,
    item_sd=0.0,
    repeat_pairs=0,
)
"""All replies of people are equally good."""


def equal_plans() -> Plans:
    by_judges = but(EQUAL, people=0, judges=3, judge_sd=0.0)
    return {
        "full design": but(EQUAL),
        "balanced design": but(EQUAL, comparisons=350),
        "judges, own family excluded, balanced": but(by_judges, comparisons=350),
        "full design, replies differ (SD .6)": but(EQUAL, item_sd=0.6),
    }


def equal_figures(world: World, limit: Limits, seed: int) -> Iterator[Figure]:
    """Yield what choosing the best reply is said to be worth: nothing where all are equal."""
    del limit
    value = float("nan") if world.plan.item_sd else 0.0
    for best in people_of(world, seed).best_human:
        if best.gain is not None:
            own = best.gain
            yield Figure(f"gain: {best.judged_by}", own.value, own.low, own.high, value, 0.0)
            is_above = own.low is not None and own.low > 0
            yield Figure(f"gain above 0: {best.judged_by}", float(is_above), None, None, value)


NULL = SimulationPlan(
    systems=3,
    items=40,
    adversarial=12,
    people=5,
    pool=10,
    writers=1,
    judges=3,
    judge_sd=0.0,
    repeat_pairs=0,
    judge_own_family=True,
)


def null_plans() -> Plans:
    return {
        "own family judged": NULL,
        "own family excluded, spread 1.6": but(NULL, judge_own_family=False, spread=1.6, systems=4),
    }


def null_figures(world: World, limit: Limits, seed: int) -> Iterator[Figure]:
    """Yield 1 where any planned contrast is asserted, and where one would be without adjusting."""
    del limit
    planned = analyzed(world, seed).planned
    assert planned
    yield Figure("any is asserted", float(any(one.is_asserted for one in planned)), None, None, 0.0)
    least = min(one.p for one in planned)
    yield Figure("any p is below .05", float(least <= ALPHA), None, None, 0.0)


class Case(NamedTuple):
    """Worlds by name, and what is read from a study of one."""

    plans: Callable[[], Plans]
    figures: Callable[[World, Limits, int], Iterator[Figure]]


CASES: Mapping[str, Case] = {
    "mix": Case(mix_plans, mix_figures),
    "other-mix": Case(other_mix_plans, mix_figures),
    "writers": Case(writers_plans, writers_figures),
    "other-writers": Case(other_writers_plans, writers_figures),
    "rated-writers": Case(rated_plans, rated_figures),
    "equal-replies": Case(equal_plans, equal_figures),
    "null": Case(null_plans, null_figures),
}
