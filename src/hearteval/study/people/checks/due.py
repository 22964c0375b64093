"""When a check, a repeat or a triad is due: pure functions of what a person has done.

Places are drawn from the seed and the person, so that nobody can expect them and any process comes
to the same.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from hearteval.config.people.quality import Quality
from hearteval.judgments.plan.pairs import seeded_rank

APART = 5
"""Fewest comparisons between a pair and its repeat."""
STEP = 3
"""Comparisons from one pair of a triad to the next."""
Texts = tuple[str, str]
"""Of a pair: the ids of its completions, sorted."""


class Draw(NamedTuple):
    """Draws whole numbers for one person."""

    seed: int
    person_id: str

    def below(self, n: int, *what: object) -> int:
        """Return a number from 0 to below `n` for something, the same each time."""
        return int(seeded_rank(self.seed, self.person_id, *map(str, what))[:15], 16) % max(1, n)


def is_check_due(
    quality: Quality, draw: Draw, *, n_sitting: int, n_checks: int, n_ever: int, within: int
) -> bool:
    """Say whether a check comes next.

    `n_sitting` answers of this sitting are there, `n_checks` of them of checks; the person has
    answered `n_ever` checks. They come `within` so many answers, each in an equal part of them; the
    first answer of a sitting is never a check.
    """
    if n_checks >= quality.checks:
        return False
    part = within / quality.checks
    start, end = round(n_checks * part), round((n_checks + 1) * part)
    start = max(1, start)
    return n_sitting >= start + draw.below(end - start, "check", n_ever)


def is_gold(draw: Draw, *, n_ever: int) -> bool:
    """Say whether a person's next check is a gold pair: of each two, one is."""
    return (draw.below(2, "kind", n_ever // 2) + n_ever) % 2 == 0


def repeat_due(quality: Quality, draw: Draw, *, n_done: int, n_repeats: int) -> int | None:
    """Return which of a person's comparisons comes once more, by its number from 0; else None.

    `n_done` are there, and `n_repeats` repeats were given. Of each so many comparisons as make
    one repeat, one of the first half is repeated, after some others.
    """
    if not quality.repeats:
        return None
    block = round(1 / quality.repeats)
    which = n_repeats * block + draw.below(block // 2, "repeat", n_repeats)
    gap = APART + draw.below(block // 4, "gap", n_repeats)
    return which if n_done > which + gap else None


def triad_due(quality: Quality, draw: Draw, *, n_done: int, within: int) -> tuple[int, int] | None:
    """Return the comparison from which a triad starts, by its number, and how many pairs of it.

    So many should be there after the next one: 2 or 3. None where none is due. Of each `within`
    comparisons as many start one as are asked for.
    """
    if not quality.triads:
        return None
    spacing = max(1, within // quality.triads)
    start = n_done // spacing * spacing
    anchor = start + draw.below(spacing - 2 * STEP, "triad", start)
    later = n_done - anchor
    return None if later < STEP else (anchor, 2 if later < 2 * STEP else 3)


def next_of_triad(
    anchor: Texts, known: Collection[Texts], free: Sequence[tuple[str, Texts]], *, n_pairs: int
) -> str:
    """Return the id of the pair that brings a triad with `anchor` to so many pairs; "" for none.

    `known` are pairs of the same item that the person was given, the anchor among them, and `free`
    those that they could take, by id.
    """
    ids = {texts: id_ for id_, texts in free}
    thirds = sorted({text for texts in (*known, *ids) for text in texts} - {*anchor})
    legs = {third: [_pair(text, third) for text in anchor] for third in thirds}
    n_known = {third: sum(leg in known for leg in own) for third, own in legs.items()}
    if 2 in n_known.values():
        return ""  # there is one
    begun = [third for third in thirds if n_known[third] == 1]
    if begun and n_pairs < 3:
        return ""
    for third in begun:
        left = [ids[leg] for leg in legs[third] if leg in ids]
        if left:
            return left[0]
    whole = [third for third in thirds if all(leg in ids for leg in legs[third])]
    order = {texts: place for place, (_, texts) in enumerate(free)}
    firsts = [leg for third in whole for leg in legs[third]]
    return ids[min(firsts, key=order.__getitem__)] if firsts else ""


def _pair(one: str, other: str) -> Texts:
    return (one, other) if one < other else (other, one)
