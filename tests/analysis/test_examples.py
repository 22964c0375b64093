"""Which comparisons are chosen to be read; the expected ones are written by hand."""

import random
from collections.abc import Iterable

import pytest
from judged_study import CUE, STRESS, StudyMaker, make_items, make_systems

from hearteval.analysis.examples import Example, by_interest, choose_examples
from hearteval.analysis.judgments import JudgmentRow, judgments_of
from hearteval.domain import Choice, Item, Rater

ITEMS = make_items(12)
ALFA, BRAVO, CHARLIE = make_systems("alfa", "bravo", "charlie")
OTHER = Rater(name="other", kind="llm", family="other", settings={"model": "other"})


def judged(*verdicts: tuple[int, Rater, Choice, int | None, Choice, int | None]) -> StudyMaker:
    """Judge alfa against bravo: by item number and judge what it says with either shown first."""
    maker = StudyMaker(ITEMS, [ALFA, BRAVO, CHARLIE, *STRESS], [CUE, OTHER])
    for number, rater, said, strength, said_back, strength_back in verdicts:
        one, other = (ALFA, BRAVO), (BRAVO, ALFA)
        maker.judge(ITEMS[number], one, said, strength=strength, rater=rater)
        maker.judge(ITEMS[number], other, said_back, strength=strength_back, rater=rater)
    return maker


def chosen(rows: Iterable[JudgmentRow], *, seed: int = 1) -> tuple[Example, ...]:
    return choose_examples(judgments_of(rows), [ALFA, BRAVO, CHARLIE], seed=seed)


def numbers(examples: tuple[Example, ...], sort: str) -> list[int]:
    numbers = {item.id: number for number, item in enumerate(ITEMS)}
    return [numbers[one.item_id] for one in examples if one.chosen_as == sort]


MIXED = judged(
    (0, CUE, "first", 5, "first", 5),  # a flip at full strength: 5 on either side
    (1, CUE, "first", 2, "first", 4),  # a flip: 2 against 4
    (2, CUE, "first", 1, "first", 1),  # a flip of no weight
    (3, CUE, "first", 5, "second", 5),  # alfa both ways
    (4, CUE, "second", 3, "first", 4),  # bravo both ways
    (5, CUE, "first", 2, "second", 2),  # alfa both ways, weakly
    (6, CUE, "tie", None, "tie", None),
    (7, CUE, "first", 5, "tie", None),  # neither contested nor decided
)


def test_strongest_contradictions_and_clearest_agreements_are_chosen() -> None:
    examples = chosen(MIXED.judgments)
    assert numbers(examples, "contested") == [0, 1]
    assert numbers(examples, "decisive") == [3, 4]
    assert set(numbers(examples, "random")) < {2, 5, 6, 7}
    assert len(examples) == 6


def test_contest_is_the_mean_strength_against_the_stronger_side() -> None:
    contest = {one.item_id: (one.contest, one.lead) for one in chosen(MIXED.judgments)}
    assert contest[ITEMS[0].id] == (2.5, 0.0)
    assert contest[ITEMS[1].id] == (1.0, 1.0)
    assert contest[ITEMS[3].id] == (0.0, 5.0)
    assert contest[ITEMS[4].id] == (0.0, 3.5)


def test_pairs_on_which_people_and_judges_are_opposed_come_first() -> None:
    person = Rater(name="person", kind="human", family="human")
    made = judged(
        (0, CUE, "first", 5, "first", 5),  # a flip at full strength
        (1, CUE, "first", 5, "first", 4),
        (2, CUE, "first", 1, "second", 1),
        (2, person, "second", 1, "first", 1),
        (3, CUE, "first", 3, "second", 3),
        (3, person, "first", 3, "second", 3),
    )
    rows = made.judgments
    found = choose_examples(
        judgments_of(rows), [ALFA, BRAVO], seed=1, people=frozenset({person.id})
    )
    assert numbers(found, "contested") == [2, 0]
    assert [one.is_opposed for one in found][:2] == [True, False]
    assert by_interest(found)[0].item_id == ITEMS[2].id
    assert numbers(choose_examples(judgments_of(rows), [ALFA, BRAVO], seed=1), "contested") == [
        0,
        1,
    ]


def test_judges_who_contradict_each_other_contest_a_comparison() -> None:
    examples = chosen(
        judged(
            (0, CUE, "first", 4, "second", 4),
            (0, OTHER, "second", 4, "first", 4),
            (1, CUE, "first", 4, "second", 4),
            (1, OTHER, "first", 2, "second", 3),
        ).judgments
    )
    assert numbers(examples, "contested") == [0]
    assert numbers(examples, "decisive") == [1]
    assert [len(one.assignment_ids) for one in examples] == [4, 4]


def test_order_of_rows_changes_nothing() -> None:
    rows = MIXED.judgments
    shuffled = random.Random(3).sample(rows, len(rows))
    assert chosen(shuffled) == chosen(rows)


def test_seed_decides_who_is_drawn() -> None:
    drawn = {tuple(numbers(chosen(MIXED.judgments, seed=seed), "random")) for seed in range(20)}
    assert len(drawn) > 5
    assert {number for pair in drawn for number in pair} == {2, 5, 6, 7}


def test_none_is_chosen_twice() -> None:
    examples = chosen(judged((0, CUE, "first", 5, "first", 5)).judgments)
    assert [one.chosen_as for one in examples] == ["contested"]


def test_repeats_the_stress_set_and_one_systems_own_completions_are_left_out() -> None:
    maker = judged((0, CUE, "first", 5, "second", 5))
    maker.judge(ITEMS[1], (STRESS[0], STRESS[1]), "first")
    maker.judge(ITEMS[1], (ALFA, STRESS[1]), "first")
    rows = maker.judgments
    again = [row._replace(repeat=1, choice="second") for row in rows[:2]]
    same = rows[0]._replace(pair_id="f" * 32, second_system_id=rows[0].first_system_id)
    (only,) = chosen([*rows, *again, same])
    assert (only.item_id, only.chosen_as, len(only.assignment_ids)) == (ITEMS[0].id, "decisive", 2)


def test_every_two_systems_have_their_own_in_the_order_of_names() -> None:
    maker = judged((0, CUE, "first", 5, "second", 5))
    maker.judge(ITEMS[0], (CHARLIE, ALFA), "first")
    maker.judge(ITEMS[1], (CHARLIE, BRAVO), "tie")
    ends = [(one.left, one.right) for one in chosen(maker.judgments)]
    assert ends == [("alfa", "bravo"), ("alfa", "charlie"), ("bravo", "charlie")]


@pytest.fixture
def of_two_pairs() -> list[Example]:
    maker = judged((0, CUE, "first", 5, "first", 5), (1, CUE, "first", 4, "first", 4))
    for item, strength in ((ITEMS[2], 1), (ITEMS[3], 2)):
        maker.judge(item, (ALFA, CHARLIE), "first", strength=strength)
        maker.judge(item, (CHARLIE, ALFA), "first", strength=strength)
    return list(chosen(maker.judgments))


def test_what_is_worth_reading_begins_with_one_of_every_two_systems(
    of_two_pairs: list[Example],
) -> None:
    place: dict[str, Item] = {item.id: item for item in ITEMS}
    order = [ITEMS.index(place[one.item_id]) for one in by_interest(of_two_pairs)]
    assert order == [0, 3, 1, 2]
