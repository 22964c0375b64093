"""For which hosts pages are served, and how long they are waited for."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from people_site import World, people_world, plain
from starlette.exceptions import HTTPException
from starlette.requests import Request

from hearteval.errors import SettingsError
from hearteval.web import site
from hearteval.web.guard import HSTS, host_name
from hearteval.web.server import allowed_hosts, read_public_url


def change(world: World, **values: Any) -> None:
    for name, value in values.items():
        object.__setattr__(world.site, name, value)


def test_another_host_is_refused_and_links_bear_the_public_address(tmp_path: Path) -> None:
    public = "https://study.example.org"
    hosts = allowed_hosts("127.0.0.1", public_url=public, is_https=True)
    with people_world(tmp_path) as world:
        change(world, public_url=public, hosts=hosts, is_https=True)
        researcher = world.client(base_url=public)
        researcher.headers["origin"] = public
        researcher.post(f"/join/{world.invite('research')}", data={})
        form = {"label": "x", "kind_judge": "yes", "people": "1", "days": "1"}
        made = researcher.post("/researcher/links", data=form)
        assert f"<code>{public}/join/" in made.text
        assert made.headers["strict-transport-security"] == HSTS
        for other in ("evil.example", "study.example.org.evil.example", ""):
            refused = researcher.get("/researcher", headers={"host": other})
            assert refused.status_code == 421
            assert "not the address of the study" in plain(refused.text)
        assert researcher.get("/", headers={"host": "127.0.0.1:8750"}).status_code == 303
        for asked in ("127.0.0.1:8750", "pages-1:8750"):
            assert researcher.get("/readyz", headers={"host": asked}).status_code == 200
        left = researcher.post("/leave-browser")
        assert left.headers["set-cookie"].startswith("__Host-heart-")
        assert "Secure" in left.headers["set-cookie"]
        assert researcher.get("/researcher").status_code == 401


def test_also_where_we_are_at_fault_browsers_are_told_to_come_encrypted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with people_world(tmp_path) as world:
        change(world, is_https=True)
        monkeypatch.delattr("hearteval.web.people.help_for")
        found = world.client(raise_server_exceptions=False).get("/help")
        assert found.status_code == 500
        assert found.headers["strict-transport-security"] == HSTS
        assert found.headers["cache-control"] == "no-store"


def test_in_the_clear_nothing_is_said_of_encryption(tmp_path: Path) -> None:
    with people_world(tmp_path) as world:
        assert "strict-transport-security" not in world.client().get("/").headers


def test_on_this_computer_only_its_own_names_are_answered() -> None:
    local = allowed_hosts("127.0.0.1", public_url="", is_https=False)
    assert {"127.0.0.1", "localhost", "[::1]"} <= local
    assert "evil.example" not in local
    assert allowed_hosts("127.0.0.1", public_url="", is_https=True) == frozenset()
    assert allowed_hosts("0.0.0.0", public_url="", is_https=False) == frozenset()


@pytest.mark.parametrize(
    ("host", "name"),
    [("a.b:80", "a.b"), ("A.b", "a.b"), ("[::1]:80", "[::1]"), ("[::1]", "[::1]"), ("", "")],
)
def test_the_name_of_a_host_is_without_its_port(host: str, name: str) -> None:
    assert host_name(host) == name


@pytest.mark.parametrize(
    "text", ["study.example", "ftp://x", "https://", "https://a/b", "https://u@a", "https://a:x"]
)
def test_a_public_address_is_a_scheme_and_a_host(text: str) -> None:
    assert read_public_url("https://a.example:8443/") == "https://a.example:8443"
    with pytest.raises(SettingsError, match="--public-url is"):
        read_public_url(text)


def test_a_form_that_does_not_come_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "READ_SECONDS", 0.01)

    async def receive() -> Any:
        await asyncio.sleep(60)

    kind = (b"content-type", b"application/x-www-form-urlencoded")
    request = Request({"type": "http", "method": "POST", "headers": [kind]}, receive)
    with pytest.raises(HTTPException) as refused:
        asyncio.run(site.read_form(request))
    assert refused.value.status_code == 408
