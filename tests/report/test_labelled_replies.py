"""Replies to read for what they do: who is chosen, and what may never stand on their page."""

import dataclasses
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import pytest
from invented_results import invented_results
from test_labels_on_the_page import CUES, NOW, PLANTED, READER, labelled_study
from test_page import outline, words

from hearteval.analysis.data import StudyData
from hearteval.domain import Completion, Label, Rater
from hearteval.report.page import render_page
from hearteval.report.page.folder import folder_pages
from hearteval.report.page.replies import Shown
from hearteval.sections.labels import Labels, marked
from hearteval.sections.labels.use import LabelResults, LabelSource, analyze_labels
from hearteval.store.sql import SqlStore
from hearteval.study.report.reading import read_quotes

LEAST_LIKE = {"suggest_options", "clarification"}


@pytest.fixture(scope="module")
def data() -> StudyData:
    return labelled_study((CUES, READER), people=PLANTED)


@pytest.fixture(scope="module")
def found(data: StudyData) -> LabelResults:
    (found,) = analyze_labels(data, level=0.95)
    return found


def read(found: LabelResults) -> LabelSource:
    return next(one for one in found.sources if one.labeler == "reader")


def test_examples_hold_the_category_and_are_of_the_side_that_has_it_more(
    data: StudyData, found: LabelResults
) -> None:
    examples = read(found).examples
    assert {one.category for one in examples} >= LEAST_LIKE
    (given,) = data.labels
    present = {
        (row.text_id, row.category)
        for row in given.labels
        if row.verdict == "present" and row.rater_id == READER.id
    }
    texts = {text.id: text for text in data.completions}
    kinds = {system.name: system.kind for system in data.systems}
    for one in examples:
        assert (one.completion_id, one.category) in present
        assert texts[one.completion_id].item_id == one.item_id
        if one.category in LEAST_LIKE:
            is_of_people = one.category == "suggest_options"
            assert kinds[one.system] == ("human" if is_of_people else "model")
        stored = Label(
            completion_id=one.completion_id,
            taxonomy="strategies",
            category=one.category,
            verdict="present",
            rater_id=READER.id,
            created_at=NOW,
        )
        assert one.label_id == stored.id


def test_one_of_an_item_models_in_turn_and_order_means_nothing(
    data: StudyData, found: LabelResults
) -> None:
    by_models = [one for one in read(found).examples if one.category == "clarification"]
    assert len({one.item_id for one in by_models}) == len(by_models) == 12
    assert len({one.system for one in by_models[:2]}) == 2
    (given,) = data.labels
    turned = dataclasses.replace(
        data,
        completions=data.completions[::-1],
        labels=[dataclasses.replace(given, labels=given.labels[::-1])],
    )
    (again,) = analyze_labels(turned, level=0.95)
    assert read(again).examples == read(found).examples


def test_no_text_stands_twice(data: StudyData) -> None:
    people = next(system for system in data.systems if system.kind == "human")
    same = {
        text.id: dataclasses.replace(text, text="The same.")
        for text in data.completions
        if text.system_id == people.id
    }
    texts = [same.get(text.id, text) for text in data.completions]
    (found,) = analyze_labels(dataclasses.replace(data, completions=texts), level=0.95)
    assert sum(one.category == "suggest_options" for one in read(found).examples) == 1


def pages(
    data: StudyData, found: LabelResults, evidence: Mapping[str, str], *without: str
) -> dict[str, str]:
    """Return the pages of a folder in which these completions may not be read."""
    names = {system.id: system.name for system in data.systems}
    said: defaultdict[str, list[tuple[str, Completion]]] = defaultdict(list)
    for text in data.completions:
        if text.id not in without:
            said[text.item_id].append((names[text.system_id], text))
    results = dataclasses.replace(invented_results(), sections={Labels: Labels((found,))})
    shown = Shown(folder="all/")
    return dict(folder_pages(results, shown, list(data.items), said, evidence))


def test_the_page_shows_them_with_what_was_quoted_and_leads_to_their_dialogues(
    data: StudyData, found: LabelResults
) -> None:
    evidence = {one.label_id: "by <" for one in read(found).examples}
    made = pages(data, found, evidence)
    page = made["labels.html"]
    parsed = outline(page)
    assert (parsed.misnested, parsed.open) == ([], [])
    assert {link for link in parsed.links if not link.startswith("#")} <= set(made)
    text = words(page)
    assert "More often by people than by models, by " in text
    assert "Labelled by reader (a model)" in text
    n = len({one.category for one in read(found).examples})
    assert page.count('<div class="reply">') == 3 * n
    assert page.count("<mark>By &lt;</mark>") == 3 * n
    assert "labels.html" in outline(made["index.html"]).links


