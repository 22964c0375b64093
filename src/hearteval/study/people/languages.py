"""In which languages people are asked, and who gets items of which.

The pages are offered in the languages that the study names, else in those of its items that pages
can be in. Somebody gets items of the language of their pages, unless the study says that they get
those of other languages too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol

from hearteval.domain import Assignment, Completion, Item, Judgment, Pair
from hearteval.protocol import ENGLISH, language_of, languages
from hearteval.store.people.persons import NOWHERE
from hearteval.store.people.tasks import PlannedTask
from hearteval.study.people import Desk
from hearteval.study.people.served import served_items

_OFFERED = "languages that are offered"


class Reader(Protocol):
    """For whom a page is: a person of the study, or whoever asks."""

    @property
    def locale(self) -> str:
        """Where they are, for where to find help."""

    @property
    def language(self) -> str:
        """Of their pages."""


class Somebody(NamedTuple):
    """Who asks and is nobody of the study."""

    locale: str = NOWHERE
    language: str = ENGLISH


def offered_languages(desk: Desk) -> tuple[str, ...]:
    """Return the languages in which people can have the pages, the first for whoever asks for none.

    They are read once a desk.
    """
    if _OFFERED not in desk.kept:
        of_items = {language_of(item.language) for item in served_items(desk)}
        found = tuple(one for one in languages() if one in of_items)
        desk.kept[_OFFERED] = desk.settings.languages or found or (ENGLISH,)
    offered: tuple[str, ...] = desk.kept[_OFFERED]
    return offered


def part_by_language(
    desk: Desk, tasks: Sequence[PlannedTask], items: Mapping[str, Item]
) -> Sequence[PlannedTask]:
    """Say of each task who may take it: readers of the language of its item, or anybody.

    Where people are asked in one language only, or get items of any, that is anybody; so it is
    where the pages are not offered in the language of the item.
    """
    offered = offered_languages(desk)
    if len(offered) < 2 or desk.settings.other_languages:
        return tasks
    about = _items_of(desk, [task.target_id for task in tasks])
    found = []
    for task in tasks:
        of = language_of(items[about[task.target_id]].language)
        found.append(replace(task, language=of if of in offered else None))
    return found


def _items_of(desk: Desk, target_ids: Sequence[str]) -> Mapping[str, str]:
    """Return the item of each item, reply, pair or judgment that a task is about, by its id."""
    find, ids = desk.session.store.find, sorted(set(target_ids))
    given = {one.assignment_id: one.id for one in find(Judgment, ids)}
    asked = {given[one.id]: one.pair_id for one in find(Assignment, sorted(given))}
    pairs = {one.id: one.item_id for one in find(Pair, sorted({*ids, *asked.values()}))}
    return {
        **{id_: id_ for id_ in ids},
        **{one.id: one.item_id for one in find(Completion, ids)},
        **pairs,
        **{judgment: pairs[pair] for judgment, pair in asked.items()},
    }
