"""`he.open_study`: a stored study as dataframes, results and a report, and nothing else written."""

import hashlib
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import pandas as pd
import pytest
from heart_command import Heart
from invented_ratings import invented_ratings
from invented_results import invented_results, without_ranking
from served_study import healthy, serving, write_study

import hearteval as he
from hearteval.analysis.study import StudyResults
from hearteval.api.studies import OpenStudy, Results
from hearteval.errors import StoreError
from hearteval.exchange.tables import frames


@pytest.fixture
def opened(ran: Path) -> OpenStudy:
    return he.open_study(ran)


def test_results_are_those_of_the_command_line(heart: Heart, study: Path) -> None:
    body = heart("run", study, "--json").json
    with he.open_study(study) as opened:
        results = opened.analyze()

    assert results.to_frame().to_dict("records") == body["leaderboard"]
    assert results.to_dict().keys() == heart("analyze", study, "--json").json.keys()
    table, _, notes = str(results).partition("\n\n! ")
    shown = " ".join(heart("run", study).out.split())  # lines of a sentence are indented in one
    assert shown.startswith(" ".join(table.split()))
    assert all(limit[:20] in notes for limit in results.to_dict()["warnings"])


def test_results_and_their_holder_are_short_where_they_are_looked_at(opened: OpenStudy) -> None:
    assert repr(opened.analyze()).startswith("<Results: ")
    assert len(repr(opened.analyze())) < 300
    assert len(repr(opened)) < 300


def test_results_show_as_a_table(opened: OpenStudy) -> None:
    html = opened.analyze()._repr_html_()

    assert "<table>" in html
    assert "reflective" in html


@pytest.mark.parametrize(
    ("found", "columns"),
    [
        (invented_ratings(), {"system", "mean", "z", "H", "T", "n_ratings"}),
        (without_ranking(invented_results(), "groups never met"), {"system", "win_rate", "H", "T"}),
    ],
)
def test_a_frame_has_scores_or_win_rates_where_there_is_no_leaderboard(
    found: StudyResults, columns: set[str]
) -> None:
    values = {each.name: getattr(found, each.name) for each in fields(found)}

    frame = Results(**values, frame=frames.find_frame_kind(None)).to_frame()

    assert columns <= set(frame.columns)
    assert "axes" not in frame.columns
    assert len(frame) > 0


def test_a_row_is_a_record_with_names_beside_its_ids(opened: OpenStudy) -> None:
    completions, judgments = opened.completions, opened.judgments

    assert len(opened.items) == 5
    assert set(completions.system) >= {"original", "generic", "reflective"}
    assert completions.completion_id.is_unique
    assert set(judgments.rater) == {"cue"}
    assert set(judgments.winner) <= {*judgments["first"], *judgments["second"], "tie"}
    assert set(judgments.item_id) <= set(opened.items.item_id)


def test_judgments_can_be_ranked_like_any_votes(opened: OpenStudy) -> None:
    asked = opened.judgments
    ranked = asked[~asked.is_stress & (asked.repeat == 0)]

    votes = he.rank(ranked, left="first", right="second", winner="winner", cluster="item_id")

    board = opened.analyze().leaderboard
    assert board is not None
    elos = {row.system: row.unweighted.elo for row in board.rows}
    assert {row.system: row.elo for row in votes.systems} == pytest.approx(elos)


def test_judgments_are_those_of_what_the_version_names(heart: Heart, study: Path) -> None:
    text = study.read_text("utf-8")
    heart("run", study)
    before = he.open_study(study)
    n_before = len(before.judgments)
    more = text.replace("regular = 4", "regular = 6")
    study.write_text(more, "utf-8")
    heart("run", study)
    assert len(before.judgments) == n_before
    study.write_text(text.replace('preset = "generic"', 'preset = "advice"'), "utf-8")
    heart("run", study)

    with he.open_study(study) as opened:
        asked = opened.judgments
        rates = opened.analyze().win_rates

    assert "generic" not in {*asked["first"], *asked["second"]}
    ranked = asked[~asked.is_stress & (asked.repeat == 0)]
    assert 2 * len(ranked) == sum(rate.n_comparisons for rate in rates)


