"""`heart simulate`: what it makes says what it is, and is never mixed with what is real."""

import csv
import json
import re
import shlex
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from heart_command import Done, Heart, run_heart
from study_files import entry, presets, study_text

import hearteval as he
from hearteval.config.simulation import SimulationPlan
from hearteval.notices import SIMULATED_WORDS
from hearteval.report.page.methods import paragraph
from hearteval.study import Quiet
from hearteval.study.report.write import write_figures
from hearteval.study.results import analyze
from hearteval.study.session import open_stored


def planned(keys: str) -> tuple[str, ...]:
    """Return the options that set these keys of the plan."""
    return tuple(word for key in keys.split() for word in ("--set", key))


SMALL = planned("systems=3 items=10 adversarial=3 writers=1 people=5")
FIRST = "Simulated: every text, person and judgment"
REAL = study_text(
    "real",
    presets("original", "generic"),
    entry("system", name="elsewhere", model="imported/elsewhere", family="elsewhere"),
    items=(3, 1),
)


STOPPED = 130


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("simulated") / "practice"
    assert run_heart("simulate", folder, *SMALL, "--set", "seed=3").code == 0
    return folder


@pytest.fixture
def study(made: Path) -> Path:
    return made / "practice.toml"


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("real") / "real.toml"
    file.write_text(REAL)
    assert run_heart("run", file).code == 1  # one system waits for what is imported
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


def refused(heart: Heart, *words: object) -> str:
    """Run what must be refused with exit code 1; return why."""
    done = heart(*words)
    assert done.code == 1
    return done.err


def says_first(done: Done) -> bool:
    """Say whether a command that went well says first that all is simulated."""
    return done.code == 0 and done.out.startswith(FIRST)


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
    verb: str, study: Path, heart: Heart
) -> None:
    assert heart(verb, study, *READING[verb]).out.startswith(FIRST)


@pytest.mark.parametrize("verb", READING)
def test_a_verb_says_it_first_in_json(verb: str, study: Path, heart: Heart) -> None:
    printed = heart(verb, study, *READING[verb], "--json").json
    assert list(printed)[:2] == ["schema", "simulated"]
    assert printed["simulated"] is True


@pytest.mark.parametrize("what", ["study", "votes"])
def test_what_it_prints_says_so_once_and_first(what: str, tmp_path: Path, heart: Heart) -> None:
    target = (tmp_path / "new",) if what == "study" else ("--votes", tmp_path / "votes.csv")
    done = heart("simulate", *target, "--set", "items=4", "--set", "adversarial=1")
    assert (says_first(done), done.out.count("Simulated:")) == (True, 1)


def test_a_run_finds_nothing_to_do(study: Path, heart: Heart) -> None:
    done = heart("run", study, "--json").json
    assert (done["completions"]["n_added"], done["judgments"]["n_added"]) == (0, 0)
    assert done["failures"] == []


def test_the_store_is_as_it_was_written(made: Path, heart: Heart) -> None:
    assert says_first(heart("store", "verify", made / "practice.db"))


def test_every_file_of_a_report_says_it_first(heart: Heart, study: Path) -> None:
    assert heart("report", study).code == 0
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
    heart: Heart, form: str, study: Path, tmp_path: Path
) -> None:
    assert heart("export", study, "--to", form, "--out", tmp_path).code == 0
    written = list(tmp_path.iterdir())
    assert len(written) >= 6
    for path in written:
        assert "imulated" in path.read_text().split("\n", 1)[0], path.name


def test_a_ranking_of_exported_votes_says_it_first(
    study: Path, tmp_path: Path, heart: Heart
) -> None:
    heart("export", study, "--to", "csv", "--out", tmp_path)
    columns = ("--left", "first", "--right", "second", "--winner", "winner", "--cluster", "item_id")
    assert says_first(heart("rank", tmp_path / "judgments.csv", *columns))


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


