"""What a study file may say of ratings."""

from pathlib import Path

import pytest

from hearteval.config import load_study
from hearteval.errors import SettingsError

STUDY = """
[study]
name = "rated"
seed = 1
[items]
source = "starter"
[[system]]
preset = "original"
[[system]]
preset = "generic"
[judging]
protocol = "rating"
judges = [{judges}]
{more}
"""


def write(folder: Path, *, judges: str = '"gpt"', more: str = "") -> Path:
    path = folder / "rated.toml"
    path.write_text(STUDY.format(judges=judges, more=more), encoding="utf-8")
    return path


def test_judges_that_are_models_may_rate(tmp_path: Path) -> None:
    judging = load_study(write(tmp_path, judges='"gpt", "claude"')).judging
    assert judging.protocol == "rating"
    assert len(judging.judges) == 2


def test_protocol_is_part_of_what_the_settings_are(tmp_path: Path) -> None:
    rated = load_study(write(tmp_path)).settings_hash
    path = write(tmp_path)
    path.write_text(path.read_text("utf-8").replace('protocol = "rating"', ""), encoding="utf-8")
    assert load_study(path).settings_hash != rated


def test_cue_judge_cannot_rate(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="'cue', the offline baseline") as caught:
        load_study(write(tmp_path, judges='"gpt", "cue"'))
    assert caught.value.ids == ("judging.judges",)


@pytest.mark.parametrize(
    ("more", "name"),
    [
        ('design = "balanced"\ncomparisons = 60', "judging.design, judging.comparisons"),
        ('design = "full"', "judging.design"),
        ("both_orders = false", "judging.both_orders"),
    ],
)
def test_settings_of_pairs_are_refused_by_name(tmp_path: Path, more: str, name: str) -> None:
    with pytest.raises(SettingsError, match=f"{name}: the rating protocol") as caught:
        load_study(write(tmp_path, more=more))
    assert caught.value.ids == tuple(name.split(", "))
