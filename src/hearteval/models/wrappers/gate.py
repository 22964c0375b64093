"""The one way to an endpoint: when its calls go out, how often they are tried, when it is left be.

All models at one address with one key share a `Gate`. A refusal (too many calls) pauses all of
them and is no try. A call that fails otherwise is tried again as often as its model allows. When
calls fail one after the other the model is asked no more in this run, and where nobody answers at
all, the endpoint; others go on.
"""

import asyncio
import logging
import sys
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import inf

import numpy as np

from hearteval.domain.reasons import NOT_ASKED
from hearteval.errors import BudgetError, ModelCallError
from hearteval.models.base import HEED, ChatModel, Message, Reply, Sampling
from hearteval.models.failures import BREAKING, RETRYABLE, SPOILT, CallFailureError
from hearteval.models.wrappers.pace import START, CallLimits, Lane, Pace, Place
from hearteval.models.wrappers.rate_limits import read_announced

FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
"""Seconds before the second try, at most; it doubles with each, up to the longest."""
TRIES_UNREACHED = 4
"""Where nobody has answered yet: a wrong address is named within seconds."""
DEADLINE = 300.0
"""No try begins later than so many seconds after the first one failed."""
TOLD_FROM = 20.0
"""Seconds from which a pause is worth a line."""
TIMES_TOLD, TOLD_EVERY = 3, 300.0
"""Times at which calls were refused after which it is said, and seconds until it is said again."""
PACE_SECONDS = 10.0
"""Over which the pace that is said is counted."""
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Line:
    """The calls of one model that wait, and how those fared that ended."""

    name: str
    limits: CallLimits
    lane: Lane
    waiting: "deque[tuple[float, asyncio.Future[Place]]]"
    n_failed: int = 0
    is_stopped: bool = False
    has_replied: bool = False
    mean_tokens: float | None = None
    """Of the replies so far."""
    let_out: Callable[[], None] = lambda: None
    when_held: Callable[[], None] = lambda: None
    """Called where a call waits as other processes have all that is allowed."""

    @property
    def is_idle(self) -> bool:
        """Whether no call waits or is under way."""
        return not (self.waiting or self.lane.n_running)

    def allow(self, share: float) -> None:
        """Make so much of the calls a minute that the study file allows; 0 is none."""
        self.lane.allow(share)
        self.let_out()


