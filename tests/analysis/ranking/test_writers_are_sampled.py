"""People who write are a sample: their strength varies with who they are, a model's hardly."""

import random
from dataclasses import fields, replace
from itertools import combinations

import numpy as np
import pytest
import statsmodels.api as sm
from people_study import JUDGES, PEOPLE, SYSTEMS, PeopleStudy, human_raters

from hearteval.analysis.columns import to_columns
from hearteval.analysis.data import StudyData
from hearteval.analysis.judgments import judgments_of
from hearteval.analysis.ranking.cells import Cells, headline_cells
from hearteval.analysis.ranking.comparisons import people_among
from hearteval.analysis.ranking.leaderboard import Leaderboard, rank_systems
from hearteval.notices import Kind
from hearteval.sections.explained.measure import measure_confounders
from hearteval.sections.strata.measure import stratify_ranking
from hearteval.stats.comparisons import FloatArray, IntArray

ELO_PER_THETA = 400 / np.log(10)


def study(n_writers: int, *, n_people: int = 6, seed: int = 1) -> StudyData:
    """Draw a study in which some people write much better than others, two on each item."""
    draw = random.Random(seed)
    people = human_raters(n_people)
    made = PeopleStudy(24, [*people, *JUDGES])
    writers = [f"w{k}" for k in range(n_writers)]
    skill = {name: draw.gauss(0, 0.8) for name in writers}
    taste = {rater.id: draw.gauss(0, 0.8) for rater in (*people, *JUDGES)}
    for item in made.items:
        texts = [made.completion(item, system) for system in SYSTEMS[:-1]]
        texts += [
            made.completion(item, PEOPLE, name) for name in draw.sample(writers, min(2, n_writers))
        ]
        for one, other in combinations(texts, 2):
            if one.system_id == other.system_id:
                continue
            raters = draw.sample(people, min(3, n_people))
            for rater in [*raters, *(() if n_people else JUDGES)]:
                is_person = [float(text.writer_id is not None) for text in (one, other)]
                ahead = [skill.get(text.writer_id or "", 0.0) for text in (one, other)]
                lead = ahead[0] - ahead[1] + taste[rater.id] * (is_person[0] - is_person[1])
                is_first = draw.random() < 1 / (1 + np.exp(-lead))
                made.judge(rater, one, other, "first" if is_first else "second")
    return made.data()


def ranked(data: StudyData, *, knows_writers: bool = True) -> Leaderboard:
    writers = data.writers if knows_writers else None
    return rank_systems(data.judgments, data.systems, data.raters, writers=writers)


def widths(board: Leaderboard) -> dict[frozenset[str], float]:
    return {
        frozenset((one.system, one.other)): (one.high or np.inf) - (one.low or -np.inf)
        for one in board.differences
    }


def test_each_pair_knows_who_wrote_in_it() -> None:
    data = study(3)
    texts = {one.id: one.writer_id for one in data.completions}
    for pair in data.pairs:
        assert data.writers.get(pair.id) == next(
            filter(None, map(texts.get, pair.completion_ids)), None
        )


def test_from_five_writers_on_the_ranking_is_over_them_too() -> None:
    board = ranked(study(6))
    assert (board.interval_used, board.n_writers) == ("three-way", 6)
    assert Kind.FEW_WRITERS not in {notice.kind for notice in board.warnings}
    judged = ranked(study(6, n_people=0))
    assert judged.interval_used == "item-writer"


def test_under_five_writers_the_ranking_says_that_it_is_conditional_on_them() -> None:
    board = ranked(study(4))
    assert (board.interval_used, board.n_writers) == ("two-way", 4)
    (said,) = [notice for notice in board.warnings if notice.kind is Kind.FEW_WRITERS]
    assert "conditional on these 4 writers" in said
    assert widths(board) == pytest.approx(widths(ranked(study(4), knows_writers=False)))


def test_differences_from_people_are_wider_by_who_wrote_and_those_of_models_are_not() -> None:
    data = study(6, n_people=9, seed=6)
    over, given = widths(ranked(data)), widths(ranked(data, knows_writers=False))
    for pair, width in over.items():
        ratio = width / given[pair]
        assert ratio > 1.3 if "People" in pair else ratio < 1.1, (sorted(pair), ratio)


