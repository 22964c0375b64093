"""Ask models for what a study wants of them: find what is open, ask, read, keep, count.

What is wanted (completions, judgments, ratings, labels) is for the steps. A reply that cannot be
used is an attempt with its reason, asked for once more and then given up: it never becomes a
default.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Container,
    Hashable,
    Iterable,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field, replace
from datetime import datetime
from time import monotonic
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from hearteval.domain import (
    Attempt,
    Call,
    Completion,
    Judgment,
    Label,
    Rating,
    flat_fields,
    record_id,
)
from hearteval.domain.reasons import NOT_ASKED
from hearteval.errors import BudgetError, InvalidReplyError, ModelCallError
from hearteval.models.base import MAX_RAW, AskedModel, Message, Reply
from hearteval.models.failures import CallFailureError
from hearteval.models.trial import Trial

WORKERS_PER_CALL = 4
"""While replies wait for their commits, other workers make the next calls."""
MAX_INVALID = 2
"""Replies that cannot be used, after which a question is given up."""
FIRST_CLAIM, MAX_CLAIM = 16, 1_024
"""Questions claimed at once: each claim is a commit, and what is claimed no other process asks."""
CLAIM_SECONDS = 2.0
"""So much of what was answered a second is claimed at once: a process that comes later finds some
left."""
LAST_CLAIMS = 8
"""No claim takes more than one in so many of what is left: at the end they are small."""
MAX_END = 100
UNREADABLE = "unreadable"

T = TypeVar("T", bound=Hashable)
Answer = Completion | Judgment | Rating | Label
Keep = Callable[[Sequence[Attempt | Answer]], Awaitable[None]]
Task = Callable[[], Awaitable[None]]
Trials = dict[int, Trial]
"""By the identity of the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedCounts:
    """What was wanted, and what was given."""

    n_wanted: int
    n_before: int
    """Of those wanted, there already."""
    n_added: int
    missing: Mapping[str, int]
    """Still missing, by the reason of the last attempt, or ``not-asked``."""
    stopped: str | None = None
    """Why asking ended at the limit on spending; None where it went to its end."""

    def __add__(self, other: "AskedCounts") -> "AskedCounts":
        return AskedCounts(
            n_wanted=self.n_wanted + other.n_wanted,
            n_before=self.n_before + other.n_before,
            n_added=self.n_added + other.n_added,
            missing=dict(Counter(self.missing) + Counter(other.missing)),
            stopped=self.stopped or other.stopped,
        )


NOTHING_ASKED = AskedCounts(n_wanted=0, n_before=0, n_added=0, missing={})


@dataclass(slots=True)
class Tries:
    """What was tried before for one question: how many tries, and the faults of their replies."""

    n: int = 0
    faults: list[str] = field(default_factory=list)
    reason: str = ""
    """Of the last one; empty where there was none."""
    detail: str | None = None
    """What the provider said of it."""

    @property
    def is_over(self) -> bool:
        """Whether nobody asks again."""
        return len(self.faults) >= MAX_INVALID


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a model is asked."""

    target: Mapping[str, Any]
    """The fields by which an attempt names what it was for."""
    messages_after: Callable[[Sequence[str]], tuple[tuple[Message, ...], int]]
    """Gives the messages and the number of the repetition, after replies with these faults."""
    read: Callable[[Reply, datetime], Sequence[Answer]]
    """Makes the records of a reply that came then, which are kept together; raises
    `InvalidReplyError` for one that cannot be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted(Generic[T]):
    """What is wanted of some models, and what of it is left to be asked."""

    n_wanted: int
    n_before: int
    """Of those wanted, there already."""
    open_ones: Sequence[T]
    """What to ask for, in this order."""
    given_up: Mapping[str, int]
    """What stays missing, counted by reason."""
    missing: Sequence[T]
    """What is left to be asked or given up."""
    tries: Mapping[T, Tries]
    owner_of: Callable[[T], str]
    """Says whom a target is wanted of, by the id of the system or rater."""
    case_of: Callable[[T], Any]
    """Gives what a question about a target is made of."""
    has_more: bool = False
    """Whether this is a page, and another one may follow."""

    @property
    def n_open(self) -> Counter[str]:
        """What is left to be asked of each; of whom nothing is, is not there."""
        return Counter(map(self.owner_of, self.open_ones))

    @property
    def counts(self) -> AskedCounts:
        """What there is if nobody asks."""
        missing = Counter(self.given_up) + Counter({NOT_ASKED: len(self.open_ones)})
        return replace(
            NOTHING_ASKED, n_wanted=self.n_wanted, n_before=self.n_before, missing=dict(missing)
        )


