"""``heart run`` and its steps: files, JSON, growth, and what a second run does."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from heart_command import Done, Heart


def results_of(study: Path) -> dict[str, Any]:
    document = json.loads((study.parent / "tiny.results.json").read_text(encoding="utf-8"))
    del document["provenance"]["created_at"]
    assert isinstance(document, dict)
    return document


def append(study: Path, text: str) -> None:
    study.write_text(study.read_text(encoding="utf-8") + text, encoding="utf-8")


def test_run_ends_with_the_path_of_the_report(heart: Heart, study: Path) -> None:
    done = heart("run", study)
    assert done.code == 0
    (said,) = [line for line in done.out.splitlines() if line.startswith("report ")]
    assert Path(said.split(maxsplit=1)[1]).resolve() == study.parent / "tiny.report.html"
    assert (study.parent / "tiny.report.html").read_text(encoding="utf-8").startswith("<!doctype")
    assert "measures nothing" in " ".join(done.out.split())


def test_run_twice_does_nothing_twice(heart: Heart, study: Path) -> None:
    first = heart("run", study, "--json").json
    before = results_of(study)
    second = heart("run", study, "--json").json
    assert first["schema"] == second["schema"] == "heart.run/1"
    assert first["judgments"]["n_added"] == first["judgments"]["n_wanted"] > 0
    assert second["judgments"]["n_added"] == second["plan"]["n_new"] == 0
    assert second["completions"]["n_added"] == 0
    assert second["version"] == first["version"] == 1
    assert results_of(study) == before


def test_steps_one_by_one_give_what_run_gives(heart: Heart, study: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    copy = other / "tiny.toml"
    copy.write_text(study.read_text(encoding="utf-8"), encoding="utf-8")
    heart("run", study)
    assert heart("complete", copy).code == 0
    assert heart("judge", copy).code == 0
    assert heart("analyze", copy).code == 0
    assert heart("report", copy).code == 0
    stepwise, at_once = results_of(copy), results_of(study)
    hashes = {results["provenance"].pop("data_hash") for results in (stepwise, at_once)}
    assert len(hashes) == 2  # the times of the records are in them
    assert stepwise == at_once
    assert (other / "tiny.report.html").exists()


@pytest.mark.parametrize("verb", ["complete", "judge", "analyze", "report"])
@pytest.mark.usefixtures("ran")
def test_every_step_prints_one_versioned_object(heart: Heart, study: Path, verb: str) -> None:
    done: Done = heart(verb, study, "--json")
    assert done.json["schema"] == f"heart.{verb}/1"
    assert done.err == ""


def test_analyze_before_anything_is_stored_says_what_to_do(heart: Heart, study: Path) -> None:
    done = heart("analyze", study)
    assert done.code == 1
    assert "run `heart run" in done.err
    assert done.err.count("\n") == 1
    assert [path.name for path in study.parent.iterdir()] == ["tiny.toml"]


@pytest.mark.usefixtures("ran")
def test_another_seed_in_the_same_store_is_another_study(heart: Heart, study: Path) -> None:
    study.write_text(
        study.read_text(encoding="utf-8").replace("seed = 5", "seed = 6"), encoding="utf-8"
    )
    assert heart("analyze", study).code == 1
    done = heart("run", study, "--json").json
    assert done["version"] == 1
    assert done["judgments"]["n_before"] == 0


def test_a_faulty_item_file_leaves_no_store_behind(heart: Heart, study: Path) -> None:
    text = study.read_text(encoding="utf-8").replace('"starter"', '"mine.jsonl"')
    study.write_text(text, encoding="utf-8")
    (study.parent / "mine.jsonl").write_text('{"source": "x", "dial', encoding="utf-8")
    done = heart("run", study)
    assert done.code == 2
    assert "mine.jsonl, line 1" in done.err
    assert not (study.parent / "tiny.db").exists()


def test_judging_before_completions_plans_nothing(heart: Heart, study: Path) -> None:
    study.write_text(study.read_text(encoding="utf-8") + "stress_items = 0\n", encoding="utf-8")
    done = heart("judge", study)
    assert done.code == 0
    assert "first: heart complete" in done.out


def test_a_study_without_judgments_says_so_in_its_results(heart: Heart, study: Path) -> None:
    heart("complete", study)
    done = heart("analyze", study, "--json")
    assert done.json["leaderboard"] is None
    assert "no judgment yet" in done.json["leaderboard_problem"]
    assert "judge cue has no result" in done.err
    assert (done.code, heart("report", study).code) == (1, 1)
    assert study.with_name("tiny.report.html").is_file()


def test_a_dry_run_stores_nothing(heart: Heart, study: Path) -> None:
    done = heart("run", study, "--dry-run", "--json")
    n_pairs, n_stress, n_repeats = 5 * 3, 5 * 6, 5 * 3
    assert done.json["ceiling"]["max_judgments"] == 2 * (n_pairs + n_stress) + n_repeats
    assert done.json["ceiling"]["max_usd"] == 0
    assert sorted(path.name for path in study.parent.iterdir()) == ["tiny.toml"]


def test_a_run_does_no_more_than_its_ceiling(heart: Heart, study: Path) -> None:
    done = heart("run", study, "--json").json
    assert 0 < done["judgments"]["n_wanted"] <= done["ceiling"]["max_judgments"]
    assert 0 < done["completions"]["n_wanted"] <= done["ceiling"]["max_completions"]


def test_a_study_grows_and_keeps_what_was_made(heart: Heart, study: Path) -> None:
    before = heart("run", study, "--json").json
    text = study.read_text(encoding="utf-8").replace("regular = 4", "regular = 6")
    study.write_text(text + '[[system]]\npreset = "advice"\n', encoding="utf-8")
    after = heart("run", study, "--json").json
    assert after["study_id"] == before["study_id"]
    assert after["version"] == 2
    assert after["completions"]["n_before"] == before["completions"]["n_added"]
    assert after["judgments"]["n_before"] == before["judgments"]["n_added"]
    assert after["judgments"]["n_added"] > 0


@pytest.mark.usefixtures("ran")
def test_results_say_when_the_file_has_moved_on(heart: Heart, study: Path) -> None:
    append(study, '[[system]]\npreset = "advice"\n')
    done = heart("analyze", study, "--json")
    assert "has changed since version 1" in done.err
    assert len(done.json["leaderboard"]["rows"]) == 3


@pytest.mark.usefixtures("ran")
def test_judgments_of_what_left_the_study_are_kept_and_not_used(heart: Heart, study: Path) -> None:
    text = study.read_text(encoding="utf-8").replace('[[system]]\npreset = "generic"\n', "")
    study.write_text(text, encoding="utf-8")
    heart("run", study)
    results = results_of(study)
    assert len(results["leaderboard"]["rows"]) == 2
    assert any("no longer names" in warning for warning in results["warnings"])


def test_a_shortfall_is_reported_and_never_filled(heart: Heart, study: Path) -> None:
    text = study.read_text(encoding="utf-8").replace("adversarial = 1", "adversarial = 50")
    study.write_text(text, encoding="utf-8")
    done = heart("run", study, "--json")
    assert done.json["n_items"] == 4 + 30
    assert "adversarial items fewer than the study asks for" in done.err


def test_a_balanced_design_judges_as_many_pairs_as_it_says(heart: Heart, study: Path) -> None:
    append(study, 'design = "balanced"\ncomparisons = 7\n')
    done = heart("run", study, "--json").json
    assert done["plan"]["n_pairs"] == 7


@pytest.mark.usefixtures("ran")
def test_results_carry_coverage_and_reasons(heart: Heart, study: Path) -> None:
    coverage = results_of(study)["coverage"]
    by_name = {row["system"]: row for row in coverage["systems"]}
    assert by_name["original"]["missing"] == {"no-reference": 1}
    assert coverage["n_items"] == {"regular": 4, "adversarial": 1}
    (judge,) = coverage["judges"]
    assert judge["is_baseline"] is True
    assert judge["n_flips"] == 0
    assert judge["n_judged"] == judge["n_assigned"]


@pytest.mark.parametrize(
    ("before", "after", "place"),
    [
        ("both_orders = true\n", "both_orders = false\n", "judging.both_orders"),
        ("", 'design = "balanced"\ncomparisons = 5\n', "judging.comparisons"),
        ("stress_items = 4\n", "stress_items = 3\n", "judging.stress_items"),
        ("repeat_pairs = 4\n", "repeat_pairs = 0\n", "judging.repeat_pairs"),
        ("exclude_own_family = false\n", "", "judging.exclude_own_family"),
    ],
)
def test_a_plan_can_only_grow(
    heart: Heart, study: Path, before: str, after: str, place: str
) -> None:
    text = study.read_text(encoding="utf-8")
    study.write_text(text + before, encoding="utf-8")
    heart("run", study)
    results = results_of(study)
    study.write_text(text + after, encoding="utf-8")
    refused = heart("run", study, "--json")
    assert refused.code == 2
    assert refused.json["error"]["ids"] == [place]
    assert results_of(study) == results
    study.write_text(text + before, encoding="utf-8")
    assert heart("run", study).code == 0


def test_systems_that_a_balanced_plan_leaves_out_are_called_out(heart: Heart, study: Path) -> None:
    append(study, 'design = "balanced"\ncomparisons = 12\n')
    heart("run", study)
    append(study, '[[system]]\npreset = "advice"\n')
    done = heart("run", study, "--json")
    assert "3 pairs of systems are not compared at all" in done.err
    assert done.json["plan"]["n_uncompared"] == 3
    assert any("advice" in warning for warning in done.json["warnings"])


def test_evidence_beside_an_item_file_comes_into_the_report(
    heart: Heart, tmp_path: Path, study: Path, small_corpus: Path
) -> None:
    out = tmp_path / "picked.jsonl"
    heart(
        *("items", "build", "--source", "esconv", "--from", small_corpus),
        *("--regular", "6", "--out", out),
    )
    text = study.read_text(encoding="utf-8")
    text = text.replace('source = "starter"\nregular = 4\nadversarial = 1', f'source = "{out}"')
    study.write_text(text, encoding="utf-8")
    heart("run", study)
    results = results_of(study)
    assert results["funnel"][-1]["n_out"] == 6
    assert "ESConv" in results["provenance"]["consent_bases"][0]


LOADED = """
import sys
from hearteval.cli.main import run_command_line
try:
    run_command_line(sys.argv[1:])
except SystemExit as end:
    assert not end.code, end.code
print([name for name in ("scipy.special", "hearteval.analysis.study") if name in sys.modules])
"""


@pytest.mark.parametrize("verb", ["complete", "judge"])
@pytest.mark.usefixtures("ran")
def test_asking_loads_no_statistics(heart: Heart, study: Path, verb: str) -> None:
    words = [sys.executable, "-c", LOADED, verb, str(study)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
