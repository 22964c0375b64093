"""The first screen: the answer, cells whose colour their evidence allows, and honest chips."""

import dataclasses
import re
from typing import Any

import pytest
from invented_audits import injection, invented_audits, judge_audit, share
from invented_ratings import invented_ratings
from invented_results import (
    invented_results,
    rename_system,
    section_html,
    section_of,
    with_judges,
    without_ranking,
)
from markupsafe import escape

from hearteval.analysis.ranking.axes.tables import AxisStanding
from hearteval.analysis.ranking.head_to_head import LackOfFit
from hearteval.analysis.section import Chip
from hearteval.analysis.study import StudyResults
from hearteval.notices import Kind, Notice
from hearteval.report.answers.headline import news, results_notices, sentence
from hearteval.report.leaderboard import TOO_FEW
from hearteval.report.page import render_page
from hearteval.report.page.chips import chips
from hearteval.report.page.first_screen import ShareCell, shade, standings
from hearteval.sections.judges import Judges
from hearteval.sections.judges.audit import JudgeAudits

BLAMELESS = {"hostile": share(0.97, 0.87, 1.0)}


def plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


def chip(results: StudyResults, title: str) -> Chip:
    (found,) = (c for c in chips(results, results_notices(results)) if c.title == title)
    return found._replace(words=plain(found.words))


def with_audits(audits: JudgeAudits | None, **changes: object) -> StudyResults:
    return with_judges(invented_results(), found=audits, consistency=(), stress=(), **changes)


def first_cell(**changes: object) -> ShareCell:
    """Return the cell of one system on H, changed."""
    results = invented_results()
    assert results.leaderboard is not None
    first, *others = results.leaderboard.rows
    at = AxisStanding(
        win_rate=0.8,
        percentile=80.0,
        elo=1620.0,
        low=1560.0,
        high=1680.0,
        n_comparisons=700,
        n_items=40,
        n_asked=800,
        p=0.004,
        q=0.012,
    )
    at = dataclasses.replace(at, **changes)  # type: ignore[arg-type]
    row = dataclasses.replace(first, n_comparisons=800, axes={**first.axes, "H": at})
    board = dataclasses.replace(results.leaderboard, rows=(row, *others))
    drawn = standings(dataclasses.replace(results, leaderboard=board))
    assert drawn is not None
    return drawn.rows[0].cells[1]


def test_the_page_opens_with_who_leads_and_what_is_open() -> None:
    page = render_page(invented_results())
    heading = re.findall(r"<h1[^>]*>([^<]*)</h1>", page)
    assert heading == ["By judges&#39; votes, beacon-large-instruct or people may be the best."]
    assert page.index("<h1") < page.index("<table")


def test_scores_say_whose_interval_reaches_the_first() -> None:
    said = sentence(invented_ratings())
    assert str(said) == (
        "beacon-large-instruct has the highest scores. But its interval overlaps with that of"
        " people."
    )


def test_scores_without_intervals_are_not_said_to_overlap() -> None:
    results = invented_ratings()
    assert results.ratings is not None
    first, *others = results.ratings.systems
    bare = dataclasses.replace(
        first, overall=dataclasses.replace(first.overall, z_low=None, z_high=None)
    )
    ratings = dataclasses.replace(results.ratings, systems=(bare, *others))
    said = sentence(dataclasses.replace(results, ratings=ratings))
    assert said.rest == "But without an interval for each the order is open."


def test_without_a_ranking_the_sentence_says_why() -> None:
    said = sentence(without_ranking(invented_results(), "groups never met"))
    assert str(said) == "There is no ranking. Groups never met."


def test_the_most_serious_warning_alone_stands_above_the_table() -> None:
    results = invented_results()
    misfit = Notice(Kind.MISFIT, "No order of all systems fits.")
    results = dataclasses.replace(results, warnings=(*results.warnings, misfit))
    page = render_page(results)
    above = page[: page.index("<table")]
    assert f'<p class="news loud"><span>{misfit}</span> <a href="#limits">' in above
    assert results.warnings[0] not in above


def test_what_denies_the_answer_stands_beside_what_the_judge_is() -> None:
    results = invented_results(cue_judge=True)
    assert results.judge_notice is not None
    misfit = Notice(Kind.MISFIT, "No order of all systems fits.")
    both = dataclasses.replace(results, warnings=(*results.warnings, misfit))
    assert news(results_notices(results), sentence(results)) == (results.judge_notice,)
    assert news(results_notices(both), sentence(both)) == (results.judge_notice, misfit)


