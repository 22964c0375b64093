"""Studies with planted templates and vocabularies: nothing was measured."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray
from small_world import make_item

from hearteval.analysis.data import StudyData
from hearteval.domain import Completion, Item, System

NOW = datetime(2026, 1, 2, tzinfo=UTC)
GPT = System(name="gpt", kind="model", family="gpt")
KIMI = System(name="kimi", kind="model", family="kimi")
PEOPLE = System(name="People", kind="human", family="human")


def items(n: int, language: str = "en") -> list[Item]:
    return [replace(make_item(k), language=language, id="") for k in range(n)]


def said(item: Item, system: System, text: str, writer: str = "w") -> Completion:
    return Completion(
        item_id=item.id,
        system_id=system.id,
        text=text,
        writer_id=writer if system.kind == "human" else None,
        created_at=NOW,
    )


# Some words are frequent: were all equally so, no figure could vary in its first order.
VOCABULARY = np.array([f"w{k}" for k in range(80)])
FEELINGS = np.array(["sad", "angry", "happy", "lonely", "ashamed", "calm", "proud", "afraid"])
WAYS = np.array([0.4, 0.2, 0.1, 0.1, 0.05, 0.05, 0.05, 0.05])
Write = Callable[[np.random.Generator], str]


def freely(rng: np.random.Generator, *, n_words: int = 80, n_feelings: int = 8) -> str:
    often = 1 / np.arange(1, n_words + 1)
    n = rng.integers(8, 20)
    words = [
        *rng.choice(VOCABULARY[:n_words], n, p=often / often.sum()),
        *rng.choice(FEELINGS[:n_feelings], rng.integers(0, 4), p=_share(n_feelings)),
    ]
    return f"it sounds so{rng.choice(8, p=WAYS)} that {' '.join(rng.permutation(words))}"


def _share(n: int) -> NDArray[np.float64]:
    return np.asarray(WAYS[:n] / WAYS[:n].sum(), dtype=np.float64)


def by_template(rng: np.random.Generator) -> str:
    _, _, rest = freely(rng, n_words=40, n_feelings=3).partition(" that ")
    return f"it sounds like that {rest}"


def drawn(seed: int, models: Write, *, n_items: int) -> StudyData:
    rng, made = np.random.default_rng(seed), items(n_items)
    texts = [said(item, system, models(rng)) for item in made for system in (GPT, KIMI)]
    texts += [said(item, PEOPLE, freely(rng), writer) for item in made for writer in "ab"]
    return StudyData(items=made, systems=[GPT, KIMI, PEOPLE], completions=texts)
