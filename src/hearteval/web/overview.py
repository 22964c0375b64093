"""What the researcher's page says: how far, until when, what waits, and who works."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from hearteval.store.people.base import Progress
from hearteval.store.people.persons import Invite, Person
from hearteval.study.people.kinds import RESEARCH
from hearteval.study.people.watch.states import State
from hearteval.study.people.watch.work import (
    FEWEST_DAYS,
    FEWEST_LATELY,
    TimeLeft,
    Watched,
    Worked,
    is_planned,
)

SOON = timedelta(days=3)
"""A link that ends within it is named, and so is a study in which nobody has answered for it."""
A_YEAR = 365.0
MINUTES_FROM = 100
"""Seconds, from which on a time is told in minutes."""


class Point(NamedTuple):
    """Something that waits for the researcher, and where it is done."""

    text: str
    where: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What the table says of one person."""

    person: Person
    state: str
    done: Mapping[str, int]
    """By kind of task; and how many were skipped."""
    worked: Worked | None
    n_pasted: int
    n_left: int
    seen_at: datetime
    n_found: int
    """Rules that find something in their answers."""

    def sum(self) -> int:
        """Return how many tasks they have done."""
        return sum(n for kind, n in self.done.items() if kind != "skipped")

    def pace(self) -> float:
        """Return how their time compares with the others', of the kind that differs most."""
        ratios = [] if self.worked is None else [one.ratio for one in self.worked.times.values()]
        return min((ratio for ratio in ratios if ratio), default=float("inf"))


ORDERS: Mapping[str, tuple[str, Callable[[Row], Any]]] = {
    "came": ("in the order in which they came", lambda row: row.person.created_at),
    "name": ("by name", lambda row: row.person.name),
    "done": ("most done first", lambda row: -row.sum()),
    "pace": ("fastest first", lambda row: row.pace()),
    "agreement": (
        "least agreement first",
        lambda row: (
            2.0 if row.worked is None or row.worked.agreement is None else row.worked.agreement
        ),
    ),
    "found": ("most found by rules first", lambda row: -row.n_found),
    "signs": ("most pasted or left first", lambda row: -row.n_pasted - row.n_left),
    "seen": ("last seen first", lambda row: -row.seen_at.timestamp()),
    "state": ("by state", lambda row: row.state),
}
"""By name in the address: in words, and what it sorts by; then by when they came."""


def rows_of(progress: Progress, watched: Watched, states: Mapping[str, State]) -> list[Row]:
    """Return who takes part, in the order in which they came, given how far each is, by id."""
    done: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for (person_id, kind, state), n in progress.work.items():
        if state in ("done", "skipped"):
            done[person_id][kind if state == "done" else state] += n
    signs: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for person_id, noticed in progress.signs:
        signs[person_id].update(noticed.keys())
    return [
        Row(
            person=person,
            state=state_words(person, states[person.id]),
            done=done[person.id],
            worked=watched.people.get(person.id),
            n_pasted=signs[person.id]["pastes"],
            n_left=signs[person.id]["away"],
            seen_at=_seen(person, watched.people.get(person.id)),
            n_found=len(watched.found.get(person.name, ())),
        )
        for person in progress.people
        if RESEARCH not in person.kinds
    ]


def _seen(person: Person, worked: Worked | None) -> datetime:
    last_at = None if worked is None else worked.last_at
    return max(at for at in (person.created_at, person.stopped_at, last_at) if at is not None)


def state_words(person: Person, state: State) -> str:
    """Say how far somebody is; of who has not begun, how far their practice is."""
    if state == "excluded":
        return "left out"
    if state in ("withdrawn", "stopped", "paid") or person.vetting not in ("pending", "failed"):
        return state
    if person.vetting == "failed":
        return "practice not passed"
    return "practice for you to read" if person.practice else "practice not sent yet"