def test_what_may_not_be_read_and_what_no_label_was_read_of_is_not_there(
    data: StudyData, found: LabelResults
) -> None:
    examples = read(found).examples
    first, second, third, fourth, *_ = [
        one for one in examples if one.category == "suggest_options"
    ]
    evidence = {one.label_id: "by <" for one in examples if one != second}
    texts = {text.id: text.text for text in data.completions}
    html = pages(data, found, evidence, first.completion_id)["labels.html"]
    shown = words(html.replace("<mark>", "").replace("</mark>", ""))
    part = shown.split("Suggest Options")[-1].split("points.")[1]
    assert texts[first.completion_id] not in part
    assert texts[second.completion_id] not in part
    assert texts[third.completion_id] in part
    assert texts[fourth.completion_id] in part
    none = words(pages(data, found, {})["labels.html"])
    assert "None of the replies that were chosen may be shown here." in none


def test_nothing_is_quoted_of_a_text_that_is_held(
    data: StudyData, found: LabelResults, tmp_path: Path
) -> None:
    store = SqlStore.open(str(tmp_path / "s.db"))
    one, other, *_ = [e for e in read(found).examples if e.category == "suggest_options"]
    ids = {one.completion_id, other.completion_id}
    texts = [text for text in data.completions if text.id in ids]
    store.add([*data.items, *data.systems, READER])
    store.add(texts)
    store.add(
        [
            Label(
                completion_id=each.completion_id,
                taxonomy="strategies",
                category=each.category,
                verdict="present",
                evidence="by <",
                rater_id=READER.id,
                created_at=NOW,
            )
            for each in (one, other)
        ]
    )
    assert read_quotes(store, [found], {one.completion_id}) == {other.label_id: "by <"}
    store.close()


def test_without_a_difference_there_is_no_page_and_no_link() -> None:
    data = labelled_study(n_items=8)
    (found,) = analyze_labels(data, level=0.95)
    assert read(found).examples == ()
    made = pages(data, found, {})
    assert "labels.html" not in made
    assert "labels.html" not in made["index.html"]


def test_the_main_page_leads_there_only_where_there_is_a_folder(found: LabelResults) -> None:
    results = dataclasses.replace(invented_results(), sections={Labels: Labels((found,))})
    assert 'href="all/labels.html"' in render_page(results, Shown(folder="all/"))
    assert "labels.html" not in render_page(results)


@pytest.mark.parametrize(
    ("text", "evidence", "shown"),
    [
        ("I see it. You could call.", "you could", "I see it. <mark>You could</mark> call."),
        ("<b>I</b> see", "i", "&lt;b&gt;<mark>I</mark>&lt;/b&gt; see"),
        ("I see it.", "never said", "I see it."),
        ("I see it.", "", "I see it."),
    ],
)
def test_what_is_quoted_is_marked_and_all_is_escaped(text: str, evidence: str, shown: str) -> None:
    assert [str(line) for line in marked(text, evidence)] == [shown]


def test_what_people_settled_is_shown_by_the_label_of_one_who_said_so(data: StudyData) -> None:
    people = [Rater(name=name, kind="human", family="human") for name in ("ann", "ben")]
    (given,) = data.labels
    by_reader = [row for row in given.labels if row.rater_id == READER.id]
    said = [row._replace(rater_id=one.id) for one in people for row in by_reader]
    alone = dataclasses.replace(given, labelers=[], labels=[], people=said, per_text=2)
    (found,) = analyze_labels(dataclasses.replace(data, labels=[alone]), level=0.95)
    (source,) = found.sources
    assert source.kind == "person"
    first = source.examples[0]
    of_ann = Label(
        completion_id=first.completion_id,
        taxonomy="strategies",
        category=first.category,
        verdict="present",
        rater_id=people[0].id,
        created_at=NOW,
    )
    assert first.label_id == of_ann.id
    html = pages(data, found, {one.label_id: "" for one in source.examples})["labels.html"]
    assert html.count('<div class="reply">') >= 6
    assert "marked is what" not in html
