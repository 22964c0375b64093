"""Coming, being told, telling, stopping, withdrawing: everything around the tasks."""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, Response

from hearteval.store.people.persons import Invite, Person
from hearteval.study.people import joining
from hearteval.study.people.background import (
    asked_about,
    asked_first,
    field_name,
    read_background,
    read_entry,
)
from hearteval.study.people.consenting import (
    agree_again,
    agreed_to,
    consent_points,
    copy_of,
    has_to_agree,
    read_consent,
    ticks,
)
from hearteval.study.people.kinds import RESEARCH, check_text
from hearteval.study.people.languages import Reader, Somebody, offered_languages
from hearteval.study.people.paying.ending import way_of
from hearteval.study.people.paying.platforms import PARAMETERS, NoIdError, SiteIds, read_ids
from hearteval.study.people.paying.signed import TOKEN
from hearteval.study.people.practice import (
    Example,
    find_example,
    next_example,
    score_example,
)
from hearteval.study.people.served import served_words
from hearteval.study.people.task import AnswerError
from hearteval.study.people.working import kinds_of, practice_read_by, send_practice, sitting_of
from hearteval.web.pages import help_for, page, words_in
from hearteval.web.site import (
    Guest,
    Known,
    LinkError,
    Sent,
    Served,
    Site,
    about_part,
    contact_for,
    go,
    guest_of,
    let_in,
    let_out,
    say,
    site_of,
)
from hearteval.web.tasks import asked

router = APIRouter()


def _link(
    request: Request, token: str, sent: SiteIds | None, *, same: Person | None = None
) -> joining.Arrival:
    """Return who comes by the link of a token; else refuse. `same` is who says they are the same.

    Only what is no link counts as a try at one: whoever has one is never locked out. Where links
    are signed, an id that no signature vouches for lets nobody in, nor does a link for several
    people without one.
    """
    site = site_of(request)
    client = request.client.host if request.client else ""
    found = joining.find_link(site.desk, token, sent=sent, known=same)
    if found is None:
        if not site.tries.may_try(client, now=site.clock()):
            raise HTTPException(429, headers={"Retry-After": str(int(site.tries.seconds))})
        site.tries.note_failure(client, now=site.clock())
        raise HTTPException(401)
    if site.keys is not None and sent is None and RESEARCH not in found.link.kinds:
        given = {*request.query_params, *getattr(request.state, "form", ())}
        if found.link.most_people > 1 or not given.isdisjoint((TOKEN, *PARAMETERS)):
            raise LinkError("unsigned")
    if found.refusal:
        raise LinkError(found.refusal)
    return found


@router.get("/")
def first(guest: Guest, request: Request) -> Response:
    """Send who is known to their work, and tell others that they need a link."""
    return go("/work") if guest else say(request, "no_link")


@router.get("/join/{token}")
def come(token: str, known: Guest, request: Request, site: Served) -> Response:
    """Warn of what is to be read; who has come before, or watches the study, goes on at once."""
    sent, guest = _sent_by(site, request.query_params), guest_of(request)
    values: dict[str, Any] = {"token": token, "sent": _again(site, request.query_params)}
    values["lang"] = guest.language
    mine = joining.ids_of(site.desk, known) if known and sent else set()
    # A link for several people cannot tell who comes again, and may be full: their browser can.
    is_known = sent is None or (sent.participant, sent.submission) in mine
    comes_again = known is not None and known.invite_id == joining.token_id(token) and is_known
    if known is not None and comes_again and "new" not in request.query_params:
        watches = RESEARCH in known.kinds
        return page("back_again", reader=known, **values, is_here=True, watches=watches)
    found = _link(request, token, sent, same=None if "new" in request.query_params else known)
    watches = RESEARCH in found.link.kinds
    is_here = known is not None and found.guest == known
    is_sure = "same" in request.query_params or (sent and sent.participant in {m[0] for m in mine})
    if known is not None and is_here and found.is_new and not is_sure:
        return page("same_person", reader=known, **values, name=known.name)
    values["same"] = "yes" if is_here else ""
    if found.is_new and not watches:
        served = served_words(site.desk, guest.language)
        offered = offered_languages(site.desk)
        return page("warning", reader=guest, served=served, offered=offered, **values)
    return page("back_again", reader=guest, **values, is_here=is_here and is_known, watches=watches)


