"""People and judges on the same pairs: small cases by hand, planted judges told apart."""

import functools
import random
from collections import Counter
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from answered_pairs import JUDGES, OTHER_WAY, people, study, votes_of
from scipy.stats import ttest_ind, ttest_rel
from statsmodels.stats import inter_rater

from hearteval.analysis.agreement.pair_votes import PairVotes, majorities
from hearteval.analysis.agreement.votes import compare_shares, measure_votes
from hearteval.domain import AXES
from hearteval.domain.study import DEFAULT_RULE, AmbiguityRule
from hearteval.sections.agreement.judges import measure_judges
from hearteval.sections.people.judges.ambiguity import (
    classify,
    measure_ambiguity,
    measure_differences,
)
from hearteval.sections.people.judges.consensus import compare_axes, measure_consensus
from hearteval.sections.people.judges.each import (
    MAJORITY,
    compare_each_judge,
    measure_ceiling,
    subsample_judges,
)


def test_each_judge_is_compared_with_what_most_people_choose_best_first() -> None:
    votes = votes_of(
        study(
            people("11122") | {"alder": "1", "birch": "1", "cedar": "2"},
            people("22221") | {"alder": "2", "birch": "/", "cedar": "1"},
            people("1122=") | {"alder": "1", "birch": "1", "cedar": "1"},  # people have none
            people("===12") | {"alder": "1", "birch": "1"},  # a tie, which no judge says
        )
    )
    found = compare_each_judge(votes, level=0.95, seed=1)
    assert [(one.judge, one.n_pairs, one.n_flips) for one in found] == [
        ("alder", 3, 0),
        ("birch", 2, 1),
        ("cedar", 2, 0),
    ]
    assert [one.same.value for one in found] == pytest.approx([2 / 3, 1 / 2, 0])
    assert "6 items" in str(found[0].same.reason)


def test_all_subsets_of_judges_are_gone_through() -> None:
    votes = votes_of(
        study(
            people("11111") | {"alder": "1", "birch": "1", "cedar": "2"},
            people("22222") | {"alder": "2", "birch": "1", "cedar": "2"},
            people("11111") | {"alder": "1", "birch": "/", "cedar": "2"},
        )
    )
    one, two, three = subsample_judges(votes)
    # alone: alder 3 of 3, birch 1 of 2, cedar 1 of 3
    assert (one.n_judges, one.n_subsets) == (1, 3)
    assert one.mean == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)
    assert [one.lowest, one.highest] == pytest.approx([1 / 3, 1])
    # alder and birch: 1, -, 1; alder and cedar: -, 1, -; birch and cedar: -, -, 0
    assert [two.mean, two.lowest, two.highest] == pytest.approx([2 / 3, 0, 1])
    assert two.mean_n_pairs == pytest.approx(4 / 3)
    # all: 1, 1, -
    assert (three.n_subsets, three.mean, three.mean_n_pairs) == (1, 1, 2)


def test_a_person_left_out_is_compared_with_most_of_the_others() -> None:
    votes = votes_of(study(people("112") | {"alder": "1"}, people("222") | {"alder": "1"}))
    found = measure_ceiling(votes, level=0.95)
    assert found is not None
    # first pair: left out 1: others 1 2, no majority; again; left out 2: others 1 1, not the same
    # second: the same three times; the judge's 1 is right once, and not three times
    assert (found.n_people, found.n_votes, found.n_pairs) == (3, 4, 2)
    assert found.person.value == pytest.approx(3 / 4)
    (alder,) = found.judges
    assert (alder.judge, alder.n_votes) == ("alder", 4)
    assert alder.same.value == pytest.approx(1 / 4)
    assert alder.below_person.value == pytest.approx(3 / 4 - 1 / 4)


def test_a_judge_who_is_one_of_the_people_is_as_far_from_the_ceiling_as_they_are() -> None:
    """Every judge answers as one of five exchangeable people does: nothing tells them apart."""
    draw = random.Random(3)
    n_apart = 0
    for _ in range(60):
        pairs = []
        for _ in range(40):
            lean = draw.choice((0.3, 0.7))
            said = ["1" if draw.random() < lean else "2" for _ in range(6)]
            pairs.append(people("".join(said[:5])) | {"alder": said[5]})
        found = measure_ceiling(votes_of(study(*pairs)), level=0.95)
        assert found is not None
        below = found.judges[0].below_person
        assert below.low is not None
        assert below.high is not None
        n_apart += not below.low <= 0 <= below.high
    assert n_apart <= 9  # 5 % of 60 are 3; 10 or more have a chance of .1 %


