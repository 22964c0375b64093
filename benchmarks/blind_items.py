"""Shuffle the starter items without their labels, so that another can score them blind.

    python benchmarks/blind_items.py make DIR [--esconv FOLDER] [--seed 1]
    python benchmarks/blind_items.py sum DIR/key.json SCORES.jsonl

`make` writes DIR/blind.jsonl, a number, situation, turns and reference a line, and DIR/key.json,
which says what each number is; whoever scores must not see the key, this repository or the names of
the groups. With ESConv, as many of its items as there are regular starter items stand among them,
as a measure of what the same scorer says of people. A score is a line with ``number`` and, from 1
to 5, ``seeker``, ``supporter`` and ``reference`` (5: a person wrote this), and ``repeats``: numbers
of items that say or do the same. `sum` gives means by group. The scorer is a language model: what
comes out is its opinion, and no person's.
"""

import argparse
import json
import statistics
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from hearteval.domain import Item
from hearteval.items import load_starter_items
from hearteval.items.run import build_from_folder

SCORED = ("seeker", "supporter", "reference")


def make(folder: Path, esconv: Path | None, seed: int) -> None:
    """Write the shuffled items, and apart from them what each is."""
    rng = np.random.default_rng(seed)
    items = list(load_starter_items())
    if esconv is not None:
        n_regular = sum(item.subset == "regular" for item in items)
        items += build_from_folder(esconv, regular=n_regular, rng=rng).items
    order = [items[index] for index in rng.permutation(len(items))]
    blind = [{"number": number, **_shown(item)} for number, item in enumerate(order, start=1)]
    folder.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in blind)
    (folder / "blind.jsonl").write_text(lines, encoding="utf-8")
    key = {number: list(_groups(item)) for number, item in enumerate(order, start=1)}
    (folder / "key.json").write_text(json.dumps(key), encoding="utf-8")


def _shown(item: Item) -> dict[str, object]:
    turns = [f"{turn.role}: {turn.text}" for turn in item.context]
    return {"situation": item.situation, "turns": turns, "reference": item.reference}


def _groups(item: Item) -> Iterator[str]:
    """Yield where an item is counted."""
    yield item.source
    if item.source == "starter":
        yield f"{item.subset}, {item.cue}"
        yield f"resistance: {item.resistance}" if item.resistance else f"problem: {item.problem}"


def add_up(key_file: Path, scores_file: Path) -> None:
    """Print a table of means by group."""
    key: dict[str, list[str]] = json.loads(key_file.read_text(encoding="utf-8"))
    lines = scores_file.read_text(encoding="utf-8").splitlines()
    scores = {str(one["number"]): one for one in map(json.loads, filter(str.strip, lines))}
    missing = key.keys() - scores.keys()
    if missing:
        raise SystemExit(f"no score of items {', '.join(sorted(missing, key=int))}")
    by_group: defaultdict[str, list[dict[str, object]]] = defaultdict(list)
    for number, groups in key.items():
        for group in groups:
            by_group[group].append(scores[number])
    print("| group | items | seeker | supporter | reference | with a repeat |")
    print("| --- | --- | --- | --- | --- | --- |")
    for group, found in sorted(by_group.items()):
        means = " | ".join(_mean(found, name) for name in SCORED)
        n_repeats = sum(bool(one.get("repeats")) for one in found)
        print(f"| {group} | {len(found)} | {means} | {n_repeats} |")


def _mean(found: list[dict[str, object]], name: str) -> str:
    marks = [mark for one in found if isinstance(mark := one.get(name), int | float)]
    return f"{statistics.mean(marks):.2f}" if marks else "-"


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser()
    verbs = parser.add_subparsers(dest="verb", required=True)
    making = verbs.add_parser("make")
    making.add_argument("folder", type=Path)
    making.add_argument("--esconv", type=Path)
    making.add_argument("--seed", type=int, default=1)
    adding = verbs.add_parser("sum")
    adding.add_argument("key", type=Path)
    adding.add_argument("scores", type=Path)
    given = parser.parse_args()
    if given.verb == "make":
        make(given.folder, given.esconv, given.seed)
    else:
        add_up(given.key, given.scores)


if __name__ == "__main__":
    main()
