"""The report page: what it must say, in which order, and that it stands alone."""

import dataclasses
import re
from html.parser import HTMLParser

import pytest
from invented_ratings import invented_ratings
from invented_results import (
    invented_results,
    rename_system,
    with_board,
    with_judges,
    without_ranking,
)

from hearteval.analysis.study import JUDGED_BY_CUES, StudyResults
from hearteval.notices import Kind, Notice
from hearteval.report.coverage.missing import coverage_totals
from hearteval.report.page import render_page
from hearteval.report.page.replies import Shown
from hearteval.report.summary import brief_display, details_display
from hearteval.report.text import NO_VALUE

VOID = {"meta", "input", "br", "link", "img", "hr"}
OUTSIDE = re.compile(r"https?:|//[a-z]|\bsrc\s*=|@import|url\(", re.IGNORECASE)


class Outline(HTMLParser):
    """Collects open tags, ids, links and text, and every tag closed out of turn."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.misnested: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.ids += [values["id"] or ""] if "id" in values else []
        self.links += [values["href"] or ""] if "href" in values else []

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.misnested.append(tag)

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in {"script", "style"}:
            self.text.append(data)


def outline(page: str) -> Outline:
    parsed = Outline()
    parsed.feed(page)
    parsed.close()
    return parsed


def words(page: str) -> str:
    return re.sub(r"\s+", " ", " ".join(outline(page).text))


OTHER_WORDS = re.compile(r"\bcompletions?\b|\branks\b|\brank \d", re.IGNORECASE)
"""What readers call a reply, and a place; *to rank* is what a study does."""


@pytest.mark.parametrize(
    "results",
    [
        invented_results(),
        invented_results(large=True, cue_judge=True),
        without_ranking(invented_results(), "x"),
        invented_ratings(),
    ],
    ids=["compared", "many", "no ranking", "rated"],
)
def test_one_word_for_a_reply_and_one_for_a_place(results: StudyResults) -> None:
    in_terminal = f"{brief_display(results).text()}\n{details_display(results).text()}"
    for said in (words(render_page(results)), in_terminal):
        assert OTHER_WORDS.findall(said) == []


def test_every_system_is_on_the_page() -> None:
    results = invented_results(large=True)
    assert results.leaderboard is not None
    text = words(render_page(results))
    assert len(results.leaderboard.rows) == 18
    assert [row.system for row in results.leaderboard.rows if row.system not in text] == []


@pytest.mark.parametrize("large", [True, False])
@pytest.mark.parametrize("cue_judge", [True, False])
def test_tags_are_balanced_and_ids_unique(large: bool, cue_judge: bool) -> None:
    parsed = outline(render_page(invented_results(large=large, cue_judge=cue_judge)))
    assert parsed.misnested == []
    assert parsed.open == []
    assert len(set(parsed.ids)) == len(parsed.ids)


def test_page_without_a_ranking_is_balanced_and_says_why() -> None:
    page = render_page(without_ranking(invented_results(), "groups [a] and [b] never met"))
    parsed = outline(page)
    assert (parsed.misnested, parsed.open) == ([], [])
    assert "There is no ranking. Groups [a] and [b] never met" in words(page)
    assert 'class="standings' not in page


def test_links_stay_on_the_page_and_have_targets() -> None:
    for results in (invented_results(), without_ranking(invented_results(), "none")):
        parsed = outline(render_page(results))
        assert parsed.links
        assert {link.removeprefix("#") for link in parsed.links} <= set(parsed.ids)


def test_page_refers_to_nothing_outside_itself() -> None:
    assert OUTSIDE.search(render_page(invented_results(large=True))) is None


def test_page_of_eighteen_systems_is_under_300_kb() -> None:
    assert len(render_page(invented_results(large=True)).encode()) < 300_000


def test_hostile_system_name_is_escaped_everywhere() -> None:
    name = """<script>alert("1")</script>'"><img>"""
    page = render_page(rename_system(invented_results(), "ember-7b", name))
    parsed = outline(page)
    assert page.count("<script>") == 1
    assert "<img>" not in page
    assert (parsed.misnested, parsed.open) == ([], [])
    assert name in "".join(parsed.text)


