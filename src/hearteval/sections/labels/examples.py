"""Which labelled replies a person should read: of what models and people do most unalike.

Chosen by what was said; texts and what a labeler quoted of them are read later, of these only. A
choice depends on the study's seed and on the labels, never on the order of rows.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hearteval.analysis.labels.agreement import Marks
from hearteval.domain import Completion, System
from hearteval.sections.labels.differences import RateDifference

DIFFERING = 0.05
"""The q of a difference of which there are examples."""
N_CATEGORIES = 6
N_CANDIDATES = 12
"""Of a category; a page shows the first few that may be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelExample:
    """A reply in which a category is present, of the side that has it more often.

    Attributes:
        label_id: Of the label, which holds what the labeler quoted.
    """

    category: str
    item_id: str
    system: str
    completion_id: str
    label_id: str


def largest_differences(differences: Sequence[RateDifference]) -> list[RateDifference]:
    """Return where models and people differ most, else one system and the others; by category."""
    met = [row for row in differences if row.comparison == "models-people"]
    rows = met or [row for row in differences if row.comparison == "system-others"]
    found: dict[str, RateDifference] = {}
    for row in sorted(rows, key=lambda row: (-abs(row.difference), row.category, row.group)):
        if row.q is not None and row.q <= DIFFERING:
            found.setdefault(row.category, row)
    return list(found.values())[:N_CATEGORIES]


def choose_label_examples(
    marks: Marks,
    differences: Sequence[RateDifference],
    texts: Mapping[str, Completion],
    systems: Sequence[System],
    label_id: Callable[[str, str], str],
    *,
    seed: int,
) -> tuple[LabelExample, ...]:
    """Choose replies of those who do something more often, one of an item, systems in turn.

    Args:
        marks: What the labeler says.
        differences: What was compared.
        texts: Completions by id.
        systems: As `marks` numbers them.
        label_id: Of the label that says so, by completion and category.
        seed: Of the study.
    """
    names = {id_: systems[k].name for id_, k in zip(marks.ids, marks.system, strict=True)}
    found = []
    for row in largest_differences(differences):
        group, others = _sides(row, systems)
        is_side = np.isin(marks.system, group if row.difference > 0 else others)
        is_present = marks.present[:, marks.categories.index(row.category)] > 0
        ids = [marks.ids[k] for k in np.flatnonzero(is_side & is_present)]

        found += [
            LabelExample(
                category=row.category,
                item_id=texts[id_].item_id,
                system=names[id_],
                completion_id=id_,
                label_id=label_id(id_, row.category),
            )
            for id_ in _in_turn(ids, names, texts, chance=f"{seed}/{row.category}")
        ]
    return tuple(found)


def _sides(row: RateDifference, systems: Sequence[System]) -> tuple[list[int], list[int]]:
    """Return the systems of both sides of a comparison, by their places."""
    if row.comparison == "models-people":
        kinds = ("model", "human")
        one, other = ([k for k, s in enumerate(systems) if s.kind == kind] for kind in kinds)
        return one, other
    places = {system.name: k for k, system in enumerate(systems)}
    own = places[row.group]
    return [own], [k for k in places.values() if k != own]


def _in_turn(
    ids: Sequence[str], names: Mapping[str, str], texts: Mapping[str, Completion], *, chance: str
) -> list[str]:
    """Return some in a drawn order: one of an item, no text twice, of each system one in turn."""
    drawn = sorted(ids, key=lambda id_: hashlib.sha256(f"{chance}/{id_}".encode()).digest())
    taken: set[str] = set()
    n_before: Counter[str] = Counter()
    turns = {}
    for id_ in drawn:
        own = {texts[id_].item_id, texts[id_].text}
        if taken.isdisjoint(own):
            taken |= own
            turns[id_] = n_before[names[id_]]
            n_before[names[id_]] += 1
    return sorted(turns, key=turns.__getitem__)[:N_CANDIDATES]
