"""Ratings built by hand: systems, raters, and scores that are the same on all axes or named."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from hearteval.analysis.data import StudyData
from hearteval.analysis.judges import StressResult
from hearteval.analysis.scores.scores import RatedSystem
from hearteval.analysis.scores.study import RatingResults, score_study
from hearteval.domain import (
    AXES,
    EQUAL_WEIGHTS,
    Axis,
    Completion,
    Rater,
    Rating,
    RatingTarget,
    System,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
STUDY_ID = "5" * 32
STRESS = {
    kind: System(name=f"stress-{kind}", kind="stress", family="baseline", settings={"stress": kind})
    for kind in ("reference", "hostile")
}


def make_system(name: str) -> System:
    return System(name=name, kind="model", family=f"family of {name}")


def make_rater(name: str) -> Rater:
    return Rater(name=name, kind="llm", family=f"family of {name}", settings={"model": name})


class RatingMaker:
    """Collects ratings by the names of rater, system and item."""

    def __init__(self) -> None:
        self.systems: dict[str, System] = dict(STRESS)
        self.raters: dict[str, Rater] = {}
        self.completions: dict[str, Completion] = {}
        self.ratings: list[Rating] = []
        self.targets: list[RatingTarget] = []

    def want(self, rater: str, system: str, item: str, *, repeat: int = 0) -> RatingTarget:
        who = self.raters.setdefault(rater, make_rater(rater))
        whose = self.systems.setdefault(system, make_system(system))
        completion = Completion(
            item_id=item, system_id=whose.id, text=f"{system} to {item}", created_at=NOW
        )
        self.completions[completion.id] = completion
        target = RatingTarget(STUDY_ID, completion.id, who.id, repeat)
        self.targets.append(target)
        return target

    def rate(
        self,
        rater: str,
        system: str,
        item: str,
        score: int | Mapping[Axis, int],
        *,
        repeat: int = 0,
    ) -> None:
        target = self.want(rater, system, item, repeat=repeat)
        axes = dict.fromkeys(AXES, score) if isinstance(score, int) else score
        self.ratings.append(Rating(**target._asdict(), axes=axes, created_at=NOW))

    @property
    def data(self) -> StudyData:
        return StudyData(
            completions=list(self.completions.values()),
            systems=list(self.systems.values()),
            raters=list(self.raters.values()),
            targets=self.targets,
            ratings=self.ratings,
        )

    def analyze(
        self, *, level: float = 0.95, weights: Mapping[Axis, float] = EQUAL_WEIGHTS
    ) -> tuple[RatingResults, tuple[StressResult, ...]]:
        return score_study(self.data, level=level, weights=weights)[:2]

    def scores(self, **settings: object) -> dict[str, RatedSystem]:
        results, _ = self.analyze(**settings)  # type: ignore[arg-type]
        return {row.system: row for row in results.systems}


def calibrated() -> StudyData:
    """A judge that is one point mild on E and right on H, and a person who is two points strict."""
    made = RatingMaker()
    for item, (on_h, on_e) in {"i1": (3, 4), "i2": (2, 2)}.items():
        made.rate("judge", "x", item, {"H": on_h, "E": on_e})
        made.rate("judge", "x", item, {"H": 1, "E": 1}, repeat=1)
    person = Rater(name="ann", kind="human", family="human")
    first = made.ratings[0]
    by_person = Rating(
        study_id=first.study_id,
        completion_id=first.completion_id,
        rater_id=person.id,
        axes={"H": 1},
        created_at=first.created_at,
    )
    scores: tuple[dict[Axis, int], dict[Axis, int]] = ({"H": 3, "E": 3}, {"H": 2, "E": 1})
    keys = dict(zip(made.completions, scores, strict=True))
    return replace(
        made.data, raters=[*made.data.raters, person], ratings=[*made.ratings, by_person], keys=keys
    )