def test_what_the_answer_speaks_of_stands_beside_a_more_serious_warning() -> None:
    results = invented_results(cue_judge=True)
    assert results.leaderboard is not None
    for kind in (Kind.MISFIT, Kind.UNEVEN_ITEMS):
        notice = Notice(kind, "What the answer speaks of.")
        board = dataclasses.replace(results.leaderboard, warnings=(notice,))
        more = dataclasses.replace(results, leaderboard=board)
        nothing = Notice(Kind.NO_RESULT, "Nothing came.")
        more = dataclasses.replace(more, warnings=(nothing,))
        assert "see the warning" in sentence(more).rest
        assert news(results_notices(more), sentence(more)) == (more.judge_notice, nothing, notice)


def test_full_colour_needs_to_be_clear_of_the_middle_by_q_over_the_table() -> None:
    assert first_cell().shade == "h35"
    assert first_cell(q=0.06).shade == "h24"
    assert first_cell(low=1490.0, q=0.09).shade == "h24"


@pytest.mark.parametrize(
    "change", [{"n_comparisons": 399}, {"n_items": 9}, {"low": None, "high": None}]
)
def test_few_marks_or_no_interval_are_hatched(change: dict[str, object]) -> None:
    assert first_cell(**change).shade == "few"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"n_items": 9}, "Not shown bare: fewer than 10 items."),
        (
            {"n_comparisons": 399},
            "Not shown bare: no difference was marked in most judgments that asked.",
        ),
    ],
)
def test_what_a_terminal_leaves_blank_is_blank_here_with_its_numbers_inside(
    change: dict[str, object], why: str
) -> None:
    cell = first_cell(**change)
    assert (cell.text, cell.shade) == (TOO_FEW, "few")
    assert plain(cell.words[1]).startswith("Won 80.0 % of")
    assert cell.words[2] == why


def test_a_cell_of_an_axis_without_an_order_is_blank_as_on_a_terminal() -> None:
    drawn = standings(invented_results())
    assert drawn is not None
    assert [row.cells[5].text for row in drawn.rows] == [TOO_FEW] * 6
    assert "No Elo: these comparisons do not give one order." in drawn.rows[0].cells[5].words


def test_a_shade_is_pale_on_either_side() -> None:
    assert shade(40, 1.0, 2.0, middle=0.0, is_few=False) == "h40"
    assert shade(40, -1.0, 2.0, middle=0.0, is_few=False) == "h25"
    assert shade(0, -1.0, 2.0, middle=0.0, is_few=False) == "h15"


def test_wins_below_the_middle_and_a_strength_above_are_pale() -> None:
    """Who met the strongest only may win 45 % and yet be stronger than most."""
    assert shade(16, 1.0, 2.0, middle=0.0, is_few=False) == "h19"
    assert shade(24, -2.0, -1.0, middle=0.0, is_few=False) == "h21"


def test_a_cell_opens_without_a_script_and_says_its_counts() -> None:
    cell = first_cell()
    assert [plain(words) for words in cell.words] == [
        "Human Alignment",
        "Won 80.0 % of 700 comparisons on 40 items; in 100 others no difference was marked.",
        "Elo 1620, 95 % interval [1560, 1680]: clear of the mean, 1500 (q = .012 over all cells).",
    ]
    assert plain(first_cell(q=0.06).words[-1]) == (
        "Elo 1620, 95 % interval [1560, 1680]: it may be on either side of the mean, 1500 (q = .060"
        " over all cells)."
    )
    page = render_page(invented_results())
    assert page.count('<details name="mark"><summary>') == 6 * 5


def test_a_line_stands_after_the_last_that_may_be_best() -> None:
    drawn = standings(invented_results())
    assert drawn is not None
    assert [row.is_last_leader for row in drawn.rows] == [False, True, *[False] * 4]


def test_who_wrote_stands_in_three_words() -> None:
    drawn = standings(rename_system(invented_results(), "people", "listeners"))
    assert drawn is not None
    kinds = {row.system: row.kind for row in drawn.rows}
    assert (kinds["listeners"], kinds["original"], kinds["ember-7b"]) == (
        *("people", "recorded replies"),
        "model",
    )


