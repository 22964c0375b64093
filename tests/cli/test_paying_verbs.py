"""``heart people list``, ``pay`` and ``paid``: the table, the files for a site, the mark."""

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from heart_command import Heart
from people_site import PEOPLE, Visitor, World, people_world

PIDS = tuple(f"5f1a2b3c4d5e6f7a8b9c0d{n:02x}" for n in range(4))
LOADED = f"{PEOPLE}load = 2\n"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with people_world(tmp_path, people=LOADED) as made:
        yield made


def file_of(world: World) -> str:
    return str(world.desk.session.settings.file)


def sent(world: World, n: int, *, n_done: int = 0, session: str = "", **more: str) -> Visitor:
    """Somebody whom Prolific sent, and how much they did."""
    ids = {"PROLIFIC_PID": PIDS[n], "SESSION_ID": session or f"session{n}", "STUDY_ID": "theirs"}
    writer = Visitor(world, world.client(), world.invite("write")).join(**{**ids, **more})
    for _ in range(n_done):
        writer.get("write")
        world.clock.wait(minutes=3)
        writer.send("write", text="That sounds heavy. What would help tonight?")
    return writer


def table(heart: Heart, world: World) -> list[dict[str, str]]:
    done = heart("people", "list", file_of(world), "--csv")
    assert done.code == 0, done.err
    return list(csv.DictReader(io.StringIO(done.out)))


def write_table(path: Path, rows: list[dict[str, str]]) -> str:
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, list(rows[0]))
        out.writeheader()
        out.writerows(rows)
    return str(path)


def pay(heart: Heart, world: World, out: Path, *more: str, platform: str = "prolific") -> Any:
    said = ("people", "pay", file_of(world), *more, "--platform", platform, "--out", str(out))
    return heart(*said)


def test_the_table_says_what_each_person_did_and_how_long_it_took(
    heart: Heart, world: World
) -> None:
    sent(world, 0, n_done=2)
    sent(world, 1, n_done=1).client.post("/stop")
    sent(world, 2)
    world.come("research")
    rows = table(heart, world)
    assert [(r["participant"], r["submission"], r["project"]) for r in rows] == [
        (PIDS[n], f"session{n}", "theirs") for n in range(3)
    ]
    said = [(r["minutes"], r["tasks"], r["state"], r["ending"], r["decision"]) for r in rows]
    assert said == [
        ("6.0", "write=2", "done", "done", "approve"),
        ("3.0", "write=1", "stopped", "partial", ""),
        ("0.0", "", "consented", "stopped", ""),
    ]
    listed = heart("people", "list", file_of(world), "--json").json["people"]
    assert [(one["minutes"], one["tasks"]) for one in listed[:2]] == [
        (6.0, {"write": 2}),
        (3.0, {"write": 1}),
    ]
    assert PIDS[0] in heart("people", "list", file_of(world)).out


def test_a_task_counts_for_a_lease_at_most(heart: Heart, world: World) -> None:
    writer = sent(world, 0)
    writer.get("write")
    world.clock.wait(hours=20)
    writer.send("write", text="That sounds heavy. What would help tonight?")
    assert table(heart, world)[0]["minutes"] == "30.0"


def test_prolific_gets_ids_to_approve_and_amounts_without_a_head(
    heart: Heart, world: World, tmp_path: Path
) -> None:
    for n, n_done in enumerate((2, 2, 1)):
        sent(world, n, n_done=n_done)
    other = Visitor(world, world.client(), world.invite("judge")).join(pid="somebody")
    rows = table(heart, world)
    rows[0]["bonus"] = "1.5"
    rows[1] |= {"decision": "reject", "reason": 'They wrote "x, y", each time.'}
    rows[3]["decision"] = "approve"
    out = tmp_path / "out"
    done = pay(heart, world, out, write_table(tmp_path / "t.csv", rows))
    assert done.code == 0, done.err
    assert {f.name: f.read_text() for f in out.iterdir()} == {
        "approve.txt": "session0\n",
        "bonus.csv": "session0,1.50\n",
        "reject.csv": 'id,reason\nsession1,"They wrote ""x, y"", each time."\n',
    }
    said = " ".join(done.out.split())
    assert f"not sent by prolific: {other.name}" in said
    assert "1 row not decided" in said.replace("\N{NO-BREAK SPACE}", " ")
    assert "being left out of an analysis is no reason not to pay" in said
    assert all(file.stat().st_mode & 0o077 == 0 for file in out.iterdir())


