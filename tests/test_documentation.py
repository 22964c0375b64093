"""Documentation that fails when it stops being true."""

import dataclasses
import doctest
import importlib
import os
import pkgutil
import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Callable
from html import unescape
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from heart_command import FirstStudy, Heart, console_commands
from invented_results import invented_results
from served_study import healthy, serving

import hearteval
from hearteval.cli.main import VERBS, main
from hearteval.config import load_study
from hearteval.config.model_settings import Entry
from hearteval.config.study_file import SECTIONS
from hearteval.report.page import render_page
from hearteval.report.page.view import BASELINE_TERMS
from hearteval.sections import SECTIONS as SECTIONS_OF_RESULTS

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMAND_LINE = (ROOT / "docs" / "reference" / "command-line.md").read_text(encoding="utf-8")
PACKAGE_PAGE = (ROOT / "docs" / "package-page.md").read_text(encoding="utf-8")
STUDY_FILE = (ROOT / "docs" / "reference" / "study-file.md").read_text(encoding="utf-8")
OF_A_MODEL = ("system", "judge", "labeler")
"""Sections that name a model, in the order of their tables."""


def leaf_commands() -> dict[str, click.Command]:
    context = click.Context(main)
    leaves: dict[str, click.Command] = {}
    for verb in VERBS:
        command = main.get_command(context, verb)
        assert command is not None
        if isinstance(command, click.Group):
            leaves |= {f"{verb} {name}": sub for name, sub in command.commands.items()}
        else:
            leaves[verb] = command
    return leaves


def record_classes() -> list[type]:
    """Every dataclass of the package, whatever its module."""
    found = {}
    for module in pkgutil.walk_packages(hearteval.__path__, "hearteval."):
        if module.name.endswith("__main__"):
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            if not isinstance(value, type) or name.startswith("_"):
                continue
            if dataclasses.is_dataclass(value) and value.__module__.startswith("hearteval."):
                found[f"{value.__module__}.{value.__name__}"] = value
    return [found[name] for name in sorted(found)]


@pytest.mark.parametrize("name", leaf_commands())
def test_every_verb_and_option_is_documented(name: str) -> None:
    assert f"`heart {name}" in COMMAND_LINE
    for parameter in leaf_commands()[name].params:
        if isinstance(parameter, click.Option):
            assert f"`{parameter.opts[0]}" in COMMAND_LINE, parameter.opts


@pytest.mark.parametrize("section", sorted(SECTIONS.keys() - set(OF_A_MODEL)))
def test_every_setting_is_documented(section: str) -> None:
    for name, field in SECTIONS[section].model_fields.items():
        assert f"`{section}.{field.alias or name}`" in STUDY_FILE


def test_system_judge_and_labeler_share_one_documented_table_of_keys() -> None:
    _, *tables = re.split(
        r"^\| key \|.*\n", STUDY_FILE.split("## Keys of a model")[1], flags=re.MULTILINE
    )
    cells = [re.findall(r"^\| (`.*?) \|", table, flags=re.MULTILINE) for table in tables[:4]]
    shared, *own = [set(re.findall(r"`(\w+)`", " ".join(names))) for names in cells]
    assert shared == set(Entry.model_fields)
    for section, said in zip(OF_A_MODEL, own, strict=True):
        entry = SECTIONS[section]
        assert issubclass(entry, Entry)
        assert said <= set(entry.model_fields)
        assert set(entry.model_fields) - shared == said - shared


def test_records_are_documented_and_name_no_field_they_lack() -> None:
    for cls in record_classes():
        text = cls.__doc__ or ""
        assert not text.startswith(f"{cls.__name__}("), "a dataclass wrote this docstring itself"
        _, _, attributes = text.partition("Attributes:\n")
        named = re.findall(r"^ {4}(?: {4})?(\w+): ", attributes, flags=re.MULTILINE)
        fields = {field.name for field in dataclasses.fields(cls)}
        assert set(named) <= fields | {*vars(cls).get("__annotations__", {})}, cls


