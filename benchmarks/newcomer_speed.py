"""Time what a newcomer does: the demo and ESConv, from nothing and again.

    python benchmarks/newcomer_speed.py [--heart COMMAND ...] [--repeats 2]

Each row is a process of its own; CPU seconds are of it alone, user and system together. Other work
on the machine stretches them, so a peer of fixed work in plain Python runs before and after each
row: the ratio to it says what a quiet machine would. `--heart` compares several installations in
one run, e.g. `--heart old/.venv/bin/heart --heart .venv/bin/heart`.
"""

import argparse
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT.parent / "shared" / "data" / "esconv"
PEER = "sum(i * i for i in range(10_000_000))"
STORE = ("*.db", "*.db-wal", "*.db-shm")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--heart", action="append", default=[])
    parser.add_argument("--repeats", type=int, default=2)
    arguments = parser.parse_args()
    hearts = [str(Path(each).absolute()) for each in arguments.heart]
    hearts = hearts or [str(Path(sys.executable).with_name("heart"))]
    print("| what | command | wall s | CPU s | peer CPU s | ratio |")
    print("| --- | --- | --- | --- | --- | --- |")
    for _ in range(arguments.repeats):
        for heart in hearts:
            with tempfile.TemporaryDirectory() as folder:
                for what in rows(heart, Path(folder)):
                    print(what, flush=True)


def rows(heart: str, folder: Path) -> Iterator[str]:
    """Yield a row of the table for each thing a newcomer does with one installation."""
    subprocess.run([heart, "init", "demo"], cwd=folder, check=True, capture_output=True)
    demo, esconv = folder / "demo" / "demo.toml", folder / "esconv.toml"
    yield row("demo, from nothing", heart, demo)
    yield row("demo, again", heart, demo)
    if not CORPUS.is_dir():
        return
    text = (ROOT / "benchmarks" / "esconv.toml").read_text("utf-8")
    esconv.write_text(text.replace("../../shared/data/esconv", str(CORPUS)), "utf-8")
    yield row("ESConv 280 x 6, from nothing", heart, esconv)
    yield row("ESConv, again", heart, esconv)
    for pattern in STORE:
        for path in folder.glob(pattern):
            path.unlink()
    yield row("ESConv, items kept, the rest from nothing", heart, esconv)
    shutil.rmtree(folder / "esconv.cache", ignore_errors=True)
    yield row("ESConv, store kept, items from nothing", heart, esconv)


def row(what: str, heart: str, study: Path) -> str:
    """Run a study and return its row."""
    peer = cpu_seconds([sys.executable, "-c", PEER])[1]
    wall, cpu = cpu_seconds([heart, "run", str(study)])
    peer = (peer + cpu_seconds([sys.executable, "-c", PEER])[1]) / 2
    name = Path(heart).parts[-3]
    return f"| {what} | {name} | {wall:.1f} | {cpu:.2f} | {peer:.2f} | {cpu / peer:.2f} |"


def cpu_seconds(words: list[str]) -> tuple[float, float]:
    """Run a command; return the wall seconds and the CPU seconds it took."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(words, check=True, capture_output=True)
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