def test_without_a_table_who_is_done_is_approved_and_nobody_is_rejected(
    heart: Heart, world: World, tmp_path: Path
) -> None:
    sent(world, 0, n_done=2)
    sent(world, 1, n_done=1)
    assert pay(heart, world, tmp_path / "out").code == 0
    files = {f.name: f.read_text() for f in (tmp_path / "out").iterdir()}
    assert files == {"approve.txt": "session0\n"}


def test_connect_gets_tables_by_the_names_of_its_links(
    heart: Heart, world: World, tmp_path: Path
) -> None:
    ids = {"participantId": "C0FFEE", "assignmentId": "a1", "projectId": "p1"}
    rater = Visitor(world, world.client(), world.invite("write")).join(**ids)
    rater.write()
    rater.write()
    rows = table(heart, world)
    rows[0] |= {"bonus": "0.25", "reason": "Thank you"}
    done = pay(heart, world, tmp_path / "o", write_table(tmp_path / "t", rows), platform="connect")
    assert done.code == 0, done.err
    assert {f.name: f.read_text() for f in (tmp_path / "o").iterdir()} == {
        "approve.csv": "participantId,assignmentId,message\nC0FFEE,a1,\n",
        "bonus.csv": "participantId,assignmentId,bonus,message\nC0FFEE,a1,0.25,Thank you\n",
    }
    assert heart("people", "paid", file_of(world), str(tmp_path / "o" / "approve.csv")).code == 0
    assert table(heart, world)[0]["paid_at"]


def test_who_was_sent_twice_is_two_rows_and_each_is_paid_once(
    heart: Heart, world: World, tmp_path: Path
) -> None:
    sent(world, 0, n_done=2)
    world.clock.wait(minutes=5)
    sent(world, 0, session="again")
    rows = table(heart, world)
    assert [(r["submission"], r["tasks"], r["decision"]) for r in rows] == [
        ("session0", "write=2", "approve"),
        ("again", "", ""),
    ]
    assert len({r["person"] for r in rows}) == 1
    assert pay(heart, world, tmp_path / "out").code == 0
    approved = str(tmp_path / "out" / "approve.txt")
    done = heart("people", "paid", file_of(world), approved, "--json").json
    assert (done["n_changed"], done["is_paid"]) == (1, True)
    assert heart("people", "paid", file_of(world), approved, "--json").json["n_changed"] == 0
    assert [bool(r["paid_at"]) for r in table(heart, world)] == [True, False]
    by_person = tmp_path / "person.txt"
    by_person.write_text(PIDS[0])
    unclear = heart("people", "paid", file_of(world), str(by_person))
    assert (unclear.code, "came several times" in unclear.err) == (2, True)
    assert heart("people", "paid", file_of(world), approved, "--undo").code == 0
    assert [r["decision"] for r in table(heart, world)] == ["approve", ""]
    told = [one.what for one in world.store.people.events()]
    assert [what for what in told if "paid" in what] == ["paid", "unpaid"]
    assert "session0" not in str([one.about for one in world.store.people.events()])


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"decision": "reject"}, "a rejection needs a reason"),
        ({"decision": "pay"}, "expected approve, reject or nothing"),
        ({"bonus": "1,50"}, "an amount such as 1.50"),
        ({"bonus": "-1"}, "an amount such as 1.50"),
        ({"bonus": "1.005"}, "an amount such as 1.50"),
        ({"bonus": "inf"}, "an amount such as 1.50"),
        ({"bonus": "150000"}, "up to 1000"),
        ({"person": "P-NOBODY"}, "nobody called P-NOBODY"),
        ({"submission": "strange"}, "strange"),
    ],
)
def test_what_cannot_be_decided_is_refused_and_nothing_is_written(
    heart: Heart, world: World, tmp_path: Path, change: Mapping[str, str], fault: str
) -> None:
    sent(world, 0, n_done=2)
    rows = [{**table(heart, world)[0], **change}]
    done = pay(heart, world, tmp_path / "out", write_table(tmp_path / "t.csv", rows))
    assert done.code == 2
    assert fault in " ".join(done.err.replace("'", "").split())
    assert "line 2" in done.err
    assert not (tmp_path / "out").exists()


