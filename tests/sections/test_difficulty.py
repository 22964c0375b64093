"""The spread of systems on an item: by hand, planted, and none where there is none."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from judged_study import StudyMaker, make_items, make_systems

from hearteval.analysis.columns import to_columns
from hearteval.analysis.data import StudyData
from hearteval.analysis.judgments import judgments_of
from hearteval.analysis.ranking.cells import headline_cells
from hearteval.domain import Choice, Rater
from hearteval.sections.difficulty.measure import ItemDifficulty, measure_difficulty

NAMES = ("a", "b", "c", "d", "e", "f")
THETA = (0.9, 0.5, 0.2, -0.2, -0.5, -0.9)
N_JUDGES = 8
JUDGES = [Rater(name=f"j{k}", kind="llm", family=f"x{k}", settings={}) for k in range(N_JUDGES)]


def drawn_study(
    *,
    n_items: int = 40,
    sd: float = 0.0,
    turned: int | None = None,
    flat: int | None = None,
    n_judges: int = N_JUDGES,
) -> StudyData:
    """Draw judgments of every pair; one item may turn the ranking round, one know no difference."""
    rng = np.random.default_rng(7)
    systems = make_systems(*NAMES)
    made = StudyMaker(make_items(n_items), systems, JUDGES)
    for number, item in enumerate(made.items):
        at = np.array(THETA) + sd * rng.standard_normal(len(NAMES))
        at = -2 * np.array(THETA) if number == turned else at
        at = at * 0 if number == flat else at
        for (i, one), (j, other) in combinations(enumerate(systems), 2):
            for judge in JUDGES[:n_judges]:
                wins = rng.random() < 1 / (1 + math.exp(at[j] - at[i]))
                choice: Choice = "first" if wins else "second"
                made.judge(item, (one, other), choice, rater=judge)
    return made.data()


def measured(data: StudyData) -> ItemDifficulty | None:
    columns = to_columns(data.judgments, data)
    return measure_difficulty(headline_cells(columns, NAMES))


def found(data: StudyData) -> ItemDifficulty:
    result = measured(data)
    assert result is not None
    return result


def test_items_that_are_alike_add_nothing() -> None:
    result = found(drawn_study())
    # Votes alone scatter by sqrt(.25 / 8) = .18 a pair; what lasts over five opponents is 0.
    assert result.sd_of_items < 0.03
    assert result.shrinkage < 0.2
    spreads = [row.spread for row in result.items]
    assert np.ptp(spreads) < 0.05
    assert np.mean(spreads) == pytest.approx(result.expected_spread, abs=0.015)


def test_one_vote_a_pair_adds_no_spread() -> None:
    """What the vote of a pair gives to one of its systems it takes from the other."""
    result = found(drawn_study(n_items=300, n_judges=1))
    spread = np.mean([row.spread**2 for row in result.items])
    # Without that a fifth of .22 / 5, .009, stays in it.
    assert spread == pytest.approx(result.expected_spread**2, abs=0.004)


def test_the_same_difference_turned_round_is_the_same_spread() -> None:
    data = drawn_study(n_items=30, turned=11)
    rows = {row.item_id: row.spread for row in found(data).items}
    # Twice the strengths, turned: the shares on it are further apart, not closer.
    assert rows[data.items[11].id] == max(rows.values())


def test_what_items_add_is_recovered() -> None:
    result = found(drawn_study(n_items=80, sd=0.6))
    # A text better by d wins p (1 - p) d more: .6 times about .22.
    assert result.sd_of_items == pytest.approx(0.6 * 0.22, rel=0.2)


def test_the_spread_is_that_of_the_shares_without_what_votes_add() -> None:
    rng, theta = np.random.default_rng(1), np.array(THETA)
    at = theta + 0.6 * rng.standard_normal((20_000, len(NAMES)))
    chance = 1 / (1 + np.exp(at[:, None, :] - at[:, :, None]))
    shares = (chance.sum(axis=2) - 0.5) / (len(NAMES) - 1)
    expected = shares.var(axis=1, ddof=1).mean()
    result = found(drawn_study(n_items=80, sd=0.6))
    assert np.mean([row.spread**2 for row in result.items]) == pytest.approx(expected, rel=0.1)


def test_an_item_that_turns_the_ranking_round_is_named() -> None:
    data = drawn_study(sd=0.2, turned=11)
    result = found(data)
    turned = min(result.items, key=lambda row: row.discrimination or 0)
    assert turned.item_id == data.items[11].id
    assert (turned.best, turned.worst) == ("f", "a")
    assert turned.discrimination == pytest.approx(-1, abs=0.1)
    assert result.mean_discrimination is not None
    assert result.mean_discrimination > 0.8


def test_an_item_that_knows_no_difference_has_little_spread() -> None:
    data = drawn_study(sd=0.3, flat=4)
    assert data.items[4].id in [row.item_id for row in found(data).items[-3:]]


def test_counts_are_of_pairs_and_judgments() -> None:
    row = found(drawn_study(n_items=6)).items[0]
    assert (row.n_systems, row.n_pairs, row.n_judgments) == (6, 15, 120)


def test_discrimination_takes_what_was_won_as_it_is() -> None:
    data = drawn_study(n_items=12, sd=0.5)
    names = {system.id: system.name for system in data.systems}
    item = data.items[3]
    won = dict.fromkeys(NAMES, 0.0)
    for row in data.judgments:
        if row.item_id == item.id:
            won[names[row.winner]] += 1 / (5 * N_JUDGES)
    without = [row for row in data.judgments if row.item_id != item.id]
    elsewhere = headline_cells(to_columns(judgments_of(without), data), NAMES)
    from hearteval.stats.bradley_terry.fit import fit_win_matrix  # noqa: PLC0415

    theta = fit_win_matrix(elsewhere.points()).theta
    expected = np.corrcoef([won[name] for name in NAMES], theta)[0, 1]
    row_of_item = next(row for row in found(data).items if row.item_id == item.id)
    assert row_of_item.discrimination == pytest.approx(expected, abs=0.01)


def test_nothing_is_said_of_few_items() -> None:
    assert measured(drawn_study(n_items=4)) is None


def test_two_systems_on_an_item_agree_with_no_ranking() -> None:
    data = drawn_study(n_items=8, sd=0.3)
    names = {system.id: system.name for system in data.systems}
    kept = [
        row
        for row in data.judgments
        if row.item_id != data.items[0].id
        or {names[row.first_system_id], names[row.second_system_id]} == {"a", "b"}
    ]
    rows = {row.item_id: row for row in found(replace(data, judgments=judgments_of(kept))).items}
    first = rows[data.items[0].id]
    assert (first.n_systems, first.n_pairs, first.discrimination) == (2, 1, None)
