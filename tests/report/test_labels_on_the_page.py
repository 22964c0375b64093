"""What the replies do, on the page: who labelled, the answer, the heat map, and its doubts."""

import dataclasses
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import numpy as np
import pytest
from invented_results import SIX, TWELVE_MORE, invented_results, section_html
from small_world import make_item
from test_judges_on_the_page import words

from hearteval.analysis.data import LabelRow, StudyData, TaxonomyLabels
from hearteval.analysis.estimates import Estimate
from hearteval.analysis.labels.agreement import SourceAgreement
from hearteval.analysis.labels.people import PeopleLabels, PersonAgreement
from hearteval.analysis.study import StudyResults
from hearteval.domain import Completion, Rater, System
from hearteval.labels.taxonomy import TaxonomyName, load_taxonomy
from hearteval.report.page import render_page
from hearteval.report.tables import all_tables
from hearteval.sections.labels import Labels
from hearteval.sections.labels.use import LabelResults, analyze_labels
from hearteval.sections.labels.wins import CategoryWins, LabelWins
from hearteval.sections.people.judges.disagreements import TraitOfChoice

NOW = datetime(2026, 1, 2, tzinfo=UTC)
READER = Rater(name="reader", kind="llm", family="theirs")
SECOND = Rater(name="second", kind="llm", family="harbour")
CUES = Rater(name="cues", kind="llm", family="cue")


def invented_labels(
    labelers: Sequence[Rater] = (READER,),
    *,
    large: bool = False,
    people: Mapping[str, float] | None = None,
    n_items: int = 60,
    name: TaxonomyName = "strategies",
) -> tuple[LabelResults, ...]:
    """Analyze drawn labels."""
    data = labelled_study(labelers, large=large, people=people, n_items=n_items, name=name)
    return analyze_labels(data, level=0.95)


def labelled_study(
    labelers: Sequence[Rater] = (READER,),
    *,
    large: bool = False,
    people: Mapping[str, float] | None = None,
    n_items: int = 60,
    name: TaxonomyName = "strategies",
) -> StudyData:
    """Draw labels: all alike, but that people do some things at another rate."""
    rng, taxonomy = np.random.default_rng(2), load_taxonomy(name)
    base = dict(zip(taxonomy.keys, np.linspace(0.7, 0.05, len(taxonomy.keys)), strict=True))
    items = [make_item(k) for k in range(n_items)]
    systems, texts, labels = [], [], []
    for system_name, kind, family in SIX + TWELVE_MORE if large else SIX:
        system = System(name=system_name, kind=kind, family=family)  # type: ignore[arg-type]
        systems.append(system)
        rates = base | dict(people or {}) if kind == "human" else base
        writer = "w" if kind == "human" else None
        for item in items:
            text = Completion(
                item_id=item.id,
                system_id=system.id,
                text=f"By <{system_name}>: {item.dialogue_id}.",
                writer_id=writer,
                created_at=NOW,
            )
            texts.append(text)
            true = {key: rng.random() < rates[key] for key in taxonomy.keys}
            labels += [
                LabelRow(
                    text_id=text.id,
                    category=key,
                    verdict="present" if true[key] != (rng.random() < 0.1) else "absent",
                    rater_id=rater.id,
                )
                for rater in labelers
                for key in taxonomy.keys
            ]
    given = TaxonomyLabels(
        taxonomy=name,
        version=taxonomy.version,
        title=taxonomy.title,
        categories={one.key: one.name for one in taxonomy.categories},
        labelers=labelers,
        labels=labels,
    )
    return StudyData(items=items, systems=systems, completions=texts, labels=[given])


def results_of(labels: tuple[LabelResults, ...], *, large: bool = False) -> StudyResults:
    return dataclasses.replace(invented_results(large=large), sections={Labels: Labels(labels)})


def section(labels: tuple[LabelResults, ...], *, large: bool = False) -> str:
    page = render_page(results_of(labels, large=large))
    return section_html(page, "labels")


PLANTED = {"clarification": 0.1, "suggest_options": 0.9}


