"""``heart init --from``: a stranger joins a board, pays for their own rows, and passes it on."""

import csv
import json
import re
import shutil
from collections.abc import Iterator
from io import StringIO
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from heart_command import Heart, run_heart, undrawn
from made_corpus import OPEN_TURN, write_corpus
from paying_server import PayingServer, paying_server
from study_files import FREE, presets, served, study_text

from hearteval.domain import Completion, Item
from hearteval.study import Quiet
from hearteval.study.session import open_stored

pytestmark = pytest.mark.usefixtures("blank_figures")
N_ITEMS = 4
POOL = ("one", "two", "three", "four", "original", "generic")
NEWCOMER = "five"
ALL = re.compile(r"opponents = \d+")
LEFT_OUT = "http://left-out.invalid/v1"


@pytest.fixture(scope="module")
def server() -> Iterator[PayingServer]:
    with paying_server() as serving:
        numbers = count()
        serving.reply_of = lambda told: f"I hear you. What hurts most? {next(numbers)}"
        serving.winner_of = lambda prompt: "AB"[len(prompt) % 2]
        yield serving


def model(name: str, url: str, **more: Any) -> str:
    return served("system", name, f"m-{name}", url, f"of-{name}", price=FREE, **more)


def judge(url: str, name: str = "j") -> str:
    return served("judge", name, "judge-1", url, "theirs", price=FREE)


