"""A study whose judges rate, from the file to the report: money, resuming, other protocols."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from heart_command import Heart
from paying_server import PayingServer, paying_server
from scripted_server import say
from served_study import FREE, always, serving, write_study
from study_files import presets, served, study_text

pytestmark = pytest.mark.server

N_RATINGS = 10 * 3 + 10 * 2 + 2 * 2 * 7 + 2 * 4
"""By one judge all, by the other all but its family's; the stress set; four each again."""


def write(folder: Path, url: str, *, protocol: str = "rating") -> Path:
    path = folder / "rated.toml"
    price = {"input": 1.0, "output": 4.0}
    text = study_text(
        "rated",
        presets("generic", "reflective"),
        served("system", "ours", "our-model", url, "ours", price={"input": 0.5, "output": 2.0}),
        served("judge", "theirs", "their-judge", url, "theirs", price=price),
        served("judge", "inside", "inside-judge", url, "ours", price=price),
        items=(10, 0),
        judging={"judges": ["theirs", "inside"], "protocol": protocol}
        | {"stress_items": 2, "repeat_pairs": 4},
    )
    path.write_text(text, encoding="utf-8")
    return path


def results_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "rated.results.json").read_text("utf-8"))
    return found


def count(folder: Path, table: str) -> int:
    connection = sqlite3.connect(folder / "rated.db")
    (found,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    connection.close()
    return int(found)


def bill(provider: PayingServer) -> float:
    prices = {"our-model": (0.5, 2.0), "their-judge": (1.0, 4.0), "inside-judge": (1.0, 4.0)}
    return sum(
        (usd_in * provider.used[model][0] + usd_out * provider.used[model][1]) / 1e6
        for model, (usd_in, usd_out) in prices.items()
    )


def test_study_of_ratings_runs_once_within_its_estimate_and_resumes_for_nothing(
    heart: Heart, tmp_path: Path
) -> None:
    with paying_server() as provider:
        path = write(tmp_path, provider.url)
        ceiling = heart("run", path, "--dry-run", "--json").json["ceiling"]
        done = heart("run", path, "--yes", "--json")
        n_calls, spent = len(provider.prompts), bill(provider)
        again = heart("run", path, "--json")

    estimate = ceiling["estimate"]
    assert done.code == again.code == 0
    assert ceiling["max_judgments"] == N_RATINGS
    assert estimate["n_calls"] == n_calls == 10 + N_RATINGS + 2
    assert estimate["usd_low"] == pytest.approx(spent, rel=0.15)
    n_out = sum(used[1] for used in provider.used.values())
    assert estimate["output_tokens"] == pytest.approx(n_out, rel=0.15)
    assert (done.json["ratings"]["n_wanted"], done.json["ratings"]["n_added"]) == (N_RATINGS,) * 2
    assert done.json["judgments"]["n_wanted"] == done.json["plan"]["n_pairs"] == 0
    assert len(provider.prompts) == n_calls
    assert again.json["ceiling"]["estimate"]["n_calls"] == again.json["ratings"]["n_added"] == 0
    assert count(tmp_path, "ratings") == N_RATINGS
    assert count(tmp_path, "assignments") == count(tmp_path, "attempts") == 0


def test_results_and_report_hold_scores_and_no_ranking(heart: Heart, tmp_path: Path) -> None:
    with paying_server() as provider:
        done = heart("run", write(tmp_path, provider.url), "--yes", "--json")

    results = results_of(tmp_path)
    ratings = {row["system"]: row for row in results["ratings"]["systems"]}
    assert set(ratings) == {"generic", "reflective", "ours"}
    assert set(ratings["ours"]["judges"]) == {"theirs"}
    assert ratings["generic"]["overall"]["n_ratings"] == 20
    assert results["leaderboard"] is None
    assert done.json["leaderboard"] == []
    assert [row["system"] for row in done.json["rated"]] == list(ratings)
    assert {row["kind"] for row in results["stress"]} >= {"hostile", "generic-warmth"}
    assert [row["n_completions"] for row in results["ratings"]["repeatability"]] == [4, 4]
    assert [j["n_judged"] for j in results["coverage"]["judges"]] == [20, 30]
    assert "every reply by itself" in results["provenance"]["design"]
    assert 'id="scores"' in (tmp_path / "rated.report.html").read_text("utf-8")
    table = Path(done.json["ratings_csv"]).read_text("utf-8").splitlines()
    assert len(table) == 1 + 3


def test_export_says_that_ratings_are_left_out(heart: Heart, tmp_path: Path) -> None:
    with paying_server() as provider:
        path = write(tmp_path, provider.url)
        assert heart("run", path, "--yes", "--json").code == 0

    done = heart("export", path, "--to", "inspect", "--out", tmp_path / "logs", "--json")

    assert done.code == 0
    assert "ratings are not exported" in done.err


def test_ratings_and_judgments_live_side_by_side(heart: Heart, tmp_path: Path) -> None:
    with paying_server() as provider:
        rated = heart("run", write(tmp_path, provider.url), "--yes", "--json")
        compared = heart(
            "run", write(tmp_path, provider.url, protocol="forced-strength"), "--yes", "--json"
        )
        n_calls = len(provider.prompts)
        back = heart("run", write(tmp_path, provider.url), "--json")

    assert [done.code for done in (rated, compared, back)] == [0, 0, 0]
    assert [done.json["version"] for done in (rated, compared, back)] == [1, 2, 3]
    assert compared.json["ratings"] is None
    assert compared.json["judgments"]["n_added"] > 0
    assert compared.json["completions"]["n_added"] == 0
    assert len(provider.prompts) == n_calls
    assert back.json["ratings"]["n_before"] == N_RATINGS
    assert back.json["rated"] == rated.json["rated"]
    n_judgments = compared.json["judgments"]["n_added"]
    assert f"{n_judgments} stored judgments of pairs are kept and enter no score" in str(
        back.json["warnings"]
    )


def test_ratings_of_a_judge_that_left_are_kept_and_not_used(heart: Heart, tmp_path: Path) -> None:
    with paying_server() as provider:
        path = write(tmp_path, provider.url)
        heart("run", path, "--yes")
        text = path.read_text("utf-8").replace(
            'judges = ["theirs", "inside"]', 'judges = ["theirs"]'
        )
        start, end = text.index('[[judge]]\nname = "inside"'), text.index("[judging]")
        path.write_text(text[:start] + text[end:], encoding="utf-8")
        done = heart("run", path, "--json")

    assert done.json["ratings"]["n_wanted"] == 30 + 14 + 4
    assert f"{N_RATINGS - 48} stored ratings are by judges or of replies" in str(
        done.json["warnings"]
    )
    assert {row["n_ratings"] for row in done.json["rated"]} == {10}


def test_plan_of_ratings_can_only_grow(heart: Heart, tmp_path: Path) -> None:
    with paying_server() as provider:
        path = write(tmp_path, provider.url)
        heart("complete", path, "--yes")
        text = path.read_text("utf-8")
        path.write_text(text.replace("stress_items = 2", "stress_items = 1"), encoding="utf-8")
        done = heart("judge", path, "--yes", "--json")

    assert done.code == 2
    assert "judging.stress_items: the stored study asks for more" in done.json["error"]["message"]


def test_audit_of_judges_that_rate_is_refused_before_anything_is_stored(
    heart: Heart, tmp_path: Path
) -> None:
    done = heart("judges", "audit", write(tmp_path, "http://127.0.0.1:9/v1"), "--json")

    assert done.code == 2
    assert "the audit shows judges two texts" in done.json["error"]["message"]
    assert not list(tmp_path.glob("*.db"))


def test_judge_says_how_many_ratings_are_stored_and_what_comes_first(
    heart: Heart, tmp_path: Path
) -> None:
    with paying_server() as provider:
        path = write(tmp_path, provider.url)
        early = heart("judge", path, "--yes")
        heart("complete", path, "--yes")
        late = heart("judge", path, "--yes")

    assert "no reply to rate yet; first: heart complete" in early.out
    assert f"{N_RATINGS} of {N_RATINGS} ratings stored" in late.out


def test_ratings_that_cannot_be_used_are_missing_by_reason(heart: Heart, tmp_path: Path) -> None:
    with serving(always(their_judge=say("All of them are fours."))) as server:
        path = write_study(tmp_path, server.url, extra=FREE)
        rule = '[judging]\nprotocol = "rating"'
        path.write_text(path.read_text("utf-8").replace("[judging]", rule), encoding="utf-8")
        done = heart("run", path, "--json")

    results = json.loads((tmp_path / "served.results.json").read_text("utf-8"))
    assert "judge theirs: 8 ratings are missing: not-json" in done.err
    assert (done.code, done.json["failures"][0]["n_wanted"]) == (1, 9)
    missing = {"not-asked": 1, "not-json": 8}
    assert done.json["ratings"]["missing"] == missing
    assert done.json["rated"] == results["ratings"]["systems"] == []
    assert results["coverage"]["judges"][0]["missing"] == missing


def test_ratings_of_some_axes_are_scored_over_these(heart: Heart, tmp_path: Path) -> None:
    with paying_server() as provider:
        path = write(tmp_path, provider.url)
        some = 'axes = ["E", "A"]\nstress_items = 2'
        path.write_text(path.read_text("utf-8").replace("stress_items = 2", some), "utf-8")
        done = heart("run", path, "--yes")
        n_keyed = heart("judges", "calibrate", path, "--yes", "--json").json["ratings"]["n_added"]

    assert done.code == 0, done.err
    assert n_keyed > 0
    ratings = results_of(tmp_path)["ratings"]
    assert ratings["weights"] == {"E": 1.0, "A": 1.0}
    assert {row["system"] for row in ratings["systems"]} == {"generic", "reflective", "ours"}
    for row in ratings["systems"]:
        assert set(row["axes"]) == {"E", "A"}
        over = (row["axes"]["E"]["mean"] + row["axes"]["A"]["mean"]) / 2
        assert row["overall"]["mean"] == pytest.approx(over)
