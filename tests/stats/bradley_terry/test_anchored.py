"""Anchored strengths against brute force, against what is plain by hand, and by coverage."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.optimize import brentq
from scipy.stats import norm

from hearteval.errors import NotIdentifiedError
from hearteval.stats.bradley_terry.anchored import DOUBT, DOUBT_OF_ENDS, anchor
from hearteval.stats.bradley_terry.measured import Measured
from hearteval.stats.comparisons import FloatArray, IntArray

MODELS = np.zeros(9, dtype=np.int64)
N_STUDIES = 150


def measured(
    people: FloatArray,
    judges: FloatArray,
    se: FloatArray | float,
    *,
    se_of_judges: float = 0.0,
    group: IntArray | None = None,
) -> Measured:
    """Return strengths whose errors are independent."""
    n, n_judges = judges.shape
    variances = np.concatenate(
        (np.broadcast_to(se, n), np.full(n * n_judges, se_of_judges, dtype=np.float64))
    )
    return Measured(
        people=people,
        group=np.zeros(n, dtype=np.int64) if group is None else group,
        judges=judges,
        errors=np.diag(variances**2),
    )


def drawn(n: int, seed: int, *, tau: float = 0.3, se: float = 0.2, slope: float = 0.8) -> Measured:
    """Return systems that a judge ranks and people rank alike but for tau."""
    rng = np.random.default_rng(seed)
    judge = rng.normal(0, 0.8, n)
    people = slope * judge + rng.normal(0, tau, n) + rng.normal(0, se, n)
    return measured(people, judge[:, None], se)


def residual_variance(y: FloatArray, columns: FloatArray) -> float:
    left = y - columns @ np.linalg.lstsq(columns, y, rcond=None)[0]
    return float(left @ left) / (len(y) - int(np.linalg.matrix_rank(columns)))


def brute_force(
    found: Measured, columns: FloatArray, n_judges: int, carried: FloatArray, system: int
) -> tuple[float, float, float]:
    """Integrate tau on a fine grid, beta under a prior so wide that it is flat.

    All is one normal vector at each tau: theta = X beta + delta - sum b e_judge, and what people
    saw, differences of theta + e_people from the first of their group.
    """
    n = len(found.people)
    differences = []
    for number in np.unique(found.group[found.group >= 0]):
        first, *others = np.flatnonzero(found.group == number)
        differences += [np.eye(n)[other] - np.eye(n)[first] for other in others]
    seen = np.array(differences)
    y = seen @ found.people
    centre = np.eye(n)[system] - 1 / n
    joint = found.errors.reshape(1 + n_judges, n, 1 + n_judges, n)
    of_judges = np.einsum("j,jakb,k->ab", carried, joint[1:, :, 1:], carried)
    with_people = np.einsum("j,jab->ab", -carried, joint[1:, :, 0])
    wide = 1e4 * columns @ columns.T
    # Helmert's or any other orthonormal differences give the same sums of squares.
    turn = np.linalg.inv(np.linalg.cholesky(seen @ seen.T))
    apart = residual_variance(turn @ y, turn @ seen @ columns[:, n_judges:])
    tau = np.linspace(1e-4, 8, 4_000)
    each, more = (one[:, None, None] for one in (np.tile(tau, 2), np.repeat([0.0, apart], 4_000)))
    of_a = wide + each**2 * np.eye(n) + of_judges + more * np.diag(np.arange(n) == system)
    with_y = (of_a + with_people) @ seen.T
    of_y = seen @ (of_a + with_people + with_people.T + joint[0, :, 0]) @ seen.T
    gain = np.linalg.solve(of_y, with_y.transpose(0, 2, 1)).transpose(0, 2, 1)
    log_density = (
        -(np.linalg.slogdet(of_y).logabsdet + np.linalg.solve(of_y, y[:, None])[..., 0] @ y) / 2
    )
    density = np.exp(log_density - log_density.max()).reshape(2, -1)
    mean = (centre @ gain @ y).reshape(2, -1)
    sd = np.sqrt(centre @ (of_a - gain @ with_y.transpose(0, 2, 1)) @ centre).reshape(2, -1)

    def average(of: FloatArray, doubt: float) -> float:
        prior = np.array([1 - doubt, doubt])[:, None]
        return float(
            trapezoid((prior * density * of).sum(axis=0), tau)
            / trapezoid((prior * density).sum(axis=0), tau)
        )

    def end(p: float) -> float:
        def excess(at: float) -> float:
            return average(norm.cdf((at - mean) / sd), DOUBT_OF_ENDS) - p

        return float(brentq(excess, -20, 20))

    return average(mean, DOUBT), end(0.025), end(0.975)


@pytest.mark.parametrize("system", [0, 6, 7, 8])
def test_strengths_are_those_of_brute_force(system: int) -> None:
    """System 6 is one of two people, 7 one that no judge saw, 8 one that people did not see."""
    rng = np.random.default_rng(1)
    judges = rng.normal(0, 0.8, (10, 1))
    people = 0.7 * judges[:, 0] + rng.normal(0, 0.4, 10)
    judges[7] = np.nan
    kind = np.array([0, 0, 0, 0, 0, 0, 1, 0, 0, 1])
    root = rng.normal(0, 0.1, (20, 20))
    errors = root @ root.T
    errors[17] = errors[:, 17] = 0.0
    group = np.where(np.arange(10) == 8, -1, 0)
    found = Measured(people=people, group=group, judges=judges, errors=errors)

    result = anchor(found, kind, level=0.95)

    columns = np.stack((np.nan_to_num(judges[:, 0]), kind == 1, np.arange(10) == 7), axis=1).astype(
        np.float64
    )
    expected = brute_force(found, columns, 1, result.slopes.estimate, system)
    values = [ends[system] for ends in result.theta]
    np.testing.assert_allclose(values, expected, atol=4e-3)


def test_two_judges_and_separate_groups_are_those_of_brute_force() -> None:
    rng = np.random.default_rng(2)
    judges = rng.normal(0, 0.8, (11, 2))
    people = judges @ [0.5, 0.4] + rng.normal(0, 0.3, 11)
    group = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1])
    found = measured(people, judges, 0.2, group=group)

    result = anchor(found, np.zeros(11, dtype=np.int64), level=0.95)

    expected = brute_force(found, judges, 2, np.zeros(2), 3)
    np.testing.assert_allclose([ends[3] for ends in result.theta], expected, atol=4e-3)


def test_balanced_strengths_are_shrunk_by_the_formula_of_the_normal_mean() -> None:
    """Of 300 systems, w = tau^2 / (tau^2 + se^2) is all but known (Efron and Morris 1973)."""
    found = drawn(300, 0, tau=0.3, se=0.3, slope=0.8)

    result = anchor(found.without_judges(), np.zeros(300, dtype=np.int64), level=0.95, doubt=0.0)

    spread = found.people.var(ddof=1)
    expected = (1 - 0.3**2 / spread) * (found.people - found.people.mean())
    middle = (result.theta.low + result.theta.high) / 2
    np.testing.assert_allclose(middle, expected, rtol=0.01)
    assert result.tau.estimate[0] == pytest.approx(np.sqrt(spread - 0.3**2), abs=0.01)
    assert np.median(result.weight) == pytest.approx(1 - 0.3**2 / spread, abs=0.02)


def test_exact_votes_give_the_slope_and_the_offset_of_least_squares() -> None:
    judge = np.array([-1.2, -0.7, -0.1, 0.2, 0.4, 0.9, 1.3, 0.0, 0.5])
    kind = np.array([0, 0, 0, 0, 0, 0, 0, 1, 1])
    people = 0.6 * judge + 0.5 * kind + np.array([1, -1, 2, -2, 1, 0, -1, 1, -1]) * 1e-3

    result = anchor(measured(people, judge[:, None], 1e-6), kind, level=0.95)

    design = np.stack((judge, kind, np.ones(9)), axis=1)
    slope, offset, _ = np.linalg.lstsq(design, people, rcond=None)[0]
    assert result.slopes.estimate[0] == pytest.approx(slope, abs=1e-6)
    np.testing.assert_allclose(result.offsets.estimate, [0, offset], atol=1e-6)
    np.testing.assert_allclose(result.theta.estimate, people - people.mean(), atol=1e-5)
    assert result.tau.low[0] < 1.7e-3 < result.tau.high[0]


def test_system_that_no_judge_placed_follows_people_alone() -> None:
    found = drawn(9, 3)
    found.judges[4] = np.nan
    higher = replace(found, people=found.people + np.where(np.arange(9) == 4, 0.7, 0.0))

    before, after = (anchor(each, MODELS, level=0.95) for each in (found, higher))

    moved = after.theta.estimate - before.theta.estimate
    others = np.delete(moved, 4)
    np.testing.assert_allclose(moved[4] - others, 0.7, atol=1e-9)
    assert before.weight[4] == pytest.approx(1)
    assert np.delete(before.weight, 4).max() < 0.95


def test_only_person_among_models_gains_nothing_from_judges() -> None:
    found = drawn(9, 4)
    kind = np.where(np.arange(9) == 2, 1, 0)
    unseen = replace(found, judges=np.where(kind[:, None] == 1, np.nan, found.judges))

    as_kind, as_unseen = anchor(found, kind, level=0.95), anchor(unseen, MODELS, level=0.95)

    for ends, expected in zip(as_kind.theta, as_unseen.theta, strict=True):
        np.testing.assert_allclose(ends, expected, atol=1e-9)
    assert as_kind.weight[2] == pytest.approx(1)


def test_system_that_people_did_not_compare_is_what_judges_imply() -> None:
    found = drawn(10, 5)
    group = np.where(np.arange(10) == 3, -1, 0)
    unseen, moved = (
        replace(found, group=group, people=people)
        for people in (found.people, found.people + 9.0 * (group < 0))
    )

    result, again = (
        anchor(each, np.zeros(10, dtype=np.int64), level=0.95) for each in (unseen, moved)
    )

    np.testing.assert_array_equal(result.theta.estimate, again.theta.estimate)
    assert result.weight[3] == 0
    assert result.doubt[3] == pytest.approx(DOUBT)
    width = result.theta.high - result.theta.low
    assert width[3] > np.delete(width, 3).max()


def test_groups_that_people_never_joined_are_placed_by_judges_alone() -> None:
    found = drawn(12, 6)
    group = np.repeat([0, 1], 6)
    kind = np.zeros(12, dtype=np.int64)
    apart, shifted = (
        replace(found, group=group, people=people)
        for people in (found.people, found.people + 5.0 * group)
    )

    result, again = anchor(apart, kind, level=0.95), anchor(shifted, kind, level=0.95)

    np.testing.assert_allclose(result.theta.estimate, again.theta.estimate, atol=1e-9)
    gap = result.theta.estimate[6:].mean() - result.theta.estimate[:6].mean()
    implied = result.slopes.estimate[0] * found.judges[:, 0]
    assert gap == pytest.approx(implied[6:].mean() - implied[:6].mean(), abs=0.1)


def test_kind_that_people_never_compared_with_another_has_no_place() -> None:
    found = replace(drawn(10, 7), group=np.array([0] * 7 + [1] * 3))
    kind = np.array([0] * 7 + [1] * 3)

    result = anchor(found, kind, level=0.95)

    assert np.isnan([ends[7:] for ends in (*result.theta, result.weight)]).all()
    assert np.isfinite([ends[:7] for ends in result.theta]).all()
    assert np.isnan([ends[1] for ends in result.offsets]).all()
    assert result.theta.estimate[:7].mean() == pytest.approx(0, abs=0.02)


def test_system_without_any_votes_has_no_place() -> None:
    found = replace(drawn(9, 8), group=np.where(np.arange(9) == 0, -1, 0))
    found.judges[0] = np.nan

    result = anchor(found, MODELS, level=0.95)

    assert np.isnan(result.theta.estimate[0])
    assert np.isfinite(result.theta.estimate[1:]).all()


def test_order_of_systems_changes_nothing() -> None:
    found = drawn(9, 9)
    order = np.random.default_rng(0).permutation(9)
    both = np.concatenate((order, 9 + order))
    turned = Measured(
        people=found.people[order],
        group=found.group,
        judges=found.judges[order],
        errors=found.errors[np.ix_(both, both)],
    )

    result, again = anchor(found, MODELS, level=0.95), anchor(turned, MODELS, level=0.95)

    for ends, others in zip(result.theta, again.theta, strict=True):
        np.testing.assert_allclose(ends[order], others, atol=1e-7)


def test_strengths_of_judges_in_other_units_give_other_slopes_alone() -> None:
    found = drawn(9, 10)
    tripled = replace(found, judges=3 * found.judges + 1)

    result, again = anchor(found, MODELS, level=0.95), anchor(tripled, MODELS, level=0.95)

    np.testing.assert_allclose(result.theta.estimate, again.theta.estimate, atol=1e-8)
    np.testing.assert_allclose(result.slopes.estimate, 3 * again.slopes.estimate, atol=1e-8)


def test_errors_of_judges_count_as_misses_that_votes_explain() -> None:
    found = drawn(9, 11)
    uncertain = measured(found.people, found.judges, 0.2, se_of_judges=0.3)

    exact, carried = anchor(found, MODELS, level=0.95), anchor(uncertain, MODELS, level=0.95)

    assert carried.tau.estimate[0] < 0.8 * exact.tau.estimate[0]


def test_system_far_from_what_judges_imply_is_doubted_and_left_to_people() -> None:
    found = drawn(12, 12, tau=0.05, se=0.1)
    found.people[5] += 1.5

    result = anchor(found, np.zeros(12, dtype=np.int64), level=0.95)

    assert result.doubt[5] > 0.9
    assert np.delete(result.doubt, 5).max() < 0.3
    people = found.people - found.people.mean()
    assert result.theta.low[5] < people[5] < result.theta.high[5]


@pytest.mark.parametrize(
    ("n", "kind", "judges", "said"),
    [
        (5, [0] * 5, 1, "here it is 5"),
        (10, [0] * 5 + [1] * 5, 1, "here it is 5"),
        (6, [0] * 6, 2, "tell 5 differences of systems; judges, kinds .* use 2 of them"),
    ],
)
def test_too_few_systems_are_refused(n: int, kind: list[int], judges: int, said: str) -> None:
    rng = np.random.default_rng(0)
    found = measured(rng.normal(0, 1, n), rng.normal(0, 1, (n, judges)), 0.2)

    with pytest.raises(NotIdentifiedError, match=said):
        anchor(found, np.array(kind), level=0.95)


def test_judges_that_rank_alike_are_refused() -> None:
    found = drawn(9, 13)
    twice = measured(found.people, np.tile(found.judges, 2), 0.2)

    with pytest.raises(NotIdentifiedError, match="too much like another"):
        anchor(twice, MODELS, level=0.95)


def test_judge_whose_votes_are_those_of_people_is_refused() -> None:
    found = drawn(9, 17)
    same = measured(found.people, 1.5 * found.people[:, None], 0.2)

    with pytest.raises(NotIdentifiedError, match="to the last digit"):
        anchor(same, MODELS, level=0.95)


def test_people_who_compared_nothing_are_refused() -> None:
    found = replace(drawn(9, 14), group=np.full(9, -1))

    with pytest.raises(NotIdentifiedError, match="here it is 0"):
        anchor(found, MODELS, level=0.95)


def test_votes_that_tell_no_system_from_another_are_refused_or_leave_all_open() -> None:
    even = measured(np.zeros(9), drawn(9, 16).judges, 0.2)

    result = anchor(even, MODELS, level=0.95)

    np.testing.assert_allclose(result.theta.estimate, 0, atol=1e-9)
    assert result.tau.high[0] > 0.05
    with pytest.raises(NotIdentifiedError, match="all are alike"):
        anchor(replace(even, errors=np.zeros_like(even.errors)), MODELS, level=0.95)


def covered(off: float) -> dict[float, tuple[float, float, float]]:
    """Return, by doubt, coverage over systems and of the first, and width beside people alone."""
    rng = np.random.default_rng(15)
    kind, doubts = np.zeros(12, dtype=np.int64), (0.0, DOUBT_OF_ENDS)
    inside, widths = np.zeros((2, 12)), np.zeros(2)
    for _ in range(N_STUDIES):
        judge = rng.normal(0, 0.8, 12)
        truth = 0.8 * judge + rng.normal(0, 0.15, 12)
        truth[0] += off
        votes = measured(truth + rng.normal(0, 0.25, 12), judge[:, None], 0.25)
        truth -= truth.mean()
        for k, doubt in enumerate(doubts):
            _, low, high = anchor(votes, kind, level=0.95, doubt=doubt).theta
            inside[k] += (low <= truth) & (truth <= high)
            widths[k] += (high - low).mean() / 2
    alone = 1.96 * 0.25 * np.sqrt(11 / 12)
    shares, widths = inside / N_STUDIES, widths / N_STUDIES / alone
    return {
        doubt: (float(shares[k].mean()), float(shares[k, 0]), float(widths[k]))
        for k, doubt in enumerate(doubts)
    }


def test_intervals_cover_and_are_narrower_than_of_people_alone() -> None:
    found = covered(off=0.0)

    overall, _, width = found[0.0]
    assert 0.93 <= overall <= 0.985
    assert width < 0.75
    overall, _, width = found[DOUBT_OF_ENDS]
    assert overall >= 0.95
    assert width < 0.9


def test_system_that_judges_misjudge_is_covered_by_cautious_intervals() -> None:
    """The standard error of its share is about .03."""
    found = covered(off=1.0)

    overall, misjudged, width = found[DOUBT_OF_ENDS]
    assert overall >= 0.93
    assert misjudged >= 0.85 - 0.03
    assert width < 1
    assert found[0.0][1] < misjudged - 0.05
