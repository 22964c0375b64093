from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hearteval.analysis.agreement.pair_votes import ABSENT, FLIP, ONE, OTHER, TIE
from hearteval.analysis.judges.majorities import (
    MajorityCounts,
    PairMajority,
    count_majorities,
    majority_of,
    merge_answers,
    pair_majority,
)

MIRROR = {"low": "high", "high": "low", "tie": "tie"}
WINNERS = ("low", "high", "tie")


def majority(answers: dict[str, list[str]]) -> PairMajority:
    return pair_majority(tuple(map(merge_answers, answers.values())))


@pytest.mark.parametrize("winner", WINNERS)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_answers_that_agree_are_that_answer(winner: str, n: int) -> None:
    assert merge_answers([winner] * n) == winner


@pytest.mark.parametrize(
    "answers", [("low", "high"), ("low", "tie"), ("tie", "high"), ("low", "low", "high")]
)
def test_answers_that_differ_are_a_flip(answers: tuple[str, ...]) -> None:
    assert merge_answers(answers) == "flip"


def test_a_rater_has_at_least_one_answer() -> None:
    with pytest.raises(ValueError, match="without an answer"):
        merge_answers([])


@pytest.mark.parametrize(
    ("votes", "outcome"),
    [
        ("l", "low"),
        ("lh", "no-majority"),
        ("llh", "low"),
        ("lht", "no-majority"),
        ("llhht", "no-majority"),
        ("llhtt", "no-majority"),
        ("llht", "low"),
        ("tthl", "tie"),
        ("hhhll", "high"),
        ("", "no-majority"),
    ],
)
def test_majority_is_a_strict_plurality(votes: str, outcome: str) -> None:
    names = {"l": "low", "h": "high", "t": "tie"}
    assert majority_of(Counter(names[vote] for vote in votes)) == outcome


def test_a_flip_is_no_vote_but_is_counted() -> None:
    answers: dict[str, list[str]] = {
        "one": ["low", "low"],
        "two": ["low", "high"],
        "three": ["high", "high"],
        "four": ["low"],
    }
    found = majority(answers)
    assert found == PairMajority(outcome="low", votes={"low": 2, "high": 1}, n_flips=1)
    assert found.n_votes == 3


def test_a_judge_left_out_for_its_family_stands_behind_nothing() -> None:
    two = majority({"one": ["low", "low"], "two": ["low", "low"]})
    three = majority({"one": ["low"], "two": ["low"], "three": ["tie"]})
    assert (two.n_votes, three.n_votes) == (2, 3)
    assert two.outcome == three.outcome == "low"


def test_flips_alone_are_no_majority() -> None:
    assert majority({"one": ["low", "high"]}).outcome == "no-majority"


def test_pairs_are_counted_by_the_raters_behind_them() -> None:
    pairs = np.array(
        [
            [ONE, ONE, OTHER],
            [ONE, OTHER, ABSENT],
            [TIE, FLIP, ABSENT],
            [OTHER, ABSENT, OTHER],
            [ABSENT, ABSENT, ABSENT],
        ]
    )
    assert count_majorities(pairs) == MajorityCounts(
        n_pairs=5,
        n_no_majority=2,
        n_ties=1,
        n_flips=1,
        n_pairs_by_raters=((0, 1), (2, 3), (3, 1)),
        n_pairs_by_votes=((0, 1), (1, 1), (2, 2), (3, 1)),
    )


ANSWERS = st.dictionaries(
    st.sampled_from("abcdefg"), st.lists(st.sampled_from(WINNERS), min_size=1, max_size=3)
)


@given(ANSWERS)
def test_swapping_the_sides_swaps_the_majority(answers: dict[str, list[str]]) -> None:
    mirrored = {rater: [MIRROR[winner] for winner in given] for rater, given in answers.items()}
    one, other = majority(answers), majority(mirrored)
    assert other.outcome == MIRROR.get(one.outcome, one.outcome)
    assert other.votes == {MIRROR[winner]: n for winner, n in one.votes.items()}
    assert other.n_flips == one.n_flips


@given(ANSWERS)
def test_order_of_raters_and_answers_changes_nothing(answers: dict[str, list[str]]) -> None:
    turned = {rater: given[::-1] for rater, given in reversed(answers.items())}
    assert majority(turned) == majority(answers)


@given(ANSWERS)
def test_every_rater_votes_or_flips(answers: dict[str, list[str]]) -> None:
    found = majority(answers)
    assert found.n_votes + found.n_flips == len(answers)


@given(ANSWERS)
def test_a_majority_has_more_votes_than_any_other(answers: dict[str, list[str]]) -> None:
    found = majority(answers)
    leaders = [name for name, n in found.votes.items() if n == max(found.votes.values())]
    assert found.outcome == (leaders[0] if len(leaders) == 1 else "no-majority")
