"""Votes built by hand, and the leaderboard they make."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from heartbench.analysis.judgment_columns import JudgmentColumns
from heartbench.analysis.leaderboard_results import Leaderboard, LeaderboardRow
from heartbench.analysis.ranking import rank_systems
from heartbench.domain import AXES, Axis, AxisMark, Rater, System

ANN, BEN, CAT, DAN = (
    System(name=name, kind="model", family=name.lower()) for name in ("Ann", "Ben", "Cat", "Dan")
)
STRESS = System(name="hostile", kind="stress", family="stress")
JUDGE = Rater(name="judge", kind="llm", family="cue")
PERSON, *OTHERS = (Rater(name=f"P{k}", kind="human", family="human") for k in range(1, 7))
PEOPLE = (PERSON, *OTHERS)


@dataclass(frozen=True)
class Vote:
    item: str
    first: System
    second: System
    choice: str
    strength: int | None = 3
    rater: Rater = JUDGE
    axes: Mapping[Axis, AxisMark] = field(default_factory=dict)


def columns_of(votes: list[Vote]) -> JudgmentColumns:
    return JudgmentColumns(
        assignment_id=tuple(f"a{row}" for row in range(len(votes))),
        pair_id=tuple(f"p{row}" for row in range(len(votes))),
        item_id=tuple(vote.item for vote in votes),
        first_system_id=tuple(vote.first.id for vote in votes),
        second_system_id=tuple(vote.second.id for vote in votes),
        rater_id=tuple(vote.rater.id for vote in votes),
        repeat=(0,) * len(votes),
        choice=tuple(vote.choice for vote in votes),
        strength=tuple(None if vote.choice == "tie" else vote.strength for vote in votes),
        axes=tuple(vote.axes for vote in votes),
        finish_reason=(None,) * len(votes),
    )


def rank(votes: list[Vote], systems: tuple[System, ...] = (ANN, BEN)) -> Leaderboard:
    return rank_systems(columns_of(votes), systems, [JUDGE, *PEOPLE])


def row_of(board: Leaderboard, system: System) -> LeaderboardRow:
    return next(row for row in board.rows if row.system == system.name)


def three_to_one() -> list[Vote]:
    """Ann wins three items against Ben clearly and loses one barely; each is shown first twice."""
    return [
        Vote("i1", ANN, BEN, "first", 4),
        Vote("i2", BEN, ANN, "second", 4),
        Vote("i3", ANN, BEN, "first", 4),
        Vote("i4", BEN, ANN, "first", 1),
    ]


def random_votes(n: int) -> list[Vote]:
    draw = random.Random(6)
    votes = []
    for _ in range(n):
        first, second = draw.sample((ANN, BEN, CAT, DAN), 2)
        marks = {
            axis: AxisMark(draw.choice(("first", "second")), draw.randint(1, 5)) for axis in AXES
        }
        choice = draw.choice(("first", "second", "tie"))
        votes.append(
            Vote(f"i{draw.randint(1, 12)}", first, second, choice, draw.randint(1, 5), axes=marks)
        )
    return votes
