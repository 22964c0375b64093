"""When the next call may go out to an endpoint. Pure: the time comes in, and nobody waits here.

Three things hold a call back. In flight: 16 at first, one more with every answer, so that they
double while nothing is refused. Spacing: calls a minute that the study file allows, or that were
counted between refusals (`Rate`). What is left: as the endpoint's own headers say. After a refusal
nothing goes out until the time that the endpoint asks for; then one call, and slowly more.

A refusal at a pace that was counted, and was not raised since, does not go with the pace: then only
the refused call waits and nothing is slowed, until most calls are refused.
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
RAMP = 4.0
"""Calls a second for each answer so far, until a rate is known: a burst that passes the limit is
noticed while it lasts, and the pace still grows e-fold in a quarter of a second."""
QUIET_CALLS = 15
"""Answers without a refusal after which the rate is doubled; the smaller the raise, the more."""
FIRST_STEP, STEP, LEAST_STEP = 1.0, 0.25, 1 / 64
"""How much a rate is raised by: until a raise was refused, after that at most, at least."""
STEADY = 0.8
"""Share of a rate that was really sent, from which it is the rate that was borne."""
FALL = 4.0
"""A rate counted over fewer answers than `QUIET_CALLS` is the one before over this, at least."""
AT_RANDOM = 1
"""Refusals at a counted pace from which they count as none of its doing; twice as many with each
time that this was wrong."""
CLOSED, OF_STARTED = 8, 16
"""So many refused of so many calls started in a row are a limit whatever was thought before."""
ENOUGH = 10
"""Answers from which a rate is counted where the endpoint says what is left."""
SHORTEST_STRETCH = 0.001
FIRST_PAUSE, LONGER, LONGEST_PAUSE = 1.0, 1.5, 60.0
"""Seconds of a pause where the endpoint names none, and how it grows while nothing comes through: a
longer one would miss more of the end of a window than the refused calls of this one are worth."""
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
        self.highest, self.is_held = highest, False
        self.n_running = 0
        self.last_start = -inf
        self.quotas: dict[Unit, _Quota] = {}
        self.spacings: dict[Unit, Spacing] = {}
        per_minute: dict[Unit, float | None] = {"requests": rpm, "tokens": tpm}
        for unit, most in per_minute.items():
            if most is not None:
                self.spacings[unit] = Spacing(SET_SLACK * most / 60)
        self._full = {unit: spacing.per_second for unit, spacing in self.spacings.items()}

    def allow(self, share: float) -> None:
        """Make so much of the calls a minute; the rest is for other processes. 0 holds all back."""
        self.is_held = not share
        for unit, spacing in self.spacings.items():
            if share:
                spacing.per_second = share * self._full[unit]

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


class Rate:
    """Calls a second that an endpoint bears, as far as refusals show it; infinite before the first.

    It is counted: what was accepted from one pause to the end of the next, over that time. That is
    right for windows, and for buckets from the second refusal on. It may have been an outage,
    which nothing tells from a window before more is tried. So the rate is doubled soon and again
    (slow start), until a raise is refused. Then the rate before the raise is taken up again, and
    not what was counted, since a window that slides is still full of the raise. Further raises
    are half as large each time, and wait twice as long, since a small one takes longer to show.
    """

    def __init__(self) -> None:
        self.spacing = Spacing(inf)
        self.step = FIRST_STEP
        self.is_raised = True
        """Whether more is tried than was counted at the last pause, or nothing was counted yet."""
        self._before_raise = inf
        self._borne: float | None = None
        self._no_trouble: float | None = None

    @property
    def is_known(self) -> bool:
        """Whether a refusal has shown it."""
        return self.spacing.per_second < inf

    @property
    def quiet_needed(self) -> float:
        """Answers without a refusal after which more is tried."""
        return QUIET_CALLS / self.step

    def raise_(self, *, is_held: bool) -> None:
        """Try more, of this rate unless something else holds the calls back."""
        if self.is_raised and self.step < FIRST_STEP:  # the last raise was borne
            self.step = min(STEP, 2 * self.step)
        self.is_raised, self._before_raise = True, self.spacing.per_second
        if not is_held:
            self.spacing.per_second *= 1 + self.step

    def refuse(self, stretch: "_Stretch", now: float) -> None:
        """Take down that calls are refused after a time in which some were accepted."""
        self._borne = self._no_trouble = None
        if not self.is_known:
            return
        if self.is_raised:
            self.step = max(LEAST_STEP, min(self.step, 2 * STEP) / 2)
            # Raises that came one upon the other were no test of the rate before the last.
            if stretch.n_accepted >= STEADY * self._before_raise * (now - stretch.began):
                self._borne = self._before_raise
        elif stretch.n_accepted >= QUIET_CALLS:
            self._no_trouble = self.spacing.per_second

    def refuse_again(self) -> None:
        """Take down that nothing came through after the pause either: an outage, not the rate."""
        self._borne = self._borne or self._no_trouble

    def count(self, stretch: "_Stretch", now: float) -> None:
        """Set it by what was accepted until a pause, which ends now."""
        rate = SLACK * stretch.n_accepted / max(now - stretch.began, SHORTEST_STRETCH)
        if stretch.n_accepted < QUIET_CALLS and self.is_known:  # so few calls say little
            self.step, rate = FIRST_STEP, max(rate, self.spacing.per_second / FALL)
        self.spacing = Spacing(rate if self._borne is None else self._borne, start=now)


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
    _rate: Rate = field(default_factory=Rate)
    _is_paused: bool = False
    _is_full: bool = False
    """Whether there were as many in flight as might be when the last pause began."""
    _learns_rate: bool = False
    _n_to_learn: int = 1
    _epoch: int = 0
    _n_pauses: int = 0
    """One after the other, without an answer between them."""
    _n_quiet: int = 0
    """Answers to calls that began after the last pause, since more was tried."""
    _n_answered: int = 0
    _last_start: float = -inf
    _n_running: int = 0
    _n_started: int = 0
    _n_tokens: float = 0.0
    _stretch: _Stretch = field(default_factory=_Stretch)
    _before: _Stretch = field(default_factory=_Stretch)
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
        if lane.is_held or self._n_running + 1 > self.bound or lane.n_running >= lane.highest:
            return inf
        moments = [now, *(spacing.next for spacing in lane.spacings.values())]
        moments.append(self._rate.spacing.next)
        if self._n_answered and not self._rate.is_known:
            moments.append(self._last_start + 1 / (RAMP * self._n_answered))
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
        lane.last_start = self._last_start = now
        self._n_started += 1
        self._n_tokens += tokens
        self._stretch.n_started += 1
        for unit, spacing in lane.spacings.items():
            spacing.book(now, 1 if unit == "requests" else tokens)
        self._rate.spacing.book(now, 1)
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
        self._n_quiet += place.epoch == self._epoch
        self._n_answered += 1
        if self.bound < self._knee:
            self.bound = min(self.bound + 1, highest)
        if self._n_quiet >= self._rate.quiet_needed and lane.last_start >= self._quiet_until:
            self._n_quiet = 0
            # Only what holds calls back is raised: else a refusal would not say what was too much.
            is_held = not self._rate.is_known or self._n_running >= self.bound
            self._rate.raise_(is_held=is_held)
            self.bound = min(self.bound + is_held, highest)

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
            if self._is_paused and self._is_full:  # those that are left were not too many
                self._knee = min(self._knee, self._n_running - 1)
            self._is_paused |= now < self.paused_until
            return 0.0
        self._epoch += 1
        self._stretch.n_refused += 1
        is_unheard = self._stretch.n_accepted <= 0
        if is_unheard:  # the pause was too short: what it parted is one stretch
            self._stretch = self._before.joined(self._stretch)
        pause = min(LONGEST_PAUSE, FIRST_PAUSE * LONGER**self._n_pauses)
        if asked is not None:
            longest = 2 * asked if asked else LONGEST_PAUSE
            pause = min(max(asked, pause), longest) if is_unheard else asked
        self._n_pauses += 1
        self._n_quiet = 0
        self._is_paused, self._learns_rate = True, is_rate
        self._n_to_learn = ENOUGH if lane.quotas else 1
        self.paused_until, self._quiet_until = now + pause, now + 2 * pause
        if is_unheard:
            self._rate.refuse_again()
        else:
            self._rate.refuse(self._stretch, now)
            self._is_full = self._n_running > self.bound - 1
            if self._is_full:
                self._knee = self._n_running - 1
        return 0.0

    def _is_none_of_ours(self, lane: Lane, place: Place) -> bool:
        """Say whether a refusal does not go with the pace, and take the pace back up if so."""
        self._refused.append(place.n_started)
        if self._is_at_random:
            is_closed = place.n_started - self._refused[0] < OF_STARTED
            if len(self._refused) < CLOSED or not is_closed:
                return True
            self._is_at_random, self._n_unexplained = False, 0
            self._n_needed *= 2
            return False
        if place.epoch != self._epoch or self._is_paused or self._stretch.n_accepted <= 1:
            return False
        left = [q.left_after(self._started(unit)) for unit, q in lane.quotas.items()]
        self._n_unexplained += not self._rate.is_raised and min(left, default=inf) > ENOUGH
        if self._n_unexplained >= self._n_needed:
            self._is_at_random, self._rate.step, self._knee = True, FIRST_STEP, inf
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
        self._is_paused = self._rate.is_raised = False
        stretch = self._stretch
        if stretch.n_accepted > 0:
            if self._learns_rate and stretch.n_accepted >= self._n_to_learn:
                self._rate.count(stretch, now)
            self._knee = max(1.0, self._knee, self._n_running)
        self.bound = max(1.0, min(self._n_running + 1, self._knee))
        self._before, self._stretch = stretch, _Stretch(began=now)

    def _started(self, unit: Unit) -> float:
        return float(self._n_started) if unit == "requests" else self._n_tokens
