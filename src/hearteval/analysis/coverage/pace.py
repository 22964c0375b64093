"""How long people took, and how often that is too short to read what they judged: `PeoplePace`.

A judgment came faster than it can be read where its seconds are fewer than its words take at
`FASTEST` words a minute. Only words that are new to the person count: a reply they met in an
earlier judgment need not be read again, and the dialogue is left out. So it is generous, and says
what was measured, not what anybody did. What was not timed, or withdrawn since, counts for nothing.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final, NamedTuple

from hearteval.analysis.data import StudyData
from hearteval.notices import Kind, Notice

USUAL: Final = 238
"""Words a minute that adults read silently, a mean of 190 studies (Brysbaert 2019)."""
FASTEST: Final = 3 * USUAL
"""The most that is taken for reading; hardly any reader in those studies comes near it."""
FEWEST: Final = 10
"""Timed judgments with new words; with fewer nothing is said of them."""
MANY: Final = 1 / 3
"""Share from which on there is a notice, of all such judgments or of people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonPace:
    """How long one person, or all of them, took."""

    person: str | None
    """Their pseudonym; None for all."""
    n_judgments: int
    """Judgments, or ratings where replies are rated."""
    n_timed: int
    median_seconds: float | None
    """None where nothing is timed."""
    n_new: int
    """Timed ones with a reply that the person had not met before."""
    n_too_fast: int
    """Of these, faster than the new replies can be read."""
    too_fast: float | None
    """The share; None under `FEWEST` of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeoplePace:
    """How long people took to judge."""

    everybody: PersonPace
    people: tuple[PersonPace, ...]
    """By pseudonym."""
    n_mostly_too_fast: int
    """People of whom half or more were too fast, of `n_told`."""
    n_told: int
    """People with a share."""
    words_per_minute: int = FASTEST


class _Read(NamedTuple):
    """One judgment: who, which completions, in how long."""

    id: str
    """Of its assignment, or of the rating."""
    person: str
    texts: Collection[str]
    seconds: float | None


def measure_pace(data: StudyData) -> PeoplePace | None:
    """Measure how long people took; None where nothing that a person judged is timed."""
    told: dict[str, list[tuple[_Read, int]]] = {}
    for one, n_new in read_in_time(data):
        told.setdefault(one.person, []).append((one, n_new))
    everybody = _pace(None, [one for person in sorted(told) for one in told[person]])
    if not everybody.n_timed:
        return None
    people = tuple(_pace(name, told[name]) for name in sorted(told))
    shares = [one.too_fast for one in people if one.too_fast is not None]
    return PeoplePace(
        everybody=everybody,
        people=people,
        n_mostly_too_fast=sum(share >= 1 / 2 for share in shares),
        n_told=len(shares),
    )


def read_in_time(data: StudyData) -> Iterator[tuple[_Read, int]]:
    """Yield what each person judged in the order in which they did, with the words new to them."""
    words = {c.id: len(c.text.split()) for c in data.completions if not c.is_withdrawn}
    met: dict[str, set[str]] = {}
    for one in _in_time(data):
        seen = met.setdefault(one.person, set())
        yield one, sum(words.get(text, 0) for text in one.texts if text not in seen)
        seen.update(one.texts)


def warn_of_pace(found: PeoplePace | None) -> list[Notice]:
    """Say so where a third of judgments or of people were faster than they can read."""
    if found is None or found.everybody.too_fast is None:
        return []
    every = found.everybody
    is_many = every.too_fast is not None and every.too_fast >= MANY
    if not is_many and found.n_mostly_too_fast < max(1, MANY * found.n_told):
        return []
    text = (
        f"{every.n_too_fast:,} of {every.n_new:,} timed judgments by people came faster than the"
        f" replies can be read, at {found.words_per_minute} words a minute (people read about"
        f" {USUAL}). For {found.n_mostly_too_fast} of {found.n_told} people that is half of theirs"
        f" or more. The median judgment took {every.median_seconds:.2g} seconds."
    )
    return [Notice(Kind.TOO_FAST, text)]


def _in_time(data: StudyData) -> Iterator[_Read]:
    """Yield what each person judged, in the order in which they did."""
    people = {rater.id: rater.name for rater in data.raters if rater.kind == "human"}
    by_people = data.judgments.by(people)
    pairs = data.pairs.named(by_people.pair.present).ends
    rows = {row.assignment_id: row for row in by_people}
    for id_, seconds in data.seconds.items():
        if id_ in rows:
            row = rows[id_]
            yield _Read(id_, people[row.rater_id], pairs[row.pair_id], seconds)
    for rating in sorted(data.ratings, key=lambda one: (one.created_at, one.id)):
        if rating.rater_id in people:
            yield _Read(rating.id, people[rating.rater_id], (rating.completion_id,), rating.seconds)


def _pace(person: str | None, told: Sequence[tuple[_Read, int]]) -> PersonPace:
    timed = [(one.seconds, n_new) for one, n_new in told if one.seconds is not None]
    new = [(seconds, n_words) for seconds, n_words in timed if n_words]
    n_too_fast = sum(60 * n_words > FASTEST * seconds for seconds, n_words in new)
    return PersonPace(
        person=person,
        n_judgments=len(told),
        n_timed=len(timed),
        median_seconds=median(seconds for seconds, _ in timed) if timed else None,
        n_new=len(new),
        n_too_fast=n_too_fast,
        too_fast=n_too_fast / len(new) if len(new) >= FEWEST else None,
    )
