"""Completions: ask every system for what it has not answered."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from functools import cache, partial
from operator import itemgetter
from typing import Any, Literal

from hearteval.completions.baselines import baseline_texts
from hearteval.completions.baselines.borrowed import Missing
from hearteval.completions.checks import COMPLETION_FAULTS, check_completion
from hearteval.completions.latency import ProbePlan
from hearteval.completions.prompting import Brief, brief_of, support_messages
from hearteval.domain import Attempt, Completion, Item, LatencyProbe, Study, System
from hearteval.engine.local import run_tasks
from hearteval.errors import BudgetError, ModelCallError
from hearteval.models.asking import (
    AskedCounts,
    Question,
    Tries,
    Wanted,
    earlier_tries,
    find_wanted,
    to_messages,
    used,
)
from hearteval.models.base import AskedModel, Message, Reply, Schema
from hearteval.steps import WholeStep, answer_offline
from hearteval.store.base import Store
from hearteval.store.sharing.grouped import GroupedWriter

LASTING = frozenset(
    {"bad-key", "no-credit", "unknown-model", "refused-settings", "html", "not-a-completion"}
)
"""Reasons for which no time can be measured: every further call would most likely fail too."""
Target = tuple[str, str]
"""A system and an item."""


class CompletionStep(WholeStep):
    """Have systems answer items. A reply that is empty, refused, cut off or over-long is none."""

    who: Literal["system"] = "system"
    answer = "reply"

    def find(self, store: Store, study: Study, ids: Collection[str]) -> Wanted[Target]:
        """Tell what these systems have not answered."""
        items = {item.id: item for item in store.iter(Item, study)}
        briefs = briefs_of(store, study, ids)
        return find_wanted(
            [(system_id, item_id) for item_id in items for system_id in ids],
            {(c.system_id, c.item_id) for c in store.iter(Completion, study)},
            _earlier_tries(store, study),
            owner_of=itemgetter(0),
            case_of=lambda target: (items[target[1]], briefs[target[0]]),
        )

    def ask(self, _study: Study, target: Target, case: tuple[Item, Brief]) -> Question:
        """Ask for the supporter's next turn."""
        (system_id, item_id), (item, brief) = target, case
        messages = to_messages(support_messages(item, brief))

        def messages_after(faults: Sequence[str]) -> tuple[tuple[Message, ...], int]:
            # The number of unusable replies is part of the key under which a reply is kept: after
            # a kill the same question finds its answer, and a second try is a new question.
            return messages, len(faults)

        def read(reply: Reply, at: datetime) -> tuple[Completion]:
            made = Completion(
                item_id=item_id,
                system_id=system_id,
                text=check_completion(
                    reply.text, finish_reason=reply.finish_reason, refusal=reply.refusal
                ),
                prompt_hash=brief.prompt_hash,
                first_token_ms=reply.first_text_ms,
                first_reasoning_ms=reply.first_reasoning_ms,
                total_ms=reply.total_ms,
                created_at=at,
                call=used(reply),
            )
            return (made,)

        named = {"system_id": system_id, "item_id": item_id}
        return Question(target=named, messages_after=messages_after, read=read)

    def schema(self, _bound: int | None) -> Schema | None:
        """Hold replies to nothing: they are free text."""
        return None


def complete_items(
    store: Store, study: Study, *, now: Callable[[], datetime], progress: Callable[[int, int], None]
) -> AskedCounts:
    """Write the missing completions of the study's keyless systems.

    Run twice, it adds nothing the second time: what is stored is kept, also where a system would
    borrow another reply now that the study has grown.
    """
    items = list(store.iter(Item, study))
    keyless = [s for s in store.iter(System, study) if s.kind in ("original", "baseline")]
    presets = {
        s.id: s.settings["preset"] for s in keyless if not s.is_imported and s.id not in study.pool
    }

    @cache
    def texts_of(system_id: str) -> Mapping[str, str | Missing]:
        return baseline_texts(presets[system_id], items, seed=study.seed)

    def answer(target: Target) -> tuple[Completion | Attempt]:
        system_id, item_id = target
        text = texts_of(system_id)[item_id]
        named: dict[str, Any] = {"item_id": item_id, "system_id": system_id, "created_at": now()}
        if isinstance(text, Missing):
            return (Attempt(**named, reason=text.reason),)
        return (Completion(**named, text=text),)

    wanted = CompletionStep().find(store, study, presets)
    return answer_offline(store, wanted, answer, progress=progress)


