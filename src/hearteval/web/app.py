"""The application: its routes, its guard, and what it says when something fails."""

import logging
from collections.abc import Mapping
from contextlib import suppress

from fastapi import FastAPI, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import Scope

from hearteval.errors import StoreError
from hearteval.study.people.languages import Somebody
from hearteval.web import held, people, person, probes, research, tasks
from hearteval.web.guard import FRESH, HEADERS, HSTS, Guard
from hearteval.web.pages import STATIC, page, static_file
from hearteval.web.site import A_DAY, LinkError, Site, say, site_of, whoever

logger = logging.getLogger(__name__)

RETRY_SECONDS = 15


def create_app(site: Site) -> FastAPI:
    """Return the application that serves a study to people."""
    app = FastAPI(title="hearteval", docs_url=None, redoc_url=None, openapi_url="/openapi.json")
    app.state.site = site
    app.add_middleware(
        Guard,
        refuse=_refuse_early,
        hosts=site.hosts,
        is_https=site.is_https,
        trial=site.desk.trial,
    )
    for part in (people, tasks, research, held, person, probes):
        app.include_router(part.router)
    app.add_api_route("/static/{name}", _static, methods=["GET"])
    app.add_api_route("/favicon.ico", _no_icon, methods=["GET"])
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(LinkError, _no_way_in)
    app.add_exception_handler(StoreError, _not_stored)
    app.add_exception_handler(Exception, _failed)
    return app


def _refuse_early(scope: Scope, what: str, status: int) -> Response:
    """Refuse before anything is asked of the store: whose cookie it is nobody knows yet."""
    request = Request(scope)
    return say(request, what, status=status, is_known=site_of(request).cookie in request.cookies)


def _static(name: str) -> Response:
    if name not in STATIC:
        raise HTTPException(404)
    kept = {"Cache-Control": f"public, max-age={A_DAY}, immutable"}
    return Response(static_file(name), media_type=STATIC[name], headers=kept)


def _no_icon() -> Response:
    return Response(status_code=204, headers={"Cache-Control": f"public, max-age={A_DAY}"})


def _is_known(request: Request) -> bool:
    with suppress(StoreError):
        return whoever(request) is not None
    return False


def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 401:
        return say(request, "no_link" if error.detail == "no_link" else "link", status=401)
    what = {404: "not_found", 429: "too_many", 400: "unreadable", 408: "too_slow"}.get(
        error.status_code, "not_possible"
    )
    is_known = _is_known(request)
    return say(request, what, status=error.status_code, is_known=is_known, headers=error.headers)


def _no_way_in(request: Request, error: Exception) -> Response:
    assert isinstance(error, LinkError)
    settings = site_of(request).desk.settings
    status = {"over": 410, "closed_to_new": 410, "no_id": 400}.get(error.what, 403)
    endings, full = settings.endings, ("full", "closed_to_new", "group_full")
    way = endings.full if error.what in full else None
    way = endings.screened_out if error.what == "screened_out" else way
    is_known = _is_known(request)
    return say(request, error.what, status=status, way=way, is_known=is_known)


async def _not_stored(request: Request, error: Exception) -> Response:
    """Say that nothing can be stored now, and give back what was typed."""
    site_of(request).n_failed_pages["pages"] += 1  # on the loop, so that none is lost
    logger.warning("a page could not be served: %s", error)
    return _give_back(request, status=503, headers={"Retry-After": str(RETRY_SECONDS)})


def _failed(request: Request, _error: Exception) -> Response:
    """Give back what was typed where we are at fault; the server tells the error itself.

    Such an answer is made outside of the guard, which adds headers to all others.
    """
    hsts = {"Strict-Transport-Security": HSTS} if site_of(request).is_https else {}
    headers = {**HEADERS, **hsts, "Cache-Control": FRESH}
    return _give_back(request, status=500, headers=headers)


def _give_back(request: Request, *, status: int, headers: Mapping[str, str]) -> Response:
    form: Mapping[str, str] = getattr(request.state, "form", {})
    return page(
        "not_saved",
        reader=getattr(request.state, "reader", Somebody()),
        status=status,
        headers=headers,
        action=request.url.path,
        is_form=request.method == "POST",
        form=form,
    )
