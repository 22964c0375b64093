"""Votes built by hand, and the leaderboard they make."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from hearteval.analysis.judgments import JudgmentRow, Judgments, judgments_of
from hearteval.analysis.ranking.leaderboard import Leaderboard, LeaderboardRow, rank_systems
from hearteval.domain import AXES, Axis, AxisMark, Choice, Rater, System

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
    choice: Choice
    strength: int | None = 3
    rater: Rater = JUDGE
    axes: Mapping[Axis, AxisMark] = field(default_factory=dict)


def rows_of(votes: list[Vote], *, repeat: int = 0) -> Judgments:
    return judgments_of(
        JudgmentRow(
            assignment_id=f"a{number}",
            pair_id=f"p{number}",
            item_id=vote.item,
            first_system_id=vote.first.id,
            second_system_id=vote.second.id,
            first_completion_id=f"c{number}",
            rater_id=vote.rater.id,
            repeat=repeat,
            choice=vote.choice,
            strength=None if vote.choice == "tie" else vote.strength,
            axes=vote.axes,
            finish_reason=None,
        )
        for number, vote in enumerate(votes)
    )


def rank(votes: list[Vote], systems: tuple[System, ...] = (ANN, BEN)) -> Leaderboard:
    return rank_systems(rows_of(votes), systems, [JUDGE, *PEOPLE])


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
        choice: Choice = draw.choice(("first", "second", "tie"))
        votes.append(
            Vote(f"i{draw.randint(1, 12)}", first, second, choice, draw.randint(1, 5), axes=marks)
        )
    return votes