@pytest.mark.server
def test_ratings_are_those_of_what_the_version_names(heart: Heart, tmp_path: Path) -> None:
    with serving(healthy()) as server:
        path = write_study(tmp_path, server.url)
        text = path.read_text("utf-8").replace("[judging]", '[judging]\nprotocol = "rating"')
        path.write_text(text, "utf-8")
        heart("run", path)
        path.write_text(text.replace("regular = 3", "regular = 2"), "utf-8")
        heart("run", path)

    with he.open_study(path) as opened:
        ratings, items = opened.ratings, opened.items

    assert len(ratings) == 2 * 3
    assert set(ratings.item_id) == set(items.item_id)


def test_a_kind_without_records_has_its_columns(opened: OpenStudy) -> None:
    assert list(opened.ratings.columns)[:2] == ["rating_id", "study_id"]
    assert len(opened.ratings) == 0


def test_no_frame_holds_a_reply_as_it_came(opened: OpenStudy) -> None:
    tables = (opened.completions, opened.judgments, opened.ratings, opened.attempts)
    assert not any("raw" in table.columns for table in tables)


def test_frames_are_of_a_library_that_is_installed(
    opened: OpenStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(opened.items, pd.DataFrame)
    monkeypatch.setattr(frames, "find_spec", lambda name: name == "pyarrow")
    assert type(opened.items).__module__ == "pyarrow.lib"


@pytest.mark.usefixtures("ran")
def test_only_the_report_writes(heart: Heart, study: Path) -> None:
    report, store = study.parent / "tiny.report.html", study.parent / "tiny.db"
    report.unlink()
    before = hashlib.sha256(store.read_bytes()).hexdigest()

    with he.open_study(str(study)) as opened:
        opened.analyze()
        assert not report.exists()
        assert opened.report()["report"] == str(report)

    assert report.is_file()
    assert hashlib.sha256(store.read_bytes()).hexdigest() == before


@pytest.mark.usefixtures("ran")
def test_tables_of_a_report_are_files_and_none_is_left_over(heart: Heart, study: Path) -> None:
    folder = study.parent / "tiny.tables"
    stale, own = folder / "stress-scores.csv", folder / "my-own.csv"
    stale.write_text("of a study that rated\n")
    own.write_text("kept\n")

    with he.open_study(study) as opened:
        tables = opened.report()["tables"]

    assert {Path(path).name for path in tables.values()} | {own.name} == {
        path.name for path in folder.iterdir()
    }
    assert "axes" in tables
    assert Path(tables["axes"]).read_text().startswith("system,kind,axis,win_rate,")
    assert "axes.csv" in (study.parent / "tiny.report.html").read_text()


@pytest.mark.parametrize("read", [lambda s: s.items, OpenStudy.analyze, OpenStudy.report])
def test_a_closed_study_is_not_read(opened: OpenStudy, read: Callable[[OpenStudy], object]) -> None:
    opened.close()
    with pytest.raises(StoreError, match="is closed; open it again"):
        read(opened)


def test_a_study_that_never_ran_is_refused_and_made_nowhere(study: Path) -> None:
    with pytest.raises(StoreError, match="holds no study"):
        he.open_study(study)
    assert [path.name for path in study.parent.iterdir()] == ["tiny.toml"]


def test_an_empty_database_is_refused_and_stays_empty(study: Path) -> None:
    store = study.parent / "tiny.db"
    store.touch()

    with pytest.raises(StoreError, match="holds no study"):
        he.open_study(study)

    assert store.read_bytes() == b""
    assert {path.name for path in study.parent.iterdir()} == {"tiny.toml", "tiny.db"}


@pytest.mark.usefixtures("ran")
def test_a_study_stays_where_it_is_when_the_folder_changes(
    heart: Heart,
    study: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.chdir(study.parent)
    with he.open_study(study.name) as opened:
        monkeypatch.chdir(elsewhere)
        paths = opened.report()

    assert paths["report"] == str(study.parent / "tiny.report.html")
    assert list(elsewhere.iterdir()) == []
