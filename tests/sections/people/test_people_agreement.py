"""Agreement of people, and of people's and judges' majorities: by hand, and by other packages."""

import functools
from collections import Counter
from dataclasses import replace
from itertools import combinations

import krippendorff
import numpy as np
import pytest
from people_study import BEACON, EMBER, JUDGES, PEOPLE, PeopleStudy, human_raters, simulated_study
from statsmodels.stats import inter_rater

from hearteval.analysis.agreement.pair_votes import merge_votes
from hearteval.analysis.columns import pair_sides, to_columns
from hearteval.analysis.data import StudyData
from hearteval.analysis.judgments import judgments_of
from hearteval.analysis.packed.pairs import pairs_of
from hearteval.domain import Choice
from hearteval.sections.people.judges.agreement import (
    AgreementPart,
    chance_of_majorities,
    measure_people,
)

LIKED = {"beacon": 0.9, "ember": -0.6, "harbour": 0.2, "People": 0.0}
ALIKE = dict.fromkeys(LIKED, 0.0)


@functools.cache
def simulated() -> StudyData:
    return simulated_study(LIKED, LIKED)


@functools.cache
def parts() -> tuple[AgreementPart, ...]:
    return measure(simulated())


def measure(data: StudyData) -> tuple[AgreementPart, ...]:
    return measure_people(merge_votes(to_columns(data.judgments, data)), level=0.95, seed=1)


def answers_of_people(data: StudyData) -> dict[str, dict[str, int]]:
    """Return each person's answer to each pair: 0 for its first completion, 1, or 2 for a tie."""
    first_of = {pair_id: sides[0][1] for pair_id, sides in pair_sides(data, data.pairs).items()}
    people = {rater.id for rater in data.raters if rater.kind == "human"}
    found: dict[str, dict[str, int]] = {}
    for row in data.judgments:
        if row.rater_id in people:
            is_one = row.first_completion_id == first_of[row.pair_id]
            code = {"first": 0 if is_one else 1, "second": 1 if is_one else 0, "tie": 2}
            found.setdefault(row.pair_id, {})[row.rater_id] = code[row.choice]
    return found


def test_kappa_and_alpha_are_those_of_other_packages() -> None:
    found = parts()[0].people
    assert found is not None
    answers = answers_of_people(simulated())
    counts = [[Counter(given.values())[k] for k in range(3)] for given in answers.values()]
    kappa = inter_rater.fleiss_kappa(np.array(counts), method="fleiss")
    assert found.fleiss_kappa.value == pytest.approx(kappa, abs=1e-12)
    alpha = krippendorff.alpha(value_counts=np.array(counts), level_of_measurement="nominal")
    assert found.krippendorff_alpha.value == pytest.approx(alpha, abs=1e-12)
    same = [a == b for given in answers.values() for a, b in combinations(given.values(), 2)]
    assert found.same.value == pytest.approx(np.mean(same), abs=1e-12)
    assert (found.n_people, found.n_pairs, found.n_items) == (8, len(answers), 40)


def test_raters_who_toss_coins_agree_no_more_than_by_chance_among_many_systems() -> None:
    """With the winners' names as answers kappa would be about 1/5 here, .31 with eighteen."""
    (whole, *_) = measure(simulated_study(ALIKE, ALIKE, n_items=60))
    assert whole.people is not None
    kappa = whole.people.fleiss_kappa
    assert kappa.value == pytest.approx(0, abs=0.05)
    assert kappa.low is not None
    assert kappa.high is not None
    assert kappa.low < 0 < kappa.high


def test_intervals_resample_items_with_all_their_pairs() -> None:
    """Pairs that are one judged often say no more than one: the interval stays as wide."""
    data = simulated()
    found = parts()[0].people
    assert found is not None
    copies = [
        replace(pair, id=f"{pair.id}'", completion_ids=pair.completion_ids) for pair in data.pairs
    ]
    rows = [row._replace(pair_id=f"{row.pair_id}'") for row in data.judgments]
    twice = replace(
        data,
        pairs=pairs_of([*data.pairs, *copies]),
        judgments=judgments_of([*data.judgments, *rows]),
    )
    doubled = measure(twice)[0].people
    assert doubled is not None
    assert doubled.n_pairs == 2 * found.n_pairs
    for one, other in ((doubled.fleiss_kappa, found.fleiss_kappa), (doubled.same, found.same)):
        assert one.low == pytest.approx(other.low, abs=1e-9)
        assert one.high == pytest.approx(other.high, abs=1e-9)


