"""The researcher's page: how far it is, what waits, links, people, pause and close."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Any

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

from hearteval.analysis.labels.safety import SafetyResults
from hearteval.errors import SettingsError
from hearteval.items.second_screen import ITEM_SCREEN
from hearteval.labels.taxonomy import load_taxonomy
from hearteval.report.coverage.safety import screen_words
from hearteval.store.people.persons import Halted, Invite, Person
from hearteval.study.people.joining import GROUPS, IDLE, Link, extend_invite, make_invite
from hearteval.study.people.kinds import KINDS, RESEARCH
from hearteval.study.people.labelling import label_kind, settle_kind
from hearteval.study.people.languages import Somebody
from hearteval.study.people.practice import asks_to_score
from hearteval.study.people.watch.states import states_of
from hearteval.study.people.watch.work import is_planned, study_left
from hearteval.web.chart import draw_progress
from hearteval.web.overview import (
    ORDERS,
    points_of,
    rows_of,
    say_ago,
    say_group,
    say_how_far,
    say_seconds,
)
from hearteval.web.pages import page
from hearteval.web.site import Researcher, Sent, Served, Site, go

router = APIRouter(prefix="/researcher")


@router.get("")
def watch(_: Researcher, site: Served, sort: str = "came") -> Response:
    """Show how far the study is."""
    return _page(site, sort=sort)


@router.post("/links")
def invite(form: Sent, who: Researcher, request: Request, site: Served) -> Response:
    """Make a link; it is shown once."""
    kinds = [name for name in KINDS if form.get(f"kind_{name}") == "yes"]
    if not kinds:
        return _page(site, fault="tick what people with this link may do", status=422)
    try:
        token, made = make_invite(
            site.desk,
            Link(
                label=form.get("label", ""),
                kinds=kinds,
                group=form.get("group") or None,
                most_people=_number(form.get("people", "")),
                days=_number(form.get("days", "")),
                is_vetted=form.get("vetted") == "yes",
            ),
            by=who.name,
        )
    except SettingsError as error:
        return _page(site, fault=str(error), status=422)
    address = f"{site.public_url or str(request.base_url).rstrip('/')}/join/{token}"
    return _page(site, made={"address": address, "label": made.label, "n": made.most_people})


@router.post("/links/{invite_id}/revoke")
def revoke(invite_id: str, who: Researcher, site: Served) -> Response:
    """Let nobody else come by a link."""
    people, now = site.desk.session.store.people, site.desk.session.now()
    people.revoke_invite(_link(site, invite_id).id, by=who.name, now=now)
    return go("/researcher#links")


def _link(site: Site, invite_id: str) -> Invite:
    # Not asked for by its id: PostgreSQL takes none that holds a zero.
    known = {one.id: one for one in site.desk.session.store.people.invites(site.desk.study.id)}
    if invite_id not in known or RESEARCH in known[invite_id].kinds:
        raise HTTPException(404)
    return known[invite_id]


@router.post("/links/{invite_id}/extend")
def extend(invite_id: str, form: Sent, who: Researcher, site: Served) -> Response:
    """Let more people come by a link, or for longer."""
    link = _link(site, invite_id)
    people, days = (_number(form.get(name) or "0") for name in ("people", "days"))
    try:
        extend_invite(site.desk, link, people=people, days=days, by=who.name)
    except SettingsError as error:
        return _page(site, fault=str(error), status=422)
    return go("/researcher#links")


@router.post("/pause")
def pause(form: Sent, who: Researcher, site: Served) -> Response:
    """Give out nothing new, or again; or close the study."""
    people, study_id = site.desk.session.store.people, site.desk.study.id
    states: dict[str, Halted] = {"yes": "paused", "closed": "closed"}
    wanted = states.get(form.get("pause", ""), "")
    people.halt(study_id, wanted, by=who.name, now=site.desk.session.now())
    return go("/researcher")


@router.post("/browsers")
def close_browser(form: Sent, who: Researcher, site: Served) -> Response:
    """Let a browser that watches the study watch no more."""
    given = form.get("browser", "")
    people, now = site.desk.session.store.people, site.desk.session.now()
    of = {one: name for one, name, _ in _watching(site, people.people(site.desk.study.id))}
    if given not in of:
        raise HTTPException(404)
    people.close_browser(given, of=of[given], by=who.name, now=now)
    return go("/researcher")


def _watching(site: Site, people: Sequence[Person]) -> list[tuple[str, str, datetime]]:
    """Return the browsers that watch the study: id, pseudonym, and when they asked last."""
    names = {one.id: one.name for one in people if RESEARCH in one.kinds}
    now = site.desk.session.now()
    found = site.desk.session.store.people.browsers(site.desk.study.id, now=now)
    return [(id_, names[of], until - IDLE) for id_, of, until in found if of in names]


@router.post("/practice/{name}")
def vet(form: Sent, name: str, who: Researcher, site: Served) -> Response:
    """Say whether a new writer can start."""
    people = site.desk.session.store.people
    # Not asked for by name: PostgreSQL takes none that holds a zero.
    known = {one.name: one for one in people.people(site.desk.study.id)}
    person, outcome = known.get(name), form.get("outcome")
    if person is None or person.withdrawn_at:
        raise HTTPException(404)
    if outcome not in ("passed", "failed"):
        raise HTTPException(400)
    now = site.desk.session.now()
    people.change_person(person, "vetted", {"vetting": outcome}, by=who.name, now=now)
    return go("/researcher")


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else 0


def _page(site: Site, *, status: int = 200, sort: str = "came", **values: Any) -> Response:
    progress = site.desk.session.store.people.progress(site.desk.study.id)
    said, now = site.texts(site.desk), site.desk.session.now()
    watched = said["watched"]
    rows = rows_of(progress, watched, states_of(site.desk, progress, done=watched.done))
    left = study_left(progress.counts, watched.lately)
    n_wanted = sum(one.n_places for one in progress.counts if is_planned(one.kind))
    sort = sort if sort in ORDERS else "came"
    return page(
        "researcher",
        reader=Somebody(),
        status=status,
        study=site.desk.study.name,
        progress=progress,
        how_far=say_how_far(progress, left, now=now),
        chart=draw_progress(watched.times, n_wanted=n_wanted, left=left, now=now),
        points=points_of(progress, watched, n_texts=said["texts"].get("waiting", 0), now=now),
        reading=site.desk.reading is not None,
        questions={one.key: one.name for one in load_taxonomy(ITEM_SCREEN).categories},
        rows=sorted(rows, key=ORDERS[sort][1]),
        sort=sort,
        orders=ORDERS,
        done_kinds=[kind for kind in KINDS if any(row.done.get(kind) for row in rows)],
        waiting=[row.person for row in rows if row.state == "practice for you to read"],
        kinds=[name for name in KINDS if _is_asked(site, name)],
        links=[one for one in progress.invites if RESEARCH not in one.kinds],
        watching=_watching(site, progress.people),
        say_seconds=say_seconds,
        say_group=say_group,
        say_ago=partial(say_ago, now=now),
        groups=GROUPS,
        settings=site.desk.settings,
        asks_to_score=asks_to_score(site.desk.settings),
        **{**said, "screens": _screens(said["screens"]), "made": None, "fault": "", **values},
    )


def _screens(found: SafetyResults | None) -> list[str]:
    """Say what screens hold and miss, once a person has reviewed anything."""
    return screen_words(found) if found is not None and found.n_read_by_people else []


def _is_asked(site: Site, kind: str) -> bool:
    settings = site.desk.settings
    compares = settings.protocol != "rating"
    labels = site.desk.session.settings.people_labels
    if site.desk.reading is not None:
        return kind in (label_kind(ITEM_SCREEN), settle_kind(ITEM_SCREEN))
    if KINDS[kind].subject:
        taxonomies = () if labels is None else labels.taxonomies
        return any(kind in (label_kind(one), settle_kind(one)) for one in taxonomies)
    return {
        "write": settings.writers_per_item > 0,
        "judge": settings.raters_per_pair > 0 and compares,
        "rate": settings.raters_per_pair > 0 and not compares,
    }.get(kind, True)
