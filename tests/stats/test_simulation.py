"""Judgments drawn from known strengths, and what they tend to, against other ways to it."""

from dataclasses import replace

import numpy as np
import pytest
from simulated_votes import Population, population_strengths

from hearteval.stats.bradley_terry.covariates import fit_with_covariates
from hearteval.stats.bradley_terry.judge_aware import fit_judge_aware
from hearteval.stats.simulation import (
    Expected,
    Nodes,
    Raters,
    Setting,
    Shown,
    Systems,
    draw_answers,
    expect,
    expected_comparisons,
    find_tie_size,
    preference,
    strengths,
)

THETA = np.array([0.9, 0.2, -0.3, -0.8])
N = len(THETA)


def systems(**given: object) -> Systems:
    plain = Systems(
        theta=THETA,
        on_axes=np.zeros((5, N)),
        on_adversarial=np.zeros(N),
        log_words=np.full(N, np.log(30)),
        completion_sd=np.zeros(N),
        length=0.0,
        n_completions=np.ones(N, dtype=np.int64),
    )
    return replace(plain, **given)  # type: ignore[arg-type]


def raters(n: int = 1, **given: object) -> Raters:
    plain = Raters(
        departure=np.zeros((n, N)),
        position=np.zeros(n),
        own=np.zeros((n, N)),
        may_judge=np.ones((n, N), dtype=bool),
        is_random=np.zeros(n, dtype=bool),
        has_ties=False,
        tie_size=0.0,
    )
    return replace(plain, **given)  # type: ignore[arg-type]


def shown(n: int, **given: object) -> Shown:
    plain = Shown(
        system=(np.zeros(n, dtype=np.int64), np.full(n, N - 1)),
        quality=(np.zeros(n), np.zeros(n)),
        words=(np.full(n, 30.0), np.full(n, 30.0)),
        is_adversarial=np.zeros(n, dtype=bool),
        rater=np.zeros(n, dtype=np.int64),
        cell=np.arange(n),
        is_turned=np.zeros(n, dtype=bool),
    )
    return replace(plain, **given)  # type: ignore[arg-type]


def test_a_preference_is_the_sum_of_what_is_planted() -> None:
    rows = shown(1, quality=(np.array([0.25]), np.array([0.05])))
    rows = replace(
        rows, words=(np.array([60.0]), np.array([20.0])), is_adversarial=np.array([True])
    )
    seen = systems(length=2.0, on_adversarial=np.array([0.0, 0, 0, 0.4]))
    who = raters(
        departure=np.array([[0.1, 0, 0, -0.1]]),
        position=np.array([0.3]),
        own=np.array([[0.0, 0, 0, 0.7]]),
    )
    # 0.9 + 0.8, 0.25 - 0.05, 0.1 + 0.1 - 0.7, - 0.4, 2 (60 - 20) / 80, 0.3
    assert preference(rows, seen, who) == pytest.approx([1.7 + 0.2 - 0.5 - 0.4 + 1.0 + 0.3])


def test_who_answers_at_random_prefers_nothing() -> None:
    who = raters(is_random=np.array([True]), position=np.array([0.3]))
    assert preference(shown(3), systems(), who).tolist() == [0, 0, 0]


def test_choices_follow_bradley_terry() -> None:
    n = 40_000
    said = draw_answers(
        shown(n), systems(), raters(), steadiness=0.5, halo=0.5, rng=np.random.default_rng(1)
    )
    chance = 1 / (1 + np.exp(-1.7))
    assert (said.overall > 0).mean() == pytest.approx(chance, abs=4 * np.sqrt(0.25 / n))
    assert said.axes.shape == (5, n)


@pytest.mark.parametrize("is_steady", [True, False])
def test_a_steady_rater_says_the_same_in_both_orders(is_steady: bool) -> None:
    n = 2_000
    both = shown(
        2 * n,
        system=(np.repeat([0, 3], n), np.repeat([3, 0], n)),
        cell=np.tile(np.arange(n), 2),
        is_turned=np.repeat([False, True], n),
    )
    said = draw_answers(
        both,
        systems(),
        raters(),
        steadiness=float(is_steady),
        halo=0.0,
        rng=np.random.default_rng(2),
    )
    one, other = said.overall.reshape(2, n)
    same = ((one > 0) == (other < 0)).mean()
    assert same == 1 if is_steady else same < 0.9


def test_forced_strengths_are_one_to_five_and_ties_are_small() -> None:
    sizes = np.array([-9.0, -2.0, -0.6, 0.1, 1.2, 3.0])
    assert strengths(sizes, raters()).tolist() == [5, 4, 2, 1, 3, 5]
    five_points = raters(has_ties=True, tie_size=0.5)
    assert strengths(sizes, five_points).tolist() == [4, 4, 2, 0, 2, 4]


