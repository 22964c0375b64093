"""Invented studies in which people write, and people and judges judge: nothing was measured."""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from judged_study import NOW, STUDY_ID, make_items, provenance

from hearteval.analysis.data import StudyData
from hearteval.analysis.judgments import JudgmentRow, judgments_of
from hearteval.analysis.packed.pairs import pairs_of
from hearteval.domain import Assignment, Choice, Completion, Item, Pair, Rater, System

BEACON, EMBER, HARBOUR = (
    System(name=name, kind="model", family=name) for name in ("beacon", "ember", "harbour")
)
PEOPLE_PER_PAIR, TIES = 5, 0.2
PEOPLE = System(name="People", kind="human", family="human")
SYSTEMS = (BEACON, EMBER, HARBOUR, PEOPLE)
WRITERS = ("w1", "w2", "w3")
JUDGES = tuple(
    Rater(name=name, kind="llm", family=name, settings={"model": name})
    for name in ("juniper", "larch")
)


def human_raters(n: int) -> tuple[Rater, ...]:
    return tuple(
        Rater(name=f"r{k}", kind="human", family="human", group="crowd") for k in range(1, n + 1)
    )


class PeopleStudy:
    """Three models with one completion an item, and people with one of each writer."""

    def __init__(self, n_items: int, raters: Sequence[Rater], *, n_adversarial: int = 0) -> None:
        items = make_items(n_items)
        self.items = [
            replace(item, subset="adversarial", profile="linear-ramp", id="")
            if k < n_adversarial
            else item
            for k, item in enumerate(items)
        ]
        self.raters = raters
        self.completions: dict[tuple[str, str, str | None], Completion] = {}
        self.pairs: dict[str, Pair] = {}
        self.rows: list[JudgmentRow] = []

    def completion(self, item: Item, system: System, writer: str | None = None) -> Completion:
        return self.completions.setdefault(
            (item.id, system.id, writer),
            Completion(
                item_id=item.id,
                system_id=system.id,
                writer_id=writer,
                text=f"{system.name} {writer or ''} says it.",
                created_at=NOW,
            ),
        )

    def judge(
        self, rater: Rater, first: Completion, second: Completion, choice: Choice, strength: int = 2
    ) -> None:
        pair = Pair(item_id=first.item_id, completion_ids=(first.id, second.id))
        self.pairs[pair.id] = pair
        assignment = Assignment(
            study_id=STUDY_ID, pair_id=pair.id, rater_id=rater.id, first_completion_id=first.id
        )
        self.rows.append(
            JudgmentRow(
                assignment_id=assignment.id,
                pair_id=pair.id,
                item_id=first.item_id,
                first_system_id=first.system_id,
                second_system_id=second.system_id,
                first_completion_id=first.id,
                rater_id=rater.id,
                repeat=0,
                choice=choice,
                strength=None if choice == "tie" else strength,
                axes={},
                finish_reason=None,
            )
        )

    def data(self) -> StudyData:
        systems = {completion.system_id for completion in self.completions.values()}
        return StudyData(
            items=self.items,
            systems=[system for system in SYSTEMS if system.id in systems],
            raters=self.raters,
            completions=list(self.completions.values()),
            pairs=pairs_of(self.pairs.values()),
            judgments=judgments_of(self.rows),
            provenance=replace(
                provenance(), protocols={"human": "five-point", "llm": "forced-strength"}
            ),
        )


def simulated_study(
    theta_of_people: Mapping[str, float],
    theta_of_judges: Mapping[str, float],
    *,
    n_items: int = 40,
    n_people: int = 8,
    seed: int = 1,
) -> StudyData:
    """Draw a study in which people and judges weigh the systems as given, by their names.

    People see one order and may call a tie; judges see both orders and must choose.
    """
    draw = random.Random(seed)
    people = human_raters(n_people)
    made = PeopleStudy(n_items, [*people, *JUDGES], n_adversarial=n_items // 4)
    names = {system.id: system.name for system in SYSTEMS}
    for item in made.items:
        texts = [made.completion(item, system) for system in SYSTEMS[:-1]]
        texts += [made.completion(item, PEOPLE, writer) for writer in WRITERS]
        for one, other in combinations(texts, 2):
            if one.system_id == other.system_id:
                continue
            for rater in draw.sample(people, min(PEOPLE_PER_PAIR, n_people)):
                first, second = draw.sample((one, other), 2)
                at = [theta_of_people[names[text.system_id]] for text in (first, second)]
                choice = "tie" if draw.random() < TIES else _choice(draw, *at)
                made.judge(rater, first, second, choice)
            for judge in JUDGES:
                for first, second in ((one, other), (other, one)):
                    at = [theta_of_judges[names[text.system_id]] for text in (first, second)]
                    made.judge(judge, first, second, _choice(draw, *at))
    return made.data()


def _choice(draw: random.Random, first: float, second: float) -> Choice:
    return "first" if draw.random() < 1 / (1 + math.exp(second - first)) else "second"
