"""A study of two systems says which is preferred, how surely, and what would settle it."""

from collections.abc import Sequence
from dataclasses import replace

from judged_study import CUE, StudyMaker, make_items, make_systems

from hearteval.analysis.ranking.shares import Settling
from hearteval.analysis.study import StudyResults, analyze_study
from hearteval.domain import AXIS_NAMES
from hearteval.report.answers.headline import sentence
from hearteval.report.answers.two_systems import settling_words, share_table, shares_of_two
from hearteval.report.page import render_page
from hearteval.report.summary import brief_display, next_step
from hearteval.sections import SECTIONS


def study(
    wins: Sequence[float], *, strength: int = 1, lost: int = 1, n_same: int = 0
) -> StudyResults:
    """Return what a judge says of B and A in both orders, given the share that B wins by item."""
    a, b = make_systems("prompt-a", "prompt-b")
    made = StudyMaker(make_items(len(wins)), [a, b], [CUE])
    for item, won in zip(made.items, wins, strict=True):
        for sides, is_b in (((b, a), won > 0), ((a, b), won == 1)):
            is_first = is_b == (sides[0] is b)
            at = strength if is_b else lost
            made.judge(item, sides, "first" if is_first else "second", strength=at)
    return analyze_study(replace(made.data(), n_identical=n_same), sections=SECTIONS)


def test_the_answer_names_the_share_its_interval_who_judged_and_on_how_much() -> None:
    said = sentence(study([1] * 30 + [0.5] * 14 + [0] * 16))
    # 74 of 120; p as `scipy.stats.ttest_1samp` has it of the means of 60 items.
    assert str(said) == (
        "prompt-b is preferred to prompt-a: 62\N{NO-BREAK SPACE}% of comparisons"
        " (95\N{NO-BREAK SPACE}% interval 51\N{EN DASH}73\N{NO-BREAK SPACE}%,"
        " p\N{NO-BREAK SPACE}.038), by cue on 60\N{NO-BREAK SPACE}dialogues."
    )


def test_where_it_is_open_both_sides_and_the_dialogues_that_would_settle_it_are_said() -> None:
    said = str(sentence(study([1] * 20 + [0.5] * 23 + [0] * 17)))
    assert said.startswith("Open: prompt-b is preferred to prompt-a in 52")
    # The means of items vary by .1561: .1561 x 7.849 / .0025 = 490 items.
    assert (
        "prompt-b may be up to 13 points better or 8 worse. About 490 dialogues would settle a"
        " difference of 5 points (430 more)." in said
    )


def test_where_both_gave_the_same_reply_the_answer_says_so_and_counts_it_in_what_would_settle() -> (
    None
):
    said = str(sentence(study([1] * 30 + [0.5] * 14 + [0] * 16, n_same=40)))
    assert said.startswith("Where they differ, prompt-b is preferred to prompt-a: 62")
    same = "On 40\N{NO-BREAK SPACE}more dialogues both gave the same reply, which nobody judged."
    assert same in said
    open_ = str(sentence(study([1] * 20 + [0.5] * 23 + [0] * 17, n_same=60)))
    assert same.replace("40", "60") in open_
    # As many again of every dialogue asked for: 490 x 2.
    assert (
        "About 490 dialogues on which they differ would settle a difference of 5 points: about 980"
        " in all." in open_
    )


def test_of_people_who_write_pairs_of_replies_are_counted_not_dialogues() -> None:
    results = study([1] * 30 + [0.5] * 14 + [0] * 16, n_same=40)
    a, b = results.coverage.systems
    of_people = replace(results.coverage, systems=(replace(a, kind="human"), b))
    said = str(sentence(replace(results, coverage=of_people)))
    assert "40\N{NO-BREAK SPACE}more pairs of replies are the same, and nobody judged" in said
    assert "more dialogues" not in said


