"""The step: ask every system for what it has not answered yet, and store it as it comes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from heartbench.completions.baselines import baseline_texts
from heartbench.completions.borrowed import Missing
from heartbench.domain import Attempt, Completion, Item, Study, System
from heartbench.store.base import Store

BATCH = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionCounts:
    """What the step found and did.

    Attributes:
        n_wanted: Systems times items.
        n_before: Completions that were there already.
        n_added: Completions written now.
        n_missing: Completions that no system could give.
    """

    n_wanted: int
    n_before: int
    n_added: int
    n_missing: int


def complete_items(
    store: Store,
    study: Study,
    *,
    now: Callable[[], datetime],
    progress: Callable[[int, int], None],
) -> CompletionCounts:
    """Write the missing completions of the study's keyless systems.

    Run twice, it adds nothing the second time: what is stored is kept, also where a system would
    borrow another reply now that the study has grown.

    Args:
        store: Where items are read and completions written.
        study: The study's current version.
        now: Gives the time, UTC.
        progress: Told how many of how many are there.
    """
    items = list(store.iter(Item, study))
    systems = [s for s in store.iter(System, study) if s.kind not in ("stress", "model")]
    answered = {(c.system_id, c.item_id) for c in store.iter(Completion, study)}
    n_before = sum((s.id, item.id) in answered for s in systems for item in items)
    n_wanted, n_added = len(systems) * len(items), 0
    n_missing = 0
    progress(n_before, n_wanted)
    batch: list[Completion | Attempt] = []
    for record in _outcomes(items, systems, answered, seed=study.seed, now=now):
        batch.append(record)
        is_completion = isinstance(record, Completion)
        n_added, n_missing = n_added + is_completion, n_missing + (not is_completion)
        if len(batch) >= BATCH:
            store.add(batch)
            batch.clear()
            progress(n_before + n_added + n_missing, n_wanted)
    store.add(batch)
    progress(n_wanted, n_wanted)
    return CompletionCounts(
        n_wanted=n_wanted, n_before=n_before, n_added=n_added, n_missing=n_missing
    )


def _outcomes(
    items: Sequence[Item],
    systems: Sequence[System],
    answered: set[tuple[str, str]],
    *,
    seed: int,
    now: Callable[[], datetime],
) -> Iterator[Completion | Attempt]:
    for system in systems:
        if all((system.id, item.id) in answered for item in items):
            continue
        texts: Mapping[str, str | Missing] = baseline_texts(
            system.settings["preset"], items, seed=seed
        )
        for item in items:
            if (system.id, item.id) in answered:
                continue
            text = texts[item.id]
            if isinstance(text, Missing):
                yield Attempt(
                    item_id=item.id, system_id=system.id, reason=text.reason, created_at=now()
                )
            else:
                yield Completion(item_id=item.id, system_id=system.id, text=text, created_at=now())
