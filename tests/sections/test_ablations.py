"""Other methods on the same comparisons, and other weights of the axes."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from people_study import simulated_study

from hearteval.analysis.data import StudyData
from hearteval.analysis.judgments import judgments_of
from hearteval.analysis.ranking.comparisons import to_comparisons
from hearteval.analysis.ranking.intervals import RankPolicy
from hearteval.analysis.ranking.rank import rank_comparisons
from hearteval.analysis.study import analyze_study
from hearteval.domain import AXES, AxisMark, Choice
from hearteval.sections.ablations import Ablations
from hearteval.sections.ablations.measure import AblatedRanking, OtherRanking
from hearteval.stats.comparisons import select_comparisons

THETA = {"beacon": 0.6, "ember": -0.4, "harbour": 0.1, "People": 0.0}


@pytest.fixture(scope="module")
def data() -> StudyData:
    made = simulated_study(THETA, THETA, n_items=16)
    rows = [
        row._replace(strength=None if row.choice == "tie" else 1 + k % 5)
        for k, row in enumerate(made.judgments)
    ]
    return replace(made, judgments=judgments_of(rows))


def ablated(data: StudyData) -> AblatedRanking:
    found = analyze_study(data, headline="both", sections=[Ablations]).found(Ablations)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def found(data: StudyData) -> dict[str, OtherRanking]:
    return {one.method: one for one in ablated(data).others}


def vote_ranking(data: StudyData, ties: str) -> dict[str, float]:
    """Rank as `heart rank` does, which is tested against other packages."""
    systems = sorted(data.systems, key=lambda system: system.name)
    people = sorted(rater.id for rater in data.raters if rater.kind == "human")
    comparisons = to_comparisons(
        data.judgments,
        use_strength=True,
        system_ids=[system.id for system in systems],
        rater_ids=people,
    )
    if ties == "drop":
        comparisons = select_comparisons(comparisons, comparisons.score != 0.5)
    policy = RankPolicy(ties="davidson" if ties == "davidson" else "half")
    ranked = rank_comparisons(comparisons, [system.name for system in systems], policy)
    return {name: one.elo for name, one in ranked.by_name.items()}


@pytest.mark.parametrize(
    ("method", "ties"), [("ties dropped", "drop"), ("ties modelled", "davidson")]
)
def test_ties_are_treated_as_in_the_ranking_of_votes(
    data: StudyData, found: dict[str, OtherRanking], method: str, ties: str
) -> None:
    expected = vote_ranking(data, ties)
    systems = ablated(data).systems
    assert found[method].values == pytest.approx([expected[name] for name in systems], abs=1e-4)


def test_what_the_leaderboard_has_already_is_the_same(
    data: StudyData, found: dict[str, OtherRanking]
) -> None:
    board = analyze_study(data, headline="both").leaderboard
    assert board is not None
    once, share = found["every judgment once"], found["share won"]
    assert ablated(data).headline == tuple(row.weighted.elo for row in board.rows)
    assert share.values == pytest.approx([row.win_rate for row in board.rows])
    assert len(once.values) == len(board.rows)


def test_without_ties_there_is_nothing_to_treat(data: StudyData) -> None:
    decided = [row for row in data.judgments if row.choice != "tie"]
    methods = [one.method for one in ablated(replace(data, judgments=judgments_of(decided))).others]
    assert methods == ["rank centrality", "every judgment once", "share won", "elo in sequence"]


def test_elo_in_sequence_is_about_the_same_in_the_long_run(
    found: dict[str, OtherRanking], data: StudyData
) -> None:
    gaps = np.array(found["elo in sequence"].values) - found["every judgment once"].values
    assert np.abs(gaps).max() < 25
    assert sum(found["elo in sequence"].values) == pytest.approx(1500 * 4)


def test_places_and_what_moves_are_counted(data: StudyData) -> None:
    result = ablated(data)
    for one in result.others:
        order = np.argsort(np.argsort([-value for value in one.values])) + 1
        assert one.places == tuple(order)
        change = np.abs(order - np.arange(1, 5))
        assert one.largest_change == change.max()
        assert (one.most_moved is None) == (change.max() == 0)
        assert one.leaders == (result.systems[int(np.argmin(order))],)


def test_a_method_that_determines_nothing_says_so(data: StudyData) -> None:
    people = next(system for system in data.systems if system.name == "People")
    rows = []
    for row in data.judgments:
        if people.id in (row.first_system_id, row.second_system_id) and row.choice != "tie":
            is_first = row.first_system_id == people.id
            row = row._replace(choice="first" if is_first else "second")  # noqa: PLW2901
        rows.append(row)
    others = {
        one.method: one for one in ablated(replace(data, judgments=judgments_of(rows))).others
    }
    assert others["ties dropped"].values == ()
    assert others["ties dropped"].problem is not None
    assert others["ties modelled"].problem is None


def marked(data: StudyData, axes_for_people: str) -> StudyData:
    """Mark five axes: those named follow People's side, the others follow the choice."""
    people = next(system for system in data.systems if system.name == "People")
    rows = []
    for row in data.judgments:
        sides = (row.first_system_id, row.second_system_id)
        pro: Choice = "first" if sides[0] == people.id else "second"
        marks = {
            axis: AxisMark(
                choice=pro if axis in axes_for_people and people.id in sides else row.choice,
                strength=None,
            )
            for axis in AXES
        }
        rows.append(row._replace(axes=marks))
    return replace(data, judgments=judgments_of(rows))


def test_an_axis_alone_can_change_the_leader(data: StudyData) -> None:
    weights = ablated(marked(data, "A")).axis_weights
    assert weights is not None
    rows = {row.system: row for row in weights.systems}
    # On A nobody ever beats People, so that A has no Elo, and shares won are weighed.
    assert weights.measure == "win_rate"
    assert rows["People"].best == 1
    assert sum(row.leads for row in weights.systems) == pytest.approx(1, abs=0.01)
    # People leads where A weighs w with w (p_A - b_A) > (1 - w) (b - p): a share (1 - w)^4.
    board = analyze_study(marked(data, "A")).leaderboard
    assert board is not None
    won = {row.system: {a: at.win_rate for a, at in row.axes.items()} for row in board.rows}
    behind = won["beacon"]["H"] - won["People"]["H"]
    ahead = won["People"]["A"] - won["beacon"]["A"]
    share = (1 - behind / (behind + ahead)) ** 4
    assert rows["People"].leads == pytest.approx(share, abs=0.02)


def test_equal_axes_leave_nothing_open(data: StudyData) -> None:
    weights = ablated(marked(data, "")).axis_weights
    assert weights is not None
    assert weights.measure == "elo"
    assert [row.even for row in weights.systems] == [1, 2, 3, 4]
    assert all(row.best == row.even == row.worst for row in weights.systems)
    assert weights.systems[0].leads == 1


def test_without_marks_no_axis_is_weighed(data: StudyData) -> None:
    assert ablated(data).axis_weights is None


def test_the_order_of_judgments_changes_nothing(data: StudyData) -> None:
    turned = replace(data, judgments=data.judgments[::-1])
    assert ablated(turned) == ablated(data)
    assert list(itertools.islice(turned.judgments, 1)) != list(itertools.islice(data.judgments, 1))
