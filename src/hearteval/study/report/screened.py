"""What was read of a study for others' sake, by rules, models and people: read for its results."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain, count
from typing import TYPE_CHECKING, Literal

from hearteval.analysis.data import ScreenedText, ScreenedUnit
from hearteval.analysis.labels.safety import PEOPLE, RULES
from hearteval.domain import Assignment, Completion, Judgment, Label, Pair, Rater, Study
from hearteval.labels.safety import SAFETY, safety_rater, safety_standing
from hearteval.labels.taxonomy import load_taxonomy
from hearteval.store.base import Store

if TYPE_CHECKING:
    from datetime import datetime


def read_screened(
    store: Store, study: Study, completions: Sequence[Completion]
) -> tuple[tuple[ScreenedText, ...], Mapping[str, Literal["rules", "model"]]]:
    """Read what screens of these versions, and people, have said of the texts of a study.

    Returns:
        What was read, and the kind of each screen that did, by its name.
    """
    labels: defaultdict[str, list[Label]] = defaultdict(list)
    for label in store.labels_of(study, SAFETY):
        labels[label.text_id].append(label)
    raters = {
        one.id: one
        for one in store.find(
            Rater, sorted({one.rater_id for own in labels.values() for one in own})
        )
    }
    taxonomy = load_taxonomy(SAFETY)
    screens = _named_apart(
        labels,
        [
            one
            for one in raters.values()
            if one.id == safety_rater().id or (one.kind == "llm" and taxonomy.is_of(one))
        ],
    )
    people = {one.id for one in raters.values() if one.kind == "human"}
    where = _places(store, labels, completions)
    texts = [
        _screened(text_id, own, *where[text_id], screens, people)
        for text_id, own in labels.items()
        if text_id in where
    ]
    kinds: dict[str, Literal["rules", "model"]] = {
        name: "rules" if raters[id_].family == RULES else "model" for id_, name in screens.items()
    }
    return tuple(texts), kinds


def _named_apart(labels: Mapping[str, Sequence[Label]], raters: Sequence[Rater]) -> dict[str, str]:
    """Return what each screen is called, by its id: of two that bear one name, the later a number.

    Those of another prompt or model are another screen, and no screen is people.
    """
    began: dict[str, datetime] = {}
    for one in chain.from_iterable(labels.values()):
        began[one.rater_id] = min(one.created_at, began.get(one.rater_id, one.created_at))
    names: dict[str, str] = {}
    raters = sorted(raters, key=lambda it: (it.family != RULES, it.name, began[it.id], it.id))
    for rater in raters:
        numbered = (f"{rater.name} ({k})" for k in count(2))
        taken = {PEOPLE, *names.values()}
        names[rater.id] = next(name for name in chain([rater.name], numbered) if name not in taken)
    return names


def _places(
    store: Store, labels: Mapping[str, Sequence[Label]], completions: Sequence[Completion]
) -> dict[str, tuple[ScreenedUnit, str]]:
    """Return what each text is, and its item; without those that somebody has withdrawn."""
    found: dict[str, tuple[ScreenedUnit, str]] = {
        one.id: ("completion", one.item_id) for one in completions if not one.is_withdrawn
    }
    ids = sorted({text_id for text_id, own in labels.items() if own[0].judgment_id})
    judged = {one.assignment_id: one.id for one in store.find(Judgment, ids)}
    asked = store.find(Assignment, sorted(judged))
    items = {one.id: one.item_id for one in store.find(Pair, sorted({a.pair_id for a in asked}))}
    found |= {judged[a.id]: ("reasons", items[a.pair_id]) for a in asked if a.check is None}
    return found


def _screened(
    text_id: str,
    labels: Sequence[Label],
    of: ScreenedUnit,
    item_id: str,
    screens: Mapping[str, str],
    people: set[str],
) -> ScreenedText:
    by_people = [one for one in labels if one.rater_id in people and one.category == SAFETY]
    said = safety_standing(by_people, people=people)
    held_by: dict[str, tuple[str, ...]] = {
        screens[one.rater_id]: () for one in labels if one.rater_id in screens
    }
    for one in labels:
        if one.rater_id in screens and one.category == SAFETY and one.verdict != "absent":
            held_by[screens[one.rater_id]] = tuple(one.evidence.split(", "))
    return ScreenedText(
        id=text_id,
        of=of,
        item_id=item_id,
        is_unfit={"released": False, "kept-out": True}.get(said),
        reasons=tuple(sorted({one.evidence for one in by_people if one.verdict == "present"})),
        held_by=held_by,
    )
