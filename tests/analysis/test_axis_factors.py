"""One skill or several: planted factors are found, and what cannot be said is refused."""

import random
from dataclasses import replace

import numpy as np
import pytest
from judged_study import StudyMaker, make_items, make_systems
from people_study import BEACON, EMBER, PeopleStudy, human_raters

from hearteval.analysis.columns import to_columns
from hearteval.analysis.data import StudyData
from hearteval.analysis.judgments import judgments_of
from hearteval.domain import AXES, Axis, AxisMark, Choice, Rater
from hearteval.sections.factors.measure import (
    CompletionScores,
    FactorResults,
    analyze_factors,
    score_completions,
)
from hearteval.stats.comparisons import FloatArray

SCORES: dict[Choice, float] = {"first": 1.0, "tie": 0.5, "second": 0.0}
ONE, OTHER = (
    Rater(name=name, kind="llm", family=name, settings={"model": name}) for name in ("fir", "oak")
)


def drawn(
    pattern: FloatArray, *, n_items: int = 40, per_item: int = 5, seed: int = 1, item_sd: float = 0
) -> CompletionScores:
    """Scores on five axes that factors make, with wins that follow the first factor."""
    rng = np.random.default_rng(seed)
    n = n_items * per_item
    item = np.repeat(np.arange(n_items), per_item)
    skill = rng.standard_normal((n, pattern.shape[1]))
    noise = np.sqrt(1 - (pattern**2).sum(axis=1))
    shared = item_sd * rng.standard_normal((n_items, 1))[item]
    z = skill @ pattern.T + rng.standard_normal((n, len(pattern))) * noise + shared
    wins = 0.5 + 0.1 * skill[:, 0] + 0.05 * rng.standard_normal(n)
    return CompletionScores(tuple(AXES), z, wins, item, 0, ("fir",))


def analyzed(scores: CompletionScores) -> FactorResults:
    return analyze_factors(scores, level=0.95, seed=1)


GENERAL = np.array([[0.9], [0.8], [0.8], [0.7], [0.6]])
SPLIT = np.array([[0.9, 0], [0.85, 0], [0.8, 0], [0, 0.85], [0, 0.8]])


def test_one_planted_skill_is_one_factor() -> None:
    found = analyzed(drawn(GENERAL, n_items=200))
    assert found.problem is None
    assert (found.n_suggested, found.n_factors, found.rotation) == (1, 1, None)
    assert found.method == "ml"
    loadings = [axis.loadings["F1"] for axis in found.axes]
    assert loadings == pytest.approx(GENERAL[:, 0], abs=0.07)
    # (sum of loadings)^2 / (that + sum of uniquenesses)
    total = GENERAL.sum() ** 2
    omega = total / (total + (1 - GENERAL**2).sum())
    assert found.omega == pytest.approx(omega, abs=0.03)
    assert found.alpha is not None
    assert found.alpha.low is not None
    assert found.alpha.high is not None
    assert found.alpha.low < omega - 0.01 < found.alpha.high + 0.02
    assert [axis.varimax for axis in found.axes] == [{}] * 5
    (factor,) = found.factors
    assert factor.wins is not None
    assert factor.wins.value > max(axis.wins.value for axis in found.axes if axis.wins)


def test_two_planted_skills_are_two_factors() -> None:
    found = analyzed(drawn(SPLIT, n_items=80))
    assert (found.n_suggested, found.n_factors, found.rotation) == (2, 2, "oblimin")
    first = [abs(axis.loadings["F1"]) > 0.5 for axis in found.axes]
    assert first == [True, True, True, False, False]
    assert abs(found.factors[0].phi["F2"]) < 0.2
    for axis in found.axes:
        assert axis.varimax == pytest.approx(axis.loadings, abs=0.1)


def test_unrelated_axes_have_seldom_a_factor() -> None:
    nothing = np.zeros((5, 1))
    found = [analyzed(drawn(nothing, n_items=12, seed=seed)) for seed in range(200)]
    with_factor = [one for one in found if one.n_suggested]
    assert len(with_factor) <= 20  # one in twenty expected
    without = next(one for one in found if not one.n_suggested)
    assert without.reason == "the axes share no more than chance"
    assert (without.omega, without.method, without.factors) == (None, None, ())
    assert without.alpha is not None


