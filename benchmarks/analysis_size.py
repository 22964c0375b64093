"""Measure what an analysis takes for each judgment, at sizes whose making in a store takes hours.

    python benchmarks/analysis_size.py [--items 1089 10850]

18 systems, 3 LLM judges, every pair in both orders: 10,850 items are 9,960,300 judgments. Items,
replies, pairs and judgments are made in memory as `read_data` would hold them, and analyzed with
all sections, each size in a process of its own. Its peak is that of a `heart analyze` after the
store was read; what the reading itself takes, `study_size.py` measures.
"""

import argparse
import resource
import subprocess
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime
from itertools import combinations, cycle, islice
from typing import Any

import numpy as np

from hearteval.analysis.data import Provenance, StudyData
from hearteval.analysis.judgments import Judgments
from hearteval.analysis.packed.pairs import Pairs
from hearteval.analysis.study import analyze_study
from hearteval.domain import AXES, AXIS_NAMES, Completion, Rater, System
from hearteval.domain.columns import Coded, Ids
from hearteval.domain.judging import MARK_STEP
from hearteval.items import load_starter_items
from hearteval.sections import SECTIONS

N_SYSTEMS, N_JUDGES = 18, 3
MADE = datetime(2026, 1, 1, tzinfo=UTC)
NOWHERE = "made by benchmarks/analysis_size.py"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, nargs="+", default=[1_089, 10_850])
    parser.add_argument("--here", action="store_true", help="In this process, of the first size.")
    arguments = parser.parse_args()
    if arguments.here:
        print(measure(arguments.items[0]))
        return
    print("| judgments | CPU s of the analysis | MiB before | MiB at the peak | bytes a judgment |")
    print("| --- | --- | --- | --- | --- |", flush=True)
    for n_items in arguments.items:
        words = [sys.executable, __file__, "--here", "--items", str(n_items)]
        subprocess.run(words, check=True)


def measure(n_items: int) -> str:
    """Make a study, analyze it, and return a row of the table."""
    data = make(n_items, np.random.default_rng(7))
    before, start = _peak_mib(), time.process_time()
    results = analyze_study(data, sections=SECTIONS)
    seconds, peak, n = time.process_time() - start, _peak_mib(), len(data.judgments)
    assert results.leaderboard is not None, results.leaderboard_problem
    assert results.leaderboard.n_judgments == n
    return f"| {n:,} | {seconds:.1f} | {before:.0f} | {peak:.0f} | {peak * 2**20 / n:.0f} |"


def make(n_items: int, rng: np.random.Generator) -> StudyData:
    """Return a study in which the systems differ a little, and judges not at all."""
    items = [
        replace(item, dialogue_id=f"{item.dialogue_id}-{number}", id="")
        for number, item in enumerate(islice(cycle(load_starter_items()), n_items))
    ]
    systems = [
        System(name=f"system-{k:02}", kind="model", family=f"f{k}") for k in range(N_SYSTEMS)
    ]
    judges = [Rater(name=f"judge-{k}", kind="llm", family=f"j{k}") for k in range(N_JUDGES)]
    texts = [
        Completion(
            item_id=item.id,
            system_id=system.id,
            text=f"{item.context[-1].text[: 40 + 5 * k]}: that is a lot. What now? {k}",
            created_at=MADE,
        )
        for item in items
        for k, system in enumerate(systems)
    ]
    ends = np.array([*combinations(range(N_SYSTEMS), 2)], dtype=np.int32)
    item_of = np.repeat(np.arange(n_items, dtype=np.int32), len(ends))
    low, high = (item_of * N_SYSTEMS + np.tile(side, n_items) for side in ends.T)
    ids = _ids(len(item_of), rng)
    text_ids, item_ids = tuple(one.id for one in texts), tuple(one.id for one in items)
    pairs = Pairs(ids, Coded(item_ids, item_of), Coded(text_ids, low), Coded(text_ids, high))
    judgments = _judge(pairs, [one.id for one in systems], [one.id for one in judges], rng)
    return StudyData(
        items=items,
        systems=systems,
        raters=judges,
        completions=texts,
        pairs=pairs,
        judgments=judgments,
        provenance=_provenance(),
    )


def _ids(n: int, rng: np.random.Generator) -> Ids:
    return Ids(np.sort(np.frombuffer(rng.bytes(16 * n), dtype="S16")), is_packed=True)


def _judge(
    pairs: Pairs, system_ids: list[str], judge_ids: list[str], rng: np.random.Generator
) -> Judgments:
    """Return what every judge says of every pair in both orders, in no order."""
    shown = 2 * N_JUDGES
    n = shown * len(pairs)
    row = rng.permutation(n).astype(np.int32)
    pair, is_turned = row // shown, row % 2 == 1
    first, second = (
        np.where(is_turned, one.codes[pair], other.codes[pair])
        for one, other in ((pairs.high, pairs.low), (pairs.low, pairs.high))
    )
    systems: list[Any] = [(of % N_SYSTEMS).astype(np.int8) for of in (first, second)]
    lead = (systems[0] - systems[1]) / N_SYSTEMS
    draw = rng.random(n, dtype=np.float32)
    choice = np.where(draw < 0.05, 1, np.where(draw < 0.5 + lead / 4, 2, 0)).astype(np.int8)
    strength = np.where(choice == 1, 0, rng.integers(1, 6, n, dtype=np.int8))
    marks = np.zeros((n, len(AXIS_NAMES)), dtype=np.int8)
    for axis in range(len(AXES)):
        marks[:, axis] = 1 + MARK_STEP * 2 * (rng.random(n, dtype=np.float32) < 0.5 + lead / 4) + 1
    return Judgments(
        {
            "assignment": _ids(n, rng),
            "pair": Coded(pairs.ids, pair),
            "item": Coded(pairs.item.values, pairs.item.codes[pair].astype(np.int16)),
            "first_system": Coded(tuple(system_ids), systems[0]),
            "second_system": Coded(tuple(system_ids), systems[1]),
            "first_completion": Coded(pairs.low.values, first),
            "rater": Coded(tuple(judge_ids), (row % shown // 2).astype(np.int8)),
            "finish_reason": Coded(("stop",), np.zeros(n, dtype=np.int8)),
            "repeat": np.zeros(n, dtype=np.int16),
            "choice": choice,
            "strength": strength,
            "marks": marks,
        }
    )


def _provenance() -> Provenance:
    return Provenance(
        study="large",
        study_id="0" * 32,
        version=1,
        seed=7,
        items_hash="",
        settings_hash="",
        item_source=NOWHERE,
        licences=(),
        consent_bases=(),
        design=NOWHERE,
        protocols={},
        protocol_version="",
        software={},
        created_at=MADE.isoformat(),
        simulated=True,
    )


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
