"""Count the files and the records that one command passes, those it only imports apart.

    python benchmarks/traced.py [--names] WORDS OF HEART

    python benchmarks/traced.py rank votes.csv --cluster prompt
    python benchmarks/traced.py --names analyze demo/demo.toml --json

A file is passed where a function of it runs after its import, a record (dataclass, NamedTuple,
pydantic's model) where one is made then; what another process does is not seen. `--names` lists
both, each file with its lines and each record with how many were made and from how many places.
"""

import os
import sys
import threading
from collections import Counter, defaultdict
from dataclasses import is_dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import hearteval
from hearteval.cli.main import main as heart

PACKAGE = f"{Path(hearteval.__file__).parent}{os.sep}"
MAKERS = {"__init__": "self", "<lambda>": "_cls", "_make": "cls", "model_validate": "cls"}
"""Function that makes a record -> the argument that is one, or its class; the lambda is that of a
NamedTuple."""


class Passed:
    """What a profiler saw of the package."""

    def __init__(self) -> None:
        self.files = set[str]()
        self.made = Counter[str]()
        self.makers = defaultdict[str, set[str]](set)
        self.n_importing = 0

    def see(self, frame: FrameType, event: str, _: Any) -> None:
        """Count a call; what runs while a module of the package is imported is not passed."""
        if event not in ("call", "return"):
            return
        code = frame.f_code
        is_own = code.co_filename.startswith(PACKAGE)
        if is_own and code.co_name == "<module>":
            self.n_importing += 1 if event == "call" else -1
        elif event == "return" or self.n_importing:
            return
        elif is_own:
            self.files.add(code.co_filename.removeprefix(PACKAGE))
        if event == "call" and code.co_name in MAKERS:
            self.see_made(frame)

    def see_made(self, frame: FrameType) -> None:
        """Count a record by its class, and who asked for it."""
        made = frame.f_locals.get(MAKERS[frame.f_code.co_name])
        kind = made if isinstance(made, type) else type(made)
        if not kind.__module__.startswith("hearteval") or not is_record(kind):
            return
        name = f"{kind.__module__.removeprefix('hearteval.')}.{kind.__qualname__}"
        asker = frame.f_back
        while asker and not asker.f_code.co_filename.startswith(PACKAGE):
            asker = asker.f_back
        self.made[name] += 1
        if asker:
            self.makers[name].add(f"{asker.f_code.co_filename}:{asker.f_code.co_qualname}")


def is_record(kind: type) -> bool:
    """Return whether a class is one, as `benchmarks/count.py` counts them."""
    return is_dataclass(kind) or hasattr(kind, "_fields") or hasattr(kind, "model_fields")


def main(words: list[str]) -> None:
    with_names = words[:1] == ["--names"]
    sys.argv = ["heart", *words[with_names:]]
    passed = Passed()
    threading.setprofile(passed.see)
    sys.setprofile(passed.see)
    try:
        heart()
    except SystemExit as left:
        code = left.code
    else:
        code = 0
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    out = sys.stderr
    if with_names:
        for file in sorted(passed.files):
            print(f"{Path(PACKAGE, file).read_text('utf-8').count(chr(10)):6} {file}", file=out)
        for name, n in sorted(passed.made.items()):
            print(f"{n:8,} from {len(passed.makers[name])}: {name}", file=out)
    print(f"exit {code}: {len(passed.files)} files, {len(passed.made)} record types", file=out)


if __name__ == "__main__":
    main(sys.argv[1:])