def _sent_by(site: Site, values: Mapping[str, str]) -> SiteIds | None:
    """Return what a recruiting site has put into a link, or a form holds; None without an id.

    Where links are signed, only what is signed is an id.
    """
    try:
        if site.keys is not None:
            return site.keys.read(values.get(TOKEN, ""), now=site.clock())
        return read_ids(values)
    except NoIdError:
        raise LinkError("no_id") from None


def _again(site: Site, values: Mapping[str, str]) -> dict[str, str]:
    """Return what the next form has to say of who comes."""
    names = PARAMETERS if site.keys is None else (TOKEN,)
    return {name: values[name] for name in names if values.get(name)}


@router.get("/join/{token}/consent")
def consent(token: str, known: Guest, request: Request, site: Served) -> Response:
    """Ask whether somebody takes part."""
    asked_with = {**request.query_params}
    same, guest = asked_with.get("same", ""), guest_of(request)
    sent = _sent_by(site, asked_with)
    link = _link(request, token, sent, same=known if same else None).link
    form = {**_again(site, asked_with), "same": same, "locale": guest.locale}
    return _consent(site, link, token, {**form, "lang": guest.language}, {})


@router.get("/declined")
def declined(request: Request, site: Served) -> Response:
    """Say that this is all right; who has been here has consented before."""
    request.state.reader = guest_of(request)
    has_been = "been" in request.query_params
    return say(request, "declined", way=None if has_been else site.desk.settings.endings.no_consent)


@router.post("/join/{token}")
def join(form: Sent, token: str, known: Guest, request: Request, site: Served) -> Response:
    """Let in who has agreed to everything, or is known."""
    sent, guest = _sent_by(site, form), guest_of(request)
    found = _link(request, token, sent, same=known if form.get("same") else None)
    link, is_new = found.link, found.is_new
    has_consented = all(form.get(name) == "yes" for name in ticks(link.kinds))
    if is_new and RESEARCH not in link.kinds and not has_consented:
        return _consent(site, link, token, {**form, "lang": guest.language}, {"agree": "missing"})
    told: dict[str, str] = {}
    if found.guest is None and RESEARCH not in link.kinds:
        try:
            told = read_entry(site.desk.settings.enrolment, form)
        except AnswerError as error:
            return _ask_first(site, token, {**form, "lang": guest.language}, error.faults)
    agreed = None
    if has_consented:
        agreed = joining.Agreed(read_consent(site.desk, link.kinds, guest.language), told)
    locale = form.get("locale", "")
    joined = joining.join(
        site.desk,
        link,
        sent=sent,
        reader=Somebody(
            locale if help_for(locale)["locale"] == locale else guest.locale, guest.language
        ),
        guest=found.guest,
        agreed=agreed,
    )
    if isinstance(joined, str):
        raise LinkError(joined)
    secret, person = joined
    if RESEARCH in person.kinds:
        where = "/researcher"
    else:
        where = "/about-you" if found.guest is None and _asks(site) else "/work"
    return let_in(go(where), site, secret)


def _consent(
    site: Site,
    link: Invite,
    token: str,
    form: dict[str, str],
    faults: dict[str, str],
) -> Response:
    reader = Somebody(form.get("locale", ""), form["lang"])
    return page(
        "consent",
        reader=reader,
        lang=reader.language,
        status=422 if faults else 200,
        action=f"/join/{token}",
        is_again=False,
        points=consent_points(site.desk, link.kinds, reader.language),
        writes="write" in link.kinds,
        sent=_again(site, form),
        same=form.get("same", ""),
        form=form,
        faults=faults,
    )


def _ask_first(site: Site, token: str, form: dict[str, str], faults: Mapping[str, str]) -> Response:
    """Ask what decides who is let in; what was ticked before goes with it, for nothing is kept."""
    reader = Somebody(form.get("locale", ""), form["lang"])
    questions = asked_first(site.desk.settings.enrolment, reader.language)
    fields = {field_name(one.name) for one in questions}
    is_sent = not fields.isdisjoint(form)
    return page(
        "first_questions",
        reader=reader,
        lang=reader.language,
        status=422 if is_sent else 200,
        token=token,
        questions=questions,
        field_name=field_name,
        form=form,
        carried={name: value for name, value in form.items() if name not in fields},
        faults=faults if is_sent else {},
    )


