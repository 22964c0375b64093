"""Two prompts of one local model are two systems of one study, compared like any others."""

from pathlib import Path

import pytest
from heart_command import Heart
from study_files import entry, presets, study_text
from tiny_model import TINY_MODEL

from hearteval.completions.prompting import known_briefs
from hearteval.config import load_study
from hearteval.domain import Completion, System
from hearteval.store.sql import SqlStore

LOCAL = {"model": f"local:{TINY_MODEL}", "family": "small", "max_tokens": 60}
STUDY = study_text(
    "briefs",
    presets("original"),
    entry("system", **LOCAL),
    entry("system", **LOCAL, prompt="matched"),
    entry("system", **LOCAL, prompt="mine.txt"),
    items=(2, 0),
    study={"seed": 2, "fail_on_missing": 1.0},
)


@pytest.mark.server
@pytest.mark.usefixtures("one_thread")
def test_each_brief_is_a_system_of_its_own(heart: Heart, tmp_path: Path) -> None:
    path = tmp_path / "briefs.toml"
    path.write_text(STUDY, encoding="utf-8")
    mine = tmp_path / "mine.txt"
    mine.write_text("Answer in one warm sentence.\n", encoding="utf-8")

    done = heart("run", path, "--json")

    assert done.code == 0, done.err
    store = SqlStore.open(load_study(path).store)
    systems = [one for one in store.iter(System) if one.kind == "model"]
    own = {one.name: one.settings["brief"] for one in systems}
    assert len({one.id for one in systems}) == 3
    name = TINY_MODEL.name
    assert own == {
        name: known_briefs()["paper"].text,
        f"{name} (matched)": known_briefs()["matched"].text,
        f"{name} (mine)": "Answer in one warm sentence.",
    }
    hashes = {one.id: one.settings["prompt_hash"] for one in systems}
    written = [one for one in store.iter(Completion) if one.system_id in hashes]
    assert {one.system_id for one in written} == set(hashes)
    assert all(one.prompt_hash == hashes[one.system_id] for one in written)
    store.close()
    analysed = heart("analyze", path, "--json").json
    told = {use["brief"]: use for use in analysed["briefs"]}
    assert told["own"]["text"] == "Answer in one warm sentence."
    assert set(told["paper"]["rules"]) < set(told["matched"]["rules"])
    report = heart("report", path, "--json").json["report"]
    page = Path(report).read_text(encoding="utf-8")
    assert f"Rules that only {name} (matched) had: about 40 words; " in page
    assert "Answer in one warm sentence." in page

    # The text of the file is what counts, and one that says the same is the same system.
    mine.write_text("Answer in one cold sentence.\n", encoding="utf-8")
    changed = load_study(path).systems[3]
    assert changed.brief is not None
    assert changed.brief.text == "Answer in one cold sentence."
