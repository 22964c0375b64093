"""`heart simulate`: what it makes says what it is, and is never mixed with what is real."""

import csv
import json
import shlex
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import hearteval as he
from hearteval.cli.main import run_command_line
from hearteval.notices import SIMULATED_WORDS
from hearteval.report.page.methods import paragraph
from hearteval.study import Quiet
from hearteval.study.report.write import write_figures
from hearteval.study.results import analyze
from hearteval.study.session import open_stored

SMALL = ("--systems", "3", "--items", "10", "--adversarial", "3", "--writers", "1", "--people", "5")
FIRST = "Simulated: every text, person and judgment"
REAL = """
[study]
name = "real"
seed = 1
[items]
source = "starter"
regular = 3
adversarial = 1
[[system]]
preset = "original"
[[system]]
preset = "generic"
[[system]]
name = "elsewhere"
model = "imported/elsewhere"
family = "elsewhere"
[judging]
judges = ["cue"]
stress_items = 0
repeat_pairs = 0
"""


STOPPED = 130


def heart(*words: object) -> int:
    try:
        run_command_line([str(word) for word in words])
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("simulated") / "practice"
    assert heart("simulate", folder, *SMALL, "--seed", 3) == 0
    return folder


@pytest.fixture
def study(made: Path) -> Path:
    return made / "practice.toml"


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("real") / "real.toml"
    file.write_text(REAL)
    assert heart("run", file) == 1  # one system waits for what is imported
    return file


def copy_of(made: Path, folder: Path, *edits: tuple[str, str]) -> Path:
    """Copy a simulated study, its file edited."""
    for path in made.iterdir():
        if path.is_file():
            (folder / path.name).write_bytes(path.read_bytes())
    file = folder / "practice.toml"
    text = file.read_text()
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    file.write_text(text)
    return file


