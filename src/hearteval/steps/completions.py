"""The step: ask every system for what it has not answered, and store each answer as it comes."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from operator import itemgetter

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
    FindQuestion,
    Question,
    Tries,
    Wanted,
    ask_wanted,
    earlier_tries,
    find_wanted,
    first_of_each,
    n_workers,
    to_messages,
    used,
)
from hearteval.models.base import AskedModel, Message, Reply
from hearteval.store.base import Store
from hearteval.store.sharing.grouped import GroupedWriter

BATCH = 200
LASTING = frozenset(
    {"bad-key", "no-credit", "unknown-model", "refused-settings", "html", "not-a-completion"}
)
"""Reasons for which no time can be measured: every further call would most likely fail too."""


def complete_items(
    store: Store, study: Study, *, now: Callable[[], datetime], progress: Callable[[int, int], None]
) -> AskedCounts:
    """Write the missing completions of the study's keyless systems.

    Run twice, it adds nothing the second time: what is stored is kept, also where a system would
    borrow another reply now that the study has grown.
    """
    items = list(store.iter(Item, study))
    keyless = [s for s in store.iter(System, study) if s.kind in ("original", "baseline")]
    systems = [s for s in keyless if not s.is_imported and s.id not in study.pool]
    answered = {(c.system_id, c.item_id) for c in store.iter(Completion, study)}
    n_before = sum((s.id, item.id) in answered for s in systems for item in items)
    n_wanted, n_added, missing = len(systems) * len(items), 0, Counter[str]()
    progress(n_before, n_wanted)
    batch: list[Completion | Attempt] = []
    for record in _answers(items, systems, answered, seed=study.seed, now=now):
        batch.append(record)
        if isinstance(record, Attempt):
            missing[record.reason] += 1
        else:
            n_added += 1
        if len(batch) >= BATCH:
            store.add(batch)
            batch.clear()
            progress(n_before + n_added + missing.total(), n_wanted)
    store.add(batch)
    progress(n_wanted, n_wanted)
    return AskedCounts(n_wanted=n_wanted, n_before=n_before, n_added=n_added, missing=missing)


def _answers(
    items: Sequence[Item],
    systems: Sequence[System],
    answered: Collection[tuple[str, str]],
    *,
    seed: int,
    now: Callable[[], datetime],
) -> Iterator[Completion | Attempt]:
    for system in systems:
        open_ones = [item.id for item in items if (system.id, item.id) not in answered]
        if not open_ones:
            continue
        texts = baseline_texts(system.settings["preset"], items, seed=seed)
        for item_id in open_ones:
            text = texts[item_id]
            if isinstance(text, Missing):
                yield Attempt(
                    item_id=item_id, system_id=system.id, reason=text.reason, created_at=now()
                )
            else:
                yield Completion(item_id=item_id, system_id=system.id, text=text, created_at=now())


async def ask_systems(
    writer: GroupedWriter,
    study: Study,
    asked: Mapping[str, AskedModel | None],
    *,
    now: Callable[[], datetime],
    progress: Callable[[int, int], None],
    most: int | None = None,
) -> AskedCounts:
    """Ask every model for the items it has not answered.

    A reply that is empty, refused, cut off or over-long becomes an attempt with its reason, and is
    asked for once more; a call that fails becomes one too, and is made again in the next run. A
    model whose calls fail one after the other is asked no more.

    Args:
        writer: Where replies are written, at the store they are about.
        study: The study's current version.
        asked: Models by system id; None for those that `systems_to_ask` leaves out.
        now: Gives the time, UTC.
        progress: Told how many of how many are there.
        most: Items that each is asked about, no more; None for all.

    Raises:
        ExceptionGroup: Of `StoreError`; what came before is stored.
    """
    items = {item.id: item for item in writer.store.iter(Item, study)}
    briefs = briefs_of(writer.store, study, asked)

    def find_question(target: tuple[str, str]) -> tuple[AskedModel | None, Question]:
        system_id, item_id = target
        brief = briefs[system_id]
        messages = to_messages(support_messages(items[item_id], brief))

        def messages_after(faults: Sequence[str]) -> tuple[tuple[Message, ...], int]:
            # The number of unusable replies is part of the key under which a reply is kept: after
            # a kill the same question finds its answer, and a second try is a new question.
            return messages, len(faults)

        def read(reply: Reply) -> tuple[Completion]:
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
                created_at=now(),
                call=used(reply),
            )
            return (made,)

        named = {"system_id": system_id, "item_id": item_id}
        question = Question(target=named, messages_after=messages_after, read=read)
        return asked[system_id], question

    def find() -> tuple[Wanted[tuple[str, str]], FindQuestion[tuple[str, str]]]:
        wanted = _find_wanted(writer.store, study, asked)
        return first_of_each(wanted, itemgetter(0), most), find_question

    return await ask_wanted(
        find,
        run=partial(run_tasks, n_at_once=n_workers(asked.values())),
        keep=writer.add,
        now=now,
        progress=progress,
        claims=writer.panel,
    )


def briefs_of(store: Store, study: Study, system_ids: Collection[str]) -> Mapping[str, Brief]:
    """Return what each of these systems of a study, which are asked, is asked for."""
    systems = (one for one in store.iter(System, study) if one.id in system_ids)
    found = {one.id: brief_of(one) for one in systems}
    return {system_id: brief for system_id, brief in found.items() if brief is not None}


def systems_to_ask(store: Store, study: Study, system_ids: Collection[str]) -> frozenset[str]:
    """Return which of these systems have something left to be asked: only they need a key."""
    wanted = _find_wanted(store, study, system_ids)
    return frozenset(system_id for system_id, _ in wanted.open_ones)


def given_up_completions(store: Store, study: Study) -> frozenset[tuple[str, str]]:
    """Return the system and item of completions that stay missing: nobody asks for them again."""
    tries = _earlier_tries(store, study)
    return frozenset(target for target, tried in tries.items() if tried.is_over)


def _find_wanted(
    store: Store, study: Study, system_ids: Collection[str]
) -> Wanted[tuple[str, str]]:
    wanted = [(s, item.id) for item in store.iter(Item, study) for s in system_ids]
    answered = {(c.system_id, c.item_id) for c in store.iter(Completion, study)}
    return find_wanted(wanted, answered, _earlier_tries(store, study))


def _earlier_tries(store: Store, study: Study) -> Mapping[tuple[str, str], Tries]:
    return earlier_tries(store.iter(Attempt, study), _find_target, faults=COMPLETION_FAULTS)


def _find_target(attempt: Attempt) -> tuple[str, str] | None:
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
