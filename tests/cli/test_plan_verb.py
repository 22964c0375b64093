"""`heart plan`: what a study could tell, by its file and a pilot's votes."""

from pathlib import Path

import pytest
from heart_command import Heart, run_heart
from study_files import presets, served, study_text

import hearteval as he
from hearteval.errors import SettingsError

PEOPLE = """
[people]
writers_per_item = 0
raters_per_pair = 3
pay_per_hour = 12
"""
PLANNED = ("n_raters", "n_items", "votes_per_pair", "n_votes")


@pytest.fixture(scope="module")
def pilot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A simulated study of seven models whose people and judges voted."""
    folder = tmp_path_factory.mktemp("plans") / "pilot"
    keys = ("systems=7", "items=40", "adversarial=0", "comparisons=400", "writers=0", "people=3")
    made = run_heart("simulate", folder, *(word for key in keys for word in ("--set", key)))
    assert made.code == 0, made.err
    return folder / "pilot.toml"


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "study.toml"
    names = presets("original", "shuffled", "retrieval", "reflective")
    path.write_text(study_text("planned", names, items=(20, 0), end=PEOPLE), "utf-8")
    return path


def one_line(text: str) -> str:
    return " ".join(text.split())


def test_without_votes_it_says_what_is_assumed(study: Path, heart: Heart) -> None:
    done = heart("plan", study)

    said = one_line(done.out)
    assert done.code == 0
    assert said.startswith("With 15 dialogues, 15 people and 270 votes a difference of 5 points")
    assert "Not measured here" in said
    assert "LLMFAO, Ustalov 2023" in said
    assert max(map(len, done.out.splitlines())) <= 80


def test_json_holds_the_planned_design_and_others(study: Path, heart: Heart) -> None:
    body = heart("plan", study, "--json", "--half-width", "12").json

    assert body["schema"] == "heart.plan/1"
    assert [body["planned"][key] for key in PLANNED] == [15, 15, 3, 270]
    assert (body["by"], body["power"], body["half_width"]) == ("people", None, 0.12)
    assert body["basis"]["pilot"] is None
    assert body["planned"]["assurance"] is None
    assert body["planned"]["pay"] == pytest.approx(12 * body["planned"]["person_hours"])
    assert body["is_reached"]
    assert all(one["half_width"] <= 0.12 for one in body["designs"])
    costs = [one["cost"] for one in body["designs"]]
    assert costs == sorted(costs)


def test_a_pilot_is_measured_and_leaves_something_open(
    study: Path, pilot: Path, heart: Heart
) -> None:
    done = heart("plan", study, "--pilot", pilot, "--json")

    body = done.json
    assert body["simulated"] is True
    assert body["basis"]["pilot"] == "pilot"
    assert [body["basis"][key] for key in ("n_votes", "n_items", "n_raters")] == [1_200, 40, 15]
    assert body["planned"]["assurance"] is not None
    assert "draws" not in body["basis"]


def test_a_pilot_alone_is_planned_itself_with_its_own_people(pilot: Path, heart: Heart) -> None:
    done = heart("plan", "--pilot", pilot)

    said = one_line(done.out)
    assert said.startswith("Simulated: ")
    assert "With 40 dialogues, 15 people and 1,200 votes" in said
    assert "was measured on 1,200 votes in pilot: 40 dialogues and 15 people" in said
    told = he.plan(pilot=pilot)
    same = f"{told.planned.assurance:.0%}" == f"{told.planned.power:.0%}"
    assert ("Counting in what the pilot's votes leave open" in said) is not same
    assert "Judges are taken to miss as in pilot." in said
    assert 'headline = "anchored"' in said


def test_people_who_write_are_a_difference_of_their_own(
    study: Path, heart: Heart, tmp_path: Path
) -> None:
    written = tmp_path / "written.toml"
    text = study.read_text("utf-8").replace("writers_per_item = 0", "writers_per_item = 2")
    written.write_text(text, "utf-8")
    keys = ("systems=2", "items=20", "adversarial=0", "comparisons=80", "judges=0")
    heart("simulate", tmp_path / "pilot", *(word for key in keys for word in ("--set", key)))

    assumed = heart("plan", written)
    body = heart("plan", written, "--pilot", tmp_path / "pilot", "--json").json

    assert "how they differ is not known without a pilot" in one_line(assumed.out)
    assert body["has_writers"]
    assert body["against_people"]["power"] <= body["planned"]["power"]
    assert heart("plan", study, "--json").json["against_people"] is None


def test_limits_bound_every_design(study: Path, heart: Heart) -> None:
    body = heart("plan", study, "--json", "--max-hours", "5", "--max-usd", "50").json

    assert not body["is_reached"]
    assert body["designs"]
    assert all(one["person_hours"] <= 5 and one["cost"] <= 50 for one in body["designs"])
    said = one_line(heart("plan", study, "--max-hours", "5", "--max-usd", "50").out)
    assert "within 5 person-hours and $50" in said
    assert "Raise the limit, or ask for a larger difference (--gap)." in said


def test_where_no_design_is_enough_it_says_what_to_change(study: Path, heart: Heart) -> None:
    said = one_line(heart("plan", study, "--gap", "1").out)
    wide = one_line(heart("plan", study, "--half-width", ".1").out)

    assert "No design tried is enough to be seen in 80 of 100" in said
    assert "8 times the dialogues of the study file were not tried: give it more items" in said
    assert "or ask for a wider interval (--half-width)." in wide


def test_nothing_can_be_had_for_nothing(study: Path, heart: Heart) -> None:
    done = heart("plan", study, "--max-hours", "0.01")

    assert done.code == 0
    assert "No design is possible within 0.01 person-hours." in one_line(done.out)


def test_a_study_of_judges_is_planned_over_items_alone(tmp_path: Path, heart: Heart) -> None:
    path = tmp_path / "judged.toml"
    path.write_text(study_text("judged", presets("original", "generic"), items=(10, 0)), "utf-8")

    body = heart("plan", path, "--json").json

    assert body["by"] == "judges"
    assert body["planned"]["person_hours"] is None
    assert heart("plan", path).out.startswith("With 10 dialogues, 1 judge and 10 votes")


def test_a_study_too_small_to_tell_anything_says_so(tmp_path: Path, heart: Heart) -> None:
    path = tmp_path / "tiny.toml"
    tiny = study_text("tiny", presets("original", "generic"), items=(3, 0), end=PEOPLE)
    path.write_text(tiny, "utf-8")

    said = one_line(heart("plan", path).out)

    assert said.startswith("With 2 dialogues, 6 people and 6 votes")
    assert "would leave everything open" in said


def test_one_dialogue_is_no_plan(tmp_path: Path, heart: Heart) -> None:
    path = tmp_path / "one.toml"
    path.write_text(study_text("one", presets("original", "generic"), items=(1, 0)), "utf-8")

    done = heart("plan", path)

    assert done.code == 2
    assert "2 systems and 1 item" in one_line(done.err)
    assert "would be seen" not in heart("run", path, "--dry-run").out


def test_a_picture_is_drawn(study: Path, heart: Heart, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "plan.svg"
    assert heart("plan", study, "--figure", picture).code == 0
    assert "<svg" in picture.read_text("utf-8")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "heart init DIR --preset people"),
        (("absent.toml",), "no such study file"),
        (("study.toml", "--gap", "0"), "--gap"),
        (("study.toml", "--raters", "4"), "--raters"),
        (("study.toml", "--power", "1"), "--power"),
    ],
)
def test_wrong_words_are_usage_errors(
    study: Path, heart: Heart, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(study.parent)
    done = heart("plan", *words)
    assert done.code == 2
    assert said in one_line(done.err)


def test_ratings_are_not_planned(tmp_path: Path, heart: Heart) -> None:
    path = tmp_path / "rated.toml"
    judge = served("judge", "theirs", "theirs", "http://127.0.0.1:9", "theirs")
    rated = {"judges": ["theirs"], "protocol": "rating"}
    names = presets("original", "generic")
    path.write_text(study_text("rated", names, judge, judging=rated), "utf-8")

    done = heart("plan", path)

    assert (done.code, "nobody compares two replies" in one_line(done.err)) == (2, True)


def test_a_dry_run_ends_with_what_the_study_could_tell(study: Path, heart: Heart) -> None:
    said = one_line(heart("run", study, "--dry-run").out)
    body = heart("run", study, "--dry-run", "--json").json

    assert "With 15 dialogues, 15 people and 270 votes a difference of 5 points" in said
    assert said.endswith(f"`heart plan {study}` lists designs that tell more.")
    assert "0 judges" not in said
    assert body["outlook"]["n_votes"] == 270


def test_python_gives_the_same_as_the_command(study: Path, heart: Heart) -> None:
    found = he.plan(study, gap=8)
    body = heart("plan", study, "--gap", "8", "--json").json

    assert found.to_dict()["planned"] == body["planned"]
    assert len(found.to_frame()) == 1 + len(body["designs"])
    assert repr(found).startswith("<StudyPlan of planned: 8 points seen in ")
    assert found.to_text() == heart("plan", study, "--gap", "8").out.rstrip("\n")


@pytest.mark.parametrize(
    "wrong", [{"gap": 0}, {"power": 1.0}, {"raters": 2}, {"half_width": 60}, {"max_usd": -1}]
)
def test_python_refuses_numbers_out_of_range(study: Path, wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        he.plan(study, **wrong)  # type: ignore[arg-type]


def test_python_needs_a_study_or_a_pilot() -> None:
    with pytest.raises(SettingsError, match="pilot"):
        he.plan()
