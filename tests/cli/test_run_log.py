"""The log of a run: what was done, and never what anybody said."""

import json
import re
from pathlib import Path

from heart_command import Heart

from hearteval.items import load_starter_items
from hearteval.items.files import format_items, parse_items

CANARY = "marmalade-umbrella"


def with_canaries(study: Path) -> None:
    """Give the study items in which every text holds the canary."""
    lines = [json.loads(line) for line in format_items(load_starter_items()[:5]).splitlines()[1:]]
    for line in lines:
        del line["id"]
        line["situation"] += CANARY
        for turn in line["context"]:
            turn["text"] += f" {CANARY}"
        if line["reference"]:
            line["reference"] += f" {CANARY}"
    text = "\n".join(json.dumps(line) for line in lines)
    items = format_items(parse_items(text, name="canaries"))
    (study.parent / "canaries.jsonl").write_text(items, encoding="utf-8")
    toml = study.read_text(encoding="utf-8").replace(
        'source = "starter"\nregular = 4\nadversarial = 1', 'source = "canaries.jsonl"'
    )
    study.write_text(toml, encoding="utf-8")


def logs(study: Path) -> list[str]:
    folder = study.parent / "tiny.logs"
    return [path.read_text(encoding="utf-8") for path in sorted(folder.iterdir())]


def test_every_run_has_a_log_with_counts_and_times(heart: Heart, study: Path) -> None:
    heart("run", study)
    heart("judge", study)
    first, second = logs(study)
    assert re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00 INFO", first)
    assert "heart run tiny.toml" in first
    assert re.search(r"judgments: \d+ of \d+", first)
    assert first.rstrip().endswith("done")
    assert "heart judge tiny.toml" in second


def test_no_dialogue_text_enters_a_log_or_the_terminal(heart: Heart, study: Path) -> None:
    with_canaries(study)
    done = heart("run", study)
    assert done.code == 0
    assert CANARY not in done.out + done.err
    assert all(CANARY not in log for log in logs(study))


def test_no_dialogue_text_enters_an_error_about_stored_data(heart: Heart, study: Path) -> None:
    with_canaries(study)
    heart("run", study)
    path = study.parent / "canaries.jsonl"
    text = path.read_text(encoding="utf-8").replace('"emotion": "', '"emotion": "changed ')
    path.write_text(text, encoding="utf-8")
    done = heart("run", study)
    assert done.code == 1
    assert "already stored with another emotion" in done.err
    assert 'in another database file: store = "NEW.db" under' in " ".join(done.err.split())
    assert CANARY not in done.out + done.err + "".join(logs(study))
    assert "failed: store" in logs(study)[-1]