def earlier_tries(
    attempts: Iterable[Attempt],
    find_target: Callable[[Attempt], Hashable | None],
    *,
    faults: Collection[str],
) -> Mapping[Any, Tries]:
    """Gather what was tried, by target; a target that was never tried is there, without a try.

    `find_target` names what an attempt was for, None for what is none of ours; `faults` are the
    reasons that are of a reply, not of a call.
    """
    tries: defaultdict[Hashable, Tries] = defaultdict(Tries)
    for attempt in sorted(attempts, key=lambda attempt: attempt.attempt):
        target = find_target(attempt)
        if target is None:
            continue
        earlier = tries[target]
        earlier.n = attempt.attempt + 1
        earlier.reason, earlier.detail = attempt.reason, attempt.detail
        if attempt.reason in faults:
            earlier.faults.append(attempt.reason)
    return tries


def find_wanted(
    wanted: Sequence[T],
    answered: Container[T],
    tries: Mapping[T, Tries],
    *,
    owner_of: Callable[[T], str],
    case_of: Callable[[T], Any],
) -> Wanted[T]:
    """Tell which of the targets are answered, given up (by `earlier_tries`) and open."""
    given_up = {target: tried.faults[-1] for target, tried in tries.items() if tried.is_over}
    missing = [target for target in wanted if target not in answered]
    return Wanted(
        n_wanted=len(wanted),
        n_before=len(wanted) - len(missing),
        open_ones=[target for target in missing if target not in given_up],
        given_up=Counter(given_up[target] for target in missing if target in given_up),
        missing=missing,
        tries=tries,
        owner_of=owner_of,
        case_of=case_of,
    )


def first_of_each(wanted: Wanted[T], most: int | None) -> Wanted[T]:
    """Leave out what is open of an owner beyond its first `most`; None leaves out nothing."""
    if most is None:
        return wanted
    n_taken, taken = Counter[str](), []
    for target in wanted.open_ones:
        owner = wanted.owner_of(target)
        if n_taken[owner] < most:
            n_taken[owner] += 1
            taken.append(target)
    n_left = len(wanted.open_ones) - len(taken)
    return replace(wanted, open_ones=taken, n_wanted=wanted.n_wanted - n_left)


class Claims(Protocol):
    """Says which process asks what, so that two on one store pay once; a `Panel` of the store."""

    def look(self) -> None:
        """Take note that the store is about to be read."""

    async def claim(self, keys: Sequence[str]) -> frozenset[str]:
        """Return which of these questions are this process's own to ask; others go on meanwhile."""
        ...

    def finish(self, key: str) -> None:
        """Say that a question has been dealt with."""

    def release(self) -> None:
        """Release what is finished."""

    async def wait_until_free(self, keys: Collection[str]) -> None:
        """Wait until no other process claims one of these questions."""


FindQuestion = Callable[[T], tuple[AskedModel | None, Question]]
"""Says of a target whom to ask, and what."""


class Page(NamedTuple, Generic[T]):
    """Some of what is open, as it was read from the store together."""

    targets: Sequence[T]
    """What to ask for, in this order."""
    wanted: Wanted[T]
    find_question: FindQuestion[T]


async def run_to_limit(
    run: Callable[[Iterable[Task]], Awaitable[None]], tasks: Iterable[Task]
) -> str | None:
    """Run tasks; return why they ended at the limit on spending, None if they went to their end."""
    try:
        await run(tasks)
    except ExceptionGroup as faults:
        at_limit, others = faults.split(BudgetError)
        if at_limit is None or others is not None:
            raise
        return str(at_limit.exceptions[0])
    return None


