"""Judgments as arrays: the same judgments, whatever the order of rows; errors from clusters."""

import json
import math
import random
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm
from marked_study import marked_study
from people_study import simulated_study
from scipy import stats

from hearteval.analysis.columns import SCORES, pair_sides, to_columns
from hearteval.analysis.data import StudyData
from hearteval.analysis.estimates import (
    Side,
    Summed,
    clustered_errors,
    contrast_means,
    mean_estimates,
    two_sided_p,
)
from hearteval.analysis.judgments import NO_JUDGMENTS, JudgmentRow, judgments_of
from hearteval.analysis.study import analyze_study, results_dict
from hearteval.domain import Axis, AxisMark
from hearteval.sections import SECTIONS
from hearteval.stats import comparisons

THETA = {"beacon": 0.4, "ember": -0.2, "harbour": 0.1, "People": 0.0}


@pytest.fixture(scope="module")
def data() -> StudyData:
    return simulated_study(THETA, THETA, n_items=6)


@pytest.mark.parametrize("made", [simulated_study(THETA, THETA, n_items=12), marked_study(12)])
def test_no_digit_of_the_results_depends_on_how_few_bytes_columns_lie_in(
    made: StudyData, monkeypatch: pytest.MonkeyPatch
) -> None:
    def said() -> str:
        return json.dumps(
            results_dict(analyze_study(made, headline="both", sections=SECTIONS)), default=str
        )

    monkeypatch.setattr(comparisons, "FEW_ROWS", len(made.judgments) + 1)
    wide = said()
    monkeypatch.setattr(comparisons, "FEW_ROWS", 1)
    monkeypatch.setattr(comparisons, "LABEL_ROWS", 40)
    monkeypatch.setattr(comparisons, "PART_ROWS", 50)
    assert said() == wide


def test_every_judgment_is_a_row_with_what_it_is_about(data: StudyData) -> None:
    columns = to_columns(data.judgments, data)
    names = columns.names
    people = {rater.id for rater in data.raters if rater.kind == "human"}
    sides = pair_sides(data, data.pairs)
    found = set()
    for k in range(len(columns)):
        texts = [
            names.completions[column[k]].id for column in (columns.first_text, columns.second_text)
        ]
        rater = names.raters[columns.rater[k]]
        found.add((*texts, rater.id, columns.score[k]))
        assert columns.is_person[k] == (rater.id in people)
        shown = names.completions[columns.first_text[k]]
        assert names.systems[columns.first[k]].id == shown.system_id
        assert names.items[columns.item[k]].id == shown.item_id
        assert (columns.strength[k] == 0) == (columns.score[k] == 0.5)
    pairs = {pair.id: pair.completion_ids for pair in data.pairs}
    assert found == {
        (
            row.first_completion_id,
            *(set(pairs[row.pair_id]) - {row.first_completion_id}),
            row.rater_id,
            SCORES[row.choice],
        )
        for row in data.judgments
    }
    ones = {sides[row.pair_id][0][1] for row in data.judgments}
    assert {names.completions[k].id for k in columns.one_text} == ones


def test_what_follows_from_the_pair_lies_with_it(data: StudyData) -> None:
    columns = to_columns(data.judgments, data)
    for some in (columns, columns.select(np.arange(0, len(columns), 3))):
        lie = vars(some)
        assert lie["item"].places is lie["one_text"].places is lie["pair"]
        assert lie["first"].places is lie["first_text"]


