"""Ratings compared: every two systems, cues of the items, raters with each other, pairs beside."""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import krippendorff
import numpy as np
import pytest
import statsmodels.api as sm
from drawn_ratings import drawn_study, with_pairs
from scipy import stats

from hearteval.analysis.columns import to_columns
from hearteval.analysis.data import StudyData
from hearteval.analysis.estimates import clustered_estimates, mean_estimates
from hearteval.analysis.judgments import judgments_of
from hearteval.analysis.ranking.cells import headline_cells
from hearteval.analysis.scores.beside_pairs import align_systems
from hearteval.analysis.scores.columns import RatingColumns, to_rating_columns, z_influence
from hearteval.analysis.scores.scores import moments_of, normalised, wanted_rows
from hearteval.analysis.scores.study import RatingResults, score_study
from hearteval.analysis.study import StudyResults, analyze_study
from hearteval.domain import EQUAL_WEIGHTS
from hearteval.notices import Kind
from hearteval.sections.factors import Factors
from hearteval.sections.ratings.cues import GAP, CueResults, compare_cues
from hearteval.sections.ratings.differences import ScoreComparison, compare_scores
from hearteval.sections.ratings.reliability import RaterAgreement, measure_raters
from hearteval.stats.bradley_terry.fit import fit_win_matrix


def scored(data: StudyData) -> tuple[RatingResults, RatingColumns]:
    results, _, columns = score_study(data, level=0.95)
    assert columns is not None
    return results, columns


def columns_of(data: StudyData) -> RatingColumns:
    """Return the same columns, without all else that is computed from them."""
    rows = wanted_rows(data, weights=EQUAL_WEIGHTS)
    return to_rating_columns(
        normalised(rows, moments_of(rows), weights=EQUAL_WEIGHTS), data, EQUAL_WEIGHTS
    )


def compared(data: StudyData) -> ScoreComparison:
    found = compare_scores(columns_of(data), level=0.95)
    assert found is not None
    return found


def agreement_of(data: StudyData) -> tuple[RaterAgreement, ...]:
    return measure_raters(columns_of(data), level=0.95, seed=0)


def test_a_difference_of_two_of_one_judge_is_the_paired_t_of_its_z_scores() -> None:
    """With both held to one mean and deviation, what moves these moves both alike, but for order 2.

    Two systems of one judge: z of one is minus z of the other, but for the items. So the interval
    of the difference is near that of the paired t test of z-scores as they are.
    """
    data = drawn_study({"a": 0.1, "b": -0.1}, n_items=60)
    (row,) = compared(data).differences
    _, columns = scored(data)
    z = columns.z_overall.reshape(60, 2)
    better = row.system == columns.systems[0].name
    gaps = (z[:, 0] - z[:, 1]) * (1 if better else -1)
    paired = stats.ttest_1samp(gaps, 0).confidence_interval()
    assert row.z == pytest.approx(gaps.mean())
    assert row.low == pytest.approx(paired.low, abs=0.03)
    assert row.high == pytest.approx(paired.high, abs=0.03)


def test_influence_is_that_of_scores_with_what_normalises_them() -> None:
    """Each system's interval over items is the one its mean has in `scores`."""
    data = drawn_study({"a": 0.4, "b": -0.3, "c": 0.0}, judges=2)
    results, columns = scored(data)
    means, influence = z_influence(columns)
    nobody = np.full(len(columns.item), -1)
    found = clustered_estimates(means, influence, columns.item, nobody, level=0.95)
    for system, estimate in zip(columns.systems, found, strict=True):
        (row,) = [one for one in results.systems if one.system == system.name]
        assert estimate.value == pytest.approx(row.overall.z)
        assert estimate.low == pytest.approx(row.overall.z_low)
        assert estimate.high == pytest.approx(row.overall.z_high)


