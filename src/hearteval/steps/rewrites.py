"""Rewrites: have a model rewrite seeker turns, check each rewrite, have another model read it.

This is no `Step`: what is asked next hangs on what the models have said (decision note 0068).

Nothing is kept here but what the models' reply cache keeps: asked again in the same order, it gives
the same rewrites for nothing, so that a run that was stopped goes on where it was, and `replay`
tells what is left to ask.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from hearteval.domain import Turn
from hearteval.domain.reasons import NOT_ASKED
from hearteval.errors import BudgetError, InvalidReplyError, ModelCallError
from hearteval.items.escalation.checks import Finding, Reading, check_reading, check_text
from hearteval.items.escalation.outcome import (
    GIVEN_UP,
    TO_READ,
    UNREAD,
    Outcome,
    Rejected,
    rewrite_id,
    rewritten_item,
)
from hearteval.items.escalation.plan import Planned
from hearteval.items.escalation.prompt import (
    reading_messages,
    reading_schema,
    rewrite_messages,
    rewrite_schema,
)
from hearteval.items.escalation.reply import read_reading, read_rewrite
from hearteval.models.asking import MAX_INVALID, Task, run_to_limit, to_messages
from hearteval.models.base import MAX_RAW, AskedModel, JsonObject, Message, Reply, Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Hand:
    """A model that takes part."""

    asked: AskedModel
    name: str
    """What items and evidence call it."""
    bound: int | None = None
    """Most characters of a text in a reply, for endpoints that keep it."""

    async def say(
        self, messages: Sequence[Message], name: str, schema: JsonObject, *, repeat: int
    ) -> Reply:
        """Answer, held to a schema."""
        sampling = replace(self.asked.sampling, schema=Schema(name=name, schema=schema))
        return await self.asked.model.complete(messages, sampling, repeat=repeat)


Read = Callable[[Planned, tuple[Turn, ...]], Awaitable[Reading | None]]
"""Reads a rewrite without being told its profile; None where that is still to be done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Escalation:
    """What became of a plan."""

    outcomes: tuple[Outcome, ...]
    """In the order of the plan."""
    stopped: str | None = None
    """Why asking ended at the limit on spending; None where it went to its end."""


async def escalate(  # noqa: PLR0913 - what is rewritten, by whom, how often and how
    planned: Sequence[Planned],
    writer: Hand,
    read: Read,
    *,
    tries: int,
    seed: int,
    run: Callable[[Iterable[Task]], Awaitable[None]],
    progress: Callable[[int, int], None],
) -> Escalation:
    """Rewrite what is planned; a call that fails leaves its item open, the others go on.

    Args:
        planned: What to rewrite, and how.
        writer: The model that rewrites.
        read: Who reads the rewrites whose words pass.
        tries: Rewrites of one item, at most.
        seed: Of the marker lines.
        run: Runs tasks, some at once; raises what they raise.
        progress: Is told how many of how many are settled.
    """
    found: dict[str, Outcome] = {}

    def task(one: Planned) -> Task:
        async def work() -> None:
            found[one.id] = await _settle(one, writer, read, tries=tries, seed=seed)
            progress(len(found), len(planned))

        return work

    stopped = await run_to_limit(run, (task(one) for one in planned))
    outcomes = (found.get(one.id, Outcome(planned=one, missing=NOT_ASKED)) for one in planned)
    return Escalation(outcomes=tuple(outcomes), stopped=stopped)


def reading_by(reader: Hand, *, seed: int) -> Read:
    """Return a reader that is a model, asked once more where its reply cannot be used."""

    async def read(planned: Planned, context: tuple[Turn, ...]) -> Reading:
        schema = reading_schema(context, max_characters=reader.bound)
        own_id, faults = rewrite_id(planned, context), [""]
        while True:
            messages = to_messages(reading_messages(context, own_id, seed=seed, fault=faults[-1]))
            reply = await reader.say(messages, "heart_reading", schema, repeat=len(faults) - 1)
            try:
                return read_reading(reply, context, by=reader.name)
            except InvalidReplyError as error:
                if len(faults) >= MAX_INVALID:
                    raise
                faults.append(error.reason)

    return read


async def _settle(planned: Planned, writer: Hand, read: Read, *, tries: int, seed: int) -> Outcome:
    """Try until a rewrite passes, the tries are used up, or a model gives no reply."""
    rejected: list[Rejected] = []
    missing = GIVEN_UP
    try:
        for number in range(1, tries + 1):
            fault = rejected[-1].reasons[0].rule if rejected else ""
            messages = to_messages(rewrite_messages(planned, seed=seed, fault=fault))
            schema = rewrite_schema(planned.source.context, max_characters=writer.bound)
            reply = await writer.say(messages, "heart_rewrite", schema, repeat=number - 1)
            found = await _check(planned, reply, read, number=number, by=writer.name)
            if isinstance(found, Outcome):
                return replace(found, rejected=tuple(rejected))
            rejected.append(found)
    except InvalidReplyError as error:
        missing = f"{UNREAD} ({error.reason})"
    except BudgetError:
        raise
    except ModelCallError as error:
        missing = error.reason
    return Outcome(planned=planned, rejected=tuple(rejected), missing=missing)


async def _check(
    planned: Planned, reply: Reply, read: Read, *, number: int, by: str
) -> Outcome | Rejected:
    """Hold one reply against all that a rewrite must be.

    Raises:
        InvalidReplyError: Whoever reads it gave no reply that can be used.
    """
    try:
        context = read_rewrite(reply, planned)
    except InvalidReplyError as error:
        fault = Finding(error.reason, is_pass=False, evidence=str(error))
        raw = (reply.refusal or reply.text)[:MAX_RAW]
        return Rejected(planned=planned, number=number, reasons=(fault,), raw=raw)
    findings = check_text(planned.source, context)
    if all(finding.is_pass for finding in findings):
        reading = await read(planned, context)
        if reading is None:
            return Outcome(planned=planned, missing=TO_READ, to_read=context)
        findings += check_reading(planned, reading)
    reasons = tuple(finding for finding in findings if not finding.is_pass)
    if reasons:
        return Rejected(planned=planned, number=number, reasons=reasons, context=context)
    return Outcome(planned=planned, item=rewritten_item(planned, context, by=by), findings=findings)
