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
from hearteval.items.screening import Screened, Topics, list_screenings, screening_version
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
    corpus: str
    """Its hash."""
    topics: Topics
    rules: str
    """Version of the rules that chose them."""


class Before(NamedTuple):
    """What a study chose from a corpus in its newest version, and how many it asked for."""

    chosen: Chosen
    regular: int | None


def corpus_hash(corpus: Corpus) -> str:
    """Return the hash of a corpus: of the text of each file, by name."""
    return content_hash({name: content_hash(text) for name, text in corpus.items()})


def choice_key(corpus: Corpus, *, regular: int, seed: int, topics: Topics) -> str:
    """Name what a choice rests on."""
    asked = {"regular": regular, "seed": seed, "topics": topics}
    return content_hash({"corpus": corpus_hash(corpus), **asked})


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


def choose_again(corpus: Corpus, kept: Any, *, topics: Topics) -> Chosen | None:
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
            screened = Screened(couplet, None, tuple(seen))
            evidence += list_screenings(item_id, screened, topics=topics)
        steps = [FunnelStep(rule=rule, n_in=n_in, n_out=n) for rule, n_in, n in kept["funnel"]]
        return Chosen(
            items=tuple(items),
            evidence=tuple(evidence),
            funnel=tuple(steps),
            n_dialogues=kept["n_dialogues"],
            corpus=corpus_hash(corpus),
            topics=topics,
            rules=screening_version(topics),
        )
    except (LookupError, TypeError, ValueError, HeartError):
        return None
