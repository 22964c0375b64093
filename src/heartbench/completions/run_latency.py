"""The step that times systems: calls a few at a time, apart from what the completions took.

A time read while hundreds of calls share one process is wrong, so `heart complete` cannot give it.
Calls ask what completions ask, and their texts are not kept as completions. The first call of each
model opens its connection and may load it: it is made first, and left out.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from heartbench.completions.prompting import support_messages
from heartbench.domain import Item, LatencyProbe, Study, record_id
from heartbench.engine.local import run_tasks
from heartbench.errors import BudgetError, ModelCallError
from heartbench.models.asking import FATAL, to_messages
from heartbench.models.base import AskedModel, Reply
from heartbench.store.base import Store
from heartbench.store.grouped import GroupedWriter


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbePolicy:
    """How systems are timed.

    Attributes:
        n_items: Items asked about.
        n_repeats: Calls about each item.
        concurrency: Most calls under way at once, over all systems.
    """

    n_items: int
    n_repeats: int
    concurrency: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbePlan:
    """What is to be timed.

    Attributes:
        study: The study.
        items: Items asked about.
        concurrency: Most calls under way at once.
        n_wanted: Calls of all systems, warm-up apart.
        open_ones: Those not made yet: repeat, item and system id, in the order of asking.
    """

    study: Study
    items: tuple[Item, ...]
    concurrency: int
    n_wanted: int
    open_ones: tuple[tuple[int, Item, str], ...]

    @property
    def warm_ups(self) -> tuple[tuple[Item, str], ...]:
        """One call for each system that has any to make."""
        systems = sorted({system_id for _, _, system_id in self.open_ones})
        return tuple((self.items[0], system_id) for system_id in systems)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeCounts:
    """What the step did.

    Attributes:
        n_wanted: Calls wanted, warm-up apart.
        n_before: Those measured before.
        n_added: Those measured now.
        n_warm_up: Calls made to warm up, measured and left out.
        failed: Calls without a reply by reason; they are made again in the next run.
    """

    n_wanted: int
    n_before: int
    n_added: int
    n_warm_up: int
    failed: Mapping[str, int]


def plan_probes(
    store: Store, study: Study, system_ids: Sequence[str], policy: ProbePolicy
) -> ProbePlan:
    """Choose items and say which calls are still to be made.

    Items measured before come first, then by the seed. Systems take turns within each item, so
    that an hour in which a network is slow is slow for all of them.
    """
    done = {
        (probe.repeat, probe.item_id, probe.system_id)
        for probe in store.iter(LatencyProbe, study)
        if probe.concurrency == policy.concurrency
    }
    measured = {item_id for _, item_id, _ in done}
    seed = study.seed
    items = sorted(
        store.iter(Item, study),
        key=lambda i: (i.id not in measured, record_id("latency", {"seed": seed, "item": i.id})),
    )[: policy.n_items]
    wanted = [
        (repeat, item, system_id)
        for repeat in range(policy.n_repeats)
        for item in items
        for system_id in sorted(system_ids)
    ]
    return ProbePlan(
        study=study,
        items=tuple(items),
        concurrency=policy.concurrency,
        n_wanted=len(wanted),
        open_ones=tuple(w for w in wanted if (w[0], w[1].id, w[2]) not in done),
    )


async def probe_systems(
    writer: GroupedWriter,
    plan: ProbePlan,
    asked: Mapping[str, AskedModel],
    *,
    now: Callable[[], datetime],
    progress: Callable[[int, int], None],
) -> ProbeCounts:
    """Make the calls of a plan and store each time as it comes.

    Args:
        writer: Where times are written.
        plan: What is to be timed.
        asked: Models by system id; they must answer nothing from a cache.
        now: Gives the time, UTC.
        progress: Told how many of how many are there.

    Raises:
        ExceptionGroup: Of `ModelCallError` for a failure that every further call would meet, or
            `BudgetError`; what came before is stored.
    """
    n_before, outcomes = plan.n_wanted - len(plan.open_ones), Counter[str]()
    progress(n_before, plan.n_wanted)

    async def warm_up(item: Item, system_id: str) -> None:
        await _ask(asked[system_id], item, repeat=0)

    async def probe(repeat: int, item: Item, system_id: str) -> None:
        outcome, found = await _ask(asked[system_id], item, repeat=repeat)
        if found is not None:
            target = {"study_id": plan.study.id, "system_id": system_id, "item_id": item.id}
            await writer.add(
                [
                    LatencyProbe(
                        **target,
                        repeat=repeat,
                        effective=found.effective,
                        first_token_ms=found.first_text_ms,
                        first_reasoning_ms=found.first_reasoning_ms,
                        total_ms=found.total_ms,
                        concurrency=plan.concurrency,
                        created_at=now(),
                    )
                ]
            )
        outcomes[outcome] += 1
        progress(n_before + sum(outcomes.values()), plan.n_wanted)

    await run_tasks((partial(warm_up, *one) for one in plan.warm_ups), n_at_once=1)
    await run_tasks((partial(probe, *one) for one in plan.open_ones), n_at_once=plan.concurrency)
    n_added = outcomes.pop("", 0)
    return ProbeCounts(
        n_wanted=plan.n_wanted,
        n_before=n_before,
        n_added=n_added,
        n_warm_up=len(plan.warm_ups),
        failed=dict(outcomes),
    )


async def _ask(asked: AskedModel, item: Item, *, repeat: int) -> tuple[str, Reply | None]:
    """Ask what a completion asks; return the reply after an empty text, or the reason for none."""
    try:
        messages = to_messages(support_messages(item))
        return "", await asked.model.complete(messages, asked.sampling, repeat=repeat)
    except BudgetError:
        raise
    except ModelCallError as error:
        if error.reason in FATAL:
            raise
        return error.reason, None
