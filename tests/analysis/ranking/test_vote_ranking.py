"""A table of votes becomes a ranking under a declared policy, and never a silent number."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from invented_votes import (
    NAMES,
    decided,
    invented_votes,
    rater_names,
    votes_of,
    with_columns,
    with_rows,
)
from made_comparisons import made_comparisons

from hearteval.analysis.ranking.intervals import IntervalName, RankPolicy, Ties
from hearteval.analysis.ranking.votes import VoteRanking, Votes, rank_votes
from hearteval.errors import InvalidVotesError, NotIdentifiedError, SettingsError

EVERY_TIES: tuple[Ties, ...] = ("half", "davidson", "drop")
EVERY_INTERVAL: tuple[IntervalName, ...] = (
    "two-way",
    "item-sandwich",
    "item-bootstrap",
    "published",
)


def rank(votes: Votes, **policy: object) -> VoteRanking:
    return rank_votes(votes, RankPolicy(**policy), columns={}, make=VoteRanking)  # type: ignore[arg-type]


def by_name(ranking: VoteRanking) -> dict[str, tuple[object, ...]]:
    return {
        row.system: (row.elo, row.low, row.high, row.se, row.win_rate, row.elo_weighted)
        for row in ranking.systems
    }


def is_said(ranking: VoteRanking, words: str) -> bool:
    return any(words in warning for warning in ranking.warnings)


@pytest.mark.parametrize("ties", EVERY_TIES)
@pytest.mark.parametrize("interval", EVERY_INTERVAL)
def test_mean_elo_is_1500_and_theta_sums_to_0(ties: Ties, interval: IntervalName) -> None:
    systems = rank(invented_votes(), ties=ties, interval=interval).systems

    assert np.mean([row.elo for row in systems]) == pytest.approx(1500, abs=1e-9)
    assert np.mean([row.elo_weighted for row in systems]) == pytest.approx(1500, abs=1e-9)
    assert sum(row.theta for row in systems) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("ties", EVERY_TIES)
@pytest.mark.parametrize("interval", EVERY_INTERVAL)
def test_order_of_votes_changes_nothing_to_the_last_digit(
    ties: Ties, interval: IntervalName
) -> None:
    votes = invented_votes()
    order = np.random.default_rng(1).permutation(len(votes.comparisons))

    found, mixed = (
        rank(each, ties=ties, interval=interval) for each in (votes, with_rows(votes, order))
    )
    assert found == mixed
    assert (found.differences, found.pairs) == (mixed.differences, mixed.pairs)


@given(st.permutations(range(5)))
@settings(max_examples=15)
def test_relabelling_systems_permutes_the_results(order: list[int]) -> None:
    votes = invented_votes()
    place = np.argsort(order)
    left, right = place[votes.comparisons.left], place[votes.comparisons.right]
    relabelled = with_columns(
        replace(votes, systems=tuple(NAMES[i] for i in order)), left=left, right=right
    )

    renamed, original = by_name(rank(relabelled)), by_name(rank(votes))

    for name in original:
        assert renamed[name] == pytest.approx(original[name], rel=1e-9)


@pytest.mark.parametrize("ties", EVERY_TIES)
def test_swapping_sides_changes_nothing(ties: Ties) -> None:
    votes = invented_votes()
    made = votes.comparisons
    swapped = with_columns(votes, left=made.right, right=made.left, score=1 - made.score)

    assert by_name(rank(swapped, ties=ties)) == by_name(rank(votes, ties=ties))


def test_strength_2_weighs_as_two_votes() -> None:
    votes = invented_votes()
    count = votes.comparisons.weight.astype(np.int64)
    twice = with_columns(votes, weight=np.ones(len(count)), count=count)

    weighted = {row.system: row.elo_weighted for row in rank(votes).systems}
    counted = {row.system: row.elo for row in rank(twice).systems}

    assert weighted == pytest.approx(counted, abs=1e-9)


def test_unweighted_ratings_do_not_depend_on_strengths() -> None:
    votes = invented_votes()
    without = with_columns(replace(votes, has_strength=False), weight=np.ones(1_200))

    assert [row.elo for row in rank(votes).systems] == [row.elo for row in rank(without).systems]
    assert rank(without).systems[0].elo_weighted is None


@pytest.mark.parametrize(
    ("n_items", "n_raters", "asked", "used", "df"),
    [
        (40, 6, None, "two-way", 5),
        (40, 6, "item-sandwich", "item-sandwich", 39),
        (40, 4, None, "item-sandwich", 39),
        (40, 4, "two-way", "item-sandwich", 39),
        (40, None, None, "item-sandwich", 39),
        (None, 6, None, "item-sandwich", 1_199),
        (None, None, None, "item-sandwich", 1_199),
        (40, 6, "item-bootstrap", "item-bootstrap", None),
        (None, None, "published", "published", None),
    ],
)
def test_interval_follows_from_what_votes_name(
    n_items: int | None, n_raters: int | None, asked: IntervalName | None, used: str, df: int | None
) -> None:
    votes = invented_votes(n_items=n_items or 40, n_raters=n_raters or 6)

    made = rank(
        replace(votes, n_items=n_items, raters=rater_names(n_raters)), interval=asked
    ).settings

    assert (made.interval_used, made.df) == (used, df)
    assert made.interval == (asked or used)


@pytest.mark.parametrize(
    ("n_items", "n_raters", "asked"),
    [
        (None, 6, "two-way"),
        (40, None, "two-way"),
        (None, 6, "item-sandwich"),
        (None, None, "item-bootstrap"),
    ],
)
def test_interval_that_lacks_its_column_is_refused(
    n_items: int | None, n_raters: int | None, asked: IntervalName
) -> None:
    votes = replace(invented_votes(), n_items=n_items, raters=rater_names(n_raters))

    with pytest.raises(SettingsError, match=f"{asked} needs"):
        rank(votes, interval=asked)


def test_what_an_interval_rests_on_is_said() -> None:
    votes = invented_votes()

    assert rank(votes).warnings == ()
    assert is_said(rank(replace(votes, raters=None)), "The intervals hold for these raters")
    assert is_said(rank(replace(votes, n_items=None)), "an item of its own")
    assert is_said(rank(invented_votes(n_raters=4)), "With 4 raters, fewer than 5")
    assert is_said(rank(votes, interval="published"), "too narrow")


def test_raters_without_items_are_said_to_be_unused() -> None:
    votes = replace(invented_votes(), n_items=None)

    assert is_said(rank(votes), "raters are not used")
    assert not is_said(rank(replace(votes, raters=None)), "raters are not used")


def test_published_interval_is_that_of_the_paper() -> None:
    row = rank(invented_votes(), interval="published").systems[0]

    half_width = 1.959964 * math.sqrt(1 / row.n_comparisons) * 400 / math.log(10)
    assert row.low == pytest.approx(row.elo - half_width, abs=1e-3)
    assert row.high == pytest.approx(row.elo + half_width, abs=1e-3)


def test_bootstrap_that_loses_replicates_gives_way_to_the_sandwich() -> None:
    votes = invented_votes(n_votes=40, n_items=12)

    ranking = rank(votes, interval="item-bootstrap")

    lost = ranking.fit.n_replicates_not_identified
    assert lost is not None
    assert lost > 10
    assert ranking.settings.interval == "item-bootstrap"
    assert ranking.settings.interval_used == "item-sandwich"
    assert is_said(ranking, f"{lost} of 1000 bootstrap replicates")


def test_bootstrap_that_loses_few_replicates_says_how_many() -> None:
    votes = invented_votes(n_votes=60, n_items=16, seed=5)

    ranking = rank(votes, interval="item-bootstrap")

    assert ranking.fit.n_replicates_not_identified in range(1, 11)
    assert ranking.settings.interval_used == "item-bootstrap"
    assert is_said(ranking, "are left out")


def test_bootstrap_percentiles_are_close_to_the_sandwich() -> None:
    votes = invented_votes(n_votes=6_000, n_items=300)

    drawn = rank(votes, interval="item-bootstrap", n_resamples=4_000)
    sandwich = rank(votes, interval="item-sandwich")

    for a, b in zip(drawn.systems, sandwich.systems, strict=True):
        assert a.low is not None
        assert b.low is not None
        assert a.elo - a.low == pytest.approx(b.elo - b.low, rel=0.15)


def test_same_seed_draws_the_same() -> None:
    votes = invented_votes()

    one, again, other = (rank(votes, interval="item-bootstrap", seed=seed) for seed in (4, 4, 5))

    assert (one, one.differences) == (again, again.differences)
    assert one != other
    assert one.differences != other.differences


def test_dropped_ties_are_counted() -> None:
    votes = invented_votes()

    fit = rank(votes, ties="drop").fit

    assert fit.n_dropped == {"tie": votes.n_ties}
    assert fit.n_votes == votes.n_votes - votes.n_ties
    assert fit.n_ties == votes.n_ties


def test_interval_is_chosen_by_the_votes_that_are_left_without_ties() -> None:
    votes = invented_votes()
    made = votes.comparisons
    is_tied = (made.rater >= 2) | (made.item >= 30)
    votes = with_columns(votes, score=np.where(is_tied, 0.5, made.score))

    kept, dropped = rank(votes), rank(votes, ties="drop")

    assert (kept.settings.interval_used, kept.settings.n_items, kept.settings.n_raters) == (
        "two-way",
        40,
        6,
    )
    found = dropped.settings
    assert (found.interval_used, found.df) == ("item-sandwich", 29)
    assert (found.n_items, found.n_raters) == (30, 2)
    assert is_said(dropped, "With 2 raters, fewer than 5")


def test_items_folded_into_groups_are_counted_as_named() -> None:
    votes = replace(invented_votes(), n_items=9_000, n_item_groups=40)

    assert rank(votes, ties="drop").settings.n_items == 9_000


def test_ties_to_drop_need_not_be_there() -> None:
    assert rank(decided([(0, 1), (1, 0), (0, 1)], "ab"), ties="drop").fit.n_dropped == {}


def test_system_that_wins_everything_is_named() -> None:
    votes = decided([(0, 1), (0, 2), (1, 2), (2, 1)], ("best", "mid", "low"))

    with pytest.raises(NotIdentifiedError, match=r"best \| mid, low|mid, low \| best") as caught:
        rank(votes)

    assert {frozenset(group) for group in caught.value.components} == {
        frozenset({"best"}),
        frozenset({"mid", "low"}),
    }


def test_groups_that_never_met_are_named() -> None:
    votes = decided([(0, 1), (1, 0), (2, 3), (3, 2)], ("ash", "birch", "cedar", "dogwood"))

    with pytest.raises(NotIdentifiedError, match=r"ash, birch \| cedar, dogwood.*declare a prior"):
        rank(votes)


def test_declared_prior_ranks_what_votes_alone_do_not() -> None:
    votes = decided([(0, 1), (0, 2), (1, 2), (2, 1)], ("best", "mid", "low"))

    ranking = rank(votes, prior=1.0)

    assert ranking.systems[0].system == "best"
    assert ranking.settings.prior == 1.0
    assert ranking.fit.system_max_gap > 0


def test_prior_is_half_won_comparisons_of_every_pair() -> None:
    wins = [(0, 1)] * 3 + [(1, 0)]

    theta = {row.system: row.theta for row in rank(decided(wins, "ab"), prior=2.0).systems}

    assert theta["a"] - theta["b"] == pytest.approx(math.log((3 + 1) / (1 + 1)))


def test_one_system_is_no_ranking() -> None:
    votes = replace(
        decided([(0, 1)], "ab"),
        systems=("only",),
        comparisons=made_comparisons([], [], n_systems=1),
    )

    with pytest.raises(NotIdentifiedError, match="at least two systems"):
        rank(votes)


def test_one_item_has_no_interval() -> None:
    votes = invented_votes(n_items=1)

    with pytest.raises(NotIdentifiedError, match="two items"):
        rank(votes)


def test_system_on_one_item_has_a_rating_and_no_interval() -> None:
    votes = invented_votes()
    is_first = (votes.comparisons.left == 0) | (votes.comparisons.right == 0)
    rows = np.flatnonzero(~is_first | (votes.comparisons.item == 3))

    ranking = rank(with_rows(votes, rows))

    alone = next(row for row in ranking.systems if row.system == NAMES[0])
    assert (alone.low, alone.high, alone.se) == (None, None, None)
    assert (alone.rank_low, alone.rank_high) == (1, 5)
    assert is_said(ranking, f"one of the items only: {NAMES[0]}")
    apart = [d for d in ranking.differences if NAMES[0] in (d.system, d.other)]
    assert {(d.low, d.high, d.p) for d in apart} == {(None, None, 1.0)}


def test_few_items_are_said() -> None:
    assert is_said(rank(invented_votes(n_items=9)), "fewer than 10 items")


def repeated(rows: list[tuple[int, int]], *, n_items: int, n_chances: int = 0) -> Votes:
    """Return votes of (winner, loser) of a, b, c on every item, and chance votes of a against b."""
    rng = np.random.default_rng(0)
    wins = [(*row, item) for item in range(n_items) for row in rows]
    for item in range(n_items):
        wins += [(0, 1, item) if rng.random() < 0.6 else (1, 0, item) for _ in range(n_chances)]
    winner, loser, item_of = np.array(wins).T
    comparisons = made_comparisons(winner, loser, n_systems=3, item=item_of)
    return votes_of(comparisons, "abc", n_items=n_items, n_raters=None, has_strength=False)


@pytest.mark.parametrize("interval", ["item-sandwich", "item-bootstrap"])
def test_items_that_all_say_the_same_leave_no_interval(interval: IntervalName) -> None:
    votes = repeated([(0, 1), (0, 1), (1, 0), (1, 2), (2, 1), (2, 0), (0, 2)], n_items=40)

    ranking = rank(votes, interval=interval)

    assert {(row.low, row.high, row.se) for row in ranking.systems} == {(None, None, None)}
    assert {(row.rank_low, row.rank_high) for row in ranking.systems} == {(1, 3)}
    assert {(d.low, d.high, d.p) for d in ranking.differences} == {(None, None, 1.0)}
    assert is_said(ranking, "all items say the same: that is no precision: a, b, c.")


@pytest.mark.parametrize("interval", ["item-sandwich", "item-bootstrap"])
def test_difference_on_which_items_agree_is_left_open(interval: IntervalName) -> None:
    votes = repeated([(0, 2)] * 7 + [(2, 0)] * 6, n_items=40, n_chances=4)

    ranking = rank(votes, interval=interval)

    (flat,) = (d for d in ranking.differences if {d.system, d.other} == {"a", "c"})
    assert flat.elo > 10
    assert (flat.low, flat.high, flat.p, flat.q) == (None, None, 1.0, 1.0)
    ranks = {row.system: (row.rank_low, row.rank_high) for row in ranking.systems}
    assert ranks["a"][1] >= 2
    assert ranks["c"][0] <= 2
    assert all(row.low is not None for row in ranking.systems)


def raters_of_the_first(n: int) -> Votes:
    """Return votes of 15 raters, those on the first system by so many of them only."""
    votes = invented_votes(n_votes=4_000, n_raters=15)
    is_first = (votes.comparisons.left == 0) | (votes.comparisons.right == 0)
    return with_rows(votes, np.flatnonzero(~is_first | (votes.comparisons.rater < n)))


def test_system_of_one_rater_has_no_two_way_interval() -> None:
    ranking = rank(raters_of_the_first(1))

    alone = next(row for row in ranking.systems if row.system == NAMES[0])
    assert ranking.settings.interval_used == "two-way"
    assert (alone.low, alone.high, alone.se) == (None, None, None)
    assert (alone.rank_low, alone.rank_high) == (1, 5)
    assert is_said(ranking, f"what one rater alone voted on: {NAMES[0]}.")
    assert all(row.low is not None for row in ranking.systems if row is not alone)
    given = rank(raters_of_the_first(1), interval="item-sandwich")
    assert all(row.low is not None for row in given.systems)


@pytest.mark.parametrize("n", [2, 4])
def test_system_of_few_raters_is_named(n: int) -> None:
    ranking = rank(raters_of_the_first(n))

    assert is_said(
        ranking, f"fewer than 5 raters, so that two-way intervals are too narrow: ash ({n})"
    )
    assert all(row.low is not None for row in ranking.systems)


def test_system_of_five_raters_is_not_named() -> None:
    assert rank(raters_of_the_first(5)).warnings == ()


def test_rater_with_most_votes_is_said() -> None:
    votes = invented_votes(n_votes=3_000, n_raters=15)
    is_kept = np.random.default_rng(1).random(3_000) < np.where(votes.comparisons.rater, 1 / 14, 1)
    uneven = with_rows(votes, np.flatnonzero(is_kept))

    ranking = rank(uneven)

    share = np.bincount(uneven.comparisons.rater) / len(uneven.comparisons)
    assert 0.4 < share[0] < 0.6
    assert is_said(ranking, f"One rater gave {100 * share[0]:.0f} % of the votes")
    assert is_said(ranking, f"count as {1 / (share**2).sum():.1f} equal ones")
    assert not is_said(rank(uneven, interval="item-sandwich"), "One rater gave")


def test_votes_that_fall_on_few_items_are_said() -> None:
    votes = invented_votes(n_votes=3_000, n_items=50)
    chance = np.where(votes.comparisons.item < 5, 1, 1 / 20)
    is_kept = np.random.default_rng(1).random(3_000) < chance
    uneven = with_rows(votes, np.flatnonzero(is_kept))

    assert is_said(rank(uneven), "Votes fall so unevenly on items")
    assert not is_said(rank(uneven), "fewer than 10 items")
    assert not is_said(rank(votes), "Votes fall so unevenly on items")


@pytest.mark.parametrize(("n_items", "is_few"), [(29, True), (40, False)])
def test_percentiles_over_few_items_are_said_to_be_too_narrow(n_items: int, is_few: bool) -> None:
    votes = invented_votes(n_votes=4_000, n_items=n_items)

    assert is_said(rank(votes, interval="item-bootstrap"), "fewer than 30 items") == is_few
    assert not is_said(rank(votes, interval="item-sandwich"), "too narrow")


def widths(votes: Votes) -> list[float]:
    return [row.se for row in rank(votes).systems if row.se is not None]


def test_each_interval_widens_with_what_it_resamples() -> None:
    """The mean standard error of twelve tables, against that of the interval that knows less."""
    raters, items = [], []
    for seed in range(12):
        by_rater = invented_votes(n_raters=8, sds=(0, 0.7), seed=seed)
        by_item = invented_votes(sds=(1.2, 0), n_votes=3_000, seed=seed)
        raters.append(np.mean(widths(by_rater)) / np.mean(widths(replace(by_rater, raters=None))))
        given = replace(by_item, raters=None)
        items.append(np.mean(widths(given)) / np.mean(widths(replace(given, n_items=None))))

    assert np.mean(raters) > 1.5
    assert np.mean(items) > 1.5


def test_differences_name_every_two_systems_best_first() -> None:
    ranking = rank(invented_votes())

    names = [row.system for row in ranking.systems]
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    assert [(d.system, d.other) for d in ranking.differences] == pairs
    elo = {row.system: row.elo for row in ranking.systems}
    for difference in ranking.differences:
        expected = elo[difference.system] - elo[difference.other]
        assert difference.elo == pytest.approx(expected, abs=1e-9)
        assert difference.low is not None
        assert difference.low < difference.elo
        assert difference.q >= difference.p


def test_fit_check_is_exact_for_systems_at_the_plain_fit() -> None:
    ranking = rank(invented_votes())

    assert ranking.fit.system_max_gap < 1e-9
    assert ranking.fit.rms_gap > 0
    assert len(ranking.pairs) == 10
    assert max(abs(p.observed - p.predicted) for p in ranking.pairs) == ranking.fit.max_gap


def test_ties_predicts_the_points_it_was_fitted_to() -> None:
    assert rank(invented_votes(), ties="davidson").fit.system_max_gap < 1e-9


@pytest.mark.parametrize("ties", EVERY_TIES)
def test_votes_of_their_own_items_are_those_of_one_item_each(ties: Ties) -> None:
    votes = invented_votes()
    apart = with_columns(replace(votes, n_items=1_200, raters=None), item=np.arange(1_200))

    named, unnamed = rank(apart, ties=ties), rank(replace(votes, n_items=None), ties=ties)

    assert [row.se for row in named.systems] == pytest.approx([row.se for row in unnamed.systems])


@pytest.mark.parametrize(
    "wrong",
    [
        {"ties": "both"},
        {"interval": "wide"},
        {"prior": -1.0},
        {"prior": math.nan},
        {"n_resamples": 5},
        {"seed": -1},
        {"level": 1.0},
    ],
)
def test_policy_that_makes_no_sense_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="not"):
        RankPolicy(**wrong)  # type: ignore[arg-type]


def test_what_only_a_prior_ranks_has_no_interval_and_says_so() -> None:
    votes = decided([(0, 1), (1, 0), (2, 3), (3, 2)] * 2, ("ash", "birch", "cedar", "dogwood"))

    ranking = rank(votes, prior=1e-6)

    assert {frozenset(group) for group in ranking.fit.components} == {
        frozenset({"ash", "birch"}),
        frozenset({"cedar", "dogwood"}),
    }
    assert is_said(ranking, "the prior does")
    assert {(row.low, row.rank_low, row.rank_high) for row in ranking.systems} == {(None, 1, 4)}


def test_only_ties_leave_nothing_when_ties_are_dropped() -> None:
    votes = invented_votes()
    tied = with_columns(replace(votes, n_ties=votes.n_votes), score=np.full(1_200, 0.5))

    with pytest.raises(NotIdentifiedError, match="all 1,200 votes are ties"):
        rank(tied, ties="drop")


def test_strengths_of_no_common_size_are_refused() -> None:
    votes = invented_votes()
    weight = votes.comparisons.weight.copy()
    weight[0] = 1e12

    with pytest.raises(InvalidVotesError, match="too far apart"):
        rank(with_columns(votes, weight=weight))


def test_long_lists_of_systems_are_cut() -> None:
    names = [f"system {i:03d}" for i in range(300)]
    votes = decided([(i, i + 1) for i in range(299)], names)

    with pytest.raises(NotIdentifiedError) as caught:
        rank(votes)

    assert len(str(caught.value)) < 400
    assert "and 294 more groups" in str(caught.value)
    assert len(caught.value.components) == 300
