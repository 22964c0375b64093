"""People rate as judges do: normalised each by themselves, wanted as they come, named nowhere."""

from dataclasses import replace

import pytest
from judged_study import make_items, provenance
from rated_records import NOW, STUDY_ID, RatingMaker

from hearteval.analysis.coverage.study import cover_ratings
from hearteval.analysis.data import StudyData
from hearteval.analysis.scores.study import score_study
from hearteval.analysis.study import analyze_study
from hearteval.domain import AXES, Rater, Rating
from hearteval.notices import Kind

PEOPLE = {name: Rater(name=name, kind="human", family="human") for name in ("ann", "ben", "cat")}
SCORES = {"good": (5, 4, 5, 4), "bad": (2, 1, 2, 3)}


def rated(**shifts: int) -> StudyData:
    """Have people rate without a plan, each so much lower than the next, and a judge with one."""
    made = RatingMaker()
    for system, scores in SCORES.items():
        for number, score in enumerate(scores):
            made.rate("judge", system, f"i{number}", score)
    by_people = [
        Rating(
            study_id=STUDY_ID,
            completion_id=completion.id,
            rater_id=PEOPLE[name].id,
            axes={axis: max(1, rating.axes[axis] - shift) for axis in AXES},
            created_at=NOW,
        )
        for name, shift in shifts.items()
        for rating in made.ratings
        for completion in [made.completions[rating.completion_id]]
    ]
    raters = [*made.raters.values(), *(PEOPLE[name] for name in shifts)]
    return replace(made.data, raters=raters, ratings=[*made.ratings, *by_people])


def test_what_people_rated_counts_without_a_plan() -> None:
    data = rated(ann=0, ben=1)
    results, *_ = score_study(data.with_ratings_of_people(), level=0.95)
    assert results.rated_by == "both"
    assert (results.n_raters, results.n_ratings) == (3, 24)
    alone, *_ = score_study(data, level=0.95)
    assert alone.n_ratings == 8


def test_each_person_is_normalised_by_themselves() -> None:
    """Who scores a point lower throughout says the same in z-scores."""
    strict = score_study(rated(ann=0).with_ratings_of_people(), level=0.95)[0]
    alone = score_study(rated(), level=0.95)[0]
    for one, other in zip(strict.systems, alone.systems, strict=True):
        assert one.system == other.system
        assert one.overall.z == pytest.approx(other.overall.z)


def test_people_stand_together_and_unnamed_beside_each_judge() -> None:
    results, *_ = score_study(rated(ann=0, ben=0).with_ratings_of_people(), level=0.95)
    (best, _) = results.systems
    assert set(best.judges) == {"judge", "people"}
    assert best.judges["people"].n_ratings == 8
    assert best.judges["people"].mean == pytest.approx(4.5)


def test_a_person_who_gives_one_score_is_counted_and_not_named() -> None:
    results, *_ = score_study(rated(cat=4).with_ratings_of_people(), level=0.95)
    assert results.no_z == {}
    (notice,) = [one for one in results.warnings if one.kind is Kind.AXIS]
    assert (
        notice == "1 person gave every reply the same score on an axis, and has no z-score there."
    )


def test_ratings_by_people_are_covered_and_not_called_unused() -> None:
    data = rated(ann=0)
    items = {item.dialogue_id.replace("d", "i"): item for item in make_items(4)}
    moved = {one.id: replace(one, item_id=items[one.item_id].id, id="") for one in data.completions}
    data = replace(
        data,
        items=list(items.values()),
        completions=list(moved.values()),
        ratings=[
            replace(one, completion_id=moved[one.completion_id].id, id="") for one in data.ratings
        ],
        targets=[
            one._replace(completion_id=moved[one.completion_id].id) for one in data.targets or ()
        ],
        provenance=provenance(),
    )
    results = analyze_study(data)
    assert results.ratings is not None
    assert results.ratings.rated_by == "both"
    assert Kind.UNUSED not in {notice.kind for notice in results.warnings}
    covered = {row.rater: row for row in cover_ratings(data.with_ratings_of_people())}
    assert (covered["ann"].n_assigned, covered["ann"].n_judged) == (8, 8)