def test_every_chip_leads_to_a_section_that_is_there() -> None:
    for results in (
        invented_results(),
        invented_ratings(),
        without_ranking(invented_results(), "none"),
    ):
        page = render_page(results)
        found = chips(results, results_notices(results))
        assert [c.section for c in found if f'id="{c.section}"' not in page] == []


FAIR = judge_audit("a", stress=BLAMELESS)
TURNING, STEADY = (
    dataclasses.replace(judge, n_flips=n)
    for judge, n in zip(section_of(invented_results(), Judges).raters, (200, 0), strict=True)
)


@pytest.mark.parametrize(
    ("changes", "words", "is_bad"),
    [
        ({"found": invented_audits(FAIR, judge_audit("b"))}, "Tests find fault with b", True),
        (
            {"found": invented_audits(FAIR)},
            "2 judges, no fault in 3 checks; not fully audited",
            False,
        ),
        (
            {"found": invented_audits(dataclasses.replace(FAIR, is_baseline=True))},
            "Offline baseline only, no fault in 3 checks; not fully audited",
            False,
        ),
        ({"found": None}, "2 judges, not tested", True),
        (
            {"found": invented_audits(FAIR), "raters": (TURNING, STEADY)},
            "juniper often changes its mind with the order",
            True,
        ),
        (
            {"found": invented_audits(FAIR), "raters": (TURNING, TURNING)},
            "juniper and juniper often change their mind with the order",
            True,
        ),
        (
            {"found": None, "raters": (dataclasses.replace(STEADY, kind="human"),)},
            "1 person, no model judges",
            False,
        ),
    ],
)
def test_the_worst_that_is_known_of_the_judges_is_their_news(
    changes: dict[str, Any], words: str, is_bad: bool
) -> None:
    results = with_judges(invented_results(), consistency=(), stress=(), **changes)
    assert chip(results, "Judges") == Chip("Judges", words, "judges", is_bad)


def test_not_audited_is_never_said_beside_a_fault() -> None:
    audits = invented_audits(judge_audit("b"))
    page = render_page(with_audits(audits))
    assert audits.judges[0].faults
    assert audits.not_audited == ("b",)
    assert "ot audited" not in page
    assert "not fully audited" not in page
    assert "b: tested on the stress set only" in page


def test_coverage_names_who_lacks_most_for_a_failure() -> None:
    assert chip(invented_results(), "Coverage").words == (
        "40 items, 2,396 judgments; juniper lacks 2 of 1,200 judgments; 2 more lack some"
    )


def test_coverage_is_bad_news_above_one_in_twenty_that_failed() -> None:
    results = invented_results()
    first, *others = results.coverage.systems
    worse = dataclasses.replace(first, n_completions=30, missing={"refused": 10})
    coverage = dataclasses.replace(results.coverage, systems=(worse, *others))
    found = chip(dataclasses.replace(results, coverage=coverage), "Coverage")
    assert "beacon-large-instruct lacks 10 of 40 replies" in found.words
    assert found.is_bad
    assert not chip(results, "Coverage").is_bad


def with_fit(p: float | None) -> StudyResults:
    results = invented_results()
    assert results.leaderboard is not None
    test = LackOfFit(statistic=9.0, df=3.0, p=p, reason=None if p else "few items", method="m")
    fit = dataclasses.replace(
        results.leaderboard.fit, lack_of_fit=test, expected_rms_gap=0.031, rms_gap=0.049
    )
    said = (Notice(Kind.MISFIT, "One order does not fit."),) if p is not None and p <= 0.05 else ()
    warnings = (*said, *results.leaderboard.warnings)
    board = dataclasses.replace(results.leaderboard, fit=fit, warnings=warnings)
    return dataclasses.replace(results, leaderboard=board)


def test_fit_is_said_beside_what_chance_gives() -> None:
    found = chip(with_fit(0.4), "Fit")
    assert (found.words, found.is_bad) == (
        *("4.9 points from expected wins, 3.1 by chance alone",),
        False,
    )


def test_misfit_is_bad_news_and_loud_in_its_section() -> None:
    found = chip(with_fit(0.002), "Fit")
    assert (found.words, found.is_bad) == ("Wins depend on whom a system meets", True)
    fit = section_html(render_page(with_fit(0.002)), "fit")
    line = fit.split("</summary>")[0]
    assert "How often a system wins depends on whom it meets, by more than" in line


