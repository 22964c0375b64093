"""A pilot and a preview: everything looks as for real, and nothing of it reaches the study."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from anyio.from_thread import start_blocking_portal
from people_site import PEOPLE, START, STUDY, Clock, Visitor, World, people_world

from hearteval.errors import SettingsError
from hearteval.report.page.methods import paragraph
from hearteval.store.copy import store_hashes
from hearteval.store.sql import SqlStore
from hearteval.study import Quiet
from hearteval.study.grow import open_grown
from hearteval.study.people import Desk, Trial
from hearteval.study.people.planning import open_tasks
from hearteval.study.people.trial import fill, settings_of_trial
from hearteval.study.results import analyze
from hearteval.study.session import count_pilot, pilot_store
from hearteval.web.site import Site

QUOTA = '[[people.quotas]]\nmost = 1\nanswers = { gender = "each" }\n'
LABELS = "[labels]\npeople = 3\n"
TICKS = {"adult": "yes", "agree": "yes", "no_ai": "yes", "entry_gender": "woman"}


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    study = STUDY.replace("[people]", f"{LABELS}[people]")
    with people_world(tmp_path, people=PEOPLE + QUOTA, study=study) as made:
        yield made


@contextmanager
def trying(world: World, trial: Trial) -> Iterator[World]:
    """Serve the study of a world as `heart serve` does with an option."""
    real = world.desk.session.settings
    with (
        settings_of_trial(real, trial) as settings,
        open_grown(settings, Quiet()) as (session, study),
        start_blocking_portal() as portal,
    ):
        clock = Clock(START)
        desk = Desk(session=replace(session, now=clock), study=study, trial=trial)
        open_tasks(desk)

        def plan() -> None:
            open_tasks(desk)

        served = World(desk, clock, Site(desk=desk, written=plan), portal)
        yield served
        for client in served.clients:
            client.close()


def come(world: World, *kinds: str, gender: str = "woman") -> Visitor:
    visitor = Visitor(world, world.client(), world.invite(*kinds))
    form = {**TICKS, "entry_gender": gender}
    assert visitor.client.post(f"/join/{visitor.token}", data=form).status_code == 303
    return visitor


def work(world: World) -> None:
    """Do something of every kind: write, compare, review, label, stop, be turned away."""
    visitor = come(world, "write", "judge")
    reviewer = come(world, "review", gender="man")
    visitor.write("As an AI language model I am sorry to hear this.")
    visitor.write()
    visitor.judge()
    reviewer.get("review")
    sent = reviewer.send("review", verdict="fit")
    assert sent.status_code == 303
    token = world.invite("judge")
    full = world.client().post(f"/join/{token}", data=TICKS)
    assert "This group is full" in full.text
    visitor.client.post("/stop")


def everything(store: SqlStore) -> object:
    return store_hashes(store), store.people.read_all()


def test_a_pilot_changes_nothing_of_the_study(world: World) -> None:
    before = everything(world.store)
    results = analyze(world.desk.session, world.desk.study)
    with trying(world, "pilot") as pilot:
        work(pilot)
        quotas = pilot.store.people.progress(pilot.desk.study.id).quotas
        assert [one.n_people for one in quotas] == [1, 1]
        assert pilot.desk.study.id == world.desk.study.id
    assert everything(world.store) == before
    n_new = open_tasks(world.desk).n_new
    assert n_new == 0
    after = analyze(world.desk.session, world.desk.study)
    assert after.provenance.n_pilot == 2
    left_out = replace(after.provenance, n_pilot=0, created_at=results.provenance.created_at)
    assert replace(after, provenance=left_out) == results
    words = "2 people came in a pilot; none of their answers is counted."
    assert words in paragraph(after)
    assert words not in paragraph(results)
    # A place of a quota that a pilot took is free.
    assert come(world, "judge").client.get("/work").status_code == 303


def test_a_pilot_goes_on_where_it_was_and_gets_what_is_new(world: World) -> None:
    settings = world.desk.session.settings
    with trying(world, "pilot") as pilot:
        come(pilot, "judge").judge()
    with trying(world, "pilot") as pilot:
        assert len(pilot.store.people.people(pilot.desk.study.id)) == 1
        assert pilot.store.check(progress=lambda _kind, _n: None).faults == ()
    assert count_pilot(settings) == 1
    assert count_pilot(replace(settings, store=str(pilot_store(settings)))) == 0


def test_what_people_have_written_is_not_copied(world: World) -> None:
    come(world, "write", "review").write("That sounds heavy. What would help tonight?")
    settings = world.desk.session.settings
    place = settings.file.with_name("other.db")
    fill(settings, place)
    assert b"What would help tonight?" not in place.read_bytes()
    with closing(SqlStore.open(str(place))) as store:
        assert store.people.people(world.desk.study.id) == []


def test_a_preview_leaves_nothing_behind(world: World) -> None:
    before = everything(world.store)
    folder = world.desk.session.settings.file.parent
    files = {path.name for path in folder.iterdir()}
    with trying(world, "preview") as preview:
        place = Path(preview.desk.session.settings.store)
        work(preview)
        assert place.exists()
    assert not place.parent.exists()
    assert everything(world.store) == before
    assert {path.name for path in folder.iterdir()} == files
    assert analyze(world.desk.session, world.desk.study).provenance.n_pilot == 0


@pytest.mark.parametrize(
    ("trial", "said"),
    [("pilot", "What you send does not count"), ("preview", "nothing that is sent here is kept")],
)
def test_every_page_of_a_trial_says_so_and_none_of_the_study(
    world: World, trial: Trial, said: str
) -> None:
    token = world.invite("judge")
    with trying(world, trial) as tried:
        visitor = come(tried, "write", "judge", "research")
        link = tried.invite("judge")
        for path in ("/work", "/task/judge?begin=1", "/stopped", "/agreed", "/help", "/nowhere"):
            assert said in visitor.client.get(path).text or path == "/work"
        assert said in tried.client().get(f"/join/{link}").text
        assert said in tried.client().get("/join/none").text
        assert said not in world.client().get(f"/join/{token}").text


def test_without_a_store_there_is_nothing_to_try(world: World) -> None:
    settings = replace(world.desk.session.settings, store="/nowhere/none.db")
    with (
        pytest.raises(SettingsError, match="run the systems first"),
        settings_of_trial(settings, "pilot"),
    ):
        pass
