"""What a study tells, to whoever listens: the second front end is a test."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hearteval.config import load_study
from hearteval.domain import Completion, System
from hearteval.errors import SettingsError
from hearteval.study import Advance, Quiet
from hearteval.study.asking.verbs import complete_study
from hearteval.study.grow import open_grown
from hearteval.study.pipeline import run_study
from hearteval.study.session import open_stored

PAID = """
[[system]]
model = "openai-compatible/our-model"
base_url = "http://127.0.0.1:9/v1"
family = "ours"
price = { input = 1.0, output = 1.0 }
[judging]
"""


class RefusalError(Exception):
    """What a page raises where somebody says no."""


class Page:
    """A front end that remembers what it was told."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.details: list[str] = []
        self.warnings: list[str] = []
        self.bars: dict[str, list[int]] = {}
        self.asked: list[str] = []

    def note(self, message: str) -> None:
        self.notes.append(message)

    def detail(self, message: str) -> None:
        self.details.append(message)

    def warn(self, message: str) -> None:
        self.warnings.append(message)

    @contextmanager
    def progress(self, label: str, *, cost: Callable[[], float] | None = None) -> Iterator[Advance]:
        yield lambda done, _total: self.bars.setdefault(label, []).append(done)

    def say_simulated(self) -> None:
        self.warnings.append("simulated")

    def confirm(self, words: str, *, study: str) -> None:
        self.asked.append(f"{study}: {words}")
        raise RefusalError


@pytest.fixture
def page() -> Page:
    return Page()


@pytest.fixture
def paid(study: Path) -> Path:
    study.write_text(study.read_text("utf-8").replace("[judging]\n", PAID), encoding="utf-8")
    return study


def test_a_run_tells_its_plan_its_progress_and_its_counts(study: Path, page: Page) -> None:
    with open_grown(load_study(study), page) as (session, version):
        body, results = run_study(session, version)

    assert page.notes[0].startswith("tiny: 5 items, 3 systems, judged by cue; no model is asked")
    assert page.details[0].startswith("plan: 5 items, 3 systems")
    assert page.notes[-1].startswith(f"judgments: {body['judgments']['n_wanted']} of ")
    assert page.bars["judgments"][-1] == body["judgments"]["n_added"]
    assert page.asked == []
    assert results.coverage.judges[0].n_judged > 0


def test_nothing_is_printed(study: Path, page: Page, capsys: pytest.CaptureFixture[str]) -> None:
    with open_grown(load_study(study), page) as (session, version):
        run_study(session, version)

    assert capsys.readouterr() == ("", "")


def test_who_says_no_ends_it_before_a_model_is_asked(paid: Path, page: Page) -> None:
    with open_grown(load_study(paid), page) as (session, version), pytest.raises(RefusalError):
        complete_study(session, version)

    assert len(page.asked) == 1
    assert str(paid) in page.asked[0]
    assert "5 calls" in page.asked[0]
    with open_stored(paid, page) as (session, version):
        names = {system.id: system.name for system in session.store.iter(System, version)}
        answered = {names[one.system_id] for one in session.store.iter(Completion, version)}
    assert answered == {"original", "generic", "reflective"}


def test_quiet_lets_nothing_cost_money(paid: Path) -> None:
    with (
        open_grown(load_study(paid), Quiet()) as (session, version),
        pytest.raises(SettingsError, match="costs money"),
    ):
        complete_study(session, version)


def test_quiet_warns_through_the_log(study: Path, caplog: pytest.LogCaptureFixture) -> None:
    more = study.read_text("utf-8").replace("regular = 4", "regular = 400")
    study.write_text(more, encoding="utf-8")
    with open_grown(load_study(study), Quiet()):
        pass

    assert "fewer than the study asks for" in caplog.text
