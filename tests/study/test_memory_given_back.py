"""An analysis keeps no holes of the size of large arrays."""

import platform
import subprocess
import sys

import pytest

HOLES = """
import numpy as np
from pathlib import Path
from contextlib import nullcontext
from hearteval.study.session import uncollected

def resident():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) // 1024

small, before = [], resident()
with {0}():
    for _ in range(3):
        large = np.ones(3 << 20)  # 24 MiB
        small.append(np.ones(2_000))
        del large
print(resident() - before)
"""


def held_mib(manager: str) -> int:
    """Return by how many MiB a process has grown that once held 24 MiB beside small arrays."""
    done = subprocess.run(
        [sys.executable, "-c", HOLES.replace("{0}", manager)],
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="glibc alone can be asked")
def test_large_arrays_are_given_back() -> None:
    assert held_mib("nullcontext") > 20  # else there is nothing to test
    assert held_mib("uncollected") < 5
