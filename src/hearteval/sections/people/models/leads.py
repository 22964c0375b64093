"""Whether the models' lead over people differs: between subsets, between people and judges.

Planned (SPEC section 6). A lead is told by the model's score, its wins and half the ties; that it
differs between subsets is an interaction of system and subset. Where people and judges are compared
it is on the items that both judged, and on one mix of models, those that both judged there, each
with the same weight.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hearteval.analysis.estimates import (
    Contrast,
    Side,
    contrast_means,
    count_people,
    interval_name,
    join,
)
from hearteval.sections.people.models.meetings import (
    JUDGES,
    KINDS,
    MIN_ITEMS,
    PEOPLE,
    Meetings,
    Mix,
    Tally,
    find_mix,
    tally_meetings,
)
from hearteval.stats.comparisons import BoolArray


@dataclass(frozen=True, slots=True, kw_only=True)
class LeadContrast:
    """A planned difference of the model's score: between subsets, or between kinds of rater."""

    name: str
    """``people`` or ``judges``: regular less adversarial items, by these; ``people-judges``: the
    first less the second; ``all-items``: the score by people less that by judges, on all items."""
    n_regular: int
    """Items, of those of both kinds of rater where these are compared; of both subsets in
    ``all-items``."""
    n_adversarial: int
    """0 in ``all-items``."""
    score: Contrast | None
    """None where a side has too few items."""
    interval_used: str
    n_writers: int = 0
    """People whose completions these are; from five on the interval is over them too."""
    left_out: tuple[str, ...] = ()
    """Models that did not count, because both kinds did not judge them, on five items or more of
    each side; all where the kinds have none in common, and then there is no comparison of them."""
    q: float | None = None
    """The p of it, adjusted over the planned contrasts of the study (`analysis.planned`)."""


class _Part(NamedTuple):
    """What one kind of rater said, of one subset or of all items."""

    tally: Tally
    rows: BoolArray | None
    sign: float
    """What the models' score in it is multiplied by."""


def compare_leads(met: Meetings, *, level: float) -> tuple[LeadContrast, ...]:
    """Test whether the models' score differs between subsets, and between people and judges.

    Nothing where neither can differ.
    """
    is_hard = np.array([item.subset == "adversarial" for item in met.names.items], dtype=np.bool_)
    tallies = tally_meetings(met)
    told: dict[str, list[_Part]] = {}
    for tally in tallies:
        rows = is_hard[tally.item[tally.cell]]
        if rows.any() and not rows.all():
            told[tally.kind] = [_Part(tally, ~rows, 1.0), _Part(tally, rows, -1.0)]
    # One mix for all three, so that on the same items the third is the first less the second.
    by_subset = [part for parts in told.values() for part in parts]
    mix = find_mix([(part.tally, part.rows) for part in by_subset])
    found = [_lead(kind, parts, mix, level=level) for kind, parts in told.items()]
    if len(tallies) < len(KINDS):
        return tuple(found)
    # Who judged other items may well have said the same of those that both judged.
    is_shared = np.bincount(
        np.concatenate([np.unique(tally.item) for tally in tallies]), minlength=len(is_hard)
    ) == len(KINDS)
    if len(told) == len(KINDS):
        turned = [part._replace(sign=-part.sign) for part in told[JUDGES]]
        by_both = [_among(part, is_shared) for part in (*told[PEOPLE], *turned)]
        mix = find_mix([(part.tally, part.rows) for part in by_both])
        found.append(_lead("people-judges", by_both, mix, level=level))
    each = [
        _among(_Part(tally, None, 1.0 if tally.kind == PEOPLE else -1.0), is_shared)
        for tally in tallies
    ]
    mix = find_mix([(part.tally, part.rows) for part in each])
    found.append(_lead("all-items", each, mix, level=level))
    return tuple(found)


def _among(part: _Part, items: BoolArray) -> _Part:
    """Return what of a part is about these items."""
    rows = items[part.tally.item[part.tally.cell]]
    return part._replace(rows=rows if part.rows is None else rows & part.rows)


def _lead(name: str, parts: Sequence[_Part], mix: Mix, *, level: float) -> LeadContrast:
    summed = [part.tally.summed(part.tally.part(part.rows, mix)) for part in parts]
    cells = join(summed)
    part_of = np.repeat(np.arange(len(parts)), [len(one.item) for one in summed])
    sides = [Side(part_of == k, part.sign) for k, part in enumerate(parts)]
    is_by_subset = name != "all-items"
    sizes = [len(np.unique(one.item)) for one in summed]
    is_of_two_kinds = len({part.tally.kind for part in parts}) > 1
    has_figure = min(sizes) >= MIN_ITEMS and not (is_of_two_kinds and mix.judged is None)
    score = None
    if has_figure:
        # What both kinds say of a subset is of the same items: one part.
        of_items = part_of % 2 if is_by_subset else None
        score = contrast_means(cells, sides, part=of_items, level=level)
    return LeadContrast(
        name=name,
        n_regular=min(sizes[::2]) if is_by_subset else min(sizes),
        n_adversarial=min(sizes[1::2]) if is_by_subset else 0,
        score=score,
        interval_used=interval_name(cells.rater, cells.writer),
        n_writers=count_people(cells.writer),
        left_out=mix.left_out if is_of_two_kinds or mix.judged is not None else (),
    )
