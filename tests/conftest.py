"""What the whole suite shares: the corpus, a PostgreSQL server, and ``heart`` run in process."""

import gc
import math
import os
import shutil
import signal
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from heart_command import Done, FirstStudy, Heart, make_first_study, undrawn
from hypothesis import settings
from postgres_server import PostgresServer, running_server
from scripted_server import Ticking
from sqlalchemy import Engine, create_engine

from hearteval.cli.main import run_command_line
from hearteval.config.engine import set_ray_environment
from hearteval.models import asking
from hearteval.models.local import LocalSettings
from hearteval.models.wrappers import gate, pace
from hearteval.store import engines
from hearteval.store.sql import SqlStore
from hearteval.study.asking import opening

# No test asserts a time, as a machine may be busy with something else, or hangs on what was drawn:
# hypothesis draws the same examples each time, and others in `make soak`.
settings.register_profile("soak", settings.get_profile("ci"), derandomize=False)
settings.load_profile("ci")
# In the background of a script a process and its children are deaf to Ctrl-C, which tests send.
signal.signal(signal.SIGINT, signal.default_int_handler)
# Without bytecode each process that a test starts would compile the package anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# Ray reads how it is spoken to once, when it is imported, as it is where tests look at all modules.
set_ray_environment(None)
# In so wide a terminal no sentence is folded; tables have 80 columns in it as in any wide one.
os.environ["COLUMNS"] = "1000"
# Stores wait for the disk at each commit, and a memory has none to wait for.
if (MEMORY := Path("/dev/shm")).is_mount() and shutil.disk_usage(MEMORY).free > 8 * 2**30:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))
SLOWEST = (
    "test_every_page.py",
    "test_people_in_browsers.py",
    "test_sessions_in_a_browser.py",
    "test_one_budget.py",
    "test_every_value.py",
    "test_killed.py",
    "test_models_in_a_study.py",
    "test_figure_files.py",
    "test_bad_disks.py",
    "test_documentation.py",
    "test_any_output.py",
    "test_batch_jobs.py",
    "test_security.py",
)
"""Begun first, as a file has one worker: begun last, one of them would keep the others waiting."""
ROOT = Path(__file__).resolve().parents[1]
SHARED_DATA = ROOT.parent / "shared" / "data"
STUDY = """
[study]
name = "tiny"
seed = 5
[items]
source = "starter"
regular = 4
adversarial = 1
[[system]]
preset = "original"
[[system]]
preset = "generic"
[[system]]
preset = "reflective"
[judging]
judges = ["cue"]
"""


def pytest_collection() -> None:
    gc.disable()


def pytest_collection_finish() -> None:
    """Let no search for garbage look at modules and tests, of which there are millions of parts."""
    gc.freeze()
    gc.set_threshold(50_000)  # as `heart` has it
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    places = {name: place for place, name in enumerate(SLOWEST)}
    items.sort(key=lambda item: places.get(item.path.name, len(SLOWEST)))


@pytest.fixture(scope="session", autouse=True)
def statements_are_compiled_once() -> Iterator[None]:
    """Let all stores on SQLite have one dialect and one cache: each would compile the same anew."""
    first, compiled = create_engine("sqlite://"), dict[Any, Any]()
    first.connect().close()  # which tells the dialect what it is to know

    def create(*words: Any, **settings: Any) -> Engine:
        engine = create_engine(*words, **settings)
        if engine.dialect.name == first.dialect.name:
            engine.dialect = first.dialect
            engine.update_execution_options(compiled_cache=compiled)
        return engine

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engines, "create_engine", create)
        yield
    first.dispose()