def on_first_items(data: StudyData, name: str, n: int) -> StudyData:
    """Keep what one system said of the first items only."""
    rare = next(system.id for system in data.systems if system.name == name)
    first = {item.id for item in data.items[:n]}
    kept = [c for c in data.completions if c.system_id != rare or c.item_id in first]
    ids = {one.id for one in kept}
    return replace(
        data,
        completions=kept,
        ratings=[one for one in data.ratings if one.completion_id in ids],
        targets=[one for one in data.targets or () if one.completion_id in ids],
    )


def test_a_system_on_few_items_is_left_out_and_named() -> None:
    data = drawn_study({"a": 0.5, "b": 0.0, "rare": -1.0}, n_items=12)
    found = compared(on_first_items(data, "rare", 4))
    assert found.left_out == ("rare",)
    assert [row.system for row in found.ranks] == ["a", "b"]


def test_a_difference_rests_on_the_items_of_the_system_with_fewer() -> None:
    """Of a system on six items of thirty 9 % were called different before, of 150 studies."""
    n, named = 100, 0
    for seed in range(n):
        data = drawn_study({"a": 0.0, "b": 0.0}, n_items=30, item_sd=0.6, seed=seed)
        named += compared(on_first_items(data, "b", 6)).differences[0].p <= 0.05
    assert named <= 11  # 5 expected; more than 11 by chance once in 100


def test_people_sampled_widen_the_intervals_of_means() -> None:
    effects = {"a": 0.3, "b": 0.0}
    five, _ = scored(drawn_study(effects, people=5, judges=0, rater_sd=0.6, n_items=40))
    row = five.systems[0]
    assert five.interval_used == "two-way"
    _, columns = scored(drawn_study(effects, people=5, judges=0, rater_sd=0.6, n_items=40))
    is_own = columns.system == [one.name for one in columns.systems].index(row.system)
    of_people = np.array([columns.overall[is_own & (columns.rater == k)].mean() for k in range(5)])
    # In a full design the part of people is that of their means, t on 4 degrees of freedom.
    least = stats.t.ppf(0.975, 4) * of_people.std(ddof=1) / math.sqrt(5)
    assert row.overall.low is not None
    assert row.overall.high is not None
    assert (row.overall.high - row.overall.low) / 2 == pytest.approx(least, rel=0.15)
    assert [one for one in five.warnings if one.kind is Kind.GIVEN_RATERS] == []
    both, _ = scored(drawn_study(effects, people=5, judges=1))
    (notice,) = [one for one in both.warnings if one.kind is Kind.GIVEN_RATERS]
    assert str(notice).endswith("not with other judges.")


def test_a_system_that_few_rated_has_the_interval_of_these_few() -> None:
    """`b` is rated on six of forty items, `c` by four of eight people."""
    data = drawn_study({"a": 0.3, "b": 0.0, "c": 0.1}, people=8, judges=0, rater_sd=0.4, n_items=40)
    text = {one.id: one for one in data.completions}
    name = {one.id: one.name for one in data.systems}
    items = sorted({one.item_id for one in data.completions})[:6]
    people = sorted(one.id for one in data.raters)[:4]
    kept = [
        one
        for one in data.ratings
        if (
            name[text[one.completion_id].system_id] != "b"
            or text[one.completion_id].item_id in items
        )
        and (name[text[one.completion_id].system_id] != "c" or one.rater_id in people)
    ]
    made = replace(data, ratings=kept, targets=[one.target for one in kept])
    found, columns = scored(made)
    overall = {row.system: row.overall for row in found.systems}
    own = columns.system == 1
    item, rater = columns.item[own], columns.sampled_rater[own]
    (alone,) = mean_estimates(columns.overall[own][:, None], item, rater, level=0.95)
    low, high = overall["b"].low, overall["b"].high
    assert low is not None
    assert high is not None
    assert (high - low) / 2 == pytest.approx((alone.value - (alone.low or 0)), rel=1e-6)
    of_items = columns.overall[columns.system == 2].reshape(40, 4).mean(axis=1)
    ends = stats.ttest_1samp(of_items, 0).confidence_interval()
    assert (overall["c"].low, overall["c"].high) == pytest.approx((ends.low, ends.high))


