"""The planned contrasts of a study as one family of tests (SPEC section 13).

Planned are: the models' score against parity and between subsets and kinds of rater, whether people
and judges agree otherwise on adversarial items, the effects of length, formatting and position, and
each judge's preference for its own family. Words and marks assert one of them only where its q is
at most 1 - level, q by Benjamini and Hochberg (1995) over all of them; p stays beside it.

Left out on purpose: the ranking, whose places hold at one level for all pairs; the checks of a
judge on texts whose right answer is known, a family of each judge (`judges.faults`); clear less
ambiguous pairs, which differ by their making; and all that is exploratory, each family by itself.
"""

from dataclasses import dataclass

from hearteval.analysis.section import Sections
from hearteval.stats.means import false_discovery_q


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedContrast:
    """The test of one planned contrast."""

    name: str
    """What is compared, in words."""
    p: float
    """Two-sided."""
    q: float
    """Adjusted over all planned contrasts of the study."""
    is_asserted: bool
    """Whether q is at most 1 - level."""


def adjust_planned(
    sections: Sections, *, level: float
) -> tuple[Sections, tuple[PlannedContrast, ...]]:
    """Adjust the tests of all planned contrasts of a study together.

    Return sections that know the q of theirs, and the whole family.
    """
    p: dict[str, float | None] = {}
    for section in sections.values():
        p |= section.tests() if section is not None else {}
    tested = {name: value for name, value in p.items() if value is not None}
    q = dict(zip(tested, false_discovery_q([*tested.values()]).tolist(), strict=True))
    adjusted = {
        kind: section if section is None else section.with_q(q, level=level)
        for kind, section in sections.items()
    }
    return adjusted, tuple(
        PlannedContrast(name=name, p=tested[name], q=at, is_asserted=at <= 1 - level)
        for name, at in q.items()
    )