async def ask_wanted(
    find: Callable[[], tuple[Wanted[T], FindQuestion[T]]],
    *,
    run: Callable[[Iterable[Task]], Awaitable[None]],
    keep: Keep,
    now: Callable[[], datetime],
    progress: Callable[[int, int], None],
    claims: Claims,
) -> AskedCounts:
    """Ask for everything that is open; every answer and every failed try is kept at once.

    What another process has claimed is left to it; once that is done, what is still open of it is
    asked for. What a model does not take any more in this run (`NOT_ASKED`), or is not asked any
    more after its `Trial`, stays open; the others go on. At the limit on spending no one is asked
    any more.

    What `find` returns is read from the store; what `keep` is given is durable when it returns;
    `run` raises what its tasks raise; `progress` is told how many of how many are there or given
    up.
    """
    reasons: dict[T, str] = {}
    trials: Trials = {}
    left: set[T] | None = None

    def note(_page: Page[T], target: T, reason: str) -> None:
        reasons[target] = reason
        progress(n_there + len(reasons), wanted.n_wanted)

    while True:
        claims.look()
        wanted, find_question = find()
        n_there = wanted.n_wanted - len(set(wanted.open_ones) | reasons.keys())
        progress(n_there + len(reasons), wanted.n_wanted)
        to_ask = [target for target in wanted.open_ones if left is None or target in left]
        left = set()
        stopped = await ask_pages(
            [Page(to_ask, wanted, find_question)],
            run=run,
            keep=keep,
            now=now,
            note=note,
            leave=left.add,
            claims=claims,
            trials=trials,
        )
        if stopped or not left:
            break
        await claims.wait_until_free([claim_key(target) for target in left])
    missing = Counter(wanted.given_up)
    missing.update(reasons.get(target, NOT_ASKED) for target in wanted.open_ones)
    n_added = sum(not reason for reason in reasons.values())
    del missing[""]
    return AskedCounts(
        n_wanted=wanted.n_wanted,
        n_before=wanted.n_wanted - n_added - missing.total(),
        n_added=n_added,
        missing=dict(missing),
        stopped=stopped,
    )


async def ask_pages(  # noqa: PLR0913 - what is asked, how it is kept, and what is told of it
    pages: Iterable[Page[T]],
    *,
    run: Callable[[Iterable[Task]], Awaitable[None]],
    keep: Keep,
    now: Callable[[], datetime],
    note: Callable[[Page[T], T, str], None],
    leave: Callable[[T], object],
    claims: Claims,
    trials: Trials,
) -> str | None:
    """Ask once for what nobody else has claimed of page after page; each is read as it comes.

    `note` is told of each target why its answer is missing, an empty text where it is there, and
    `leave` what others have claimed; the others are as of `ask_wanted`. `trials` go on from one
    call to the next.

    Returns why it ended at the limit on spending, None if it went to its end.
    """
    mine = _Mine(pages, claims, leave)

    async def ask() -> None:
        taken = await mine.take()
        if taken is None:
            return
        page, target = taken
        model, question = page.find_question(target)
        assert model is not None, "what is to be asked for has no model"
        trial = trials.setdefault(id(model), Trial(model))
        reason = await trial.ask(
            lambda keep: ask_question(
                model, question, page.wanted.tries[target], keep=keep, now=now
            ),
            keep=keep,
            spoken=question.messages_after(())[0],
        )
        claims.finish(claim_key(target))
        note(page, target, reason)

    stopped = await run_to_limit(run, iter(lambda: None if mine.is_over else ask, None))
    claims.release()
    return stopped