def test_pages_to_read_say_it_first(heart: Heart, study: Path, tmp_path: Path) -> None:
    assert heart("report", study, "--full", tmp_path / "full").code == 0
    pages = list((tmp_path / "full").glob("*.html"))
    assert len(pages) > 10
    for page in pages:
        text = page.read_text()
        assert "<title>Simulated:" in text
        assert text.index('class="simulated"') < text.index("<h1"), page.name


def test_votes_alone_are_ranked_and_say_what_they_are(tmp_path: Path, heart: Heart) -> None:
    votes = tmp_path / "votes.csv"
    assert heart("simulate", "--votes", votes, *SMALL, "--set", "judges=0").code == 0
    limits = json.loads((tmp_path / "votes.truth.json").read_text())["limits"]
    ranking = heart("rank", votes, "--cluster", "item", "--rater", "rater", "--json").json
    assert list(ranking)[:2] == ["schema", "simulated"]
    assert ranking["warnings"][0] == SIMULATED_WORDS
    assert {row["system"] for row in ranking["systems"]} == set(limits["people"]["elo"])
    assert says_first(heart("rank", votes))


def test_agreement_on_simulated_answers_says_it_first(tmp_path: Path, heart: Heart) -> None:
    file = tmp_path / "answers.csv"
    rows = [f"true,u{unit},r{rater},{unit % 3}" for unit in range(6) for rater in range(2)]
    file.write_text("\n".join(["simulated,unit,rater,value", *rows]) + "\n")
    columns = ("--unit", "unit", "--rater", "rater", "--value", "value", "--level", "nominal")
    assert says_first(heart("agree", file, *columns))
    assert list(heart("agree", file, *columns, "--json").json)[:2] == ["schema", "simulated"]


@pytest.mark.parametrize("verb", ["run", "complete", "judge"])
def test_a_simulated_study_is_not_grown_with_a_real_system(
    verb: str, made: Path, tmp_path: Path, heart: Heart
) -> None:
    added = "[judging]\n", '[[system]]\npreset = "generic"\n\n[judging]\n'
    file = copy_of(made, tmp_path, added)
    assert "never mixed" in refused(heart, verb, file)


@pytest.mark.parametrize("verb", ["run", "complete", "judge", "analyze"])
def test_a_simulated_study_stays_one_when_its_file_denies_it(
    verb: str, made: Path, tmp_path: Path, heart: Heart
) -> None:
    file = copy_of(made, tmp_path, ("simulated = true\n", ""))
    assert "simulated study 'practice'" in refused(heart, verb, file)


def test_the_check_of_simulated_items_says_so_first(made: Path, heart: Heart) -> None:
    assert says_first(heart("items", "check", made / "items.jsonl"))


def test_a_real_study_takes_no_simulated_items(made: Path, tmp_path: Path, heart: Heart) -> None:
    items = made / "items.jsonl"
    own = REAL.replace('"starter"\nregular = 3\nadversarial = 1', json.dumps(str(items)))
    file = tmp_path / "own.toml"
    file.write_text(own)
    assert "never mixed" in refused(heart, "run", file)
    assert not (tmp_path / "own.db").exists()


def test_a_real_study_takes_no_simulated_completions(
    study: Path, real: Path, tmp_path: Path, heart: Heart
) -> None:
    heart("export", study, "--to", "csv", "--out", tmp_path)
    file = tmp_path / "completions.csv"
    for more in ((), ("--dry-run",)):
        why = refused(heart, "import", real, file, "--kind", "completions", *more)
        assert "it is simulated" in why


def test_a_simulated_study_takes_no_real_completions(
    study: Path, tmp_path: Path, heart: Heart
) -> None:
    file = tmp_path / "replies.csv"
    file.write_text("item_id,system,text\nx,system-a,Hello there.\n")
    why = refused(heart, "import", study, file, "--kind", "completions")
    assert "does not say that it is simulated" in why


def test_no_person_takes_part_in_a_simulated_study(study: Path, heart: Heart) -> None:
    assert "no person takes part" in refused(heart, "serve", study, "--port", 0)


