"""What people agree to: its words, its version, and asking again where it has changed."""

from collections.abc import Collection, Sequence

from hearteval.domain import content_hash
from hearteval.protocol import ENGLISH, load_protocol
from hearteval.store.people.enrolment import Consent
from hearteval.store.people.persons import Person
from hearteval.study.people import Desk
from hearteval.study.people.checks import KINDS_CHECKED
from hearteval.study.people.kinds import RESEARCH
from hearteval.study.people.paying.ending import load_words
from hearteval.study.people.served import served_words

AFTER_REPLIES = 3
"""Points of the consent before that on checks: the last of them says whose the replies are."""


def consent_points(desk: Desk, kinds: Collection[str], language: str) -> list[str]:
    """Return what the consent says, point by point; the study's own points come first.

    `kinds` are the tasks that somebody may take.
    """
    settings, words = desk.settings, load_protocol("people_consent", language)["consent"]
    told = {
        "retention_days": settings.retention_days,
        "contact": contact_of(desk, language),
        "served": served_words(desk, language),
    }
    asked_first = load_protocol("people_enrolment", language)["consent"]
    points = [*words["points"], *(asked_first if settings.enrolment.questions else ())]
    if settings.quality and not {*KINDS_CHECKED}.isdisjoint(kinds):
        points.insert(AFTER_REPLIES, words["checks"])
    load = load_words(desk, kinds, language)
    return [*settings.consent, *load, *(text.format(**told) for text in points)]


def consent_version(desk: Desk, language: str = ENGLISH) -> str:
    """Return what names the consent that people are asked for, in a language.

    The study's own points are part of it, its load, that there are checks, and what it says of the
    items and of who is let in.
    """
    said: list[object] = [*desk.settings.consent, served_words(desk, language)]
    said += [] if desk.settings.load is None else [desk.settings.load]
    if desk.settings.quality:
        said.append(load_protocol("people_consent", language)["consent"]["checks"])
    if desk.settings.enrolment.questions:
        said.append(load_protocol("people_enrolment", language)["version"])
    return f"{load_protocol('people_consent', language)['version']}+{content_hash(said)[:8]}"


def contact_of(desk: Desk, language: str) -> str:
    """Return whom people ask or complain to."""
    sender: str = load_protocol("people_consent", language)["page"]["sender"]
    return desk.settings.contact or sender


def ticks(kinds: Collection[str]) -> list[str]:
    """Return the names of what has to be ticked."""
    return ["adult", "agree", *(["no_ai"] if "write" in kinds else [])]


def read_consent(desk: Desk, kinds: Collection[str], language: str) -> Consent:
    """Return what somebody agrees to now who may take these kinds of tasks, in a language."""
    return Consent(
        version=consent_version(desk, language),
        text="\n".join(_lines(desk, kinds, language)),
        at=desk.session.now(),
    )


def _lines(desk: Desk, kinds: Collection[str], language: str) -> Sequence[str]:
    words = load_protocol("people_consent", language)
    say, no_ai = words["consent"], words["no_ai"]
    own = ["", no_ai["statement"], "", f"[x] {no_ai['agree']}"] if "write" in kinds else []
    points = [f"- {text}" for text in consent_points(desk, kinds, language)]
    agreed = [f"[x] {say['adult']}", f"[x] {say['agree']}"]
    return [say["title"], "", say["intro"], "", *points, "", *agreed, *own]


def has_to_agree(desk: Desk, person: Person) -> bool:
    """Say whether somebody is to be asked again before they go on: they agreed to another text.

    Who watches the study has agreed to nothing and is not asked.
    """
    asked = consent_version(desk, person.language)
    return RESEARCH not in person.kinds and person.consent_version != asked


def agree_again(desk: Desk, person: Person) -> None:
    """Keep that somebody agrees to what is asked now; what they agreed to before stays known."""
    consent = read_consent(desk, person.kinds, person.language)
    desk.session.store.people.consent_again(person, consent)


def agreed_to(desk: Desk, person: Person) -> Consent | None:
    """Return the last consent of somebody; None where none is kept."""
    found = desk.session.store.people.consents(person)
    return found[-1] if found else None


def copy_of(desk: Desk, consent: Consent, language: str) -> str:
    """Return the copy of a consent that somebody keeps, as plain text."""
    say = load_protocol("people_enrolment", language)["own_copy"]
    when = {"day": f"{consent.at:%Y-%m-%d}", "time": f"{consent.at:%H:%M}"}
    said = say["said"].format(**when, version=consent.version)
    contact = say["contact"].format(contact=contact_of(desk, language))
    return f"{consent.text}\n\n{said}\n{contact}\n"