def _asks(site: Site) -> bool:
    return bool(asked_about(site.desk) or site.desk.settings.scale)


@router.get("/about-you")
def about_you(person: Known, site: Served) -> Response:
    """Ask optional questions."""
    settings = site.desk.settings
    questions = words_in(person.language)["background"]["questions"]
    asked = {name: questions[name] for name in asked_about(site.desk)}
    return page("about_you", reader=person, questions=asked, scale=settings.scale)


@router.post("/about-you")
def tell(form: Sent, person: Known, site: Served) -> Response:
    """Keep what somebody tells about themselves."""
    told = {} if "skip" in form else read_background(site.desk, form)
    now = site.desk.session.now()
    if told:
        told = {**(person.background or {}), **told}
        site.desk.session.store.people.change_person(person, "told", {"background": told}, now=now)
    return go("/work")


@router.get("/work")
def work(person: Known, site: Served) -> Response:
    """Send somebody to their task, or let them choose among kinds."""
    kinds = kinds_of(person)
    if has_to_agree(site.desk, person):
        return go("/consent")
    if RESEARCH in person.kinds:
        return go("/researcher")
    if not kinds:
        raise HTTPException(404)
    if len(kinds) == 1:
        return go(f"/task/{kinds[0].name}")
    done = {kind.name: sitting_of(site.desk, person, kind).n_done for kind in kinds}
    return page("work", reader=person, kinds=[k.name for k in kinds], done=done)


@router.get("/practice")
def practice(person: Known, site: Served) -> Response:
    """Ask a new writer for one reply to a made-up conversation, or say what became of it."""
    return _practice(site, person, text="", faults={})


@router.post("/practice")
def send(form: Sent, person: Known, site: Served) -> Response:
    """Keep the reply of a new writer, the first one for good."""
    if person.vetting != "pending" or person.practice is not None:
        return go("/practice")
    try:
        text = check_text(form.get("text", "").replace("\r\n", "\n"), person.language)
    except AnswerError as error:
        return _practice(site, person, text=form.get("text", ""), faults=error.faults, status=422)
    send_practice(site.desk, person, text)
    return go("/practice")


def _practice(
    site: Site, person: Person, *, text: str, faults: dict[str, str], status: int = 200
) -> Response:
    if person.vetting in ("none", "passed"):
        return go("/task/write")
    is_sent = person.practice is not None
    again = practice_read_by(site.desk, person) if is_sent else None
    dialogues = words_in(person.language)["writing"]["practice"]["dialogues"]
    turns = dialogues[int(person.id[:8], 16) % len(dialogues)]["turns"]
    return page(
        "practice",
        reader=person,
        status=status,
        turns=[(turn["role"], turn["text"]) for turn in turns],
        is_failed=person.vetting == "failed",
        is_sent=is_sent,
        again=again,
        is_late=again is not None and again <= site.desk.session.now(),
        hours=site.desk.settings.practice_hours,
        has_more=len(person.kinds) > 1,
        text=text,
        faults=faults,
        **about_part(site, person),
    )


@router.get("/practice/rate")
def practise_rating(person: Known, site: Served) -> Response:
    """Ask who is to rate for the scores of the next keyed example."""
    if "rate" not in person.kinds:
        raise HTTPException(404)
    example = next_example(site.desk, person)
    if example is None:
        return go("/task/rate?begin=1")
    return _rating_practice(site, person, example, form={}, faults={})


@router.post("/practice/rate")
def score(form: Sent, person: Known, site: Served) -> Response:
    """Keep the scores of a keyed example, the first ones for good."""
    example = find_example(site.desk, person, form.get("number", ""))
    if "rate" not in person.kinds or example is None:
        raise HTTPException(404)
    try:
        score_example(site.desk, person, example, form)
    except AnswerError as error:
        return _rating_practice(site, person, example, form=form, faults=error.faults)
    return go("/practice/rate")


def _rating_practice(
    site: Site, person: Person, example: Example, *, form: dict[str, str], faults: dict[str, str]
) -> Response:
    return page(
        "practice_rating",
        reader=person,
        status=422 if faults else 200,
        number=example.number,
        n_examples=example.n_examples,
        turns=example.shown.turns,
        texts=example.shown.texts,
        form=form,
        faults=faults,
        settings=asked(site),
    )


