"""The gate: published bounds, hand-computed tests, and what it may never call equivalent."""

import math

import numpy as np
import pytest
import scipy.optimize
import scipy.stats
from numpy.typing import ArrayLike

from hearteval.stats.gate import (
    BETTER,
    EQUIVALENT,
    INCONCLUSIVE,
    OUTCOMES,
    WORSE,
    GateResult,
    GateRule,
    Moments,
    decide,
    holm_adjusted,
    judge_gate,
    look_sizes,
    moments,
    nominal_levels,
    outcome_of,
    take_looks,
)

ONE_LOOK = GateRule()


def found(mean: ArrayLike, se: ArrayLike, n: float = 1e9) -> Moments:
    mean, se = np.asarray(mean, dtype=float), np.asarray(se, dtype=float)
    return Moments(mean, np.broadcast_to(se, mean.shape), np.full(mean.shape, n), 0 * mean)


def judged(scores: np.ndarray, rule: GateRule = ONE_LOOK, n_planned: int = 0) -> GateResult:
    return judge_gate(
        scores,
        [1.0] * scores.shape[1],
        rule,
        look=rule.n_looks,
        n_planned=n_planned or len(scores),
        rng=np.random.default_rng(1),
    )


@pytest.mark.parametrize(
    ("n_looks", "bounds"), [(1, [1.960]), (5, [4.877, 3.357, 2.680, 2.290, 2.031])]
)
def test_bounds_are_those_published_for_spending_as_obrien_and_fleming(
    n_looks: int, bounds: list[float]
) -> None:
    """Two-sided .05, equal looks, the O'Brien-Fleming-type spending of Lan and DeMets 1983."""
    levels = nominal_levels(0.025, n_looks)

    assert scipy.stats.norm.isf(levels) == pytest.approx(bounds, abs=6e-4)


@pytest.mark.parametrize("alpha", [0.05, 0.05 / 12])
def test_looks_together_spend_what_they_may(alpha: float) -> None:
    """A normal of five equal steps, integrated by scipy over all that stays inside."""
    bounds = scipy.stats.norm.isf(nominal_levels(alpha, 3))
    steps = np.arange(1, 4)
    correlation = np.sqrt(np.minimum.outer(steps, steps) / np.maximum.outer(steps, steps))

    inside = scipy.stats.multivariate_normal(cov=correlation).cdf(bounds)

    assert 1 - inside == pytest.approx(alpha, rel=2e-3)


def test_holms_p_by_hand() -> None:
    assert holm_adjusted(np.array([0.04, 0.01, 0.03, 0.005])) == pytest.approx(
        [0.06, 0.03, 0.06, 0.02]
    )


def test_holm_stops_at_the_first_that_is_not_rejected() -> None:
    """z of 2.7, 2.2 and 1.97: .0069 < .05/3; .0278 > .05/2, so the last does not count either."""
    verdicts = decide(found([-2.7, 2.2, 1.97], 1), np.ones(3), ONE_LOOK, 1)

    assert verdicts.tolist() == [WORSE, INCONCLUSIVE, INCONCLUSIVE]


def test_equivalent_is_what_both_one_sided_tests_say() -> None:
    """At 1.645 standard errors from the nearer end of the margin, and just not."""
    se = 0.02
    means = [0.05 - 1.66 * se, -(0.05 - 1.66 * se), 0.05 - 1.63 * se]

    verdicts = [decide(found([m], se), np.ones(1), ONE_LOOK, 1)[0] for m in means]

    assert verdicts == [EQUIVALENT, EQUIVALENT, INCONCLUSIVE]


def test_a_difference_that_is_seen_counts_though_it_is_within_the_margin() -> None:
    assert decide(found([-0.03, 0.03], 0.01), np.ones(2), ONE_LOOK, 1).tolist() == [WORSE, BETTER]


@pytest.mark.parametrize(("n_won", "n_items"), [(9, 12), (14, 40), (0, 20), (170, 300)])
def test_where_all_is_won_or_lost_it_is_the_exact_binomial_test(n_won: int, n_items: int) -> None:
    """Clopper and Pearson's interval, by scipy: what Gaffke's bound is for two values."""
    scores = np.repeat([0.5, -0.5], [n_won, n_items - n_won])[:, None]
    exact = scipy.stats.binomtest(n_won, n_items)
    ends = np.array(exact.proportion_ci(method="exact")) - 0.5

    one = judged(scores).tests[0]

    assert one.p == pytest.approx(exact.pvalue, abs=0.01)
    assert [one.low, one.high] == pytest.approx(ends, abs=0.006)


