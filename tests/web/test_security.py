"""What the pages refuse, hide and survive: other sites, other people, other studies, odd bytes."""

import logging
import re
import threading
from collections.abc import Callable, Container, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from people_site import ADDRESS, PEOPLE, STUDY, Visitor, World, people_world, plain

from hearteval.study.people import joining
from hearteval.study.people.joining import token_id
from hearteval.web.app import create_app
from hearteval.web.guard import HEADERS, MOST_BYTES, Tries
from hearteval.web.site import COOKIE

UNKNOWN = "0" * 32
PEOPLE_TELL = PEOPLE + 'about_you = ["age"]\n'


@dataclass
class House:
    """A world with one of everybody in it; tests of it change nothing that others read."""

    world: World
    judge: Visitor
    writer: Visitor
    reviewer: Visitor
    researcher: Visitor
    app: Any

    @property
    def everybody(self) -> Sequence[Visitor]:
        return (self.judge, self.writer, self.reviewer, self.researcher)


@contextmanager
def built(folder: Path, *, store: str = "") -> Iterator[House]:
    with people_world(folder, people=PEOPLE_TELL, store=store) as world:
        judge, writer, reviewer, researcher = (
            world.come(kind) for kind in ("judge", "write", "review", "research")
        )
        judge.get("judge")
        writer.get("write")
        yield House(world, judge, writer, reviewer, researcher, create_app(world.site))


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with built(tmp_path_factory.mktemp("house")) as made:
        yield made


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with people_world(tmp_path) as made:
        yield made


def routes(app: Any, *, safe: bool) -> list[tuple[str, str]]:
    """Every method and path of the application, with something in the place of parameters."""
    found = [
        (method.upper(), path)
        for path, methods in app.openapi()["paths"].items()
        for method in methods
        if (method in ("get", "head")) == safe
    ]
    assert len(found) > 5
    return found


def filled(path: str, **values: str) -> str:
    named = {"token": "x" * 43, "name": "judge", "invite_id": UNKNOWN, "text_id": UNKNOWN, **values}
    return re.sub(r"\{(\w+)\}", lambda found: named[found[1]], path)


FOREIGN: dict[str, dict[str, str | None]] = {
    "says nothing": {"origin": None},
    "another site": {"origin": "https://evil.example"},
    "null": {"origin": "null"},
    "another port": {"origin": "http://testserver:8001"},
    "a name that ends alike": {"origin": "http://eviltestserver"},
    "a name that begins alike": {"origin": "http://testserver.evil.example"},
    "a user before another site": {"origin": "http://testserver@evil.example"},
    "no address": {"origin": "http://[testserver"},
    "not an address": {"origin": "testserver"},
    "referer of another site": {"origin": None, "referer": "http://evil.example/testserver"},
    "browser says cross-site": {"sec-fetch-site": "cross-site"},
    "browser says same-site": {"sec-fetch-site": "same-site"},
    "browser says none": {"sec-fetch-site": "none"},
}


@pytest.mark.parametrize("headers", FOREIGN.values(), ids=FOREIGN.keys())
def test_no_route_takes_a_form_of_another_site(
    house: House, headers: dict[str, str | None]
) -> None:
    before = house.world.store.people.events()
    client = house.researcher.client
    sent = {name: value for name, value in headers.items() if value is not None}
    kept = {} if "origin" in headers else {"origin": ADDRESS}
    client.headers.pop("origin")
    try:
        for method, path in routes(house.app, safe=False):
            refused = client.request(
                method, filled(path), headers={**kept, **sent}, data={"a": "b"}
            )
            assert (refused.status_code, path) == (403, path)
    finally:
        client.headers["origin"] = ADDRESS
    assert house.world.store.people.events() == before


def test_a_page_of_this_site_is_believed_by_any_sign(house: House) -> None:
    client = house.judge.client
    client.headers.pop("origin")
    try:
        for headers in (
            {"sec-fetch-site": "same-origin"},
            {"referer": f"{ADDRESS}/task/judge"},
            {"origin": ADDRESS},
        ):
            found = client.post("/task/judge", data={"ticket": UNKNOWN}, headers=headers)
            assert found.status_code == 404
    finally:
        client.headers["origin"] = ADDRESS


