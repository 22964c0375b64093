"""The ranking by people alone and by judges alone, beside that of both."""

import functools
from dataclasses import replace

import pandas as pd
import pytest
from people_study import (
    BEACON,
    EMBER,
    HARBOUR,
    JUDGES,
    PEOPLE,
    PeopleStudy,
    human_raters,
    simulated_study,
)

import hearteval as he
from hearteval.analysis.data import StudyData
from hearteval.analysis.judgments import judgments_of
from hearteval.analysis.ranking.leaderboard import Leaderboard
from hearteval.analysis.study import analyze_study
from hearteval.notices import Kind
from hearteval.sections.people import People
from hearteval.sections.people.rankings import KindRanking, compare_ranks, rank_by_kind

BY_PEOPLE = {"beacon": 0.0, "ember": -0.8, "harbour": 0.8, "People": 1.6}
BY_JUDGES = {"beacon": 1.6, "ember": 0.8, "harbour": 0.0, "People": -0.8}


@functools.cache
def planted() -> StudyData:
    """People and judges who weigh the systems otherwise."""
    return simulated_study(BY_PEOPLE, BY_JUDGES)


@functools.cache
def rankings() -> tuple[KindRanking, ...]:
    data = planted()
    return rank_by_kind(data.judgments, data.systems, data.raters, level=0.95)


def board_by(kind: str) -> Leaderboard:
    (found,) = [one.leaderboard for one in rankings() if one.judged_by == kind]
    assert found is not None
    return found


def votes(data: StudyData, *, of_people: bool) -> pd.DataFrame:
    """Export the judgments of one kind, as a vote file holds them."""
    names = {system.id: system.name for system in data.systems}
    people = {rater.id for rater in data.raters if rater.kind == "human"}
    return pd.DataFrame(
        [
            {
                "left": names[row.first_system_id],
                "right": names[row.second_system_id],
                "winner": {"first": "left", "second": "right", "tie": "tie"}[row.choice],
                "strength": row.strength or 1,
                "item": row.item_id,
                "rater": row.rater_id,
            }
            for row in data.judgments
            if (row.rater_id in people) is of_people
        ]
    )


@pytest.mark.parametrize(("kind", "planted_theta"), [("people", BY_PEOPLE), ("judges", BY_JUDGES)])
def test_each_kind_recovers_what_it_was_planted_with(
    kind: str, planted_theta: dict[str, float]
) -> None:
    board = board_by(kind)
    assert [row.system for row in board.rows] == sorted(
        planted_theta, key=lambda name: -planted_theta[name]
    )
    assert board.judged_by == kind


def test_people_alone_have_a_two_way_interval_and_judges_one_over_items() -> None:
    assert board_by("people").interval_used == "two-way"
    assert board_by("people").n_people == 8
    assert board_by("judges").interval_used == "item-sandwich"
    assert board_by("judges").n_people == 0


@pytest.mark.parametrize("kind", ["people", "judges"])
def test_the_ranking_by_a_kind_is_that_of_its_exported_votes(kind: str) -> None:
    frame = votes(planted(), of_people=kind == "people")
    rater = "rater" if kind == "people" else None  # judges are a fixed panel
    expected = he.rank(frame, strength="strength", cluster="item", rater=rater)
    by_name = {row.system: row for row in expected.systems}
    for row in board_by(kind).rows:
        other = by_name[row.system]
        assert row.unweighted.elo == pytest.approx(other.elo, abs=1e-6)
        assert row.unweighted.low == pytest.approx(other.low, abs=1e-6)
        assert row.unweighted.high == pytest.approx(other.high, abs=1e-6)
        assert row.weighted.elo == pytest.approx(other.elo_weighted, abs=1e-6)
        assert row.weighted.low == pytest.approx(other.low_weighted, abs=1e-6)
    assert board_by(kind).interval_used == expected.settings.interval_used


def test_fewer_than_five_people_speak_for_themselves_only() -> None:
    data = simulated_study(BY_PEOPLE, BY_JUDGES, n_people=4, n_items=12)
    people, _ = rank_by_kind(data.judgments, data.systems, data.raters, level=0.95)
    assert people.leaderboard is not None
    assert people.leaderboard.interval_used == "item-sandwich"
    assert people.leaderboard.n_people == 4


