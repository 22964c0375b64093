"""How a study goes: when it will be done, how long people take, and how far they agree.

`watch_work` reads all that was answered, so the thread that opens tasks does it, once a minute;
the rest is arithmetic for the page. What rules find is `hearteval.study.people.quality`'s.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from statistics import median
from typing import NamedTuple

import numpy as np

from hearteval.analysis.judgments import TIE, JudgmentRow, judgment_columns
from hearteval.analysis.quality.rules import Finding
from hearteval.domain import Rater
from hearteval.stats.agreement.kappas import agreement_with_others
from hearteval.stats.agreement.table import CodedRatings, lay_out
from hearteval.stats.special import t_quantile
from hearteval.store.people.persons import WorkDone
from hearteval.store.people.tasks import OpenCount
from hearteval.study.people import Desk
from hearteval.study.people.kinds import KINDS
from hearteval.study.people.paying.ending import ending_of, part_of
from hearteval.study.people.quality import look_at_answers

DAY = timedelta(days=1)
MOST_DAYS, FEWEST_DAYS = 7, 3
"""By which the pace is reckoned."""
FEWEST_LATELY = 20
"""Answers in these days, to say when a study is done."""
FEWEST = 10
"""Answers of somebody, or pairs that others judged too, before they are held against others."""
LEVEL = 0.9


class TimeLeft(NamedTuple):
    """When the answers that are wanted will be there, in days from now."""

    days: float
    low: float
    high: float | None
    """None where it may take any time."""
    n_days: int
    """By which it is reckoned."""


class Times(NamedTuple):
    """How long somebody took for tasks of one kind, from being shown one to sending it."""

    seconds: Sequence[float]
    """In the order of time."""
    median: float
    usual: float | None
    """The median over the others, of whom ten answers are there, of theirs; None for under three
    such."""

    @property
    def ratio(self) -> float | None:
        """How often the usual time goes into theirs; None where too little is known."""
        is_known = self.usual and len(self.seconds) >= FEWEST
        return self.median / self.usual if is_known and self.usual else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Worked:
    """What one person has answered."""

    times: Mapping[str, Times]
    """By kind of task."""
    last_at: datetime
    agreement: float | None
    """Mean share of the other raters of a pair who say the same; None for under ten pairs."""
    n_shared: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """What was answered in a study."""

    times: Sequence[datetime] = ()
    """Of all answers to tasks that are open, in order, less reviews and decisions."""
    lately: Mapping[str, Sequence[int]] = field(default_factory=dict)
    """By kind of task, how many in each of the last whole days, at most seven, the last first."""
    people: Mapping[str, Worked] = field(default_factory=dict)
    """By person's id."""
    found: Mapping[str, Sequence[Finding]] = field(default_factory=dict)
    """What rules find in people's answers, by pseudonym; of most that is nothing."""
    n_undecided: int = 0
    """Of those, whom nobody has left out or let back in."""
    done: frozenset[str] = frozenset()
    """Ids of those who have done all that was asked of them, or have nothing left to do."""


def is_planned(kind: str) -> bool:
    """Say whether how many tasks of a kind there are is known: reviews follow from what is held."""
    return kind != "review" and KINDS[kind].template != "settle"


def watch_work(desk: Desk) -> Watched:
    """Read what everybody has answered."""
    store, now = desk.session.store, desk.session.now()
    done = store.people.done(desk.study.id)
    planned = [one for one in done if one.is_open and is_planned(one.kind)]
    seconds: defaultdict[str, defaultdict[str, list[float]]] = defaultdict(
        lambda: defaultdict(list)
    )
    last: dict[str, datetime] = {}
    for one in done:
        took = (one.answered_at - one.shown_at).total_seconds()
        seconds[one.kind][one.person_id].append(max(0.0, took))
        last[one.person_id] = one.answered_at
    times: defaultdict[str, dict[str, Times]] = defaultdict(dict)
    for kind, by_person in seconds.items():
        for id_, found in compare_times(by_person).items():
            times[id_][kind] = found
    here = store.people.people(desk.study.id)
    ids = {person.name: person.id for person in here}
    working = [one for one in here if one.id in last and one.withdrawn_at is None]
    names = {rater.id: rater.name for rater in store.iter(Rater) if rater.kind == "human"}
    shares = agree_with_others(
        judgment_columns(store.judgment_table(desk.study, of_people=True)).by(
            [id_ for id_, name in names.items() if name in ids]
        )
    )
    agreed = {ids[names[rater_id]]: found for rater_id, found in shares.items()}
    seen = look_at_answers(desk.session, desk.study)
    decided = {one.person for one in seen.quality.exclusions}
    return Watched(
        found=seen.found,
        n_undecided=len(seen.found.keys() - decided),
        times=[one.answered_at for one in planned],
        lately=count_lately(planned, now=now),
        people={
            id_: Worked(
                times=times[id_],
                last_at=last_at,
                agreement=agreed[id_][0] if id_ in agreed and agreed[id_][1] >= FEWEST else None,
                n_shared=agreed[id_][1] if id_ in agreed else 0,
            )
            for id_, last_at in last.items()
        },
        done=frozenset(
            one.id
            for one in working
            if ending_of(part_of(desk, one), load=desk.settings.load) == "done"
        ),
    )


