"""How often systems are preferred: shares of wins, against tests made elsewhere."""

import numpy as np
import pytest
from judged_study import CUE, StudyMaker, make_items, make_systems
from people_study import PEOPLE, human_raters, simulated_study
from scipy import stats

from hearteval.analysis.columns import JudgmentColumns, to_columns
from hearteval.analysis.ranking.shares import Share, Shares, measure_shares
from hearteval.domain import Choice

EQUAL = dict.fromkeys(("beacon", "ember", "harbour", "People"), 0.0)

B_BOTH_TIMES: tuple[Choice, Choice] = ("first", "second")
A_BOTH_TIMES: tuple[Choice, Choice] = ("second", "first")


def one_judge(wins: list[tuple[Choice, Choice]]) -> JudgmentColumns:
    """Return what a judge said of B, first, and A, and of A, first, and B, by item."""
    first, second = make_systems("a", "b")
    made = StudyMaker(make_items(len(wins)), [first, second], [CUE])
    for item, (said, turned) in zip(made.items, wins, strict=True):
        made.judge(item, (second, first), said)
        made.judge(item, (first, second), turned)
    data = made.data()
    return to_columns(data.judgments, data)


def measured(votes: JudgmentColumns, *, level: float = 0.95) -> Shares:
    found = measure_shares(votes, level=level)
    assert found is not None
    return found


def with_people(n_people: int = 8, *, n_items: int = 40) -> tuple[Shares, JudgmentColumns]:
    data = simulated_study(
        {**EQUAL, "beacon": 0.8}, EQUAL, n_items=n_items, n_people=n_people, seed=3
    )
    votes = to_columns(data.judgments, data)
    return measured(votes), votes


def test_of_two_systems_it_is_the_t_test_of_the_means_of_items() -> None:
    draw = np.random.default_rng(5)
    options: tuple[Choice, ...] = ("first", "second", "tie")
    wins: list[tuple[Choice, Choice]] = [
        (options[i], options[j]) for i, j in draw.integers(0, 3, (30, 2)).tolist()
    ]
    of_b = {"first": 1.0, "tie": 0.5, "second": 0.0}
    means = [(of_b[said] + 1 - of_b[turned]) / 2 for said, turned in wins]
    shares = measured(one_judge(wins))
    (pair,) = shares.pairs
    is_b = pair.system == "b"
    expected = stats.ttest_1samp(means if is_b else [1 - one for one in means], 0.5)
    assert pair.value == pytest.approx(np.mean(means) if is_b else 1 - np.mean(means))
    assert pair.value >= 0.5
    assert (pair.low, pair.high) == pytest.approx(expected.confidence_interval(0.95))
    assert pair.p == pytest.approx(expected.pvalue)
    assert pair.q == pair.p
    assert (pair.n_comparisons, pair.n_items) == (60, 30)
    assert shares.interval_used == "item-sandwich"
    assert [one.value for one in shares.systems] == pytest.approx(
        [1 - np.mean(means), np.mean(means)]
    )


def test_axes_of_two_systems_are_seen_from_the_one_that_leads_and_are_one_family() -> None:
    wins = [B_BOTH_TIMES] * 14 + [A_BOTH_TIMES] * 6
    shares = measured(one_judge(wins))
    assert {(one.system, one.other) for one in shares.axes} == {("b", "a")}
    assert [one.axis for one in shares.axes] == list("HEART")
    assert [one.value for one in shares.axes] == pytest.approx([0.7] * 5)
    # Five times the same test: the q of each is its p.
    assert [one.q for one in shares.axes] == pytest.approx([one.p for one in shares.axes])


@pytest.mark.parametrize("n", [2, 4, 5, 6, 20])
def test_where_all_items_say_the_same_the_exact_test_stands_in(n: int) -> None:
    for wins, ahead in (([B_BOTH_TIMES] * n, "b"), ([A_BOTH_TIMES] * n, "a")):
        shares = measured(one_judge(wins))
        (pair,) = shares.pairs
        exact = stats.binomtest(n, n)
        ends = exact.proportion_ci(0.95, method="exact")
        assert (pair.system, pair.value) == (ahead, 1.0)
        assert (pair.low, pair.high) == pytest.approx((ends.low, ends.high))
        assert pair.p == pytest.approx(exact.pvalue)
        assert shares.settling is None
        lost = next(one for one in shares.systems if one.system != ahead)
        assert (lost.low, lost.high) == pytest.approx((0.0, 1 - ends.low))


