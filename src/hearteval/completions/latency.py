"""Which calls time the systems: a few at a time, apart from what the completions took.

A time read while hundreds of calls share one process is wrong, so `heart complete` cannot give it.
Calls ask what completions ask, and their texts are not kept as completions. The first call of each
model opens its connection and may load it: it is made first, and left out.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hearteval.domain import Item, LatencyProbe, Study, record_id


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbePolicy:
    """How systems are timed: calls about each item, and the most under way at once, over all."""

    n_items: int
    n_repeats: int
    concurrency: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbePlan:
    """What is to be timed."""

    study: Study
    items: tuple[Item, ...]
    concurrency: int
    n_wanted: int
    """Calls of all systems, warm-up apart."""
    open_ones: tuple[tuple[int, Item, str], ...]
    """Those not made yet: repeat, item and system id, in the order of asking."""

    @property
    def warm_ups(self) -> tuple[tuple[Item, str], ...]:
        """One call for each system that has any to make."""
        systems = sorted({system_id for _, _, system_id in self.open_ones})
        return tuple((self.items[0], system_id) for system_id in systems)


def plan_probes(
    study: Study,
    items: Iterable[Item],
    system_ids: Sequence[str],
    policy: ProbePolicy,
    probes: Iterable[LatencyProbe],
) -> ProbePlan:
    """Choose items and say which calls are still to be made.

    Items measured before, by the probes, come first, then by the seed. Systems take turns within
    each item, so that an hour in which a network is slow is slow for all of them.
    """
    done = {
        (probe.repeat, probe.item_id, probe.system_id)
        for probe in probes
        if probe.concurrency == policy.concurrency
    }
    measured = {item_id for _, item_id, _ in done}
    seed = study.seed
    chosen = sorted(
        items,
        key=lambda i: (i.id not in measured, record_id("latency", {"seed": seed, "item": i.id})),
    )[: policy.n_items]
    wanted = [
        (repeat, item, system_id)
        for repeat in range(policy.n_repeats)
        for item in chosen
        for system_id in sorted(system_ids)
    ]
    return ProbePlan(
        study=study,
        items=tuple(chosen),
        concurrency=policy.concurrency,
        n_wanted=len(wanted),
        open_ones=tuple(w for w in wanted if (w[0], w[1].id, w[2]) not in done),
    )
