"""What raters say they choose by: counted by hand, planted and found, not found where absent."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from people_study import BEACON, EMBER, JUDGES, PeopleStudy, human_raters
from scipy.stats import t

from hearteval.analysis.columns import to_columns
from hearteval.analysis.data import LabelRow, ReasonRow, StudyData, TaxonomyLabels
from hearteval.analysis.judgments import JudgmentRow, judgments_of
from hearteval.domain import Rater
from hearteval.sections.reasons.effects import ThemeEffect
from hearteval.sections.reasons.measure import RationaleResults, RationaleSource, analyze_rationales
from hearteval.sections.reasons.overlap import compare_rates, measure_overlap
from hearteval.stats.comparisons import FloatArray

THEMES = {"asks": "Asks", "warm": "Warm"}
READER = Rater(name="reader", kind="llm", family="r")
SECOND = Rater(name="second", kind="llm", family="s")


def labelled(
    data: StudyData,
    says: Mapping[str, Sequence[str]],
    *,
    words: Mapping[str, int] | None = None,
    labelers: Sequence[Rater] = (READER,),
) -> StudyData:
    """Label the reasons of all judgments: the themes that they speak of, by assignment."""
    rows = [
        LabelRow(f"j{row.assignment_id}", key, "present" if key in said else "absent", rater.id)
        for row in data.judgments
        for said in [says.get(row.assignment_id, ())]
        for rater in labelers
        for key in THEMES
    ]
    given = TaxonomyLabels(
        taxonomy="rationales",
        version="1",
        title="themes",
        categories=THEMES,
        labelers=labelers,
        labels=rows,
        axes={"asks": "R", "warm": "E"},
    )
    long = words or {}
    reasons = {
        f"j{row.assignment_id}": ReasonRow(row.assignment_id, long.get(row.assignment_id, 7))
        for row in data.judgments
    }
    return replace(data, labels=[given], reasons=reasons)


def analyzed(data: StudyData) -> RationaleResults:
    columns = to_columns(data.judgments, data)
    found = analyze_rationales(data, columns, level=0.95, seed=3)
    assert found is not None
    return found


def source(data: StudyData) -> RationaleSource:
    (one,) = analyzed(data).sources
    return one


def test_overlap_and_its_chance_as_counted_by_hand() -> None:
    people = np.array([[1.0, 0.0], [0.5, 0.0]])
    judges = np.array([[1.0, 0.0], [0.0, 1.0]])
    found = measure_overlap(people, judges, np.array([4, 9]), level=0.95, seed=1)
    # (1 + 1)/2 and (.5 + 0)/2; both name it: 1/2 and 0; by rates .75, .5 and 0, .5: .5 and .5.
    assert found.overlap.value == pytest.approx(0.625)
    assert found.co_mention.value == pytest.approx(0.25)
    assert found.co_omission.value == pytest.approx(0.375)
    assert found.shared is not None
    assert found.shared.value == pytest.approx(1 / 2.5)
    assert found.chance == pytest.approx(0.5)
    assert found.kappa is not None
    assert found.kappa.value == pytest.approx(0.25)
    # The two items can only stay or change places: .625 or .375, as often.
    assert found.shuffled == pytest.approx(0.5, abs=0.02)
    assert found.p == pytest.approx(0.5, abs=0.1)


def test_shuffling_keeps_an_item_whole_and_one_item_has_no_other() -> None:
    rng = np.random.default_rng(1)
    people = (rng.random((90, 20)) < 0.2).astype(float)
    item = np.repeat(np.arange(30), 3)
    alike = measure_overlap(people, people, item, level=0.95, seed=1)
    assert alike.overlap.value == pytest.approx(1.0)
    assert alike.p == 1 / 1000
    assert alike.shuffled == pytest.approx(alike.chance, abs=0.01)
    alone = measure_overlap(people[:3], people[:3], item[:3], level=0.95, seed=1)
    assert (alone.shuffled, alone.p) == (None, None)


def drawn(rng: np.random.Generator, rates: FloatArray, n: int, n_raters: int) -> FloatArray:
    return np.asarray(rng.binomial(n_raters, rates, size=(n, len(rates))) / n_raters)


def test_unrelated_reasons_have_a_kappa_of_none_and_rarely_a_small_p() -> None:
    rng, rates = np.random.default_rng(2), np.full(20, 0.15)
    kappas, small = [], 0
    for _ in range(25):
        people, judges = drawn(rng, rates, 30, 3), drawn(rng, rates, 30, 2)
        found = measure_overlap(people, judges, np.arange(30), level=0.95, seed=5)
        assert found.kappa is not None
        kappas.append(found.kappa.value)
        small += found.p is not None and found.p < 0.05
        # Rare themes: most overlap is that nobody speaks of them.
        assert found.overlap.value > 0.7
        assert found.co_omission.value > 10 * found.co_mention.value
    assert abs(np.mean(kappas)) < 0.01
    assert small <= 4


def test_an_interval_of_kappa_covers_what_was_planted() -> None:
    rng, n_covered = np.random.default_rng(4), 0
    for _ in range(60):
        item = np.repeat(np.arange(40), 2)
        common = rng.random((80, 5)) < 0.3
        own = (rng.random((80, 5)) < 0.5, rng.random((80, 5)) < 0.3)
        judges = np.where(own[0], common, own[1]).astype(float)
        found = measure_overlap(
            common.astype(float), judges, item, level=0.95, seed=5, n_shuffles=0
        )
        # Half is copied, and half drawn at the same rate: kappa is one half.
        assert found.kappa is not None
        assert found.kappa.low is not None
        assert found.kappa.high is not None
        n_covered += found.kappa.low <= 0.5 <= found.kappa.high
    assert n_covered >= 52


def test_a_planted_difference_of_rates_is_found_and_none_where_there_is_none() -> None:
    rng = np.random.default_rng(3)
    rates, more = np.full(20, 0.3), np.full(20, 0.3)
    more[4] = 0.55
    found = np.zeros((2, 200))
    for k in range(200):
        judges = drawn(rng, rates, 60, 2)
        for which, of_people in enumerate((more, rates)):
            q = compare_rates(drawn(rng, of_people, 60, 3), judges, np.arange(60), level=0.95)[2]
            named = [at for at, one in enumerate(q) if one is not None and one <= 0.05]
            found[which, k] = 4 in named if which == 0 else bool(named)
    # A difference of .25 has a standard error of .056: t of 4.5 against 3.2, which finds 87 %.
    assert 0.8 < found[0].mean() < 0.94
    assert found[1].mean() < 0.1


def two_items() -> tuple[StudyData, list[JudgmentRow]]:
    """Two people and a judge in both orders compare two replies; all choose the same."""
    people = human_raters(2)
    made = PeopleStudy(2, [*people, JUDGES[0]])
    for item in made.items:
        one, other = made.completion(item, BEACON), made.completion(item, EMBER)
        for rater in (*people, JUDGES[0]):
            made.judge(rater, one, other, "first")
        made.judge(JUDGES[0], other, one, "second")
    data = made.data()
    return data, [row for row in data.judgments if row.item_id == made.items[0].id]


def test_raters_weigh_alike_and_the_orders_of_a_judge_are_one() -> None:
    data, (first, _, in_order, _) = two_items()
    found = source(
        labelled(data, {first.assignment_id: ["asks"], in_order.assignment_id: ["asks"]})
    )
    assert (found.n_people, found.n_judges, found.n_comparisons, found.n_items) == (4, 4, 2, 2)
    asks, warm = found.themes
    assert asks.people is not None
    assert asks.judges is not None
    # One of two people and half a judge on one of two comparisons.
    assert (asks.people.value, asks.judges.value) == (0.25, 0.25)
    assert (asks.n_people, asks.n_judges, asks.axis) == (1, 1, "R")
    assert found.overlap is not None
    assert asks.same == pytest.approx((0.5 + 1) / 2)
    assert (warm.same, warm.kappa) == (1.0, None)
    assert found.overlap.overlap.value == pytest.approx((0.5 + 1 + 1 + 1) / 4)


def test_what_was_withdrawn_or_partly_labelled_is_left_out() -> None:
    data, rows = two_items()
    whole = labelled(data, {}, words={rows[0].assignment_id: 0})
    assert source(whole).n_people == 3
    (given,) = whole.labels
    without = [row for row in given.labels if row.text_id != f"j{rows[1].assignment_id}"]
    assert source(replace(whole, labels=[replace(given, labels=without)])).n_people == 2


def test_an_example_is_a_reason_that_nobody_of_the_other_kind_gives() -> None:
    data, (first, second, judged, _) = two_items()
    says = {
        first.assignment_id: ["asks"],
        second.assignment_id: ["warm"],
        judged.assignment_id: ["warm"],
    }
    (shown,) = source(labelled(data, says)).examples
    assert (shown.category, shown.given_by, shown.judgment_id) == (
        "asks",
        "people",
        f"j{first.assignment_id}",
    )


def test_people_who_choose_otherwise_enter_no_overlap_but_the_rates() -> None:
    data, _ = two_items()
    judges = {JUDGES[0].id}
    turned = [replace_choice(row) if row.rater_id in judges else row for row in data.judgments]
    found = source(labelled(replace(data, judgments=judgments_of(turned)), {}))
    assert found.overlap is None
    assert found.n_comparisons == 2
    assert found.themes[0].people is not None


def replace_choice(row: JudgmentRow) -> JudgmentRow:
    return row._replace(choice="second" if row.choice == "first" else "first")


def test_two_labelers_are_compared_on_the_same_reasons() -> None:
    data, (first, *_) = two_items()
    found = analyzed(labelled(data, {first.assignment_id: ["asks"]}, labelers=(READER, SECOND)))
    assert [one.labeler for one in found.sources] == ["reader", "second"]
    assert found.agreement[0].same == 1.0
    assert found.agreement[0].n_completions == 8


def many(seed: int, *, n_items: int = 50, effect: float = 0.0) -> StudyData:
    """Draw judgments of three people: who asks is `effect` stronger, who is warm writes more."""
    rng = np.random.default_rng(seed)
    people = human_raters(3)
    made = PeopleStudy(n_items, [*people, JUDGES[0]])
    says: dict[str, list[str]] = {}
    words: dict[str, int] = {}
    for item in made.items:
        one, other = made.completion(item, BEACON), made.completion(item, EMBER)
        for k, rater in enumerate((*people, JUDGES[0])):
            has = [key for key in THEMES if rng.random() < 0.4]
            n_words = int(rng.integers(5, 12)) + 12 * ("warm" in has)
            strength = 1.0 + k % 2 + 0.06 * n_words + effect * ("asks" in has)
            made.judge(
                rater,
                *((one, other) if rng.random() < 0.5 else (other, one)),
                "first" if rng.random() < 0.6 else "second",
                strength=int(np.clip(round(strength + rng.normal(0, 0.6)), 1, 5)),
            )
            asked = made.rows[-1].assignment_id
            says[asked], words[asked] = has, n_words
    return labelled(made.data(), says, words=words)


def strength_of(data: StudyData, key: str) -> ThemeEffect:
    effects = next(
        one
        for one in source(data).effects
        if (one.judged_by, one.outcome) == ("people", "strength")
    )
    return next(one for one in effects.themes if one.category == key)


def test_a_planted_effect_on_strength_is_found_and_verbosity_is_not_taken_for_a_theme() -> None:
    made = [many(seed, effect=0.8) for seed in range(8)]
    asks, warm = ([strength_of(data, key) for data in made] for key in THEMES)
    assert all(one.q is not None and one.q < 0.05 for one in asks)
    assert np.mean([one.effect.value for one in asks]) == pytest.approx(0.8, abs=0.12)
    # Warm reasons are longer, and longer ones are stronger: nothing of it is left.
    assert abs(np.mean([one.effect.value for one in warm])) < 0.2
    assert sum(one.p is not None and one.p < 0.05 for one in warm) <= 2


def test_without_an_effect_few_tests_find_one() -> None:
    p = [strength_of(many(100 + seed, n_items=25), "asks").p for seed in range(25)]
    assert sum(one is not None and one < 0.05 for one in p) <= 4


def test_a_theme_of_few_items_has_their_degrees_of_freedom() -> None:
    """Of 20 items six have reasons that ask: t has five degrees of freedom, not 19."""
    data = many(3, n_items=20, effect=0.4)
    (given,) = data.labels
    item_of = {row.assignment_id: row.item_id for row in data.judgments}
    six = sorted(set(item_of.values()))[:6]
    rows = [
        row._replace(
            verdict="present"
            if item_of[data.reasons[row.text_id].assignment_id] in six
            else "absent"
        )
        if row.category == "asks"
        else row
        for row in given.labels
    ]
    found = strength_of(replace(data, labels=[replace(given, labels=rows)]), "asks")
    assert found.n_with == 18
    assert found.p is not None
    assert found.effect.high is not None
    se = (found.effect.high - found.effect.value) / t.ppf(0.975, 5)
    assert found.p == pytest.approx(2 * t.sf(abs(found.effect.value) / se, 5))


def test_with_few_items_or_few_reasons_nothing_is_said_of_effects() -> None:
    small = source(many(1, n_items=6))
    assert all(one.problem and not one.themes for one in small.effects)
    data = many(1, n_items=20)
    (given,) = data.labels
    never = [
        row._replace(verdict="absent") if row.category == "asks" else row for row in given.labels
    ]
    found = source(replace(data, labels=[replace(given, labels=never)]))
    assert all("asks" in one.left_out for one in found.effects)


def test_the_order_of_rows_is_nothing() -> None:
    data = many(7, n_items=20)
    (given,) = data.labels
    turned = replace(
        data,
        judgments=data.judgments[::-1],
        labels=[replace(given, labels=given.labels[::-1])],
        completions=data.completions[::-1],
    )
    assert analyzed(turned) == analyzed(data)
