"""The task page: one mechanism for every kind of task."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, Response

from hearteval.domain import AXES
from hearteval.store.people.persons import Person
from hearteval.store.people.tasks import Lease
from hearteval.study.people.consenting import has_to_agree
from hearteval.study.people.kinds import KINDS
from hearteval.study.people.task import AnswerError, TaskKind
from hearteval.study.people.working import (
    Work,
    find_lease,
    has_practised,
    is_load_done,
    keep_draft,
    load_of,
    next_work,
    open_work,
    opens_again,
    send_answer,
    sitting_of,
    skip_task,
)
from hearteval.web.pages import page
from hearteval.web.site import Known, Sent, Served, Site, about_part, go

router = APIRouter(prefix="/task")
MOST_LEFT = 100
"""Tasks that are counted; of more nobody needs the number."""


async def _kind(name: str, person: Known) -> TaskKind:
    if name not in KINDS or name not in person.kinds:
        raise HTTPException(404)
    return KINDS[name]


Asked = Annotated[TaskKind, Depends(_kind)]


@router.get("/{name}")
def task(kind: Asked, person: Known, request: Request, site: Served) -> Response:
    """Show somebody their task of a kind, or say why there is none."""
    if has_to_agree(site.desk, person):
        return go("/consent")
    done = sitting_of(site.desk, person, kind)
    waits = person.practice is not None and not has_practised(site.desk, person, kind)
    if not done.n_done and not waits and "begin" not in request.query_params:
        return page(
            "instructions",
            reader=person,
            kind=kind.name,
            task=kind.page,
            settings=asked(site),
        )
    every = site.desk.settings.rest_after
    is_tired = kind.is_limited and done.n_sitting and done.n_sitting % every == 0
    is_tired = is_tired and not is_load_done(site.desk, person, kind)
    if is_tired and "rested" not in request.query_params:
        return page("rest", reader=person, kind=kind.name, n=done.n_sitting)
    found = next_work(site.desk, person, kind, done=done)
    if isinstance(found, Work):
        return _task_page(site, person, found, n_done=done.n_done)
    if found == "not_vetted":
        return go("/practice/rate" if kind.has_examples else "/practice")
    again = None if found == "load_done" else opens_again(site.desk, kind, done)
    return _ending(site, person, kind, found, again=again)


@router.post("/{name}")
def answer(form: Sent, kind: Asked, person: Known, site: Served) -> Response:
    """Store an answer, once, and go on to the next task."""
    lease = _lease(site, person, kind, form)
    try:
        outcome = send_answer(site.desk, person, kind, lease, form)
    except AnswerError as error:
        work = open_work(site.desk, kind, lease)
        if work is None:
            return _ending(site, person, kind, "expired", status=409)
        n_done = sitting_of(site.desk, person, kind).n_done
        return _task_page(site, person, work, n_done=n_done, form=form, faults=error.faults)
    if outcome in ("stored", "same"):
        if outcome == "stored" and kind.opens:
            site.written()
        return go(f"/task/{kind.name}")
    return _ending(
        site, person, kind, "already_sent" if outcome == "other" else "expired", status=409
    )


@router.post("/{name}/skip")
def skip(form: Sent, kind: Asked, person: Known, site: Served) -> Response:
    """Pass a task on."""
    skip_task(site.desk, person, _lease(site, person, kind, form))
    return go(f"/task/{kind.name}?begin=1&rested=1")


@router.post("/{name}/skipped")
def bring_back(kind: Asked, person: Known, site: Served) -> Response:
    """Offer again what was skipped."""
    site.desk.session.store.people.bring_back(person, kind.name)
    return go(f"/task/{kind.name}?begin=1&rested=1")


@router.post("/{name}/draft")
def draft(form: Sent, kind: Asked, person: Known, site: Served) -> Response:
    """Keep what is written so far; 409 where the task is no longer the person's."""
    lease = _lease(site, person, kind, form)
    is_kept = keep_draft(site.desk, person, kind, lease, form)
    return PlainTextResponse("", 204 if is_kept else 409)


def _lease(site: Site, person: Person, kind: TaskKind, form: dict[str, str]) -> Lease:
    found = find_lease(site.desk, person, kind, form.get("ticket", ""))
    if found is None:
        raise HTTPException(404)
    return found


def _ending(
    site: Site,
    person: Person,
    kind: TaskKind,
    what: str,
    *,
    again: datetime | None = None,
    status: int = 200,
) -> Response:
    """Say why there is no task, and what may be the last that somebody reads of the study.

    Where they can go on, their part is not over.
    """
    part = about_part(site, person)
    if what in ("expired", "already_sent"):
        part["way"] = None
    given = site.desk.session.store.people.dealt(person, kind.name)
    return page(
        "ending",
        reader=person,
        status=status,
        what=what,
        kind=kind.name,
        again=again,
        has_skipped=any(one.state == "skipped" for one in given),
        has_more=len(person.kinds) > 1 and what != "load_done",
        **part,
    )


def _task_page(
    site: Site,
    person: Person,
    work: Work,
    *,
    n_done: int,
    form: dict[str, str] | None = None,
    faults: dict[str, str] | None = None,
) -> Response:
    settings = site.desk.settings
    return page(
        f"tasks/{work.kind.page}",
        reader=person,
        status=422 if faults else 200,
        kind=work.kind.name,
        ticket=work.lease.ticket,
        turns=work.shown.turns,
        texts=work.shown.texts,
        asked=work.shown.asked,
        form=work.draft if form is None else form,
        faults=faults or {},
        n_done=n_done,
        n_left=_n_left(site, person, work.kind),
        load=settings.load if work.kind.is_limited else None,
        n_load=len(load_of(site.desk, person)) if settings.load else 0,
        most_left=MOST_LEFT,
        settings=asked(site),
    )


def _n_left(site: Site, person: Person, kind: TaskKind) -> int | None:
    """Count what is left for somebody; None where the count would grow as people write.

    Who sees it jump knows that the next replies are a person's; who sees it stay, that they were
    a check.
    """
    settings = site.desk.settings
    if kind.shows_replies and (settings.writers_per_item or settings.quality):
        return None
    return site.desk.session.store.people.count_left(person, kind.name, most=MOST_LEFT)


def asked(site: Site) -> dict[str, Any]:
    """Return what of the settings a page may say."""
    settings = site.desk.settings
    return {
        "protocol": settings.protocol,
        "axes": AXES if settings.axis_marks or settings.protocol == "rating" else (),
    }
