"""When the next call may go out to an endpoint. Pure: the time comes in, and nobody waits here.

Three things hold a call back. In flight: 16 at first, one more with every answer, so that they
double while nothing is refused. Spacing: calls a minute that the study file allows, or that were
counted between refusals. What is left: as the endpoint's own headers say. After a refusal nothing
goes out until the time that the endpoint asks for; then one call, and slowly more.

Refusals that come again at a pace that was borne, and was not raised since, do not go with the
pace: then only the refused call waits and nothing is slowed, until most calls are refused.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf
from typing import Literal, NamedTuple

START = 16
"""Calls in flight before anything is known."""
SLACK = 0.97
"""Of the rate that was counted, what is used; clocks and counts differ by a little."""
SET_SLACK = 0.98
"""Of a rate that the study file sets."""
QUIET_CALLS = 60
"""Answers without a refusal after which a little more is tried."""
RAISE = 1.25
MOST_QUIET = 960
"""Answers after which a little more is tried at the latest: they double with each refused raise."""
AT_RANDOM = 2
"""Refusals at a pace that was borne before, from which they count as none of its doing."""
CLOSED, OF_STARTED = 12, 32
"""So many refused of so many calls started in a row are a limit whatever was thought before."""
ENOUGH = 10
"""Answers from which a rate is counted where the endpoint says what is left."""
SHORTEST_STRETCH = 0.001
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
"""Seconds of a pause where the endpoint names none; it doubles while nothing comes through."""
SPREAD_SECONDS = 60.0
"""What is left until a moment nearer than this is spread over the time until then."""

Unit = Literal["requests", "tokens"]


@dataclass(frozen=True, kw_only=True)
class CallLimits:
    """How a model may be called, as the study file says."""

    rpm: float | None = None
    """Calls a minute; None finds out."""
    tpm: float | None = None
    """Tokens a minute, prompts and replies together."""
    timeout_s: float = 300.0
    """Seconds that one call may take."""
    tries: int = 6
    """How often a call that fails is made, refusals apart."""
    max_wait_s: float = 300.0
    """Longest pause that an endpoint may ask for, or take without an answer."""
    stop_after: int = 8
    """Calls in a row that fail, tries and all, after which the model is asked no more."""


class Announced(NamedTuple):
    """What an endpoint says is left of what it allows."""

    unit: Unit
    left: float
    seconds: float
    """Until there is as much as can be."""


class Place(NamedTuple):
    """A call in flight: what had been started when it was, itself included."""

    n_started: int
    n_tokens: float
    tokens: float
    epoch: int


class Spacing:
    """Starts at equal distances: what every kind of limit by the minute bears."""

    def __init__(self, per_second: float, *, start: float = 0.0) -> None:
        self.per_second = per_second
        self.next = start

    def book(self, now: float, amount: float) -> None:
        """Take the next start."""
        self.next = max(self.next, now) + amount / self.per_second


class _Quota(NamedTuple):
    """What was left when so much had been started, until there is as much as can be."""

    left: float
    until: float
    started: float

    def left_after(self, started: float) -> float:
        return self.left - (started - self.started)

    def allows_at(self, amount: float, *, started: float, last: float, now: float) -> float:
        """Return when so much more may be started; infinity if an answer must come first."""
        left = self.left_after(started)
        if now >= self.until + SPREAD_SECONDS:
            return now  # it says nothing any more
        if left < amount:
            return self.until if now < self.until else inf
        if self.until - SPREAD_SECONDS <= now < self.until:
            share = amount / left
            return (last + self.until * share) / (1 + share)
        return now


class Lane:
    """One model at an endpoint: what it alone may do."""

    def __init__(self, *, highest: int, rpm: float | None = None, tpm: float | None = None) -> None:
        """Set the most calls in flight, and calls and tokens a minute if they are known.

        Raises:
            ValueError: The bound is below 1.
        """
        if highest < 1:
            raise ValueError(f"expected at least 1 call in flight, not {highest}")
        self.highest = highest
        self.n_running = 0
        self.last_start = -inf
        self.quotas: dict[Unit, _Quota] = {}
        self.spacings: dict[Unit, Spacing] = {}
        per_minute: dict[Unit, float | None] = {"requests": rpm, "tokens": tpm}
        for unit, most in per_minute.items():
            if most is not None:
                self.spacings[unit] = Spacing(SET_SLACK * most / 60)

    @property
    def counts_tokens(self) -> bool:
        """Whether the tokens of a call make a difference."""
        return "tokens" in self.spacings or "tokens" in self.quotas


@dataclass(slots=True)
class _Stretch:
    """Time between two pauses, and what came of the calls that were started in it."""

    began: float = inf
    n_started: int = 0
    n_refused: int = 0

    @property
    def n_accepted(self) -> int:
        return self.n_started - self.n_refused

    def joined(self, later: "_Stretch") -> "_Stretch":
        return _Stretch(
            min(self.began, later.began),
            self.n_started + later.n_started,
            self.n_refused + later.n_refused,
        )


@dataclass(slots=True)
class Pace:
    """What an endpoint bears, over all of its models; times are seconds of one clock."""

    bound: float = START
    """Most calls in flight, now."""
    paused_until: float = -inf
    waits_since: float = inf
    """When the first of the refusals came after which nothing was answered."""
    _knee: float = inf
    """The bound up to which it grows with every answer; above it grows after quiet only."""
    _rate: Spacing | None = None
    _is_paused: bool = False
    _learns_rate: bool = False
    _n_to_learn: int = 1
    _epoch: int = 0
    _n_pauses: int = 0
    """One after the other, without an answer between them."""
    _n_quiet: int = 0
    _n_running: int = 0
    _n_started: int = 0
    _n_tokens: float = 0.0
    _stretch: _Stretch = field(default_factory=_Stretch)
    _before: _Stretch = field(default_factory=_Stretch)
    _is_raised: bool = True
    """Whether more is tried than was borne before the last pause."""
    _quiet_needed: int = QUIET_CALLS
    _quiet_until: float = -inf
    """As long after the last pause as it was: a limit may look back so far."""
    _is_at_random: bool = False
    _n_unexplained: int = 0
    _n_needed: int = AT_RANDOM
    _refused: deque[int] = field(default_factory=lambda: deque(maxlen=CLOSED))
    """The last refused calls, by what had been started."""

    def ready_at(self, lane: Lane, tokens: float, now: float) -> float:
        """Return when a call may start: now or a later moment; infinity if another must end."""
        if now < self.paused_until:
            return self.paused_until
        if self._is_paused:
            self._resume(now)
        if self._n_running + 1 > self.bound or lane.n_running >= lane.highest:
            return inf
        moments = [now, *(spacing.next for spacing in lane.spacings.values())]
        if self._rate is not None:
            moments.append(self._rate.next)
        for unit, quota in lane.quotas.items():
            amount = 1.0 if unit == "requests" else tokens
            started, last = self._started(unit), max(lane.last_start, now - SPREAD_SECONDS)
            at = quota.allows_at(amount, started=started, last=last, now=now)
            is_asked = lane.n_running
            moments.append(now if at == inf and not is_asked else at)
        return max(moments)

    def held_until(self, lane: Lane, now: float) -> float:
        """Return until when the endpoint wants no call of a model at all; now if it wants them."""
        ends = [now, self.paused_until]
        ends += [q.until for u, q in lane.quotas.items() if q.left_after(self._started(u)) <= 0]
        return max(ends)

    def begin(self, lane: Lane, tokens: float, now: float) -> Place:
        """Start a call."""
        self._stretch.began = min(self._stretch.began, now)
        self._n_running += 1
        lane.n_running += 1
        lane.last_start = now
        self._n_started += 1
        self._n_tokens += tokens
        self._stretch.n_started += 1
        for unit, spacing in lane.spacings.items():
            spacing.book(now, 1 if unit == "requests" else tokens)
        if self._rate is not None:
            self._rate.book(now, 1)
        return Place(self._n_started, self._n_tokens, tokens, self._epoch)

    def end(self, lane: Lane) -> None:
        """Take down that a call has ended, however it did."""
        self._n_running -= 1
        lane.n_running -= 1

    def accept(self, lane: Lane, place: Place, *, highest: int, tokens: float | None) -> None:
        """Take down that a call was not refused, and how many tokens it used if that is known.

        `highest` is the most calls in flight that all models want together.
        """
        self._n_pauses, self.waits_since = 0, inf
        if tokens is not None and "tokens" in lane.spacings:
            spacing = lane.spacings["tokens"]
            spacing.next += (tokens - place.tokens) / spacing.per_second
        self._n_quiet += 1
        if self.bound < self._knee:
            self.bound = min(self.bound + 1, highest)
        elif self._n_quiet >= self._quiet_needed and lane.last_start >= self._quiet_until:
            self._n_quiet = 0
            if self._is_raised:  # the last raise was borne
                self._quiet_needed = max(QUIET_CALLS, self._quiet_needed // 2)
            self._is_raised = True
            self.bound = min(self.bound + 1, highest)
            if self._rate is not None:
                self._rate.per_second *= RAISE

    def refuse(
        self, lane: Lane, place: Place, now: float, *, asked: float | None, is_rate: bool
    ) -> float:
        """Take down a refusal: nothing goes out until the time that the endpoint asks for.

        `is_rate` says that it is for too many calls, and not for a busy endpoint. Returns the
        seconds for which this one call waits where the others need not.
        """
        self.waits_since = min(self.waits_since, now)
        if self._is_none_of_ours(lane, place):
            self._stretch.n_refused += 1
            return FIRST_PAUSE if asked is None else asked
        if place.epoch != self._epoch:  # it was on its way when the pause began
            (self._stretch if self._is_paused else self._before).n_refused += 1
            self.paused_until = max(self.paused_until, now + (asked or 0.0))
            self._is_paused |= now < self.paused_until
            return 0.0
        self._epoch += 1
        self._stretch.n_refused += 1
        is_unheard = self._stretch.n_accepted <= 0
        if is_unheard:  # the pause was too short: what it parted is one stretch
            self._stretch = self._before.joined(self._stretch)
        pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0**self._n_pauses)
        if asked is not None:
            longest = max(FIRST_PAUSE, 2 * asked) if asked else LONGEST_PAUSE
            pause = min(max(asked, pause), longest) if is_unheard else asked
        self._n_pauses += 1
        self._n_quiet = 0
        self._is_paused, self._learns_rate = True, is_rate
        self._n_to_learn = ENOUGH if lane.quotas else 1
        self.paused_until, self._quiet_until = now + pause, now + 2 * pause
        if not is_unheard:
            self._knee = self.bound / 2
            if self._is_raised and self._rate is not None:
                self._quiet_needed = min(MOST_QUIET, 2 * self._quiet_needed)
        return 0.0

    def _is_none_of_ours(self, lane: Lane, place: Place) -> bool:
        """Say whether a refusal does not go with the pace, and take the pace back up if so."""
        self._refused.append(place.n_started)
        if self._is_at_random:
            is_closed = place.n_started - self._refused[0] < OF_STARTED
            if len(self._refused) < CLOSED or not is_closed:
                return True
            self._is_at_random = False
            self._is_raised, self._n_unexplained = True, 0
            self._n_needed *= 2
        if place.epoch != self._epoch or self._is_paused or self._stretch.n_accepted <= 1:
            return False
        left = [q.left_after(self._started(unit)) for unit, q in lane.quotas.items()]
        self._n_unexplained += not self._is_raised and min(left, default=inf) > ENOUGH
        if self._n_unexplained >= self._n_needed:
            self._is_at_random, self._rate, self._knee = True, None, inf
        return self._is_at_random

    def ease(self) -> None:
        """Take down that the endpoint is busy, without having asked for a pause."""
        self.bound = self._knee = max(1.0, self.bound / 2)

    def heed(self, lane: Lane, place: Place, announced: Iterable[Announced], now: float) -> None:
        """Take down what the answer to a call says is left."""
        for unit, left, seconds in announced:
            started = float(place.n_started) if unit == "requests" else place.n_tokens
            before = lane.quotas.get(unit)
            if before is None or before.started <= started:
                lane.quotas[unit] = _Quota(left, now + seconds, started)

    def _resume(self, now: float) -> None:
        """Go on after a pause: with one call, and at the rate that was borne before it."""
        self._is_paused = self._is_raised = False
        stretch = self._stretch
        if stretch.n_accepted > 0:
            length = max(now - stretch.began, SHORTEST_STRETCH)
            if self._learns_rate and stretch.n_accepted >= self._n_to_learn:
                self._rate = Spacing(SLACK * stretch.n_accepted / length, start=now)
            self._knee = max(1.0, self._knee, self._n_running)
        self.bound = max(1.0, min(self._n_running + 1, self._knee))
        self._before, self._stretch = stretch, _Stretch(began=now)

    def _started(self, unit: Unit) -> float:
        return float(self._n_started) if unit == "requests" else self._n_tokens