def say_how_far(progress: Progress, left: TimeLeft | None, *, now: datetime) -> tuple[str, str]:
    """Say how many answers there are, and when the rest will be there; the second may be empty."""
    planned = [one for one in progress.counts if is_planned(one.kind)]
    n_done, n_wanted = sum(one.n_done for one in planned), sum(one.n_places for one in planned)
    if not n_wanted:
        return "", ""
    if n_done >= n_wanted:
        return f"All {n_wanted:,} answers that are wanted are there.", ""
    far = f"{n_done:,} of {n_wanted:,} answers are there ({int(100 * n_done / n_wanted)} %)."
    if progress.halted:
        return far, ""
    if left is None:
        return far, (
            f"It is too early to say when it will be done: that takes {FEWEST_DAYS} days, and"
            f" {FEWEST_LATELY} answers of each kind in the last week."
        )
    return far, f"At the pace of the last {left.n_days} days {_say_end(left, now=now)}"


def _say_end(left: TimeLeft, *, now: datetime) -> str:
    if left.low > A_YEAR:
        return "it takes more than a year."
    middle, low = (_date(now, days) for days in (left.days, left.low))
    if left.high is None or left.high > A_YEAR:
        return f"it will be done on {low} at the earliest; the days differ too much to say more."
    high = _date(now, left.high)
    between = "" if low == high else f", between {low} and {high} in nine of ten cases"
    return f"it will be done around {middle}{between}."


def _date(now: datetime, days: float) -> str:
    found = now + timedelta(days=days)
    return f"{found.day} {found:%B}" + ("" if found.year == now.year else f" {found.year}")


def points_of(progress: Progress, watched: Watched, *, n_texts: int, now: datetime) -> list[Point]:
    """Return what waits for the researcher, what keeps others waiting first."""
    found = []
    if n_texts:
        found.append(
            Point(f"{_n(n_texts, 'text waits', 'texts wait')} to be read", "/researcher/texts")
        )
    n = sum(
        one.vetting == "pending" and bool(one.practice) and not one.withdrawn_at
        for one in progress.people
    )
    if n:
        found.append(Point(f"{_n(n, 'new writer waits', 'new writers wait')} for you", "#practice"))
    if watched.n_undecided:
        whose = _n(watched.n_undecided, "person", "people")
        where = "/researcher?sort=found#people-here"
        found.append(Point(f"Rules find something in the answers of {whose}", where))
    is_left = any(one.n_done < one.n_places for one in progress.counts if is_planned(one.kind))
    if not is_left or progress.halted:
        return found
    found += [
        Point(f"The link “{link.label}” {said}", "#links")
        for link in progress.invites
        if RESEARCH not in link.kinds and (said := _say_ending(link, now=now))
    ]
    found += [
        Point(f"The group “{say_group(quota.answers)}” is full ({quota.most})", "#groups")
        for quota in progress.quotas
        if quota.n_people >= quota.most
    ]
    if watched.times and now - watched.times[-1] > SOON:
        days = (now - watched.times[-1]).days
        found.append(Point(f"Nobody has answered for {days} days", "#people-here"))
    return found


def _say_ending(link: Invite, *, now: datetime) -> str:
    """Say that nobody new can come by a link any more, or soon; nothing of one long over."""
    left = link.expires_at - now
    if link.revoked_at or left <= -SOON:
        return ""
    if left <= timedelta():
        return "is over"
    if link.n_people >= link.most_people > 1:
        return "is full"
    return f"ends in {left / timedelta(hours=1):.0f} hours" if left < SOON else ""


def say_group(answers: Mapping[str, str | Sequence[str]]) -> str:
    """Say who is in a group, by what they answered."""
    said = [one if isinstance(one, str) else " or ".join(one) for one in answers.values()]
    return ", ".join(said)


def _n(n: int, one: str, many: str) -> str:
    return f"{n} {one if n == 1 else many}"


def say_seconds(seconds: float | None) -> str:
    """Say a time in seconds, or in minutes where that is shorter."""
    if seconds is None:
        return ""
    return f"{seconds:.0f} s" if seconds < MINUTES_FROM else f"{seconds / 60:.1f} min"


def say_ago(at: datetime, *, now: datetime) -> str:
    """Say how long ago something was."""
    hours = (now - at) / timedelta(hours=1)
    if hours < 1:
        return "just now"
    return f"{hours:.0f} h ago" if hours < 48 else f"{hours / 24:.0f} d ago"