def test_an_effect_of_what_texts_are_like_is_as_certain_as_its_few_writers_allow() -> None:
    """Who writes at length may also write well; what is shown first is no matter of writers."""
    data, draw = study(5, n_people=9), random.Random(1)
    texts = [replace(one, text="word " * draw.randint(5, 40)) for one in data.completions]
    data = replace(data, completions=texts)
    found = measure_confounders(
        data.judgments, data.systems, data, people=people_among(data.raters), level=0.95
    )
    assert {one.covariate: one.df for one in found.effects} == {"length": 4, "position": 8}


def over_sets(moved: FloatArray, *ways: IntArray, is_about_mean: bool = True) -> float:
    """Return G/(G - 1) times the squares of what each set of rows moves."""
    sets: dict[tuple[int, ...], float] = {}
    for value, *key in zip(moved.tolist(), *(way.tolist() for way in ways), strict=True):
        if min(key) >= 0:
            sets[tuple(key)] = sets.get(tuple(key), 0.0) + value
    n = len(sets)
    mean = sum(sets.values()) / n if is_about_mean else 0.0
    return n / (n - 1) * sum((value - mean) ** 2 for value in sets.values())


def test_the_interval_of_people_is_that_of_a_logistic_regression_with_three_clusters() -> None:
    """Influences by statsmodels, and the sum of Cameron, Gelbach and Miller over plain sets."""
    data = study(6, seed=3)
    names = sorted(system.id for system in data.systems)
    wrote = sorted({*data.writers.values()})
    items, raters = ([one.id for one in some] for some in (data.items, data.raters))
    design = np.zeros((len(data.judgments), len(names)))
    for k, row in enumerate(data.judgments):
        design[k, names.index(row.first_system_id)] = 1
        design[k, names.index(row.second_system_id)] = -1
    won = np.array([float(row.choice == "first") for row in data.judgments])
    item = np.array([items.index(row.item_id) for row in data.judgments])
    rater = np.array([raters.index(row.rater_id) for row in data.judgments])
    authors = [data.writers.get(row.pair_id) for row in data.judgments]
    writer = np.array([wrote.index(name) if name else -1 for name in authors])
    model = sm.Logit(won, design[:, 1:])
    fit = model.fit(disp=0)
    moved = model.score_obs(fit.params) @ np.linalg.inv(-model.hessian(fit.params))
    moved = np.column_stack([np.zeros(len(moved)), moved])
    d = (moved - moved.mean(axis=1, keepdims=True))[:, names.index(PEOPLE.id)]
    of_items = over_sets(d, item, is_about_mean=False)
    of_raters = over_sets(d, rater) - over_sets(d, item, rater)
    of_writers = over_sets(d, writer) - over_sets(d, item, writer)
    both = over_sets(d, item, rater, writer) - over_sets(d, rater, writer)
    expected = of_items + of_raters + of_writers + both
    assert expected > of_items + max(of_raters, of_writers)  # three ways say more than two
    people = next(one for one in ranked(data).rows if one.system == "People").unweighted
    assert people.se == pytest.approx(np.sqrt(expected), rel=1e-5)
    assert people.high is not None
    t = 2.5705818  # of 5 degrees of freedom, for 6 writers and 6 people
    half = t * np.sqrt(expected) * ELO_PER_THETA
    assert people.high - people.elo == pytest.approx(half, rel=1e-5)


def test_people_s_strength_on_a_kind_of_item_is_over_writers_too() -> None:
    """On all items of one label it is that of the ranking: the same three clusters."""
    data = study(6, seed=3)
    board = ranked(data)
    cells = headline_cells(to_columns(data.judgments, data), {row.system for row in board.rows})
    items = tuple(
        replace(item, emotion="fear" if k else "joy") for k, item in enumerate(cells.items)
    )
    columns = {one.name: getattr(cells, one.name) for one in fields(cells)}
    cells = Cells(**{**columns, "items": items})
    found = stratify_ranking(cells, board, level=0.95, seed=1)
    (factor,) = found.factors
    stratum = factor.strata[0]
    assert (stratum.interval_used, stratum.df) == ("three-way", 5)
    without = [row for row in data.judgments if row.item_id != cells.items[0].id]
    alone = rank_systems(judgments_of(without), data.systems, data.raters, writers=data.writers)
    headline = {row.system: row.weighted for row in alone.rows}
    for one in stratum.standings:
        at = headline[one.system]
        assert one.high is not None
        assert one.elo is not None
        assert at.high is not None
        assert one.high - one.elo == pytest.approx(at.high - at.elo), one.system