def anchors(page: Path) -> set[str]:
    """Return what a link may name in a page: its headings, as a code host writes them, and ids."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.M)
    titles = re.findall(r"^#+ (.+)$", re.sub(r"\]\([^)]*\)", "]", text), flags=re.MULTILINE)
    slugs = [re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles]
    return {*slugs, *re.findall(r'<a id="([\w-]+)"', text)}


def test_links_between_documents_lead_somewhere() -> None:
    pages = [ROOT / "README.md", ROOT / "benchmarks/RESULTS.md", *(ROOT / "docs").rglob("*.md")]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for link, picture in re.findall(r"\]\(([^)\s]+)\)|src(?:set)?=\"([^\"]+)\"", text):
            target, _, anchor = (link or picture).partition("#")
            if not target.startswith("https://"):
                other = page.parent / target if target else page
                assert other.exists(), f"{page.name}: {target}"
                assert not anchor or anchor in anchors(other), f"{page.name}: {target}#{anchor}"


def test_the_site_lists_each_page_once_and_needs_no_network_to_draw_it() -> None:
    """Decisions stand below their own page, by number."""
    contents = runpy.run_path(str(ROOT / "docs" / "conf.py"))["find_contents"]()
    pages = [ROOT / "benchmarks/RESULTS.md", *(ROOT / "docs").rglob("*.md")]
    names = {page.relative_to(ROOT).with_suffix("").as_posix() for page in pages}
    decisions = {name for name in names if re.match(r"docs/decisions/0\d{3}-", name)}
    listed = [page for section in contents.values() for page in section]
    assert list(contents) == ["Start here", "I want to", "Look up", "Why it is so"]
    assert sorted(listed) == sorted(names - decisions - {"docs/package-page"})
    assert [page for page in pages if "```mermaid" in page.read_text(encoding="utf-8")] == []


def test_files_named_by_the_paper_map_exist() -> None:
    text = (ROOT / "docs" / "paper-map.md").read_text(encoding="utf-8")
    names = re.findall(r"`((?:tests|[a-z_]+)/[\w./]*)`", text)
    assert len(names) > 20
    for name in names:
        assert (ROOT / name).exists() or (ROOT / "src" / "hearteval" / name).exists(), name


DEPARTURES = {
    "overall win rate": "Figure 4",
    "axes": "percent won",
    "whose votes the headline is by": "9.6",
    "the judges' mix": "46.8 %",
    "writers": "9.3",
    "places": "max-t",
    "the best of people's replies": "9.3",
    "agreement of people and judges, 78.7 %": "9.9",
    "intervals of agreement": "Fisher's z",
    "items at the edge of scope": "9.2",
}
"""Declared departures, each with a word that its line cannot do without."""


def test_each_departure_from_the_paper_says_what_and_why_and_where() -> None:
    text = (ROOT / "docs" / "paper-map.md").read_text(encoding="utf-8")
    section = text.partition("## Where we depart from the paper")[2].partition("\n## ")[0]
    lines = [line.strip("| ").split(" | ") for line in section.splitlines() if line[:2] == "| "]
    rows = {what: cells for what, *cells in lines[2:]}
    assert rows.keys() >= DEPARTURES.keys()
    for what, cells in rows.items():
        assert [bool(cell) for cell in cells] == [True] * 4, what
        assert re.search(r"\d\.\d|Figure \d", cells[0]), what
        assert re.search(r"`[\w/]+[/.]", cells[3]), what
        assert DEPARTURES.get(what, "") in " ".join(cells), what


VOTES = "model_a,model_b,winner,prompt\n" + "".join(
    f"{a},{b},{'model_a' if (k + len(a)) % 3 else 'model_b'},p{k}\n"
    for k in range(12)
    for a, b in (("ours", "theirs"), ("theirs", "their best"), ("their best", "ours"))
)
LABELS = "text,coder,label\n" + "".join(
    f"t{k},{coder},{1 + (k + (k % 4 == 0) * step) % 3}\n"
    for k in range(12)
    for step, coder in enumerate(("Ann", "Ben"))
)


@pytest.fixture
def type_command(
    heart: Heart, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], str]:
    """Runs a command as a reader would in an empty folder, and gives what it printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)

    def run(line: str) -> str:
        command, *words = shlex.split(line)
        done = heart(*words)
        assert (command, done.code) == ("heart", 0), f"{line}: {done.out}{done.err}"
        return done.out

    return run


