"""A study gets what a vote file gets: the same numbers, the same gaps, the same warnings."""

import csv
import random
from pathlib import Path

import numpy as np
import pytest
from ranked_votes import ANN, BEN, CAT, DAN, JUDGE, PEOPLE, Vote, rank, row_of, rows_of

import hearteval as he
from hearteval.analysis.ranking.comparisons import people_among, to_comparisons
from hearteval.analysis.ranking.intervals import RankPolicy
from hearteval.analysis.ranking.leaderboard import Leaderboard, rank_systems
from hearteval.analysis.ranking.votes import VoteRanking, Votes, rank_votes
from hearteval.domain import Axis, AxisMark, Choice, Rater
from hearteval.notices import Kind
from hearteval.stats.tally import count_equal

SYSTEMS = (ANN, BEN, CAT, DAN)


def votes_of_people(n: int = 400) -> list[Vote]:
    draw = random.Random(3)
    votes = []
    for _ in range(n):
        first, second = draw.sample(SYSTEMS, 2)
        choice: Choice = draw.choice(("first", "second", "tie"))
        item, strength, person = draw.randint(1, 40), draw.randint(1, 5), draw.choice(PEOPLE)
        votes.append(Vote(f"i{item}", first, second, choice, strength, person))
    return votes


def ranked_as_a_file(votes: list[Vote]) -> VoteRanking:
    people = people_among(PEOPLE)
    comparisons = to_comparisons(
        rows_of(votes),
        use_strength=True,
        system_ids=[system.id for system in SYSTEMS],
        rater_ids=people,
    )
    comparisons = count_equal(comparisons)
    read = Votes(
        systems=tuple(system.name for system in SYSTEMS),
        comparisons=comparisons,
        covariates=np.zeros((len(comparisons), 0)),
        has_strength=True,
        n_items=40,
        n_item_groups=None,
        raters=tuple(people),
        n_votes=len(votes),
        n_ties=sum(vote.choice == "tie" for vote in votes),
        n_dropped={},
        warnings=(),
    )
    return rank_votes(read, RankPolicy(), columns={}, make=VoteRanking)


def test_leaderboard_and_file_have_the_same_numbers_to_the_last_digit() -> None:
    board, file = rank(votes_of_people(), SYSTEMS), ranked_as_a_file(votes_of_people())

    assert (board.interval_used, board.df) == (file.settings.interval_used, file.settings.df)
    for row in file.systems:
        ours = next(each for each in board.rows if each.system == row.system)
        for name in ("elo", "low", "high", "theta", "se", "rank_low", "rank_high"):
            assert getattr(ours.unweighted, name) == getattr(row, name)
        weighted = (ours.weighted.elo, ours.weighted.low, ours.weighted.high)
        assert weighted == (row.elo_weighted, row.low_weighted, row.high_weighted)
    assert board.fit.pairs == file.pairs
    assert board.fit.rms_gap == file.fit.rms_gap


JUDGES = [Rater(name=f"J{k}", kind="llm", family=f"j{k}", settings={"k": k}) for k in range(3)]


def votes_of_panel(raters: list[Rater], n: int = 150) -> list[Vote]:
    """Return answers of every rater to the same pairs, shown both ways round."""
    draw = random.Random(8)
    votes = []
    for number in range(n):
        one, other = draw.sample(SYSTEMS, 2)
        for first, second in ((one, other), (other, one)):
            for rater in raters:
                choice: Choice = draw.choice(("first", "second", "tie"))
                strength = draw.randint(1, 5)
                votes.append(Vote(f"i{number % 17}", first, second, choice, strength, rater))
    return votes


def write_votes(path: Path, votes: list[Vote], *, with_strength: bool) -> None:
    winner = {"first": "left", "second": "right", "tie": "tie"}
    strength = ["strength"] * with_strength
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["left", "right", "winner", "item", "person", *strength])
        for vote in votes:
            answer = [vote.strength if vote.choice != "tie" else ""] * with_strength
            row = (vote.first.name, vote.second.name, winner[vote.choice], vote.item)
            writer.writerow([*row, vote.rater.id, *answer])


NUMBERS = ["elo", "low", "high", "published_low", "published_high", "theta", "se"]
NUMBERS += ["rank", "rank_low", "rank_high"]


