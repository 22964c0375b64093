"""People and judges have equal total weight within a pair that both judged (SPEC section 5)."""

import math
import random
from collections import defaultdict

import evalica
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ranked_votes import ANN, BEN, CAT, DAN, JUDGE, PEOPLE, rank, row_of, rows_of, three_to_one

from hearteval.analysis.judgments import JudgmentRow, judgments_of
from hearteval.analysis.ranking.comparisons import people_among, to_comparisons
from hearteval.analysis.ranking.leaderboard import rank_systems
from hearteval.domain import Axis, AxisMark, Choice, Rater
from hearteval.sections.judges.stability import rank_stability

JUDGES = [Rater(name=f"J{k}", kind="llm", family=f"j{k}", settings={"k": k}) for k in range(4)]
RATERS = [*PEOPLE, *JUDGES]
SYSTEMS = (ANN, BEN, CAT, DAN)
IDS = [system.id for system in SYSTEMS]
ANN_WON: Choice = "first"
BEN_WON: Choice = "second"


def pair(number: int, *answers: tuple[Rater, Choice, int]) -> list[JudgmentRow]:
    """Return what raters say of one pair of Ann's and Ben's texts."""
    (row,) = rows_of(three_to_one()[:1])
    return [
        row._replace(
            assignment_id=f"{number}, {k}",
            pair_id=f"p{number}",
            item_id=f"i{number}",
            rater_id=rater.id,
            choice=choice,
            strength=None if choice == "tie" else strength,
        )
        for k, (rater, choice, strength) in enumerate(answers)
    ]


def weights(
    rows: list[JudgmentRow], *, use_strength: bool, axis: Axis | None = None
) -> list[float]:
    comparisons = to_comparisons(
        judgments_of(rows),
        axis=axis,
        use_strength=use_strength,
        system_ids=IDS,
        rater_ids=people_among(RATERS),
    )
    return list(map(float, comparisons.weight))


TWO_PAIRS = [
    *pair(1, (PEOPLE[0], ANN_WON, 4), (PEOPLE[1], ANN_WON, 2), (JUDGES[0], ANN_WON, 1)),
    *pair(
        2,
        (PEOPLE[0], BEN_WON, 4),
        (JUDGES[0], ANN_WON, 2),
        (JUDGES[1], ANN_WON, 1),
        (JUDGES[2], BEN_WON, 5),
    ),
]
"""Of pair 2 everyone counts 2/3 among the judges, 2 among the people; with strengths 3/4, 3/2."""


def test_weights_of_both_kinds_are_equal_by_hand() -> None:
    once = [0.75, 0.75, 1.5, 2, 2 / 3, 2 / 3, 2 / 3]
    by_strength = [4 * 7 / 12, 2 * 7 / 12, 3.5, 6, 1.5, 0.75, 3.75]

    assert weights(TWO_PAIRS, use_strength=False) == pytest.approx(once)
    assert weights(TWO_PAIRS, use_strength=True) == pytest.approx(by_strength)


def test_both_rankings_of_a_study_follow_by_hand() -> None:
    ann = row_of(rank_systems(judgments_of(TWO_PAIRS), SYSTEMS, RATERS), ANN)

    assert ann.unweighted.elo == pytest.approx(1500 + 200 * math.log10(13 / 8))
    assert ann.weighted.elo == pytest.approx(1500 + 200 * math.log10(9.25 / 9.75))


def test_shares_of_wins_weigh_as_the_ranking_does_and_counts_are_of_judgments() -> None:
    """Ann wins .75 + .75 + 1.5 and 2/3 + 2/3 of the weight of 7; 5 of 7 judgments."""
    board = rank_systems(judgments_of(TWO_PAIRS), SYSTEMS, RATERS)
    ann, (found,) = row_of(board, ANN), board.fit.pairs

    assert (ann.n_comparisons, ann.n_wins) == (7, 5)
    assert ann.win_rate == pytest.approx(13 / 21)
    assert found.n == 7
    assert board.fit.max_gap == pytest.approx(0)


def mixed(n: int, seed: int) -> list[JudgmentRow]:
    """Pairs of four systems, each judged by some people, some judges, or both."""
    draw = random.Random(seed)
    rows = []
    for number in range(n):
        first, second = draw.sample(SYSTEMS, 2)
        raters = draw.sample(RATERS, draw.randint(1, 7))
        choices: list[Choice] = [draw.choice(("first", "second", "tie")) for _ in raters]
        for row in pair(
            number, *((r, c, draw.randint(1, 5)) for r, c in zip(raters, choices, strict=True))
        ):
            mark = AxisMark(draw.choice(("first", "second")), draw.randint(1, 5))
            rows.append(
                row._replace(
                    item_id=f"i{number % 30}",
                    first_system_id=first.id,
                    second_system_id=second.id,
                    axes={"E": mark} if draw.random() < 0.7 else {},
                )
            )
    return rows


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000), st.booleans())
def test_kinds_weigh_the_same_in_a_pair_and_its_total_stays(seed: int, use_strength: bool) -> None:
    rows = mixed(20, seed)
    people = set(people_among(RATERS))
    of_kind: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    before: dict[str, float] = defaultdict(float)
    for row, weight in zip(rows, weights(rows, use_strength=use_strength), strict=True):
        of_kind[row.pair_id][row.rater_id in people] += weight
        before[row.pair_id] += row.strength or 1 if use_strength else 1

    for pair_id, (by_judges, by_people) in of_kind.items():
        assert by_judges + by_people == pytest.approx(before[pair_id])
        assert by_judges == pytest.approx(by_people) or 0 in (by_judges, by_people)


