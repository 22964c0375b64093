"""Planted differences and effects of labels are found at the stated rate; absent ones seldom.

The rates of many more studies: `benchmarks/label_truth.py`.
"""

import numpy as np
import pytest
from planted_labels import KEYS, NAMES, STRENGTH, drawn_labels, labelled, study_of
from scipy.stats import nct, t

from hearteval.sections.labels.use import analyze_labels
from hearteval.sections.labels.wins import opposed_by_label, wins_of_labels

EFFECT, TASTE = 0.6, 1.5


def is_below(value: float | None) -> bool:
    return value is not None and value < 0.05


def test_a_difference_between_two_systems_is_found_as_often_as_its_t_test_can() -> None:
    rng, made, n_made = np.random.default_rng(11), labelled(60), 80
    rates = [{"hope": 0.5, "facts": 0.4}, {"hope": 0.3, "facts": 0.4}]
    n_found, false = 0, []
    for _ in range(n_made):
        (found,) = analyze_labels(study_of(made, drawn_labels(made, rng, rates)), level=0.95)
        rows = {row.category: row for row in found.sources[0].differences}
        p = {key: rows[key].p for key in KEYS}
        n_found += is_below(p["hope"])
        false += [is_below(p[key]) for key in ("facts", "thanks")]
    error = np.sqrt((0.5 * 0.5 + 0.3 * 0.7) / 60)
    edge = t.ppf(0.975, 59)
    power = float(nct.sf(edge, 59, 0.2 / error))
    assert n_found / n_made == pytest.approx(power, abs=0.12)
    assert 0.01 <= np.mean(false) <= 0.09


def test_what_few_replies_hold_is_not_found_to_win_where_it_does_not() -> None:
    """With the degrees of freedom of all 40 items 14 % of these have p < .05, 6 % p < .01."""
    rng, made, p = np.random.default_rng(3), labelled(40), []
    rates = [dict.fromkeys(KEYS, 0.05)] * 3
    for _ in range(60):
        present = drawn_labels(made, rng, rates)
        worth = STRENGTH[made.system] + rng.normal(0, 1, len(made.item))
        (one,) = wins_of_labels(made.marks(present), NAMES, made.judged(worth, rng), level=0.95)
        p += [row.p for row in one.categories if row.p is not None]
    assert len(p) > 170
    assert np.mean([is_below(each) for each in p]) <= 0.1
    assert np.mean([each < 0.01 for each in p]) <= 0.03


def test_what_wins_is_found_at_the_stated_rate_and_nothing_else_is() -> None:
    """Strong systems hold facts more often, and long replies win: neither is an effect of facts."""
    rng, made = np.random.default_rng(5), labelled(40)
    rates = [{"facts": rate} for rate in (0.8, 0.5, 0.2)]
    found, false, covered = [], [], []
    for _ in range(60):
        present = drawn_labels(made, rng, rates)
        worth = STRENGTH[made.system] + EFFECT * present[:, 0] + 0.03 * made.words
        columns = made.judged(worth, rng)
        (one,) = wins_of_labels(made.marks(present), NAMES, columns, level=0.95)
        of = {row.category: row for row in one.categories}
        hope = of["hope"]
        assert hope.low is not None
        assert hope.high is not None
        covered.append(hope.low <= 1 / (1 + np.exp(-EFFECT)) <= hope.high)
        found.append(is_below(hope.q))
        false += [is_below(of[key].p) for key in ("facts", "thanks")]
    assert np.mean(found) >= 0.7
    assert np.mean(covered) >= 0.87
    assert len(false) == 120
    assert np.mean(false) <= 0.1


def test_what_judges_choose_against_people_is_found_and_nothing_else_is() -> None:
    rng, made = np.random.default_rng(8), labelled(60)
    found, false = [], []
    for _ in range(60):
        present = drawn_labels(made, rng)
        judges = STRENGTH[made.system] + TASTE * present[:, 0]
        votes = made.voted(judges, STRENGTH[made.system] - TASTE * present[:, 0], rng)
        of = {row.trait: row for row in opposed_by_label(made.marks(present), votes, level=0.95)}
        found.append(is_below(of["hope"].q) and of["hope"].difference.value > 0)
        false += [is_below(of[key].p) for key in ("facts", "thanks")]
    assert np.mean(found) >= 0.9
    assert 0.005 <= np.mean(false) <= 0.1
