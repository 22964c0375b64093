"""The application: its routes, its guard, and what it says when something fails."""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Request
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import Scope

from hearteval.errors import StoreError
from hearteval.protocol import load_protocol
from hearteval.store.people.persons import Person
from hearteval.study.people import Desk
from hearteval.study.people.joining import BROWSER_DAYS, find_person
from hearteval.study.people.planning import describe_texts
from hearteval.study.people.working import count_done
from hearteval.web.guard import FRESH, HEADERS, HSTS, Guard, Tries
from hearteval.web.pages import DEFAULT_LOCALE, STATIC, page, pick_locale, static_file

logger = logging.getLogger(__name__)

COOKIE = "heart"
MOST_FIELDS = 60
RETRY_SECONDS = 15
READ_SECONDS = 30.0
"""In which a form has to come."""
A_DAY = 24 * 60 * 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """What every route knows.

    Attributes:
        written: Told when somebody has written or reviewed, so that new tasks are opened.
        is_https: Whether pages, and so cookies, are for encrypted connections only.
        public_url: Where people find it, without a slash at its end; empty is where they ask.
        hosts: Names that requests may be for; empty is any.
        texts: What there is to say of the texts of a study to who watches it.
        clock: Seconds that only grow.
    """

    desk: Desk
    written: Callable[[], None]
    is_https: bool = False
    public_url: str = ""
    hosts: frozenset[str] = frozenset()
    texts: Callable[[Desk], Mapping[str, Any]] = describe_texts
    tries: Tries = field(default_factory=Tries)
    clock: Callable[[], float] = time.monotonic

    @property
    def cookie(self) -> str:
        """The name of the cookie; encrypted, no other name or study of this one can set it."""
        return f"__Host-{COOKIE}-{self.desk.study.id[:8]}" if self.is_https else COOKIE


class LinkError(Exception):
    """Somebody cannot come by a link that exists.

    Attributes:
        what: Why, by the name of its words in ``people_consent``.
    """

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of a form; the last of a name counts, files do not.

    The only part of a request that has to be waited for: handlers are ordinary functions. They take
    it before anything else, so that what was typed is known where the database cannot be asked.
    """
    try:
        async with (
            asyncio.timeout(READ_SECONDS),
            request.form(max_files=0, max_fields=MOST_FIELDS) as form,
        ):
            found = {
                # A form may say that it is UTF-7, which holds what no page can show.
                name: value.encode(errors="replace").decode()
                for name, value in form.items()
                if isinstance(value, str)
            }
    except TimeoutError as error:
        raise HTTPException(408) from error
    except (MultiPartException, UnicodeDecodeError, ValueError) as error:
        raise HTTPException(400) from error
    request.state.form = found
    return found


def site_of(request: Request) -> Site:
    """Return what every route knows."""
    found = request.app.state.site
    assert isinstance(found, Site)
    return found


async def served_site(request: Request) -> Site:
    """Return what every route knows; what waits for nothing needs no thread of its own."""
    return site_of(request)


def whoever(request: Request) -> Person | None:
    """Return whose browser asks; None where it is not known."""
    site = site_of(request)
    token = request.cookies.get(site.cookie)
    found = find_person(site.desk, token) if token else None
    request.state.locale = found.locale if found else locale_of(request)
    return found


async def person_of(person: Annotated[Person | None, Depends(whoever)]) -> Person:
    """Return whose browser asks; others are sent to the first page."""
    if person is None:
        raise HTTPException(401, "no_link")
    return person


def locale_of(request: Request) -> str:
    """Return the locale of a browser that belongs to nobody."""
    return pick_locale(request.headers.get("accept-language", ""))


Known = Annotated[Person, Depends(person_of)]
Guest = Annotated[Person | None, Depends(whoever)]
Sent = Annotated[dict[str, str], Depends(read_form)]
Served = Annotated[Site, Depends(served_site)]


def go(where: str) -> Response:
    """Send the browser to another page, which it asks for anew."""
    return RedirectResponse(where, 303)


def let_in(response: Response, site: Site, token: str) -> Response:
    """Have the browser remember who it belongs to."""
    response.set_cookie(
        site.cookie,
        token,
        max_age=BROWSER_DAYS * A_DAY,
        httponly=True,
        secure=site.is_https,
        samesite="lax",
    )
    return response


def let_out(response: Response, site: Site) -> Response:
    """Have the browser forget who it belongs to."""
    response.delete_cookie(site.cookie, httponly=True, secure=site.is_https, samesite="lax")
    return response


def about_part(site: Site, person: Person) -> dict[str, Any]:
    """Return what every page says of somebody's part that may be their last one."""
    return {
        "name": person.name,
        "n_done": count_done(site.desk, person),
        "way_back": site.desk.settings.way_back,
    }


def say(
    request: Request,
    what: str,
    *,
    status: int = 200,
    way_back: str | None = None,
    is_known: bool = False,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return a page that says one thing, by the name of its words in ``people_consent``.

    Who is known can stop there.
    """
    words, settings = load_protocol("people_consent")[what], site_of(request).desk.settings
    text = words.get("text", "").format(contact=settings.contact)
    return page(
        "say",
        locale=getattr(request.state, "locale", None) or locale_of(request),
        status=status,
        headers=headers,
        what={**words, "text": text},
        way_back=way_back,
        is_known=is_known,
    )


def create_app(site: Site) -> FastAPI:
    """Return the application that serves a study to people."""
    from hearteval.web import people, research, tasks  # noqa: PLC0415 - they use what is above

    app = FastAPI(title="hearteval", docs_url=None, redoc_url=None, openapi_url="/openapi.json")
    app.state.site = site
    app.add_middleware(
        Guard,
        refuse=_refuse_early,
        hosts=site.hosts,
        is_https=site.is_https,
    )
    for part in (people, tasks, research):
        app.include_router(part.router)
    app.add_api_route("/static/{name}", _static, methods=["GET"])
    app.add_api_route("/favicon.ico", _no_icon, methods=["GET"])
    app.add_api_route("/health", _health, methods=["GET"])
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


def _health(site: Served) -> Response:
    site.desk.session.store.people.is_paused(site.desk.study.id)
    return PlainTextResponse("ok\n")


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
    status = {"full": 403, "other": 403, "over": 410, "no_id": 400}[error.what]
    way_back = settings.way_back_when_full if error.what == "full" else None
    is_known = _is_known(request)
    return say(request, error.what, status=status, way_back=way_back, is_known=is_known)


def _not_stored(request: Request, error: Exception) -> Response:
    """Say that nothing can be stored now, and give back what was typed."""
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
        locale=getattr(request.state, "locale", DEFAULT_LOCALE),
        status=status,
        headers=headers,
        action=request.url.path,
        is_form=request.method == "POST",
        form=form,
    )