def test_the_order_of_rows_changes_nothing(data: StudyData) -> None:
    mixed = list(data.judgments)
    random.Random(2).shuffle(mixed)
    one, other = to_columns(data.judgments, data), to_columns(judgments_of(mixed), data)
    for name in ("item", "pair", "rater", "first", "first_text", "score", "strength"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


def test_marks_are_of_the_one_shown_first(data: StudyData) -> None:
    marks: dict[Axis, AxisMark] = {"E": AxisMark("second", 2), "T": AxisMark("tie", None)}
    marked = [replace_marks(row, marks) if k % 2 else row for k, row in enumerate(data.judgments)]
    columns = to_columns(judgments_of(marked), data)
    assert set(columns.marks) == {"E", "T"}
    assert np.nansum(columns.marks["E"]) == 0
    assert set(columns.marks["T"][~np.isnan(columns.marks["T"])]) == {0.5}
    assert np.isnan(columns.marks["E"]).sum() == len(columns) - len(columns) // 2


def replace_marks(row: JudgmentRow, marks: Mapping[Axis, AxisMark]) -> JudgmentRow:
    return row._replace(axes=marks)


def test_nothing_is_no_row(data: StudyData) -> None:
    assert len(to_columns(judgments_of([]), replace(data, judgments=NO_JUDGMENTS))) == 0


def test_without_people_enough_an_error_is_that_of_item_means() -> None:
    draw = np.random.default_rng(1)
    item = np.repeat(np.arange(12), 5)
    values = draw.integers(0, 2, len(item)).astype(float)
    (one,) = mean_estimates(values[:, None], item, np.full(len(item), -1), level=0.95)
    means = values.reshape(12, 5).mean(axis=1)
    half = 2.200985160 * means.std(ddof=1) / math.sqrt(12)  # t of 11 degrees of freedom
    assert one.value == pytest.approx(means.mean())
    assert one.low == pytest.approx(means.mean() - half)
    assert one.high == pytest.approx(means.mean() + half)


def test_people_who_differ_make_an_interval_wider() -> None:
    item, rater = (grid.ravel() for grid in np.meshgrid(range(40), range(6), indexing="ij"))
    values = (rater % 2).astype(float)
    given, sampled = (
        mean_estimates(values[:, None], item, who, level=0.95)[0]
        for who in (np.full(len(item), -1), rater)
    )
    assert sampled.low is not None
    assert given.low is not None
    assert sampled.low < given.low < given.value == 0.5


def test_a_share_that_never_varies_has_wilsons_interval() -> None:
    item = np.arange(10)
    (one,) = mean_estimates(np.ones((10, 1)), item, np.full(10, -1), level=0.95)
    assert (one.value, one.high) == (1.0, 1.0)
    assert one.low == pytest.approx(10 / (10 + 1.959964**2))


def test_one_item_has_no_error_and_no_p() -> None:
    se, df = clustered_errors(np.ones((4, 2)), np.zeros(4, dtype=int), np.full(4, -1))
    assert df == 0
    assert not se.any()
    assert two_sided_p(0.3, float(se[0]), df) is None


def test_a_contrast_of_parts_is_that_of_a_regression_with_two_way_clusters() -> None:
    """Half of the items on each side, so that their G/(G - 1) differ little from that of all."""
    draw = np.random.default_rng(4)
    item, rater = (grid.ravel() for grid in np.meshgrid(range(60), range(8), indexing="ij"))
    is_hard = item % 2
    of_item, of_rater = draw.normal(0, 0.5, 60), draw.normal(0, 0.5, (8, 2))
    values = 0.3 * is_hard + of_item[item] + of_rater[rater, is_hard] + draw.normal(0, 1, len(item))
    rows = Summed(
        item=item, rater=rater, weight=np.ones(len(item)), sums=values.astype(float)[:, None]
    )
    sides = [Side(is_hard == 1, 1.0), Side(is_hard == 0, -1.0)]
    found = contrast_means(rows, sides, part=is_hard, level=0.95)
    fit = sm.OLS(values, sm.add_constant(is_hard.astype(float))).fit()
    groups = np.stack([item, rater], axis=1)
    robust = fit.get_robustcov_results("cluster", groups=groups, df_correction=False)
    assert found.value == pytest.approx(float(fit.params[1]))
    assert found.low is not None
    assert found.df == 7
    half = (found.value - found.low) / 2.364624  # t of 7 degrees of freedom
    assert half == pytest.approx(float(robust.bse[1]), rel=0.05)


@pytest.mark.parametrize(("n_people", "df"), [(5, 4), (3, 2), (1, None)])
@pytest.mark.parametrize("who", ["rater", "writer"])
def test_few_people_on_one_side_are_not_hidden_by_many_on_the_other(
    who: str, n_people: int, df: int | None
) -> None:
    """Of 12, others on each side: t has those of the side with the fewest, less one."""
    draw = np.random.default_rng(6)
    item = np.arange(60)
    is_hard = item % 2
    person = np.where(is_hard, item // 2 % n_people, n_people + item // 2 % (12 - n_people))
    nobody = np.full(60, -1)
    rows = Summed(
        item=item,
        rater=person if who == "rater" else nobody,
        writer=person if who == "writer" else nobody,
        weight=np.ones(60),
        sums=draw.uniform(size=(60, 1)),
    )
    sides = [Side(is_hard == 1, 1.0), Side(is_hard == 0, -1.0)]
    found = contrast_means(rows, sides, part=is_hard, level=0.95)
    assert (found.df, found.p is None) == (df, df is None)


@pytest.mark.parametrize("is_paired", [True, False])
def test_a_contrast_of_sides_is_a_t_test_of_items(*, is_paired: bool) -> None:
    """Of two models on the same items, or on others: 6 of the one, 40 of the other."""
    draw = np.random.default_rng(5)
    n = (20, 20) if is_paired else (6, 40)
    one, other = draw.normal(0.6, 0.2, n[0]), draw.normal(0.5, 0.1, n[1])
    start = 0 if is_paired else n[0]
    item = np.concatenate((np.arange(n[0]), start + np.arange(n[1])))
    values = np.concatenate((one, other))
    is_one = np.arange(len(item)) < n[0]
    rows = Summed(
        item=item, rater=np.full(len(item), -1), weight=np.ones(len(item)), sums=values[:, None]
    )
    found = contrast_means(rows, [Side(is_one, 1.0), Side(~is_one, -1.0)], level=0.95)
    test = (
        stats.ttest_rel(one, other) if is_paired else stats.ttest_ind(one, other, equal_var=False)
    )
    ends = test.confidence_interval()
    assert (found.low, found.high) == pytest.approx((ends.low, ends.high))
    assert found.p == pytest.approx(float(test.pvalue))
    assert found.df == pytest.approx(float(test.df))


def test_a_contrast_on_one_item_a_side_has_no_interval() -> None:
    item = np.array([0, 0, 1, 1])
    rows = Summed(
        item=item, rater=np.full(4, -1), weight=np.ones(4), sums=np.array([[1.0], [0], [0], [0]])
    )
    sides = [Side(item == 0, 1.0), Side(item == 1, -1.0)]
    found = contrast_means(rows, sides, part=item, level=0.95)
    assert (found.value, found.low, found.p) == (0.5, None, None)
