"""How surely people and judges place systems together, before they have voted."""

import numpy as np
import pytest

from hearteval.errors import NotIdentifiedError
from hearteval.stats.planner.anchoring import Judging, Widths, expect_widths

GOOD = Judging(spread=0.7, tau=0.1, slope=0.8, se=0.05)
BAD = Judging(spread=0.7, tau=1.0, slope=0.8, se=0.05)


def widths(people_se: float, judging: Judging, n_systems: int = 12, df: int = 60) -> Widths:
    rng = np.random.default_rng(2)
    return expect_widths(people_se, df, judging, n_systems, level=0.95, rng=rng)


def test_people_alone_reach_as_far_as_t_does() -> None:
    found = widths(0.3, GOOD)
    assert found.people_alone == pytest.approx(2.0003 * 0.3 * np.sqrt(11 / 12), rel=1e-3)


def test_good_judges_narrow_places_and_bad_ones_hardly() -> None:
    good, bad = widths(0.3, GOOD), widths(0.3, BAD)
    assert good.anchored < 0.85 * good.people_alone
    assert good.anchored < bad.anchored
    assert bad.anchored == pytest.approx(bad.people_alone, rel=0.15)


def test_what_judges_add_shrinks_as_people_vote_more() -> None:
    gains = [
        found.people_alone / found.anchored for found in (widths(0.5, GOOD), widths(0.1, GOOD))
    ]
    assert gains[0] > gains[1]


def test_too_few_systems_are_refused() -> None:
    with pytest.raises(NotIdentifiedError, match="6 systems"):
        widths(0.3, GOOD, n_systems=5)
