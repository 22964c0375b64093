"""When checks, repeats and triads come among a person's comparisons."""

from collections import Counter
from itertools import combinations

import pytest

from hearteval.config.people.quality import Quality
from hearteval.study.people.checks.due import (
    APART,
    Draw,
    is_check_due,
    is_gold,
    next_of_triad,
    repeat_due,
    triad_due,
)

USUAL = Quality(excludes=[])
DRAWS = [Draw(7, f"person {k}") for k in range(200)]
PAIRS = {f"{one}{other}": (one, other) for one, other in combinations("abcd", 2)}


def sitting(draw: Draw, n: int, *, within: int = 20, quality: Quality | None = None) -> list[int]:
    """Return the places of the checks in a person's first sitting of so many answers."""
    places: list[int] = []
    for place in range(n):
        due = is_check_due(
            quality or USUAL,
            draw,
            n_sitting=place,
            n_checks=len(places),
            n_ever=len(places),
            within=within,
        )
        if due:
            places.append(place)
    return places


def test_each_part_of_a_sitting_has_its_check_and_the_first_answer_is_none() -> None:
    for draw in DRAWS:
        one, other = sitting(draw, 40)
        assert 1 <= one < 10 <= other < 20


def test_nobody_can_tell_at_which_place_a_check_comes() -> None:
    places = Counter(place for draw in DRAWS for place in sitting(draw, 40))
    assert set(places) == set(range(1, 20))
    assert max(places.values()) < 0.25 * len(DRAWS)


def test_a_short_sitting_has_all_checks_too() -> None:
    assert all(len(sitting(draw, 12, within=12)) == 2 for draw in DRAWS)


def test_no_check_is_due_where_none_is_asked_for() -> None:
    assert sitting(DRAWS[0], 40, quality=Quality(checks=0, excludes=[])) == []


def test_of_each_two_checks_one_is_a_gold_pair() -> None:
    for draw in DRAWS:
        kinds = [is_gold(draw, n_ever=n) for n in range(6)]
        assert [sum(kinds[k : k + 2]) for k in (0, 2, 4)] == [1, 1, 1]
    assert {is_gold(draw, n_ever=0) for draw in DRAWS} == {True, False}


@pytest.mark.parametrize(("share", "n"), [(0.05, 400), (0.1, 200), (0.5, 100)])
def test_repeats_are_their_share_and_come_after_others(share: float, n: int) -> None:
    quality = Quality(repeats=share, excludes=[])
    for draw in DRAWS[:40]:
        repeated: list[int] = []
        for n_done in range(n):
            which = repeat_due(quality, draw, n_done=n_done, n_repeats=len(repeated))
            if which is not None:
                assert n_done - which > APART
                repeated.append(which)
        assert len(set(repeated)) == len(repeated)
        assert abs(len(repeated) - share * n) <= APART * share + 1


def test_a_pair_that_shares_a_text_is_second_and_the_one_between_is_third() -> None:
    free = [(id_, PAIRS[id_]) for id_ in ("cd", "bd", "ac", "bc", "ad")]
    anchor = PAIRS["ab"]
    second = next_of_triad(anchor, [anchor], free, n_pairs=2)
    assert second == "bd"
    rest = [one for one in free if one[0] != second]
    assert next_of_triad(anchor, [anchor, PAIRS[second]], rest, n_pairs=2) == ""
    assert next_of_triad(anchor, [anchor, PAIRS[second]], rest, n_pairs=3) == "ad"
    known = [anchor, PAIRS["bd"], PAIRS["ad"]]
    assert next_of_triad(anchor, known, [("ac", PAIRS["ac"])], n_pairs=3) == ""


def test_a_third_that_is_taken_makes_way_for_another_text() -> None:
    anchor = PAIRS["ab"]
    free = [(id_, PAIRS[id_]) for id_ in ("ac", "bc")]
    assert next_of_triad(anchor, [anchor, PAIRS["bd"]], free, n_pairs=3) in ("ac", "bc")
    assert next_of_triad(anchor, [anchor], [("ac", PAIRS["ac"])], n_pairs=2) == ""


def test_a_triad_starts_in_every_part_and_leaves_room_for_its_other_pairs() -> None:
    for draw in DRAWS:
        due = {n: triad_due(USUAL, draw, n_done=n, within=20) for n in range(41)}
        anchors = {one[0] for one in due.values() if one is not None}
        assert len({anchor // 20 for anchor in anchors}) == len(anchors) == 2
        for n, one in due.items():
            if one is not None:
                assert one[0] < n
                assert one[1] in (2, 3)
    assert triad_due(Quality(triads=0, excludes=[]), DRAWS[0], n_done=15, within=20) is None


def test_a_short_load_has_a_whole_triad() -> None:
    for draw in DRAWS:
        due = [triad_due(USUAL, draw, n_done=n, within=12) for n in range(12)]
        assert {2, 3} <= {one[1] for one in due if one is not None}
