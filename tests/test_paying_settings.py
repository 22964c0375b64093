"""What a study file may say of a load and of endings."""

from pathlib import Path

import pytest
from study_files import presets, study_text

from hearteval.config import PeopleSettings, load_study
from hearteval.errors import SettingsError


def read(folder: Path, people: str) -> PeopleSettings:
    file = folder / "study.toml"
    file.write_text(
        study_text("paid", presets("generic")) + f"[people]\n{people}", encoding="utf-8"
    )
    found = load_study(file).people
    assert found is not None
    return found


def test_a_load_and_endings_are_read(tmp_path: Path) -> None:
    link = "https://app.prolific.com/submissions/complete?cc=C1"
    found = read(tmp_path, f'load = 12\n[people.endings]\ndone = "{link}"\nlimit = "C-2_b"\n')
    assert (found.load, found.endings.done, found.endings.limit) == (12, link, "C-2_b")
    assert found.endings.partial is None
    assert found.identity == read(tmp_path, "").identity


def test_who_signs_links_changes_no_result(tmp_path: Path) -> None:
    found = read(tmp_path, 'signed_by = "keys.json"\n')
    assert found.signed_by == "keys.json"  # which only who serves the study has to have
    assert found.identity == read(tmp_path, "").identity


@pytest.mark.parametrize("name", ["way_back", "way_back_when_full"])
def test_an_older_name_says_what_to_write(tmp_path: Path, name: str) -> None:
    with pytest.raises(SettingsError, match=rf"{name} is now .*\[people.endings\]: done, partial"):
        read(tmp_path, f'{name} = "https://site.example/back"\n')


@pytest.mark.parametrize(
    "way", ["http://site.example", "https://me@site.example", "two words", "", "javascript:x"]
)
def test_a_way_is_a_code_or_an_encrypted_link(tmp_path: Path, way: str) -> None:
    with pytest.raises(SettingsError, match=r"people.endings.done: expected a code of letters"):
        read(tmp_path, f'[people.endings]\ndone = "{way}"\n')


def test_a_misspelt_ending_names_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"did you mean 'stopped'.*no_consent"):
        read(tmp_path, '[people.endings]\nstoped = "C1"\n')


@pytest.mark.parametrize("load", ["0", "-1", '"12"', "1.5"])
def test_a_load_is_some_tasks(tmp_path: Path, load: str) -> None:
    with pytest.raises(SettingsError, match=r"people\.load"):
        read(tmp_path, f"load = {load}\n")
