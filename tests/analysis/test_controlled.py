"""Raw and adjusted ratings side by side: same kind of interval, named when not determined."""

from dataclasses import replace

import numpy as np
import pytest
from invented_votes import NAMES, decided, invented_votes

from heartbench.analysis.controlled import control, rate_judge_aware
from heartbench.analysis.rank_policy import RankPolicy
from heartbench.analysis.vote_ranking import rank_votes
from heartbench.errors import NotIdentifiedError
from heartbench.stats.comparisons import Comparisons

ONE_SIDE = np.ones((1_200, 1))


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
    plain = {row.system: row for row in rank_votes(votes, RankPolicy(), columns={}).systems}

    found = control(
        replace(votes.comparisons, weight=np.ones(1_200)),
        ONE_SIDE,
        names=votes.systems,
        covariate_names=["position"],
        level=0.95,
    )

    assert found.interval_used == "two-way"
    assert found.df == 5
    for row in found.systems:
        assert row.elo == pytest.approx(plain[row.system].elo)
        assert row.low == pytest.approx(plain[row.system].low)
        assert row.high == pytest.approx(plain[row.system].high)


def test_effect_of_a_covariate_is_found_with_its_interval() -> None:
    comparisons, length = votes_with_length()

    found = control(comparisons, length, names=NAMES[:5], covariate_names=["length"], level=0.95)

    (effect,) = found.effects
    assert effect.covariate == "length"
    assert 0 < effect.low < effect.beta < effect.high
    assert effect.win_rate == pytest.approx(1 / (1 + np.exp(-effect.beta)))


def test_adjusted_ratings_mean_1500_and_come_best_first() -> None:
    comparisons, length = votes_with_length()

    found = control(comparisons, length, names=NAMES[:5], covariate_names=["length"], level=0.95)

    adjusted = [row.elo_adjusted for row in found.systems]
    assert np.mean(adjusted) == pytest.approx(1500)
    assert adjusted == sorted(adjusted, reverse=True)
    assert all(row.low_adjusted < row.elo_adjusted < row.high_adjusted for row in found.systems)


@pytest.mark.parametrize("rater", [np.full(1_200, -1), np.arange(1_200) % 4])
def test_raters_that_are_no_sample_leave_the_item_sandwich(rater: np.ndarray) -> None:
    comparisons, length = votes_with_length()

    found = control(
        replace(comparisons, rater=rater),
        length,
        names=NAMES[:5],
        covariate_names=["length"],
        level=0.95,
    )

    assert (found.interval_used, found.df) == ("item-sandwich", 39)


def test_covariate_that_is_not_determined_is_named() -> None:
    comparisons, length = votes_with_length()
    both = np.column_stack((length, np.zeros(1_200)))

    with pytest.raises(NotIdentifiedError, match="formatting") as caught:
        control(
            comparisons,
            both,
            names=NAMES[:5],
            covariate_names=["length", "formatting"],
            level=0.95,
        )

    assert caught.value.ids == ("formatting",)


def test_groups_that_never_met_are_named() -> None:
    votes = decided([(0, 1), (1, 0), (2, 3), (3, 2)], ("ash", "birch", "cedar", "dogwood"))

    with pytest.raises(NotIdentifiedError, match=r"ash, birch \| cedar, dogwood"):
        control(
            votes.comparisons,
            np.ones((4, 1)),
            names=votes.systems,
            covariate_names=["position"],
            level=0.95,
        )


def test_judges_come_with_their_traits() -> None:
    rng = np.random.default_rng(2)
    votes = invented_votes(n_raters=3)
    comparisons = replace(votes.comparisons, weight=np.ones(1_200))
    is_random = comparisons.rater == 2
    score = np.where(is_random, rng.integers(0, 2, 1_200).astype(float), comparisons.score)

    found = rate_judge_aware(
        replace(comparisons, score=score),
        names=votes.systems,
        judges=("sharp", "sharp too", "random"),
        level=0.95,
    )

    traits = {judge.judge: judge for judge in found.judges}
    assert np.mean([judge.discrimination for judge in found.judges]) == pytest.approx(1)
    assert traits["random"].discrimination_high < traits["sharp"].discrimination_low
    assert sum(judge.n_comparisons for judge in found.judges) == 1_200
    assert all(j.position_bias_low < j.position_bias < j.position_bias_high for j in found.judges)
    assert found.interval_used == "item-sandwich"
    assert np.mean([row.elo_adjusted for row in found.systems]) == pytest.approx(1500)


def test_judge_that_always_says_the_same_is_named() -> None:
    votes = invented_votes(n_raters=3)
    score = np.where(votes.comparisons.rater == 1, 1.0, votes.comparisons.score)

    with pytest.raises(NotIdentifiedError, match="always first") as caught:
        rate_judge_aware(
            replace(votes.comparisons, score=score),
            names=votes.systems,
            judges=("a", "always first", "c"),
            level=0.95,
        )

    assert caught.value.ids == ("always first",)
