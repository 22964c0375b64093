"""What is kept of a choice from a corpus, so that the corpus is not screened again for it.

That is where the chosen turns stand and what each rule saw there: no dialogue. The texts come from
the corpus, and what does not give the very items that were chosen counts as nothing kept.
"""

from collections.abc import Mapping
from dataclasses import astuple
from typing import Any, NamedTuple, Protocol

from hearteval.domain import Item, Screening, content_hash
from hearteval.errors import HeartError
from hearteval.items.esconv import Couplet, couplet_item, parse_dialogues
from hearteval.items.screening import Screened, list_screenings
from hearteval.items.selection import FunnelStep

Corpus = Mapping[str, str]
"""The text of each file, by name."""


class Keep(Protocol):
    """Where an answer is kept, under a key that names all that it rests on but the software."""

    def read(self, key: str) -> Any | None:
        """Return what was kept under a key; None where nothing was."""
        ...

    def write(self, key: str, body: Any) -> None:
        """Keep what JSON can say, in place of what was kept."""
        ...


class Chosen(NamedTuple):
    """Items chosen from a corpus, with the evidence for them alone."""

    items: tuple[Item, ...]
    evidence: tuple[Screening, ...]
    funnel: tuple[FunnelStep, ...]
    n_dialogues: int
    """Of the corpus."""


def choice_key(corpus: Corpus, *, regular: int, seed: int) -> str:
    """Name what a choice rests on."""
    files = {name: content_hash(text) for name, text in corpus.items()}
    return content_hash({"files": files, "regular": regular, "seed": seed})


def as_kept(chosen: Chosen) -> dict[str, Any]:
    """Return what is kept of a choice, as JSON says it."""
    seen: dict[str, list[str]] = {item.id: [] for item in chosen.items}
    for screening in chosen.evidence:
        seen[screening.item_id].append(screening.evidence)
    return {
        "n_dialogues": chosen.n_dialogues,
        "funnel": [astuple(step) for step in chosen.funnel],
        "items": [[i.dialogue_id, i.turn_index, i.id, seen[i.id]] for i in chosen.items],
    }


def choose_again(corpus: Corpus, kept: Any) -> Chosen | None:
    """Choose from a corpus what was chosen before; None where what was kept is not of it."""
    try:
        wanted = {dialogue_id for dialogue_id, *_ in kept["items"]}
        dialogues = {
            dialogue.dialogue_id: dialogue
            for name, text in corpus.items()
            for dialogue in parse_dialogues(text, name=name, only=wanted)
        }
        items: list[Item] = []
        evidence: list[Screening] = []
        for dialogue_id, turn_index, item_id, seen in kept["items"]:
            couplet = Couplet(dialogue=dialogues[dialogue_id], turn_index=turn_index)
            item = couplet_item(couplet)
            if item.id != item_id:
                return None
            items.append(item)
            evidence += list_screenings(item_id, Screened(couplet, None, tuple(seen)))
        steps = [FunnelStep(rule=rule, n_in=n_in, n_out=n) for rule, n_in, n in kept["funnel"]]
        return Chosen(tuple(items), tuple(evidence), tuple(steps), kept["n_dialogues"])
    except (LookupError, TypeError, ValueError, HeartError):
        return None
