"""``heart report`` with the texts of a study: on the page, in a folder, and kept out."""

from html import unescape
from pathlib import Path
from typing import TypeVar

import pytest
from heart_command import Heart

from hearteval.domain import Completion, Item, Judgment, System
from hearteval.report.plots.files import FIGURES
from hearteval.store.sql import SqlStore

R = TypeVar("R", Item, Completion, Judgment, System)


def stored(study: Path, kind: type[R]) -> list[R]:
    store = SqlStore.open(str(study.parent / "tiny.db"))
    try:
        return list(store.iter(kind))
    finally:
        store.close()


def ranked_texts(study: Path) -> set[str]:
    stress = {one.id for one in stored(study, System) if one.kind == "stress"}
    return {one.text for one in stored(study, Completion) if one.system_id not in stress}


def written(study: Path, name: str = "tiny.report.html") -> str:
    return unescape((study.parent / name).read_text("utf-8"))


def test_page_holds_dialogues_and_replies_but_nothing_of_the_stress_set(ran: Path) -> None:
    page = written(ran)
    (last,) = {item.context[-1].text for item in stored(ran, Item)[:1]}
    assert last.splitlines()[0] in page
    assert any(text.splitlines()[0] in page for text in ranked_texts(ran))
    stress = {one.id for one in stored(ran, System) if one.kind == "stress"}
    bearers = {c.text for c in stored(ran, Completion) if c.system_id in stress}
    only_stress = bearers - ranked_texts(ran)
    assert only_stress
    assert not [text for text in only_stress if text.splitlines()[0] in page]


def test_where_all_replies_are_is_said_beside_its_label(
    heart: Heart, ran: Path, tmp_path: Path
) -> None:
    done = heart("report", ran, "--full", tmp_path / "all")
    line = done.out.splitlines()[-1]
    assert line.split()[:1] == ["replies"]
    assert line.endswith(str(Path("all") / "index.html"))


def test_public_page_holds_no_text_and_leaves_the_other_page_alone(heart: Heart, ran: Path) -> None:
    before = written(ran)
    body = heart("report", ran, "--public", "--json").json
    assert Path(body["report"]).name == "tiny.public.html"
    assert "full" not in body
    page = written(ran, "tiny.public.html")
    texts = ranked_texts(ran)
    texts |= {turn.text for item in stored(ran, Item) for turn in item.context}
    texts |= {item.situation for item in stored(ran, Item)} - {""}
    for judgment in stored(ran, Judgment):
        texts |= {judgment.rationale, *judgment.reasons.values()} - {""}
    shown = {line for text in texts for line in text.splitlines() if len(line) > 12}
    assert len(shown) > 30
    assert not [line for line in shown if line in page]
    assert written(ran) == before


def test_folder_holds_a_page_for_every_two_systems_and_every_item(heart: Heart, ran: Path) -> None:
    folder = ran.parent / "all of it"
    body = heart("report", ran, "--full", folder, "--json").json
    assert body["full"] == str(folder / "index.html")
    pages = sorted(path.name for path in folder.glob("*.html"))
    assert len(pages) == 2 + 3 + 3 + 5
    page = (ran.parent / "tiny.report.html").read_text()
    for name in ("index", "comparisons"):
        assert f'href="all%20of%20it/{name}.html"' in page
    everything = "".join(path.read_text("utf-8") for path in folder.glob("item-*.html"))
    assert not [t for t in ranked_texts(ran) if t.splitlines()[0] not in unescape(everything)]


@pytest.mark.parametrize("listed", [b"", b"\xff\xfe"])
def test_folder_whose_list_is_damaged_is_left_alone(heart: Heart, ran: Path, listed: bytes) -> None:
    folder = ran.parent / "all"
    heart("report", ran, "--full", folder)
    (folder / ".hearteval-pages").write_bytes(listed)
    done = heart("report", ran, "--full", folder)
    assert (done.code, "is replaced, and it holds comparisons.html" in done.err) == (2, True)
    assert (folder / "index.html").exists()


