"""Sums by item, rater and pair are the comparisons of the headline, in short."""

import numpy as np
import pytest
from people_study import simulated_study

from hearteval.analysis.columns import to_columns
from hearteval.analysis.data import StudyData
from hearteval.analysis.judgments import judgments_of
from hearteval.analysis.ranking.cells import PANEL, headline_cells
from hearteval.analysis.ranking.comparisons import people_among, to_comparisons
from hearteval.stats.bradley_terry.fit import centred_inverse, fit_win_matrix
from hearteval.stats.bradley_terry.intervals import influence_on_strengths
from hearteval.stats.comparisons import win_matrix

THETA = {"beacon": 0.6, "ember": -0.4, "harbour": 0.1, "People": 0.0}
NAMES = ("People", "beacon", "ember", "harbour")


@pytest.fixture(scope="module")
def data() -> StudyData:
    made = simulated_study(THETA, THETA, n_items=6)
    rows = [
        row._replace(strength=None if row.choice == "tie" else 1 + k % 5)
        for k, row in enumerate(made.judgments)
    ]
    return StudyData(
        **{name: getattr(made, name) for name in made.__slots__ if name != "judgments"},
        judgments=judgments_of(rows),
    )


def test_points_and_counts_are_those_of_the_weighted_and_unweighted_comparisons(
    data: StudyData,
) -> None:
    cells = headline_cells(to_columns(data.judgments, data), NAMES)
    ids = {system.name: system.id for system in data.systems}
    comparisons = to_comparisons(
        data.judgments,
        use_strength=True,
        system_ids=[ids[name] for name in NAMES],
        rater_ids=people_among(data.raters),
    )
    assert cells.points() == pytest.approx(win_matrix(comparisons))
    once = to_comparisons(
        data.judgments,
        use_strength=False,
        system_ids=[ids[name] for name in NAMES],
        rater_ids=people_among(data.raters),
    )
    assert cells.counts() == pytest.approx(win_matrix(once))
    assert cells.n.sum() == len(data.judgments)
    tied = comparisons.weight[comparisons.score == 0.5].sum()
    assert cells.tied.sum() == pytest.approx(tied)


def test_scores_of_items_are_those_of_the_comparisons(data: StudyData) -> None:
    cells = headline_cells(to_columns(data.judgments, data), NAMES)
    fit = fit_win_matrix(cells.points())
    ids = {system.name: system.id for system in data.systems}
    comparisons = to_comparisons(
        data.judgments, use_strength=True, system_ids=[ids[name] for name in NAMES]
    )
    people = to_comparisons(
        data.judgments,
        use_strength=True,
        system_ids=[ids[name] for name in NAMES],
        rater_ids=people_among(data.raters),
    )
    expected = influence_on_strengths(people, fit)(comparisons.item)
    scores, item, rater = cells.scores(fit.theta)
    by_item = np.zeros((len(data.items), 4))
    np.add.at(by_item, item, scores)
    assert by_item @ centred_inverse(fit.information) == pytest.approx(expected, abs=1e-9)
    # A row for each person on an item, and one for both judges.
    assert (rater == PANEL).sum() == len(data.items)
    assert len({*zip(item.tolist(), rater.tolist(), strict=True)}) == len(item)


def test_other_systems_are_left_out(data: StudyData) -> None:
    cells = headline_cells(to_columns(data.judgments, data), ("beacon", "ember"))
    assert cells.systems == ("beacon", "ember")
    assert cells.points().shape == (2, 2)
    assert 0 < cells.n.sum() < len(data.judgments)
