"""Items and raters behind each figure, counted by hand."""

import numpy as np
import pytest
from made_comparisons import made_comparisons

from hearteval.analysis.ranking.warnings import Support, find_support
from hearteval.notices import Kind
from hearteval.stats.comparisons import Comparisons


def rows(*of: tuple[int, int, int, int, int]) -> Comparisons:
    """Return comparisons of (left, right, count, item, rater), all won by the left of 3 systems."""
    left, right, count, item, rater = np.array(of).T
    return made_comparisons(left, right, n_systems=3, count=count, item=item, rater=rater)


VOTES = rows((0, 1, 3, 5, 2), (1, 0, 1, 7, 4), (1, 2, 2, 7, 4), (2, 1, 2, 7, -1), (2, 1, 2, 9, -1))


def support_of(comparisons: Comparisons, *, over_raters: bool = True) -> Support:
    return find_support(comparisons, "abc", over_raters=over_raters)


def test_items_are_counted_and_weighed_by_votes() -> None:
    """Votes by item: a 3, 1; b 3, 5, 2; c 4, 2."""
    support = support_of(VOTES)

    assert support.n_items.tolist() == [2, 3, 2]
    np.testing.assert_allclose(support.n_effective_items, [16 / 10, 100 / 38, 36 / 20])


def test_judges_of_a_panel_are_no_raters() -> None:
    """Raters 2 and 4 gave three votes each."""
    support = support_of(VOTES)

    assert support.n_raters is not None
    assert support.n_raters.tolist() == [2, 2, 1]
    assert (support.n_effective_raters, support.largest_share) == (2, 0.5)
    assert support.is_enough.tolist() == [True, True, False]
    assert support_of(VOTES, over_raters=False).is_enough.all()


def test_system_that_only_the_panel_judged_rests_on_its_items() -> None:
    by_panel = rows((0, 1, 1, 0, 0), (1, 0, 1, 1, 1), (2, 1, 1, 0, -1), (1, 2, 1, 1, -1))

    support = support_of(by_panel)

    assert support.n_raters is not None
    assert support.n_raters.tolist() == [2, 2, 0]
    assert support.is_enough.all()


def test_votes_are_items_where_none_are_named() -> None:
    support = find_support(VOTES, "abc", has_items=False, over_raters=False)

    assert support.n_items.tolist() == [4, 10, 6]
    assert "fewer than 10 votes, so that intervals are too narrow: a, c." in "".join(
        support.warnings(has_width=np.ones(3, dtype=np.bool_))
    )


def test_other_figures_rest_on_the_rows_that_bear_on_them() -> None:
    others = [(np.array([3, 3, 3]), np.array([0, 1, 3]))]

    support = find_support(VOTES, ("a", "b", "c", "effect"), others=others, over_raters=True)

    assert support.n_items.tolist() == [2, 3, 2, 2]
    assert support.n_effective_items[3] == 36 / 18
    assert support.n_raters is not None
    assert support.n_raters.tolist() == [2, 2, 1, 2]


def of_sizes(*sizes: int) -> Support:
    """Return what two systems rest on, judged so often on each item."""
    item = np.arange(len(sizes))
    return find_support(
        made_comparisons(0, 1, n_systems=2, count=sizes, item=item, rater=-1),
        "ab",
        over_raters=False,
    )


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        # 50 items, sizes as measured to cover .89 of a nominal .95: not said before.
        ([30] * 10 + [2] * 40, "a (50 count as 15.8)"),
        ([20] + [1] * 5, "a (6 count as 1.54)"),
        ([3] * 6, None),
        ([9, 10, 11] * 20, None),
        ([2, 1] * 40, None),
    ],
)
def test_uneven_items_are_said_whatever_their_number(sizes: list[int], said: str | None) -> None:
    notices = of_sizes(*sizes).warnings(has_width=np.ones(2, dtype=np.bool_))

    uneven = [notice for notice in notices if notice.kind == Kind.UNEVEN_ITEMS]
    assert [said in notice for notice in uneven if said] == [True] * len(uneven)
    assert bool(uneven) == (said is not None)


def test_billions_of_votes_by_one_rater_are_like_one_rater() -> None:
    many = rows((0, 1, 2 * 10**9, 0, 0), (1, 2, 2 * 10**9, 1, 0), (2, 0, 10**9, 2, 0))

    assert support_of(many).n_effective_raters == pytest.approx(1)
