"""Raw and adjusted ratings side by side: same kind of interval, named when not determined."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from invented_votes import NAMES, decided, invented_votes

from hearteval.analysis.ranking.checks.adjusted import (
    Controlled,
    JudgeAwareStrengths,
    control,
    rank_judge_aware_panel,
)
from hearteval.analysis.ranking.intervals import RankPolicy
from hearteval.analysis.ranking.votes import VoteRanking, rank_votes
from hearteval.errors import NotIdentifiedError
from hearteval.stats.comparisons import Comparisons, select_comparisons

LENGTH = {"length": 1 / 3}


def controlled(
    comparisons: Comparisons,
    covariates: np.ndarray | None = None,
    *,
    names: Sequence[str] = NAMES[:5],
    steps: Mapping[str, float] = LENGTH,
) -> Controlled:
    """Control for covariates, or for being on the left."""
    if covariates is None:
        covariates, steps = np.ones((len(comparisons), 1)), {"position": 1}
    return control(comparisons, covariates, names=names, steps=steps, level=0.95)


def judged(comparisons: Comparisons, judges: tuple[str, ...]) -> JudgeAwareStrengths:
    return rank_judge_aware_panel(comparisons, names=NAMES[:5], judges=judges, level=0.95)


def votes_with_length(n_raters: int = 6) -> tuple[Comparisons, np.ndarray]:
    """Votes in which the longer answer wins more often, lengths unrelated to the system."""
    rng = np.random.default_rng(8)
    votes = invented_votes(n_raters=n_raters).comparisons
    length = rng.uniform(-1, 1, len(votes))
    turned = rng.random(len(votes)) < 0.35 * np.abs(length)
    score = np.where(turned, (length > 0).astype(float), votes.score)
    return replace(votes, score=score), length[:, None]


def test_raw_ratings_are_those_of_the_plain_ranking() -> None:
    votes = invented_votes()
    plain = {
        row.system: row
        for row in rank_votes(votes, RankPolicy(), columns={}, make=VoteRanking).systems
    }

    found = controlled(replace(votes.comparisons, weight=np.ones(1_200)))

    assert found.interval_used == "two-way"
    assert found.df == 5
    for row in found.systems:
        assert row.elo == pytest.approx(plain[row.system].elo)
        assert row.low == pytest.approx(plain[row.system].low)
        assert row.high == pytest.approx(plain[row.system].high)


def test_effect_of_a_covariate_is_found_with_its_interval() -> None:
    comparisons, length = votes_with_length()

    found = controlled(comparisons, length)

    (effect,) = found.effects
    assert effect.covariate == "length"
    assert effect.low is not None
    assert effect.high is not None
    assert 0 < effect.low < effect.beta < effect.high
    assert effect.step == 1 / 3
    assert effect.win_rate == pytest.approx(1 / (1 + np.exp(-effect.beta / 3)))
    assert found.warnings == ()


def test_adjusted_ratings_mean_1500_and_come_best_first() -> None:
    comparisons, length = votes_with_length()

    found = controlled(comparisons, length)

    adjusted = [row.elo_adjusted for row in found.systems]
    assert np.mean(adjusted) == pytest.approx(1500)
    assert adjusted == sorted(adjusted, reverse=True)
    for row in found.systems:
        assert row.low_adjusted is not None
        assert row.high_adjusted is not None
        assert row.low_adjusted < row.elo_adjusted < row.high_adjusted


@pytest.mark.parametrize("rater", [np.full(1_200, -1), np.arange(1_200) % 4])
def test_raters_that_are_no_sample_leave_the_item_sandwich(rater: np.ndarray) -> None:
    comparisons, length = votes_with_length()

    found = controlled(replace(comparisons, rater=rater), length)

    assert (found.interval_used, found.df) == ("item-sandwich", 39)


def test_covariate_that_is_not_determined_is_named() -> None:
    comparisons, length = votes_with_length()
    both = np.column_stack((length, np.zeros(1_200)))

    with pytest.raises(NotIdentifiedError, match="formatting") as caught:
        controlled(comparisons, both, steps={"length": 1 / 3, "formatting": 1 / 3})

    assert caught.value.ids == ("formatting",)


def test_groups_that_never_met_are_named() -> None:
    votes = decided([(0, 1), (1, 0), (2, 3), (3, 2)], ("ash", "birch", "cedar", "dogwood"))

    with pytest.raises(NotIdentifiedError, match=r"ash, birch \| cedar, dogwood"):
        controlled(votes.comparisons, names=votes.systems)


def on_one_item(votes: Comparisons, rows: np.ndarray) -> Comparisons:
    """Keep some rows on item 3 only, and all others."""
    kept = np.flatnonzero(~rows | (votes.item == 3))
    return replace(select_comparisons(votes, kept), weight=np.ones(len(kept)))


@pytest.mark.parametrize("is_panel", [True, False])
def test_system_on_one_item_has_ratings_without_intervals(is_panel: bool) -> None:
    votes = invented_votes().comparisons
    kept = on_one_item(votes, (votes.left == 0) | (votes.right == 0))
    if is_panel:
        kept = replace(kept, rater=np.full(len(kept), -1))

    found = controlled(kept)

    alone = next(row for row in found.systems if row.system == NAMES[0])
    assert (alone.low, alone.high, alone.low_adjusted, alone.high_adjusted) == (None,) * 4
    others = [row for row in found.systems if row is not alone]
    assert all(None not in (row.low, row.high_adjusted) for row in others)
    assert f"No interval for what rests on one of the items only: {NAMES[0]}." in found.warnings


def test_system_of_one_rater_has_no_two_way_interval() -> None:
    votes = invented_votes(n_votes=3_000).comparisons
    is_first = (votes.left == 0) | (votes.right == 0)
    kept = select_comparisons(votes, np.flatnonzero(~is_first | (votes.rater == 0)))

    found = controlled(kept)

    alone = next(row for row in found.systems if row.system == NAMES[0])
    assert (alone.low, alone.low_adjusted) == (None, None)
    assert any(f"one rater alone voted on: {NAMES[0]}" in warning for warning in found.warnings)


def test_covariate_on_one_item_has_no_interval() -> None:
    comparisons, length = votes_with_length()
    length[comparisons.item != 3] = 0

    found = controlled(comparisons, length)

    assert (found.effects[0].low, found.effects[0].high) == (None, None)
    assert any("one of the items only: effect of length" in warning for warning in found.warnings)
    assert all(row.low_adjusted is not None for row in found.systems)


def test_few_items_are_said() -> None:
    votes = invented_votes(n_items=9)

    found = controlled(votes.comparisons)

    assert any("fewer than 10 items" in w and "effect of position" in w for w in found.warnings)


def test_judge_on_one_item_has_traits_without_intervals() -> None:
    votes = invented_votes(n_votes=3_000, n_raters=3).comparisons

    found = judged(on_one_item(votes, votes.rater == 2), ("a", "b", "one item"))

    a, _, judge = found.judges
    assert (judge.discrimination_low, judge.discrimination_high) == (None, None)
    assert (judge.position_bias_low, judge.position_bias_high) == (None, None)
    assert a.discrimination_low is not None
    assert "No interval for what rests on one of the items only: judge one item." in found.warnings


def test_one_judge_has_a_discrimination_of_1_by_definition() -> None:
    found = judged(invented_votes(n_raters=1).comparisons, ("only",))

    (judge,) = found.judges
    assert (judge.discrimination, judge.discrimination_low) == (1, None)
    assert judge.position_bias_low is not None
    assert found.warnings == ()


@pytest.mark.parametrize(("n_against", "is_said"), [(1, False), (2, True)])
def test_judges_who_cancel_each_other_are_said(n_against: int, is_said: bool) -> None:
    """Five equal judges of whom so many answer the other way round: means 3/5 and 1/5 of one."""
    votes = invented_votes(n_votes=6_000, n_raters=5).comparisons
    score = np.where(votes.rater < n_against, 1 - votes.score, votes.score)

    found = judged(replace(votes, score=score), tuple("abcde"))

    assert any("cancels in the mean" in warning for warning in found.warnings) == is_said


def test_judges_come_with_their_traits() -> None:
    rng = np.random.default_rng(2)
    votes = invented_votes(n_raters=3)
    comparisons = replace(votes.comparisons, weight=np.ones(1_200))
    is_random = comparisons.rater == 2
    score = np.where(is_random, rng.integers(0, 2, 1_200).astype(float), comparisons.score)

    found = judged(replace(comparisons, score=score), ("sharp", "sharp too", "random"))

    traits = {judge.judge: judge for judge in found.judges}
    assert np.mean([judge.discrimination for judge in found.judges]) == pytest.approx(1)
    random_high, sharp_low = (
        traits["random"].discrimination_high,
        traits["sharp"].discrimination_low,
    )
    assert random_high is not None
    assert sharp_low is not None
    assert random_high < sharp_low
    assert sum(judge.n_comparisons for judge in found.judges) == 1_200
    for judge in found.judges:
        assert judge.position_bias_low is not None
        assert judge.position_bias_high is not None
        assert judge.position_bias_low < judge.position_bias < judge.position_bias_high
    assert found.interval_used == "item-sandwich"
    assert np.mean([row.elo_adjusted for row in found.systems]) == pytest.approx(1500)


def test_judge_that_always_says_the_same_is_named() -> None:
    votes = invented_votes(n_raters=3)
    score = np.where(votes.comparisons.rater == 1, 1.0, votes.comparisons.score)

    with pytest.raises(NotIdentifiedError, match="always first") as caught:
        judged(replace(votes.comparisons, score=score), ("a", "always first", "c"))

    assert caught.value.ids == ("always first",)