def refused(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """Run what must be refused with exit code 1; return why."""
    capsys.readouterr()
    assert heart(*words) == 1
    return capsys.readouterr().err


def test_a_study_holds_what_was_asked_for(made: Path) -> None:
    with closing(sqlite3.connect(made / "practice.db")) as store:
        counts = {
            table: store.execute(f"select count(*) from {table}").fetchone()[0]
            for table in ("items", "completions", "pairs")
        }
    assert counts == {"items": 10, "completions": 40, "pairs": 60}
    truth = json.loads((made / "truth.json").read_text())
    assert truth["schema"] == "heart.simulate/1"
    assert list(truth)[1] == "simulated"
    assert truth["plan"]["seed"] == 3


READING = {
    "analyze": (),
    "report": (),
    "run": (),
    "complete": (),
    "judge": (),
    "latency": (),
    "doctor": (),
    "compare": ("--first", "judge-a", "--second", "judge-b"),
}


@pytest.mark.parametrize("verb", READING)
def test_a_verb_says_in_its_first_line_that_all_is_simulated(
    verb: str, study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    heart(verb, study, *READING[verb])
    assert capsys.readouterr().out.startswith(FIRST)


@pytest.mark.parametrize("verb", READING)
def test_a_verb_says_it_first_in_json(
    verb: str, study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    heart(verb, study, *READING[verb], "--json")
    printed = json.loads(capsys.readouterr().out)
    assert list(printed)[:2] == ["schema", "simulated"]
    assert printed["simulated"] is True


@pytest.mark.parametrize("what", ["study", "votes"])
def test_what_it_prints_says_so_once_and_first(
    what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = (tmp_path / "new",) if what == "study" else ("--votes", tmp_path / "votes.csv")
    capsys.readouterr()
    assert heart("simulate", *target, "--items", 4, "--adversarial", 1) == 0
    out = capsys.readouterr().out
    assert out.startswith(FIRST)
    assert out.count("Simulated:") == 1


def test_a_run_finds_nothing_to_do(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert heart("run", study, "--json") == 0
    done = json.loads(capsys.readouterr().out)
    assert (done["completions"]["n_added"], done["judgments"]["n_added"]) == (0, 0)
    assert done["failures"] == []


def test_the_store_is_as_it_was_written(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert heart("store", "verify", made / "practice.db") == 0
    assert capsys.readouterr().out.startswith(FIRST)


def test_every_file_of_a_report_says_it_first(study: Path) -> None:
    assert heart("report", study) == 0
    folder = study.parent
    page = (folder / "practice.report.html").read_text()
    assert "<title>Simulated: practice" in page
    main = page[page.index("<main>") :]
    assert main.index("simulated") < main.index("<h1")
    tables = [folder / "practice.leaderboard.csv", *(folder / "practice.tables").glob("*.csv")]
    for path in tables:
        with path.open(newline="") as file:
            rows = list(csv.reader(file))
        assert rows[0][0] == "simulated", path.name
        assert {row[0] for row in rows[1:]} == {"true"}, path.name


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_every_exported_file_says_it_in_its_first_line(
    form: str, study: Path, tmp_path: Path
) -> None:
    assert heart("export", study, "--to", form, "--out", tmp_path) == 0
    written = list(tmp_path.iterdir())
    assert len(written) >= 6
    for path in written:
        assert "imulated" in path.read_text().split("\n", 1)[0], path.name


def test_a_ranking_of_exported_votes_says_it_first(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    heart("export", study, "--to", "csv", "--out", tmp_path)
    columns = ("--left", "first", "--right", "second", "--winner", "winner", "--cluster", "item_id")
    capsys.readouterr()
    assert heart("rank", tmp_path / "judgments.csv", *columns) == 0
    assert capsys.readouterr().out.startswith(FIRST)


def test_results_in_python_say_it_first(study: Path) -> None:
    with he.open_study(study) as opened:
        found = opened.analyze()
    assert found.is_simulated
    assert found.to_text().startswith(FIRST)
    assert found._repr_html_().startswith("<p><b>Simulated:")
    assert list(found.to_dict())[:2] == ["schema", "simulated"]


def test_tables_of_a_paper_say_it(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hearteval.study.report.write.figures_of", lambda _results: ())
    with open_stored(study, Quiet()) as (session, stored):
        write_figures(session, stored, analyze(session, stored), tmp_path / "figures")
    files = list((tmp_path / "figures").iterdir())
    tables = [path for path in files if path.suffix == ".tex"]
    assert tables
    assert all(path.read_text().startswith("% Simulated:") for path in tables)
    assert (tmp_path / "figures" / "captions.txt").read_text().startswith("Simulated:")


def test_pages_to_read_say_it_first(study: Path, tmp_path: Path) -> None:
    assert heart("report", study, "--full", tmp_path / "full") == 0
    pages = list((tmp_path / "full").glob("*.html"))
    assert len(pages) > 10
    for page in pages:
        text = page.read_text()
        assert "<title>Simulated:" in text
        assert text.index('class="simulated"') < text.index("<h1"), page.name


def test_votes_alone_are_ranked_and_say_what_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    votes = tmp_path / "votes.csv"
    assert heart("simulate", "--votes", votes, *SMALL, "--judges", 0) == 0
    limits = json.loads((tmp_path / "votes.truth.json").read_text())["limits"]
    capsys.readouterr()
    assert heart("rank", votes, "--cluster", "item", "--rater", "rater", "--json") == 0
    ranking = json.loads(capsys.readouterr().out)
    assert list(ranking)[:2] == ["schema", "simulated"]
    assert ranking["warnings"][0] == SIMULATED_WORDS
    assert {row["system"] for row in ranking["systems"]} == set(limits["people"]["elo"])
    assert heart("rank", votes) == 0
    assert capsys.readouterr().out.startswith(FIRST)


def test_agreement_on_simulated_answers_says_it_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "answers.csv"
    rows = [f"true,u{unit},r{rater},{unit % 3}" for unit in range(6) for rater in range(2)]
    file.write_text("\n".join(["simulated,unit,rater,value", *rows]) + "\n")
    columns = ("--unit", "unit", "--rater", "rater", "--value", "value", "--level", "nominal")
    assert heart("agree", file, *columns) == 0
    assert capsys.readouterr().out.startswith(FIRST)
    assert heart("agree", file, *columns, "--json") == 0
    assert list(json.loads(capsys.readouterr().out))[:2] == ["schema", "simulated"]


@pytest.mark.parametrize("verb", ["run", "complete", "judge"])
def test_a_simulated_study_is_not_grown_with_a_real_system(
    verb: str, made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    added = "[judging]\n", '[[system]]\npreset = "generic"\n\n[judging]\n'
    file = copy_of(made, tmp_path, added)
    assert "never mixed" in refused(capsys, verb, file)


@pytest.mark.parametrize("verb", ["run", "complete", "judge", "analyze"])
def test_a_simulated_study_stays_one_when_its_file_denies_it(
    verb: str, made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = copy_of(made, tmp_path, ("simulated = true\n", ""))
    assert "simulated study 'practice'" in refused(capsys, verb, file)


def test_the_check_of_simulated_items_says_so_first(
    made: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert heart("items", "check", made / "items.jsonl") == 0
    assert capsys.readouterr().out.startswith(FIRST)


def test_a_real_study_takes_no_simulated_items(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    items = made / "items.jsonl"
    own = REAL.replace('"starter"\nregular = 3\nadversarial = 1', json.dumps(str(items)))
    file = tmp_path / "own.toml"
    file.write_text(own)
    assert "never mixed" in refused(capsys, "run", file)
    assert not (tmp_path / "own.db").exists()


def test_a_real_study_takes_no_simulated_completions(
    study: Path, real: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    heart("export", study, "--to", "csv", "--out", tmp_path)
    file = tmp_path / "completions.csv"
    for more in ((), ("--dry-run",)):
        why = refused(capsys, "import", real, file, "--kind", "completions", *more)
        assert "it is simulated" in why


def test_a_simulated_study_takes_no_real_completions(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "replies.csv"
    file.write_text("item_id,system,text\nx,system-a,Hello there.\n")
    why = refused(capsys, "import", study, file, "--kind", "completions")
    assert "does not say that it is simulated" in why


def test_no_person_takes_part_in_a_simulated_study(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "no person takes part" in refused(capsys, "serve", study, "--port", 0)


@pytest.mark.parametrize("is_real", [True, False], ids=["real-first", "simulated-first"])
def test_a_simulated_study_is_not_compared_with_a_real_one(
    is_real: bool, study: Path, real: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = (real, study) if is_real else (study, real)
    assert "practice is simulated and" in refused(capsys, "compare", *both)
    assert heart("compare", *both, "--json") == 1
    printed = json.loads(capsys.readouterr().out)
    assert list(printed) == ["schema", "simulated", "error"]


def test_an_audit_of_drawn_judges_says_that_nobody_can_be_asked(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert heart("judges", "audit", study) == 2
    said = capsys.readouterr().err
    assert "its judges were drawn, so nobody can ask them" in said
    assert "reference" not in said


def test_the_methods_of_a_simulated_study_say_that_nobody_read_or_wrote(study: Path) -> None:
    with open_stored(study, Quiet()) as (session, stored):
        said = paragraph(analyze(session, stored))
    assert said.startswith(FIRST)
    assert "Answers were drawn for 15 people, judge-a" in said
    for claim in ("task page", "blind", "continued", "answered elsewhere", "were asked"):
        assert claim not in said


@pytest.mark.parametrize("is_real", [True, False], ids=["real-to-simulated", "simulated-to-real"])
def test_neither_store_is_copied_into_the_other(
    is_real: bool, made: Path, real: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stores = [real.with_suffix(".db"), made / "practice.db"]
    source, target = stores if is_real else stores[::-1]
    before = target.read_bytes()
    assert "nothing was copied" in refused(capsys, "store", "copy", source, target)
    assert target.read_bytes() == before


def test_a_simulated_store_may_be_copied_into_an_empty_one(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert heart("store", "copy", made / "practice.db", tmp_path / "copy.db") == 0
    assert capsys.readouterr().out.startswith(FIRST)


def test_a_study_is_not_simulated_into_a_real_store(
    real: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HEART_STORE", str(real.with_suffix(".db")))
    why = refused(capsys, "simulate", tmp_path / "new", *SMALL)
    assert "the store holds the real study 'real'" in why


def test_what_stops_half_way_leaves_no_half_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    folder = tmp_path / "half"
    with monkeypatch.context() as patched:
        patched.setattr("hearteval.study.simulation.making.draw_study", stopped)
        assert heart("simulate", folder, *SMALL) == STOPPED
    assert not folder.exists()
    assert heart("simulate", folder, *SMALL) == 0, "the same command again"


def test_a_folder_that_holds_something_is_left_alone(
    made: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path.name: path.stat().st_mtime_ns for path in made.iterdir()}
    assert heart("simulate", made, *SMALL) == 2
    assert {path.name: path.stat().st_mtime_ns for path in made.iterdir()} == before


FAULTS = {
    "systems": "systems = 1",
    "unknown": "planets = 3",
    "more adversarial items than items": "items = 5\nadversarial = 9",
    "nobody judges": "people = 0\njudges = 0",
    "fewer writers than replies": "writers = 4\nwriter_pool = 3",
    "judges of nothing": "systems = 2\nwriters = 0",
    "strengths of others": "systems = 3\ntheta = [0.1, 0.2]",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_plan_that_cannot_be_is_refused(
    fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(FAULTS[fault])
    assert heart("simulate", tmp_path / "new", "--plan", plan) == 2
    assert str(plan) in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_an_option_counts_more_than_the_plan(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text("systems = 2\nitems = 4\nadversarial = 0\nwriters = 0\npeople = 0\nseed = 8")
    assert heart("simulate", tmp_path / "new", "--plan", plan, "--systems", 3, "--json") == 0
    made = json.loads(capsys.readouterr().out)
    assert (made["n_systems"], made["n_items"], made["n_completions"]) == (3, 4, 12)


NAMES = ("votes.csv", "votes.jsonl", "votes.parquet", "my votes.csv")
RATED = ("--protocol", "rating", "--systems", 3, "--items", 8, "--adversarial", 2, "--people", 5)


def test_a_study_of_ratings_is_made_analyzed_and_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "rated" / "rated.toml"
    assert heart("simulate", file.parent, *RATED, "--random-raters", 1) == 0
    limits = json.loads((file.parent / "truth.json").read_text())["limits"]
    capsys.readouterr()
    assert heart("run", file, "--json") == 0
    done = json.loads(capsys.readouterr().out)
    assert done["ratings"]["n_added"] == 0
    assert {row["system"] for row in done["rated"]} == set(limits["judges"]["score"])
    assert (file.parent / "rated.ratings.csv").read_text().startswith("simulated,")
    assert heart("store", "verify", file.parent / "rated.db") == 0


def test_votes_replace_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    votes = ("simulate", "--votes", tmp_path / "votes.csv", *SMALL)
    assert [heart(*votes), heart(*votes)] == [0, 0], "the same votes again change nothing"
    capsys.readouterr()
    assert heart(*votes, "--seed", 9) == 2
    said = capsys.readouterr().err
    assert "is already there; name a new file" in said
    assert "--force" not in said, "the verb has no such option"


@pytest.mark.parametrize(
    ("name", "who", "asked"),
    [
        *((name, (), "--cluster item --by rater_kind") for name in NAMES),
        ("votes.csv", ("--judges", 0), "--cluster item --rater rater"),
        ("votes.csv", ("--judges", 0, "--people", 1), "--cluster item --rater rater"),
        ("votes.csv", ("--people", 0), "--cluster item"),
        ("votes.csv", ("--people", 0, "--judges", 1, "--writers", 0), "--cluster item"),
    ],
)
def test_the_command_it_prints_ranks_the_votes_and_takes_no_judge_for_a_sampled_person(
    name: str,
    who: tuple[object, ...],
    asked: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()
    assert heart("simulate", "--votes", name, *SMALL, *who) == 0
    *_, last = capsys.readouterr().out.splitlines()
    command = shlex.split(last.removeprefix("next").strip())
    assert command[:3] == ["heart", "rank", name]
    assert " ".join(command[3:]) == asked
    assert heart(*command[1:]) == 0
    assert capsys.readouterr().out.startswith(FIRST)


def test_a_plan_that_leaves_no_vote_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few = ("--systems", 2, "--items", 2, "--adversarial", 0, "--writers", 0, "--missing", 0.9)
    capsys.readouterr()
    assert heart("simulate", "--votes", tmp_path / "v.csv", *few, "--judges", 0) == 2
    assert "nothing is left to vote on; give more --items" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_votes_are_of_pairs(tmp_path: Path) -> None:
    assert heart("simulate", "--votes", tmp_path / "votes.csv", *RATED) == 2
    assert not list(tmp_path.iterdir())


SPARSE = {
    "one judge beside people": ("--judges", 1, "--writers", 0),
    "one judge alone": ("--judges", 1, "--people", 0, "--writers", 1),
    "people alone": ("--judges", 0, "--writers", 0),
    "no adversarial item, no ties": ("--adversarial", 0, "--ties", 0),
    "two systems": ("--systems", 2, "--judges", 0, "--writers", 0),
    "a balanced design": ("--comparisons", 20),
    "all alike": ("--item-sd", 0, "--rater-sd", 0),
}


@pytest.mark.parametrize("what", SPARSE)
def test_any_design_is_made_and_analyzed(
    what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    size = ("--systems", 3, "--items", 8, "--adversarial", 2)
    assert heart("simulate", tmp_path / "new", *size, *SPARSE[what]) == 0
    capsys.readouterr()
    assert heart("analyze", tmp_path / "new" / "new.toml") == 0
    assert capsys.readouterr().out.startswith(FIRST)
