import pytest
from hypothesis import given
from hypothesis import strategies as st

from heartbench.analysis.majority import (
    WINNERS,
    MajorityCounts,
    PairMajority,
    Winner,
    count_majorities,
    majority_of,
    merge_answers,
    pair_majority,
    winner_of_pair,
)
from heartbench.domain import Choice

MIRROR: dict[str, Winner] = {"low": "high", "high": "low", "tie": "tie"}


@pytest.mark.parametrize(
    ("choice", "first_is_low", "winner"),
    [
        ("first", True, "low"),
        ("second", True, "high"),
        ("first", False, "high"),
        ("second", False, "low"),
        ("tie", True, "tie"),
        ("tie", False, "tie"),
    ],
)
def test_winner_does_not_depend_on_the_order_shown(
    choice: Choice, first_is_low: bool, winner: Winner
) -> None:
    assert winner_of_pair(choice, first_is_low=first_is_low) == winner


@pytest.mark.parametrize("winner", WINNERS)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_answers_that_agree_are_that_answer(winner: Winner, n: int) -> None:
    assert merge_answers([winner] * n) == winner


@pytest.mark.parametrize(
    "answers", [("low", "high"), ("low", "tie"), ("tie", "high"), ("low", "low", "high")]
)
def test_answers_that_differ_are_a_flip(answers: tuple[Winner, ...]) -> None:
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
    names: dict[str, Winner] = {"l": "low", "h": "high", "t": "tie"}
    assert majority_of(names[vote] for vote in votes) == outcome


def test_a_flip_is_no_vote_but_is_counted() -> None:
    answers: dict[str, list[Winner]] = {
        "one": ["low", "low"],
        "two": ["low", "high"],
        "three": ["high", "high"],
        "four": ["low"],
    }
    found = pair_majority(answers)
    assert found == PairMajority(outcome="low", n_low=2, n_high=1, n_tie=0, n_flips=1)
    assert found.n_votes == 3


def test_a_judge_left_out_for_its_family_stands_behind_nothing() -> None:
    two = pair_majority({"one": ["low", "low"], "two": ["low", "low"]})
    three = pair_majority({"one": ["low"], "two": ["low"], "three": ["tie"]})
    assert (two.n_votes, three.n_votes) == (2, 3)
    assert two.outcome == three.outcome == "low"


def test_flips_alone_are_no_majority() -> None:
    assert pair_majority({"one": ["low", "high"]}).outcome == "no-majority"


def test_pairs_are_counted_by_the_raters_behind_them() -> None:
    pairs = [
        pair_majority({"one": ["low"], "two": ["low"], "three": ["high"]}),
        pair_majority({"one": ["low"], "two": ["high"]}),
        pair_majority({"one": ["tie"], "two": ["low", "high"]}),
        pair_majority({"one": ["high"], "three": ["high"]}),
        pair_majority({}),
    ]
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
def test_swapping_the_sides_swaps_the_majority(answers: dict[str, list[Winner]]) -> None:
    mirrored = {rater: [MIRROR[winner] for winner in given] for rater, given in answers.items()}
    one, other = pair_majority(answers), pair_majority(mirrored)
    assert other.outcome == MIRROR.get(one.outcome, one.outcome)
    assert (other.n_low, other.n_high, other.n_tie) == (one.n_high, one.n_low, one.n_tie)
    assert other.n_flips == one.n_flips


@given(ANSWERS)
def test_order_of_raters_and_answers_changes_nothing(answers: dict[str, list[Winner]]) -> None:
    turned = {rater: given[::-1] for rater, given in reversed(answers.items())}
    assert pair_majority(turned) == pair_majority(answers)


@given(ANSWERS)
def test_every_rater_votes_or_flips(answers: dict[str, list[Winner]]) -> None:
    found = pair_majority(answers)
    assert found.n_votes + found.n_flips == len(answers)


@given(ANSWERS)
def test_a_majority_has_more_votes_than_any_other(answers: dict[str, list[Winner]]) -> None:
    found = pair_majority(answers)
    counts = {"low": found.n_low, "high": found.n_high, "tie": found.n_tie}
    leaders = [name for name, n in counts.items() if n == max(counts.values())]
    assert found.outcome == (leaders[0] if len(leaders) == 1 else "no-majority")
