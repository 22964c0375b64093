"""``heart release`` and ``heart verify``: what leaves, what is refused, and what is noticed."""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from heart_command import Heart
from made_corpus import OPEN_TURN, write_corpus
from people_site import PEOPLE, World, people_world

from hearteval.domain import Completion, Item, Rater, Turn
from hearteval.errors import SettingsError, StoreError
from hearteval.exchange.release import Fault, read_manifest
from hearteval.study import Quiet
from hearteval.study.people.quality import decide_by_hand
from hearteval.study.release.computed import differences
from hearteval.study.release.making import release_study
from hearteval.study.release.refusals import Finding, coarsen, find_private, require_fit
from hearteval.study.release.verify import verify_release
from hearteval.study.session import open_stored, opened_release

pytestmark = pytest.mark.usefixtures("blank_figures")
OF_CORPUS = """
[study]
name = "corpus"
seed = 3
[[items]]
source = "esconv"
from = "corpus"
regular = 6
[[items]]
source = "starter"
regular = 3
adversarial = 2
[[system]]
preset = "original"
[[system]]
preset = "shuffled"
[[system]]
preset = "generic"
[judging]
judges = ["cue"]
stress_items = 3
repeat_pairs = 0
"""
SECRET_WORDS = "Call my neighbour and sleep early"


