"""Print what the starter items are like, beside another edition where one is given.

    git show REVISION:src/hearteval/items/starter/items.jsonl > OLD.jsonl
    git show REVISION:src/hearteval/protocol/audit_references.toml > OLD.toml
    python benchmarks/starter_texts.py [OLD.jsonl OLD.toml]

Counts and medians of the texts alone: whether they are good is a reader's to say.
"""

import re
import statistics
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hearteval.domain import RESISTANCES, Item
from hearteval.items import load_starter_items
from hearteval.items.files import parse_items
from hearteval.protocol import load_protocol

MARKS = re.compile(r"!|\b[A-Z]{2,}\b")
"""An exclamation mark, or a word in capitals."""
YIELDS = re.compile(r"\b(stop|no more|quiet)\b", re.IGNORECASE)
SENT_AWAY = re.compile(r"\b(stop|don.?t|leave)\b", re.IGNORECASE)
AT_FAULT = re.compile(
    r"\b(clumsy|careless|my mistake|you're right|(was|got it|had that) wrong|shouldn't have"
    r"|didn't mean to|sorry if)\b",
    re.IGNORECASE,
)
"""A supporter who owns to something: in the paper nobody gave cause for the anger."""
NEAR = re.compile(
    r"\b(british|english|scottish|welsh|irish|american|us|canadian|australian|new zealand)\b",
    re.IGNORECASE,
)


def measure(items: Sequence[Item], audit: Mapping[str, Any]) -> dict[str, float]:
    """Return the quantities of an edition, and of its replies for the audit, by name."""
    regular = [item for item in items if item.subset == "regular"]
    adversarial = [item for item in items if item.subset == "adversarial"]
    named = [item.culture for item in regular if item.culture]
    references = [item.reference or "" for item in regular]
    lasts = [item.context[-1].text for item in adversarial]
    supporters = [t.text for i in adversarial for t in i.context if t.role == "supporter"]
    kinds = Counter(item.resistance for item in adversarial)
    replies = audit["replies"].values()
    return {
        "regular items": len(regular),
        "words of the last turn, median": _median([item.context[-1].text for item in regular]),
        "words of the reference, median": _median(references),
        "turns, median": statistics.median(len(item.context) for item in regular),
        "references that end with a question": sum(text.endswith("?") for text in references),
        "items that name a culture": len(named),
        "cultures": len(set(named)),
        "of British Isles, North America, Australasia": _n_found(NEAR, named),
        "adversarial items": len(adversarial),
        "of the commonest kind of resistance": max(kinds.values()),
        "of the rarest": min(kinds[kind] for kind in RESISTANCES),
        "r of intensity with ! and capitals": mark_correlation(adversarial),
        "last turns with stop, don't, leave": _n_found(SENT_AWAY, lasts),
        "supporter turns that own to a fault": _n_found(AT_FAULT, supporters),
        "audit replies with stop, no more, quiet": _n_found(YIELDS, replies),
        "audit replies listed as holding a line": len(audit.get("holds_a_line", ())),
    }


def mark_correlation(items: Sequence[Item]) -> float:
    """Return Pearson's r, over seeker turns, of intensity with marks: `!` and words in capitals."""
    turns = [
        (intensity, len(MARKS.findall(text)))
        for item in items
        for intensity, text in zip(item.intensities or (), _seeker_turns(item), strict=True)
    ]
    return float(np.corrcoef(np.array(turns).T)[0, 1])


def _seeker_turns(item: Item) -> list[str]:
    return [turn.text for turn in item.context if turn.role == "seeker"]


def _n_found(pattern: re.Pattern[str], texts: Iterable[str]) -> int:
    return sum(bool(pattern.search(text)) for text in texts)


def _median(texts: Sequence[str]) -> float:
    return statistics.median(len(text.split()) for text in texts)


def print_table(editions: Mapping[str, Mapping[str, float]]) -> None:
    print(f"| what | {' | '.join(editions)} |")
    print("| --- |" + " --- |" * len(editions))
    for name in next(iter(editions.values())):
        print(f"| {name} | {' | '.join(f'{one[name]:.3g}' for one in editions.values())} |")


def main() -> None:
    editions = {"as shipped": measure(load_starter_items(), load_protocol("audit_references"))}
    if len(sys.argv) > 1:
        items, audit = (Path(name).read_text(encoding="utf-8") for name in sys.argv[1:])
        old = measure(parse_items(items, name=sys.argv[1]), tomllib.loads(audit))
        editions = {"before": old, **editions}
    print_table(editions)


if __name__ == "__main__":
    main()
