"""What a reader may choose among comparisons: whose, how it went, how clearly, on which items."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hearteval.domain import Axis
from hearteval.report.page.replies import KINDS, Reading


class Filters(NamedTuple):
    """What there is to choose from; empty where all comparisons are alike.

    Attributes:
        axes: Those that were marked, by their number among all, from 1.
        kinds: Of items: a key of `KINDS`, its words, and what occurs.
        clear: What `Reading.clearness` says of them.
    """

    systems: list[str]
    axes: list[tuple[int, str]]
    kinds: list[tuple[str, str, list[str]]]
    clear: list[str]
    has_opposed: bool


def filters_of(readings: Sequence[Reading], names: Mapping[Axis, str]) -> Filters:
    """Return what a reader may choose among some comparisons."""
    marked = {axis for one in readings for said in one.verdicts for axis in said.judgment.axes}
    kinds = [
        (key, words, sorted({getattr(one.item, key) for one in readings} - {""}))
        for key, words in KINDS.items()
    ]
    clear = {one.clearness for one in readings}
    return Filters(
        systems=sorted({name for one in readings for name in one.systems}),
        axes=[(k, name) for k, (axis, name) in enumerate(names.items(), 1) if axis in marked],
        kinds=[one for one in kinds if len(one[2]) > 1],
        clear=sorted(clear - {""}, reverse=True) if len(clear) > 1 else [],
        has_opposed=len({one.example.is_opposed for one in readings}) > 1,
    )
