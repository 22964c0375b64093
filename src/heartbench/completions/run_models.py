"""The step for models: ask them for what they have not answered, and store each reply at once."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from functools import partial

from heartbench.completions.checks import COMPLETION_FAULTS, check_completion
from heartbench.completions.prompting import support_messages, support_prompt_hash
from heartbench.domain import Attempt, Completion, Item, Study
from heartbench.engine.local import run_tasks
from heartbench.models.asking import end_of, n_workers, to_messages, used
from heartbench.models.base import AskedModel, Message, Reply
from heartbench.models.questions import (
    AskedCounts,
    Question,
    Tries,
    Wanted,
    ask_wanted,
    earlier_tries,
    find_wanted,
)
from heartbench.store.base import Store
from heartbench.store.grouped import GroupedWriter


async def ask_systems(
    writer: GroupedWriter,
    study: Study,
    asked: Mapping[str, AskedModel | None],
    *,
    now: Callable[[], datetime],
    progress: Callable[[int, int], None],
) -> AskedCounts:
    """Ask every model for the items it has not answered.

    A reply that is empty, refused, cut off or over-long becomes an attempt with its reason, and is
    asked for once more; a call that fails becomes one too, and is made again in the next run.

    Args:
        writer: Where replies are written, at the store they are about.
        study: The study's current version.
        asked: Models by system id; None for those that `systems_to_ask` leaves out.
        now: Gives the time, UTC.
        progress: Told how many of how many are there.

    Raises:
        ExceptionGroup: Of `ModelCallError` for a failure that every further call would meet, or
            `BudgetError`; what came before is stored.
    """
    items = {item.id: item for item in writer.store.iter(Item, study)}

    def pose(target: tuple[str, str]) -> tuple[AskedModel | None, Question]:
        system_id, item_id = target
        named = {"system_id": system_id, "item_id": item_id}
        return asked[system_id], _question(named, items[item_id], now)

    return await ask_wanted(
        _find(writer.store, study, asked),
        pose,
        run=partial(run_tasks, n_at_once=n_workers(asked.values())),
        keep=writer.add,
        now=now,
        progress=progress,
    )


def systems_to_ask(store: Store, study: Study, system_ids: Collection[str]) -> frozenset[str]:
    """Return which of these systems have something left to be asked: only they need a key."""
    return frozenset(system_id for system_id, _ in _find(store, study, system_ids).open_ones)


def given_up_completions(store: Store, study: Study) -> frozenset[tuple[str, str]]:
    """Return the system and item of completions that stay missing: nobody asks for them again."""
    tries = _earlier_tries(store, study)
    return frozenset(target for target, tried in tries.items() if tried.is_over)


def _find(store: Store, study: Study, system_ids: Collection[str]) -> Wanted[tuple[str, str]]:
    wanted = [(s, item.id) for item in store.iter(Item, study) for s in system_ids]
    answered = {(c.system_id, c.item_id) for c in store.iter(Completion, study)}
    return find_wanted(wanted, answered, _earlier_tries(store, study))


def _earlier_tries(store: Store, study: Study) -> Mapping[tuple[str, str], Tries]:
    return earlier_tries(store.iter(Attempt, study), _target_of, faults=COMPLETION_FAULTS)


def _target_of(attempt: Attempt) -> tuple[str, str] | None:
    if attempt.system_id is None or attempt.item_id is None:
        return None
    return attempt.system_id, attempt.item_id


def _question(target: Mapping[str, str], item: Item, now: Callable[[], datetime]) -> Question:
    messages = to_messages(support_messages(item))

    def word(faults: Sequence[str]) -> tuple[tuple[Message, ...], int]:
        # The number of unusable replies is part of the key under which a reply is kept: after a
        # kill the same question finds its answer, and a second try is a new question.
        return messages, len(faults)

    def read(reply: Reply) -> Completion:
        text = check_completion(
            reply.text, finish_reason=reply.finish_reason, refusal=reply.refusal
        )
        return _completion(target, text, reply, now())

    return Question(target=target, word=word, read=read)


def _completion(
    target: Mapping[str, str], text: str, reply: Reply, created_at: datetime
) -> Completion:
    return Completion(
        item_id=target["item_id"],
        system_id=target["system_id"],
        text=text,
        prompt_hash=support_prompt_hash(),
        finish_reason=end_of(reply),
        first_token_ms=reply.first_text_ms,
        first_reasoning_ms=reply.first_reasoning_ms,
        total_ms=reply.total_ms,
        cached=reply.cached,
        created_at=created_at,
        **used(reply),
    )
