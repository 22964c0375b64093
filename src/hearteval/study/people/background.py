"""What people tell about themselves: optional, one of the offered answers, apart from all else."""

from collections.abc import Mapping
from typing import Any

from hearteval.protocol import load_protocol
from hearteval.study.people import Desk

NOT_SAID = "not-said"


def read_background(desk: Desk, form: Mapping[str, str]) -> dict[str, Any]:
    """Return what was told: an offered answer by question, and the score on the study's scale.

    What is not one of the answers, or was not said, is left out.
    """
    questions = load_protocol("people_background")["questions"]
    told: dict[str, Any] = {}
    for name in desk.settings.about_you:
        answers = {option["value"] for option in questions[name]["options"]} - {NOT_SAID}
        if form.get(name) in answers:
            told[name] = form[name]
    score = _score(desk, form)
    if score is not None:
        told["scale"] = score
    return told


def _score(desk: Desk, form: Mapping[str, str]) -> float | None:
    """Return the mean of the items of the study's scale; None where one was left out."""
    scale = desk.settings.scale
    if scale is None:
        return None
    low, high = scale.range
    total = 0
    for i, item in enumerate(scale.items):
        given = form.get(f"scale_{i}", "")
        if given not in {str(value) for value in range(low, high + 1)}:
            return None
        total += low + high - int(given) if item.reverse else int(given)
    return total / len(scale.items)
