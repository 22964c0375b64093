"""``heart site``: what the board shows, refuses and computes in the page, on a desk and a phone."""

import csv
import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from browser_site import Opened, faults_of
from heart_command import Heart, run_heart, undrawn
from made_corpus import OPEN_TURN, write_corpus

from hearteval.domain import Axis, Item
from hearteval.exchange.release import read_manifest, sha256, sums
from hearteval.sections import SECTIONS
from hearteval.sections.axes.weighed import Weighed
from hearteval.study import Quiet
from hearteval.study.results import analyze
from hearteval.study.session import open_stored, opened_release

pytestmark = pytest.mark.usefixtures("blank_figures")
ACCEPTED = ("--accept", "writer")
"""The names of writers in the table are looked at: they are pseudonyms."""
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
preset = "shuffled"
[[system]]
preset = "retrieval"
[judging]
judges = ["cue"]
stress_items = 0
repeat_pairs = 0
"""
STUDY = """
[study]
name = "board"
seed = 5
[items]
source = "starter"
regular = 8
adversarial = 2
[[system]]
preset = "original"
[[system]]
preset = "generic"
[[system]]
preset = "reflective"
[[system]]
name = "Llama <b>"
model = "imported/llama-3.1-70b"
family = "llama"
[[system]]
name = "other"
model = "imported/unheard-of"
family = "ours"
[judging]
judges = ["cue"]
stress_items = 1
[people]
writers_per_item = 2
raters_per_pair = 0
"""
SAID = (
    "That sounds so heavy, and it makes sense that you feel worn out.",
    "What has been the hardest part of this week?",
    "I hear how much this hurts. You are not alone with it.",
    "Small steps count. Who is near you tonight?",
    "You could make a list and call somebody you trust.",
)
SYSTEM = re.compile(r"system-[0-9a-f]+\.html$")
ADDRESSES = re.compile(
    r"""(?:src|href|action|data|poster)\s*=\s*["']?(?:https?:)?//|url\(|@import"""
)


def write_replies(study: Path, path: Path) -> None:
    """Write replies of two models and six people as a table."""
    with open_stored(study, Quiet()) as (session, stored):
        items = sorted(session.store.iter(Item, stored), key=lambda one: one.id)
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(("item_id", "system", "who", "text"))
        for k, item in enumerate(items):
            for n, name in enumerate(("Llama <b>", "other")):
                table.writerow((item.id, name, "", f"{SAID[(k + n) % 5]} {SAID[(k + 3) % 5]}"))
            for n in range(2):
                text = f"{SAID[(k + 2 * n + 1) % 5]} Sleep early, {k} times {n}."
                table.writerow((item.id, "People", f"W{(k + 3 * n) % 6}", text))


