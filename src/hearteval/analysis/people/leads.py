"""Whether the models' lead over people differs: between subsets, between people and judges.

Planned (SPEC section 6). A lead is told by the model's score, its wins and half the ties; that it
differs between subsets is an interaction of system and subset.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from hearteval.analysis.estimates import (
    Contrast,
    Side,
    Summed,
    contrast_means,
    interval_name,
    join,
)
from hearteval.analysis.people.meetings import KINDS, MIN_ITEMS, Meetings, tally_meetings
from hearteval.stats.comparisons import IntArray
from hearteval.stats.means import false_discovery_q


@dataclass(frozen=True, slots=True, kw_only=True)
class LeadContrast:
    """A planned difference of the model's score: between subsets, or between kinds of rater."""

    name: str
    """``people`` or ``judges``: regular less adversarial items, by these; ``people-judges``: the
    first less the second; ``all-items``: the score by people less that by judges, on all items."""
    n_regular: int
    """Items of the kind of rater with the fewest; of both subsets in ``all-items``."""
    n_adversarial: int
    """0 in ``all-items``."""
    score: Contrast | None
    """None where a side has too few items."""
    interval_used: str
    q: float | None = None
    """The p of it, adjusted over these contrasts (Benjamini and Hochberg 1995)."""


def compare_leads(met: Meetings, *, level: float) -> tuple[LeadContrast, ...]:
    """Test whether the models' score differs between subsets, and between people and judges.

    Nothing where neither can differ.
    """
    is_hard = np.array([item.subset == "adversarial" for item in met.names.items], dtype=np.bool_)
    summed = [tally.summed(tally.part(None)) for tally in tally_meetings(met)]
    if not summed:
        return ()
    cells = join(summed)
    label = is_hard[cells.item].astype(np.int64)
    people = cells.rater >= 0
    kinds = {
        kind: rows
        for kind, rows in zip(KINDS, (people, ~people), strict=True)
        if len(np.unique(label[rows])) > 1
    }
    found = []
    signs = {kind: {kind: 1.0} for kind in kinds}
    if len(kinds) > 1:
        signs["people-judges"] = dict(zip(kinds, (1.0, -1.0), strict=True))
    for name, sign_of in signs.items():
        sides = [
            Side(kinds[kind] & (label == subset), -sign if subset else sign)
            for kind, sign in sign_of.items()
            for subset in (0, 1)
        ]
        found.append(_lead(name, cells, sides, part=label, level=level))
    if people.any() and not people.all():
        sides = [Side(people, 1.0), Side(~people, -1.0)]
        found.append(_lead("all-items", cells, sides, part=None, level=level))
    return _adjusted(found)


def _adjusted(found: Sequence[LeadContrast]) -> tuple[LeadContrast, ...]:
    """Adjust the tests that there are together."""
    p = [None if one.score is None else one.score.p for one in found]
    q = iter(false_discovery_q([one for one in p if one is not None]).tolist())
    return tuple(
        one if known is None else replace(one, q=next(q))
        for one, known in zip(found, p, strict=True)
    )


def _lead(
    name: str, cells: Summed, sides: Sequence[Side], *, part: IntArray | None, level: float
) -> LeadContrast:
    sizes = [len(np.unique(cells.item[side.rows])) for side in sides]
    is_enough = min(sizes) >= MIN_ITEMS
    used = np.any([side.rows for side in sides], axis=0)
    return LeadContrast(
        name=name,
        n_regular=min(sizes) if part is None else min(sizes[::2]),
        n_adversarial=0 if part is None else min(sizes[1::2]),
        score=contrast_means(cells, sides, part=part, level=level) if is_enough else None,
        interval_used=interval_name(cells.rater[used]),
    )
