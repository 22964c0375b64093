"""What of a figure's words does not fit: text beyond the edge, and texts upon each other."""

import dataclasses
from collections.abc import Mapping
from itertools import combinations
from typing import Any

from hearteval.analysis.study import StudyResults
from hearteval.sections.agreement import Agreement
from hearteval.sections.labels import Labels
from hearteval.sections.strata import Strata
from hearteval.sections.traits import Traits

SLACK = 1.0
"""Pixels at 100 a inch, by which a text may pass an edge: rounding."""

FIXED = {"regular", "adversarial", "implicit", "explicit", "people", "original", "baseline"}
"""Words of ours among them."""


def renamed(value: Any, names: Mapping[str, str]) -> Any:
    """Return results, or any part of them, in which names are others."""
    if isinstance(value, str):
        return names.get(value, value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        changed = {
            field.name: renamed(getattr(value, field.name), names)
            for field in dataclasses.fields(value)
            if field.init
        }
        return dataclasses.replace(value, **changed)
    if isinstance(value, tuple):
        parts = [renamed(part, names) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, list):
        return [renamed(part, names) for part in value]
    if isinstance(value, dict):
        return {renamed(key, names): renamed(part, names) for key, part in value.items()}
    return value


def with_long_names(results: StudyResults, length: int = 60) -> StudyResults:
    """Return results whose systems, families, judges and strata bear long names."""
    board, strata = results.leaderboard, results.found(Strata)
    assert board is not None
    named = {row.system for row in board.rows}
    agreeing = results.found(Agreement)
    named |= {name for one in agreeing.together for name in one.judges} if agreeing else set()
    speed = results.found(Traits)
    named |= {one.family for one in speed.systems} if speed else set()
    named |= {use.group for one in results.found(Labels) or () for use in one.sources[0].families}
    if strata is not None:
        named |= {one.name for factor in strata.factors for one in factor.strata}
    named -= FIXED
    long = {
        name: ("The Wide Workshop for Mild Words " * 9)[: length - 3] + f"W{k:02d}"
        for k, name in enumerate(sorted(named), 1)
    }
    found: StudyResults = renamed(results, long)
    return found


def shown_texts(canvas: Any) -> list[tuple[Any, Any]]:
    """Return each text of a laid-out figure with its box."""
    from matplotlib.axis import Axis  # noqa: PLC0415 - an extra
    from matplotlib.text import Text  # noqa: PLC0415

    unseen = {id(part) for axes in canvas.axes if not axes.get_visible() for part in axes.findobj()}
    for axis in canvas.findobj(Axis):
        low, high = sorted(axis.get_view_interval())
        ticks = (one for one in axis.get_major_ticks() if not low <= one.get_loc() <= high)
        unseen |= {id(part) for tick in ticks for part in tick.findobj(Text)}
    return [
        (text, text.get_window_extent())
        for text in canvas.findobj(Text)
        if text.get_visible() and text.get_text().strip() and id(text) not in unseen
    ]


def misplaced(canvas: Any) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the texts that do not lie within their figure, and those that lie upon each other.

    Of those upon each other the ones aslant are left out: they have no box.
    """
    width, height = canvas.bbox.size
    texts = shown_texts(canvas)
    beyond = [
        text.get_text()
        for text, box in texts
        if box.x0 < -SLACK or box.y0 < -SLACK or box.x1 > width + SLACK or box.y1 > height + SLACK
    ]
    boxes = [
        (text.get_text(), *box.shrunk(0.9, 0.7).extents)
        for text, box in texts
        if not text.get_rotation() % 90
    ]
    return beyond, [
        (one, other)
        for (one, x0, y0, x1, y1), (other, left, low, right, high) in combinations(boxes, 2)
        if x0 < right and left < x1 and y0 < high and low < y1
    ]
