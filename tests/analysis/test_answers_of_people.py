"""What one person answered beside the ranking: checks, repeats, triads."""

from datetime import timedelta

from judged_study import NOW

from hearteval.analysis.judgments import JudgmentRow
from hearteval.analysis.packed.pairs import pairs_of as columns_of_pairs
from hearteval.analysis.quality.answers import CheckRecords, PersonAnswers, answers_of_people
from hearteval.domain import AXES, Assignment, Choice, Judgment, Pair, Rating

ITEM, STUDY, RATER = "1" * 32, "2" * 32, "3" * 32
TEXTS = [str(digit) * 32 for digit in (4, 5, 6, 7)]


def pair_of(one: int, other: int) -> Pair:
    return Pair(item_id=ITEM, completion_ids=(TEXTS[one], TEXTS[other]))


def row(pair: Pair, winner: int | None, *, first: int, repeat: int = 0) -> JudgmentRow:
    won: Choice = "tie" if winner is None else "first" if winner == first else "second"
    strength = None if winner is None else 2
    return JudgmentRow(
        *(f"of {pair.id} {repeat}", pair.id, ITEM, "8" * 32, "9" * 32, TEXTS[first], RATER),
        *(repeat, won, strength, {}, None),
    )


def asked(pair: Pair, *, first: int, check: Choice | None = None, repeat: int = 0) -> Assignment:
    return Assignment(
        study_id=STUDY,
        pair_id=pair.id,
        rater_id=RATER,
        first_completion_id=TEXTS[first],
        repeat=repeat,
        check=check,
    )


def said(assignment: Assignment, choice: Choice, *, after: int) -> Judgment:
    return Judgment(
        assignment_id=assignment.id,
        choice=choice,
        strength=None if choice == "tie" else 4,
        seconds=float(after),
        created_at=NOW + timedelta(seconds=after),
    )


def answers(
    rows: list[JudgmentRow], pairs: list[Pair], stored: CheckRecords | None = None
) -> PersonAnswers:
    stored = stored or CheckRecords(kinds={}, scores={})
    seconds = {one.assignment_id: 20.0 for one in rows}
    return answers_of_people(rows, columns_of_pairs(pairs), stored, seconds)[RATER]


def test_a_check_is_passed_by_the_expected_choice_whatever_the_strength() -> None:
    pairs = [pair_of(0, 1), pair_of(1, 2), pair_of(2, 3), pair_of(0, 3)]
    expected: list[Choice] = ["first", "second", "tie", "first"]
    given = [
        asked(pair, first=TEXTS.index(pair.completion_ids[0]), check=check)
        for pair, check in zip(pairs, expected, strict=True)
    ]
    judged = [
        said(given[0], "first", after=30),
        said(given[1], "tie", after=10),
        said(given[2], "tie", after=20),
    ]
    stored = CheckRecords(
        kinds={pairs[0].id: "gold", **dict.fromkeys((p.id for p in pairs[1:]), "attention")},
        scores={},
        assignments=given,
        judgments=judged,
    )

    found = answers([], [], stored)

    assert [check.target_id for check in found.checks] == [pairs[k].id for k in (1, 2, 0, 3)]
    assert [check.passed for check in found.checks] == [False, True, True, None]
    assert [check.seconds for check in found.checks] == [10, 20, 30, None]
    assert [check.kind for check in found.checks][2] == "gold"
    assert (found.n_passed, found.n_failed) == (2, 1)


def test_where_people_rate_every_score_has_to_be_the_one_asked_for() -> None:
    def rating(text: str, *scores: int) -> Rating:
        return Rating(
            study_id=STUDY,
            completion_id=text,
            rater_id=RATER,
            axes=dict(zip(AXES, scores, strict=True)),
            created_at=NOW,
        )

    stored = CheckRecords(
        kinds={},
        scores={TEXTS[0]: 2, TEXTS[1]: 5},
        ratings=[rating(TEXTS[0], 2, 2, 2, 2, 2), rating(TEXTS[1], 5, 5, 5, 5, 4)],
    )
    found = answers([], [], stored)
    assert [(c.expected, c.passed) for c in found.checks] == [(2, True), (5, False)]


def test_a_repeat_is_the_same_answer_where_the_same_text_wins() -> None:
    pairs = [pair_of(0, 1), pair_of(1, 2), pair_of(2, 3)]
    rows = [row(pairs[0], 0, first=0), row(pairs[1], None, first=1), row(pairs[2], 2, first=2)]
    again = [
        asked(pairs[0], first=1, repeat=1),
        asked(pairs[1], first=2, repeat=1),
        asked(pairs[2], first=3, repeat=1),
    ]
    judged = [said(again[0], "second", after=5), said(again[1], "first", after=6)]
    stored = CheckRecords(kinds={}, scores={}, assignments=again, judgments=judged)

    found = answers(rows, pairs, stored)

    assert [one.is_same for one in found.repeats] == [True, False, None]
    assert found.repeats[0].second is not None
    assert (found.repeats[0].first.winner, found.repeats[0].second.winner) == (TEXTS[0], TEXTS[0])
    assert (found.repeats[0].first.seconds, found.repeats[0].second.seconds) == (20, 5)
    assert found.checks == ()


def test_three_replies_compared_in_all_pairs_are_a_triad() -> None:
    pairs = [pair_of(0, 1), pair_of(0, 2), pair_of(1, 2), pair_of(2, 3)]
    in_circle = [
        row(p, w, first=f) for p, w, f in zip(pairs, (0, 2, 1, 2), (0, 2, 1, 3), strict=True)
    ]
    in_order = [
        row(p, w, first=f) for p, w, f in zip(pairs, (0, 0, 1, 2), (1, 0, 2, 2), strict=True)
    ]
    tied = [
        row(p, w, first=0 if p.id != pairs[2].id else 1)
        for p, w in zip(pairs[:3], (0, 2, None), strict=True)
    ]

    assert [one.is_circular for one in answers(in_circle, pairs).triads] == [True]
    assert [one.is_circular for one in answers(in_order, pairs).triads] == [False]
    assert [one.is_circular for one in answers(tied, pairs).triads] == [False]
    assert answers(in_circle, pairs).triads[0].winners == (TEXTS[0], TEXTS[2], TEXTS[1])


def test_two_of_three_pairs_are_no_triad() -> None:
    pairs = [pair_of(0, 1), pair_of(0, 2)]
    assert answers([row(pair, 0, first=0) for pair in pairs], pairs).triads == ()
