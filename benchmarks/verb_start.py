"""Measure how long a verb takes until its first step begins, and until it ends, in seconds passed.

    python benchmarks/verb_start.py STUDY.toml      # one that is finished

Each verb is a process of its own, three times; the least counts, as the machine is noisy.
"""

import subprocess
import sys

VERBS = (("judge",), ("complete",), ("analyze",), ("report",), ("run", "--verbose"))
TIMED = """
import time
began = time.perf_counter()
import sys
from hearteval.cli import console
from hearteval.cli.main import run_command_line
shown, first = console.shown_progress, []
def listen(*words, **more):
    first.append(time.perf_counter() - began)
    return shown(*words, **more)
console.shown_progress = listen
try:
    run_command_line(sys.argv[1:])
except SystemExit as end:
    assert not end.code, end.code
print(first[0], time.perf_counter() - began, file=sys.stderr)
"""


def main() -> None:
    print("| verb | its first step begins, s | it ends, s |")
    print("| --- | --- | --- |")
    for verb, *options in VERBS:
        words = [sys.executable, "-c", TIMED, verb, sys.argv[1], *options]
        rows = []
        for _ in range(3):
            done = subprocess.run(words, capture_output=True, text=True, check=True)
            rows.append([float(part) for part in done.stderr.splitlines()[-1].split()])
        first, end = (min(column) for column in zip(*rows, strict=True))
        print(f"| `{verb}` | {first:.2f} | {end:.2f} |", flush=True)


if __name__ == "__main__":
    main()