@pytest.fixture(autouse=True)
def stores_in_memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close what a test opened in memory: from Python 3.13 on an unclosed one is a warning."""
    in_memory = vars(SqlStore)["in_memory"].__func__
    with ExitStack() as opened:

        def closed_at_the_end(cls: type[SqlStore]) -> SqlStore:
            store: SqlStore = opened.enter_context(closing(in_memory(cls)))
            return store

        monkeypatch.setattr(SqlStore, "in_memory", classmethod(closed_at_the_end))
        yield


@pytest.fixture(scope="session")
def esconv_folder() -> Path:
    """The ESConv corpus, which is no part of the project."""
    folder = SHARED_DATA / "esconv"
    if not folder.is_dir():
        pytest.skip("the ESConv corpus is not at ../shared/data/esconv beside the checkout")
    return folder


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresServer]:
    """A PostgreSQL server that runs as long as the suite."""
    with running_server(tmp_path_factory.mktemp("postgres")) as server:
        yield server


@pytest.fixture
def postgres_url(postgres: PostgresServer) -> str:
    """The address of an empty database."""
    return postgres.create_database(f"test_{uuid.uuid4().hex}")


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def place(request: pytest.FixtureRequest) -> str:
    """Where a store is to be that processes share: a file, or an empty database."""
    if request.param == "sqlite":
        return str(request.getfixturevalue("tmp_path") / "shared.db")
    return str(request.getfixturevalue("postgres_url"))


@pytest.fixture
def heart(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Heart:
    monkeypatch.delenv("HEART_STORE", raising=False)
    # A busy machine would say how far it is; tests of that set their own time.
    monkeypatch.setattr("hearteval.cli.progress.FIRST_SECONDS", math.inf)

    def run(*words: str | Path) -> Done:
        capsys.readouterr()
        try:
            run_command_line([str(word) for word in words])
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        captured = capsys.readouterr()
        return Done(code, captured.out, captured.err)

    return run


@pytest.fixture(scope="session")
def first_study(tmp_path_factory: pytest.TempPathFactory) -> FirstStudy:
    """The study that the package's page makes: 5,266 judgments, so once for all workers."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    page = (ROOT / "docs" / "package-page.md").read_text(encoding="utf-8")
    return make_first_study(page, shared / "first-study")


@pytest.fixture
def blank_figures() -> Iterator[None]:
    """Draw no figure of a release, but for what wider fixtures release."""
    with undrawn():
        yield


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A real browser of a module's own: while its loop runs, no other test has one."""
    from browser_site import real_browser  # noqa: PLC0415 - which takes a second to import

    with real_browser() as found:
        yield found


@pytest.fixture(scope="module")
def opened(browser: Any) -> Any:
    """What opens an address in one of a module's kept browsers."""
    from browser_site import kept_pages  # noqa: PLC0415 - as above

    return kept_pages(browser)


@pytest.fixture
def quick_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let calls be tried again in milliseconds, one after the other."""
    monkeypatch.setattr(asking, "WORKERS_PER_CALL", 1)
    monkeypatch.setattr(gate, "FIRST_WAIT", 0.001)
    monkeypatch.setattr(pace, "FIRST_PAUSE", 0.001)


@pytest.fixture
def ticking(monkeypatch: pytest.MonkeyPatch) -> Ticking:
    """Let stopwatches show a second more whenever they are looked at."""
    clock = Ticking()
    monkeypatch.setattr(time, "perf_counter", clock)
    return clock


@pytest.fixture
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a local model have one thread: a tiny one is no faster with more, which spin."""
    monkeypatch.setattr(opening, "LocalSettings", partial(LocalSettings, n_threads=1))


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.toml"
    path.write_text(STUDY, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the study, run once."""
    folder = tmp_path_factory.mktemp("finished")
    (folder / "tiny.toml").write_text(STUDY, encoding="utf-8")
    run_command_line(["run", str(folder / "tiny.toml")])
    return folder


@pytest.fixture
def ran(finished: Path, study: Path) -> Path:
    """The study with what a run of it leaves, apart from what is kept, which names its folder."""
    left_out = shutil.ignore_patterns("*.cache")
    shutil.copytree(finished, study.parent, ignore=left_out, dirs_exist_ok=True)
    return study


@pytest.fixture
def small_corpus(tmp_path: Path, esconv_folder: Path) -> Path:
    """The first dialogues of each file of ESConv, enough to select from."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    for name in ("train.jsonl", "valid.jsonl", "test.jsonl"):
        lines = (esconv_folder / name).read_text(encoding="utf-8").split("\n")[:25]
        (folder / name).write_text("\n".join(lines), encoding="utf-8")
    return folder