@pytest.fixture(scope="session")
def made_once(finished: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("released") / "out"
    with open_stored(finished / "tiny.toml", Quiet()) as (session, study):
        done = release_study(session, study, folder)
    assert done.manifest.n_left_out == {}
    assert done.moved == ()
    return folder


@pytest.fixture
def released(made_once: Path, tmp_path: Path) -> Path:
    """The release of a study that is nowhere else."""
    return shutil.copytree(made_once, tmp_path / "out")


def lines_of(folder: Path, kind: str) -> list[dict[str, Any]]:
    text = (folder / "records" / f"{kind}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def all_text(folder: Path) -> str:
    whole = b"".join(one.read_bytes() for one in folder.rglob("*") if one.is_file())
    return whole.decode(errors="replace")


def test_a_release_holds_without_the_study(heart: Heart, released: Path, tmp_path: Path) -> None:
    alone = released.rename(tmp_path / "elsewhere")
    done = heart("verify", alone, "--json")
    assert (done.code, done.json["faults"], done.json["others"]) == (0, [], [])
    assert done.json["n_tables"] > 5
    assert done.json["n_records"]["judgment"] == len(lines_of(alone, "judgment")) > 0
    assert "As it was released" in heart("verify", alone).out


def test_the_sums_are_those_of_the_files(released: Path) -> None:
    lines = (released / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    listed = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    for name, digest in listed.items():
        assert hashlib.sha256((released / name).read_bytes()).hexdigest() == digest
    there = {one.relative_to(released).as_posix() for one in released.rglob("*") if one.is_file()}
    assert there == {*listed, "manifest.json", "SHA256SUMS"}
    assert {"datasheet.md", "LICENCES.md", "CITATION.cff", "croissant.json"} <= there
    assert "tables/judgments.parquet" in there


def edit(kind: str, change: Callable[[dict[str, Any]], None]) -> Callable[[Path], str]:
    """Change one record, and say what must be named."""

    def work(folder: Path) -> str:
        path = folder / "records" / f"{kind}.jsonl"
        rows = lines_of(folder, kind)
        row = rows[len(rows) // 2]
        change(row)
        lines = [json.dumps(one, ensure_ascii=False, sort_keys=True) + "\n" for one in rows]
        path.write_text("".join(lines), encoding="utf-8")
        return f"{kind} {row['id']}"

    return work


def turned(row: dict[str, Any]) -> None:
    row["choice"] = {"first": "second", "second": "first", "tie": "first"}[row["choice"]]
    row["strength"] = row["strength"] or 3


def drop_a_line(folder: Path) -> str:
    path = folder / "records" / "judgment.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[1:]), encoding="utf-8")
    return "judgment: "


def change_a_figure(folder: Path) -> str:
    path = next((folder / "figures").glob("*.svg"))
    path.write_bytes(path.read_bytes().replace(b"svg", b"SVG", 1))
    return f"figures/{path.name}"


def remove_a_table(folder: Path) -> str:
    (folder / "results" / "differences.csv").unlink()
    return "results/differences.csv"


def spoil_a_line(folder: Path) -> str:
    path = folder / "records" / "system.jsonl"
    path.write_text("{" + path.read_text(encoding="utf-8"), encoding="utf-8")
    return "system, line 1"


CHANGES: dict[str, Callable[[Path], str]] = {
    "one vote": edit("judgment", turned),
    "one reply": edit("completion", lambda row: row.update(text=row["text"] + "!")),
    "who was first": edit("assignment", lambda row: row.update(repeat=7)),
    "a system's name": edit("system", lambda row: row.update(name="best")),
    "a line is gone": drop_a_line,
    "a figure": change_a_figure,
    "a table is gone": remove_a_table,
    "no JSON": spoil_a_line,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_any_change_is_named(heart: Heart, released: Path, change: Callable[[Path], str]) -> None:
    named = change(released)
    done = heart("verify", released, "--json")
    assert done.code == 1
    told = [f"{one['where']}: {one['words']}" for one in done.json["faults"]]
    assert any(one.startswith(named) for one in told), told


def with_right_sums(folder: Path) -> None:
    """List all files anew, as somebody does who wants a change to pass."""
    path = folder / "manifest.json"
    said = json.loads(path.read_text(encoding="utf-8"))
    said["files"] = {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in said["files"]
    }
    path.write_text(json.dumps(said), encoding="utf-8")
    sums = "".join(f"{digest}  {name}\n" for name, digest in sorted(said["files"].items()))
    (folder / "SHA256SUMS").write_text(sums, encoding="utf-8")


def test_numbers_that_do_not_follow_from_the_votes_are_found_though_all_sums_are_right(
    heart: Heart, released: Path
) -> None:
    path = released / "results" / "results.json"
    said = json.loads(path.read_text(encoding="utf-8"))
    said["leaderboard"]["rows"][0]["weighted"]["elo"] += 1e-5
    path.write_text(json.dumps(said), encoding="utf-8")
    with_right_sums(released)
    told = heart("verify", released, "--json").json["faults"]
    assert {one["where"] for one in told} == {"manifest.json", "results/results.json"}
    assert told[-1]["words"] == "1\N{NO-BREAK SPACE}value of leaderboard computed otherwise"


def test_a_table_for_reading_that_says_something_else_is_found_though_all_sums_are_right(
    released: Path,
) -> None:
    parquet, arrow = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
    path = released / "tables" / "judgments.parquet"
    columns = parquet.read_table(path).to_pydict()
    columns["winner"][0] = "somebody else"
    parquet.write_table(arrow.table(columns), path)
    with_right_sums(released)
    told = verify_release(released, Quiet()).faults
    assert ("tables/judgments.parquet", "is not what the records say") in told


def test_results_of_another_version_say_which_tables_differ(heart: Heart, released: Path) -> None:
    path = released / "manifest.json"
    said = path.read_text(encoding="utf-8")
    version = json.loads(said)["heart_version"]
    path.write_text(said.replace(f'"{version}"', '"0.0.9"'), encoding="utf-8")
    done = heart("verify", released)
    assert done.code == 1
    assert "made by hearteval 0.0.9" in done.err


def test_others_files_are_named_and_are_no_fault(heart: Heart, released: Path) -> None:
    (released / "notes.txt").write_text("mine", encoding="utf-8")
    done = heart("verify", released)
    assert done.code == 0
    assert "Not part of it: notes.txt." in done.out


def test_a_release_is_analyzed_with_settings_of_ones_own(heart: Heart, released: Path) -> None:
    file = released / "study.toml"
    text = file.read_text(encoding="utf-8")
    before = heart("analyze", file, "--json").json
    file.write_text(f"{text}\n[analysis]\nweights = {{ H = 3 }}\n", encoding="utf-8")
    after = heart("analyze", file, "--json").json
    rows = [one["system"] for one in after["leaderboard"]["rows"]]
    assert rows == [one["system"] for one in before["leaderboard"]["rows"]]


def test_a_folder_that_holds_something_else_is_left_alone(heart: Heart, ran: Path) -> None:
    folder = ran.parent / "full"
    folder.mkdir()
    (folder / "thesis.txt").write_text("years of work", encoding="utf-8")
    done = heart("release", ran, folder)
    assert done.code == 2
    assert "name a new folder" in done.err
    assert [one.name for one in folder.iterdir()] == ["thesis.txt"]
    assert heart("verify", folder).code == 2
    assert heart("verify", folder / "nowhere").code == 2


def test_a_release_is_replaced_by_the_next_of_its_study(
    heart: Heart, ran: Path, made_once: Path
) -> None:
    folder = shutil.copytree(made_once, ran.parent / "out")
    before = read_manifest(folder)
    remove_a_table(folder)
    assert heart("release", ran, folder, "--json").json["n_records"] == before.n_records
    assert (folder / "results" / "differences.csv").is_file()
    (folder / "mine.txt").write_text("mine", encoding="utf-8")
    assert heart("release", ran, folder).code == 2


def test_texts_of_a_corpus_stay_out_and_what_quotes_them_too(heart: Heart, tmp_path: Path) -> None:
    write_corpus(tmp_path / "corpus")
    study = tmp_path / "corpus.toml"
    study.write_text(OF_CORPUS, encoding="utf-8")
    assert heart("run", study).code == 0
    folder = tmp_path / "out"
    done = heart("release", study, folder, "--json")
    assert done.code == 0, done.err
    assert done.json["n_left_out"]["item"] == 6
    whole = all_text(folder)
    assert OPEN_TURN[:40] not in whole
    assert "That sounds heavy" not in whole  # what its helpers said
    assert str(tmp_path) not in whole
    kept = {one["text"] for one in lines_of(folder, "completion")}
    assert "[left out of the release]" in kept
    assert len(kept) > 1  # those of the baseline that repeats nobody
    ours = {one["id"] for one in lines_of(folder, "item") if one["source"] == "starter"}
    about = {one["id"]: one["item_id"] for one in lines_of(folder, "pair")}
    asked = {one["id"]: about[one["pair_id"]] for one in lines_of(folder, "assignment")}
    rows = lines_of(folder, "judgment")
    assert {one["assignment_id"] for one in rows if one["raw"]} <= {
        a for a in asked if asked[a] in ours
    }
    assert heart("verify", folder).code == 0
    study.write_text(OF_CORPUS.replace("generic", "advice"), encoding="utf-8")
    assert "esconv/README.txt" in json.loads((folder / "manifest.json").read_text())["files"]


def test_a_reply_that_quotes_a_corpus_stays_out(heart: Heart, tmp_path: Path) -> None:
    write_corpus(tmp_path / "corpus")
    study, replies = tmp_path / "corpus.toml", tmp_path / "replies.csv"
    quoter = '[[system]]\nname = "quoter"\nmodel = "imported/q"\nfamily = "q"\n[judging]'
    study.write_text(
        OF_CORPUS.replace("[judging]", quoter).replace("regular = 6", "regular = 1"), "utf-8"
    )
    heart("run", study)
    with open_stored(study, Quiet()) as (session, stored):
        items = list(session.store.iter(Item, stored))
    said = f"You say: {OPEN_TURN.upper()}"
    rows = "".join(f'{one.id},quoter,"{said}"\n' for one in items)
    replies.write_text(f"item,system,text\n{rows}", encoding="utf-8")
    assert heart("import", study, replies, "--kind", "completions").code == 0
    assert heart("run", study).code == 0
    assert heart("release", study, tmp_path / "out").code == 0
    assert all_text(tmp_path / "out" / "records").count(said) == len(items) - 1
    assert verify_release(tmp_path / "out", Quiet()).faults == ()
    with opened_release(tmp_path / "out", Quiet()) as (session, stored):
        again = release_study(session, stored, tmp_path / "again")
    assert again.manifest.n_left_out["item"] == 1
    assert again.moved == ()
    assert all_text(tmp_path / "again" / "records") == all_text(tmp_path / "out" / "records")


@pytest.fixture
def world(tmp_path: Path) -> Any:
    with people_world(tmp_path, people=PEOPLE + "practice = false\n") as made:
        yield made


def release(world: World, folder: Path, **settings: Any) -> Any:
    return release_study(world.desk.session, world.desk.study, folder, **settings)


def test_what_nobody_has_released_stays_and_a_platforms_id_leaves_nowhere(
    world: World, tmp_path: Path
) -> None:
    writer = world.come("write")
    writer.write(SECRET_WORDS)
    gone = world.come("write")
    gone.write("Leave the harbour lights on for her tonight.")
    gone.client.post("/withdraw", data={"confirm": "yes"})
    out = release(world, tmp_path / "out")
    whole = all_text(tmp_path / "out")
    assert "harbour lights" not in whole
    assert out.manifest.n_left_out["completion"] >= 1
    assert writer.name in whole
    assert not verify_release(tmp_path / "out", Quiet()).faults


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ("Write to me at jo.miller@example.org, I am there for you.", "an e-mail address"),
        ("My key is sk-abcdefghijklmnop1234, use it and tell me how you are.", "a secret key"),
        ("My name is Katherine and I have been there too, it gets better.", "name"),
    ],
)
def test_what_tells_who_somebody_is_is_refused_and_not_repeated(
    world: World, tmp_path: Path, words: str, what: str
) -> None:
    writer = world.come("write")
    writer.write(words)
    release_all(world)
    with pytest.raises(StoreError) as caught:
        release(world, tmp_path / "out")
    assert what in str(caught.value)
    assert "jo.miller" not in str(caught.value)
    assert "Katherine" not in str(caught.value)
    assert not (tmp_path / "out").exists()
    ids = {one.split()[-1] for one in caught.value.ids}
    assert release(world, tmp_path / "out", accepted=ids).folder.is_dir()


def release_all(world: World) -> None:
    """Have somebody read every text and release it."""
    reader = world.come("review")
    for _ in range(10):
        if not reader.get("review") or not reader.ticket:
            return
        reader.send("review", verdict="fit")


def test_small_groups_are_refused_or_made_coarse() -> None:
    people = {f"P-{k}": {"group": "crowd", "age": "18-24" if k < 5 else "75+"} for k in range(7)}
    with pytest.raises(StoreError, match="as few as 2 who are alike"):
        coarsen(people, is_allowed=False)
    assert set(map(str, coarsen(people, is_allowed=True).values())) == {"{'group': 'crowd'}"}
    few = {f"P-{k}": {"group": "clinician"} for k in range(4)}
    assert all(not of for of in coarsen(few, is_allowed=True).values())
    same = {f"P-{k}": {"age": "18-24"} for k in range(5)}
    assert coarsen(same, is_allowed=False) == same


def test_a_simulated_study_is_not_released(heart: Heart, tmp_path: Path) -> None:
    folder = tmp_path / "sim"
    assert heart("simulate", folder, "--set", "items=4", "--set", "adversarial=1").code == 0
    study = next(folder.glob("*.toml"))
    done = heart("release", study, tmp_path / "out")
    assert done.code == 1
    assert "is simulated, so it is not released" in done.err


def test_a_name_in_the_list_that_leads_out_of_the_folder_names_nothing(
    heart: Heart, released: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    path = released / "manifest.json"
    said = json.loads(path.read_text(encoding="utf-8"))
    said["files"]["../secret.txt"] = hashlib.sha256(b"secret").hexdigest()
    path.write_text(json.dumps(said), encoding="utf-8")
    told = heart("verify", released, "--json").json["faults"]
    assert {"where": "../secret.txt", "words": "is missing"} in told


def test_a_manifest_tells_of_the_study_that_is_there(released: Path) -> None:
    path = released / "manifest.json"
    said = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(said | {"name": "better"}), encoding="utf-8")
    said["id"] = read_manifest(released).right_id
    path.write_text(json.dumps(said | {"name": "better"}), encoding="utf-8")
    found = verify_release(released, Quiet()).faults
    assert found == (Fault("manifest.json", "tells of another study than the records"),)


def test_a_manifest_of_another_form_is_refused(released: Path) -> None:
    path = released / "manifest.json"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("heart.release/1", "heart.release/9"), encoding="utf-8")
    with pytest.raises(SettingsError, match="this version reads"):
        verify_release(released, Quiet())
    path.write_text("[]", encoding="utf-8")
    with pytest.raises(SettingsError, match="cannot be read"):
        verify_release(released, Quiet())


def test_names_of_raters_from_elsewhere_have_to_be_looked_at() -> None:
    raters = [
        Rater(name=name, kind="human", family="human") for name in ("P-7K3MQ2XV", "Ann Miller")
    ]
    found = find_private({Rater: raters}, {}, submissions=())
    assert found == [
        Finding(f"rater {raters[1].id}", "a name from elsewhere, which may be no pseudonym")
    ]
    with pytest.raises(StoreError, match="--accept rater") as caught:
        require_fit(found, accepted=frozenset())
    assert "Ann" not in str(caught.value)
    require_fit(found, accepted={"rater"})
    require_fit(found, accepted={raters[1].id})


def write(name: str, content: bytes) -> Callable[[Path], str]:
    """Put something else in the place of a file."""

    def work(folder: Path) -> str:
        (folder / name).write_bytes(content)
        return name

    return work


def let_it_be_a_pipe(folder: Path) -> str:
    (folder / "datasheet.md").unlink()
    os.mkfifo(folder / "datasheet.md")
    return "datasheet.md"


def list_what_no_file_can_be(folder: Path) -> str:
    path = folder / "manifest.json"
    said = json.loads(path.read_text(encoding="utf-8"))
    said["files"]["a\0b"] = ""
    path.write_text(json.dumps(said), encoding="utf-8")
    return "a\0b"


DEEP = b"[" * 100_000 + b"]" * 100_000
STRANGE: dict[str, Callable[[Path], str]] = {
    "tasks of no form": write("asked.json", b'{"judge": 3}'),
    "tasks that are none": write("asked.json", b'{"judge": ["abc"]}'),
    "tasks without an end": write("asked.json", DEEP),
    "a person of no form": write("people.jsonl", b'{"name": 3, "content": ""}\n'),
    "records without an end": write("records/judgment.jsonl", DEEP),
    "results without an end": write("results/results.json", DEEP),
    "no words": write("results/missing.csv", b"\xff\xfe"),
    "too long a cell": write("results/missing.csv", b'"' + b"x" * 200_000 + b'"'),
    "no study file": write("study.toml", b"[[["),
    "an id that is none": edit("pair", lambda row: row.update(item_id=[])),
    "a number that no table holds": edit("assignment", lambda row: row.update(repeat=10**30)),
    "text for a yes or no": edit("completion", lambda row: row.update(cached={})),
    "settings that are none": edit("rater", lambda row: row.update(settings=7)),
    "a pipe": let_it_be_a_pipe,
    "no name of a file": list_what_no_file_can_be,
}


@pytest.mark.parametrize("change", STRANGE.values(), ids=STRANGE)
def test_what_nobody_can_read_is_a_fault_and_no_accident(
    released: Path, change: Callable[[Path], str]
) -> None:
    named = change(released)
    assert named in {one.where for one in verify_release(released, Quiet()).faults}


def test_a_release_that_nobody_can_read_is_not_analyzed(heart: Heart, released: Path) -> None:
    STRANGE["a number that no table holds"](released)
    done = heart("analyze", released / "study.toml")
    assert done.code == 1
    assert "is not as it was released" in done.err


def test_a_system_may_be_called_like_no_number(heart: Heart, tmp_path: Path) -> None:
    study = tmp_path / "nan.toml"
    table = '[[system]]\npreset = "original"\n[[system]]\npreset = "generic"\nname = "nan"\n'
    text = OF_CORPUS[: OF_CORPUS.index("[[items]]")] + OF_CORPUS[OF_CORPUS.rindex("[[items]]") :]
    first, last = text.index("[[system]]"), text.index("[judging]")
    study.write_text(text[:first] + table + text[last:], encoding="utf-8")
    assert heart("run", study).code == 0
    assert heart("release", study, tmp_path / "out").code == 0
    assert "nan" in (tmp_path / "out" / "results" / "win-rates.csv").read_text(encoding="utf-8")
    assert verify_release(tmp_path / "out", Quiet()).faults == ()


def test_a_number_beyond_any_other_is_another() -> None:
    assert list(differences(10**400, 1.5, "n")) == ["n"]
    assert list(differences(10**400, 10**400, "n")) == []


def test_whoever_did_nothing_hides_nobody(world: World, tmp_path: Path) -> None:
    gone = world.come("judge", group="peer")
    assert gone.judge().status_code == 303
    name = gone.name
    gone.client.post("/withdraw", data={"confirm": "yes"})
    clinicians = [world.come("judge", group="clinician") for _ in range(5)]
    assert clinicians[0].judge().status_code == 303
    with pytest.raises(StoreError, match="as few as 1 who are alike"):
        release(world, tmp_path / "out")
    release(world, tmp_path / "out", is_coarse=True)
    people = [one for one in lines_of(tmp_path / "out", "rater") if one["kind"] == "human"]
    assert {one["name"] for one in people} == {name, clinicians[0].name}
    assert {one["group"] for one in people} == {None}
    assert "clinician" not in (tmp_path / "out" / "people.jsonl").read_text(encoding="utf-8")


def test_who_is_left_out_is_so_in_a_release_without_words_of_it(
    world: World, tmp_path: Path
) -> None:
    judge = world.come("judge")
    assert judge.judge().status_code == 303
    session, study = world.desk.session, world.desk.study
    why = "told us in a letter that she guessed"
    decide_by_hand(session, study, judge.name, is_excluded=True, why=why, by="Ann")
    release(world, tmp_path / "out")
    text = (tmp_path / "out" / "people.jsonl").read_text(encoding="utf-8")
    (own,) = [one for one in map(json.loads, text.splitlines()) if one["name"] == judge.name]
    assert (own["excluded"]["rules"], own["excluded"]["why"]) == ([], "")
    assert "in a letter" not in all_text(tmp_path / "out")
    assert not verify_release(tmp_path / "out", Quiet()).faults


def test_own_checks_stay_at_home_and_their_hash_is_passed_on(tmp_path: Path) -> None:
    shipped = (files("hearteval") / "protocol" / "people_checks.toml").read_text("utf-8")
    own = re.sub(r"(?m)^version = .*$", 'version = "ours"', shipped)
    (tmp_path / "keys.toml").write_text(own, encoding="utf-8")
    checked = f'{PEOPLE}[people.quality]\nchecks_from = "keys.toml"\n'
    with people_world(tmp_path, people=checked) as world:
        for _ in range(3):
            assert world.come("judge").judge().status_code == 303
        release(world, tmp_path / "out")
        hash_ = world.desk.settings.quality_hash
    assert "keys.toml" not in all_text(tmp_path / "out")
    assert not verify_release(tmp_path / "out", Quiet()).faults
    found = json.loads((tmp_path / "out" / "results" / "results.json").read_text("utf-8"))
    assert found["quality"]["preregistered"] == hash_


def test_what_is_called_an_id_is_looked_at_where_others_filled_it() -> None:
    now = datetime(2026, 3, 2, tzinfo=UTC)
    text = Completion(
        item_id="0" * 32, system_id="1" * 32, text="Yes.", writer_id="Ann Miller", created_at=now
    )
    item = Item(
        source="own",
        dialogue_id="jo.miller@example.org",
        turn_index=0,
        context=(Turn(role="seeker", text="I cannot sleep."),),
        subset="regular",
        situation="",
        emotion="fear",
        problem="work",
        licence="CC0-1.0",
        consent_basis="Mine.",
    )
    found = find_private({Item: [item], Completion: [text]}, {}, submissions=())
    assert found == [
        Finding(f"writer of {text.id}", "a name from elsewhere, which may be no pseudonym"),
        Finding(f"item {item.id}", "an e-mail address"),
    ]
    require_fit(found, accepted={"writer", item.id})


def test_a_record_that_is_there_twice_is_named(released: Path) -> None:
    path = released / "records" / "judgment.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join((*lines, lines[0])))
    found = verify_release(released, Quiet()).faults
    assert Fault("judgment", "a record is there twice") in found