def test_what_people_do_more_often_is_said_first_and_who_labelled() -> None:
    said = words(section(invented_labels(people=PLANTED)))
    first, *_ = said.split("Exploratory")
    assert "People more often use Suggest Options (by " in first
    assert "Models more often use Clarification (by " in first
    assert "Labelled by reader (a model): 360" in said


def test_where_nothing_differs_the_page_says_so() -> None:
    said = words(section(invented_labels()))
    assert "No difference between models and people shows" in said


def test_of_few_items_the_page_does_not_say_that_nothing_differs() -> None:
    said = words(section(invented_labels(n_items=4)))
    assert "Models and people share 4 items: too few to say whether they differ." in said
    assert "No difference" not in said


def test_the_heat_map_has_every_category_and_its_doubt() -> None:
    html = section(invented_labels(people=PLANTED))
    said = words(html)
    for category in load_taxonomy("strategies").categories:
        assert category.name in said
    assert html.count("<tr>") == 1 + 15 + 4
    assert '<td class="h' in html
    assert " to " in said
    assert "Used at least once" in said


def test_many_systems_are_shown_by_family_and_fit_the_page() -> None:
    found = invented_labels(large=True) + invented_labels(large=True, name="micro-skills")
    html = section(found, large=True)
    assert len(html.encode()) < 12_000
    said = words(html)
    assert "harbour" in said
    assert "harbour-mini" not in said
    assert "People" in said
    assert "Micro-skills" in said
    assert len(render_page(results_of(found, large=True)).encode()) < 300_000


def test_too_few_items_have_no_figure() -> None:
    html = section(invented_labels(n_items=4))
    assert '<td class="few"' in html
    assert "too few items" in words(html)


def test_the_offline_baseline_never_passes_for_more() -> None:
    said = words(section(invented_labels((CUES,))))
    assert said.index("this says nothing about what replies do") < said.index("Exploratory")
    assert "the offline baseline, which looks for words and measures nothing" in said


def test_a_model_stands_before_the_baseline_and_their_agreement_is_said() -> None:
    said = words(section(invented_labels((CUES, READER, SECOND))))
    assert "Labelled by reader" in said
    assert said.count("Do labelers agree?") == 3
    assert "reader and second, on 360" in said
    assert "Cohen's κ" in said


def test_every_number_is_in_the_tables() -> None:
    tables = all_tables(results_of(invented_labels((READER, SECOND), people=PLANTED)))
    found = {name: table for name, table in tables.items() if name.startswith("labels")}
    assert set(found) == {"labels", "labels-in-short", "labels-differences", "labels-agreement"}
    headings = [column.heading for column in found["labels"].columns]
    assert {"labeler", "group", "category", "rate", "low", "high", "n_present"} <= {*headings}


def test_a_page_without_labels_has_no_section() -> None:
    page = render_page(invented_results())
    assert 'id="labels"' not in page
    assert "#labels" not in page


@pytest.mark.parametrize("large", [False, True])
def test_it_folds_in_the_chapter_that_the_nav_leads_to(large: bool) -> None:
    page = render_page(results_of(invented_labels(large=large, n_items=6), large=large))
    assert '<a href="#chapter-winning">What goes with winning</a>' in page
    chapter = section_html(page, "chapter-winning")
    assert '<details class="part" id="labels">\n<summary><h3>What the replies do</h3>' in chapter


def test_what_goes_with_winning_is_said_with_its_doubt() -> None:
    (found,) = invented_labels()
    (source,) = found.sources
    effect = CategoryWins(
        category="affirmation",
        name="Affirmation",
        win_rate=0.61,
        low=0.55,
        high=0.66,
        beta=0.45,
        p=0.001,
        q=0.01,
        n_apart=200,
    )
    none = dataclasses.replace(effect, category="chit_chat", name="Chit Chat", q=0.6)
    wins = LabelWins(
        judged_by="judges",
        n_comparisons=1_200,
        n_items=40,
        interval_used="item-sandwich",
        categories=(effect, none),
        left_out={},
        problem=None,
    )
    of_people = dataclasses.replace(wins, judged_by="people", categories=(none,))
    shown = dataclasses.replace(source, wins=(of_people, wins))
    said = words(section((dataclasses.replace(found, sources=(shown,)),)))
    assert "Judges, 1,200 comparisons: Affirmation (61.0 % [55, 66])." in said.replace("\xa0", " ")
    assert "People, 1,200 comparisons: no effect shows." in said.replace("\xa0", " ")
    assert "It is no experiment" in said