def test_of_replies_that_are_all_the_same_nothing_is_missing() -> None:
    results = study([], n_same=12)
    systems = [replace(one, n_completions=12) for one in results.coverage.systems]
    lacking = replace(systems[0], system="silent", n_completions=0)
    of_three = replace(results.coverage, systems=(*systems, lacking))
    results = replace(results, coverage=of_three)
    assert str(sentence(results)) == (
        "prompt-a and prompt-b gave the same reply to all that they answered. So there is nothing"
        " to judge: 12\N{NO-BREAK SPACE}pairs of replies are the same."
    )
    assert [one for one in results.failures if one.kind == "judge"] == []
    assert next_step(results, "ab.toml") == (
        "change a prompt or take another model in ab.toml, and run it again"
    )


def test_every_axis_stands_below_with_its_interval_and_what_is_open() -> None:
    shown = brief_display(study([1] * 30 + [0.5] * 14 + [0] * 16)).text()
    assert "How often prompt-b is preferred, %" in shown
    for name in ("overall", "Human Alignment", "Empathic Responsiveness", "Task-following"):
        assert f"\n{name} " in shown
    assert "open" not in shown.split("Every comparison")[0]
    assert "open:" in brief_display(study([1] * 20 + [0.5] * 23 + [0] * 17)).text()


def test_where_strength_turns_the_order_it_is_said() -> None:
    said = str(sentence(study([1] * 42 + [0] * 18, strength=1, lost=5)))
    assert said.startswith("prompt-b is preferred to prompt-a: 70")
    assert said.endswith("Weighted by how strong each preference was, prompt-a is ahead.")


def test_without_a_ranking_the_question_is_answered() -> None:
    results = study([1] * 20)
    assert results.leaderboard is None
    assert str(sentence(results)).startswith("prompt-b is preferred to prompt-a: 100")


def test_where_both_win_half_neither_is_named_first() -> None:
    said = str(sentence(study([1] * 20 + [0] * 20)))
    assert said.startswith("Open: neither prompt-a nor prompt-b is preferred: 50")


def test_one_dialogue_is_not_enough_to_say_more_than_its_share() -> None:
    said = str(sentence(study([0.5])))
    assert "(one dialogue gives no interval)" in said
    assert said.startswith("Open: neither")


def test_who_must_be_more_is_said_where_dialogues_are_not_what_limits() -> None:
    shares = shares_of_two(study([1] * 20 + [0] * 20))
    assert shares is not None
    pair = shares.pairs[0]
    limited = settling_words(Settling(n_items=None, limited_by="people"), pair)
    assert limited == (
        "A difference of 5 points may take more people who judge, not only more dialogues."
    )
    enough = settling_words(Settling(n_items=30, limited_by=None), pair)
    assert enough == "A difference of 5 points would show."
    assert settling_words(None, pair) == ""


def test_of_three_systems_there_is_no_answer_of_two() -> None:
    a, b, c = make_systems("a", "b", "c")
    made = StudyMaker(make_items(3), [a, b, c], [CUE])
    for item in made.items:
        made.judge(item, (a, b), "first")
    results = analyze_study(made.data())
    assert shares_of_two(results) is None
    assert results.shares is not None
    assert len(results.shares.pairs) == 1


def test_the_page_shows_the_question_of_two_systems_and_nothing_of_a_ranking() -> None:
    page = render_page(study([1] * 30 + [0.5] * 14 + [0] * 16))
    assert "prompt-b preferred, 95\N{NO-BREAK SPACE}% interval" in page
    assert page.count("<b>62\N{NO-BREAK SPACE}%</b>") == 6
    for of_a_ranking in ('id="fit"', "<b>Fit</b>", 'class="place"', "one number per system"):
        assert of_a_ranking not in page


def test_that_people_and_judges_count_half_each_is_said_where_both_vote() -> None:
    shares = shares_of_two(study([1] * 20 + [0] * 20))
    assert shares is not None
    half = "Where people and judges judged one pair, each kind counts half of it."
    assert half in share_table(shares, AXIS_NAMES, by_both=True).notes
    assert half not in brief_display(study([1] * 20 + [0] * 20)).text()


def test_page_says_beside_the_table_what_open_means() -> None:
    open_ = render_page(study([1] * 20 + [0.5] * 23 + [0] * 17))
    assert "so that an interval clear of 50 may still be open." in open_
    settled = render_page(study([1] * 30 + [0.5] * 14 + [0] * 16))
    assert "open: chance may give as much" not in settled
