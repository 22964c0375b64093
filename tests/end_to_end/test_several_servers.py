"""Several ``heart serve`` on one PostgreSQL are one: one cookie, one task in hand, one quota."""

from contextlib import ExitStack
from pathlib import Path

import pytest
from served_pages import STUDY, Load, Person, prepare, serving
from test_killed_pages import require_all_there

pytestmark = [pytest.mark.server, pytest.mark.postgres]

N_SERVERS = 2
N_JUDGES = 4
PEOPLE = "writers_per_item = 2\nraters_per_pair = 3\nmost_per_session = 9999\n"
SMALL = STUDY.replace("regular = 20", "regular = 4")


def test_several_servers_behave_as_one(tmp_path: Path, postgres_url: str) -> None:
    prepared = prepare(tmp_path / "study", store=postgres_url, people=PEOPLE, study=SMALL)
    with ExitStack() as stack:
        servers = [stack.enter_context(serving(prepared)) for _ in range(N_SERVERS)]
        here = Person(servers[0].address).join(prepared.links["judge"])
        here.take("judge")
        there = Person(servers[1].address, cookie=here.cookie)
        there.take("judge")
        assert there.ticket == here.ticket
        assert there.send("judge", "Sent there.").code == 303
        assert here.send("judge", "Sent there.").code == 303
        assert here.send("judge", "Another one.").code == 409
        here.hang_up()
        there.hang_up()
        load = Load()
        for number in range(N_JUDGES):
            address = servers[number % N_SERVERS].address
            judge = Person(address).join(prepared.links["judge"])
            load.begin(judge, "judge", f"J{number}")
        load.wait()
    assert set(load.codes) <= {200, 303}
    require_all_there(postgres_url, [*load.acknowledged, "Sent there."])
