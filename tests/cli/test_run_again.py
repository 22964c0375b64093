"""`heart run` with nothing to do says again what it said; whatever has changed is seen."""

import json
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from heart_command import Heart
from served_study import healthy, serving, write_study
from study_files import presets, study_text

from hearteval import config
from hearteval.analysis.study import StudyResults
from hearteval.cli.main import run_command_line
from hearteval.config import StudySettings, load_study
from hearteval.domain import Completion, Display, Rater, Study
from hearteval.judgments.plan import run as planning
from hearteval.judgments.plan.pairs import Candidate, enumerate_pairs
from hearteval.store.integrity.fingerprint import fingerprint_of
from hearteval.store.sql import SqlStore
from hearteval.study import kept, pipeline
from hearteval.study.results import analyze
from hearteval.study.session import Session

STUDY = study_text(
    "small",
    presets("original", "generic", "advice"),
    items=(4, 2),
    study={"seed": 3},
    judging={"design": "full", "stress_items": 2, "repeat_pairs": 50},
)


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(STUDY, "utf-8")
    return path


@pytest.fixture(scope="module")
def finished_here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of the study, run once."""
    path = tmp_path_factory.mktemp("finished") / "small.toml"
    path.write_text(STUDY, "utf-8")
    run_command_line(["run", str(path)])
    return path.with_suffix(".db")


@pytest.fixture
def analyzed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count the times that results are computed."""
    times: list[int] = []

    def count(session: Session, study: Study) -> StudyResults:
        times.append(1)
        return analyze(session, study)

    monkeypatch.setattr(pipeline, "analyze", count)
    return times


def test_a_run_with_nothing_to_do_says_the_same_and_computes_nothing(
    study: Path, heart: Heart, analyzed: list[int]
) -> None:
    first, again = heart("run", study), heart("run", study)
    assert (again.code, again.out, again.err) == (first.code, first.out, first.err)
    assert len(analyzed) == 1
    logs = sorted((study.parent / "small.logs").iterdir())
    assert "nothing has changed" in logs[-1].read_text("utf-8")


def test_the_study_file_is_read_once(
    study: Path, heart: Heart, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Path] = []

    def noting(path: Path) -> StudySettings:
        read.append(path)
        return load_study(path)

    monkeypatch.setattr(config, "load_study", noting)
    assert [heart("run", study).code, heart("run", study).code] == [0, 0]
    assert read == [study, study]


def test_its_json_counts_all_as_there_before(
    study: Path, heart: Heart, analyzed: list[int]
) -> None:
    first, again = heart("run", study, "--json").json, heart("run", study, "--json").json
    assert len(analyzed) == 1
    n_added = first["judgments"]["n_added"]
    assert n_added > 0
    for step in ("completions", "judgments"):
        assert again[step].pop("n_added") == 0
        assert again[step].pop("n_before") == first[step].pop("n_added")
        assert first[step].pop("n_before") == 0
    assert again["plan"].pop("n_new") == 0
    first["plan"].pop("n_new")
    assert again == first
    (study.parent / "small.cache" / "run.json").unlink()
    full = heart("run", study, "--json").json
    assert full["judgments"]["n_before"] == n_added
    assert full["leaderboard"] == again["leaderboard"]
    assert len(analyzed) == 2


def test_every_run_plans_once(study: Path, heart: Heart, monkeypatch: pytest.MonkeyPatch) -> None:
    times: list[int] = []

    def count(
        completions: Sequence[Completion], *, display: Display
    ) -> tuple[tuple[Candidate, ...], int]:
        times.append(1)
        return enumerate_pairs(completions, display=display)

    monkeypatch.setattr(planning, "enumerate_pairs", count)
    new = heart("run", study, "--json").json["plan"]
    assert (len(times), new["n_new"]) == (1, new["n_assignments"])
    (study.parent / "small.cache" / "run.json").unlink()
    again = heart("run", study, "--json").json["plan"]
    assert len(times) == 2
    assert again == {**new, "n_new": 0}


def test_a_page_that_is_gone_or_changed_is_written_again(study: Path, heart: Heart) -> None:
    heart("run", study)
    for name in ("small.report.html", "small.results.json", "small.leaderboard.csv"):
        page = study.parent / name
        whole = page.read_bytes()
        page.unlink()
        heart("run", study)
        assert len(page.read_bytes()) > len(whole) / 2, name
        page.write_text("changed", "utf-8")
        heart("run", study)
        assert len(page.read_bytes()) > len(whole) / 2, name


@pytest.mark.parametrize(
    "change", ["UPDATE judgments SET choice = 'tie', strength = NULL", "CREATE TABLE other (id)"]
)
def test_a_store_that_holds_anything_else_is_analyzed_again(
    study: Path, heart: Heart, analyzed: list[int], change: str
) -> None:
    heart("run", study)
    with closing(sqlite3.connect(study.parent / "small.db")) as connection, connection:
        connection.execute(change)
    heart("run", study)
    assert len(analyzed) == 2


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE studies SET design = '{}'",
        "UPDATE systems SET kind = 'stress' WHERE kind = 'baseline'",
        "UPDATE raters SET name = 'somebody'",
        "UPDATE items SET situation = 'another'",
        "UPDATE completions SET created_at = created_at + 1",
        "UPDATE assignments SET repeat = 7",
        "UPDATE assignments SET first_completion_id = (SELECT CASE first_completion_id WHEN"
        " low_completion_id THEN high_completion_id ELSE low_completion_id END FROM pairs"
        " WHERE pairs.id = pair_id)",
        "UPDATE pairs SET item_id = (SELECT min(id) FROM items)",
    ],
)
def test_a_store_that_was_edited_ends_in_one_line(
    finished_here: Path, study: Path, heart: Heart, change: str
) -> None:
    shutil.copy(finished_here, study.parent)
    with closing(sqlite3.connect(study.parent / "small.db")) as connection, connection:
        assert connection.execute(change).rowcount > 0
    for verb in ("run", "analyze", "report"):
        done = heart(verb, study)
        assert done.code == 1
        assert "is not what was written" in done.err
        assert done.err.count("\n") == 1