@pytest.mark.parametrize("kind", ["human", "llm"])
def test_one_kind_alone_counts_as_it_is_to_the_last_digit(kind: str) -> None:
    of_kind = {rater.id for rater in RATERS if rater.kind == kind}
    rows = [row for row in mixed(200, 1) if row.rater_id in of_kind]

    assert weights(rows, use_strength=True) == [row.strength or 1 for row in rows]


def test_pairs_of_one_kind_each_count_as_they_are_to_the_last_digit() -> None:
    rows = [
        row
        for row in mixed(200, 2)
        if (row.rater_id in people_among(RATERS)) == (int(row.pair_id[1:]) % 2 == 0)
    ]

    assert weights(rows, use_strength=True) == [row.strength or 1 for row in rows]


def test_kinds_of_equal_weight_count_as_they_are_to_the_last_digit() -> None:
    rows = pair(1, (PEOPLE[0], ANN_WON, 3), (JUDGES[0], BEN_WON, 1), (JUDGES[1], BEN_WON, 2))

    assert weights(rows, use_strength=True) == [3, 1, 2]


def test_order_of_judgments_changes_nothing_to_the_last_digit() -> None:
    rows = mixed(300, 3)
    board = rank_systems(judgments_of(rows), SYSTEMS, RATERS)
    random.Random(4).shuffle(rows)

    assert rank_systems(judgments_of(rows), SYSTEMS[::-1], RATERS[::-1]) == board


@pytest.mark.parametrize("use_strength", [False, True])
def test_evalica_agrees_on_weights_by_pandas(*, use_strength: bool) -> None:
    rows = mixed(300, 5)
    frame = pd.DataFrame(rows)
    frame["own"] = frame.strength.fillna(1) if use_strength else 1.0
    frame["is_person"] = frame.rater_id.isin(people_among(RATERS))
    of_pair = frame.groupby("pair_id")
    n_kinds = of_pair.is_person.transform("nunique")
    share = frame.own / frame.groupby(["pair_id", "is_person"]).own.transform("sum")
    weight = share * of_pair.own.transform("sum") / n_kinds
    winner = {"first": evalica.Winner.X, "tie": evalica.Winner.Draw, "second": evalica.Winner.Y}
    result = evalica.bradley_terry(
        frame.first_system_id.tolist(),
        frame.second_system_id.tolist(),
        frame.choice.map(winner).tolist(),
        weights=weight.tolist(),
        tolerance=1e-14,
        limit=10_000,
    )
    expected = np.log(result.scores[IDS].to_numpy())

    board = rank_systems(judgments_of(rows), SYSTEMS, RATERS)
    found = [row_of(board, system) for system in SYSTEMS]
    theta = [(row.weighted if use_strength else row.unweighted).theta for row in found]

    np.testing.assert_allclose(theta, expected - expected.mean(), atol=1e-7)


def test_marks_on_an_axis_are_weighed_among_themselves() -> None:
    mark: dict[Axis, AxisMark] = {"E": AxisMark("first", 1)}
    rows = pair(1, *((rater, ANN_WON, 5) for rater in (*PEOPLE[:2], *JUDGES[:3])))
    marked = [row._replace(axes=mark) for row in rows[1:]]

    assert weights([rows[0], *marked], use_strength=False, axis="E") == pytest.approx(
        [2, *[2 / 3] * 3]
    )


def test_repeats_are_ranked_with_the_same_weights() -> None:
    rows = mixed(200, 6)
    again = [row._replace(repeat=1) for row in rows]
    (found,) = rank_stability(
        judgments_of([*rows, *again]), SYSTEMS, people=people_among(RATERS), level=0.95
    )
    board = rank_systems(judgments_of(rows), SYSTEMS, RATERS)

    assert found.first == found.again
    assert list(found.first) == [row_of(board, s).weighted.elo for s in SYSTEMS]


def test_raters_of_a_two_way_interval_stay_people_only() -> None:
    board = rank_systems(judgments_of(mixed(300, 7)), SYSTEMS, RATERS)

    assert (board.interval_used, board.df, board.n_people) == ("two-way", 5, 6)


def test_pairs_of_one_kind_are_counted_in_the_warning() -> None:
    rows = [*TWO_PAIRS, *pair(3, (JUDGE, ANN_WON, 1)), *pair(4, (PEOPLE[0], BEN_WON, 1))]
    board = rank_systems(judgments_of(rows), SYSTEMS, [*RATERS, JUDGE])

    assert any("2 of 4 pairs were judged by one kind only" in said for said in board.warnings)
    assert not any("same total weight" in said for said in rank(three_to_one()).warnings)
