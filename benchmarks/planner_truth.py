"""Try to break the planner: whole studies of votes with known effects, against what it foretells.

    PYTHONPATH=src python benchmarks/planner_truth.py [errors|power|pilot|anchored|measured]
        [--studies N]

Written by somebody who did not write the planner. A vote is the sign of

    theta_s - theta_t + item x system + item x people + rater x system + rater x people + writer
    + cell x system + what stands left + logistic noise,

a tie where it is small; nothing here is normal on the scale of votes, and the planner is told what
votes of each kind have in common, not the SDs above. Prints Markdown; without a word, all of it.
"""

import argparse
from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
from anchored_truth import Case, analyse, biased

from hearteval.analysis.estimates import clustered_errors
from hearteval.analysis.ranking.intervals import UsedInterval, vary
from hearteval.errors import NotIdentifiedError
from hearteval.stats.bradley_terry.fit import (
    ELO_PER_THETA,
    fit_bradley_terry,
    fit_win_matrix,
    strong_components,
)
from hearteval.stats.bradley_terry.intervals import influence_on_strengths, own_df
from hearteval.stats.comparisons import Comparisons, FloatArray, IntArray, win_matrix
from hearteval.stats.planner.anchoring import Judging, expect_widths
from hearteval.stats.planner.components import measure_components
from hearteval.stats.planner.design import Components, Design, difference_parts, look_ahead
from hearteval.stats.special import expit, stdtrit

SEED, LEVEL = 2812, 0.95
MIN_SAMPLED, N_DRAWN = 5, 100_000
STRETCHED, STEADY = 1.25, 0.7
"""How often a judge's noise is the same in both orders."""
USED: dict[tuple[bool, bool], UsedInterval] = {
    (False, False): "item-sandwich",
    (True, False): "two-way",
    (False, True): "item-writer",
    (True, True): "three-way",
}


class World(NamedTuple):
    """SDs in log odds of what makes votes differ."""

    span: float = 1.6
    """Between the first and the last system."""
    item: float = 0.6
    """Of each system on each item."""
    item_people: float = 0.0
    """Of the human row on an item, whoever wrote."""
    is_skewed: bool = False
    """Whether effects of items are of a gamma of shape 1/2 (skewness 2.8), else normal."""
    rater: float = 0.3
    """Of each rater's taste for each system."""
    rater_people: float = 0.0
    """Of each rater's taste for people."""
    writer: float = 0.0
    cell: float = 0.0
    """Of each rater's taste for each reply."""
    side: float = 0.0
    """What stands left gains so much."""
    side_rater: float = 0.0
    """SD over raters of the same."""
    tie: float = 0.35


class Plan(NamedTuple):
    """Who votes on what."""

    n_items: int = 100
    n_pairs: float = 1
    """Of each item."""
    n_votes: int = 1
    """Of each pair, by different raters."""
    n_raters: int = 15
    n_systems: int = 2
    n_writers: int = 0
    """Above 0 the last system is people's."""
    n_replies: int = 1
    """Of people for an item."""
    load: float = 0.0
    """SD of the logarithm of how much raters do; at 0 all do as much."""
    pairs: float = 0.0
    """SD of the logarithm of how often pairs are planned."""
    n_judges: int = 0
    """Above 0 a panel votes, all on each pair in both orders, instead of people."""
    is_own_family: bool = False
    """Whether judge j leaves out pairs with system j."""
    is_last: bool = False
    """Whether the first system is compared with the last, else with the second."""

    @property
    def pair(self) -> tuple[int, int]:
        """The difference that is planned."""
        return 0, self.n_systems - 1 if self.is_last else 1


