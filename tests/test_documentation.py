"""Documentation that fails when it stops being true."""

import dataclasses
import doctest
import importlib
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

import hearteval
from hearteval.cli.main import VERBS, main
from hearteval.config.study_file import SECTIONS
from hearteval.items import load_starter_items
from hearteval.items.files import format_items

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMAND_LINE = (ROOT / "docs" / "reference" / "command-line.md").read_text(encoding="utf-8")
STUDY_FILE = (ROOT / "docs" / "reference" / "study-file.md").read_text(encoding="utf-8")


def readme_commands() -> list[str]:
    blocks = re.findall(r"```console\n(.*?)```", README, flags=re.DOTALL)
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]


def shown_leaderboard() -> str:
    (block,) = re.findall(r"```text\n(.*?)```", README, flags=re.DOTALL)
    return str(block)


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
        if "migrations" in module.name or module.name.endswith("__main__"):
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


@pytest.mark.parametrize("section", SECTIONS)
def test_every_setting_is_documented(section: str) -> None:
    for name, field in SECTIONS[section].model_fields.items():
        assert f"`{section}.{field.alias or name}`" in STUDY_FILE


@pytest.mark.parametrize("cls", record_classes(), ids=lambda cls: cls.__name__)
def test_a_record_is_documented_and_names_no_field_it_lacks(cls: type) -> None:
    text = cls.__doc__ or ""
    assert not text.startswith(f"{cls.__name__}("), "a dataclass wrote this docstring itself"
    _, _, attributes = text.partition("Attributes:\n")
    named = re.findall(r"^        (\w+): ", attributes, flags=re.MULTILINE)
    named += re.findall(r"^    (\w+): ", attributes, flags=re.MULTILINE)
    assert set(named) <= {field.name for field in dataclasses.fields(cls)}


def test_links_between_documents_lead_somewhere() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    for page in pages:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            if not target.startswith("https://"):
                assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_files_named_by_the_paper_map_exist() -> None:
    text = (ROOT / "docs" / "paper-map.md").read_text(encoding="utf-8")
    names = re.findall(r"`((?:tests|[a-z_]+)/[\w./]*)`", text)
    assert len(names) > 20
    for name in names:
        assert (ROOT / name).exists() or (ROOT / "src" / "hearteval" / name).exists(), name


@pytest.mark.server
def test_the_commands_of_the_readme_do_what_it_says(tmp_path: Path) -> None:
    (tmp_path / "my-items.jsonl").write_text(format_items(load_starter_items()), encoding="utf-8")
    environment = {k: v for k, v in os.environ.items() if k != "HEART_STORE"}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    commands = [line for line in readme_commands() if line.startswith("heart ")]
    assert len(commands) == 5
    for line in commands:
        if "path/to/esconv" in line:
            corpus = ROOT.parent / "shared" / "data" / "esconv"
            if not corpus.is_dir():
                continue
            line = line.replace("path/to/esconv", str(corpus))  # noqa: PLW2901
        done = subprocess.run(
            line.split(), cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{line}: {done.stderr}"
        if line.startswith("heart run"):
            assert done.stdout == shown_leaderboard()


@pytest.mark.server
def test_make_demo_ends_with_the_path_of_a_report(tmp_path: Path) -> None:
    assert "make demo" in readme_commands()
    if not (ROOT / ".venv" / ".installed").exists():
        pytest.skip("this suite does not run from the .venv that make sets up")
    hidden = ("HEART_STORE", "MAKEFLAGS", "MAKELEVEL", "MFLAGS")  # the suite itself runs under make
    environment = {k: v for k, v in os.environ.items() if k not in hidden}
    done = subprocess.run(
        ["make", "demo", f"DEMO={tmp_path / 'demo'}"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    path = done.stdout.splitlines()[-1].removeprefix("report: ")
    assert path == str(tmp_path / "demo" / "demo.report.html")
    assert Path(path).is_file()


@pytest.mark.parametrize(
    "page", sorted((ROOT / "docs" / "how-to").glob("*.md")), ids=lambda page: page.name
)
def test_examples_of_a_page_give_what_it_shows(page: Path) -> None:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

    done = doctest.testfile(str(page), module_relative=False, optionflags=flags)

    assert done.attempted > 0
    assert done.failed == 0