def test_where_items_say_the_same_but_not_one_side_only_the_score_interval_stands_in() -> None:
    (pair,) = measured(one_judge([("first", "first")] * 20)).pairs
    wilson = stats.binomtest(10, 20).proportion_ci(0.95, method="wilson")
    assert (pair.value, pair.p) == (0.5, 1.0)
    assert (pair.low, pair.high) == pytest.approx((wilson.low, wilson.high))


def test_one_dialogue_has_a_share_and_says_why_it_has_no_interval() -> None:
    (pair,) = measured(one_judge([("first", "first")])).pairs
    assert (pair.value, pair.low, pair.high, pair.p, pair.q) == (0.5, None, None, None, None)
    assert pair.reason == "one dialogue gives no interval"


def test_nothing_judged_is_nothing() -> None:
    votes = one_judge([("first", "second")])
    assert measure_shares(votes.select(np.zeros(len(votes), dtype=bool)), level=0.95) is None


def test_people_and_judges_weigh_half_each_in_a_pair_and_people_are_sampled() -> None:
    shares, votes = with_people()
    assert shares.interval_used == "two-way"
    names = [one.name for one in votes.names.systems]
    beacon = names.index("beacon")
    rows = (votes.first == beacon) | (votes.second == beacon)
    won = np.where(votes.first == beacon, votes.score, 1 - votes.score)[rows]
    person, pair = votes.is_person[rows], votes.pair[rows]
    by_pair = [
        np.mean([won[(pair == one) & (person == kind)].mean() for kind in (True, False)])
        for one in np.unique(pair)
    ]
    found = next(one for one in shares.systems if one.system == "beacon")
    assert found.value == pytest.approx(np.mean(by_pair))
    assert found.other is None
    assert len(shares.pairs) == 6
    assert shares.axes == ()
    assert shares.settling is None


def test_items_that_settle_five_points_are_those_of_a_plain_calculation() -> None:
    draw = np.random.default_rng(2)
    wins: list[tuple[Choice, Choice]] = [
        ("first" if one else "second", "second" if other else "first")
        for one, other in draw.integers(0, 2, (25, 2)).tolist()
    ]
    means = np.array([((a == "first") + (b == "second")) / 2 for a, b in wins])
    needed = means.var(ddof=1) * (stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) ** 2 / 0.05**2
    settling = measured(one_judge(wins)).settling
    assert settling is not None
    assert settling.n_items == np.ceil(needed)


def test_people_who_are_sampled_take_the_t_of_their_number_however_many_the_items() -> None:
    """Six people of one mind, each of whom has B win half: they add nothing over items."""
    first, second = make_systems("a", "b")
    made = StudyMaker(make_items(24), [first, second], list(human_raters(6)))
    for k, item in enumerate(made.items):
        for person in made.raters:
            made.judge(item, (second, first), "second" if k % 2 else "first", rater=person)
    data = made.data()
    settling = measured(to_columns(data.judgments, data)).settling
    reach = stats.t.ppf(0.975, 5) + stats.t.ppf(0.8, 5)
    assert settling is not None
    assert settling.n_items == np.ceil(0.25 * 24 / 23 * reach**2 / 0.05**2)


def test_where_few_people_limit_it_no_number_of_items_settles_five_points() -> None:
    """Six people of two minds: each says the same of every item."""
    first, second = make_systems("a", "b")
    people = human_raters(6)
    made = StudyMaker(make_items(40), [first, second], list(people))
    draw = np.random.default_rng(4)
    for item in made.items:
        for k, person in enumerate(people):
            is_b = draw.random() < (0.9 if k % 2 else 0.1)
            made.judge(item, (second, first), "first" if is_b else "second", rater=person)
    data = made.data()
    shares = measured(to_columns(data.judgments, data))
    assert shares.interval_used == "two-way"
    assert shares.settling is not None
    assert (shares.settling.n_items, shares.settling.limited_by) == (None, "people")


def test_seen_from_the_other_side_a_pair_is_turned_whole() -> None:
    shares, _ = with_people()
    pair = shares.pairs[0]
    other = pair.of_other()
    assert (other.system, other.other) == (pair.other, pair.system)
    assert pair.low is not None
    assert other.high == pytest.approx(1 - pair.low)
    assert other.p == pair.p
    whole: Share = shares.systems[0]
    with pytest.raises(ValueError, match=f"the share of {PEOPLE.name} is of all others"):
        whole.of_other()
