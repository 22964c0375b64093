"""The best of people's completions of each item against models, chosen and rated by other raters.

Who chooses the best completion by the votes that rate it sees luck as merit (HEART 9.3 does so).
`best_human` is chosen by one half of an item's raters and rated by the other, both ways, over 20
splits; `all_but_one` is chosen by as many as all but one rater of a pair, as the paper's five
choose. What the opponent explains is in neither: see `choosing`. The paper's way and
`pooled_human`, all completions, stand beside them, on the same items.

Intervals are over items, within which the choice falls, and people who judge and who write.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from hearteval.analysis.columns import JudgmentColumns
from hearteval.analysis.estimates import (
    Contrast,
    Estimate,
    Summed,
    clustered_errors,
    contrast_of,
    count_people,
    interval_name,
    ratio_estimates,
)
from hearteval.analysis.ranking.comparisons import rank_field
from hearteval.analysis.ranking.rank import Ranked
from hearteval.domain import System
from hearteval.errors import NotIdentifiedError
from hearteval.sections.people.models.choosing import (
    HALVES,
    N_SPLITS,
    Rated,
    Votes,
    best_of_items,
    can_be_parted,
    choose_and_rate,
    find_votes,
)
from hearteval.sections.people.models.meetings import JUDGES, KINDS, PEOPLE
from hearteval.stats.bradley_terry.differences import rank_bounds
from hearteval.stats.bradley_terry.fit import ELO_PER_THETA, elo_from_theta, fit_win_matrix
from hearteval.stats.bradley_terry.simultaneous import family_p
from hearteval.stats.comparisons import (
    BoolArray,
    Comparisons,
    FloatArray,
    IntArray,
    win_matrix,
    with_columns,
)
from hearteval.stats.special import expit, t_quantile
from hearteval.stats.tally import count_equal

BEST_HUMAN = "best_human"
EQUAL_ELO: Final = 1e-6
N_HALVINGS: Final = 60
WIDEST: Final = 30.0
"""Of log-strengths: beyond it nothing is told from certainty."""
ONE_RATER = (
    "no pair of a person's reply and a model's has the votes of two {raters}: one has to choose and"
    " another to rate. Let a second {rater} judge each pair."
)
ONE_REPLY = (
    "on no item did two {raters} each judge replies by two people against the same model's reply:"
    " there is nothing to choose. Let two people or more reply to each item, and their replies"
    " meet the same models."
)
WORDS: Mapping[str, Mapping[str, str]] = {
    PEOPLE: {"raters": "people", "rater": "person"},
    JUDGES: {"raters": "judges", "rater": "judge"},
}


WAYS: Final = (
    *("best_human", "all_but_one", "same_votes", "pooled_human", "optimism", "gain"),
    *("gain_all_but_one", "same_choice", "strength", "interval_used"),
)
"""What is not known where nothing can be chosen."""
Place = tuple[float | None, int | None]
"""Elo and rank."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanStanding:
    """How people's completions, or a choice of them, fare against models."""

    score: Estimate
    """Wins and half the ties, of the person."""
    model: Estimate
    """The model's completion is preferred."""
    tie: Estimate
    person: Estimate
    elo: float | None
    """In the ranking by these raters, people being one system; None where there is none."""
    rank: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedHuman:
    """Strength of the best human among the systems."""

    elo: float
    low: float | None
    """None where the votes do not determine an interval."""
    high: float | None
    rank: int
    """1 is best; `rank_low` to `rank_high` are left open."""
    rank_low: int
    rank_high: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BestHuman:
    """The best of people's completions, as one kind of rater chooses and rates it."""

    judged_by: str
    """``people`` or ``judges``."""
    n_items: int
    n_refused: int
    """Items with votes on people's completions, left out: no two of these met the same completion
    of a model before two raters each."""
    n_raters: int
    n_writers: int
    """People whose completions these are; from five on the intervals are over them too."""
    n_completions: int
    """Completions by people of the items used."""
    n_splits: int
    problem: str | None
    """Why there is none, else None."""
    best_human: HumanStanding | None
    """Chosen by one half of the raters and rated by the other, within one opponent."""
    all_but_one: HumanStanding | None
    """Chosen by all but one rater of a pair, on average, and rated by that one, as above."""
    same_votes: HumanStanding | None
    """The paper's way: the highest share won, whatever was met, rated by the same votes."""
    pooled_human: HumanStanding | None
    """All completions."""
    optimism: Contrast | None
    """Score of `same_votes` less that of `best_human`: luck, of votes and of opponents, taken for
    merit."""
    gain: Contrast | None
    """Score of `best_human` less that of `pooled_human`: what choosing is worth; 0 on average where
    all completions are equal."""
    gain_all_but_one: Contrast | None
    """The same of `all_but_one`."""
    same_choice: float | None
    """How often both halves of an item's raters choose the same completion."""
    strength: RankedHuman | None
    """Of `best_human` in that ranking; None where there is none."""
    n_systems: int
    """Ranked, people being one; 0 without a ranking."""
    interval_used: str | None


