"""The step for models: ask them for what they have not answered, and store each reply at once."""

from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
    ask_question,
    earlier_tries,
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
    found = _find(writer.store, study, asked)
    outcomes, n_before = Counter(found.given_up), found.n_wanted - found.n_unanswered
    progress(n_before + sum(outcomes.values()), found.n_wanted)

    async def complete(model: AskedModel, target: Mapping[str, str], item: Item) -> None:
        tries = found.tries[target["system_id"], item.id]
        question = _question(target, item, now)
        outcomes[await ask_question(model, question, tries, keep=writer.add, now=now)] += 1
        progress(n_before + sum(outcomes.values()), found.n_wanted)

    def tasks() -> Iterator[Callable[[], Awaitable[None]]]:
        for system_id, item in found.open_ones:
            model = asked[system_id]
            assert model is not None, "a system that is to be asked has no model"
            target = {"system_id": system_id, "item_id": item.id}
            yield partial(complete, model, target, item)

    await run_tasks(tasks(), n_at_once=n_workers(asked.values()))
    n_added = outcomes.pop("", 0)
    return AskedCounts(
        n_wanted=found.n_wanted, n_before=n_before, n_added=n_added, missing=dict(outcomes)
    )


def systems_to_ask(store: Store, study: Study, system_ids: Collection[str]) -> frozenset[str]:
    """Return which of these systems have something left to be asked: only they need a key."""
    return frozenset(system_id for system_id, _ in _find(store, study, system_ids).open_ones)


def given_up_completions(store: Store, study: Study) -> frozenset[tuple[str, str]]:
    """Return the system and item of completions that stay missing: nobody asks for them again."""
    tries = _earlier_tries(store, study)
    return frozenset(target for target, tried in tries.items() if tried.is_over)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What is there of some systems, and what is to be asked."""

    n_wanted: int
    n_unanswered: int
    open_ones: Sequence[tuple[str, Item]]
    given_up: Mapping[str, int]
    tries: Mapping[tuple[str, str], Tries]


def _find(store: Store, study: Study, system_ids: Collection[str]) -> _Found:
    items = list(store.iter(Item, study))
    answered = {(c.system_id, c.item_id) for c in store.iter(Completion, study)}
    tries = _earlier_tries(store, study)
    unanswered = [(s, i) for i in items for s in system_ids if (s, i.id) not in answered]
    open_ones = [(s, i) for s, i in unanswered if not tries[s, i.id].is_over]
    return _Found(
        n_wanted=len(items) * len(system_ids),
        n_unanswered=len(unanswered),
        open_ones=open_ones,
        given_up=Counter(
            tries[s, i.id].faults[-1] for s, i in unanswered if tries[s, i.id].is_over
        ),
        tries=tries,
    )


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
