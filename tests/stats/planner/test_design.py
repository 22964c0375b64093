"""Standard errors and power of designs: by hand, by simulation, and what must not change them."""

import math
from dataclasses import replace

import numpy as np
import pytest

from hearteval.stats.bradley_terry.fit import ELO_PER_THETA
from hearteval.stats.planner.design import (
    Components,
    Design,
    difference_parts,
    difference_se,
    enough_opponents,
    look_ahead,
    newcomer_variance,
)
from hearteval.stats.special import logit, ndtr, ndtri

PARTS = Components(item=0.016, rater=0.004, writer=0.01, rest=0.21)
TWO = Design(n_systems=2, n_items=100, n_pairs=1, n_votes=3, n_raters=15)
MANY = Design(n_systems=8, n_items=300, n_pairs=10, n_votes=1, n_raters=30)


def test_two_systems_by_hand() -> None:
    found = difference_parts(PARTS, TWO)
    assert found.item == pytest.approx(2 * 0.016 / 100)
    assert found.rater == pytest.approx(2 * 0.004 / 15)
    assert found.rest == pytest.approx(0.21 / 300)
    assert found.writer == 0


def test_with_all_pairs_of_an_item_each_completion_counts_once() -> None:
    found = difference_parts(PARTS, replace(MANY, n_pairs=28))
    assert found.item == pytest.approx(2 * 0.016 / 300)


def test_writers_count_where_one_of_the_two_is_people() -> None:
    found = difference_parts(PARTS, replace(TWO, n_writers=12))
    assert found.writer == pytest.approx(0.01 / 12)


def test_writers_make_a_difference_less_sure_the_fewer_they_are() -> None:
    seen = [look_ahead(PARTS, replace(MANY, n_writers=n), gap=0.1).power for n in (0, 30, 12, 5)]
    assert seen == sorted(seen, reverse=True)
    assert seen[-1] < seen[0] - 0.2


def test_one_vote_a_pair_on_more_pairs_beats_five() -> None:
    """Issue 28: 300 x 10 x 1 has an SD of 12.9 Elo where 300 x 2 x 5 has 15.5."""
    # Item SD .7 and rater SD .2 in log odds, as shares; 30 raters, SD of a system around the mean.
    parts = Components(item=0.0208, rater=0.0017, rest=0.205)
    spread = math.sqrt(7 / 16)
    once, five = (
        parts.elo(math.sqrt(difference_parts(parts, design).total)) * spread
        for design in (MANY, replace(MANY, n_pairs=2, n_votes=5))
    )
    assert once == pytest.approx(12.9, abs=0.2)
    assert five == pytest.approx(15.5, abs=0.2)


def test_elo_follows_the_slope() -> None:
    steep = replace(PARTS, slope=0.2)
    assert steep.elo(0.02) == pytest.approx(ELO_PER_THETA * 0.1)
    assert steep.points(0.02) == pytest.approx(0.025)
    assert PARTS.points(0.02) == 0.02


def simulated_differences(design: Design, n_studies: int) -> np.ndarray:
    """Return estimates of a difference of 0 of two systems, effects uniform, votes won or lost."""
    rng = np.random.default_rng(4)
    i, r, v = design.n_items, design.n_raters, design.n_votes

    def effects(n: int, variance: float) -> np.ndarray:
        end = math.sqrt(3 * variance)
        return rng.uniform(-end, end, (n, 2)) @ [1, -1]

    found = []
    for _ in range(n_studies):
        who = rng.permuted(np.tile(np.arange(r), (i, 1)), axis=1)[:, :v]
        chance = 0.5 + effects(i, PARTS.item)[:, None] + effects(r, PARTS.rater)[who]
        found.append((rng.random((i, v)) < chance).mean() - 0.5)
    return np.array(found)


def test_predicted_error_is_that_of_simulated_studies() -> None:
    parts = replace(PARTS, rest=0.25 - 2 * (PARTS.item + PARTS.rater))
    sd = simulated_differences(TWO, 2_000).std()
    assert difference_se(parts, TWO) == pytest.approx(sd, rel=0.05)


