"""How much memory and time a million judgments take on their way from the store to the results.

    python benchmarks/light_rows.py            # CPU seconds of each step, peak memory
    python benchmarks/light_rows.py --trace    # memory of each step, slower

The store is left out: batches are made here as `judgment_table` gives them, every id a text of its
own. Nothing is drawn twice the same way, so two runs read the same judgments.
"""

import argparse
import random
import resource
import time
import tracemalloc
from collections.abc import Callable, Iterator
from itertools import combinations, islice, product
from typing import Any, TypeVar

from hearteval.analysis.data import JudgmentRow, StudyData, judgment_rows
from hearteval.analysis.judges.majorities import count_judges_together
from hearteval.analysis.ranking.comparisons import to_comparisons
from hearteval.domain import AXES, AxisMark, Choice, Item, Rater, System, Turn
from hearteval.sections.explained.measure import compare_judges

N_JUDGMENTS, N_ITEMS, N_SYSTEMS, N_RATERS, N_REPEATS = 1_000_000, 300, 18, 5, 3
BATCH = 10_000
T = TypeVar("T")
CHOICES: tuple[Choice, ...] = ("first", "second", "tie")

ITEMS = [
    Item(
        source="made",
        dialogue_id=f"d{number}",
        turn_index=0,
        situation="",
        context=(Turn(role="seeker", text="It is hard."),),
        subset="regular",
        emotion="",
        problem="",
        licence="none",
        consent_basis="made",
    )
    for number in range(N_ITEMS)
]
SYSTEMS = [System(name=f"s{k:02}", kind="model", family=f"f{k}") for k in range(N_SYSTEMS)]
RATERS = [
    Rater(name=f"r{k}", kind="llm", family=f"j{k}", settings={"model": f"r{k}"})
    for k in range(N_RATERS)
]


def batches() -> Iterator[dict[str, list[Any]]]:
    """Yield judgments as the store does: batches of columns, marks shared, every text its own."""
    draw = random.Random(6)
    marks = [
        {axis: AxisMark(draw.choice(CHOICES[:2]), draw.randint(1, 5)) for axis in AXES}
        for _ in range(500)
    ]
    pairs = list(combinations(range(N_SYSTEMS), 2))
    asked = product(range(N_REPEATS), range(N_ITEMS), pairs, (False, True), range(N_RATERS))
    chosen = islice(enumerate(asked), N_JUDGMENTS)
    while rows := list(islice(chosen, BATCH)):
        columns: dict[str, list[Any]] = {name: [] for name in JudgmentRow._fields}
        for number, (repeat, item, (one, other), turned, rater) in rows:
            first, second = (other, one) if turned else (one, other)
            is_tie = draw.random() < 0.1
            favours_one = draw.random() < 1 / (1 + 1.05 ** (one - other))
            choice = "tie" if is_tie else CHOICES[favours_one == turned]
            values = {
                "assignment_id": f"{number:032x}",
                "pair_id": f"{item:016x}{one:08x}{other:08x}",
                "item_id": str(ITEMS[item].id.encode(), "ascii"),
                "first_system_id": str(SYSTEMS[first].id.encode(), "ascii"),
                "second_system_id": str(SYSTEMS[second].id.encode(), "ascii"),
                "first_completion_id": f"{item:016x}{first:016x}",
                "rater_id": str(RATERS[rater].id.encode(), "ascii"),
                "repeat": repeat,
                "choice": str(choice.encode(), "ascii"),
                "strength": None if is_tie else draw.randint(1, 5),
                "axes": marks[draw.randrange(len(marks))],
                "finish_reason": str(b"stop", "ascii"),
            }
            for name, value in values.items():
                columns[name].append(value)
        yield columns


class Clock:
    """Says what each step took, and what it left."""

    def __init__(self) -> None:
        self.in_all = 0.0

    def measure(self, step: str, do: Callable[[], T]) -> T:
        """Do a step and report it."""
        if tracemalloc.is_tracing():
            tracemalloc.reset_peak()
        before = time.process_time()
        found = do()
        seconds = time.process_time() - before
        self.in_all += seconds
        memory = ""
        if tracemalloc.is_tracing():
            now, peak = tracemalloc.get_traced_memory()
            memory = f"  now {now / 2**20:7.0f} MiB  peak {peak / 2**20:7.0f} MiB"
        print(f"{step:24}{seconds:7.2f} s CPU{memory}", flush=True)
        return found


def load(clock: Clock) -> StudyData:
    """Read the batches, making them apart."""
    making, before = 0.0, time.process_time()

    def timed() -> Iterator[dict[str, list[Any]]]:
        nonlocal making, before
        given = batches()
        while True:
            before = time.process_time()
            batch = next(given, None)
            making += time.process_time() - before
            if batch is None:
                return
            yield batch

    data = clock.measure(
        "make and load",
        lambda: StudyData(
            items=ITEMS, systems=SYSTEMS, raters=RATERS, judgments=judgment_rows(timed())
        ),
    )
    print(f"{'  of this making':24}{making:7.2f} s CPU")
    clock.in_all -= making
    return data


def main() -> None:
    """Measure each step in turn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trace", action="store_true", help="trace memory step by step")
    if parser.parse_args().trace:
        tracemalloc.start()
    clock = Clock()
    data = load(clock)
    ranked = {system.id for system in SYSTEMS}
    data = clock.measure("select members", data.of_members)
    of_ranked = clock.measure(
        "select ranked", lambda: [row for row in data.judgments if row.is_among(ranked)]
    )
    rows = clock.measure("select first", lambda: [row for row in of_ranked if row.repeat == 0])
    ids = [system.id for system in SYSTEMS]
    for axis in (None, *AXES):
        clock.measure(
            f"comparisons {axis or 'overall'}",
            lambda axis=axis: to_comparisons(  # type: ignore[misc]
                rows, axis=axis, use_strength=axis is None, system_ids=ids
            ),
        )
    clock.measure("majorities", lambda: count_judges_together(rows, SYSTEMS, RATERS))
    clock.measure("judge panel", lambda: compare_judges(rows, SYSTEMS, RATERS, level=0.95))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{'in all':24}{clock.in_all:7.2f} s CPU  peak RSS {peak:.0f} MiB")


if __name__ == "__main__":
    main()