def test_alpha_and_correlations_are_covered_where_items_differ() -> None:
    """True values from many items; 95 % intervals over 40 items hold them."""
    large = analyzed(drawn(GENERAL, n_items=2_000, item_sd=0.5))
    assert large.alpha is not None
    assert large.axes[0].wins is not None
    n, alpha, wins = 200, 0, 0
    for seed in range(n):
        one = analyzed(drawn(GENERAL, n_items=40, item_sd=0.5, seed=seed))
        for estimate, true in (
            (one.alpha, large.alpha.value),
            (one.axes[0].wins, large.axes[0].wins.value),
        ):
            assert estimate is not None
            assert estimate.low is not None
            assert estimate.high is not None
            holds = estimate.low <= true <= estimate.high
            alpha += holds and estimate is one.alpha
            wins += holds and estimate is one.axes[0].wins
    assert 0.9 <= alpha / n <= 0.995
    assert 0.9 <= wins / n <= 0.995


def test_a_heywood_case_falls_back_and_says_why() -> None:
    scores = drawn(GENERAL, n_items=30)
    # The first axis is the sum of two that share little, so more than all it shares with others.
    scores.z[:, 0] = scores.z[:, 3] + scores.z[:, 4] + scores.z[:, 2] + 0.1 * scores.z[:, 0]
    found = analyzed(scores)
    assert found.method == "minres"
    assert found.reason is not None
    assert "explain axis H whole (a Heywood case)" in found.reason


def test_three_axes_determine_one_factor_at_most() -> None:
    scores = drawn(SPLIT, n_items=80)
    few = scores._replace(axes=scores.axes[2:], z=scores.z[:, 2:])
    found = analyzed(few._replace(z=few.z + 0.6 * few.z[:, ::-1] * [1, 0, -1]))
    assert found.n_factors <= 1
    assert found.fit is None


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda s: s._replace(axes=s.axes[:2], z=s.z[:, :2]), "needs 3 axes"),
        (lambda s: s._replace(z=s.z[:45], item=s.item[:45], wins=None), "too few replies"),
        (lambda s: s._replace(item=s.item * 0), "on 5 items"),
        (lambda s: s._replace(z=s.z * [1, 1, 0, 1, 1]), "same score on A"),
        (lambda s: s._replace(z=s.z[:, [0, 0, 1, 2, 3]]), "sum of others"),
    ],
)
def test_too_little_is_refused_with_a_reason(change: object, says: str) -> None:
    found = analyzed(change(drawn(GENERAL)))  # type: ignore[operator]
    assert found.problem is not None
    assert says in found.problem
    assert (found.axes, found.alpha, found.n_factors) == ((), None, 0)


def test_wins_that_do_not_vary_correlate_with_nothing() -> None:
    scores = drawn(GENERAL)
    assert scores.wins is not None
    found = analyzed(scores._replace(wins=scores.wins * 0))
    assert [axis.wins for axis in found.axes] == [None] * 5


def two_judges() -> StudyData:
    """Three systems on one item; fir marks all, oak only one pair, in both orders."""
    (item,) = make_items(1)
    a, b, c = make_systems("a", "b", "c")
    made = StudyMaker([item], [a, b, c], [ONE, OTHER])
    for sides, choice in (((a, b), "first"), ((b, c), "first"), ((a, c), "tie")):
        made.judge(item, sides, choice, rater=ONE)  # type: ignore[arg-type]
    made.judge(item, (a, b), "second", rater=OTHER)
    made.judge(item, (b, a), "first", rater=OTHER)
    return made.data()


def test_z_is_of_each_raters_mean_marks_and_then_their_mean() -> None:
    data = two_judges()
    scores = score_completions(to_columns(data.judgments, data))
    assert scores is not None
    # fir: a (1 + .5) / 2, b (0 + 1) / 2, c (0 + .5) / 2: mean .5, SD sqrt(.125 / 3); oak: a 0, b 1.
    sd = (0.125 / 3) ** 0.5
    expected = [(0.25 / sd - 1) / 2, (0 + 1) / 2, -0.25 / sd]
    assert scores.axes == tuple(AXES)
    for column in scores.z.T:
        assert column.tolist() == pytest.approx(expected)
    assert scores.wins is not None
    assert scores.wins.tolist() == pytest.approx([(0.75 + 0) / 2, (0.5 + 1) / 2, 0.25])
    assert scores.raters == ("fir", "oak")
    assert scores.n_incomplete == 0


