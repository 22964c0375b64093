"""Systems without a key: what they are and what they say to each item of a study.

All are pure: the text depends on the item, the study's other items and the seed, never on the order
of the items. Sentences come from ``protocol/baselines.toml``. Storing completions and attempts is
the step's work, not this module's.
"""

from collections.abc import Callable, Mapping, Sequence

from hearteval.completions.baselines.borrowed import Missing, borrow_nearest, borrow_shuffled
from hearteval.completions.baselines.reflective import draw, write_reflection
from hearteval.domain import Item, System
from hearteval.errors import SettingsError
from hearteval.protocol import load_protocol

Texts = Mapping[str, "str | Missing"]
TextsOf = Callable[[Sequence[Item], int], Texts]

_SEEDED = frozenset({"shuffled", "reflective", "generic", "advice"})


def baseline_system(name: str, *, seed: int) -> System:
    """Return the system of that name; the seed is part of it where its texts depend on the seed.

    Raises:
        SettingsError: No such system.
    """
    _require_known(name)
    settings = {"preset": name, "version": load_protocol("baselines")["version"]}
    if name in _SEEDED:
        settings["seed"] = seed
    if name == "original":
        return System(name=name, kind="original", family="original", settings=settings)
    return System(name=name, kind="baseline", family="baseline", settings=settings)


def baseline_texts(name: str, items: Sequence[Item], *, seed: int) -> Texts:
    """Write one system's completions of all items of a study.

    `shuffled` and `retrieval` borrow from the items given, so that their answer to an item may
    change when items are added (for `shuffled` with probability 1/n an item added): a study that
    grows keeps the completions it has and takes from here only those of items without one. Return
    by item id the text, or why there is none.

    Raises:
        SettingsError: No such system.
    """
    _require_known(name)
    return _TEXTS_OF[name](items, seed)


def _require_known(name: str) -> None:
    if name not in _TEXTS_OF:
        raise SettingsError(
            f"there is no system {name!r} without a key; known are {', '.join(BASELINES)}",
            ids=(name,),
        )


def _write_generic(items: Sequence[Item], seed: int) -> Texts:
    sentences = load_protocol("baselines")["generic"]
    return {item.id: draw(sentences, seed, item.id, "generic") for item in items}


def _write_advice(items: Sequence[Item], seed: int) -> Texts:
    advice = load_protocol("baselines")["advice"]
    return {item.id: draw(advice[_topic(item)], seed, item.id, "advice") for item in items}


def _topic(item: Item) -> str:
    """Return the topic that the item's problem label names, or ``default``."""
    label = item.problem.lower()
    for topic, words in load_protocol("baselines")["topics"].items():
        if any(word in label for word in words):
            return str(topic)
    return "default"


_TEXTS_OF: dict[str, TextsOf] = {
    "original": lambda items, _seed: {
        item.id: item.reference or Missing(reason="no-reference") for item in items
    },
    "shuffled": lambda items, seed: borrow_shuffled(items, seed=seed),
    "retrieval": lambda items, _seed: borrow_nearest(items),
    "reflective": lambda items, seed: {
        item.id: write_reflection(item.context[-1].text, key=(seed, item.id)) for item in items
    },
    "generic": _write_generic,
    "advice": _write_advice,
}
BASELINES: tuple[str, ...] = tuple(_TEXTS_OF)
"""Names of the systems without a key, the corpus's own next turn first."""
OF_REFERENCES = ("original", "shuffled", "retrieval")
"""Those that say what stands under `reference`: without it they have nothing to say."""
IN_ENGLISH = tuple(name for name in BASELINES if name not in OF_REFERENCES)
"""Those whose sentences are English, whatever an item is in."""
