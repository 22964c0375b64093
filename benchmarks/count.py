"""Count what the next reader has to read: `make count`.

Lines and files of the package, dataclasses, files directly in a folder, lines of the command line,
and the modules that `study.results` reaches by imports.
"""

import ast
import subprocess
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "hearteval"
ANALYZE = "hearteval.study.results"


def main() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "src/*.py"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    files = [ROOT / name for name in listed.stdout.split()]
    texts = {path: path.read_text("utf-8") for path in files}
    trees = {path: ast.parse(text) for path, text in texts.items()}
    classes = [
        node
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        and any("dataclass" in ast.unparse(mark) for mark in node.decorator_list)
    ]
    lines = {path: text.count("\n") for path, text in texts.items()}
    cli = sum(n for path, n in lines.items() if PACKAGE / "cli" in path.parents)
    print(f"source lines {sum(lines.values()):,} | files {len(files)} | dataclasses {len(classes)}")
    print(f"cli lines {cli:,} | files reached by analyze {len(reached(trees, ANALYZE))}")
    folders = Counter(path.parent for path in files)
    for folder, n in sorted(folders.items()):
        total = sum(lines[path] for path in files if folder in path.parents)
        print(f"{n:4} files {total:7,} lines  {folder.relative_to(PACKAGE.parent)}")


def reached(trees: dict[Path, ast.Module], start: str) -> set[str]:
    """Return the modules that one imports, and they, and so on."""
    modules = {
        ".".join(p.relative_to(PACKAGE.parent).with_suffix("").parts): t for p, t in trees.items()
    }
    modules = {name.removesuffix(".__init__"): tree for name, tree in modules.items()}
    found: set[str] = set()
    open_ones = [start]
    while open_ones:
        name = open_ones.pop()
        if name not in modules or name in found:
            continue
        found.add(name)
        for node in ast.walk(modules[name]):
            if isinstance(node, ast.ImportFrom) and node.module:
                open_ones += [node.module, *(f"{node.module}.{a.name}" for a in node.names)]
            elif isinstance(node, ast.Import):
                open_ones += [a.name for a in node.names]
    return found


if __name__ == "__main__":
    main()