@pytest.mark.parametrize(
    ("page", "verbs"),
    [(README, ["init", "init", "rank", "agree"]), (PACKAGE_PAGE, ["init", "run", "rank", "agree"])],
    ids=["readme", "package"],
)
def test_the_commands_of_the_first_page_do_what_it_says(
    tmp_path: Path,
    type_command: Callable[[str], str],
    first_study: FirstStudy,
    page: str,
    verbs: list[str],
) -> None:
    (tmp_path / "votes.csv").write_text(VOTES, encoding="utf-8")
    (tmp_path / "labels.csv").write_text(LABELS, encoding="utf-8")
    commands = [line for line in console_commands(page) if line.startswith("heart ")]
    assert [line.split()[1] for line in commands] == verbs
    for line in commands:
        if page == README or line not in first_study.commands:
            type_command(line)
    made = first_study.folder.parent if page == PACKAGE_PAGE else tmp_path
    assert (made / "my-study" / "my-study.toml").is_file()


def test_what_the_first_page_has_for_a_study_file_can_be_pasted_into_it(tmp_path: Path) -> None:
    """Each block at the end of the file that `heart init my-study` makes, and its judges."""
    CliRunner().invoke(main, ["init", str(tmp_path / "my-study")], catch_exceptions=False)
    file = tmp_path / "my-study" / "my-study.toml"
    made = file.read_text(encoding="utf-8")
    of_models, of_people = re.findall(r"```toml\n(.*?)```", README, flags=re.DOTALL)
    (judges,) = re.findall(r"`(judges = .*?)`", README)
    assert made.count('judges = ["cue"]') == 1
    file.write_text(made.replace('judges = ["cue"]', judges) + of_models, encoding="utf-8")
    settings = load_study(file)
    assert [one.name for one in settings.systems][-2:] == ["GPT-5", "our model"]
    assert [one.name for one in settings.judging.judges] == ["gpt", "claude", "gemini"]
    file.write_text(made + of_people, encoding="utf-8")
    assert load_study(file).people is not None


def test_page_and_documents_have_one_glossary() -> None:
    """What the page says of a word stands in `docs/glossary.md`, word for word."""
    page = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    part = page.partition("## In every report\n")[2].partition("\n## ")[0]
    documented = dict(re.findall(r"^\*\*(.+)\*\*: (.+)$", part, flags=re.MULTILINE))
    rendered = render_page(invented_results()).partition('id="glossary"')[2].partition("</dl>")[0]
    said = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", unescape(rendered)))
    said |= BASELINE_TERMS
    said |= {term: text for section in SECTIONS_OF_RESULTS for term, text in section.TERMS.items()}
    assert documented == said


MAX_WORDS = 40
"""Of a sentence in what newcomers read; quoted code is one word."""
READ_FIRST = (
    *("README.md", "docs/tutorial.md", "docs/glossary.md"),
    *sorted(f"docs/how-to/{page.name}" for page in (ROOT / "docs" / "how-to").glob("*.md")),
    *(f"docs/reference/{name}.md" for name in ("command-line", "study-file", "report")),
)
NOT_PROSE = re.compile(r"^```.*?^```|^(?: {4}|#).*?$|<[^>]*>", re.MULTILINE | re.DOTALL)
PART = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*#|]|\d+\. ))|(?<!\\) \| ")
SENTENCE = re.compile(r"(?<=[.!?])[)\"*]*\s+")


