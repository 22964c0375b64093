"""``heart init --model``: a study of one's own model that runs without editing; A or B."""

import io
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from heart_command import Heart
from paying_server import REPLY, PayingServer, paying_server

from hearteval.config import load_study


@pytest.fixture
def server() -> Iterator[PayingServer]:
    with paying_server() as made:
        made.reply_of = lambda told: f"{REPLY} What happened?" if "Ask one" in told else REPLY
        yield made


def test_which_of_two_prompts_is_better_is_answered_by_two_commands(
    heart: Heart, tmp_path: Path, server: PayingServer
) -> None:
    folder = tmp_path / "prompts"
    made = heart("init", folder, "--compare", "--model", "our-model", "--base-url", server.url)
    assert made.out.replace("\n  ", " ").splitlines() == [
        str(folder / "prompts.toml"),
        str(folder / "prompt-a.txt"),
        str(folder / "prompt-b.txt"),
        f"model: our-model at {server.url}; judge: our-model at {server.url}",
        f"next: write your prompts into {folder / 'prompt-a.txt'} and {folder / 'prompt-b.txt'},"
        f" then  heart run {folder / 'prompts.toml'}",
    ]
    server.winner_of = lambda shown: (
        "A" if shown.rfind("What happened?") < shown.rfind("(B)") else "B"
    )
    done = heart("run", folder / "prompts.toml")
    assert done.code == 0
    assert "preferred" in "\n".join(done.out.splitlines()[:3])
    assert "place" not in done.out
    still = "both prompts are still the examples that heart init wrote"
    assert still in " ".join(done.err.split())
    assert [one["detail"] for one in heart("doctor", folder, "--json").json["checks"]].count(still)
    (folder / "prompt-b.txt").write_text("Be brief.\n", encoding="utf-8")
    assert still not in " ".join(heart("run", folder / "prompts.toml", "--dry-run").err.split())


def test_two_prompts_are_compared_on_ones_own_dialogues(heart: Heart, tmp_path: Path) -> None:
    items = tmp_path / "mine.txt"
    items.write_text("Seeker: hello\n\nSeeker: not today\n", encoding="utf-8")
    where = ("--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--items", items)
    assert heart("init", tmp_path / "ab", "--compare", *where).code == 0
    done = heart("run", tmp_path / "ab" / "ab.toml", "--dry-run")
    assert done.code == 0, done.err
    assert "2 items, 2 systems" in done.out + done.err


def test_a_prompt_that_is_there_already_is_kept(heart: Heart, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "prompt-b.txt").write_text("Be brief.\n", encoding="utf-8")
    done = heart("init", folder, "--compare", "--model", "m", "--base-url", "http://127.0.0.1:9/v1")
    assert done.code == 0
    assert (folder / "prompt-b.txt").read_text(encoding="utf-8") == "Be brief.\n"
    briefs = [one.brief for one in load_study(folder / "mine.toml").systems]
    assert [one.name for one in briefs if one] == ["paper", "own"]


def test_a_model_and_a_judge_stand_in_the_study_and_it_runs(
    heart: Heart, tmp_path: Path, server: PayingServer
) -> None:
    where = ("--model", "our-model", "--base-url", server.url, "--judge", "their-judge")
    path = tmp_path / "mine" / "mine.toml"
    assert heart("init", tmp_path / "mine", *where).code == 0
    settings = load_study(path)
    assert [one.name for one in settings.systems][-1] == "our-model"
    assert [(one.name, one.family) for one in settings.judging.judges] == [("their-judge", "other")]
    assert "cue" not in path.read_text(encoding="utf-8").split("[labels]")[0]
    assert heart("run", path, "--dry-run").code == 0


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        (("--model", "gpt-5", "--judge", "claude"), ('preset = "gpt-5"', 'judges = ["claude"]')),
        (
            ("--model", "own", "--base-url", "https://api.openai.com/v1"),
            ('key_name = "OPENAI_API_KEY"', "# price = { input"),
        ),
        (
            ("--model", "own", "--base-url", "https://example.org/v1"),
            ('# key_name = "MY_KEY"', 'judges = ["cue"]'),
        ),
        (("--model", "local:NAME.gguf"), ('model = "local:NAME.gguf"',)),
        (("--model", "local:m.gguf"), ('model = "local:m.gguf"', 'family = "mine"')),
        (("--model", "inspect/openai/gpt-4o"), ('model = "inspect/openai/gpt-4o"',)),
    ],
)
def test_what_a_name_says_is_written_out(
    heart: Heart, tmp_path: Path, words: tuple[str, ...], lines: tuple[str, ...]
) -> None:
    assert heart("init", tmp_path / "mine", *words).code == 0
    text = (tmp_path / "mine" / "mine.toml").read_text(encoding="utf-8")
    for line in lines:
        assert f"\n{line}" in text


