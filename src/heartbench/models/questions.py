"""Questions to models: asked, asked once more if the reply cannot be used, then given up.

What it is about (a completion, a pair, a rating) is for the steps. A reply that cannot be used is
an attempt with its reason: never a default.
"""

from collections import Counter, defaultdict
from collections.abc import (
    Awaitable,
    Callable,
    Collection,
    Container,
    Hashable,
    Iterable,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, Generic, TypeVar

from heartbench.domain import Attempt, Completion, Judgment, Rating
from heartbench.errors import BudgetError, InvalidReplyError, ModelCallError
from heartbench.models.asking import FATAL, failed_call, invalid_reply
from heartbench.models.base import AskedModel, Message, Reply

MAX_INVALID = 2
"""Replies that cannot be used, after which a question is given up."""

T = TypeVar("T", bound=Hashable)
Answer = Completion | Judgment | Rating
Keep = Callable[[Sequence[Attempt | Answer]], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedCounts:
    """What was wanted of some models, and what they gave.

    Attributes:
        n_wanted: Answers wanted of these models.
        n_before: Of these, there already.
        n_added: Given now.
        missing: Still missing, by the reason of the last attempt.
    """

    n_wanted: int
    n_before: int
    n_added: int
    missing: Mapping[str, int]


NOTHING_ASKED = AskedCounts(n_wanted=0, n_before=0, n_added=0, missing={})


@dataclass(slots=True)
class Tries:
    """What was tried before for one question: how many tries, and the faults of their replies."""

    n: int = 0
    faults: list[str] = field(default_factory=list)

    @property
    def is_over(self) -> bool:
        """Whether nobody asks again."""
        return len(self.faults) >= MAX_INVALID


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a model is asked.

    Attributes:
        target: The fields by which an attempt names what it is about.
        word: Gives the messages and the number of the repetition, after so many faulty replies.
        read: Makes the record of a reply; raises `InvalidReplyError` for one that cannot be used.
    """

    target: Mapping[str, Any]
    word: Callable[[Sequence[str]], tuple[tuple[Message, ...], int]]
    read: Callable[[Reply], Answer]


def earlier_tries(
    attempts: Iterable[Attempt],
    target_of: Callable[[Attempt], Hashable | None],
    *,
    faults: Collection[str],
) -> Mapping[Any, Tries]:
    """Gather what was tried, by target; a target that was never tried is there, without a try.

    Args:
        attempts: Failed calls, in any order.
        target_of: Names what an attempt was at; None for what is none of ours.
        faults: Reasons that are of a reply, not of a call.
    """
    tries: defaultdict[Hashable, Tries] = defaultdict(Tries)
    for attempt in sorted(attempts, key=lambda attempt: attempt.attempt):
        target = target_of(attempt)
        if target is None:
            continue
        earlier = tries[target]
        earlier.n = attempt.attempt + 1
        if attempt.reason in faults:
            earlier.faults.append(attempt.reason)
    return tries


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted(Generic[T]):
    """What is wanted of some models, and what of it is left to be asked.

    Attributes:
        n_wanted: Answers wanted.
        n_before: Of these, there already.
        open_ones: What to ask about, by target.
        given_up: What stays missing, counted by reason.
        tries: What was tried before, by target.
    """

    n_wanted: int
    n_before: int
    open_ones: Sequence[T]
    given_up: Mapping[str, int]
    tries: Mapping[T, Tries]


def find_wanted(wanted: Sequence[T], answered: Container[T], tries: Mapping[T, Tries]) -> Wanted[T]:
    """Tell what is answered, what is given up and what is open.

    Args:
        wanted: Targets.
        answered: Those, and maybe others, that have an answer.
        tries: From `earlier_tries`.
    """
    missing = [target for target in wanted if target not in answered]
    return Wanted(
        n_wanted=len(wanted),
        n_before=len(wanted) - len(missing),
        open_ones=[target for target in missing if not tries[target].is_over],
        given_up=Counter(tries[target].faults[-1] for target in missing if tries[target].is_over),
        tries=tries,
    )


async def ask_wanted(
    wanted: Wanted[T],
    pose: Callable[[T], tuple[AskedModel | None, Question]],
    *,
    run: Callable[[Iterable[Callable[[], Awaitable[None]]]], Awaitable[None]],
    keep: Keep,
    now: Callable[[], datetime],
    progress: Callable[[int, int], None],
) -> AskedCounts:
    """Ask about everything that is open; every answer and every failed try is kept at once.

    Args:
        wanted: From `find_wanted`.
        pose: Gives the model to ask and the question, by target.
        run: Runs tasks; raises what they raise.
        keep: Stores records; they are durable when it returns.
        now: Gives the time, UTC.
        progress: Told how many of how many are there or given up.
    """
    outcomes = Counter(wanted.given_up)
    progress(wanted.n_before + outcomes.total(), wanted.n_wanted)

    async def ask(target: T) -> None:
        model, question = pose(target)
        assert model is not None, "what is to be asked about has no model"
        outcomes[await ask_question(model, question, wanted.tries[target], keep=keep, now=now)] += 1
        progress(wanted.n_before + outcomes.total(), wanted.n_wanted)

    await run(partial(ask, target) for target in wanted.open_ones)
    n_added = outcomes.pop("", 0)
    return AskedCounts(
        n_wanted=wanted.n_wanted,
        n_before=wanted.n_before,
        n_added=n_added,
        missing=dict(outcomes),
    )


async def ask_question(
    asked: AskedModel, question: Question, tries: Tries, *, keep: Keep, now: Callable[[], datetime]
) -> str:
    """Ask until there is an answer or none is to come; keep it and every failed try.

    Returns:
        An empty text, or the reason why the answer is missing.

    Raises:
        ModelCallError: Of a kind that every further call would meet too.
    """
    while not tries.is_over:
        messages, repeat = question.word(tries.faults)
        try:
            reply = await asked.model.complete(messages, asked.sampling, repeat=repeat)
        except BudgetError:
            raise
        except ModelCallError as error:
            await keep([failed_call(error, question.target, attempt=tries.n, now=now())])
            if error.reason in FATAL:
                raise
            return error.reason
        try:
            answer = question.read(reply)
        except InvalidReplyError as error:
            await keep([invalid_reply(error, reply, question.target, attempt=tries.n, now=now())])
            tries.n += 1
            tries.faults.append(error.reason)
            continue
        await keep([answer])
        return ""
    return tries.faults[-1]
