"""A study in memory whose systems and judges are canned models behind the real cache and budget."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from canned_model import Answer, CannedModel
from made_records import FULL, made_study

from hearteval.completions.prompting import known_briefs
from hearteval.domain import (
    AXES,
    OVERALL,
    Completion,
    Item,
    Rater,
    Study,
    System,
    axis_key,
    hash_records,
)
from hearteval.errors import ModelCallError
from hearteval.items import load_starter_items
from hearteval.judgments.form import RATED, USUAL
from hearteval.judgments.plan import PlanPolicy
from hearteval.judgments.plan.run import plan_judgments, plan_ratings, store_stress_set
from hearteval.judgments.prompt import judge_schema
from hearteval.judgments.stress_set import stress_systems
from hearteval.labels.prompt import label_schema
from hearteval.labels.taxonomy import Taxonomy
from hearteval.models.asking import AskedCounts
from hearteval.models.base import AskedModel, ChatModel, Message, Reply, Sampling, Schema, Usage
from hearteval.models.failures import CallFailureError, Reason
from hearteval.models.wrappers.budget import Budgeted, SpendingLimit
from hearteval.models.wrappers.cached import Cached
from hearteval.steps import Step, ask_step
from hearteval.steps.completions import CompletionStep
from hearteval.steps.judgments import PairStep, RatingStep
from hearteval.steps.labels import LabelStep
from hearteval.store.sharing.grouped import GroupedWriter
from hearteval.store.sql import SqlStore
from hearteval.study.asking.models import StoredReplies, keep_lost_cost

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
ITEMS = load_starter_items()
CEILING, PRICE = 0.5, 0.125
"""US dollars: what a call may cost at most, and what each costs."""
USAGE = Usage(input_tokens=50, output_tokens=20)
GOOD_TEXT = "That is a lot to carry alone. What is the worst of it?"
JUDGING = Sampling(max_tokens=800, schema=Schema(name="heart_judgment", schema=judge_schema(USUAL)))
RATING = Sampling(max_tokens=800, schema=Schema(name="heart_rating", schema=judge_schema(RATED)))


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


def scores(score: int = 3, comment: str = "plain") -> str:
    """A rating judge's reply, exactly as asked for."""
    mark = {"comment": comment, "score": score}
    return json.dumps(dict.fromkeys(map(axis_key, AXES), mark))


@dataclass
class AskedStudy:
    """A study, its store, and what asking its models came to."""

    store: SqlStore
    study: Study
    policy: PlanPolicy = FULL
    limit_usd: float | None = None
    ledger: SpendingLimit = field(init=False)
    told: list[str] = field(default_factory=list)
    """What models that are asked no more were said to be."""

    def complete(self, models: Mapping[str, ChatModel], *, n_at_once: int = 1) -> AskedCounts:
        """Ask systems, by their names."""
        return self._ask(System, models, Sampling(max_tokens=64), n_at_once, CompletionStep())

    def judge(self, models: Mapping[str, ChatModel], *, n_at_once: int = 1) -> AskedCounts:
        """Ask judges for verdicts, by their names."""
        return self._ask(Rater, models, JUDGING, n_at_once, PairStep())

    def rate(self, models: Mapping[str, ChatModel], *, n_at_once: int = 1) -> AskedCounts:
        """Plan the ratings, and ask judges for them, by their names."""
        store_stress_set(self.store, self.study, self.policy, now=now)
        targets = plan_ratings(self.store, self.study, self.policy).targets
        return self._ask(Rater, models, RATING, n_at_once, RatingStep(targets=targets))

    def label(self, labeler: str, model: ChatModel, taxonomy: Taxonomy) -> AskedCounts:
        """Ask a labeler, by its name, for labels of a taxonomy."""
        schema = Schema(name="heart_labels", schema=label_schema(taxonomy))
        sampling = Sampling(max_tokens=900, schema=schema)
        return self._ask(Rater, {labeler: model}, sampling, 1, LabelStep(taxonomy=taxonomy))

    def _ask(
        self,
        kind: type[System | Rater],
        models: Mapping[str, ChatModel],
        sampling: Sampling,
        n_at_once: int,
        step: Step[Any],
    ) -> AskedCounts:
        ids = {one.name: one.id for one in self.store.iter(kind)}

        async def run() -> AskedCounts:
            self.ledger = SpendingLimit(limit_usd=self.limit_usd, spent_usd=self.store.spent_usd())
            async with GroupedWriter(self.store, wait_seconds=0.001) as writer:
                asked = {
                    ids[name]: self._asked(model, writer, sampling, n_at_once)
                    for name, model in models.items()
                }
                return await ask_step(writer, self.study, step, asked, now=now, progress=quiet)

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
    texts: Mapping[str, Sequence[str]] | None = None,
) -> AskedStudy:
    """Make a study in memory, with what systems, by their names, have said to each item."""
    completions = [
        Completion(
            item_id=item.id,
            system_id=system.id,
            text=text,
            writer_id="somebody" if system.kind == "human" else None,
            created_at=NOW,
        )
        for system in systems
        for item, text in zip(items, (texts or {}).get(system.name, ()), strict=False)
    ]
    systems = [*systems, *stress_systems(seed=3)]
    study = made_study(
        name="asked",
        seed=3,
        item_ids=tuple(sorted(item.id for item in items)),
        items_hash=hash_records(items),
        system_ids=tuple(sorted(system.id for system in systems)),
        rater_ids=tuple(sorted(rater.id for rater in raters)),
    )
    store = SqlStore.in_memory()
    store.add([*items, *systems, *raters, study, *completions])
    return AskedStudy(store, study)


def plan(world: AskedStudy, *, both_orders: bool = True) -> None:
    """Plan every pair for every judge that may see it."""
    world.policy = replace(world.policy, both_orders=both_orders)
    plan_judgments(world.store, world.study, world.policy, now=now)


def always(reply: Answer, *, name: str = "canned") -> CannedModel:
    """Answer the same to everything."""
    return CannedModel(lambda _messages, _sampling, _repeat: reply, name=name)


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
