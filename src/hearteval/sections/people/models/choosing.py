"""Choose the best of people's completions of each item by some raters, and rate it by others.

A completion that met a weak opponent looks good, whoever votes, so what the opponent explains is in
neither. It is chosen by the mean residual: each vote less the chance that the strengths give people
against that model. It is rated within one opponent: what it scored against a model's completion,
less what people's other completions scored against the very same one. A model's completion that is
weaker on an item than its strength says is met by both sides of that difference.

Raters of an item fall into groups; one rates and the others choose. Only pairs that both judged
count, so both see the same opponents, and who likes a completion never chooses and rates it. Where
all completions are equal, the votes that rate know nothing of the choice: the gain is 0 on average,
whatever the design.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from hearteval.analysis.columns import JudgmentColumns, completion_hash, number_writers
from hearteval.stats.comparisons import (
    TIE_SCORE,
    BoolArray,
    FloatArray,
    IntArray,
    number_labels,
)

N_SPLITS: Final = 20
HALVES: Final = 2
MIN_RATERS_TO_SPLIT: Final = 2
MIN_REPLIES: Final = 2


class Votes(NamedTuple):
    """The votes of one kind of rater in which a person's completion meets a model's.

    A cell is what one rater said of one pair, in one order or both.
    """

    columns: JudgmentColumns
    """Of votes on people's completions, whatever they met, and then of those on none."""
    text_of_vote: IntArray
    """The person's completion of each vote on one."""
    item: IntArray
    """Of each cell, as all that follow."""
    rater: IntArray
    writer: IntArray
    """Who wrote the person's completion, numbered by name; -1 where that is not known."""
    text: IntArray
    """The person's completion."""
    opponent: IntArray
    """The model's completion, numbered from 0."""
    pair: IntArray
    """Both, numbered from 0."""
    model: IntArray
    """The system of the opponent."""
    n: FloatArray
    """Votes."""
    sums: FloatArray
    """Sums of score, wins of the person, ties and losses, (cells, 4)."""
    heavy: FloatArray
    """Sums of score and of votes, each weighing its strength, (cells, 2)."""
    order: IntArray
    """Place of each completion by its hash: it decides between equals."""
    n_texts: IntArray
    """Completions by people that met a model, by item."""


class Rated(NamedTuple):
    """What choosing by some and rating by others comes to, summed over cells."""

    gain: FloatArray
    """What each cell adds to the difference of the chosen from all completions, (cells, values)."""
    n: FloatArray
    """How often the votes of a cell rate a chosen completion."""
    same_choice: float
    """How often all groups that choose on an item choose the same completion."""


def find_votes(columns: JudgmentColumns) -> Votes | None:
    """Return the votes that choose and rate; None where no model met a person."""
    systems = columns.names.systems
    kinds = np.array([system.kind for system in systems], dtype=np.str_)
    is_human = kinds == "human"
    if not (is_human[columns.first] | is_human[columns.second]).any():
        return None
    columns = columns.select(~(is_human[columns.first] & is_human[columns.second]))
    has_person = is_human[columns.first] | is_human[columns.second]
    columns = columns.select(np.argsort(~has_person, kind="stable"))
    by_person = columns.select(np.arange(int(has_person.sum())))
    is_first = is_human[by_person.first]
    text = np.where(is_first, by_person.first_text, by_person.second_text)
    met = kinds[np.where(is_first, by_person.second, by_person.first)] == "model"
    return _to_cells(columns, text, by_person.select(met), is_first[met]) if met.any() else None


