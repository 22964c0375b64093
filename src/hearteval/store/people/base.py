"""`PeopleStore`: all that the pages ask of a store, each call one transaction with its event."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple, Protocol, TypeVar

from sqlalchemy import Connection

from hearteval.domain import Completion
from hearteval.domain.quality import Exclusion
from hearteval.store.adding import add
from hearteval.store.integrity.seal import damaged
from hearteval.store.people import choosing, enrolment, exclusions, persons, tasks
from hearteval.store.people.audit import Event, iter_events, last_told, log, salted
from hearteval.store.people.choosing import Claimant
from hearteval.store.people.copying import Rows, read_all, write_all
from hearteval.store.people.enrolment import Consent, Entry, Quota, TurnedAway
from hearteval.store.people.persons import Halted, Invite, Person, Submission, WorkDone
from hearteval.store.people.tasks import (
    ANY,
    Closing,
    Dealt,
    Lease,
    OpenCount,
    Outcome,
    PlannedTask,
    Wish,
)
from hearteval.store.people.withdrawal import bury_words
from hearteval.store.records import Record

T = TypeVar("T")
NOTHING_ASKED = Entry()


class Transaction(Protocol):
    """Runs something in a transaction of its own; again where the database went away."""

    def __call__(self, work: Callable[[Connection], T], /) -> T:
        """Return what the work returns."""
        ...


class Answered(NamedTuple):
    """What a person has answered: the records of it, and which of them closes the task."""

    records: Sequence[Record]
    record_id: str
    content: Any
    """The answer as JSON: the same once more is the same answer."""
    signs: Mapping[str, Any]
    """What was noticed while they answered: pastes, times away."""


class Progress(NamedTuple):
    """How far the people of a study are."""

    counts: Sequence[OpenCount]
    people: Sequence[Person]
    work: Mapping[tuple[str, str, str], int]
    """Tasks by person, kind and state."""
    signs: Sequence[tuple[str, Mapping[str, Any]]]
    """By person, for each answer in which anything was noticed."""
    invites: Sequence[Invite]
    halted: Halted
    quotas: Sequence[Quota]
    turned_away: Mapping[TurnedAway, int]
    """Who agreed and was not let in, by why."""


class PeopleStore:
    """The people and tasks of the studies in one store.

    What writes may be done twice, where a commit succeeded and the answer to it was lost: the
    second time changes nothing, and no event is told again.

    Args:
        name: Of the store, in messages.
        write: Runs something in a transaction that writes, again where the database went away.
        read: The same for one that only reads.
        empty_log: Lets go of what was overwritten, where a database keeps that for a while.
        rewrite: Writes the whole database anew, without what was overwritten in it; says whether
            its log begins a new file, too.
    """

    def __init__(
        self,
        *,
        name: str,
        write: Transaction,
        read: Transaction,
        empty_log: Callable[[], object],
        rewrite: Callable[[], bool],
    ) -> None:
        self._name, self._write, self._read = name, write, read
        self._empty_log, self._rewrite = empty_log, rewrite

    def plan(self, planned: Sequence[PlannedTask]) -> int:
        """Add tasks, or places to those that had fewer; return how many tasks were new."""
        return self._write(lambda it: tasks.plan(it, planned)) if planned else 0

    def open_only(self, study_id: str, wanted: Collection[str], *, now: datetime) -> None:
        """Close the tasks of a study that are none of these, by id; open those that are."""
        self._write(lambda it: tasks.open_only(it, study_id, wanted, now=now))

    def targets(self, study_id: str, kind: str, *, only_begun: bool = False) -> frozenset[str]:
        """Return what the tasks of a kind are about, closed ones too.

        Or only of those that somebody has in hand or has answered.
        """

        def work(it: Connection) -> tuple[frozenset[str], bool]:
            found = tasks.find_targets(it, study_id, kind, only_begun=only_begun)
            return found, tasks.are_written(it, study_id)

        found, is_written = self._read(work)
        self._require_written(study_id, "the tasks of people", is_written=is_written)
        return found

    def claim(
        self,
        person: Person,
        kind: str,
        *,
        ticket: str,
        now: datetime,
        lease: timedelta,
        wish: Wish = ANY,
    ) -> Lease | None:
        """Give a person a task of a kind; None where there is none for them, or all is paused."""

        def work(connection: Connection) -> Lease | None:
            if not persons.is_here(connection, person.id):
                return None
            who = _claimant(person, kind)
            in_hand = tasks.renew(connection, who, now=now, lease=lease)
            if in_hand is not None or persons.halted(connection, person.study_id):
                return in_hand
            add(connection, wish.records, first_stays=True)
            found = tasks.give(connection, who, ticket=ticket, now=now, lease=lease, wish=wish)
            if found is not None:
                if person.stopped_at is not None:
                    persons.change_person(connection, person.id, {"stopped_at": None})
                about = {"person": person.name, "task": found.task_id, "side": found.side}
                log(connection, "shown", about, now=now)
            return found

        return self._write(work)

    def take_on(
        self, person: Person, task_id: str, *, ticket: str, now: datetime, lease: timedelta
    ) -> Lease | None:
        """Give a person one task, also a full or closed one; None where they have spoken of it."""

        def work(connection: Connection) -> Lease | None:
            if not persons.is_here(connection, person.id):
                return None
            found = tasks.take_on(
                connection, person.id, task_id, ticket=ticket, now=now, lease=lease
            )
            if found is not None and found.ticket == ticket:
                about = {"person": person.name, "task": found.task_id, "side": found.side}
                log(connection, "shown", about, now=now)
            return found

        return self._write(work)

    def live(self, person: Person, kind: str, *, now: datetime) -> Lease | None:
        """Return the task of a kind that a person has in hand at a time."""
        return self._read(lambda it: tasks.find_live(it, _claimant(person, kind), until=now))

    def find_ticket(self, person: Person, ticket: str) -> Lease | None:
        """Return what a person's ticket stands for; None for another's."""
        return self._read(lambda it: tasks.find_ticket(it, person_id=person.id, ticket=ticket))

    def answer(self, person: Person, lease: Lease, answered: Answered, *, now: datetime) -> Outcome:
        """Store an answer, with the records it makes, unless its task is closed or given on.

        Whoever has withdrawn since they were read has no task, so no word of theirs comes later.
        """
        assert person.salt is not None, "somebody who has withdrawn answers"
        digest = salted(person.salt, answered.content)
        closing = Closing(answered.record_id, digest[:32], answered.signs)

        def work(connection: Connection) -> Outcome:
            if not persons.is_here(connection, person.id):
                return "absent"
            outcome = tasks.finish(connection, lease, person_id=person.id, closing=closing, now=now)
            if outcome == "stored":
                add(connection, answered.records, first_stays=False)
                about = {
                    "person": person.name,
                    "task": lease.task_id,
                    "record": answered.record_id,
                    "answer": digest,
                }
                log(connection, "answered", about, now=now)
            return outcome

        return self._write(work)

    def skip(self, person: Person, lease: Lease, *, now: datetime) -> bool:
        """Pass a task on; say whether it was the person's to pass on."""

        def work(connection: Connection) -> bool:
            done = tasks.skip(connection, lease, person_id=person.id)
            if done:
                log(connection, "skipped", {"person": person.name, "task": lease.task_id}, now=now)
            return done

        return self._write(work)

    def bring_back(self, person: Person, kind: str) -> int:
        """Offer a person again what they skipped; return how many tasks."""
        return self._write(lambda it: tasks.bring_back(it, _claimant(person, kind)))

    def keep_draft(self, person: Person, lease: Lease, draft: str, *, until: datetime) -> bool:
        """Keep what is written so far; say whether the task is still the person's."""

        def work(connection: Connection) -> bool:
            return persons.is_here(connection, person.id) and tasks.keep_draft(
                connection, lease, person_id=person.id, draft=draft, until=until
            )

        return self._write(work)

    def count_left(self, person: Person, kind: str, *, most: int) -> int:
        """Count the tasks of a kind that a person could still take, up to so many."""
        return self._read(lambda it: choosing.count_left(it, _claimant(person, kind), most=most))

    def seconds(self, study_id: str) -> dict[str, float | None]:
        """Return how long people took to judge, by assignment id, in the order of judgments."""
        found, is_written = self._read(lambda it: tasks.seconds_of_people(it, study_id))
        self._require_written(study_id, "how long people took to judge", is_written=is_written)
        return found

    def reasons(self, study_id: str) -> dict[str, str]:
        """Return the words that people gave as a reason, by the id of their assignment."""
        return self._read(lambda it: tasks.reasons_of_people(it, study_id))

    def first_answer(self, study_id: str) -> datetime | None:
        """Return when a person first judged; None where nobody has."""
        return self._read(lambda it: tasks.first_answer(it, study_id))

    def _require_written(self, study_id: str, what: str, *, is_written: bool) -> None:
        """Raise where the sum of rows is not the one that was written with them."""
        if not is_written:
            words = f"{what} in the study {study_id} is not what was written"
            raise damaged(self._name, words, ids=[study_id])

    def dealt(self, person: Person, kind: str) -> list[Dealt]:
        """Return what a person was given of a kind, checks and repeats too."""
        return self._read(lambda it: tasks.dealt(it, person_id=person.id, kind=kind))

    def open_pairs(
        self, person: Person, kind: str, item_id: str
    ) -> list[tuple[str, tuple[str, str]]]:
        """Return the pairs of an item that a person could take, with their completions."""
        return self._read(lambda it: choosing.open_pairs(it, _claimant(person, kind), item_id))

    def has_waiting(self, person: Person) -> bool:
        """Say whether a person has a task in hand, or has skipped one that is still open."""
        return self._read(
            lambda it: tasks.has_waiting(it, person_id=person.id, study_id=person.study_id)
        )

    def answered(self, person: Person, kind: str | None = None) -> list[datetime]:
        """Return when a person answered tasks of a kind, or of any, the last first."""
        return self._read(lambda it: tasks.answered(it, person_id=person.id, kind=kind))

    def add_invite(self, invite: Invite, *, by: str | None = None, now: datetime) -> None:
        """Keep a new link; `by` is the pseudonym of who made it, for the log, as below."""

        def work(connection: Connection) -> None:
            if not persons.add_invite(connection, invite):
                return
            about = {"invite": invite.id, "kinds": list(invite.kinds), "most": invite.most_people}
            log(connection, "invited", {**about, "by": by}, now=now)

        self._write(work)

    def revoke_invite(self, invite_id: str, *, by: str | None = None, now: datetime) -> bool:
        """Let nobody else come by a link; say whether it was one that worked."""

        def work(connection: Connection) -> bool:
            done = persons.revoke_invite(connection, invite_id, now=now)
            if done:
                log(connection, "revoked", {"invite": invite_id, "by": by}, now=now)
            return done

        return self._write(work)

    def extend_invite(
        self, invite: Invite, *, more_people: int, until: datetime, by: str, now: datetime
    ) -> None:
        """Let so many more come by a link, until a time, unless it was closed."""

        def work(connection: Connection) -> None:
            known = persons.find_invite(connection, invite.id)
            read = (invite.most_people, invite.expires_at)
            if known is None or (known.most_people, known.expires_at) != read:
                return  # this was committed, and the answer to that was lost
            done = persons.extend_invite(
                connection, invite.id, more_people=more_people, until=until
            )
            if done:
                about = {"invite": invite.id, "most": invite.most_people + more_people, "by": by}
                log(connection, "extended", about, now=now)

        self._write(work)

    def invites(self, study_id: str) -> list[Invite]:
        """Return the links of a study, the newest first."""
        return self._read(lambda it: persons.list_invites(it, study_id))

    def find_invite(self, invite_id: str, *, now: datetime | None = None) -> Invite | None:
        """Return a link; with a time, only one that works then, though it may be full."""
        return self._read(lambda it: persons.find_invite(it, invite_id, now=now))

    def find_guest(self, invite: Invite, participant: str | None) -> Person | None:
        """Return who has come before: by a link for one person, or with an id by any link."""
        return self._read(lambda it: persons.find_guest(it, invite, participant))

    def join(
        self,
        person: Person,
        *,
        came: Submission | None = None,
        session_id: str,
        until: datetime,
        entry: Entry | None = NOTHING_ASKED,
        now: datetime,
    ) -> Person | None:
        """Let somebody in, or back in who came before; None where the link is full.

        So it is for whoever did not come before and has no `entry`. Who comes again is known by the
        id of `person`, else by a platform id, which is one person in all of a study: who comes by a
        second link may do what both allow, and takes a place of it. `came` is kept apart, for those
        who are to be paid.

        Raises:
            GroupFullError: A quota has no place left, or whoever comes was turned away before.
        """

        def work(connection: Connection) -> Person | None:
            invite = persons.find_invite(connection, person.invite_id, now=now)
            if invite is None:
                return None
            done = persons.find_browser(connection, session_id, now=now)
            if done is not None:
                return done  # this was committed, and the answer to that was lost
            participant = None if came is None else came.participant
            if participant is not None or (entry and entry.quotas):
                persons.lock_study(connection, invite)
            there = persons.find_person(connection, person.id) or persons.find_guest(
                connection, invite, participant
            )
            if there is not None and there.withdrawn_at is not None:
                return None
            if there is None or not set(invite.kinds) <= set(there.kinds):
                is_first = there is None
                there = None if entry is None else persons.let_in(connection, there, invite, person)
                if there is None or entry is None:
                    return None
                if is_first:
                    enrolment.require_not_turned_away(connection, invite, participant)
                enrolment.enter(connection, there.id, entry, is_first=is_first, now=now)
                about = {"person": there.name, "invite": invite.id}
                log(connection, "joined", {**about, "consent": person.consent_version}, now=now)
            if came is not None:
                persons.note_coming(connection, there, came)
            persons.open_browser(
                connection, session_id=session_id, person_id=there.id, expires_at=until
            )
            return there

        return self._write(work)

    def submissions(
        self, study_id: str, *, person_id: str | None = None
    ) -> list[tuple[str, Submission]]:
        """Return when people came, with the id of each, a person's in order; or of one person.

        For who is paid, and to hold what is published against it: it holds what sites call people.
        """
        return self._read(lambda it: persons.list_submissions(it, study_id, person_id=person_id))

    def mark_paid(
        self, paid: Sequence[tuple[Person, Submission]], *, is_paid: bool, now: datetime
    ) -> int:
        """Keep that people were paid for the times they came, or were not; return how many new."""

        def work(connection: Connection) -> int:
            n = 0
            for person, came in paid:
                at = now if is_paid else None
                if persons.set_paid(connection, person.id, came.came_at, at=at):
                    about = {"person": person.name, "came": came.came_at.isoformat()}
                    log(connection, "paid" if is_paid else "unpaid", about, now=now)
                    n += 1
            return n

        return self._write(work)

    def done(self, study_id: str) -> list[WorkDone]:
        """Return what people have done, in the order in which it was answered."""
        return self._read(lambda it: persons.list_done(it, study_id))

    def turn_away(
        self, invite: Invite, participant: str | None, what: TurnedAway, *, now: datetime
    ) -> None:
        """Count somebody who agreed and is not let in, and know them if they come again."""

        def work(connection: Connection) -> None:
            if enrolment.turn_away(connection, invite, participant, what, now=now):
                log(connection, "turned away", {"invite": invite.id, "why": what}, now=now)

        self._write(work)

    def was_turned_away(self, invite: Invite, participant: str | None) -> TurnedAway | None:
        """Return why who comes by a link was not let in before; None where that is not known."""
        return self._read(lambda it: enrolment.was_turned_away(it, invite, participant))

    def take_places_again(self, person: Person, *, now: datetime) -> bool:
        """Give somebody who goes on the quotas' places that they gave back; False without room."""
        if not self._read(lambda it: enrolment.has_given_back(it, person.id)):
            return True
        try:
            self._write(lambda it: enrolment.take_again(it, person.id, now=now))
        except enrolment.GroupFullError:
            return False
        return True

    def consent_again(self, person: Person, consent: Consent) -> None:
        """Keep that somebody who takes part agreed to another consent; the earlier stays known."""

        def work(connection: Connection) -> None:
            if not persons.is_here(connection, person.id):
                return
            values = {"consent_version": consent.version, "consented_at": consent.at}
            persons.change_person(connection, person.id, values)
            enrolment.keep_consent(connection, person.id, consent)
            about = {"person": person.name, "consent": consent.version}
            log(connection, "consented", about, now=consent.at)

        self._write(work)

    def consents(self, person: Person) -> list[Consent]:
        """Return what somebody agreed to, the first time first."""
        return self._read(lambda it: enrolment.list_consents(it, person.id))

    def take_in(self, study_id: str, groups: Mapping[str, str | None], *, now: datetime) -> None:
        """Know people who wrote or judged elsewhere, by pseudonym with their groups.

        They come by no link and can take no task; they may withdraw like any other.
        """

        def work(connection: Connection) -> None:
            there = {one.name for one in persons.find_names(connection, list(groups))}
            for name in sorted(groups.keys() - there):
                persons.take_in(connection, study_id, name, group=groups[name], now=now)
                log(connection, "imported", {"person": name}, now=now)

        if groups:
            self._write(work)

    def find_browser(self, session_id: str, *, now: datetime) -> Person | None:
        """Return whose browser it is."""
        return self._read(lambda it: persons.find_browser(it, session_id, now=now))

    def change_person(
        self,
        person: Person,
        what: str,
        values: Mapping[str, Any],
        *,
        by: str | None = None,
        now: datetime,
    ) -> Person:
        """Change what is known of a person, under the name of an event; return them changed.

        Of whoever has withdrawn since they were read nothing is known any more.
        """

        def work(connection: Connection) -> None:
            now_known = persons.find_person(connection, person.id)
            if now_known is None or now_known.withdrawn_at is not None:
                return
            if all(getattr(now_known, name) == value for name, value in values.items()):
                return
            persons.change_person(connection, person.id, values)
            about: dict[str, Any] = {"person": person.name, "by": by}
            if "vetting" in values:
                about["vetting"] = values["vetting"]
            log(connection, what, about, now=now)

        self._write(work)
        return replace(person, **values)

    def practise(self, person: Person, records: Sequence[Record], *, now: datetime) -> None:
        """Keep what somebody said for practice, the first time for good.

        Of whoever has withdrawn since they were read nothing is kept.
        """

        def work(connection: Connection) -> None:
            is_here = persons.is_here(connection, person.id)
            if is_here and add(connection, records, first_stays=True):
                about = {"person": person.name, "record": records[-1].id}
                log(connection, "practised", about, now=now)

        self._write(work)

    def practised_at(self, person: Person) -> datetime | None:
        """Return when a person sent what they wrote for practice."""
        return self._read(lambda it: last_told(it, "practised", person.name))

    def renew_browser(self, session_id: str, *, until: datetime) -> None:
        """Know a browser for longer."""
        self._write(lambda it: persons.renew_browser(it, session_id, until=until))

    def browsers(self, study_id: str, *, now: datetime) -> list[tuple[str, str, datetime]]:
        """Return the browsers that are known: id, person's id, and until when."""
        return self._read(lambda it: persons.list_browsers(it, study_id, now=now))

    def close_browser(
        self, session_id: str, *, of: str | None = None, by: str | None = None, now: datetime
    ) -> None:
        """Know a browser no more; the log says whose it was where somebody else closed it."""

        def work(connection: Connection) -> None:
            persons.close_browser(connection, session_id)
            if by is not None:
                log(connection, "signed out", {"person": of, "by": by}, now=now)

        self._write(work)

    def stop(self, person: Person, *, now: datetime) -> None:
        """Let somebody leave: their places are free, what they answered stays."""

        def work(connection: Connection) -> None:
            known = persons.find_person(connection, person.id)
            if known is None or known.withdrawn_at is not None or known.stopped_at == now:
                return
            tasks.let_go(connection, person_id=person.id)
            persons.change_person(connection, person.id, {"stopped_at": now})
            enrolment.give_back_places(connection, person.id, now=now)
            log(connection, "stopped", {"person": person.name}, now=now)

        self._write(work)

    def withdraw(self, person: Person, *, rater_id: str, now: datetime) -> dict[str, int]:
        """Delete who somebody is and every word of theirs; return how many texts, by kind."""
        counts: dict[str, int] = {}

        def work(connection: Connection) -> None:
            if not persons.is_here(connection, person.id):
                return
            tasks.let_go(connection, person_id=person.id)
            buried = bury_words(connection, name=person.name, rater_id=rater_id)
            texts = buried[Completion.__name__.lower()]
            n_closed = tasks.close_about(connection, texts, now=now)
            tasks.give_back(connection, texts)
            persons.forget_person(connection, person.id, now=now)
            exclusions.forget_words(connection, person.study_id, person.name)
            enrolment.leave_places(connection, person.id)
            counts.update((kind, len(ids)) for kind, ids in buried.items())
            # Without the pseudonym: they were told it, and that this does not say who withdrew.
            about = {"texts": texts, "counts": counts, "closed": n_closed}
            log(connection, "withdrawn", about, now=now)

        self._write(work)
        self._empty_log()
        return counts

    def purge(self, study_id: str, *, now: datetime) -> bool:
        """Write the database anew, without the words that were deleted; see `rewrite`."""
        switched = self._rewrite()
        self._write(lambda it: log(it, "purged", {"study": study_id}, now=now))
        return switched

    def forget_details(self, study_id: str, *, before: datetime, now: datetime) -> int:
        """Delete what is known of people who came before a time; return of how many."""

        def work(connection: Connection) -> int:
            found = persons.forget_details(connection, study_id, before=before)
            enrolment.forget_places(connection, found)
            enrolment.forget_marks(connection, study_id, before=before)
            if found:
                log(connection, "forgotten", {"study": study_id, "n": len(found)}, now=now)
            return len(found)

        return self._write(work)

    def halt(self, study_id: str, wanted: Halted, *, by: str | None = None, now: datetime) -> None:
        """Give out nothing new in a study, or again."""

        def work(connection: Connection) -> None:
            if persons.halted(connection, study_id) == wanted:
                return
            persons.halt(connection, study_id, wanted, at=now)
            log(connection, wanted or "resumed", {"study": study_id, "by": by}, now=now)

        self._write(work)

    def halted(self, study_id: str) -> Halted:
        """Say whether a study goes on."""
        return self._read(lambda it: persons.halted(it, study_id))

    def people(self, study_id: str) -> list[Person]:
        """Return the people of a study, in the order in which they came."""

        def work(it: Connection) -> tuple[list[Person], bool]:
            return persons.list_people(it, study_id), persons.are_written(it, study_id)

        found, is_written = self._read(work)
        self._require_written(study_id, "what is known of people", is_written=is_written)
        return found

    def exclude(self, study_id: str, record: Exclusion) -> bool:
        """Leave somebody out of a study's numbers, or let them back in; say whether that is new."""

        def work(connection: Connection) -> bool:
            if record in exclusions.list_exclusions(connection, study_id):
                return True  # this was committed, and the answer to that was lost
            done = exclusions.append(connection, study_id, record)
            if done:
                what = "excluded" if record.is_excluded else "restored"
                about = {"person": record.person, "rules": list(record.rules), "by": record.by}
                log(connection, what, about, now=record.at)
            return done

        return self._write(work)

    def exclusions(self, study_id: str) -> list[Exclusion]:
        """Return every time that somebody was left out of a study's numbers or let back in."""

        def work(it: Connection) -> tuple[list[Exclusion], bool]:
            found = exclusions.list_exclusions(it, study_id)
            return found, exclusions.are_written(it, study_id)

        found, is_written = self._read(work)
        self._require_written(study_id, "who is left out", is_written=is_written)
        return found

    def find_name(self, name: str) -> Person | None:
        """Return the person of a pseudonym."""
        found = self._read(lambda it: persons.find_names(it, [name]))
        return found[0] if found else None

    def progress(self, study_id: str) -> Progress:
        """Return how far the people of a study are."""
        here = self.people(study_id)

        def work(connection: Connection) -> Progress:
            return Progress(
                tasks.count_tasks(connection, study_id=study_id),
                here,
                persons.count_work(connection, study_id),
                persons.signs_by_person(connection, study_id),
                persons.list_invites(connection, study_id),
                persons.halted(connection, study_id),
                enrolment.list_quotas(connection, study_id),
                enrolment.count_turned_away(connection, study_id),
            )

        return self._read(work)

    def figures(
        self, study_id: str, *, now: datetime
    ) -> tuple[Mapping[str, int], Sequence[OpenCount], int]:
        """Return the answers of people by kind, the open tasks, and how many browsers are known."""

        def work(connection: Connection) -> tuple[Mapping[str, int], Sequence[OpenCount], int]:
            answers: Counter[str] = Counter()
            for (_, kind, state), n in persons.count_work(connection, study_id).items():
                answers[kind] += n if state == "done" else 0
            counts = tasks.count_tasks(connection, study_id=study_id)
            return answers, counts, len(persons.list_browsers(connection, study_id, now=now))

        return self._read(work)

    def read_all(self) -> Rows:
        """Return every row of people, tasks and the audit log, for a copy."""
        return self._read(read_all)

    def write_all(self, rows: Rows) -> None:
        """Put the rows of another store in the place of what is here."""
        self._write(lambda it: write_all(it, rows))

    def events(self) -> list[Event]:
        """Return the audit log."""
        return self._read(lambda it: list(iter_events(it)))


def _claimant(person: Person, kind: str) -> Claimant:
    return Claimant(person.study_id, person.id, kind, person.language)
