"""The best of people's completions of each item against models, chosen and rated by other raters.

Who chooses the best completion by the votes that rate it sees luck as merit (HEART 9.3 does so).
`best_human` is cross-fitted: the raters of an item fall into two halves, each half's votes against
models choose a completion, and the other half's rate it; both ways, over 20 splits. So a vote
counts as often as others choose its completion, which it has no part in. The paper's way and
`pooled_human`, all completions, stand beside it, on the same items.

Intervals are over items, within which the choice falls, and people; the ranking is that by one kind
of rater with the votes on people's completions counted so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from hearteval.analysis.columns import JudgmentColumns, completion_hash
from hearteval.analysis.estimates import (
    Contrast,
    Estimate,
    Summed,
    contrast_of,
    interval_name,
    ratio_estimates,
)
from hearteval.analysis.people.meetings import JUDGES, KINDS, PEOPLE
from hearteval.analysis.ranking.comparisons import rank_field
from hearteval.analysis.ranking.rank import Ranked
from hearteval.domain import System
from hearteval.errors import NotIdentifiedError
from hearteval.stats.bradley_terry.fit import elo_from_theta, fit_win_matrix
from hearteval.stats.comparisons import (
    TIE_SCORE,
    BoolArray,
    Comparisons,
    FloatArray,
    IntArray,
    number_labels,
    win_matrix,
)

N_SPLITS: Final = 20
MIN_RATERS_TO_SPLIT: Final = 2
BEST_HUMAN, SAME_VOTES, POOLED_HUMAN = "best_human", "same_votes", "pooled_human"
EQUAL_ELO: Final = 1e-6
ONE_RATER = (
    "no item has the votes of two {raters} on its people's replies against models: one has to"
    " choose and another to rate. Let a second {rater} judge each item."
)
ONE_REPLY = (
    "no item has replies by two people that two {raters} judged against models: there is nothing to"
    " choose. Let two people or more reply to each item."
)
WORDS: Mapping[str, Mapping[str, str]] = {
    PEOPLE: {"raters": "people", "rater": "person"},
    JUDGES: {"raters": "judges", "rater": "judge"},
}


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
    """Items with votes on people's completions, left out: fewer than two raters, or no completion
    that two of them judged against models."""
    n_raters: int
    n_completions: int
    """Completions by people of the items used."""
    n_splits: int
    problem: str | None
    """Why there is none, else None."""
    best_human: HumanStanding | None
    """Cross-fitted."""
    same_votes: HumanStanding | None
    """The paper's way: chosen by the same votes that rate it."""
    pooled_human: HumanStanding | None
    """All completions."""
    optimism: Contrast | None
    """Score of `same_votes` less that of `best_human`: luck taken for merit."""
    gain: Contrast | None
    """Score of `best_human` less that of `pooled_human`: what choosing is worth."""
    same_choice: float | None
    """How often both halves of an item's raters choose the same completion."""
    strength: RankedHuman | None
    """Of `best_human` in that ranking; None where there is none."""
    n_systems: int
    """Ranked, people being one; 0 without a ranking."""
    interval_used: str | None


class _Votes(NamedTuple):
    """The votes of one kind of rater on people's completions against others, not people."""

    columns: JudgmentColumns
    """Of these votes, and then of those on no person's completion."""
    cell: IntArray
    """Cell of each vote."""
    item: IntArray
    """Of each cell: what one rater said of one completion."""
    rater: IntArray
    text: IntArray
    unit: IntArray
    """The rater on the item, numbered by item."""
    sums: FloatArray
    """Votes against models, (cells, 5): score, wins of the person, ties, losses, how many."""
    order: IntArray
    """Place of each completion by its hash."""