def _to_cells(
    columns: JudgmentColumns, text_of_vote: IntArray, at: JudgmentColumns, is_first: BoolArray
) -> Votes:
    """Sum votes by cell."""
    texts = columns.names.completions
    text = np.where(is_first, at.first_text, at.second_text)
    other = np.where(is_first, at.second_text, at.first_text)
    key = (at.rater * len(texts) + text) * len(texts) + other
    _, first, cell = np.unique(key, return_index=True, return_inverse=True)
    n_cells = len(first)
    score = np.where(is_first, at.score, 1 - at.score)
    strength = np.maximum(at.strength, 1)

    def summed(*columns: FloatArray | BoolArray) -> FloatArray:
        return np.stack([_sum(cell, one.astype(np.float64), n_cells) for one in columns], axis=1)

    item, met = at.item[first], np.unique(text)
    item_of = np.zeros(len(texts), dtype=np.int64)
    item_of[text] = at.item
    text, other = text[first], other[first]
    return Votes(
        columns=columns,
        text_of_vote=text_of_vote,
        item=item,
        rater=at.rater[first],
        writer=number_writers(texts)[text],
        text=text,
        opponent=number_labels(other)[0],
        pair=np.unique(text * len(texts) + other, return_inverse=True)[1],
        model=np.where(is_first, at.second, at.first)[first],
        n=np.bincount(cell).astype(np.float64),
        sums=summed(score, score == 1, score == TIE_SCORE, score == 0),
        heavy=summed(strength * score, strength),
        order=_hash_order(columns, text_of_vote),
        n_texts=np.bincount(item_of[met], minlength=len(columns.names.items)),
    )


def _hash_order(columns: JudgmentColumns, text: IntArray) -> IntArray:
    texts = columns.names.completions
    names = {system.id: system.name for system in columns.names.systems}
    used = np.unique(text).tolist()
    hashes = {k: completion_hash(texts[k], names[texts[k].system_id]) for k in used}
    order = np.zeros(len(texts), dtype=np.int64)
    order[sorted(used, key=lambda k: hashes[k])] = np.arange(len(used))
    return order


def can_be_parted(votes: Votes) -> tuple[BoolArray, BoolArray]:
    """Return by item whether two raters judged a pair, and whether two such pairs share a model's.

    The second is what choosing needs: two replies by people that met the same reply of a model.
    """
    n_items = len(votes.columns.names.items)
    n_raters = np.bincount(votes.pair)  # a rater has one cell of each pair
    is_parted = (n_raters >= MIN_RATERS_TO_SPLIT)[votes.pair]
    is_shared = _is_shared(votes, is_parted)
    has_parted, has_shared = (
        np.bincount(votes.item[rows], minlength=n_items) > 0 for rows in (is_parted, is_shared)
    )
    return has_parted, has_shared


def _is_shared(votes: Votes, rows: BoolArray) -> BoolArray:
    """Return which of these cells are about an opponent that another completion met in them."""
    opponent_of = np.full(int(votes.pair.max()) + 1, -1)
    opponent_of[votes.pair[rows]] = votes.opponent[rows]
    n_met = np.bincount(opponent_of[opponent_of >= 0], minlength=int(votes.opponent.max()) + 1)
    return rows & (n_met >= MIN_REPLIES)[votes.opponent]


def choose_and_rate(
    votes: Votes,
    residual: FloatArray,
    values: FloatArray,
    n_groups: IntArray,
    draw: np.random.Generator,
) -> Rated:
    """Part the raters of each item into groups, choose by all but one and rate by that one.

    Args:
        votes: Votes.
        residual: What each cell has scored beyond people's chance against its model.
        values: Sums over the votes of each cell that are rated, (cells, values).
        n_groups: Groups of each item, two at least; each group in turn rates.
        draw: What draws the groups, 20 times for halves, less often for more groups.
    """
    gain, n = np.zeros_like(values), np.zeros_like(votes.n)
    n_same = n_items = 0
    for groups in _draw_groups(votes, n_groups, draw):
        times = np.zeros(len(votes.order), dtype=np.int64)
        for k in range(int(groups.max()) + 1):
            rates = groups == k
            both = _judged_by_both(votes, rates)
            chosen = _choose(votes, residual, both & ~rates, _is_shared(votes, both))
            times += chosen
            added = _rate(votes, values, both & rates, chosen)
            gain, n = gain + added[0], n + added[1]
        n_chosen = _by_item(votes, times)
        n_items += int((n_chosen > 0).sum())
        n_same += int((_most_by_item(votes, times) == n_chosen)[n_chosen > 0].sum())
    return Rated(gain, n, n_same / max(n_items, 1))


