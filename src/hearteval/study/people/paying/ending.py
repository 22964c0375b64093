"""How somebody's part ends: what they did says which code or link back they are given."""

import math
from collections.abc import Collection
from statistics import fmean
from typing import NamedTuple

from hearteval.config.people.endings import Ending
from hearteval.protocol import load_protocol
from hearteval.store.people.persons import Person
from hearteval.study.asking.people import task_minutes
from hearteval.study.people import Desk
from hearteval.study.people.served import served_items
from hearteval.study.people.working import has_reached_limit, kinds_of, load_of, sitting_of


class Part(NamedTuple):
    """What somebody did, since they came last."""

    n_done: int
    has_sent: bool
    """Anything, practice too."""
    is_limited: bool
    """Whether they may not go on now, by a limit of a sitting or a day."""
    has_left: bool
    """Whether there is a task for them, one that they skipped too."""


def ending_of(part: Part, *, load: int | None) -> Ending:
    """Return how somebody's part has ended, or would end now.

    Where nothing is left before the load is reached, it is no fault of theirs. Where there was
    nothing from the start, they did nothing that is paid: the study is full for them.
    """
    is_all = load is not None and part.n_done >= load
    if is_all or (not part.has_left and part.has_sent):
        return "done"
    if not part.has_left and load is not None:
        return "full"
    if part.is_limited:
        return "limit"
    return "partial" if part.has_sent else "stopped"


def part_of(desk: Desk, person: Person) -> Part:
    """Return what somebody did, of every kind of task, since they came last."""
    people, kinds = desk.session.store.people, kinds_of(person)
    times = load_of(desk, person)
    has_left = people.halted(desk.study.id) != "closed" and (
        any(people.count_left(person, kind.name, most=1) for kind in kinds)
        or people.has_waiting(person)
    )
    sittings = ((kind, sitting_of(desk, person, kind)) for kind in kinds)
    return Part(
        n_done=len(times),
        has_sent=bool(times) or person.practice is not None,
        is_limited=any(has_reached_limit(desk, kind, done) for kind, done in sittings),
        has_left=has_left,
    )


def way_of(desk: Desk, person: Person) -> str | None:
    """Return the code or the link back of somebody's ending; None where the study names none."""
    ending = ending_of(part_of(desk, person), load=desk.settings.load)
    found: str | None = getattr(desk.settings.endings, ending)
    return found


def load_words(desk: Desk, kinds: Collection[str], language: str) -> list[str]:
    """Say how much is asked of who may do these kinds of tasks, and how long it takes.

    Nothing where a study has no load. The minutes are those of a plan: the mean over its items.
    """
    load = desk.settings.load
    if load is None:
        return []
    say = load_protocol("people_consent", language)["consent"]
    found = [task_minutes(desk.session.settings, item) for item in served_items(desk)]
    of_kinds = [[one.reply for one in found]] if "write" in kinds else []
    of_kinds += [[one.judged for one in found]] if {"judge", "rate"} & {*kinds} else []
    if not found or not of_kinds:
        return [say["load_alone"].format(n=load)]
    minutes = load * fmean(map(fmean, of_kinds))
    return [say["load"].format(n=load, minutes=max(1, math.ceil(minutes)))]