def find_best_humans(columns: JudgmentColumns, *, level: float, seed: int) -> tuple[BestHuman, ...]:
    """Return the best human by people's votes, and by those of judges; nothing without such votes.

    `seed` draws the splits.
    """
    kinds = zip(KINDS, (columns.is_person, ~columns.is_person), strict=True)
    found = []
    for k, (kind, rows) in enumerate(kinds):
        votes = _find_votes(columns.select(rows))
        if votes is not None:
            draw = np.random.default_rng((seed, k))
            found.append(_find_best(votes, kind, draw, level=level))
    return tuple(found)


def _find_votes(columns: JudgmentColumns) -> _Votes | None:
    """Return the votes that choose; None where no model met a person."""
    kinds = np.array([system.kind for system in columns.names.systems], dtype=np.str_)
    is_human = kinds == "human"
    is_first, is_second = is_human[columns.first], is_human[columns.second]
    columns = columns.select(~(is_first & is_second))
    order = np.argsort(~(is_human[columns.first] | is_human[columns.second]), kind="stable")
    columns = columns.select(order)
    is_first = is_human[columns.first]
    n = int((is_first | is_human[columns.second]).sum())
    at = columns.select(np.arange(n))
    is_first = is_first[:n]
    text = np.where(is_first, at.first_text, at.second_text)
    score = np.where(is_first, at.score, 1 - at.score)
    met = kinds[np.where(is_first, at.second, at.first)] == "model"
    if not met.any():
        return None
    n_raters = len(columns.names.raters)
    units, unit = np.unique(at.item * n_raters + at.rater, return_inverse=True)
    cells, cell = np.unique(unit * len(columns.names.completions) + text, return_inverse=True)
    outcomes = (score, score == 1, score == TIE_SCORE, score == 0, np.ones(n))
    unit_of = cells // len(columns.names.completions)
    return _Votes(
        columns=columns,
        cell=cell,
        item=units[unit_of] // n_raters,
        rater=units[unit_of] % n_raters,
        text=cells % len(columns.names.completions),
        unit=unit_of,
        sums=np.stack(
            [np.bincount(cell, weights=one * met, minlength=len(cells)) for one in outcomes], axis=1
        ),
        order=_hash_order(columns, text),
    )


def _hash_order(columns: JudgmentColumns, text: IntArray) -> IntArray:
    texts = columns.names.completions
    names = {system.id: system.name for system in columns.names.systems}
    used = np.unique(text).tolist()
    hashes = {k: completion_hash(texts[k], names[texts[k].system_id]) for k in used}
    order = np.zeros(len(texts), dtype=np.int64)
    order[sorted(used, key=lambda k: hashes[k])] = np.arange(len(used))
    return order


def _find_best(votes: _Votes, kind: str, draw: np.random.Generator, *, level: float) -> BestHuman:
    n_items = len(votes.columns.names.items)
    has_voted = votes.sums[:, -1] > 0
    voters = np.unique(np.stack((votes.item, votes.unit))[:, has_voted], axis=1)[0]
    is_enough = (np.bincount(voters, minlength=n_items) >= MIN_RATERS_TO_SPLIT)[votes.item]
    crossed, same_choice = _cross_fit(votes, is_enough, draw)
    counted = np.bincount(votes.item, weights=crossed * votes.sums[:, -1], minlength=n_items)
    is_used = (counted > 0)[votes.item]
    judged = np.unique(votes.item[has_voted])
    used = np.unique(votes.item[is_used])
    texts = np.unique(votes.text[is_used & has_voted])
    rater = np.where(kind == PEOPLE, votes.rater, -1)
    raters = {"raters": WORDS[kind]["raters"], "rater": WORDS[kind]["rater"]}
    problem = ONE_RATER.format(**raters) if not len(used) else None
    if len(used) and len(texts) == len(used):
        problem = ONE_REPLY.format(**raters)
    weights = {
        BEST_HUMAN: crossed * is_used,
        SAME_VOTES: _choose_by_all(votes) * is_used,
        POOLED_HUMAN: is_used.astype(np.float64),
    }
    standings: dict[str, HumanStanding] = {}
    ranked = None if problem else _rank(votes, weights[BEST_HUMAN], level=level)
    if problem is None:
        standings = {
            name: _stand(votes, weight, rater, ranked, level=level)
            for name, weight in weights.items()
        }
    none = dict.fromkeys(weights)
    return BestHuman(
        judged_by=kind,
        n_items=len(used),
        n_refused=len(judged) - len(used),
        n_raters=len(np.unique(votes.rater[has_voted])),
        n_completions=len(texts),
        n_splits=N_SPLITS,
        problem=problem,
        **(none | standings),
        optimism=_difference(votes, weights, (SAME_VOTES, BEST_HUMAN), rater, level=level)
        if standings
        else None,
        gain=_difference(votes, weights, (BEST_HUMAN, POOLED_HUMAN), rater, level=level)
        if standings
        else None,
        same_choice=same_choice if standings else None,
        strength=_strength(ranked),
        n_systems=len(ranked.names) if ranked else 0,
        interval_used=interval_name(rater[is_used & has_voted]) if standings else None,
    )


