"""Times that the pages measure reach the results, in both databases."""

from pathlib import Path

import pytest
from people_site import people_world

from hearteval.study.results import analyze


@pytest.mark.postgres
def test_seconds_of_people_reach_the_report_in_the_order_of_judgments(
    postgres_url: str, tmp_path: Path
) -> None:
    for place in ("", postgres_url):
        with people_world(tmp_path, store=place) as world:
            judge = world.come("judge")
            for seconds in (9, 4):
                judge.get("judge")
                world.clock.wait(seconds=seconds)
                judge.send("judge", choice="A slightly better", reason="It listens.")
            taken = world.store.people.seconds(world.desk.study.id)
            assert list(taken.values()) == [9, 4]
            pace = analyze(world.desk.session, world.desk.study).pace
            assert pace is not None
            assert (pace.everybody.median_seconds, pace.everybody.n_timed) == (6.5, 2)
            assert [one.person for one in pace.people] == [judge.name]
