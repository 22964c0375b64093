"""What systems won of each other stands beside the ranking, and a contradiction is said."""

import dataclasses
import math
import random
from collections.abc import Mapping

import numpy as np
import pytest
from invented_votes import NAMES, decided, invented_votes, votes_of, with_rows
from made_comparisons import made_comparisons
from ranked_votes import ANN, BEN, CAT, Vote, rank, row_of

from hearteval.analysis.ranking.head_to_head import find_departures, warn_of_misfit
from hearteval.analysis.ranking.intervals import RankPolicy
from hearteval.analysis.ranking.votes import VoteRanking, Votes, rank_votes
from hearteval.notices import Kind, Notice
from hearteval.report.files.ranking import ranking_display

Won = Mapping[tuple[int, int], tuple[int, int]]
"""Of two systems: votes won by the first, and all."""


def votes_won(won: Won, *, n_items: int | None = 60) -> Votes:
    """Return votes of which so many are won, spread over the items in turn."""
    rows = [
        (i, j, float(k < n_won))
        for (i, j), (n_won, n) in won.items()
        for k in random.Random(1).sample(range(n), n)
    ]
    left, right, score = (np.array(column) for column in zip(*rows, strict=True))
    n_systems = int(max(left.max(), right.max())) + 1
    comparisons = made_comparisons(
        left, right, score, n_systems=n_systems, item=np.arange(len(rows)) % (n_items or 1)
    )
    return votes_of(
        comparisons, NAMES[:n_systems], n_items=n_items, n_raters=None, has_strength=False
    )


def ranked(votes: Votes, **policy: object) -> VoteRanking:
    return rank_votes(votes, RankPolicy(**policy), columns={}, make=VoteRanking)  # type: ignore[arg-type]


def kinds(ranking: VoteRanking) -> list[Kind]:
    return [notice.kind for notice in ranking.warnings if isinstance(notice, Notice)]


def said(ranking: VoteRanking, kind: Kind) -> str:
    return next(notice for notice in ranking.warnings if notice.kind == kind)


CYCLE: Won = {(0, 1): (110, 160), (1, 2): (104, 160), (0, 2): (50, 160)}
LINE: Won = {(0, 1): (117, 160), (1, 2): (117, 160), (0, 2): (141, 160)}
"""Log odds 1, 1 and 2: Bradley-Terry almost to the last vote."""


def test_matrix_holds_what_was_won_and_what_is_expected() -> None:
    won: Won = {(0, 1): (30, 40), (1, 2): (10, 40), (0, 3): (20, 40), (2, 3): (24, 40)}
    matrix = ranked(votes_won(won, n_items=20)).matrix
    fit = {row.system: row.theta for row in ranked(votes_won(won, n_items=20)).systems}

    assert [(row.left, row.right) for row in matrix] == [
        ("ash", "birch"),
        ("ash", "dogwood"),
        ("birch", "cedar"),
        ("cedar", "dogwood"),
    ]
    assert [row.observed for row in matrix] == [0.75, 0.5, 0.25, 0.6]
    assert [(row.n, row.n_items) for row in matrix] == [(40, 20)] * 4
    for row in matrix:
        chance = 1 / (1 + math.exp(fit[row.right] - fit[row.left]))
        assert row.expected == pytest.approx(chance, abs=1e-9)


def test_json_holds_the_matrix_and_the_test() -> None:
    document = ranked(votes_won(CYCLE)).to_dict()

    assert list(document["matrix"][0]) == [
        "left",
        "right",
        "n",
        "n_items",
        "observed",
        "expected",
        "z",
        "p",
        "q",
    ]
    assert list(document["fit"]["lack_of_fit"]) == ["statistic", "df", "p", "reason", "method"]
    assert document["fit"]["expected_rms_gap"] <= document["fit"]["expected_max_gap"]


def test_cycle_is_the_first_warning_and_names_the_pairs() -> None:
    ranking = ranked(votes_won(CYCLE))

    assert ranking.fit.lack_of_fit is not None
    assert ranking.fit.lack_of_fit.p is not None
    assert ranking.fit.lack_of_fit.p < 0.001
    assert kinds(ranking)[0] == Kind.MISFIT
    # Round the cycle log odds sum to 0, so shares near one half to 1.5: each is off by
    # (.6875 + .65 + .6875 - 1.5) / 3 = .175.
    notice = said(ranking, Kind.MISFIT)
    assert "cedar beat ash in 69 % of 160 comparisons (expected 51 %)" in notice


def test_wins_that_strengths_explain_give_no_warning_of_it() -> None:
    ranking = ranked(votes_won(LINE))

    assert ranking.fit.lack_of_fit is not None
    assert ranking.fit.lack_of_fit.p is not None
    assert ranking.fit.lack_of_fit.p > 0.5
    assert Kind.MISFIT not in kinds(ranking)
    assert Kind.LEADER_LOSES not in kinds(ranking)