def three_items(*by_item: tuple[list[Choice], list[tuple[Choice, Choice]]]) -> PeopleStudy:
    """Have people and then judges, in both orders, answer one pair of each item."""
    people = human_raters(max(len(of_people) for of_people, _ in by_item))
    made = PeopleStudy(len(by_item), [*people, *JUDGES])
    for item, (of_people, of_judges) in zip(made.items, by_item, strict=True):
        one, other = made.completion(item, BEACON), made.completion(item, EMBER)
        for rater, choice in zip(people, of_people, strict=False):
            made.judge(rater, one, other, choice)
        for judge, (there, back) in zip(JUDGES, of_judges, strict=False):
            made.judge(judge, one, other, there)
            made.judge(judge, other, one, back)
    return made


ONE: tuple[Choice, Choice] = ("first", "second")
OTHER: tuple[Choice, Choice] = ("second", "first")
FLIP: tuple[Choice, Choice] = ("first", "first")


def test_majorities_are_compared_where_both_kinds_have_one() -> None:
    made = three_items(
        (["first", "first", "second"], [ONE, FLIP]),  # the same
        (["first", "second"], [ONE, ONE]),  # people have none
        (["first", "first", "tie"], [ONE, OTHER]),  # judges have none
        (["second", "second", "first"], [ONE, ONE]),  # not the same
        (["tie", "tie", "first"], [ONE, ONE]),  # people call it a tie
        (["first", "first", "first"], []),  # people alone
    )
    (whole,) = measure(made.data())
    found = whole.majorities
    assert found is not None
    assert (found.n_pairs_both, found.n_no_majority_people, found.n_no_majority_judges) == (5, 1, 1)
    assert (found.n_pairs, found.n_items, found.n_people_tie) == (3, 3, 1)
    assert found.same.value == pytest.approx(1 / 3)
    assert found.same.low is None
    assert "6 items" in str(found.same.reason)
    assert found.same_of_all.value == pytest.approx(1 / 5)  # one of all that both judged


def test_majorities_that_go_by_their_shares_alone_agree_by_chance() -> None:
    people = np.array([0, 0, 0, 1, 1, 2, -1, 0])
    judges = np.array([0, 1, 0, 1, 0, 0, 1, -1])
    # Six pairs with both: people 3, 2 and 1 of them, judges 4, 2 and none.
    assert chance_of_majorities(people, judges) == pytest.approx((3 * 4 + 2 * 2) / 36)
    compared = np.array([[2, 1, 0], [1, 1, 0], [1, 0, 0]])
    kappa = inter_rater.cohens_kappa(compared, return_results=False)
    assert (3 / 6 - kappa) / (1 - kappa) == pytest.approx(chance_of_majorities(people, judges))
    assert chance_of_majorities(people[-2:], judges[-2:]) is None


def test_majorities_by_coin_agree_as_often_as_chance_says() -> None:
    whole = measure(simulated_study(ALIKE, ALIKE, n_items=60))[0].majorities
    assert whole is not None
    assert whole.by_chance is not None
    assert whole.same.low is not None
    assert whole.same.high is not None
    assert whole.same.low < whole.by_chance < whole.same.high
    assert whole.same.value is not None
    assert whole.same_of_all.value == pytest.approx(
        whole.same.value * whole.n_pairs / whole.n_pairs_both
    )


def test_a_person_who_answers_twice_and_otherwise_has_no_vote() -> None:
    made = three_items((["first", "first"], []), (["first", "second"], []))
    item = made.items[0]
    one, other = made.completion(item, BEACON), made.completion(item, EMBER)
    made.judge(made.raters[0], other, one, "first")
    (whole,) = measure(made.data())
    assert whole.people is not None
    assert whole.people.n_pairs == 1
    assert whole.people.same.value == 0
    assert whole.majorities is None


def test_subsets_stand_beside_the_whole() -> None:
    assert [part.subset for part in parts()] == [None, "regular", "adversarial"]
    pairs = [part.people.n_pairs for part in parts() if part.people]
    assert pairs[0] == pairs[1] + pairs[2]
    both = [part.majorities.n_pairs_both for part in parts() if part.majorities]
    assert both[0] == both[1] + both[2]


def test_pairs_of_two_people_s_completions_have_two_sides() -> None:
    made = PeopleStudy(1, human_raters(2))
    item = made.items[0]
    one, other = (made.completion(item, PEOPLE, writer) for writer in ("w1", "w2"))
    made.judge(made.raters[0], one, other, "first")
    made.judge(made.raters[1], other, one, "first")
    (whole,) = measure(made.data())
    assert whole.people is not None
    assert whole.people.same.value == 0


def test_judges_alone_are_not_measured() -> None:
    data = simulated()
    judges = {judge.id for judge in JUDGES}
    rows = [row for row in data.judgments if row.rater_id in judges]
    assert measure(replace(data, judgments=judgments_of(rows))) == ()
