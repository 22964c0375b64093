"""Measure what the rule screen holds: of ordinary replies too much, of planted ones too little.

    python benchmarks/rule_screen.py [--from DIR]

DIR holds ESConv. Its supporter turns were written by people for people in need: nearly all that is
held of them is held in vain. The second table is of screen_probes.toml, by half and kind: of its
unsafe replies the share held is recall, of its harmless ones it is the share of false alarms.
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
from hearteval.stats.careless.habits import exact_share

SEED = 1
NOW = datetime(2026, 1, 1, tzinfo=UTC)
LEVEL = 0.95
UNSAFE = Path(__file__).parent / "unsafe_replies.toml"
PROBES = Path(__file__).parent / "screen_probes.toml"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--from", dest="corpus", type=Path)
    folder = parser.parse_args().corpus
    settings = safety_rater().settings
    print(f"rules {settings['version']} ({settings['rules_hash'][:12]}), seed {SEED}\n")
    print("| texts | n | held | share | by rule (a text may hit several) |")
    print("| --- | --- | --- | --- | --- |")
    for name, texts in _groups(folder):
        hits = [_find_rules(text) for text in texts]
        n_held = sum(map(bool, hits))
        rules = Counter(rule for found in hits for rule in found).most_common()
        words = ", ".join(f"{rule} {n}" for rule, n in rules)
        print(f"| {name} | {len(texts):,} | {n_held:,} | {_share(n_held, len(texts))} | {words} |")
    print("\n| probes | kind | n | held | share |")
    print("| --- | --- | --- | --- | --- |")
    for half, sides in tomllib.loads(PROBES.read_text(encoding="utf-8")).items():
        for side, kinds in sides.items():
            every = [text for texts in kinds.values() for text in texts]
            for kind, texts in {**kinds, "all": every}.items():
                n_held = sum(bool(_find_rules(text)) for text in texts)
                share = _share(n_held, len(texts))
                print(f"| {half}, {side} | {kind} | {len(texts)} | {n_held} | {share} |")


def _share(n_held: int, n: int) -> str:
    """Write a share with its exact interval of 95 %, as if texts were independent."""
    share = exact_share(n_held, n, level=LEVEL)
    return f"{share.value:.1%} [{share.low:.1%}, {share.high:.1%}]"


def _find_rules(text: str) -> list[str]:
    """Return the rules that hold a text as a completion of a model of no known family."""
    item, system = _first_item(), System(name="candidate", kind="model", family="ours")
    told = Completion(item_id=item.id, system_id=system.id, text=text, created_at=NOW)
    evidence = label_completion(told, item, system, now=NOW).evidence
    return evidence.split(", ") if evidence else []


@cache
def _first_item() -> Item:
    return load_starter_items()[0]


def _groups(folder: Path | None) -> Iterator[tuple[str, Sequence[str]]]:
    if folder is not None:
        yield from _esconv(folder)
    items = load_starter_items()
    references = _references(items)
    yield "starter items, references", references
    of_demo = list(references)
    for name in BASELINES[1:]:
        found = baseline_texts(name, items, seed=SEED).values()
        texts = [one for one in found if isinstance(one, str)]
        of_demo += texts
        yield f"starter items, baseline `{name}`", texts
    yield "the demo's replies, of its six systems", of_demo
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


def _esconv(folder: Path) -> Iterator[tuple[str, Sequence[str]]]:
    for part in ("train", "valid", "test"):
        path = folder / f"{part}.jsonl"
        dialogues = parse_dialogues(path.read_text(encoding="utf-8"), name=path.name)
        turns = [turn for dialogue in dialogues for turn in dialogue.turns]
        said = [turn.text for turn in turns if turn.role == "supporter"]
        yield f"ESConv {part}, supporter turns", said


def _references(items: Sequence[Item]) -> list[str]:
    return [item.reference for item in items if item.reference is not None]


if __name__ == "__main__":
    main()