def _draw_groups(votes: Votes, n_groups: IntArray, draw: np.random.Generator) -> Iterator[IntArray]:
    """Yield the group of each cell: raters of an item in groups of one size, as far as may be."""
    n_raters = int(votes.rater.max()) + 1
    unit, n_units = number_labels(votes.item * n_raters + votes.rater)
    item = np.zeros(n_units, dtype=np.int64)
    item[unit] = votes.item
    size = np.bincount(item, minlength=len(n_groups))
    start = np.cumsum(size) - size
    for _ in range(max(1, N_SPLITS * HALVES // int(n_groups.max()))):
        place = np.empty(n_units, dtype=np.int64)
        place[np.lexsort((draw.random(n_units), item))] = np.arange(n_units)
        group = (place - start[item]) * n_groups[item] // size[item]
        yield group[unit]


def _judged_by_both(votes: Votes, rates: BoolArray) -> BoolArray:
    """Return the cells of pairs that the group that rates judged, and the others too."""
    n_pairs = int(votes.pair.max()) + 1
    by_one, by_others = (
        np.bincount(votes.pair[rows], minlength=n_pairs) for rows in (rates, ~rates)
    )
    return ((by_one > 0) & (by_others > 0))[votes.pair]


def _choose(votes: Votes, residual: FloatArray, rows: BoolArray, shared: BoolArray) -> BoolArray:
    """Return by completion whether it has the best mean residual of its item in these cells.

    Only one that can be rated is chosen: an opponent of its is shared. That is a matter of the
    design alone, and says nothing of how it fared.
    """
    n_texts = len(votes.order)
    n = _sum(votes.text[rows], votes.n[rows], n_texts)
    total = _sum(votes.text[rows], residual[rows], n_texts)
    return best_of_items(votes, total, n, np.bincount(votes.text[shared], minlength=n_texts) > 0)


def best_of_items(votes: Votes, total: FloatArray, n: FloatArray, can_be: BoolArray) -> BoolArray:
    """Return which completions have the best mean of their item; a hash decides between equals."""
    item = np.full(len(votes.order), -1)
    item[votes.text] = votes.item
    texts = np.flatnonzero(can_be & (n > 0))
    # Means that differ by rounding alone are equal.
    mean = (total[texts] / n[texts]).round(12)
    best = texts[np.lexsort((votes.order[texts], -mean, item[texts]))]
    is_first = np.ones(len(best), dtype=np.bool_)
    is_first[1:] = item[best[1:]] != item[best[:-1]]
    chosen = np.zeros(len(n), dtype=np.bool_)
    chosen[best[is_first]] = True
    return chosen


def _rate(
    votes: Votes, values: FloatArray, rows: BoolArray, chosen: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Return what cells add to the gain of the chosen completions, and how often they rate one.

    Each vote on a chosen completion counts once, less the mean of the votes on people's other
    completions against the same opponent. Of m completions, the difference from all is (m - 1)/m of
    that from the others.
    """
    n, n_opponents = votes.n, int(votes.opponent.max()) + 1
    is_chosen = rows & chosen[votes.text]
    is_other = rows & ~chosen[votes.text]
    n_chosen, n_other = (
        _sum(votes.opponent[of], n[of], n_opponents) for of in (is_chosen, is_other)
    )
    can_be = ((n_chosen > 0) & (n_other > 0))[votes.opponent]
    is_chosen, is_other = is_chosen & can_be, is_other & can_be
    mean = (
        np.stack(
            [_sum(votes.opponent[is_other], column[is_other], n_opponents) for column in values.T],
            axis=1,
        )
        / np.maximum(n_other, 1)[:, None]
    )
    m = votes.n_texts[votes.item]
    share = np.where(is_chosen, 1.0, 0.0)
    share[is_other] = -(n_chosen / np.maximum(n_other, 1))[votes.opponent[is_other]]
    above = values - n[:, None] * mean[votes.opponent]
    return (share * (m - 1) / m)[:, None] * above, n * is_chosen


def _sum(keys: IntArray, values: FloatArray, n_keys: int) -> FloatArray:
    """Sum values by key; cells stand in one order, whatever that of the votes."""
    return np.bincount(keys, weights=values, minlength=n_keys).astype(np.float64)


def _by_item(votes: Votes, of_text: IntArray) -> IntArray:
    item = np.zeros(len(votes.order), dtype=np.int64)
    item[votes.text] = votes.item
    return np.bincount(item, weights=of_text, minlength=len(votes.n_texts)).astype(np.int64)


def _most_by_item(votes: Votes, of_text: IntArray) -> IntArray:
    most = np.zeros(len(votes.n_texts), dtype=np.int64)
    np.maximum.at(most, votes.item, of_text[votes.text])
    return most