@pytest.mark.parametrize(("item_sd", "rater_sd"), [(0.6, 0.3), (1.0, 0.5)])
def test_strengths_tend_to_where_another_integration_says(item_sd: float, rater_sd: float) -> None:
    setting = Setting(rater_sd, 0.0, Nodes(400, 1))
    seen = systems(completion_sd=np.full(N, item_sd))
    found = expect(seen, raters(), setting).theta(use_strength=False)
    limit = population_strengths(Population(theta=THETA, item_sd=item_sd, rater_sd=rater_sd))
    assert found == pytest.approx(limit, abs=2e-3)


def test_a_panel_of_judges_tends_to_where_another_integration_says() -> None:
    panel = np.array([[0.3, 0, 0, -0.3], [0, -0.5, 0.5, 0]])
    setting = Setting(0.0, 0.0, Nodes(400, 1))
    seen = systems(completion_sd=np.full(N, 0.6))
    found = expect(seen, raters(2, departure=panel), setting)
    limit = population_strengths(Population(theta=THETA, item_sd=0.6, panel=panel))
    assert found.theta(use_strength=False) == pytest.approx(limit, abs=2e-3)


def drawn_points(who: Raters, seen: Systems, n: int) -> tuple[float, float, float]:
    """Win, tie and points of system 0 against system 3, by a large draw."""
    rng = np.random.default_rng(3)
    quality = tuple(seen.completion_sd[s] * rng.normal(size=n) for s in (0, 3))
    words = tuple(np.exp(seen.log_words[s] + 0.35 * rng.normal(size=n)) for s in (0, 3))
    rows = shown(n, quality=quality, words=words)
    said = draw_answers(rows, seen, who, steadiness=0.0, halo=0.0, rng=rng).overall
    size = strengths(said, who)
    win, tie = (said > 0) & (size > 0), size == 0
    return win.mean(), tie.mean(), (win * size + tie / 2).mean()


@pytest.mark.parametrize("has_ties", [True, False])
def test_expected_shares_and_points_are_those_of_a_large_draw(has_ties: bool) -> None:
    # The last of them as people who write are: further apart.
    spread = np.array([0.6, 0.6, 0.6, 1.4])
    seen = systems(completion_sd=spread, length=1.0, log_words=np.log([20, 30, 40, 45]))
    who = raters(has_ties=has_ties, tie_size=0.6 * has_ties)
    found: Expected = expect(seen, who, Setting(0.0, 0.0))
    drawn = drawn_points(who, seen, 200_000)
    limits = (found.win[0, 3], found.tie[0, 3], found.points[0, 3])
    assert limits == pytest.approx(drawn, abs=0.008)


def test_ties_are_as_many_as_asked_for() -> None:
    who, seen = raters(has_ties=True), systems(completion_sd=np.full(N, 0.6))
    setting = Setting(0.3, 0.2)
    size = find_tie_size(seen, who, 0.17, setting)
    found = expect(seen, replace(who, tie_size=size), setting)
    assert (found.tie * found.weight).sum() / found.weight.sum() == pytest.approx(0.17, abs=1e-5)
    assert find_tie_size(seen, who, 0.0, setting) == 0


def test_raters_at_random_pull_all_to_one_half() -> None:
    setting = Setting(0.3, 0.0)
    reading = expect(systems(), raters(4), setting)
    mixed = expect(systems(), raters(4, is_random=np.array([True, False, False, False])), setting)
    pulled = reading.win + (0.5 - reading.win) / 4
    np.fill_diagonal(pulled, 0)
    assert mixed.win == pytest.approx(pulled)


def test_pairs_that_no_judge_may_see_have_no_weight() -> None:
    may = np.array([[True, False, True, True], [True, True, False, True]])
    found = expect(systems(), raters(2, may_judge=may), Setting(0.0, 0.0))
    assert found.weight[1, 2] == found.win[1, 2] == 0
    assert (found.weight[0, 1], found.weight[0, 3]) == (1, 2)


def test_without_hidden_differences_fits_give_back_what_was_planted() -> None:
    seen = systems(length=1.2, log_words=np.log([20, 30, 40, 45]))
    setting = Setting(0.0, 0.0, Nodes(1, 12))
    weight = np.ones((N, N))
    comparisons, longer = expected_comparisons(
        seen, raters(position=np.array([0.4])), setting, weight
    )
    fit = fit_with_covariates(comparisons, np.stack((longer, np.ones(len(longer))), axis=1))
    assert fit.theta == pytest.approx(THETA - THETA.mean(), abs=1e-6)
    assert fit.beta == pytest.approx([1.2, 0.4], abs=1e-6)


def test_each_judges_own_side_is_given_back() -> None:
    who = raters(3, position=np.array([0.4, 0.0, -0.2]))
    comparisons, _ = expected_comparisons(
        systems(), who, Setting(0.0, 0.0, Nodes(1, 1)), np.ones((N, N))
    )
    fit = fit_judge_aware(comparisons)
    assert fit.position_bias == pytest.approx([0.4, 0.0, -0.2], abs=1e-6)
    assert fit.discrimination == pytest.approx([1, 1, 1], abs=1e-6)
