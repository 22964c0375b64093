"""What raters say they choose by, on the page: the answer, chance, silence, and who found it."""

import dataclasses
from functools import cache

from invented_results import invented_results, section_html
from test_judges_on_the_page import words
from test_labels_on_the_page import CUES, READER

from hearteval.analysis.estimates import Estimate
from hearteval.analysis.study import StudyResults
from hearteval.domain import Rater
from hearteval.labels.taxonomy import load_taxonomy
from hearteval.report.page import render_page
from hearteval.report.page.folder import folder_pages
from hearteval.report.page.replies import Shown
from hearteval.report.tables import all_tables
from hearteval.sections.reasons import MOST_ROWS, Reasons
from hearteval.sections.reasons.effects import ThemeEffect, ThemeEffects
from hearteval.sections.reasons.measure import (
    RationaleResults,
    RationaleSource,
    ThemeExample,
    ThemeRate,
)
from hearteval.sections.reasons.overlap import ThemeOverlap

THEMES = load_taxonomy("rationales")
PLANTED = {"asks_detail": 0.24, "validates": -0.31, "names_feeling": 0.12}
"""Differences that are found; all others are small and not."""


def around(value: float, reach: float = 0.06) -> Estimate:
    return Estimate(value=value, low=value - reach, high=value + reach)


OVERLAP = ThemeOverlap(
    n_comparisons=320,
    n_items=64,
    overlap=around(0.71, 0.02),
    co_mention=around(0.08, 0.01),
    co_omission=around(0.63, 0.02),
    shared=around(0.22, 0.03),
    chance=0.66,
    kappa=around(0.147, 0.03),
    shuffled=0.661,
    p=0.001,
)


def theme(k: int) -> ThemeRate:
    one = THEMES.categories[k]
    apart = PLANTED.get(one.key, 0.01)
    return ThemeRate(
        category=one.key,
        name=one.name,
        axis=one.axis,
        people=around(0.35 + apart / 2),
        judges=around(0.35 - apart / 2),
        difference=around(apart, 0.05),
        p=0.0001 if one.key in PLANTED else 0.7,
        q=0.0005 if one.key in PLANTED else 0.8,
        same=0.7,
        kappa=around(0.1),
        n_people=300,
        n_judges=200,
        n_uncertain=3,
    )


def source_of(rater: Rater = READER, **changes: object) -> RationaleSource:
    effects = ThemeEffects(
        judged_by="people",
        outcome="strength",
        n_judgments=900,
        n_items=64,
        interval_used="two-way",
        themes=(
            ThemeEffect(
                category="names_feeling",
                name="Names the feeling",
                effect=around(0.42),
                p=0.001,
                q=0.01,
                n_with=310,
            ),
        ),
        left_out={},
        problem=None,
    )
    made = RationaleSource(
        labeler=rater.name,
        kind="baseline" if rater.family == "cue" else "model",
        n_people=1600,
        n_judges=960,
        n_comparisons=400,
        n_items=70,
        overlap=OVERLAP,
        themes=tuple(theme(k) for k in range(len(THEMES.categories))),
        effects=(effects,),
        examples=(
            ThemeExample(
                category="asks_detail",
                given_by="people",
                judgment_id="1" * 32,
                item_id="2" * 32,
                systems=("beacon", "ember"),
            ),
            ThemeExample(
                category="asks_detail",
                given_by="people",
                judgment_id="3" * 32,
                item_id="2" * 32,
                systems=("beacon", "ember"),
            ),
        ),
    )
    return dataclasses.replace(made, **changes)  # type: ignore[arg-type]


def results_with(*sources: RationaleSource, large: bool = False) -> StudyResults:
    found = RationaleResults(
        taxonomy="rationales",
        version="1",
        title="themes of reasons",
        level=0.95,
        sources=sources,
        agreement=(),
    )
    return dataclasses.replace(invented_results(large=large), sections={Reasons: Reasons(found)})


@cache
def section(*, large: bool = False) -> str:
    return section_of(render_page(results_with(source_of(), large=large)))


def section_of(html: str) -> str:
    return section_html(html, "reasons")


def said(source: RationaleSource) -> str:
    return words(section_of(render_page(results_with(source))))


def test_the_answer_says_how_far_they_overlap_what_chance_gives_and_that_most_is_silence() -> None:
    text = words(section())
    assert "their reasons overlap on 71.0 % [69, 73] of the themes; 66.0 % would by chance" in text
    assert "κ 0.15 [0.12, 0.18]" in text
    assert "silence: both leave a theme out in 63.0 %, both speak of it in 8.0 %" in text
    assert "Exploratory" in text


def test_what_only_one_kind_says_more_often_is_named_with_its_size() -> None:
    text = words(section())
    assert "People more often speak of “Asks for a detail” (by 24 points) and “Names" in text
    assert "judges more often speak of “Lets the feeling stand” (by 31 points)" in text
    assert "People, 900 judgments: “Names the feeling” (+0.42) with a stronger choice." in text


def test_the_page_holds_some_themes_and_the_table_file_all_of_them() -> None:
    assert section().count('class="scale"') == MOST_ROWS + 1
    tables = all_tables(results_with(source_of()))
    assert len(tables["themes"].rows) == len(THEMES.categories)
    assert tables["themes-overlap"].csv().splitlines()[1].startswith("reader,model,1600,960,320")
    assert len(tables["themes-effects"].rows) == 1


def test_the_section_keeps_to_its_bytes_however_many_systems() -> None:
    assert len(section(large=True).encode()) < 6_000


def test_the_baseline_says_what_it_is_and_too_little_says_so() -> None:
    assert "Only words were looked for" in said(source_of(CUES))
    few = dataclasses.replace(OVERLAP, n_items=4)
    assert "Too few dialogues" in said(source_of(overlap=few))
    alone = tuple(
        dataclasses.replace(one, people=None, difference=None, q=None, p=None)
        for one in source_of().themes
    )
    only = said(source_of(n_people=0, n_comparisons=0, overlap=None, themes=alone))
    assert "Only judges gave reasons" in only
    assert "overlap on" not in only


def test_the_folder_shows_reasons_that_may_be_read_and_no_others() -> None:
    texts = {"1" * 32: "It <b>asks</b> what she needs."}
    shown = Shown(folder="all/")
    pages = dict(folder_pages(results_with(source_of()), shown, [], {}, texts))
    page = pages["reasons.html"]
    assert "It &lt;b&gt;asks&lt;/b&gt; what she needs." in page
    assert page.count('class="reply"') == 1
    assert "Sounds natural" not in page
    assert "item-222222222222.html" in page
    assert "reasons.html" in pages["index.html"]
    assert 'href="all/reasons.html"' in render_page(results_with(source_of()), shown)


def test_a_public_page_leads_to_no_reason() -> None:
    html = render_page(results_with(source_of()), Shown(is_public=True))
    assert "--full" not in section_of(html)