@pytest.mark.parametrize(
    ("q", "words_of_it"), [(0.01, "held Affirmation (80.0"), (0.4, "no difference shows")]
)
def test_what_judges_choose_against_people_is_said(q: float, words_of_it: str) -> None:
    (found,) = invented_labels()
    (source,) = found.sources
    share = Estimate(value=0.5, low=0.3, high=0.7)
    row = TraitOfChoice(
        trait="affirmation",
        n_pairs=31,
        n_items=20,
        judges_choice=0.8,
        peoples_choice=0.3,
        difference=share,
        has_more=share,
        p=q,
        q=q,
    )
    shown = dataclasses.replace(source, opposed=(row,))
    said = words(section((dataclasses.replace(found, sources=(shown,)),)))
    assert "most judges chose against most people" in said
    assert words_of_it in said


def figure(value: float) -> Estimate:
    return Estimate(value=value, low=value - 0.03, high=value + 0.02)


def held_against_people(n_items: int = 40, *, labeler: Rater = READER) -> LabelResults:
    (found,) = invented_labels((labeler,))
    rows = tuple(
        SourceAgreement(
            one="people",
            other=labeler.name,
            category=category,
            name=name,
            n_completions=300,
            n_items=n_items,
            n_one=100,
            n_other=110,
            same=0.9,
            kappa=figure(0.7),
            f1=figure(f1),
            precision=figure(0.8),
            recall=figure(0.9),
            n_categories=2,
        )
        for category, name, f1 in (
            ("all", "all", 0.84),
            ("affirmation", "Affirmation", 0.93),
            ("chit_chat", "Chit Chat", 0.71),
        )
    )
    two = PersonAgreement(
        category="all",
        name="all",
        n_completions=300,
        n_items=n_items,
        n_both=90,
        n_one=20,
        same=0.93,
        kappa=figure(0.66),
        f1=figure(0.8),
    )
    people = PeopleLabels(
        per_text=2, n_people=7, n_begun=4, n_labelled=303, n_settled=80, n_open=3, agreement=(two,)
    )
    return dataclasses.replace(found, agreement=rows, people=people)


def test_labelers_are_held_against_people_beside_what_is_published() -> None:
    said = words(section((held_against_people(),))).replace("\xa0", " ")
    assert "7 people labelled 303 replies, two people each." in said
    assert "Where two differed, in 80, a third decided; 3 are still open and left out." in said
    assert "Fleiss' κ 0.66 [0.63, 0.68]" in said
    assert (
        "reader, on 300 replies: macro-F1 0.84 [0.81, 0.86] over 2 of the 15 categories,"
        " from 0.71 (Chit Chat) to 0.93" in said
    )
    assert "The paper reports 0.86 for its classifier, from 0.78 to 0.93." in said
    assert "Do labelers agree?" not in said
    old = dataclasses.replace(held_against_people(), version="2")
    assert "The paper reports" not in words(section((old,)))


def test_the_offline_baseline_says_what_it_is_where_it_is_held_against_people() -> None:
    said = words(section((held_against_people(labeler=CUES),)))
    assert "cues (the offline baseline, which looks for words and measures nothing), on 300" in said


def test_too_few_settled_replies_have_no_figure_of_a_labeler() -> None:
    said = words(section((held_against_people(n_items=4),)))
    assert "Too few replies are settled to hold labelers against them." in said
    assert "macro-F1" not in said
    assert "Fleiss" not in said


def test_the_tables_hold_labelers_against_people_by_category() -> None:
    tables = all_tables(results_of((held_against_people(),)))
    headings = [column.heading for column in tables["labels-agreement"].columns]
    assert {"precision_value", "recall_low", "f1_high", "category"} <= {*headings}
    assert {"kappa_value", "n_both"} <= {c.heading for c in tables["labels-people"].columns}
