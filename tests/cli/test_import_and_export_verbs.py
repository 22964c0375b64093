"""``heart import`` and ``heart export``: logs in and out, and studies that wait for imports."""

from pathlib import Path

import pytest
from heart_command import Heart
from inspect_ai.log import read_eval_log
from inspect_runs import MODEL, answered, prompt, sample, write_run

from hearteval.config import load_study
from hearteval.domain import Attempt, Completion, Item, System
from hearteval.errors import SettingsError
from hearteval.store.sql import SqlStore
from hearteval.study import Quiet
from hearteval.study.grow import gather

THEIRS = f"""
[[system]]
name = "theirs"
model = "imported/{MODEL}"
family = "gpt"
"""
IMPORT = ("--system", "theirs")


@pytest.fixture
def importing(study: Path) -> Path:
    """The tiny study with a fourth system, whose completions are imported."""
    study.write_text(study.read_text(encoding="utf-8") + THEIRS, encoding="utf-8")
    return study


def items_of(study: Path) -> tuple[Item, ...]:
    return gather(load_study(study), Quiet()).items


def whole_log(study: Path, text: str = "That weighs on you. What happened then, item") -> Path:
    """A log with one reply to each item of a study."""
    samples = [sample(item, answered(f"{text} {n}?")) for n, item in enumerate(items_of(study))]
    return write_run(study.parent / "run.eval", samples)


def completions_of(study: Path, name: str) -> dict[str, str]:
    """The stored texts of a system, by item id."""
    store = SqlStore.open(load_study(study).store)
    ids = {system.id for system in store.iter(System) if system.name == name}
    found = {c.item_id: c.text for c in store.iter(Completion) if c.system_id in ids}
    store.close()
    return found


def test_a_whole_log_makes_its_system_complete_and_the_study_ranks_it(
    heart: Heart, importing: Path
) -> None:
    done = heart("import", importing, whole_log(importing), *IMPORT)
    assert done.out == (f"5 of 5 replies of theirs stored (5 new)\nnext: heart run {importing}\n")
    ran = heart("run", importing, "--json")
    assert "theirs" in {row["system"] for row in ran.json["leaderboard"]}
    assert ran.json["ceiling"]["max_usd"] == 0
    assert "imported" not in ran.err


def test_import_prints_one_versioned_object(heart: Heart, importing: Path) -> None:
    one, other, *_ = items_of(importing)
    samples = [sample(one), sample(other, answered("")), sample(one, id="maths-17")]
    log = write_run(importing.parent / "run.json", samples, status="cancelled")
    done = heart("import", importing, log, *IMPORT, "--json")
    found = done.json
    assert found.pop("log").keys() == {"file", "sha256", "id", "status"}
    assert found == {
        "schema": "heart.import/1",
        "study": "tiny",
        "system": "theirs",
        "model": MODEL,
        "n_items": 5,
        "n_replies": 3,
        "n_completions": 1,
        "n_added": 1,
        "n_stored": 1,
        "unusable": {"empty": 1},
        "other_prompt": [],
        "unknown": ["maths-17"],
    }
    for words in ("ends with cancelled", "maths-17", "cannot be used: empty"):
        assert words in done.err


def test_a_second_import_of_the_same_log_adds_nothing(heart: Heart, importing: Path) -> None:
    log = write_run(
        importing.parent / "run.eval",
        [
            sample(item, answered(text))
            for item, text in zip(items_of(importing), ["a", "b", "c", "d", ""], strict=True)
        ],
    )
    first = heart("import", importing, log, *IMPORT, "--json").json
    second = heart("import", importing, log, *IMPORT, "--json").json
    assert (first["n_added"], second["n_added"], second["n_stored"]) == (4, 0, 4)
    store = SqlStore.open(load_study(importing).store)
    assert [attempt.reason for attempt in store.iter(Attempt)] == ["empty"]
    store.close()


def test_another_text_for_an_item_is_refused_and_changes_nothing(
    heart: Heart, importing: Path
) -> None:
    heart("import", importing, whole_log(importing), *IMPORT)
    before = completions_of(importing, "theirs")
    done = heart("import", importing, whole_log(importing, "Other words"), *IMPORT, "--json")
    assert done.code == 1
    assert done.json["error"]["kind"] == "store"
    assert set(done.json["error"]["ids"]) == set(before)
    assert completions_of(importing, "theirs") == before


def test_another_prompt_is_said_to_be_another(heart: Heart, importing: Path) -> None:
    item = items_of(importing)[0]
    sent = prompt(item, system="Be brief.")
    log = write_run(
        importing.parent / "run.eval",
        [sample(item, messages=[*sent, answered().message], events=[])],
    )
    done = heart("import", importing, log, *IMPORT, "--json")
    assert done.json["other_prompt"] == [item.id]
    assert "answer another prompt" in done.err


def test_a_log_of_another_model_is_refused(heart: Heart, importing: Path) -> None:
    samples = [sample(items_of(importing)[0])]
    log = write_run(importing.parent / "run.eval", samples, model="openai/gpt-else")
    done = heart("import", importing, log, *IMPORT)
    assert done.code == 2
    assert 'imported/openai/gpt-else"' in done.err
    assert not Path(load_study(importing).store).exists()


@pytest.mark.parametrize("name", ["generic", "nobody"])
def test_only_imported_systems_take_imports(heart: Heart, importing: Path, name: str) -> None:
    done = heart("import", importing, "run.eval", "--system", name)
    assert done.code == 2
    assert "it imports theirs" in done.err