def _cross_fit(
    votes: _Votes, is_enough: BoolArray, draw: np.random.Generator
) -> tuple[FloatArray, float]:
    """Return how often the half without its rater chooses what each cell is about.

    Only completions that both halves judged against models can be chosen: that says nothing of how.
    """
    units, first = np.unique(votes.unit, return_index=True)
    item_of_unit = votes.item[first]
    items, n_items = number_labels(item_of_unit)
    starts = np.searchsorted(items, np.arange(n_items))
    halves = np.bincount(items, minlength=n_items) // 2
    weight = np.zeros(len(votes.item))
    n_same = n_chosen = 0
    item_of_text = _item_of_text(votes)
    for _ in range(N_SPLITS):
        place = np.lexsort((draw.random(len(units)), items))
        half = np.empty(len(units), dtype=np.int64)
        half[place] = np.arange(len(units)) - starts[items] >= halves[items]
        of_cell = half[votes.unit]
        is_half = [(of_cell == h) & is_enough for h in (0, 1)]
        n = [_by_text(votes, votes.sums[:, -1] * rows) for rows in is_half]
        won = [_by_text(votes, votes.sums[:, 0] * rows) for rows in is_half]
        can_be = (n[0] > 0) & (n[1] > 0)
        chosen = [_choose(won[h], n[h], can_be, item_of_text, votes.order) for h in (0, 1)]
        for h in (0, 1):
            weight += chosen[h][votes.text] & (of_cell != h)
        n_chosen += int(chosen[0].sum())
        n_same += int((chosen[0] & chosen[1]).sum())
    return weight / N_SPLITS, n_same / max(n_chosen, 1)


def _choose_by_all(votes: _Votes) -> FloatArray:
    """Return 1 for what is about the completion of the item with the best score, else 0."""
    won, n = (_by_text(votes, votes.sums[:, k]) for k in (0, -1))
    chosen = _choose(won, n, n > 0, _item_of_text(votes), votes.order)
    return chosen[votes.text].astype(np.float64)


def _by_text(votes: _Votes, values: FloatArray) -> FloatArray:
    summed = np.bincount(votes.text, weights=values, minlength=len(votes.order))
    return summed.astype(np.float64)


def _item_of_text(votes: _Votes) -> IntArray:
    item = np.full(len(votes.order), -1)
    item[votes.text] = votes.item
    return item


def _choose(
    won: FloatArray, n: FloatArray, can_be: BoolArray, item: IntArray, order: IntArray
) -> BoolArray:
    """Return which completions have the best score of their item; a hash decides between equals."""
    texts = np.flatnonzero(can_be)
    score = won[texts] / n[texts]
    best = texts[np.lexsort((order[texts], -score, item[texts]))]
    is_first = np.ones(len(best), dtype=np.bool_)
    is_first[1:] = item[best[1:]] != item[best[:-1]]
    chosen = np.zeros(len(n), dtype=np.bool_)
    chosen[best[is_first]] = True
    return chosen


