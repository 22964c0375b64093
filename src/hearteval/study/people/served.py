"""What people are really shown, in the words of the warning and the consent.

Nobody is told that something does not come up unless the items that are shown say so: their `edge`
says what somebody has found in them, and where it says nothing, nobody has looked.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from hearteval.domain import Item
from hearteval.domain.items import EDGES
from hearteval.protocol import ENGLISH, load_protocol
from hearteval.study.people import Desk

_WORDS = "words of what is served"


def served_items(desk: Desk) -> list[Item]:
    """Return the items that people are shown."""
    store = desk.session.store
    if desk.reading is not None:
        return list(store.find(Item, sorted(desk.reading.questions)))
    items = store.iter(Item, desk.study)
    return [item for item in items if item.is_within(desk.settings.edge)]


def served_words(desk: Desk, language: str = ENGLISH) -> str:
    """Return what the warning and the consent of a study say of its items; read once a desk."""
    name = f"{_WORDS} in {language}"
    if name not in desk.kept:
        desk.kept[name] = describe_served(served_items(desk), language)
    words: str = desk.kept[name]
    return words


def describe_served(items: Sequence[Item], language: str = ENGLISH) -> str:
    """Say what is in the items that are shown, what was left out, and what nobody has checked."""
    say = load_protocol("people_consent", language)["served"]
    shown = {edge for item in items for edge in item.edge or ()}
    n_unchecked = sum(item.edge is None for item in items)
    rest = [edge for edge in EDGES if edge not in shown]
    said = [say["angry"]] if any(item.subset == "adversarial" for item in items) else []
    if shown:
        said.append(say["shown"].format(kinds=_listed(shown, "and", say)))
    if n_unchecked:
        which = "unchecked_all" if n_unchecked == len(items) else "unchecked_some"
        said.append(say[which].format(kinds=_listed(EDGES, "or", say)))
    elif rest:
        said.append(say["left_out"].format(kinds=_listed(rest, "or", say)))
    return " ".join(said)


def _listed(edges: Collection[str], joint: str, say: Mapping[str, Any]) -> str:
    *most, last = [say["kinds"][edge] for edge in EDGES if edge in edges]
    return f"{', '.join(most)}{say[joint]} {last}" if most else last