class _Figures(NamedTuple):
    """Score, wins of the person, ties and losses, and what each cell does to them."""

    values: FloatArray
    """(4,)."""
    influence: FloatArray
    """(cells, 4)."""

    def plus(self, other: "_Figures", sign: float = 1.0) -> "_Figures":
        """Add figures of the same cells, or take them away."""
        return _Figures(self.values + sign * other.values, self.influence + sign * other.influence)


class _Known(NamedTuple):
    """What all ways of taking people's completions share."""

    votes: Votes
    is_used: BoolArray
    """Cells of the items on which something can be chosen."""
    rater: IntArray
    """Of each cell as intervals take it: -1 for a judge."""
    ranked: Ranked | None
    """With all of people's completions; None where the judgments do not determine it."""
    level: float


def find_best_humans(columns: JudgmentColumns, *, level: float, seed: int) -> tuple[BestHuman, ...]:
    """Return the best human by people's votes, and by those of judges; nothing without such votes.

    `seed` draws the splits.
    """
    kinds = zip(KINDS, (columns.is_person, ~columns.is_person), strict=True)
    found = []
    for k, (kind, rows) in enumerate(kinds):
        votes = find_votes(columns.select(rows))
        if votes is not None:
            draw = np.random.default_rng((seed, k))
            found.append(_find_best(votes, kind, draw, level=level))
    return tuple(found)


def _find_best(votes: Votes, kind: str, draw: np.random.Generator, *, level: float) -> BestHuman:
    has_parted, has_shared = can_be_parted(votes)
    is_used = has_shared[votes.item]
    problem, ranked, found = None, None, dict[str, Any].fromkeys(WAYS)
    if is_used.any():
        rater = votes.rater if kind == PEOPLE else np.full(len(votes.rater), -1)
        known = _Known(votes, is_used, rater, _rank(votes, is_used, level=level), level)
        halves, rest = _rate_by_others(known, draw)
        # Of raters who share few pairs, no split may part two such pairs.
        if halves.n.any() and rest.n.any():
            ranked, found = known.ranked, _all_ways(known, halves, rest)
    if found["gain"] is None:
        is_used = np.zeros_like(is_used)
        problem = (ONE_REPLY if has_parted.any() else ONE_RATER).format(**WORDS[kind])
    return BestHuman(
        judged_by=kind,
        n_items=len(np.unique(votes.item[is_used])),
        n_refused=len(np.unique(votes.item[~is_used])),
        n_raters=len(np.unique(votes.rater)),
        n_writers=count_people(votes.writer[is_used]),
        n_completions=len(np.unique(votes.text[is_used])),
        n_splits=N_SPLITS,
        problem=problem,
        n_systems=len(ranked.names) if ranked else 0,
        **found,
    )


