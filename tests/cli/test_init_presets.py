"""``heart init --preset``: studies that are planned without a key, an edit or the network."""

import re
import tomllib
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from heart_command import Heart
from made_corpus import write_corpus

from hearteval.config import load_study
from hearteval.config.known_models import known_models
from hearteval.models.presets import load_judge_presets, load_model_presets

PUBLISHED = {one.id for one in load_model_presets().values() if one.published}
LIVING = load_model_presets().keys() - PUBLISHED
TODAY = date(2026, 11, 26)


def made(heart: Heart, folder: Path, *words: str) -> Path:
    assert heart("init", folder, *words).code == 0
    return folder / f"{folder.name}.toml"


@pytest.mark.parametrize(
    ("preset", "n_least"), [("starter", 6), ("paper", 10), ("living", 8), ("people", 2)]
)
def test_the_study_of_a_preset_is_planned_as_it_stands(
    heart: Heart, tmp_path: Path, preset: str, n_least: int
) -> None:
    path = made(heart, tmp_path / "mine", "--preset", preset)
    done = heart("run", path, "--dry-run", "--json")
    assert done.code == 0, done.err
    ceiling = done.json["ceiling"]
    assert ceiling["n_systems"] >= n_least
    assert (ceiling["estimate"]["usd_low"] == 0) == (preset in ("starter", "people"))
    assert ceiling["limit_usd"] is None or ceiling["limit_usd"] > ceiling["estimate"]["usd_low"]


def test_each_row_of_the_papers_table_stands_in_its_study_or_is_said_to_be_gone() -> None:
    known = known_models(published=True, today=TODAY)
    assert set(re.findall(r'^preset = "(.*)"$', known.systems, flags=re.M)) == PUBLISHED - {
        *("claude-3.7-sonnet", "gemini-3-pro-preview", "polaris-4.0")
    }
    assert known.notes["left out"] == [
        "Claude 3.7 Sonnet (ended 2026-05-05)",
        "Gemini 3 Pro Preview (ended 2026-03-29)",
        "Polaris 4.0 (no public endpoint)",
    ]
    assert "# Claude 3.7 Sonnet ended 2026-05-05." in known.systems
    assert "# Claude 4 Opus; its maker ended it 2026-06-15" in known.systems
    assert "# GPT-5; its maker ends it 2026-12-11" in known.systems
    assert known.judges == ("paper-gpt", "paper-claude", "paper-gemini")


def test_what_stands_as_a_comment_can_be_taken_in(tmp_path: Path, heart: Heart) -> None:
    path = made(heart, tmp_path / "mine", "--preset", "paper")
    text = path.read_text(encoding="utf-8")
    (block,) = re.findall(r"# Claude 3\.7 Sonnet ended .*\n((?:# .*\n)+)", text)
    path.write_text(text.replace(block, block.replace("# ", "")), encoding="utf-8")
    systems = load_study(path).systems
    assert "Claude 3.7 Sonnet" in {one.name for one in systems if one.imported}


def test_another_host_is_named_where_the_first_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    preset = load_model_presets()["gpt-4o"]
    ended = tuple(
        replace(route, retires=TODAY if number == 0 else None)
        for number, route in enumerate(preset.routes)
    )
    moved = replace(preset, routes=ended)
    monkeypatch.setattr(
        "hearteval.config.known_models.load_model_presets", lambda: {"gpt-4o": moved}
    )
    assert tomllib.loads(known_models(published=True, today=TODAY).systems) == {
        "system": [{"preset": "gpt-4o", "provider": "openai"}]
    }


def test_a_judge_of_the_papers_that_has_ended_gives_way_to_a_living_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    judges = load_judge_presets()
    preset = judges["paper-gpt"].model
    assert preset is not None
    ended = replace(preset, routes=tuple(replace(one, retires=TODAY) for one in preset.routes))
    gone = {**judges, "paper-gpt": replace(judges["paper-gpt"], model=ended)}
    monkeypatch.setattr("hearteval.config.known_models.load_judge_presets", lambda: gone)
    known = known_models(published=True, today=TODAY)
    assert known.judges == ("gpt", "paper-claude", "paper-gemini")
    assert "judge paper-gpt (ended 2026-11-26)" in known.notes["left out"]


def test_init_says_whom_it_left_out_and_who_ends(
    heart: Heart, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    done = heart("init", tmp_path / "mine", "--preset", "paper")
    said = " ".join(done.out.split())
    assert "left out: Claude 3.7 Sonnet (ended 2026-05-05), Gemini 3 Pro Preview" in said
    assert "Claude 4 Opus (2026-06-15)" in said
    assert max(map(len, done.out.splitlines()[1:-1])) <= 80
    notes = heart("init", tmp_path / "two", "--preset", "paper", "--json").json["notes"]
    assert notes[0].startswith("left out: Claude 3.7 Sonnet")


def test_the_living_models_have_prices_and_room_to_reason(heart: Heart, tmp_path: Path) -> None:
    settings = load_study(made(heart, tmp_path / "mine", "--preset", "living"))
    models = [one.model for one in settings.systems if one.model]
    assert {one.preset for one in models} == LIVING
    assert {one.family for one in models} == {"gpt", "claude", "gemini", "kimi", "muse"}
    assert min(one.max_tokens for one in models) > 4_000


@pytest.mark.parametrize("preset", ["paper", "living", "people"])
def test_a_preset_takes_a_model_and_dialogues_of_ones_own(
    heart: Heart, tmp_path: Path, preset: str
) -> None:
    items = tmp_path / "mine.txt"
    items.write_text("Seeker: hello\nReference: Hello.\n\nSeeker: no\n", encoding="utf-8")
    where = ("--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--items", str(items))
    path = made(heart, tmp_path / "mine", "--preset", preset, *where)
    settings = load_study(path)
    assert settings.mine == "m"
    assert settings.items[0].source == "file"
    assert len(settings.judging.judges) == (0 if preset == "people" else 3)
    done = heart("run", path, "--dry-run")
    assert done.code == 0, done.err


def test_the_papers_items_take_the_place_of_the_starters_as_the_file_says(
    heart: Heart, tmp_path: Path
) -> None:
    path = made(heart, tmp_path / "mine", "--preset", "paper")
    write_corpus(path.parent / "esconv")
    text = path.read_text(encoding="utf-8")
    marked = re.sub(r"(?m)^# (\[\[items|source = \"esconv|from|regular = 280)", r"\1", text)
    source = 'source = "starter"'
    marked = marked.replace(source, f"regular = 0\nadversarial = 20\n{source}", 1)
    path.write_text(marked, encoding="utf-8")
    assert [table.source for table in load_study(path).items] == ["starter", "esconv"]


def test_people_can_be_let_in_as_the_file_stands(heart: Heart, tmp_path: Path) -> None:
    path = made(heart, tmp_path / "mine", "--preset", "people")
    people = load_study(path).people
    assert people is not None
    assert (people.writers_per_item, people.raters_per_pair) == (3, 5)
    done = heart("run", path)
    assert done.code == 0
    assert f"let people take part: heart serve {path}\n" in done.out
    assert not people.consent, "nothing that is still to be filled in is shown to people"