def test_limits_count_the_serious_warnings() -> None:
    results = invented_results(cue_judge=True)
    unused = Notice(Kind.UNUSED, "9 stored judgments are not used.")
    results = dataclasses.replace(results, warnings=(*results.warnings, unused))
    found = chip(results, "Limits")
    assert (found.words, found.is_bad) == ("5 notes, 2 of them serious", True)


def test_limits_hold_all_that_a_terminal_counts() -> None:
    results = invented_results(cue_judge=True)
    limits = render_page(results).split('id="limits"')[1].split("</section>")[0]
    notices = results_notices(results)
    assert {Kind.AXIS, Kind.NOT_AUDITED} <= {notice.kind for notice in notices}
    limits = re.sub("</?code>", "`", plain(limits))
    assert [notice for notice in notices if escape(notice) not in limits] == []


RESISTS = injection(0.1, 0.04, 0.23)


def line_of(page: str, name: str) -> str:
    found = re.search(f"{name}.*?</tr>", page[page.index('id="audit"') :])
    assert found is not None
    return found.group()


@pytest.mark.parametrize(
    ("rate", "colour", "words"),
    [(0.55, "wrong", "changes its mind"), (0.95, "good", "steady"), (0.85, "", "85.0")],
)
def test_the_same_answer_twice_is_blue_only_where_it_is_steady(
    rate: float, colour: str, words: str
) -> None:
    page = render_page(with_audits(invented_audits(judge_audit("a", twice=rate))))
    line = line_of(page, "same winner the other way round<")
    assert f'class="cell {colour}"' in line
    assert words in line


def test_one_half_on_padding_has_one_reading() -> None:
    audits = invented_audits(judge_audit("a", longer=share(0.5, 0.35, 0.65)))
    page = render_page(with_audits(audits))
    line = line_of(page, "longer above the same reply")
    assert 'class="cell "' in line
    assert "no preference shown" in line
    assert page.count("padded") == 0


def test_an_interval_alone_makes_no_fault() -> None:
    """Of many checks one is below one half by chance: no colour without a named fault."""
    swayed = dataclasses.replace(
        judge_audit("a", payloads=injection(0.66, 0.51, 0.79), stress=BLAMELESS),
        faults=(),
        fault_checks=(),
    )
    line = line_of(render_page(with_audits(invented_audits(swayed))), "with a payload")
    assert 'class="cell "' in line
    assert "no sway shown" in line


def test_a_judge_that_rates_has_one_reading_too() -> None:
    """The cells that are orange are those of which the chip and the warnings speak."""
    results = invented_ratings()
    assert chip(results, "Judges").words == "Tests find fault with juniper and larch-2"
    page = render_page(results)
    lines = {
        name: re.findall(f">{name}</th>.*?</tr>", page)[0]
        for name in ("kind words that fit anything", "a hostile reply", "another item&#39;s reply")
    }
    counts = {name: (line.count("good"), line.count("wrong")) for name, line in lines.items()}
    assert list(counts.values()) == [(2, 0), (0, 2), (0, 2)]


def test_what_was_done_is_said_under_the_answer() -> None:
    said = plain(render_page(invented_results()))
    assert (
        "6 systems replied to 40 dialogues; 2 models compared replies two at a time, without"
        " knowing whose they are."
    ) in said
    assert "; an offline counter of words compared" in render_page(invented_results(cue_judge=True))
    assert "scored each reply, without" in render_page(invented_ratings())


def test_the_thick_line_has_a_legend_where_there_is_one() -> None:
    results = invented_results()
    drawn = standings(results)
    assert drawn is not None
    assert any(row.is_last_leader for row in drawn.rows)
    assert "Above the thick line stands who may be first." in render_page(results)
    assert "thick line" not in render_page(without_ranking(results, "none"))


def test_glossary_explains_the_baselines_of_the_study_and_no_others() -> None:
    results = invented_results()
    kinds = (
        {row.system: row.kind for row in results.leaderboard.rows} if results.leaderboard else {}
    )
    rows = [dataclasses.replace(one, kind=kinds[one.system]) for one in results.coverage.systems]
    coverage = dataclasses.replace(results.coverage, systems=tuple(rows))
    page = render_page(dataclasses.replace(results, coverage=coverage))
    assert "<dt>reflective</dt><dd>An offline baseline: it says the last words back" in page
    assert "<dt>shuffled</dt>" not in page
