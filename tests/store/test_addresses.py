"""Where a store may be, and what is said of an address that is none."""

import re

import pytest
from postgres_server import PostgresServer

from hearteval.domain import Study
from hearteval.errors import SettingsError, StoreError
from hearteval.store.engines import open_engine
from hearteval.store.sql import SqlStore


def test_a_name_for_messages_holds_no_password() -> None:
    for query in ("", "?password=hunter2", "?sslpassword=hunter2"):
        engine, name = open_engine(f"postgresql://someone:hunter2@localhost:1/x{query}")
        engine.dispose()
        assert name == "postgresql://someone:***@localhost:1/x"


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("mysql://localhost/x", "cannot be a 'mysql' database"),
        ("://localhost", "address cannot be read"),
        ("postgresql://u:hunter2/db", "address cannot be read"),
        ("postgresql://u:pa@sshunter2@127.0.0.1:1/db", "address cannot be read"),
        ("postgresql://u:hunter2@localhost:65536/db", "address cannot be read"),
        ("postgresql://localhost/db?password=hunter2&port=x", "address cannot be read"),
        ("postgresql://u:hunter2@/db?host=a&host=b&port=1", "address cannot be read"),
    ],
)
def test_an_unknown_address_is_refused(address: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message) as caught:
        open_engine(address)
    assert "hunter2" not in str(caught.value)


def test_a_server_that_is_not_there_is_named_without_the_password() -> None:
    with pytest.raises(StoreError) as caught:
        SqlStore.open("postgresql://someone:hunter2@127.0.0.1:1/x", patience_seconds=0)
    assert "someone:***@127.0.0.1:1/x cannot be used" in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_driver_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(SettingsError, match=r"hearteval\[postgres\]"):
        open_engine("postgresql://localhost/x")


@pytest.mark.postgres
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("/postgres", "/absent", "create it (createdb)"),
        ("//heart@", "//nobody@", "create it (createuser)"),
    ],
)
def test_a_missing_database_or_role_is_said_and_not_waited_for(
    postgres: PostgresServer, old: str, new: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hearteval.store.engines.time.sleep", lambda _s: pytest.fail("it waits"))
    with pytest.raises(StoreError, match=re.escape(message)) as caught:
        SqlStore.open(postgres.url.replace(old, new))
    assert "\n" not in str(caught.value)


@pytest.mark.postgres
def test_a_database_that_cannot_hold_every_text_is_refused(postgres: PostgresServer) -> None:
    url = postgres.create_database("narrow ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'")
    with pytest.raises(StoreError, match=r"has the encoding LATIN1.*--encoding=UTF8"):
        SqlStore.open(url.split(" ")[0])


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("postgresql:///db", "postgresql:///db"),
        ("postgresql://u@/db?host=/run/pg&password=hunter2", "postgresql://u@/db?host=%2Frun%2Fpg"),
        ("postgresql://?service=study", "postgresql://?service=study"),
    ],
)
def test_sockets_and_services_are_addresses(address: str, name: str) -> None:
    engine, shown = open_engine(address)
    engine.dispose()
    assert shown == name


@pytest.mark.postgres
def test_a_store_is_opened_through_a_socket(postgres: PostgresServer, postgres_url: str) -> None:
    database = postgres_url.rsplit("/", 1)[1]
    folder = f"host={postgres.folder}&port={postgres.port}"
    store = SqlStore.open(f"postgresql://heart@/{database}?{folder}")
    assert list(store.iter(Study)) == []
    store.close()
