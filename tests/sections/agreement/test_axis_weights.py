"""Implied weights of the axes: another package's fit, planted weights, and none where none are."""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from judged_study import make_items

from hearteval.analysis.columns import JudgmentColumns, Names, PackedMarks
from hearteval.domain import AXES, Rater
from hearteval.sections.agreement.weights import (
    NO_SUM,
    SEPARATED,
    AxisWeights,
    fit_logistic,
    weigh_axes,
)
from hearteval.stats.comparisons import FloatArray, IntArray

EVEN = np.full(5, 0.2)
FAVOUR_A_AND_R = np.array([0.1, 0.1, 0.35, 0.35, 0.1])
STEEP = 6.0
"""Sum of the coefficients."""
JUDGES = [Rater(name=f"j{k}", kind="llm", family=f"j{k}", settings={"k": k}) for k in range(3)]


def columns(
    draw: np.random.Generator,
    of_judges: FloatArray | None,
    of_people: FloatArray | None,
    *,
    n_items: int = 40,
    n_people: int = 8,
    ties: float = 0.0,
) -> JudgmentColumns:
    """Draw judgments whose choice follows the marks with given weights; items lean alike."""
    people = [Rater(name=f"r{k}", kind="human", family="human") for k in range(n_people)]
    raters = (*JUDGES, *people)
    n_each = 6
    item, rater = (
        np.repeat(np.arange(n_items), n_each * len(raters)),
        np.tile(np.repeat(np.arange(len(raters)), n_each), n_items),
    )
    keep = np.ones(len(item), dtype=bool)
    is_person = rater >= len(JUDGES)
    for weights, is_kind in ((of_judges, ~is_person), (of_people, is_person)):
        if weights is None:
            keep &= ~is_kind
    lean = draw.normal(size=n_items)[item]
    marks = np.where(
        draw.normal(size=(len(item), 5))
        + 0.5 * lean[:, None]
        + 0.5 * draw.normal(size=(len(item), 1))
        > 0,
        1.0,
        0.0,
    )
    beta = np.zeros((len(item), 5))
    for weights, is_kind in ((of_judges, ~is_person), (of_people, is_person)):
        beta[is_kind] = STEEP * (EVEN if weights is None else weights)
    eta = (beta * (marks - 0.5)).sum(axis=1) + 0.2
    score = (draw.random(len(item)) < 1 / (1 + np.exp(-eta))).astype(np.float64)
    score[draw.random(len(item)) < ties] = 0.5
    zeros = np.zeros(len(item), dtype=np.int64)
    given: dict[str, Any] = dict.fromkeys(
        ("pair", "first", "second", "first_text", "second_text", "one_text"), zeros
    )
    made = JudgmentColumns(
        names=Names(tuple(make_items(n_items)), (), raters, ()),
        item=item,
        rater=rater,
        is_person=is_person,
        score=score,
        strength=np.ones(len(item)),
        marks=PackedMarks({axis: marks[:, k] for k, axis in enumerate(AXES)}),
        **given,
    )
    return made.select(keep)


def weigh(made: JudgmentColumns) -> AxisWeights:
    found = weigh_axes(made, level=0.95)
    assert found is not None
    return found


def design(made: JudgmentColumns) -> FloatArray:
    return np.column_stack([*(made.marks[axis] - 0.5 for axis in AXES), np.ones(len(made))])


def test_coefficients_and_intervals_are_those_of_another_package() -> None:
    made = columns(np.random.default_rng(2), FAVOUR_A_AND_R, None, ties=0.2)
    (found,) = weigh(made).kinds
    fitted = sm.GLM(made.score, design(made), family=sm.families.Binomial()).fit(
        cov_type="cluster", cov_kwds={"groups": made.item, "use_correction": False}
    )
    beta = fitted.params
    assert [one.coefficient for one in found.weights] == pytest.approx(beta[:5], abs=1e-7)
    assert found.first == pytest.approx(beta[5], abs=1e-7)
    # the delta method on w_j = b_j / sum b, clusters counted as G / (G - 1), t with G - 1
    total, n = beta[:5].sum(), 40
    slope = (np.eye(5) - np.outer(beta[:5] / total, np.ones(5))) / total
    se = np.sqrt(np.diag(slope @ fitted.cov_params()[:5, :5] @ slope.T) * n / (n - 1))
    for one, at, s in zip(found.weights, beta[:5] / total, se, strict=True):
        assert one.weight.value == pytest.approx(at, abs=1e-8)
        assert one.weight.high == pytest.approx(at + 2.0226909 * s, abs=1e-7)
    assert (found.n_judgments, found.n_raters, found.n_items) == (40 * 18, 3, 40)
    assert found.interval_used == "item-sandwich"


def test_weights_add_up_to_one() -> None:
    for kind in weigh(columns(np.random.default_rng(3), EVEN, FAVOUR_A_AND_R)).kinds:
        assert sum(one.weight.value for one in kind.weights) == pytest.approx(1)