def test_hostile_study_and_problem_are_escaped() -> None:
    results = invented_results()
    made = dataclasses.replace(results.provenance, study="</title><b>x", design="<i>y")
    page = render_page(
        without_ranking(dataclasses.replace(results, provenance=made), "<u>z</u> & more")
    )
    assert not any(raw in page for raw in ("</title><b>", "<i>y", "<u>z"))


def test_banner_stands_exactly_when_the_cue_judge_judged() -> None:
    assert JUDGED_BY_CUES in words(render_page(invented_results(cue_judge=True)))
    assert JUDGED_BY_CUES not in words(render_page(invented_results()))


def test_sections_follow_by_severity_and_interest() -> None:
    results = invented_results(cue_judge=True)
    page = render_page(results)
    places = [
        page.index(f'id="{name}"')
        for name in (
            *("answer", "leaderboard", "limits", "head-to-head", "judges", "explained", "axes"),
            *("fit", "coverage", "made", "methods", "glossary"),
        )
    ]
    assert places == sorted(places)
    assert page.index("offline baseline") < page.index('id="leaderboard"')


def test_warnings_stand_with_their_kind_the_serious_ones_apart() -> None:
    results = invented_results()
    unused = Notice(Kind.UNUSED, "9 stored judgments are not used.")
    page = render_page(dataclasses.replace(results, warnings=(unused, *results.warnings)))
    text = words(page[page.index('id="limits"') :])
    serious, other = (text.index(mark) for mark in ("4 judgments are missing", "9 stored"))
    places = (text.index("Read these before"), serious, text.index("Good to know"), other)
    assert places == tuple(sorted(places))
    assert "9 stored judgments are not used. unused" in text


def test_places_left_open_stand_before_the_name() -> None:
    results = invented_results()
    assert results.leaderboard is not None
    first, *others = results.leaderboard.rows
    sure = dataclasses.replace(first.weighted, rank_low=1, rank_high=1)
    board = dataclasses.replace(
        results.leaderboard, rows=(dataclasses.replace(first, weighted=sure), *others)
    )
    text = words(render_page(with_board(results, board)))
    assert "1 beacon-large-instruct model 1760" in text
    assert f"1{NO_VALUE}3 people 1662" in text


def test_both_fit_checks_are_named_for_what_they_are() -> None:
    text = words(render_page(invented_results()))
    assert "Every judgment once 4.9 points" in text
    assert "Weighted by strength, as at the top 6.2 points" in text


def test_axis_with_another_interval_names_it() -> None:
    results = invented_results()
    assert results.leaderboard is not None
    two_way = dataclasses.replace(results.leaderboard, interval_used="two-way", df=7)
    text = words(render_page(with_board(results, two_way)))
    assert (
        "H, E, A and R marked by the judges judge-a and judge-b; intervals: item-sandwich" in text
    )


def test_numbers_are_rounded_where_they_are_read() -> None:
    results = invented_results()
    assert results.leaderboard is not None
    first, *others = results.leaderboard.rows
    rated = dataclasses.replace(first.weighted, elo=1759.512, low=1735.96, high=1783.2)
    row = dataclasses.replace(first, weighted=rated, win_rate=0.82649, n_comparisons=1234)
    board = dataclasses.replace(results.leaderboard, rows=(row, *others))
    page = render_page(with_board(results, board))
    for shown in ("<b>1760</b>", "[1736, 1783]", ">82.6</td>", ">1,234</td>", ">1759.5</td>"):
        assert shown in page


def test_system_whose_rank_differs_is_marked() -> None:
    results = invented_results()
    assert results.leaderboard is not None
    n_marked = sum(row.rank_differs for row in results.leaderboard.rows)
    assert render_page(results).count('<td class="num" data-v="1"><b class="differs">≠') == 1
    assert render_page(results).count('<b class="differs">≠</b> ') == n_marked + 1 == 3


def test_axis_without_elo_says_so_and_is_hatched() -> None:
    page = render_page(invented_results())
    assert "Task-following has no Elo: not identified" in words(page)
    assert page.count('<td class="ax few">') == 6
    assert words(page).count("No Elo: these comparisons do not give one order.") == 6


def test_row_without_marks_on_an_axis_shows_a_dash() -> None:
    results = invented_results()
    assert results.leaderboard is not None
    first, *others = results.leaderboard.rows
    axes = dict(first.axes)
    del axes["R"]
    rows = (dataclasses.replace(first, axes=axes), *others)
    board = dataclasses.replace(results.leaderboard, rows=rows)
    page = render_page(with_board(results, board))
    assert page.count("<b>Resonance</b><br>No marks.") == 1


