"""Which reasons are labelled: those that may be sent, of so many comparisons, shared ones first."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest
from asked_study import (
    ITEMS,
    NOW,
    AskedStudy,
    always,
    asked_study,
    judge,
    model_system,
    plan,
    said,
    verdict,
)
from made_records import made_label, made_row

from hearteval.analysis.judgments import JudgmentRow
from hearteval.domain import AXES, Assignment, Completion, Judgment, Pair, Rater, System, record_id
from hearteval.labels.cues import cued_labels
from hearteval.labels.safety import label_reasons, safety_rater
from hearteval.labels.sample import choose_comparisons
from hearteval.labels.taxonomy import load_taxonomy
from hearteval.labels.texts import LabelledText
from hearteval.sections.reasons.measure import ThemeExample
from hearteval.steps.labels import texts_to_label
from hearteval.study.report.reading import read_reasons

THEMES = load_taxonomy("rationales")
PERSON = Rater(name="p1", kind="human", family="human")


def test_the_codebook_has_twenty_themes_or_more_and_some_of_every_axis() -> None:
    assert len(THEMES.categories) >= 20
    assert {one.axis for one in THEMES.categories} == set(AXES)
    named = {one.name.lower() for one in THEMES.categories}
    assert {"names the feeling", "offers a doable step", "sounds natural"} <= named
    assert all(one.definition and one.present and one.absent for one in THEMES.categories)


def test_no_cue_finds_a_theme_in_the_example_without_it() -> None:
    for theme in THEMES.categories:
        text = LabelledText(of="reasons", id="1" * 32, text=theme.absent)
        found = {one.category: one.verdict for one in cued_labels(text, THEMES, now=NOW)}
        assert found[theme.key] == "absent", theme.key
        assert set(found) == set(THEMES.keys)


@pytest.fixture(scope="module")
def world() -> Iterator[AskedStudy]:
    made = asked_study(
        [model_system("one"), model_system("two")], [judge("j"), PERSON], items=ITEMS[:3]
    )
    replies = {name: always(said(f"I hear you. {name}")) for name in ("one", "two")}
    made.complete(replies)
    plan(made, both_orders=False)
    made.judge({"j": always(said(verdict(reason="kinder")))})
    yield made
    made.store.close()


def said_by_person(world: AskedStudy, pair: Pair, words: str) -> Judgment:
    assignment = Assignment(
        study_id=world.study.id,
        pair_id=pair.id,
        rater_id=PERSON.id,
        first_completion_id=pair.completion_ids[0],
    )
    made = Judgment(
        assignment_id=assignment.id, choice="first", strength=2, rationale=words, created_at=NOW
    )
    screened = label_reasons(made, now=NOW)
    world.store.add([PERSON, safety_rater(), assignment, made, screened])
    return made


def test_what_nobody_has_released_is_not_sent(world: AskedStudy) -> None:
    one, other, last = world.store.iter(Pair, world.study)
    fine = said_by_person(world, one, "It asks what she needs.")
    held = said_by_person(world, other, "Better. Write to me: dana@example.org")
    bare = said_by_person(world, last, " ")
    judged = {one.id for one in world.store.iter(Judgment, world.study)} - {
        fine.id,
        held.id,
        bare.id,
    }
    assert set(texts_to_label(world.store, world.study, THEMES)) == {fine.id, *judged}
    (first, *_) = sorted(judged)
    screen = made_label(judgment_id=first, rater_id=safety_rater().id)
    world.store.add([screen])
    assert set(texts_to_label(world.store, world.study, THEMES)) == {fine.id, *judged} - {first}


def test_reasons_quote_so_those_about_a_withdrawn_text_are_neither_sent_nor_shown() -> None:
    people = System(name="People", kind="human", family="human")
    made = asked_study([model_system("one"), people], [judge("j")], items=ITEMS[:1])
    made.complete({"one": always(said("I hear you."))})
    written = Completion(
        item_id=ITEMS[0].id, system_id=people.id, text="My own words.", writer_id="w",
        created_at=NOW,
    )  # fmt: skip
    made.store.add([written])
    plan(made, both_orders=False)
    made.judge({"j": always(said(verdict(reason="it says 'my own words'")))})
    (reasons,) = texts_to_label(made.store, made.study, THEMES)
    example = ThemeExample(
        category="tone", given_by="judges", judgment_id=reasons, item_id=ITEMS[0].id,
        systems=("one", "People"),
    )  # fmt: skip
    assert read_reasons(made.store, [example], {written.id}, ())
    made.store.people.take_in(made.study.id, {"w": None}, now=NOW)
    (writer,) = made.store.people.people(made.study.id)
    made.store.people.withdraw(writer, rater_id="1" * 32, now=NOW)
    assert not texts_to_label(made.store, made.study, THEMES)
    assert not read_reasons(made.store, [example], {written.id}, ())
    made.store.close()


def test_a_bound_keeps_the_comparison_that_both_kinds_judged(world: AskedStudy) -> None:
    bounded = replace(THEMES, n_comparisons=1)
    texts = texts_to_label(world.store, world.study, bounded)
    shared, *_ = world.store.iter(Pair, world.study)
    asked = [a.id for a in world.store.iter(Assignment, world.study) if a.pair_id == shared.id]
    assert set(texts) <= {record_id("judgment", {"assignment_id": id_}) for id_ in asked}
    assert texts


def rows() -> tuple[list[JudgmentRow], dict[str, str]]:
    """Return judgments of 40 pairs of three systems: people judge a third, judges all."""
    found, subsets = [], {}
    ends = (("a", "b"), ("a", "c"), ("b", "c"))
    for k in range(40):
        subsets[f"i{k}"] = "adversarial" if k % 4 == 0 else "regular"
        first, second = ends[k % 3]
        found += [
            made_row(
                assignment_id=f"{rater}{k}",
                pair_id=f"pair{k}",
                item_id=f"i{k}",
                first_system_id=first,
                second_system_id=second,
                first_completion_id=f"c{k}",
                rater_id=rater,
            )
            for rater in (("j", "p") if k < 14 else ("j",))
        ]
    return found, subsets


def test_pairs_that_both_judged_come_first_and_strata_are_even() -> None:
    judged, subsets = rows()
    chosen = choose_comparisons(judged, n=8, seed=3, people={"p"}, subsets=subsets)
    assert len(chosen) == 8
    numbers = [int(pair[4:]) for pair in chosen]
    assert max(numbers) < 14
    strata = Counter((k % 3, k % 4 == 0) for k in numbers)
    assert max(strata.values()) - min(strata.values()) <= 1
    assert len(strata) == 6
    mirrored = choose_comparisons(judged[::-1], n=8, seed=3, people={"p"}, subsets=subsets)
    assert mirrored == chosen
    others = {
        choose_comparisons(judged, n=8, seed=seed, people={"p"}, subsets=subsets)
        for seed in range(5)
    }
    assert len(others) > 1


def test_what_was_labelled_before_stays_and_more_than_there_is_is_all() -> None:
    judged, subsets = rows()
    before = {"pair39", "pair38"}
    chosen = choose_comparisons(judged, n=5, seed=3, people={"p"}, subsets=subsets, before=before)
    assert before <= chosen
    assert len(chosen) == 5
    every = choose_comparisons(judged, n=99, seed=3, people={"p"}, subsets=subsets)
    assert len(every) == 40
