"""Simulated studies without a store, and every figure of theirs beside what it should come to."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from hearteval.analysis.agreement.measures import AgreementMeasure
from hearteval.analysis.data import Provenance, StudyData
from hearteval.analysis.packed.pairs import pairs_of
from hearteval.analysis.scores.scores import RatedSystem
from hearteval.analysis.scores.study import score_study
from hearteval.analysis.study import StudyResults, analyze_study
from hearteval.config.simulation import SimulationPlan
from hearteval.sections.agreement import Agreement
from hearteval.sections.explained import Explained
from hearteval.sections.judges import Judges
from hearteval.sections.people import People
from hearteval.sections.people.rankings import KindRanking
from hearteval.sections.strata import Strata
from hearteval.study.simulation.drawing import Drawn
from hearteval.study.simulation.making import draw_world
from hearteval.study.simulation.texts import simulated_items
from hearteval.study.simulation.truth import limits
from hearteval.study.simulation.world import World, plant

Limits = dict[str, Any]
"""As in truth.json."""
PLANTED = SimulationPlan(
    systems=3,
    items=40,
    adversarial=12,
    people=5,
    pool=10,
    writers=1,
    judges=3,
    repeat_pairs=0,
    steadiness=0.6,
    position_bias=0.1,
    length_effect=1.0,
    own_family=0.8,
    better_on_adversarial=0.8,
)
"""Small, and with every effect."""
NOTHING = SimulationPlan(
    systems=3,
    items=40,
    adversarial=12,
    people=5,
    pool=10,
    writers=1,
    judges=3,
    judge_sd=0.0,
    repeat_pairs=0,
    steadiness=0.6,
    judge_own_family=True,
)
"""The same without."""


class Figure(NamedTuple):
    """A figure of a study with its interval, and what it should come to."""

    name: str
    value: float
    low: float | None
    high: float | None
    limit: float
    null: float | None = None
    """What it would be if nothing were planted; None for a figure that says of no effect."""

    @property
    def covers(self) -> bool:
        """Whether the interval holds the limit."""
        assert self.low is not None
        assert self.high is not None
        return self.low <= self.limit <= self.high

    @property
    def finds(self) -> bool:
        """Whether the interval lies to one side of no effect."""
        assert self.low is not None
        assert self.high is not None
        assert self.null is not None
        return not self.low <= self.null <= self.high


def data_of(world: World, drawn: Drawn) -> StudyData:
    plan = world.plan
    return StudyData(
        items=simulated_items(plan.items, adversarial=plan.adversarial),
        systems=drawn.systems,
        raters=drawn.raters,
        completions=drawn.completions,
        attempts=drawn.attempts,
        pairs=pairs_of(drawn.pairs),
        judgments=drawn.rows,
        exclude_own_family=world.excludes_own_family,
        writer_groups=drawn.writer_groups,
        people_per_pair=plan.people,
        n_identical=drawn.n_identical,
        provenance=Provenance(
            study="planted",
            study_id="",
            version=1,
            seed=plan.seed,
            items_hash="",
            settings_hash="",
            item_source="simulated",
            licences=(),
            consent_bases=(),
            design="",
            protocols={"human": "five-point", "llm": "forced-strength"},
            protocol_version="",
            software={},
            created_at="2026-11-23T00:00:00",
            simulated=True,
        ),
    )


def analyzed(world: World, seed: int) -> StudyResults:
    """Draw one study of a world and analyze it."""
    _, drawn = draw_world("planted", world.plan, world=world, seed=seed)
    return analyze_study(
        data_of(world, drawn), sections=[People, Agreement, Judges, Strata, Explained]
    )


def planted(plan: SimulationPlan) -> tuple[World, Limits]:
    """Return what is true, and what figures tend to."""
    world = plant(plan)
    return world, limits(world)


def figures(results: StudyResults, limit: Limits) -> Iterator[Figure]:
    """Yield every figure of which it is known what it tends to."""
    people = results.found(People)
    assert people is not None
    for ranking in people.rankings:
        yield from _of_ranking(ranking, limit[ranking.judged_by])
    board = results.leaderboard
    assert board is not None
    for row in board.rows:
        own = row.unweighted
        value = limit["both"]["elo"][row.system]
        yield Figure(f"elo, both: {row.system}", own.elo, own.low, own.high, value)
    yield from _against_models(results, limit)
    yield from _biases(results, limit)


def _of_ranking(ranking: KindRanking, limit: Limits) -> Iterator[Figure]:
    by = ranking.judged_by
    assert ranking.leaderboard is not None
    for row in ranking.leaderboard.rows:
        own, weighted = row.unweighted, row.weighted
        value = limit["elo"][row.system]
        yield Figure(f"elo, {by}: {row.system}", own.elo, own.low, own.high, value)
        value = limit["elo_weighted"][row.system]
        yield Figure(
            f"weighted elo, {by}: {row.system}", weighted.elo, weighted.low, weighted.high, value
        )


def _against_models(results: StudyResults, limit: Limits) -> Iterator[Figure]:
    people = results.found(People)
    assert people is not None
    found = [("all", one) for one in people.against_models if one.writers is None]
    found += [
        (one.value, one.against)
        for one in people.against_models_by
        if one.by == "subset" and one.against is not None
    ]
    for subset, one in found:
        for name, share in (("model", one.model), ("tie", one.tie), ("person", one.person)):
            value = limit[one.judged_by]["against_models"][subset][name]
            if value:
                where = f"{one.judged_by}, {subset}"
                yield Figure(f"share, {where}: {name}", share.rate, share.low, share.high, value)
    for lead in people.leads:
        if lead.name in ("people", "judges") and lead.score is not None:
            of = limit[lead.name]["against_models"]
            score = {name: one["model"] + one["tie"] / 2 for name, one in of.items()}
            value = score["regular"] - score["adversarial"]
            own = lead.score
            yield Figure(f"lead lost: {lead.name}", own.value, own.low, own.high, value, 0.0)


def _biases(results: StudyResults, limit: Limits) -> Iterator[Figure]:
    explained = results.sections[Explained]
    assert isinstance(explained, Explained)
    assert explained.panel is not None
    assert explained.panel.judge_aware is not None
    for judge in explained.panel.judge_aware.judges:
        yield Figure(
            f"position: {judge.judge}",
            judge.position_bias,
            judge.position_bias_low,
            judge.position_bias_high,
            limit["judges"]["position"][judge.judge],
            0.0,
        )
    for effect in explained.found.effects:
        if effect.covariate in limit["effects"]:
            value = limit["effects"][effect.covariate]
            name = f"effect: {effect.covariate}"
            yield Figure(name, effect.beta, effect.low, effect.high, value, 0.0)
    audits = results.found(Judges)
    for audit in audits.judges if audits else ():
        own = audit.own_family
        if own.difference is not None:
            value = limit["judges"]["own_family"][audit.judge]
            name = f"own family: {audit.judge}"
            yield Figure(name, own.difference, own.low, own.high, value, 0.0)


Ends = tuple[float, float | None, float | None]
"""A figure with its interval."""


def figures_without_formula(results: StudyResults) -> dict[str, Ends]:
    """Return figures of which only a very large study says what they tend to."""
    people, judges = results.found(People), results.found(Agreement)
    assert people is not None
    found: dict[str, Ends] = {}
    for part in people.agreement:
        where = part.subset or "all"
        if part.people is not None:
            found[f"people agree: {where}"] = _ends(part.people.same)
            found[f"people, kappa: {where}"] = _ends(part.people.fleiss_kappa)
        if part.majorities is not None:
            found[f"majorities agree: {where}"] = _ends(part.majorities.same)
    for two in judges.together if judges else ():
        found[f"judges agree: {', '.join(two.judges)}"] = _ends(two.same)
    for one in people.with_judges.judges if people.with_judges else ():
        found[f"judge with people: {one.judge}"] = _ends(one.same)
    for best in people.best_human:
        if best.best_human and best.same_votes and best.pooled_human:
            scores: dict[str, Any] = {
                "best_human": best.best_human.score,
                "same_votes": best.same_votes.score,
                "pooled_human": best.pooled_human.score,
                "optimism": best.optimism,
                "gain": best.gain,
            }
            for name, own in scores.items():
                found[f"{name}, {best.judged_by}: score"] = (own.value, own.low, own.high)
    return found


def _ends(measure: AgreementMeasure) -> Ends:
    assert measure.value is not None
    return measure.value, measure.low, measure.high


def p_values(results: StudyResults) -> dict[str, float]:
    """Return p of every test whether rankings differ between kinds of item."""
    strata = results.found(Strata)
    factors = strata.factors if strata else ()
    return {f"ranking differs: {one.factor}": one.test.p for one in factors if one.test is not None}


def scored(world: World, seed: int) -> tuple[RatedSystem, ...]:
    """Draw one study of ratings by a panel of judges; return the systems' scores."""
    _, drawn = draw_world("planted", world.plan, world=world, seed=seed)
    data = replace(
        data_of(world, drawn),
        ratings=drawn.ratings,
        targets=[rating.target for rating in drawn.ratings],
    )
    results, *_ = score_study(data, level=0.95)
    return results.systems
