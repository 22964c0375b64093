"""A study in memory whose judges rate, as canned models behind the real cache and budget."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from asked_study import NOW, AskedStudy, asked_study, now, quiet

from hearteval.domain import AXES, Completion, Item, Rater, System, axis_key
from hearteval.judgments.form import RATED
from hearteval.judgments.plan import PlanPolicy
from hearteval.judgments.plan.run import plan_ratings, store_stress_set
from hearteval.judgments.prompt import judge_schema
from hearteval.judgments.run import RatingTask, ask_judges
from hearteval.models.asking import AskedCounts
from hearteval.models.base import ChatModel, Sampling, Schema
from hearteval.models.wrappers.budget import SpendingLimit
from hearteval.store.sharing.grouped import GroupedWriter

RATING = Sampling(
    max_tokens=800,
    schema=Schema(name="heart_rating", schema=judge_schema(RATED)),
)


def scores(score: int = 3, comment: str = "plain") -> str:
    """A rating judge's reply, exactly as asked for."""
    mark = {"comment": comment, "score": score}
    return json.dumps(dict.fromkeys(map(axis_key, AXES), mark))


def rating_policy(*, stress_items: int = 0, repeat_pairs: int = 0) -> PlanPolicy:
    """What a study file without a word on its plan says, smaller."""
    return PlanPolicy(
        design="full",
        comparisons=None,
        both_orders=True,
        exclude_own_family=True,
        stress_items=stress_items,
        repeat_pairs=repeat_pairs,
    )


@dataclass
class RatedStudy(AskedStudy):
    """A study, its store, and what asking its judges for ratings came to."""

    policy: PlanPolicy = field(default_factory=rating_policy)

    def rate(self, models: Mapping[str, ChatModel], *, n_at_once: int = 1) -> AskedCounts:
        """Ask judges, by their names."""
        ids = {rater.name: rater.id for rater in self.store.iter(Rater, self.study)}
        store_stress_set(self.store, self.study, self.policy, now=now)
        targets = plan_ratings(self.store, self.study, self.policy).targets

        async def run() -> AskedCounts:
            self.ledger = SpendingLimit(limit_usd=self.limit_usd, spent_usd=self.store.spent_usd())
            async with GroupedWriter(self.store, wait_seconds=0.001) as writer:
                asked = {
                    ids[name]: self._asked(model, writer, RATING, n_at_once)
                    for name, model in models.items()
                }
                task = RatingTask(targets=targets)
                return await ask_judges(writer, self.study, asked, task, now=now, progress=quiet)

        return asyncio.run(run())


def rated_study(
    systems: Sequence[System],
    raters: Sequence[Rater],
    texts: Mapping[str, Sequence[str]],
    *,
    items: Sequence[Item],
    policy: PlanPolicy | None = None,
) -> RatedStudy:
    """Make a study in which systems, by their names, have said something to each item."""
    world = asked_study(systems, raters, items=items)
    writers = {"human": "somebody"}
    world.store.add(
        [
            Completion(
                item_id=item.id,
                system_id=system.id,
                text=text,
                writer_id=writers.get(system.kind),
                created_at=NOW,
            )
            for system in systems
            for item, text in zip(items, texts[system.name], strict=True)
        ]
    )
    return RatedStudy(world.store, world.study, policy=policy or rating_policy())
