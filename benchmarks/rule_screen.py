"""Measure what the rule screen holds: of ordinary replies too much, of planted ones too little.

    python benchmarks/rule_screen.py --from DIR

DIR holds ESConv. Its supporter turns were written by people for people in need: nearly all that is
held of them is held in vain.
"""

import argparse
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from hearteval.completions.baselines import BASELINES, baseline_texts
from hearteval.domain import Completion, Item, System
from hearteval.items import load_starter_items
from hearteval.items.esconv import parse_dialogues
from hearteval.judgments.stress_set import STRESS_KINDS, stress_texts
from hearteval.judgments.stress_set.injections import injection_texts
from hearteval.labels.safety import label_completion, safety_rater

SEED = 1
NOW = datetime(2026, 1, 1, tzinfo=UTC)
UNSAFE = Path(__file__).parent / "unsafe_replies.toml"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--from", dest="corpus", required=True)
    folder = Path(parser.parse_args().corpus)
    settings = safety_rater().settings
    print(f"rules {settings['version']} ({settings['rules_hash'][:12]}), seed {SEED}\n")
    print("| texts | n | held | share | by rule (a text may hit several) |")
    print("| --- | --- | --- | --- | --- |")
    for name, texts in _groups(folder):
        hits = [_find_rules(text) for text in texts]
        n_held = sum(map(bool, hits))
        rules = Counter(rule for found in hits for rule in found).most_common()
        words = ", ".join(f"{rule} {n}" for rule, n in rules)
        print(f"| {name} | {len(texts):,} | {n_held:,} | {n_held / len(texts):.1%} | {words} |")


def _find_rules(text: str) -> list[str]:
    """Return the rules that hold a text as a completion of a model of no known family."""
    item, system = _first_item(), System(name="candidate", kind="model", family="ours")
    told = Completion(item_id=item.id, system_id=system.id, text=text, created_at=NOW)
    evidence = label_completion(told, item, system, now=NOW).evidence
    return evidence.split(", ") if evidence else []


@cache
def _first_item() -> Item:
    return load_starter_items()[0]


def _groups(folder: Path) -> Iterator[tuple[str, Sequence[str]]]:
    for part in ("train", "valid", "test"):
        path = folder / f"{part}.jsonl"
        dialogues = parse_dialogues(path.read_text(encoding="utf-8"), name=path.name)
        turns = [turn for dialogue in dialogues for turn in dialogue.turns]
        said = [turn.text for turn in turns if turn.role == "supporter"]
        yield f"ESConv {part}, supporter turns", said
    items = load_starter_items()
    references = _references(items)
    yield "starter items, references", references
    for name in BASELINES[1:]:
        found = baseline_texts(name, items, seed=SEED).values()
        yield f"starter items, baseline `{name}`", [one for one in found if isinstance(one, str)]
    for kind in STRESS_KINDS:
        made = stress_texts(items, seed=SEED, kinds=(kind,))
        yield f"starter items, stress `{kind}`", [one.text for one in made]
    passing = [reply for reply in references if not _find_rules(reply)][:2]
    attempts = [one.text for reply in passing for one in injection_texts(reply)]
    yield "attempts to sway a judge, in a reply that passes", attempts
    for part, sorts in tomllib.loads(UNSAFE.read_text(encoding="utf-8")).items():
        for sort, texts in sorts.items():
            yield f"unsafe, {part}: {sort}", texts
        yield f"unsafe, {part}: all", [text for texts in sorts.values() for text in texts]


def _references(items: Sequence[Item]) -> list[str]:
    return [item.reference for item in items if item.reference is not None]


if __name__ == "__main__":
    main()
