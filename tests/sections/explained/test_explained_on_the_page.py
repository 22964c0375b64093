"""What else could explain the ranking: what it says of each effect and judge, and its states."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from invented_results import invented_results, section_html, section_of, with_section
from test_page import outline

from hearteval.analysis.ranking.checks.adjusted import (
    AdjustedSystem,
    Effect,
    EffectTest,
    JudgeTraits,
)
from hearteval.report.page import render_page
from hearteval.report.tables import all_tables
from hearteval.report.text import MINUS, hundredths, listed, ranks, signed
from hearteval.sections.explained import (
    LESS_OFTEN,
    MORE_OFTEN,
    NO_EFFECT,
    NO_INTERVAL,
    NO_PRECISION,
    NOT_DETERMINED,
    OPEN_EFFECT,
    SAME_EITHER_WAY,
    Explained,
    effect_rows,
    pair_elos,
    read_judge,
    share_of_log_odds,
)
from hearteval.sections.explained.measure import Confounders, JudgeRanking


def audit_of(low: float, beta: float, high: float, q: float = 0.9) -> Confounders:
    effect = Effect(
        covariate="position",
        beta=beta,
        low=low,
        high=high,
        step=1.0,
        win_rate=share_of_log_odds(beta),
        win_rate_low=share_of_log_odds(low),
        win_rate_high=share_of_log_odds(high),
    )
    return Confounders(
        effects=(effect,),
        status_of_effects="planned",
        systems=(),
        status_of_ratings="exploratory",
        texts=(),
        left_out={"length": "all equally long"},
        problem=None,
        interval_used="item-sandwich",
        df=9,
        level=0.95,
        tests=(EffectTest(covariate="position", p=q / 10, q=q),),
    )


def judge_of(
    discrimination: tuple[float, float], position: tuple[float, float], q: float = 0.01
) -> JudgeTraits:
    return JudgeTraits(
        judge="j",
        n_comparisons=9,
        discrimination=sum(discrimination) / 2,
        discrimination_low=discrimination[0],
        discrimination_high=discrimination[1],
        position_bias=sum(position) / 2,
        position_bias_low=position[0],
        position_bias_high=position[1],
        discrimination_q=q if not discrimination[0] < 1 < discrimination[1] else 0.9,
        position_bias_q=q if not position[0] < 0 < position[1] else 0.9,
    )


def system_of(name: str, elo: float, adjusted: float) -> AdjustedSystem:
    return AdjustedSystem(
        system=name,
        elo=elo,
        low=elo - 10,
        high=elo + 10,
        elo_adjusted=adjusted,
        low_adjusted=adjusted - 20,
        high_adjusted=adjusted + 20,
    )


@pytest.mark.parametrize(
    ("low", "beta", "high", "q", "reading"),
    [
        (0.1, 0.2, 0.3, 0.01, MORE_OFTEN),
        (-0.3, -0.2, -0.1, 0.01, LESS_OFTEN),
        (0.1, 0.2, 0.3, 0.06, OPEN_EFFECT),
        (-0.3, -0.2, -0.1, 0.06, OPEN_EFFECT),
        (-0.1, 0.2, 0.5, 0.4, NO_EFFECT),
        (-0.2, 0.05, 0.3, 0.9, NO_EFFECT),
        (-4.0, 0.5, 5.0, 0.9, NOT_DETERMINED),
        (0.0, 0.0, 0.0, 1.0, SAME_EITHER_WAY),
        (0.2, 0.2, 0.2, 1.0, NO_PRECISION),
    ],
)
def test_effect_is_read_from_its_q_and_its_interval(
    low: float, beta: float, high: float, q: float, reading: str
) -> None:
    *_, (_, _, said) = effect_rows(audit_of(low, beta, high, q))
    assert said == reading


def test_covariates_left_out_stand_in_their_place_with_the_reason() -> None:
    left_out, (shown_first, *_) = effect_rows(audit_of(0.1, 0.2, 0.3))
    assert left_out == ("having more words", None, "all equally long")
    assert shown_first == "being shown first"


def test_ratings_stand_in_the_raw_order_with_both_ranks() -> None:
    _, rows = pair_elos(
        [system_of("c", 1400, 1600), system_of("b", 1500, 1450), system_of("a", 1500, 1450)]
    )
    assert [(row.strength.system, row.rank, row.rank_adjusted, row.change) for row in rows] == [
        ("a", 1, 2, -50),
        ("b", 1, 2, -50),
        ("c", 3, 1, 200),
    ]


def test_one_scale_holds_both_intervals() -> None:
    scale, _ = pair_elos([system_of("a", 1600, 1700), system_of("b", 1400, 1300)])
    assert (scale.low, scale.high) == (1280, 1720)


@pytest.mark.parametrize(
    ("discrimination", "position", "reading"),
    [
        ((0.8, 1.2), (-0.1, 0.1), "nothing unusual"),
        ((1.1, 1.3), (0.1, 0.2), "sharper than average, favours what is shown first"),
        ((0.5, 0.9), (-0.2, -0.1), "less sharp than average, favours what is shown second"),
        ((-0.2, 0.4), (-0.1, 0.1), "may not tell the systems apart"),
        ((-0.9, -0.1), (-0.1, 0.1), "prefers what the others find weaker"),
    ],
)
def test_judge_is_read_from_q_over_all_judges(
    discrimination: tuple[float, float], position: tuple[float, float], reading: str
) -> None:
    assert read_judge(judge_of(discrimination, position)) == reading


def test_traits_that_chance_may_give_some_judge_are_not_said() -> None:
    assert read_judge(judge_of((1.1, 1.3), (0.1, 0.2), q=0.06)) == "nothing unusual"
    assert read_judge(judge_of((-0.9, -0.1), (-0.1, 0.1), q=0.06)) == "nothing unusual"


def test_judge_without_intervals_is_not_read() -> None:
    judge = replace(
        judge_of((2.0, 3.0), (1.0, 2.0)),
        discrimination_low=None,
        discrimination_high=None,
        position_bias_low=None,
        position_bias_high=None,
        discrimination_q=None,
        position_bias_q=None,
    )
    assert read_judge(judge) == NO_INTERVAL


@pytest.mark.parametrize(
    ("log_odds", "share"), [(0, 0.5), (math.log(3), 0.75), (-2000, 0), (2000, 1)]
)
def test_log_odds_are_a_share_of_wins(log_odds: float, share: float) -> None:
    assert share_of_log_odds(log_odds) == pytest.approx(share)


def test_numbers_are_written_with_their_signs_and_ranges() -> None:
    assert (signed(12.4), signed(-12.6), signed(-0.2)) == ("+12", f"{MINUS}13", "0")
    assert (ranks(2, 2), ranks(1, 3)) == ("2", "1\N{EN DASH}3")
    assert hundredths(-0.5) == f"{MINUS}0.50"


@pytest.mark.parametrize(
    ("names", "text"),
    [(["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c"), ([], "")],
)
def test_names_are_listed_as_in_a_sentence(names: list[str], text: str) -> None:
    assert listed(names) == text


STATES: dict[str, tuple[Callable[[Explained], Explained], list[str], list[str]]] = {
    "no formatting anywhere": (
        lambda one: of_audit(one, systems=tuple(map(without_ends, one.found.systems))),
        ["<small>no interval</small>"],
        [],
    )
}


def of_audit(one: Explained, **changes: Any) -> Explained:
    return replace(one, found=replace(one.found, **changes))


def of_panel(
    one: Explained, alone: Callable[..., tuple[JudgeRanking, ...]], **changes: Any
) -> Explained:
    assert one.panel is not None
    return replace(one, panel=replace(one.panel, alone=alone(*one.panel.alone), **changes))


def without_ends(one: AdjustedSystem) -> AdjustedSystem:
    return replace(one, low=None, high=None, low_adjusted=None, high_adjusted=None)


@pytest.mark.parametrize("state", STATES)
def test_each_state_says_so(state: str) -> None:
    change, said, unsaid = STATES[state]
    results = invented_results()
    page = render_page(with_section(results, change(section_of(results, Explained))))
    html = section_html(page, "explained")
    assert [words for words in said if words not in html] == []
    assert [words for words in unsaid if words in html] == []
    assert outline(page).misnested == []


def test_every_system_has_a_raw_and_a_controlled_interval() -> None:
    html = section_html(render_page(invented_results(cue_judge=True)), "explained")
    assert html.count('<rect class="raw"') == html.count('<rect class="held"') == 6 + 1


def test_many_systems_are_not_shown_again_by_each_judge() -> None:
    html = section_html(render_page(invented_results(large=True)), "explained")
    assert "by-judge-alone.csv" in html
    assert "Judge-aware:" not in html


def test_where_judges_rate_pairs_explain_nothing_on_the_page() -> None:
    results = invented_results()
    without = with_section(results, replace(section_of(results, Explained), n_ranked=0))
    assert 'id="explained"' not in render_page(without)
    assert "#explained" not in render_page(without)
    assert "effects" in all_tables(without)


def test_folded_line_doubts_what_the_judges_own_test_does_not_bear_out() -> None:
    one = section_of(invented_results(), Explained)
    assert "goes with winning 66.4\N{NO-BREAK SPACE}% [62.9, 69.6]" in one.line()
    assert "own test" not in one.line().lower()
    doubted = replace(one, unmoved=("larch-2",))
    assert "no preference for the same reply padded with empty sentences is shown by larch-2" in (
        doubted.line()
    )


def test_two_systems_are_said_to_be_hard_to_tell_from_their_lengths() -> None:
    one = section_of(invented_results(), Explained)
    assert "two systems" not in one.line()
    assert "With two systems, it can hardly be told" in replace(one, n_ranked=2).line()


def test_q_that_is_small_is_not_written_as_nought() -> None:
    one = section_of(invented_results(), Explained)
    tests = (EffectTest(covariate="length", p=0.00001, q=0.00004),)
    assert "length < .001." in of_audit(one, tests=tests).tests_words()