def effects(world: World, shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
    """Draw effects of items, of SD 1."""
    if not world.is_skewed:
        return rng.standard_normal(shape)
    return np.asarray((rng.gamma(0.5, size=shape) - 0.5) / np.sqrt(0.5))


def strengths(world: World, n: int) -> FloatArray:
    """Return strengths, evenly apart."""
    return np.asarray(world.span * np.linspace(0.5, -0.5, n))


def top(weight: FloatArray, n_rows: int, n: int, rng: np.random.Generator) -> IntArray:
    """Draw for each row n different ones of those weighted, (rows, n)."""
    keys = np.log(weight) + rng.gumbel(size=(n_rows, len(weight)))
    return np.asarray(np.argpartition(-keys, n - 1, axis=1)[:, :n])


def panel(world: World, plan: Plan) -> FloatArray:
    """Return the tastes of judges, who are given, (judges, systems)."""
    rng = np.random.default_rng(SEED + 1)
    return np.asarray(world.rater * rng.standard_normal((plan.n_judges, plan.n_systems)))


class Rows(NamedTuple):
    """Who is shown what, a row each time."""

    left: IntArray
    right: IntArray
    item: IntArray
    rater: IntArray
    reply: IntArray
    """Which of people's replies to the item."""


def plan_rows(plan: Plan, rng: np.random.Generator) -> Rows:
    """Draw which pairs are compared on which items, all as often unless uneven, and by whom."""
    one, other = np.triu_indices(plan.n_systems, 1)
    n_rows = round(plan.n_items * plan.n_pairs)
    if plan.pairs:
        weight = np.exp(plan.pairs * np.random.default_rng(SEED).standard_normal(len(one)))
        pair = top(weight, plan.n_items, round(plan.n_pairs), rng).ravel()
    else:
        rounds = [rng.permutation(len(one)) for _ in range(n_rows // len(one) + 1)]
        pair = np.concatenate(rounds)[:n_rows]
    each = plan.n_judges or plan.n_votes
    if plan.n_judges:
        rater = np.tile(np.arange(each), n_rows)
    elif plan.load:
        load = np.exp(plan.load * rng.standard_normal(plan.n_raters))
        rater = top(load, n_rows, each, rng).ravel()
    else:
        rater = np.resize(rng.permutation(plan.n_raters), n_rows * each)
    item = np.arange(n_rows) * plan.n_items // n_rows
    reply = rng.integers(0, plan.n_replies, n_rows)
    left, right, item, reply = (np.repeat(a, each) for a in (one[pair], other[pair], item, reply))
    kept = np.ones(len(item), dtype=bool)
    if plan.is_own_family:
        kept = (left != rater) & (right != rater)
    return Rows(*(a[kept] for a in (left, right, item, rater, reply)))


def draw(world: World, plan: Plan, theta: FloatArray, rng: np.random.Generator) -> Comparisons:
    """Draw the votes of a study; of a panel in both orders, its noise often the same in both."""
    rows, n, n_raters = plan_rows(plan, rng), plan.n_systems, plan.n_judges or plan.n_raters
    left, right, item, rater, reply = rows
    taste = (
        panel(world, plan) if plan.n_judges else world.rater * rng.standard_normal((n_raters, n))
    )
    at = theta + world.item * effects(world, (plan.n_items, n), rng)
    odds = at[item, left] - at[item, right] + taste[rater, left] - taste[rater, right]
    writer = None
    if plan.n_writers:
        is_people, shape = right == n - 1, (plan.n_items, plan.n_replies)
        wrote = np.resize(rng.permutation(plan.n_writers), shape)
        writer = np.where(is_people, wrote[item, reply], -1)
        own = world.item * effects(world, shape, rng) - at[:, -1:] + theta[-1]
        own += world.item_people * effects(world, (plan.n_items, 1), rng)
        own += world.writer * rng.standard_normal(plan.n_writers)[wrote]
        own_taste = world.rater_people * rng.standard_normal(n_raters)
        odds -= is_people * (own[item, reply] + own_taste[rater])
    if world.cell:
        cell = world.cell * rng.standard_normal((plan.n_items, n_raters, n))
        odds += cell[item, rater, left] - cell[item, rater, right]
    gain = world.side + world.side_rater * rng.standard_normal(n_raters)[rater]
    noise = rng.logistic(size=len(item))
    if plan.n_judges:
        again = np.where(rng.random(len(item)) < STEADY, noise, rng.logistic(size=len(item)))
        odds = np.concatenate((odds + noise + gain, odds + again - gain))
        left, right, item = (np.tile(a, 2) for a in (left, right, item))
        rater = np.full(len(item), -1)
    else:
        odds += noise + np.where(rng.random(len(item)) < 0.5, gain, -gain)
    ones = np.ones(len(item))
    return Comparisons(
        left=left,
        right=right,
        score=np.where(np.abs(odds) < world.tie, 0.5, odds > 0),
        weight=ones,
        count=ones.astype(np.int64),
        item=item,
        rater=rater,
        n_systems=n,
        writer=writer,
    )


class Told(NamedTuple):
    """What a study says of a difference."""

    value: float
    se: float
    df: float

    @property
    def half_width(self) -> float:
        """Of the interval."""
        return float(stdtrit(self.df, (1 + LEVEL) / 2)) * self.se

    @property
    def is_seen(self) -> bool:
        """Whether it is told from 0."""
        return abs(self.value) > self.half_width


def share_of(votes: Comparisons) -> Told:
    """Return how far the share of the first of two systems is above one half."""
    influence = (votes.score - votes.score.mean()) / len(votes)
    se, df = clustered_errors(influence[:, None], votes.item, votes.rater, votes.writer)
    return Told(float(votes.score.mean()) - 0.5, float(se[0]), df)


def elo_of(votes: Comparisons, pair: tuple[int, int]) -> Told:
    """Return a difference in Elo, as a ranking has it."""
    fit = fit_bradley_terry(votes)
    over, by = (
        who is not None and len(np.unique(who[who >= 0])) >= MIN_SAMPLED
        for who in (votes.rater, votes.writer)
    )
    found = vary(influence_on_strengths(votes, fit), votes, USED[over, by])
    df = own_df(votes, found.df, over_raters=over, over_writers=found.writer is not None)
    se = ELO_PER_THETA * float(np.sqrt(found.of_differences()[pair]))
    value = ELO_PER_THETA * float(fit.theta[pair[0]] - fit.theta[pair[1]])
    return Told(value, se, float(min(df[pair[0]], df[pair[1]])))


def identified(
    world: World, plan: Plan, theta: FloatArray, n: int, seed: int
) -> Iterator[Comparisons]:
    """Draw so many studies, one whose votes do not identify the strengths again."""
    rng = np.random.default_rng([SEED, seed])
    while n:
        votes = draw(world, plan, theta, rng)
        if len(strong_components(win_matrix(votes))) == 1:
            n -= 1
            yield votes


class Effects(NamedTuple):
    """What moves a vote on a pair, from the side of its first system, by what it comes from."""

    item: FloatArray
    rater: FloatArray
    writer: FloatArray
    cell: FloatArray

    def chance(self, gap: float, world: World) -> FloatArray:
        """Return the mean score of votes with these effects, over both sides."""
        return np.asarray(np.mean(self._ends(gap, world), axis=0))

    def ties(self, gap: float, world: World) -> float:
        """Return how many of them are ties."""
        ends = np.array(self._ends(gap, world)).mean(axis=1)
        return float(ends[2:].mean() - ends[:2].mean())

    def _ends(self, gap: float, world: World) -> list[FloatArray]:
        at = gap + self.item + self.rater + self.writer + self.cell
        ends = [t + s for t in (-world.tie, world.tie) for s in (-world.side, world.side)]
        return [np.asarray(expit(at + end)) for end in ends]


def draw_effects(world: World, *, is_people: bool, n: int, seed: int) -> Effects:
    """Draw effects on n votes that share nothing, the second system being people's or not."""
    rng = np.random.default_rng([SEED, seed])
    item = world.item * (effects(world, (n,), rng) - effects(world, (n,), rng))
    rater = world.rater * np.sqrt(2) * rng.standard_normal(n)
    cell = world.cell * np.sqrt(2) * rng.standard_normal(n)
    writer = np.zeros(n)
    if is_people:
        item -= world.item_people * effects(world, (n,), rng)
        rater -= world.rater_people * rng.standard_normal(n)
        writer = -world.writer * rng.standard_normal(n)
    return Effects(item, rater, writer, cell)


def components_of(world: World, plan: Plan, theta: FloatArray) -> Components:
    """Return what votes have in common that share an item, a rater or a writer, and the rest.

    Means over the pairs of systems, all as often; a pair has two replies and two tastes.
    """
    one, other = np.triu_indices(len(theta), 1)
    is_people = (other == len(theta) - 1) & (plan.n_writers > 0)
    gaps, n_gaps = np.unique(
        np.round(theta[one] - theta[other], 9) + 1e3j * is_people, return_counts=True
    )
    found = np.array([_of_pair(world, gap.real, is_people=gap.imag > 0) for gap in gaps])
    item, rater, writer, whole, slope = n_gaps @ found / n_gaps.sum()
    of_people = writer * len(one) / max(1, is_people.sum())
    rest = (whole - item - rater - writer) * ((1 + STEADY) / 2 if plan.n_judges else 1.0)
    return Components(
        item=max(0.0, item / 2),
        rater=max(0.0, rater / 2),
        writer=max(0.0, of_people),
        rest=rest,
        slope=slope,
    )


def _of_pair(world: World, gap: float, *, is_people: bool) -> tuple[float, ...]:
    ours, others = (
        draw_effects(world, is_people=is_people, n=N_DRAWN, seed=seed) for seed in (1, 2)
    )
    score = ours.chance(gap, world)
    mean = score.mean()

    def shared(**of: FloatArray) -> float:
        return float(np.mean((score - mean) * (others._replace(**of).chance(gap, world) - mean)))

    ties = ours.ties(gap, world)
    return (
        shared(item=ours.item),
        shared(rater=ours.rater),
        shared(writer=ours.writer) if is_people else 0.0,
        float(mean * (1 - mean) - ties / 4),
        float(mean * (1 - mean)),
    )


PLAIN, SKEWED, SIDED = World(), World(item=1.0, is_skewed=True), World(side=0.5, side_rater=0.5)
TASTES, REPLIES = World(rater=0.6), World(cell=0.8)
WRITTEN = World(writer=0.5)
PEOPLE = World(writer=0.5, item_people=0.5, rater_people=0.3)
SOME_PEOPLE = World(writer=0.3, item_people=0.3, rater_people=0.2)
MANY = Plan(100, 1, 5)
SIX = Plan(100, 5, 1, n_systems=6)
TWENTY = Plan(100, 10, 1, n_systems=20)
CASES: dict[str, tuple[World, Plan]] = {
    "5 votes a pair": (PLAIN, MANY),
    "1 vote a pair": (PLAIN, MANY._replace(n_votes=1)),
    "30 items, 5 raters": (PLAIN, Plan(30, 1, 5, 5)),
    "300 items, 60 raters": (PLAIN, Plan(300, 1, 5, 60)),
    "raters' tastes differ, .6": (TASTES, MANY),
    "items skewed, SD 1": (SKEWED, MANY),
    "30 items, skewed, SD 1": (SKEWED, Plan(30, 1, 5)),
    "left gains .5, SD .5 over raters": (SIDED, MANY),
    "many ties": (World(tie=1.0), MANY),
    "a taste for each reply, .8": (REPLIES, MANY),
    "far apart: 3": (World(span=3.0), MANY),
    "5 writers, SD .5": (WRITTEN, MANY._replace(n_writers=5)),
    "12 writers, three replies": (PEOPLE, Plan(300, 1, 5, n_writers=12, n_replies=3)),
    "loads uneven, log SD 1": (PLAIN, MANY._replace(load=1.0)),
    "3 judges, both orders": (PLAIN, MANY._replace(n_judges=3)),
    "6 systems, 5 pairs": (PLAIN, SIX),
    "6 systems, all pairs": (PLAIN, SIX._replace(n_pairs=15)),
    "6 systems, 2 pairs by 5 raters": (PLAIN, SIX._replace(n_pairs=2, n_votes=5)),
    "6 systems, 30 items, 5 raters": (PLAIN, Plan(30, 5, 2, 5, n_systems=6)),
    "6 systems, items skewed, SD 1": (SKEWED, SIX),
    "6 systems, pairs uneven, log SD 1": (PLAIN, SIX._replace(pairs=1.0)),
    "6 systems, loads uneven, log SD 1": (PLAIN, SIX._replace(load=1.0)),
    "6 systems, a taste for each reply, .8": (REPLIES, SIX._replace(n_pairs=15)),
    "6 systems, people of 5 writers": (PEOPLE, SIX._replace(n_writers=5, is_last=True)),
    "6 systems, far apart: 4": (World(span=4.0), SIX),
    "6 systems, 3 judges, not of own family": (
        PLAIN,
        SIX._replace(n_judges=3, is_own_family=True),
    ),
    "20 systems, 10 pairs": (PLAIN, TWENTY),
    "20 systems, 2 pairs by 5 raters": (PLAIN, TWENTY._replace(n_pairs=2, n_votes=5)),
    "20 systems, 30 items, 5 raters": (PLAIN, Plan(30, 20, 1, 5, n_systems=20)),
    "20 systems, loads uneven, log SD 1": (PLAIN, TWENTY._replace(load=1.0)),
    "20 systems, people of 12 writers, three replies": (
        PEOPLE,
        TWENTY._replace(n_writers=12, n_replies=3, is_last=True),
    ),
}


def design_of(plan: Plan) -> Design:
    """Return what the planner is told of a plan."""
    return Design(
        n_systems=plan.n_systems,
        n_items=plan.n_items,
        n_pairs=plan.n_pairs,
        n_votes=2 if plan.is_own_family else plan.n_judges or plan.n_votes,
        n_raters=0 if plan.n_judges else plan.n_raters,
        n_writers=plan.n_writers,
        unevenness=max(1.0, unevenness(plan)) if plan.load else 1.0,
    )


@cache
def unevenness(plan: Plan) -> float:
    """Return how uneven loads are, as votes of two raters tell it, on average over studies."""
    rng, found = np.random.default_rng(SEED), []
    for _ in range(100):
        n = np.bincount(plan_rows(plan, rng).rater, minlength=plan.n_raters)
        found.append(plan.n_raters * (n * (n - 1)).sum() / (n.sum() * (n.sum() - 1)))
    return float(np.mean(found))


def elo_error(components: Components, plan: Plan) -> float:
    """Return the foretold error of a difference."""
    return components.elo(float(np.sqrt(difference_parts(components, design_of(plan)).total)))


def head(*cells: str) -> None:
    """Print the first two rows."""
    print()
    row(*cells)
    row(*["---"] * len(cells))


def row(*cells: object) -> None:
    """Print a row of Markdown."""
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def errors(n: int) -> None:
    """Compare errors as foretold with the SD of what studies find, in Elo."""
    head("case", "items x pairs x votes", "SD of differences", "foretold", "ratio", "least, most")
    for k, (name, (world, plan)) in enumerate(CASES.items()):
        theta = strengths(world, plan.n_systems)
        found = ELO_PER_THETA * np.array(
            [
                fit_bradley_terry(votes).theta
                for votes in identified(
                    world, plan, theta, n * (2 if plan.n_systems == 2 else 1), k
                )
            ]
        )
        one, other = np.triu_indices(plan.n_systems, 1)
        if plan.is_last:
            one, other = one[other == other.max()], other[other == other.max()]
        sd = (found[:, one] - found[:, other]).std(axis=0, ddof=1)
        mean = float(np.sqrt((sd**2).mean()))
        components = components_of(world, plan, theta)
        told = elo_error(components, plan)
        ends = f"{told / sd.max():.2f}, {told / sd.min():.2f}" if len(sd) > 1 else ""
        size = f"{plan.n_items} x {plan.n_pairs} x {plan.n_judges or plan.n_votes}"
        row(name, size, f"{mean:.1f}", f"{told:.1f}", f"{told / mean:.3f}", ends)


def meet(world: World, plan: Plan, gap: float) -> FloatArray:
    """Return strengths at which votes without end give the planned difference, (.5 + gap) in odds.

    Its two systems stand about the middle of the field.
    """
    want, low, high = np.log((0.5 + gap) / (0.5 - gap)), 0.0, 6.0
    ours, other = plan.pair
    while True:
        apart = (low + high) / 2
        theta = np.zeros(plan.n_systems)
        rest = np.setdiff1d(np.arange(plan.n_systems), plan.pair)
        theta[rest] = strengths(world, len(rest))
        theta[ours], theta[other] = apart / 2, -apart / 2
        found = limit(world, plan, theta)
        if high - low < 1e-3:
            return theta
        low, high = (apart, high) if found[ours] - found[other] < want else (low, apart)


def limit(world: World, plan: Plan, theta: FloatArray) -> FloatArray:
    """Return what strengths tend to, all pairs as often."""
    wins, n = np.zeros((plan.n_systems, plan.n_systems)), plan.n_systems
    taste = panel(world, plan)
    drawn = {
        of_people: draw_effects(world, is_people=of_people, n=N_DRAWN // 10, seed=3)
        for of_people in {False, plan.n_writers > 0}
    }
    for s, t in zip(*np.triu_indices(n, 1), strict=True):
        ours = drawn[bool(plan.n_writers) and t == n - 1]
        of_judges = taste[:, s] - taste[:, t]
        if plan.n_judges:
            ours = ours._replace(rater=np.resize(of_judges, len(ours.item)))
        wins[s, t] = ours.chance(theta[s] - theta[t], world).mean()
        wins[t, s] = 1 - wins[s, t]
    return fit_win_matrix(wins).theta


POWERS: dict[str, tuple[World, Plan, float]] = {
    "5 votes a pair": (PLAIN, MANY, 0.1),
    "5 raters": (PLAIN, MANY._replace(n_raters=5), 0.2),
    "60 raters, 1 vote": (PLAIN, Plan(100, 1, 1, 60), 0.1),
    "few items, 60 raters, 10 votes": (PLAIN, Plan(30, 1, 10, 60), 0.125),
    "few items, skewed, SD 1": (SKEWED, Plan(30, 1, 5, 60), 0.15),
    "left gains .5, SD .5 over raters": (SIDED, MANY, 0.1),
    "6 writers, SD .5": (WRITTEN, MANY._replace(n_writers=6), 0.25),
    "20 writers, three replies": (
        SOME_PEOPLE,
        Plan(300, 1, 5, 60, n_writers=20, n_replies=3),
        0.1,
    ),
    "loads uneven, log SD 1": (PLAIN, MANY._replace(load=1.0), 0.1),
    "3 judges": (PLAIN, MANY._replace(n_judges=3), 0.1),
    "6 systems, 5 pairs": (PLAIN, SIX, 0.1),
    "6 systems, 2 pairs by 5 raters": (PLAIN, SIX._replace(n_pairs=2, n_votes=5), 0.1),
    "6 systems, 8 raters": (PLAIN, SIX._replace(n_raters=8), 0.15),
    "6 systems, people of 12 writers": (
        SOME_PEOPLE,
        SIX._replace(n_raters=30, n_writers=12, is_last=True),
        0.15,
    ),
    "20 systems, 10 pairs": (PLAIN, TWENTY._replace(n_raters=30), 0.1),
}


def size_for(power: float, components: Components, plan: Plan, gap: float) -> tuple[int, float]:
    """Return the fewest items with so much power foretold, and that power."""
    low, high = 5, 20_000
    while low < high:
        n = (low + high) // 2
        told = look_ahead(components, design_of(plan._replace(n_items=n)), gap=gap).power
        low, high = (n + 1, high) if told < power else (low, n)
    return low, look_ahead(components, design_of(plan._replace(n_items=low)), gap=gap).power


def powers(n: int) -> None:
    """Compare the power that is foretold with how often studies see the difference."""
    head("case", "gap", "items", "power foretold", "seen", "half-width foretold", "found, mean")
    for k, (name, (world, plan, gap)) in enumerate(POWERS.items()):
        theta = meet(world, plan, gap)
        components = components_of(world, plan, theta)
        n_items, told = size_for(0.8, components, plan, gap)
        at = plan._replace(n_items=n_items)
        if n_items > 3_000:
            row(name, f"{100 * gap:g}", "never", *[""] * 4)
            continue
        is_share = at.n_systems == 2
        found = [
            share_of(votes) if is_share else elo_of(votes, at.pair)
            for votes in identified(world, at, theta, n, 100 + k)
        ]
        seen = np.mean([one.is_seen for one in found])
        outlook = look_ahead(components, design_of(at), gap=gap)
        width = 100 * outlook.half_width if is_share else outlook.half_width_elo
        wide = np.mean([one.half_width for one in found]) * (100 if is_share else 1)
        unit = "points" if is_share else "Elo"
        cells = f"{told:.3f}", f"{seen:.3f}", f"{width:.1f} {unit}", f"{wide:.1f}"
        row(name, f"{100 * gap:g}", n_items, *cells)


PILOTS: dict[str, tuple[World, Plan]] = {
    "10 items, 3 raters": (PLAIN, Plan(10, 1, 3, 3)),
    "10 items, 3 raters, skewed, SD 1": (SKEWED, Plan(10, 1, 3, 3)),
    "10 items, 3 raters, tastes .6": (TASTES, Plan(10, 1, 3, 3)),
    "20 items, 5 raters": (PLAIN, Plan(20, 1, 3, 5)),
    "40 items, 8 raters": (PLAIN, Plan(40, 1, 4, 8)),
    "40 items, 8 raters, tastes .6": (TASTES, Plan(40, 1, 4, 8)),
    "40 items, 8 raters, loads uneven": (PLAIN, Plan(40, 1, 4, 8, load=1.0)),
    "100 items, 15 raters": (PLAIN, Plan(100, 1, 5)),
    "40 items, 8 raters, 6 writers, SD .5": (WRITTEN, Plan(40, 1, 4, 8, n_writers=6)),
    "6 systems, 10 items, 3 raters": (PLAIN, Plan(10, 5, 3, 3, n_systems=6)),
    "6 systems, 40 items, 8 raters": (PLAIN, Plan(40, 5, 2, 8, n_systems=6)),
}
ASSURED, GAP = 0.8, 0.1


def pilots(n: int) -> None:
    """Compare what pilots foretell of a larger study with what is true of it.

    Then let each choose how many items tell a gap with a power of .8, and say what power that has.
    """
    head(
        "pilot",
        "SE of 300 items, Elo: true",
        "foretold: median, 10 to 90 %",
        "within the 80 % bound",
        "chosen at .8: true power, mean",
        "at least .7",
        "assurance said of it, mean",
        "refused",
    )
    for k, (name, (world, pilot)) in enumerate(PILOTS.items()):
        theta = strengths(world, pilot.n_systems)
        plan = pilot._replace(n_items=300, n_votes=5, n_raters=30, load=0.0)
        true = components_of(world, plan, theta)
        se = elo_error(true, plan)
        rng = np.random.default_rng([SEED, k])
        rows, refused = [], 0
        written = np.arange(pilot.n_systems) == pilot.n_systems - 1 if pilot.n_writers else None
        for votes in identified(world, pilot, theta, n // 5, 200 + k):
            try:
                found = measure_components(votes, written=written, rng=rng)
            except NotIdentifiedError:
                refused += 1
                continue
            drawn = [elo_error(one, plan) for one in found.draws]
            n_items, _ = size_for(ASSURED, found.components, plan, GAP)
            chosen = design_of(plan._replace(n_items=n_items))
            assured = np.mean([look_ahead(one, chosen, gap=GAP).power for one in found.draws[:50]])
            power = look_ahead(true, chosen, gap=GAP).power
            is_kept = se <= np.quantile(drawn, ASSURED)
            rows.append((elo_error(found.components, plan), is_kept, power, power >= 0.7, assured))
        table = np.array(rows)
        low, middle, high = np.quantile(table[:, 0], [0.1, 0.5, 0.9])
        kept, power, enough, assured = table[:, 1:].mean(axis=0)
        told = f"{middle:.1f}, {low:.1f} to {high:.1f}"
        shares = (f"{x:.2f}" for x in (kept, power, enough, assured, refused / (n // 5)))
        row(name, f"{se:.1f}", told, *shares)


LIKE_ISSUE = World(item=0.9, tie=0.0)
"""With 25 raters and six systems: SDs of a system's Elo of 12.9 and 15.5, as issue 28 has them."""
HALVED = World(rater=0.4, tie=0.0)
"""15 to 60 raters halve the variance."""


def measured(n: int) -> None:
    """Compare what issue 28 says of designs of 3,000 votes: SD of a system's Elo."""
    head("world", "pairs x votes", "raters", "SD", "foretold", "ratio")
    cases = (
        (LIKE_ISSUE, 10, 1, 25),
        (LIKE_ISSUE, 2, 5, 25),
        *(
            (HALVED, n_pairs, n_votes, n)
            for n in (15, 60)
            for n_pairs, n_votes in ((2, 5), (10, 1))
        ),
    )
    for k, (world, n_pairs, n_votes, n_raters) in enumerate(cases):
        plan = Plan(300, n_pairs, n_votes, n_raters, n_systems=6)
        theta = strengths(world, 6)
        found = [fit_bradley_terry(v).theta for v in identified(world, plan, theta, n, 300 + k)]
        sd = ELO_PER_THETA * float(np.sqrt(np.var(found, axis=0, ddof=1).mean()))
        components = components_of(world, plan, theta)
        told = elo_error(components, plan) * float(np.sqrt(5 / 12))
        effects_of = f"item SD {world.item}, rater SD {world.rater}"
        cells = f"{sd:.1f}", f"{told:.1f}", f"{told / sd:.3f}"
        row(effects_of, f"{n_pairs} x {n_votes}", n_raters, *cells)


def anchored(n: int) -> None:
    """Compare the half-width of a system's place that is foretold with that of anchored fits.

    Votes are those of `anchored_truth.py`: a judge stretches people's strengths by 1.25 and misses
    by an SD; half of what items add is the same for people and judges.
    """
    head(
        "systems, votes",
        "judge misses, SD",
        "people alone: found, foretold",
        "anchored: the same",
        "ratio",
    )
    for n_systems, n_votes, miss in product((10, 20), (500, 2_000), (0.1, 0.3, 0.6)):
        case = Case(n=n_systems, n_votes=n_votes, judges=(biased(miss),))
        rng = np.random.default_rng([SEED, n_systems, n_votes, int(10 * miss)])
        found = [analyse(case, rng)[0] for _ in range(n // 40)]
        alone, both = (
            ELO_PER_THETA * np.mean([(of.high - of.low) / 2 for of in several])
            for several in ([one.alone for one in found], [one.anchored for one in found])
        )
        world = World(span=2.0, item=0.5, tie=0.0)
        n_items = min(200, 40 + n_votes // 10)
        plan = Plan(n_items, n_votes / n_items, 1, max(10, n_votes // 100), n_systems)
        of_judge = Plan(200, n_systems, 1, n_systems=n_systems, n_judges=1)
        theta = strengths(world, n_systems)
        tends = limit(world, plan, theta)
        shrunk = float(np.std(tends) / np.std(theta))
        told = expect_widths(
            strength_error(components_of(world, plan, theta), plan),
            min(n_items, plan.n_raters) - 1,
            Judging(
                spread=float(np.std(tends, ddof=1)),
                tau=shrunk * miss / STRETCHED,
                slope=1 / STRETCHED,
                se=strength_error(
                    components_of(world._replace(rater=0.0), of_judge, STRETCHED * theta), of_judge
                ),
            ),
            n_systems,
            level=LEVEL,
            rng=rng,
        )
        by_people, by_both = (ELO_PER_THETA * wide for wide in (told.people_alone, told.anchored))
        cells = f"{alone:.0f}, {by_people:.0f}", f"{both:.0f}, {by_both:.0f}"
        row(f"{n_systems}, {n_votes:,}", miss, *cells, f"{by_both / both:.2f}")


def strength_error(components: Components, plan: Plan) -> float:
    """Return the foretold error of a strength, before the mean of all is taken out."""
    return elo_error(components, plan) / ELO_PER_THETA / float(np.sqrt(2))


TABLES = {
    "errors": errors,
    "power": powers,
    "pilot": pilots,
    "anchored": anchored,
    "measured": measured,
}


def main() -> None:
    """Print tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", nargs="*", metavar="|".join(TABLES))
    parser.add_argument("--studies", type=int, default=2_000)
    options = parser.parse_args()
    for what in options.what or TABLES:
        TABLES[what](options.studies)


if __name__ == "__main__":
    main()
