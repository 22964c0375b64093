"""``heart gate``: verdicts and exit codes, who is asked for it, and what it says it costs."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from heart_command import Heart, run_heart
from paying_server import PayingServer, paying_server
from study_files import FREE, entry, presets, served, study_text

pytestmark = pytest.mark.usefixtures("blank_figures")
NAMES = ("Human Alignment", "Empathic Responsiveness", "Attunement", "Resonance", "Task-following")


def finds_the_new(prompt: str) -> str:
    return "A" if prompt.find("NEW") < prompt.find("OLD") else "B"


@pytest.fixture(scope="module")
def provider() -> Iterator[PayingServer]:
    with paying_server() as made:
        yield made


@pytest.fixture
def server(provider: PayingServer) -> PayingServer:
    """A judge that finds the reply of a new model wherever it stands."""
    provider.winner_of = finds_the_new
    provider.prompts.clear()
    provider.used.clear()
    return provider


def write(
    folder: Path, name: str, server: PayingServer, *, n_items: int = 12, price: object = FREE
) -> Path:
    """A study of one model, called mine and answering with the study's name, and a baseline."""
    path = folder / f"{name}.toml"
    ours = served("system", "mine", name, server.url, "ours", mine=True, price=price)
    judge = served("judge", "judge", "judge", server.url, "other", price=FREE)
    path.write_text(
        study_text(
            name, ours, presets("generic"), judge, items=(n_items, 0), judging={"judges": ["judge"]}
        )
    )
    return path


