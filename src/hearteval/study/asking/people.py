"""What a study asks of people in all: how many tasks, how long they take, what they are paid.

Checks and repeats are counted as tasks that take as long as others. What is read, reviewed or
labelled besides is not counted: it depends on what people write. Nor is who is screened out.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hearteval.config import StudySettings
from hearteval.config.people import PeopleSettings
from hearteval.domain import Item
from hearteval.report.text import listed, plural
from hearteval.study.grow import study_systems

READ_A_MINUTE, TYPED_A_MINUTE = 238, 19
"""Words of English prose that adults read silently (Brysbaert 2019), and that they compose at a
keyboard (Karat and others 1999)."""
REPLY_WORDS, REASON_WORDS = 40, 15


@dataclass(frozen=True, slots=True, kw_only=True)
class PeoplesWork:
    """What people are asked, those who write and those who judge."""

    n_replies: int
    n_judged: int
    """Comparisons, or ratings, that count."""
    n_besides: int
    """Checks and repeats, which count in no ranking."""
    n_people: int | None
    """How many do it all where each has a load; None where nobody has."""
    hours: float
    person_days: int
    """Days of one person who answers as much as a day allows."""
    days: int
    """The same of as many people as each item and pair needs at least."""
    pay: float | None
    """In the currency of the study file; None where it names no rate."""


def plan_people(settings: StudySettings, items: Sequence[Item]) -> PeoplesWork | None:
    """Return what people are asked in all; None where nobody is."""
    people = settings.people
    if people is None:
        return None
    shown = [item for item in items if item.is_within(people.edge)]
    n_pairs = {item.id: pairs_shown(settings, item) for item in items}
    share, plan = people.overlap, settings.judging.plan
    n_planned = sum(n_pairs.values())
    if plan.comparisons is not None and n_planned:
        share *= min(1.0, plan.comparisons / n_planned)
    if people.sample is not None and shown:
        share = min(share, people.sample / sum(n_pairs[item.id] for item in shown))
    n_replies, n_judged, minutes, of_each = 0, 0.0, 0.0, tasks_of_each(people)
    for item in shown:
        n_written = people.writers_per_item
        n_here = n_pairs[item.id] * share * people.raters_per_pair
        task = task_minutes(settings, item)
        minutes += n_written * task.reply + n_here * of_each * task.judged
        n_replies += n_written
        n_judged += n_here
    n_votes, most = round(n_judged * of_each), people.most_per_day
    n_people = None
    if people.load is not None:
        fewest = max(people.writers_per_item, people.raters_per_pair)
        n_people = max(fewest, math.ceil((n_replies + n_votes) / people.load))
    writers, raters = max(people.writers_per_item, 1), max(people.raters_per_pair, 1)
    rate = people.pay_per_hour
    return PeoplesWork(
        n_replies=n_replies,
        n_judged=round(n_judged),
        n_besides=n_votes - round(n_judged),
        n_people=n_people,
        hours=minutes / 60,
        person_days=math.ceil(n_replies / most) + math.ceil(n_votes / most),
        days=max(math.ceil(n_replies / most / writers), math.ceil(n_votes / most / raters)),
        pay=None if rate is None else rate * minutes / 60,
    )


def tasks_of_each(people: PeopleSettings) -> float:
    """Return how many tasks somebody does for each that counts, checks and repeats with it.

    Of sittings as long as may be, or of the load. 1 without `people.quality`.
    """
    quality = people.quality
    if quality is None:
        return 1.0
    sitting = min(people.most_per_session, people.load or people.most_per_session)
    repeats = 0.0 if people.protocol == "rating" else quality.repeats
    return sitting * (1 + repeats) / max(1, sitting - quality.checks)


class TaskMinutes(NamedTuple):
    """How long one person takes over an item."""

    reply: float
    judged: float
    """A comparison, or a rating."""


def task_minutes(settings: StudySettings, item: Item) -> TaskMinutes:
    """Return how long people take to write a reply to an item, and to judge one of its pairs."""
    is_rating = settings.people is not None and settings.people.protocol == "rating"
    reading = sum(len(turn.text.split()) for turn in item.context) / READ_A_MINUTE
    replies = (1 if is_rating else 2) * REPLY_WORDS / READ_A_MINUTE
    return TaskMinutes(
        reply=reading + REPLY_WORDS / TYPED_A_MINUTE,
        judged=reading + replies + REASON_WORDS / TYPED_A_MINUTE,
    )


def work_lines(settings: StudySettings, work: PeoplesWork) -> list[str]:
    """Say what people are asked in all."""
    people = settings.people
    assert people is not None, "nobody is asked"
    judged = "rating" if people.protocol == "rating" else "comparison"
    tasks = [plural(work.n_replies, "reply", "replies") + " to write"] if work.n_replies else []
    tasks += [plural(work.n_judged, judged)] if work.n_judged else []
    if not tasks:
        return []
    if work.n_besides:
        tasks.append(f"about {plural(work.n_besides, 'check or repeat', 'checks and repeats')}")
    if work.n_people is not None and people.load is not None:
        who = f"{plural(work.n_people, 'person', 'people')} at {plural(people.load, 'task')} each"
    else:
        fewest = max(people.writers_per_item, people.raters_per_pair)
        who = (
            f"{plural(work.person_days, 'person-day')} at {people.most_per_day} a day:"
            f" {plural(work.days, 'day')} for the {fewest} that it takes at least"
        )
    lines = [
        f"people, in all: {listed(tasks)}, about {plural(round(work.hours), 'hour')} (reading"
        f" {READ_A_MINUTE} words a minute, typing {TYPED_A_MINUTE}); {who}"
    ]
    if work.pay is not None:
        lines.append(f"pay: {work.pay:,.0f} at {people.pay_per_hour:g} an hour")
    if people.enrolment.questions:
        lines.append("people whom the first questions turn away are not counted")
    return lines


def pairs_shown(settings: StudySettings, item: Item) -> int:
    """Count the pairs of an item, or its replies where they are rated."""
    kinds = [one.kind for one in study_systems(settings) if one.kind not in {"stress", "human"}]
    n = len(kinds) - (kinds.count("original") if item.reference is None else 0)
    people = settings.people
    n_written = people.writers_per_item if people else 0
    if people is not None and people.protocol == "rating":
        return n + n_written
    return math.comb(n, 2) + n * n_written
