"""What the researcher's page says first, what waits, and its table of people."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from people_site import Visitor, World, people_world, plain

from hearteval.study.people.watch.work import TimeLeft
from hearteval.web.chart import HEIGHT, WIDTH, draw_progress

PEOPLE = "writers_per_item = 0\nraters_per_pair = 20\n"
START = datetime(2026, 3, 2, tzinfo=UTC)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with people_world(tmp_path, people=PEOPLE) as made:
        yield made


def page_of(world: World, address: str = "/researcher") -> str:
    found = world.come("research", "review").client.get(address)
    assert found.status_code == 200
    return str(found.text)


def judge_daily(world: World, n_raters: int) -> None:
    """Each pair is judged by so many people, a pair a day."""
    raters = [world.come("judge") for _ in range(n_raters)]
    for _ in world.desk.study.item_ids:
        for rater in raters:
            rater.get("judge")
            world.clock.wait(seconds=40)
            rater.send("judge", choice="A slightly better", reason="It listens.")
        world.clock.wait(hours=24)


def test_it_says_first_how_far_the_study_is_and_when_it_ends(world: World) -> None:
    before = plain(page_of(world))
    assert "0 of 40 answers are there (0 %). It is too early to say" in before
    judge_daily(world, 10)
    after = plain(page_of(world))
    assert "20 of 40 answers are there (50 %)." in after


def test_a_paused_study_has_no_end(world: World) -> None:
    world.store.people.halt(world.desk.study.id, "paused", now=world.clock())
    assert "too early" not in plain(page_of(world))


def test_a_link_that_ends_soon_and_one_that_is_full_are_named(world: World) -> None:
    world.invite("judge", label="Short", days=1)
    token = world.invite("judge", label="Pair", most_people=2)
    for pid in ("one", "two"):
        ticks = {"adult": "yes", "agree": "yes", "pid": pid}
        world.client().post(f"/join/{token}", data=ticks)
    page = plain(page_of(world))
    assert "The link “Short” ends in 24 hours" in page
    assert "The link “Pair” is full" in page


def test_a_full_group_is_named_and_who_was_not_let_in_is_counted(tmp_path: Path) -> None:
    asked = '[[people.quotas]]\nmost = 1\nanswers = { gender = "each" }\n'
    with people_world(tmp_path, people=PEOPLE + asked) as world:
        token = world.invite("judge")
        for name in ("one", "two"):
            ticks = {"adult": "yes", "agree": "yes", "pid": name, "entry_gender": "woman"}
            world.client().post(f"/join/{token}", data=ticks)
        page = plain(page_of(world))
    assert "The group “woman” is full (1)" in page
    assert "Group In it At most" in page
    assert "Not let in: 0 by their answers, 1 because their group was full." in page


def test_nobody_answering_for_days_is_named(world: World) -> None:
    world.come("judge").judge()
    world.clock.wait(days=5)
    assert "Nobody has answered for 5 days" in plain(page_of(world))


def come_later(world: World) -> Visitor:
    world.clock.wait(minutes=1)
    return world.come("judge")


def names_in(page: str) -> list[str]:
    table = page[page.index('aria-label="Table of people"') :]
    return re.findall(r'class="name">(?:<a[^>]*>)?(P-\w+)', table[: table.index("</table>")])


def test_people_are_sorted_by_plain_links(world: World) -> None:
    idle, busy, pasting = (come_later(world) for _ in range(3))
    busy.judge()
    pasting.get("judge")
    pasting.send("judge", choice="A slightly better", reason="It listens.", pastes="1")
    watcher = world.come("research")
    found = {
        sort: names_in(watcher.client.get(f"/researcher?sort={sort}").text)
        for sort in ("came", "signs", "none")
    }
    assert found["came"] == [idle.name, busy.name, pasting.name]
    assert found["signs"][0] == pasting.name
    assert found["none"] == found["came"]
    page = watcher.client.get("/researcher?sort=done").text
    assert 'href="/researcher?sort=name#people-here"' in page
    assert 'aria-sort="descending">Done' in page


def test_the_page_tells_time_taken_and_when_somebody_was_seen(world: World) -> None:
    rater = world.come("judge")
    rater.get("judge")
    world.clock.wait(seconds=75)
    rater.send("judge", choice="A slightly better", reason="It listens.")
    world.clock.wait(hours=5)
    page = plain(page_of(world))
    assert "75 s" in page
    assert "5 h ago" in page


def points(text: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in (one.split(",") for one in text.split())]


def test_the_line_rises_to_what_was_answered_and_the_pace_to_what_is_wanted() -> None:
    times = [START + timedelta(hours=12 * n) for n in range(11)]
    left = TimeLeft(days=4.5, low=3.0, high=9.0, n_days=5)
    chart = draw_progress(times, n_wanted=20, left=left, now=START + timedelta(days=5))
    assert chart is not None
    line = points(chart.line)
    assert [y for _, y in line] == sorted((y for _, y in line), reverse=True)
    assert chart.now == pytest.approx(line[-1][0], abs=0.1)
    here, end = points(chart.ahead)
    assert here == line[-1]
    assert end[1] == 8.0
    assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in points(chart.fan))
    assert chart.days[-1] == ((START + timedelta(days=5)).date(), 1, 11)


def test_without_an_end_nothing_is_drawn_ahead() -> None:
    chart = draw_progress([START], n_wanted=9, left=None, now=START + timedelta(days=1))
    assert chart is not None
    assert chart.ahead == chart.fan == ""
    assert chart.now == WIDTH


def test_an_end_that_cannot_be_said_stays_within_the_drawing() -> None:
    left = TimeLeft(days=40.0, low=20.0, high=None, n_days=5)
    chart = draw_progress([START], n_wanted=99, left=left, now=START + timedelta(days=5))
    assert chart is not None
    assert max(x for x, _ in points(chart.fan)) == WIDTH
    assert points(chart.ahead)[1][1] > 8.0


def test_before_the_first_answer_there_is_nothing_to_draw() -> None:
    assert draw_progress([], n_wanted=9, left=None, now=START) is None
