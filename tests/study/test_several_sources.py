"""One study with items from several sources."""

import json
import re
from contextlib import closing
from pathlib import Path

import pytest
from heart_command import Heart
from made_corpus import write_corpus

from hearteval.config import load_study
from hearteval.domain import Item
from hearteval.items import load_starter_items
from hearteval.items.files import format_items
from hearteval.store.sql import SqlStore
from hearteval.study.session import study_id

DOCUMENT = (
    Path(__file__).resolve().parents[2].joinpath("docs/reference/study-file.md").read_text("utf-8")
)
HEAD = '[study]\nname = "s"\nseed = 5\n'
CORPUS = '[[items]]\nsource = "esconv"\nfrom = "corpus"\nregular = 6\n'
STARTER = '[[items]]\nsource = "starter"\nregular = 0\nadversarial = 3\n'
REST = """
[[system]]
preset = "original"
[[system]]
preset = "generic"
[[system]]
preset = "advice"
[judging]
judges = ["cue"]
stress_items = 0
repeat_pairs = 0
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    write_corpus(tmp_path / "corpus")
    return write(tmp_path / "s.toml", CORPUS, STARTER)


def write(path: Path, *tables: str) -> Path:
    path.write_text("".join((HEAD, *tables, REST)), "utf-8")
    return path


def items_of(path: Path) -> list[Item]:
    settings = load_study(path)
    with closing(SqlStore.open_to_read(settings.store)) as store:
        found = store.latest_study(study_id(settings))
        assert found is not None
        return list(store.iter(Item, found))


def results_of(path: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads(path.with_name("s.results.json").read_text("utf-8"))
    return found


def test_a_dry_run_counts_the_sources(heart: Heart, study: Path) -> None:
    ceiling = heart("run", study, "--dry-run", "--json").json["ceiling"]
    assert (ceiling["n_items"], ceiling["n_items_by_source"]) == (9, {"esconv": 6, "starter": 3})
    assert "plan: 9 items (6 esconv, 3 starter)" in heart("run", study, "--dry-run").out


def test_the_example_of_the_documentation_is_a_study(heart: Heart, tmp_path: Path) -> None:
    write_corpus(tmp_path / "esconv")
    (example,) = re.findall(r"## Several sources\n.*?```toml\n(.*?)```", DOCUMENT, re.DOTALL)
    done = heart("run", write(tmp_path / "s.toml", example), "--dry-run", "--json")
    assert done.json["ceiling"]["n_items_by_source"] == {"esconv": 24, "starter": 20}


def test_results_and_report_show_the_sources(heart: Heart, study: Path) -> None:
    assert heart("run", study).code == 0
    results = heart("analyze", study, "--json").json
    assert results["coverage"]["n_items"] == {"regular": 6, "adversarial": 3}
    assert results["coverage"]["n_items_by_source"] == {"esconv": 6, "starter": 3}
    assert results["provenance"]["item_source"].startswith("6 of ESConv (Liu et al., 2021)")
    assert "; 3 of starter items" in results["provenance"]["item_source"]
    assert results["funnel"][0]["rule"] == "history-length"
    page = study.with_name("s.report.html").read_text("utf-8")
    assert "6 of ESConv (Liu et al., 2021)" in page


def test_a_source_that_comes_later_keeps_what_was_made(heart: Heart, study: Path) -> None:
    write(study, CORPUS)
    first = heart("run", study, "--json").json
    before = items_of(study)
    write(study, STARTER, CORPUS)
    done = heart("run", study, "--json").json
    assert {item.id for item in before} < {item.id for item in items_of(study)}
    assert done["version"] == first["version"] + 1
    assert done["completions"]["n_before"] == first["completions"]["n_added"]
    assert done["judgments"]["n_before"] == first["judgments"]["n_added"]


def test_each_source_has_the_items_that_it_has_alone(heart: Heart, study: Path) -> None:
    heart("run", study)
    both = {item.id for item in items_of(study)}
    alone = set()
    for number, table in enumerate((CORPUS, STARTER)):
        path = study.parent / str(number)
        path.mkdir()
        (path / "corpus").symlink_to(study.parent / "corpus")
        one = write(path / "s.toml", table)
        heart("run", one)
        alone |= {item.id for item in items_of(one)}
    assert both == alone


def test_the_same_dialogue_in_two_sources_is_one_item(
    heart: Heart, study: Path, caplog: pytest.LogCaptureFixture
) -> None:
    twice = [item for item in load_starter_items() if item.subset == "adversarial"]
    (study.parent / "mine.jsonl").write_text(format_items(twice), "utf-8")
    write(
        study, '[[items]]\nsource = "starter"\nregular = 2\n', '[[items]]\nsource = "mine.jsonl"\n'
    )
    assert heart("run", study).code == 0
    assert len(items_of(study)) == 2 + len(twice)
    assert f"{len(twice)} of the items are in several sources and count once" in caplog.text


def test_the_same_dialogue_under_another_name_is_the_item_that_was_there_first(
    heart: Heart, study: Path
) -> None:
    said = "I lost my job, and I do not know what to tell my wife tonight."
    (study.parent / "one.txt").write_text(f"Seeker: {said}", "utf-8")
    (study.parent / "two.csv").write_text(f'dialogue,role,text\nzz,seeker,"{said}"\n', "utf-8")
    more = [f'[[items]]\nsource = "{name}"\n' for name in ("one.txt", "two.csv")]
    write(study, more[0], STARTER)
    heart("run", study)
    before = items_of(study)
    write(study, more[1], more[0], STARTER)
    assert heart("run", study).code == 0
    assert items_of(study) == before


def test_a_shortfall_names_its_table(heart: Heart, study: Path) -> None:
    write(study, CORPUS, STARTER.replace("adversarial = 3", "adversarial = 3000"))
    done = heart("run", study, "--dry-run")
    assert "[[items]] 2: " in done.err
    assert "adversarial items fewer than the study asks for" in done.err


def test_a_file_that_changes_is_found_by_the_next_run(heart: Heart, study: Path) -> None:
    text = "Seeker: I lost my job, and I do not know what to tell my wife tonight."
    mine = study.parent / "mine.txt"
    mine.write_text(text, "utf-8")
    write(study, STARTER, '[[items]]\nsource = "mine.txt"\n')
    heart("run", study)
    mine.write_text(f"{text}\n\n{text} Or my son, who asks me every day.", "utf-8")
    assert heart("run", study, "--json").json["n_items"] == 5


def test_items_that_come_new_into_a_file_displace_none_of_the_study(
    heart: Heart, study: Path
) -> None:
    said = [f"Seeker: I lost my job {n} days ago, and I cannot sleep." for n in range(30)]
    mine = study.parent / "mine.txt"
    mine.write_text("\n\n".join(said[:6]), "utf-8")
    write(study, '[[items]]\nsource = "mine.txt"\nregular = 5\n')
    heart("complete", study)
    before = items_of(study)
    mine.write_text("\n\n".join(said), "utf-8")
    assert heart("complete", study).code == 0
    assert items_of(study) == before