@pytest.fixture(scope="module")
def board(server: PayingServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The release of A's study of six systems, which is nowhere else any more."""
    folder = tmp_path_factory.mktemp("a")
    study = folder / "board.toml"
    text = study_text(
        "board",
        *(model(name, server.url) for name in POOL[:4]),
        presets(*POOL[4:]),
        judge(server.url),
        items=(N_ITEMS, 0),
        judging={"judges": ["j"], "stress_items": 2, "repeat_pairs": 4},
    )
    study.write_text(text, encoding="utf-8")
    done = run_heart("run", study)
    assert done.code == 0, done.err
    with undrawn():
        done = run_heart("release", study, folder / "out")
    assert done.code == 0, done.err
    return shutil.copytree(folder / "out", tmp_path_factory.mktemp("b") / "board")


def join(heart: Heart, board: Path, folder: Path, url: str) -> Path:
    """Do what the study file says: add a system, and say where the judge is."""
    done = heart("init", folder, "--from", board, "--json")
    assert done.code == 0, done.err
    study = Path(done.json["path"])
    text = study.read_text(encoding="utf-8")
    text = ALL.sub(f"opponents = {len(POOL)}", text)
    head, found, tail = text.partition("[[judge]]")
    text = head + model(NEWCOMER, url, mine=True) + found + tail.replace(LEFT_OUT, url)
    study.write_text(text, encoding="utf-8")
    return study


def test_three_strangers_and_a_board(
    heart: Heart, board: Path, server: PayingServer, tmp_path: Path
) -> None:
    # B checks the folder, and adds a system of their own.
    assert heart("verify", board).code == 0
    study = join(heart, board, tmp_path / "b", server.url)
    planned = heart("run", study, "--dry-run", "--json").json["ceiling"]
    n_pairs = N_ITEMS * len(POOL)
    assert planned["max_completions"] == N_ITEMS
    assert planned["max_judgments"] == 2 * n_pairs
    server.calls.clear()
    server.prompts.clear()
    done = heart("run", study, "--yes", "--json")
    assert done.code == 0, done.err
    # Only the newcomer was asked, and the judge about it alone: what was there is not paid again.
    n_probe = 1
    assert server.calls == {f"m-{NEWCOMER}": N_ITEMS, "judge-1": 2 * n_pairs + n_probe}
    assert done.json["completions"]["n_added"] == N_ITEMS
    assert {one["system"] for one in done.json["leaderboard"]} == {*POOL, NEWCOMER}
    server.calls.clear()
    assert heart("run", study, "--yes").code == heart("judge", study, "--yes").code == 0
    assert not server.calls
    # Do the judges still judge as they did? This one answers by what it is shown, so it does.
    assert "Nobody has asked j again" in " ".join(done.json["warnings"])
    done = heart("judges", "drift", study, "--pairs", "7", "--yes", "--json")
    (drift,) = done.json["judges"]
    assert (done.json["n_pairs"], drift["now"]["n_pairs"]) == (7, 7)
    assert server.calls == {"judge-1": 7}
    again = heart("judges", "drift", study, "--pairs", "7", "--yes", "--json")
    assert again.json["judges"] == done.json["judges"]
    assert server.calls == {"judge-1": 7}
    found = heart("analyze", study, "--json").json["board"]
    assert [one["system"] for one in found["rows"] if one["is_new"]] == [NEWCOMER]
    assert {one["n_judgments"] for one in found["rows"] if one["is_new"]} == {2 * n_pairs}
    # B releases the grown board: old rows stand first, byte for byte.
    grown = tmp_path / "grown"
    done = heart("release", study, grown, "--add", board, "--json")
    assert done.code == 0, done.err
    assert done.json["previous"] == json.loads((board / "manifest.json").read_text())["id"]
    for old in (board / "records").iterdir():
        new = (grown / "records" / old.name).read_bytes()
        assert new.startswith(old.read_bytes())
    # C verifies that, changes one vote, and is told which.
    alone = shutil.copytree(grown, tmp_path / "c")
    assert heart("verify", alone, "--against", board).code == 0
    path = alone / "records" / "judgment.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    row = json.loads(lines[-1])
    row["choice"] = {"first": "second", "second": "first"}[row["choice"]]
    lines[-1] = json.dumps(row, ensure_ascii=False, sort_keys=True) + "\n"
    path.write_text("".join(lines), encoding="utf-8")
    done = heart("verify", alone, "--json")
    assert done.code == 1
    assert f"judgment {row['id']}" in {one["where"] for one in done.json["faults"]}
    old = json.loads(lines[0])["id"]
    path.write_text("".join(lines[1:]), encoding="utf-8")
    done = heart("verify", alone, "--against", board, "--json")
    told = {one["where"]: one["words"] for one in done.json["faults"]}
    assert "earlier release" in told[f"judgment {old}"]


def test_a_judge_that_judges_otherwise_now_is_named(
    heart: Heart, board: Path, server: PayingServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = join(heart, board, tmp_path / "b", server.url)
    monkeypatch.setattr(server, "winner_of", lambda prompt: "BA"[len(prompt) % 2])
    assert heart("run", study, "--yes").code == 0
    done = heart("judges", "drift", study, "--pairs", "10", "--yes")
    assert "j changes 10 of 10 old verdicts (100 %" in done.out
    assert "new rows are not on one scale" in done.out
    warnings = heart("analyze", study, "--json").json["warnings"]
    assert any("not on one scale" in one for one in warnings)


def test_a_judge_that_is_gone_is_said_to_be(heart: Heart, board: Path, tmp_path: Path) -> None:
    with paying_server() as other:
        study = join(heart, board, tmp_path / "b", other.url)
        assert heart("complete", study, "--yes").code == 0
    done = heart("judge", study, "--yes")
    assert done.code == 1
    assert "a judge of the released board does not answer" in done.err


def test_verdicts_of_the_same_judge_come_in_as_its_own(
    heart: Heart, board: Path, server: PayingServer, tmp_path: Path
) -> None:
    """Whose id is the same was shown the same: nothing that another has paid is asked again."""
    studies = []
    for who in ("b", "c"):
        done = heart("init", tmp_path / who, "--from", board, "--json")
        study = edited(Path(done.json["path"]), LEFT_OUT, server.url)
        text = study.read_text(encoding="utf-8")
        study.write_text(ALL.sub(f"opponents = {len(POOL)}", text), encoding="utf-8")
        studies.append(edited(study, "[judging]", f"{presets('advice')}[judging]"))
    assert heart("run", studies[0], "--yes").code == 0
    tables = tmp_path / "tables"
    assert heart("export", studies[0], "--to", "csv", "--out", tables).code == 0
    server.calls.clear()
    path = tables / "judgments.csv"
    done = heart("import", studies[1], path, "--kind", "judgments", "--json")
    assert done.code == 0, done.err
    assert (done.json["n_added"], done.json["left_out"]) == (2 * N_ITEMS * len(POOL), {})
    assert heart("run", studies[1], "--yes").code == 0
    assert not server.calls
    (judge_id,) = {row["rater_id"] for row in csv.DictReader(StringIO(path.read_text("utf-8")))}
    other = edited(path, judge_id, "0" * 32)
    shutil.rmtree(tmp_path / "c")
    done = heart("init", tmp_path / "c", "--from", board, "--json")
    study = edited(Path(done.json["path"]), "[judging]", f"{presets('advice')}[judging]")
    done = heart("import", study, other, "--kind", "judgments")
    assert done.code == 2
    assert "nothing shows that this is the same" in done.err


def edited(study: Path, old: str, new: str) -> Path:
    text = study.read_text(encoding="utf-8")
    assert old in text
    study.write_text(text.replace(old, new), encoding="utf-8")
    return study


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("m-one", "m-uno", "system 'one' belongs to the released board"),
        ('"m-one"', '"m-one"\nmax_tokens = 9', "system 'one' belongs to the released board"),
        ("judge-1", "judge-2", "j judged the released board, and no judge of the study file"),
        ('design = "newcomers"', 'design = "full"', 'needs judging.design = "newcomers"'),
        ('"original", "generic"]', '"original", "gone"]', "has 'gone', and the study file has no"),
        ("[pool]", "comparisons = 9\n[pool]", "follows from judging.opponents"),
        ("[pool]", "[pools]", "pools"),
    ],
)
def test_what_is_frozen_stays_as_it_is(
    heart: Heart, board: Path, tmp_path: Path, old: str, new: str, words: str
) -> None:
    done = heart("init", tmp_path / "b", "--from", board, "--json")
    old = f"openai-compatible/{old[1:]}" if old.startswith('"m-') else old
    new = f"openai-compatible/{new[1:]}" if new.startswith('"m-') else new
    study = edited(Path(done.json["path"]), old, new)
    done = heart("run", study, "--yes")
    assert done.code != 0
    assert words in done.err