def _stand(
    votes: _Votes, weight: FloatArray, rater: IntArray, ranked: Ranked | None, *, level: float
) -> HumanStanding:
    """Return how the votes have it that count so often, among the systems that are ranked."""
    counted = weight * votes.sums[:, -1]
    rows = Summed(item=votes.item, rater=rater, weight=counted, sums=weight[:, None] * votes.sums)
    score, person, tie, model, _ = ratio_estimates(rows.select(counted > 0), level=level)
    elo = rank = None
    if ranked is not None and BEST_HUMAN in ranked.names:
        elo, rank = _fit(votes, weight, ranked.names)
    return HumanStanding(score=score, model=model, tie=tie, person=person, elo=elo, rank=rank)


def _difference(
    votes: _Votes,
    weights: Mapping[str, FloatArray],
    names: tuple[str, str],
    rater: IntArray,
    *,
    level: float,
) -> Contrast:
    """Return how much higher the score is of the one than of the other."""
    influence, value = np.zeros(len(rater)), 0.0
    for name, sign in zip(names, (1.0, -1.0), strict=True):
        won, n = (weights[name] * votes.sums[:, k] for k in (0, -1))
        mean = won.sum() / n.sum()
        influence += sign * (won - n * mean) / n.sum()
        value += sign * float(mean)
    used = weights[POOLED_HUMAN] * votes.sums[:, -1] > 0
    return contrast_of(
        value,
        influence[used],
        votes.item[used],
        rater[used],
        part=np.zeros(int(used.sum()), dtype=np.int64),
        level=level,
    )


def _to_comparisons(votes: _Votes, weight: FloatArray) -> tuple[Comparisons, list[System]]:
    """Return comparisons weighted by strength, people being one system, the last.

    A vote on a person's completion counts as often as that is chosen.
    """
    columns, systems = votes.columns, votes.columns.names.systems
    is_human = np.array([system.kind == "human" for system in systems], dtype=np.bool_)
    place = np.where(is_human, len(systems), np.arange(len(systems)))
    often = np.ones(len(columns))
    often[: len(votes.cell)] = weight[votes.cell]
    kept = columns.select(often > 0)
    comparisons = Comparisons(
        left=place[kept.first],
        right=place[kept.second],
        score=kept.score,
        # In whole splits: sums of whole numbers are exact, and a scale changes no estimate.
        weight=np.rint(N_SPLITS * np.maximum(kept.strength, 1) * often[often > 0]),
        count=np.ones(len(kept), dtype=np.int64),
        item=kept.item,
        rater=kept.sampled_rater,
        n_systems=len(systems) + 1,
    )
    return comparisons, [*systems, System(name=BEST_HUMAN, kind="human", family="human")]


def _rank(votes: _Votes, weight: FloatArray, *, level: float) -> Ranked | None:
    """Rank with what is chosen as people's; None where the judgments do not determine it."""
    comparisons, systems = _to_comparisons(votes, weight)
    try:
        return rank_field(comparisons, systems, level=level)
    except NotIdentifiedError:
        return None


def _strength(ranked: Ranked | None) -> RankedHuman | None:
    at = ranked.by_name.get(BEST_HUMAN) if ranked else None
    if at is None:
        return None
    return RankedHuman(
        elo=at.elo,
        low=at.low,
        high=at.high,
        rank=at.rank,
        rank_low=at.rank_low,
        rank_high=at.rank_high,
    )


def _fit(
    votes: _Votes, weight: FloatArray, names: Sequence[str]
) -> tuple[float | None, int | None]:
    """Return Elo and rank of people among the systems named, by the same fit without intervals."""
    comparisons, systems = _to_comparisons(votes, weight)
    among = [k for k, system in enumerate(systems) if system.name in names]
    try:
        theta = fit_win_matrix(win_matrix(comparisons)[np.ix_(among, among)]).theta
    except NotIdentifiedError:
        return None, None
    elo = elo_from_theta(theta)
    return float(elo[-1]), 1 + int((elo > elo[-1] + EQUAL_ELO).sum())