@pytest.mark.parametrize("is_real", [True, False], ids=["real-first", "simulated-first"])
def test_a_simulated_study_is_not_compared_with_a_real_one(
    is_real: bool, study: Path, real: Path, heart: Heart
) -> None:
    both = (real, study) if is_real else (study, real)
    assert "practice is simulated and" in refused(heart, "compare", *both)
    done = heart("compare", *both, "--json")
    assert (done.code, list(done.json)) == (1, ["schema", "simulated", "error"])


def test_an_audit_of_drawn_judges_says_that_nobody_can_be_asked(study: Path, heart: Heart) -> None:
    done = heart("judges", "audit", study)
    assert done.code == 2
    assert "its judges were drawn, so nobody can ask them" in done.err
    assert "reference" not in done.err


def test_the_methods_of_a_simulated_study_say_that_nobody_read_or_wrote(study: Path) -> None:
    with open_stored(study, Quiet()) as (session, stored):
        said = paragraph(analyze(session, stored))
    assert said.startswith(FIRST)
    assert "Answers were drawn for 15 people, judge-a" in said
    for claim in ("task page", "blind", "continued", "answered elsewhere", "were asked"):
        assert claim not in said


@pytest.mark.parametrize("is_real", [True, False], ids=["real-to-simulated", "simulated-to-real"])
def test_neither_store_is_copied_into_the_other(
    is_real: bool, made: Path, real: Path, tmp_path: Path, heart: Heart
) -> None:
    stores = [real.with_suffix(".db"), made / "practice.db"]
    source, target = stores if is_real else stores[::-1]
    before = target.read_bytes()
    assert "nothing was copied" in refused(heart, "store", "copy", source, target)
    assert target.read_bytes() == before


def test_a_simulated_store_may_be_copied_into_an_empty_one(
    made: Path, tmp_path: Path, heart: Heart
) -> None:
    assert says_first(heart("store", "copy", made / "practice.db", tmp_path / "copy.db"))


def test_a_study_is_not_simulated_into_a_real_store(
    real: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, heart: Heart
) -> None:
    monkeypatch.setenv("HEART_STORE", str(real.with_suffix(".db")))
    why = refused(heart, "simulate", tmp_path / "new", *SMALL)
    assert "the store holds the real study 'real'" in why


def test_what_stops_half_way_leaves_no_half_study(
    heart: Heart, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    folder = tmp_path / "half"
    with monkeypatch.context() as patched:
        patched.setattr("hearteval.study.simulation.making.draw_study", stopped)
        assert heart("simulate", folder, *SMALL).code == STOPPED
    assert not folder.exists()
    assert heart("simulate", folder, *SMALL).code == 0, "the same command again"


def test_a_folder_that_holds_something_is_left_alone(made: Path, heart: Heart) -> None:
    before = {path.name: path.stat().st_mtime_ns for path in made.iterdir()}
    assert heart("simulate", made, *SMALL).code == 2
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
def test_a_plan_that_cannot_be_is_refused(fault: str, tmp_path: Path, heart: Heart) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(FAULTS[fault])
    done = heart("simulate", tmp_path / "new", "--plan", plan)
    assert (done.code, str(plan) in done.err) == (2, True)
    assert not (tmp_path / "new").exists()


def test_what_is_set_counts_more_than_the_plan(tmp_path: Path, heart: Heart) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text("systems = 2\nitems = 4\nadversarial = 0\nwriters = 0\npeople = 0\nseed = 8")
    made = heart("simulate", tmp_path / "new", "--plan", plan, "--set", "systems=3", "--json").json
    assert (made["n_systems"], made["n_items"], made["n_completions"]) == (3, 4, 12)


@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("planets=3", "planets: unknown; known: seed, protocol, systems"),
        ("systems=many", "systems: input should be a valid integer"),
        ("systems", "--set systems: expected KEY=VALUE"),
    ],
)
def test_what_is_set_and_cannot_be_is_refused(
    word: str, why: str, tmp_path: Path, heart: Heart
) -> None:
    done = heart("simulate", tmp_path / "new", "--set", word)
    assert (done.code, why in done.err) == (2, True)
    assert not (tmp_path / "new").exists()


