"""The stress set of a study: its texts as the store has them, and those that it lacks."""

from collections.abc import Callable
from datetime import datetime

from heartbench.domain import Completion, Item, Study, System
from heartbench.judgments.plan import PlanPolicy
from heartbench.judgments.stress import stress_completions
from heartbench.store.base import Store


def prepare_stress_set(
    store: Store, study: Study, policy: PlanPolicy, *, now: Callable[[], datetime]
) -> list[Completion]:
    """Return the texts that every judge faces, stored ones and new ones; nothing is stored.

    Args:
        store: Where the study is.
        study: Its current version.
        policy: Says on how many items.
        now: Gives the time, UTC.
    """
    bearers = [system for system in store.iter(System, study) if system.kind == "stress"]
    ids = {system.id for system in bearers}
    return stress_completions(
        list(store.iter(Item, study)),
        bearers,
        [completion for completion in store.iter(Completion, study) if completion.system_id in ids],
        n_items=policy.stress_items,
        seed=study.seed,
        now=now,
    )