def test_a_file_that_is_no_table_and_a_folder_in_use_are_refused(
    heart: Heart, world: World, tmp_path: Path
) -> None:
    sent(world, 0, n_done=2)
    strange = tmp_path / "strange.csv"
    strange.write_text("a,b\n1,2\n")
    done = pay(heart, world, tmp_path / "out", str(strange))
    assert (done.code, "has no column 'bonus'" in done.err) == (2, True)
    assert pay(heart, world, tmp_path).code == 2
    twice = [*table(heart, world), *table(heart, world)]
    again = pay(heart, world, tmp_path / "out", write_table(tmp_path / "t.csv", twice))
    assert (again.code, "stands there twice" in again.err) == (2, True)


def test_rejections_and_strangers_are_never_marked_as_paid(
    heart: Heart, world: World, tmp_path: Path
) -> None:
    sent(world, 0, n_done=2)
    rows = [{**table(heart, world)[0], "decision": "reject", "reason": "No words."}]
    filled = write_table(tmp_path / "t.csv", rows)
    pay(heart, world, tmp_path / "out", filled)
    for file in (str(tmp_path / "out" / "reject.csv"), str(Path(file_of(world)))):
        assert heart("people", "paid", file_of(world), file).code == 2
    assert heart("people", "paid", file_of(world), filled, "--json").json["n_changed"] == 0
    assert table(heart, world)[0]["paid_at"] == ""


def test_ids_go_with_who_withdraws_and_with_time_and_the_mark_stays(
    heart: Heart, world: World, tmp_path: Path
) -> None:
    gone, old = sent(world, 0, n_done=2), sent(world, 1, n_done=2)
    assert pay(heart, world, tmp_path / "out").code == 0
    assert heart("people", "paid", file_of(world), str(tmp_path / "out" / "approve.txt")).code == 0
    gone.client.post("/withdraw", data={"confirm": "yes"})
    rows = table(heart, world)
    assert [(r["state"], r["participant"], bool(r["paid_at"])) for r in rows] == [
        ("withdrawn", "", True),
        ("paid", PIDS[1], True),
    ]
    world.store.people.forget_details(world.desk.study.id, before=world.clock(), now=world.clock())
    assert [r["participant"] for r in table(heart, world)] == ["", ""]
    assert old.client.get("/stopped").status_code == 200
    folder = world.desk.session.settings.file.parent
    kept = b"".join(path.read_bytes() for path in folder.glob("*.db*"))
    assert PIDS[0].encode() not in kept


def test_no_other_verb_says_what_a_site_calls_people(
    heart: Heart, world: World, tmp_path: Path
) -> None:
    judge = Visitor(world, world.client(), world.invite("judge"))
    judge.join(PROLIFIC_PID=PIDS[0], SESSION_ID="the-session", STUDY_ID="the-study")
    judge.judge()
    sent(world, 1, n_done=1, session="other-session")
    file, ids = file_of(world), (PIDS[0], PIDS[1], "the-session", "other-session", "the-study")
    verbs = [
        ("analyze", file, "--json"),
        ("report", file, "--full", str(tmp_path / "pages")),
        ("store", "verify", file),
        *(("export", file, "--to", to, "--out", str(tmp_path / to)) for to in ("jsonl", "csv")),
        ("release", file, str(tmp_path / "release")),
        ("plan", file),
        ("people", "withdraw", file, judge.name, "--yes"),
    ]
    listed = heart("people", "list", file, "--csv").out
    assert [id_ for id_ in ids if id_ not in listed] == []
    said = [heart(*verb) for verb in verbs]
    assert [done.code for done in said] == [0] * len(verbs), [done.err for done in said]
    outputs = "".join(done.out + done.err for done in said)
    pages = [path for path in tmp_path.rglob("*") if path.is_file() and ".db" not in path.name]
    assert len(pages) > 5
    whole = outputs + "".join(path.read_bytes().decode(errors="replace") for path in pages)
    assert [id_ for id_ in ids if id_ in whole] == []
