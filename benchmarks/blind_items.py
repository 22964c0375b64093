"""Can a reader tell the starter items from ESConv's? A reader's scores, and a classifier's.

    python benchmarks/blind_items.py make DIR [--esconv FOLDER] [--seed 1]
    python benchmarks/blind_items.py sum DIR/key.json SCORES.jsonl
    python benchmarks/blind_items.py tell ESCONV [--items OLD.jsonl]

`make` writes DIR/blind.jsonl, a number, situation, turns and reference a line, and DIR/key.json,
which says what each number is; whoever scores must not see the key, this repository or the names of
the groups. With ESConv, as many of its items as there are regular starter items stand among them,
as a measure of what the same scorer says of people. A score is a line with ``number`` and, from 1
to 5, ``seeker``, ``supporter`` and ``reference`` (5: a person wrote this), and ``repeats``: numbers
of items that say or do the same. `sum` gives means by group, and how often an item of ESConv's has
the higher score than a regular one of the starter's (half of ties; .5: nothing tells them apart).
What comes out is the scorer's opinion; say beside it who read, and that a model is no person.

`tell` asks nobody: a ridge classifier on words, or on letters, guesses each regular item's source
from all others (leave one out), one item a dialogue and as many of ESConv's. It learns topics too,
such as the pandemic, which are no fault of a text; a small AUC shows more than a large one.
"""

import argparse
import json
import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.stats import mannwhitneyu

from hearteval.domain import Item
from hearteval.items import load_starter_items
from hearteval.items.files import parse_items
from hearteval.items.run import build_from_folder
from hearteval.stats.comparisons import FloatArray

SCORED = ("seeker", "supporter", "reference")
READ: dict[str, Callable[[Item], str]] = {
    "last turn": lambda item: item.context[-1].text,
    "all of the seeker": lambda item: " ".join(t.text for t in item.context if t.role == "seeker"),
    "all of the supporter": lambda item: " ".join(
        t.text for t in item.context if t.role == "supporter"
    ),
    "reference": lambda item: item.reference or "",
}
"""What the classifier is shown of an item."""
RIDGE = 0.1
N_DRAWS = 5


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
        yield item.subset
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

    human, ours = (
        [scores[number] for number, groups in key.items() if group in groups]
        for group in ("esconv", "regular")
    )
    if human and ours:
        cells = (
            f"{name} {_auc(*(_marks(of, name) for of in (human, ours))):.2f}" for name in SCORED
        )
        print(f"\nESConv's has the higher score: {', '.join(cells)}")


def tell(folder: Path, items_file: Path | None) -> None:
    """Print how well a classifier tells regular starter items from as many of ESConv's."""
    items = load_starter_items()
    if items_file is not None:
        items = parse_items(items_file.read_text(encoding="utf-8"), name=str(items_file))
    ours = [item for item in items if item.subset == "regular"]
    draws = [_draw_esconv(folder, len(ours), seed) for seed in range(N_DRAWS)]
    print("| AUC, mean of draws (least, most) | words | letters | length alone |")
    print("| --- | --- | --- | --- |")
    for name, read in READ.items():
        texts = [read(item) for item in ours]
        found = [tell_apart(texts, [read(item) for item in drawn]) for drawn in draws]
        cells = [f"{np.mean(c):.2f} ({min(c):.2f}, {max(c):.2f})" for c in zip(*found, strict=True)]
        print(f"| {name} | {' | '.join(cells)} |")


def tell_apart(ours: Sequence[str], others: Sequence[str]) -> tuple[float, float, float]:
    """Return AUCs, leaving one out, by words, by letters, and by length alone (at least .5)."""
    texts, n = [*ours, *others], len(ours)
    is_ours = np.arange(len(texts)) < n
    guesses = (_leave_one_out(_kernel([of(text) for text in texts]), is_ours) for of in (_w, _l))
    by_words, by_letters = (_auc(guess[:n], guess[n:]) for guess in guesses)
    lengths = [len(text.split()) for text in texts]
    by_length = _auc(lengths[:n], lengths[n:])
    return by_words, by_letters, max(by_length, 1 - by_length)


def _draw_esconv(folder: Path, n: int, seed: int) -> list[Item]:
    rng = np.random.default_rng(seed)
    built = build_from_folder(folder, regular=3 * n, rng=rng).items
    one_each = {item.dialogue_id: item for item in (built[k] for k in rng.permutation(len(built)))}
    return list(one_each.values())[:n]


def _w(text: str) -> Counter[str]:
    """Count words and pairs of them."""
    words = re.findall(r"[a-z']+", text.lower())
    return Counter([*words, *map(" ".join, pairwise(words))])


def _l(text: str) -> Counter[str]:
    """Count runs of two to four characters, capitals and marks included."""
    return Counter(text[k : k + n] for n in (2, 3, 4) for k in range(len(text) - n + 1))


def _kernel(counts: Sequence[Counter[str]]) -> FloatArray:
    """Return cosines between texts by TF-IDF (1 + log count, log of inverse share)."""
    n_texts_with = Counter(term for one in counts for term in one)
    place = {term: k for k, term in enumerate(t for t, n in n_texts_with.items() if n > 1)}
    weights = np.zeros((len(counts), len(place)))
    for row, one in zip(weights, counts, strict=True):
        for term, n in one.items():
            if term in place:
                row[place[term]] = (1 + np.log(n)) * np.log(len(counts) / n_texts_with[term])
    weights /= np.maximum(np.linalg.norm(weights, axis=1, keepdims=True), 1e-12)
    return np.asarray(weights @ weights.T)


def _leave_one_out(kernel: FloatArray, is_ours: np.ndarray) -> FloatArray:
    """Return what ridge regression with an intercept says of each text, fitted on all others."""
    inverse = np.linalg.inv(kernel + 1 + RIDGE * np.eye(len(kernel)))
    target = np.where(is_ours, 1.0, -1.0)
    return np.asarray(target - inverse @ target / np.diag(inverse))


def _auc(higher: Sequence[float] | FloatArray, lower: Sequence[float] | FloatArray) -> float:
    """Return how often one of the first is above one of the second, half of ties."""
    return float(mannwhitneyu(higher, lower).statistic) / (len(higher) * len(lower))


def _marks(found: Sequence[dict[str, object]], name: str) -> list[float]:
    return [float(mark) for one in found if isinstance(mark := one.get(name), int | float)]


def _mean(found: list[dict[str, object]], name: str) -> str:
    marks = _marks(found, name)
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
    telling = verbs.add_parser("tell")
    telling.add_argument("esconv", type=Path)
    telling.add_argument("--items", type=Path)
    given = parser.parse_args()
    if given.verb == "make":
        make(given.folder, given.esconv, given.seed)
    elif given.verb == "tell":
        tell(given.esconv, given.items)
    else:
        add_up(given.key, given.scores)


if __name__ == "__main__":
    main()
