"""The texts that a screen has held: what was said of each, and the researcher's word."""

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.responses import Response

from hearteval.labels.safety import SAFETY
from hearteval.store.people.persons import Person
from hearteval.study.people.kinds import FIT_REASONS, show_held
from hearteval.study.people.languages import Somebody
from hearteval.study.people.task import AnswerError, rater_of
from hearteval.study.people.watch.held import QUEUES, decide
from hearteval.web.pages import page
from hearteval.web.site import Researcher, Sent, Served, Site, go

router = APIRouter(prefix="/researcher/texts")
MOST_TEXTS = 20
"""On one page."""


@router.get("")
def texts(who: Researcher, site: Served, show: str = "waiting") -> Response:
    """List the texts that people were to read, of one queue."""
    return _texts(site, who, show=show)


@router.post("/{text_id}")
def decide_text(form: Sent, text_id: str, who: Researcher, site: Served) -> Response:
    """Say whether a text may be shown, and why."""
    held = {one.text_id: one for one in site.texts(site.desk)["held"]}
    if text_id not in held:
        raise HTTPException(404)
    show = held[text_id].standing
    verdict, _, reason = form.get("why", "").partition(":")
    try:
        outcome = decide(site.desk, who, text_id, verdict=verdict, reason=reason)
    except AnswerError:
        return _texts(site, who, show=show, fault="say why it may be shown, or not", status=422)
    if outcome not in ("stored", "same"):
        return _texts(site, who, show=show, fault="you have spoken of this text before", status=409)
    site.written()
    return go(f"/researcher/texts?show={show}")


def _texts(site: Site, who: Person, *, show: str, fault: str = "", status: int = 200) -> Response:
    store, held = site.desk.session.store, site.texts(site.desk)["held"]
    show = show if show in QUEUES else QUEUES[0]
    here = [one for one in held if one.standing == show]
    listed = here[:MOST_TEXTS]
    # What is known of all texts may be a minute old; what was said of these is not.
    mine = {
        label.text_id
        for label in store.labels_by_people(SAFETY, [one.text_id for one in listed])
        if label.rater_id == rater_of(who).id
    }
    return page(
        "researcher_texts",
        reader=Somebody(),
        status=status,
        study=site.desk.study.name,
        counts={queue: sum(one.standing == queue for one in held) for queue in QUEUES},
        show=show,
        n_more=len(here) - len(listed),
        listed=[(one, show_held(site.desk, one.text_id), one.text_id in mine) for one in listed],
        fit_reasons=FIT_REASONS,
        n_asked=site.desk.settings.reviewers_per_text,
        fault=fault,
    )
