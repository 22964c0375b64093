"""The public names of the package are few and complete."""

import subprocess
import sys

import hearteval


def test_all_is_sorted_and_complete() -> None:
    public = {name for name in vars(hearteval) if not name.startswith("_")}
    packages = {"analysis", "cli", "completions", "config", "domain", "errors", "items"}
    packages |= {"api", "engine", "exchange", "judgments", "models", "protocol", "report", "stats"}
    packages |= {
        "inspect_tasks",
        "labels",
        "notices",
        "sections",
        "steps",
        "store",
        "study",
        "version",
        "web",
    }
    assert sorted(hearteval.__all__) == hearteval.__all__
    assert public - packages <= set(hearteval.__all__)


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = (
        "import sys, hearteval; "
        "print([m for m in ('numpy','scipy','sqlalchemy','pydantic','click') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
