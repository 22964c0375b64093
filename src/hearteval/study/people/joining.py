"""How people come: links, consent, browsers; and how they leave.

A token is 256 random bits; the store keeps half of its SHA-256, by which it is found. Who knows a
token was given it: only a try at one that does not exist is a guess.
"""

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from hearteval.domain import Rater
from hearteval.errors import SettingsError
from hearteval.store.people.enrolment import Consent, Entry, GroupFullError
from hearteval.store.people.persons import Invite, Person, Submission
from hearteval.study.people import Desk
from hearteval.study.people.background import may_enter, quotas_of
from hearteval.study.people.kinds import KINDS, RESEARCH
from hearteval.study.people.languages import Reader
from hearteval.study.people.paying.platforms import SiteIds
from hearteval.study.simulation.apart import require_real

TOKEN_BYTES = 32
ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Of pseudonyms: what nobody mistakes for something else."""
NAME_LETTERS = 8
BROWSER_DAYS = 60
IDLE = timedelta(hours=8)
"""After which a browser that watches the study, and has asked for nothing, is known no more."""
MOST_PEOPLE = 100_000
"""By one link, so that a slip in a number is refused and not planned for."""
MOST_DAYS = 3650
FOR_ANYBODY = frozenset({"write", "judge", "rate"})
"""Kinds of tasks in which nobody reads what is held back from others."""
GROUPS = ("crowd", "peer", "clinician")


def new_token() -> str:
    """Return a secret for a link or a cookie."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def token_id(token: str) -> str:
    """Return the id under which a secret is known."""
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()[:32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """What a new link is for."""

    label: str
    """What the researcher calls it."""
    kinds: Sequence[str]
    """Of tasks, or ``research``."""
    group: str | None = None
    most_people: int = 1
    days: int = 60
    """That it works."""
    is_vetted: bool = False
    """Whether those who come by it need no practice."""


def close_unused_sign_ins(desk: Desk) -> None:
    """Close the links to the researcher's page by which nobody has come."""
    people, now = desk.session.store.people, desk.session.now()
    for one in people.progress(desk.study.id).invites:
        if RESEARCH in one.kinds and not one.n_people:
            people.revoke_invite(one.id, now=now)


def make_invite(desk: Desk, link: Link, *, by: str | None = None) -> tuple[str, Invite]:
    """Make a link; return its token, which is never told again, and what is kept of it.

    `by` is the pseudonym of who makes it.

    Raises:
        SettingsError: For an unknown kind of task or group, or a number that cannot be.
    """
    require_real(desk.study, "no person takes part in it")
    known = (*KINDS, RESEARCH)
    if not link.kinds or any(kind not in known for kind in link.kinds):
        raise SettingsError(f"a link is for some of {', '.join(known)}, not {list(link.kinds)}")
    if link.group is not None and link.group not in GROUPS:
        raise SettingsError(f"the group is one of {', '.join(GROUPS)}, not {link.group!r}")
    if not 1 <= link.most_people <= MOST_PEOPLE or not 1 <= link.days <= MOST_DAYS:
        raise SettingsError("a link is for at least one person and one day")
    needs_vetting = desk.settings.practice and "write" in link.kinds and not link.is_vetted
    now = desk.session.now()
    token = new_token()
    invite = Invite(
        id=token_id(token),
        study_id=desk.study.id,
        label=" ".join(link.label.split())[:100] or "link",
        kinds=tuple(kind for kind in known if kind in link.kinds),
        group=link.group,
        vetting="pending" if needs_vetting else "passed" if link.is_vetted else "none",
        most_people=link.most_people,
        created_at=now,
        expires_at=now + timedelta(days=link.days),
    )
    desk.session.store.people.add_invite(invite, by=by, now=now)
    return token, invite


def extend_invite(desk: Desk, invite: Invite, *, people: int, days: int, by: str) -> None:
    """Let so many more people come by a link, for so many days more, from its end or from now.

    Raises:
        SettingsError: A number cannot be, or neither says anything.
    """
    now = desk.session.now()
    until = max(invite.expires_at, now) + timedelta(days=days) if days else invite.expires_at
    if not people + days or days > MOST_DAYS or invite.most_people + people > MOST_PEOPLE:
        raise SettingsError("say how many people more, or for how many days more")
    desk.session.store.people.extend_invite(invite, more_people=people, until=until, by=by, now=now)


Refusal = Literal["full", "over", "other", "closed_to_new", "screened_out", "group_full"]
"""All places of a link are taken, it is revoked or too old, or somebody may do what only the link
that they came by first allows; the study is closed; or it asks others, or has enough like them."""


class Arrival(NamedTuple):
    """Somebody at a link that exists."""

    link: Invite
    guest: Person | None
    """Who comes again, by this link or another of the study; None for somebody new."""
    is_new: bool
    """Whether they still have to agree to what this link is for."""
    refusal: Refusal | Literal[""]
    """Why they cannot come by it, by the name of its words in ``people_consent``."""


def find_link(
    desk: Desk, token: str, *, sent: SiteIds | None = None, known: Person | None = None
) -> Arrival | None:
    """Return the link of a token, and who comes by it; None where there is no such link.

    A platform id, in `sent`, is one person in all of a study, but for who watches it. So is
    `known`, whom a browser is known as and who says that they are the same, where they may be.
    """
    people, now = desk.session.store.people, desk.session.now()
    invite = people.find_invite(token_id(token))
    if invite is None or invite.study_id != desk.study.id:
        return None
    if invite.revoked_at is not None or invite.expires_at <= now:
        return Arrival(invite, None, is_new=True, refusal="over")
    participant = None if sent is None or RESEARCH in invite.kinds else sent.participant
    guest = people.find_guest(invite, participant)
    came_by_another = guest is not None and guest.invite_id != invite.id
    # An id is no secret: it alone brings nobody to what others wrote or to the study's page.
    if guest and came_by_another and not {*guest.kinds} <= {*invite.kinds, *FOR_ANYBODY}:
        return Arrival(invite, None, is_new=True, refusal="other")
    if guest is None and known is not None and may_be_same(desk, known, invite, sent):
        guest = known
    is_new = guest is None or not set(invite.kinds) <= set(guest.kinds)
    if is_new and RESEARCH not in invite.kinds and people.halted(desk.study.id) == "closed":
        return Arrival(invite, None, is_new=True, refusal="closed_to_new")
    is_full = is_new and invite.n_people >= invite.most_people
    before = people.was_turned_away(invite, participant) if guest is None else None
    return Arrival(invite, guest, is_new=is_new, refusal=before or ("full" if is_full else ""))


def may_be_same(desk: Desk, known: Person, invite: Invite, sent: SiteIds | None) -> bool:
    """Say whether who comes by a link, whom nobody knows there, may be whom their browser is of.

    Not where both have an id, and they differ; whoever watches the study is nobody of it.
    """
    is_watching = RESEARCH in known.kinds or RESEARCH in invite.kinds
    return not is_watching and (sent is None or not ids_of(desk, known))


def ids_of(desk: Desk, person: Person) -> set[tuple[str, str]]:
    """Return what recruiting sites call somebody: of the person, and of each time they came."""
    found = desk.session.store.people.submissions(desk.study.id, person_id=person.id)
    return {(one.participant, one.submission or "") for _, one in found if one.participant}


class Agreed(NamedTuple):
    """What somebody says who wants to take part."""

    consent: Consent
    answers: Mapping[str, str]
    """To what is asked first, of who is new; empty where nothing is."""


def join(
    desk: Desk,
    invite: Invite,
    *,
    sent: SiteIds | None = None,
    reader: Reader,
    agreed: Agreed | None,
    guest: Person | None = None,
) -> tuple[str, Person] | Refusal:
    """Let in somebody who has agreed, or back in who came before; or say why not.

    `agreed` is None for who has not; `guest` is who came before, as far as that is known. Whoever
    has not agreed and is not known here has no room, but for who watches the study. Also return the
    secret of their browser.
    """
    people, now = desk.session.store.people, desk.session.now()
    is_asked = RESEARCH not in invite.kinds
    enrolment, consent = desk.settings.enrolment, None if agreed is None else agreed.consent
    answers = {} if agreed is None else agreed.answers
    if answers and not may_enter(enrolment, answers):
        people.turn_away(invite, sent and sent.participant, "screened_out", now=now)
        return "screened_out"
    quotas = quotas_of(enrolment, answers, desk.study.id) if answers else ()
    person = Person(
        id=secrets.token_hex(16) if guest is None else guest.id,
        study_id=desk.study.id,
        name="P-" + "".join(secrets.choice(ALPHABET) for _ in range(NAME_LETTERS)),
        invite_id=invite.id,
        kinds=invite.kinds,
        group=invite.group,
        vetting=invite.vetting,
        locale=reader.locale,
        language=reader.language,
        created_at=now,
        consent_version=None if consent is None else consent.version,
        consented_at=None if consent is None else now,
        background=answers or None,
        salt=secrets.token_hex(16),
    )
    token = new_token()
    try:
        found = people.join(
            person,
            came=Submission(came_at=now, **(sent._asdict() if sent else {})) if is_asked else None,
            session_id=token_id(token),
            until=now + (timedelta(days=BROWSER_DAYS) if is_asked else IDLE),
            entry=Entry(consent, quotas) if consent or not is_asked else None,
            now=now,
        )
    except GroupFullError:
        people.turn_away(invite, sent and sent.participant, "group_full", now=now)
        return "group_full"
    return "full" if found is None else (token, found)


def find_person(desk: Desk, token: str) -> Person | None:
    """Return whose browser holds this secret."""
    people, now = desk.session.store.people, desk.session.now()
    found = people.find_browser(token_id(token), now=now)
    if found is None or found.study_id != desk.study.id:
        return None
    if RESEARCH in found.kinds:
        people.renew_browser(token_id(token), until=now + IDLE)
    return found


def find_to_withdraw(desk: Desk, name: str) -> Person | None:
    """Return the person of a pseudonym, or of an id on the site that sent them."""
    store = desk.session.store.people
    known = {id_ for id_, one in store.submissions(desk.study.id) if one.participant == name}
    people = store.people(desk.study.id)
    found = [one for one in people if one.name == name or one.id in known] or [
        one for one in people if one.name == name.upper()
    ]
    return found[0] if found else None


def stop(desk: Desk, person: Person) -> None:
    """Let somebody leave; what they sent stays, and they may come back."""
    desk.session.store.people.stop(person, now=desk.session.now())


def log_out(desk: Desk, token: str) -> None:
    """Know a browser no more: for a computer that others use too."""
    desk.session.store.people.close_browser(token_id(token), now=desk.session.now())


def withdraw(desk: Desk, person: Person) -> dict[str, int]:
    """Delete who somebody is and every word of theirs; return how many texts, by kind."""
    rater_id = Rater(name=person.name, kind="human", family="human").id
    return desk.session.store.people.withdraw(person, rater_id=rater_id, now=desk.session.now())


def forget_old_details(desk: Desk, *, now: datetime) -> int:
    """Delete what people told about themselves once the time to keep it is over."""
    before = now - timedelta(days=desk.settings.retention_days)
    return desk.session.store.people.forget_details(desk.study.id, before=before, now=now)
