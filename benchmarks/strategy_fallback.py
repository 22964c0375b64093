"""Measure the offline strategy labels against ESConv's eight, in folds by dialogue.

    python benchmarks/strategy_fallback.py --from DIR

DIR holds ESConv, whose supporters' utterances each bear one of eight strategies. They do not
determine the paper's fifteen: what is measured is how far word cues find what ESConv's annotators
meant, by the mapping below, and no figure of the paper. Beside `cues`, for comparison and where
scikit-learn is installed (`pip install scikit-learn`; no part of hearteval), what a model of the
same eight labels learns of the words, and of the cues' own marks, on other dialogues.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hearteval.analysis.estimates import Estimate
from hearteval.analysis.labels.agreement import Marks, agree
from hearteval.items.esconv import SPLIT_FILES
from hearteval.labels.cues import cued_labels, cues_rater
from hearteval.labels.taxonomy import load_taxonomy
from hearteval.labels.texts import LabelledText
from hearteval.stats.comparisons import FloatArray, IntArray

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SEED, N_FOLDS = 1, 5
ESCONV = (
    "Question",
    "Restatement or Paraphrasing",
    "Reflection of feelings",
    "Self-disclosure",
    "Affirmation and Reassurance",
    "Providing Suggestions",
    "Information",
    "Others",
)
MAPPING: Mapping[str, str | None] = {
    "affirmation": "Affirmation and Reassurance",
    "avoid_judgment": "Affirmation and Reassurance",
    "clarification": "Question",
    "collaborative_planning": "Providing Suggestions",
    "emotional_validation": "Reflection of feelings",
    "normalize_experiences": "Affirmation and Reassurance",
    "offer_hope": "Affirmation and Reassurance",
    "promote_self_care": "Providing Suggestions",
    "different_perspectives": None,
    "reflective_statements": "Restatement or Paraphrasing",
    "reframe_negative_thoughts": None,
    "share_information": "Information",
    "stress_management": "Providing Suggestions",
    "suggest_options": "Providing Suggestions",
    "chit_chat": "Others",
}
"""The nearest of ESConv's labels, None where any of several would do; also in
docs/reference/labels.md."""


class Utterances(NamedTuple):
    """What supporters said, each with the strategy that ESConv gives it."""

    texts: list[str]
    label: IntArray
    """Place in `ESCONV`."""
    dialogue: IntArray


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--from", dest="corpus", required=True)
    folder = Path(parser.parse_args().corpus)
    missing = [name for name in SPLIT_FILES if not (folder / name).is_file()]
    if missing:
        sys.exit(f"skipped: {folder} has no {', '.join(missing)}")
    said = read([(folder / name).read_text(encoding="utf-8") for name in SPLIT_FILES])
    n_dialogues = len(np.unique(said.dialogue))
    print(f"{len(said.texts)} utterances of {n_dialogues} dialogues, {N_FOLDS} folds by dialogue")
    print(f"cues {str(cues_rater(load_taxonomy('strategies')).settings['cues_hash'])[:12]}\n")
    marks = cue_marks(said.texts)
    found = {"cues, by the mapping": mapped(marks)}
    fold = folds(said.dialogue, N_FOLDS, seed=SEED)
    try:
        found["words (TF-IDF)"] = learned(said, fold, words_of)
        found["the cues' marks, learned"] = learned(said, fold, lambda _: (marks, None))
    except ModuleNotFoundError:
        print("scikit-learn is not installed: cues alone\n")
    found["the most frequent label"] = most_frequent(said, fold)
    rows = {name: by_label(said, each) for name, each in found.items()}
    print(f"| F1 of | n | {' | '.join(rows)} |")
    print(f"| --- | --- |{' --- |' * len(rows)}")
    counts = Counter(said.label.tolist())
    for label in ("all", *ESCONV):
        n = len(said.texts) if label == "all" else counts[ESCONV.index(label)]
        cells = [_written(row[label]) for row in rows.values()]
        print(f"| {'macro' if label == 'all' else label} | {n:,} | {' | '.join(cells)} |")


def read(files: Sequence[str]) -> Utterances:
    """Read the supporters' utterances of JSONL files; one without a strategy is left out."""
    texts, labels, dialogues = [], [], []
    lines = (line for file in files for line in file.splitlines() if line.strip())
    for n, line in enumerate(lines):
        for turn in json.loads(line)["dialog"]:
            if turn["speaker"] == "sys" and turn.get("strategy"):
                texts.append(turn["text"])
                labels.append(ESCONV.index(turn["strategy"]))
                dialogues.append(n)
    return Utterances(texts, np.array(labels), np.array(dialogues))


