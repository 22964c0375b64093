"""Where judgments determine no interval, the report says none and draws none."""

import csv
import io
from dataclasses import replace

from invented_results import invented_results, section_of, with_section

from hearteval.analysis.ranking.rank import EloEstimate
from hearteval.analysis.study import StudyResults
from hearteval.report.leaderboard import leaderboard_csv
from hearteval.report.page import render_page
from hearteval.report.summary import brief_display, details_display
from hearteval.sections.explained import Explained


def bare(estimate: EloEstimate) -> EloEstimate:
    return replace(estimate, low=None, high=None, se=None)


def without_intervals() -> StudyResults:
    """The best system, every effect and every ranking by one judge have no interval."""
    results = invented_results()
    assert results.leaderboard is not None
    explained = section_of(results, Explained)
    assert explained.panel is not None
    best, *others = results.leaderboard.rows
    best = replace(best, weighted=bare(best.weighted), unweighted=bare(best.unweighted))
    effects = [
        replace(effect, low=None, high=None, win_rate_low=None, win_rate_high=None)
        for effect in explained.found.effects
    ]
    alone = [
        replace(judge, ratings={name: bare(one) for name, one in judge.ratings.items()})
        for judge in explained.panel.alone
    ]
    return with_section(
        replace(results, leaderboard=replace(results.leaderboard, rows=(best, *others))),
        replace(
            explained,
            found=replace(explained.found, effects=tuple(effects)),
            panel=replace(explained.panel, alone=tuple(alone)),
        ),
    )


def test_text_draws_no_line_and_shows_a_dash_for_the_interval() -> None:
    results = without_intervals()
    (bar,) = [line for line in brief_display(results).text().splitlines() if "1760" in line]
    (numbers,) = [line for line in details_display(results).text().splitlines() if "1760" in line]

    assert "\N{BLACK CIRCLE}" in bar
    assert "\N{BOX DRAWINGS LIGHT HORIZONTAL}" not in bar
    assert numbers.split()[2] == "\N{EN DASH}"


def test_page_says_no_interval_and_writes_no_none() -> None:
    page = render_page(without_intervals())

    assert page.count("no interval") > render_page(invented_results()).count("no interval")
    assert page.count("None") == render_page(invented_results()).count("None")


def test_csv_leaves_the_cells_empty() -> None:
    best, *_ = csv.DictReader(io.StringIO(leaderboard_csv(without_intervals())))

    assert (best["low_weighted"], best["high_weighted"], best["low"], best["high"]) == ("",) * 4
    assert best["elo"]
