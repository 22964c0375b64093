"""What is true of a simulated study: its systems, people and judges, drawn once from its seed."""

from dataclasses import dataclass, replace
from math import hypot, log

import numpy as np

from hearteval.config.simulation import SimulationPlan
from hearteval.domain import AXES
from hearteval.stats.comparisons import FloatArray
from hearteval.stats.simulation import COARSE, Raters, Setting, Systems, find_tie_size
from hearteval.stats.special import logit

LETTERS = "abcdefghijklmnopqrstuvwxyz"
PEOPLE = "simulated people"
"""The name of the system whose completions people write."""
WORDS = (22, 45)
"""Mean words of the first model's completions, and of the last's."""
MIDDLE_WORDS = 30
ANOTHER_FAMILY = "line-other"
JUDGE_DEPARTURES, AXIS_DEPARTURES, LENIENCY = 11, 12, 13
"""Streams of the seed; others belong to the draws."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class World:
    """What is true, in the order of `names`: the models, then the people who write."""

    plan: SimulationPlan
    names: tuple[str, ...]
    families: tuple[str, ...]
    judges: tuple[str, ...]
    judge_families: tuple[str, ...]
    for_people: Systems
    """The systems as people see them; `for_judges` as judges do."""
    for_judges: Systems
    people: Raters
    """The pool; departures of its members are drawn with each study."""
    panel: Raters
    """The judges."""
    leniency: FloatArray
    """Of each judge, in points."""

    @property
    def has_writers(self) -> bool:
        """Whether people write."""
        return self.plan.writers > 0

    @property
    def adversarial_share(self) -> float:
        """Share of the items."""
        return self.plan.adversarial / self.plan.items

    @property
    def excludes_own_family(self) -> bool:
        """Whether judges are kept from their own family."""
        return not self.plan.judges_own


def stream(seed: int, *of: int) -> np.random.Generator:
    """Return a generator of its own for something, from a seed."""
    return np.random.default_rng((seed, *of))


def plant(plan: SimulationPlan) -> World:
    """Draw what is true from a plan."""
    n_models, has_writers = plan.systems, plan.writers > 0
    theta = _theta(plan, plan.theta)
    seen = theta if plan.judge_theta is None else _theta(plan, plan.judge_theta)
    on_axes = plan.axis_sd * stream(plan.seed, AXIS_DEPARTURES).normal(size=(len(AXES), len(theta)))
    n_texts = 1 if plan.is_balanced else plan.writers
    words = np.linspace(log(WORDS[0]), log(WORDS[1]), n_models)
    for_people = Systems(
        theta=theta,
        on_axes=on_axes - on_axes.mean(axis=0),
        on_adversarial=np.array([0.0] * n_models + [plan.better_on_adversarial] * has_writers),
        # In another order than the strengths, so that length is not worth.
        log_words=np.append(_shuffled(words), [log(MIDDLE_WORDS)] * has_writers),
        completion_sd=_completion_sd(plan),
        length=plan.length_effect,
        # A balanced design compares every two systems equally often.
        n_completions=np.array([1] * n_models + [n_texts] * has_writers),
    )
    families = tuple(f"line-{LETTERS[k]}" for k in range(n_models)) + ("human",) * has_writers
    judge_families = tuple(f"line-{LETTERS[k]}" for k in range(plan.judges))
    if plan.judges == 1 and not plan.judges_own:
        judge_families = (ANOTHER_FAMILY,)  # else nobody could judge the first system
    world = World(
        plan=plan,
        names=tuple(f"system-{LETTERS[k]}" for k in range(n_models)) + (PEOPLE,) * has_writers,
        families=families,
        judges=tuple(f"judge-{LETTERS[k]}" for k in range(plan.judges)),
        judge_families=judge_families,
        for_people=for_people,
        for_judges=replace(for_people, theta=seen),
        people=_pool(plan, len(theta)),
        panel=_panel(plan, families, judge_families),
        leniency=plan.leniency_sd * stream(plan.seed, LENIENCY).normal(size=plan.judges),
    )
    if not plan.people:
        return world
    size = find_tie_size(
        world.for_people,
        world.people,
        plan.ties,
        Setting(max(plan.rater_sd, TINY), world.adversarial_share, COARSE),
    )
    return replace(world, people=replace(world.people, tie_size=size))


TINY = 1e-9
"""Instead of no SD at all: people are sampled though they may all be alike."""


def _theta(plan: SimulationPlan, models: list[float] | None) -> FloatArray:
    given = np.linspace(plan.spread, -plan.spread, plan.systems) if models is None else models
    found = np.append(given, [plan.people_theta] * (plan.writers > 0))
    return np.asarray(found - found.mean())


def _completion_sd(plan: SimulationPlan) -> FloatArray:
    """Return how far completions of each system lie around it, over all who could write them."""
    by_people = hypot(plan.item_sd, plan.writer_sd)
    return np.array([plan.item_sd] * plan.systems + [by_people] * (plan.writers > 0))


def _shuffled(values: FloatArray) -> FloatArray:
    """Return values in an order that has little to do with theirs: every other, then the rest."""
    return np.concatenate((values[1::2], values[::2]))


def _pool(plan: SimulationPlan, n_systems: int) -> Raters:
    n = plan.pool
    return Raters(
        departure=np.zeros((n, n_systems)),
        position=np.zeros(n),
        own=np.zeros((n, n_systems)),
        may_judge=np.ones((n, n_systems), dtype=bool),
        is_random=np.arange(n) >= n - plan.random_raters,
        has_ties=True,
        tie_size=0.0,
    )


def _panel(
    plan: SimulationPlan, families: tuple[str, ...], judge_families: tuple[str, ...]
) -> Raters:
    n, n_systems = len(judge_families), len(families)
    departure = plan.judge_sd * stream(plan.seed, JUDGE_DEPARTURES).normal(size=(n, n_systems))
    is_own = np.array([[own == one for one in families] for own in judge_families], dtype=bool)
    is_own = is_own.reshape(n, n_systems)
    bias = float(logit(0.5 + plan.position_bias))
    return Raters(
        departure=departure,
        position=np.array([bias, *[0.0] * (n - 1)][:n]),
        own=plan.own_family * is_own,
        may_judge=np.ones_like(is_own) if plan.judges_own else ~is_own,
        is_random=np.zeros(n, dtype=bool),
        has_ties=False,
        tie_size=0.0,
    )