def require_headers(response: Any) -> None:
    for name, value in HEADERS.items():
        assert response.headers[name] == value
    kept = response.headers["cache-control"]
    assert kept == "no-store" or (kept.startswith("public") and b"judge" not in response.content)
    assert "server" not in response.headers


def test_every_answer_has_the_headers_of_a_strict_policy(house: House) -> None:
    policy = HEADERS["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "report" not in policy
    for visitor in (*house.everybody, Visitor(house.world, house.world.client(), "")):
        for safe in (True, False):
            for method, path in routes(house.app, safe=safe):
                if path not in ("/withdraw", "/stop", "/leave-browser") or safe:
                    require_headers(visitor.client.request(method, filled(path)))
    client = house.judge.client
    for response in (
        client.get("/static/pages.js"),
        client.get("/static/none.js"),
        client.get("/nowhere"),
        client.put("/work"),
        client.post("/work", headers={"origin": "null"}),
        client.post("/task/judge", content=b"x" * (MOST_BYTES + 1)),
        client.options("/work"),
    ):
        require_headers(response)


def test_an_error_of_ours_has_the_headers_and_gives_back_what_was_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with people_world(tmp_path) as world:
        rater = world.come("judge")
        rater.get("judge")

        def fail(*_: Any) -> None:
            raise RuntimeError("a mistake of ours")

        monkeypatch.setattr("hearteval.web.tasks.send_answer", fail)
        client = world.client(cookies=rater.client.cookies, raise_server_exceptions=False)
        form = {"ticket": rater.ticket, "reason": "Half an hour of <thought>."}
        failed = client.post("/task/judge", data=form)
    assert failed.status_code == 500
    require_headers(failed)
    assert "Half an hour of &lt;thought&gt;." in failed.text
    assert "a mistake of ours" not in failed.text


@pytest.mark.parametrize("is_https", [False, True])
def test_the_cookie_is_for_this_site_and_no_script(tmp_path: Path, is_https: bool) -> None:
    with people_world(tmp_path) as world:
        object.__setattr__(world.site, "is_https", is_https)
        ticks = {"adult": "yes", "agree": "yes"}
        joined = world.client().post(f"/join/{world.invite('judge')}", data=ticks)
    name, *flags = joined.headers["set-cookie"].split("; ")
    study_id = world.desk.study.id[:8]
    assert name.startswith(f"__Host-{COOKIE}-{study_id}=" if is_https else f"{COOKIE}=")
    assert len(name) > 43
    said = {flag.lower() for flag in flags}
    assert {"httponly", "samesite=lax", "path=/"} <= said
    assert ("secure" in said) == is_https
    assert not any(flag.startswith("domain") for flag in said)


def same(one: Any, other: Any) -> None:
    assert (one.status_code, one.content) == (other.status_code, other.content)
    assert dict(one.headers) == dict(other.headers)


def test_tickets_of_others_and_of_other_tasks_are_as_unknown(house: House) -> None:
    both = house.world.come("judge", "write")
    both.get("judge")
    judging = both.ticket
    for path in ("/task/judge", "/task/judge/skip", "/task/judge/draft"):
        unknown = both.client.post(path, data={"ticket": UNKNOWN, "reason": "x"})
        assert unknown.status_code == 404
        for ticket in (house.judge.ticket, house.writer.ticket, "", "judge", "%", judging.upper()):
            same(both.client.post(path, data={"ticket": ticket, "reason": "x"}), unknown)
    same(
        both.client.post("/task/write", data={"ticket": judging, "text": "x"}),
        both.client.post("/task/write", data={"ticket": UNKNOWN, "text": "x"}),
    )


def test_tasks_that_somebody_may_not_take_are_as_unknown(house: House) -> None:
    for visitor, others in (
        (house.judge, ("write", "review", "rate")),
        (house.writer, ("judge", "review", "rate")),
        (house.researcher, ("judge", "write", "review", "rate")),
    ):
        for method, end in (
            ("GET", ""),
            ("POST", ""),
            ("POST", "/skip"),
            ("POST", "/skipped"),
            ("POST", "/draft"),
        ):
            unknown = visitor.client.request(method, f"/task/unknown{end}")
            assert unknown.status_code == 404
            for kind in others:
                same(visitor.client.request(method, f"/task/{kind}{end}"), unknown)


def test_only_a_researcher_sees_the_researchers_page(house: House) -> None:
    for visitor in (house.judge, house.writer, house.reviewer):
        for method, path in (
            ("GET", "/researcher"),
            ("POST", "/researcher/links"),
            ("POST", f"/researcher/links/{UNKNOWN}/revoke"),
            ("POST", "/researcher/pause"),
            ("GET", "/researcher/texts"),
            ("GET", f"/researcher/people/{house.writer.name}"),
            ("POST", f"/researcher/people/{house.writer.name}/left-out"),
            ("POST", f"/researcher/texts/{UNKNOWN}"),
            ("POST", f"/researcher/links/{UNKNOWN}/extend"),
            ("POST", f"/researcher/practice/{house.writer.name}"),
        ):
            form = {"pause": "yes", "outcome": "failed", "kind_judge": "yes", "people": "1"}
            found = visitor.client.request(method, path, data=form if method == "POST" else None)
            assert found.status_code == 404
    assert not house.world.store.people.halted(house.world.desk.study.id)


def test_other_studies_are_unknown_here(tmp_path: Path) -> None:
    store = str(tmp_path / "both.db")
    (tmp_path / "other").mkdir()
    with (
        people_world(tmp_path, store=store) as here,
        people_world(
            tmp_path / "other", store=store, study=STUDY.replace('"people"', '"others"')
        ) as there,
    ):
        researcher, client = here.come("research"), here.client()
        stranger = there.come("write", is_vetted=False)
        theirs = there.invite("judge", most_people=1)
        for path in (f"/join/{theirs}", f"/join/{theirs}/consent"):
            same(client.get(path), client.get(path.replace(theirs, "unknown")))
        same(
            researcher.client.post(f"/researcher/links/{token_id(theirs)}/revoke"),
            researcher.client.post(f"/researcher/links/{UNKNOWN}/revoke"),
        )
        same(
            researcher.client.post(
                f"/researcher/practice/{stranger.name}", data={"outcome": "passed"}
            ),
            researcher.client.post("/researcher/practice/P-NOBODY", data={"outcome": "passed"}),
        )
        client.cookies.set(COOKIE, stranger.client.cookies[COOKIE])
        assert client.get("/work").status_code == 401
        assert stranger.name not in researcher.client.get("/researcher").text
        same(
            researcher.client.get(f"/researcher/people/{stranger.name}"),
            researcher.client.get("/researcher/people/P-NOBODY"),
        )
        assert there.client().get(f"/join/{theirs}").status_code == 200


def test_a_cookie_of_somebody_who_has_withdrawn_is_as_no_cookie(world: World) -> None:
    rater = world.come("judge")
    rater.get("judge")
    old = rater.client.cookies[COOKIE]
    rater.client.post("/withdraw", data={"confirm": "yes"})
    gone, nobody = world.client(), world.client()
    gone.cookies.set(COOKIE, old)
    for method, path in [*routes(gone.app, safe=True), *routes(gone.app, safe=False)]:
        if path not in ("/leave-browser", "/openapi.json"):
            sent = {"ticket": rater.ticket, "reason": "late", "choice": "about the same"}
            data = None if method == "GET" else sent
            same(
                gone.request(method, filled(path), data=data),
                nobody.request(method, filled(path), data=data),
            )


# Links.


def test_a_link_holds_enough_chance_and_only_its_hash_is_kept(world: World) -> None:
    tokens = [world.invite("judge") for _ in range(20)]
    visitor = Visitor(world, world.client(), tokens[0]).join()
    assert len(set(tokens)) == len(tokens)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{43}", token) for token in tokens)
    folder = world.desk.session.settings.file.parent
    kept = b"".join(path.read_bytes() for path in folder.iterdir())
    assert bytes.fromhex(token_id(tokens[0])) in kept
    for secret in (*tokens, visitor.client.cookies[COOKIE]):
        assert secret.encode() not in kept


def ways_to_come(world: World) -> Iterator[tuple[str, Callable[[str], Any]]]:
    ticks = {"adult": "yes", "agree": "yes", "no_ai": "yes"}
    client = world.client()
    yield "page", lambda token: client.get(f"/join/{token}")
    yield "page with an id", lambda token: client.get(f"/join/{token}?pid=p9")
    yield "consent", lambda token: client.get(f"/join/{token}/consent")
    yield "ticks", lambda token: client.post(f"/join/{token}", data=ticks)
    yield "no ticks", lambda token: client.post(f"/join/{token}", data={})
    yield "an id", lambda token: client.post(f"/join/{token}", data={**ticks, "pid": "p9"})


def bad_links(world: World) -> dict[str, str]:
    """A link of each kind by which nobody can come."""
    full, old, closed = (world.invite("judge", most_people=2, days=days) for days in (30, 1, 30))
    for number in range(2):
        Visitor(world, world.client(), full).join(pid=f"p{number}")
    world.store.people.revoke_invite(token_id(closed), now=world.clock())
    world.clock.wait(days=2)
    return {"unknown": "x" * 43, "full": full, "expired": old, "revoked": closed}


SAID = {
    "unknown": (401, "This link does not work"),
    "full": (403, "The study is full"),
    "expired": (410, "This link is over"),
    "revoked": (410, "This link is over"),
}


def test_a_link_that_does_not_work_says_why_to_who_was_given_it(world: World) -> None:
    object.__setattr__(world.site, "tries", Tries(most=10_000))
    links = bad_links(world)
    for name, come in ways_to_come(world):
        for what, token in links.items():
            response = come(token)
            status, words = SAID[what]
            assert (name, what, response.status_code) == (name, what, status)
            assert words in plain(response.text)
            assert response.headers["content-type"].startswith("text/html")


def test_only_links_that_do_not_exist_count_as_tries_and_none_locks_out_a_link(
    world: World,
) -> None:
    clock = [0.0]
    object.__setattr__(world.site, "tries", Tries(most=5))
    object.__setattr__(world.site, "clock", lambda: clock[0])
    client, links = world.client(), bad_links(world)
    unknown = links.pop("unknown")
    good = world.invite("judge")
    for token in links.values():
        codes = {client.get(f"/join/{token}").status_code for _ in range(30)}
        assert codes <= {403, 410}
    assert [client.get(f"/join/{unknown}").status_code for _ in range(7)] == [401] * 5 + [429] * 2
    refused = client.get(f"/join/{unknown}")
    assert refused.headers["retry-after"] == "600"
    assert "Please wait ten minutes" in plain(refused.text)
    assert client.get(f"/join/{good}").status_code == 200
    clock[0] += 601
    assert client.get(f"/join/{unknown}").status_code == 401


def test_a_full_link_leads_back_to_the_site_that_sent_somebody(tmp_path: Path) -> None:
    full = '[people.endings]\nfull = "https://recruiting.example/full"\n'
    with people_world(tmp_path, people=PEOPLE + full) as world:
        token = world.invite("judge", most_people=1)
        Visitor(world, world.client(), token).join(pid="p1")
        page = world.client().get(f"/join/{token}?pid=p2")
        assert 'href="https://recruiting.example/full"' in page.text


def test_a_link_lets_in_exactly_as_many_as_it_says(world: World) -> None:
    token = world.invite("judge", most_people=7)
    ticks = {"adult": "yes", "agree": "yes"}
    clients = [world.client() for _ in range(20)]
    start = threading.Barrier(len(clients))

    def come(client: Any) -> int:
        start.wait()
        return int(client.post(f"/join/{token}", data=ticks).status_code)

    with ThreadPoolExecutor(len(clients)) as pool:
        codes = list(pool.map(come, clients))
    assert sorted(codes) == [303] * 7 + [403] * 13
    assert len(world.store.people.people(world.desk.study.id)) == 7


def test_somebody_who_comes_by_a_full_link_again_is_let_in(world: World) -> None:
    token = world.invite("judge", most_people=2)
    for number in range(2):
        Visitor(world, world.client(), token).join(pid=f"p{number}")
    back = world.client().post(f"/join/{token}", data={"pid": "p1"})
    assert back.status_code == 303


# Odd bytes.

MULTIPART = "multipart/form-data; boundary=b"
URLENCODED = "application/x-www-form-urlencoded"


def part(name: str, value: bytes) -> bytes:
    return b'--b\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n' % (
        name.encode(),
        value,
    )


def many_parts(**values: bytes) -> bytes:
    return b"".join(part(name, value) for name, value in values.items()) + b"--b--\r\n"


def odd_requests(ticket: str) -> list[tuple[str, bytes, str]]:
    """Of each the kind of content, the body, and what it is."""
    t = ticket.encode()
    form = b"ticket=%s&choice=about+the+same&text=x&" % t
    charsets = ("utf-7", "utf-16", "idna", "undefined", "unicode_escape", "zlib", "\0", "x" * 999)
    return [
        (URLENCODED, form + b"reason=%00%00", "zeros"),
        (URLENCODED, form + b"reason=%ED%A0%80%ED%BF%BF", "surrogates"),
        (URLENCODED, form + b"reason=%FF%FE%C0%80", "not UTF-8"),
        (URLENCODED, b"\xff\xfe=\xff&" + form, "bytes"),
        (URLENCODED, form + b"%ED%A0%80=1&%00=2", "odd names"),
        (URLENCODED, b"&".join(b"f%d=x" % n for n in range(5_000)), "many fields"),
        (URLENCODED, b"ticket=" + b"f" * 150_000, "long ticket"),
        (URLENCODED, form + b"reason=" + b"%F0%9F%98%80" * 10_000, "long reason"),
        (URLENCODED, form + b"reason=x&pastes=-1&away=-99999999999999999999", "negative"),
        (URLENCODED, form + b"reason=x&strength=-3&axis_H=-1&pastes=%C2%B2", "odd numbers"),
        (URLENCODED, form + b"reason=x&pastes=99999999999999999999999", "large numbers"),
        (URLENCODED, b"=" * 1000 + b"&&&&" + form, "separators"),
        (MULTIPART, many_parts(ticket=t, reason=b"\xff\0"), "multipart"),
        (MULTIPART, many_parts(ticket=t)[:-20], "cut off"),
        (MULTIPART, b"--b\r\n" + b"X" * 5_000, "no header"),
        (MULTIPART, part('x"; filename="a.txt', b"file") + b"--b--\r\n", "a file"),
        (MULTIPART, b"--b\r\n\r\nx\r\n--b--\r\n", "no name"),
        (MULTIPART, many_parts(**{f"f{n}": b"x" for n in range(500)}), "many parts"),
        ("multipart/form-data", b"x", "no boundary"),
        ("multipart/form-data; boundary=" + "b" * 500, b"x", "long boundary"),
        ("application/json", b'{"ticket": 1}', "JSON"),
        ("", form, "no type"),
        (URLENCODED + "; charset=utf-16", form, "another charset"),
        *(
            (f"{MULTIPART}; charset={name}", many_parts(ticket=t, reason=b"+2AA-\\ud800"), name)
            for name in charsets
        ),
    ]


def errors_of_odd_bodies(house: House, *, only: Container[str] = ()) -> list[tuple[str, str, int]]:
    comers = [house.world.come("judge", "write"), house.world.come("write", is_vetted=False)]
    comers += [house.world.come("research")]
    comers[0].get("judge")
    token = house.world.invite("judge", most_people=10_000)
    faults = []
    for number, visitor in enumerate(comers):
        client = house.world.client(cookies=visitor.client.cookies, raise_server_exceptions=False)
        paths = [path for _, path in routes(house.app, safe=False)]
        for path in paths:
            if path in ("/withdraw", "/leave-browser"):
                continue
            for kind, body, what in odd_requests(comers[0].ticket):
                # What has no usual form is taken apart before anybody is known.
                if (kind != URLENCODED and number) or (only and what not in only):
                    continue
                found = client.post(
                    filled(path, token=token), content=body, headers={"content-type": kind}
                )
                if found.status_code >= 500:
                    faults.append((path, what, found.status_code))
    return faults


def test_no_odd_body_makes_an_error_of_ours(house: House) -> None:
    assert errors_of_odd_bodies(house) == []


def test_what_is_too_large_is_refused_unread(house: House) -> None:
    client = house.judge.client
    for body, headers in (
        (b"x" * 20_000_000, {}),
        (b"x", {"content-length": "-1"}),
        (b"x", {"content-length": "99999999999999999999"}),
        (b"x", {"content-length": "1e3"}),
        (iter([b"a=b"]), {}),
        (iter([b"a=b" * 100]), {"content-length": "3", "transfer-encoding": "chunked"}),
    ):
        refused = client.post("/task/judge", content=body, headers=headers)
        assert refused.status_code == 413
        require_headers(refused)


ODD_PATHS = (
    "%00",
    "%ff",
    "%ED%A0%80",
    "..%2f..%2fetc%2fpasswd",
    "a" * 2_000,
    "-1",
    "'--",
    "%0d%0a",
)


def codes_of_odd_addresses(house: House, odd_paths: Sequence[str] = ODD_PATHS) -> set[int]:
    codes = set()
    object.__setattr__(house.world.site, "tries", Tries(most=10_000))
    for visitor in house.everybody:
        for odd in odd_paths:
            for method, path in [*routes(house.app, safe=True), *routes(house.app, safe=False)]:
                if "{" in path:
                    address = re.sub(r"\{\w+\}", odd, path)
                    found = visitor.client.request(method, f"{address}?locale={odd}&pid={odd}")
                    codes.add(found.status_code)
    return codes


def test_no_odd_address_makes_an_error_of_ours(house: House) -> None:
    assert codes_of_odd_addresses(house) <= {303, 400, 401, 404}


UNHELD = ("zeros", "surrogates", "not UTF-8", "odd names", "large numbers", "negative")


@pytest.mark.postgres
@pytest.mark.server
def test_what_postgresql_cannot_hold_makes_no_error_either(
    tmp_path: Path, postgres_url: str
) -> None:
    with built(tmp_path, store=postgres_url) as house:
        assert errors_of_odd_bodies(house, only=UNHELD) == []
        assert codes_of_odd_addresses(house, ODD_PATHS[:3]) <= {303, 400, 401, 404}


TEXTS = st.text(st.characters(exclude_categories=()), max_size=200)
NAMES = [
    *("ticket", "choice", "reason", "text", "strength", "verdict", "pid", "locale", "pause"),
    *("outcome", "label", "people", "days", "group", "kind_judge", "axis_H", "age", "away"),
]
FORMS = st.dictionaries(
    st.sampled_from(NAMES),
    TEXTS | st.integers().map(str),
)


@seed(13)
@settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(form=FORMS, who=st.integers(0, 3), which=st.integers(0, 1000))
def test_no_form_makes_an_error_of_ours(
    house: House, form: dict[str, str], who: int, which: int
) -> None:
    visitor = house.everybody[who]
    unsafe = [
        path
        for _, path in routes(house.app, safe=False)
        if path not in ("/withdraw", "/leave-browser")
    ]
    sent = {name: value.encode("utf-8", "surrogatepass") for name, value in form.items()}
    address = filled(unsafe[which % len(unsafe)])
    found = visitor.client.post(address, data={"ticket": visitor.ticket, **sent})
    assert found.status_code < 500


# Logs.


def test_logs_hold_no_secret_and_no_text(world: World, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    said = "A sentence that nobody logs."
    researcher, writer, rater = (world.come(kind) for kind in ("research", "write", "judge"))
    made = researcher.client.post(
        "/researcher/links", data={"label": "x", "kind_judge": "yes", "people": "1", "days": "1"}
    )
    writer.write(said)
    rater.judge(reason=said)
    rater.send("judge", choice="", reason=said)
    rater.client.get("/join/wrong-token-of-somebody")
    rater.get("judge")
    database = Path(world.desk.session.settings.store)
    database.rename(database.with_suffix(".gone"))
    assert rater.send("judge", choice="about the same", reason=said).status_code == 503
    database.with_suffix(".gone").rename(database)
    link = re.search(r"/join/([\w-]+)", made.text)
    assert link is not None
    secrets = [said, "wrong-token", link[1], rater.token, rater.ticket]
    secrets += [visitor.client.cookies[COOKIE] for visitor in (researcher, writer, rater)]
    # The tests' own client tells of the addresses that it asks for.
    own = [record for record in caplog.records if not record.name.startswith("httpx")]
    told = "\n".join(f"{record.getMessage()} {record.exc_text or ''}" for record in own)
    assert not [secret for secret in secrets if secret in told]


def test_a_researcher_is_shown_a_link_once(world: World) -> None:
    researcher = world.come("research")
    form = {"label": "<b>room</b>", "kind_judge": "yes", "people": "3", "days": "2"}
    made = researcher.client.post("/researcher/links", data=form)
    (token,) = re.findall(r"/join/([\w-]{43})", made.text)
    assert "&lt;b&gt;room&lt;/b&gt;" in made.text
    assert token not in researcher.client.get("/researcher").text
    assert "3 people" in plain(made.text)
    invite = joining.find_link(world.desk, token)
    assert invite is not None
    assert invite[0].expires_at - world.clock() == timedelta(days=2)
