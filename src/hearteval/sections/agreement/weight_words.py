"""What axes weigh in the choice, with people and with judges, as rows, a picture and words."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from hearteval.analysis.agreement.votes import Coefficients
from hearteval.domain import Axis
from hearteval.report.figures import Scale, scale_around
from hearteval.report.text import (
    FEWEST_ITEMS,
    MINUS,
    bare_percent,
    listed,
)
from hearteval.sections.agreement.weights import (
    AxisWeight,
    AxisWeights,
    KindWeights,
    WeightDifference,
)
from hearteval.sections.people.judges.consensus import AxisAgreement


class AxisRow(NamedTuple):
    """One axis: agreement on it, and what it weighs in the choice."""

    axis: Axis
    name: str
    people: Coefficients | None
    judges: Coefficients | None
    same: AxisAgreement | None
    """How often both majorities are one."""
    weights: tuple[AxisWeight | None, ...]
    """By kind, in the order of `weight_kinds`."""
    difference: WeightDifference | None


def weight_kinds(weights: AxisWeights | None) -> list[KindWeights]:
    """Return the kinds of raters whose weights rest on enough items."""
    kinds = weights.kinds if weights else ()
    return [kind for kind in kinds if kind.weights and kind.n_items >= FEWEST_ITEMS]


def weight_problems(weights: AxisWeights | None) -> str:
    """Say for which kind there are no weights, and why."""
    return " ".join(
        f"For {kind.judged_by} there are no weights: {kind.problem}."
        for kind in (weights.kinds if weights else ())
        if kind.problem
    )


def weight_scale(rows: Iterable[AxisRow]) -> Scale:
    """Return a scale of weights around an even share."""
    return scale_around(
        0.2,
        [
            end
            for row in rows
            for at in row.weights
            if at is not None
            for end in (at.weight.low, at.weight.value, at.weight.high)
        ],
    )


def weight_words(weights: AxisWeights | None, called: Mapping[Axis, str]) -> str:
    """Say which axes weigh more with people than with judges; nothing where neither is known."""
    if weights is None or not weights.differences or len(weight_kinds(weights)) < 2:
        return ""
    more = [one for one in weights.differences if one.q is not None and one.q <= 1 - weights.level]
    if not more:
        return "No axis is shown to weigh more with people than with judges, or less. Exploratory."
    said = [
        f"{listed(names)} {'weighs' if len(names) == 1 else 'weigh'} {which}"
        for which, is_more in (("more", True), ("less", False))
        if (names := [called[x.axis] for x in more if (x.difference.value > 0) == is_more])
    ]
    return f"With people {listed(said)} than with judges. Exploratory."


def weight_text(weight: float) -> str:
    """Write a weight in percent, which may be below 0."""
    return bare_percent(weight).replace("-", MINUS)
