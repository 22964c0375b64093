"""What a packager gets: the files of the sdist, lower bounds, the page of an index.

`make package` builds both archives and runs the tests of the unpacked sdist; `make lowest` installs
the lower bounds.
"""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = SETTINGS["project"]
PAGE = (ROOT / PROJECT["readme"]).read_text(encoding="utf-8")


def lower_bounds() -> dict[str, str]:
    extras = PROJECT["optional-dependencies"].values()
    lines = [*PROJECT["dependencies"], *(line for extra in extras for line in extra)]
    asked = [Requirement(line) for line in lines]
    return {
        one.name: part.version for one in asked for part in one.specifier if part.operator == ">="
    }


def test_the_sdist_holds_all_that_stands_in_the_repository() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("this is no repository, but perhaps the sdist itself")
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    named = {line.split("/")[0] for line in listed.splitlines()}
    included = SETTINGS["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert {name for name in named if not name.startswith(".")} == {*included, "pyproject.toml"}


def test_lower_bounds_are_the_versions_that_were_tried() -> None:
    if Path(sys.prefix).name != ".venv-lowest":
        pytest.skip("only `make lowest` installs the lower bounds")
    found = {name: Version(version(name)).base_version for name in lower_bounds()}
    assert {n: Version(v) for n, v in found.items()} == {
        n: Version(v) for n, v in lower_bounds().items()
    }


def test_the_page_of_an_index_has_no_link_into_a_repository() -> None:
    links = re.findall(r"\]\(([^)]+)\)|(?:src|srcset|href)=\"([^\"]+)\"", PAGE)
    targets = [link or other for link, other in links]
    assert targets
    assert [target for target in targets if not target.startswith("https://")] == []