@pytest.fixture(scope="module")
def asked(provider: PayingServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a study that has run."""
    folder = tmp_path_factory.mktemp("asked")
    provider.winner_of, provider.reply_of = finds_the_new, lambda told: "I hear you, says OLD."
    assert run_heart("run", write(folder, "old", provider)).code == 0
    return folder


@pytest.fixture
def two(asked: Path, tmp_path: Path, server: PayingServer) -> tuple[Path, Path]:
    """A study that has run, and one that has not."""
    server.reply_of = lambda told: "I hear you, says NEW."
    shutil.copytree(asked, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.cache"))
    return tmp_path / "old.toml", write(tmp_path, "new", server)


def calls_of(server: PayingServer) -> int:
    return len(server.prompts)


def test_only_the_candidate_and_the_judge_are_asked(
    heart: Heart, two: tuple[Path, Path], server: PayingServer
) -> None:
    done = heart("gate", *two, "--json")

    assert (done.code, done.json["outcome"]) == (0, "passed")
    assert (done.json["baseline"], done.json["candidate"]) == ("mine (baseline)", "mine")
    assert [test["verdict"] for test in done.json["tests"]] == ["better"] * 6
    assert set(server.used) == {"new", "judge"}


def test_a_release_is_a_baseline_of_its_own(
    heart: Heart, two: tuple[Path, Path], server: PayingServer, tmp_path: Path
) -> None:
    old, new = two
    assert heart("release", old, tmp_path / "kept").code == 0
    for left in tmp_path.glob("old.*"):
        shutil.rmtree(left) if left.is_dir() else left.unlink()

    done = heart("gate", tmp_path / "kept", new, "--json")

    assert (done.code, done.json["outcome"]) == (0, "passed")
    assert set(server.used) == {"new", "judge"}
    assert heart("verify", tmp_path / "kept").code == 0


def test_said_again_it_asks_nobody(
    heart: Heart, two: tuple[Path, Path], server: PayingServer
) -> None:
    first = heart("gate", *two, "--json")
    n = calls_of(server)

    again = heart("gate", *two, "--json")

    assert calls_of(server) == n
    assert again.json == first.json


def test_the_baseline_gates_out_the_worse(
    heart: Heart, two: tuple[Path, Path], server: PayingServer
) -> None:
    server.winner_of = lambda prompt: "B" if prompt.find("NEW") < prompt.find("OLD") else "A"

    done = heart("gate", *two)

    assert done.code == 3
    assert done.out.startswith("Failed: mine is worse than mine (baseline) overall and on ")


def test_a_judge_that_goes_by_place_leaves_it_open_and_is_named(
    heart: Heart, two: tuple[Path, Path], server: PayingServer
) -> None:
    server.winner_of = lambda prompt: "A"

    done = heart("gate", *two)

    assert done.code == 4
    assert done.out.startswith("Inconclusive: ")
    assert "Doubtful: in 12 of 12 pairs a judge chose by place" in " ".join(done.out.split())


def test_a_look_that_decides_saves_the_rest(
    heart: Heart, tmp_path: Path, server: PayingServer
) -> None:
    """The candidate loses about one dialogue in ten, whichever stands first: 24 decide it."""

    def winner(prompt: str) -> str:
        is_new_first = prompt.find("NEW") < prompt.find("OLD")
        return "A" if is_new_first == (prompt.count("e") % 10 > 0) else "B"

    server.reply_of = lambda told: "I hear you, says OLD."
    old, new = (write(tmp_path, name, server, n_items=48) for name in ("old", "new"))
    assert heart("complete", old).code == 0
    server.reply_of, server.winner_of = (lambda told: "I hear you, says NEW."), winner
    server.prompts.clear()

    done = heart("gate", old, new, "--looks", 2, "--json")

    assert (done.json["look"], done.json["n_items"], done.json["n_planned"]) == (1, 24, 48)
    assert done.json["outcome"] == "passed"
    assert calls_of(server) == 24 + 2 * 24 + 1


def test_looks_never_ask_more_than_is_needed(heart: Heart, two: tuple[Path, Path]) -> None:
    """The gate of two looks has asked about every dialogue, so that one look has all it needs."""
    heart("gate", *two, "--looks", 2)

    assert heart("gate", *two, "--json").json["n_items"] == 12


def test_a_dry_run_asks_and_stores_nothing(
    heart: Heart, two: tuple[Path, Path], server: PayingServer
) -> None:
    n = calls_of(server)

    done = heart("gate", *two, "--looks", 3, "--dry-run")

    assert done.code == 0
    assert "12 dialogues, at most; it may stop after 4, 8" in done.out
    assert "system mine: 12 calls" in done.out
    assert "judge judge: 25 calls" in done.out
    assert calls_of(server) == n
    assert not two[1].with_suffix(".db").exists()


def test_a_dry_run_names_the_study_that_has_both(heart: Heart, two: tuple[Path, Path]) -> None:
    done = heart("gate", two[0], "--baseline", "generic", "--candidate", "mine", "--dry-run")

    assert done.code == 0
    said = "".join(done.out.split())
    assert said == f"plan:{two[0]}hasboth:itisread,andnomodelisasked"


def test_money_is_agreed_to_first(
    heart: Heart, two: tuple[Path, Path], tmp_path: Path, server: PayingServer
) -> None:
    dear = write(tmp_path, "dear", server, price={"input": 1.0, "output": 4.0})
    n = calls_of(server)

    done = heart("gate", two[0], dear)

    assert done.code == 2
    assert "costs money" in done.err
    assert calls_of(server) == n


def test_one_study_that_has_judged_both_asks_nobody(
    heart: Heart, two: tuple[Path, Path], server: PayingServer
) -> None:
    n = calls_of(server)

    done = heart("gate", two[0], "--json")

    assert (done.json["baseline"], done.json["candidate"]) == ("generic", "mine")
    assert done.code == {"passed": 0, "failed": 3, "inconclusive": 4}[done.json["outcome"]]
    assert calls_of(server) == n


@pytest.mark.parametrize(
    ("verb", "replies"),
    [
        (("export", "--to", "jsonl", "--out"), "completions.jsonl"),
        (("release",), "tables/completions.parquet"),
    ],
)
def test_replies_from_tables_or_a_release_are_a_baseline(
    heart: Heart,
    two: tuple[Path, Path],
    tmp_path: Path,
    server: PayingServer,
    verb: tuple[str, ...],
    replies: str,
) -> None:
    (old, new), folder = two, tmp_path / "written"
    assert heart(verb[0], old, *verb[1:], folder).code == 0
    kept = tmp_path / "kept.toml"
    imported = entry("system", name="mine", model="imported/ours", family="ours", mine=True)
    judge = served("judge", "judge", "judge", server.url, "other", price=FREE)
    files = (imported, presets("generic"), judge)
    kept.write_text(study_text("kept", *files, items=(12, 0), judging={"judges": ["judge"]}))
    assert heart("import", kept, folder / replies, "--kind", "completions").code == 0

    done = heart("gate", kept, new, "--json")

    assert (done.code, done.json["n_items"], done.json["tests"][0]["coverage"]) == (0, 12, 1.0)
    assert set(server.used) == {"new", "judge"}


def test_files_say_what_the_terminal_says(
    heart: Heart, two: tuple[Path, Path], tmp_path: Path
) -> None:
    junit, summary = tmp_path / "gate.xml", tmp_path / "gate.md"

    heart("gate", *two, "--junit", junit, "--markdown", summary)

    suite = ET.fromstring(junit.read_text())
    assert {key: suite.get(key) for key in ("tests", "failures", "errors")} == {
        "tests": "6",
        "failures": "0",
        "errors": "0",
    }
    assert [case.get("name") for case in suite] == ["overall", *NAMES]
    text = summary.read_text()
    assert text.startswith("**Passed: mine is better than mine (baseline).**\n")
    assert text.count("| better | +50.0 | ") == 6


def test_what_cannot_be_meant_is_refused(heart: Heart, two: tuple[Path, Path]) -> None:
    old, new = two

    unknown = heart("gate", old, "--candidate", "minee")
    looks = heart("gate", old, "--looks", 2)
    twice = heart("gate", old, "--baseline", "mine")
    unjudged = heart("gate", new)
    same = heart("gate", old, old)

    assert (unknown.code, looks.code, twice.code, unjudged.code) == (2, 2, 2, 1)
    assert (same.code, "named as baseline and as candidate" in same.err) == (2, True)
    assert "did you mean 'mine'?" in unknown.err
    assert "--looks is for" in looks.err
    assert "both baseline and candidate" in twice.err
    assert "run `heart run" in unjudged.err


def test_other_replies_of_the_baseline_are_not_mixed_with_those_before(
    heart: Heart, two: tuple[Path, Path], tmp_path: Path, server: PayingServer
) -> None:
    old, new = two
    heart("gate", old, new)
    server.reply_of = lambda told: "I hear you, says OLD, again."
    again = tmp_path / "again"
    again.mkdir()
    (again / "old.toml").write_text(old.read_text())
    heart("run", again / "old.toml")

    done = heart("gate", again / "old.toml", new, "--json")

    assert done.code == 1
    assert "other ones than in the last gate" in json.loads(done.out)["error"]["message"]
