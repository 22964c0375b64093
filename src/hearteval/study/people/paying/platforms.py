"""Recruiting sites: what their links say of whom they send, and what is no id of theirs."""

import re
from collections.abc import Mapping
from typing import NamedTuple

MOST_ID = 200
NO_ID = re.compile(
    r"[{}\[\]<>$%]|^(?:(?:assignment|worker|hit|participant|prolific|session|study|project)_?id_?\w*"
    r"|prolific_pid|pid|null|none|undefined|nan|id)$",
    re.IGNORECASE,
)
"""What stands where a recruiting site has put in no id: a placeholder, or no value."""
_ANY = re.compile(r"\w[\w.@:+=-]*")


class Platform(NamedTuple):
    """A recruiting site: the parameters of its links, and what an id of a person looks like."""

    name: str
    participant: str
    is_id: re.Pattern[str] = _ANY
    submission: str = ""
    """Of one time that a person comes: what the site pays for."""
    project: str = ""


PLATFORMS = (
    Platform("prolific", "PROLIFIC_PID", re.compile("[0-9a-f]{24}"), "SESSION_ID", "STUDY_ID"),
    Platform("connect", "participantId", _ANY, "assignmentId", "projectId"),
    Platform("mturk", "workerId", re.compile("A[0-9A-Z]{5,20}"), "assignmentId", "hitId"),
    Platform("other", "participant"),
    Platform("other", "pid"),
)
"""Prolific: docs.prolific.com, "The study object". Connect: its links as researchers use them.
Amazon closed Mechanical Turk on 30 September 2026; its ids are still known as what they are."""
PARAMETERS = tuple(
    dict.fromkeys(name for one in PLATFORMS for name in (one.participant, *one[3:]) if name)
)
"""Of links, that say who comes."""


class SiteIds(NamedTuple):
    """What a recruiting site calls somebody whom it sends."""

    platform: str
    participant: str
    submission: str = ""
    project: str = ""


class NoIdError(Exception):
    """A recruiting site has put in no id, or one that is none of its own."""


def read_ids(values: Mapping[str, str]) -> SiteIds | None:
    """Return what a recruiting site has put into a link, or a form holds; None without an id.

    Raises:
        NoIdError: One is no id: the site has not put it in, or it is not of the site's pattern.
    """
    said = {name: found for name in PARAMETERS if (found := values.get(name, "").strip())}
    if any(len(one) > MOST_ID or NO_ID.search(one) for one in said.values()):
        raise NoIdError  # also a task of Mechanical Turk that is looked at before it is taken
    for site in PLATFORMS:
        who = said.get(site.participant)
        if who is None:
            continue
        rest = [said.get(name, "") for name in site[3:]]
        if not site.is_id.fullmatch(who) or not all(_ANY.fullmatch(one) for one in rest if one):
            raise NoIdError
        return SiteIds(site.name, who, *rest)
    return None