class _Mine(Generic[T]):
    """Targets that this process asks for, claimed as they are taken; told to `leave` others'.

    Claims grow with the pace at which targets are taken, and shrink towards the end.
    """

    def __init__(
        self,
        pages: Iterable[Page[T]],
        claims: Claims,
        leave: Callable[[T], object],
        seconds: Callable[[], float] = monotonic,
    ) -> None:
        self.is_over = False
        self._claimed = self._claim(pages, claims, leave, seconds)
        self._turn = asyncio.Lock()

    async def take(self) -> tuple[Page[T], T] | None:
        """Return the next one; None where there is no more, also once a claim has failed."""
        async with self._turn:
            taken = await anext(self._claimed, None)
        self.is_over = taken is None
        return taken

    async def _claim(
        self,
        pages: Iterable[Page[T]],
        claims: Claims,
        leave: Callable[[T], object],
        seconds: Callable[[], float],
    ) -> AsyncIterator[tuple[Page[T], T]]:
        n = FIRST_CLAIM
        for page in pages:
            targets, start = page.targets, 0
            while some := targets[start : start + n]:
                began = seconds()
                own = await claims.claim([claim_key(target) for target in some])
                for target in some:
                    if claim_key(target) in own:
                        yield page, target
                    else:
                        leave(target)
                start, took = start + n, max(seconds() - began, CLAIM_SECONDS / MAX_CLAIM)
                is_whole = len(own) == len(some)
                n_paced = round(len(some) / took * CLAIM_SECONDS) if is_whole else MAX_CLAIM
                n_end = MAX_CLAIM if page.wanted.has_more else (len(targets) - start) // LAST_CLAIMS
                n = max(FIRST_CLAIM, min(2 * n, n_paced, n_end, MAX_CLAIM))


def claim_key(target: Hashable) -> str:
    """Return the id of a question: that of the assignment, or made of its target."""
    return target if isinstance(target, str) else record_id("question", {"of": target})


async def ask_question(
    asked: AskedModel, question: Question, tries: Tries, *, keep: Keep, now: Callable[[], datetime]
) -> str:
    """Ask until there is an answer or none is to come; keep it and every failed try.

    Returns an empty text, or the reason why the answer is missing.
    """

    async def keep_attempt(reason: str, reply: Reply, raw: str, said: str = "") -> None:
        attempt = Attempt(
            **question.target,
            attempt=tries.n,
            reason=reason,
            raw=raw[:MAX_RAW],
            detail=said or None,
            created_at=now(),
            call=used(reply),
        )
        await keep([attempt])

    while not tries.is_over:
        messages, repeat = question.messages_after(tries.faults)
        try:
            reply = await asked.model.complete(messages, asked.sampling, repeat=repeat)
        except BudgetError:
            raise
        except ModelCallError as error:
            if error.reason == NOT_ASKED:
                return NOT_ASKED
            part, said = Reply(text=""), ""
            if isinstance(error, CallFailureError):
                part, said = error.reply, error.said
            await keep_attempt(error.reason, part, part.raw, said)
            return error.reason
        try:
            answers = question.read(reply, now())
        except InvalidReplyError as error:
            await keep_attempt(error.reason, reply, reply.text)
            tries.n += 1
            tries.faults.append(error.reason)
            continue
        await keep(answers)
        return ""
    return tries.faults[-1]


def to_messages(turns: Sequence[tuple[Any, str]]) -> tuple[Message, ...]:
    """Return a prompt's (role, content) pairs as messages."""
    return tuple(Message(role=role, content=content) for role, content in turns)


def used(reply: Reply) -> Call:
    """Return what a reply says of how it was made, as records hold it.

    What the endpoint calls its model stands among the effective settings. An end that is no
    printable word is not repeated.
    """
    end = reply.finish_reason
    is_said = end is None or (end.isprintable() and len(end) <= MAX_END)
    return Call(
        requested=dict(reply.requested),
        effective={**reply.effective, **({"model": reply.model} if _is_name(reply.model) else {})},
        finish_reason=end if is_said else UNREADABLE,
        usage={name: n for name, n in flat_fields(reply.usage).items() if n is not None},
        cost=reply.cost,
        cached=reply.cached,
    )


def _is_name(model: str) -> bool:
    """Say whether an endpoint's name for its model can be repeated."""
    return bool(model) and model.isprintable() and len(model) <= MAX_END


def n_workers(asked: Iterable[AskedModel | None]) -> int:
    """Return how many workers keep these models busy; how many call at once is for the models."""
    return WORKERS_PER_CALL * sum(model.n_at_once for model in asked if model is not None)
