"""What is planted in a simulated study, and what every figure of it tends to.

A figure is compared with its own limit, never with the strength that was planted: chances averaged
over completions and raters lie nearer to 1/2 than those of an average one, so Elo shrinks. The
limits here are exact averages (`hearteval.stats.simulation.expect`) over completions, over people
like those of the pools who write and judge, and over the judges that there are.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from hearteval.domain import AXES
from hearteval.errors import NotIdentifiedError
from hearteval.stats.bradley_terry.covariates import fit_with_covariates
from hearteval.stats.bradley_terry.fit import elo_from_theta, fit_win_matrix
from hearteval.stats.bradley_terry.judge_aware import fit_judge_aware
from hearteval.stats.comparisons import Comparisons, FloatArray
from hearteval.stats.simulated_scores import expected_scores
from hearteval.stats.simulation import (
    Expected,
    Raters,
    Setting,
    Systems,
    expect,
    expected_comparisons,
)
from hearteval.study.simulation.world import TINY, World

TRUTH_SCHEMA = "heart.simulate/1"
LIMITS = (
    "What each figure tends to as items and people multiply, given these judges; compare estimates"
    " with these, not with theta, which is of an average reply under an average rater."
)
DIGITS = 9


def expected_truth(world: World) -> dict[str, Any]:
    """Return what was planted and what figures tend to, as JSON says it."""
    plan = world.plan
    return {
        "plan": plan.model_dump(),
        "systems": [_system(world, s) for s in range(len(world.names))],
        "judges": [_judge(world, k) for k in range(len(world.judges))],
        "people": {
            "n": plan.pool if plan.people else 0,
            "n_random": plan.random_raters if plan.people else 0,
            "tie_size": _round(world.people.tie_size),
        },
        "limits": {"note": LIMITS, **limits(world)},
    }


def limits(world: World) -> dict[str, Any]:
    """Return what Elo, win rates, shares of models against people and biases tend to.

    None stands for what such a study never determines, however large it is.
    """
    if world.plan.protocol == "rating":
        return _scores(world)
    found: dict[str, Any] = {}
    of_kind = {kind: _expect(world, kind, world.adversarial_share) for kind in _kinds(world)}
    for kind, expected in of_kind.items():
        found[kind] = {
            "elo": _elo(world, expected.theta, use_strength=False),
            "elo_weighted": _elo(world, expected.theta, use_strength=True),
            "win_rate": _win_rates(world, expected),
        }
        if world.has_writers:
            found[kind]["against_models"] = _against_models(world, kind)
    if len(world.judges) > 1:
        found["judges"]["position"] = _determined(
            lambda: _judges_positions(world, of_kind["judges"])
        )
    if "judges" in found and not world.excludes_own_family:
        found["judges"]["own_family"] = _own_family(world)
    found["effects"] = _determined(lambda: _effects(world, of_kind))
    if len(of_kind) > 1:
        points = _together(of_kind["people"], of_kind["judges"])
        found["both"] = {"elo": _elo(world, lambda: fit_win_matrix(points).theta)}
    return found


def _scores(world: World) -> dict[str, Any]:
    """Return the mean scores that each kind of rater, and each judge, gives over all axes."""
    found: dict[str, Any] = {}
    plan = world.plan
    if plan.people:
        systems, raters, rater_sd = _seen(world, "people")
        setting = Setting(rater_sd, world.adversarial_share)
        none = np.zeros(plan.pool)
        scores = expected_scores(systems, raters, none, setting, leniency_sd=plan.leniency_sd)
        found["people"] = {"score": _by_name(world, scores[0])}
    if plan.judges:
        systems, raters, _ = _seen(world, "judges")
        setting = Setting(0.0, world.adversarial_share)
        scores = expected_scores(systems, raters, world.leniency, setting)
        may = np.where(raters.may_judge, 1.0, np.nan)
        found["judges"] = {
            "score": _by_name(world, np.nanmean(scores * may, axis=0)),
            "by_judge": {
                judge: {
                    name: _round(scores[k, s]) if raters.may_judge[k, s] else None
                    for s, name in enumerate(world.names)
                }
                for k, judge in enumerate(world.judges)
            },
        }
    return found


def _determined(find: Callable[[], dict[str, float]]) -> dict[str, float] | None:
    try:
        return find()
    except NotIdentifiedError:
        return None


def _elo(world: World, theta: Callable[..., FloatArray], **how: bool) -> dict[str, float] | None:
    return _determined(lambda: _by_name(world, elo_from_theta(theta(**how))))


def _kinds(world: World) -> list[str]:
    people, judges = world.plan.people, world.plan.judges
    return ["people"] * (people > 0) + ["judges"] * (judges > 0)


def _seen(world: World, kind: str) -> tuple[Systems, Raters, float]:
    if kind == "people":
        return world.for_people, world.people, max(world.plan.rater_sd, TINY)
    return world.for_judges, world.panel, 0.0


def _expect(world: World, kind: str, adversarial: float) -> Expected:
    systems, raters, rater_sd = _seen(world, kind)
    found = expect(systems, raters, Setting(rater_sd, adversarial))
    plan = world.plan
    times = plan.people if kind == "people" else 2 if plan.both_orders else 1
    return replace(found, weight=found.weight * times)


def _together(people: Expected, judges: Expected) -> FloatArray:
    """Return points of both kinds, each with half of a pair's weight where both judged it."""
    by_people, by_judges = (one.win + one.tie / 2 for one in (people, judges))
    total = people.weight + judges.weight
    halves = np.where(judges.weight > 0, (by_people + by_judges) / 2, by_people)
    return np.asarray(total * halves)


