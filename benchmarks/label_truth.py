"""How often planted differences and effects of labels and of wording are found, and absent ones.

    PYTHONPATH=tests:tests/analysis python benchmarks/label_truth.py --studies 400

Studies are drawn as arrays by the helpers of the tests, labels without any error of a labeler.
"Found" is q <= .05 for what is planted, beside what else is tested; "flagged" is p < .05 for what
is absent.
"""

import argparse
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np
from planted_labels import KEYS, NAMES, STRENGTH, drawn_labels, labelled, study_of
from planted_words import by_template, drawn, freely

from hearteval.sections.labels.use import analyze_labels
from hearteval.sections.labels.wins import opposed_by_label, wins_of_labels
from hearteval.sections.wording.measure import measure_wording

Tests = Mapping[str, tuple[float | None, float | None]]
"""By what is tested, p and q."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=100)
    n = parser.parse_args().studies
    print("| what, on how many items | planted: found | absent: flagged | CPU s |")
    print("| --- | --- | --- | --- |")
    for items in (30, 60, 200):
        _show(f"rates .5 against .3, {items}", partial(_rates, items), n)
    for items in (30, 60, 200):
        _show(f"wins, .6 in log odds, {items}", partial(_wins, items), n)
    for items in (30, 60, 200):
        _show(f"judges against people, {items}", partial(_opposed, items), n)
    for items in (20, 30, 60, 200):
        for name, write in (("template", by_template), ("alike", freely)):
            _show(f"wording, {name}, {items}", partial(_words, items, write), n)


def _show(name: str, draw: Callable[[int], Tests], n: int) -> None:
    started, found = time.process_time(), defaultdict(list)
    for seed in range(n):
        for what, (p, q) in draw(seed).items():
            found[what].append((p is not None and p < 0.05, q is not None and q <= 0.05))
    planted = ", ".join(_rates_of(found, 1, lambda what: what.startswith("+")))
    absent = ", ".join(_rates_of(found, 0, lambda what: not what.startswith("+")))
    seconds = time.process_time() - started
    print(f"| {name} | {planted or '-'} | {absent or '-'} | {seconds:.0f} |", flush=True)


def _rates_of(
    found: Mapping[str, list[tuple[bool, bool]]], which: int, is_meant: Callable[[str], bool]
) -> Iterator[str]:
    for what, rows in found.items():
        if is_meant(what):
            yield f"{what.lstrip('+')} {np.mean([row[which] for row in rows]):.3f}"


def _rates(n_items: int, seed: int) -> Tests:
    made, rng = labelled(n_items), np.random.default_rng(seed)
    rates = [{"hope": 0.5, "facts": 0.4}, {"hope": 0.3, "facts": 0.4}]
    (found,) = analyze_labels(study_of(made, drawn_labels(made, rng, rates)), level=0.95)
    rows = {row.category: (row.p, row.q) for row in found.sources[0].differences}
    return _named(rows)


def _wins(n_items: int, seed: int) -> Tests:
    made, rng = labelled(n_items), np.random.default_rng(seed)
    present = drawn_labels(made, rng, [{"facts": rate} for rate in (0.8, 0.5, 0.2)])
    worth = STRENGTH[made.system] + 0.6 * present[:, 0] + 0.03 * made.words
    columns = made.judged(worth, rng)
    (one,) = wins_of_labels(made.marks(present), NAMES, columns, level=0.95)
    return _named({row.category: (row.p, row.q) for row in one.categories})


def _opposed(n_items: int, seed: int) -> Tests:
    made, rng = labelled(n_items), np.random.default_rng(seed)
    present = drawn_labels(made, rng)
    worth, taste = STRENGTH[made.system], 0.75 * present[:, 0]
    votes = made.voted(worth + taste, worth - taste, rng)
    rows = opposed_by_label(made.marks(present), votes, level=0.95)
    return _named({row.trait: (row.p, row.q) for row in rows})


def _named(rows: Mapping[str, tuple[float | None, float | None]]) -> Tests:
    return {f"+{key}" if key == "hope" else key: rows[key] for key in KEYS if key in rows}


def _words(n_items: int, write: Callable[[np.random.Generator], str], seed: int) -> Tests:
    found = measure_wording(drawn(seed, write, n_items=n_items), level=0.95)
    assert found is not None
    is_planted = write is by_template
    rows = [row for row in found.differences if row.comparison == "models-people"]
    unlike = {row.measure for row in rows if is_planted and row.measure != "emotion-words"}
    return {f"+{r.measure}" if r.measure in unlike else r.measure: (r.p, r.q) for r in rows}


if __name__ == "__main__":
    main()