def test_a_completion_without_every_axis_is_left_out_and_counted() -> None:
    data = two_judges()
    bare: dict[Axis, AxisMark] = {"H": AxisMark("first", 1)}
    rows = [row._replace(axes=bare) if row.choice == "tie" else row for row in data.judgments]
    scores = score_completions(to_columns(judgments_of(rows), data))
    assert scores is not None
    assert (len(scores.z), scores.n_incomplete) == (3, 0)
    only = [row for row in rows if row.choice == "tie"]
    scores = score_completions(to_columns(judgments_of(only), data))
    assert scores is not None
    assert scores.axes == ("H",)
    assert [len(scores.z), scores.n_incomplete] == [2, 0]
    mixed = [rows[0], *only]
    scores = score_completions(to_columns(judgments_of(mixed), data))
    assert scores is not None
    assert [len(scores.z), scores.n_incomplete] == [2, 1]


def test_containment_is_never_mixed_into_the_five() -> None:
    data = two_judges()
    plain = score_completions(to_columns(data.judgments, data))
    extra: dict[Axis, AxisMark] = {"C": AxisMark("first", 1)}
    rows = [
        row._replace(axes={**row.axes, **extra}) if row.choice == "tie" else row
        for row in data.judgments
    ]
    scores = score_completions(to_columns(judgments_of(rows), data))
    assert plain is not None
    assert scores is not None
    assert scores.axes == plain.axes
    assert scores.z.tolist() == plain.z.tolist()
    only_c = [row._replace(axes=extra) for row in data.judgments]
    assert score_completions(to_columns(judgments_of(only_c), data)) is None


def test_people_are_one_rater_and_one_who_says_the_same_has_no_z() -> None:
    people = human_raters(2)
    made = PeopleStudy(1, [*people])
    texts = [made.completion(made.items[0], s) for s in (BEACON, EMBER)]
    made.judge(people[0], texts[0], texts[1], "tie")
    made.judge(people[1], texts[1], texts[0], "tie")
    marks: dict[Axis, AxisMark] = {"E": AxisMark("tie", None)}
    data = made.data()
    rows = [row._replace(axes=marks) for row in data.judgments]
    scores = score_completions(to_columns(judgments_of(rows), data))
    assert scores is not None
    assert scores.raters == ("people",)
    assert (len(scores.z), scores.n_incomplete) == (0, 2)


def test_nobody_who_marks_no_axis_has_factors() -> None:
    data = two_judges()
    rows = [row._replace(axes={}) for row in data.judgments]
    assert score_completions(to_columns(judgments_of(rows), data)) is None


def test_order_of_judgments_changes_nothing() -> None:
    data = marked_study(seed=3)
    mixed = list(data.judgments)
    random.Random(1).shuffle(mixed)
    found = []
    for rows in (data.judgments, mixed):
        scores = score_completions(
            to_columns(judgments_of(rows), replace(data, judgments=judgments_of(rows)))
        )
        assert scores is not None
        found.append(analyzed(scores))
    assert found[0] == found[1]
    assert found[0].problem is None


def marked_study(seed: int) -> StudyData:
    """Six systems on twelve items, two judges, marks that follow one skill."""
    draw = random.Random(seed)
    items, systems = make_items(12), make_systems(*"abcdef")
    made = StudyMaker(items, systems, [ONE, OTHER])
    for item in items:
        for k, first in enumerate(systems):
            for second in systems[k + 1 :]:
                for rater in (ONE, OTHER):
                    made.judge(item, (first, second), draw.choice(("first", "second")), rater=rater)
    data = made.data()
    other: dict[Choice, Choice] = {"first": "second", "second": "first"}
    rows = [
        row._replace(
            axes={
                axis: AxisMark(row.choice if draw.random() < 0.8 else other[row.choice], 1)
                for axis in AXES
            }
        )
        for row in data.judgments
    ]
    return replace(data, judgments=judgments_of(rows))
