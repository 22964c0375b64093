"""Ids and pairs in few bytes are the ids and pairs that were given."""

import random

import numpy as np
import pytest

from hearteval.analysis.packed.pairs import NO_PAIRS, pairs_of
from hearteval.domain import Pair
from hearteval.domain.columns import NO_IDS, GrowingColumn, Ids
from hearteval.domain.ids import content_hash

DIGITS = sorted(content_hash(k)[:32] for k in range(300))
ENDS_IN_ZEROS = "5" * 30 + "00"
WORDS = ["p1", "p22", "a-third"]


@pytest.mark.parametrize(
    "given",
    [
        DIGITS,
        [*DIGITS, ENDS_IN_ZEROS, "0" * 32],
        WORDS,
        [*DIGITS, *WORDS],
        [DIGITS[0].upper(), DIGITS[1]],
        ["a" * 31, "b" * 33],
        ["12 34" + "5" * 27],
        [],
    ],
    ids=["digits", "zeros", "words", "mixed", "upper case", "other lengths", "a space", "none"],
)
def test_ids_come_out_as_they_went_in(given: list[str]) -> None:
    ids = Ids.of(given)
    assert [*ids] == given
    assert [ids[k] for k in range(len(given))] == given
    assert [*ids[np.arange(len(given))[::-1]]] == given[::-1]
    assert [*ids.as_text()] == given
    assert repr(ids) == f"Ids.of({given})"


def test_what_is_no_id_of_ours_lies_as_text_and_others_in_sixteen_bytes() -> None:
    assert Ids.of(DIGITS).lie.nbytes == 16 * len(DIGITS)
    assert not Ids.of([DIGITS[0].upper()]).is_packed
    assert not Ids.of(WORDS).is_packed


@pytest.mark.parametrize("others", [DIGITS, WORDS, [ENDS_IN_ZEROS], []], ids=len)
def test_ids_are_found_among_others_however_both_lie(others: list[str]) -> None:
    own = [*DIGITS[::2], ENDS_IN_ZEROS, "0" * 32]
    for ids in (Ids.of(own), Ids.of([*own, "a-third"])):
        assert ids.are_in(others).tolist() == [one in others for one in ids]
        in_order = ids.in_order()
        assert [*in_order] == sorted(ids)
        wanted = [*others, *own, "nowhere"]
        place = {one: k for k, one in enumerate(in_order)}
        found = in_order.places(Ids.of(wanted))
        assert found.tolist() == [place.get(one, -1) for one in wanted]
    assert NO_IDS.places(Ids.of(others)).tolist() == [-1] * len(others)


def test_joined_ids_stand_after_each_other() -> None:
    joined = Ids.joined([Ids.of(DIGITS), Ids.of(WORDS), NO_IDS])
    assert [*joined] == [*DIGITS, *WORDS]
    assert Ids.joined([Ids.of(DIGITS), NO_IDS]).is_packed


def test_pairs_come_out_in_the_order_of_their_ids() -> None:
    texts = [content_hash(["text", k])[:32] for k in range(30)]
    given = [
        Pair(item_id=f"item {k // 15}", completion_ids=(texts[k], texts[other]))
        for k in range(30)
        for other in range(k + 1, 30)
        if k // 15 == other // 15
    ]
    random.Random(1).shuffle(given)
    pairs = pairs_of(given)
    assert [*pairs] == sorted(given, key=lambda pair: pair.id)
    assert pairs[3] == [*pairs][3]
    some = {texts[0], texts[1], texts[20]}
    n_ends = [len(some.intersection(pair.completion_ids)) for pair in pairs]
    assert pairs.names(some).tolist() == [n > 0 for n in n_ends]
    assert pairs.are_of(some).tolist() == [n == 2 for n in n_ends]
    (both,) = pairs.select(pairs.are_of(some))
    assert pairs.named({both.id, "no pair"}).ends == {both.id: both.completion_ids}
    assert len(NO_PAIRS.named({both.id})) == 0


def test_a_number_too_large_for_its_column_is_refused() -> None:
    column = GrowingColumn(np.int16)
    column.extend(np.array([0, 2**15 - 1]))
    with pytest.raises(ValueError, match="too large"):
        column.extend(np.array([2**15]))
    assert column.made().tolist() == [0, 2**15 - 1]
