"""What machines ask of a server: whether it lives, whether it can serve, and a few numbers.

Nothing of it names anybody. The numbers are for who sends the token of the metrics alone.
"""

import hmac
import logging
import time
from collections.abc import Iterator, Mapping

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, Response

from hearteval.errors import StoreError
from hearteval.web.site import Served, Site

logger = logging.getLogger(__name__)
router = APIRouter()

TAKEOVER_SECONDS = 5.0
"""For which nobody may open tasks: where who did has ended, another takes over meanwhile."""
AGAIN_SECONDS = 0.25

Metric = tuple[str, str, str, Mapping[str, float]]
"""Its name, its type, what it says, and its values by their labels."""


@router.get("/healthz")
async def alive() -> Response:
    """Say that the process answers; the database is not asked."""
    return PlainTextResponse("ok\n")


@router.get("/readyz")
def ready(site: Served) -> Response:
    """Say whether people can be sent here: 503 and why where they cannot."""
    try:
        why = _why_unready(site)
    except StoreError as error:
        logger.warning("not ready: %s", error)
        why = "the database cannot be used; see the log"
    return PlainTextResponse(f"{why or 'ready'}\n", 503 if why else 200)


@router.get("/metrics")
def metrics(request: Request, site: Served) -> Response:
    """Return numbers of the study and of this process, as Prometheus reads them."""
    sent = request.headers.get("authorization", "").encode()
    if not site.metrics_token or not hmac.compare_digest(
        sent, f"Bearer {site.metrics_token}".encode()
    ):
        raise HTTPException(404)
    text = "".join(
        f"# HELP {name} {words}\n# TYPE {name} {kind}\n"
        + "".join(f"{name}{labels} {value:.10g}\n" for labels, value in values.items())
        for name, kind, words, values in _all_metrics(site)
    )
    return PlainTextResponse(text, media_type="text/plain; version=0.0.4")


def _why_unready(site: Site) -> str:
    store, study = site.desk.session.store, site.desk.study
    if store.schema_version() is None or store.latest_study(study.id) is None:
        return "the study is not in the database"
    served = store.served(study)
    if served is not None and max(served.versions, default=0) > study.version:
        return f"version {max(served.versions)} is served elsewhere, and {study.version} here"
    until = time.monotonic() + TAKEOVER_SECONDS
    while served is not None and served.planner_seconds is None:
        if time.monotonic() > until:
            return "no server opens tasks"
        time.sleep(AGAIN_SECONDS)
        served = store.served(study)
    return ""


def _all_metrics(site: Site) -> Iterator[Metric]:
    try:
        of_study = list(_of_study(site))
    except StoreError as error:
        logger.warning("metrics without those of the study: %s", error)
        of_study = []
    yield "heart_database_up", "gauge", "Whether it answered.", {"": float(bool(of_study))}
    failed = {
        '{where="pages"}': site.n_failed_pages["pages"],
        '{where="planner"}': site.n_failed_plans(),
    }
    yield "heart_database_errors_total", "counter", "Of this process.", failed
    yield "heart_study_version", "gauge", "That this server serves.", {"": site.desk.study.version}
    yield from of_study


def _of_study(site: Site) -> Iterator[Metric]:
    session, study = site.desk.session, site.desk.study
    answers, counts, n_browsers = session.store.people.figures(study.id, now=session.now())
    by_kind = {f'{{kind="{one.kind}"}}': one for one in counts}
    done = {f'{{kind="{kind}"}}': n for kind, n in answers.items()}
    yield "heart_answers", "gauge", "Answers of people that are stored.", done
    n_open = {labels: one.n_places - one.n_done for labels, one in by_kind.items()}
    yield "heart_tasks_open", "gauge", "Answers that are still wanted.", n_open
    n_held = {labels: one.n_held for labels, one in by_kind.items()}
    yield "heart_tasks_held", "gauge", "Of these, in somebody's hands.", n_held
    yield "heart_browsers", "gauge", "Browsers that are known.", {"": n_browsers}
    served = session.store.served(study)
    if served is None:
        return
    n_servers = {f'{{version="{one}"}}': served.versions.count(one) for one in served.versions}
    yield "heart_servers", "gauge", "Servers of the study, by its version.", n_servers
    if served.planner_seconds is not None:
        seconds = {"": served.planner_seconds}
        yield "heart_planner_age_seconds", "gauge", "Since who opens tasks last looked.", seconds
