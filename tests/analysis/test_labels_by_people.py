"""What people say a text does: their settled word, how far two agree, and labelers against it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from scipy.stats import beta
from small_world import make_item
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

from hearteval.analysis.data import LabelRow, StudyData, TaxonomyLabels
from hearteval.analysis.labels.agreement import compare_marks, with_intervals
from hearteval.analysis.labels.people import settle
from hearteval.domain import Completion, LabelVerdict, Rater, System, last_word
from hearteval.sections.labels.use import LabelResults, analyze_labels

NOW = datetime(2026, 1, 2, tzinfo=UTC)
SYSTEM = System(name="gpt", kind="model", family="gpt")
MODEL = Rater(name="reader", kind="llm", family="theirs", settings={"labels": "x"})
NAMES = {"hope": "Hope", "facts": "Facts", "thanks": "Thanks"}
VERDICTS: Mapping[str, LabelVerdict] = {"1": "present", "0": "absent", "?": "uncertain"}
Said = Mapping[str, Mapping[str, str]]
"""By rater and category one letter a text, a blank where nothing was said."""
ANN: Mapping[str, str] = {"hope": "1111100000", "facts": "1100000000", "thanks": "0000000000"}


def rows_of(said: Said, texts: Sequence[Completion]) -> list[LabelRow]:
    raters = {name: Rater(name=name, kind="human", family="human") for name in said}
    return [
        LabelRow(text.id, key, VERDICTS[letter], MODEL.id if name == "model" else raters[name].id)
        for name, by_key in said.items()
        for key, letters in by_key.items()
        for text, letter in zip(texts, letters, strict=True)
        if letter != " "
    ]


def data_of(people: Said, *, model: Mapping[str, str], per_text: int) -> StudyData:
    n = len(model["hope"])
    items = [make_item(k) for k in range(n)]
    texts = [
        Completion(item_id=item.id, system_id=SYSTEM.id, text=f"{k}.", created_at=NOW)
        for k, item in enumerate(items)
    ]
    labels = TaxonomyLabels(
        taxonomy="x",
        version="1",
        title="things",
        categories=NAMES,
        labelers=[MODEL],
        labels=rows_of({"model": model}, texts),
        people=rows_of(people, texts),
        per_text=per_text,
    )
    return StudyData(items=items, systems=[SYSTEM], completions=texts, labels=[labels])


def results(people: Said, *, model: Mapping[str, str], per_text: int = 2) -> LabelResults:
    (found,) = analyze_labels(data_of(people, model=model, per_text=per_text), level=0.95)
    return found


@pytest.mark.parametrize(
    ("said", "word"),
    [
        ("1", "1"),
        ("11", "1"),
        ("10", None),
        ("101", "1"),
        ("10?", "?"),
        ("110", None),
        ("100?", "?"),
    ],
)
def test_a_difference_is_decided_by_who_speaks_next(said: str, word: str | None) -> None:
    assert last_word(said) == word


@pytest.mark.parametrize(
    ("said", "word"), [("1", "1"), ("10", None), ("110", "1"), ("011", "1"), ("10?", "?")]
)
def test_what_people_settle_is_what_most_say(said: str, word: str | None) -> None:
    assert settle([VERDICTS[one] for one in said]) == (None if word is None else VERDICTS[word])


def test_a_labeler_against_people_by_hand() -> None:
    model = {"hope": "1110010000", "facts": "1110000000", "thanks": "0000000000"}
    whole, hope, facts, thanks = results({"ann": ANN, "ben": ANN}, model=model).agreement
    assert (whole.one, whole.other, whole.n_completions) == ("people", "reader", 10)
    shown = [
        [None if one is None else one.value for one in (row.precision, row.recall, row.f1)]
        for row in (hope, facts, whole)
    ]
    assert shown == [
        pytest.approx([3 / 4, 3 / 5, 6 / 9]),
        pytest.approx([2 / 3, 1, 4 / 5]),
        pytest.approx([(3 / 4 + 2 / 3) / 2, (3 / 5 + 1) / 2, (6 / 9 + 4 / 5) / 2]),
    ]
    assert (thanks.precision, thanks.recall, thanks.f1) == (None, None, None)
    assert hope.f1 is not None
    assert hope.f1.low is not None
    assert hope.f1.high is not None
    assert 0 < hope.f1.low < 6 / 9 < hope.f1.high < 1


def test_a_rare_category_widens_the_interval_of_macro_f1() -> None:
    """Facts are all found, of three replies: Wilson's 3 / (3 + 1.96 ** 2) to 1, and no moves."""
    model = {"hope": "1110010000", "facts": "1110000000", "thanks": "0000000000"}
    said = {**ANN, "facts": model["facts"]}
    whole, hope, facts, _ = results({"ann": said, "ben": said}, model=model).agreement
    assert whole.f1 is not None
    assert hope.f1 is not None
    assert facts.f1 is not None
    assert hope.f1.low is not None
    assert facts.f1.low is not None
    assert facts.f1.low == pytest.approx(3 / (3 + 1.959964**2))
    assert (whole.n_categories, hope.n_categories) == (2, 1)
    reach = math.hypot(hope.f1.value - hope.f1.low, 1 - facts.f1.low) / 2
    assert whole.f1.low == pytest.approx(whole.f1.value - reach)


def test_categories_that_go_together_are_no_more_certain_than_one() -> None:
    model = dict.fromkeys(("hope", "facts", "thanks"), "1110010000")
    said = dict.fromkeys(("hope", "facts", "thanks"), ANN["hope"])
    whole, hope, *_ = results({"ann": said, "ben": said}, model=model).agreement
    for one, other in ((whole.f1, hope.f1), (whole.recall, hope.recall)):
        assert one is not None
        assert other is not None
        assert (one.low, one.high) == pytest.approx((other.low, other.high))