def test_asking_again_asks_about_new_pairs_alone(
    heart: Heart, board: Path, server: PayingServer, tmp_path: Path
) -> None:
    study = join(heart, board, tmp_path / "b", server.url)
    assert heart("run", study, "--yes").code == 0
    server.calls.clear()
    done = heart("judge", study, "--again", "--yes", "--json")
    assert done.json["judgments"]["n_missing"] == 0
    assert server.calls == {"judge-1": 2 * N_ITEMS * len(POOL)}
    with open_stored(study, Quiet()) as (session, stored):
        assert not list(session.store.unjudged(stored))


def test_a_board_is_continued_alone_and_in_a_new_folder(
    heart: Heart, board: Path, tmp_path: Path
) -> None:
    done = heart("init", tmp_path / "b", "--from", board, "--model", "mine")
    assert done.code == 2
    assert "give DIR alone" in done.err
    assert heart("init", tmp_path / "b", "--from", tmp_path).code == 2
    assert not (tmp_path / "b").exists()
    assert heart("init", tmp_path / "b", "--from", board).code == 0
    assert "is already there" in heart("init", tmp_path / "b", "--from", board).err
    edited(board / "records" / "system.jsonl", '"one"', '"uno"')
    done = heart("init", tmp_path / "c", "--from", board)
    edited(board / "records" / "system.jsonl", '"uno"', '"one"')
    assert "is not as it was released" in done.err
    assert not (tmp_path / "c").exists()


OF_CORPUS = """
[study]
name = "corpus"
seed = 3
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
stress_items = 2
repeat_pairs = 0
"""


def test_dialogues_that_are_not_passed_on_are_put_back_from_their_corpus(
    heart: Heart, tmp_path: Path
) -> None:
    corpus = write_corpus(tmp_path / "corpus")
    study = tmp_path / "corpus.toml"
    study.write_text(OF_CORPUS, encoding="utf-8")
    assert heart("run", study).code == 0
    board = tmp_path / "board"
    assert heart("release", study, board).code == 0
    done = heart("init", tmp_path / "b", "--from", board)
    assert done.code == 2
    assert "the texts of 6 dialogues are not in this release" in done.err.replace("\xa0", " ")
    assert not (tmp_path / "b").exists()
    write_corpus(board / "esconv", n_per_file=2)  # another one, which lacks most of them
    assert heart("init", tmp_path / "b", "--from", board).code == 2
    shutil.copytree(corpus, board / "esconv", dirs_exist_ok=True)
    done = heart("init", tmp_path / "b", "--from", board, "--json")
    assert done.code == 0, done.err
    joined = Path(done.json["path"])
    with joined.open("a", encoding="utf-8") as file:
        file.write('[[system]]\npreset = "advice"\n')
    assert heart("run", joined).code == 0
    rows = heart("analyze", joined, "--json").json["board"]["rows"]
    assert [one["system"] for one in rows if one["is_new"]] == ["advice"]
    with open_stored(joined, Quiet()) as (session, stored):
        items = list(session.store.iter(Item, stored))
        replies = list(session.store.iter(Completion, stored))
    assert all(OPEN_TURN in item.context[-1].text for item in items)
    assert not any(one.is_withdrawn for one in replies)
    grown = tmp_path / "grown"
    done = heart("release", joined, grown, "--add", board)
    assert done.code == 0, done.err
    assert heart("verify", grown).code == 0
    whole = b"".join(one.read_bytes() for one in grown.rglob("*") if one.is_file())
    assert OPEN_TURN.encode() not in whole
