"""People who took part elsewhere are known by pseudonym, in both databases."""

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hearteval.store.sql import SqlStore

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
STUDY = "0" * 32


@pytest.mark.postgres
def test_they_are_known_once(postgres_url: str, tmp_path: Path) -> None:
    for place in (str(tmp_path / "people.db"), postgres_url):
        with closing(SqlStore.open(place)) as store:
            for _ in range(2):
                store.people.take_in(STUDY, {"w1": "peer", "w2": None}, now=NOW)
            people = {one.name: one for one in store.people.people(STUDY)}
            assert {name: one.group for name, one in people.items()} == {"w1": "peer", "w2": None}
            assert store.people.find_invite(people["w1"].invite_id, now=NOW) is None
            store.people.withdraw(people["w1"], rater_id="1" * 32, now=NOW)
            found = store.people.find_name("w1")
            assert found is not None
            assert found.withdrawn_at == NOW