def _rate_by_others(known: _Known, draw: np.random.Generator) -> tuple[Rated, Rated]:
    """Choose by half of the raters of an item, and by as many as all but one of a pair."""
    votes = known.votes
    residual = votes.sums[:, 0] - votes.n * _chance(votes, known.is_used)
    values = np.column_stack((votes.sums, _scores_of_strength(known)))
    two = np.full(len(votes.n_texts), HALVES)
    each = two.copy()
    np.maximum.at(each, votes.item, np.bincount(votes.pair)[votes.pair])
    return (
        choose_and_rate(votes, residual, values, two, draw),
        choose_and_rate(votes, residual, values, each, draw),
    )


def _all_ways(known: _Known, halves: Rated, rest: Rated) -> dict[str, Any]:
    """Return the ways of taking people's completions, and how they differ."""
    votes, is_used = known.votes, known.is_used
    best_of_all = is_used & _best_of_all(votes)[votes.text]
    pooled, paper = _share(votes, is_used), _share(votes, best_of_all)
    gain, gain_of_rest = _gain(halves), _gain(rest)
    best = pooled.plus(gain)
    return {
        "best_human": _stand(known, best, _place(known, halves)),
        "all_but_one": _stand(known, pooled.plus(gain_of_rest), _place(known, rest)),
        "same_votes": _stand(known, paper, _fit(votes, best_of_all, known.ranked)),
        "pooled_human": _stand(known, pooled, _fit(votes, is_used, known.ranked)),
        "optimism": _contrast(known, paper.plus(best, -1.0)),
        "gain": _contrast(known, gain),
        "gain_all_but_one": _contrast(known, gain_of_rest),
        "same_choice": halves.same_choice,
        "strength": _strength(known, halves),
        "interval_used": interval_name(known.rater[is_used], votes.writer[is_used]),
    }


def _share(votes: Votes, rows: BoolArray) -> _Figures:
    """Return the shares of the votes in some cells, each vote counting once."""
    n, sums = votes.n * rows, votes.sums * rows[:, None]
    values = sums.sum(axis=0) / n.sum()
    return _Figures(values, (sums - np.outer(n, values)) / n.sum())


def _gain(rated: Rated) -> _Figures:
    """Return how much higher the shares of the chosen completions are than those of all."""
    values, influence = _means(rated)
    return _Figures(values[:-1], influence[:, :-1])


def _means(rated: Rated) -> tuple[FloatArray, FloatArray]:
    total = rated.n.sum()
    values = rated.gain.sum(axis=0) / total
    return values, (rated.gain - np.outer(rated.n, values)) / total


def _scores_of_strength(known: _Known) -> FloatArray:
    """Return by cell what its votes say of people's strength: score beyond the chance, weighed.

    It is the derivative of the ranking's likelihood. The weight is outside the mean that is
    compared: means of so few votes, each weighing its strength, would be off where ties weigh
    little.
    """
    ranked, votes = known.ranked, known.votes
    theta = ranked.by_name if ranked else {}
    of_model = np.array(
        [theta[one.name].theta if one.name in theta else 0.0 for one in votes.columns.names.systems]
    )
    people = theta[BEST_HUMAN].theta if theta else 0.0
    chance = np.asarray(expit(people - of_model[votes.model]), dtype=np.float64)
    return votes.heavy[:, 0] - votes.heavy[:, 1] * chance


def _best_of_all(votes: Votes) -> BoolArray:
    """Return by completion whether its share of all votes is the highest of its item."""
    n, won = (
        np.bincount(votes.text, weights=of, minlength=len(votes.order)).astype(np.float64)
        for of in (votes.n, votes.sums[:, 0])
    )
    return best_of_items(votes, won, n, n > 0)