def cue_marks(texts: Sequence[str]) -> FloatArray:
    """Return which of the fifteen the offline labeler finds, (texts, strategies)."""
    taxonomy = load_taxonomy("strategies")
    marks = np.zeros((len(texts), len(taxonomy.keys)))
    for k, text in enumerate(texts):
        read = LabelledText(of="completion", id=f"{k:032x}", text=text)
        for label in cued_labels(read, taxonomy, now=NOW):
            marks[k, taxonomy.keys.index(label.category)] = label.verdict == "present"
    return marks


def mapped(marks: FloatArray) -> FloatArray:
    """Return which of ESConv's eight a text holds, by what it holds of the fifteen."""
    found = np.zeros((len(marks), len(ESCONV)))
    for k, key in enumerate(load_taxonomy("strategies").keys):
        label = MAPPING[key]
        if label is not None:
            place = ESCONV.index(label)
            found[:, place] = np.maximum(found[:, place], marks[:, k])
    return found


def folds(dialogue: IntArray, n: int, *, seed: int) -> IntArray:
    """Return a fold for each utterance, all of one dialogue in one fold."""
    dialogues, place = np.unique(dialogue, return_inverse=True)
    order = np.random.default_rng(seed).permutation(len(dialogues))
    return (order % n)[place]


def words_of(texts: Sequence[str]) -> tuple[Any, Any]:
    """Return nothing that is known before training, and how words become numbers."""
    text = import_module("sklearn.feature_extraction.text")
    return list(texts), text.TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True)


def learned(said: Utterances, fold: IntArray, prepare: Any) -> FloatArray:
    """Return what logistic regression foretells of each fold, trained on the others."""
    linear = import_module("sklearn.linear_model")
    pipeline = import_module("sklearn.pipeline")
    values, numbers = prepare(said.texts)
    found = np.zeros((len(said.texts), len(ESCONV)))
    for k in np.unique(fold):
        model = linear.LogisticRegression(C=4.0, class_weight="balanced", max_iter=300)
        steps = [numbers, model] if numbers is not None else [model]
        train, test = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
        fitted = pipeline.make_pipeline(*steps).fit(_rows(values, train), said.label[train])
        found[test, fitted.predict(_rows(values, test))] = 1
    return found


def _rows(values: Any, rows: IntArray) -> Any:
    return [values[k] for k in rows] if isinstance(values, list) else values[rows]


def most_frequent(said: Utterances, fold: IntArray) -> FloatArray:
    """Return for each fold the label that is most frequent in the others."""
    found = np.zeros((len(said.texts), len(ESCONV)))
    for k in np.unique(fold):
        found[fold == k, np.bincount(said.label[fold != k]).argmax()] = 1
    return found


def by_label(said: Utterances, found: FloatArray) -> dict[str, Estimate | None]:
    """Return F1 by label and its mean over the eight (``all``), with intervals over dialogues."""
    given = np.zeros_like(found)
    given[np.arange(len(given)), said.label] = 1
    left, right = (
        Marks(
            labeler=name,
            item=said.dialogue,
            system=np.zeros_like(said.dialogue),
            present=marks,
            uncertain=np.zeros_like(marks),
            categories=ESCONV,
            ids=tuple(map(str, range(len(marks)))),
        )
        for name, marks in (("ESConv", given), ("found", found))
    )
    names = dict(zip(ESCONV, ESCONV, strict=True))
    return {row.category: row.f1 for row in agree(left, right, names, level=0.95)}


def _written(one: Estimate | None) -> str:
    if one is None or one.low is None or one.high is None:
        return "-" if one is None else f"{one.value:.3f}"
    return f"{one.value:.3f} [{one.low:.3f}, {one.high:.3f}]"


if __name__ == "__main__":
    main()