def test_planted_weights_lie_within_their_intervals_about_95_times_of_100() -> None:
    held: Counter[str] = Counter()
    n_studies = 100
    for seed in range(n_studies):
        made = columns(np.random.default_rng(seed), EVEN, FAVOUR_A_AND_R)
        for kind, truth in zip(weigh(made).kinds, (FAVOUR_A_AND_R, EVEN), strict=True):
            for one, at in zip(kind.weights, truth, strict=True):
                assert one.weight.low is not None
                assert one.weight.high is not None
                held[kind.judged_by] += one.weight.low <= at <= one.weight.high
    # people's intervals are two-way, with few degrees of freedom: wider than needed here
    assert 0.92 <= held["judges"] / (5 * n_studies) <= 0.98
    assert 0.92 <= held["people"] / (5 * n_studies) <= 1


def test_that_people_favour_two_axes_and_judges_none_is_found() -> None:
    found = weigh(columns(np.random.default_rng(4), EVEN, FAVOUR_A_AND_R, n_items=80))
    by_axis = {one.axis: one for one in found.differences}
    for axis in ("A", "R"):
        low = by_axis[axis].difference.low
        assert low is not None
        assert low > 0
        q = by_axis[axis].q
        assert q is not None
        assert q < 0.01
    assert sum(one.difference.value for one in found.differences) == pytest.approx(0)


def test_no_difference_is_found_where_there_is_none() -> None:
    n_false, n_studies = 0, 100
    for seed in range(n_studies):
        found = weigh(columns(np.random.default_rng(seed), EVEN, EVEN))
        n_false += any(one.q is not None and one.q < 0.05 for one in found.differences)
    assert n_false <= 12  # 5 expected; more than 12 have a chance of .1 %


def test_a_judge_that_counts_axes_has_no_weights_and_the_reason_is_said() -> None:
    made = columns(np.random.default_rng(5), EVEN, None)
    n_for_first = sum(made.marks[axis] for axis in AXES)
    made = replace(made, score=(np.asarray(n_for_first) > 2.5).astype(np.float64))
    (found,) = weigh(made).kinds
    assert found.weights == ()
    assert found.problem == SEPARATED


def test_marks_that_do_not_go_with_the_choice_have_no_weights() -> None:
    n_told = 0
    for seed in range(40):
        made = columns(np.random.default_rng(seed), np.zeros(5), None)
        (found,) = weigh(made).kinds
        n_told += bool(found.weights)
        assert found.problem == (None if found.weights else NO_SUM)
    assert n_told <= 4  # 1 expected, one side of 5 %; more than 4 have a chance of .4 %


def test_the_sum_that_weights_are_shares_of_is_that_of_another_package() -> None:
    made = columns(np.random.default_rng(2), FAVOUR_A_AND_R, None, ties=0.2)
    (found,) = weigh(made).kinds
    fitted = sm.GLM(made.score, design(made), family=sm.families.Binomial()).fit(
        cov_type="cluster", cov_kwds={"groups": made.item, "use_correction": False}
    )
    se = np.sqrt(fitted.cov_params()[:5, :5].sum() * 40 / 39)
    assert found.total is not None
    assert found.total.value == pytest.approx(fitted.params[:5].sum(), abs=1e-7)
    assert found.total.low == pytest.approx(found.total.value - 2.0226909 * se, abs=1e-6)


def test_axes_that_are_never_marked_apart_have_no_weights() -> None:
    made = columns(np.random.default_rng(6), EVEN, None)
    made = replace(made, marks=PackedMarks(dict.fromkeys(AXES, made.marks["H"])))
    (found,) = weigh(made).kinds
    assert found.problem == SEPARATED


def test_who_never_marks_an_axis_is_not_counted() -> None:
    made = columns(np.random.default_rng(7), EVEN, EVEN)
    marks = {axis: np.where(made.is_person, np.nan, made.marks[axis]) for axis in AXES}
    found = weigh(replace(made, marks=PackedMarks(marks)))
    assert [kind.judged_by for kind in found.kinds] == ["judges"]
    assert found.differences == ()


def test_a_fit_that_is_not_determined_is_none() -> None:
    x = np.array([[0.5, 1.0], [-0.5, 1.0]])
    assert fit_logistic(x, np.array([1.0, 0.0]), np.array([5.0, 5.0])) is None
    fitted = fit_logistic(x, np.array([0.75, 0.25]), np.array([4.0, 4.0]))
    assert fitted == pytest.approx([2 * np.log(3), 0], abs=1e-9)


def test_the_order_of_rows_changes_no_weight() -> None:
    made = columns(np.random.default_rng(8), EVEN, None)
    rows: IntArray = np.arange(len(made))[::-1].copy()
    assert weigh(made).kinds[0].weights[0].coefficient == pytest.approx(
        weigh(made.select(rows)).kinds[0].weights[0].coefficient, abs=1e-12
    )