def _stand(known: _Known, figures: _Figures, place: Place) -> HumanStanding:
    """Return shares with their intervals; the sum of two figures is kept between 0 and 1."""
    rows = known.is_used
    n = int(rows.sum())
    summed = Summed(
        item=known.votes.item[rows],
        rater=known.rater[rows],
        writer=known.votes.writer[rows],
        weight=np.ones(n),
        sums=np.clip(figures.values, 0.0, 1.0) + n * figures.influence[rows],
    )
    score, person, tie, model = ratio_estimates(summed, level=known.level)
    elo, rank = place
    return HumanStanding(score=score, model=model, tie=tie, person=person, elo=elo, rank=rank)


def _contrast(known: _Known, figures: _Figures) -> Contrast:
    """Return a difference of scores with its interval."""
    rows = known.is_used
    return contrast_of(
        float(figures.values[0]),
        figures.influence[rows, 0],
        known.votes.item[rows],
        known.rater[rows],
        writer=known.votes.writer[rows],
        part=np.zeros(int(rows.sum()), dtype=np.int64),
        level=known.level,
    )


def _to_comparisons(votes: Votes, rows: BoolArray) -> tuple[Comparisons, list[System]]:
    """Return comparisons weighted by strength, people being one system, the last.

    Of the votes on people's completions, those on the completions of these cells.
    """
    columns, systems = votes.columns, votes.columns.names.systems
    is_human = np.array([system.kind == "human" for system in systems], dtype=np.bool_)
    place = np.where(is_human, len(systems), np.arange(len(systems)))
    is_in = np.zeros(len(votes.order), dtype=np.bool_)
    is_in[votes.text[rows]] = True
    is_kept = np.ones(len(columns), dtype=np.bool_)
    is_kept[: len(votes.text_of_vote)] = is_in[votes.text_of_vote]
    kept = columns.select(is_kept)
    comparisons = Comparisons(
        left=place[kept.first],
        right=place[kept.second],
        score=kept.score,
        weight=np.maximum(kept.strength, 1),
        count=np.ones(len(kept), dtype=np.int64),
        item=kept.item,
        rater=kept.sampled_rater,
        writer=kept.writer,
        n_systems=len(systems) + 1,
    )
    return comparisons, [*systems, System(name=BEST_HUMAN, kind="human", family="human")]


def _rank(votes: Votes, rows: BoolArray, *, level: float) -> Ranked | None:
    """Rank with people's completions as one system; None where judgments do not determine it."""
    comparisons, systems = _to_comparisons(votes, rows)
    try:
        ranked = rank_field(count_equal(comparisons), systems, level=level)
    except NotIdentifiedError:
        return None
    return ranked if BEST_HUMAN in ranked.names else None


def _chance(votes: Votes, rows: BoolArray) -> FloatArray:
    """Return people's chance against the model of each cell by the strengths, a vote counting once.

    It enters the choice alone. Where strengths are not determined, all are taken as equal.
    """
    comparisons, systems = _to_comparisons(votes, rows)
    wins = win_matrix(with_columns(comparisons, weight=np.ones(len(comparisons))))
    met = np.flatnonzero(wins.sum(axis=0) + wins.sum(axis=1))
    theta = np.zeros(len(systems))
    try:
        theta[met] = fit_win_matrix(wins[np.ix_(met, met)]).theta
    except NotIdentifiedError:
        theta[:] = 0.0
    return np.asarray(expit(theta[-1] - theta[votes.model]))


def _fit(votes: Votes, rows: BoolArray, ranked: Ranked | None) -> Place:
    """Return Elo and rank of people by some of their completions, among the systems ranked."""
    comparisons, systems = _to_comparisons(votes, rows)
    if ranked is None:
        return None, None
    among = [k for k, system in enumerate(systems) if system.name in ranked.names]
    try:
        theta = fit_win_matrix(win_matrix(comparisons)[np.ix_(among, among)]).theta
    except NotIdentifiedError:
        return None, None
    return _place_of(theta)