def test_ranking_without_axes_has_no_axis_columns() -> None:
    results = invented_results()
    assert results.leaderboard is not None
    rows = tuple(dataclasses.replace(row, axes={}) for row in results.leaderboard.rows)
    board = dataclasses.replace(results.leaderboard, rows=rows, axis_problems={})
    page = render_page(with_board(results, board))
    assert "Axes: win rate" not in page
    assert 'title="Human Alignment"' not in page
    assert outline(page).misnested == []


def test_missing_completions_and_judgments_stand_with_reasons() -> None:
    text = words(render_page(invented_results())).replace("\N{NO-BREAK SPACE}", " ")
    assert "of 240, by 6 systems missing: 4 without a recorded reply" in text
    assert "missing: 2 invalid-reply, 2 not-asked" in text


def test_totals_add_up() -> None:
    totals = coverage_totals(invented_results().coverage)
    assert (totals.n_judged, totals.n_assigned) == (2_396, 2_400)
    assert sum(totals.unjudged.values()) == totals.n_assigned - totals.n_judged


def test_stress_kind_that_the_judge_prefers_is_called_out() -> None:
    page = render_page(invented_results(cue_judge=True))
    (line,) = re.findall(r"reference above kind words.*?</tr>", page)
    assert 'class="cell wrong"' in line
    assert "prefers that text" in line


def test_sections_without_content_are_left_out() -> None:
    results = with_judges(
        dataclasses.replace(invented_results(), funnel=(), warnings=()),
        found=None,
        stress=(),
        consistency=(),
        majorities=None,
    )
    page = render_page(results)
    absent = ('id="funnel"', 'id="audit"', 'id="together"', "Judges behind", "Read these before")
    assert not any(mark in page for mark in absent)


def test_report_without_people_is_not_for_publication() -> None:
    results = invented_results()
    assert results.leaderboard is not None
    rows = tuple(row for row in results.leaderboard.rows if row.kind != "human")
    board = dataclasses.replace(results.leaderboard, rows=rows)
    without = with_board(results, board)
    assert "Not for claims to the public." in words(render_page(without))
    assert "Not for claims to the public." in words(render_page(without, Shown(is_public=True)))
    assert "Not for claims to the public." not in words(render_page(results))


@pytest.mark.parametrize(
    "claim",
    [
        "Perceived, not experienced",
        "Preference is not safety",
        "certifies nothing for use in a crisis",
        "languages and norms of these items",
        "not broken down by vulnerable groups",
        "must disclose that it is an AI, and its limits",
    ],
)
def test_limits_of_the_numbers_are_stated(claim: str) -> None:
    assert claim in words(render_page(invented_results()))


def test_provenance_stands_with_hashes_seed_and_versions() -> None:
    results = invented_results()
    made = results.provenance
    text = words(render_page(results))
    facts = (made.study_id, made.items_hash, made.settings_hash, str(made.seed), "numpy 2.3.0")
    assert [fact for fact in facts if fact not in text] == []


def test_same_results_make_the_same_page() -> None:
    assert render_page(invented_results()) == render_page(invented_results())


def test_win_rates_stand_where_there_is_no_ranking() -> None:
    text = words(render_page(without_ranking(invented_results(), "groups never met")))
    assert "There is no ranking. Groups never met" in text
    assert "62.5" in text
    assert "62.5" in brief_display(without_ranking(invented_results(), "groups never met")).text()


def test_a_reply_that_no_item_holds_is_no_failure() -> None:
    results = invented_results()
    text = words(render_page(results)).replace("\N{NO-BREAK SPACE}", " ")
    assert "missing: 4 without a recorded reply" in text
    assert 'class="gap">missing: 4' not in render_page(results)


def test_agreement_of_judges_has_no_colour_of_right_and_wrong() -> None:
    page = render_page(invented_results())
    (line,) = re.findall(r"<td[^>]*>86\.0", page)
    assert line == '<td class="heat">86.0'


def test_the_first_screen_prints_on_a_page_of_its_own() -> None:
    page = render_page(invented_results(large=True))
    printed = page[page.index("@media print{body") : page.index("</style>")]
    assert ".first{break-after:page;}" in printed