def test_one_kind_alone_has_no_rankings_by_kind() -> None:
    data = planted()
    people = {rater.id for rater in data.raters if rater.kind == "human"}
    alone = [row for row in data.judgments if row.rater_id in people]
    assert rank_by_kind(judgments_of(alone), data.systems, data.raters, level=0.95) == ()


def test_a_kind_that_determines_no_ranking_says_why() -> None:
    made = PeopleStudy(3, [*human_raters(1), *JUDGES])
    for k, item in enumerate(made.items):
        one, other = made.completion(item, BEACON), made.completion(item, EMBER)
        made.judge(made.raters[0], one, other, "first")
        made.judge(JUDGES[0], one, other, "first" if k else "second")
    data = made.data()
    people, judges = rank_by_kind(data.judgments, data.systems, data.raters, level=0.95)
    assert people.leaderboard is None
    assert "beacon" in str(people.problem)
    assert judges.problem is None


def test_the_pooled_human_is_ranked_with_every_completion_by_people() -> None:
    data = planted()
    judged = {pair.id for pair in data.pairs}
    assert {row.pair_id for row in data.judgments} == judged
    texts = {text.id: text for text in data.completions}
    met = {
        (text.item_id, text.writer_id, model)
        for pair in data.pairs
        for text, model in (
            (texts[a], texts[b].system_id)
            for a, b in (pair.completion_ids, pair.completion_ids[::-1])
        )
        if text.system_id == PEOPLE.id
    }
    assert len(met) == 40 * 3 * 3  # items, writers, models
    results = analyze_study(data, headline="both", sections=[People])
    assert results.leaderboard is not None
    (pooled,) = [row for row in results.leaderboard.rows if row.kind == "human"]
    n_of_people = 40 * 3 * 3 * 5
    n_of_judges = 40 * 3 * 3 * 2 * 2
    assert pooled.n_comparisons == n_of_people + n_of_judges


def test_results_hold_both_rankings_beside_the_combined_one() -> None:
    results = analyze_study(planted(), headline="both", sections=[People])
    people = results.found(People)
    assert people is not None
    assert [one.judged_by for one in people.rankings] == ["people", "judges"]
    assert results.leaderboard is not None
    assert results.leaderboard.judged_by == "both"
    assert {row.system for row in results.leaderboard.rows} == {
        *(BEACON.name, EMBER.name, HARBOUR.name, PEOPLE.name)
    }


def test_without_people_there_are_no_results_of_people() -> None:
    data = planted()
    models = [system for system in data.systems if system.kind == "model"]
    among = {system.id for system in models}
    judges = {judge.id for judge in JUDGES}
    rows = [row for row in data.judgments if row.is_among(among) and row.rater_id in judges]
    bare = replace(data, systems=models, raters=JUDGES, judgments=judgments_of(rows))
    assert analyze_study(bare, sections=[People]).found(People) is None


def test_systems_that_people_and_judges_place_apart_are_a_serious_warning() -> None:
    results = analyze_study(planted(), sections=[People])
    (notice,) = [one for one in results.warnings if one.kind is Kind.KINDS_DIFFER]
    assert notice.kind.is_serious
    people = results.found(People)
    assert people is not None
    apart = [one.system for one in people.differences if one.is_apart]
    assert {"People", "beacon"} <= set(apart)
    assert ", ".join(apart) in notice


def test_raters_of_one_mind_are_not_said_to_differ() -> None:
    for seed in range(10):
        results = analyze_study(
            simulated_study(BY_PEOPLE, BY_PEOPLE, n_items=10, seed=seed), sections=[People]
        )
        assert Kind.KINDS_DIFFER not in {one.kind for one in results.warnings}


def test_ranks_are_compared_among_what_both_rank() -> None:
    data = planted()
    people = {rater.id for rater in data.raters if rater.kind == "human"}
    rows = [
        row
        for row in data.judgments
        if row.rater_id not in people
        or HARBOUR.id not in (row.first_system_id, row.second_system_id)
    ]
    rankings = rank_by_kind(judgments_of(rows), data.systems, data.raters, level=0.95)
    ranks = {one.system: (one.by_people, one.by_judges) for one in compare_ranks(rankings)}
    assert ranks == {"People": (1, 3), "beacon": (2, 1), "ember": (3, 2)}
    assert not any(one.is_apart for one in compare_ranks(rankings))