class Gate:
    """One endpoint, for all of its models, in one event loop."""

    def __init__(self, name: str, *, say: Callable[[str], None], is_batch: bool = False) -> None:
        """Take its address as it may be said, and who is told when calls wait or end.

        The calls of a batch job wait for it together: they are neither paced nor tried again here.
        """
        self.name = name
        self.is_batch = is_batch
        self.pace = Pace(bound=inf if is_batch else START)
        self.is_reached = self.has_replied = False
        self._say = say
        self._lines: list[Line] = []
        self._timer: asyncio.TimerHandle | None = None
        self._told_until = self._told_refusals_at = -inf
        self._n_refused = self._n_times = 0
        self._began, self._refused_at = inf, -inf
        self._accepted: deque[float] = deque(maxlen=10_000)

    def open_line(self, name: str, limits: CallLimits, *, highest: int) -> Line:
        """Add a model, with the most calls of it in flight."""
        highest = sys.maxsize if self.is_batch else highest
        lane = Lane(highest=highest, rpm=limits.rpm, tpm=limits.tpm)
        line = Line(name, limits, lane, deque(), let_out=self._let_out)
        self._lines.append(line)
        return line

    async def enter(self, line: Line, tokens: float, *, is_again: bool) -> Place:
        """Wait until a call may go out; one that was refused before is first.

        Raises:
            ModelCallError: The model is asked no more; nothing was called.
        """
        _check_open(line)
        self._began = min(self._began, asyncio.get_running_loop().time())
        future: asyncio.Future[Place] = asyncio.get_running_loop().create_future()
        (line.waiting.appendleft if is_again else line.waiting.append)((tokens, future))
        self._let_out()
        if line.lane.is_held:
            line.when_held()
        try:
            return await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled() and not future.exception():
                self.leave(line)  # it had its turn and never took it
            raise

    def leave(self, line: Line) -> None:
        """Take down that a call has ended."""
        self.pace.end(line.lane)
        self._let_out()

    def accept(self, line: Line, place: Place, tokens: float | None) -> None:
        """Take down that a call was not refused, and the tokens of its reply and prompt."""
        self._accepted.append(asyncio.get_running_loop().time())
        highest = sum(each.lane.highest for each in self._lines)
        self.pace.accept(line.lane, place, highest=highest, tokens=tokens)

    def refuse(self, line: Line, place: Place, error: CallFailureError) -> float:
        """Pause everything, or stop where that would take too long.

        Returns the seconds for which only this call waits.
        """
        now = asyncio.get_running_loop().time()
        is_rate = error.reason == "rate-limited"
        asked = error.retry_after_seconds
        wait = self.pace.refuse(line.lane, place, now, asked=asked, is_rate=is_rate)
        longest = max(wait, self.pace.paused_until - now)
        _log.info("%s: %s; waiting %.1f s", line.name, error.reason, longest)
        self._stop_long_waits(now)
        self._n_refused += 1
        self._n_times += now >= self._refused_at + 1
        self._refused_at = now
        if self._n_times >= TIMES_TOLD and now >= self._told_refusals_at + TOLD_EVERY:
            self._told_refusals_at = now
            n_recent = sum(at > now - PACE_SECONDS for at in self._accepted)
            pace = n_recent / min(PACE_SECONDS, max(1.0, now - self._began))
            self._say(f"{self.name} refuses calls ({self._n_refused}); now {pace:.2g}/s; set rpm")
        return wait

    @contextmanager
    def heeding(self, line: Line, place: Place) -> Iterator[None]:
        """Listen to what the headers of an answer say about limits."""

        def heed(headers: Mapping[str, str]) -> None:
            announced = read_announced(headers, now=datetime.now(UTC))
            if announced:
                now = asyncio.get_running_loop().time()
                self.pace.heed(line.lane, place, announced, now)
                self._let_out()

        token = HEED.set(heed)
        try:
            yield
        finally:
            HEED.reset(token)

    def note_end(self, line: Line, error: ModelCallError | None) -> None:
        """Take down what came of a call after all of its tries, and stop a model that fails."""
        if error is None or error.reason not in BREAKING:
            line.n_failed = 0
            return
        line.n_failed += 1
        if line.n_failed < line.limits.stop_after or line.is_stopped:
            return
        said = error.said if isinstance(error, CallFailureError) else ""
        why = f"{error.reason}: {said}" if said else error.reason
        n, is_dead = line.n_failed, error.reason == "connection"
        who = self.name if is_dead else f"{line.name} at {self.name}"
        self._say(
            f"{who}: {n} calls in a row failed ({why}); it is asked no more in this run, what"
            " others do goes on; run again when it is cured"
        )
        self._stop(self._lines if is_dead else [line])

    def _let_out(self) -> None:
        """Let out what may go now, one of each model in turn, and come back when more may."""
        now = asyncio.get_running_loop().time()
        self._stop_long_waits(now)
        wake, turn = inf, list(self._lines)
        while turn:
            for line in list(turn):
                at = self._let_one_out(line, now)
                if at > now:
                    wake = min(wake, at)
                    turn.remove(line)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if wake < inf:
            self._timer = asyncio.get_running_loop().call_at(wake, self._let_out)

    def _let_one_out(self, line: Line, now: float) -> float:
        """Let one call out; return when the next may be, now if one was."""
        while line.waiting and line.waiting[0][1].done():  # cancelled
            line.waiting.popleft()
        if not line.waiting:
            return inf
        tokens, future = line.waiting[0]
        at = self.pace.ready_at(line.lane, tokens, now)
        if at <= now:
            line.waiting.popleft()
            future.set_result(self.pace.begin(line.lane, tokens, now))
        return at

    def _stop_long_waits(self, now: float) -> None:
        """Stop models that would have to wait for longer than they may; tell of long pauses."""
        since = min(now, self.pace.waits_since)
        for line in self._lines:
            until = self.pace.held_until(line.lane, now)
            if line.is_stopped or until <= now or not (line.waiting or line.lane.n_running):
                continue
            if until - since > line.limits.max_wait_s:
                self._say(
                    f"{line.name} at {self.name}: it wants no calls for {until - since:,.0f} s, and"
                    f" max_wait_s = {line.limits.max_wait_s:g} is the most: run again later, raise"
                    " max_wait_s of this model, or set its rpm below what the account allows"
                )
                self._stop([line])
            elif until - now > TOLD_FROM and until > self._told_until + TOLD_FROM:
                self._told_until = until
                self._say(f"{self.name} wants no calls for {until - now:,.0f} s: waiting")

    def refuse_waiting(self, line: Line, error: BudgetError) -> None:
        """End the calls of a model that wait: at the limit on spending none waits for its turn."""
        waiting, line.waiting = line.waiting, deque()
        for _, future in waiting:
            if not future.done():
                future.set_exception(BudgetError(str(error), reason="budget", n_attempts=0))

    def _stop(self, lines: Sequence[Line]) -> None:
        for line in lines:
            line.is_stopped = True
            waiting, line.waiting = line.waiting, deque()
            for _, future in waiting:
                if not future.done():
                    future.set_exception(_not_asked(line))