def test_power_grows_with_the_gap_and_is_the_level_without_one() -> None:
    gaps = (0.0, 0.02, 0.05, 0.1)
    power = [look_ahead(PARTS, MANY, gap=gap).power for gap in gaps]
    assert power == sorted(power)
    assert power[0] == pytest.approx(0.05, abs=0.02)


def test_judges_are_given_and_people_are_drawn() -> None:
    judges = look_ahead(PARTS, replace(TWO, n_raters=0), gap=0.05)
    people = look_ahead(PARTS, TWO, gap=0.05)
    assert judges.se < people.se
    assert judges.half_width < people.half_width
    assert people.half_width_elo == pytest.approx(people.half_width * 4 * ELO_PER_THETA)


def test_few_writers_cost_power_beyond_their_share_of_the_error() -> None:
    """The interval is over writers too: t with 5 degrees of freedom, of an error estimated."""
    few = replace(MANY, n_writers=6)
    found = look_ahead(PARTS, few, gap=0.15)
    error = difference_se(PARTS, few)
    known = ndtr(float(logit(0.65)) / 4 / error - ndtri(0.975))
    assert found.se == pytest.approx(error)
    assert found.power < known - 0.1
    assert found.half_width > 2.4 * error


def test_uneven_loads_count_as_fewer_people() -> None:
    uneven, fewer = replace(TWO, unevenness=3.0), replace(TWO, n_raters=5)
    assert difference_parts(PARTS, uneven) == difference_parts(PARTS, fewer)
    assert look_ahead(PARTS, uneven, gap=0.1).power < look_ahead(PARTS, TWO, gap=0.1).power


def test_a_pilot_of_two_may_be_of_equals_or_of_what_is_asked() -> None:
    """Chance alone, one of the two winning 70 %: what it adds shrinks as the slope does."""
    equals = Components(item=0.0, rater=0.0, rest=0.25)
    apart = replace(equals, rest=0.21, slope=0.21)
    votes = Design(n_systems=2, n_items=60, n_pairs=1, n_votes=1)
    powers = [look_ahead(one, votes, gap=0.2).power for one in (equals, apart)]
    by_share = float(ndtr(0.2 / math.sqrt(0.21 / 60) - 2.0))
    assert powers == pytest.approx([by_share, by_share], abs=0.01)


@pytest.mark.parametrize(
    "change",
    [
        {"n_systems": 1},
        {"n_items": 1},
        {"n_votes": 0},
        {"n_pairs": 2},
        {"n_raters": 2},
        {"unevenness": 0.5},
    ],
)
def test_designs_that_cannot_be_are_refused(change: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"expected|cannot give"):
        replace(TWO, **change)


@pytest.mark.parametrize("change", [{"item": -0.1}, {"rest": math.nan}, {"slope": 0.3}])
def test_components_that_cannot_be_are_refused(change: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"0 or more|at most 0\.25"):
        replace(PARTS, **change)


@pytest.mark.parametrize(
    ("item", "rest", "wanted"), [(0.04, 0.0, 4), (0.0, 0.2, 15), (0.03, 0.15, 7), (0.04, 1e-9, 4)]
)
def test_a_newcomer_meets_as_many_as_place_it_about_as_well_as_all(
    item: float, rest: float, wanted: int
) -> None:
    """Its own reply is in all its pairs: where replies vary most, a few opponents are enough."""
    found = enough_opponents(
        Components(item=item, rater=0.0, rest=rest), n_systems=18, n_votes=3, wider=0.1
    )
    assert found == wanted


def test_a_newcomers_variance_is_that_of_drawn_scores() -> None:
    """Strengths of the others known, its own is the mean of what it scores above them."""
    rng = np.random.default_rng(1)
    n, n_items, k, n_votes = 5_000, 40, 5, 2
    parts = Components(item=0.03, rater=0.0, rest=0.12)
    own = rng.normal(0, np.sqrt(parts.item), (n, n_items, 1))
    others = rng.normal(0, np.sqrt(parts.item), (n, n_items, k))
    noise = rng.normal(0, np.sqrt(parts.rest / n_votes), (n, n_items, k))
    drawn = (own - others + noise).mean(axis=(1, 2)).var()
    told = newcomer_variance(parts, n_items=n_items, n_opponents=k, n_votes=n_votes)
    assert drawn == pytest.approx(told, rel=0.08)