def test_ranks_are_left_open_where_differences_are() -> None:
    found = compared(drawn_study({"best": 1.2, "one": 0.0, "same": 0.0, "last": -1.2}, n_items=40))
    assert [row.system for row in found.ranks][::3] == ["best", "last"]
    assert [(row.rank, row.low, row.high) for row in found.ranks] == [
        (1, 1, 1),
        (2, 2, 3),
        (3, 2, 3),
        (4, 4, 4),
    ]
    assert [row.n_apart for row in found.ranks] == [3, 2, 2, 3]
    assert len(found.differences) == 6
    assert all(row.z >= 0 for row in found.differences)
    assert found.interval_used == "item-sandwich"


def test_five_people_are_sampled_and_four_are_given() -> None:
    effects = {"a": 0.3, "b": 0.0}
    five, four = (compared(drawn_study(effects, people=n, judges=0, rater_sd=0.5)) for n in (5, 4))
    assert (five.interval_used, five.df) == ("two-way", 4)
    assert (four.interval_used, four.df) == ("item-sandwich", 19)


@pytest.mark.parametrize(("people", "judges", "rater_sd"), [(8, 0, 0.3), (0, 2, 0.0)])
def test_equal_systems_are_seldom_called_different(
    people: int, judges: int, rater_sd: float
) -> None:
    n = 60
    found = [
        compared(
            drawn_study(
                {"a": 0.0, "b": 0.0},
                n_items=12,
                people=people,
                judges=judges,
                rater_sd=rater_sd,
                seed=seed,
            )
        ).differences[0]
        for seed in range(n)
    ]
    assert sum(row.q <= 0.05 for row in found) <= 9  # 3 expected
    assert all(row.p == row.q for row in found)


def test_one_system_or_few_items_are_compared_with_nothing() -> None:
    assert compare_scores(columns_of(drawn_study({"a": 0.0})), level=0.95) is None
    few = drawn_study({"a": 0.0, "b": 1.0}, n_items=4)
    assert compare_scores(columns_of(few), level=0.95) is None
    assert score_study(StudyData(), level=0.95)[2] is None


def cues_of(data: StudyData) -> CueResults:
    found = compare_cues(columns_of(data), data.items, level=0.95)
    assert found is not None
    return found


def test_a_lead_of_people_on_implicit_items_is_found() -> None:
    found = cues_of(drawn_study({"Ann": 0.0, "m1": 0.0, "m2": 0.0, "People": 0.0}, n_items=10))
    assert {row.who for row in found.contrasts if not row.is_system} == {"people", "models", GAP}
    planted = cues_of(
        drawn_study({"People": -0.2, "m1": 0.0, "m2": 0.0}, n_items=80, hidden=0.8, judges=2)
    )
    assert (planted.n_implicit, planted.n_explicit) == (40, 40)
    (on_e,) = [row for row in planted.contrasts if row.who == GAP and row.axis == "E"]
    assert on_e.difference.low is not None
    assert on_e.difference.high is not None
    assert on_e.difference.low <= 0.8 <= on_e.difference.high
    assert on_e.q_value is not None
    assert on_e.q_value < 0.002
    (models,) = [row for row in planted.contrasts if row.who == "models" and row.axis == "E"]
    assert models.difference.value == pytest.approx(0, abs=0.25)