def test_folder_is_replaced_whole_when_it_is_written_again(heart: Heart, ran: Path) -> None:
    folder = ran.parent / "all"
    heart("report", ran, "--full", folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    (folder / "index.html").write_text("broken")
    assert heart("report", ran, "--full", folder).code == 0
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert not [path for path in ran.parent.iterdir() if path.name.startswith(".all")]


def test_folder_that_holds_something_else_is_left_alone(heart: Heart, ran: Path) -> None:
    folder = ran.parent / "mine"
    folder.mkdir()
    (folder / "notes.txt").write_text("keep me")
    done = heart("report", ran, "--full", folder)
    assert done.code == 2
    assert "it holds notes.txt; name another one" in done.err
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]


def test_notes_beside_the_pages_are_never_thrown_away(heart: Heart, ran: Path) -> None:
    folder = ran.parent / "all"
    heart("report", ran, "--full", folder)
    (folder / "notes.txt").write_text("keep me")
    assert heart("report", ran, "--full", folder).code == 2
    assert (folder / "notes.txt").read_text() == "keep me"


def test_full_and_public_contradict_each_other(heart: Heart, ran: Path) -> None:
    done = heart("report", ran, "--full", ran.parent / "all", "--public")
    assert done.code == 2
    assert "choose one of them" in done.err


def test_texts_that_are_not_our_own_are_not_for_publication(heart: Heart, study: Path) -> None:
    heart("run", study)
    assert "written by a language model for this project; no real person" in written(study)
    assert "not for publication" not in written(study)
    turns = "\n\n".join(f"Seeker: I lost my keys again, number {n}." for n in range(4))
    (study.parent / "own.txt").write_text(turns, encoding="utf-8")
    text = study.read_text("utf-8").replace("regular = 4\nadversarial = 1\n", "")
    study.write_text(text.replace('"starter"', '"own.txt"').replace('"tiny"', '"own"'), "utf-8")
    heart("run", study)
    said = written(study, "own.report.html")
    assert "nobody stated who wrote the dialogues, nor why they may be used." in said
    assert f"not for publication; a page without them: heart report {study} --public." in said
    assert "not for publication)" not in said


def test_figures_and_tables_for_a_paper_lie_in_a_folder_of_their_own(
    heart: Heart, ran: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hearteval.report.plots.files.FIGURES", FIGURES[:1])
    folder = tmp_path / "figures"
    body = heart("report", ran, "--figures", folder, "--json").json
    assert body["figures"] == str(folder)
    found = {path.name for path in folder.iterdir()}
    drawn = {f"ranking-{w}.{kind}" for w in ("column", "page") for kind in ("svg", "pdf", "png")}
    assert drawn | {"leaderboard.tex", "captions.txt", "axes.tex"} <= found
    assert "measures nothing about empathy" in (folder / "leaderboard.tex").read_text()
    assert heart("report", ran, "--figures", folder).out.splitlines()[-1].split()[0] == "figures"
    (folder / "mine.txt").touch()
    refused = heart("report", ran, "--figures", folder)
    assert refused.code == 2
    assert "it holds mine.txt" in refused.err


@pytest.mark.parametrize("name", ["x" * 300, "x" * 300 + "/figures"])
def test_a_folder_whose_name_is_too_long_is_said_plainly(
    heart: Heart, ran: Path, name: str
) -> None:
    refused = heart("report", ran, "--figures", name)
    assert refused.code == 2
    assert "cannot be a folder (File name too long); name another one" in refused.err


def test_a_folder_may_have_the_longest_name_that_there_is(
    heart: Heart, ran: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hearteval.report.plots.files.FIGURES", FIGURES[:0])
    folder = tmp_path / ("x" * 255)
    for _ in range(2):
        assert heart("report", ran, "--figures", folder).code == 0
    assert (folder / "captions.txt").exists()


def test_figures_and_replies_want_two_folders(heart: Heart, ran: Path) -> None:
    done = heart("report", ran, "--full", "all", "--figures", "./all")
    assert done.code == 2
    assert "name one folder" in done.err