class Gated:
    """A model behind its endpoint's gate, tried again after what may pass: a `ChatModel`.

    Waits between tries are drawn evenly between 0 and a bound that doubles (full jitter: Brooker,
    "Exponential Backoff And Jitter", 2015), on top of what a Retry-After asks for.
    """

    def __init__(
        self,
        model: ChatModel,
        gate: Gate,
        line: Line,
        *,
        rng: np.random.Generator,
        count_tokens: Callable[[Sequence[Message], Sampling], float],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.name = model.name
        self._model = model
        self._gate = gate
        self._line = line
        self._rng = rng
        self._count_tokens = count_tokens
        self._sleep = sleep

    async def complete(
        self, messages: Sequence[Message], sampling: Sampling, *, repeat: int = 0
    ) -> Reply:
        """Ask until there is a reply or nothing more to hope for; see `ChatModel.complete`."""
        gate, line = self._gate, self._line
        n_calls, n_tries, deadline = 0, 0, inf
        last: ModelCallError | None = None
        while True:
            try:
                reply = await self._call(messages, sampling, repeat, is_again=last is not None)
                gate.note_end(line, None)
                return replace(reply, n_attempts=n_calls + reply.n_attempts) if n_calls else reply
            except BudgetError as error:
                gate.refuse_waiting(line, error)
                raise
            except ModelCallError as error:
                if error.reason == NOT_ASKED:
                    if last is None:
                        raise
                    last.n_attempts = n_calls  # what it failed with before the model was stopped
                    raise last from None
                n_calls += error.n_attempts
                last = error
                if isinstance(error, CallFailureError) and self._is_refusal(error):
                    await self._sleep(error.hold_seconds)
                    continue
                n_tries += 1
                now = asyncio.get_running_loop().time()
                deadline = min(deadline, now + DEADLINE)
                wait = self._draw_wait(error, n_tries)
                end = self._find_end(error, n_tries, wait, time_left=deadline - now)
                if end is not None:
                    error.headline += end
                    error.n_attempts = n_calls
                    gate.note_end(line, error)
                    raise
                _log.info("%s: %s; trying again in %.1f s", self.name, error.reason, wait)
            await self._sleep(wait)

    async def _call(
        self, messages: Sequence[Message], sampling: Sampling, repeat: int, *, is_again: bool
    ) -> Reply:
        """Make one call when its turn has come, and tell the gate what came of it."""
        gate, line = self._gate, self._line
        tokens = self._tokens(messages, sampling) if line.lane.counts_tokens else 0.0
        place = await gate.enter(line, tokens, is_again=is_again)
        try:
            with gate.heeding(line, place):
                reply = await self._model.complete(messages, sampling, repeat=repeat)
            gate.is_reached = gate.has_replied = line.has_replied = True
            gate.accept(line, place, self._used(reply))
            return reply
        except CallFailureError as error:
            gate.is_reached |= error.reason != "connection"
            if self._is_refusal(error):
                error.hold_seconds = gate.refuse(line, place, error)
            else:
                gate.accept(line, place, None)
                if error.reason == "overloaded":
                    gate.pace.ease()
            raise
        finally:
            gate.leave(line)

    def _is_refusal(self, error: CallFailureError) -> bool:
        return error.is_refusal and not self._gate.is_batch

    def _tokens(self, messages: Sequence[Message], sampling: Sampling) -> float:
        """Expect the tokens of a call: its prompt's, and those of a reply so far."""
        line = self._line
        most = float(sampling.max_tokens or 0)
        return self._count_tokens(messages, sampling) + (
            most if line.mean_tokens is None else line.mean_tokens
        )

    def _used(self, reply: Reply) -> float | None:
        """Return the tokens of a call, and learn how long replies are."""
        line, usage = self._line, reply.usage
        if usage.output_tokens is None:
            return None
        before = line.mean_tokens
        line.mean_tokens = (
            float(usage.output_tokens)
            if before is None
            else 0.9 * before + 0.1 * usage.output_tokens
        )
        return None if usage.input_tokens is None else usage.input_tokens + usage.output_tokens

    def _draw_wait(self, error: ModelCallError, n_tries: int) -> float:
        bound = min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** (n_tries - 1))
        asked = _asked_wait(error)
        # After a Retry-After only the first, small jitter: it keeps the calls that were all told
        # the same moment from coming back in one crowd.
        jitter = self._rng.uniform(0.0, bound if asked is None else FIRST_WAIT)
        return jitter + (asked or 0.0)

    def _find_end(
        self, error: ModelCallError, n_tries: int, wait: float, *, time_left: float
    ) -> str | None:
        """Return why there is no further try, as the end of the message; None if there is one."""
        gate, limits = self._gate, self._line.limits
        is_spoilt = error.reason in SPOILT and gate.has_replied
        is_doubtful = isinstance(error, CallFailureError) and error.is_doubtful
        is_doubtful = is_doubtful and self._line.has_replied
        if error.reason not in RETRYABLE and not is_spoilt and not is_doubtful:
            return ""
        asked = _asked_wait(error)
        if asked is not None and asked > limits.max_wait_s:
            return f"; gave up: it asks to wait {asked:.0f} s (max_wait_s = {limits.max_wait_s:g})"
        if gate.is_batch:
            return ""
        most = limits.tries if gate.is_reached else min(limits.tries, TRIES_UNREACHED)
        if n_tries >= most:
            return f"; gave up after {n_tries} tries"
        if wait > time_left:
            return f"; gave up after {n_tries} tries and {DEADLINE:.0f} s"
        return None


def _check_open(line: Line) -> None:
    if line.is_stopped:
        raise _not_asked(line)


def _not_asked(line: Line) -> ModelCallError:
    words = f"{line.name} is asked no more in this run"
    return ModelCallError(words, reason=NOT_ASKED, n_attempts=0)


def _asked_wait(error: ModelCallError) -> float | None:
    return error.retry_after_seconds if isinstance(error, CallFailureError) else None