def test_a_cue_contrast_is_welchs_comparison_of_item_means() -> None:
    """Five implicit items are no more of them for 25 explicit and ten unlabelled ones beside."""
    data = drawn_study({"m1": 0.0, "m2": 0.0}, n_items=40)
    cues: tuple[Literal["implicit"], Literal["explicit"], None] = ("implicit", "explicit", None)
    items = [
        replace(item, cue=cues[(k >= 5) + (k >= 30)], id="") for k, item in enumerate(data.items)
    ]
    columns = columns_of(data)
    found = compare_cues(columns, items, level=0.95)
    assert found is not None
    (row,) = [one for one in found.contrasts if (one.who, one.axis) == ("m2", "overall")]
    cue = np.array([{i.id: i.cue for i in items}[id_] for id_ in columns.items])[columns.item]
    is_own = columns.system == 1
    one, other = (columns.overall[is_own & (cue == name)] for name in ("implicit", "explicit"))
    assert (len(one), len(other)) == (5, 25)
    for estimate, values in ((row.implicit, one), (row.explicit, other)):
        alone = stats.ttest_1samp(values, 0).confidence_interval()
        assert estimate.value == pytest.approx(values.mean())
        assert (estimate.low, estimate.high) == pytest.approx((alone.low, alone.high))
    welch = stats.ttest_ind(one, other, equal_var=False)
    ends = welch.confidence_interval()
    assert row.difference.value == pytest.approx(one.mean() - other.mean())
    assert (row.difference.low, row.difference.high) == pytest.approx((ends.low, ends.high))
    assert row.p_value == pytest.approx(float(welch.pvalue))


def test_a_planted_nothing_of_cues_is_seldom_something() -> None:
    n = 100
    found = [
        cues_of(drawn_study({"People": 0.0, "m1": 0.0}, n_items=16, seed=seed)) for seed in range(n)
    ]
    gaps = [row for one in found for row in one.contrasts if row.who == GAP]
    named = sum((row.p_value or 1) <= 0.05 for row in gaps if row.axis == "overall")
    assert named <= 12  # 5 expected


def test_few_or_unlabelled_items_have_no_figure() -> None:
    few = cues_of(drawn_study({"m1": 0.0}, n_items=8))
    assert few.contrasts == ()
    assert few.problem == "too few items: 4 implicit and 4 explicit are rated"
    assert compare_cues(columns_of(drawn_study({"m1": 0.0})), [], level=0.95) is None


def test_raters_agree_as_other_packages_say() -> None:
    data = drawn_study({"a": 0.5, "b": -0.5}, n_items=12, people=3, judges=0)
    columns = columns_of(data)
    (on_h,) = [row for row in agreement_of(data) if row.axis == "H"]
    wide = columns.raw[:, 0].reshape(-1, 3)
    expected = krippendorff.alpha(wide.T, level_of_measurement="interval")
    assert on_h.alpha.value == pytest.approx(expected, abs=1e-9)
    # McGraw and Wong (1996): mean squares of completions, raters and the rest.
    n, k = wide.shape
    whole = wide - wide.mean()
    rows, columns_ = whole.mean(axis=1), whole.mean(axis=0)
    ms_r, ms_c = k * (rows**2).sum() / (n - 1), n * (columns_**2).sum() / (k - 1)
    ms_e = ((whole - rows[:, None] - columns_) ** 2).sum() / ((n - 1) * (k - 1))
    one = (ms_r - ms_e) / (ms_r + (k - 1) * ms_e + k * (ms_c - ms_e) / n)
    mean = (ms_r - ms_e) / (ms_r + (ms_c - ms_e) / n)
    assert on_h.icc.value == pytest.approx(one, abs=1e-9)
    assert on_h.icc_mean.value == pytest.approx(mean, abs=1e-9)
    assert on_h.alpha.low is not None
    assert on_h.alpha.high is not None
    assert on_h.alpha.low < expected < on_h.alpha.high
    assert (on_h.raters, on_h.n_raters, on_h.n_completions, on_h.n_items) == ("people", 3, 24, 12)


def test_agreement_is_of_people_of_judges_and_of_both() -> None:
    both = agreement_of(drawn_study({"a": 0.5, "b": -0.5}, n_items=6, people=2, judges=2))
    kinds = [row.raters for row in both if row.axis == "overall"]
    assert kinds == ["people", "judges", "both"]
    assert agreement_of(drawn_study({"a": 0.5, "b": -0.5}, judges=1)) == ()
    few, *_ = agreement_of(drawn_study({"a": 0.5, "b": -0.5}, n_items=3, judges=2))
    assert few.alpha.value is not None
    assert (few.alpha.low, few.alpha.reason) == (None, "too few items: 3")


