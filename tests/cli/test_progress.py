"""What a pipe is told of a long step, by a clock of the test's own; when a browser opens."""

import sys
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from heart_command import Heart

from hearteval.cli import console
from hearteval.cli.console import open_page
from hearteval.cli.progress import Lines, duration, shown_progress


class Clock:
    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_pipe_is_told_after_three_seconds_then_every_ten(clock: Clock) -> None:
    said: list[str] = []
    lines = Lines("judgments", clock=clock, write=said.append)
    lines.advance(400, 2968)
    for second in range(1, 34):
        clock.seconds = 100.0 + second
        lines.advance(400 + 10 * second, 2968)
        lines.look()
    assert said == [
        "judgments: 430 of 2,968, 10.0/s, about 4 min left, 3 s so far",
        "judgments: 530 of 2,968, 10.0/s, about 4 min left, 13 s so far",
        "judgments: 630 of 2,968, 10.0/s, about 4 min left, 23 s so far",
        "judgments: 730 of 2,968, 10.0/s, about 4 min left, 33 s so far",
    ]


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [(1, 50, "50.0/s, about 20 s left"), (50, 1, "1.0/s, about 17 min left")],
)
def test_the_time_left_is_that_of_the_last_thirty_seconds(
    clock: Clock, before: int, after: int, words: str
) -> None:
    lines, done = Lines("judgments", clock=clock, write=lambda _: None), 0
    total = 200 * before + 40 * after + 1000
    for pace in [before] * 200 + [after] * 40:
        clock.seconds += 1
        done += pace
        lines.advance(done, total)
    assert words in lines.words()


def test_a_step_that_does_not_move_on_is_said_to_last(clock: Clock) -> None:
    said: list[str] = []
    lines = Lines("replies", cost=lambda: 0.125, clock=clock, write=said.append)
    clock.seconds += 4
    lines.look()
    lines.advance(0, 5)
    clock.seconds += 10
    lines.look()
    assert said == ["replies: 4 s so far", "replies: 0 of 5, $0.12, 14 s so far"]


def test_a_short_step_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with shown_progress("replies") as advance:
        advance(1, 2)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.4, "0 s"), (89, "89 s"), (90, "2 min"), (5400, "1.5 h")]
)
def test_times_are_written_in_one_unit(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def at_terminal(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let this be a terminal, with a browser that remembers what it opened."""
    opened: list[str] = []
    for stream in (sys.stdout, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True)

    def remember(url: str) -> bool:
        opened.append(url)
        return True

    monkeypatch.setattr(webbrowser, "open", remember)
    return opened


def test_a_report_is_opened_from_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened = at_terminal(monkeypatch)
    open_page(str(tmp_path / "a b.html"))
    assert opened == [(tmp_path / "a b.html").as_uri()]
    assert capsys.readouterr().err == ""


def test_where_no_browser_opens_the_path_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    at_terminal(monkeypatch)
    monkeypatch.setattr(webbrowser, "open", lambda _url: False)
    monkeypatch.chdir(tmp_path)
    open_page(str(tmp_path / "report.html"))
    assert "open the report yourself: report.html" in capsys.readouterr().err


def test_a_pipe_opens_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened = at_terminal(monkeypatch)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: False)
    open_page(str(tmp_path / "report.html"))
    assert opened == []
    assert "from a terminal only" in capsys.readouterr().err


def test_records_of_all_kinds_are_counted_together(
    heart: Heart, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[int] = []

    @contextmanager
    def listen(_label: str, **_: object) -> Iterator[Callable[[int, int | None], None]]:
        yield lambda done, _total: told.append(done)

    heart("run", study)
    monkeypatch.setattr(console, "shown_progress", listen)
    verified = heart("store", "verify", study, "--json").json
    assert told == sorted(told)
    assert told[-1] == sum(verified["n"].values())
