"""Distance from keyed examples: counted by hand."""

from itertools import pairwise

import pytest
from rated_records import NOW, calibrated

from hearteval.domain import AXES, Axis
from hearteval.judgments.calibration import keyed_examples
from hearteval.sections.ratings.calibration import measure_calibration
from hearteval.sections.ratings.words import calibration_lines, calibration_words


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
def test_keys_of_an_axis_run_over_the_whole_scale(axis: Axis) -> None:
    examples = keyed_examples(NOW)
    keys = [key[axis] for key in examples.keys.values()]
    assert len(keys) >= 16
    assert {*keys} == {1, 2, 3, 4, 5}
    assert all(item.context[-1].role == "seeker" for item in examples.items)


def test_keyed_examples_are_of_every_quality_and_axes_come_apart_within_one() -> None:
    keys = list(keyed_examples(NOW).keys.values())
    means = [sum(key.values()) / len(AXES) for key in keys]
    for low, high in pairwise((1, 1.8, 2.6, 3.4, 4.2, 5.01)):
        assert any(low <= mean < high for mean in means)
    for axis in ("H", "R"):
        apart = [key for key in keys if key[axis] <= 2 and max(key.values()) >= 4]
        assert len(apart) >= 4