PAIRS_OF_TWO_KINDS = (
    people("11112") | {"alder": "1:11122"},  # a consensus
    people("11122") | {"alder": "1:11122"},  # none, and axes are split
    people("11122") | {"alder": "2:22222"},  # none, but axes say one thing
    people("11=22") | {"alder": "1:12111", "birch": "1:11111"},  # H to T: one is undecided
    people("1") | {"alder": "1:12111"},  # one person is no consensus
    people("22211") | {"alder": "1"},  # no marks
)


def test_a_pair_is_ambiguous_without_consensus_and_with_split_axes() -> None:
    votes = votes_of(study(*PAIRS_OF_TWO_KINDS))
    found = measure_ambiguity(votes, DEFAULT_RULE, level=0.95, seed=1)
    assert found is not None
    assert (found.n_pairs, found.n_neither) == (4, 2)
    assert (found.n_without_consensus, found.n_axes_split, found.n_ambiguous) == (3, 3, 2)
    clear, ambiguous = found.parts
    assert clear.majorities is not None
    assert clear.majorities.same.value == pytest.approx(1 / 2)
    assert ambiguous.majorities is not None
    assert (ambiguous.majorities.n_pairs_both, ambiguous.majorities.n_pairs) == (2, 1)
    assert ambiguous.majorities.same.value == 1
    assert (ambiguous.subset, clear.subset) == ("ambiguous", "clear")


@pytest.mark.parametrize(
    ("rule", "n_ambiguous"),
    [
        (AmbiguityRule(consensus=0.9), 3),  # four of five are no consensus then
        (AmbiguityRule(consensus=0.6), 1),  # three of five are one
        (AmbiguityRule(split_axes=2), 1),
        (AmbiguityRule(split_axes=3), 0),
    ],
)
def test_both_thresholds_are_settings(rule: AmbiguityRule, n_ambiguous: int) -> None:
    is_known, lacks, is_split = classify(votes_of(study(*PAIRS_OF_TWO_KINDS)), rule)
    assert (is_known & lacks & is_split).sum() == n_ambiguous


def test_agreement_is_compared_between_subsets() -> None:
    pairs = [people("11111") | {"alder": "1" if k % 3 else "2"} for k in range(24)]
    made = study(*pairs, n_adversarial=12)
    for k, row in enumerate(made.rows):
        if made.items[11].id == row.item_id and row.rater_id == JUDGES[0].id:
            made.rows[k] = row._replace(choice=OTHER_WAY[row.choice])
    (found,) = measure_differences(votes_of(made), DEFAULT_RULE, level=0.95)
    assert (found.one, found.other) == ("regular", "adversarial")
    at = found.difference
    assert at.value == pytest.approx(8 / 12 - 7 / 12)
    welch = ttest_ind([1] * 8 + [0] * 4, [1] * 7 + [0] * 5, equal_var=False).confidence_interval()
    assert (at.low, at.high) == pytest.approx((welch.low, welch.high))


def test_a_difference_of_pairs_of_the_same_items_knows_that_they_are() -> None:
    """Each item has a clear and an ambiguous pair that judges get right together or not at all."""
    right = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0])
    item = np.tile(np.arange(8), 2)
    gap = np.array([0.0, 1.0] * 4)
    one = np.concatenate((right, np.full(8, np.nan)))
    other = np.concatenate((np.full(8, np.nan), np.maximum(right, gap)))
    at, _ = compare_shares(one, other, item, level=0.95)
    paired = ttest_rel(right, np.maximum(right, gap)).confidence_interval()
    assert (at.low, at.high) == pytest.approx((paired.low, paired.high))