@router.get("/consent")
def consent_again(person: Known, site: Served) -> Response:
    """Ask somebody again who agreed to another text."""
    if not has_to_agree(site.desk, person):
        return go("/agreed")
    return _consent_again(site, person, {}, {})


@router.post("/consent")
def agree(form: Sent, person: Known, site: Served) -> Response:
    """Let somebody go on who agrees to what is asked now; who does not has stopped."""
    if "decline" in form:
        joining.stop(site.desk, person)
        return go("/stopped")
    if not all(form.get(name) == "yes" for name in ticks(person.kinds)):
        return _consent_again(site, person, form, {"agree": "missing"})
    if has_to_agree(site.desk, person):
        agree_again(site.desk, person)
    return go("/work")


def _consent_again(
    site: Site,
    person: Person,
    form: dict[str, str],
    faults: dict[str, str],
) -> Response:
    return page(
        "consent",
        reader=person,
        lang=person.language,
        status=422 if faults else 200,
        action="/consent",
        is_again=True,
        points=consent_points(site.desk, person.kinds, person.language),
        writes="write" in person.kinds,
        sent={},
        same="",
        form=form,
        faults=faults,
    )


@router.get("/agreed")
def agreed(person: Known, site: Served) -> Response:
    """Show somebody their copy of what they agreed to, with nothing that says who they are."""
    found = agreed_to(site.desk, person)
    return page("agreed", reader=person, consent=found, contact=contact_for(site, person))


@router.get("/agreed.txt")
def save_agreed(person: Known, site: Served) -> Response:
    """Send the copy as a file."""
    found = agreed_to(site.desk, person)
    if found is None:
        raise HTTPException(404)
    name = f'attachment; filename="consent-{found.at:%Y-%m-%d}.txt"'
    text = copy_of(site.desk, found, person.language)
    return PlainTextResponse(text, headers={"Content-Disposition": name})


@router.post("/stop")
def stop(person: Known, site: Served) -> Response:
    """Let somebody leave."""
    joining.stop(site.desk, person)
    return go("/stopped")


@router.get("/stopped")
def stopped(person: Known, site: Served) -> Response:
    """Say what stays, and how to come back."""
    return page("stopped", reader=person, **about_part(site, person))


@router.get("/withdraw")
def ask_withdrawal(person: Known) -> Response:
    """Say what a withdrawal deletes, and ask."""
    return _withdrawal(person)


@router.post("/withdraw")
def withdraw(form: Sent, person: Known, request: Request, site: Served) -> Response:
    """Delete every word of somebody."""
    if form.get("confirm") != "yes":
        return _withdrawal(person, is_missing=True)
    way = way_of(site.desk, person)  # by what they did, which is not deleted for them
    joining.withdraw(site.desk, person)
    site.written()
    words = words_in(person.language)["consent"]
    about = (words["debrief"]["title"], *words["debrief"]["paragraphs"])
    what = {"title": words["withdraw"]["done_title"], "text": "", "more": about}
    what["paragraphs"] = words["withdraw"]["done"]
    done = page("say", reader=person, what=what, way=way, is_known=False)
    return let_out(done, site)


def _withdrawal(person: Person, *, is_missing: bool = False) -> Response:
    return page(
        "withdraw",
        reader=person,
        status=422 if is_missing else 200,
        is_missing=is_missing,
        name=person.name,
        has_stopped=person.stopped_at is not None,
    )


@router.post("/leave-browser")
def leave_browser(known: Guest, request: Request, site: Served) -> Response:
    """Forget who this browser belongs to."""
    joining.log_out(site.desk, request.cookies.get(site.cookie, ""))
    watched = known is not None and RESEARCH in known.kinds
    return let_out(go("/" if watched else "/declined?been=1"), site)


@router.get("/debrief")
def debrief(person: Known, site: Served) -> Response:
    """Say what it was all about."""
    settings = site.desk.settings
    return page(
        "debrief",
        reader=person,
        results=settings.results,
        contact=contact_for(site, person),
        **about_part(site, person),
    )


@router.get("/help")
def find_help(guest: Guest, request: Request) -> Response:
    """Say where to find help, here and elsewhere."""
    chosen = request.query_params.get("locale", "")
    known = help_for(chosen)["locale"] == chosen
    reader: Reader = request.state.reader
    there = Somebody(chosen if known else reader.locale, reader.language)
    return page("help", reader=there, is_known=guest is not None)