def compare_times(seconds: Mapping[str, Sequence[float]]) -> dict[str, Times]:
    """Hold how long each person took against the others, by who they are."""
    medians = {id_: median(own) for id_, own in seconds.items()}
    known = {id_: medians[id_] for id_, own in seconds.items() if len(own) >= FEWEST}
    found = {}
    for id_, own in seconds.items():
        others = [value for other, value in known.items() if other != id_]
        found[id_] = Times(own, medians[id_], median(others) if len(others) > 2 else None)
    return found


def count_lately(done: Sequence[WorkDone], *, now: datetime) -> dict[str, list[int]]:
    """Count answers by kind in each of the last whole days since the first of the kind."""
    first: dict[str, datetime] = {}
    days: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for one in done:
        first[one.kind] = min(one.answered_at, first.get(one.kind, one.answered_at))
        days[one.kind][(now - one.answered_at) // DAY] += 1
    return {
        kind: [days[kind][day] for day in range(min(MOST_DAYS, (now - began) // DAY))]
        for kind, began in first.items()
    }


def time_left(lately: Sequence[int], n_left: int) -> TimeLeft | None:
    """Return when so many answers more will be there at the pace of the last days.

    With n answers a day on average, of standard deviation s, over k days, the rest takes
    D = n_left / n days, and all but one time in ten between n_left / (n + h) and n_left / (n - h),
    h = t s sqrt(1/k + 1/D): how the mean of D days more differs from that of k, as if days were
    alike and independent. Measured on made-up days (benchmarks/RESULTS.md): it holds 86 to 92 % of
    the ends. Weekends are not known.

    Returns:
        None for under three days, or under twenty answers in them: not enough to say.
    """
    k, n_lately = len(lately), sum(lately)
    if k < FEWEST_DAYS or n_lately < FEWEST_LATELY or n_left <= 0:
        return None
    mean = n_lately / k
    days = n_left / mean
    quantile = t_quantile(k - 1, level=LEVEL)
    half = quantile * float(np.std(lately, ddof=1)) * math.sqrt(1 / k + 1 / days)
    high = n_left / (mean - half) if half < mean else None
    return TimeLeft(days, n_left / (mean + half), high, k)


def study_left(counts: Sequence[OpenCount], lately: Mapping[str, Sequence[int]]) -> TimeLeft | None:
    """Return when all kinds of tasks will be done: the slowest says; None if one cannot be said."""
    ends = [
        time_left(lately.get(one.kind, ()), one.n_places - one.n_done)
        for one in counts
        if is_planned(one.kind) and one.n_done < one.n_places
    ]
    known = [one for one in ends if one is not None]
    return max(known) if known and len(known) == len(ends) else None


def agree_with_others(rows: Iterable[JudgmentRow]) -> dict[str, tuple[float, int]]:
    """Return how far each rater agrees with the others, and on how many pairs, by rater id.

    That is the mean, over the pairs that others judged too, of the share of them who prefer the
    same reply, or neither, too. Of several judgments of one pair by one rater the first counts.
    """
    shown: dict[str, str] = {}
    said: dict[tuple[str, str], str] = {}
    for row in rows:
        is_usual = row.first_completion_id == shown.setdefault(row.pair_id, row.first_completion_id)
        preferred = (
            row.choice if is_usual else {"first": "second", "second": "first"}.get(row.choice)
        )
        said.setdefault((row.pair_id, row.rater_id), preferred or TIE)
    if not said:
        return {}
    cells = ((pair, rater, choice) for (pair, rater), choice in said.items())
    coded = CodedRatings.of(*zip(*cells, strict=True))
    table = lay_out(coded.unit, coded.rater, coded.value)
    shares = zip(coded.raters, agreement_with_others(table), strict=True)
    return {name: (float(of.mean()), len(of)) for name, of in shares if len(of)}