@pytest.mark.parametrize(
    ("judge", "excludes"),
    [((), "false"), (("--judge", "gpt"), "false"), (("--judge", "claude"), "true")],
)
def test_a_judge_of_the_models_own_line_may_compare_its_prompts(
    heart: Heart, tmp_path: Path, judge: tuple[str, ...], excludes: str
) -> None:
    assert heart("init", tmp_path / "ab", "--compare", "--model", "gpt-5", *judge).code == 0
    path = tmp_path / "ab" / "ab.toml"
    assert f"exclude_own_family = {excludes}" in path.read_text(encoding="utf-8")
    load_study(path)


def test_each_of_several_models_and_judges_stands_in_the_study(
    heart: Heart, tmp_path: Path
) -> None:
    models = ("--model", "our-model", "--model", "other-model")
    judges = ("--judge", "judge-model", "--judge", "gpt", "--judge", "our-model")
    where = (*models, *judges, "--base-url", "http://127.0.0.1:9/v1")
    said = " ".join(heart("init", tmp_path / "two", *where).out.split())
    at = "at http://127.0.0.1:9/v1"
    assert f"models: our-model {at}, other-model {at}; judges: judge-model {at}, gpt, our" in said
    settings = load_study(tmp_path / "two" / "two.toml")
    named = [(one.name, one.is_mine) for one in settings.systems if one.model]
    assert named == [("our-model", True), ("other-model", False)]
    families = {one.name: one.family for one in settings.judging.judges}
    assert families == {"judge-model": "other", "gpt": "gpt", "our-model": "mine"}


def test_a_refusal_offers_a_command_with_every_model(heart: Heart, tmp_path: Path) -> None:
    items = tmp_path / "mine.txt"
    items.write_text("Anna: hello\n", encoding="utf-8")
    where = ("--model", "m", "--model", "n", "--base-url", "http://h/v1", "--items", items)
    said = heart("init", tmp_path / "mine", *where).err
    assert "--model m --model n --base-url http://h/v1 --items" in said


def test_the_offline_judge_is_said_to_measure_nothing(heart: Heart, tmp_path: Path) -> None:
    said = " ".join(heart("init", tmp_path / "one", "--model", "gpt-5").out.split())
    assert "judge: cue, which measures nothing: name a model with --judge" in said


def test_a_judge_that_is_almost_a_known_one_is_asked_about(heart: Heart, tmp_path: Path) -> None:
    where = ("--model", "m", "--base-url", "http://h/v1", "--judge", "gtp")
    said = heart("init", tmp_path / "mine", *where).out
    assert "judge: gtp at http://h/v1 (did you mean 'gpt'?)" in said
    known = heart("init", tmp_path / "two", "--model", "gpt-5", "--judge", "claude").out
    assert "model: gpt-5; judge: claude\n" in known


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--model", "our-model"), "say where it is (--base-url http://HOST/v1)"),
        (("--model", "gtp-5"), "did you mean 'gpt-5'?"),
        (
            ("--compare", "--model", "gpt-5", "--preset", "esconv"),
            "--compare takes the starter items, or yours with --items.",
        ),
        (("--compare",), "--compare says something of a model: name it with --model."),
        (("--model", "m", "--base-url", "localhost:80"), "expected an address such as"),
        (("--model", "gpt-5", "--judge", "nobody"), "--judge nobody"),
        (("--preset", "livign"), "'people' (did you mean 'living'?)"),
        (("--compare", "--model", "gpt-5", "--model", "gpt-4o"), "give --model once."),
        (("--model", "gpt-5", "--model", "gpt-5"), "--model gpt-5 is given twice; give it once."),
        (("--base-url", "http://h/v1", "--base-url", "http://g/v1"), "--base-url is given twice"),
    ],
)
def test_what_is_missing_is_said_and_nothing_is_made(
    heart: Heart, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    done = heart("init", tmp_path / "mine", *words)
    assert done.code == 2
    assert said in done.err
    assert not (tmp_path / "mine").exists()


def test_without_a_folder_and_without_a_terminal_it_asks_nothing(heart: Heart) -> None:
    done = heart("init")
    assert done.code == 2
    assert "Missing argument 'DIR'" in done.err


def test_stopped_while_it_asks_it_says_that_nothing_was_written(
    heart: Heart, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    stdin = io.StringIO("mine\n")
    monkeypatch.setattr(stdin, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", stdin)
    done = heart("init")
    assert done.code == 130
    assert done.err.splitlines()[-1] == "heart: stopped; nothing was written"
    assert not list(tmp_path.iterdir())


def test_an_address_without_a_path_is_doubted(heart: Heart, tmp_path: Path) -> None:
    words = ("--model", "m", "--base-url", "http://127.0.0.1:9")
    said = " ".join(heart("init", tmp_path / "mine", *words).out.split())
    assert "http://127.0.0.1:9 has no path: most servers answer at http://127.0.0.1:9/v1" in said
    checks = heart("doctor", tmp_path / "mine", "--json").json["checks"]
    (found,) = [check for check in checks if check["name"] == "system m: base_url"]
    assert found["state"] == "optional"
    assert "http://HOST/v1" in found["remedy"]
