"""What random draws from texts hold: by counting every draw, and by a published example."""

from itertools import combinations, product

import numpy as np
import pytest
from numpy.typing import NDArray

from hearteval.analysis.estimates import clustered_estimates
from hearteval.stats.variety import different_in_draw, recurring_in_draw

Ints = NDArray[np.int64]


def ints(*values: int) -> Ints:
    return np.array(values, dtype=np.int64)


def test_the_example_of_lexicalrichness_has_its_published_hd_d() -> None:
    # The 57 words of its README, 39 of them different, by how often each stands there.
    counts = [4, 3, 3, 3, 3, *[2] * 7, *[1] * 27]
    kind = np.repeat(np.arange(len(counts)), counts)
    assert (len(kind), len(counts)) == (57, 39)
    found = different_in_draw(kind, np.zeros_like(kind), 42, n_units=1)
    assert found is not None
    assert found[0] / 42 == pytest.approx(0.7468703323966486, abs=1e-12)


def test_different_kinds_are_the_mean_over_every_draw() -> None:
    kind = ints(0, 0, 0, 1, 1, 2, 3)
    found = different_in_draw(kind, np.zeros_like(kind), 3, n_units=1)
    every = [len(set(kind[list(draw)])) for draw in combinations(range(7), 3)]
    assert found is not None
    assert found[0] == pytest.approx(np.mean(every))
    assert different_in_draw(kind, np.zeros_like(kind), 8, n_units=1) is None


# Four items; the second has two texts. Features of each text:
HELD = ({0, 1}, {0}, {1, 2}, {0, 2, 3}, set[int]())
UNIT = ints(0, 1, 1, 2, 3)


def rows() -> tuple[Ints, Ints]:
    held = [(feature, k) for k, features in enumerate(HELD) for feature in features]
    return ints(*(f for f, _ in held)), ints(*(k for _, k in held))


def test_recurrence_is_the_mean_over_every_draw_of_texts_of_other_items() -> None:
    feature, text = rows()
    found = recurring_in_draw(feature, text, UNIT, 2, n_units=4)
    by_text = []
    for k, features in enumerate(HELD[:4]):
        others = [j for j in range(5) if UNIT[j] != UNIT[k]]
        draws = list(combinations(others, 2))
        recurs = [any(f in HELD[j] for j in draw) for f, draw in product(features, draws)]
        by_text.append(np.mean(recurs))
    assert found is not None
    assert found[0] == pytest.approx(np.mean([by_text[0], np.mean(by_text[1:3]), by_text[3]]))


def test_a_row_that_stands_twice_counts_once_and_order_means_nothing() -> None:
    feature, text = rows()
    order = np.random.default_rng(1).permutation(len(text))
    one = recurring_in_draw(feature, text, UNIT, 2, n_units=4)
    other = recurring_in_draw(
        np.append(feature[order], feature[0]), np.append(text[order], text[0]), UNIT, 2, n_units=4
    )
    assert one is not None
    assert other is not None
    assert one[0] == pytest.approx(other[0])
    assert one[1] == pytest.approx(other[1])


def test_too_few_other_texts_have_no_figure() -> None:
    feature, text = rows()
    assert recurring_in_draw(feature, text, UNIT, 4, n_units=4) is None
    assert recurring_in_draw(ints(), ints(), UNIT, 2, n_units=4) is None


def made(rng: np.random.Generator, n_units: int) -> tuple[Ints, Ints, Ints]:
    """Draw items whose texts of 12 words are by templates, and by words of the item's own."""
    unit_of_text = np.repeat(np.arange(n_units), rng.integers(1, 4, n_units))
    kind = []
    for unit in unit_of_text:
        topic = np.random.default_rng(int(unit)).integers(0, 40, 3)
        own = rng.choice(np.append(topic, np.arange(40, 60)), 8)
        kind.append(np.append(own, np.arange(60, 64) + 4 * (rng.random() < 0.5)))
    return np.concatenate(kind), np.repeat(np.arange(len(kind)), 12), unit_of_text


@pytest.mark.parametrize("which", ["different", "recurring"])
def test_influence_is_what_leaving_an_item_out_does(which: str) -> None:
    kind, text, unit_of_text = made(np.random.default_rng(3), 60)

    def figure(keep: NDArray[np.bool_]) -> tuple[float, NDArray[np.float64]]:
        rows = keep[unit_of_text[text]]
        if which == "different":
            found = different_in_draw(kind[rows], unit_of_text[text[rows]], 20, n_units=60)
        else:
            place = np.cumsum(keep[unit_of_text]) - 1
            found = recurring_in_draw(
                kind[rows], place[text[rows]], unit_of_text[keep[unit_of_text]], 5, n_units=60
            )
        assert found is not None
        return found

    value, influence = figure(np.ones(60, dtype=bool))
    assert influence.sum() == pytest.approx(0, abs=1e-9)
    left_out = np.array([value - figure(np.arange(60) != unit)[0] for unit in range(60)])
    assert np.corrcoef(left_out, influence)[0, 1] > 0.99
    assert np.std(left_out) == pytest.approx(np.std(influence), rel=0.1)


def test_an_interval_over_items_covers_what_is_true() -> None:
    # Each text holds feature 0 with chance .6, else one of its own.
    true = 0.6 * (1 - 0.4**4)
    rng, covered = np.random.default_rng(5), 0
    for _ in range(300):
        has = rng.random(40) < 0.6
        feature = np.where(has, 0, np.arange(40) + 1)
        found = recurring_in_draw(feature, np.arange(40), np.arange(40), 4, n_units=40)
        assert found is not None
        one = clustered_estimates(
            [found[0]], found[1][:, None], np.arange(40), np.full(40, -1), level=0.95
        )[0]
        assert one.low is not None
        assert one.high is not None
        covered += one.low <= true <= one.high
    assert 0.9 <= covered / 300 <= 0.985