def test_a_run_goes_on_without_what_is_not_imported_and_says_so(
    heart: Heart, importing: Path
) -> None:
    done = heart("run", importing, "--json")
    assert done.code == 1
    assert done.json["completions"]["missing"] == {"no-reference": 1, "not-imported": 5}
    assert [(f["name"], f["n_missing"]) for f in done.json["failures"]] == [("theirs", 5)]
    assert done.json["completions"]["n_wanted"] == 20
    assert "5 replies of theirs are not imported yet" in done.err
    assert f"heart import {importing} LOG --system theirs" in done.err


def test_an_unusable_import_is_missing_for_its_own_reason(heart: Heart, importing: Path) -> None:
    log = write_run(
        importing.parent / "run.eval", [sample(items_of(importing)[0], answered("word " * 200))]
    )
    heart("import", importing, log, *IMPORT)
    done = heart("complete", importing, "--json")
    missing = {"no-reference": 1, "not-imported": 4, "over-long": 1}
    assert done.json["completions"]["missing"] == missing


def test_doctor_says_what_is_not_imported_and_makes_nothing(heart: Heart, importing: Path) -> None:
    done = heart("doctor", importing, "--json")
    (check,) = [c for c in done.json["checks"] if c["name"] == "import theirs"]
    assert (done.code, check["state"]) == (0, "optional")
    assert check["remedy"] == f"heart import {importing} LOG --system theirs"
    assert [path.name for path in importing.parent.iterdir()] == ["tiny.toml"]


def test_doctor_is_content_when_all_is_imported(heart: Heart, importing: Path) -> None:
    heart("import", importing, whole_log(importing), *IMPORT)
    done = heart("doctor", importing, "--json")
    (check,) = [c for c in done.json["checks"] if c["name"] == "import theirs"]
    assert (check["state"], check["remedy"]) == ("ok", "")


def test_an_imported_system_is_not_timed(heart: Heart, importing: Path) -> None:
    done = heart("latency", importing, "--json")
    reasons = {row["system"]: row["reason"] for row in done.json["not_measured"]}
    assert reasons["theirs"] == "its replies are imported"


@pytest.mark.usefixtures("ran")
def test_what_is_exported_can_be_imported_word_for_word(
    heart: Heart, study: Path, tmp_path: Path
) -> None:
    done = heart("export", study, "--to", "inspect", "--out", tmp_path / "logs", "--json").json
    assert done["schema"] == "heart.export/1"
    paths = {log["system"]: Path(log["path"]) for log in done["logs"]}
    assert read_eval_log(paths["reflective"]).eval.model == "hearteval/reflective"
    other = tmp_path / "other.toml"
    text = study.read_text(encoding="utf-8").replace('"tiny"', '"other"')
    other.write_text(text + THEIRS.replace(MODEL, "hearteval/reflective"), encoding="utf-8")
    heart("import", other, paths["reflective"], *IMPORT)
    assert completions_of(other, "theirs") == completions_of(study, "reflective")
    assert len(completions_of(other, "theirs")) == 5


@pytest.mark.usefixtures("ran")
def test_export_counts_completions_and_those_without(
    heart: Heart, study: Path, tmp_path: Path
) -> None:
    done = heart("export", study, "--to", "inspect", "--out", tmp_path / "logs")
    assert "4 replies, 1 without one" in done.out  # the rewritten item has no reference
    assert done.out.endswith(f"next: inspect view --log-dir {tmp_path / 'logs'}\n")


def test_export_before_anything_is_stored_says_what_to_do(
    heart: Heart, study: Path, tmp_path: Path
) -> None:
    done = heart("export", study, "--to", "inspect", "--out", tmp_path / "logs")
    assert done.code == 1
    assert "heart run" in done.err


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        ('model = "imported/"\nfamily = "gpt"', "as its log names it"),
        ('model = "imported/openai/our-tuned-one"', "family: name the developer's line"),
        ('model = "imported/openai/gpt-5"\nfamily = "human"', "family: expected a word"),
        ('model = "imported/x"\nfamily = "gpt"\nbase_url = "http://h/v1"', "base_url: an imported"),
        ('model = "imported/x"\nfamily = "gpt"\npreset = "gpt-5"', "preset: an imported"),
        ('model = "imported/x"\nfamily = "gpt"\nkey_name = "K"', "key_name: an imported"),
    ],
)
def test_an_imported_system_takes_a_model_a_name_and_a_family(
    study: Path, entry: str, fault: str
) -> None:
    study.write_text(f"{study.read_text(encoding='utf-8')}[[system]]\n{entry}\n", encoding="utf-8")
    with pytest.raises(SettingsError, match=fault):
        load_study(study)


def test_repeats_are_announced(heart: Heart, importing: Path) -> None:
    item = items_of(importing)[0]
    samples = [sample(item), sample(item, answered("Say more?"), epoch=2)]
    done = heart("import", importing, write_run(importing.parent / "run.eval", samples), *IMPORT)
    assert "1 replies are repeats" in done.err
    assert "1 of 5 replies of theirs stored (2 new)" in done.out


def test_another_log_is_no_other_system(heart: Heart, importing: Path) -> None:
    one, other, *_ = items_of(importing)
    for name, item in (("a.eval", one), ("b.json", other)):
        log = write_run(importing.parent / name, [sample(item)])
        heart("import", importing, log, *IMPORT)
    assert completions_of(importing, "theirs").keys() == {one.id, other.id}