def test_a_mean_of_raters_keeps_its_value_where_its_interval_has_no_end() -> None:
    """Three judges who agree by chance: the lower end of one's reliability is below -1/2."""
    found = agreement_of(drawn_study({"a": 0.0}, n_items=6, judges=3, item_sd=0.0, seed=3))
    (row,) = [one for one in found if one.icc.low is not None and one.icc.low <= -0.5][:1]
    assert row.icc.value is not None
    assert row.icc_mean.value == pytest.approx(3 * row.icc.value / (1 + 2 * row.icc.value))
    assert (row.icc_mean.low, row.icc_mean.high) == (None, None)
    assert row.icc_mean.reason is not None
    assert row.icc_mean.reason.startswith("no interval: ")


def found_beside(order: Sequence[str], **changes: int) -> StudyResults:
    data = drawn_study({"a": 1.0, "b": 0.4, "c": -0.4, "d": -1.0}, judges=2, **changes)
    return analyze_study(with_pairs(data, order))


def test_the_same_order_both_ways_is_said_to_be() -> None:
    found = found_beside("abcd")
    assert found.ratings is not None
    assert found.ratings.pairs is not None
    beside = found.ratings.pairs
    assert beside.problem is None
    assert [(one.system, one.by_ratings, one.by_pairs) for one in beside.places] == [
        (name, k, k) for k, name in enumerate("abcd", 1)
    ]
    for estimate in (beside.spearman, beside.kendall):
        assert estimate is not None
        assert estimate.value == pytest.approx(1)
        assert estimate.low is not None
        assert estimate.low > 0.5
    assert found.leaderboard is None
    (notice,) = [one for one in found.warnings if "enter no score" in str(one)]
    assert notice


def test_another_order_by_pairs_is_measured() -> None:
    found = found_beside("bdac")
    assert found.ratings is not None
    assert found.ratings.pairs is not None
    places = {one.system: one for one in found.ratings.pairs.places}
    x = [places[name].by_ratings for name in "abcd"]
    y = [places[name].by_pairs for name in "abcd"]
    assert x == [1, 2, 3, 4]
    assert y == [3, 1, 4, 2]
    assert found.ratings.pairs.spearman is not None
    assert found.ratings.pairs.kendall is not None
    assert found.ratings.pairs.spearman.value == pytest.approx(stats.spearmanr(x, y)[0])
    assert found.ratings.pairs.kendall.value == pytest.approx(stats.kendalltau(x, y)[0])


def test_pairs_that_are_all_ties_order_nothing() -> None:
    data = with_pairs(drawn_study({"a": 1.0, "b": 0.4, "c": -0.4}, judges=2), "abc")
    ties = [row._replace(choice="tie", strength=None) for row in data.judgments]
    found = analyze_study(replace(data, judgments=judgments_of(ties)))
    assert found.ratings is not None
    assert found.ratings.pairs is not None
    assert found.ratings.pairs.problem == "by ratings or by pairs all systems stand alike"
    assert (found.ratings.pairs.spearman, found.ratings.pairs.kendall) == (None, None)


def test_linear_samples_move_as_fits_do() -> None:
    """The interval is that of samples of items fitted anew."""
    data = with_pairs(drawn_study({"a": 1.0, "b": 0.4, "c": -1.0}, n_items=30), "abc", sure=0.7)
    _, columns = scored(data)
    pairs = to_columns(data.judgments, data)
    found = analyze_study(replace(data, targets=None))
    aligned = align_systems(columns, pairs, found.leaderboard)
    assert aligned is not None
    _, (_, theta), (_, moved) = aligned
    rng = np.random.default_rng(5)
    cells = headline_cells(pairs, set("abc"))
    for _ in range(5):
        drawn = rng.multinomial(30, np.full(30, 1 / 30))
        weighted = dataclasses.replace(
            cells, won=cells.won * drawn[cells.item], weight=cells.weight * drawn[cells.item]
        )
        anew = fit_win_matrix(weighted.points()).theta
        assert theta + (drawn - 1) @ moved == pytest.approx(anew, abs=0.25)