def briefs_of(store: Store, study: Study, system_ids: Collection[str]) -> Mapping[str, Brief]:
    """Return what each of these systems of a study, which are asked, is asked for."""
    systems = (one for one in store.iter(System, study) if one.id in system_ids)
    found = {one.id: brief_of(one) for one in systems}
    return {system_id: brief for system_id, brief in found.items() if brief is not None}


def given_up_completions(store: Store, study: Study) -> frozenset[Target]:
    """Return the system and item of completions that stay missing: nobody asks for them again."""
    tries = _earlier_tries(store, study)
    return frozenset(target for target, tried in tries.items() if tried.is_over)


def _earlier_tries(store: Store, study: Study) -> Mapping[Target, Tries]:
    return earlier_tries(store.iter(Attempt, study), _find_target, faults=COMPLETION_FAULTS)


def _find_target(attempt: Attempt) -> Target | None:
    if attempt.system_id is None or attempt.item_id is None:
        return None
    return attempt.system_id, attempt.item_id


async def probe_systems(
    writer: GroupedWriter,
    plan: ProbePlan,
    asked: Mapping[str, AskedModel],
    *,
    now: Callable[[], datetime],
    progress: Callable[[int, int], None],
) -> AskedCounts:
    """Make the calls of a latency plan and store each time as it comes.

    Models are given by system id and must answer nothing from a cache.

    Returns:
        Counts of calls, warm-up apart; those missing are made again in the next run.

    Raises:
        ExceptionGroup: Of `ModelCallError` for a failure that every further call would meet, or
            `BudgetError`.
    """
    n_before, outcomes = plan.n_wanted - len(plan.open_ones), Counter[str]()
    briefs = briefs_of(writer.store, plan.study, asked)
    progress(n_before, plan.n_wanted)

    async def warm_up(item: Item, system_id: str) -> None:
        await _time_call(asked[system_id], item, briefs[system_id], repeat=0)

    async def probe(repeat: int, item: Item, system_id: str) -> None:
        reply = await _time_call(asked[system_id], item, briefs[system_id], repeat=repeat)
        if isinstance(reply, Reply):
            measured = LatencyProbe(
                study_id=plan.study.id,
                system_id=system_id,
                item_id=item.id,
                repeat=repeat,
                effective=reply.effective,
                first_token_ms=reply.first_text_ms,
                first_reasoning_ms=reply.first_reasoning_ms,
                total_ms=reply.total_ms,
                concurrency=plan.concurrency,
                created_at=now(),
            )
            await writer.add([measured])
        outcomes["" if isinstance(reply, Reply) else reply] += 1
        progress(n_before + outcomes.total(), plan.n_wanted)

    await run_tasks((partial(warm_up, *one) for one in plan.warm_ups), n_at_once=1)
    await run_tasks((partial(probe, *one) for one in plan.open_ones), n_at_once=plan.concurrency)
    n_added = outcomes.pop("", 0)
    return AskedCounts(
        n_wanted=plan.n_wanted, n_before=n_before, n_added=n_added, missing=dict(outcomes)
    )


async def _time_call(asked: AskedModel, item: Item, brief: Brief, *, repeat: int) -> Reply | str:
    """Ask what a completion asks; return the reply, or the reason for none."""
    try:
        messages = to_messages(support_messages(item, brief))
        return await asked.model.complete(messages, asked.sampling, repeat=repeat)
    except BudgetError:
        raise
    except ModelCallError as error:
        if error.reason in LASTING:
            raise
        return error.reason