def _place_of(theta: FloatArray) -> tuple[float, int]:
    """Return Elo and rank of the last."""
    elo = elo_from_theta(theta)
    return float(elo[-1]), 1 + int((elo > elo[-1] + EQUAL_ELO).sum())


def _place(known: _Known, rated: Rated) -> Place:
    """Return Elo and rank of people who score so much more against models."""
    rise = _rise(known, rated)
    return (None, None) if known.ranked is None or rise is None else _place_of(rise.theta)


class _Rise(NamedTuple):
    """Strengths in which people have risen by what a choice of their completions gains."""

    theta: FloatArray
    """People last."""
    slope: float
    """What the derivative of the likelihood, by vote, gains with people's strength."""


def _rise(known: _Known, rated: Rated) -> _Rise | None:
    """Raise people's strength until it foretells the score gained against the models they met.

    Votes weigh their strengths, as in the ranking. None where no strength scores so much.
    """
    ranked, votes = known.ranked, known.votes
    if ranked is None:
        return None
    names = [system.name for system in votes.columns.names.systems]
    weight = np.bincount(votes.model, votes.heavy[:, 1] * known.is_used, len(names))
    met = [k for k, name in enumerate(names) if name in ranked.names and weight[k]]
    share = weight[met] / weight[met].sum()
    models = ranked.fit.theta[[ranked.names.index(names[k]) for k in met]]
    theta = ranked.fit.theta.copy()
    per_vote = weight[met].sum() / (votes.n * known.is_used).sum()
    aim = float(share @ expit(theta[-1] - models)) + float(_means(rated)[0][-1]) / per_vote
    if not 0 < aim < 1:
        return None
    low, high = float(models.min()) - WIDEST, float(models.max()) + WIDEST
    for _ in range(N_HALVINGS):
        middle = (low + high) / 2
        is_below = float(share @ expit(middle - models)) < aim
        low, high = (middle, high) if is_below else (low, middle)
    theta[-1] = (low + high) / 2
    chance = expit(theta[-1] - models)
    return _Rise(theta, per_vote * float(share @ (chance * (1 - chance))))


def _strength(known: _Known, rated: Rated) -> RankedHuman | None:
    """Return the strength with its interval and the ranks left open.

    The error of the gain is added to that of people's strength in the ranking: the one is a
    difference within one opponent, which what all replies share does not move.
    """
    ranked, rise, rows = known.ranked, _rise(known, rated), known.is_used
    if ranked is None or rise is None:
        return None
    influence = _means(rated)[1][rows, -1:]
    clusters = (of[rows] for of in (known.votes.item, known.rater, known.votes.writer))
    errors, _ = clustered_errors(influence, *clusters)
    own = (float(errors[0]) / rise.slope) ** 2
    df = ranked.uncertainty.df
    variance = ranked.uncertainty.of_differences + 0.0
    variance[:, -1] += own
    variance[-1] += own
    is_known = np.array([one.se is not None for one in ranked.estimates])
    variance[~(is_known[:, None] & is_known)] = np.inf
    joint = ranked.uncertainty.joint + 0.0
    joint[-1, -1] += own
    of_all = family_p(rise.theta, variance, df, joint)
    bounds = rank_bounds(rise.theta, of_all, level=known.level)
    elo, rank = _place_of(rise.theta)
    at, share = ranked.by_name[BEST_HUMAN], 1 - 1 / len(ranked.names)
    half = None
    if at.se is not None:
        own_df = float(np.broadcast_to(df, variance.shape)[-1, -1])
        se = math.sqrt(at.se**2 + share**2 * own)
        half = ELO_PER_THETA * t_quantile(own_df, level=known.level) * se
    return RankedHuman(
        elo=elo,
        low=None if half is None else elo - half,
        high=None if half is None else elo + half,
        rank=rank,
        rank_low=int(bounds.low[-1]),
        rank_high=int(bounds.high[-1]),
    )