def test_a_store_that_has_lost_something_ends_in_no_leaderboard(study: Path, heart: Heart) -> None:
    heart("run", study)
    with closing(sqlite3.connect(study.parent / "small.db")) as connection, connection:
        connection.execute("DELETE FROM judgments WHERE rowid % 4")
    for verb in ("run", "analyze"):
        done = heart(verb, study, "--json")
        assert (done.code, done.json["schema"]) == (1, "heart.error/1")
        assert "is damaged" in done.out


def test_a_changed_study_file_or_damaged_cache_is_run_again(
    study: Path, heart: Heart, analyzed: list[int]
) -> None:
    heart("run", study)
    study.write_text(STUDY.replace("stress_items = 2", "stress_items = 3"), "utf-8")
    assert heart("run", study, "--json").json["version"] == 2
    kept = study.parent / "small.cache" / "run.json"
    kept.write_text(kept.read_text("utf-8").replace('"n_items": 6', '"n_items": 7'), "utf-8")
    assert heart("run", study, "--json").json["n_items"] == 6
    assert len(analyzed) == 3


def test_a_study_file_that_is_edited_during_a_run_is_followed_by_the_next(
    study: Path, heart: Heart, analyzed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def edit(session: Session, stored: Study) -> StudyResults:
        study.write_text(f"{STUDY}[budget]\nmax_usd = 5\n", "utf-8")
        analyzed.append(1)
        return analyze(session, stored)

    monkeypatch.setattr(pipeline, "analyze", edit)
    heart("run", study)
    heart("run", study)
    assert len(analyzed) == 2
    heart("run", study)
    assert len(analyzed) == 2


def test_another_width_or_study_file_is_shown_anew(
    study: Path, heart: Heart, analyzed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    heart("run", study)
    monkeypatch.setenv("COLUMNS", "60")
    heart("run", study)
    other = study.parent / "other.toml"
    other.write_text(STUDY, "utf-8")
    heart("run", other)
    assert len(analyzed) == 3


def test_what_a_run_warned_of_is_warned_of_again(
    study: Path, heart: Heart, analyzed: list[int]
) -> None:
    study.write_text(STUDY.replace("adversarial = 2", "adversarial = 50"), "utf-8")
    first, again = heart("run", study), heart("run", study)
    assert "fewer" in first.err
    assert (again.out, again.err) == (first.out, first.err)
    assert "fewer" in heart("run", study, "--json").err
    assert len(analyzed) == 1


def test_what_is_kept_holds_no_reply(study: Path, heart: Heart) -> None:
    heart("run", study)
    kept = (study.parent / "small.cache" / "run.json").read_text("utf-8")
    with closing(sqlite3.connect(study.parent / "small.db")) as connection:
        texts = [text for (text,) in connection.execute("SELECT text FROM completions")]
    assert texts
    assert not [text for text in texts if json.dumps(text)[1:-1] in kept]


def test_what_is_kept_logged_and_found_is_its_owners_alone_to_read(
    study: Path, heart: Heart
) -> None:
    heart("run", study)
    (log,) = (study.parent / "small.logs").iterdir()
    heart("report", study)
    tables = [*(study.parent / "small.tables").glob("*.csv")]
    assert tables
    results = [study.parent / f"small.{end}" for end in ("results.json", "leaderboard.csv")]
    for path in (study.parent / "small.cache" / "run.json", log, *results, *tables):
        assert path.stat().st_mode & 0o077 == 0


def test_what_is_no_store_has_no_fingerprint(tmp_path: Path) -> None:
    assert fingerprint_of("postgresql://user@127.0.0.1:9/base", "small") is None
    assert fingerprint_of(str(tmp_path / "none.db"), "small") is None
    (tmp_path / "text.db").write_text("no database", "utf-8")
    assert fingerprint_of(str(tmp_path / "text.db"), "small") is None


@pytest.mark.postgres
def test_run_on_postgresql_is_said_again_until_the_database_changes(
    study: Path, heart: Heart, analyzed: list[int], postgres_url: str
) -> None:
    study.write_text(STUDY.replace("seed = 3", f'seed = 3\nstore = "{postgres_url}"'), "utf-8")
    first, again = heart("run", study), heart("run", study)
    assert (again.code, again.out, again.err) == (first.code, first.out, first.err)
    assert len(analyzed) == 1
    with closing(SqlStore.open(postgres_url)) as store:
        store.add([Rater(name="somebody else", kind="human", family="human")])
    assert heart("run", study).code == 0
    assert len(analyzed) == 2


def test_what_is_said_of_a_model_s_end_is_today_s(
    heart: Heart, analyzed: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(healthy()) as server:
        path = write_study(tmp_path, server.url)
        path.write_text(path.read_text().replace('family = "ours"', 'preset = "gpt-5"'))
        heart("run", path)
        said = heart("run", path)
    monkeypatch.setattr(kept, "end_words", lambda _end, *, today: f"ends soon, it is {today}")
    heart("run", path)
    assert said.code == 0
    assert len(analyzed) == 3
    heart("run", path)
    assert len(analyzed) == 3
