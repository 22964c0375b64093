"""A study that is asked about one system leads with it, marks it, and shows what it lost first."""

from dataclasses import replace
from pathlib import Path

import pytest
from judged_study import CUE, StudyMaker, make_items

from hearteval.analysis.examples import by_interest
from hearteval.analysis.study import StudyResults, analyze_study
from hearteval.config import load_study
from hearteval.domain import System
from hearteval.errors import SettingsError
from hearteval.report.answers.headline import sentence
from hearteval.report.page import render_page
from hearteval.report.summary import brief_display

OURS = System(name="ours", kind="model", family="ours")
BEST = System(name="best", kind="model", family="theirs")
RECORDED = System(name="original", kind="original", family="original")
STOCK = System(name="generic", kind="baseline", family="baseline")
WINS = ((OURS, RECORDED, 14), (BEST, OURS, 15), (BEST, RECORDED, 16), (OURS, STOCK, 11))
N_ITEMS = 20


def results(*, mine: str | None = "ours", against: str | None = None) -> StudyResults:
    """Return 20 dialogues on each of which the first of two wins as often as it says."""
    made = StudyMaker(make_items(N_ITEMS), [OURS, BEST, RECORDED, STOCK], [CUE])
    for k, item in enumerate(made.items):
        for first, second, n in WINS:
            made.judge(item, (first, second), "first" if k < n else "second", strength=1 + k % 5)
    data = made.data()
    return analyze_study(data, mine=mine, against=against)


def test_the_answer_leads_with_it_the_recorded_replies_and_the_best() -> None:
    said = str(sentence(results())).replace("\N{NO-BREAK SPACE}", " ")
    # 14 and 5 of 20, t over items: .70 +- .22 and .75 +- .21; q over the four pairs.
    assert said == (
        "ours: place 1\N{EN DASH}4 of 4, by one judge's votes. Against original it is open:"
        " preferred in 70 % of comparisons (95 % interval 48\N{EN DASH}92 %). best is preferred to"
        " it in 75 % of comparisons (95 % interval 54\N{EN DASH}96 %). The offline baseline generic"
        " is not told apart from ours."
    )


def test_where_it_has_no_place_that_is_said_first() -> None:
    said = str(sentence(replace(results(), mine="failed")))
    assert said.startswith("failed has no place in the ranking: see what is missing. By one judge")


def test_a_baseline_is_no_yardstick_and_is_named_where_it_is_not_told_apart() -> None:
    said = str(sentence(results()))
    assert "The offline baseline generic is not told apart from ours." in said
    assert "preferred to generic" not in said


def test_an_offline_baseline_leads_nobody_and_is_never_left_out() -> None:
    made = StudyMaker(make_items(N_ITEMS), [OURS, BEST, STOCK], [CUE])
    for k, item in enumerate(made.items):
        for first, second, n in ((STOCK, OURS, 19), (STOCK, BEST, 12), (BEST, OURS, 18)):
            made.judge(item, (first, second), "first" if k < n else "second")
    said = str(sentence(analyze_study(made.data())))
    assert said.startswith("By one judge's votes, best leads. The other is behind it.")
    assert said.endswith("The offline baseline generic is not told apart from best.")


def test_the_study_file_may_name_another_yardstick() -> None:
    said = str(sentence(results(against="generic")))
    assert "Against generic it is open" in said
    assert "original" not in said


def test_its_row_is_marked_on_the_page_and_in_a_terminal() -> None:
    page = render_page(results())
    assert page.count('mine"><td class="place"') == 1
    marked = [line for line in brief_display(results()).text().splitlines() if "▸" in line]
    assert len(marked) == 1
    assert "ours" in marked[0]


def test_each_dialogue_comes_once_what_it_lost_most_clearly_first_then_what_it_won() -> None:
    found = by_interest(results().examples, mine="ours")
    dialogues = [one.item_id for one in found]
    n_dialogues = len(set(dialogues))
    assert len(set(dialogues[:n_dialogues])) == n_dialogues < len(found)
    of_mine = [one for one in found[:n_dialogues] if "ours" in (one.left, one.right)]
    decided = [one for one in of_mine if one.ahead is not None]
    assert found[: len(decided)] == decided
    won = [one.ahead == "ours" for one in decided]
    assert won == sorted(won)
    lost = [one.lead for one in decided if one.ahead != "ours"]
    assert lost == sorted(lost, reverse=True)
    assert len(lost) > 1


def test_nothing_is_marked_where_the_study_is_about_all_alike() -> None:
    page = render_page(results(mine=None))
    assert 'mine"><td' not in page
    assert str(sentence(results(mine=None))).startswith("By one judge's votes")


def test_the_study_file_names_it_once_and_it_makes_no_other_study(study: Path) -> None:
    before = load_study(study).settings_hash
    text = study.read_text(encoding="utf-8")
    one = text.replace('preset = "generic"', 'preset = "generic"\nmine = true')
    study.write_text(one + '\n[analysis]\nagainst = "reflective"\n', encoding="utf-8")
    settings = load_study(study)
    assert (settings.mine, settings.against) == ("generic", "reflective")
    assert settings.settings_hash == before
    two = one.replace('preset = "reflective"', 'preset = "reflective"\nmine = true')
    study.write_text(two + '\n[analysis]\nagainst = "nobody"\n', encoding="utf-8")
    with pytest.raises(SettingsError) as refused:
        load_study(study)
    assert "2 say mine = true; the answer leads with one: remove the line" in str(refused.value)
    assert "there is no system 'nobody'" in str(refused.value)
