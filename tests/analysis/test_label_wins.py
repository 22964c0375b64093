"""What labels do to wins: a planted effect is found, and not where something else explains it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from small_world import make_item

from hearteval.analysis.columns import to_columns
from hearteval.analysis.data import LabelRow, StudyData, TaxonomyLabels
from hearteval.analysis.judgments import JudgmentRow, judgments_of
from hearteval.analysis.packed.pairs import pairs_of
from hearteval.domain import Choice, Completion, Pair, Rater, System
from hearteval.sections.labels.use import analyze_labels
from hearteval.sections.labels.wins import CategoryWins, LabelWins

NOW = datetime(2026, 1, 2, tzinfo=UTC)
SYSTEMS = [System(name=name, kind="model", family=name) for name in ("a", "b", "c")]
JUDGES = [Rater(name=name, kind="llm", family=name) for name in ("j", "k")]
READER = Rater(name="reader", kind="llm", family="r")
KEYS = ("hope", "facts")
STRENGTH = {"a": 0.5, "b": 0.0, "c": -0.5}


def study(
    seed: int,
    *,
    effect: float = 0.0,
    per_word: float = 0.0,
    hope_of: Mapping[str, float] | None = None,
    n_items: int = 50,
) -> StudyData:
    """Draw a study: a reply gains `effect` by hope, and `per_word` by length, which facts bring."""
    rng = np.random.default_rng(seed)
    rates = hope_of or dict.fromkeys(STRENGTH, 0.5)
    items, texts, pairs, labels, rows = [], [], [], [], []
    for k in range(n_items):
        item = make_item(k)
        items.append(item)
        worth = {}
        for system in SYSTEMS:
            has = (rng.random() < rates[system.name], rng.random() < 0.5)
            n_words = int(rng.integers(8, 40)) + 12 * has[1]
            text = Completion(
                item_id=item.id,
                system_id=system.id,
                text=" ".join([system.name, str(k), *["word"] * n_words]),
                created_at=NOW,
            )
            texts.append(text)
            worth[text.id] = STRENGTH[system.name] + effect * has[0] + per_word * n_words
            labels += [
                LabelRow(text.id, key, "present" if is_in else "absent", READER.id)
                for key, is_in in zip(KEYS, has, strict=True)
            ]
        own = texts[-3:]
        for one, other in ((0, 1), (0, 2), (1, 2)):
            pair = Pair(item_id=item.id, completion_ids=(own[one].id, own[other].id))
            pairs.append(pair)
            rows += [
                judged(rng, pair, first, second, judge, worth)
                for judge in JUDGES
                for first, second in ((own[one], own[other]), (own[other], own[one]))
            ]
    given = TaxonomyLabels(
        taxonomy="x",
        version="1",
        title="things",
        categories={key: key.capitalize() for key in KEYS},
        labelers=[READER],
        labels=labels,
    )
    return StudyData(
        items=items,
        systems=SYSTEMS,
        raters=JUDGES,
        completions=texts,
        pairs=pairs_of(pairs),
        judgments=judgments_of(rows),
        labels=[given],
    )


def judged(
    rng: np.random.Generator,
    pair: Pair,
    first: Completion,
    second: Completion,
    judge: Rater,
    worth: Mapping[str, float],
) -> JudgmentRow:
    odds = worth[first.id] - worth[second.id]
    return JudgmentRow(
        assignment_id=f"{pair.id}{judge.name}{first.id}",
        pair_id=pair.id,
        item_id=pair.item_id,
        first_system_id=first.system_id,
        second_system_id=second.system_id,
        first_completion_id=first.id,
        rater_id=judge.id,
        repeat=0,
        choice="first" if rng.random() < 1 / (1 + np.exp(-odds)) else "second",
        strength=3,
        axes={},
        finish_reason=None,
    )


def wins(data: StudyData) -> LabelWins:
    (found,) = analyze_labels(data, to_columns(data.judgments, data), level=0.95)
    (source,) = found.sources
    (one,) = source.wins
    return one


def of(found: LabelWins, key: str) -> CategoryWins:
    return next(one for one in found.categories if one.category == key)


def test_a_planted_effect_is_found_with_its_size() -> None:
    found = wins(study(1, effect=1.0))
    hope = of(found, "hope")
    assert (found.judged_by, found.n_comparisons, found.n_items) == ("judges", 600, 50)
    assert found.interval_used == "item-sandwich"
    assert hope.beta == pytest.approx(1.0, abs=0.35)
    assert hope.win_rate == pytest.approx(1 / (1 + np.exp(-hope.beta)))
    assert hope.q is not None
    assert hope.q < 0.001
    assert 0 < hope.n_apart < 600


def test_what_length_explains_is_not_taken_for_the_category() -> None:
    made = [study(seed, per_word=0.06) for seed in range(6)]
    assert np.mean([wins_of_facts(data) for data in made]) > 0.6
    found = [of(wins(data), "facts") for data in made]
    assert sum(one.p is not None and one.p < 0.01 for one in found) <= 1
    assert abs(float(np.mean([one.beta for one in found]))) < 0.25


def wins_of_facts(data: StudyData) -> float:
    """Return how often the reply with facts wins where only one of the two has them."""
    (given,) = data.labels
    of_facts = (row for row in given.labels if row.category == "facts")
    has = {row.text_id: row.verdict == "present" for row in of_facts}
    pairs = {pair.id: pair.completion_ids for pair in data.pairs}
    won = []
    for row in data.judgments:
        (second,) = set(pairs[row.pair_id]) - {row.first_completion_id}
        if has[row.first_completion_id] != has[second]:
            won.append(has[row.first_completion_id] == (row.choice == "first"))
    return float(np.mean(won))


def test_what_only_strong_systems_do_explains_nothing_by_that() -> None:
    rates = {"a": 0.9, "b": 0.5, "c": 0.1}
    found = [of(wins(study(seed, hope_of=rates)), "hope") for seed in range(6)]
    assert sum(one.p is not None and one.p < 0.01 for one in found) <= 1
    assert abs(float(np.mean([one.beta for one in found]))) < 0.25


def without_labels(data: StudyData, keep: Sequence[str]) -> StudyData:
    (given,) = data.labels
    left = [row for row in given.labels if row.text_id in keep]
    return replace(data, labels=[replace(given, labels=left)])


def test_comparisons_of_unlabelled_replies_are_left_out() -> None:
    data = study(1, n_items=20)
    some = [text.id for text in data.completions if text.item_id in {i.id for i in data.items[:10]}]
    assert wins(without_labels(data, some)).n_comparisons == 120


def test_a_category_in_which_no_pair_differs_has_no_figure_but_a_reason() -> None:
    found = wins(study(1, hope_of=dict.fromkeys(STRENGTH, 1.0)))
    assert [one.category for one in found.categories] == ["facts"]
    assert set(found.left_out) == {"hope"}


def test_where_judges_and_people_are_opposed_their_choices_are_compared() -> None:
    data = study(5, n_items=30)
    (given,) = data.labels
    of_hope = (row for row in given.labels if row.category == "hope")
    has = {row.text_id for row in of_hope if row.verdict == "present"}
    people = [Rater(name=f"p{k}", kind="human", family="human") for k in range(3)]
    rows = []
    for pair in data.pairs:
        one, other = pair.completion_ids
        if (one in has) == (other in has):
            continue
        first = next(row for row in data.judgments if row.pair_id == pair.id)
        is_first = first.first_completion_id in has
        for rater in (*people, *JUDGES):
            for_hope = rater.kind == "llm"
            choice: Choice = "first" if is_first == for_hope else "second"
            named = f"{rater.name}{pair.id}"
            rows.append(first._replace(choice=choice, rater_id=rater.id, assignment_id=named))
    opposed = replace(data, raters=[*JUDGES, *people], judgments=judgments_of(rows))
    (found,) = analyze_labels(opposed, to_columns(judgments_of(rows), opposed), level=0.95)
    hope, facts = found.sources[0].opposed
    assert (hope.trait, hope.judges_choice, hope.peoples_choice) == ("hope", 1.0, 0.0)
    assert hope.n_pairs == len(rows) / 5
    assert facts.trait == "facts"
    assert facts.difference.value == pytest.approx(facts.judges_choice - facts.peoples_choice)
    assert [one.judged_by for one in found.sources[0].wins] == ["people", "judges"]
