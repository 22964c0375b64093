"""One person, for who watches the study: times, records, how to reach them; nobody's words."""

from statistics import median
from typing import Any, NamedTuple

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.responses import Response

from hearteval.domain.quality import Exclusion
from hearteval.sections.quality.words import SEEN_NOT_DONE, finding_words
from hearteval.store.people.persons import Person
from hearteval.study.people.kinds import RESEARCH
from hearteval.study.people.languages import Somebody
from hearteval.study.people.watch.states import states_of
from hearteval.study.people.watch.work import FEWEST, Times
from hearteval.web.chart import draw_times
from hearteval.web.overview import say_ago, say_seconds, state_words
from hearteval.web.pages import page
from hearteval.web.site import Researcher, Sent, Served, Site, go

router = APIRouter(prefix="/researcher/people")
MOST_WHY = 500
"""Characters of a reason."""


class Pace(NamedTuple):
    """How long somebody took for tasks of one kind."""

    kind: str
    times: Times
    halves: tuple[float, float] | None
    """Medians of the first and the second half of their answers; None for under twenty."""
    bars: str
    usual_at: float | None


@router.get("/{name}")
def show(name: str, _: Researcher, site: Served) -> Response:
    """Show what is known of how somebody works."""
    return _page(site, _find(site, name))


@router.post("/{name}/left-out")
def leave_out(form: Sent, name: str, who: Researcher, site: Served) -> Response:
    """Leave somebody out of the study's numbers, or let them back in, for a reason."""
    person, why = _find(site, name), " ".join(form.get("why", "").split())
    if person.withdrawn_at:
        raise HTTPException(404)
    if not why or len(why) > MOST_WHY:
        return _page(site, person, fault="Say why, in a line or two.", status=422)
    record = Exclusion(
        person=person.name,
        is_excluded=form.get("leave") == "out",
        why=why,
        by=who.name,
        at=site.desk.session.now(),
    )
    site.desk.session.store.people.exclude(site.desk.study.id, record)
    site.written()
    return go(f"/researcher/people/{person.name}")


def _find(site: Site, name: str) -> Person:
    # Not asked for by name: PostgreSQL takes none that holds a zero.
    people = site.desk.session.store.people.people(site.desk.study.id)
    known = {one.name: one for one in people if RESEARCH not in one.kinds}
    if name not in known:
        raise HTTPException(404)
    return known[name]


def _page(site: Site, person: Person, *, status: int = 200, fault: str = "") -> Response:
    people, study_id = site.desk.session.store.people, site.desk.study.id
    records = [one for one in people.exclusions(study_id) if one.person == person.name]
    is_excluded = bool(records) and records[-1].is_excluded
    came = [one for _, one in people.submissions(study_id, person_id=person.id)]
    links = {one.id: one.label for one in people.invites(study_id)}
    watched = site.texts(site.desk)["watched"]
    worked = watched.people.get(person.id)
    states = states_of(site.desk, people.progress(study_id), done=watched.done)
    values: dict[str, Any] = {
        "paces": [] if worked is None else [_pace(*one) for one in worked.times.items()],
        "worked": worked,
    }
    return page(
        "researcher_person",
        reader=Somebody(),
        status=status,
        study=site.desk.study.name,
        person=person,
        state=state_words(person, states[person.id]),
        link=links.get(person.invite_id, ""),
        came=came,
        site_ids=next((one for one in reversed(came) if one.participant), None),
        records=records,
        findings=[(one.rule, finding_words(one)) for one in watched.found.get(person.name, ())],
        seen_not_done=SEEN_NOT_DONE,
        is_excluded=is_excluded,
        now=site.desk.session.now(),
        fewest=FEWEST,
        say_seconds=say_seconds,
        say_ago=say_ago,
        fault=fault,
        **values,
    )


def _pace(kind: str, times: Times) -> Pace:
    half = len(times.seconds) // 2
    halves = None
    if half >= FEWEST:
        halves = median(times.seconds[:half]), median(times.seconds[half:])
    return Pace(kind, times, halves, *draw_times(times))
