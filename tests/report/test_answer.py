"""The sentence that says who leads claims what the ranks leave open, and no more."""

from typing import NamedTuple

import pytest

from hearteval.notices import Kind, Notice
from hearteval.report.answers.answer import CONTRADICTED, NARROWING, NOT_ALWAYS, TOO_NARROW, answer


class At(NamedTuple):
    rank_low: int
    rank_high: int


CASES = {
    "one leads, the rest is open": (
        [(1, 1), (2, 3), (2, 3)],
        "a leads.",
        "The other two are behind it; places 2\N{EN DASH}3 are open.",
    ),
    "all settled": (
        [(1, 1), (2, 2), (3, 3)],
        "a leads.",
        "The other two are behind it, and their order is settled.",
    ),
    "two lead": (
        [(1, 2), (1, 2), (3, 6), (3, 6), (3, 6), (3, 6)],
        "a and b lead; which of the two is better is open.",
        "The other four are behind both; places 3\N{EN DASH}6 are open.",
    ),
    "two systems": ([(1, 1), (2, 2)], "a leads.", "The other is behind it."),
    "nothing": (
        [(1, 3), (1, 3), (1, 3)],
        "Nothing is settled.",
        "Any of the three systems may be the best.",
    ),
    "places that overlap": (
        [(1, 2), (1, 3), (2, 3)],
        "a or b may be the best.",
        "The other is behind at least one system; places overlap.",
    ),
    "one that nothing is known of": (
        [(1, 2), (2, 4), (2, 4), (1, 4)],
        "a or d may be the best.",
        "The other two are each behind at least one system; places overlap.",
    ),
    "three lead": (
        [(1, 3), (1, 3), (1, 3), (4, 5), (4, 5), (6, 6)],
        "a, b and c lead; which of them is best is open.",
        "The other three are behind all three; some places among them are open.",
    ),
    "more than half": (
        [(1, 3), (1, 4), (1, 4), (2, 4)],
        "Any of three systems may be the best.",
        "The other is behind at least one system; places overlap.",
    ),
    "many lead": (
        [(1, 12)] * 11 + [(2, 12)],
        "Any of 11 systems may be the best.",
        "The other is behind at least one system; places overlap.",
    ),
}


@pytest.mark.parametrize(("places", "lead", "rest"), CASES.values(), ids=CASES)
def test_answer_says_what_the_ranks_leave_open(
    places: list[tuple[int, int]], lead: str, rest: str
) -> None:
    said = answer("abcdefghijkl"[: len(places)], [At(*place) for place in places])
    assert said.lead == lead
    assert said.rest.replace("\N{NO-BREAK SPACE}", " ") == rest
    assert str(said) == f"{said.lead} {said.rest}"


@pytest.mark.parametrize(
    ("kind", "words"), [(Kind.MISFIT, CONTRADICTED), (Kind.LEADER_LOSES, NOT_ALWAYS)]
)
def test_answer_that_comparisons_contradict_says_so(kind: Kind, words: str) -> None:
    said = answer("ab", [At(1, 1), At(2, 2)], [Notice(kind, "b won more")])
    assert said.rest == words


def test_answer_that_is_merely_warned_of_stands() -> None:
    said = {Kind.MISFIT, Kind.LEADER_LOSES, *NARROWING}
    warnings = [Notice(kind, "x") for kind in Kind if kind not in said]
    assert answer("ab", [At(1, 1), At(2, 2)], warnings) == answer("ab", [At(1, 1), At(2, 2)])


def test_long_names_are_cut_and_told_apart() -> None:
    names = [f"{'x' * 60}{k}" for k in range(2)]
    assert str(answer(names, [At(1, 2), At(1, 2)])) == (
        "Nothing is settled. Either of the two systems may be the best."
    )
    first, second = answer([*names, "a"], [At(1, 2), At(1, 2), At(3, 3)]).lead.split()[0:3:2]
    assert first != second
    assert len(first) == len(second) == 32


def test_of_several_leaders_it_is_open_already_which_is_better() -> None:
    said = answer("abc", [At(1, 2), At(1, 2), At(3, 3)], [Notice(Kind.LEADER_LOSES, "b won more")])
    assert said == answer("abc", [At(1, 2), At(1, 2), At(3, 3)])


@pytest.mark.parametrize(
    ("places", "lead"),
    [
        ([(1, 1), (2, 2)], "Over all comparisons, a leads."),
        ([(1, 3), (1, 4), (1, 4), (2, 4)], "Over all comparisons, any of three systems may be"),
    ],
)
def test_answer_that_no_one_order_fits_is_of_all_comparisons_only(
    places: list[tuple[int, int]], lead: str
) -> None:
    said = answer("abcd"[: len(places)], [At(*at) for at in places], [Notice(Kind.MISFIT, "x")])
    assert said.lead.startswith(lead)
    assert said.rest == CONTRADICTED


def test_systems_that_beat_each_other_in_a_circle_are_not_merely_open() -> None:
    said = answer("abc", [At(1, 3)] * 3, [Notice(Kind.MISFIT, "x")])
    assert said.lead == "Nothing is settled."
    assert said.rest.endswith(CONTRADICTED)


@pytest.mark.parametrize("kind", NARROWING)
def test_claim_from_too_narrow_intervals_says_that_it_may_go_too_far(kind: Kind) -> None:
    few = [Notice(kind, "x")]
    said = answer("ab", [At(1, 1), At(2, 2)], few)
    assert said == ("a leads.", f"The other is behind it. {TOO_NARROW}", few[0])
    assert TOO_NARROW not in str(answer("ab", [At(1, 2), At(1, 2)], few))