@pytest.mark.parametrize(
    ("values", "times"), [([0.25, -0.25, 0.0, 0.0], 16), ([0.125, 0.125, 0.125, -0.5], 6)]
)
def test_p_is_that_of_the_scores_and_one_more_under_exponential_weights(
    values: list[float], times: int
) -> None:
    """Gaffke 2005, drawn: each bound with one more score at its end, weights exponential."""
    scores = np.array(values * times)
    weights = np.random.default_rng(2).exponential(size=(100_000, len(scores) + 1))
    total = weights.sum(axis=1)
    low, high = (weights @ np.append(scores, end) for end in (-0.5, 0.5))
    p = 2 * min(np.mean(low <= 0), np.mean(high >= 0), 0.5)
    outside = np.mean(low <= -0.05 * total), np.mean(high >= 0.05 * total)

    one = judged(scores[:, None]).tests[0]

    assert one.p == pytest.approx(p, abs=0.01)
    assert one.p_equivalent == pytest.approx(max(outside), abs=0.01)


def test_what_was_never_met_may_still_be_a_fifth() -> None:
    """All of 20 won by an eighth: were a fifth lost by one half, none would be met in .8^20."""
    scores = np.full((20, 1), 0.125)

    assert judged(scores).tests[0].p == pytest.approx(2 * 0.8**20)


@pytest.mark.parametrize("n_lost", [1, 2])
def test_rare_losses_are_not_ruled_out_by_the_few_that_were_met(n_lost: int) -> None:
    """Where a tenth of all dialogues is lost, the truth is the margin, and 40 show at most two of
    them in .22 of all draws; t alone called a few losses equivalent."""
    scores = np.zeros((40, 1))
    scores[:n_lost] = -0.5

    assert judged(scores).tests[0].verdict == "inconclusive"


def test_few_losses_among_small_wins_are_no_proof_of_better() -> None:
    """A fifth lost by .5, the rest won by .125, come to one half; 20 show one loss in .06."""
    scores = np.full((20, 6), 0.125)
    scores[0] = -0.5

    assert {one.verdict for one in judged(scores).tests} == {"inconclusive"}


def test_a_test_without_a_score_has_no_difference() -> None:
    scores = np.array([[0.5, np.nan], [0.25, np.nan]])

    one = judge_gate(
        scores, [1.0, 0.0], ONE_LOOK, look=1, n_planned=2, rng=np.random.default_rng(1)
    ).tests[1]

    assert (one.difference, one.low, one.p, one.n_wanted) == (None, None, None, None)
    assert one.verdict == "inconclusive"


def test_missing_scores_are_left_out_of_their_test_only() -> None:
    scores = np.array([[0.5, np.nan], [0.0, 0.25], [-0.25, 0.5], [0.25, np.nan]])

    mean, se, n, _ = moments(scores)

    assert mean.tolist() == [0.125, 0.375]
    assert n.tolist() == [4, 2]
    assert se == pytest.approx([np.std(scores[:, 0], ddof=1) / 2, 0.125])


def test_a_judge_that_answers_by_position_alone_proves_nothing() -> None:
    """Every item then comes to one half, without any spread: 30 of them are no precision."""
    result = judged(np.zeros((30, 6)))

    assert {one.verdict for one in result.tests} == {"inconclusive"}
    assert result.outcome == "inconclusive"


def test_too_little_coverage_is_inconclusive_whatever_the_scores_say() -> None:
    verdicts = decide(found([-0.4, -0.4], 0.01), np.array([0.89, 0.9]), ONE_LOOK, 1)

    assert verdicts.tolist() == [INCONCLUSIVE, WORSE]


@pytest.mark.parametrize(
    ("verdicts", "outcome"),
    [
        ([BETTER, EQUIVALENT], "passed"),
        ([BETTER, INCONCLUSIVE], "inconclusive"),
        ([WORSE, INCONCLUSIVE], "failed"),
    ],
)
def test_outcome_is_the_worst_of_its_tests(verdicts: list[int], outcome: str) -> None:
    assert OUTCOMES[int(outcome_of(np.array(verdicts)))] == outcome


