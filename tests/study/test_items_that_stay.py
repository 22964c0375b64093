"""What a study chose from a corpus stays what it is, whatever the rules and defaults are by now."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from heart_command import Heart
from made_corpus import write_corpus

from hearteval.config import load_study
from hearteval.domain import Item, Screening, Study
from hearteval.store.sql import SqlStore
from hearteval.study.session import study_id

TEXT = """
[study]
name = "s"
seed = 5
[[items]]
source = "esconv"
from = "corpus"
regular = 6
[[system]]
preset = "original"
[[system]]
preset = "generic"
[judging]
judges = ["cue"]
stress_items = 0
repeat_pairs = 0
"""
CAUTIOUS = TEXT.replace("regular = 6", 'regular = 6\ntopics = "cautious"')
PAPER = TEXT.replace("regular = 6", 'regular = 6\ntopics = "paper"')


@pytest.fixture
def study(tmp_path: Path) -> Path:
    write_corpus(tmp_path / "corpus")
    path = tmp_path / "s.toml"
    path.write_text(TEXT, "utf-8")
    return path


def newest(path: Path) -> tuple[Study, list[Item]]:
    settings = load_study(path)
    with closing(SqlStore.open_to_read(settings.store)) as store:
        found = store.latest_study(study_id(settings))
        assert found is not None
        return found, list(store.iter(Item, found))


def tells_of_drinking(item: Item) -> bool:
    return any("drunk" in turn.text for turn in item.context)


def change_choice(path: Path, **changes: Any) -> None:
    """Make a store whose newest version says something else of its choice."""
    settings = load_study(path)
    with closing(SqlStore.open(settings.store)) as store:
        made = store.latest_study(study_id(settings))
        assert made is not None
        (one,) = made.design["items"]["chosen"]
        items = {**made.design["items"], "chosen": [{**one, **changes}]}
        store.add([replace(made, design={**made.design, "items": items}, version=made.version + 1)])


def test_a_new_study_chooses_as_the_paper_says(heart: Heart, study: Path) -> None:
    assert heart("run", study).code == 0
    assert any(tells_of_drinking(item) for item in newest(study)[1])


def test_cautious_topics_leave_drinking_out(heart: Heart, study: Path) -> None:
    study.write_text(CAUTIOUS, "utf-8")
    assert heart("run", study).code == 0
    assert not any(tells_of_drinking(item) for item in newest(study)[1])


def test_a_second_run_makes_no_version(heart: Heart, study: Path) -> None:
    heart("run", study)
    before = newest(study)
    heart("run", study)
    assert newest(study) == before


def test_a_study_that_says_no_topics_any_more_keeps_its_items_and_says_so(
    heart: Heart, study: Path
) -> None:
    study.write_text(CAUTIOUS, "utf-8")
    heart("run", study)
    _, items = newest(study)
    study.write_text(TEXT, "utf-8")
    done = heart("run", study)
    assert done.code == 0
    assert "keeps its items of esconv, chosen under topics = 'cautious'" in done.err
    assert newest(study)[1] == items
    assert newest(study)[0].design["items"]["chosen"][0]["topics"] == "cautious"


def test_a_dry_run_of_it_counts_its_items(heart: Heart, study: Path) -> None:
    study.write_text(CAUTIOUS, "utf-8")
    heart("run", study)
    study.write_text(TEXT, "utf-8")
    done = heart("run", study, "--dry-run", "--json")
    assert done.json["ceiling"]["estimate"]["n_calls"] == 0
    assert "keeps its items of esconv" in done.err


def test_other_topics_than_those_of_the_study_are_refused(heart: Heart, study: Path) -> None:
    study.write_text(CAUTIOUS, "utf-8")
    heart("run", study)
    before = newest(study)
    study.write_text(PAPER, "utf-8")
    done = heart("run", study, "--json")
    assert done.code == 2
    assert done.json["error"]["ids"] == ["items.topics"]
    assert "add another [[items]] with topics = 'paper'" in done.json["error"]["message"]
    assert newest(study) == before


def test_a_second_table_with_other_topics_adds_items(heart: Heart, study: Path) -> None:
    study.write_text(CAUTIOUS, "utf-8")
    heart("run", study)
    _, items = newest(study)
    more = '[[items]]\nsource = "esconv"\nfrom = "corpus"\nregular = 6\ntopics = "paper"\n'
    study.write_text(CAUTIOUS.replace("[[system]]", f"{more}[[system]]", 1), "utf-8")
    assert heart("run", study).code == 0
    grown, both = newest(study)
    assert {item.id for item in items} < {item.id for item in both}
    assert any(tells_of_drinking(item) for item in both)
    assert {step["rule"].partition(":")[0] for step in grown.design["items"]["funnel"]} == {
        "items 1",
        "items 2",
    }
    with closing(SqlStore.open_to_read(load_study(study).store)) as store:
        assert {one.version for one in store.iter(Screening, grown)} == {"1", "paper-1"}


def test_a_choice_by_older_rules_is_not_made_again(
    heart: Heart, study: Path, caplog: pytest.LogCaptureFixture
) -> None:
    heart("run", study)
    _, items = newest(study)
    fewer = sorted(item.id for item in items)[:4]
    change_choice(study, item_ids=fewer, rules="paper-0")
    assert heart("complete", study).code == 0
    assert "what the study chose by rules paper-0 stays" in caplog.text
    assert sorted(item.id for item in newest(study)[1]) == fewer


def test_more_of_a_choice_keeps_what_was_chosen(heart: Heart, study: Path) -> None:
    heart("run", study)
    _, items = newest(study)
    study.write_text(TEXT.replace("regular = 6", "regular = 10"), "utf-8")
    done = heart("run", study, "--json")
    assert done.json["completions"]["n_added"] == 8
    assert {item.id for item in items} < {item.id for item in newest(study)[1]}
    assert len(newest(study)[1]) == 10


def test_another_corpus_is_chosen_from_anew_under_the_same_topics(
    heart: Heart, study: Path
) -> None:
    study.write_text(CAUTIOUS, "utf-8")
    heart("run", study)
    (before,) = newest(study)[0].design["items"]["chosen"]
    path = study.parent / "corpus" / "train.jsonl"
    path.write_text(path.read_text("utf-8").replace("It is 0", "It was 0"), "utf-8")
    study.write_text(TEXT, "utf-8")
    assert heart("run", study).code == 0
    found, items = newest(study)
    assert not any(tells_of_drinking(item) for item in items)
    (chosen,) = found.design["items"]["chosen"]
    assert chosen["topics"] == "cautious"
    assert chosen["corpus"] != before["corpus"]


def test_items_that_cannot_be_read_leave_no_store_behind(heart: Heart, study: Path) -> None:
    (study.parent / "corpus" / "train.jsonl").write_text("{", "utf-8")
    assert heart("run", study).code == 2
    assert not (study.parent / "s.db").exists()