def test_matrix_that_is_wider_than_the_terminal_is_said_to_be_in_the_json() -> None:
    n = len(NAMES)
    ranking = ranked(votes_won({(i, j): (6, 12) for j in range(n) for i in range(j)}))
    narrow, wide = (ranking_display(ranking).text(width) for width in (40, 80))
    assert "head to head" in wide
    assert "head to head" not in narrow
    assert f"Head to head: {n * (n - 1) // 2} pairs of systems" in " ".join(narrow.split())
    assert max(map(len, narrow.splitlines())) <= 40


def test_pair_that_stands_out_where_all_pairs_do_not_is_no_warning() -> None:
    """Of true orders either would be warned of more often than the level says."""
    ranking = ranked(votes_won(LINE), seed=1)
    row = dataclasses.replace(ranking.matrix[0], p=0.001, q=0.01)
    assert ranking.fit.lack_of_fit is not None
    shown = (row, *ranking.matrix[1:])
    for p, kinds_said, departures in ((0.06, [], []), (0.04, [Kind.MISFIT], [row])):
        of_all = dataclasses.replace(ranking.fit.lack_of_fit, p=p)
        assert [notice.kind for notice in warn_of_misfit(shown, of_all)] == kinds_said
        assert find_departures(shown, of_all) == departures


def test_pair_that_departs_is_named_from_the_side_that_won() -> None:
    """Ash beats cedar in 83 % where its strength says more: cedar did not "beat" it in 17 %."""
    won: Won = {(0, 1): (75, 80), (1, 2): (75, 80), (0, 2): (66, 80)}
    assert "ash beat cedar in 82 % of 80 comparisons" in said(ranked(votes_won(won)), Kind.MISFIT)


def test_misfit_of_strengths_is_not_said_of_an_order_that_every_pair_keeps() -> None:
    won: Won = {(0, 1): (75, 80), (1, 2): (75, 80), (0, 2): (66, 80)}
    kept, turned = (
        said(ranked(votes_won(won)), Kind.MISFIT),
        said(ranked(votes_won(CYCLE)), Kind.MISFIT),
    )
    assert kept.startswith("How often a system wins depends on whom it meets")
    assert kept.endswith("Still, no pair goes against the order of the strengths.")
    assert "against the order" not in turned


def test_misfit_beside_a_prior_says_what_is_expected_with_it() -> None:
    words = "Expected shares hold the pull of the prior, which is not what is tested."
    assert said(ranked(votes_won(CYCLE), prior=50), Kind.MISFIT).endswith(words)
    assert words not in said(ranked(votes_won(CYCLE)), Kind.MISFIT)


def test_ranking_by_the_prior_alone_warns_of_no_interval_that_it_lacks() -> None:
    ranking = ranked(decided([(0, 1), (0, 2), (1, 2)] * 6, "abc"), prior=1)
    assert all(row.low is None for row in ranking.systems)
    assert {Kind.FEW_ITEMS, Kind.NO_INTERVAL}.isdisjoint(kinds(ranking))
    text = " ".join(ranking_display(ranking).text().split())
    assert "There are no intervals." in text
    assert "The intervals (95 %)" not in text


def test_small_departure_of_many_votes_is_called_small() -> None:
    many = {pair: (625 * won, 625 * n) for pair, (won, n) in LINE.items()}
    many[0, 2] = (86_800, 100_000)

    notice = said(ranked(votes_won(many, n_items=None)), Kind.MISFIT)

    assert notice.startswith("How often a system wins depends a little on whom it meets")


def test_leader_that_lost_head_to_head_by_a_hair_is_said_to_have() -> None:
    """Ash beats only elm clearly and is first, with 49.6, 48.8 and 50.3 % against the rest."""
    won: Won = {
        (0, 1): (124, 250),
        (0, 2): (122, 250),
        (0, 3): (126, 250),
        (0, 4): (245, 250),
        (1, 4): (180, 250),
        (2, 4): (180, 250),
        (3, 4): (180, 250),
    }
    ranking = ranked(votes_won(won))

    assert ranking.systems[0].system == "ash"
    assert said(ranking, Kind.LEADER_LOSES) == (
        "ash is ranked first, yet in direct comparisons it won only 48.8 % of 250 comparisons with"
        " cedar and 49.6 % of 250 comparisons with birch. That may be chance."
    )


