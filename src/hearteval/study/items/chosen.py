"""What a study chose from a corpus, in its design: kept there, so that no later rule changes it."""

from dataclasses import asdict
from typing import Any

from hearteval.config import StudySettings
from hearteval.domain import Item, Study
from hearteval.errors import SettingsError
from hearteval.items.kept import Before, Chosen
from hearteval.items.run import GatheredItems
from hearteval.items.selection import FunnelStep
from hearteval.store.base import Store


def chosen_records(gathered: GatheredItems) -> list[dict[str, Any]]:
    """Return what the design of a study says of its choices from corpora, as JSON says it."""
    ids = {item.id for item in gathered.items}
    return [
        {
            "topics": chosen.topics,
            "rules": chosen.rules,
            "corpus": chosen.corpus,
            "n_dialogues": chosen.n_dialogues,
            "regular": regular,
            "item_ids": [item.id for item in chosen.items if item.id in ids],
            "funnel": [asdict(step) for step in chosen.funnel],
        }
        for chosen, regular in gathered.choices
    ]


def chosen_before(
    settings: StudySettings, store: Store | None, study: Study | None
) -> tuple[Before | None, ...]:
    """Return for each table of items what the study chose from its corpus before.

    Raises:
        SettingsError: A table asks for other topics than those of what was chosen, whose items it
            would put in the place of others.
    """
    corpora = [table for table in settings.items if table.source == "esconv"]
    if store is None or study is None or not corpora:
        return (None,) * len(settings.items)
    left = _stored_choices(store, study)
    found: dict[int, Before] = {}
    # A table that says its topics takes those; the others take what is left, in their order.
    for is_said in (True, False):
        for number, table in enumerate(settings.items):
            if table.source != "esconv" or (table.topics is not None) != is_said:
                continue
            own = [b for b in left if table.topics in (None, b.chosen.topics)]
            if own:
                found[number] = own[0]
                left.remove(own[0])
    lost = [n for n, table in enumerate(settings.items) if table in corpora and n not in found]
    if left and lost:
        raise _other_topics(settings, lost[0], left[0])
    return tuple(found.get(number) for number in range(len(settings.items)))


def _stored_choices(store: Store, study: Study) -> list[Before]:
    items = {item.id: item for item in store.iter(Item, study)}
    return [_before(one, items) for one in study.design["items"]["chosen"]]


def _before(made: dict[str, Any], items: dict[str, Item]) -> Before:
    chosen = Chosen(
        items=tuple(items[id_] for id_ in made["item_ids"] if id_ in items),
        evidence=(),
        funnel=tuple(FunnelStep(**step) for step in made["funnel"]),
        n_dialogues=made["n_dialogues"],
        corpus=made["corpus"],
        topics=made["topics"],
        rules=made["rules"],
    )
    return Before(chosen, made["regular"])


def _other_topics(settings: StudySettings, number: int, had: Before) -> SettingsError:
    where = "items" if len(settings.items) == 1 else f"items.{number + 1}"
    wanted, topics = settings.items[number].topics, had.chosen.topics
    return SettingsError(
        f"{settings.file}: {where}.topics is {wanted!r}, and the study's {len(had.chosen.items)}"
        f" items were chosen under {topics!r}: others would take their place. Set it back to"
        f" {topics!r}; or keep that table and add another [[items]] with topics = {wanted!r}; or"
        " start a study with another name",
        ids=(f"{where}.topics",),
    )
