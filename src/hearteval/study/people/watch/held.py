"""Texts that a screen has held, for who watches the study: what was said of each, and their word.

Reviewers get such texts one by one as tasks. Who watches the study sees all of them and may decide
any, by the same task, place and record; one person speaks once of one text.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from hearteval.domain import Label, Rater
from hearteval.judgments.plan.run import standings_of
from hearteval.labels.safety import SAFETY, Standing
from hearteval.labels.taxonomy import Unit
from hearteval.protocol import load_protocol
from hearteval.store.people.persons import Person
from hearteval.store.people.tasks import Outcome, PlannedTask
from hearteval.study.people import Desk
from hearteval.study.people.joining import new_token, token_id
from hearteval.study.people.kinds import FIT_REASONS, KINDS
from hearteval.study.people.task import AnswerError
from hearteval.study.people.working import send_answer

REVIEW = "review"
A_MOMENT = timedelta(minutes=5)
QUEUES: tuple[Standing, ...] = ("waiting", "kept-out", "released")
"""In which a text that was held may be."""


class Said(NamedTuple):
    """What a person has said of a text."""

    name: str
    is_fit: bool
    why: str
    """By the name of a reason; empty where none was asked for."""


class Held(NamedTuple):
    """A text that a screen has held, or that people were to read."""

    text_id: str
    of: Unit
    standing: Standing
    rules: Sequence[str]
    """By what screens hold it; none where people read every text."""
    said: Sequence[Said]
    """In the order of time."""
    since: datetime


def list_held(desk: Desk) -> list[Held]:
    """Return the texts that people were to read, the longest waiting first."""
    store, study = desk.session.store, desk.study
    asked = store.people.targets(study.id, REVIEW)
    labels: defaultdict[str, list[Label]] = defaultdict(list)
    for label in store.labels_of(study, SAFETY):
        if label.text_id in asked and label.category == SAFETY:
            labels[label.text_id].append(label)
    people = {one.id: one.name for one in store.iter(Rater) if one.kind == "human"}
    standings = standings_of(store, study)
    found = [
        _held(own, standings[text_id], people)
        for text_id, own in labels.items()
        if standings.get(text_id) in QUEUES
    ]
    return sorted(found, key=lambda one: (one.since, one.text_id))


def _held(labels: Sequence[Label], standing: Standing, people: Mapping[str, str]) -> Held:
    labels = sorted(labels, key=lambda one: (one.created_at, one.id))
    by_screens = [one for one in labels if one.rater_id not in people]
    rules = {rule for one in by_screens if one.verdict != "absent" for rule in [one.evidence]}
    return Held(
        text_id=labels[0].text_id,
        of="reasons" if labels[0].judgment_id else "completion",
        standing=standing,
        rules=sorted({rule for words in rules for rule in words.split(", ") if rule}),
        said=[
            Said(people[one.rater_id], one.verdict == "absent", one.evidence)
            for one in labels
            if one.rater_id in people
        ],
        since=labels[0].created_at,
    )


def decide(desk: Desk, person: Person, text_id: str, *, verdict: str, reason: str) -> Outcome:
    """Say whether a text that was held may be shown, and why.

    Returns:
        ``late`` where the person has spoken before, or wrote it.

    Raises:
        AnswerError: It is not said, or not why.
    """
    reasons = {"fit": FIT_REASONS, "unfit": load_protocol("people_review")["look_for"]["reasons"]}
    if reason not in reasons.get(verdict, ()):
        raise AnswerError({"why": "is not said"})
    review = PlannedTask(study_id=desk.study.id, kind=REVIEW, target_id=text_id, rank=0, n_places=1)
    lease = desk.session.store.people.take_on(
        person, review.id, ticket=token_id(new_token()), now=desk.session.now(), lease=A_MOMENT
    )
    if lease is None:
        return "late"
    form = {"verdict": verdict, "reason": reason, "why": reason}
    return send_answer(desk, person, KINDS[REVIEW], lease, form)
