"""An invented study in which people and judges mark the axes; judges like longer replies."""

import math
import random
from itertools import combinations

from judged_study import NOW
from people_study import PEOPLE_PER_PAIR, SYSTEMS, PeopleStudy, human_raters

from hearteval.analysis.data import StudyData
from hearteval.domain import AXES, Axis, AxisMark, Choice, Completion, Rater

JUDGES = tuple(
    Rater(name=name, kind="llm", family=name, settings={"model": name})
    for name in ("alder", "birch", "cedar")
)
OTHER: dict[Choice, Choice] = {"first": "second", "second": "first", "tie": "tie"}
WEIGHTS: dict[str, dict[Axis, float]] = {
    "llm": dict.fromkeys(AXES, 1.2),
    "human": {"H": 0.6, "E": 0.6, "A": 2.1, "R": 2.1, "T": 0.6},
}


def marked_study(n_items: int = 40, *, liking_of_length: float = 0.0, seed: int = 1) -> StudyData:
    """Draw a study of three models: marks follow the replies, choices the marks."""
    draw = random.Random(seed)
    people = human_raters(8)
    made = PeopleStudy(n_items, [*people, *JUDGES], n_adversarial=n_items // 4)
    for item in made.items:
        texts = []
        for system in SYSTEMS[:-1]:
            words = " ".join(["word"] * draw.randint(10, 60))
            one = Completion(item_id=item.id, system_id=system.id, text=words, created_at=NOW)
            texts.append(made.completions.setdefault((item.id, system.id, None), one))
        for one, other in combinations(texts, 2):
            lean = draw.gauss(0, 1.2)
            longer = liking_of_length * (len(one.text) - len(other.text)) / 100
            for rater in draw.sample(people, PEOPLE_PER_PAIR):
                _judge(draw, made, rater, (one, other), lean)
            for judge in JUDGES:
                _judge(draw, made, judge, (one, other), lean + longer)
                _judge(draw, made, judge, (other, one), -lean - longer)
    return made.data()


def _judge(
    draw: random.Random,
    made: PeopleStudy,
    rater: Rater,
    shown: tuple[Completion, Completion],
    lean: float,
) -> None:
    sides = {axis: _drawn(draw, lean + draw.gauss(0, 0.7)) for axis in AXES}
    weights = WEIGHTS[rater.kind]
    total = sum(weights[axis] * (1 if side == "first" else -1) for axis, side in sides.items())
    is_tie = rater.kind == "human" and draw.random() < 0.1
    made.judge(rater, *shown, "tie" if is_tie else _drawn(draw, total))
    marks = {axis: AxisMark(side, 2) for axis, side in sides.items()}
    made.rows[-1] = made.rows[-1]._replace(axes=marks)


def _drawn(draw: random.Random, lean: float) -> Choice:
    return "first" if draw.random() < 1 / (1 + math.exp(-lean)) else "second"