def test_the_mirror_of_a_gate_is_its_mirror() -> None:
    scores = np.random.default_rng(3).choice([-0.5, 0, 0.25, 0.5], size=(60, 3))

    one, other = judged(scores), judged(-scores)

    swapped = {"worse": "better", "better": "worse"}
    assert [swapped.get(t.verdict, t.verdict) for t in one.tests] == [
        t.verdict for t in other.tests
    ]
    assert [t.difference for t in one.tests] == pytest.approx(
        -np.array([t.difference for t in other.tests], dtype=float)
    )


def test_a_gate_stops_at_the_first_look_that_decides() -> None:
    rule = GateRule(n_looks=2)
    looks = [found([[0.0], [-0.9], [0.0]], [[0.001], [0.1], [0.1]]), found([[0.0]] * 3, 0.001)]

    verdicts, taken = take_looks(looks, np.ones(1), rule)

    assert verdicts[:, 0].tolist() == [EQUIVALENT, WORSE, EQUIVALENT]
    assert taken.tolist() == [1, 1, 2]


def test_looks_are_equally_spaced_and_the_last_has_every_item() -> None:
    assert look_sizes(280, 5) == (56, 112, 168, 224, 280)
    assert look_sizes(7, 3) == (3, 5, 7)


def test_power_and_smallest_effect_are_those_of_the_closed_form() -> None:
    """SD .5 on 1,000 items: SE .01582; equivalent where |mean| is under .05 - 1.646 SE."""
    scores = np.repeat([[0.5], [-0.5]], 500, axis=0)
    within = 2 * scipy.stats.norm.cdf(0.05 / 0.01582 - 1.646) - 1
    seen = 0.01582 * (1.9600 + 0.8416)

    result = judged(scores)

    assert result.power == pytest.approx(within, abs=0.01)
    assert result.power_to_pass >= result.power
    assert result.false_alarms == pytest.approx(0.025, abs=0.008)
    assert result.smallest_effect == pytest.approx(seen, rel=0.02)


def test_items_wanted_are_those_of_the_closed_form() -> None:
    """No difference, SD .3, margin .05: (.3 (1.645 + 1.282)/.05)² = 308.3."""
    scores = np.array([[0.3], [-0.3]] * 20)
    sd = np.std(scores, ddof=1)
    expected = math.ceil((sd * (1.644854 + 1.281552) / 0.05) ** 2)

    result = judged(scores)

    assert result.tests[0].n_wanted == expected
    assert result.n_more == expected - 40


def test_the_smallest_effect_is_seen_in_four_of_five_studies() -> None:
    """Most are ties: 80 % at no difference. Drawn with that effect, by shares that are tilted."""
    values, shares = np.array([-0.5, 0.0, 0.5]), np.array([0.1, 0.8, 0.1])
    effect = judged(np.repeat(values, [10, 80, 10])[:, None]).smallest_effect
    assert effect is not None
    slope = scipy.optimize.brentq(
        lambda t: np.average(values, weights=shares * np.exp(t * values)) + effect, -50, 0
    )
    tilted = shares * np.exp(slope * values)
    rng = np.random.default_rng(3)
    drawn = rng.choice(values, p=tilted / tilted.sum(), size=(4_000, 100, 1))

    verdicts = decide(moments(drawn), np.ones(1), ONE_LOOK, 1)

    assert 0.77 < np.mean(verdicts == WORSE) < 0.87


@pytest.mark.parametrize("scores", [[0.5, -0.5, 0.0], [0.5]])
def test_of_one_to_three_dialogues_no_difference_is_large_enough(scores: list[float]) -> None:
    assert judged(np.array(scores)[:, None]).smallest_effect is None


def test_a_settled_gate_wants_no_more_items() -> None:
    assert judged(np.array([[0.01], [-0.01]] * 20)).n_more is None


@pytest.mark.parametrize(
    "said", [{"margin": 0.0}, {"margin": 0.5}, {"alpha": 1.0}, {"n_looks": 0}, {"n_looks": 11}]
)
def test_numbers_out_of_range_are_refused(said: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"expected|between"):
        GateRule(**said)  # type: ignore[arg-type]