def long_sentences(page: str) -> list[str]:
    """Return the sentences of a page, in its text, lists and tables, that are too long."""
    text = re.sub(r"`[^`]+`", "code", NOT_PROSE.sub("\n\n", page))
    text = re.sub(r"\]\([^)]*\)", "]", text)
    said = (one for part in PART.split(text) for one in SENTENCE.split(" ".join(part.split())))
    return [one for one in said if len(re.findall(r"\S*\w\S*", one)) > MAX_WORDS]


@pytest.mark.parametrize("page", READ_FIRST)
def test_no_sentence_that_a_newcomer_reads_is_long(page: str) -> None:
    assert long_sentences((ROOT / page).read_text(encoding="utf-8")) == []


def test_a_long_sentence_is_found_wherever_it_stands() -> None:
    long = " ".join(["word"] * (MAX_WORDS + 1))
    for page in (
        f"# A\n\nShort. {long}.",
        f"- one\n- {long}",
        f"| a | b |\n| --- | --- |\n| x | {long} |",
    ):
        assert len(long_sentences(page)) == 1
    for page in (
        f"```\n{long}\n```",
        f"`{long}` is code.",
        long.replace("word word ", "A b. C d. "),
    ):
        assert long_sentences(page) == []


@pytest.mark.server
def test_the_tutorial_makes_a_study_of_own_dialogues_and_an_endpoint(
    tmp_path: Path, type_command: Callable[[str], str]
) -> None:
    """Its commands, typed in order, with the blocks it says to add to the study file."""
    page = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    commands = [line for line in console_commands(page) if line.startswith("heart ")]
    (block,) = re.findall(r"```toml\n(.*?)```", page, flags=re.DOTALL)
    of_model, of_judge = re.findall(r'base_url = "(.*)"', block)
    assert [line.split()[1] for line in commands[:3]] == ["items", "items", "init"]
    with serving(healthy(model="a")) as server, serving(healthy(model="b")) as judge:
        for number, line in enumerate(commands):
            said = type_command(line)
            if number == 2:
                study = tmp_path / "my-study" / "my-study.toml"
                text = study.read_text(encoding="utf-8")
                assert 'judges = ["cue"]' in text
                text = text.replace('judges = ["cue"]', 'judges = ["my judge"]')
                text += "\n" + block.replace(of_model, server.url).replace(of_judge, judge.url)
                study.write_text(text, encoding="utf-8")
            if line.startswith("heart run"):
                assert "my model" in said
    assert (tmp_path / "my-study" / "my-study.report.html").is_file()
    assert {str(body["model"]) for body in server.bodies} == {"my-model"}
    assert {str(body["model"]) for body in judge.bodies} == {"my-judge"}
    results = (tmp_path / "my-study" / "my-study.results.json").read_text(encoding="utf-8")
    assert "under two names" not in results


@pytest.mark.server
def test_make_demo_ends_with_the_path_of_a_report(tmp_path: Path) -> None:
    assert "make demo" in console_commands(README)
    venv = tmp_path / "venv"  # of its own, or make could install into the one that tests run in
    venv.mkdir()
    (venv / "bin").symlink_to(Path(sys.prefix) / "bin")
    (venv / ".installed").touch()
    hidden = ("HEART_STORE", "MAKEFLAGS", "MAKELEVEL", "MFLAGS")  # the suite itself runs under make
    environment = {k: v for k, v in os.environ.items() if k not in hidden}
    done = subprocess.run(
        ["make", "demo", f"DEMO={tmp_path / 'demo'}", f"VENV={venv}"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (said,) = [line for line in done.stdout.splitlines() if line.startswith("report ")]
    path = ROOT / said.split(maxsplit=1)[1]
    assert path.resolve() == tmp_path / "demo" / "demo.report.html"
    assert path.is_file()


@pytest.mark.parametrize(
    "page", sorted((ROOT / "docs" / "how-to").glob("*.md")), ids=lambda page: page.name
)
def test_examples_of_a_page_give_what_it_shows(page: Path) -> None:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

    done = doctest.testfile(str(page), module_relative=False, optionflags=flags)

    assert done.attempted > 0
    assert done.failed == 0