def test_agreement_of_two_people_is_fleiss_kappa_whoever_they_are() -> None:
    rng = np.random.default_rng(2)
    one = (rng.random(80) < 0.4).astype(int)
    other = np.where(rng.random(80) < 0.8, one, 1 - one)
    nothing = {"facts": "0" * 80, "thanks": "0" * 80}
    letters = ["".join(map(str, column)) for column in (one, other)]
    # Of the second half it is another two, and the one who finds less is named first.
    people = {
        "ann": {key: said[:40] + " " * 40 for key, said in {"hope": letters[0], **nothing}.items()},
        "cat": {key: " " * 40 + said[40:] for key, said in {"hope": letters[1], **nothing}.items()},
        "ben": {"hope": letters[1][:40] + letters[0][40:], **nothing},
    }
    found = results(people, model={"hope": "0" * 80, **nothing}).people
    assert found is not None
    assert (found.n_people, found.n_labelled, found.n_begun) == (3, 80, 0)
    whole, hope, facts, _ = found.agreement
    table, _ = aggregate_raters(np.column_stack([one, other]))
    assert hope.kappa is not None
    assert hope.f1 is not None
    assert whole.kappa is not None
    assert hope.kappa.value == pytest.approx(fleiss_kappa(table, method="fleiss"))
    assert hope.same == pytest.approx((one == other).mean())
    assert hope.f1.value == pytest.approx(2 * (one & other).sum() / (one.sum() + other.sum()))
    assert (hope.n_both, hope.n_one) == ((one & other).sum(), (one != other).sum())
    assert (facts.kappa, facts.f1, whole.kappa.value) == (None, None, hope.kappa.value)


def test_where_two_differ_a_third_decides_and_open_texts_have_no_word() -> None:
    ben = {**ANN, "hope": "1111011000", "facts": "?10000000 ", "thanks": "0000000000"}
    # The fifth and the first are settled; the sixth and the seventh are open; the last is begun.
    cat = {"hope": "    1     ", "facts": "?         "}
    model = {"hope": "1111111111", "facts": "1100000000", "thanks": "0000000000"}
    found = results({"ann": ANN, "ben": ben, "cat": cat}, model=model)
    people = found.people
    assert people is not None
    assert (people.n_people, people.n_labelled, people.n_begun) == (3, 9, 1)
    assert (people.n_settled, people.n_open) == (2, 2)
    _, hope, facts, _ = found.agreement
    assert (hope.n_completions, hope.n_one) == (7, 5)
    assert (facts.n_one, facts.n_other) == (1, 2)
    source = found.sources[0]
    assert (source.labeler, source.kind, source.n_completions) == ("people", "person", 7)


def test_who_speaks_first_decides_nothing_but_the_third_does() -> None:
    ben = {**ANN, "hope": "0111100000"}
    cat = {"hope": "1         "}
    model = {**ANN, "hope": "1111100000"}
    orders = ({"ann": ANN, "ben": ben, "cat": cat}, {"ben": ben, "ann": ANN, "cat": cat})
    f1 = [results(order, model=model).agreement[1].f1 for order in orders]
    assert f1[0] == f1[1]
    assert f1[0] is not None
    assert f1[0].value == 1


def test_one_person_a_text_is_enough_where_the_study_asks_for_one() -> None:
    found = results({"ann": ANN}, model=dict(ANN), per_text=1)
    assert found.people is not None
    assert (found.people.n_labelled, found.people.agreement) == (10, ())
    assert found.agreement[0].n_completions == 10
    # Asked for two, one person's word is not yet people's.
    waiting = results({"ann": ANN}, model=dict(ANN))
    assert waiting.people is not None
    assert (waiting.people.n_begun, waiting.agreement) == (10, ())


def test_labels_of_texts_that_are_not_of_the_study_count_nothing() -> None:
    data = data_of({"ann": ANN, "ben": ANN}, model=dict(ANN), per_text=2)
    (given,) = data.labels
    stray = [row._replace(text_id="gone") for row in given.people]
    more = replace(data, labels=[replace(given, people=[*given.people, *stray])])
    assert analyze_labels(more, level=0.95) == analyze_labels(data, level=0.95)


def test_intervals_of_precision_recall_and_f1_cover_what_is_true() -> None:
    rate, found, wrong, icc = 0.05, 0.85, 0.04, 0.3
    n_items, each, n_made = 100, 3, 300
    hit = rate * found
    true = {
        "precision": hit / (hit + (1 - rate) * wrong),
        "recall": found,
        "f1": 2 * hit / (rate + hit + (1 - rate) * wrong),
    }
    rng = np.random.default_rng(11)
    of_items = beta(rate * (1 / icc - 1), (1 - rate) * (1 / icc - 1))
    item = np.arange(n_items).repeat(each)
    covered = dict.fromkeys(true, 0)
    for _ in range(n_made):
        a = rng.random(n_items * each) < of_items.rvs(n_items, random_state=rng).repeat(each)
        b = rng.random(n_items * each) < np.where(a, found, wrong)
        left, right = (side[:, None].astype(np.float64) for side in (a, b))
        _, column = compare_marks(left, right, tuple(true))
        for name, one in with_intervals(column, item, level=0.95).items():
            assert one is not None
            assert one.low is not None
            assert one.high is not None
            covered[name] += one.low <= true[name] <= one.high
    assert all(0.92 <= n / n_made <= 0.985 for n in covered.values()), covered