def test_losses_of_a_leader_that_are_least_chance_are_named_and_not_those_of_few_votes() -> None:
    """1 of 3 may be chance; 60 of 160 may not, and stood fourth where shares are sorted."""
    others = (2, 3, 4)
    won: Won = {
        (0, 1): (60, 160),
        (0, 5): (155, 160),
        (1, 5): (85, 160),
        **{(0, other): (1, 3) for other in others},
        **{(other, 5): (85, 160) for other in others},
    }
    notice = said(ranked(votes_won(won)), Kind.LEADER_LOSES)

    assert notice.startswith("ash is ranked first")
    assert "won only 37.5 % of 160 comparisons with birch" in notice
    assert notice.endswith("That is more than chance explains with birch.")


def test_leader_that_clearly_lost_head_to_head_is_said_to_have() -> None:
    won: Won = {(0, 1): (60, 160), (0, 2): (155, 160), (1, 2): (85, 160)}
    ranking = ranked(votes_won(won))

    assert ranking.systems[0].system == "ash"
    notice = said(ranking, Kind.LEADER_LOSES)
    assert "won only 37.5 % of 160 comparisons with birch" in notice
    assert notice.endswith("That is more than chance explains.")


@pytest.mark.parametrize(
    ("votes", "reason"),
    [
        (decided([(0, 1), (1, 0), (0, 1), (1, 0)], "ab"), "nothing is left to check"),
        (decided([(0, 1), (1, 2), (2, 0)] * 4, "abc"), "2 items are too few for a test"),
        (votes_won({(0, 1): (2, 4), (0, 2): (1, 2)}, n_items=None), "nothing is left to check"),
    ],
)
def test_test_that_is_not_valid_is_none_with_its_reason(votes: Votes, reason: str) -> None:
    fit = ranked(votes).fit

    assert fit.lack_of_fit is not None
    assert (fit.lack_of_fit.statistic, fit.lack_of_fit.p) == (None, None)
    assert reason in str(fit.lack_of_fit.reason)
    assert (fit.expected_rms_gap, fit.expected_max_gap) == (None, None)
    assert all(row.p is None for row in ranked(votes).matrix)


def test_prior_changes_what_is_expected_and_not_the_test() -> None:
    plain, pulled = ranked(votes_won(CYCLE)), ranked(votes_won(CYCLE), prior=500)

    assert pulled.fit.lack_of_fit == plain.fit.lack_of_fit
    assert [row.p for row in pulled.matrix] == [row.p for row in plain.matrix]
    assert [row.expected for row in pulled.matrix] != [row.expected for row in plain.matrix]


def test_ranking_that_the_prior_alone_determines_has_no_test() -> None:
    ranking = ranked(decided([(0, 1), (0, 2), (1, 2)] * 6, "abc"), prior=1)

    assert ranking.fit.lack_of_fit is not None
    assert "only the prior does" in str(ranking.fit.lack_of_fit.reason)
    assert [row.observed for row in ranking.matrix] == [1, 1, 1]


def test_votes_without_items_have_no_number_of_them() -> None:
    matrix = ranked(votes_won(CYCLE, n_items=None)).matrix

    assert [row.n_items for row in matrix] == [None] * 3
    assert all(row.p is not None for row in matrix)


def test_order_of_votes_changes_no_digit_of_matrix_and_test() -> None:
    votes = invented_votes(sds=(0.6, 0.0))
    mixed = with_rows(votes, np.random.default_rng(3).permutation(len(votes.comparisons)))

    assert ranked(mixed).matrix == ranked(votes).matrix
    assert ranked(mixed).fit == ranked(votes).fit


def test_study_says_where_its_winner_lost_head_to_head() -> None:
    """Ann beats Cat, Cat beats Ben and Ben beats Ann."""
    votes = [
        Vote(f"i{k}", one, other, "first" if (k * step) % 40 < n_won else "second")
        for one, other, n_won, step in ((ANN, BEN, 12, 1), (ANN, CAT, 32, 3), (BEN, CAT, 12, 7))
        for k in range(40)
    ]
    board = rank(votes, (ANN, BEN, CAT))

    assert row_of(board, ANN).weighted.rank == 1
    assert [(row.left, row.right, row.n, row.n_items) for row in board.matrix] == [
        ("Ann", "Ben", 40, 40),
        ("Ann", "Cat", 40, 40),
        ("Ben", "Cat", 40, 40),
    ]
    assert [row.observed for row in board.matrix] == pytest.approx([0.3, 0.8, 0.3])
    assert [notice.kind for notice in board.warnings[:2]] == [Kind.MISFIT, Kind.LEADER_LOSES]
    assert (
        "Ann is ranked first, yet in direct comparisons it won only 30.0 % of 40"
        in (board.warnings[1])
    )
    assert board.fit.lack_of_fit is not None
    assert board.fit_weighted.lack_of_fit is None