def test_its_help_names_every_key_of_the_plan(heart: Heart) -> None:
    words = set(re.findall(r"\w+", heart("simulate", "--help").out))
    assert words >= set(SimulationPlan.model_fields)


NAMES = ("votes.csv", "votes.jsonl", "votes.parquet", "my votes.csv")
RATED = planned("protocol=rating systems=3 items=8 adversarial=2 people=5")


def test_a_study_of_ratings_is_made_analyzed_and_run(tmp_path: Path, heart: Heart) -> None:
    file = tmp_path / "rated" / "rated.toml"
    assert heart("simulate", file.parent, *RATED, "--set", "random_raters=1").code == 0
    limits = json.loads((file.parent / "truth.json").read_text())["limits"]
    done = heart("run", file, "--json").json
    assert done["ratings"]["n_added"] == 0
    assert {row["system"] for row in done["rated"]} == set(limits["judges"]["score"])
    assert (file.parent / "rated.ratings.csv").read_text().startswith("simulated,")
    assert heart("store", "verify", file.parent / "rated.db").code == 0


def test_votes_replace_no_file(tmp_path: Path, heart: Heart) -> None:
    votes = ("simulate", "--votes", tmp_path / "votes.csv", *SMALL)
    assert [heart(*votes).code, heart(*votes).code] == [0, 0], "the same votes again change nothing"
    done = heart(*votes, "--set", "seed=9")
    assert done.code == 2
    assert "is already there; name a new file" in done.err
    assert "--force" not in done.err, "the verb has no such option"


@pytest.mark.parametrize(
    ("name", "who", "asked"),
    [
        *((name, (), "--cluster item --by rater_kind") for name in NAMES),
        ("votes.csv", planned("judges=0"), "--cluster item --rater rater"),
        ("votes.csv", planned("judges=0 people=1"), "--cluster item --rater rater"),
        ("votes.csv", planned("people=0"), "--cluster item"),
        ("votes.csv", planned("people=0 judges=1 writers=0"), "--cluster item"),
    ],
)
def test_the_command_it_prints_ranks_the_votes_and_takes_no_judge_for_a_sampled_person(
    name: str,
    who: tuple[object, ...],
    asked: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    heart: Heart,
) -> None:
    monkeypatch.chdir(tmp_path)
    *_, last = heart("simulate", "--votes", name, *SMALL, *who).out.splitlines()
    command = shlex.split(last.removeprefix("next").strip())
    assert command[:3] == ["heart", "rank", name]
    assert " ".join(command[3:]) == asked
    assert says_first(heart(*command[1:]))


def test_a_plan_that_leaves_no_vote_says_so(tmp_path: Path, heart: Heart) -> None:
    few = planned("systems=2 items=2 adversarial=0 writers=0 missing=0.9")
    done = heart("simulate", "--votes", tmp_path / "v.csv", *few, "--set", "judges=0")
    assert (done.code, "nothing is left to vote on; give more items" in done.err) == (2, True)
    assert not list(tmp_path.iterdir())


def test_votes_are_of_pairs(heart: Heart, tmp_path: Path) -> None:
    assert heart("simulate", "--votes", tmp_path / "votes.csv", *RATED).code == 2
    assert not list(tmp_path.iterdir())


SPARSE = {
    "one judge beside people": planned("judges=1 writers=0"),
    "one judge alone": planned("judges=1 people=0 writers=1"),
    "people alone": planned("judges=0 writers=0"),
    "no adversarial item, no ties": planned("adversarial=0 ties=0"),
    "two systems": planned("systems=2 judges=0 writers=0"),
    "a balanced design": planned("comparisons=20"),
    "all alike": planned("item_sd=0 rater_sd=0"),
}


@pytest.mark.parametrize("what", SPARSE)
def test_any_design_is_made_and_analyzed(what: str, tmp_path: Path, heart: Heart) -> None:
    size = planned("systems=3 items=8 adversarial=2")
    assert heart("simulate", tmp_path / "new", *size, *SPARSE[what]).code == 0
    assert says_first(heart("analyze", tmp_path / "new" / "new.toml"))