@pytest.fixture(scope="session")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The release of a study in which people and models reply."""
    folder = tmp_path_factory.mktemp("board")
    study, replies = folder / "board.toml", folder / "replies.csv"
    study.write_text(STUDY, encoding="utf-8")
    assert run_heart("complete", study).code == 1  # what is imported is not there yet
    write_replies(study, replies)
    kind = ("--kind", "completions", "--writer", "who")
    assert run_heart("import", study, replies, *kind).code == 0
    assert run_heart("run", study).code == 0
    with undrawn():
        done = run_heart("release", study, folder / "v1", *ACCEPTED)
    assert done.code == 0, done.err
    return folder / "v1"


@pytest.fixture(scope="session")
def grown(release: Path) -> Path:
    """The release of the same study with one system more."""
    study = release.parent / "board.toml"
    study.write_text(f'{STUDY}[[system]]\npreset = "advice"\n', encoding="utf-8")
    assert run_heart("run", study).code == 0
    with undrawn():
        done = run_heart("release", study, release.parent / "v2", *ACCEPTED)
    assert done.code == 0, done.err
    return release.parent / "v2"


@pytest.fixture(scope="session")
def without_people(finished: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bare") / "out"
    with undrawn():
        assert run_heart("release", finished / "tiny.toml", folder).code == 0
    return folder


@pytest.fixture(scope="session")
def site(release: Path, grown: Path) -> Path:
    """One board with its history."""
    before = contents(release)
    done = run_heart("site", grown, release, "--out", release.parent / "site")
    assert done.code == 0, done.err
    assert contents(release) == before
    return release.parent / "site"


@pytest.fixture(scope="session")
def two(release: Path, without_people: Path) -> Path:
    """The boards of two studies."""
    out = release.parent / "two"
    done = run_heart("site", release, without_people, "--out", out, "--no-people")
    assert done.code == 0, done.err
    return out


def contents(folder: Path) -> Mapping[str, bytes]:
    return {str(one): one.read_bytes() for one in folder.rglob("*") if one.is_file()}


def board_of(site: Path, n: int = 0) -> Any:
    said = json.loads((site / "leaderboard.json").read_text(encoding="utf-8"))
    assert said["schema"] == "heart.board/1"
    return said["boards"][n]


def page_of(site: Path, system: str) -> str:
    (row,) = [one for one in board_of(site)["systems"] if one["system"] == system]
    text: str = (site / row["page"]).read_text(encoding="utf-8")
    return text


def test_a_board_says_what_the_results_of_its_release_say(site: Path, grown: Path) -> None:
    board = board_of(site)
    said = json.loads((grown / "results" / "results.json").read_text(encoding="utf-8"))
    assert [one["system"] for one in board["systems"]] == [
        row["system"] for row in said["leaderboard"]["rows"]
    ]
    for one, row in zip(board["systems"], said["leaderboard"]["rows"], strict=True):
        at = row["weighted"]
        assert (one["value"], one["low"], one["high"]) == pytest.approx(
            (at["elo"], at["low"], at["high"]), abs=1e-6
        )
        assert (one["best"], one["worst"]) == (at["rank_low"], at["rank_high"])
    assert board["release"]["id"] == json.loads((grown / "manifest.json").read_text())["id"]


def test_what_a_release_does_not_say_is_unknown(site: Path) -> None:
    known = {one["system"]: one for one in board_of(site)["systems"]}
    assert known["Llama <b>"]["open_weights"] is True
    assert known["other"]["open_weights"] is None
    assert {one["usd_per_million_out"] for one in known.values()} == {None}
    assert "unknown" in page_of(site, "other")


def test_history_stands_the_oldest_first_and_a_newcomer_has_none(site: Path) -> None:
    history = board_of(site)["history"]
    assert [one["version"] for one in history] == [2, 1]
    names = [{row["system"] for row in one["systems"]} for one in history]
    assert names[0] - names[1] == {"advice"}
    heads = re.findall(r"<br>version (\d)", (site / "index.html").read_text(encoding="utf-8"))
    assert heads == ["1", "2"]


def test_a_page_of_a_system_has_its_dialogues_and_what_its_judge_is(site: Path) -> None:
    assert "Sleep early" in page_of(site, "People")
    model = page_of(site, "Llama <b>")
    assert "Won most clearly" in model
    assert "Llama &lt;b&gt;" in model
    assert "Llama <b>" not in model
    assert "An offline counter of hand-set words" in model


def test_what_may_not_be_passed_on_stands_as_ids(heart: Heart, tmp_path: Path) -> None:
    write_corpus(tmp_path / "corpus")
    study = tmp_path / "corpus.toml"
    study.write_text(OF_CORPUS, encoding="utf-8")
    assert heart("run", study).code == 0
    assert heart("release", study, tmp_path / "out").code == 0
    done = heart("site", tmp_path / "out", "--out", tmp_path / "site", "--no-people")
    assert done.code == 0, done.err
    whole = b"".join(contents(tmp_path / "site").values()).decode()
    assert OPEN_TURN[:40] not in whole
    assert "left out of the release" not in whole
    page = page_of(tmp_path / "site", "original")
    assert "Texts that may not be passed on stand here as ids" in page
    assert re.search(r"<code>[0-9a-f]{32}</code> \(esconv\)", page)


def test_a_badge_says_what_its_judge_is(site: Path) -> None:
    (row,) = [one for one in board_of(site)["systems"] if one["system"] == "People"]
    badge = (site / row["badge"]).read_text(encoding="utf-8")
    assert f"of {len(board_of(site)['systems'])}, cue judge</text>" in badge
    assert "measures nothing about empathy" in badge


def test_a_board_without_people_is_refused_or_says_so_first(
    heart: Heart, without_people: Path, two: Path, tmp_path: Path
) -> None:
    done = heart("site", without_people, "--out", tmp_path / "out")
    assert done.code == 2
    assert "--no-people" in done.err
    assert not (tmp_path / "out").exists()
    bare = (two / "tiny-board.html").read_text(encoding="utf-8")
    assert "<b>No people:</b>" in bare.partition("<main>")[2].partition("<h1")[0]
    assert "No people:" not in (two / "board-board.html").read_text(encoding="utf-8")


def test_two_studies_stand_side_by_side(two: Path) -> None:
    index = (two / "index.html").read_text(encoding="utf-8")
    for n, name in enumerate(("board", "tiny")):
        assert f'<a href="{name}-board.html">{name}</a>' in index
        assert board_of(two, n)["page"] == f"{name}-board.html"
        assert 'href="index.html"' in (two / f"{name}-board.html").read_text(encoding="utf-8")


def test_a_release_that_does_not_hold_is_refused(
    heart: Heart, release: Path, tmp_path: Path
) -> None:
    spoilt = shutil.copytree(release, tmp_path / "spoilt")
    path = spoilt / "results" / "differences.csv"
    path.write_text(path.read_text(encoding="utf-8").replace("1", "2", 1), encoding="utf-8")
    done = heart("site", spoilt, "--out", tmp_path / "out")
    assert done.code == 1
    assert "differences.csv was changed" in done.err
    assert not (tmp_path / "out").exists()


def test_tables_of_another_version_are_counted_and_no_reason_to_refuse(
    heart: Heart, without_people: Path, tmp_path: Path
) -> None:
    older = shutil.copytree(without_people, tmp_path / "older")
    path = older / "results" / "results.json"
    path.write_text(re.sub(r'"elo": 1', '"elo": 2', path.read_text("utf-8"), count=1), "utf-8")
    made = read_manifest(older)
    files = made.files | {"results/results.json": sha256(path.read_bytes())}
    made = made.model_copy(update={"files": files, "heart_version": "0.0.9"})
    made = made.model_copy(update={"id": made.right_id})
    (older / "manifest.json").write_text(made.model_dump_json(by_alias=True), encoding="utf-8")
    (older / "SHA256SUMS").write_text(sums(files), encoding="utf-8")
    done = heart("site", older, "--out", tmp_path / "out", "--no-people")
    assert done.code == 0, done.err
    assert board_of(tmp_path / "out")["release"]["n_otherwise"] == 1
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert "but for 1\N{NO-BREAK SPACE}table that this version of hearteval computes" in page


def test_no_folder_but_an_earlier_site_is_replaced(
    heart: Heart, release: Path, tmp_path: Path
) -> None:
    (tmp_path / "thesis.txt").write_text("years of work", encoding="utf-8")
    assert heart("site", release, "--out", tmp_path).code == 2
    assert heart("site", release, "--out", release / "site").code == 2
    assert heart("site", release, "--out", tmp_path / "new").code == 0
    done = heart("site", release, "--out", tmp_path / "new", "--json")
    assert done.code == 0
    assert done.json["boards"][0]["n_systems"] == 6
    assert heart("site", tmp_path, "--out", tmp_path / "other").code == 2


def test_nothing_is_fetched_from_anywhere(site: Path, two: Path) -> None:
    for folder in (site, two):
        pages = [*folder.glob("*.html")]
        assert pages
        for page in pages:
            assert ADDRESSES.findall(page.read_text(encoding="utf-8")) == []
    links = re.findall(r'href="([^"#]+)', (site / "index.html").read_text(encoding="utf-8"))
    assert links
    assert all((site / one).is_file() for one in links)


WEIGHTS: Mapping[str, Mapping[str, int]] = {
    "even": {},
    "one axis": {"E": 3, "A": 0, "R": 0, "T": 0, "H": 0},
    "uneven": {"E": 10, "A": 1, "R": 4, "T": 0},
}


@pytest.mark.browser
@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
def test_sliders_move_the_order_as_the_analysis_does(
    opened: Opened, site: Path, grown: Path, weights: Mapping[str, int]
) -> None:
    with opened_release(grown, Quiet()) as (session, study):
        found = analyze(session, study, sections=(*SECTIONS, Weighed)).found(Weighed)
    assert found is not None
    given = {axis: weights.get(axis, 5) for axis in found.axes}
    page, heard = opened((site / "index.html").as_uri())
    for axis, weight in given.items():
        page.locator(f"form.weights input[name={axis}]").fill(str(weight))
    rows = page.evaluate(
        "() => [...document.querySelectorAll('#weighed tbody tr')].map((row) => ({...row.dataset}))"
    )
    expected = found.at({axis: float(weight) for axis, weight in given.items()})
    assert [row["system"] for row in rows] == [one.system for one in expected]
    for row, one in zip(rows, expected, strict=True):
        numbers = [float(row[name]) for name in ("elo", "low", "high")]
        assert numbers == pytest.approx([one.elo, one.low, one.high], abs=1e-4)
        assert [int(row[name]) for name in ("place", "best", "worst")] == list(one[4:])
    assert heard.errors == []


def test_an_axis_by_itself_has_the_intervals_of_its_ranking(grown: Path) -> None:
    with opened_release(grown, Quiet()) as (session, study):
        results = analyze(session, study, sections=(*SECTIONS, Weighed))
    found, board = results.found(Weighed), results.leaderboard
    assert found is not None
    assert board is not None
    rows = {row.system: row for row in board.rows}
    for axis in found.axes:
        for one in found.at({axis: 1.0}):
            at = rows[one.system].axes[axis]
            assert (one.elo, one.low, one.high) == pytest.approx((at.elo, at.low, at.high))


def test_places_under_any_weights_hold_those_under_these(grown: Path) -> None:
    with opened_release(grown, Quiet()) as (session, study):
        found = analyze(session, study, sections=(*SECTIONS, Weighed)).found(Weighed)
    assert found is not None
    reaches = found.reaches(seed=1)
    tried: list[dict[Axis, float]] = [{"E": 1.0}, {"E": 1.0, "A": 1.0, "R": 1.0, "T": 1.0}]
    for weights in tried:
        for one in found.at(weights):
            assert one.place is not None
            assert reaches[one.system].best <= one.place <= reaches[one.system].worst
    assert sum(one.leads for one in reaches.values()) == pytest.approx(1.0)


@pytest.mark.browser
def test_systems_are_chosen_and_keep_their_places(opened: Opened, site: Path) -> None:
    page, heard = opened((site / "index.html").as_uri())
    page.locator("select[name=who]").select_option("models")
    seen = page.locator("#leaderboard tbody tr:visible .who b").all_text_contents()
    assert sorted(seen) == ["Llama <b>", "other"]
    page.locator("select[name=weights]").select_option("open")
    assert page.locator("#leaderboard tbody tr:visible").count() == 1
    assert page.locator("#weighed tbody tr:visible").count() == 1
    assert page.get_by_text("1 of 7 systems. Their places are those among all.").is_visible()
    assert heard.errors == []


@pytest.mark.browser
def test_no_weight_at_all_says_what_to_do_and_all_alike_begins_again(
    opened: Opened, site: Path
) -> None:
    page, _ = opened((site / "index.html").as_uri())
    said = page.locator(".weighed-said")
    before = said.inner_text()
    for slider in page.locator("form.weights input").all():
        slider.focus()
        page.keyboard.press("Home")
    assert said.inner_text() == "Give one axis a weight."
    page.get_by_role("button", name="All alike").press("Enter")
    assert said.inner_text() == before


@pytest.mark.browser
def test_without_a_script_the_page_says_the_same(opened: Opened, site: Path) -> None:
    bare, _ = opened((site / "index.html").as_uri(), java_script_enabled=False)
    full, _ = opened((site / "index.html").as_uri())
    for selector in (".weighed-said", "#weighed tbody", "#leaderboard tbody"):
        assert bare.locator(selector).inner_text() == full.locator(selector).inner_text()
    assert not bare.locator("form.weights").is_visible()


@pytest.mark.browser
def test_no_page_has_a_barrier_and_none_asks_the_network(
    opened: Opened, site: Path, two: Path
) -> None:
    one_system = next(one for one in sorted(site.iterdir()) if SYSTEM.search(one.name))
    for path in (site / "index.html", one_system, two / "index.html", two / "tiny-board.html"):
        page, heard = opened(path.as_uri())
        # What is folded is hidden, and all but the heads of folds is as it is once they are open.
        assert faults_of(page, "h1, summary") == [], path.name
        page.evaluate("() => document.querySelectorAll('main details').forEach((d) => d.open = 1)")
        assert faults_of(page) == [], path.name
        assert {one.partition(":")[0] for one in heard.requests} == {"file"}
        assert heard.errors == []
