"""A small judged study, built by hand: three systems, two items, one judge, a stress set."""

from datetime import UTC, datetime

from hearteval.analysis.data import Provenance, StudyData
from hearteval.analysis.judgments import JudgmentRow, Judgments, judgments_of
from hearteval.analysis.packed.pairs import pairs_of
from hearteval.domain import (
    AXES,
    Assignment,
    Attempt,
    AxisMark,
    Choice,
    Completion,
    Item,
    Pair,
    Rater,
    System,
    Turn,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
STUDY_ID = "5" * 32


def make_items(n: int) -> list[Item]:
    return [
        Item(
            source="test",
            dialogue_id=f"d{number}",
            turn_index=0,
            situation="",
            context=(Turn(role="seeker", text=f"It is number {number} again."),),
            subset="regular",
            emotion="sadness",
            problem="job crisis",
            licence="Apache-2.0",
            consent_basis="invented",
        )
        for number in range(n)
    ]


def make_systems(*names: str) -> list[System]:
    return [System(name=name, kind="baseline", family="baseline") for name in names]


STRESS = [
    System(name=f"stress-{kind}", kind="stress", family="baseline", settings={"stress": kind})
    for kind in ("reference", "hostile")
]
CUE = Rater(name="cue", kind="llm", family="cue", settings={"judge": "cue"})


def provenance() -> Provenance:
    return Provenance(
        study="s",
        study_id=STUDY_ID,
        version=1,
        seed=1,
        items_hash="",
        settings_hash="",
        item_source="",
        licences=(),
        consent_bases=(),
        design="",
        protocols={},
        protocol_version="1",
        software={},
        created_at="2026-01-01T00:00:00+00:00",
    )


class StudyMaker:
    """Collects completions, pairs, assignments and judgments, and hands them over as records."""

    def __init__(self, items: list[Item], systems: list[System], raters: list[Rater]) -> None:
        self.items, self.systems, self.raters = items, systems, raters
        self.completions: dict[tuple[str, str], Completion] = {}
        self.attempts: list[Attempt] = []
        self.pairs: dict[str, Pair] = {}
        self.assignments: list[Assignment] = []
        self.rows: list[tuple[Assignment, Item, System, System, Choice, int | None, str]] = []

    def completion(self, system: System, item: Item) -> Completion:
        return self.completions.setdefault(
            (system.id, item.id),
            Completion(
                item_id=item.id, system_id=system.id, text=f"{system.name} speaks.", created_at=NOW
            ),
        )

    def write(self, system: System, item: Item, text: str) -> None:
        """Have a system say something of its own; before anything of it is assigned."""
        assert (system.id, item.id) not in self.completions
        self.completions[system.id, item.id] = Completion(
            item_id=item.id, system_id=system.id, text=text, created_at=NOW
        )

    def assign(self, item: Item, first: System, second: System, rater: Rater = CUE) -> Assignment:
        one, other = self.completion(first, item), self.completion(second, item)
        pair = Pair(item_id=item.id, completion_ids=(one.id, other.id))
        self.pairs[pair.id] = pair
        assignment = Assignment(
            study_id=STUDY_ID, pair_id=pair.id, rater_id=rater.id, first_completion_id=one.id
        )
        self.assignments.append(assignment)
        return assignment

    def judge(
        self,
        item: Item,
        sides: tuple[System, System],
        choice: Choice,
        *,
        strength: int | None = 1,
        finish_reason: str = "decided",
        rater: Rater = CUE,
    ) -> None:
        first, second = sides
        assignment = self.assign(item, first, second, rater)
        given = None if choice == "tie" else strength
        self.rows.append((assignment, item, first, second, choice, given, finish_reason))

    @property
    def judgments(self) -> Judgments:
        return judgments_of(
            JudgmentRow(
                assignment_id=assignment.id,
                pair_id=assignment.pair_id,
                item_id=item.id,
                first_system_id=first.id,
                second_system_id=second.id,
                first_completion_id=assignment.first_completion_id,
                rater_id=assignment.rater_id,
                repeat=0,
                choice=choice,
                strength=strength,
                axes={axis: AxisMark(choice, strength) for axis in AXES},
                finish_reason=finish_reason,
            )
            for assignment, item, first, second, choice, strength, finish_reason in self.rows
        )

    @property
    def unjudged(self) -> list[Assignment]:
        judged = {assignment.id for assignment, *_ in self.rows}
        return [one for one in self.assignments if one.id not in judged]

    def data(self) -> StudyData:
        return StudyData(
            items=self.items,
            systems=self.systems,
            raters=self.raters,
            completions=list(self.completions.values()),
            attempts=self.attempts,
            pairs=pairs_of(self.pairs.values()),
            judgments=self.judgments,
            unjudged=self.unjudged,
            provenance=provenance(),
        )
