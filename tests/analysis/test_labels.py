"""What completions do: rates, variety and differences, by hand and by independent packages."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from scipy.stats import entropy, false_discovery_control, ttest_1samp, ttest_rel
from small_world import make_item
from statsmodels.stats.inter_rater import cohens_kappa

from hearteval.analysis.data import LabelRow, StudyData, TaxonomyLabels
from hearteval.domain import Completion, Item, LabelVerdict, Rater, System
from hearteval.sections.labels.use import LabelResults, LabelSource, LabelUse, analyze_labels

NOW = datetime(2026, 1, 2, tzinfo=UTC)
KEYS = ("hope", "facts", "thanks")
NAMES = {key: key.capitalize() for key in KEYS}
GPT, KIMI, KIMI_TWO, PEOPLE = "gpt", "kimi", "kimi two", "People"
SYSTEMS = {
    GPT: System(name=GPT, kind="model", family="gpt"),
    KIMI: System(name=KIMI, kind="model", family="kimi"),
    KIMI_TWO: System(name=KIMI_TWO, kind="model", family="kimi"),
    PEOPLE: System(name=PEOPLE, kind="human", family="human"),
}
READER, OTHER, CUES, ANN = "reader", "another", "cues", "ann"
RATERS = {
    READER: Rater(name=READER, kind="llm", family="theirs", settings={"labels": "x"}),
    OTHER: Rater(name=OTHER, kind="llm", family="gpt", settings={"labels": "x"}),
    CUES: Rater(name=CUES, kind="llm", family="cue", settings={"labels": "x"}),
    ANN: Rater(name=ANN, kind="human", family="human"),
}
HOSTILE: Mapping[str, Any] = {
    "subset": "adversarial",
    "profile": "always-10",
    "reference": None,
    "id": "",
}
Rows = Sequence[Sequence[int]]
VERDICTS: Mapping[int, LabelVerdict] = {1: "present", 0: "absent", 2: "uncertain"}


def items(n: int, *, n_adversarial: int = 0) -> list[Item]:
    return [replace(make_item(k), **(HOSTILE if k < n_adversarial else {})) for k in range(n)]


def data_of(
    said: Mapping[str, Mapping[str, Rows]],
    *,
    n_items: int,
    n_adversarial: int = 0,
    n_writers: int = 1,
) -> StudyData:
    """Make a study: by labeler and system, a row of labels for each completion, item by item."""
    made = items(n_items, n_adversarial=n_adversarial)
    systems = [SYSTEMS[name] for name in dict.fromkeys(name for of in said.values() for name in of)]
    texts: dict[tuple[str, int], Completion] = {}
    for system in systems:
        n_each = n_writers if system.kind == "human" else 1
        for k in range(n_items * n_each):
            writer = f"w{k % n_each}" if system.kind == "human" else None
            texts[system.name, k] = Completion(
                item_id=made[k // n_each].id,
                system_id=system.id,
                text=f"Text {k} of {system.name}.",
                writer_id=writer,
                created_at=NOW,
            )
    labels = [
        LabelRow(
            text_id=texts[system, k].id,
            category=key,
            verdict=VERDICTS[value],
            rater_id=RATERS[rater].id,
        )
        for rater, of in said.items()
        for system, rows in of.items()
        for k, row in enumerate(rows)
        for key, value in zip(KEYS, row, strict=False)
    ]
    given = TaxonomyLabels(
        taxonomy="x",
        version="1",
        title="things",
        categories=NAMES,
        labelers=[RATERS[name] for name in said],
        labels=labels,
    )
    return StudyData(items=made, systems=systems, completions=list(texts.values()), labels=[given])


def results(data: StudyData) -> LabelResults:
    (found,) = analyze_labels(data, level=0.95)
    return found


def source(said: Mapping[str, Rows], *, n_items: int, **how: int) -> LabelSource:
    (found,) = results(data_of({READER: said}, n_items=n_items, **how)).sources
    return found


def use(source: LabelSource, group: str) -> LabelUse:
    return next(one for one in (*source.systems, *source.families) if one.group == group)


FOUR = [(1, 0, 0), (1, 1, 0), (1, 0, 2), (0, 1, 0)]


def test_rates_and_variety_of_four_replies_by_hand() -> None:
    found = use(source({GPT: FOUR}, n_items=4), "gpt")
    assert [one.rate for one in found.rates] == [0.75, 0.5, 0.0]
    assert [(one.n_present, one.n_uncertain) for one in found.rates] == [(3, 0), (2, 0), (0, 1)]
    assert (found.n_completions, found.n_items, found.n_unlabelled) == (4, 4, 0)
    assert found.n_covered == 2
    assert found.distinct.value == 1.25
    assert found.range == 0.75
    assert found.entropy is not None
    assert found.spread is not None
    assert found.entropy.value == pytest.approx(entropy([0.6, 0.4], base=2))
    assert found.spread.value == pytest.approx(np.std([0.75, 0.5, 0.0], ddof=1))


def test_the_interval_of_a_rate_and_of_distinct_is_t_over_items() -> None:
    found = use(source({GPT: FOUR}, n_items=4), "gpt")
    assert (found.rates[1].low, found.rates[1].high) == (0.0, 1.0)
    wide = use(source({GPT: FOUR * 5}, n_items=20), "gpt").rates[0]
    hope = ttest_1samp([1, 1, 1, 0] * 5, 0).confidence_interval()
    assert (wide.low, wide.high) == pytest.approx(tuple(hope))
    distinct = ttest_1samp([1, 2, 1, 1], 0).confidence_interval()
    assert (found.distinct.low, found.distinct.high) == pytest.approx(tuple(distinct))


def test_an_interval_of_spread_and_entropy_covers_what_is_true() -> None:
    rates, n_items, n_made = np.array([0.7, 0.4, 0.1]), 80, 150
    true = {
        "spread": float(np.std(rates, ddof=1)),
        "entropy": float(entropy(rates / rates.sum(), base=2)),
    }
    rng = np.random.default_rng(7)
    covered = dict.fromkeys(true, 0)
    for _ in range(n_made):
        rows = (rng.random((n_items, 3)) < rates).astype(int)
        found = use(source({GPT: rows.tolist()}, n_items=n_items), "gpt")
        for name, value in true.items():
            at = getattr(found, name)
            covered[name] += at.low <= value <= at.high
    assert all(n / n_made >= 0.88 for n in covered.values()), covered


def test_an_item_with_many_writers_weighs_as_one() -> None:
    rows = [(1, 0, 0), (1, 0, 0), (0, 0, 0), (0, 0, 0)]
    found = source({PEOPLE: rows, GPT: [(0, 0, 0)] * 2}, n_items=2, n_writers=2)
    assert use(found, "People").rates[0].rate == 0.5
    assert use(found, "people").n_completions == 4
    assert use(found, "people").n_items == 2


def test_nothing_present_has_no_entropy_and_no_rate_but_zero() -> None:
    found = use(source({GPT: [(0, 0, 0)] * 5}, n_items=5), "gpt")
    assert found.entropy is None
    assert found.n_covered == 0
    assert found.rates[0].rate == 0
    high = found.rates[0].high
    assert high is not None
    assert high > 0.1


def test_what_is_not_labelled_is_missing_and_never_absent() -> None:
    data = data_of({READER: {GPT: FOUR[:2], KIMI: FOUR}}, n_items=4)
    (found,) = results(data).sources
    assert (found.n_completions, found.n_wanted) == (6, 8)
    assert use(found, "gpt").n_unlabelled == 2
    assert use(found, "gpt").rates[0].rate == 1.0


def test_a_category_that_a_labeler_never_labels_has_no_rate() -> None:
    (found,) = results(data_of({CUES: {GPT: [row[:2] for row in FOUR]}}, n_items=4)).sources
    assert [one.category for one in use(found, "gpt").rates] == ["hope", "facts"]
    assert found.kind == "baseline"


def test_families_put_their_systems_together_and_people_first() -> None:
    said = {GPT: FOUR, KIMI: [(1, 0, 0)] * 4, KIMI_TWO: [(0, 0, 0)] * 4, PEOPLE: FOUR}
    found = source(said, n_items=4)
    assert [one.group for one in found.families] == ["people", "gpt", "kimi"]
    assert use(found, "kimi").rates[0].rate == 0.5 or use(found, "kimi").kind == "system"
    (family,) = (one for one in found.families if one.group == "kimi")
    assert (family.rates[0].rate, family.n_completions) == (0.5, 8)


def test_regular_and_adversarial_items_stand_apart() -> None:
    found = source({GPT: FOUR, KIMI: FOUR}, n_items=4, n_adversarial=2)
    regular, adversarial = (
        next(one for one in found.by_subset if (one.subset, one.group) == (subset, "gpt"))
        for subset in ("regular", "adversarial")
    )
    assert regular.n_items == adversarial.n_items == 2
    both = [adversarial.rates[0].rate, regular.rates[0].rate]
    assert sorted(both) == [0.5, 1.0]
    assert source({GPT: FOUR}, n_items=4).by_subset == ()


def test_a_difference_is_a_paired_t_with_q_over_the_tests_of_its_kind() -> None:
    rng = np.random.default_rng(3)
    one, other = ((rng.random((40, 3)) < rate).astype(int) for rate in (0.6, 0.4))
    found = source({GPT: one.tolist(), PEOPLE: other.tolist()}, n_items=40)
    rows = [row for row in found.differences if row.comparison == "models-people"]
    by_item = items(40)
    order = np.argsort([item.id for item in by_item])
    expected = [ttest_rel(one[order, k], other[order, k]) for k in range(3)]
    assert [row.p for row in rows] == pytest.approx([each.pvalue for each in expected])
    low, high = zip(*(each.confidence_interval() for each in expected), strict=True)
    assert [row.low for row in rows] == pytest.approx(low)
    assert [row.high for row in rows] == pytest.approx(high)
    q = false_discovery_control([each.pvalue for each in expected])
    assert [row.q for row in rows] == pytest.approx(q)
    assert {(row.group, row.against, row.n_items) for row in rows} == {("models", "people", 40)}


def test_of_two_systems_one_comparison_is_made_and_of_three_each_with_the_others() -> None:
    two = source({GPT: FOUR, KIMI: FOUR}, n_items=4).differences
    assert {(row.group, row.against) for row in two} == {("gpt", "kimi")}
    three = source({GPT: FOUR, KIMI: FOUR, KIMI_TWO: FOUR}, n_items=4).differences
    assert {(row.group, row.against) for row in three} == {
        (name, "the others") for name in ("gpt", "kimi", "kimi two")
    }


def test_where_nothing_varies_there_is_no_test() -> None:
    rows = source({GPT: [(1, 0, 0)] * 4, KIMI: [(0, 0, 0)] * 4}, n_items=4).differences
    assert [(row.difference, row.p, row.q) for row in rows] == [
        (1.0, None, None),
        (0.0, None, None),
        (0.0, None, None),
    ]


def drawn(rng: np.random.Generator, n: int, *rates: float) -> Rows:
    """Draw labels of n items: some items call for a thing more than others."""
    lean = rng.normal(0, 0.15, size=(n, 1))
    is_there = rng.random((n, len(rates))) < np.array(rates) + lean
    return [[int(one) for one in row] for row in is_there]


def test_agreement_of_two_labelers_is_what_statsmodels_says() -> None:
    rng = np.random.default_rng(5)
    one = (rng.random((60, 3)) < (0.5, 0.3, 0.0)).astype(int)
    other = np.where(rng.random((60, 3)) < 0.8, one, 1 - one) * np.array([1, 1, 0])
    data = data_of({READER: {GPT: one.tolist()}, OTHER: {GPT: other.tolist()}}, n_items=60)
    whole, *rows = results(data).agreement
    assert [row.category for row in rows] == [*KEYS]
    for k, row in enumerate(rows[:2]):
        table = np.zeros((2, 2))
        np.add.at(table, (one[:, k], other[:, k]), 1)
        kappa = cohens_kappa(table)
        assert row.kappa is not None
        assert row.kappa.value == pytest.approx(kappa.kappa)
        assert row.kappa.low is not None
        assert row.kappa.low == pytest.approx(kappa.kappa_low, abs=0.03)
        assert row.f1 is not None
        assert row.f1.value == pytest.approx(
            2 * table[1, 1] / (2 * table[1, 1] + table[0, 1] + table[1, 0])
        )
        assert row.same == pytest.approx(np.trace(table) / 60)
    assert (rows[2].kappa, rows[2].f1, rows[2].same) == (None, None, 1.0)
    assert whole.category == "all"
    assert whole.f1 is not None
    assert whole.f1.value == pytest.approx(
        np.mean([row.f1.value for row in rows if row.f1 is not None])
    )


def test_sources_are_never_mixed_and_people_come_first() -> None:
    said = {CUES: {GPT: FOUR}, READER: {GPT: [(0, 0, 0)] * 4}, ANN: {GPT: FOUR}}
    found = results(data_of(said, n_items=4))
    assert [(one.labeler, one.kind) for one in found.sources] == [
        ("ann", "person"),
        ("reader", "model"),
        ("cues", "baseline"),
    ]
    assert [use(one, "gpt").rates[0].rate for one in found.sources] == [0.75, 0.0, 0.75]
    assert len({(row.one, row.other) for row in found.agreement}) == 3


def test_the_order_of_records_changes_nothing() -> None:
    data = data_of({READER: {GPT: FOUR, KIMI: FOUR[::-1]}, OTHER: {GPT: FOUR}}, n_items=4)
    (given,) = data.labels
    turned = StudyData(
        items=data.items[::-1],
        systems=data.systems[::-1],
        completions=data.completions[::-1],
        labels=[
            TaxonomyLabels(
                taxonomy=given.taxonomy,
                version=given.version,
                title=given.title,
                categories=given.categories,
                labelers=given.labelers[::-1],
                labels=given.labels[::-1],
            )
        ],
    )
    assert analyze_labels(turned, level=0.95) == analyze_labels(data, level=0.95)


def test_nothing_labelled_is_no_result() -> None:
    assert analyze_labels(StudyData(), level=0.95) == ()