def test_too_few_systems_in_both_have_no_figure() -> None:
    found = analyze_study(with_pairs(drawn_study({"a": 1.0, "b": -1.0}, judges=2), "ab"))
    assert found.ratings is not None
    assert found.ratings.pairs is not None
    assert found.ratings.pairs.problem is not None
    assert found.ratings.pairs.kendall is None
    alone = analyze_study(drawn_study({"a": 1.0, "b": -1.0}))
    assert alone.ratings is not None
    assert alone.ratings.pairs is None


def test_factors_of_ratings_are_of_their_z_scores() -> None:
    data = drawn_study({"a": 1.0, "b": 0.0, "c": -1.0}, judges=2)
    found = analyze_study(data, sections=[Factors]).found(Factors)
    assert found is not None
    assert found.problem is None
    assert (found.source, found.n_completions, found.raters) == ("ratings", 60, ("j0", "j1"))
    assert found.n_suggested == 1
    assert found.axes[0].wins is None


def written_by(data: StudyData, n_writers: int) -> StudyData:
    """Give the best replies of P to one writer, the next best to another, and so on."""
    system = next(one.id for one in data.systems if one.name == "P")
    of_text = {text.id: 0.0 for text in data.completions if text.system_id == system}
    for rating in data.ratings:
        if rating.completion_id in of_text:
            of_text[rating.completion_id] += sum(rating.axes.values())
    order = sorted(of_text, key=lambda id_: of_text[id_])
    writer = {id_: f"w{n_writers * k // len(order)}" for k, id_ in enumerate(order)}
    texts = {
        text.id: replace(text, writer_id=writer[text.id], id="") if text.id in writer else text
        for text in data.completions
    }
    ratings = [
        replace(one, completion_id=texts[one.completion_id].id, id="") for one in data.ratings
    ]
    return replace(
        data,
        completions=list(texts.values()),
        ratings=ratings,
        targets=[one.target for one in ratings],
    )


def test_scores_of_people_s_replies_are_over_who_wrote_them() -> None:
    """Each item has one reply, so that writers' clusters hold whole items: six clusters of five."""
    data = written_by(drawn_study({"P": 0.0, "a": 0.1}, n_items=30, judges=2), 6)
    found, columns = scored(data)
    assert (found.interval_used, found.n_writers) == ("item-writer", 6)
    overall = {row.system: row.overall for row in found.systems}
    own = columns.system == [one.name for one in columns.systems].index("P")
    of_items = columns.overall[own].reshape(30, 2).mean(axis=1)
    writer = columns.writer[own][::2]
    fit = sm.OLS(of_items, np.ones(30)).fit()
    clustered = fit.get_robustcov_results("cluster", groups=writer, df_correction=False)
    half = 2.5705818 * float(clustered.bse[0])  # t of 5 degrees of freedom
    assert overall["P"].low == pytest.approx(of_items.mean() - half)
    assert overall["P"].high == pytest.approx(of_items.mean() + half)
    comparison = compared(data)
    (row,) = comparison.differences
    assert comparison.interval_used == "item-writer"
    assert (row.high or 0) - (row.low or 0) > 4 * 2.5705818 * 0.1  # in z, whose raters' SD is 1


def test_scores_by_few_writers_are_said_to_be_conditional_on_them() -> None:
    few, _ = scored(written_by(drawn_study({"P": 0.0, "a": 0.1}, judges=2), 4))
    assert (few.interval_used, few.n_writers) == ("item-sandwich", 4)
    (said,) = [notice for notice in few.warnings if notice.kind is Kind.FEW_WRITERS]
    assert "conditional on these 4 writers" in said
