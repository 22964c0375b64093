"""Count what the next reader has to read, and fail above `budgets.toml`: `make count`.

Lines and files of the package, records of every kind (a NamedTuple is one), files directly in a
folder, circles of imports (those inside functions or for types count too), lines of the tests,
files of tests whose name another has (pytest refuses them), and the modules that `study.results`
reaches by imports. Whoever raises a budget says why in the commit.
"""

import ast
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import grimp
import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "hearteval"
ANALYZE = "hearteval.study.results"
BASES = frozenset({"NamedTuple", "TypedDict", "BaseModel"})
"""A class with one of these among its ancestors is a record, as one marked `dataclass` is."""


def main() -> int:
    texts = {path: path.read_text("utf-8") for path in listed("src/*.py")}
    lines = {path: text.count("\n") for path, text in texts.items()}
    graph = grimp.build_graph("hearteval", cache_dir=None)
    circles = find_circles(graph)
    tests = listed("tests/*.py")
    twice = [name for name, n in Counter(path.name for path in tests).items() if n > 1]
    folders = Counter(path.parent for path in texts)
    if "--quiet" not in sys.argv:
        for folder, n in sorted(folders.items()):
            total = sum(lines[path] for path in texts if folder in path.parents)
            print(f"{n:4} files {total:7,} lines  {folder.relative_to(PACKAGE.parent)}")
        for circle in circles:
            print("circle:", ", ".join(circle))
        print("".join(f"two files of tests: {name}\n" for name in twice), end="")
    found = {
        "source_lines": sum(lines.values()),
        "source_files": len(texts),
        "records": len(records([ast.parse(text) for text in texts.values()])),
        "files_in_a_folder": max(folders.values()),
        "circles": len(circles),
        "same_names_of_tests": len(twice),
        "files_reached_by_analyze": len(graph.find_upstream_modules(ANALYZE)),
        "command_line_lines": sum(n for p, n in lines.items() if PACKAGE / "cli" in p.parents),
        "test_lines": sum(p.read_text("utf-8").count("\n") for p in tests),
    }
    budgets = tomllib.loads((ROOT / "budgets.toml").read_text("utf-8"))
    if found.keys() != budgets.keys():
        print(f"budgets.toml names other things than are counted: {found.keys() ^ budgets.keys()}")
        return 1
    over = [name for name, n in found.items() if n > budgets[name]]
    for name, n in found.items():
        print(f"{n:7,} of {budgets[name]:7,} {name}{'  OVER' if name in over else ''}")
    return 1 if over else 0


def listed(pattern: str) -> list[Path]:
    """Return the tracked and new files of a pattern."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", pattern]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in done.stdout.split() if (ROOT / name).exists()]


def records(trees: list[ast.Module]) -> set[ast.ClassDef]:
    """Return the classes that are records: dataclasses, NamedTuples, TypedDicts, pydantic's."""
    classes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    names = set(BASES)
    while True:
        known = len(names)
        names |= {one.name for one in classes if any(base_of(b) in names for b in one.bases)}
        if len(names) == known:
            break
    return {
        one
        for one in classes
        if one.name in names or any("dataclass" in ast.unparse(mark) for mark in one.decorator_list)
    }


def base_of(base: ast.expr) -> str:
    """Return the name of a base class, without its module and parameters."""
    return ast.unparse(base).partition("[")[0].rpartition(".")[2]


def find_circles(graph: grimp.ImportGraph) -> list[list[str]]:
    """Return the groups of modules that import each other, directly or not."""
    modules = sorted(graph.modules)
    place = {name: i for i, name in enumerate(modules)}
    pairs = [
        (place[name], place[other])
        for name in modules
        for other in graph.find_modules_directly_imported_by(name)
    ]
    from_, to = np.array(pairs).T
    size = len(modules)
    matrix = csr_array((np.ones(len(pairs)), (from_, to)), shape=(size, size))
    _, group = connected_components(matrix, directed=True, connection="strong")
    sizes = np.bincount(group)
    return [[modules[i] for i in np.flatnonzero(group == one)] for one in np.flatnonzero(sizes > 1)]


if __name__ == "__main__":
    sys.exit(main())
