"""A study in memory whose systems and judges are canned models behind the real cache and budget."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial

from canned_model import CannedModel

from hearteval.completions.prompting import known_briefs
from hearteval.completions.run import ask_systems
from hearteval.domain import AXES, OVERALL, Item, Rater, Study, System, axis_key, hash_records
from hearteval.errors import ModelCallError
from hearteval.items import load_starter_items
from hearteval.judgments.form import USUAL
from hearteval.judgments.plan import PlanPolicy
from hearteval.judgments.plan.run import plan_judgments
from hearteval.judgments.prompt import judge_schema
from hearteval.judgments.run import PairTask, ask_judges
from hearteval.judgments.stress_set import stress_systems
from hearteval.models.asking import AskedCounts
from hearteval.models.base import AskedModel, ChatModel, Message, Reply, Sampling, Schema, Usage
from hearteval.models.failures import CallFailureError, Reason
from hearteval.models.wrappers.budget import Budgeted, SpendingLimit
from hearteval.models.wrappers.cached import Cached
from hearteval.store.sharing.grouped import GroupedWriter
from hearteval.store.sql import SqlStore
from hearteval.study.asking.models import StoredReplies, keep_lost_cost

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
ITEMS = load_starter_items()
CEILING, PRICE = 0.5, 0.125
"""US dollars: what a call may cost at most, and what each costs."""
USAGE = Usage(input_tokens=50, output_tokens=20)
GOOD_TEXT = "That is a lot to carry alone. What is the worst of it?"
JUDGING = Sampling(
    max_tokens=800,
    schema=Schema(name="heart_judgment", schema=judge_schema(USUAL)),
)


def now() -> datetime:
    return NOW


def quiet(_done: int, _total: int) -> None:
    return None


def said(text: str = GOOD_TEXT, finish: str | None = "stop", **values: str) -> Reply:
    """A reply with everything that an endpoint measures."""
    return Reply(
        text=text,
        finish_reason=finish,
        usage=USAGE,
        first_text_ms=11.0,
        first_reasoning_ms=7.0,
        total_ms=250.0,
        **values,  # type: ignore[arg-type]
    )


def failure(reason: Reason, *, came: str = "", words: str = "") -> ModelCallError:
    """A call that came to nothing, or to a part of a reply."""
    reply = Reply(text=came, raw=came, usage=USAGE if came else Usage())
    return CallFailureError(f"canned: {reason}", reason=reason, reply=reply, said=words)


def verdict(winner: str = "A", strength: int = 3, reason: str = "warmer") -> str:
    """A judge's reply, exactly as asked for."""
    mark = {"reason": reason, "winner": winner, "strength": strength}
    return json.dumps(dict.fromkeys([*map(axis_key, AXES), OVERALL], mark))


@dataclass
class AskedStudy:
    """A study, its store, and what asking its models came to."""

    store: SqlStore
    study: Study
    limit_usd: float | None = None
    ledger: SpendingLimit = field(init=False)
    told: list[str] = field(default_factory=list)
    """What models that are asked no more were said to be."""

    def complete(self, models: Mapping[str, ChatModel], *, n_at_once: int = 1) -> AskedCounts:
        """Ask systems, by their names."""
        ids = {system.name: system.id for system in self.store.iter(System, self.study)}

        async def run() -> AskedCounts:
            self.ledger = SpendingLimit(limit_usd=self.limit_usd, spent_usd=self.store.spent_usd())
            async with GroupedWriter(self.store, wait_seconds=0.001) as writer:
                asked = {
                    ids[name]: self._asked(model, writer, Sampling(max_tokens=64), n_at_once)
                    for name, model in models.items()
                }
                return await ask_systems(writer, self.study, asked, now=now, progress=quiet)

        return asyncio.run(run())

    def judge(self, models: Mapping[str, ChatModel], *, n_at_once: int = 1) -> AskedCounts:
        """Ask judges, by their names."""
        ids = {rater.name: rater.id for rater in self.store.iter(Rater, self.study)}

        async def run() -> AskedCounts:
            self.ledger = SpendingLimit(limit_usd=self.limit_usd, spent_usd=self.store.spent_usd())
            async with GroupedWriter(self.store, wait_seconds=0.001) as writer:
                asked = {
                    ids[name]: self._asked(model, writer, JUDGING, n_at_once)
                    for name, model in models.items()
                }
                return await ask_judges(
                    writer, self.study, asked, PairTask(), now=now, progress=quiet
                )

        return asyncio.run(run())

    def _asked(
        self, model: ChatModel, writer: GroupedWriter, sampling: Sampling, n_at_once: int
    ) -> AskedModel:
        budgeted = Budgeted(
            model,
            self.ledger,
            ceiling=lambda _m, _s: CEILING,
            price=lambda usage: None if usage.input_tokens is None else PRICE,
            book_lost=partial(keep_lost_cost, writer, now),
        )
        cached = Cached(budgeted, StoredReplies(writer, now), identity={"model": model.name})
        return AskedModel(
            model=cached, sampling=sampling, n_at_once=n_at_once, say=self.told.append
        )


def model_system(name: str, *, family: str = "ours") -> System:
    settings = {"model": name, **known_briefs()["paper"].settings}
    return System(name=name, kind="model", family=family, settings=settings)


def judge(name: str, *, family: str = "theirs") -> Rater:
    return Rater(name=name, kind="llm", family=family, settings={"model": name})


def asked_study(
    systems: Sequence[System],
    raters: Sequence[Rater] = (),
    *,
    items: Sequence[Item] = tuple(ITEMS[:3]),
) -> AskedStudy:
    """Make a study in memory."""
    systems = [*systems, *stress_systems(seed=3)]
    study = Study(
        name="asked",
        seed=3,
        item_ids=tuple(sorted(item.id for item in items)),
        items_hash=hash_records(items),
        system_ids=tuple(sorted(system.id for system in systems)),
        rater_ids=tuple(sorted(rater.id for rater in raters)),
        design={},
        protocol_version="1",
        settings_hash="",
        software_version="",
        created_at=NOW,
    )
    store = SqlStore.in_memory()
    store.add([*items, *systems, *raters, study])
    return AskedStudy(store, study)


def plan(world: AskedStudy, *, both_orders: bool = True, repeat_pairs: int = 0) -> None:
    """Plan every pair for every judge that may see it."""
    policy = PlanPolicy(
        design="full",
        comparisons=None,
        both_orders=both_orders,
        exclude_own_family=True,
        stress_items=0,
        repeat_pairs=repeat_pairs,
    )
    plan_judgments(world.store, world.study, policy, now=now)


def by_call(
    *answers: Reply | ModelCallError, after: Reply | None = None, name: str = "canned"
) -> CannedModel:
    """Answer in turn, then always the same."""
    script = list(answers)

    def answer(_messages: Sequence[Message], _sampling: Sampling, _repeat: int) -> Reply:
        found = script.pop(0) if script else (after or said())
        if isinstance(found, ModelCallError):
            raise found
        return replace(found)

    return CannedModel(answer, name=name)