def test_a_difference_is_found_at_its_rate_where_there_is_none() -> None:
    """Thirty regular items and eight adversarial ones on which judges agree alike."""
    draw = np.random.default_rng(11)
    item = np.repeat(np.arange(38), 4)
    is_adversarial = item >= 30
    n_found = 0
    for _ in range(300):
        share = draw.beta(8, 2, 38)[item]
        same = (draw.random(len(item)) < share).astype(np.float64)
        at, _ = compare_shares(
            np.where(is_adversarial, np.nan, same),
            np.where(is_adversarial, same, np.nan),
            item,
            level=0.95,
        )
        assert at.low is not None
        assert at.high is not None
        n_found += not at.low <= 0 <= at.high
    assert 5 <= n_found <= 28  # 15 expected; fewer or more have a chance of .2 %


def test_a_judge_who_follows_people_and_one_who_tosses_coins_are_told_apart() -> None:
    """The one agrees in 90 % of pairs, the other in half: both intervals hold that, and part."""
    draw = random.Random(5)
    n_apart, n_held, n_studies = 0, Counter[str](), 60
    for _ in range(n_studies):
        pairs = []
        for _ in range(60):
            side = draw.choice("12")
            follows = side if draw.random() < 0.9 else "21"[int(side) - 1]
            pairs.append(people(side * 3) | {"alder": follows, "birch": draw.choice("12")})
        alder, birch = compare_each_judge(votes_of(study(*pairs)), level=0.95, seed=1)
        assert None not in (alder.same.low, alder.same.high, birch.same.low, birch.same.high)
        n_apart += alder.same.low > birch.same.high  # type: ignore[operator]
        n_held["follows"] += alder.same.low <= 0.9 <= alder.same.high  # type: ignore[operator]
        n_held["tosses"] += birch.same.low <= 0.5 <= birch.same.high  # type: ignore[operator]
    assert n_apart >= 55  # two intervals that part ask for more than a test does
    assert min(n_held.values()) >= 50  # 57 of 60 expected; fewer than 50 have a chance of .1 %


@functools.cache
def many() -> PairVotes:
    """Three judges with marks, some flips and gaps, on 120 items; people mark some axes."""
    draw = random.Random(7)
    pairs = []
    for k in range(120):
        lean = draw.choice("12")

        def say(lean: str, *, may_flip: bool) -> str:
            marks = "".join(draw.choice((*lean * 3, "1", "2")) for _ in AXES)
            side = draw.choice((*lean * 4, "1", "2", *("/" if may_flip else "=")))
            return f"{side}:{marks}"

        answers = {f"r{n}": say(lean, may_flip=False) for n in range(1, 6)}
        answers |= {
            judge.name: say(lean, may_flip=True)
            for judge in JUDGES
            if (k % 7 or judge != JUDGES[2])
        }
        pairs.append(answers)
    return votes_of(study(*pairs, n_adversarial=40))


def counts_of(votes: np.ndarray) -> np.ndarray:
    return np.array([[(row == side).sum() for side in (0, 1, 2)] for row in votes])


def test_kappa_of_judges_is_that_of_another_package() -> None:
    votes = many()
    found = measure_judges(votes, level=0.95, seed=1)
    assert found is not None
    assert found.overall is not None
    full = np.asarray((votes.of_judges >= 0).all(axis=1))
    complete = measure_judges(votes.select(full), level=0.95, seed=1)
    assert complete is not None
    assert complete.overall is not None
    kappa = inter_rater.fleiss_kappa(counts_of(votes.of_judges[full]), method="fleiss")
    assert complete.overall.fleiss_kappa.value == pytest.approx(kappa, abs=1e-12)
    for one in complete.axes:
        marks = votes.marks[one.axis][full][:, ~votes.is_person]
        expected = inter_rater.fleiss_kappa(counts_of(marks), method="fleiss")
        assert one.found.fleiss_kappa.value == pytest.approx(expected, abs=1e-12)
    assert [one.axis for one in complete.axes] == list(AXES)
    low, high = found.overall.fleiss_kappa.low, found.overall.fleiss_kappa.high
    assert low is not None
    assert high is not None
    assert low < found.overall.fleiss_kappa.value < high  # type: ignore[operator]


def test_judges_are_compared_in_pairs_and_all_together() -> None:
    votes = many()
    found = measure_judges(votes, level=0.95, seed=1)
    assert found is not None
    given = votes.of_judges
    groups = [*combinations(range(3), 2), (0, 1, 2)]
    assert [one.judges for one in found.together] == [
        tuple(JUDGES[k].name for k in group) for group in groups
    ]
    for one, group in zip(found.together, groups, strict=True):
        is_in = (given[:, group] >= 0).all(axis=1)
        said = given[is_in][:, group]
        assert one.n_pairs == is_in.sum()
        assert one.same.value == pytest.approx((said == said[:, :1]).all(axis=1).mean())