def _comparisons(world: World, kind: str, weight: FloatArray) -> tuple[Comparisons, FloatArray]:
    systems, raters, rater_sd = _seen(world, kind)
    setting = Setting(rater_sd, world.adversarial_share)
    return expected_comparisons(systems, raters, setting, weight)


def _effects(world: World, of_kind: Mapping[str, Expected]) -> dict[str, float]:
    """Return what the effects of length and position tend to, held equal with the strengths."""
    total = sum(expected.weight for expected in of_kind.values())
    n_kinds = sum((expected.weight > 0).astype(float) for expected in of_kind.values())
    half = np.divide(total, n_kinds, out=np.zeros_like(total), where=n_kinds > 0)
    parts = [
        _comparisons(world, kind, np.where(expected.weight > 0, half, 0))
        for kind, expected in of_kind.items()
    ]
    comparisons = [comparisons for comparisons, _ in parts]
    names = ("left", "right", "score", "weight", "count", "rater")
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(one, name) for one in comparisons]) for name in names
    }
    n = len(columns["left"])
    together = Comparisons(**columns, item=np.arange(n), n_systems=len(world.names))
    longer = np.concatenate([longer for _, longer in parts])
    fit = fit_with_covariates(together, np.stack((longer, np.ones(n)), axis=1))
    return {name: _round(beta) for name, beta in zip(("length", "position"), fit.beta, strict=True)}


def _judges_positions(world: World, expected: Expected) -> dict[str, float]:
    """Return what each judge gives to the first, estimated beside how sharply it judges."""
    comparisons, _ = _comparisons(world, "judges", expected.weight)
    fit = fit_judge_aware(comparisons)
    return {name: _round(one) for name, one in zip(world.judges, fit.position_bias, strict=True)}


def _own_family(world: World) -> dict[str, float | None]:
    """Return how much more often each judge prefers its own family than judges of neither do."""
    alone = [_wins_by(world, k) for k in range(len(world.judges))]
    found: dict[str, float | None] = {}
    for k, judge in enumerate(world.judges):
        if world.judge_families[k] not in world.families:
            found[judge] = None
            continue
        own = world.families.index(world.judge_families[k])
        gaps, times = list[float](), list[int]()
        for b, family in enumerate(world.families):
            others = [
                alone[m][own, b]
                for m in range(len(world.judges))
                if world.judge_families[m] not in (world.judge_families[k], family)
            ]
            if b != own and others:
                gaps.append(float(alone[k][own, b] - np.mean(others)))
                times.append(int(world.for_judges.n_completions[b]))
        found[judge] = _round(np.average(gaps, weights=times)) if gaps else None
    return found


def _wins_by(world: World, k: int) -> FloatArray:
    """Return how often each system beats each other with one judge."""
    panel = world.panel
    one = Raters(
        **{
            name: getattr(panel, name)[k : k + 1]
            for name in ("departure", "position", "own", "may_judge", "is_random")
        },
        has_ties=panel.has_ties,
        tie_size=panel.tie_size,
    )
    found = expect(world.for_judges, one, Setting(0.0, world.adversarial_share))
    return np.asarray(found.win + found.tie / 2)


def _win_rates(world: World, expected: Expected) -> dict[str, float | None]:
    points = (expected.win + expected.tie / 2) * expected.weight
    weight = expected.weight.sum(axis=1)
    won = points.sum(axis=1)
    return {
        name: _round(won[s] / weight[s]) if weight[s] else None
        for s, name in enumerate(world.names)
    }


def _against_models(world: World, kind: str) -> dict[str, Any]:
    """Return how often models' completions beat people's, by subset; each model counts the same.

    So people and judges compare people with one mix of models, though own families are excluded.
    """
    shares = {"all": world.adversarial_share, "regular": 0.0, "adversarial": 1.0}
    if not 0 < world.plan.adversarial < world.plan.items:
        shares = {"all": shares["all"]}
    found = {}
    for subset, share in shares.items():
        expected = _expect(world, kind, share)
        is_met = expected.weight[:-1, -1] > 0
        if not is_met.any():
            return {}
        model, tie = (
            float(matrix[:-1, -1][is_met].mean()) for matrix in (expected.win, expected.tie)
        )
        found[subset] = {
            "model": _round(model),
            "tie": _round(tie),
            "person": _round(1 - model - tie),
        }
    return found


def _system(world: World, s: int) -> dict[str, Any]:
    people = world.for_people
    return {
        "system": world.names[s],
        "family": world.families[s],
        "theta_people": _round(people.theta[s]),
        "theta_judges": _round(world.for_judges.theta[s]),
        "on_axes": {axis: _round(people.on_axes[k, s]) for k, axis in enumerate(AXES)},
        "on_adversarial": _round(people.on_adversarial[s]),
        "words": _round(float(np.exp(people.log_words[s]))),
    }


def _judge(world: World, k: int) -> dict[str, Any]:
    panel = world.panel
    return {
        "judge": world.judges[k],
        "family": world.judge_families[k],
        "position": _round(panel.position[k]),
        "leniency": _round(world.leniency[k]),
        "departure": _by_name(world, panel.departure[k]),
        "own_family": _by_name(world, panel.own[k]),
    }


def _by_name(world: World, values: FloatArray) -> dict[str, float]:
    return {name: _round(float(one)) for name, one in zip(world.names, values, strict=True)}


def _round(value: float) -> float:
    return round(float(value), DIGITS)
