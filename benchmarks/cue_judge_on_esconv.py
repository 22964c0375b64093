"""Measure the cue judge on ESConv: how often it prefers the reference to a stress text.

Items are chosen by the project's own rules. The cue judge is an offline baseline that measures
nothing about empathy. Its cues were set on train and valid; test is for measuring only.

    python benchmarks/cue_judge_on_esconv.py --from DIR [--part test] [--n-items 600] [--seed 1]
"""

import argparse
import hashlib
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from hearteval.domain import AXES, Item
from hearteval.items.esconv import parse_dialogues
from hearteval.items.selection import build_items
from hearteval.judgments.cue_judge.judge import (
    CueVerdict,
    Text,
    cue_rater,
    judge_pair,
)
from hearteval.judgments.stress_set import STRESS_KINDS, stress_texts
from hearteval.protocol import CUE_NOTICE
from hearteval.stats.means import wilson_interval

LENGTH_NEIGHBOURS = 8
Texts = Mapping[str, str]


def main() -> None:
    arguments = _parse_arguments()
    path = Path(arguments.corpus) / f"{arguments.part}.jsonl"
    dialogues = parse_dialogues(path.read_text(encoding="utf-8"), name=path.name)
    rng = np.random.default_rng(arguments.seed)
    items = build_items(dialogues, n=arguments.n_items, rng=rng, topics="cautious").items
    n_dialogues = len({item.dialogue_id for item in items})
    settings = cue_rater().settings
    print(CUE_NOTICE)
    print(f"cues {settings['version']} ({settings['prompt_hash'][:12]}), seed {arguments.seed}")
    print(f"{path.name}: {len(items)} items of {n_dialogues} dialogues, reference against:\n")
    print(
        "| against | items | reference preferred | 95 % | undecided | H E A R T | strengths 1-5 |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- |")
    started = time.process_time()
    n_judgments = 0
    for name, texts in _opponents(items, arguments.seed).items():
        verdicts = _judge(items, texts)
        n_judgments += len(verdicts)
        print(_row(name, verdicts))
    seconds = time.process_time() - started
    print(f"\n{n_judgments} judgments in {seconds:.1f} s of CPU time, texts included")


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure the cue judge on ESConv.")
    parser.add_argument("--from", dest="corpus", required=True, help="folder of the corpus")
    parser.add_argument("--part", choices=("train", "valid", "test"), default="test")
    parser.add_argument("--n-items", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def _opponents(items: Sequence[Item], seed: int) -> dict[str, Texts]:
    by_kind: dict[str, dict[str, str]] = {kind: {} for kind in STRESS_KINDS if kind != "reference"}
    for text in stress_texts(items, seed=seed):
        if text.kind != "reference":
            by_kind[text.kind][text.item_id] = text.text
    return {
        **by_kind,
        "other-reply of its length": _replies_of_like_length(items, seed),
    }


def _replies_of_like_length(items: Sequence[Item], seed: int) -> Texts:
    """Pair each item with another dialogue's reference of about as many words, by hash."""
    ordered = sorted(items, key=lambda item: (len(_reference(item).split()), item.id))
    texts = {}
    for index, item in enumerate(ordered):
        low = max(0, index - LENGTH_NEIGHBOURS)
        near = ordered[low : index + LENGTH_NEIGHBOURS + 1]
        donors = [donor for donor in near if donor.dialogue_id != item.dialogue_id]
        donors.sort(key=lambda donor: _rank(seed, item.id, donor.id))
        others = [_reference(d) for d in donors if d.reference != item.reference]
        if others:
            texts[item.id] = others[0]
    return texts


def _rank(*parts: object) -> str:
    return hashlib.sha256("/".join(map(str, parts)).encode()).hexdigest()


def _reference(item: Item) -> str:
    assert item.reference is not None
    return item.reference


def _judge(items: Iterable[Item], texts: Texts) -> list[CueVerdict]:
    """Judge each item once; the order shown changes nothing, so the reference comes first."""
    return [
        judge_pair(
            item.context,
            Text(_rank("reference", item.id), _reference(item)),
            Text(_rank("stress", item.id, texts[item.id]), texts[item.id]),
        )
        for item in items
        if item.id in texts
    ]


def _axis_share(is_first: Sequence[bool]) -> str:
    """Share of the marks that favour the reference; a dash where no text was told from another."""
    return f"{sum(is_first) / len(is_first):.2f}" if is_first else "-"


def _row(name: str, verdicts: Sequence[CueVerdict]) -> str:
    n = len(verdicts)
    share = sum(verdict.choice == "first" for verdict in verdicts) / n
    low, high = wilson_interval(share, n, level=0.95)
    n_undecided = sum(verdict.is_undecided for verdict in verdicts)
    by_axis = " ".join(
        _axis_share([v.axes[axis].choice == "first" for v in verdicts if axis in v.axes])
        for axis in AXES
    )
    counts = Counter(verdict.strength for verdict in verdicts)
    strengths = " ".join(str(counts[strength]) for strength in range(1, 6))
    interval = f"{100 * low:.1f}-{100 * high:.1f}"
    return (
        f"| {name} | {n} | {100 * share:.1f} % | {interval} | {n_undecided} | {by_axis} "
        f"| {strengths} |"
    )


if __name__ == "__main__":
    main()
