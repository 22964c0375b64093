"""A small study with one record of every kind, for tests of stores."""

from dataclasses import dataclass
from datetime import UTC, datetime

from hearteval.domain import (
    Assignment,
    Attempt,
    AxisMark,
    Call,
    Completion,
    Item,
    Judgment,
    Label,
    LatencyProbe,
    Pair,
    Rater,
    Rating,
    Screening,
    Study,
    System,
    Turn,
)
from hearteval.store.records import Record

NOW = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)


@dataclass(frozen=True)
class World:
    """A small study with one record of every kind."""

    item: Item
    screening: Screening
    systems: tuple[System, System]
    rater: Rater
    completions: tuple[Completion, Completion]
    pair: Pair
    study: Study
    assignments: tuple[Assignment, Assignment]
    attempt: Attempt
    judgment: Judgment
    probe: LatencyProbe
    rating: Rating
    labels: tuple[Label, Label]

    @property
    def records(self) -> list[Record]:
        """Every record, in an order in which none may refer to an earlier one."""
        return [
            *self.labels,
            self.probe,
            self.rating,
            self.judgment,
            self.attempt,
            *self.assignments,
            self.study,
            self.pair,
            *self.completions,
            self.rater,
            *self.systems,
            self.screening,
            self.item,
        ]


def make_item(number: int = 0) -> Item:
    """Return an item; another number, another item."""
    return Item(
        source="test",
        dialogue_id=f"dialogue-{number}",
        turn_index=1,
        situation="A café closes.",
        context=(Turn(role="supporter", text="Hi"), Turn(role="seeker", text="Il a fermé ☕")),
        subset="regular",
        emotion="sadness",
        problem="job crisis",
        licence="Apache-2.0",
        consent_basis="invented",
        reference="Closed for good?",
    )


def make_world() -> World:
    """Return a small study with one record of every kind."""
    item = make_item()
    systems = (
        System(name="one", kind="baseline", family="baseline", settings={"preset": "one"}),
        System(name="two", kind="model", family="ours", settings={"temperature": 0.5}),
    )
    rater = Rater(name="cue", kind="llm", family="cue", settings={"version": "1"})
    completions = (
        Completion(item_id=item.id, system_id=systems[0].id, text="I hear you.", created_at=NOW),
        Completion(
            item_id=item.id,
            system_id=systems[1].id,
            text="What now?",
            call=Call(usage={"tokens": 3}, cost=0.25),
            first_token_ms=12.5,
            created_at=NOW,
        ),
    )
    pair = Pair(item_id=item.id, completion_ids=(completions[0].id, completions[1].id))
    study = Study(
        name="small",
        seed=7,
        item_ids=(item.id,),
        items_hash="ab",
        system_ids=tuple(sorted(system.id for system in systems)),
        rater_ids=(rater.id,),
        design={"design": "full"},
        protocols={"llm": "forced-strength"},
        protocol_version="1",
        settings_hash="cd",
        software_version="0",
        created_at=NOW,
    )
    assignments = tuple(
        Assignment(
            study_id=study.id, pair_id=pair.id, rater_id=rater.id, first_completion_id=completion.id
        )
        for completion in completions
    )
    judgment = Judgment(
        assignment_id=assignments[0].id,
        choice="first",
        strength=4,
        axes={"H": AxisMark("second", 2), "E": AxisMark("tie", None)},
        reasons={"H": "sounds like a person"},
        rationale="Warm.",
        created_at=NOW,
    )
    return World(
        item=item,
        screening=Screening(
            item_id=item.id, rule="length", verdict="pass", evidence="2", version="1"
        ),
        systems=systems,
        rater=rater,
        completions=completions,
        pair=pair,
        study=study,
        assignments=(assignments[0], assignments[1]),
        attempt=Attempt(assignment_id=assignments[1].id, reason="timeout", created_at=NOW),
        judgment=judgment,
        probe=LatencyProbe(
            study_id=study.id,
            system_id=systems[1].id,
            item_id=item.id,
            repeat=2,
            effective={"temperature": 0.0},
            first_token_ms=212.5,
            total_ms=900.0,
            created_at=NOW,
        ),
        rating=Rating(
            study_id=study.id,
            completion_id=completions[0].id,
            rater_id=rater.id,
            repeat=1,
            axes={"H": 4, "T": 1},
            comments={"H": "sounds like a person"},
            created_at=NOW,
        ),
        labels=(
            Label(
                completion_id=completions[0].id,
                taxonomy="safety",
                category="safety",
                verdict="present",
                probability=0.75,
                evidence="bläh",
                rater_id=rater.id,
                created_at=NOW,
            ),
            Label(
                judgment_id=judgment.id,
                taxonomy="safety",
                category="safety",
                verdict="absent",
                rater_id=rater.id,
                created_at=NOW,
            ),
        ),
    )