def test_raw_agreement_and_kappa_go_together_as_the_paper_s_numbers_do() -> None:
    """79.5 % raw agreement with 17.4 % ties has chance .371 and kappa .674 (SPEC section 14).

    Two people on 1,000 pairs: 795 agree; 174 of 1,000 answers are ties, sides are even.
    """
    same = {"11": 340, "22": 340, "==": 115}
    differ = {"12": 43, "21": 44, "1=": 59, "=2": 59}
    pairs = [people(said) for said, n in {**same, **differ}.items() for _ in range(n)]
    votes = votes_of(study(*pairs, n_people=2))
    found = measure_votes(votes.of_people, votes.item, level=0.95, seed=1)
    assert found is not None
    assert found.chance is not None
    at = found.chance
    assert at.same == pytest.approx(0.795)
    assert at.ties == pytest.approx(0.174)
    assert at.by_chance == pytest.approx(0.371, abs=0.003)  # a hash decides the sides
    assert at.by_chance_of_sides_alike == pytest.approx(0.371, abs=0.0005)
    assert at.kappa == pytest.approx(0.674, abs=0.004)
    assert at.kappa == pytest.approx(found.fleiss_kappa.value)
    assert at.kappa_without_ties == pytest.approx(0.59)


def test_axes_of_people_and_judges_are_compared() -> None:
    votes = many()
    found = compare_axes(votes, level=0.95, seed=1)
    assert [one.axis for one in found] == list(AXES)
    is_person = votes.is_person
    for one in found:
        given = votes.marks[one.axis]
        assert one.people is not None
        kappa = inter_rater.fleiss_kappa(counts_of(given[:, is_person]), method="fleiss")
        assert one.people.fleiss_kappa.value == pytest.approx(kappa, abs=1e-12)
        theirs, judges = majorities(given[:, is_person]), majorities(given[:, ~is_person])
        is_in = (theirs >= 0) & (judges >= 0)
        assert one.n_pairs == is_in.sum()
        assert one.same.value == pytest.approx((theirs == judges)[is_in].mean())


def test_axes_that_people_did_not_mark_are_left_out() -> None:
    votes = votes_of(study(*PAIRS_OF_TWO_KINDS))
    assert compare_axes(votes, level=0.95, seed=1) == ()


def test_items_are_sorted_by_how_far_people_agree() -> None:
    votes = many()
    found = measure_consensus(votes, level=0.95, seed=1)
    assert found is not None
    shares = [one.same for one in found.items]
    assert shares == sorted(shares)
    by_id = {item.id: k for k, item in enumerate(votes.names.items)}
    first = votes.of_people[votes.item == by_id[found.items[0].item_id]][0]
    same = [a == b for a, b in combinations(first.tolist(), 2)]
    assert shares[0] == pytest.approx(np.mean(same))
    assert [one.n_items for one in found.thirds] == [40, 40, 40]
    contested, _, consensus = found.thirds
    assert contested.highest <= consensus.lowest
    assert contested.person is not None
    assert consensus.person is not None
    assert contested.person.value < consensus.person.value


def test_few_items_make_no_thirds() -> None:
    pairs = [people("112") | {"alder": "1"} for _ in range(14)]
    found = measure_consensus(votes_of(study(*pairs)), level=0.95, seed=1)
    assert found is not None
    assert found.thirds == ()
    assert {one.third for one in found.items} == {None}


def test_the_order_of_rows_changes_nothing() -> None:
    made = study(*PAIRS_OF_TWO_KINDS, *PAIRS_OF_TWO_KINDS)
    data = made.data()
    turned = replace(data, judgments=data.judgments[::-1], raters=data.raters[::-1])
    for measure in (compare_each_judge, measure_consensus):
        assert measure(votes_of(data), level=0.95, seed=1) == measure(
            votes_of(turned), level=0.95, seed=1
        )
    ceiling = measure_ceiling(votes_of(data), level=0.95)
    assert ceiling == measure_ceiling(votes_of(turned), level=0.95)
    assert ceiling is not None
    assert ceiling.judges[0].judge == MAJORITY
