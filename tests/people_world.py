"""A study with people in it, for tests: a link, writers, raters, and tasks to do."""

import secrets
from datetime import UTC, datetime, timedelta

from hearteval.domain import record_id
from hearteval.store.base import Store
from hearteval.store.people.enrolment import Entry, Quota
from hearteval.store.people.persons import Invite, Person, Submission
from hearteval.store.people.tasks import PlannedTask

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
STUDY = record_id("study", {"name": "people", "seed": 1})
CHECKS = record_id("study", {"name": "people (checks of its people)", "seed": 1})
LEASE = timedelta(minutes=30)


def new_id() -> str:
    return secrets.token_hex(16)


def invite_to(store: Store, *kinds: str, most: int = 1000) -> Invite:
    invite = Invite(
        id=new_id(),
        study_id=STUDY,
        label="test",
        kinds=kinds,
        group="crowd",
        vetting="none",
        most_people=most,
        created_at=NOW,
        expires_at=NOW + timedelta(days=400),
    )
    store.people.add_invite(invite, now=NOW)
    return invite


def join(store: Store, invite: Invite, name: str, *quotas: Quota) -> Person:
    """Let somebody in; `GroupFullError` where a quota that they fit is full."""
    person = Person(
        id=new_id(),
        study_id=STUDY,
        name=name,
        invite_id=invite.id,
        kinds=invite.kinds,
        group=invite.group,
        vetting="none",
        locale="en-GB",
        created_at=NOW,
        consent_version="1",
        consented_at=NOW,
        salt=secrets.token_hex(16),
    )
    came = Submission(came_at=NOW, platform="other", participant=f"platform-{name}", submission="")
    until = NOW + timedelta(days=1)
    joined = store.people.join(
        person, came=came, session_id=new_id(), until=until, entry=Entry(quotas=quotas), now=NOW
    )
    assert joined is not None
    return joined


def task(
    number: int, *, n_places: int, kind: str = "judge", writers: tuple[str, ...] = ()
) -> PlannedTask:
    return PlannedTask(
        study_id=STUDY,
        kind=kind,
        target_id=record_id("target", {"number": number}),
        rank=(number * 7919) % 1000,
        n_places=n_places,
        writers=writers,
    )


def own_task(person: Person, number: int) -> PlannedTask:
    """A check of one person alone, in a study beside theirs."""
    target_id = record_id("target", {"number": number, "person": person.id})
    return PlannedTask(study_id=CHECKS, kind="judge", target_id=target_id, rank=number, n_places=1)
