"""Distance from keyed examples: counted by hand."""

from dataclasses import replace

import pytest
from rated_records import NOW, RatingMaker

from hearteval.analysis.data import StudyData
from hearteval.domain import AXES, Axis, Rater, Rating
from hearteval.judgments.calibration import keyed_examples
from hearteval.sections.ratings.calibration import measure_calibration
from hearteval.sections.ratings.words import calibration_lines, calibration_words


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
        made.data,
        raters=[*made.data.raters, person],
        ratings=[*made.ratings, by_person],
        keys=keys,
    )


def test_error_and_bias_are_counted_by_rater_and_axis() -> None:
    found = {(one.rater, one.axis): one for one in measure_calibration(calibrated())}
    judge, on_e = found["judge", "overall"], found["judge", "E"]
    assert (judge.n_scores, judge.error, judge.bias, judge.same) == (4, 0.5, 0.5, 0.5)
    assert (on_e.error, on_e.bias, on_e.same) == (1, 1, 0)
    assert (judge.within_one, on_e.within_one, found["people", "overall"].within_one) == (1, 1, 0)
    person = found["people", "overall"]
    assert (person.is_person, person.n_scores, person.error, person.bias) == (True, 1, 2, -2)
    assert list(found)[-1] == ("people", "H")
    assert measure_calibration(None) == ()


def test_it_is_said_in_points() -> None:
    found = measure_calibration(calibrated())
    assert calibration_words(found) == (
        "From the keys of the examples: judge 0.50 points off on average, 0.50 above them; people"
        " 2.00 points off on average, 2.00 below them."
    )
    text = calibration_lines(found)
    assert "E bias" in text
    assert calibration_lines(()) == "Nobody has scored a keyed example yet."


@pytest.mark.parametrize("axis", AXES)
def test_keys_of_an_axis_run_from_poor_to_good(axis: Axis) -> None:
    examples = keyed_examples(NOW)
    keys = [key[axis] for key in examples.keys.values()]
    assert len(keys) == 8
    assert min(keys) <= 2
    assert max(keys) == 5
    assert all(item.context[-1].role == "seeker" for item in examples.items)
