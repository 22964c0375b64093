"""What every route knows and asks for: the study that is served, who asks, and what was sent."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import Depends, Request
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.responses import RedirectResponse, Response

from hearteval.store.people.persons import Person
from hearteval.study.people import Desk
from hearteval.study.people.consenting import contact_of
from hearteval.study.people.joining import BROWSER_DAYS, find_person
from hearteval.study.people.kinds import RESEARCH
from hearteval.study.people.languages import Reader, Somebody, offered_languages
from hearteval.study.people.paying.ending import way_of
from hearteval.study.people.paying.signed import SiteKeys
from hearteval.study.people.planning import describe_texts
from hearteval.study.people.working import count_done
from hearteval.web.guard import Tries
from hearteval.web.pages import page, pick_language, pick_locale, words_in

COOKIE = "heart"
MOST_FIELDS = 60
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
        keys: By which links are signed; None where they need not be.
        texts: What there is to say of the texts of a study to who watches it.
        clock: Seconds that only grow.
        metrics_token: Who sends it reads the metrics; None for nobody.
        n_failed_plans: How often tasks could not be opened.
        n_failed_pages: Counts the pages that the database failed.
    """

    desk: Desk
    written: Callable[[], None]
    is_https: bool = False
    public_url: str = ""
    hosts: frozenset[str] = frozenset()
    keys: SiteKeys | None = None
    texts: Callable[[Desk], Mapping[str, Any]] = describe_texts
    tries: Tries = field(default_factory=Tries)
    clock: Callable[[], float] = time.monotonic
    metrics_token: str | None = None
    n_failed_plans: Callable[[], int] = lambda: 0
    n_failed_pages: Counter[str] = field(default_factory=Counter)

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
    request.state.reader = found or guest_of(request)
    return found


async def person_of(person: Annotated[Person | None, Depends(whoever)]) -> Person:
    """Return whose browser asks; others are sent to the first page."""
    if person is None:
        raise HTTPException(401, "no_link")
    return person


def guest_of(request: Request) -> Somebody:
    """Return for whom a page is that nobody of the study asks for: what their browser asks for.

    A link or a form may name another language, as ``lang``; whoever is known here keeps theirs.
    """
    accepted = request.headers.get("accept-language", "")
    form: Mapping[str, str] = getattr(request.state, "form", {})
    named = form.get("lang") or request.query_params.get("lang", "")
    known = getattr(request.state, "reader", None)
    asked = f"{named},{known.language if known else ''},{accepted}"
    offered = offered_languages(site_of(request).desk)
    return Somebody(pick_locale(accepted), pick_language(asked, offered))


Known = Annotated[Person, Depends(person_of)]


async def _researcher(person: Known) -> Person:
    if RESEARCH not in person.kinds:
        raise HTTPException(404)
    return person


Researcher = Annotated[Person, Depends(_researcher)]
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
        "way": way_of(site.desk, person),
    }


def contact_for(site: Site, reader: Reader) -> str:
    """Return whom somebody asks or complains to."""
    return contact_of(site.desk, reader.language)


def say(
    request: Request,
    what: str,
    *,
    status: int = 200,
    way: str | None = None,
    is_known: bool = False,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return a page that says one thing, by the name of its words in ``people_consent``.

    Who is known can stop there; `way` is the code or link of an ending.
    """
    reader = getattr(request.state, "reader", None) or guest_of(request)
    words = words_in(reader.language)["consent"][what]
    text = words.get("text", "").format(contact=contact_for(site_of(request), reader))
    return page(
        "say",
        reader=reader,
        status=status,
        headers=headers,
        what={**words, "text": text},
        way=way,
        is_known=is_known,
    )