@pytest.mark.parametrize(
    ("raters", "interval"),
    [(JUDGES, "item-sandwich"), (list(PEOPLE), "two-way"), (list(PEOPLE[:3]), "item-sandwich")],
)
def test_study_and_its_votes_written_to_a_file_are_the_same_to_the_last_digit(
    tmp_path: Path, raters: list[Rater], interval: str
) -> None:
    votes, people = votes_of_panel(raters), people_among(raters)
    board = rank_systems(rows_of(votes), SYSTEMS, raters)
    plain, strong = tmp_path / "plain.csv", tmp_path / "strong.csv"
    write_votes(plain, votes, with_strength=False)
    write_votes(strong, votes, with_strength=True)
    rater = "person" if people else None
    once = he.rank(plain, cluster="item", rater=rater)
    weighted = he.rank(strong, cluster="item", rater=rater, strength="strength")

    assert (board.interval_used, once.settings.interval_used) == (interval, interval)
    assert board.df == once.settings.df
    for row in board.rows:
        (of_file,) = (each for each in once.systems if each.system == row.system)
        (by_strength,) = (each for each in weighted.systems if each.system == row.system)
        assert [getattr(row.unweighted, name) for name in NUMBERS] == [
            getattr(of_file, name) for name in NUMBERS
        ]
        assert (row.win_rate, row.n_comparisons) == (of_file.win_rate, of_file.n_comparisons)
        assert (row.weighted.elo, row.weighted.low, row.weighted.high) == (
            by_strength.elo_weighted,
            by_strength.low_weighted,
            by_strength.high_weighted,
        )
    assert board.fit == once.ranked.check_fit()
    assert board.n_ties == once.fit.n_ties
    assert sum(row.n_ties for row in board.rows) == 2 * once.fit.n_ties


def is_said(board: Leaderboard, words: str) -> bool:
    return any(words in warning for warning in board.warnings)


def test_system_that_one_person_alone_judged_has_no_two_way_interval() -> None:
    votes = [vote for vote in votes_of_people() if DAN not in (vote.first, vote.second)]
    votes += [
        Vote(f"i{k}", *pair, "first", 1, PEOPLE[0])
        for k in range(6)
        for pair in ((DAN, ANN), (BEN, DAN))
    ]
    board = rank(votes, SYSTEMS)
    dan = row_of(board, DAN)

    assert board.interval_used == "two-way"
    assert (dan.weighted.low, dan.weighted.high, dan.weighted.se) == (None, None, None)
    assert (dan.unweighted.low, dan.unweighted.high) == (None, None)
    assert (dan.weighted.rank_low, dan.weighted.rank_high) == (1, 4)
    assert row_of(board, ANN).weighted.low is not None
    assert is_said(board, "No two-way interval for what one person alone judged: Dan.")
    against_dan = [d for d in board.differences if "Dan" in (d.system, d.other)]
    assert {(d.low, d.high, d.p) for d in against_dan} == {(None, None, 1.0)}


def test_too_few_people_are_said_to_have_judged() -> None:
    votes = [vote for vote in votes_of_people() if vote.rater in PEOPLE[:4]]

    assert is_said(rank(votes, SYSTEMS), "People differ, and 4 of them have judged")


def test_one_person_with_most_of_the_judgments_is_told_of() -> None:
    votes = votes_of_people()
    more = [vote for vote in votes if vote.rater == PEOPLE[0]] * 20
    board = rank([*votes, *more], SYSTEMS)

    assert is_said(board, "% of people's judgments, so that all people count as")


def test_judgments_that_fall_on_few_items_are_told_of() -> None:
    votes = votes_of_people()
    board = rank([*votes, *([v for v in votes if v.item == "i1"] * 60)], SYSTEMS)

    assert is_said(board, "Judgments fall so unevenly on items")


def test_what_holds_of_the_unweighted_ranking_only_is_said_of_it() -> None:
    votes = [
        Vote(f"i{k}", one, other, "first", strength)
        for k in range(12)
        for one, other, strength in ((ANN, BEN, 1 + k % 5), (BEN, ANN, 1))
    ]
    board = rank(votes)

    assert row_of(board, ANN).weighted.low is not None
    assert row_of(board, ANN).unweighted.low is None
    assert is_said(
        board, "Where every judgment counts once: no interval where all items say the same"
    )


def test_axis_on_few_items_is_told_of_by_name() -> None:
    mark: dict[Axis, AxisMark] = {"R": AxisMark("first", 1)}
    unmarked = [Vote(f"i{k}", ANN, BEN, "first" if k % 3 else "second") for k in range(20)]
    marked = [
        Vote(f"i{k}", *((ANN, BEN) if k else (BEN, ANN)), "first", axes=mark) for k in range(3)
    ]
    board = rank([*unmarked, *marked])

    assert is_said(board, "On R: on fewer than 10 items")
    assert {w.kind for w in board.warnings if w.startswith("On R")} == {Kind.AXIS}


@pytest.mark.parametrize("rater", [JUDGE, PEOPLE[0]])
def test_axis_without_width_has_no_interval(rater: Rater) -> None:
    mark: dict[Axis, AxisMark] = {"R": AxisMark("first", 1)}
    votes = [
        Vote(f"i{k}", *pair, "first" if k % 3 else "second", rater=rater, axes=mark)
        for k in range(12)
        for pair in ((ANN, BEN), (BEN, ANN))
    ]
    standing = row_of(rank(votes), ANN).axes["R"]

    assert standing.elo == pytest.approx(1500)
    assert (standing.low, standing.high) == (None, None)
